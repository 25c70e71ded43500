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

#ifndef TRESS_H
#define TRESS_H

#include "tress-cipher.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Buffers that the library allocates ---- */

/**
 * Bytes that a call returned: a container, a plaintext, or a key as text. The buffer never changes, so any number of
 * threads may read it at the same time. `tress_buffer_free` wipes the bytes.
 */
typedef struct tress_buffer tress_buffer;

/**
 * Returns the bytes, which are valid until the buffer is freed, or NULL for NULL. They do not end with NUL. Any thread.
 *
 * Needs: `buffer` is NULL or a handle.
 */
const uint8_t *tress_buffer_data(const tress_buffer *buffer);

/**
 * Returns the length of the buffer in bytes, or 0 for NULL. Any thread.
 *
 * Needs: `buffer` is NULL or a handle.
 */
size_t tress_buffer_length(const tress_buffer *buffer);

/**
 * Wipes and frees the buffer; NULL does nothing. No thread may use the buffer afterwards.
 *
 * Needs: `buffer` is NULL, or a handle that was not freed.
 */
void tress_buffer_free(tress_buffer *buffer);

/* ---- Keys of containers ---- */

/**
 * A set of identities, the secret keys that open containers. One thread at a time may add to it; after that any number of
 * threads may use it in calls that take `const tress_identities *`. `tress_identities_free` wipes the secrets.
 */
typedef struct tress_identities tress_identities;

/**
 * A key pair as `tress keygen` makes it. It never changes, so any number of threads may use it at the same time.
 */
typedef struct tress_keypair tress_keypair;

/**
 * A set of recipients to encrypt to. One thread at a time may add to it; after that any number of threads may use it in
 * calls that take `const tress_recipients *`.
 */
typedef struct tress_recipients tress_recipients;

/**
 * Creates an empty set. Any thread.
 */
tress_recipients *tress_recipients_new(void);

/**
 * Adds recipients as text, one per line: "age1...", "age1pq1...", "tress1...", "ssh-ed25519 ..." or "ssh-rsa ...". Empty
 * lines and lines that begin with "#" are ignored. One thread at a time.
 *
 * Returns `TRESS_BAD_RECIPIENT`, `TRESS_NO_RECIPIENTS`. A call that fails adds nothing.
 *
 * Needs: `recipients` is a valid handle; `text` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_recipients_add(tress_recipients *recipients,
                                  const char *text);

/**
 * Adds a passphrase, which must be the only recipient of the set. Deriving a key from it takes about a second and 256 MiB
 * each time. One thread at a time.
 *
 * Returns `TRESS_BAD_PASSPHRASE` for an empty passphrase.
 *
 * Needs: `recipients` is a valid handle; `passphrase` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_recipients_add_passphrase(tress_recipients *recipients,
                                             const char *passphrase);

/**
 * Adds a raw key of 16 or 32 random bytes. One thread at a time.
 *
 * Returns `TRESS_RAW_KEY_LENGTH`.
 *
 * Needs: `recipients` is a valid handle; `key_length` bytes are readable at `key`.
 */
TRESS_CHECKED
tress_status tress_recipients_add_key(tress_recipients *recipients,
                                      const uint8_t *key,
                                      size_t key_length);

/**
 * Adds the key and the context of Cobblestone files, which must be all that the set has. `format` is "cobblestone-128", with
 * a key of 16 random bytes, or "cobblestone-256", with one of 32. The context is empty or any bytes, and not secret. One
 * thread at a time.
 *
 * Returns `TRESS_RAW_KEY_LENGTH`, `TRESS_UNKNOWN_NAME`, `TRESS_ARGUMENT` for another format.
 *
 * Needs: `recipients` is a valid handle; `format` ends with NUL; `key_length` bytes are readable at `key`, `context_length` at `context`.
 */
TRESS_CHECKED
tress_status tress_recipients_add_cobblestone_key(tress_recipients *recipients,
                                                  const char *format,
                                                  const uint8_t *key,
                                                  size_t key_length,
                                                  const uint8_t *context,
                                                  size_t context_length);

/**
 * Frees the set; NULL does nothing. No thread may use the set afterwards.
 *
 * Needs: `recipients` is NULL, or a handle that was not freed.
 */
void tress_recipients_free(tress_recipients *recipients);

/**
 * Creates an empty set. Any thread.
 */
tress_identities *tress_identities_new(void);

