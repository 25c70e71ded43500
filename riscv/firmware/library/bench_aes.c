/* Cycles of the kernels of AES and RC6, by the counters mcycle and minstret: a line of JSON for each. Build with `make bench`;
 * it is linked for the FE310 (HiFive1) and prints by semihosting. The first call fetches its code, the second has it. */
#include <stdint.h>
#include <stdio.h>

#include "aes.h"
#include "tress_rv32.h"

void tress_rc6_encrypt(const uint32_t *, uint8_t *, const uint8_t *, size_t);
void tress_rc6_decrypt(const uint32_t *, uint8_t *, const uint8_t *, size_t);
void tress_rc6_stream(const uint32_t *, uint8_t *, uint8_t *, const uint8_t *, size_t);

static tress_aes_key key;
static tress_aes_table_key table_key;
static tress_aes_tables tables;
static tress_rc6_key rc6_key;
static const uint8_t key_bytes[32] = { 1, 8, 15, 22, 29, 36, 43, 50, 57, 64, 71, 78, 85, 92, 99, 106 };
static uint32_t room[40], state[32], data[512];
static uint8_t iv[16];

#define COUNTER(name, csr)                                                                                              \
    static inline uint32_t name(void)                                                                                   \
    {                                                                                                                   \
        uint32_t value;                                                                                                 \
        __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, " csr "\n.option pop" : "=r"(value) : : "memory"); \
        return value;                                                                                                   \
    }
COUNTER(cycles, "mcycle")
COUNTER(instructions, "minstret")

/* Does `call` twice on `length` bytes `d`. */
#define BENCH(name, bytes, call)                                                                                        \
    do {                                                                                                                \
        uint8_t *d = (uint8_t *)data;                                                                                   \
        size_t length = bytes;                                                                                          \
        uint32_t count[2], retired = 0;                                                                                 \
        (void)d, (void)length;                                                                                          \
        for (int i = 0; i < 2; i++) {                                                                                   \
            iv[15] = 0;                                                                                                 \
            uint32_t i0 = instructions(), c0 = cycles();                                                                \
            call;                                                                                                       \
            count[i] = cycles() - c0, retired = instructions() - i0;                                                    \
        }                                                                                                               \
        printf("{\"kernel\":\"%s\",\"key_bits\":%u,\"bytes\":%u,\"cycles\":%u,\"first_cycles\":%u,\"instructions\":%u}\n", name, \
               bits, (unsigned)length, (unsigned)count[1], (unsigned)count[0], (unsigned)retired);                      \
    } while (0)

int main(void)
{
    uint8_t *const four[4] = { (uint8_t *)data, (uint8_t *)(data + 64), (uint8_t *)(data + 128), (uint8_t *)(data + 192) };
    unsigned bits = 0;
    BENCH("aes_table_make", 4096, tress_aes_table_make(tables.words));
    for (bits = 128; bits <= 256; bits += 128) {
        BENCH("aes8_expand_key", bits / 8, tress_aes8_expand_key(key.many, key_bytes, length));
        BENCH("aes2_expand_key", bits / 8, tress_aes2_expand_key(key.chain, key_bytes, length));
        BENCH("aes_table_expand_key", bits / 8, tress_aes_table_expand_key(table_key.words, key_bytes, length));
        BENCH("aes8_ecb_encrypt", 1024, tress_aes8_ecb_encrypt(key.many, d, d, length));
        BENCH("aes8_ecb_decrypt", 1024, tress_aes8_ecb_decrypt(key.many, d, d, length));
        BENCH("aes8_ctr", 64, tress_aes8_ctr(key.many, iv, d, d, length, room));
        BENCH("aes8_ctr", 1024, tress_aes8_ctr(key.many, iv, d, d, length, room));
        BENCH("aes8_ctr", 2048, tress_aes8_ctr(key.many, iv, d, d, length, room));
        BENCH("aes8_cbc_decrypt", 1024, tress_aes8_cbc_decrypt(key.many, iv, d, d, length));
        BENCH("aes8_ccm4_encrypt", 1024, tress_aes8_ccm4_encrypt(key.many, state, four, length / 64));
        BENCH("aes8_ccm4_decrypt", 1024, tress_aes8_ccm4_decrypt(key.many, state, four, length / 64));
        BENCH("aes2_encrypt", 32, tress_aes2_encrypt(key.chain, d, d));
        BENCH("aes2_cbc_encrypt", 1024, tress_aes2_cbc_encrypt(key.chain, iv, d, d, length));
        BENCH("aes2_ccm_encrypt", 16, tress_aes2_ccm_encrypt(key.chain, state, d, length / 16));
        BENCH("aes2_ccm_encrypt", 64, tress_aes2_ccm_encrypt(key.chain, state, d, length / 16));
        BENCH("aes2_ccm_encrypt", 1024, tress_aes2_ccm_encrypt(key.chain, state, d, length / 16));
        BENCH("aes2_ccm_decrypt", 1024, tress_aes2_ccm_decrypt(key.chain, state, d, length / 16));
        BENCH("aes_table_ctr", 16, tress_aes_table_stream(table_key.words, iv, d, d, length, tables.words));
        BENCH("aes_table_ctr", 64, tress_aes_table_stream(table_key.words, iv, d, d, length, tables.words));
        BENCH("aes_table_ctr", 1024, tress_aes_table_stream(table_key.words, iv, d, d, length, tables.words));
        BENCH("aes_table_ctr", 2048, tress_aes_table_stream(table_key.words, iv, d, d, length, tables.words));
        BENCH("aes_table_encrypt", 1024, tress_aes_table_encrypt(table_key.words, d, d, length, tables.words));
    }
    bits = 128;
    BENCH("rc6_set_key", 16, tress_rc6_set_key(&rc6_key, key_bytes, length));
    BENCH("rc6_ecb_encrypt", 1024, tress_rc6_encrypt(rc6_key.words, d, d, length));
    BENCH("rc6_ecb_decrypt", 1024, tress_rc6_decrypt(rc6_key.words, d, d, length));
    BENCH("rc6_ctr", 64, tress_rc6_stream(rc6_key.words, iv, d, d, length));
    BENCH("rc6_ctr", 1024, tress_rc6_stream(rc6_key.words, iv, d, d, length));
    return 0;
}
