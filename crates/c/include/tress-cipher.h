/*
 * Tress: parallel cryptography. docs/reference/c.md shows how to build, link and use it. tress-cipher.h is the part that libtress-cipher has.
 *
 * Rules that hold everywhere:
 *
 * - What can fail returns a tress_status, and says more in tress_last_error(). A compiler warns where nobody looks at
 *   one. No signal is raised, no exception comes out, and nothing is printed, unless the library has a defect
 *   (TRESS_INTERNAL).
 * - A needed pointer that is NULL is TRESS_NULL. NULL with length 0 is an empty run of bytes. A length above
 *   PTRDIFF_MAX is TRESS_LENGTH.
 * - A function that hands out a handle writes NULL there first. Every _free takes NULL.
 * - "Any thread": at any time, also while other threads are in the same function with the same arguments, as long as
 *   nobody frees them or writes to the memory in use. "One thread at a time": calls on one handle must not overlap;
 *   which threads make them does not matter.
 * - Texts are UTF-8 and end with NUL. Lengths are in bytes.
 * - Secrets given to a function stay the caller's: the library wipes its copies, the caller has to wipe his.
 *
 * Generated from the library's source (`make -C crates/c header`); do not edit.
 */

#ifndef TRESS_CIPHER_H
#define TRESS_CIPHER_H

#include <stddef.h>
#include <stdint.h>

/* A status that nobody looks at is a warning. */
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
 * Number of this header's interface. It grows when a program that was compiled before would no longer work; it is the
 * number in the shared library's name.
 */
#define TRESS_ABI 0

/**
 * The library's version, such as "0.2.0". Any thread; never fails; the text is valid for ever.
 */
const char *tress_version(void);

/**
 * `TRESS_ABI` of the library that the program runs with. Any thread; never fails.
 */
int tress_abi(void);

/* ---- Codes and texts of errors ---- */

/**
 * What a call came to. Codes keep their numbers; there may be more of them later.
 */
