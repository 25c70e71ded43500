/* Tress on 32-bit RISC-V: block ciphers for parts with RV32I, without heap and without libc.
 *
 * Link with libtress_rv32.a and --gc-sections: every operation has its own section, and the linker keeps the sections in use.
 * No branch and no address depends on a key or on data, except in operations that say so. Stack: a kernel uses at most 256 bytes
 * below the caller's, and its function here some more (README.md has the figures).
 *
 * Every function returns TRESS_OK, or a negative number if it has written nothing (TRESS_FORGED: wiped data). `in` and `out` are
 * equal or do not overlap. Buffers need no alignment; those aligned to four bytes are faster. Keys and blocks have the byte order
 * of Tress's other parts: PIPO's least significant byte first.
 */
#ifndef TRESS_RV32_H
#define TRESS_RV32_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TRESS_OK = 0,
    TRESS_NULL = -1,    /* a null pointer (allowed for in and out of length 0) */
    TRESS_OVERLAP = -2, /* in and out overlap but are not equal, or out overlaps another buffer of the call */
    TRESS_LENGTH = -3,  /* not whole blocks */
    TRESS_COUNTER = -4, /* the counter would pass its end */
    TRESS_FORGED = -5,  /* the tag is wrong: the data are overwritten with zeros */
};

/* PIPO-64/128 and PIPO-64/256: blocks of 8 bytes. Not standardised; change the key long before 2^32 blocks. */

/* Keys prepared for four blocks at a time and for one. Overwrite them with tress_wipe. */
typedef struct { uint32_t four[28], one[28]; } tress_pipo128_key;
typedef struct { uint32_t four[46], one[46]; } tress_pipo256_key;

/* Four keys side by side, for tress_pipo128_cbc_encrypt_x4. */
typedef struct { uint32_t four[28]; } tress_pipo128_lanes;
typedef struct { uint32_t four[46]; } tress_pipo256_lanes;

/* A nonce prepared for CTR with one key: as secret as the key. */
typedef struct { uint32_t four[6], one[6]; } tress_pipo_nonce;

int tress_pipo128_set_key(tress_pipo128_key *key, const uint8_t bytes[16]);
int tress_pipo256_set_key(tress_pipo256_key *key, const uint8_t bytes[32]);