/**
 * Adds the identities of an identity file, given as bytes: "AGE-SECRET-KEY-1..." and "AGE-SECRET-KEY-PQ-1..." lines as
 * `tress keygen` and `age-keygen` write them, an identity file that `age -p` encrypted, or an SSH private key. `passphrase`
 * decrypts an encrypted file, and may be NULL. One thread at a time.
 *
 * Returns `TRESS_BAD_IDENTITY`. A call that fails adds nothing. A wrong passphrase is reported only when the identities are
 * used.
 *
 * Needs: `identities` is a valid handle; `length` bytes are readable at `data`; `passphrase` is NULL or ends with NUL.
 */
TRESS_CHECKED
tress_status tress_identities_add(tress_identities *identities,
                                  const uint8_t *data,
                                  size_t length,
                                  const char *passphrase);

/**
 * Adds a passphrase, with a limit of 20 for the work factor: up to five seconds and 1 GiB of memory for each container. One
 * thread at a time.
 *
 * Returns `TRESS_BAD_PASSPHRASE` for an empty passphrase.
 *
 * Needs: `identities` is a valid handle; `passphrase` ends with NUL.
 */
TRESS_CHECKED
tress_status tress_identities_add_passphrase(tress_identities *identities,
                                             const char *passphrase);

/**
 * Adds a passphrase with another limit for the work factor. `max_work_factor` is the binary logarithm of scrypt's cost
 * parameter N, 1 to 22; each step down halves time and memory. A container with a larger work factor is refused with
 * `TRESS_WORK_FACTOR` before any work. Tress encrypts with a work factor of 18. One thread at a time.
 *
 * Returns `TRESS_BAD_PASSPHRASE` for an empty passphrase, `TRESS_WORK_FACTOR` for a limit outside 1 to 22.
 *
 * Needs: `identities` is a valid handle; `passphrase` ends with NUL.
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
 * Needs: `identities` is a valid handle; `key_length` bytes are readable at `key`.
 */
TRESS_CHECKED
tress_status tress_identities_add_key(tress_identities *identities,
                                      const uint8_t *key,
                                      size_t key_length);

/**
 * Adds the key and the context of Cobblestone files. The set then opens only files of this format. `format` is
 * "cobblestone-128", with a key of 16 random bytes, or "cobblestone-256", with one of 32. The context is empty or any bytes,
 * and not secret. One thread at a time.
 *
 * Returns `TRESS_RAW_KEY_LENGTH`, `TRESS_UNKNOWN_NAME`, `TRESS_ARGUMENT` for another format.
 *
 * Needs: `identities` is a valid handle; `format` ends with NUL; `key_length` bytes are readable at `key`, `context_length` at `context`.
 */
TRESS_CHECKED
tress_status tress_identities_add_cobblestone_key(tress_identities *identities,
                                                  const char *format,
                                                  const uint8_t *key,
                                                  size_t key_length,
                                                  const uint8_t *context,
                                                  size_t context_length);

/**
 * Wipes the secrets and frees the set; NULL does nothing. No thread may use the set afterwards.
 *
 * Needs: `identities` is NULL, or a handle that was not freed.
 */
void tress_identities_free(tress_identities *identities);

/**
 * Generates a key pair. Any thread.
 *
 * Returns `TRESS_IO` if the system provides no random bytes.
 *
 * Needs: `pair` is writable.
 */
TRESS_CHECKED
tress_status tress_keypair_generate(tress_keypair **pair);

/**
 * Reads a key pair from an identity file that has one X25519 identity. Any thread.
 *
 * Returns `TRESS_BAD_IDENTITY`.
 *
 * Needs: `text` ends with NUL; `pair` is writable.
 */
TRESS_CHECKED
tress_status tress_keypair_parse(const char *text, tress_keypair **pair);

/**
 * Returns the recipient, "age1...", which is public and valid until the pair is freed; NULL for NULL. Any thread.
 *
 * Needs: `pair` is NULL or a handle.
 */
const char *tress_keypair_recipient(const tress_keypair *pair);

/**
 * Returns the public key for transfers, "tress1...", valid until the pair is freed; NULL if the identity file has no key for
 * transfers. Any thread.
 *
 * Needs: `pair` is NULL or a handle.
 */
const char *tress_keypair_address(const tress_keypair *pair);

/**
 * Returns the text of the identity file, which is secret: store it where only its owner can read it. Valid until the pair is
 * freed, which wipes it; NULL for NULL. Any thread.
 *
 * Needs: `pair` is NULL or a handle.
 */
