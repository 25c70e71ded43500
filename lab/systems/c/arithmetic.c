/* The operations of the paper's tables in C, behind the same interface as ../library: the paper's question about compilers, with gcc and
 * clang. The algorithms are those of tress-modular, step by step: sums with a carry digit, products by rows, squares in three steps,
 * division with a quotient estimate of three digits by two (Knuth, volume 2, 4.3.1, Algorithm D), Montgomery's product word by word (CIOS),
 * and the paper's Algorithms 3 and 4, corrected.
 *
 * Numbers are arrays of n digits, the lowest first. Functions that can fail return 0 on success. The modulus must be odd for Montgomery's
 * arithmetic, and its highest bit must be set. Not for secrets.
 */
#ifndef DIGIT

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JOIN2(name, bits) tress_##name##_##bits
#define JOIN(name, bits) JOIN2(name, bits)
#define OWN2(name, bits) name##_##bits
#define OWN1(name, bits) OWN2(name, bits)

#define DIGIT uint16_t
#define WIDE uint32_t
#define BITS 16
#include "arithmetic.c"

#define DIGIT uint32_t
#define WIDE uint64_t
#define BITS 32
#include "arithmetic.c"

#define DIGIT uint64_t
#define WIDE unsigned __int128
#define BITS 64
#include "arithmetic.c"

#else

#define OWN(name) OWN1(name, BITS)
#define LOW(wide) ((DIGIT)(wide))
#define HIGH(wide) ((DIGIT)((wide) >> BITS))

static inline void OWN(multiply)(const DIGIT *a, const DIGIT *b, DIGIT *product, size_t n) {
    memset(product, 0, 2 * n * sizeof *product);
    for (size_t i = 0; i < n; i++) {
        DIGIT carry = 0;
        for (size_t j = 0; j < n; j++) {
            WIDE t = (WIDE)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = LOW(t), carry = HIGH(t);
        }
        product[i + n] = carry;
    }
}

/* Cross products, doubling, squares of digits. */
static inline void OWN(square)(const DIGIT *a, DIGIT *square, size_t n) {
    memset(square, 0, 2 * n * sizeof *square);
    for (size_t i = 0; i < n; i++) {
        DIGIT carry = 0;
        for (size_t j = i + 1; j < n; j++) {
            WIDE t = (WIDE)a[i] * a[j] + square[i + j] + carry;
            square[i + j] = LOW(t), carry = HIGH(t);
        }
        square[i + n] = carry;
    }
    for (size_t i = 2 * n; i-- > 1;) square[i] = LOW(square[i] << 1 | square[i - 1] >> (BITS - 1));
    square[0] = LOW(square[0] << 1);
    DIGIT carry = 0;
    for (size_t i = 0; i < n; i++) {
        WIDE t = (WIDE)a[i] * a[i] + square[2 * i] + carry;
        square[2 * i] = LOW(t);
        t = (WIDE)square[2 * i + 1] + HIGH(t);
        square[2 * i + 1] = LOW(t), carry = HIGH(t);
    }
}

/* The quotient of three digits by the two highest of the modulus, at most one too large for all of the modulus. */
static inline DIGIT OWN(estimate)(const DIGIT *dividend, DIGIT divisor, DIGIT next) {
    DIGIT quotient;
    WIDE rest;
    if (dividend[2] >= divisor) {
        quotient = LOW(~(DIGIT)0);
        rest = (WIDE)dividend[1] + divisor;
    } else {
        WIDE two = (WIDE)dividend[2] << BITS | dividend[1];
        quotient = LOW(two / divisor);
        rest = two % divisor;
    }
    while (!HIGH(rest) && (WIDE)quotient * next > (rest << BITS | dividend[0])) quotient--, rest += divisor;
    return quotient;
}

static inline int OWN(reduce)(DIGIT *value, const DIGIT *modulus, size_t n) {
    if (n < 2 || !(modulus[n - 1] >> (BITS - 1))) return 1;
    for (size_t i = n + 1; i-- > 0;) {
        /* The digit above the highest is 0. */
        DIGIT top = i == n ? 0 : value[i + n];
        DIGIT three[3] = {value[i + n - 2], value[i + n - 1], top}, borrow = 0, carry = 0;
        DIGIT quotient = OWN(estimate)(three, modulus[n - 1], modulus[n - 2]);
        for (size_t j = 0; j < n; j++) {
            WIDE t = (WIDE)quotient * modulus[j] + borrow;
            borrow = LOW(HIGH(t) + (value[i + j] < LOW(t)));
            value[i + j] = LOW(value[i + j] - LOW(t));
        }
        if (top < borrow)
            for (size_t j = 0; j < n; j++) {
                WIDE t = (WIDE)value[i + j] + modulus[j] + carry;
                value[i + j] = LOW(t), carry = HIGH(t);
            }
        if (i < n) value[i + n] = LOW(top - borrow + carry);
    }
    return 0;
}

