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

#ifndef TRESS_H
#define TRESS_H

#include "tress-cipher.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Bytes that the library allocates ---- */

/**
 * Bytes that a call made: a container, a plaintext, a key as text. It never changes: any number of threads may read
 * it, until it is freed. The bytes are wiped then.
 */
typedef struct tress_buffer tress_buffer;

/**
 * The bytes, valid until the buffer is freed; NULL for NULL. No NUL stands behind them. Any thread.
 *
 * Needs: `buffer` is NULL or a handle.
 */
const uint8_t *tress_buffer_data(const tress_buffer *buffer);

/**
 * How many bytes; 0 for NULL. Any thread.
 *
 * Needs: `buffer` is NULL or a handle.
 */
size_t tress_buffer_length(const tress_buffer *buffer);

/**
 * Wipes and frees the bytes; NULL does nothing. No other thread may use them any more.
 *
 * Needs: `buffer` is NULL, or a handle that was not freed.
 */
void tress_buffer_free(tress_buffer *buffer);

/* ---- Keys of containers ---- */

/**
 * What opens containers. One thread at a time while it is filled; after that any number of threads may use it in calls
 * that take `const tress_identities *`. Secrets are wiped when it is freed.
 */
typedef struct tress_identities tress_identities;

/**
 * A key pair as `tress keygen` makes it. It never changes: any number of threads may use one at the same time.
 */
typedef struct tress_keypair tress_keypair;

/**
 * Whom to encrypt to. One thread at a time while it is filled; after that any number of threads may use it in calls
 * that take `const tress_recipients *`.
 */
typedef struct tress_recipients tress_recipients;

/**
 * An empty set. Any thread.
 */
tress_recipients *tress_recipients_new(void);

/**
 * Adds recipients by their text, one a line: "age1...", "tress1...", "ssh-ed25519 ..." or "ssh-rsa ...". Empty lines
 * and lines that begin with "#" are ignored. One thread at a time.
 *
 * Returns `TRESS_BAD_RECIPIENT`, `TRESS_NO_RECIPIENTS`; nothing was added then.
 *
 * Needs: `recipients` is a handle; `text` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_recipients_add(tress_recipients *recipients,
                                  const char *text);

/**
 * Adds a passphrase, which has to stand alone. Deriving a key from it takes about a second and 256 MiB each time. One
 * thread at a time.
 *
 * Returns `TRESS_BAD_PASSPHRASE` for an empty one.
 *
 * Needs: `recipients` is a handle; `passphrase` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_recipients_add_passphrase(tress_recipients *recipients,
                                             const char *passphrase);

/**
 * Adds a raw key of 16 or 32 random bytes. One thread at a time.
 *
 * Returns `TRESS_RAW_KEY_LENGTH`.
 *
 * Needs: `recipients` is a handle; `key_length` bytes are readable at `key`.
 */
TRESS_CHECKED
tress_status tress_recipients_add_key(tress_recipients *recipients,
                                      const uint8_t *key,
                                      size_t key_length);

/**
 * Ends the set; NULL does nothing. No other thread may use it any more.
 *
 * Needs: `recipients` is NULL, or a handle that was not freed.
 */
void tress_recipients_free(tress_recipients *recipients);

/**
 * An empty set. Any thread.
 */
tress_identities *tress_identities_new(void);

/**
 * Adds the identities of an identity file, given as its bytes: "AGE-SECRET-KEY-1..." lines, as `tress keygen` and
 * `age-keygen` write them, an identity file that `age -p` encrypted, or an SSH private key. `passphrase` opens the
 * file where it is encrypted; NULL if there is none. One thread at a time.
 *
 * Returns `TRESS_BAD_IDENTITY`; nothing was added then. A wrong passphrase shows only when the identities are used.
 *
 * Needs: `identities` is a handle; `length` bytes are readable at `data`; `passphrase` is NULL or ends with NUL.
 */