const char *tress_keypair_identity(const tress_keypair *pair);

/**
 * Wipes the secret and frees the pair; NULL does nothing. No thread may use the pair afterwards.
 *
 * Needs: `pair` is NULL, or a handle that was not freed.
 */
void tress_keypair_free(tress_keypair *pair);

/* ---- Options, reports and control ---- */

/**
 * Progress and cancellation of one call on files. Any thread may call the functions of a control at any time until it is
 * freed; a signal handler may call `tress_control_cancel`.
 */
typedef struct tress_control tress_control;

/**
 * Options for encryption and decryption. Zero fields and a NULL pointer select the defaults. The options may be changed or
 * freed after the call.
 */
typedef struct tress_options {
  /**
   * Number of computing threads, up to 1024. 0 means one for each core, 1 means the calling thread alone where possible.
   */
  size_t threads;
  /**
   * For encryption: "aes-128-ccm" or "aes-256-ccm". NULL selects the first. Formats other than "tress" require NULL.
   */
  const char *aead;
  /**
   * For encryption: name to store in the container, encrypted. UTF-8, 1 to 255 bytes, without a path. NULL selects the name
   * of the input file, or no name if there is no file. Formats other than "tress" require NULL.
   */
  const char *name;
  /**
   * Not 0: replace an existing output file.
   */
  int replace;
  /**
   * For `tress_decrypt_file`: not 0 to decrypt only the plaintext bytes from `range_start` up to, not including, `range_end`.
   */
  int range;
  /**
   * Offset of the first byte of the range.
   */
  uint64_t range_start;
  /**
   * Offset after the last byte of the range; `UINT64_MAX` is the end of the plaintext.
   */
  uint64_t range_end;
  /**
   * "tress", "age", "cobblestone-128" or "cobblestone-256". For encryption: the format of the output; NULL selects "tress",
   * which is a container, or the format that the key of a Cobblestone file is for. For `tress_decrypt_file`: the format that
   * the input must have; NULL accepts any that the identities open.
   */
  const char *format;
  /**
   * For `tress_encrypt_file` with format "age": not 0 to write the file as text.
   */
  int armor;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved[2];
} tress_options;

/**
 * Statistics of a call on files.
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
   * Chunks encrypted or verified.
   */
  uint64_t chunks;
  /**
   * Duration of the call in nanoseconds.
   */
  uint64_t elapsed_ns;
  /**
   * Reserved; always zero.
   */
  uint64_t reserved[4];
} tress_report;

/**
 * Creates a control for one call. Any thread.
 */
tress_control *tress_control_new(void);

/**
 * Asks the call to stop; NULL does nothing. The call removes the output that it has written and returns
 * `TRESS_INTERRUPTED`. While a FIFO is opened for writing, or a key is derived from a passphrase, it cannot stop. Any thread,
 * and signal handlers.
 *
 * Needs: `control` is NULL or a handle.
 */
void tress_control_cancel(const tress_control *control);

/**
 * Returns the number of input bytes processed so far; 0 for NULL. Any thread.
 *
 * Needs: `control` is NULL or a handle.
 */
uint64_t tress_control_done_bytes(const tress_control *control);

/**
 * Returns the total number of input bytes; 0 if it is unknown, as for a pipe. Any thread.
 *
 * Needs: `control` is NULL or a handle.
 */
uint64_t tress_control_total_bytes(const tress_control *control);

/**
 * Frees the handle; NULL does nothing. The controlled call must have returned, and no thread may use the handle afterwards.
 *
 * Needs: `control` is NULL, or a handle that was not freed.
 */
void tress_control_free(tress_control *control);

/* ---- Containers as streams and in memory ---- */

/**
 * Decrypts a pushed container. One thread at a time, not always the same one.
 */
typedef struct tress_decryptor tress_decryptor;

/**
 * Encrypts pushed plaintext into a container. One thread at a time, not always the same one. Only the process that
 * created it may use it: after a `fork`, both processes would encrypt under one key and nonce.
 */
typedef struct tress_encryptor tress_encryptor;

/**
 * Callback that receives the next `length` bytes of an output, at least one. It returns 0; any other value ends the
 * operation with `TRESS_CALLBACK`. `context` is the pointer that was passed along with the callback. It runs in the
 * calling thread, and must not call functions on the same handle, throw, or leave by `longjmp`.
 */
