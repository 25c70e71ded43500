/* Shared by the entry points of all ciphers: checks of arguments, and copies without libc. */
#ifndef TRESS_CHECK_H
#define TRESS_CHECK_H

#include "tress_rv32.h"

/* Whether two ranges of memory overlap. */
static inline int overlap(const void *a, size_t a_length, const void *b, size_t b_length)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_length && b_length && (x < y ? y - x < a_length : x - y < b_length);
}

/* Whether a range of memory extends past the end of the address space. */
static inline int wraps(const void *a, size_t length)
{
    return length && (uintptr_t)a + (length - 1) < (uintptr_t)a;
}

/* Checks in and out of an operation. */
static inline int check_data(const void *in, const void *out, size_t length)
{
    if (length && (!in || !out))
        return TRESS_NULL;
    if (wraps(in, length) || wraps(out, length))
        return TRESS_OVERLAP;
    return in != out && overlap(in, length, out, length) ? TRESS_OVERLAP : TRESS_OK;
}

/* Checks another buffer that the call uses while out is written. */
static inline int check_other(const void *other, size_t other_length, const void *out, size_t length)
{
    if (!other)
        return TRESS_NULL;
    return overlap(other, other_length, out, length) ? TRESS_OVERLAP : TRESS_OK;
}

static inline int aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & 3) == 0;
}

/* The only function that makes a secret public. `sltu x0` has no effect in hardware; for `tress simulate --secret` it marks
 * these bytes as public. */
static inline int reveal(uint32_t value)
{
    volatile uint32_t place = value;
    __asm__ volatile("sltu x0, %0, %1" : : "r"(&place), "r"(sizeof place) : "memory");
    return (int)place;
}

static inline void copy(void *to, const void *from, size_t length)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    while (length--)
        *t++ = *f++;
}

static inline void add(uint8_t *to, const uint8_t *from, size_t length)
{
    while (length--)
        *to++ ^= *from++;
}

#endif
