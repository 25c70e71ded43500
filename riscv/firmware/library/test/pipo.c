/* Tests PIPO of libtress_rv32.a: vectors at every alignment, lengths, pieces, lanes, kernels called directly, invalid calls. */
#include <string.h>

#include "pipo.h"
#include "test.h"
#include "tress_rv32.h"
#include "vectors.h"

enum { COUNT = sizeof vectors / sizeof vectors[0] };

static union { tress_pipo128_key k128; tress_pipo256_key k256; } key;
static union { tress_pipo128_lanes l128; tress_pipo256_lanes l256; } lanes;
static tress_pipo_nonce nonce;

static void set_key(const struct vector *v)
{
    check(!(v->key_bits == 128 ? CALL(tress_pipo128_set_key, &key, v->key) : CALL(tress_pipo256_set_key, &key, v->key)), "set_key", v->name);
}

#define EITHER(v, name, ...) ((v)->key_bits == 128 ? CALL(tress_pipo128_##name, __VA_ARGS__) : CALL(tress_pipo256_##name, __VA_ARGS__))

/* Encrypts and decrypts a vector, with in and out at given offsets. In place if out is 4. */
static void vector(const struct vector *v, unsigned from, unsigned to)
{
    uint8_t iv[8], *in = guarded(0, from, v->length), *out = to == 4 ? in : guarded(1, to, v->length);
    unsigned counter = v->mode == CTR ? v->iv[6] << 8 | v->iv[7] : 0;
    for (int pass = 0; pass < (v->mode == ECB ? 4 : 2); pass++) {
        const uint8_t *source = pass & 1 ? v->ciphertext : v->message, *wanted = pass & 1 ? v->message : v->ciphertext;
        int error = 1;
        memcpy(in, source, v->length);
        if (v->mode == ECB && pass < 2)
            error = pass ? EITHER(v, ecb_decrypt, &key, in, out, v->length) : EITHER(v, ecb_encrypt, &key, in, out, v->length);
        else if (v->mode == ECB)
            error = pass & 1 ? EITHER(v, small_ecb_decrypt, v->key, in, out, v->length)
                             : EITHER(v, small_ecb_encrypt, v->key, in, out, v->length);
        else if (v->mode == CBC) {
            memcpy(iv, v->iv, 8);
            error = pass ? EITHER(v, cbc_decrypt, &key, iv, in, out, v->length) : EITHER(v, cbc_encrypt, &key, iv, in, out, v->length);
            check(same(iv, v->length ? v->ciphertext + v->length - 8 : v->iv, 8), "the chain", v->name);
        } else {
            error = EITHER(v, ctr, &key, &nonce, counter, in, out, v->length);
            if (v->refused) {
                check(error == TRESS_COUNTER && same(in, v->message, v->length), "refused", v->name);
                return;
            }
        }
        check(!error, "error", v->name);
        check(same(out, wanted, v->length), "result", v->name);
        check(out == in || same(in, source, v->length), "the input is unchanged", v->name);
    }
    check(guards_stand(0) && guards_stand(1), "guards", v->name);
}

static void all_vectors(void)
{
    guarded(1, 0, 0);
    for (unsigned i = 0; i < COUNT; i++) {
        const struct vector *v = &vectors[i];
        set_key(v);
        if (v->mode == CTR)
            check(!EITHER(v, set_nonce, &nonce, &key, v->iv), "set_nonce", v->name);
        vector(v, 0, 4);
        vector(v, 1, 4);
        for (unsigned from = 0; from < 4; from++)
            for (unsigned to = 0; to < (v->length <= 80 ? 4u : 1u); to++)
                vector(v, from, to);
    }
}

/* Pieces of any number of blocks give the same result as the whole message: CBC through its chain, CTR through its counter. */
static void pieces(const struct vector *v, unsigned first)
{
    uint8_t iv[8], *data = guarded(0, 0, v->length);
    unsigned counter = v->iv[6] << 8 | v->iv[7];
    guarded(1, 0, 0);
    set_key(v);
    memcpy(data, v->message, v->length);
    memcpy(iv, v->iv, 8);
    if (v->mode == CBC) {
        EITHER(v, cbc_encrypt, &key, iv, data, data, 8 * first);
        EITHER(v, cbc_encrypt, &key, iv, data + 8 * first, data + 8 * first, v->length - 8 * first);
        check(same(data, v->ciphertext, v->length), "encryption in pieces", v->name);
        memcpy(iv, v->iv, 8);
        EITHER(v, cbc_decrypt, &key, iv, data, data, 8 * first);
        EITHER(v, cbc_decrypt, &key, iv, data + 8 * first, data + 8 * first, v->length - 8 * first);
        check(same(data, v->message, v->length), "decryption in pieces", v->name);
    } else {
        EITHER(v, set_nonce, &nonce, &key, v->iv);
        EITHER(v, ctr, &key, &nonce, counter, data, data, 8 * first);
        EITHER(v, ctr, &key, &nonce, counter + first, data + 8 * first, data + 8 * first, v->length - 8 * first);
        check(same(data, v->ciphertext, v->length), "in pieces", v->name);
    }
}