typedef int (*tress_write)(void *context, const uint8_t *data, size_t length);

/**
 * Begins a container for `recipients`. The bytes of the container go to `write`, in order. `options` may be NULL. Memory
 * use is one batch: some MiB for each thread. The container is complete only after `tress_encryptor_finish` has returned
 * `TRESS_OK`; before that, every reader reports it as truncated. Any thread, but not in its destructors
 * (`pthread_key_create`).
 *
 * Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_BAD_NAME`, `TRESS_UNKNOWN_NAME`.
 *
 * Needs: `recipients` is a valid handle; the texts of `options` end with NUL; `write` and `context` are valid until the handle is
 * freed; `encryptor` is writable.
 */
TRESS_CHECKED
tress_status tress_encryptor_new(const tress_recipients *recipients,
                                 const tress_options *options,
                                 tress_write write,
                                 void *context,
                                 tress_encryptor **encryptor);

/**
 * Encrypts the next bytes of the plaintext, any number, and writes the finished part of the container. After a failure
 * other than `TRESS_NULL` and `TRESS_LENGTH` every further call returns `TRESS_STATE`. One thread at a time.
 *
 * Returns `TRESS_CALLBACK`, `TRESS_STATE`. In a process that did not call `tress_encryptor_new` itself, this function or
 * `tress_encryptor_finish` returns `TRESS_ARGUMENT`.
 *
 * Needs: `encryptor` is a valid handle; `length` bytes are readable at `data`.
 */
TRESS_CHECKED
tress_status tress_encryptor_push(tress_encryptor *encryptor,
                                  const uint8_t *data,
                                  size_t length);

/**
 * Writes the rest of the container. Afterwards the handle can only be freed. One thread at a time.
 *
 * Returns `TRESS_CALLBACK`, `TRESS_STATE`, `TRESS_ARGUMENT`.
 *
 * Needs: `encryptor` is a valid handle.
 */
TRESS_CHECKED
tress_status tress_encryptor_finish(tress_encryptor *encryptor);

/**
 * Frees the handle, finished or not, without writing anything; NULL does nothing.
 *
 * Needs: `encryptor` is NULL, or a handle that was not freed.
 */
void tress_encryptor_free(tress_encryptor *encryptor);

/**
 * Prepares to decrypt a container with the first of `identities` that matches. Verified plaintext goes to `write`, in order.
 * `threads` is the number of threads, up to 1024; 0 means one for each core, 1 means the calling thread alone. Any thread.
 *
 * Needs: `identities` is a valid handle; `write` and `context` are valid until the handle is freed; `decryptor` is writable.
 */
TRESS_CHECKED
tress_status tress_decryptor_new(const tress_identities *identities,
                                 size_t threads,
                                 tress_write write,
                                 void *context,
                                 tress_decryptor **decryptor);

/**
 * Decrypts the next bytes of the container, any number, and writes the verified plaintext. Only `tress_decryptor_finish`
 * tells whether the container is complete. The plaintext of a folder is a tar stream, and an index behind its end; names
 * and links come from whoever made the container. `tress_decrypt_file` unpacks a folder without links that lead out of
 * it; a general tar program may not. After a failure other than `TRESS_NULL` and `TRESS_LENGTH` every further call returns
 * `TRESS_STATE`. One thread at a time.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_WRONG_PASSPHRASE`, `TRESS_CHUNK_DAMAGED` and the other codes for a damaged
 * container; `TRESS_CALLBACK`, `TRESS_STATE`.
 *
 * Needs: `decryptor` is a valid handle; `length` bytes are readable at `data`.
 */
TRESS_CHECKED
tress_status tress_decryptor_push(tress_decryptor *decryptor,
                                  const uint8_t *data,
                                  size_t length);

/**
 * Declares the end of the container, and writes the rest of the plaintext. The plaintext is complete only if this returns
 * `TRESS_OK`. Afterwards the handle can only be freed. One thread at a time.
 *
 * Returns `TRESS_TRUNCATED`, and the errors of `tress_decryptor_push`.
 *
 * Needs: `decryptor` is a valid handle.
 */
TRESS_CHECKED
tress_status tress_decryptor_finish(tress_decryptor *decryptor);

/**
 * Returns the name in the container, valid until the handle is freed; NULL if it has no name, or its header was not pushed
 * completely. The name comes from whoever made the container. It contains no path, and may equal the name of an existing
 * file. One thread at a time.
 *
 * Needs: `decryptor` is NULL or a handle.
 */
