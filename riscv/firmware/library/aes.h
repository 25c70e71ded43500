/* AES's kernels (crates/cipher/src/ciphers/rijndael/riscv32). They check nothing. Round keys and states are aligned to 4 bytes. */
#ifndef TRESS_AES_H
#define TRESS_AES_H

#include <stddef.h>
#include <stdint.h>

void tress_aes8_expand_key(uint32_t *round_keys, const uint8_t *key, size_t key_length);
void tress_aes8_set_lane_key(uint32_t *merged, size_t lane, const uint32_t *round_keys);
void tress_aes8_ecb_encrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length);
void tress_aes8_ecb_decrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length);
void tress_aes8_cbc_decrypt(const uint32_t *round_keys, uint8_t *iv, uint8_t *out, const uint8_t *in, size_t length);
void tress_aes8_ctr(const uint32_t *round_keys, uint8_t *counter, uint8_t *out, const uint8_t *in, size_t length,
                    uint32_t *room);
void tress_aes8_ccm4_encrypt(const uint32_t *round_keys, uint32_t *state, uint8_t *const *data, size_t blocks);
void tress_aes8_ccm4_decrypt(const uint32_t *round_keys, uint32_t *state, uint8_t *const *data, size_t blocks);

void tress_aes2_expand_key(uint32_t *round_keys, const uint8_t *key, size_t key_length);
void tress_aes2_encrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in);
void tress_aes2_cbc_encrypt(const uint32_t *round_keys, uint8_t *iv, uint8_t *out, const uint8_t *in, size_t length);
void tress_aes2_ccm_encrypt(const uint32_t *round_keys, uint32_t *state, uint8_t *data, size_t blocks);
void tress_aes2_ccm_decrypt(const uint32_t *round_keys, uint32_t *state, uint8_t *data, size_t blocks);

void tress_aes_table_make(uint32_t *tables);
void tress_aes_table_expand_key(uint32_t *round_keys, const uint8_t *key, size_t key_length);
void tress_aes_table_encrypt(const uint32_t *round_keys, uint8_t *out, const uint8_t *in, size_t length,
                             const uint32_t *tables);
void tress_aes_table_stream(const uint32_t *round_keys, uint8_t *counter, uint8_t *out, const uint8_t *in, size_t length,
                            const uint32_t *tables);

#endif
