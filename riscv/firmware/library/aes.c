/* AES for C: checks arguments, then calls the kernels, which accept any alignment. */
#include "aes.h"

#include "check.h"

enum { BLOCK = 16 };

static int key_length_fits(size_t length)
{
    return length == 16 || length == 32;
}

/* Checks key, in, out, and that the length is whole blocks. */
static int check_blocks(const void *key, size_t key_length, const uint8_t *in, const uint8_t *out, size_t length)
{
    int error = check_other(key, key_length, out, length);
    if (!error)
        error = check_data(in, out, length);
    return error ? error : length % BLOCK ? TRESS_LENGTH : TRESS_OK;
}

/* Checks a block that the call also reads and writes: an IV or a counter. */
static int check_block(const uint8_t *block, const void *key, size_t key_length, const uint8_t *in, const uint8_t *out,
                       size_t length)
{
    int error = check_other(block, BLOCK, out, length);
    if (!error)
        error = check_other(block, BLOCK, in, length);
    return error ? error : check_other(block, BLOCK, key, key_length);
}

int tress_aes_set_key(tress_aes_key *key, const uint8_t *bytes, size_t length)
{
    if (!key || !bytes)
        return TRESS_NULL;
    if (!key_length_fits(length))
        return TRESS_LENGTH;
    if (overlap(key, sizeof *key, bytes, length))
        return TRESS_OVERLAP;
    tress_aes8_expand_key(key->many, bytes, length);
    tress_aes2_expand_key(key->chain, bytes, length);
    return TRESS_OK;
}

int tress_aes_ecb_encrypt(const tress_aes_key *key, const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check_blocks(key, sizeof *key, in, out, length);
    if (!error)
        tress_aes8_ecb_encrypt(key->many, out, in, length);
    return error;
}

int tress_aes_ecb_decrypt(const tress_aes_key *key, const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check_blocks(key, sizeof *key, in, out, length);
    if (!error)
        tress_aes8_ecb_decrypt(key->many, out, in, length);
    return error;
}

int tress_aes_cbc_encrypt(const tress_aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check_blocks(key, sizeof *key, in, out, length);
    if (!error)
        error = check_block(iv, key, sizeof *key, in, out, length);
    if (!error)
        tress_aes2_cbc_encrypt(key->chain, iv, out, in, length);
    return error;
}

int tress_aes_cbc_decrypt(const tress_aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check_blocks(key, sizeof *key, in, out, length);
    if (!error)
        error = check_block(iv, key, sizeof *key, in, out, length);
    if (!error)
        tress_aes8_cbc_decrypt(key->many, iv, out, in, length);
    return error;
}

int tress_aes_ctr(const tress_aes_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t length)
{
    uint32_t room[40]; /* the kernel wipes it */
    int error = check_other(key, sizeof *key, out, length);
    if (!error)
        error = check_data(in, out, length);
    if (!error)
        error = check_block(counter, key, sizeof *key, in, out, length);
    if (!error)
        tress_aes8_ctr(key->many, counter, out, in, length, room);
    return error;
}

int tress_aes_table_fill(tress_aes_tables *tables)
{
    if (!tables)
        return TRESS_NULL;
    tress_aes_table_make(tables->words);
    return TRESS_OK;
}

int tress_aes_table_set_key(tress_aes_table_key *key, const uint8_t *bytes, size_t length)
{
    if (!key || !bytes)
        return TRESS_NULL;
    if (!key_length_fits(length))
        return TRESS_LENGTH;
    if (overlap(key, sizeof *key, bytes, length))
        return TRESS_OVERLAP;
    tress_aes_table_expand_key(key->words, bytes, length);
    return TRESS_OK;
}

int tress_aes_table_ecb_encrypt(const tress_aes_table_key *key, const tress_aes_tables *tables, const uint8_t *in,
                                uint8_t *out, size_t length)
{
    int error = check_blocks(key, sizeof *key, in, out, length);
    if (!error)
        error = check_other(tables, sizeof *tables, out, length);
    if (!error)
        tress_aes_table_encrypt(key->words, out, in, length, tables->words);
    return error;
}

int tress_aes_table_ctr(const tress_aes_table_key *key, const tress_aes_tables *tables, uint8_t counter[16],
                        const uint8_t *in, uint8_t *out, size_t length)
{
    int error = check_other(key, sizeof *key, out, length);
    if (!error)
        error = check_data(in, out, length);
    if (!error)
        error = check_other(tables, sizeof *tables, out, length);
    if (!error)
        error = check_block(counter, key, sizeof *key, in, out, length);
    if (!error)
        error = check_other(counter, BLOCK, tables, sizeof *tables);
    if (!error)
        tress_aes_table_stream(key->words, counter, out, in, length, tables->words);
    return error;
}