const char *tress_decryptor_name(const tress_decryptor *decryptor);

/**
 * Returns 1 if the plaintext is the tar stream of a folder, 0 if it is the content of a file, and -1 until the header was
 * read, at the latest by `tress_decryptor_finish`. One thread at a time.
 *
 * Needs: `decryptor` is NULL or a handle.
 */
int tress_decryptor_is_tree(const tress_decryptor *decryptor);

/**
 * Frees the handle, finished or not, without writing anything; NULL does nothing.
 *
 * Needs: `decryptor` is NULL, or a handle that was not freed.
 */
void tress_decryptor_free(tress_decryptor *decryptor);

/**
 * Encrypts `length` bytes at `plain` into a container in memory. `options` may be NULL. Any thread, but not
 * in its destructors.
 *
 * Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_MEMORY` and others.
 *
 * Needs: `length` bytes are readable at `plain`; `recipients` is a valid handle; the texts of `options` end with NUL; `container`
 * is writable.
 */
TRESS_CHECKED
tress_status tress_encrypt(const uint8_t *plain,
                           size_t length,
                           const tress_recipients *recipients,
                           const tress_options *options,
                           tress_buffer **container);

/**
 * Verifies the whole container of `length` bytes at `container` and decrypts it into memory. The plaintext of a folder is a
 * tar stream, as for `tress_decryptor_push`. `threads` is the number of threads, up to 1024; 0 means one for each core, 1
 * means the calling thread alone. Any thread.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_MEMORY` and others.
 *
 * Needs: `length` bytes are readable at `container`; `identities` is a valid handle; `plain` is writable.
 */
TRESS_CHECKED
tress_status tress_decrypt(const uint8_t *container,
                           size_t length,
                           const tress_identities *identities,
                           size_t threads,
                           tress_buffer **plain);

/* ---- Containers with random access ---- */

/**
 * Reads the plaintext of a container at any offset. It caches the chunks that it decrypted last. One thread at a time, not
 * always the same one.
 */
typedef struct tress_reader tress_reader;

/**
 * A container with random access through a callback.
 */
typedef struct tress_source {
  /**
   * Callback that reads up to `capacity` bytes at `offset` into `buffer`, writes their number to `length` (0 only at the
   * end), and returns 0; any other value ends the operation with `TRESS_CALLBACK`. It runs in the calling thread, and
   * must not call functions on the same handle, throw, or leave by `longjmp`.
   */
  int (*read_at)(void *context, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length);
  /**
   * Passed to `read_at`.
   */
  void *context;
  /**
   * Length of the container in bytes.
   */
  uint64_t length;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved;
} tress_source;

/**
 * Opens the container of `source` with the first of `identities` that matches. Verifies the last chunk, and so the length of
 * the plaintext. `threads` is the number of threads, up to 1024; 0 means one for each core, 1 means the calling thread
 * alone. Any thread.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_TRUNCATED`, `TRESS_CHUNK_DAMAGED` and the other codes for a damaged container;
 * `TRESS_CALLBACK`; `TRESS_ARGUMENT` if `reserved` is not zero.
 *
 * Needs: `source` is readable; its callback and context are valid until the reader is freed; `identities` is a valid handle;
 * `reader` is writable.
 */
TRESS_CHECKED
tress_status tress_reader_open(const tress_source *source,
                               const tress_identities *identities,
                               size_t threads,
                               tress_reader **reader);

/**
 * Opens a container file, as `tress_reader_open`.
 *
 * Returns `TRESS_IO`, `TRESS_ARGUMENT` for a pipe, and the errors of `tress_reader_open`.
 *
 * Needs: `path` ends with NUL; `identities` is a valid handle; `reader` is writable.
 */
TRESS_CHECKED
tress_status tress_reader_open_file(const char *path,
                                    const tress_identities *identities,
                                    size_t threads,
                                    tress_reader **reader);

/**
 * Returns the length of the plaintext in bytes; 0 for NULL. One thread at a time.
 *
 * Needs: `reader` is NULL or a handle.
 */
uint64_t tress_reader_length(const tress_reader *reader);

/**
 * Returns the file's format, as in `tress_options`; NULL for NULL. The text is static. One thread at a time.
 *
 * Needs: `reader` is NULL or a handle.
 */
const char *tress_reader_format(const tress_reader *reader);

/**
 * Returns the name in the container, valid until the handle is freed; NULL if it has none. The name comes from whoever made
 * the container. One thread at a time.
 *
 * Needs: `reader` is NULL or a handle.
 */