TRESS_CHECKED
tress_status tress_identities_add(tress_identities *identities,
                                  const uint8_t *data,
                                  size_t length,
                                  const char *passphrase);

/**
 * Adds a passphrase, with work factors up to 20: five seconds and 1 GiB of memory for each container. One thread at a time.
 *
 * Returns `TRESS_BAD_PASSPHRASE` for an empty one.
 *
 * Needs: `identities` is a handle; `passphrase` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_identities_add_passphrase(tress_identities *identities,
                                             const char *passphrase);

/**
 * Adds a passphrase that may cost less. `max_work_factor` is the binary logarithm of how often scrypt mixes, 1 to 20: each
 * one less halves time and memory. A container with a larger one is `TRESS_WORK_FACTOR`, at once. What Tress encrypts has
 * 18. One thread at a time.
 *
 * Returns `TRESS_BAD_PASSPHRASE` for an empty one, `TRESS_WORK_FACTOR` for a number outside 1 to 20.
 *
 * Needs: `identities` is a handle; `passphrase` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_identities_add_passphrase_up_to(tress_identities *identities,
                                                   const char *passphrase,
                                                   uint8_t max_work_factor);

/**
 * Adds a raw key of 16 or 32 bytes. One thread at a time.
 *
 * Returns `TRESS_RAW_KEY_LENGTH`.
 *
 * Needs: `identities` is a handle; `key_length` bytes are readable at `key`.
 */
TRESS_CHECKED
tress_status tress_identities_add_key(tress_identities *identities,
                                      const uint8_t *key,
                                      size_t key_length);

/**
 * Wipes the secrets and ends the set; NULL does nothing. No other thread may use it any more.
 *
 * Needs: `identities` is NULL, or a handle that was not freed.
 */
void tress_identities_free(tress_identities *identities);

/**
 * Makes a fresh key pair. Any thread.
 *
 * Returns `TRESS_IO` when the system has no randomness.
 *
 * Needs: `pair` is writable.
 */
TRESS_CHECKED
tress_status tress_keypair_generate(tress_keypair **pair);

/**
 * Reads the one X25519 identity of an identity file. Any thread.
 *
 * Returns `TRESS_BAD_IDENTITY`.
 *
 * Needs: `text` ends with NUL; `pair` is writable.
 */
TRESS_CHECKED
tress_status tress_keypair_parse(const char *text, tress_keypair **pair);

/**
 * The recipient, "age1...", public; valid until the pair is freed. NULL for NULL. Any thread.
 *
 * Needs: `pair` is NULL or a handle.
 */
const char *tress_keypair_recipient(const tress_keypair *pair);

/**
 * The address, "tress1...", public; NULL where the identity file has no key for transfers. Valid until the pair is
 * freed. Any thread.
 *
 * Needs: `pair` is NULL or a handle.
 */
const char *tress_keypair_address(const tress_keypair *pair);

/**
 * The identity file, secret: write it where only its owner can read. Valid until the pair is freed, which wipes it.
 * NULL for NULL. Any thread.
 *
 * Needs: `pair` is NULL or a handle.
 */
const char *tress_keypair_identity(const tress_keypair *pair);

/**
 * Wipes the secret and ends the pair; NULL does nothing. No other thread may use it any more.
 *
 * Needs: `pair` is NULL, or a handle that was not freed.
 */
void tress_keypair_free(tress_keypair *pair);

/* ---- Options, reports and control ---- */

/**
 * Progress of one call on files, and the flag that ends it. Every function here may be called by any thread at any
 * time until the handle is freed; `tress_control_cancel` also by a signal handler.
 */
typedef struct tress_control tress_control;

/**
 * How to encrypt or decrypt. All zero, and NULL in its place, are the defaults. A call copies what it needs.
 */
