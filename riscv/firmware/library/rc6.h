/* RC6's kernels (crates/cipher/src/ciphers/rc6/riscv32). They check nothing. Round keys are aligned to 4 bytes. */
#ifndef TRESS_RC6_H
#define TRESS_RC6_H

#include <stddef.h>
#include <stdint.h>

/* Kernels for a core with Zbb have separate names. The build of the library selects which of them it calls. */
#ifdef __riscv_zbb
#define RC6(verb) tress_rc6_zbb_##verb
#else
#define RC6(verb) tress_rc6_##verb
#endif

#define KERNELS(prefix)                                                                                                 \
    void prefix##_expand_key(uint32_t *round_keys, const uint8_t *key, size_t key_length);                              \
    void prefix##_encrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length);                  \
    void prefix##_decrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length);                  \
    void prefix##_stream(const uint32_t *round_keys, uint8_t *counter, uint8_t *out, const uint8_t *in, size_t length);
KERNELS(tress_rc6)
KERNELS(tress_rc6_zbb)
#undef KERNELS

#endif
