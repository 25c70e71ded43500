/* Shared by the tests of all ciphers. */
#ifndef TEST_H
#define TEST_H

#include <stddef.h>
#include <stdint.h>

enum mode { ECB, CBC, CTR };

struct vector {
    const char *name;
    enum mode mode;
    unsigned key_bits, length;
    const uint8_t *key, *iv, *message, *ciphertext;
    int refused; /* the counter would run past its end */
};

/* Calls a function of the library through call.S, which checks registers and stack. The greatest stack depth is kept by name. */
int called(const char *name, void *function, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t a4, uint32_t a5);
#define CALL(function, ...) CALL_(function, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(function, a, b, c, d, e, f, ...) \
    called(#function, (void *)function, (uint32_t)(a), (uint32_t)(b), (uint32_t)(c), (uint32_t)(d), (uint32_t)(e), (uint32_t)(f))

/* Counts a check, and prints it if it fails. */
void check(int good, const char *what, const char *of);
int same(const void *a, const void *b, size_t length);
/* A filled buffer of `length` bytes between guards, at an offset of 0 to 3 from a word boundary, and whether its guards are intact. */
uint8_t *guarded(int which, unsigned offset, size_t length);
int guards_stand(int which);

void test_pipo(void);

#endif