const char *tress_reader_name(const tress_reader *reader);

/**
 * Returns 1 if the plaintext is the tar stream of a folder, 0 if it is the content of a file, -1 for NULL. One thread at a
 * time.
 *
 * Needs: `reader` is NULL or a handle.
 */
int tress_reader_is_tree(const tress_reader *reader);

/**
 * Reads `capacity` bytes of verified plaintext at `offset` into `buffer`, and writes the number of bytes read to `length`:
 * fewer than `capacity` only at the end of the plaintext, 0 after it. Sequential reads read ahead; other reads decrypt at
 * least one chunk of 16 KiB. The handle stays usable after a failure, because other chunks may be undamaged. One thread at a
 * time.
 *
 * Returns `TRESS_CHUNK_DAMAGED`, `TRESS_IO`, `TRESS_CALLBACK`. A call that fails wipes the buffer and sets `length` to 0.
 *
 * Needs: `reader` is a valid handle; `capacity` bytes are writable at `buffer`; `length` is writable.
 */
TRESS_CHECKED
tress_status tress_reader_read_at(tress_reader *reader,
                                  uint64_t offset,
                                  uint8_t *buffer,
                                  size_t capacity,
                                  size_t *length);

/**
 * Wipes the cached plaintext and frees the handle; NULL does nothing.
 *
 * Needs: `reader` is NULL, or a handle that was not freed.
 */
void tress_reader_free(tress_reader *reader);

/* ---- Whole files ---- */

/**
 * Encrypts the file or folder `input` to all of `recipients`, into the container `output`. The container appears under
 * its name only when it is complete. Threads that the call starts end before it returns. Any thread, but not in
 * its destructors.
 *
 * `options`, `control` and `report` may be NULL.
 *
 * Returns `TRESS_IO`, `TRESS_OUTPUT_EXISTS`, `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_INTERRUPTED` and
 * others. A call that fails creates no output.
 *
 * Needs: `input`, `output` and the texts of `options` end with NUL; `recipients` is a valid handle; `control` is NULL or a valid
 * handle; `report` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_encrypt_file(const char *input,
                                const char *output,
                                const tress_recipients *recipients,
                                const tress_options *options,
                                const tress_control *control,
                                tress_report *report);

/**
 * Decrypts the container `input` with the first of `identities` that matches, into the file or folder `output`. The
 * output appears under its name only when all chunks are verified. A folder is unpacked under the rules of
 * `tress decrypt`, which refuses unsafe entries. Any thread.
 *
 * `options`, `control` and `report` may be NULL.
 *
 * Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_RANGE`, `TRESS_OUTPUT_EXISTS`,
 * `TRESS_INTERRUPTED` and others. A call that fails creates no output.
 *
 * Needs: As `tress_encrypt_file`; `identities` is a valid handle.
 */
TRESS_CHECKED
tress_status tress_decrypt_file(const char *input,
                                const char *output,
                                const tress_identities *identities,
                                const tress_options *options,
                                const tress_control *control,
                                tress_report *report);

/**
 * Replaces the recipients of the container `container`; its payload is not touched. This does not revoke access: a former
 * recipient may have kept the payload key. Any thread, but not in its destructors.
 *
 * Returns the errors of `tress_decrypt_file`. A call that fails leaves the container unchanged.
 *
 * Needs: As `tress_encrypt_file`; `identities` is a valid handle.
 */
TRESS_CHECKED
tress_status tress_rewrap_file(const char *container,
                               const tress_identities *identities,
                               const tress_recipients *recipients,
                               const tress_control *control,
                               tress_report *report);

/* ---- Signatures ---- */

/**
 * A private key and its signature scheme. It never changes, so any number of threads may use it at the same time.
 * `tress_signing_key_free` wipes the key.
 */
typedef struct tress_signing_key tress_signing_key;

/**
 * A public key and its signature scheme. It never changes, so any number of threads may use it at the same time.
 */
typedef struct tress_verifying_key tress_verifying_key;