/* ECB of whole blocks. */
int tress_pipo128_ecb_encrypt(const tress_pipo128_key *key, const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo128_ecb_decrypt(const tress_pipo128_key *key, const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo256_ecb_encrypt(const tress_pipo256_key *key, const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo256_ecb_decrypt(const tress_pipo256_key *key, const uint8_t *in, uint8_t *out, size_t length);

/* ECB with little memory: from the key's bytes, without preparation, in half the code. */
int tress_pipo128_small_ecb_encrypt(const uint8_t key[16], const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo128_small_ecb_decrypt(const uint8_t key[16], const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo256_small_ecb_encrypt(const uint8_t key[32], const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo256_small_ecb_decrypt(const uint8_t key[32], const uint8_t *in, uint8_t *out, size_t length);

/* CBC of whole blocks. iv is set to the last ciphertext block, so a message can be processed in pieces. Encryption processes one
 * block at a time, decryption four. */
int tress_pipo128_cbc_encrypt(const tress_pipo128_key *key, uint8_t iv[8], const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo128_cbc_decrypt(const tress_pipo128_key *key, uint8_t iv[8], const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo256_cbc_encrypt(const tress_pipo256_key *key, uint8_t iv[8], const uint8_t *in, uint8_t *out, size_t length);
int tress_pipo256_cbc_decrypt(const tress_pipo256_key *key, uint8_t iv[8], const uint8_t *in, uint8_t *out, size_t length);

/* CBC encryption of four messages of the same length, each with its own key and IV; in place or to separate output. */
int tress_pipo128_set_lanes(tress_pipo128_lanes *lanes, const uint8_t keys[4][16]);
int tress_pipo256_set_lanes(tress_pipo256_lanes *lanes, const uint8_t keys[4][32]);
int tress_pipo128_cbc_encrypt_x4(const tress_pipo128_lanes *lanes, uint8_t ivs[4][8], const uint8_t *const in[4],
                                 uint8_t *const out[4], size_t length);
int tress_pipo256_cbc_encrypt_x4(const tress_pipo256_lanes *lanes, uint8_t ivs[4][8], const uint8_t *const in[4],
                                 uint8_t *const out[4], size_t length);

/* CTR: a nonce of six bytes and a counter of two bytes, from `counter` on. Any length; the last block may be partial. Never use
 * the same nonce and counter twice with a key. Decryption is the same operation. */
int tress_pipo128_set_nonce(tress_pipo_nonce *nonce, const tress_pipo128_key *key, const uint8_t bytes[6]);
int tress_pipo256_set_nonce(tress_pipo_nonce *nonce, const tress_pipo256_key *key, const uint8_t bytes[6]);
int tress_pipo128_ctr(const tress_pipo128_key *key, const tress_pipo_nonce *nonce, uint32_t counter, const uint8_t *in,
                      uint8_t *out, size_t length);
int tress_pipo256_ctr(const tress_pipo256_key *key, const tress_pipo_nonce *nonce, uint32_t counter, const uint8_t *in,
                      uint8_t *out, size_t length);

/* AES-128 and AES-256. */

/* Keys prepared for eight blocks at a time and for two. Overwrite them with tress_wipe. */
typedef struct { uint32_t many[1 + 32 * 15], chain[1 + 8 * 15]; } tress_aes_key;
/* Four keys side by side, for tress_aes_ccm_encrypt_x4. */
typedef struct { uint32_t many[1 + 32 * 15]; } tress_aes_lanes;

/* 16 or 32 bytes. Any other length returns TRESS_LENGTH. */
int tress_aes_set_key(tress_aes_key *key, const uint8_t *bytes, size_t length);

int tress_aes_ecb_encrypt(const tress_aes_key *key, const uint8_t *in, uint8_t *out, size_t length);
int tress_aes_ecb_decrypt(const tress_aes_key *key, const uint8_t *in, uint8_t *out, size_t length);
/* CBC of whole blocks. iv is set to the last ciphertext block. */
int tress_aes_cbc_encrypt(const tress_aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length);
int tress_aes_cbc_decrypt(const tress_aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length);
/* CTR of any length. The whole block is the counter, big-endian, and wraps around. It is set to the next counter block. A
 * message in several calls: all lengths but the last are whole blocks, because the rest of a block's key stream is lost. */
int tress_aes_ctr(const tress_aes_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t length);

/* CCM (SP 800-38C) in place: nonces of 7 to 13 bytes, never used twice with a key; tags of 4, 6, ... 16 bytes. TRESS_LENGTH also
 * if the message is too long for the nonce. Other buffers must not overlap data. data and aad of length 0 may be null. */
int tress_aes_ccm_encrypt(const tress_aes_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, uint8_t *tag, size_t tag_length);
int tress_aes_ccm_decrypt(const tress_aes_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, const uint8_t *tag, size_t tag_length);

/* Four messages with the same lengths side by side, each with its own key. aads may be null if aad_length is 0. Decryption
 * returns TRESS_OK (0), or which messages are forged: bit l for message l, whose data are overwritten. */
int tress_aes_set_lanes(tress_aes_lanes *lanes, const uint8_t *const keys[4], size_t length);
int tress_aes_ccm_encrypt_x4(const tress_aes_lanes *lanes, const uint8_t *const nonces[4], size_t nonce_length,
                             const uint8_t *const aads[4], size_t aad_length, uint8_t *const data[4], size_t length,
                             uint8_t *const tags[4], size_t tag_length);
int tress_aes_ccm_decrypt_x4(const tress_aes_lanes *lanes, const uint8_t *const nonces[4], size_t nonce_length,
                             const uint8_t *const aads[4], size_t aad_length, uint8_t *const data[4], size_t length,
                             const uint8_t *const tags[4], size_t tag_length);

/* AES with tables: ADDRESSES DEPEND ON SECRETS. Only for a core without a data cache, with the tables in memory in which every
 * read takes the same time whatever else uses it: the tightly integrated memory of an FE310, not flash. */
typedef struct { uint32_t words[1024]; } tress_aes_tables;
typedef struct { uint32_t words[1 + 4 * 15]; } tress_aes_table_key;
int tress_aes_table_fill(tress_aes_tables *tables);
int tress_aes_table_set_key(tress_aes_table_key *key, const uint8_t *bytes, size_t length);
int tress_aes_table_ecb_encrypt(const tress_aes_table_key *key, const tress_aes_tables *tables, const uint8_t *in,
                                uint8_t *out, size_t length);
/* CTR as tress_aes_ctr. */
int tress_aes_table_ctr(const tress_aes_table_key *key, const tress_aes_tables *tables, uint8_t counter[16],
                        const uint8_t *in, uint8_t *out, size_t length);

/* RC6-32/20 with keys of 16, 24 or 32 bytes (RV32IM). Not standardised. */
typedef struct { uint32_t words[44]; } tress_rc6_key;
int tress_rc6_set_key(tress_rc6_key *key, const uint8_t *bytes, size_t length);
int tress_rc6_ecb_encrypt(const tress_rc6_key *key, const uint8_t *in, uint8_t *out, size_t length);
int tress_rc6_ecb_decrypt(const tress_rc6_key *key, const uint8_t *in, uint8_t *out, size_t length);
/* CBC of whole blocks. iv is set to the last ciphertext block. */
int tress_rc6_cbc_encrypt(const tress_rc6_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length);
int tress_rc6_cbc_decrypt(const tress_rc6_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t length);
/* CTR as tress_aes_ctr. */
int tress_rc6_ctr(const tress_rc6_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t length);
/* CCM in place, as tress_aes_ccm_encrypt and tress_aes_ccm_decrypt. */
int tress_rc6_ccm_encrypt(const tress_rc6_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, uint8_t *tag, size_t tag_length);
int tress_rc6_ccm_decrypt(const tress_rc6_key *key, const uint8_t *nonce, size_t nonce_length, const uint8_t *aad,
                          size_t aad_length, uint8_t *data, size_t length, const uint8_t *tag, size_t tag_length);

/* Overwrites memory with zeros, in a way that the compiler does not remove. */
void tress_wipe(void *memory, size_t length);

#ifdef __cplusplus
}
#endif

#endif
