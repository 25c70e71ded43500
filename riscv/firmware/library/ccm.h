/* CCM (SP 800-38C) for any block cipher: checks of arguments, the blocks before the message, the comparison of tags. */
#ifndef TRESS_CCM_H
#define TRESS_CCM_H

#include "check.h"

enum { BLOCK = 16 };

/* The sizes of a message. In a call on four messages they are the same for each. */
struct shape { size_t nonce, aad, data, tag; };

static inline int check_shape(const struct shape *s)
{
    size_t q = 15 - s->nonce;
    if (s->nonce < 7 || s->nonce > 13 || s->tag < 4 || s->tag > 16 || s->tag % 2)
        return TRESS_LENGTH;
    return q < sizeof s->data && s->data >> (8 * q) ? TRESS_LENGTH : TRESS_OK;
}

static inline int check_message(const void *key, size_t key_length, const uint8_t *nonce, const uint8_t *aad, const uint8_t *data,
                         const uint8_t *tag, const struct shape *s)
{
    if ((s->aad && !aad) || !tag)
        return TRESS_NULL;
    if (wraps(aad, s->aad))
        return TRESS_OVERLAP;
    int error = check_data(data, data, s->data);
    if (!error)
        error = check_other(key, key_length, data, s->data);
    if (!error)
        error = check_other(nonce, s->nonce, data, s->data);
    if (!error && (overlap(aad, s->aad, data, s->data) || overlap(tag, s->tag, data, s->data) ||
                   overlap(tag, s->tag, key, key_length)))
        error = TRESS_OVERLAP;
    return error;
}

/* Block `number` of the MAC's input before the message. Block 0 is B_0 (appendix A.2). */
static inline void header_block(uint8_t block[16], size_t number, const uint8_t *nonce, const uint8_t *aad, const struct shape *s)
{
    for (int i = 0; i < BLOCK; i++)
        block[i] = 0;
    if (!number) {
        block[0] = (uint8_t)((s->aad != 0) << 6 | (s->tag - 2) / 2 << 3 | (14 - s->nonce));
        copy(block + 1, nonce, s->nonce);
        for (size_t i = 15, left = s->data; i > s->nonce; i--, left >>= 8)
            block[i] = (uint8_t)left;
        return;
    }
    /* The length of the associated data, then the data. */
    uint8_t prefix[6] = { 0xff, 0xfe };
    size_t prefix_length = s->aad < 0xff00 ? 2 : 6;
    for (size_t i = prefix_length, left = s->aad, end = prefix_length == 2 ? 0 : 2; i > end; left >>= 8)
        prefix[--i] = (uint8_t)left;
    size_t start = (number - 1) * BLOCK;
    for (size_t i = 0; i < BLOCK; i++) {
        size_t at = start + i;
        if (at < prefix_length)
            block[i] = prefix[at];
        else if (at - prefix_length < s->aad)
            block[i] = aad[at - prefix_length];
    }
}

static inline size_t header_blocks(const struct shape *s)
{
    return s->aad ? 1 + (s->aad + (s->aad < 0xff00 ? 2 : 6) + BLOCK - 1) / BLOCK : 1;
}

/* Counter block 0 (appendix A.3). */
static inline void counter_block(uint8_t block[16], const uint8_t *nonce, const struct shape *s)
{
    for (int i = 0; i < BLOCK; i++)
        block[i] = 0;
    block[0] = (uint8_t)(14 - s->nonce);
    copy(block + 1, nonce, s->nonce);
}

/* Whether two tags are equal, in a time that does not depend on where they differ. The result is public. */
static inline int equal(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint8_t difference = 0;
    while (length--)
        difference |= *a++ ^ *b++;
    return reveal((difference - 1u) >> 8 & 1);
}

#endif
