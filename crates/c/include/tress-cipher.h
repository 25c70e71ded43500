/*
 * Tress: parallel cryptography. docs/reference/c.md shows how to build, link and use it. tress-cipher.h declares the functions of
 * libtress-cipher; tress.h includes it and declares the rest of libtress.
 *
 * Rules for every function:
 *
 * - A function that can fail returns a tress_status; tress_last_error() returns a message with details. The compiler warns if
 *   a program ignores a status. The library throws no exception and prints nothing, unless it has a defect (TRESS_INTERNAL). It
 *   raises no signal but SIGPIPE, where a call on files writes to a pipe that nobody reads: ignore that signal.
 * - A required pointer that is NULL gives TRESS_NULL. NULL with length 0 is an empty buffer. A length above PTRDIFF_MAX gives
 *   TRESS_LENGTH.
 * - A function that returns a handle through a pointer writes NULL there first. Every _free function accepts NULL.
 * - "Any thread": the function may be called at any time, also while other threads call it with the same arguments, as long as
 *   nobody frees them or writes to the memory in use. "One thread at a time": calls on one handle must not overlap, but may
 *   come from different threads.
 * - Texts are UTF-8 and end with NUL. Lengths are in bytes.
 * - The library wipes its copies of secrets. The caller must wipe the originals.
 *
 * Generated from the library's source (`make -C crates/c header`); do not edit.
 */

#ifndef TRESS_CIPHER_H
#define TRESS_CIPHER_H

#include <stddef.h>
#include <stdint.h>

/* Makes the compiler warn if a program ignores a status. */
#if defined(__GNUC__)
#define TRESS_CHECKED __attribute__((warn_unused_result))
#elif (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define TRESS_CHECKED [[nodiscard]]
#else
#define TRESS_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---- */

/**
 * Number of the binary interface of this header. It changes when programs that were compiled with an older header would no
 * longer work. It is the number in the shared library's name.
 */
#define TRESS_ABI 0

/**
 * Returns the version of the library, such as "0.3.0". Any thread; never fails; the text is static.
 */
const char *tress_version(void);

/**
 * Returns `TRESS_ABI` of the library that the program runs with. Any thread; never fails.
 */
int tress_abi(void);

/* ---- Status codes and error messages ---- */

/**
 * Result of a call. Codes keep their numbers; later versions may add codes.
 */
