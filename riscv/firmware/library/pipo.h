/* PIPO's kernels (crates/cipher/src/ciphers/pipo/riscv32). They check nothing. Their files say which buffers need alignment to 4
 * bytes. */
#ifndef TRESS_PIPO_H
#define TRESS_PIPO_H

#include <stddef.h>
#include <stdint.h>

void tress_pipo_prepare4(uint32_t *prepared, const uint32_t *keys, size_t words);
void tress_pipo_prepare1(uint32_t *prepared, const uint8_t *key, size_t words);
void tress_pipo_nonce4(uint32_t *nonce, const uint32_t *prepared, const uint8_t *bytes, size_t words);
void tress_pipo_nonce1(uint32_t *nonce, const uint32_t *prepared, const uint8_t *bytes, size_t words);

#define KERNELS(n)                                                                                                      \
    void tress_pipo##n##_encrypt4(const uint32_t *, const uint8_t *, uint8_t *, size_t);                                \
    void tress_pipo##n##_decrypt4(const uint32_t *, const uint8_t *, uint8_t *, size_t);                                \
    void tress_pipo##n##_small_encrypt4(const uint32_t *, const uint8_t *, uint8_t *, size_t);                          \
    void tress_pipo##n##_small_decrypt4(const uint32_t *, const uint8_t *, uint8_t *, size_t);                          \
    void tress_pipo##n##_ctr4(const uint32_t *, const uint32_t *, uint32_t, const uint8_t *, uint8_t *, size_t);        \
    void tress_pipo##n##_cbc_decrypt4(const uint32_t *, uint8_t *, const uint8_t *, uint8_t *, size_t);                 \
    void tress_pipo##n##_cbc_x4(const uint32_t *, uint8_t *, const uint8_t *const *, uint8_t *const *, size_t);         \
    void tress_pipo##n##_encrypt1(const uint32_t *, const uint8_t *, uint8_t *, size_t);                                \
    void tress_pipo##n##_decrypt1(const uint32_t *, const uint8_t *, uint8_t *, size_t);                                \
    void tress_pipo##n##_cbc_encrypt1(const uint32_t *, uint8_t *, const uint8_t *, uint8_t *, size_t);                 \
    void tress_pipo##n##_ctr1(const uint32_t *, const uint32_t *, uint32_t, const uint8_t *, uint8_t *, size_t);
KERNELS(128)
KERNELS(256)
#undef KERNELS

#endif
