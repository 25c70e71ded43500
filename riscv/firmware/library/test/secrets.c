/* Calls every function of the library and every kernel once, with arbitrary keys and data, for `tress simulate --secret
 * key,data`, which reports each branch and address that depends on them. Freestanding: secrets_start.S calls main. `make
 * secrets` builds build/secrets.elf; riscv/firmware/images has a copy for the tests. */
#include "aes.h"
#include "pipo.h"
#include "rc6.h"
#include "tress_rv32.h"

void tress_pipo128_paper_encrypt1(const uint32_t *, const void *, void *);
void tress_pipo128_paper_cbc_encrypt1(const uint32_t *, void *, const void *, void *);
void tress_pipo128_paper_ctr1(const uint32_t *, const void *, const void *, void *);
void tress_pipo128_paper_encrypt4(const uint32_t *, const void *, void *);
void tress_pipo128_paper_memory4(const uint32_t *, const void *, void *);
void tress_pipo128_paper_ctr4(const uint32_t *, const uint32_t *, uint32_t, const void *, void *);
void tress_pipo128_paper_cbc_decrypt4(const uint32_t *, void *, const void *, void *);

/* The secrets. Data that is derived from them is followed as secret too. */
enum { BYTES = 272 };
uint8_t key[4][32] = { "a key of thirty-two bytes, no m", { 1 }, { 2 }, { 3 } };
uint8_t data[BYTES + 4] = "what is said";

static const uint8_t public[16] = { 1, 2, 3 };
static uint8_t block[32], out[BYTES + 4], tag[16], tags[4][16];
static uint32_t words[448];
static union {
    tress_pipo128_key pipo128;
    tress_pipo256_key pipo256;
    tress_pipo128_lanes lanes128;
    tress_pipo256_lanes lanes256;
    tress_aes_key aes;
    tress_aes_lanes aes_lanes;
    tress_aes_table_key table;
    tress_rc6_key rc6;
} prepared;
static tress_pipo_nonce nonce;
static tress_aes_tables tables;
static int failed;

static void expect(int result, int expected)
{
    failed |= result != expected;
}

static void ok(int result)
{
    expect(result, TRESS_OK);
}

/* Sizes that reach every path through a function: one block, groups, and remainders. */
static const size_t pipo[] = { 0, 8, 24, 32, 144 }, whole[] = { 0, 16, 144, 272 }, any[] = { 0, 5, 16, 133, 272 };
#define EACH(sizes) for (size_t i = 0, length; i < sizeof sizes / sizeof *sizes && (length = sizes[i], 1); i++)