typedef enum tress_status {
  /**
   * Success.
   */
  TRESS_OK = 0,
  /**
   * A required pointer is NULL.
   */
  TRESS_NULL = 1,
  /**
   * A length is above `PTRDIFF_MAX`.
   */
  TRESS_LENGTH = 2,
  /**
   * A text is not UTF-8.
   */
  TRESS_TEXT = 3,
  /**
   * An argument is invalid; `tress_last_error` says why.
   */
  TRESS_ARGUMENT = 4,
  /**
   * The handle was finished or wiped, was not made by the library, or failed in an earlier call.
   */
  TRESS_STATE = 5,
  /**
   * The output buffer is too small. The required length was written.
   */
  TRESS_BUFFER = 6,
  /**
   * A callback returned an error.
   */
  TRESS_CALLBACK = 7,
  /**
   * At least one job failed; each job has its status.
   */
  TRESS_JOBS = 8,
  /**
   * Out of memory.
   */
  TRESS_MEMORY = 9,
  /**
   * A defect of this library. The objects of this call are in an unknown state; other objects are not affected.
   */
  TRESS_INTERNAL = 10,
  /**
   * The operating system reported an error, such as a missing file or a full disk; its message is in `tress_last_error`.
   */
  TRESS_IO = 11,
  /**
   * `tress_control_cancel` was called.
   */
  TRESS_INTERRUPTED = 12,
  /**
   * The library has no cipher, backend, AEAD, scheme or type of key with this name.
   */
  TRESS_UNKNOWN_NAME = 13,
  /**
   * The operating system provided no random bytes.
   */
  TRESS_RANDOM = 14,
  /**
   * The filler is at its capacity: take finished jobs first.
   */
  TRESS_FULL = 15,
  /**
   * The cipher does not accept keys of this length.
   */
  TRESS_KEY_LENGTH = 20,
  /**
   * The nonce is not 7 to 13 bytes long (CCM), or not 12 (ChaCha20-Poly1305).
   */
  TRESS_NONCE_LENGTH = 21,
  /**
   * The tag is not 4, 6, 8, 10, 12, 14 or 16 bytes long (CCM), or not 16 (ChaCha20-Poly1305).
   */
  TRESS_TAG_LENGTH = 22,
  /**
   * The initialisation vector, or first counter block, is not one block long.
   */
  TRESS_IV_LENGTH = 23,
  /**
   * The data is not a whole number of blocks.
   */
  TRESS_DATA_LENGTH = 24,
  /**
   * The message is too long for a nonce of this length.
   */
  TRESS_MESSAGE_TOO_LONG = 25,
  /**
   * The data is too long: the counter would overflow.
   */
  TRESS_COUNTER_EXHAUSTED = 26,
  /**
   * The tag does not belong to this key, nonce, associated data and ciphertext. The output was wiped.
   */
  TRESS_AUTHENTICATION = 27,
  /**
   * The padding is not PKCS#7 padding.
   */
  TRESS_PADDING = 28,
  /**
   * This machine does not support the backend.
   */
  TRESS_BACKEND_UNAVAILABLE = 29,
  /**
   * CCM needs a cipher with blocks of 128 bits.
   */
  TRESS_NO_CCM = 30,
  /**
   * Two messages of a batch have the same key and nonce. No message was encrypted.
   */
  TRESS_NONCE_REPEATED = 31,
  /**
   * The input begins neither like a container nor like an age file.
   */
  TRESS_NOT_A_CONTAINER = 40,
  /**
   * A container of a version that this library does not know.
   */
  TRESS_UNKNOWN_VERSION = 41,
  /**
   * A container with an AEAD that this library does not know.
   */
  TRESS_UNKNOWN_AEAD = 42,
  /**
   * The header is damaged.
   */
  TRESS_HEADER_DAMAGED = 43,
  /**
   * The header is longer, or has more recipients, than the format allows.
   */
  TRESS_HEADER_TOO_LARGE = 44,
  /**
   * A byte between header and payload is not zero.
   */
  TRESS_HEADER_PADDING = 45,
  /**
   * The first line and the header name different AEADs.
   */
  TRESS_AEAD_MISMATCH = 46,
  /**
   * No identity matches any of the recipients.
   */
  TRESS_NO_MATCHING_KEY = 47,
  /**
   * The passphrase is wrong, or the encrypted data is damaged; the two cannot be distinguished.
   */
  TRESS_WRONG_PASSPHRASE = 48,
  /**
   * The work factor of the passphrase is above the limit.
   */
  TRESS_WORK_FACTOR = 49,
  /**
   * The payload does not belong to this header.
   */
  TRESS_COMMITMENT = 50,
  /**
   * A chunk is damaged; its number is in `tress_last_error`.
   */
  TRESS_CHUNK_DAMAGED = 51,
  /**
   * The file ends too early.
   */
  TRESS_TRUNCATED = 52,
  /**
   * More chunks than the format allows.
   */
  TRESS_TOO_MANY_CHUNKS = 53,
  /**
   * A range or an offset is out of bounds.
   */
  TRESS_RANGE = 54,
  /**
   * The output exists, and the options do not allow replacing it.
   */
  TRESS_OUTPUT_EXISTS = 55,
  /**
   * The output is the input, or is inside it.
   */
  TRESS_OUTPUT_IS_INPUT = 56,
  /**
   * A container would be written to a terminal.
   */
  TRESS_BINARY_TO_TERMINAL = 57,
  /**
   * The input changed while it was read.
   */
  TRESS_INPUT_CHANGED = 58,
  /**
   * The archive of a folder is damaged.
   */
  TRESS_TREE_DAMAGED = 59,
  /**
   * The archive of a folder has an entry that is never unpacked: a forbidden name, a link that leads out of the folder, a
   * special file, or a duplicate.
   */
  TRESS_TREE_REFUSED = 60,
  /**
   * The input is in another format than the one that was asked for, or in one that cannot do this.
   */
  TRESS_OTHER_FORMAT = 61,
  /**
   * The text around an age file is damaged.
   */
  TRESS_ARMOR_DAMAGED = 62,
  /**
   * A recipient is malformed, or its type is not supported.
   */
  TRESS_BAD_RECIPIENT = 70,
  /**
   * An identity is malformed, or its type is not supported.
   */
  TRESS_BAD_IDENTITY = 71,
  /**
   * A raw key does not have 16 or 32 bytes, or the key of a Cobblestone file does not have the length of its format.
   */
  TRESS_RAW_KEY_LENGTH = 72,
  /**
   * A passphrase is empty or too long.
   */
  TRESS_BAD_PASSPHRASE = 73,
  /**
   * No recipient was given.
   */
  TRESS_NO_RECIPIENTS = 74,
  /**
   * These recipients cannot be combined, or not in this format: a passphrase, and the key of a Cobblestone file, must be the only
   * one, and post-quantum recipients need others of their kind.
   */
  TRESS_MIXED_RECIPIENTS = 75,
  /**
   * An age plugin is missing or failed.
   */
  TRESS_PLUGIN = 76,
  /**
   * A name cannot be stored in a container.
   */
  TRESS_BAD_NAME = 77,
  /**
   * A signature key is malformed, or its algorithm is unknown.
   */
  TRESS_MALFORMED_KEY = 90,
  /**
   * The key is public, and a private key is required.
   */
  TRESS_NOT_PRIVATE = 91,
  /**
   * The key is private, and a public key is required.
   */
  TRESS_NOT_PUBLIC = 92,
  /**
   * The key is encrypted, and no passphrase was given or its encryption is not supported.
   */
  TRESS_KEY_ENCRYPTED = 93,
  /**
   * The size of the key is not supported, or its values do not belong together.
   */
  TRESS_KEY_REFUSED = 94,
  /**
   * The scheme needs another type of key, the key does not allow the scheme, or the salt is too long for the key.
   */
  TRESS_WRONG_SCHEME = 95,
  /**
   * The length of the digest is not that of the scheme's hash function.
   */
  TRESS_DIGEST_LENGTH = 96,
  /**
   * The length or the form of the signature does not fit the key and the scheme.
   */
  TRESS_MALFORMED_SIGNATURE = 97,
  /**
   * The signature is not valid for this message under this key.
   */
  TRESS_MISMATCH = 98,
  /**
   * A new signature failed the check against faults and was destroyed.
   */
  TRESS_FAULT = 99,
} tress_status;