/* Digits of `product` must not overlap those of the factors. */
static inline void OWN(montgomery)(const DIGIT *a, const DIGIT *b, const DIGIT *modulus, DIGIT inverse, DIGIT *product, size_t n) {
    DIGIT top = 0, borrow = 0;
    memset(product, 0, n * sizeof *product);
    for (size_t i = 0; i < n; i++) {
        DIGIT carry = 0;
        for (size_t j = 0; j < n; j++) {
            WIDE t = (WIDE)a[j] * b[i] + product[j] + carry;
            product[j] = LOW(t), carry = HIGH(t);
        }
        WIDE above = (WIDE)top + carry;
        DIGIT quotient = LOW((WIDE)product[0] * inverse);
        carry = HIGH((WIDE)quotient * modulus[0] + product[0]);
        for (size_t j = 1; j < n; j++) {
            WIDE t = (WIDE)quotient * modulus[j] + product[j] + carry;
            product[j - 1] = LOW(t), carry = HIGH(t);
        }
        above += carry;
        product[n - 1] = LOW(above), top = HIGH(above);
    }
    /* Subtracts N once, without a branch. */
    for (size_t j = 0; j < n; j++) borrow = HIGH((WIDE)product[j] - modulus[j] - borrow) & 1;
    DIGIT mask = LOW(0 - (WIDE)(top | (borrow ^ 1)));
    borrow = 0;
    for (size_t j = 0; j < n; j++) {
        WIDE t = (WIDE)product[j] - (modulus[j] & mask) - borrow;
        product[j] = LOW(t), borrow = HIGH(t) & 1;
    }
}

/* Number of bits of the exponent; 0 for the exponent 0. */
static inline size_t OWN(length)(const DIGIT *exponent, size_t n) {
    size_t bits = n * BITS;
    while (bits > 0 && !(exponent[(bits - 1) / BITS] >> ((bits - 1) % BITS) & 1)) bits--;
    return bits;
}

/* Algorithm 3, with scratch memory for a product. */
static inline int OWN(power)(const DIGIT *base, const DIGIT *exponent, const DIGIT *modulus, DIGIT *result, size_t n, DIGIT *product) {
    size_t bits = OWN(length)(exponent, n), bytes = n * sizeof *result;
    if (!bits) return 1;
    memcpy(result, base, bytes);
    for (size_t i = bits - 1; i-- > 0;) {
        OWN(square)(result, product, n);
        if (OWN(reduce)(product, modulus, n)) return 1;
        memcpy(result, product, bytes);
        if (exponent[i / BITS] >> (i % BITS) & 1) {
            OWN(multiply)(result, base, product, n);
            if (OWN(reduce)(product, modulus, n)) return 1;
            memcpy(result, product, bytes);
        }
    }
    return 0;
}

/* Algorithm 4: its step 1 by classical division, its step 2 by Newton's iteration. */
static inline int OWN(montgomery_power)(const DIGIT *base, const DIGIT *exponent, const DIGIT *modulus, DIGIT *result, size_t n, DIGIT *scratch) {
    size_t bits = OWN(length)(exponent, n), bytes = n * sizeof *result;
    DIGIT *form = scratch, *power = scratch + 2 * n, *other = scratch + 3 * n, inverse = 1;
    if (!bits || !(modulus[0] & 1)) return 1;
    for (int i = 0; i < 6; i++) inverse = LOW(inverse * (2 - (WIDE)modulus[0] * inverse));
    inverse = LOW(0 - (WIDE)inverse);
    memset(form, 0, bytes);
    memcpy(form + n, base, bytes);
    if (OWN(reduce)(form, modulus, n)) return 1;
    memcpy(power, form, bytes);
    for (size_t i = bits - 1; i-- > 0;) {
        OWN(montgomery)(power, power, modulus, inverse, other, n);
        if (exponent[i / BITS] >> (i % BITS) & 1) {
            OWN(montgomery)(other, form, modulus, inverse, power, n);
        } else {
            DIGIT *swap = power;
            power = other, other = swap;
        }
    }
    memset(form, 0, bytes);
    form[0] = 1;
    OWN(montgomery)(power, form, modulus, inverse, result, n);
    return 0;
}

/* ---- The interface */

void JOIN(add, BITS)(const DIGIT *a, const DIGIT *b, DIGIT *sum, size_t n) {
    DIGIT carry = 0;
    for (size_t i = 0; i < n; i++) {
        WIDE t = (WIDE)a[i] + b[i] + carry;
        sum[i] = LOW(t), carry = HIGH(t);
    }
}

/* In two's complement: a plus the complement of b plus 1. */
void JOIN(subtract, BITS)(const DIGIT *a, const DIGIT *b, DIGIT *difference, size_t n) {
    DIGIT carry = 1;
    for (size_t i = 0; i < n; i++) {
        WIDE t = (WIDE)a[i] + LOW(~b[i]) + carry;
        difference[i] = LOW(t), carry = HIGH(t);
    }
}

void JOIN(multiply, BITS)(const DIGIT *a, const DIGIT *b, DIGIT *product, size_t n) { OWN(multiply)(a, b, product, n); }

void JOIN(square, BITS)(const DIGIT *a, DIGIT *square, size_t n) { OWN(square)(a, square, n); }

int JOIN(reduce, BITS)(DIGIT *value, const DIGIT *modulus, size_t n) { return OWN(reduce)(value, modulus, n); }

void JOIN(montgomery, BITS)(const DIGIT *a, const DIGIT *b, const DIGIT *modulus, DIGIT inverse, DIGIT *product, size_t n) {
    OWN(montgomery)(a, b, modulus, inverse, product, n);
}

int JOIN(power, BITS)(const DIGIT *base, const DIGIT *exponent, const DIGIT *modulus, DIGIT *result, size_t n, DIGIT *scratch, size_t digits) {
    return digits < 2 * n || OWN(power)(base, exponent, modulus, result, n, scratch);
}

int JOIN(montgomery_power, BITS)(const DIGIT *base, const DIGIT *exponent, const DIGIT *modulus, DIGIT *result, size_t n, DIGIT *scratch,
                                 size_t digits) {
    return digits < 4 * n || OWN(montgomery_power)(base, exponent, modulus, result, n, scratch);
}

#undef DIGIT
#undef WIDE
#undef BITS
#undef OWN
#undef LOW
#undef HIGH
#endif
