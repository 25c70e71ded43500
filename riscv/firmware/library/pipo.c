/* PIPO for C: checks arguments, then passes whole groups of four blocks to the kernels, directly if aligned, otherwise through
 * a buffer. The remaining blocks go through the buffer or, if it is only one, to the kernel for one block. */
#include "pipo.h"

#include "check.h"

enum { BLOCK = 8, GROUP = 32 };

typedef void ecb_kernel(const uint32_t *, const uint8_t *, uint8_t *, size_t);
typedef void cbc_kernel(const uint32_t *, uint8_t *, const uint8_t *, uint8_t *, size_t);
typedef void x4_kernel(const uint32_t *, uint8_t *, const uint8_t *const *, uint8_t *const *, size_t);
typedef void ctr_kernel(const uint32_t *, const uint32_t *, uint32_t, const uint8_t *, uint8_t *, size_t);

/* Buffer for a group or a part of one. */
typedef struct { uint32_t words[GROUP / 4]; } group;

static int check_ecb(const void *key, size_t key_length, const uint8_t *in, const uint8_t *out, size_t length)
{
    int error = check_other(key, key_length, out, length);
    if (!error)
        error = check_data(in, out, length);
    return error ? error : length % BLOCK ? TRESS_LENGTH : TRESS_OK;
}

static void ecb(ecb_kernel *four, ecb_kernel *one, const uint32_t *key4, const uint32_t *key1, const uint8_t *in,
                uint8_t *out, size_t length)
{
    group buffer;
    if (aligned(in, out)) {
        size_t whole = length / GROUP * GROUP;
        if (whole)
            four(key4, in, out, length / GROUP);
        in += whole, out += whole, length -= whole;
    }
    if (!length)
        return;
    while (length) {
        if (one && length == BLOCK) {
            one(key1, in, out, 1);
            break;
        }
        size_t part = length < GROUP ? length : GROUP;
        copy(&buffer, in, part);
        four(key4, (uint8_t *)&buffer, (uint8_t *)&buffer, 1);
        copy(out, &buffer, part);
        in += part, out += part, length -= part;
    }
    tress_wipe(&buffer, sizeof buffer);
}

static void small_ecb(ecb_kernel *four, const uint8_t *key, size_t key_length, const uint8_t *in, uint8_t *out, size_t length)
{
    uint32_t words[8];
    copy(words, key, key_length);
    ecb(four, 0, words, 0, in, out, length);
    tress_wipe(words, sizeof words);
}

static int check_cbc(const void *key, size_t key_length, const uint8_t *iv, const uint8_t *in, const uint8_t *out, size_t length)
{
    int error = check_ecb(key, key_length, in, out, length);
    if (!error)
        error = check_other(iv, BLOCK, out, length);
    if (!error)
        error = check_other(iv, BLOCK, in, length);
    return error ? error : check_other(iv, BLOCK, key, key_length);
}

static void cbc_decrypt(cbc_kernel *four, const uint32_t *key, uint8_t *iv, const uint8_t *in, uint8_t *out, size_t length)
{
    group buffer;
    uint32_t chain[2], next[2];
    copy(chain, iv, BLOCK);
    if (aligned(in, out)) {
        size_t whole = length / GROUP * GROUP;
        four(key, (uint8_t *)chain, in, out, length / GROUP);
        in += whole, out += whole, length -= whole;
    }
    while (length) {
        size_t part = length < GROUP ? length : GROUP;
        copy(&buffer, in, part);
        copy(next, in + part - BLOCK, BLOCK);
        four(key, (uint8_t *)chain, (uint8_t *)&buffer, (uint8_t *)&buffer, 1);
        copy(chain, next, BLOCK);
        copy(out, &buffer, part);
        in += part, out += part, length -= part;
        tress_wipe(&buffer, sizeof buffer);
    }
    copy(iv, chain, BLOCK);
}

static int check_x4(const void *key, size_t key_length, uint8_t (*ivs)[8], const uint8_t *const in[4], uint8_t *const out[4],
                    size_t length)
{
    if (!key || !ivs || !in || !out)
        return TRESS_NULL;
    if (overlap(ivs, 4 * BLOCK, key, key_length))
        return TRESS_OVERLAP;
    for (int i = 0; i < 4; i++) {
        int error = check_cbc(key, key_length, ivs[0], in[i], out[i], length);
        if (error)
            return error;
        if (overlap(ivs, 4 * BLOCK, in[i], length) || overlap(ivs, 4 * BLOCK, out[i], length))
            return TRESS_OVERLAP;
        if (overlap(in, sizeof(uint8_t *) * 4, out[i], length) || overlap(out, sizeof(uint8_t *) * 4, out[i], length))
            return TRESS_OVERLAP;
        for (int j = 0; j < 4; j++)
            if (j != i && (overlap(in[j], length, out[i], length) || overlap(out[j], length, out[i], length)))
                return TRESS_OVERLAP;
    }
    return TRESS_OK;
}

