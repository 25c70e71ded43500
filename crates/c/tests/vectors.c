/* Runs every test vector of vectors/ through tress.h on every backend: single messages, in place and between buffers, and all CCM messages
 * of all ciphers in one batch. Reads the lines of vectors.py from standard input. */
#include "check.h"
#include <tress.h>

enum { FIELDS = 12 };

struct data {
  uint8_t *bytes;
  size_t length;
};

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static struct data parse(const char *hex) {
  struct data data = {NULL, 0};
  size_t length = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
  data.bytes = allocate(length);
  data.length = length;
  for (size_t i = 0; i < length; i++) data.bytes[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return data;
}

static const char *const BACKENDS[] = {"reference", "portable", "neon",   "arm-aes", "aesni",
                                       "avx2",      "vaes256",  "avx512", "gfni512", "vaes512"};
static size_t used[sizeof BACKENDS / sizeof *BACKENDS];

/* Every CCM message with lengths that CCM allows. */
static tress_ccm_job *jobs;
static struct expected {
  tress_status status;
  struct data message, sealed, tag, nonce, aad;
  int has_message;
} *expected;
static size_t job_count, job_capacity;

typedef tress_status (*mode)(const tress_cipher *, const struct data *iv, const uint8_t *, uint8_t *, size_t);

static tress_status ecb_encrypt(const tress_cipher *c, const struct data *iv, const uint8_t *in, uint8_t *out, size_t n) {
  (void)iv;
  return tress_ecb_encrypt(c, in, out, n);
}
static tress_status ecb_decrypt(const tress_cipher *c, const struct data *iv, const uint8_t *in, uint8_t *out, size_t n) {
  (void)iv;
  return tress_ecb_decrypt(c, in, out, n);
}
static tress_status cbc_encrypt(const tress_cipher *c, const struct data *iv, const uint8_t *in, uint8_t *out, size_t n) {
  return tress_cbc_encrypt(c, iv->bytes, iv->length, in, out, n);
}
static tress_status cbc_jobs(const tress_cipher *c, const struct data *iv, const uint8_t *in, uint8_t *out, size_t n) {
  tress_cbc_job job = {c, iv->bytes, iv->length, in, out, n, 0, TRESS_FAULT};
  size_t failed = 7;
  tress_status status = tress_cbc_encrypt_jobs(&job, 1, &failed);
  CHECK(failed == (status != TRESS_OK) && (status == TRESS_OK) == (job.status == TRESS_OK));
  return job.status;
}
static tress_status cbc_decrypt(const tress_cipher *c, const struct data *iv, const uint8_t *in, uint8_t *out, size_t n) {
  return tress_cbc_decrypt(c, iv->bytes, iv->length, in, out, n);
}
static tress_status ctr(const tress_cipher *c, const struct data *iv, const uint8_t *in, uint8_t *out, size_t n) {
  return tress_ctr(c, iv->bytes, iv->length, in, out, n);
}

/* Runs a mode from one buffer to another, and in place. */
static void both_ways(mode run, const tress_cipher *c, const struct data *iv, struct data in, struct data out) {
  CHECK(in.length == out.length);
  uint8_t *other = allocate(in.length), *place = copy_of(in.bytes, in.length);
  OK(run(c, iv, in.bytes, other, in.length));
  CHECK(same(other, out.bytes, out.length));
  OK(run(c, iv, place, place, in.length));
  CHECK(same(place, out.bytes, out.length));
  free(other);
  free(place);
}

/* An output with bytes that no call writes. */
static uint8_t *fresh(size_t length) {
  uint8_t *output = allocate(length);
  memset(output, 0xa5, length);
  return output;
}

/* A forged message leaves zeros. Arguments that are refused leave the output unchanged. */
static void check_failed(const struct expected *e, const uint8_t *output, int in_place) {
  size_t length = e->sealed.length;
  if (e->status == TRESS_AUTHENTICATION)
    CHECK(all_zero(output, length));
  else
    CHECK(in_place ? same(output, e->sealed.bytes, length) : all_are(0xa5, output, length));
}

static void ccm(const tress_cipher *c, const struct expected *e) {
  size_t length = e->sealed.length;
  uint8_t *other = fresh(length), *place = copy_of(e->sealed.bytes, length), *tag = allocate(e->tag.length);
  EXPECT(e->status, tress_ccm_decrypt(c, e->nonce.bytes, e->nonce.length, e->aad.bytes, e->aad.length, e->sealed.bytes, other,
                                      length, e->tag.bytes, e->tag.length));
  EXPECT(e->status, tress_ccm_decrypt(c, e->nonce.bytes, e->nonce.length, e->aad.bytes, e->aad.length, place, place, length,
                                      e->tag.bytes, e->tag.length));
  if (e->status == TRESS_OK) {
    CHECK(same(other, e->message.bytes, length) && same(place, e->message.bytes, length));
    OK(tress_ccm_encrypt(c, e->nonce.bytes, e->nonce.length, e->aad.bytes, e->aad.length, place, place, length, tag,
                         e->tag.length));
    CHECK(same(place, e->sealed.bytes, length) && same(tag, e->tag.bytes, e->tag.length));
  } else {
    check_failed(e, other, 0);
    check_failed(e, place, 1);
  }
  free(other);
  free(place);
  free(tag);
}

/* Adds the message to the batch, with a cipher on the fastest backend. */
static void keep(const char *name, struct data key, struct expected e) {
  if (job_count == job_capacity) {
    job_capacity = 2 * job_capacity + 64;
    jobs = realloc(jobs, job_capacity * sizeof *jobs);
    expected = realloc(expected, job_capacity * sizeof *expected);
    CHECK(jobs != NULL && expected != NULL);
  }
  tress_cipher *c;
  OK(tress_cipher_new(name, key.bytes, key.length, &c));
  tress_ccm_job job = {c,    e.nonce.bytes, e.nonce.length, e.aad.bytes, e.aad.length, NULL,
                       NULL, e.sealed.length, e.tag.bytes,  NULL,        e.tag.length, 0, TRESS_FAULT};
  jobs[job_count] = job;
  expected[job_count++] = e;
}

static void run_lanes(void) {
  size_t forged = 0, failed = 0, valid = 0;
  for (size_t i = 0; i < job_count; i++) {
    forged += expected[i].status != TRESS_OK;
    /* Every second message is in place. */
    jobs[i].output = i % 2 ? fresh(jobs[i].length) : copy_of(expected[i].sealed.bytes, jobs[i].length);
    jobs[i].input = i % 2 ? expected[i].sealed.bytes : jobs[i].output;
  }
  EXPECT(TRESS_JOBS, tress_ccm_decrypt_jobs(jobs, job_count, &failed));
  CHECK(failed == forged && forged > 100);
  for (size_t i = 0; i < job_count; i++) {
    CHECK(jobs[i].status == expected[i].status);
    if (jobs[i].status == TRESS_OK)
      CHECK(same(jobs[i].output, expected[i].message.bytes, jobs[i].length));
    else
      check_failed(&expected[i], jobs[i].output, i % 2 == 0);
  }
  for (size_t i = 0; i < job_count; i++) {
    tress_cipher *c = (tress_cipher *)jobs[i].cipher;
    if (jobs[i].status == TRESS_OK) {
      jobs[valid] = jobs[i];
      jobs[valid].input = jobs[i].output;
      jobs[valid].tag_output = allocate(jobs[i].tag_length);
      expected[valid++] = expected[i];
    } else {
      free(jobs[i].output);
      tress_cipher_free(c);
      free(expected[i].message.bytes), free(expected[i].sealed.bytes), free(expected[i].tag.bytes);
      free(expected[i].nonce.bytes), free(expected[i].aad.bytes);
    }
  }
  OK(tress_ccm_encrypt_jobs(jobs, valid, NULL));
  for (size_t i = 0; i < valid; i++) {
    CHECK(jobs[i].status == TRESS_OK);
    CHECK(same(jobs[i].output, expected[i].sealed.bytes, jobs[i].length));
    CHECK(same(jobs[i].tag_output, expected[i].tag.bytes, jobs[i].tag_length));
    tress_cipher_free((tress_cipher *)jobs[i].cipher);
    free(jobs[i].output), free(jobs[i].tag_output);
    free(expected[i].message.bytes), free(expected[i].sealed.bytes), free(expected[i].tag.bytes);
    free(expected[i].nonce.bytes), free(expected[i].aad.bytes);
  }
  free(jobs);
  free(expected);
  printf("%zu messages in lanes, %zu of them forged\n", job_count, forged);
}

/* Runs one line of a block cipher on every available backend. */
static void cipher_line(char **field) {
  const char *kind = field[0], *name = field[1];
  int has_status = strcmp(kind, "ecb") != 0 && strcmp(kind, "cbc") != 0;
  tress_status status = has_status ? (tress_status)atoi(field[2]) : TRESS_OK;
  char **rest = field + (has_status ? 3 : 2);
  struct data key = parse(rest[0]);
  struct data iv = {NULL, 0}, message, sealed;
  struct expected e = {0};
  if (strcmp(kind, "ccm") == 0) {
    e.status = status;
    e.nonce = parse(rest[1]);
    e.aad = parse(rest[2]);
    e.has_message = strcmp(rest[3], "message") == 0;
    e.message = parse(rest[4]);
    e.sealed = parse(rest[5]);
    e.tag = parse(rest[6]);
  } else {
    int at = 1;
    if (strcmp(kind, "ecb") != 0) iv = parse(rest[at++]);
    message = parse(rest[at]);
    sealed = parse(rest[at + 1]);
  }
  for (size_t b = 0; b < sizeof BACKENDS / sizeof *BACKENDS; b++) {
    tress_cipher *c = NULL;
    tress_status made = tress_cipher_new_with_backend(name, BACKENDS[b], key.bytes, key.length, &c);
    if (made == TRESS_BACKEND_UNAVAILABLE) {
      CHECK(c == NULL);
      continue;
    }
    CHECK(made == TRESS_OK);
    CHECK(strcmp(tress_cipher_backend(c), BACKENDS[b]) == 0 && strcmp(tress_cipher_name(c), name) == 0);
    used[b]++;
    if (strcmp(kind, "ecb") == 0) {
      both_ways(ecb_encrypt, c, &iv, message, sealed);
      both_ways(ecb_decrypt, c, &iv, sealed, message);
    } else if (strcmp(kind, "cbc") == 0) {
      both_ways(cbc_encrypt, c, &iv, message, sealed);
      both_ways(cbc_jobs, c, &iv, message, sealed);
      both_ways(cbc_decrypt, c, &iv, sealed, message);
    } else if (strcmp(kind, "ctr") == 0 && status == TRESS_OK) {
      both_ways(ctr, c, &iv, message, sealed);
      both_ways(ctr, c, &iv, sealed, message);
    } else if (strcmp(kind, "ctr") == 0) {
      uint8_t *out = fresh(message.length);
      EXPECT(status, tress_ctr(c, iv.bytes, iv.length, message.bytes, out, message.length));
      CHECK(all_are(0xa5, out, message.length));
      free(out);
    } else if (strcmp(kind, "pkcs7") == 0) {
      size_t block = tress_cipher_block_bytes(c), length = 0;
      uint8_t *plain = allocate(sealed.length);
      tress_status outcome = tress_cbc_decrypt(c, iv.bytes, iv.length, sealed.bytes, plain, sealed.length);
      if (outcome == TRESS_OK) outcome = tress_pkcs7_unpad(plain, sealed.length, block, &length);
      CHECK(outcome == status);
      if (status == TRESS_OK) {
        size_t padding = tress_pkcs7_padding(message.length, block);
        CHECK(length == message.length && length + padding == sealed.length);
        CHECK(same(plain, message.bytes, length));
        memset(plain + length, (int)padding, padding);
        OK(tress_cbc_encrypt(c, iv.bytes, iv.length, plain, plain, sealed.length));
        CHECK(same(plain, sealed.bytes, sealed.length));
      }
      free(plain);
    } else {
      ccm(c, &e);
    }
    tress_cipher_free(c);
  }
  if (strcmp(kind, "ccm") == 0 && (status == TRESS_OK || status == TRESS_AUTHENTICATION)) {
    keep(name, key, e);
  } else if (strcmp(kind, "ccm") == 0) {
    free(e.message.bytes), free(e.sealed.bytes), free(e.tag.bytes), free(e.nonce.bytes), free(e.aad.bytes);
  } else {
    free(iv.bytes), free(message.bytes), free(sealed.bytes);
  }
  free(key.bytes);
}

/* A message of ChaCha20-Poly1305 as a batch, in both directions. */
static void chacha20poly1305_line(char **field) {
  struct data key = parse(field[3]);
  struct expected e = {(tress_status)atoi(field[2]), parse(field[7]), parse(field[8]), parse(field[9]),
                       parse(field[4]),              parse(field[5]), 1};
  tress_chacha20poly1305 *handle;
  OK(tress_chacha20poly1305_new(key.bytes, key.length, &handle));
  uint8_t *output = fresh(e.sealed.length), *tag = allocate(e.tag.length);
  tress_ccm_job job = {NULL,   e.nonce.bytes,   e.nonce.length, e.aad.bytes, e.aad.length, e.sealed.bytes,
                       output, e.sealed.length, e.tag.bytes,    tag,         e.tag.length, 0, TRESS_FAULT};
  size_t failed = 7;
  EXPECT(e.status == TRESS_OK ? TRESS_OK : TRESS_JOBS, tress_chacha20poly1305_jobs(handle, &job, 1, 0, 1, &failed));
  CHECK(job.status == e.status && failed == (e.status != TRESS_OK));
  if (e.status == TRESS_OK) {
    CHECK(same(output, e.message.bytes, job.length));
    job.input = output;
    OK(tress_chacha20poly1305_jobs(handle, &job, 1, 1, 1, NULL));
    CHECK(same(output, e.sealed.bytes, job.length) && same(tag, e.tag.bytes, job.tag_length));
  } else {
    check_failed(&e, output, 0);
  }
  tress_chacha20poly1305_free(handle);
  free(key.bytes), free(output), free(tag);
  free(e.message.bytes), free(e.sealed.bytes), free(e.tag.bytes), free(e.nonce.bytes), free(e.aad.bytes);
}

static void verify_line(char **field) {
  struct data der = parse(field[3]), message = parse(field[4]), signature = parse(field[5]);
  int valid = strcmp(field[2], "valid") == 0;
  tress_verifying_key *key;
  tress_status read = tress_verifying_key_read(der.bytes, der.length, field[1], &key);
  if (read != TRESS_OK) {
    /* Some tests of NIST have an invalid key. */
    CHECK(read == TRESS_KEY_REFUSED && !valid && key == NULL);
  } else {
    tress_status status = tress_verify(key, message.bytes, message.length, signature.bytes, signature.length);
    CHECK(valid ? status == TRESS_OK : status == TRESS_MISMATCH || status == TRESS_MALFORMED_SIGNATURE);
    uint8_t digest[64];
    tress_verify_job job = {key, digest, 0, signature.bytes, signature.length, 0, TRESS_FAULT};
    OK(tress_digest(field[1], message.bytes, message.length, digest, sizeof digest, &job.digest_length));
    EXPECT(valid ? TRESS_OK : TRESS_JOBS, tress_verify_jobs(&job, 1, NULL));
    CHECK(job.status == status);
    tress_verifying_key_free(key);
  }
  free(der.bytes), free(message.bytes), free(signature.bytes);
}

static void sign_line(char **field) {
  struct data der = parse(field[3]), message = parse(field[4]), signature = parse(field[5]);
  tress_signing_key *key;
  tress_verifying_key *public_key;
  OK(tress_signing_key_read(der.bytes, der.length, NULL, field[1], &key));
  OK(tress_signing_key_public(key, &public_key));
  size_t capacity = tress_signing_key_signature_bytes(key), length = 0;
  uint8_t *made = allocate(capacity);
  OK(tress_sign(key, message.bytes, message.length, made, capacity, &length));
  CHECK(length <= capacity);
  OK(tress_verify(public_key, message.bytes, message.length, made, length));
  int is_same = length == signature.length && same(made, signature.bytes, length);
  CHECK(strcmp(field[2], "same") == 0 ? is_same : strcmp(field[2], "new") != 0 || !is_same);
  free(made);
  tress_verifying_key_free(public_key);
  tress_signing_key_free(key);
  free(der.bytes), free(message.bytes), free(signature.bytes);
}

static struct data read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  struct data data = {NULL, (size_t)ftell(file)};
  data.bytes = allocate(data.length);
  rewind(file);
  CHECK(fread(data.bytes, 1, data.length, file) == data.length);
  fclose(file);
  return data;
}