typedef struct tress_options {
  /**
   * Threads that compute, up to 1024; 0 is one for each core, 1 none but the caller's where it can be.
   */
  size_t threads;
  /**
   * "aes-128-ccm" or "aes-256-ccm"; NULL is the first. For encrypting.
   */
  const char *aead;
  /**
   * The name that the container keeps, encrypted: UTF-8, 1 to 255 bytes, no path. NULL is the file's name where
   * there is a file, and none otherwise. For encrypting.
   */
  const char *name;
  /**
   * Not 0: replace an output file that exists.
   */
  int replace;
  /**
   * Not 0: only the plaintext bytes from `range_start` up to, not including, `range_end`. For `tress_decrypt_file`.
   */
  int range;
  /**
   * First byte of the range.
   */
  uint64_t range_start;
  /**
   * One past its last byte; `UINT64_MAX` is the end of the plaintext.
   */
  uint64_t range_end;
  /**
   * Zero; for later.
   */
  uint64_t reserved[4];
} tress_options;

/**
 * What a call on files did.
 */
typedef struct tress_report {
  /**
   * Bytes read.
   */
  uint64_t bytes_in;
  /**
   * Bytes written.
   */
  uint64_t bytes_out;
  /**
   * Chunks sealed or verified.
   */
  uint64_t chunks;
  /**
   * Nanoseconds from the call to its return.
   */
  uint64_t elapsed_ns;
  /**
   * Zero; for later.
   */
  uint64_t reserved[4];
} tress_report;

/**
 * A control for one call. Any thread.
 */
tress_control *tress_control_new(void);

/**
 * Asks the call to stop. It removes what it has written and returns `TRESS_INTERRUPTED`. NULL does nothing. Any
 * thread, and signal handlers.
 *
 * Needs: `control` is NULL or a handle.
 */
void tress_control_cancel(const tress_control *control);

/**
 * Input bytes done so far. Any thread.
 *
 * Needs: `control` is NULL or a handle.
 */
uint64_t tress_control_done_bytes(const tress_control *control);

/**
 * Input bytes in all; 0 while unknown, as for a pipe. Any thread.
 *
 * Needs: `control` is NULL or a handle.
 */
uint64_t tress_control_total_bytes(const tress_control *control);

/**
 * Ends the handle; NULL does nothing. The call that it controls has returned, and no other thread uses it any more.
 *
 * Needs: `control` is NULL, or a handle that was not freed.
 */
void tress_control_free(tress_control *control);

/* ---- Containers that are pushed, or whole in memory ---- */

/**
 * Decrypts a container that is pushed. One thread at a time, not always the same.
 */
typedef struct tress_decryptor tress_decryptor;

/**
 * Makes a container of what is pushed. One thread at a time, not always the same; one process: after a fork both would
 * encrypt under one key and nonce.
 */
typedef struct tress_encryptor tress_encryptor;

/**
 * Takes the next `length` bytes of an output, at least one, and returns 0; anything else ends the work with
 * `TRESS_CALLBACK`. `context` is what was given with the function. It runs in the thread of the call, and must not
 * call functions on the same handle, throw, or `longjmp` out.
 */
typedef int (*tress_write)(void *context, const uint8_t *data, size_t length);

/**
 * Begins a container for `recipients`; its bytes go to `write`, in order. `options` may be NULL. Memory is one batch,
 * some MiB for each thread. What was written is a container only once `tress_encryptor_finish` has returned
 * `TRESS_OK`: until then every reader says that it is truncated. Any thread.
 *
 * Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_BAD_NAME`, `TRESS_UNKNOWN_NAME`.
 *
 * Needs: `recipients` is a handle; the texts of `options` end with NUL; `write` and `context` are good until the handle is
 * freed; `encryptor` is writable.
 */
TRESS_CHECKED
tress_status tress_encryptor_new(const tress_recipients *recipients,
                                 const tress_options *options,
                                 tress_write write,
                                 void *context,
                                 tress_encryptor **encryptor);

