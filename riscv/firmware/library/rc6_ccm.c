/* RC6-CCM for C: the mode of SP 800-38C with RC6-32/20. The chain is computed first, then the key stream is applied. */
#include "rc6.h"

#include "ccm.h"

/* Continues the chain over blocks of the message. The last block may be partial. */
static void chain(const tress_rc6_key *key, uint8_t mac[16], const uint8_t *data, size_t length)
{
    while (length) {
        size_t here = length < BLOCK ? length : BLOCK;
        add(mac, data, here);
        RC6(encrypt)(key->words, mac, mac, BLOCK);
        data += here, length -= here;
    }
}

/* Encrypts or decrypts, and leaves the tag in `tag` as a whole block. */
static void run(const tress_rc6_key *key, const uint8_t *nonce, const uint8_t *aad, uint8_t *data, const struct shape *s,
                int decrypt, uint32_t tag[4])
{
    uint32_t words[BLOCK / 2];
    uint8_t *mac = (uint8_t *)tag, *counter = (uint8_t *)words, *block = counter + BLOCK;

    header_block(mac, 0, nonce, aad, s);
    RC6(encrypt)(key->words, mac, mac, BLOCK);
    for (size_t n = 1; n < header_blocks(s); n++) {
        header_block(block, n, nonce, aad, s);
        chain(key, mac, block, BLOCK);
    }
    if (!decrypt)
        chain(key, mac, data, s->data);
    counter_block(counter, nonce, s);
    RC6(encrypt)(key->words, block, counter, BLOCK); /* hides the tag */
    counter[15] = 1;
    RC6(stream)(key->words, counter, data, data, s->data);
    if (decrypt)
        chain(key, mac, data, s->data);
    add(mac, block, BLOCK);
    tress_wipe(words, sizeof words);
}

int tress_rc6_ccm_encrypt(const tress_rc6_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, uint8_t *tag, size_t tag_length)
{
    struct shape s = { nonce_length, aad_length, length, tag_length };
    uint32_t whole[4];
    int error = check_message(key, sizeof *key, nonce, aad, data, tag, &s);
    if (!error)
        error = check_shape(&s);
    if (error)
        return error;
    run(key, nonce, aad, data, &s, 0, whole);
    copy(tag, whole, tag_length);
    tress_wipe(whole, sizeof whole);
    return TRESS_OK;
}

int tress_rc6_ccm_decrypt(const tress_rc6_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, const uint8_t *tag, size_t tag_length)
{
    struct shape s = { nonce_length, aad_length, length, tag_length };
    uint32_t whole[4];
    int error = check_message(key, sizeof *key, nonce, aad, data, tag, &s);
    if (!error)
        error = check_shape(&s);
    if (error)
        return error;
    run(key, nonce, aad, data, &s, 1, whole);
    int good = equal((uint8_t *)whole, tag, tag_length);
    tress_wipe(whole, sizeof whole);
    if (!good)
        tress_wipe(data, length);
    return good ? TRESS_OK : TRESS_FORGED;
}