/**
 * Reads a private key: PKCS #8 or PKCS #1, PEM or DER. `passphrase` decrypts an encrypted PKCS #8 key, and may be NULL.
 * `scheme_name` selects the signature scheme; NULL selects "rsa-pss-sha256", "dsa-sha256" or "schnorr-sha256" by the type
 * of the key. Any thread.
 *
 * Returns `TRESS_MALFORMED_KEY`, `TRESS_NOT_PRIVATE`, `TRESS_KEY_ENCRYPTED`, `TRESS_WRONG_PASSPHRASE`,
 * `TRESS_WORK_FACTOR`, `TRESS_MEMORY`, `TRESS_KEY_REFUSED`, `TRESS_WRONG_SCHEME`, `TRESS_UNKNOWN_NAME`.
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
 * Reads a private key with another limit for the work factor. `max_work_factor`, 1 to 23, is the binary logarithm of
 * scrypt's N with r = 8 and p = 1, or of a fifth of the rounds of PBKDF2; each step up doubles the time. Otherwise as
 * `tress_signing_key_read`, which has the limit 20: about five seconds and 1 GiB of memory. Any thread.
 *
 * Returns what `tress_signing_key_read` returns, and `TRESS_WORK_FACTOR` for a limit outside 1 to 23.
 *
 * Needs: As for `tress_signing_key_read`.
 */
TRESS_CHECKED
tress_status tress_signing_key_read_up_to(const uint8_t *data,
                                          size_t length,
                                          const char *passphrase,
                                          const char *scheme_name,
                                          uint8_t max_work_factor,
                                          tress_signing_key **key);

/**
 * Generates a private key. `kind` is "rsa-2048" to "rsa-8192" (even numbers), "dsa-2048", "dsa-3072", "schnorr-2048" or
 * "schnorr-3072". `scheme_name` is as for `tress_signing_key_read`. An RSA key takes from a second to minutes. Any thread.
 *
 * Returns `TRESS_UNKNOWN_NAME`, `TRESS_WRONG_SCHEME`, `TRESS_RANDOM`.
 *
 * Needs: `kind` ends with NUL; `scheme_name` is NULL or ends with NUL; `key` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_generate(const char *kind,
                                        const char *scheme_name,
                                        tress_signing_key **key);

/**
 * Returns the length of the longest signature of the key in bytes; 0 for NULL. Any thread.
 *
 * Needs: `key` is NULL or a handle.
 */
size_t tress_signing_key_signature_bytes(const tress_signing_key *key);

/**
 * Writes the private key as PKCS #8 in PEM, which is secret, to a new buffer `pem`. Any thread.
 *
 * Needs: `key` is a valid handle; `pem` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_pem(const tress_signing_key *key, tress_buffer **pem);

/**
 * Creates the public key of a private key, for the same scheme. Any thread.
 *
 * Needs: `key` is a valid handle; `public_key` is writable.
 */
TRESS_CHECKED
tress_status tress_signing_key_public(const tress_signing_key *key,
                                      tress_verifying_key **public_key);

/**
 * Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards.
 *
 * Needs: `key` is NULL, or a handle that was not freed.
 */
void tress_signing_key_free(tress_signing_key *key);

/**
 * Reads a public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER. `scheme_name` is as for `tress_signing_key_read`. Any
 * thread.
 *
 * Returns `TRESS_MALFORMED_KEY`, `TRESS_NOT_PUBLIC`, `TRESS_KEY_REFUSED`, `TRESS_WRONG_SCHEME`, `TRESS_UNKNOWN_NAME`.
 *
 * Needs: `length` bytes are readable at `data`; `scheme_name` is NULL or ends with NUL; `key` is writable.
 */
TRESS_CHECKED
tress_status tress_verifying_key_read(const uint8_t *data,
                                      size_t length,
                                      const char *scheme_name,
                                      tress_verifying_key **key);

/**
 * Writes the public key as SubjectPublicKeyInfo in PEM to a new buffer `pem`. Any thread.
 *
 * Needs: `key` is a valid handle; `pem` is writable.
 */
TRESS_CHECKED
tress_status tress_verifying_key_pem(const tress_verifying_key *key, tress_buffer **pem);

/**
 * Frees the handle; NULL does nothing. No thread may use the handle afterwards.
 *
 * Needs: `key` is NULL, or a handle that was not freed.
 */
void tress_verifying_key_free(tress_verifying_key *key);

