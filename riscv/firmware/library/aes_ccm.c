/* AES-CCM for C (SP 800-38C): everything before and after the whole blocks, which the kernels process. */
#include "aes.h"

#include "ccm.h"

/* For one message or four. state: the chains, then the counters; masks: the encrypted counters 0, which hide the tags. */
struct work { uint32_t state[32], masks[16]; };

/* Encrypts two blocks of each lane: one of `first`, one of `second`. */
static void cipher(const uint32_t *keys, int lanes, uint32_t *first, uint32_t *second)
{
    uint32_t blocks[32];
    size_t bytes = (size_t)lanes * BLOCK;
    copy(blocks, first, bytes);
    copy(blocks + (lanes == 1 ? 4 : 16), second, bytes);
    if (lanes == 1)
        tress_aes2_encrypt(keys, (uint8_t *)blocks, (uint8_t *)blocks);
    else
        tress_aes8_ecb_encrypt(keys, (uint8_t *)blocks, (uint8_t *)blocks, 128);
    copy(first, blocks, bytes);
    copy(second, blocks + (lanes == 1 ? 4 : 16), bytes);
    tress_wipe(blocks, sizeof blocks);
}

/* Processes everything except the tags, which are left in the masks. */
static void run(const uint32_t *keys, int lanes, const uint8_t *const *nonces, const uint8_t *const *aads,
                uint8_t *const *data, const struct shape *s, int decrypt, struct work *w)
{
    uint8_t block[BLOCK];
    uint8_t *mac = (uint8_t *)w->state, *counter = mac + lanes * BLOCK, *mask = (uint8_t *)w->masks;
    size_t whole = s->data / BLOCK, rest = s->data % BLOCK;

    for (int l = 0; l < lanes; l++) {
        header_block(mac + l * BLOCK, 0, nonces[l], aads[l], s);
        counter_block(counter + l * BLOCK, nonces[l], s);
    }
    copy(mask, counter, (size_t)lanes * BLOCK);
    cipher(keys, lanes, w->state, w->masks); /* B_0 and counter 0 in one call */
    for (size_t n = 1; n < header_blocks(s); n++) {
        uint32_t idle[16];
        tress_wipe(idle, sizeof idle);
        for (int l = 0; l < lanes; l++) {
            header_block(block, n, nonces[l], aads[l], s);
            add(mac + l * BLOCK, block, BLOCK);
        }
        cipher(keys, lanes, w->state, idle);
        tress_wipe(idle, sizeof idle);
    }
    for (int l = 0; l < lanes; l++)
        counter[l * BLOCK + 15] = 1;
    if (lanes == 1)
        (decrypt ? tress_aes2_ccm_decrypt : tress_aes2_ccm_encrypt)(keys, w->state, data[0], whole);
    else
        (decrypt ? tress_aes8_ccm4_decrypt : tress_aes8_ccm4_encrypt)(keys, w->state, data, whole);
    if (rest) {
        uint32_t stream[16];
        copy(stream, counter, (size_t)lanes * BLOCK);
        if (decrypt) { /* the chain has to wait for the key stream */
            uint32_t idle[16];
        tress_wipe(idle, sizeof idle);
            cipher(keys, lanes, idle, stream);
            tress_wipe(idle, sizeof idle);
        }
        for (int l = 0; l < lanes; l++) {
            uint8_t *end = data[l] + whole * BLOCK;
            if (decrypt)
                add(end, (uint8_t *)stream + l * BLOCK, rest);
            add(mac + l * BLOCK, end, rest);
        }
        if (decrypt) {
            uint32_t idle[16];
        tress_wipe(idle, sizeof idle);
            cipher(keys, lanes, w->state, idle);
            tress_wipe(idle, sizeof idle);
        } else {
            cipher(keys, lanes, w->state, stream);
            for (int l = 0; l < lanes; l++)
                add(data[l] + whole * BLOCK, (uint8_t *)stream + l * BLOCK, rest);
        }
        tress_wipe(stream, sizeof stream);
    }
    add(mask, mac, (size_t)lanes * BLOCK);
}

int tress_aes_ccm_encrypt(const tress_aes_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, uint8_t *tag, size_t tag_length)
{
    struct shape s = { nonce_length, aad_length, length, tag_length };
    struct work w;
    int error = check_message(key, sizeof *key, nonce, aad, data, tag, &s);
    if (!error)
        error = check_shape(&s);
    if (error)
        return error;
    run(key->chain, 1, &nonce, &aad, &data, &s, 0, &w);
    copy(tag, w.masks, tag_length);
    tress_wipe(&w, sizeof w);
    return TRESS_OK;
}