#define PIPO(n)                                                                             \
    static void pipo##n(void)                                                                       \
    {                                                                                               \
        static uint8_t *const in[4] = { data, data + 64, data + 128, data + 192 };                         \
        uint8_t chains[4][8];                                                                       \
        tress_pipo##n##_key *k = &prepared.pipo##n;                                                 \
        ok(tress_pipo##n##_set_key(k, key[0]));                                                     \
        for (int at = 0; at < 4; at += 3) {                                                         \
            uint8_t *d = data + at;                                                                 \
            EACH(pipo) {                                                                            \
                ok(tress_pipo##n##_ecb_encrypt(k, d, d, length));                                   \
                ok(tress_pipo##n##_ecb_decrypt(k, d, d, length));                                   \
                ok(tress_pipo##n##_small_ecb_encrypt(key[0], d, d, length));                        \
                ok(tress_pipo##n##_small_ecb_decrypt(key[0], d, out + at, length));                 \
                ok(tress_pipo##n##_cbc_encrypt(k, block, d, d, length));                            \
                ok(tress_pipo##n##_cbc_decrypt(k, block, d, out + at, length));                     \
            }                                                                                       \
            ok(tress_pipo##n##_set_nonce(&nonce, k, public));                                       \
            EACH(any)                                                                               \
                ok(tress_pipo##n##_ctr(k, &nonce, (uint32_t)i, d, d, length));                      \
        }                                                                                           \
        ok(tress_pipo##n##_set_lanes(&prepared.lanes##n, (const void *)key));                           \
        tress_wipe(chains, sizeof chains);                                                          \
        ok(tress_pipo##n##_cbc_encrypt_x4(&prepared.lanes##n, chains, (const uint8_t *const *)in, in, 64)); \
    }
PIPO(128)
PIPO(256)

/* The paper's layouts. Key and data take the place of prepared keys and nonces. */
static void pipo_paper(void)
{
    for (size_t i = 0; i < sizeof words; i++)
        ((uint8_t *)words)[i] = data[i % BYTES] ^ key[0][i % 32];
    tress_pipo128_paper_encrypt1(words, data, out);
    tress_pipo128_paper_cbc_encrypt1(words, block, data, out);
    tress_pipo128_paper_ctr1(words, public, data, out);
    tress_pipo128_paper_encrypt4(words, data, out);
    tress_pipo128_paper_memory4(words, data, out);
    tress_pipo128_paper_ctr4(words, words, 0, data, out);
    tress_pipo128_paper_cbc_decrypt4(words, block, data, out);
}

#define CIPHER(name)                                                                                                     \
    static void name##_modes(const tress_##name##_key *k)                                                                \
    {                                                                                                                    \
        for (int at = 0; at < 4; at += 3) {                                                                              \
            uint8_t *d = data + at;                                                                                      \
            static uint8_t counter[16] = { 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 0xff, 0xfe };                   \
            EACH(whole) {                                                                                                \
                ok(tress_##name##_ecb_encrypt(k, d, d, length));                                                         \
                ok(tress_##name##_ecb_decrypt(k, d, out + at, length));                                                  \
                ok(tress_##name##_cbc_encrypt(k, block, d, d, length));                                                  \
                ok(tress_##name##_cbc_decrypt(k, block, d, out + at, length));                                           \
            }                                                                                                            \
            EACH(any) {                                                                                                  \
                ok(tress_##name##_ctr(k, counter, d, d, length));                                                        \
                ok(tress_##name##_ccm_encrypt(k, public, 13, public, i, d, length, tag, 8));                             \
                ok(tress_##name##_ccm_decrypt(k, public, 13, public, i, d, length, tag, 8));                             \
                tag[7] ^= 1;                                                                                             \
                expect(tress_##name##_ccm_decrypt(k, public, 13, public, i, d, length, tag, 8), TRESS_FORGED);           \
            }                                                                                                            \
        }                                                                                                                \
    }
CIPHER(aes)
CIPHER(rc6)

static void aes(size_t key_length)
{
    static const uint8_t *const keys[4] = { key[0], key[1], key[2], key[3] }, *const nonces[4] = { public, public, public, public };
    static uint8_t *const four[4] = { data, data + 68, data + 136, data + 204 }, *const to[4] = { tags[0], tags[1], tags[2], tags[3] };
    ok(tress_aes_set_key(&prepared.aes, key[0], key_length));
    aes_modes(&prepared.aes);
    ok(tress_aes_set_lanes(&prepared.aes_lanes, keys, key_length));
    for (size_t length = 0; length < 68; length += 33) {
        ok(tress_aes_ccm_encrypt_x4(&prepared.aes_lanes, nonces, 12, nonces, length % 16, four, length, to, 16));
        tags[2][0] ^= 1;
        expect(tress_aes_ccm_decrypt_x4(&prepared.aes_lanes, nonces, 12, nonces, length % 16, four, length,
                                        (const uint8_t *const *)to, 16), 1 << 2);
    }
}

/* Addresses depend on secrets, which must be reported. */
static void aes_with_tables(void)
{
    static uint8_t counter[16] = { 1 };
    ok(tress_aes_table_fill(&tables));
    ok(tress_aes_table_set_key(&prepared.table, key[0], 16));
    ok(tress_aes_table_ecb_encrypt(&prepared.table, &tables, data, data, 32));
    ok(tress_aes_table_ctr(&prepared.table, &tables, counter, data, data, 40));
}

/* The kernels for cores with Zbb, which the library calls if it is built for one. */
static void rc6_zbb(void)
{
    static uint8_t counter[16] = { 1 };
    tress_rc6_zbb_expand_key(words, key[0], 32);
    tress_rc6_zbb_encrypt(words, data, data, 32);
    tress_rc6_zbb_decrypt(words, out + 3, data, 32);
    tress_rc6_zbb_stream(words, counter, data, data, 37);
}

/* LEA's kernels, which the library does not have. Key and data take the place of round keys. */
#define LEA(prefix)                                                                                                      \
    void prefix##_encrypt(const uint32_t *, size_t, uint8_t *, const uint8_t *, size_t);                                 \
    void prefix##_decrypt(const uint32_t *, size_t, uint8_t *, const uint8_t *, size_t);                                 \
    void prefix##_stream(const uint32_t *, size_t, const uint8_t *, uint8_t *, const uint8_t *, size_t);                 \
    static void prefix(void)                                                                                             \
    {                                                                                                                    \
        static const uint8_t counter[16] = { 7, [15] = 0xfe };                                                           \
        for (size_t i = 0; i < sizeof words; i++)                                                                        \
            ((uint8_t *)words)[i] = data[i % BYTES] ^ key[0][i % 32];                                                    \
        for (size_t rounds = 24; rounds <= 32; rounds += 4) {                                                            \
            EACH(whole) {                                                                                                \
                prefix##_encrypt(words, 24 * rounds, data, data, length);                                                \
                prefix##_decrypt(words, 24 * rounds, out + 3, data, length);                                             \
                prefix##_decrypt(words, 24 * rounds, data, data, length);                                                \
            }                                                                                                            \
            EACH(any)                                                                                                    \
                prefix##_stream(words, 24 * rounds, counter, data, data, length);                                        \
        }                                                                                                                \
    }
LEA(tress_lea)
LEA(tress_lea_zbb)

int main(void)
{
    pipo128();
    pipo256();
    pipo_paper();
    for (size_t key_length = 16; key_length <= 32; key_length += 16)
        aes(key_length);
    for (size_t key_length = 16; key_length <= 32; key_length += 8) {
        ok(tress_rc6_set_key(&prepared.rc6, key[0], key_length));
        rc6_modes(&prepared.rc6);
    }
    rc6_zbb();
    tress_lea();
    tress_lea_zbb();
    aes_with_tables();
    tress_wipe(&prepared, sizeof prepared);
    return failed;
}