/* Encrypts four vectors of the same length as four messages. */
static void four_messages(void)
{
    for (unsigned bits = 128; bits <= 256; bits += 128)
        for (unsigned blocks = 0; blocks <= 9; blocks++)
            for (unsigned offset = 0; offset < 4; offset++) {
                const struct vector *four[4];
                uint8_t keys[4][32], ivs[4][8], *data[4];
                unsigned n = 0;
                for (unsigned i = 0; i < COUNT && n < 4; i++)
                    if (vectors[i].mode == CBC && vectors[i].key_bits == bits && vectors[i].length >= 8 * blocks)
                        four[n++] = &vectors[i];
                check(n == 4, "four vectors", "cbc_encrypt_x4");
                for (int m = 0; m < 4; m++) {
                    memcpy((uint8_t *)keys + m * bits / 8, four[m]->key, bits / 8);
                    memcpy(ivs[m], four[m]->iv, 8);
                    data[m] = guarded(m, offset, 8 * blocks);
                    memcpy(data[m], four[m]->message, 8 * blocks);
                }
                const struct vector *v = four[0];
                check(!EITHER(v, set_lanes, &lanes, keys), "set_lanes", v->name);
                check(!EITHER(v, cbc_encrypt_x4, &lanes, ivs, data, data, 8 * blocks), "error", "cbc_encrypt_x4");
                for (int m = 0; m < 4; m++) {
                    check(same(data[m], four[m]->ciphertext, 8 * blocks), "result", "cbc_encrypt_x4");
                    check(guards_stand(m), "guards", "cbc_encrypt_x4");
                    check(same(ivs[m], blocks ? four[m]->ciphertext + 8 * blocks - 8 : four[m]->iv, 8), "chains", "cbc_encrypt_x4");
                }
            }
}