typedef enum tress_status {
  /**
   * Done.
   */
  TRESS_OK = 0,
  /**
   * A pointer that is needed is NULL.
   */
  TRESS_NULL = 1,
  /**
   * A length is larger than any object can be.
   */
  TRESS_LENGTH = 2,
  /**
   * A text is not UTF-8.
   */
  TRESS_TEXT = 3,
  /**
   * An argument is of no use: what is wrong with it is in `tress_last_error`.
   */
  TRESS_ARGUMENT = 4,
  /**
   * The handle was finished, or has failed, before.
   */
  TRESS_STATE = 5,
  /**
   * The output buffer is too small. The length that is needed was written.
   */
  TRESS_BUFFER = 6,
  /**
   * A function of the caller returned an error.
   */
  TRESS_CALLBACK = 7,
  /**
   * One job or several failed: each has a status of its own.
   */
  TRESS_JOBS = 8,
  /**
   * No memory.
   */
  TRESS_MEMORY = 9,
  /**
   * A defect of this library. What the call was about is in an unknown state; nothing else is.
   */
  TRESS_INTERNAL = 10,
  /**
   * The system refused: a file is missing, a disk is full. The system's words are in `tress_last_error`.
   */
  TRESS_IO = 11,
  /**
   * `tress_control_cancel` was called.
   */
  TRESS_INTERRUPTED = 12,
  /**
   * The name of a cipher, backend, AEAD, scheme or kind of key is none that this library has.
   */
  TRESS_UNKNOWN_NAME = 13,
  /**
   * The system gave no randomness.
   */
  TRESS_RANDOM = 14,
  /**
   * No more jobs may be inside the filler: take some.
   */
  TRESS_FULL = 15,
  /**
   * The key has a length that the cipher does not take.
   */
  TRESS_KEY_LENGTH = 20,
  /**
   * The nonce of CCM is not 7 to 13 bytes long.
   */
  TRESS_NONCE_LENGTH = 21,
  /**
   * The tag of CCM is not 4, 6, 8, 10, 12, 14 or 16 bytes long.
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
   * The message is longer than a nonce of this length lets it be.
   */
  TRESS_MESSAGE_TOO_LONG = 25,
  /**
   * The data runs past the end of the counter.
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
   * This machine lacks the backend.
   */
  TRESS_BACKEND_UNAVAILABLE = 29,
  /**
   * CCM needs a cipher with blocks of 128 bits.
   */
  TRESS_NO_CCM = 30,
  /**
   * Two messages of a batch have one key and one nonce. None was encrypted.
   */
  TRESS_NONCE_REPEATED = 31,
  /**
   * The input does not begin like a container.
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
   * The header, or its number of recipients, is beyond the format's limit.
   */
  TRESS_HEADER_TOO_LARGE = 44,
  /**
   * A byte between header and payload is not zero.
   */
  TRESS_HEADER_PADDING = 45,
  /**
   * First line and header name different AEADs.
   */
  TRESS_AEAD_MISMATCH = 46,
  /**
   * No identity matches any of the recipients.
   */
  TRESS_NO_MATCHING_KEY = 47,
  /**
   * The passphrase is wrong, or what it opens is damaged: nobody can tell these apart.
   */
  TRESS_WRONG_PASSPHRASE = 48,
  /**
   * Opening it by passphrase would take more work than this library is willing to do.
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
   * The container ends too early.
   */
  TRESS_TRUNCATED = 52,
  /**
   * More chunks than the format allows.
   */
  TRESS_TOO_MANY_CHUNKS = 53,
  /**
   * A range, or an offset, is out of bounds.
   */
  TRESS_RANGE = 54,
  /**
   * The output exists already, and replacing it was not asked for.
   */
  TRESS_OUTPUT_EXISTS = 55,
  /**
   * The output is the input, or lies inside it.
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
   * The archive of a folder holds what is not unpacked: a forbidden name, a link that leads out, a special file, a
   * duplicate.
   */
  TRESS_TREE_REFUSED = 60,
  /**
   * A recipient does not parse, or its kind is not supported.
   */
  TRESS_BAD_RECIPIENT = 70,
  /**
   * An identity does not parse, or its kind is not supported.
   */
  TRESS_BAD_IDENTITY = 71,
  /**
   * A raw key does not have 16 or 32 bytes.
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
   * These recipients cannot stand in one container: a passphrase stands alone.
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
   * A key for signatures is malformed, or of an unknown algorithm.
   */
  TRESS_MALFORMED_KEY = 90,
  /**
   * A public key where a private one is needed.
   */
  TRESS_NOT_PRIVATE = 91,
  /**
   * A private key where a public one is needed.
   */
  TRESS_NOT_PUBLIC = 92,
  /**
   * The key is encrypted, and no passphrase was given; or in a way that is not supported.
   */
  TRESS_KEY_ENCRYPTED = 93,
  /**
   * The key has a size that is not supported, or values that do not belong together.
   */
  TRESS_KEY_REFUSED = 94,
  /**
   * The key is of another kind than the scheme needs, does not allow it, or has no room for its salt.
   */
  TRESS_WRONG_SCHEME = 95,
  /**
   * The digest does not have the length that the scheme's hash function gives.
   */
  TRESS_DIGEST_LENGTH = 96,
  /**
   * The signature has another length or form than key and scheme give.
   */
  TRESS_MALFORMED_SIGNATURE = 97,
  /**
   * The signature is not one of this message under this key.
   */
  TRESS_MISMATCH = 98,
  /**
   * A signature did not pass its own check and was destroyed.
   */
  TRESS_FAULT = 99,
} tress_status;

/**
 * Text of a code; for a number that is none, "unknown code". Any thread; never fails; the text is valid for ever.
 */
const char *tress_status_text(int code);

/**
 * What went wrong in the last call of this thread that failed: its code's text and what is known beyond it, such as a
 * file's name or the number of a damaged chunk. Never a secret. Empty if none has failed; a call that succeeds does
 * not change it. The text is UTF-8 of at most 511 bytes, and valid until the next failure in this thread or the
 * thread's end. Any thread.
 */