/**
 * Computes the digest of a message with the hash function of a scheme, for jobs. Writes the digest to `digest`, which has
 * room for `capacity` bytes, and its length of 32, 48 or 64 bytes to `digest_length`, unless that is NULL. Any thread.
 *
 * Returns `TRESS_UNKNOWN_NAME`, `TRESS_BUFFER`.
 *
 * Needs: `scheme_name` ends with NUL; `length` bytes are readable at `message`; `capacity` bytes are writable at `digest`;
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
 * Signs a message. Writes the signature to `signature`, which has room for `capacity` bytes, and its length to
 * `signature_length`. A batch of signatures is several times faster on processors with AVX-512 IFMA: `tress_sign_jobs`.
 * Any thread.
 *
 * Returns `TRESS_BUFFER` if `capacity` is less than `tress_signing_key_signature_bytes`; `TRESS_RANDOM`, `TRESS_FAULT`.
 *
 * Needs: `key` is a valid handle; `length` bytes are readable at `message`; `capacity` bytes are writable at `signature`;
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
 * Verifies the signature of a message. Any thread.
 *
 * Returns `TRESS_OK` if the signature is valid, otherwise `TRESS_MISMATCH` or `TRESS_MALFORMED_SIGNATURE`.
 *
 * Needs: `key` is a valid handle; each buffer has the length given for it.
 */
TRESS_CHECKED
tress_status tress_verify(const tress_verifying_key *key,
                          const uint8_t *message,
                          size_t length,
                          const uint8_t *signature,
                          size_t signature_length);

/* ---- Signatures: batches ---- */

/**
 * One digest to sign with `tress_sign_jobs`.
 */
typedef struct tress_sign_job {
  /**
   * Key, which also selects the scheme.
   */
  const tress_signing_key *key;
  /**
   * Digest of the message by the scheme's hash function, as `tress_digest` computes it.
   */
  const uint8_t *digest;
  /**
   * Length of `digest` in bytes.
   */
  size_t digest_length;
  /**
   * Buffer for the signature.
   */
  uint8_t *signature;
  /**
   * Size of `signature` in bytes, at least `tress_signing_key_signature_bytes`.
   */
  size_t capacity;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved;
  /**
   * Output: length of the signature in bytes.
   */
  size_t signature_length;
  /**
   * Output: status of this job.
   */
  tress_status status;
} tress_sign_job;

/**
 * One signature to check with `tress_verify_jobs`.
 */
typedef struct tress_verify_job {
  /**
   * Key, which also selects the scheme.
   */
  const tress_verifying_key *key;
  /**
   * Digest of the message by the scheme's hash function.
   */
  const uint8_t *digest;
  /**
   * Length of `digest` in bytes.
   */
  size_t digest_length;
  /**
   * Signature to check.
   */
  const uint8_t *signature;
  /**
   * Length of `signature` in bytes.
   */
  size_t signature_length;
  /**
   * Reserved; must be zero.
   */
  uint64_t reserved;
  /**
   * Output: `TRESS_OK` if the signature is valid.
   */
  tress_status status;
} tress_verify_job;

/**
 * Signs all digests. On processors with AVX-512 IFMA, eight exponentiations run in parallel lanes. Keys and schemes may be
 * mixed; a multiple of eight jobs with keys of one size fills the lanes. Runs on the calling thread. Any number of
 * threads may call it at the same time, each with separate jobs.
 *
 * Returns `TRESS_OK` if every job is `TRESS_OK`, otherwise `TRESS_JOBS`. Writes the number of failed jobs to `failed`,
 * unless that is NULL. The status of a failed job is one that `tress_sign` returns, `TRESS_DIGEST_LENGTH`, or
 * `TRESS_ARGUMENT` if `reserved` is not zero. After `TRESS_NULL`, `TRESS_LENGTH` or `TRESS_MEMORY` no job has run; after
 * `TRESS_MEMORY` every job that is otherwise correct has that status.
 *
 * Needs: `jobs` points to `count` jobs; each key is NULL or a valid handle; each buffer has the length given for it; no
 * signature buffer overlaps other memory of a job; `failed` is NULL or writable.
 */
TRESS_CHECKED
tress_status tress_sign_jobs(tress_sign_job *jobs,
                             size_t count,
                             size_t *failed);

/**
 * Checks all signatures. The status of each job is one that `tress_verify` returns. Keys, threads and return values are as
 * for `tress_sign_jobs`.
 *
 * Needs: `jobs` points to `count` jobs; each key is NULL or a valid handle; each buffer has the length given for it; `failed` is
 * NULL or writable.
 */
TRESS_CHECKED
tress_status tress_verify_jobs(tress_verify_job *jobs,
                               size_t count,
                               size_t *failed);

#ifdef __cplusplus
}
#endif

#endif /* TRESS_H */