/**
 * Takes the next bytes of plaintext, any number, and writes what is ready of the container. After a failure other than
 * `TRESS_NULL` and `TRESS_LENGTH` every further call returns `TRESS_STATE`. One thread at a time.
 *
 * Returns `TRESS_CALLBACK`, `TRESS_STATE`; `TRESS_ARGUMENT` in another process than that of `tress_encryptor_new`, here
 * or at the end.
 *
 * Needs: `encryptor` is a handle; `length` bytes are readable at `data`.
 */
TRESS_CHECKED
tress_status tress_encryptor_push(tress_encryptor *encryptor,
                                  const uint8_t *data,
                                  size_t length);

/**
 * Writes the rest of the container. The handle is of no further use, and still has to be freed. One thread at a time.
 *
 * Returns `TRESS_CALLBACK`, `TRESS_STATE`, `TRESS_ARGUMENT`.
 *
 * Needs: `encryptor` is a handle.
 */
TRESS_CHECKED
tress_status tress_encryptor_finish(tress_encryptor *encryptor);

/**
 * Ends the handle, finished or not; NULL does nothing. Nothing is written.
 *
 * Needs: `encryptor` is NULL, or a handle that was not freed.
 */
void tress_encryptor_free(tress_encryptor *encryptor);

/**
 * Waits for a container, which the first of `identities` that fits will open; plaintext goes to `write`, in order, and
 * only what was verified. `threads` is 0 for one for each core, 1 for none but the caller's, at most 1024. Any thread.
 *
 * Needs: `identities` is a handle; `write` and `context` are good until the handle is freed; `decryptor` is writable.
 */
TRESS_CHECKED
tress_status tress_decryptor_new(const tress_identities *identities,
                                 size_t threads,
                                 tress_write write,
                                 void *context,
                                 tress_decryptor **decryptor);

/**
 * Takes the next bytes of the container, any number, and writes the plaintext of what was verified; that of a folder
 * is a tar stream, with names and links of whoever made it: `tress_decrypt_file` unpacks one and refuses what leads out
 * of the folder, other programs may not. Whether the container is complete is known only after `tress_decryptor_finish`. After a failure
 * other than `TRESS_NULL` and `TRESS_LENGTH` every further call returns `TRESS_STATE`. One thread at a time.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_WRONG_PASSPHRASE`, `TRESS_CHUNK_DAMAGED` and all else that can be wrong with
 * a container; `TRESS_CALLBACK`, `TRESS_STATE`.
 *
 * Needs: `decryptor` is a handle; `length` bytes are readable at `data`.
 */
TRESS_CHECKED
tress_status tress_decryptor_push(tress_decryptor *decryptor,
                                  const uint8_t *data,
                                  size_t length);

/**
 * Says that the container ends here, and writes the rest of the plaintext. Only if this returns `TRESS_OK` was it all
 * there. The handle is of no further use, and still has to be freed. One thread at a time.
 *
 * Returns `TRESS_TRUNCATED`, and what `tress_decryptor_push` returns.
 *
 * Needs: `decryptor` is a handle.
 */
TRESS_CHECKED
tress_status tress_decryptor_finish(tress_decryptor *decryptor);

/**
 * The name that the container keeps, valid until the handle is freed; NULL if it keeps none, or its header was not all
 * pushed yet. It comes from whoever wrote the container, has no path in it, and may be that of a file that you have.
 * One thread at a time.
 *
 * Needs: `decryptor` is NULL or a handle.
 */
const char *tress_decryptor_name(const tress_decryptor *decryptor);

/**
 * 1 if the plaintext is the tar stream of a folder, 0 if it is a file's bytes, -1 while the header was not all pushed.
 * One thread at a time.
 *
 * Needs: `decryptor` is NULL or a handle.
 */
int tress_decryptor_is_tree(const tress_decryptor *decryptor);

/**
 * Ends the handle, finished or not; NULL does nothing. Nothing is written.
 *
 * Needs: `decryptor` is NULL, or a handle that was not freed.
 */
void tress_decryptor_free(tress_decryptor *decryptor);