static int read_at(void *context, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length) {
  const struct data *data = context;
  if (offset > data->length) return 1;
  *length = data->length - offset < capacity ? data->length - (size_t)offset : capacity;
  memcpy(buffer, data->bytes + offset, *length);
  return 0;
}

static void check_plain(char **field, const uint8_t *plain, size_t length) {
  CHECK(length == (size_t)atol(field[6]));
  uint8_t digest[32];
  size_t digest_length;
  OK(tress_digest("schnorr-sha256", plain, length, digest, sizeof digest, &digest_length));
  struct data expected_digest = parse(field[7]);
  CHECK(digest_length == 32 && expected_digest.length == 32 && same(digest, expected_digest.bytes, 32));
  free(expected_digest.bytes);
}

static void check_name(char **field, const char *name, int is_tree) {
  struct data expected_name = parse(field[9]);
  CHECK(is_tree == (strcmp(field[8], "tree") == 0));
  if (name == NULL)
    CHECK(expected_name.length == 0);
  else
    CHECK(strlen(name) == expected_name.length && same((const uint8_t *)name, expected_name.bytes, expected_name.length));
  free(expected_name.bytes);
}

/* Opens a container with work factor 10 under limits of 9, 10 and 11. */
static void check_work_factor_limits(struct data container, const char *passphrase) {
  for (uint8_t bound = 9; bound <= 11; bound++) {
    tress_identities *identities = tress_identities_new();
    tress_buffer *plain;
    OK(tress_identities_add_passphrase_up_to(identities, passphrase, bound));
    EXPECT(bound < 10 ? TRESS_WORK_FACTOR : TRESS_OK,
           tress_decrypt(container.bytes, container.length, identities, 1, &plain));
    tress_buffer_free(plain);
    tress_identities_free(identities);
  }
}

