/* Tests of libtress_rv32.a on QEMU: the test harness. Exit status 0 if all checks pass. */
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 4096, GUARD = 64, BUFFERS = 8, NAMES = 64 };

static uint32_t memory[BUFFERS][ROOM / 4];
static uint8_t *starts[BUFFERS];
static size_t lengths[BUFFERS];
static struct { const char *name; uint32_t stack; } depth[NAMES];
static unsigned checks, failures;

uint32_t checked_call(const uint32_t arguments[6], void *function, uint32_t report[2]);

int called(const char *name, void *function, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t a4, uint32_t a5)
{
    uint32_t arguments[6] = { a0, a1, a2, a3, a4, a5 }, report[2];
    int result = (int)checked_call(arguments, function, report);
    check(report[0] == 0, "callee-saved registers", name);
    for (int i = 0; i < NAMES; i++) {
        if (!depth[i].name)
            depth[i].name = name;
        if (!strcmp(depth[i].name, name)) {
            if (report[1] > depth[i].stack)
                depth[i].stack = report[1];
            break;
        }
    }
    return result;
}

void check(int good, const char *what, const char *of)
{
    checks++;
    if (!good && failures++ < 20)
        printf("FAILED: %s: %s\n", of, what);
}

int same(const void *a, const void *b, size_t length)
{
    return !memcmp(a, b, length);
}

uint8_t *guarded(int which, unsigned offset, size_t length)
{
    memset(memory[which], 0xb7, ROOM);
    starts[which] = (uint8_t *)memory[which] + GUARD + offset;
    lengths[which] = length;
    return starts[which];
}

int guards_stand(int which)
{
    const uint8_t *all = (const uint8_t *)memory[which];
    for (size_t i = 0; i < ROOM; i++)
        if ((all + i < starts[which] || all + i >= starts[which] + lengths[which]) && all[i] != 0xb7)
            return 0;
    return 1;
}

int main(void)
{
    test_pipo();
    for (int i = 0; i < NAMES && depth[i].name; i++)
        printf("stack %4u  %s\n", (unsigned)depth[i].stack, depth[i].name);
    printf("%u checks, %u failed\n", checks, failures);
    return failures != 0;
}