/**
 * Encrypts `length` bytes at `plain` into a container in memory. `options` may be NULL. Any thread.
 *
 * Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_MEMORY` and others.
 *
 * Needs: `length` bytes are readable at `plain`; `recipients` is a handle; the texts of `options` end with NUL; `container`
 * is writable.
 */
TRESS_CHECKED
tress_status tress_encrypt(const uint8_t *plain,
                           size_t length,
                           const tress_recipients *recipients,
                           const tress_options *options,
                           tress_buffer **container);

/**
 * Verifies all of the container of `length` bytes at `container` and decrypts it into memory; that of a folder is a
 * tar stream, as in `tress_decryptor_push`. `threads` is 0 for one for each core, 1 for none but the caller's, at most
 * 1024. Any thread.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_MEMORY` and others.
 *
 * Needs: `length` bytes are readable at `container`; `identities` is a handle; `plain` is writable.
 */
TRESS_CHECKED
tress_status tress_decrypt(const uint8_t *container,
                           size_t length,
                           const tress_identities *identities,
                           size_t threads,
                           tress_buffer **plain);

/* ---- Containers that are read at any place ---- */

/**
 * Reads the plaintext of a container at any place. One thread at a time, not always the same: it remembers what it
 * decrypted last.
 */
typedef struct tress_reader tress_reader;

/**
 * Bytes of a container that can be read at any place.
 */
typedef struct tress_source {
  /**
   * Reads up to `capacity` bytes from `offset` on into `buffer`, writes their number to `length` (0 only at the
   * end), and returns 0; anything else ends the work with `TRESS_CALLBACK`. It runs in the thread of the call, and
   * must not call functions on the same handle, throw, or `longjmp` out.
   */
  int (*read_at)(void *context, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length);
  /**
   * Given to `read_at`.
   */
  void *context;
  /**
   * Bytes of the container.
   */
  uint64_t length;
  /**
   * Zero; for later.
   */
  uint64_t reserved;
} tress_source;

/**
 * Opens a container that `source` gives, with the first of `identities` that fits; its last chunk, and with it the
 * length, is verified. `threads` is 0 for one for each core, 1 for none but the caller's, at most 1024. Any thread.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_TRUNCATED`, `TRESS_CHUNK_DAMAGED` and all else that can be wrong with a
 * container; `TRESS_CALLBACK`; `TRESS_ARGUMENT` for a reserved field that is not zero.
 *
 * Needs: `source` is readable, and what it points to is good until the reader is freed; `identities` is a handle; `reader` is
 * writable.
 */
TRESS_CHECKED
tress_status tress_reader_open(const tress_source *source,
                               const tress_identities *identities,
                               size_t threads,
                               tress_reader **reader);

/**
 * The same for a file.
 *
 * Returns `TRESS_IO`, and what `tress_reader_open` returns.
 *
 * Needs: `path` ends with NUL; `identities` is a handle; `reader` is writable.
 */
TRESS_CHECKED
tress_status tress_reader_open_file(const char *path,
                                    const tress_identities *identities,
                                    size_t threads,
                                    tress_reader **reader);

/**
 * Bytes of plaintext; 0 for NULL. One thread at a time.
 *
 * Needs: `reader` is NULL or a handle.
 */
uint64_t tress_reader_length(const tress_reader *reader);

/**
 * The name that the container keeps, valid until the handle is freed; NULL if it keeps none. It comes from whoever
 * wrote the container. One thread at a time.
 *
 * Needs: `reader` is NULL or a handle.
 */
const char *tress_reader_name(const tress_reader *reader);

/**
 * 1 if the plaintext is the tar stream of a folder, 0 if it is a file's bytes, -1 for NULL. One thread at a time.
 *
 * Needs: `reader` is NULL or a handle.
 */
int tress_reader_is_tree(const tress_reader *reader);

