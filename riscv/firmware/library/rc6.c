/* RC6-32/20 for C: checks arguments, then calls the kernels, which accept any alignment. */
#include "rc6.h"

#include "check.h"

enum { BLOCK = 16 };

int tress_rc6_set_key(tress_rc6_key *key, const uint8_t *bytes, size_t length)
{
    if (!key || !bytes)
        return TRESS_NULL;
    if (length != 16 && length != 24 && length != 32)
        return TRESS_LENGTH;
    if (overlap(key, sizeof *key, bytes, length))
        return TRESS_OVERLAP;
    RC6(expand_key)(key->words, bytes, length);
    return TRESS_OK;
}

static int check(const tress_rc6_key *key, const uint8_t *in, const uint8_t *out, size_t length)
{
    int error = check_other(key, sizeof *key, out, length);
    return error ? error : check_data(in, out, length);
}

int tress_rc6_ecb_encrypt(const tress_rc6_key *key, const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check(key, in, out, length);
    if (!error && length % 16)
        error = TRESS_LENGTH;
    if (!error)
        RC6(encrypt)(key->words, out, in, length);
    return error;
}

int tress_rc6_ecb_decrypt(const tress_rc6_key *key, const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check(key, in, out, length);
    if (!error && length % 16)
        error = TRESS_LENGTH;
    if (!error)
        RC6(decrypt)(key->words, out, in, length);
    return error;
}

/* Checks a block that the call also reads and writes: an IV or a counter. */
static int check_block(const uint8_t *block, const tress_rc6_key *key, const uint8_t *in, const uint8_t *out, size_t length)
{
    int error = check_other(block, BLOCK, out, length);
    if (!error)
        error = check_other(block, BLOCK, in, length);
    return error ? error : check_other(block, BLOCK, key, sizeof *key);
}

static int check_chain(const tress_rc6_key *key, const uint8_t *iv, const uint8_t *in, const uint8_t *out, size_t length)
{
    int error = check(key, in, out, length);
    if (!error)
        error = check_block(iv, key, in, out, length);
    return !error && length % BLOCK ? TRESS_LENGTH : error;
}

int tress_rc6_cbc_encrypt(const tress_rc6_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check_chain(key, iv, in, out, length);
    for (; !error && length; length -= BLOCK, in += BLOCK, out += BLOCK) {
        add(iv, in, BLOCK);
        RC6(encrypt)(key->words, iv, iv, BLOCK);
        copy(out, iv, BLOCK);
    }
    return error;
}

int tress_rc6_cbc_decrypt(const tress_rc6_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length)
{
    uint32_t before[BLOCK / 4];
    int error = check_chain(key, iv, in, out, length);
    for (; !error && length; length -= BLOCK, in += BLOCK, out += BLOCK) {
        copy(before, in, BLOCK);
        RC6(decrypt)(key->words, out, in, BLOCK);
        add(out, iv, BLOCK);
        copy(iv, before, BLOCK);
    }
    return error;
}

int tress_rc6_ctr(const tress_rc6_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check(key, in, out, length);
    if (!error)
        error = check_block(counter, key, in, out, length);
    if (!error)
        RC6(stream)(key->words, counter, out, in, length);
    return error;
}
