/* RC6-32/20 for C: arguments are checked, then the kernels (crates/cipher/src/riscv32/rc6) do the work. */
#include "check.h"

void tress_rc6_expand_key(uint32_t *round_keys, const uint8_t *key, size_t key_length);
void tress_rc6_encrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length);
void tress_rc6_decrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length);
void tress_rc6_stream(const uint32_t *round_keys, uint8_t *counter, uint8_t *out, const uint8_t *in, size_t length);

int tress_rc6_set_key(tress_rc6_key *key, const uint8_t *bytes, size_t length)
{
    if (!key || !bytes)
        return TRESS_NULL;
    if (length != 16 && length != 24 && length != 32)
        return TRESS_LENGTH;
    if (overlap(key, sizeof *key, bytes, length))
        return TRESS_OVERLAP;
    tress_rc6_expand_key(key->words, bytes, length);
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
        tress_rc6_encrypt(key->words, out, in, length);
    return error;
}

int tress_rc6_ecb_decrypt(const tress_rc6_key *key, const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check(key, in, out, length);
    if (!error && length % 16)
        error = TRESS_LENGTH;
    if (!error)
        tress_rc6_decrypt(key->words, out, in, length);
    return error;
}

int tress_rc6_ctr(const tress_rc6_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check(key, in, out, length);
    if (!error)
        error = check_other(counter, 16, out, length);
    if (!error)
        error = check_other(counter, 16, in, length);
    if (!error)
        error = check_other(counter, 16, key, sizeof *key);
    if (!error)
        tress_rc6_stream(key->words, counter, out, in, length);
    return error;
}