const char *tress_last_error(void);

/* ---- Ciphers ---- */

/**
 * A block cipher with its key. It never changes: any number of threads may use one at the same time, until it is
 * freed. The key is wiped then.
 */
typedef struct tress_cipher tress_cipher;

/**
 * Name of cipher number `index`, from 0; NULL past the last one. The names are those of the command: "aes-128",
 * "aes-192", "aes-256", "rijndael-BLOCK-KEY" with 128, 160, 192, 224 or 256 bits each, "rc6-128", "rc6-192",
 * "rc6-256", "pipo-128", "pipo-256". Any thread; never fails; the text is valid for ever.
 */
const char *tress_cipher_name_at(size_t index);

/**
 * Prepares a key for the fastest backend of this machine. `name` is one of `tress_cipher_name_at`; `key` has the
 * length that it says. The handle goes to `cipher`; end it with `tress_cipher_free`. Any thread.
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
 * The same for a given backend: "reference" (slow, not constant time, for tests), "portable", "neon", "arm-aes",
 * "aesni", "avx2", "vaes256", "avx512", "gfni512" or "vaes512"; NULL is the fastest. Any thread.
 *
 * Returns `TRESS_BACKEND_UNAVAILABLE` where this machine, or the cipher, lacks it, and what `tress_cipher_new`
 * returns.
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
 * Wipes the key and ends the handle; NULL does nothing. No other thread may use it any more.
 *
 * Needs: `cipher` is NULL, or a handle that was not freed.
 */
void tress_cipher_free(tress_cipher *cipher);

/**
 * Bytes of a block: 16, for Rijndael 16 to 32, for PIPO 8; 0 for NULL. Any thread.
 *
 * Needs: `cipher` is NULL or a handle.
 */
size_t tress_cipher_block_bytes(const tress_cipher *cipher);

/**
 * The name that the cipher was made by; NULL for NULL. Any thread; the text is valid for ever.
 *
 * Needs: `cipher` is NULL or a handle.
 */
const char *tress_cipher_name(const tress_cipher *cipher);

/**
 * The backend that the key was prepared for; NULL for NULL. Any thread; the text is valid for ever.
 *
 * Needs: `cipher` is NULL or a handle.
 */
const char *tress_cipher_backend(const tress_cipher *cipher);

/* ---- Modes: one message ---- */

/**
 * Encrypts whole blocks, each on its own (ECB, SP 800-38A). Equal blocks stay equal: for tests, or as a building
 * block. Any thread.
 *
 * Returns `TRESS_DATA_LENGTH` unless the data is whole blocks.
 *
 * Needs: `cipher` is a handle; `length` bytes are readable at `input` and writable at `output`.
 */