static void cbc_encrypt_x4(x4_kernel *kernel, const uint32_t *key, uint8_t (*ivs)[8], const uint8_t *const in[4],
                           uint8_t *const out[4], size_t length)
{
    uint32_t chains[8];
    int direct = 1;
    copy(chains, ivs, sizeof chains);
    for (int i = 0; i < 4; i++)
        direct &= aligned(in[i], out[i]);
    if (direct) {
        kernel(key, (uint8_t *)chains, in, out, length / BLOCK);
    } else {
        group buffer;
        uint8_t *blocks[4];
        for (int i = 0; i < 4; i++)
            blocks[i] = (uint8_t *)&buffer.words[2 * i];
        for (size_t at = 0; at < length; at += BLOCK) {
            for (int i = 0; i < 4; i++)
                copy(blocks[i], in[i] + at, BLOCK);
            kernel(key, (uint8_t *)chains, (const uint8_t *const *)blocks, blocks, 1);
            for (int i = 0; i < 4; i++)
                copy(out[i] + at, blocks[i], BLOCK);
        }
        tress_wipe(&buffer, sizeof buffer);
    }
    copy(ivs, chains, sizeof chains);
}

static int check_ctr(const void *key, size_t key_length, const tress_pipo_nonce *nonce, uint32_t counter, const uint8_t *in,
                     const uint8_t *out, size_t length)
{
    int error = check_other(key, key_length, out, length);
    if (!error)
        error = check_other(nonce, sizeof *nonce, out, length);
    if (!error)
        error = check_data(in, out, length);
    if (error)
        return error;
    size_t blocks = length / BLOCK + (length % BLOCK != 0);
    return counter > 65536 || blocks > 65536 - counter ? TRESS_COUNTER : TRESS_OK;
}

static void ctr(ctr_kernel *four, ctr_kernel *one, const uint32_t *key4, const uint32_t *key1, const tress_pipo_nonce *nonce,
                uint32_t counter, const uint8_t *in, uint8_t *out, size_t length)
{
    group buffer;
    while (length) {
        size_t skip = counter % 4 * BLOCK;
        if (!skip && length >= GROUP && aligned(in, out)) {
            size_t whole = length / GROUP;
            four(key4, nonce->four, counter / 4, in, out, whole);
            in += whole * GROUP, out += whole * GROUP, length -= whole * GROUP;
            counter += 4 * whole;
            continue;
        }
        size_t part = length < GROUP - skip ? length : GROUP - skip;
        uint8_t *bytes = (uint8_t *)&buffer;
        if (part <= BLOCK) {
            copy(bytes, in, part);
            one(key1, nonce->one, counter, bytes, bytes, 1);
            copy(out, bytes, part);
            counter++;
        } else {
            copy(bytes + skip, in, part);
            four(key4, nonce->four, counter / 4, bytes, bytes, 1);
            copy(out, bytes + skip, part);
            counter += part / BLOCK;
        }
        in += part, out += part, length -= part;
        tress_wipe(&buffer, sizeof buffer);
    }
}