/**
 * Reads up to `capacity` bytes of plaintext from `offset` on into `buffer`, and writes their number to `length`: fewer
 * only at the end of the plaintext, 0 past it. Everything was verified. Reading in order reads ahead; elsewhere a read
 * costs a chunk of 16 KiB. After a failure the handle can still be used: another place may be whole. One thread at a
 * time.
 *
 * Returns `TRESS_CHUNK_DAMAGED`, `TRESS_IO`, `TRESS_CALLBACK`; the buffer is wiped then, and `length` is 0.
 *
 * Needs: `reader` is a handle; `capacity` bytes are writable at `buffer`; `length` is writable.
 */
TRESS_CHECKED
tress_status tress_reader_read_at(tress_reader *reader,
                                  uint64_t offset,
                                  uint8_t *buffer,
                                  size_t capacity,
                                  size_t *length);

/**
 * Wipes what it remembers and ends the handle; NULL does nothing.
 *
 * Needs: `reader` is NULL, or a handle that was not freed.
 */
void tress_reader_free(tress_reader *reader);

/* ---- Whole files ---- */

/**
 * Encrypts the file or folder `input` to every one of `recipients`, into the container `output`, which appears under
 * its name only when it is complete. Runs on threads of its own, which end before it returns. Any thread.
 *
 * `options`, `control` and `report` may be NULL.
 *
 * Returns `TRESS_IO`, `TRESS_OUTPUT_EXISTS`, `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_INTERRUPTED` and
 * others; nothing is left under the output's name then.
 *
 * Needs: `input`, `output` and the texts of `options` end with NUL; `recipients` is a handle, `control` NULL or a handle;
 * `report` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_encrypt_file(const char *input,
                                const char *output,
                                const tress_recipients *recipients,
                                const tress_options *options,
                                const tress_control *control,
                                tress_report *report);

/**
 * Decrypts the container `input` with the first of `identities` that fits, into the file, or folder, `output`, which
 * appears under its name only when all is verified. A folder is unpacked with all that `tress decrypt` refuses
 * refused. Any thread.
 *
 * `options`, `control` and `report` may be NULL.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_RANGE`, `TRESS_OUTPUT_EXISTS`,
 * `TRESS_INTERRUPTED` and others; nothing is left under the output's name then.
 *
 * Needs: As `tress_encrypt_file`; `identities` is a handle.
 */
TRESS_CHECKED
tress_status tress_decrypt_file(const char *input,
                                const char *output,
                                const tress_identities *identities,
                                const tress_options *options,
                                const tress_control *control,
                                tress_report *report);

/**
 * Makes the container `container` one for `recipients` instead; its payload is not touched. Who could open it before
 * may have kept its key: this is no revocation. Any thread.
 *
 * Returns what `tress_decrypt_file` returns; the container is as it was then.
 *
 * Needs: As `tress_encrypt_file`; `identities` is a handle.
 */
TRESS_CHECKED
tress_status tress_rewrap_file(const char *container,
                               const tress_identities *identities,
                               const tress_recipients *recipients,
                               const tress_control *control,
                               tress_report *report);

/* ---- Signatures ---- */

/**
 * A private key and the scheme that it signs by. It never changes: any number of threads may use one at the same time,
 * until it is freed. The key is wiped then.
 */
typedef struct tress_signing_key tress_signing_key;

/**
 * A public key and the scheme that it verifies. It never changes: any number of threads may use one at the same time.
 */
typedef struct tress_verifying_key tress_verifying_key;