/**
 * Returns the text of a code, or "unknown code" for any other number. Any thread; never fails; the text is static.
 */
const char *tress_status_text(int code);

/**
 * Returns the error message of the last call in this thread that failed. It may say more than the text of the code, such as
 * the name of a file or the number of a damaged chunk. It never contains a secret. Empty if no call has failed; a successful
 * call does not change it. The text is UTF-8 of at most 511 bytes, and valid until the next failure in this thread or the end
 * of the thread. Any thread.
 */
const char *tress_last_error(void);

/* ---- Ciphers ---- */

/**
 * A block cipher with its key. The handle never changes, so any number of threads may use it at the same time.
 * `tress_cipher_free` wipes the key, for one in the caller's memory `tress_cipher_wipe`.
 */
typedef struct tress_cipher tress_cipher;

/**
 * Returns the name of cipher number `index`, counted from 0, or NULL past the last one. The names are those of the command:
 * "aes-128", "aes-192", "aes-256", "rijndael-BLOCK-KEY" with 128, 160, 192, 224 or 256 bits each, "rc6-128", "rc6-192",
 * "rc6-256", "lea-128", "lea-192", "lea-256", "pipo-128", "pipo-256". Any thread; never fails; the text is static.
 */
const char *tress_cipher_name_at(size_t index);

/**
 * Prepares a key for the fastest backend of this machine. `name` is one that `tress_cipher_name_at` returns, and
 * `key_length` is the key length of that cipher. Writes the handle to `cipher`; free it with `tress_cipher_free`. Any
 * thread.
 *
 * Returns `TRESS_UNKNOWN_NAME`, `TRESS_KEY_LENGTH`.
 *
 * Needs: `name` ends with NUL; `key_length` bytes are readable at `key`; `cipher` is writable.
 */
