/* Cycles of the kernels, by the counters mcycle and minstret: a line of JSON for each. Build with `make bench`; it is linked
 * for the FE310 (HiFive1) and prints by semihosting.
 *
 * Everything is called twice before it is measured, so code is in the instruction cache and branches are known; what calling
 * an empty function takes is taken off. `cycles` is one call with the least work, `bulk` what each further unit costs. */
#include <stdint.h>
#include <stdio.h>

#include "pipo.h"

void tress_pipo128_paper_encrypt1(const uint32_t *, const void *, void *);
void tress_pipo128_paper_cbc_encrypt1(const uint32_t *, void *, const void *, void *);
void tress_pipo128_paper_ctr1(const uint32_t *, const void *, const void *, void *);
void tress_pipo128_paper_encrypt4(const uint32_t *, const void *, void *);
void tress_pipo128_paper_memory4(const uint32_t *, const void *, void *);
void tress_pipo128_paper_ctr4(const uint32_t *, const uint32_t *, uint32_t, const void *, void *);
void tress_pipo128_paper_cbc_decrypt4(const uint32_t *, void *, const void *, void *);

enum { MORE = 60 };

static uint32_t key[112], nonce[8], chain[8], data[8 * (MORE + 1)], out[8], keys[4 * 8];
static const void *where[4] = { data, data + 2 * (MORE + 1), data + 4 * (MORE + 1), data + 6 * (MORE + 1) };

typedef uint32_t kernel(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);

static uint32_t empty(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f)
{
    (void)b, (void)c, (void)d, (void)e, (void)f;
    return a;
}

/* Cycles and instructions of a call. */
static __attribute__((noinline)) void measure(kernel *f, const uint32_t a[6], uint32_t counts[2])
{
    uint32_t before, after, instructions_before, instructions_after;
    for (int i = 0; i < 3; i++) {
        __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, minstret\n.option pop" : "=r"(instructions_before) : : "memory");
        __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop" : "=r"(before) : : "memory");
        f(a[0], a[1], a[2], a[3], a[4], a[5]);
        __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop" : "=r"(after) : : "memory");
        __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, minstret\n.option pop" : "=r"(instructions_after) : : "memory");
    }
    counts[0] = after - before;
    counts[1] = instructions_after - instructions_before;
}

/* `count` is the argument that counts units of `bytes`; -1 if there is none. */
static void bench(const char *name, void *f, int count, unsigned bytes, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                  uint32_t e, uint32_t g)
{
    uint32_t arguments[6] = { a, b, c, d, e, g }, base[2], one[2], more[2];
    measure(empty, arguments, base);
    if (count >= 0)
        arguments[count] = 1;
    measure((kernel *)f, arguments, one);
    printf("{\"kernel\":\"%s\",\"bytes\":%u,\"cycles\":%u,\"instructions\":%u", name, bytes, (unsigned)(one[0] - base[0]),
           (unsigned)(one[1] - base[1]));
    if (count >= 0) {
        arguments[count] = 1 + MORE;
        measure((kernel *)f, arguments, more);
        uint32_t hundredths = ((more[0] - one[0]) * 100 + MORE * bytes / 2) / (MORE * bytes);
        printf(",\"bulk_cycles_per_byte\":%u.%02u", (unsigned)hundredths / 100, (unsigned)hundredths % 100);
    }
    printf("}\n");
}

#define W(x) ((uint32_t)(uintptr_t)(x))
#define BENCH(f, count, bytes, ...) BENCH_(f, count, bytes, __VA_ARGS__, 0, 0, 0, 0, 0)
#define BENCH_(f, count, bytes, a, b, c, d, e, g, ...) \
    bench(#f, (void *)f, count, bytes, W(a), W(b), W(c), W(d), W(e), W(g))

int main(void)
{
#define PIPO(n)                                                              \
    BENCH(tress_pipo##n##_encrypt1, 3, 8, key, data, data, 1);               \
    BENCH(tress_pipo##n##_decrypt1, 3, 8, key, data, data, 1);               \
    BENCH(tress_pipo##n##_cbc_encrypt1, 4, 8, key, chain, data, data, 1);    \
    BENCH(tress_pipo##n##_ctr1, 5, 8, key, nonce, 0, data, data, 1);         \
    BENCH(tress_pipo##n##_encrypt4, 3, 32, key, data, data, 1);              \
    BENCH(tress_pipo##n##_decrypt4, 3, 32, key, data, data, 1);              \
    BENCH(tress_pipo##n##_small_encrypt4, 3, 32, key, data, data, 1);        \
    BENCH(tress_pipo##n##_small_decrypt4, 3, 32, key, data, data, 1);        \
    BENCH(tress_pipo##n##_cbc_decrypt4, 4, 32, key, chain, data, data, 1);   \
    BENCH(tress_pipo##n##_cbc_x4, 4, 32, key, chain, where, where, 1);       \
    BENCH(tress_pipo##n##_ctr4, 5, 32, key, nonce, 0, data, data, 1);
    PIPO(128)
    PIPO(256)
    BENCH(tress_pipo_prepare4, -1, 64, key, keys, 2);
    BENCH(tress_pipo_prepare1, -1, 16, key, keys, 2);
    BENCH(tress_pipo_nonce4, -1, 6, nonce, key, data, 2);
    BENCH(tress_pipo_nonce1, -1, 6, nonce, key, data, 2);
    BENCH(tress_pipo128_paper_encrypt1, -1, 8, key, data, out);
    BENCH(tress_pipo128_paper_cbc_encrypt1, -1, 8, key, chain, data, out);
    BENCH(tress_pipo128_paper_ctr1, -1, 8, key, nonce, data, out);
    BENCH(tress_pipo128_paper_encrypt4, -1, 32, key, data, out);
    BENCH(tress_pipo128_paper_memory4, -1, 32, key, data, out);
    BENCH(tress_pipo128_paper_ctr4, -1, 32, key, nonce, 0, data, out);
    BENCH(tress_pipo128_paper_cbc_decrypt4, -1, 32, key, chain, data, out);
    return 0;
}