TRESS_CHECKED
tress_status tress_ecb_encrypt(const tress_cipher *cipher,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * The inverse of `tress_ecb_encrypt`.
 *
 * Needs: As `tress_ecb_encrypt`.
 */
TRESS_CHECKED
tress_status tress_ecb_decrypt(const tress_cipher *cipher,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * Encrypts whole blocks in a chain (CBC, SP 800-38A). `iv` is one block that nobody could predict. One message is
 * serial: `tress_cbc_encrypt_jobs` takes many. Any thread.
 *
 * Returns `TRESS_IV_LENGTH`, `TRESS_DATA_LENGTH`.
 *
 * Needs: `cipher` is a handle; the lengths are those of what the pointers point to; `iv` does not overlap `output`.
 */
TRESS_CHECKED
tress_status tress_cbc_encrypt(const tress_cipher *cipher,
                               const uint8_t *iv,
                               size_t iv_length,
                               const uint8_t *input,
                               uint8_t *output,
                               size_t length);

/**
 * The inverse of `tress_cbc_encrypt`. Padding, if there is any, stays: see `tress_pkcs7_unpad`.
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
 * Encrypts or decrypts data of any length in counter mode (CTR, SP 800-38A). `counter` is the first counter block; it
 * counts big-endian over the whole block, in PIPO over its last two bytes. No counter block may ever be used twice
 * with a key. Any thread.
 *
 * Returns `TRESS_IV_LENGTH`, `TRESS_COUNTER_EXHAUSTED`.
 *
 * Needs: `cipher` is a handle; the lengths are those of what the pointers point to; `counter` does not overlap `output`.
 */
TRESS_CHECKED
tress_status tress_ctr(const tress_cipher *cipher,
                       const uint8_t *counter,
                       size_t counter_length,
                       const uint8_t *input,
                       uint8_t *output,
                       size_t length);

/**
 * Encrypts a message and writes its tag (CCM, SP 800-38C). The nonce has 7 to 13 bytes and is never used twice with a
 * key; the tag has 4, 6, 8, 10, 12, 14 or 16. Many messages at once are several times faster:
 * `tress_ccm_encrypt_jobs`. Any thread.
 *
 * Returns `TRESS_NO_CCM`, `TRESS_NONCE_LENGTH`, `TRESS_TAG_LENGTH`, `TRESS_MESSAGE_TOO_LONG`.
 *
 * Needs: `cipher` is a handle; the lengths are those of what the pointers point to; nothing but `input` overlaps `output` or
 * `tag`.
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
 * Verifies and decrypts a message. If the tag is wrong the output is wiped, also where it is the input. The tag is
 * compared here, in constant time: a comparison of one's own, by `memcmp`, tells how much of a forged one was right. Any
 * thread.
 *
 * Returns `TRESS_AUTHENTICATION`, and what `tress_ccm_encrypt` returns.
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
 * How many bytes of PKCS#7 padding a message of `length` bytes gets, 1 to `block_bytes`; each byte has that number as
 * its value. 0 unless `block_bytes` is 1 to 255. Any thread.
 */
size_t tress_pkcs7_padding(size_t length,
                           size_t block_bytes);

/**
 * Writes to `message_length` how long the message is without its PKCS#7 padding. Takes the same time whatever the
 * padding is. Who tells a sender whether the padding was right tells the plaintext, byte by byte: prefer CCM. Any
 * thread.
 *
 * Returns `TRESS_PADDING`; `TRESS_DATA_LENGTH` unless the data is whole blocks, one at least; `TRESS_ARGUMENT` unless
 * `block_bytes` is 1 to 255.
 *
 * Needs: `length` bytes are readable at `data`; `message_length` is writable.
 */
TRESS_CHECKED
tress_status tress_pkcs7_unpad(const uint8_t *data,
                               size_t length,
                               size_t block_bytes,
                               size_t *message_length);

/* ---- Lanes: many messages at once ---- */

/**
 * One message for `tress_ccm_encrypt_jobs` or `tress_ccm_decrypt_jobs`. No output and no tag overlaps anything else of
 * any job but its own input.
 */
typedef struct tress_ccm_job {
  /**
   * A cipher with blocks of 128 bits. Jobs with the same handle are quicker than jobs with a handle each.
   */
  const tress_cipher *cipher;
  /**
   * 7 to 13 bytes, never twice with a key.
   */
  const uint8_t *nonce;
  /**
   * Of the nonce.
   */
  size_t nonce_length;
  /**
   * Associated data: authenticated, not encrypted. NULL if there is none.
   */
  const uint8_t *aad;
  /**
   * Of the associated data.
   */
  size_t aad_length;
  /**
   * The message.
   */
  const uint8_t *input;
  /**
   * Where it goes. The same as `input` is quickest.
   */
  uint8_t *output;
  /**
   * Of input and output.
   */
  size_t length;
  /**
   * To decrypt: the tag.
   */
  const uint8_t *tag;
  /**
   * To encrypt: where the tag goes.
   */
  uint8_t *tag_output;
  /**
   * Of the tag: 4, 6, 8, 10, 12, 14 or 16. It is the receiver's to know, and never read from a message.
   */
  size_t tag_length;
  /**
   * Zero; for later.
   */
  uint64_t reserved;
  /**
   * Written: what became of the job.
   */
  tress_status status;
} tress_ccm_job;

/**
 * One message for `tress_cbc_encrypt_jobs`. No output overlaps anything else of any job but its own input.
 */
typedef struct tress_cbc_job {
  /**
   * Any cipher.
   */
  const tress_cipher *cipher;
  /**
   * One block that nobody could predict.
   */
  const uint8_t *iv;
  /**
   * Of the initialisation vector.
   */
  size_t iv_length;
  /**
   * The message, whole blocks.
   */
  const uint8_t *input;
  /**
   * Where it goes. The same as `input` is quickest.
   */
  uint8_t *output;
  /**
   * Of input and output.
   */
  size_t length;
  /**
   * Zero; for later.
   */
  uint64_t reserved;
  /**
   * Written: what became of the job.
   */
  tress_status status;
} tress_cbc_job;

/**
 * Encrypts all messages, those of one type of cipher side by side, and writes each job's `status`. Lengths, keys and
 * ciphers may be mixed. Order and number are the caller's; thirty or more at a time fill the widest registers. Runs on
 * the calling thread; any number of threads may do so at the same time with jobs of their own.
 *
 * Returns `TRESS_OK` if every job is `TRESS_OK`; `TRESS_JOBS` if not, and in `failed`, unless that is NULL, how many
 * are not (their statuses are what `tress_ccm_encrypt` returns, `TRESS_ARGUMENT` where `reserved` is not zero, or
 * `TRESS_MEMORY`). `TRESS_NONCE_REPEATED` if two jobs have one handle and one nonce; every job's status is that, too. After it, `TRESS_NULL`
 * or `TRESS_LENGTH` no job has run.
 *
 * Needs: `count` jobs are at `jobs`, each as `tress_ccm_encrypt` needs it, and no job writes where another reads or writes;
 * `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_ccm_encrypt_jobs(tress_ccm_job *jobs,
                                    size_t count,
                                    size_t *failed);

/**
 * Verifies and decrypts all messages. A forged one gets the status `TRESS_AUTHENTICATION` and its output is wiped; the
 * others are not touched by it. All else is as in `tress_ccm_encrypt_jobs`.
 *
 * Needs: As `tress_ccm_encrypt_jobs`.
 */
TRESS_CHECKED
tress_status tress_ccm_decrypt_jobs(tress_ccm_job *jobs,
                                    size_t count,
                                    size_t *failed);

/**
 * `tress_ccm_encrypt_jobs` on up to `threads` threads, of which the calling one is one; 0 is one for each core, 1024 the
 * most. Too few bytes for two threads, some 256 KiB, stay on the calling thread. Threads that were started wait for the next
 * call, of any thread, and do not keep the process from ending; after a `fork` new ones are started. Where the system
 * refuses threads, fewer do the work.
 *
 * Returns what `tress_ccm_encrypt_jobs` does, and `TRESS_ARGUMENT` for more threads; then no job has run.
 *
 * Needs: As `tress_ccm_encrypt_jobs`.
 */
TRESS_CHECKED
tress_status tress_ccm_encrypt_jobs_threads(tress_ccm_job *jobs,
                                            size_t count,
                                            size_t threads,
                                            size_t *failed);

/**
 * `tress_ccm_decrypt_jobs` on threads as in `tress_ccm_encrypt_jobs_threads`.
 *
 * Needs: As `tress_ccm_encrypt_jobs`.
 */
TRESS_CHECKED
tress_status tress_ccm_decrypt_jobs_threads(tress_ccm_job *jobs,
                                            size_t count,
                                            size_t threads,
                                            size_t *failed);

/**
 * Encrypts all messages in CBC. Decryption of one message is parallel by itself: `tress_cbc_decrypt`. All else is as
 * in `tress_ccm_encrypt_jobs`; statuses are what `tress_cbc_encrypt` returns, or `TRESS_ARGUMENT`.
 *
 * Needs: `count` jobs are at `jobs`, each as `tress_cbc_encrypt` needs it, and no job writes where another reads or writes;
 * `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_cbc_encrypt_jobs(tress_cbc_job *jobs,
                                    size_t count,
                                    size_t *failed);

/* ---- Lanes: messages that arrive one at a time ---- */

/**
 * Collects CCM jobs of any threads into batches for the lanes, and gives them back in the order in which they were
 * submitted. It has no thread and no clock: a batch runs in the call of `tress_filler_submit` that fills it, or of
 * `tress_filler_flush` when it is due. Batches of several threads run at the same time.
 */
typedef struct tress_filler tress_filler;

/**
 * How long and for how many jobs to wait. All zero, and NULL in its place, are the defaults.
 */
typedef struct tress_filler_options {
  /**
   * The longest that a job waits for others, in nanoseconds; 0 is 50000.
   */
  uint64_t max_wait_ns;
  /**
   * This many waiting jobs run at once; 0 is 32, which are the lanes of the widest registers.
   */
  size_t max_batch;
  /**
   * The most jobs that are inside: waiting, running or not taken; 0 is 1024. Less than a batch counts as a batch.
   */
  size_t capacity;
  /**
   * Zero; for later.
   */
  uint64_t reserved[4];
} tress_filler_options;

/**
 * Makes an empty filler; end it with `tress_filler_free`. `TRESS_ARGUMENT` where `reserved` is not zero. Any thread.
 *
 * Needs: `options` is NULL or readable; `filler` is writable.
 */
TRESS_CHECKED
tress_status tress_filler_new(const tress_filler_options *options,
                              tress_filler **filler);

/**
 * Submits a message to encrypt, or with 0 as `encrypt` one to decrypt. The job, what it points to and its cipher stay
 * as they are until `tress_filler_take` returns the job. Its status is `TRESS_STATE` until it has run, then what
 * `tress_ccm_encrypt` or `tress_ccm_decrypt` returns. `now_ns` is the time in nanoseconds, by a clock of the caller
 * that is the same for all calls. If the batch is full with the job, or due, it runs before the call returns. Any
 * thread.
 *
 * Returns `TRESS_FULL` if the filler holds as many jobs as it may, and `TRESS_NONCE_REPEATED` if a waiting job to
 * encrypt has the same handle and nonce; then the job was not taken in. A nonce of jobs that have run is not noticed.
 *
 * Needs: `filler` is a handle; `job` is as `tress_ccm_encrypt_jobs` needs it.
 */
TRESS_CHECKED
tress_status tress_filler_submit(const tress_filler *filler,
                                 tress_ccm_job *job,
                                 int encrypt,
                                 uint64_t now_ns);

/**
 * Runs the jobs that wait if the first of them has waited long enough by `now_ns`; `UINT64_MAX` runs them in any case.
 * When to call again goes to `deadline_ns`, unless that is NULL: `UINT64_MAX` if no job waits. Any thread.
 *
 * Needs: `filler` is a handle; `deadline_ns` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_filler_flush(const tress_filler *filler,
                                uint64_t now_ns,
                                uint64_t *deadline_ns);

/**
 * The next job that has run, which is the caller's again: look at its status. NULL if there is none, and for NULL. Any
 * thread.
 *
 * Needs: `filler` is NULL or a handle.
 */
tress_ccm_job *tress_filler_take(const tress_filler *filler);

/**
 * Ends a filler; NULL does nothing. Jobs that wait do not run, and all jobs inside are the caller's again. No other
 * thread may use it any more.
 *
 * Needs: `filler` is NULL, or a handle that was not freed.
 */
void tress_filler_free(tress_filler *filler);

#ifdef __cplusplus
}
#endif

#endif /* TRESS_CIPHER_H */
