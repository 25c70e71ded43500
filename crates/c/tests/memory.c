/* Uses a key through the library, frees every handle, wipes the program's copies of the key, and stops. Any trace of the key in
 * memory then comes from the library. The parent process searches for traces (crates/cli/tests/memory/memory_scan.rs).
 *
 *   memory keep TEXT              frees the text without wiping it, so that the search must find it
 *   memory cipher KEY             one message and batches under a raw key
 *   memory raw KEY CONTAINER      writes a container for a raw key, and opens it in memory and as a stream
 *   memory identity FILE CONTAINER   reads a key pair, and opens a container
 *   memory passphrase TEXT        adds a passphrase to recipients and identities
 *   memory make KIND PEM          generates a key, and writes it as PEM
 *   memory sign PEM               reads a key, signs one message and a batch */
#include "check.h"
#include <tress.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Overwrites memory with volatile writes, which no compiler removes. */
static void wipe(void *memory, size_t length) {
  for (volatile uint8_t *byte = memory; length > 0; length--) *byte++ = 0;
}

struct secret {
  uint8_t *data;
  size_t length, capacity;
};

/* Reads a file without a buffer of the C library, and appends a NUL. */
static struct secret read_secret(const char *path) {
  struct secret secret = {allocate(1 << 16), 0, 1 << 16};
  int file = open(path, O_RDONLY);
  CHECK(file >= 0);
  ssize_t length = read(file, secret.data, secret.capacity - 1);
  CHECK(length > 0 && close(file) == 0);
  secret.length = (size_t)length;
  secret.data[length] = 0;
  return secret;
}

static void write_out(const char *path, const tress_buffer *buffer) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  for (size_t written = 0; written < tress_buffer_length(buffer);) {
    ssize_t now = write(file, tress_buffer_data(buffer) + written, tress_buffer_length(buffer) - written);
    CHECK(now > 0);
    written += (size_t)now;
  }
  CHECK(close(file) == 0);
}

static void forget(struct secret secret) {
  wipe(secret.data, secret.capacity);
  free(secret.data);
}

static void keep(const char *path) {
  struct secret secret = read_secret(path);
  free(secret.data);
}

static void cipher(const char *path) {
  struct secret key = read_secret(path);
  tress_cipher *cipher;
  OK(tress_cipher_new("aes-256", key.data, key.length, &cipher));
  static uint8_t data[40][8000], tags[40][16], nonces[40][12];
  tress_ccm_job jobs[40];
  memset(jobs, 0, sizeof jobs);
  for (size_t i = 0; i < 40; i++) {
    nonces[i][0] = (uint8_t)i;
    jobs[i].cipher = cipher, jobs[i].nonce = nonces[i], jobs[i].nonce_length = 12;
    jobs[i].input = data[i], jobs[i].output = data[i], jobs[i].length = 8000;
    jobs[i].tag = jobs[i].tag_output = tags[i], jobs[i].tag_length = 16;
  }
  OK(tress_ccm_encrypt_jobs(jobs, 40, NULL));
  OK(tress_ccm_decrypt_jobs(jobs, 40, NULL));
  /* Enough rounds that the library's threads take part: their stacks stay in memory. */
  for (int i = 0; i < 100; i++) {
    OK(tress_ccm_encrypt_jobs_threads(jobs, 40, 3, NULL));
    OK(tress_ccm_decrypt_jobs_threads(jobs, 40, 3, NULL));
  }
  OK(tress_ccm_encrypt(cipher, nonces[0], 12, NULL, 0, data[0], data[0], 600, tags[0], 16));
  tress_cipher_free(cipher);
  static uint8_t memory[4096];
  OK(tress_cipher_init(memory, sizeof memory, "aes-256", key.data, key.length, &cipher));
  tress_cipher_wipe(cipher);
  forget(key);
}