TRESS_CHECKED
tress_status tress_cipher_new(const char *name,
                              const uint8_t *key,
                              size_t key_length,
                              tress_cipher **cipher);

/**
 * Prepares a key for a given backend: "reference" (slow, not constant time, for tests), "portable", "neon", "arm-aes",
 * "aesni", "avx2", "vaes256", "avx512", "gfni512" or "vaes512"; NULL selects the fastest. Any thread.
 *
 * Returns `TRESS_BACKEND_UNAVAILABLE` if this machine or the cipher does not support the backend, and the errors of
 * `tress_cipher_new`.
 *
 * Needs: As `tress_cipher_new`; `backend` is NULL or ends with NUL.
 */
TRESS_CHECKED
tress_status tress_cipher_new_with_backend(const char *name,
                                           const char *backend,
                                           const uint8_t *key,
                                           size_t key_length,
                                           tress_cipher **cipher);

/**
 * Returns the number of bytes that `tress_cipher_init` needs, for every cipher. Any thread; never fails.
 */
size_t tress_cipher_bytes(void);

/**
 * `tress_cipher_new` in the caller's memory, for keys that are used once: nothing is allocated. `memory` may have any
 * alignment. The handle points into `memory`; end its use with `tress_cipher_wipe`, not with `tress_cipher_free`. Do not move
 * or copy the memory: the handle of a copy is refused. Any thread.
 *
 * Returns the errors of `tress_cipher_new`, and `TRESS_LENGTH` if `length` is less than `tress_cipher_bytes`. Then the memory
 * is unchanged, and the handle NULL.
 *
 * Needs: As `tress_cipher_new`; `length` bytes are writable at `memory`, and nobody else uses them until the key is wiped.
 */
TRESS_CHECKED
tress_status tress_cipher_init(void *memory,
                               size_t length,
                               const char *name,
                               const uint8_t *key,
                               size_t key_length,
                               tress_cipher **cipher);

/**
 * Wipes a key that `tress_cipher_init` prepared; the memory belongs to the caller again. Every function refuses the handle with
 * `TRESS_STATE` afterwards, until the memory is used for something else. NULL, other handles and wiped ones: does nothing.
 * No thread may use the handle afterwards.
 *
 * Needs: `cipher` is NULL, or a handle of `tress_cipher_init` whose memory the caller has not used for something else.
 */
void tress_cipher_wipe(tress_cipher *cipher);

/**
 * Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards. A handle of
 * `tress_cipher_init` is wiped and not freed.
 *
 * Needs: `cipher` is NULL, or a handle that was not freed.
 */
void tress_cipher_free(tress_cipher *cipher);

/**
 * Returns the block size in bytes: 16, for Rijndael 16 to 32, for PIPO 8; 0 for NULL. Any thread.
 *
 * Needs: `cipher` is NULL or a handle.
 */
size_t tress_cipher_block_bytes(const tress_cipher *cipher);

/**
 * Returns the name of the cipher, or NULL for NULL. Any thread; the text is static.
 *
 * Needs: `cipher` is NULL or a handle.
 */
const char *tress_cipher_name(const tress_cipher *cipher);

/**
 * Returns the name of the backend that the key was prepared for, or NULL for NULL. Any thread; the text is static.
 *
 * Needs: `cipher` is NULL or a handle.
 */
const char *tress_cipher_backend(const tress_cipher *cipher);

/* ---- Modes: one message ---- */

/**
 * Encrypts whole blocks independently of each other (ECB, SP 800-38A). Equal blocks give equal ciphertext, so use it only
 * for tests or as a building block. Any thread.
 *
 * Returns `TRESS_DATA_LENGTH` if `length` is not a multiple of the block size.
 *
 * Needs: `cipher` is a valid handle; `length` bytes are readable at `input` and writable at `output`.
 */