/* Opens a container in memory, as a stream, and with random access. */
static void container_line(char **field) {
  struct data container = read_file(field[1]), secret = parse(field[3]);
  tress_status status = (tress_status)atoi(field[4]);
  tress_identities *identities = tress_identities_new();
  secret.bytes = realloc(secret.bytes, secret.length + 1);
  CHECK(identities != NULL && secret.bytes != NULL);
  secret.bytes[secret.length] = 0;
  if (strcmp(field[2], "passphrase") == 0)
    OK(tress_identities_add_passphrase(identities, (char *)secret.bytes));
  else if (strcmp(field[2], "raw-key") == 0)
    OK(tress_identities_add_key(identities, secret.bytes, secret.length));
  else
    OK(tress_identities_add(identities, secret.bytes, secret.length, NULL));

  tress_buffer *plain;
  EXPECT(status, tress_decrypt(container.bytes, container.length, identities, 1, &plain));
  if (status == TRESS_OK) {
    check_plain(field, tress_buffer_data(plain), tress_buffer_length(plain));
  } else {
    CHECK(plain == NULL);
    if (status == TRESS_CHUNK_DAMAGED) {
      char text[40];
      snprintf(text, sizeof text, "chunk %s is damaged", field[5]);
      CHECK(strncmp(tress_last_error(), text, strlen(text)) == 0);
    }
  }
  tress_buffer_free(plain);
  if (status == TRESS_OK && strcmp(field[2], "passphrase") == 0)
    check_work_factor_limits(container, (char *)secret.bytes);

  for (size_t piece = 1000; piece < 100000; piece *= 90) {
    struct bytes written = {NULL, 0, 0};
    tress_decryptor *decryptor;
    OK(tress_decryptor_new(identities, 2, append, &written, &decryptor));
    CHECK(tress_decryptor_is_tree(decryptor) == -1 && tress_decryptor_name(decryptor) == NULL);
    tress_status outcome = TRESS_OK;
    for (size_t at = 0; at < container.length && outcome == TRESS_OK; at += piece)
      outcome = tress_decryptor_push(decryptor, container.bytes + at,
                                     container.length - at < piece ? container.length - at : piece);
    if (outcome == TRESS_OK) {
      if (status == TRESS_OK) check_name(field, tress_decryptor_name(decryptor), tress_decryptor_is_tree(decryptor));
      outcome = tress_decryptor_finish(decryptor);
    }
    CHECK(outcome == status);
    if (status == TRESS_OK) check_plain(field, written.data, written.length);
    EXPECT(TRESS_STATE, tress_decryptor_finish(decryptor));
    EXPECT(TRESS_STATE, tress_decryptor_push(decryptor, container.bytes, 1));
    tress_decryptor_free(decryptor);
    free(written.data);
    /* Each attempt takes about a second. */
    if (strcmp(field[2], "passphrase") == 0) break;
  }

  if (strcmp(field[2], "passphrase") != 0) {
    tress_source source = {read_at, &container, container.length, 0};
    tress_reader *reader;
    tress_status outcome = tress_reader_open(&source, identities, 1, &reader);
    if (outcome == TRESS_OK) {
      size_t length = (size_t)tress_reader_length(reader), got;
      if (status == TRESS_OK) {
        /* Reads from the end to the beginning. */
        uint8_t *all = allocate(length);
        for (size_t at = length / 5000 + 1; at-- > 0;) {
          size_t wanted = length - 5000 * at < 5000 ? length - 5000 * at : 5000;
          OK(tress_reader_read_at(reader, 5000 * at, all + 5000 * at, wanted, &got));
          CHECK(got == wanted);
        }
        check_plain(field, all, length);
        check_name(field, tress_reader_name(reader), tress_reader_is_tree(reader));
        OK(tress_reader_read_at(reader, UINT64_MAX, all, length ? 1 : 0, &got));
        CHECK(got == 0);
        free(all);
      } else {
        uint8_t *all = allocate(length);
        memset(all, 1, length);
        outcome = tress_reader_read_at(reader, 0, all, length, &got);
        CHECK(outcome == status && got == 0 && all_zero(all, length));
        free(all);
      }
    } else {
      CHECK(status != TRESS_OK && reader == NULL);
    }
    tress_reader_free(reader);
  }
  tress_identities_free(identities);
  free(container.bytes), free(secret.bytes);
}