static void raw(const char *path, const char *to) {
  struct secret key = read_secret(path);
  tress_recipients *recipients = tress_recipients_new();
  tress_identities *identities = tress_identities_new();
  /* Enough keys that the sets reallocate. */
  for (int i = 0; i < 9; i++) {
    OK(tress_recipients_add_key(recipients, key.data, key.length));
    OK(tress_identities_add_key(identities, key.data, key.length));
  }
  forget(key);
  /* More than one batch for each thread. */
  size_t length = 3000000;
  uint8_t *plain = allocate(length);
  uint64_t state = 7;
  fill(&state, plain, length);
  tress_buffer *container, *again;
  OK(tress_encrypt(plain, length, recipients, NULL, &container));
  OK(tress_decrypt(tress_buffer_data(container), tress_buffer_length(container), identities, 0, &again));
  CHECK(tress_buffer_length(again) == length && same(tress_buffer_data(again), plain, length));
  tress_buffer_free(again);

  struct bytes out = {0};
  tress_decryptor *decryptor;
  OK(tress_decryptor_new(identities, 0, append, &out, &decryptor));
  OK(tress_decryptor_push(decryptor, tress_buffer_data(container), tress_buffer_length(container)));
  OK(tress_decryptor_finish(decryptor));
  CHECK(out.length == length && same(out.data, plain, length));
  tress_decryptor_free(decryptor);
  free(out.data);

  write_out(to, container);
  tress_buffer_free(container);
  tress_recipients_free(recipients), tress_identities_free(identities);
  free(plain);
}

static void identity(const char *path, const char *container) {
  struct secret text = read_secret(path), sealed = read_secret(container);
  tress_keypair *pair;
  OK(tress_keypair_parse((const char *)text.data, &pair));
  CHECK(strlen(tress_keypair_identity(pair)) > 100);
  tress_keypair_free(pair);
  tress_identities *identities = tress_identities_new();
  OK(tress_identities_add(identities, text.data, text.length, NULL));
  tress_buffer *plain;
  OK(tress_decrypt(sealed.data, sealed.length, identities, 1, &plain));
  tress_buffer_free(plain), tress_identities_free(identities);
  forget(text), forget(sealed);
}

static void passphrase(const char *path) {
  struct secret text = read_secret(path);
  tress_recipients *recipients = tress_recipients_new();
  tress_identities *identities = tress_identities_new();
  OK(tress_recipients_add_passphrase(recipients, (const char *)text.data));
  OK(tress_identities_add_passphrase(identities, (const char *)text.data));
  tress_recipients_free(recipients), tress_identities_free(identities);
  forget(text);
}

static void make(const char *kind, const char *path) {
  tress_signing_key *key;
  tress_buffer *pem;
  OK(tress_signing_key_generate(kind, NULL, &key));
  OK(tress_signing_key_pem(key, &pem));
  write_out(path, pem);
  tress_buffer_free(pem);
  tress_signing_key_free(key);
}

static void sign(const char *path) {
  struct secret pem = read_secret(path);
  static uint8_t signatures[20][1024], digests[20][32];
  tress_signing_key *key;
  tress_sign_job jobs[20];
  OK(tress_signing_key_read(pem.data, pem.length, NULL, NULL, &key));
  size_t length;
  OK(tress_sign(key, digests[0], 32, signatures[0], 1024, &length));
  memset(jobs, 0, sizeof jobs);
  for (size_t i = 0; i < 20; i++) {
    digests[i][0] = (uint8_t)i;
    jobs[i].key = key, jobs[i].digest = digests[i], jobs[i].digest_length = 32;
    jobs[i].signature = signatures[i], jobs[i].capacity = 1024;
  }
  OK(tress_sign_jobs(jobs, 20, NULL));
  tress_buffer *again;
  OK(tress_signing_key_pem(key, &again));
  tress_buffer_free(again);
  tress_signing_key_free(key);
  forget(pem);
}

/* Wipes the stack frames of returned calls, which are below this one. A call through a pointer is not inlined. */
static void wipe_stack(void) {
  uint8_t below[512 * 1024];
  wipe(below, sizeof below);
}

int main(int argc, char **argv) {
  void (*volatile before_the_end)(void) = wipe_stack;
  CHECK(argc >= 3);
  /* Binds raise() before keys are used: lazy binding at the first call saves the registers, and so key bytes, on the stack. */
  raise(0);
  const char *role = argv[1];
  if (strcmp(role, "keep") == 0) keep(argv[2]);
  else if (strcmp(role, "cipher") == 0) cipher(argv[2]);
  else if (strcmp(role, "raw") == 0) raw(argv[2], argv[3]);
  else if (strcmp(role, "identity") == 0) identity(argv[2], argv[3]);
  else if (strcmp(role, "passphrase") == 0) passphrase(argv[2]);
  else if (strcmp(role, "make") == 0) make(argv[2], argv[3]);
  else if (strcmp(role, "sign") == 0) sign(argv[2]);
  else return 2;
  before_the_end();
  raise(SIGSTOP);
  return 0;
}