TRESS_CHECKED
tress_status tress_ecb_encrypt(const tress_cipher *cipher,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * Decrypts what `tress_ecb_encrypt` encrypted. Any thread.
 *
 * Returns `TRESS_DATA_LENGTH`.
 *
 * Needs: As `tress_ecb_encrypt`.
 */
TRESS_CHECKED
tress_status tress_ecb_decrypt(const tress_cipher *cipher,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * Encrypts whole blocks in a chain (CBC, SP 800-38A). `iv` is one block that nobody can predict. The blocks of one message
 * cannot be encrypted in parallel; `tress_cbc_encrypt_jobs` encrypts many messages in parallel. Any thread.
 *
 * Returns `TRESS_IV_LENGTH`, `TRESS_DATA_LENGTH`.
 *
 * Needs: `cipher` is a valid handle; each buffer has the length given for it; `iv` does not overlap `output`.
 */
TRESS_CHECKED
tress_status tress_cbc_encrypt(const tress_cipher *cipher,
                               const uint8_t *iv,
                               size_t iv_length,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * Decrypts what `tress_cbc_encrypt` encrypted. Padding is not removed: see `tress_pkcs7_unpad`. Any thread.
 *
 * Returns `TRESS_IV_LENGTH`, `TRESS_DATA_LENGTH`.
 *
 * Needs: As `tress_cbc_encrypt`.
 */
TRESS_CHECKED
tress_status tress_cbc_decrypt(const tress_cipher *cipher,
                               const uint8_t *iv,
                               size_t iv_length,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * Encrypts or decrypts data of any length in counter mode (CTR, SP 800-38A). `counter` is the first counter block. The
 * counter is big-endian and takes the whole block, for PIPO the last two bytes. A counter block must never be used twice
 * with a key. Any thread.
 *
 * Returns `TRESS_IV_LENGTH`, `TRESS_COUNTER_EXHAUSTED`.
 *
 * Needs: `cipher` is a valid handle; each buffer has the length given for it; `counter` does not overlap `output`.
 */
TRESS_CHECKED
tress_status tress_ctr(const tress_cipher *cipher,
                       const uint8_t *counter,
                       size_t counter_length,
                       const uint8_t *input,
                       uint8_t *output,
                       size_t length);

/**
 * Encrypts a message and writes its tag (CCM, SP 800-38C). The nonce has 7 to 13 bytes and must never be used twice with a
 * key; the tag has 4, 6, 8, 10, 12, 14 or 16 bytes. A batch of messages is several times faster:
 * `tress_ccm_encrypt_jobs`. Any thread.
 *
 * Returns `TRESS_NO_CCM`, `TRESS_NONCE_LENGTH`, `TRESS_TAG_LENGTH`, `TRESS_MESSAGE_TOO_LONG`.
 *
 * Needs: `cipher` is a valid handle; each buffer has the length given for it; `output` and `tag` overlap no other buffer, except
 * that `output` may overlap `input`.
 */
TRESS_CHECKED
tress_status tress_ccm_encrypt(const tress_cipher *cipher,
                               const uint8_t *nonce,
                               size_t nonce_length,
                               const uint8_t *aad,
                               size_t aad_length,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length,
                               uint8_t *tag,
                               size_t tag_length);

/**
 * Verifies and decrypts a message. If the tag is wrong, the output is wiped, also if it is the input. The comparison of tags
 * takes constant time. Do not compare tags with `memcmp` instead: its run time reveals how many bytes of a forged tag are
 * right. Any thread.
 *
 * Returns `TRESS_AUTHENTICATION`, and the errors of `tress_ccm_encrypt`.
 *
 * Needs: As `tress_ccm_encrypt`.
 */
TRESS_CHECKED
tress_status tress_ccm_decrypt(const tress_cipher *cipher,
                               const uint8_t *nonce,
                               size_t nonce_length,
                               const uint8_t *aad,
                               size_t aad_length,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length,
                               const uint8_t *tag,
                               size_t tag_length);

/**
 * Returns the number of bytes of PKCS#7 padding for a message of `length` bytes, 1 to `block_bytes`. Each byte of the padding
 * has that number as its value. Returns 0 if `block_bytes` is not 1 to 255. Any thread.
 */
size_t tress_pkcs7_padding(size_t length,
                           size_t block_bytes);

/**
 * Checks PKCS#7 padding and writes the length of the message without it to `message_length`. The run time does not depend on
 * the padding. A receiver that reveals whether the padding was right reveals the plaintext, byte by byte (a padding oracle):
 * prefer CCM. Any thread.
 *
 * Returns `TRESS_PADDING`; `TRESS_DATA_LENGTH` if `length` is 0 or not a multiple of `block_bytes`; `TRESS_ARGUMENT` if
 * `block_bytes` is not 1 to 255.
 *
 * Needs: `length` bytes are readable at `data`; `message_length` is writable.
 */
TRESS_CHECKED
tress_status tress_pkcs7_unpad(const uint8_t *data,
                               size_t length,
                               size_t block_bytes,
                               size_t *message_length);

/* ---- Lanes: batches of messages ---- */

/**
 * One message for `tress_ccm_encrypt_jobs`, `tress_ccm_decrypt_jobs` or `tress_chacha20poly1305_jobs`. `output` and
 * `tag_output` must not overlap any other buffer of any job, except that `output` may overlap `input` of the same job.
 */
typedef struct tress_ccm_job {
  /**
   * Cipher with blocks of 128 bits. Jobs that share a handle are faster than jobs with separate handles. Not used by
   * `tress_chacha20poly1305_jobs`.
   */
  const tress_cipher *cipher;
  /**
   * Nonce, which must never be used twice with a key.
   */
  const uint8_t *nonce;
  /**
   * Length of `nonce` in bytes, 7 to 13; for ChaCha20-Poly1305 12.
   */
  size_t nonce_length;
  /**
   * Associated data, which is authenticated and not encrypted. NULL if there is none.
   */
  const uint8_t *aad;
  /**
   * Length of `aad` in bytes.
   */
  size_t aad_length;
  /**
   * Message to encrypt or decrypt.
   */
  const uint8_t *input;
  /**
   * Buffer for the result. In place (the same as `input`) is fastest.
   */
  uint8_t *output;
  /**
   * Length of `input` and `output` in bytes.
   */
  size_t length;
  /**
   * Tag to verify, for decryption.
   */
  const uint8_t *tag;
  /**
   * Buffer for the tag, for encryption.
   */
  uint8_t *tag_output;
  /**
   * Length of the tag in bytes: 4, 6, 8, 10, 12, 14 or 16; for ChaCha20-Poly1305 16. The receiver must know it, and never take
   * it from a message.
   */
  size_t tag_length;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved;
  /**
   * Output: status of this job.
   */
  tress_status status;
} tress_ccm_job;

/**
 * One message for `tress_cbc_encrypt_jobs`. `output` must not overlap any other buffer of any job, except `input` of the same
 * job.
 */
typedef struct tress_cbc_job {
  /**
   * Any cipher.
   */
  const tress_cipher *cipher;
  /**
   * Initialisation vector: one block that nobody can predict.
   */
  const uint8_t *iv;
  /**
   * Length of `iv` in bytes, one block.
   */
  size_t iv_length;
  /**
   * Message to encrypt.
   */
  const uint8_t *input;
  /**
   * Buffer for the result. In place (the same as `input`) is fastest.
   */
  uint8_t *output;
  /**
   * Length of `input` and `output` in bytes, a multiple of the block size.
   */
  size_t length;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved;
  /**
   * Output: status of this job.
   */
  tress_status status;
} tress_cbc_job;

/**
 * Encrypts all messages in lanes and writes the `status` of each job. Lengths, keys and ciphers may be mixed; messages under
 * one type of cipher run in parallel lanes. 16 messages fill the widest registers (32 with AVX-VNNI). Runs on the calling thread.
 * Any number of threads may call it at the same time, each with separate jobs.
 *
 * Returns `TRESS_OK` if every job is `TRESS_OK`, otherwise `TRESS_JOBS`. Writes the number of failed jobs to `failed`, unless
 * that is NULL. The status of a failed job is one that `tress_ccm_encrypt` returns, `TRESS_ARGUMENT` if `reserved` is not
 * zero, or `TRESS_MEMORY`. If two jobs have the same handle and nonce, the call and every job get `TRESS_NONCE_REPEATED`.
 * If the call returns `TRESS_NONCE_REPEATED`, `TRESS_NULL` or `TRESS_LENGTH`, no job has run. A NULL inside a job is an error of
 * that job alone.
 *
 * Needs: `jobs` points to `count` jobs, each as `tress_ccm_encrypt` needs it; no job writes to memory that another job reads or
 * writes; `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_ccm_encrypt_jobs(tress_ccm_job *jobs,
                                    size_t count,
                                    size_t *failed);

/**
 * Verifies and decrypts all messages. A forged message gets the status `TRESS_AUTHENTICATION` and its output is wiped; other
 * jobs are not affected. Nonces are not compared. Otherwise as `tress_ccm_encrypt_jobs`.
 *
 * Needs: As `tress_ccm_encrypt_jobs`.
 */
TRESS_CHECKED
tress_status tress_ccm_decrypt_jobs(tress_ccm_job *jobs,
                                    size_t count,
                                    size_t *failed);

/**
 * `tress_ccm_encrypt_jobs` on up to `threads` threads, including the calling one; at most 1024, and 0 means one for each
 * core. A batch of less than about 256 KiB runs on the calling thread alone. The threads that a call starts wait for the next
 * call of any thread, and do not keep the process from ending. After a `fork`, the child starts new ones. If the system
 * refuses to start threads, fewer threads do the work.
 *
 * Returns the errors of `tress_ccm_encrypt_jobs`, and `TRESS_ARGUMENT` for more than 1024 threads; then no job has run.
 *
 * Needs: As `tress_ccm_encrypt_jobs`.
 */
TRESS_CHECKED
tress_status tress_ccm_encrypt_jobs_threads(tress_ccm_job *jobs,
                                            size_t count,
                                            size_t threads,
                                            size_t *failed);

/**
 * `tress_ccm_decrypt_jobs` on several threads, as `tress_ccm_encrypt_jobs_threads`.
 *
 * Needs: As `tress_ccm_encrypt_jobs`.
 */
TRESS_CHECKED
tress_status tress_ccm_decrypt_jobs_threads(tress_ccm_job *jobs,
                                            size_t count,
                                            size_t threads,
                                            size_t *failed);

/**
 * Encrypts all messages in CBC. For decryption, `tress_cbc_decrypt` of one message already runs in parallel. The status of a
 * failed job is one that `tress_cbc_encrypt` returns, `TRESS_ARGUMENT` or `TRESS_MEMORY`. Otherwise as
 * `tress_ccm_encrypt_jobs`.
 *
 * Needs: `jobs` points to `count` jobs, each as `tress_cbc_encrypt` needs it; no job writes to memory that another job reads or
 * writes; `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_cbc_encrypt_jobs(tress_cbc_job *jobs,
                                    size_t count,
                                    size_t *failed);

/* ---- Lanes: messages that arrive one at a time ---- */

/**
 * Collects CCM jobs of any threads into batches for the lanes, and returns them in the order of submission. It has no
 * thread and no clock: a batch runs in the call of `tress_filler_submit` that fills it, or in `tress_filler_flush` when it
 * is due. Batches of several threads may run at the same time.
 */
typedef struct tress_filler tress_filler;

/**
 * Limits of a filler. A zero field selects its default; a NULL pointer selects all defaults.
 */
typedef struct tress_filler_options {
  /**
   * Longest time that a job waits for others, in nanoseconds. Default: 50000.
   */
  uint64_t max_wait_ns;
  /**
   * Number of waiting jobs that start a batch. Default: 32, the lanes of the widest registers.
   */
  size_t max_batch;
  /**
   * Largest number of jobs inside the filler: waiting, running, or finished and not taken. Default: 1024. A value
   * below `max_batch` counts as `max_batch`.
   */
  size_t capacity;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved[4];
} tress_filler_options;

/**
 * Creates an empty filler; free it with `tress_filler_free`. Any thread.
 *
 * Returns `TRESS_ARGUMENT` if `reserved` is not zero.
 *
 * Needs: `options` is NULL or readable; `filler` is writable.
 */
TRESS_CHECKED
tress_status tress_filler_new(const tress_filler_options *options,
                              tress_filler **filler);

/**
 * Submits a message to encrypt, or to decrypt if `encrypt` is 0. Do not change or free the job, its buffers or its cipher
 * until `tress_filler_take` returns the job. Its status is `TRESS_STATE` until it has run, then one that
 * `tress_ccm_encrypt` or `tress_ccm_decrypt` returns. `now_ns` is the current time in nanoseconds; all calls must use the
 * same clock. If this job fills the batch, or the batch is due, the batch runs before the call returns. Any thread.
 *
 * Returns `TRESS_FULL` if the filler is at its capacity, and `TRESS_NONCE_REPEATED` if a waiting job to encrypt has the
 * same cipher handle and nonce. In both cases the filler does not keep the job. Nonces of jobs that have run are not
 * checked.
 *
 * Needs: `filler` is a valid handle; `job` is as `tress_ccm_encrypt_jobs` needs it.
 */
TRESS_CHECKED
tress_status tress_filler_submit(const tress_filler *filler,
                                 tress_ccm_job *job,
                                 int encrypt,
                                 uint64_t now_ns);

/**
 * Runs the waiting jobs if the first of them is due at the time `now_ns`, in nanoseconds; `UINT64_MAX` runs them in any
 * case. Writes the time of the next call to `deadline_ns`, unless that is NULL: `UINT64_MAX` if no job waits. Any thread.
 *
 * Needs: `filler` is a valid handle; `deadline_ns` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_filler_flush(const tress_filler *filler,
                                uint64_t now_ns,
                                uint64_t *deadline_ns);

/**
 * Returns the next job that has run, or NULL if there is none or `filler` is NULL. The job belongs to the caller again;
 * check its status. Any thread.
 *
 * Needs: `filler` is NULL or a handle.
 */
tress_ccm_job *tress_filler_take(const tress_filler *filler);

/**
 * Frees a filler; NULL does nothing. Waiting jobs do not run, and all jobs inside belong to the caller again. No thread
 * may use the filler afterwards.
 *
 * Needs: `filler` is NULL, or a handle that was not freed.
 */
void tress_filler_free(tress_filler *filler);

/* ---- ChaCha20-Poly1305: batches of messages ---- */

/**
 * A key of ChaCha20-Poly1305 (RFC 8439). The handle never changes, so any number of threads may use it at the same time.
 * `tress_chacha20poly1305_free` wipes the key.
 */
typedef struct tress_chacha20poly1305 tress_chacha20poly1305;

/**
 * Prepares a key of 32 bytes for the fastest backend of this machine. Writes the handle to `aead`; free it with
 * `tress_chacha20poly1305_free`. Any thread.
 *
 * Returns `TRESS_KEY_LENGTH`.
 *
 * Needs: `key_length` bytes are readable at `key`; `aead` is writable.
 */
TRESS_CHECKED
tress_status tress_chacha20poly1305_new(const uint8_t *key,
                                        size_t key_length,
                                        tress_chacha20poly1305 **aead);

/**
 * Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards.
 *
 * Needs: `aead` is NULL, or a handle that was not freed.
 */
void tress_chacha20poly1305_free(tress_chacha20poly1305 *aead);

/**
 * Encrypts all messages under one key, or decrypts them if `encrypt` is 0, on up to `threads` threads. Otherwise as
 * `tress_ccm_encrypt_jobs_threads` and `tress_ccm_decrypt_jobs_threads`, with nonces of 12 bytes and tags of 16.
 *
 * Needs: `aead` is a valid handle; `jobs` points to `count` jobs, each as `tress_ccm_encrypt_jobs` needs it; no job writes to memory
 * that another job reads or writes; `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_chacha20poly1305_jobs(const tress_chacha20poly1305 *aead,
                                         tress_ccm_job *jobs,
                                         size_t count,
                                         int encrypt,
                                         size_t threads,
                                         size_t *failed);

#ifdef __cplusplus
}
#endif

#endif /* TRESS_CIPHER_H */