#define PIPO(n, bytes_of_key)                                                                                            \
    int tress_pipo##n##_set_key(tress_pipo##n##_key *key, const uint8_t bytes[bytes_of_key])                             \
    {                                                                                                                    \
        uint32_t four[bytes_of_key];                                                                                     \
        if (!key || !bytes)                                                                                              \
            return TRESS_NULL;                                                                                           \
        if (overlap(key, sizeof *key, bytes, bytes_of_key))                                                              \
            return TRESS_OVERLAP;                                                                                        \
        for (int i = 0; i < 4; i++)                                                                                      \
            copy(four + bytes_of_key / 4 * i, bytes, bytes_of_key);                                                      \
        tress_pipo_prepare4(key->four, four, bytes_of_key / 8);                                                          \
        tress_pipo_prepare1(key->one, bytes, bytes_of_key / 8);                                                          \
        tress_wipe(four, sizeof four);                                                                                   \
        return TRESS_OK;                                                                                                 \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_set_lanes(tress_pipo##n##_lanes *lanes, const uint8_t keys[4][bytes_of_key])                     \
    {                                                                                                                    \
        uint32_t four[bytes_of_key];                                                                                     \
        if (!lanes || !keys)                                                                                             \
            return TRESS_NULL;                                                                                           \
        if (overlap(lanes, sizeof *lanes, keys, 4 * bytes_of_key))                                                       \
            return TRESS_OVERLAP;                                                                                        \
        copy(four, keys, sizeof four);                                                                                   \
        tress_pipo_prepare4(lanes->four, four, bytes_of_key / 8);                                                        \
        tress_wipe(four, sizeof four);                                                                                   \
        return TRESS_OK;                                                                                                 \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_set_nonce(tress_pipo_nonce *nonce, const tress_pipo##n##_key *key, const uint8_t bytes[6])       \
    {                                                                                                                    \
        if (!nonce || !key || !bytes)                                                                                    \
            return TRESS_NULL;                                                                                           \
        if (overlap(nonce, sizeof *nonce, key, sizeof *key) || overlap(nonce, sizeof *nonce, bytes, 6))                  \
            return TRESS_OVERLAP;                                                                                        \
        tress_pipo_nonce4(nonce->four, key->four, bytes, bytes_of_key / 8);                                              \
        tress_pipo_nonce1(nonce->one, key->one, bytes, bytes_of_key / 8);                                                \
        return TRESS_OK;                                                                                                 \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_ecb_encrypt(const tress_pipo##n##_key *key, const uint8_t *in, uint8_t *out, size_t length)      \
    {                                                                                                                    \
        int error = check_ecb(key, sizeof *key, in, out, length);                                                        \
        if (!error)                                                                                                      \
            ecb(tress_pipo##n##_encrypt4, tress_pipo##n##_encrypt1, key->four, key->one, in, out, length);               \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_ecb_decrypt(const tress_pipo##n##_key *key, const uint8_t *in, uint8_t *out, size_t length)      \
    {                                                                                                                    \
        int error = check_ecb(key, sizeof *key, in, out, length);                                                        \
        if (!error)                                                                                                      \
            ecb(tress_pipo##n##_decrypt4, tress_pipo##n##_decrypt1, key->four, key->one, in, out, length);               \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_small_ecb_encrypt(const uint8_t key[bytes_of_key], const uint8_t *in, uint8_t *out, size_t length) \
    {                                                                                                                    \
        int error = check_ecb(key, bytes_of_key, in, out, length);                                                       \
        if (!error)                                                                                                      \
            small_ecb(tress_pipo##n##_small_encrypt4, key, bytes_of_key, in, out, length);                               \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_small_ecb_decrypt(const uint8_t key[bytes_of_key], const uint8_t *in, uint8_t *out, size_t length) \
    {                                                                                                                    \
        int error = check_ecb(key, bytes_of_key, in, out, length);                                                       \
        if (!error)                                                                                                      \
            small_ecb(tress_pipo##n##_small_decrypt4, key, bytes_of_key, in, out, length);                               \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_cbc_encrypt(const tress_pipo##n##_key *key, uint8_t iv[8], const uint8_t *in, uint8_t *out,      \
                                    size_t length)                                                                       \
    {                                                                                                                    \
        int error = check_cbc(key, sizeof *key, iv, in, out, length);                                                    \
        if (!error)                                                                                                      \
            tress_pipo##n##_cbc_encrypt1(key->one, iv, in, out, length / BLOCK);                                         \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_cbc_decrypt(const tress_pipo##n##_key *key, uint8_t iv[8], const uint8_t *in, uint8_t *out,      \
                                    size_t length)                                                                       \
    {                                                                                                                    \
        int error = check_cbc(key, sizeof *key, iv, in, out, length);                                                    \
        if (!error)                                                                                                      \
            cbc_decrypt(tress_pipo##n##_cbc_decrypt4, key->four, iv, in, out, length);                                   \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_cbc_encrypt_x4(const tress_pipo##n##_lanes *lanes, uint8_t ivs[4][8], const uint8_t *const in[4],\
                                       uint8_t *const out[4], size_t length)                                             \
    {                                                                                                                    \
        int error = check_x4(lanes, sizeof *lanes, ivs, in, out, length);                                                \
        if (!error)                                                                                                      \
            cbc_encrypt_x4(tress_pipo##n##_cbc_x4, lanes->four, ivs, in, out, length);                                    \
        return error;                                                                                                    \
    }                                                                                                                    \
                                                                                                                         \
    int tress_pipo##n##_ctr(const tress_pipo##n##_key *key, const tress_pipo_nonce *nonce, uint32_t counter,             \
                            const uint8_t *in, uint8_t *out, size_t length)                                              \
    {                                                                                                                    \
        int error = check_ctr(key, sizeof *key, nonce, counter, in, out, length);                                        \
        if (!error)                                                                                                      \
            ctr(tress_pipo##n##_ctr4, tress_pipo##n##_ctr1, key->four, key->one, nonce, counter, in, out, length);       \
        return error;                                                                                                    \
    }

PIPO(128, 16)
PIPO(256, 32)