/**
 * Reads a private key: PKCS #8 or PKCS #1, PEM or DER, PKCS #8 also encrypted under `passphrase` (NULL if it is not).
 * `scheme` names how it signs; NULL is "rsa-pss-sha256", "dsa-sha256" or "schnorr-sha256", as suits the key. Any
 * thread.
 *
 * Returns `TRESS_MALFORMED_KEY`, `TRESS_NOT_PRIVATE`, `TRESS_KEY_ENCRYPTED`, `TRESS_WRONG_PASSPHRASE`,
 * `TRESS_KEY_REFUSED`, `TRESS_WRONG_SCHEME`, `TRESS_UNKNOWN_NAME`.
 *
 * Needs: `length` bytes are readable at `data`; the texts are NULL or end with NUL; `key` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_read(const uint8_t *data,
                                    size_t length,
                                    const char *passphrase,
                                    const char *scheme_name,
                                    tress_signing_key **key);

/**
 * Makes a new private key: `kind` is "rsa-2048" to "rsa-8192" (even numbers), "dsa-2048", "dsa-3072",
 * "schnorr-2048" or "schnorr-3072". `scheme` as in `tress_signing_key_read`. An RSA key takes from a second to
 * minutes. Any thread.
 *
 * Returns `TRESS_UNKNOWN_NAME`, `TRESS_WRONG_SCHEME`, `TRESS_RANDOM`.
 *
 * Needs: `kind` ends with NUL; `scheme` is NULL or ends with NUL; `key` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_generate(const char *kind,
                                        const char *scheme_name,
                                        tress_signing_key **key);

/**
 * The longest signature that the key makes, in bytes; 0 for NULL. Any thread.
 *
 * Needs: `key` is NULL or a handle.
 */
size_t tress_signing_key_signature_bytes(const tress_signing_key *key);

/**
 * The key as PKCS #8 in PEM, secret. Any thread.
 *
 * Needs: `key` is a handle; `pem` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_pem(const tress_signing_key *key, tress_buffer **pem);

/**
 * The public half, for the same scheme. Any thread.
 *
 * Needs: `key` is a handle; `public_key` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_public(const tress_signing_key *key,
                                      tress_verifying_key **public_key);

/**
 * Wipes the key and ends the handle; NULL does nothing. No other thread may use it any more.
 *
 * Needs: `key` is NULL, or a handle that was not freed.
 */
void tress_signing_key_free(tress_signing_key *key);

/**
 * Reads a public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER. `scheme` as in `tress_signing_key_read`. Any
 * thread.
 *
 * Returns `TRESS_MALFORMED_KEY`, `TRESS_NOT_PUBLIC`, `TRESS_KEY_REFUSED`, `TRESS_WRONG_SCHEME`, `TRESS_UNKNOWN_NAME`.
 *
 * Needs: `length` bytes are readable at `data`; `scheme` is NULL or ends with NUL; `key` is writable.
 */
TRESS_CHECKED
tress_status tress_verifying_key_read(const uint8_t *data,
                                      size_t length,
                                      const char *scheme_name,
                                      tress_verifying_key **key);

/**
 * The key as SubjectPublicKeyInfo in PEM. Any thread.
 *
 * Needs: `key` is a handle; `pem` is writable.
 */
TRESS_CHECKED
tress_status tress_verifying_key_pem(const tress_verifying_key *key, tress_buffer **pem);

/**
 * Ends the handle; NULL does nothing. No other thread may use it any more.
 *
 * Needs: `key` is NULL, or a handle that was not freed.
 */
void tress_verifying_key_free(tress_verifying_key *key);

/**
 * The digest of a message by the hash function of a scheme, for jobs: writes its length, 32, 48 or 64, to
 * `digest_length`, and the digest to `digest`, which has room for `capacity` bytes. Any thread.
 *
 * Returns `TRESS_UNKNOWN_NAME`, `TRESS_BUFFER`.
 *
 * Needs: `scheme` ends with NUL; `length` bytes are readable at `message`; `capacity` bytes are writable at `digest`;
 * `digest_length` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_digest(const char *scheme_name,
                          const uint8_t *message,
                          size_t length,
                          uint8_t *digest,
                          size_t capacity,
                          size_t *digest_length);

/**
 * Signs a message: writes the signature to `signature`, which has room for `capacity` bytes, and its length to
 * `signature_length`. Many at once are several times faster where the processor has AVX-512 IFMA: `tress_sign_jobs`.
 * Any thread.
 *
 * Returns `TRESS_BUFFER` unless there is room for `tress_signing_key_signature_bytes`; `TRESS_RANDOM`, `TRESS_FAULT`.
 *
 * Needs: `key` is a handle; `length` bytes are readable at `message`; `capacity` bytes are writable at `signature`;
 * `signature_length` is writable.
 */