int tress_aes_ccm_decrypt(const tress_aes_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, const uint8_t *tag, size_t tag_length)
{
    struct shape s = { nonce_length, aad_length, length, tag_length };
    struct work w;
    int error = check_message(key, sizeof *key, nonce, aad, data, tag, &s);
    if (!error)
        error = check_shape(&s);
    if (error)
        return error;
    run(key->chain, 1, &nonce, &aad, &data, &s, 1, &w);
    int good = equal((uint8_t *)w.masks, tag, tag_length);
    tress_wipe(&w, sizeof w);
    if (!good)
        tress_wipe(data, length);
    return good ? TRESS_OK : TRESS_FORGED;
}

int tress_aes_set_lanes(tress_aes_lanes *lanes, const uint8_t *const keys[4], size_t length)
{
    uint32_t own[1 + 32 * 15];
    if (!lanes || !keys)
        return TRESS_NULL;
    if (length != 16 && length != 32)
        return TRESS_LENGTH;
    for (int l = 0; l < 4; l++) {
        int error = check_other(keys[l], length, lanes, sizeof *lanes);
        if (error)
            return error;
    }
    for (size_t l = 0; l < 4; l++) {
        tress_aes8_expand_key(own, keys[l], length);
        tress_aes8_set_lane_key(lanes->many, l, own);
        tress_aes8_set_lane_key(lanes->many, 4 + l, own);
    }
    tress_wipe(own, sizeof own);
    return TRESS_OK;
}

static int check_x4(const tress_aes_lanes *lanes, const uint8_t *const nonces[4], const uint8_t *const aads[4],
                    uint8_t *const data[4], const uint8_t *const tags[4], const struct shape *s)
{
    if (!lanes || !nonces || !data || !tags || (s->aad && !aads))
        return TRESS_NULL;
    for (int l = 0; l < 4; l++) {
        int error = check_message(lanes, sizeof *lanes, nonces[l], aads ? aads[l] : 0, data[l], tags[l], s);
        if (error)
            return error;
        for (int m = 0; m < 4; m++) {
            if (m != l && (overlap(data[l], s->data, data[m], s->data) || overlap(tags[l], s->tag, tags[m], s->tag)))
                return TRESS_OVERLAP;
            if (overlap(data[l], s->data, tags[m], s->tag) || overlap(data[l], s->data, nonces[m], s->nonce) ||
                (s->aad && overlap(data[l], s->data, aads[m], s->aad)))
                return TRESS_OVERLAP;
        }
    }
    return check_shape(s);
}

int tress_aes_ccm_encrypt_x4(const tress_aes_lanes *lanes, const uint8_t *const nonces[4], size_t nonce_length,
                             const uint8_t *const aads[4], size_t aad_length, uint8_t *const data[4], size_t length,
                             uint8_t *const tags[4], size_t tag_length)
{
    static const uint8_t *const none[4];
    struct shape s = { nonce_length, aad_length, length, tag_length };
    struct work w;
    int error = check_x4(lanes, nonces, aads, data, (const uint8_t *const *)tags, &s);
    if (error)
        return error;
    run(lanes->many, 4, nonces, aads ? aads : none, data, &s, 0, &w);
    for (int l = 0; l < 4; l++)
        copy(tags[l], w.masks + 4 * l, tag_length);
    tress_wipe(&w, sizeof w);
    return TRESS_OK;
}

int tress_aes_ccm_decrypt_x4(const tress_aes_lanes *lanes, const uint8_t *const nonces[4], size_t nonce_length,
                             const uint8_t *const aads[4], size_t aad_length, uint8_t *const data[4], size_t length,
                             const uint8_t *const tags[4], size_t tag_length)
{
    static const uint8_t *const none[4];
    struct shape s = { nonce_length, aad_length, length, tag_length };
    struct work w;
    int forged = 0, error = check_x4(lanes, nonces, aads, data, tags, &s);
    if (error)
        return error;
    run(lanes->many, 4, nonces, aads ? aads : none, data, &s, 1, &w);
    for (int l = 0; l < 4; l++)
        if (!equal((uint8_t *)(w.masks + 4 * l), tags[l], tag_length)) {
            tress_wipe(data[l], length);
            forged |= 1 << l;
        }
    tress_wipe(&w, sizeof w);
    return forged;
}