int main(void) {
  size_t lines = 0, files = 0, left = 0, capacity = 1 << 20;
  char *line = malloc(capacity);
  CHECK(line != NULL);
  for (;;) {
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
      if (length + 1 == capacity) CHECK((line = realloc(line, capacity *= 2)) != NULL);
      line[length++] = (char)c;
    }
    if (length == 0) break;
    line[length] = 0;
    char *field[FIELDS] = {0};
    size_t fields = 0;
    for (char *part = strtok(line, " "); part != NULL; part = strtok(NULL, " ")) {
      CHECK(fields < FIELDS);
      field[fields++] = part;
    }
    if (strcmp(field[0], "file") == 0) {
      CHECK(left == 0);
      files++;
      left = (size_t)atol(field[2]);
      CHECK(left > 0);
      continue;
    }
    CHECK(left-- > 0);
    lines++;
    if (strcmp(field[0], "verify") == 0)
      verify_line(field);
    else if (strcmp(field[0], "sign") == 0)
      sign_line(field);
    else if (strcmp(field[0], "chacha20poly1305") == 0)
      chacha20poly1305_line(field);
    else if (strcmp(field[0], "container") == 0)
      container_line(field);
    else
      cipher_line(field);
  }
  free(line);
  CHECK(left == 0 && files > 50 && lines > 10000);
  run_lanes();
  printf("%zu answers of %zu files; on backends:", lines, files);
  for (size_t b = 0; b < sizeof BACKENDS / sizeof *BACKENDS; b++)
    if (used[b]) printf(" %s %zu", BACKENDS[b], used[b]);
  printf("\n");
  return 0;
}