TRESS_CHECKED
tress_status tress_sign(const tress_signing_key *key,
                        const uint8_t *message,
                        size_t length,
                        uint8_t *signature,
                        size_t capacity,
                        size_t *signature_length);

/**
 * Checks the signature of a message. Any thread.
 *
 * Returns `TRESS_OK` if it holds, and `TRESS_MISMATCH` or `TRESS_MALFORMED_SIGNATURE` if not.
 *
 * Needs: `key` is a handle; the lengths are those of what the pointers point to.
 */
TRESS_CHECKED
tress_status tress_verify(const tress_verifying_key *key,
                          const uint8_t *message,
                          size_t length,
                          const uint8_t *signature,
                          size_t signature_length);

/* ---- Signatures: many at once ---- */

/**
 * One digest for `tress_sign_jobs`.
 */
typedef struct tress_sign_job {
  /**
   * Under this key, by its scheme.
   */
  const tress_signing_key *key;
  /**
   * A digest that the scheme's hash function made: `tress_digest`.
   */
  const uint8_t *digest;
  /**
   * Of the digest.
   */
  size_t digest_length;
  /**
   * Where the signature goes: room for `tress_signing_key_signature_bytes` at least.
   */
  uint8_t *signature;
  /**
   * Room at `signature`.
   */
  size_t capacity;
  /**
   * Zero; for later.
   */
  uint64_t reserved;
  /**
   * Written: its length.
   */
  size_t signature_length;
  /**
   * Written: what became of the job.
   */
  tress_status status;
} tress_sign_job;

/**
 * One signature for `tress_verify_jobs`.
 */
typedef struct tress_verify_job {
  /**
   * Under this key, by its scheme.
   */
  const tress_verifying_key *key;
  /**
   * A digest that the scheme's hash function made.
   */
  const uint8_t *digest;
  /**
   * Of the digest.
   */
  size_t digest_length;
  /**
   * What is said to be its signature.
   */
  const uint8_t *signature;
  /**
   * Of the signature.
   */
  size_t signature_length;
  /**
   * Zero; for later.
   */
  uint64_t reserved;
  /**
   * Written: `TRESS_OK` if the signature holds.
   */
  tress_status status;
} tress_verify_job;

/**
 * Signs all digests, eight exponentiations side by side where the processor has AVX-512 IFMA. Keys and schemes may be
 * mixed; batches that are multiples of eight under keys of one size fill the lanes. Runs on the calling thread; any
 * number of threads may do so at the same time with jobs of their own.
 *
 * Returns `TRESS_OK` if every job is `TRESS_OK`; `TRESS_JOBS` if not, and in `failed`, unless that is NULL, how many
 * are not (their statuses are what `tress_sign` returns, `TRESS_DIGEST_LENGTH`, or `TRESS_ARGUMENT` where `reserved` is not zero). After `TRESS_NULL`, `TRESS_LENGTH`
 * or `TRESS_MEMORY` no job has run; after `TRESS_MEMORY` each job's status says so.
 *
 * Needs: `count` jobs are at `jobs`; each key is NULL or a handle, and the lengths are those of what the pointers point to;
 * no signature overlaps anything else; `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_sign_jobs(tress_sign_job *jobs,
                             size_t count,
                             size_t *failed);

/**
 * Checks all signatures; each job's status is what `tress_verify` returns. All else is as in `tress_sign_jobs`.
 *
 * Needs: `count` jobs are at `jobs`; each key is NULL or a handle, and the lengths are those of what the pointers point to;
 * `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_verify_jobs(tress_verify_job *jobs,
                               size_t count,
                               size_t *failed);

#ifdef __cplusplus
}
#endif

#endif /* TRESS_H */