/* Calls the kernels directly, to check their registers and stack. */
static void kernels(void)
{
    static uint32_t data[24], chain[8];
    uint32_t *where[4] = { data, data + 6, data + 12, data + 18 };
    static uint32_t words[8];
#define KERNELS_OF(n, k)                                                        \
    CALL(tress_pipo##n##_encrypt4, key.k.four, data, data, 3);                  \
    CALL(tress_pipo##n##_decrypt4, key.k.four, data, data, 3);                  \
    CALL(tress_pipo##n##_small_encrypt4, words, data, data, 3);                 \
    CALL(tress_pipo##n##_small_decrypt4, words, data, data, 3);                 \
    CALL(tress_pipo##n##_ctr4, key.k.four, nonce.four, 62, data, data, 3);      \
    CALL(tress_pipo##n##_cbc_decrypt4, key.k.four, chain, data, data, 3);       \
    CALL(tress_pipo##n##_cbc_x4, key.k.four, chain, where, where, 3);           \
    CALL(tress_pipo##n##_encrypt1, key.k.one, data, data, 3);                   \
    CALL(tress_pipo##n##_decrypt1, key.k.one, data, data, 3);                   \
    CALL(tress_pipo##n##_cbc_encrypt1, key.k.one, chain, data, data, 3);        \
    CALL(tress_pipo##n##_ctr1, key.k.one, nonce.one, 254, data, data, 3);
    CALL(tress_pipo128_set_key, &key, words);
    KERNELS_OF(128, k128)
    CALL(tress_pipo256_set_key, &key, words);
    KERNELS_OF(256, k256)
}

/* Every counter: groups of four, from any start among 256, compared with single blocks. */
static void all_counters(void)
{
    static const uint8_t zeros[2048];
    static uint32_t four[512], one[512];
    for (unsigned counter = 0; counter < 65536; counter += 251) {
        unsigned blocks = 65536 - counter < 256 ? 65536 - counter : 256;
        CALL(tress_pipo128_ctr, &key, &nonce, counter, zeros, four, 8 * blocks);
        CALL(tress_pipo128_ctr1, key.k128.one, nonce.one, counter, zeros, one, blocks);
        check(same(four, one, 8 * blocks), "every counter", "ctr");
    }
}

/* Invalid calls return the error and write nothing. */
static void refusals(void)
{
    uint8_t *data = guarded(0, 0, 256), before[256], iv[8] = { 0 }, ivs[4][8] = { { 0 } };
    const uint8_t *ins[4] = { data, data + 8, data + 16, data + 24 };
    uint8_t *outs[4] = { data + 64, data + 72, data + 80, data + 84 };
    tress_pipo128_key *k = &key.k128;
    memset(data, 0x3c, 256);
    memcpy(before, data, 256);
#define REFUSED(error, ...)                                     \
    check(CALL(__VA_ARGS__) == error, #error, #__VA_ARGS__);    \
    check(same(data, before, 256), "nothing is written", #__VA_ARGS__)
    CALL(tress_pipo128_set_key, k, before);
    CALL(tress_pipo128_set_nonce, &nonce, k, before);
    REFUSED(TRESS_NULL, tress_pipo128_set_key, 0, data);
    REFUSED(TRESS_NULL, tress_pipo128_set_key, k, 0);
    REFUSED(TRESS_OVERLAP, tress_pipo128_set_key, data, data + 8);
    REFUSED(TRESS_NULL, tress_pipo128_set_lanes, 0, data);
    REFUSED(TRESS_NULL, tress_pipo128_set_nonce, &nonce, k, 0);
    REFUSED(TRESS_OVERLAP, tress_pipo128_set_nonce, data, k, data + 47);
    REFUSED(TRESS_NULL, tress_pipo128_ecb_encrypt, 0, data, data, 8);
    REFUSED(TRESS_NULL, tress_pipo128_ecb_encrypt, k, 0, data, 8);
    REFUSED(TRESS_NULL, tress_pipo128_ecb_decrypt, k, data, 0, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_ecb_encrypt, k, data, data + 7, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_ecb_encrypt, k, data + 24, data, 32);
    REFUSED(TRESS_OVERLAP, tress_pipo128_ecb_encrypt, k, data, k, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_ecb_encrypt, k, 0xfffffff8, data, 16);
    REFUSED(TRESS_LENGTH, tress_pipo128_ecb_encrypt, k, data, data, 9);
    REFUSED(TRESS_LENGTH, tress_pipo128_small_ecb_encrypt, before, data, data, 31);
    REFUSED(TRESS_OVERLAP, tress_pipo128_small_ecb_encrypt, data, data, data, 8);
    REFUSED(TRESS_LENGTH, tress_pipo128_cbc_encrypt, k, iv, data, data, 7);
    REFUSED(TRESS_NULL, tress_pipo128_cbc_encrypt, k, 0, data, data, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_cbc_encrypt, k, data + 4, data, data, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_cbc_decrypt, k, data, data, data + 64, 8);
    REFUSED(TRESS_COUNTER, tress_pipo128_ctr, k, &nonce, 65535, data, data, 9);
    REFUSED(TRESS_COUNTER, tress_pipo128_ctr, k, &nonce, 65536, data, data, 1);
    REFUSED(TRESS_COUNTER, tress_pipo128_ctr, k, &nonce, 0xffffffff, data, data, 8);
    REFUSED(TRESS_NULL, tress_pipo128_ctr, k, 0, 0, data, data, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_ctr, k, &nonce, 0, data, data + 1, 8);
    REFUSED(TRESS_OVERLAP, tress_pipo128_cbc_encrypt_x4, &lanes, ivs, ins, outs, 8);
    REFUSED(TRESS_LENGTH, tress_pipo128_cbc_encrypt_x4, &lanes, ivs, ins, ins, 7);
    REFUSED(TRESS_NULL, tress_pipo128_cbc_encrypt_x4, &lanes, ivs, 0, outs, 8);
    check(!CALL(tress_pipo128_ecb_encrypt, k, 0, 0, 0), "no bytes at no address", "ecb_encrypt");
    check(!CALL(tress_pipo128_ctr, k, &nonce, 65536, 0, 0, 0), "no bytes at the counter's end", "ctr");
    check(!CALL(tress_pipo128_ctr, k, &nonce, 65535, data, data, 8), "the last block", "ctr");
}

void test_pipo(void)
{
    all_vectors();
    for (unsigned i = 0; i < COUNT; i++)
        if (vectors[i].mode != ECB && vectors[i].length >= 72 && !vectors[i].refused)
            for (unsigned first = 0; first <= 9; first++)
                pieces(&vectors[i], first);
    four_messages();
    kernels();
    set_key(&vectors[0]);
    check(vectors[0].key_bits == 128, "a key of 128 bits", "every counter");
    CALL(tress_pipo128_set_nonce, &nonce, &key, vectors[0].key);
    all_counters();
    refusals();
}
