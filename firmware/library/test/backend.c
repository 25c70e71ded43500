/* The vectors through tress-cipher's own interface (test/rust), on every backend of this machine. */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "vectors.h"

int rust_pipo(const char *backend, size_t backend_bytes, uint32_t mode, const uint8_t *key, size_t key_bytes,
              const uint8_t *iv, uint8_t *data, size_t length);
int rust_pipo_kernels(void);

static uint32_t memory[1100];
static unsigned checks, failures;

static void expect(int good, const char *backend, const char *of)
{
    checks++;
    if (!good && failures++ < 20)
        printf("FAILED: %s: %s\n", backend, of);
}

int main(void)
{
    static const char *const backends[] = { "reference", "portable", "riscv32" };
    for (int b = 0; b < 3; b++)
        for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
            const struct vector *v = &vectors[i];
            for (unsigned offset = 0; offset < 2; offset++) {
                uint8_t *data = (uint8_t *)memory + offset;
                memcpy(data, v->message, v->length);
                int error = rust_pipo(backends[b], strlen(backends[b]), v->mode, v->key, v->key_bits / 8, v->iv, data, v->length);
                expect(error == v->refused, backends[b], v->name);
                if (error)
                    continue;
                expect(!memcmp(data, v->ciphertext, v->length), backends[b], v->name);
                rust_pipo(backends[b], strlen(backends[b]), v->mode | 4, v->key, v->key_bits / 8, v->iv, data, v->length);
                expect(!memcmp(data, v->message, v->length), backends[b], v->name);
                if (v->mode != CBC)
                    continue;
                rust_pipo(backends[b], strlen(backends[b]), 3, v->key, v->key_bits / 8, v->iv, data, v->length);
                expect(!memcmp(data, v->ciphertext, v->length), backends[b], "lanes");
            }
        }
    expect(!rust_pipo_kernels(), "riscv32", "the kernels by themselves");
    printf("%u checks, %u failed\n", checks, failures);
    return failures != 0;
}
