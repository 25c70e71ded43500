/* Runs kernels on the requests that it reads: the target's side of the tests.
 *
 * A request is the number of the function, the count of arguments, and the arguments. An argument is a kind and four bytes: 'n'
 * a number, 'b' a buffer, 'r' a buffer of pointers into the previous buffer, 'h' a buffer that is not passed, 'o' an offset into
 * the previous buffer. For a buffer the four bytes are its length; its offset from a word boundary (one byte) and its content
 * follow. The answer: which registers changed, bytes of stack used, whether bytes around buffers changed, the result, then all
 * buffers. */

#include <stddef.h>
#include <stdint.h>

long system_call(long a, long b, long c, long number);
int checked_call(const void *function, const long arguments[10], long *result);
extern uint32_t stack_used;

#define FUNCTION(name) extern void name(void);
#include "functions.h"
#undef FUNCTION
#define FUNCTION(name) name,
static void (*const functions[])(void) = {
#include "functions.h"
};

void *memset(void *p, int c, size_t n)
{
    for (uint8_t *q = p; n--;)
        *q++ = (uint8_t)c;
    return p;
}

void *memcpy(void *p, const void *from, size_t n)
{
    const uint8_t *f = from;
    for (uint8_t *q = p; n--;)
        *q++ = *f++;
    return p;
}

static int take(void *p, size_t n)
{
    uint8_t *q = p;
    while (n) {
        long got = system_call(0, (long)q, (long)n, 63);
        if (got <= 0)
            return 0;
        q += got, n -= (size_t)got;
    }
    return 1;
}

static void give(const void *p, size_t n)
{
    const uint8_t *q = p;
    while (n) {
        long put = system_call(1, (long)q, (long)n, 64);
        if (put <= 0)
            return;
        q += put, n -= (size_t)put;
    }
}

enum { MOST = 24, GUARD = 64, ROOM = 1 << 20 };
static uint8_t room[ROOM] __attribute__((aligned(16)));

int main(void)
{
    uint8_t head[2];
    while (take(head, 2)) {
        long arguments[10] = { 0 };
        uint8_t *buffers[MOST] = { 0 };
        uint32_t sizes[MOST] = { 0 };
        uint8_t *next = room;
        for (int i = 0, n = 0; i < head[1]; i++) {
            uint8_t kind;
            take(&kind, 1);
            take(&sizes[i], 4);
            long argument = (long)sizes[i];
            if (kind == 'o')
                argument += (long)buffers[i - 1];
            else if (kind != 'n') {
                uint8_t off;
                take(&off, 1);
                memset(next, 0xc3, GUARD + off);
                buffers[i] = next + GUARD + off;
                take(buffers[i], sizes[i]);
                memset(buffers[i] + sizes[i], 0x3c, GUARD);
                argument = (long)buffers[i];
                if (kind == 'r') /* numbers from the buffer before become pointers */
                    for (uint32_t k = 0; k < sizes[i] / 4; k++)
                        ((uint32_t *)buffers[i])[k] += (uint32_t)(uintptr_t)buffers[i - 1];
                next = (uint8_t *)(((uintptr_t)buffers[i] + sizes[i] + GUARD + 15) & ~(uintptr_t)15);
            }
            if (kind != 'h')
                arguments[n++] = argument;
        }
        long answer[4] = { 0 };
        answer[0] = checked_call(functions[head[0]], arguments, &answer[3]);
        answer[1] = (long)stack_used;
        for (int i = 0; i < head[1]; i++)
            if (buffers[i])
                for (int k = 0; k < GUARD; k++)
                    answer[2] |= buffers[i][-1 - k] != 0xc3 || buffers[i][sizes[i] + k] != 0x3c;
        give(answer, sizeof answer);
        for (int i = 0; i < head[1]; i++)
            if (buffers[i])
                give(buffers[i], sizes[i]);
    }
    return 0;
}
