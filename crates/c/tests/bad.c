/* Wrong use and wrong input: every case returns its status, writes nothing and does not crash. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include <tress.h>

/* All processes have this number, as some have in other namespaces: nothing may depend on it. */
pid_t getpid(void) { return 42; }

static const uint8_t KEY[32] = {1, 2, 3};
static const uint8_t NONCE[16] = {4, 5, 6};
static uint8_t data[64], tag[16];

static tress_cipher *cipher(const char *name, size_t key_length) {
  tress_cipher *c;
  OK(tress_cipher_new(name, KEY, key_length, &c));
  return c;
}

static void ciphers(void) {
  tress_cipher *c = (tress_cipher *)data;
  EXPECT(TRESS_NULL, tress_cipher_new("aes-128", KEY, 16, NULL));
  EXPECT(TRESS_NULL, tress_cipher_new(NULL, KEY, 16, &c));
  CHECK(c == NULL);
  EXPECT(TRESS_NULL, tress_cipher_new("aes-128", NULL, 16, &c));
  EXPECT(TRESS_KEY_LENGTH, tress_cipher_new("aes-128", NULL, 0, &c));
  EXPECT(TRESS_KEY_LENGTH, tress_cipher_new("aes-128", KEY, 15, &c));
  EXPECT(TRESS_KEY_LENGTH, tress_cipher_new("aes-128", KEY, 24, &c));
  EXPECT(TRESS_LENGTH, tress_cipher_new("aes-128", KEY, SIZE_MAX, &c));
  static const char *const names[] = {"", "aes", "aes-129", "AES-128", "aes-128-cbc", "aes-128 ", "rijndael-128", "\xff\xfe"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    EXPECT(i == 7 ? TRESS_TEXT : TRESS_UNKNOWN_NAME, tress_cipher_new(names[i], KEY, 16, &c));
  EXPECT(TRESS_UNKNOWN_NAME, tress_cipher_new_with_backend("aes-128", "best", KEY, 16, &c));
  EXPECT(TRESS_BACKEND_UNAVAILABLE, tress_cipher_new_with_backend("pipo-128", "aesni", KEY, 16, &c));
  CHECK(c == NULL && strlen(tress_last_error()) > 0);
  size_t count = 0;
  while (tress_cipher_name_at(count)) count++;
  CHECK(count == 36 && tress_cipher_name_at(SIZE_MAX) == NULL);
  CHECK(tress_cipher_block_bytes(NULL) == 0 && tress_cipher_name(NULL) == NULL && tress_cipher_backend(NULL) == NULL);
  tress_cipher_free(NULL);
}

/* Expects a refusal that leaves the output as it was, because arguments are checked first. Only a forged message is wiped. */
#define REFUSED(expected, call)                                                      \
  do {                                                                               \
    memset(data, 9, sizeof data);                                                    \
    memset(out, 0x5a, sizeof out);                                                   \
    EXPECT(expected, call);                                                          \
    CHECK(all_are((expected) == TRESS_AUTHENTICATION ? 0 : 0x5a, out, sizeof out));  \
  } while (0)

/* A length that is too long for its nonce or counter is refused before a byte is read or written: these buffers are shorter. */
static void too_long(void) {
  tress_cipher *aes = cipher("aes-128", 16), *pipo = cipher("pipo-128", 16);
  static uint8_t out[64];
  REFUSED(TRESS_MESSAGE_TOO_LONG, tress_ccm_encrypt(aes, NONCE, 13, NULL, 0, data, out, 1 << 16, tag, 16));
  REFUSED(TRESS_MESSAGE_TOO_LONG, tress_ccm_decrypt(aes, NONCE, 12, NULL, 0, data, out, 1 << 24, tag, 16));
  REFUSED(TRESS_MESSAGE_TOO_LONG, tress_ccm_encrypt(aes, NONCE, 11, NULL, 0, data, out, PTRDIFF_MAX, tag, 16));
  REFUSED(TRESS_COUNTER_EXHAUSTED, tress_ctr(pipo, NONCE, 8, data, out, PTRDIFF_MAX));
  REFUSED(TRESS_DATA_LENGTH, tress_ecb_decrypt(aes, data, out, PTRDIFF_MAX));
  REFUSED(TRESS_IV_LENGTH, tress_cbc_encrypt(aes, NONCE, 8, data, out, PTRDIFF_MAX));
  for (int encrypt = 0; encrypt < 2; encrypt++) {
    tress_ccm_job job = {aes, NONCE, 13, NULL, 0, data, out, PTRDIFF_MAX, tag, tag, 16, 0, TRESS_FAULT};
    REFUSED(TRESS_JOBS, encrypt ? tress_ccm_encrypt_jobs(&job, 1, NULL) : tress_ccm_decrypt_jobs(&job, 1, NULL));
    CHECK(job.status == TRESS_MESSAGE_TOO_LONG);
  }
  tress_cbc_job chain = {aes, NONCE, 16, data, out, PTRDIFF_MAX, 0, TRESS_FAULT};
  REFUSED(TRESS_JOBS, tress_cbc_encrypt_jobs(&chain, 1, NULL));
  CHECK(chain.status == TRESS_DATA_LENGTH);
  tress_cipher_free(aes), tress_cipher_free(pipo);
}

/* Keys in the program's memory, at any alignment: refused before and after their use, and where they were copied to. */
static void in_memory(void) {
  const size_t bytes = tress_cipher_bytes();
  uint8_t *memory = allocate(bytes + 7), *copy = allocate(bytes + 7), out[64], expected[64];
  tress_cipher *owned = cipher("aes-128", 16), *c = owned;
  memset(memory, 0x5a, bytes + 7);
  EXPECT(TRESS_LENGTH, tress_cipher_init(memory, bytes - 1, "aes-128", KEY, 16, &c));
  CHECK(c == NULL);
  EXPECT(TRESS_NULL, tress_cipher_init(NULL, 0, "aes-128", KEY, 16, &c));
  EXPECT(TRESS_NULL, tress_cipher_init(memory, bytes, "aes-128", KEY, 16, NULL));
  EXPECT(TRESS_KEY_LENGTH, tress_cipher_init(memory, bytes, "aes-128", KEY, 15, &c));
  EXPECT(TRESS_UNKNOWN_NAME, tress_cipher_init(memory, bytes, "aes", KEY, 16, &c));
  CHECK(c == NULL && all_are(0x5a, memory, bytes + 7));
  for (size_t at = 0; at < 8; at++) EXPECT(TRESS_STATE, tress_ctr((tress_cipher *)(memory + at), NONCE, 16, data, out, 64));
  OK(tress_ctr(owned, NONCE, 16, data, expected, 64));
  for (size_t at = 0; at < 8; at++) {
    OK(tress_cipher_init(memory + at, bytes, "aes-128", KEY, 16, &c));
    CHECK((uint8_t *)c >= memory + at && strcmp(tress_cipher_name(c), "aes-128") == 0);
    OK(tress_ctr(c, NONCE, 16, data, out, 64));
    CHECK(same(out, expected, 64));
    tress_ccm_job job = {c, NONCE, 13, NULL, 0, data, out, 64, tag, tag, 8, 0, TRESS_FAULT};
    tress_cbc_job chain = {c, NONCE, 16, data, out, 64, 0, TRESS_FAULT};
    OK(tress_ccm_encrypt_jobs(&job, 1, NULL));
    memcpy(copy, memory, bytes + 7);
    EXPECT(TRESS_STATE, tress_ctr((tress_cipher *)(copy + ((uint8_t *)c - memory)), NONCE, 16, data, out, 64));
    at % 2 ? tress_cipher_wipe(c) : tress_cipher_free(c);
    EXPECT(TRESS_STATE, tress_ctr(c, NONCE, 16, data, out, 64));
    EXPECT(TRESS_STATE, tress_ccm_encrypt(c, NONCE, 12, NULL, 0, data, out, 16, tag, 16));
    EXPECT(TRESS_JOBS, tress_ccm_encrypt_jobs(&job, 1, NULL));
    EXPECT(TRESS_JOBS, tress_cbc_encrypt_jobs(&chain, 1, NULL));
    CHECK(job.status == TRESS_STATE && chain.status == TRESS_STATE);
    CHECK(tress_cipher_block_bytes(c) == 0 && tress_cipher_name(c) == NULL && tress_cipher_backend(c) == NULL);
    tress_cipher_wipe(c), tress_cipher_free(c);
  }
  tress_cipher_wipe(owned), tress_cipher_wipe(NULL);
  OK(tress_ctr(owned, NONCE, 16, data, out, 64));
  tress_cipher_free(owned), free(memory), free(copy);
}

static void modes(void) {
  tress_cipher *aes = cipher("aes-128", 16), *pipo = cipher("pipo-128", 16), *wide = cipher("rijndael-256-128", 16);
  uint8_t out[64];
  REFUSED(TRESS_NULL, tress_ecb_encrypt(NULL, data, out, 16));
  REFUSED(TRESS_NULL, tress_ecb_encrypt(aes, NULL, out, 16));
  REFUSED(TRESS_NULL, tress_ecb_decrypt(aes, data, NULL, 16));
  REFUSED(TRESS_LENGTH, tress_ecb_encrypt(aes, data, out, SIZE_MAX));
  REFUSED(TRESS_LENGTH, tress_ecb_encrypt(aes, data, out, (size_t)PTRDIFF_MAX + 1));
  REFUSED(TRESS_DATA_LENGTH, tress_ecb_encrypt(aes, data, out, 15));
  REFUSED(TRESS_DATA_LENGTH, tress_cbc_decrypt(aes, NONCE, 16, data, out, 17));
  REFUSED(TRESS_IV_LENGTH, tress_cbc_encrypt(aes, NONCE, 15, data, out, 16));
  REFUSED(TRESS_IV_LENGTH, tress_cbc_encrypt(wide, NONCE, 16, data, out, 32));
  REFUSED(TRESS_NULL, tress_cbc_encrypt(aes, NULL, 16, data, out, 16));
  REFUSED(TRESS_IV_LENGTH, tress_ctr(aes, NONCE, 0, data, out, 16));
  static const uint8_t last[8] = {0, 0, 0, 0, 0, 0, 0xff, 0xff};
  REFUSED(TRESS_COUNTER_EXHAUSTED, tress_ctr(pipo, last, 8, data, out, 9));
  REFUSED(TRESS_NO_CCM, tress_ccm_encrypt(pipo, NONCE, 12, NULL, 0, data, out, 16, tag, 16));
  REFUSED(TRESS_NO_CCM, tress_ccm_decrypt(wide, NONCE, 12, NULL, 0, data, out, 16, tag, 16));
  for (size_t nonce = 0; nonce <= 16; nonce++)
    for (size_t length = 0; length <= 16; length++) {
      int good = nonce >= 7 && nonce <= 13, good_tag = length >= 4 && length % 2 == 0;
      if (good && good_tag) continue;
      REFUSED(good ? TRESS_TAG_LENGTH : TRESS_NONCE_LENGTH,
              tress_ccm_encrypt(aes, NONCE, nonce, NULL, 0, data, out, 64, tag, length));
    }
  REFUSED(TRESS_NULL, tress_ccm_encrypt(aes, NONCE, 12, NULL, 1, data, out, 16, tag, 16));
  REFUSED(TRESS_NULL, tress_ccm_encrypt(aes, NONCE, 12, NULL, 0, data, out, 16, NULL, 16));
  REFUSED(TRESS_LENGTH, tress_ccm_encrypt(aes, NONCE, 12, NONCE, SIZE_MAX, data, out, 16, tag, 16));
  REFUSED(TRESS_LENGTH, tress_ccm_encrypt(aes, NONCE, SIZE_MAX, NULL, 0, data, out, 16, tag, 16));
  REFUSED(TRESS_LENGTH, tress_ccm_encrypt(aes, NONCE, 12, NULL, 0, data, out, 16, tag, SIZE_MAX));
  memset(tag, 0, sizeof tag);
  REFUSED(TRESS_AUTHENTICATION, tress_ccm_decrypt(aes, NONCE, 12, NULL, 0, data, out, 64, tag, 16));
  /* The empty message is valid. */
  OK(tress_ccm_encrypt(aes, NONCE, 12, NULL, 0, NULL, NULL, 0, tag, 16));
  OK(tress_ccm_decrypt(aes, NONCE, 12, NULL, 0, NULL, NULL, 0, tag, 16));
  tag[15] ^= 1;
  EXPECT(TRESS_AUTHENTICATION, tress_ccm_decrypt(aes, NONCE, 12, NULL, 0, NULL, NULL, 0, tag, 16));
  OK(tress_ctr(aes, NONCE, 16, NULL, NULL, 0));
  OK(tress_ecb_encrypt(aes, NULL, NULL, 0));

  /* Input and output may overlap in either direction. */
  uint64_t state = 1;
  for (size_t shift = 0; shift < 16; shift++) {
    uint8_t apart[48], together[48];
    fill(&state, together, sizeof together);
    OK(tress_ctr(aes, NONCE, 16, together, apart, 32));
    OK(tress_ctr(aes, NONCE, 16, together, together + shift, 32));
    CHECK(same(apart, together + shift, 32));
    OK(tress_ctr(aes, NONCE, 16, together + shift, apart, 32));
    OK(tress_ctr(aes, NONCE, 16, together + shift, together, 32));
    CHECK(same(apart, together, 32));
  }
  CHECK(tress_pkcs7_padding(3, 0) == 0 && tress_pkcs7_padding(3, 256) == 0 && tress_pkcs7_padding(SIZE_MAX, 16) == 1);
  size_t length;
  EXPECT(TRESS_ARGUMENT, tress_pkcs7_unpad(data, 16, 0, &length));
  EXPECT(TRESS_DATA_LENGTH, tress_pkcs7_unpad(data, 0, 16, &length));
  EXPECT(TRESS_NULL, tress_pkcs7_unpad(data, 16, 16, NULL));
  EXPECT(TRESS_PADDING, tress_pkcs7_unpad(out, 16, 16, &length));
  tress_cipher_free(aes), tress_cipher_free(pipo), tress_cipher_free(wide);
}

static void jobs(void) {
  size_t failed = 77;
  tress_ccm_job one;
  EXPECT(TRESS_NULL, tress_ccm_encrypt_jobs(NULL, 1, &failed));
  EXPECT(TRESS_LENGTH, tress_ccm_encrypt_jobs(&one, SIZE_MAX, &failed));
  EXPECT(TRESS_LENGTH, tress_ccm_encrypt_jobs(&one, SIZE_MAX / sizeof one, &failed));
  OK(tress_ccm_encrypt_jobs(NULL, 0, &failed));
  CHECK(failed == 0);
  OK(tress_ccm_decrypt_jobs(NULL, 0, NULL));
  EXPECT(TRESS_NULL, tress_ccm_encrypt_jobs_threads(NULL, 1, 2, &failed));
  EXPECT(TRESS_LENGTH, tress_ccm_decrypt_jobs_threads(&one, SIZE_MAX, 2, &failed));
  EXPECT(TRESS_ARGUMENT, tress_ccm_encrypt_jobs_threads(&one, 1, 1025, &failed));
  OK(tress_ccm_encrypt_jobs_threads(NULL, 0, 0, &failed));

  /* Every way to fail, in a batch with good jobs of two types of cipher, which must not be affected. */
  tress_cipher *aes = cipher("aes-256", 32), *rc6 = cipher("rc6-128", 16), *pipo = cipher("pipo-256", 32);
  enum { GOOD = 8, COUNT = GOOD + 10 };
  uint8_t plain[COUNT][40], sealed[COUNT][40], tags[COUNT][16], nonces[COUNT][14];
  tress_ccm_job all[COUNT];
  uint64_t state = 2;
  fill(&state, plain[0], sizeof plain);
  memset(sealed, 0x5a, sizeof sealed);
  memset(nonces, 9, sizeof nonces);
  memset(all, 0xa5, sizeof all);
  for (int i = 0; i < COUNT; i++) {
    nonces[i][0] = (uint8_t)i;
    tress_ccm_job job = {i % 2 ? aes : rc6, nonces[i], 12, KEY, 5, plain[i], sealed[i], 40, NULL, tags[i], 16, 0, TRESS_FAULT};
    all[i] = job;
    memset(&all[i].status, 0xa5, sizeof all[i].status);
  }
  all[8].cipher = NULL;
  all[9].cipher = pipo;
  all[10].nonce_length = 14;
  all[11].tag_length = 5;
  all[12].tag_output = NULL;
  all[13].input = NULL;
  all[14].length = SIZE_MAX;
  all[15].aad = NULL;
  all[16].reserved = 1;
  all[17].nonce = NULL;
  static const tress_status want[] = {TRESS_NULL, TRESS_NO_CCM, TRESS_NONCE_LENGTH, TRESS_TAG_LENGTH,
                                      TRESS_NULL, TRESS_NULL,   TRESS_LENGTH,       TRESS_NULL,
                                      TRESS_ARGUMENT, TRESS_NULL};
  for (int threads = 0; threads < 4; threads++) {
    EXPECT(TRESS_JOBS, threads ? tress_ccm_encrypt_jobs_threads(all, COUNT, (size_t)threads, &failed)
                               : tress_ccm_encrypt_jobs(all, COUNT, &failed));
    CHECK(failed == 10);
    for (int i = 0; i < COUNT; i++) {
      CHECK(all[i].status == (i < GOOD ? TRESS_OK : want[i - GOOD]));
      if (i >= GOOD) CHECK(all_are(0x5a, sealed[i], 40));
    }
  }
  /* A repeated nonce under one key: no job is encrypted, good ones included. */
  nonces[7][0] = 3;
  for (int threads = 0; threads < 4; threads++) {
    memset(sealed[0], 0, 40);
    EXPECT(TRESS_NONCE_REPEATED, threads ? tress_ccm_encrypt_jobs_threads(all, COUNT, (size_t)threads, &failed)
                                         : tress_ccm_encrypt_jobs(all, COUNT, &failed));
    CHECK(failed == COUNT && all_zero(sealed[0], 40));
    for (int i = 0; i < COUNT; i++) CHECK(all[i].status == TRESS_NONCE_REPEATED);
  }
  nonces[7][0] = 7;
  OK(tress_ccm_encrypt_jobs(all, GOOD, &failed));
  /* Jobs for decryption have no tag_output, so tress_ccm_encrypt_jobs refuses them. */
  uint8_t opened[GOOD][40];
  for (int i = 0; i < GOOD; i++) {
    all[i].input = sealed[i], all[i].output = opened[i];
    all[i].tag = tags[i], all[i].tag_output = NULL;
  }
  EXPECT(TRESS_JOBS, tress_ccm_encrypt_jobs(all, GOOD, &failed));
  CHECK(failed == GOOD && all[0].status == TRESS_NULL);
  /* One forged job among good ones. */
  sealed[3][7] ^= 1;
  EXPECT(TRESS_JOBS, tress_ccm_decrypt_jobs(all, GOOD, &failed));
  CHECK(failed == 1);
  for (int i = 0; i < GOOD; i++) {
    CHECK(all[i].status == (i == 3 ? TRESS_AUTHENTICATION : TRESS_OK));
    CHECK(i == 3 ? all_zero(opened[i], 40) : same(opened[i], plain[i], 40));
  }
  tress_cbc_job chain[3] = {{pipo, NONCE, 8, plain[0], opened[0], 40, 0, TRESS_FAULT},
                            {aes, NONCE, 16, plain[0], opened[1], 40, 0, TRESS_FAULT},
                            {NULL, NONCE, 16, plain[0], opened[2], 40, 0, TRESS_FAULT}};
  memset(opened[1], 0x5a, 40);
  EXPECT(TRESS_JOBS, tress_cbc_encrypt_jobs(chain, 3, &failed));
  CHECK(failed == 2 && chain[0].status == TRESS_OK && chain[1].status == TRESS_DATA_LENGTH && chain[2].status == TRESS_NULL);
  CHECK(all_are(0x5a, opened[1], 40));
  tress_cipher_free(aes), tress_cipher_free(rc6), tress_cipher_free(pipo);
}

/* ChaCha20-Poly1305: wrong keys, and good jobs with every way to fail. vectors.c has the known answers. */
static void chacha20poly1305(void) {
  tress_chacha20poly1305 *aead = (tress_chacha20poly1305 *)data;
  EXPECT(TRESS_NULL, tress_chacha20poly1305_new(KEY, 32, NULL));
  EXPECT(TRESS_NULL, tress_chacha20poly1305_new(NULL, 32, &aead));
  CHECK(aead == NULL);
  for (size_t length = 0; length <= sizeof data; length++)
    if (length != 32) EXPECT(TRESS_KEY_LENGTH, tress_chacha20poly1305_new(data, length, &aead));
  EXPECT(TRESS_LENGTH, tress_chacha20poly1305_new(KEY, SIZE_MAX, &aead));
  tress_chacha20poly1305_free(NULL);
  OK(tress_chacha20poly1305_new(KEY, 32, &aead));

  enum { GOOD = 4, COUNT = GOOD + 6, LENGTH = 100 };
  static uint8_t plain[COUNT][LENGTH], sealed[COUNT][LENGTH], tags[COUNT][16], nonces[COUNT][13];
  tress_ccm_job all[COUNT];
  memset(sealed, 0x5a, sizeof sealed);
  for (int i = 0; i < COUNT; i++) {
    nonces[i][0] = (uint8_t)i;
    tress_ccm_job job = {NULL, nonces[i], 12, KEY, 5, plain[i], sealed[i], LENGTH, tags[i], tags[i], 16, 0, TRESS_FAULT};
    all[i] = job;
  }
  size_t failed = 77;
  EXPECT(TRESS_NULL, tress_chacha20poly1305_jobs(NULL, all, 1, 1, 1, &failed));
  EXPECT(TRESS_NULL, tress_chacha20poly1305_jobs(aead, NULL, 1, 1, 1, &failed));
  EXPECT(TRESS_LENGTH, tress_chacha20poly1305_jobs(aead, all, SIZE_MAX, 0, 1, &failed));
  EXPECT(TRESS_ARGUMENT, tress_chacha20poly1305_jobs(aead, all, 1, 1, 1025, &failed));
  OK(tress_chacha20poly1305_jobs(aead, NULL, 0, 1, 0, &failed));
  all[GOOD].nonce_length = 13;
  all[GOOD + 1].tag_length = 8;
  all[GOOD + 2].input = NULL;
  all[GOOD + 3].length = SIZE_MAX;
  all[GOOD + 4].reserved = 1;
  /* No repeated nonce: it has a wrong length. */
  all[GOOD + 5].nonce = nonces[GOOD];
  all[GOOD + 5].nonce_length = 13;
  static const tress_status want[] = {TRESS_NONCE_LENGTH, TRESS_TAG_LENGTH, TRESS_NULL, TRESS_LENGTH, TRESS_ARGUMENT, TRESS_NONCE_LENGTH};
  for (size_t threads = 0; threads < 3; threads++) {
    EXPECT(TRESS_JOBS, tress_chacha20poly1305_jobs(aead, all, COUNT, 1, threads, &failed));
    CHECK(failed == COUNT - GOOD);
    for (int i = 0; i < COUNT; i++) {
      CHECK(all[i].status == (i < GOOD ? TRESS_OK : want[i - GOOD]));
      if (i >= GOOD) CHECK(all_are(0x5a, sealed[i], LENGTH));
    }
  }
  /* A repeated nonce: nothing is encrypted. Then one forged job among good ones. */
  all[1].nonce = nonces[3];
  memset(sealed[0], 0, LENGTH);
  EXPECT(TRESS_NONCE_REPEATED, tress_chacha20poly1305_jobs(aead, all, GOOD, 1, 1, &failed));
  CHECK(failed == GOOD && all_zero(sealed[0], LENGTH) && all[2].status == TRESS_NONCE_REPEATED);
  all[1].nonce = nonces[1];
  OK(tress_chacha20poly1305_jobs(aead, all, GOOD, 1, 1, &failed));
  for (int i = 0; i < GOOD; i++) all[i].input = sealed[i];
  sealed[2][7] ^= 1;
  EXPECT(TRESS_JOBS, tress_chacha20poly1305_jobs(aead, all, GOOD, 0, 1, &failed));
  CHECK(failed == 1);
  for (int i = 0; i < GOOD; i++) CHECK(all[i].status == (i == 2 ? TRESS_AUTHENTICATION : TRESS_OK) && all_zero(sealed[i], LENGTH));
  tress_chacha20poly1305_free(aead);
}

static void keys(void) {
  tress_recipients *recipients = tress_recipients_new();
  tress_identities *identities = tress_identities_new();
  tress_keypair *pair;
  OK(tress_keypair_generate(&pair));
  EXPECT(TRESS_NULL, tress_keypair_generate(NULL));
  EXPECT(TRESS_NULL, tress_recipients_add(NULL, "age1"));
  EXPECT(TRESS_NULL, tress_recipients_add(recipients, NULL));
  EXPECT(TRESS_BAD_RECIPIENT, tress_recipients_add(recipients, "age1qqqq"));
  /* The error message does not repeat an identity that was passed as a recipient. */
  EXPECT(TRESS_BAD_RECIPIENT, tress_recipients_add(recipients, strstr(tress_keypair_identity(pair), "AGE-SECRET")));
  CHECK(strstr(tress_last_error(), "AGE-SECRET") == NULL);
  EXPECT(TRESS_NO_RECIPIENTS, tress_recipients_add(recipients, "# nobody\n"));
  EXPECT(TRESS_BAD_PASSPHRASE, tress_recipients_add_passphrase(recipients, ""));
  for (size_t length = 0; length < 40; length++)
    if (length != 16 && length != 32) {
      EXPECT(TRESS_RAW_KEY_LENGTH, tress_recipients_add_key(recipients, data, length));
      EXPECT(TRESS_RAW_KEY_LENGTH, tress_identities_add_key(identities, data, length));
    }
  EXPECT(TRESS_LENGTH, tress_recipients_add_key(recipients, data, SIZE_MAX));
  EXPECT(TRESS_BAD_IDENTITY, tress_identities_add(identities, (const uint8_t *)"AGE-SECRET-KEY-1", 16, NULL));
  EXPECT(TRESS_BAD_IDENTITY, tress_identities_add(identities, NULL, 0, NULL));
  EXPECT(TRESS_BAD_PASSPHRASE, tress_identities_add_passphrase(identities, ""));
  EXPECT(TRESS_BAD_PASSPHRASE, tress_identities_add_passphrase_up_to(identities, "", 18));
  EXPECT(TRESS_WORK_FACTOR, tress_identities_add_passphrase_up_to(identities, "p", 0));
  EXPECT(TRESS_WORK_FACTOR, tress_identities_add_passphrase_up_to(identities, "p", 23));
  tress_keypair *none = pair;
  EXPECT(TRESS_BAD_IDENTITY, tress_keypair_parse("nothing", &none));
  CHECK(none == NULL);
  /* The library accepts the recipient, address and identity that it generated. */
  OK(tress_recipients_add(recipients, tress_keypair_recipient(pair)));
  OK(tress_recipients_add(recipients, tress_keypair_address(pair)));
  OK(tress_keypair_parse(tress_keypair_identity(pair), &none));
  CHECK(strcmp(tress_keypair_recipient(pair), tress_keypair_recipient(none)) == 0);
  tress_keypair_free(none);

  tress_buffer *buffer = (tress_buffer *)data;
  tress_recipients *nobody = tress_recipients_new();
  EXPECT(TRESS_NO_RECIPIENTS, tress_encrypt(data, 1, nobody, NULL, &buffer));
  CHECK(buffer == NULL);
  OK(tress_recipients_add_passphrase(nobody, "p"));
  OK(tress_recipients_add_key(nobody, data, 16));
  EXPECT(TRESS_MIXED_RECIPIENTS, tress_encrypt(data, 1, nobody, NULL, &buffer));
  EXPECT(TRESS_NULL, tress_recipients_add_cobblestone_key(nobody, NULL, data, 16, NULL, 0));
  EXPECT(TRESS_NULL, tress_identities_add_cobblestone_key(NULL, "cobblestone-128", data, 16, NULL, 0));
  EXPECT(TRESS_NULL, tress_identities_add_cobblestone_key(identities, "cobblestone-128", data, 16, NULL, 1));
  EXPECT(TRESS_UNKNOWN_NAME, tress_recipients_add_cobblestone_key(nobody, "cobblestone", data, 16, NULL, 0));
  EXPECT(TRESS_ARGUMENT, tress_recipients_add_cobblestone_key(nobody, "age", data, 16, NULL, 0));
  EXPECT(TRESS_RAW_KEY_LENGTH, tress_recipients_add_cobblestone_key(nobody, "cobblestone-128", data, 32, NULL, 0));
  EXPECT(TRESS_RAW_KEY_LENGTH, tress_identities_add_cobblestone_key(identities, "cobblestone-256", data, 16, NULL, 0));
  tress_recipients_free(nobody);

  tress_options options = {0};
  options.reserved[1] = 1;
  EXPECT(TRESS_ARGUMENT, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.reserved[1] = 0;
  options.format = "pgp";
  EXPECT(TRESS_UNKNOWN_NAME, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.format = "cobblestone-128"; /* Takes no recipients. */
  EXPECT(TRESS_ARGUMENT, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.format = "age";
  options.armor = 1; /* Only files have one. */
  EXPECT(TRESS_ARGUMENT, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.armor = 0;
  options.name = "n"; /* Only containers have a name and a choice of AEAD. */
  EXPECT(TRESS_ARGUMENT, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.name = NULL, options.aead = "aes-128-ccm";
  EXPECT(TRESS_ARGUMENT, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.format = options.aead = NULL;
  options.threads = 1025;
  EXPECT(TRESS_ARGUMENT, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.threads = 1024;
  options.aead = "aes-128-gcm";
  EXPECT(TRESS_UNKNOWN_NAME, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.aead = "aes-256-ccm";
  options.name = "../up";
  EXPECT(TRESS_BAD_NAME, tress_encrypt(data, 1, recipients, &options, &buffer));
  options.name = "down";
  options.threads = 0;
  EXPECT(TRESS_LENGTH, tress_encrypt(data, SIZE_MAX, recipients, &options, &buffer));
  OK(tress_encrypt(data, sizeof data, recipients, &options, &buffer));

  /* No matching identity, then truncated containers, then containers with one changed bit. */
  tress_buffer *plain;
  const uint8_t *sealed = tress_buffer_data(buffer);
  size_t length = tress_buffer_length(buffer);
  EXPECT(TRESS_NO_MATCHING_KEY, tress_decrypt(sealed, length, identities, 1, &plain));
  OK(tress_identities_add(identities, (const uint8_t *)tress_keypair_identity(pair), strlen(tress_keypair_identity(pair)), NULL));
  OK(tress_decrypt(sealed, length, identities, 1, &plain));
  CHECK(tress_buffer_length(plain) == sizeof data && same(tress_buffer_data(plain), data, sizeof data));
  tress_buffer_free(plain);
  for (size_t cut = 0; cut < length; cut += cut < 4000 ? 499 : 1) {
    uint8_t *part = copy_of(sealed, cut);
    tress_status status = tress_decrypt(part, cut, identities, 1, &plain);
    CHECK(plain == NULL && (status == TRESS_TRUNCATED || status == TRESS_CHUNK_DAMAGED || status == TRESS_NOT_A_CONTAINER));
    free(part);
  }
  for (size_t at = 0; at < length; at += 61) {
    uint8_t *wrong = copy_of(sealed, length);
    wrong[at] ^= 0x10;
    CHECK(tress_decrypt(wrong, length, identities, 1, &plain) != TRESS_OK && plain == NULL);
    free(wrong);
  }
  tress_buffer_free(buffer);
  CHECK(tress_buffer_data(NULL) == NULL && tress_buffer_length(NULL) == 0);
  tress_buffer_free(NULL), tress_keypair_free(NULL), tress_recipients_free(NULL), tress_identities_free(NULL);
  tress_keypair_free(pair), tress_recipients_free(recipients), tress_identities_free(identities);
}

static int refuse(void *context, const uint8_t *bytes, size_t length) {
  (void)bytes, (void)length;
  return (*(int *)context)-- > 0 ? 0 : 5;
}

static int no_reading(void *context, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length) {
  (void)context, (void)offset, (void)buffer;
  *length = capacity + 1; /* More than the buffer holds. */
  return 0;
}

static int from_bytes(void *context, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length) {
  const struct bytes *bytes = context;
  if (offset > bytes->length) return 1;
  size_t left = bytes->length - (size_t)offset;
  *length = left < capacity ? left : capacity;
  memcpy(buffer, bytes->data + offset, *length);
  return 0;
}

static void streams(void) {
  tress_recipients *recipients = tress_recipients_new();
  tress_identities *identities = tress_identities_new();
  OK(tress_recipients_add_key(recipients, KEY, 32));
  OK(tress_identities_add_key(identities, KEY, 32));
  tress_encryptor *encryptor;
  int good = 0;
  EXPECT(TRESS_NULL, tress_encryptor_new(recipients, NULL, NULL, NULL, &encryptor));
  EXPECT(TRESS_NULL, tress_encryptor_new(NULL, NULL, refuse, &good, &encryptor));
  EXPECT(TRESS_NULL, tress_encryptor_push(NULL, data, 1));
  EXPECT(TRESS_NULL, tress_encryptor_finish(NULL));

  /* A callback that fails in its first or second call; after that every call is refused. */
  for (good = 0; good < 2; good++) {
    int left = good;
    OK(tress_encryptor_new(recipients, NULL, refuse, &left, &encryptor));
    tress_status status = tress_encryptor_push(encryptor, data, sizeof data);
    if (status == TRESS_OK) status = tress_encryptor_finish(encryptor);
    CHECK(status == TRESS_CALLBACK && strstr(tress_last_error(), "5") != NULL);
    EXPECT(TRESS_STATE, tress_encryptor_push(encryptor, data, 1));
    EXPECT(TRESS_STATE, tress_encryptor_finish(encryptor));
    tress_encryptor_free(encryptor);
  }
  /* Finished twice, and freed unfinished. */
  struct bytes sealed = {NULL, 0, 0};
  OK(tress_encryptor_new(recipients, NULL, append, &sealed, &encryptor));
  EXPECT(TRESS_LENGTH, tress_encryptor_push(encryptor, data, SIZE_MAX));
  EXPECT(TRESS_NULL, tress_encryptor_push(encryptor, NULL, 1));
  OK(tress_encryptor_push(encryptor, NULL, 0));
  OK(tress_encryptor_push(encryptor, data, sizeof data));
  OK(tress_encryptor_finish(encryptor));
  EXPECT(TRESS_STATE, tress_encryptor_finish(encryptor));
  EXPECT(TRESS_STATE, tress_encryptor_push(encryptor, data, 1));
  tress_encryptor_free(encryptor);
  struct bytes part = {NULL, 0, 0};
  OK(tress_encryptor_new(recipients, NULL, append, &part, &encryptor));
  OK(tress_encryptor_push(encryptor, data, 1));
  tress_encryptor_free(encryptor);
  tress_buffer *plain;
  CHECK(tress_decrypt(part.data, part.length, identities, 1, &plain) != TRESS_OK);
  free(part.data);
  /* After a fork both processes would encrypt under one key and nonce. */
  struct bytes whole = {NULL, 0, 0};
  OK(tress_encryptor_new(recipients, NULL, append, &whole, &encryptor));
  OK(tress_encryptor_push(encryptor, data, 1));
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int refused = tress_encryptor_finish(encryptor) == TRESS_ARGUMENT && tress_encryptor_finish(encryptor) == TRESS_STATE;
    /* Replaces the process, because Valgrind would report all that the child has not freed as leaks. */
    const char *answer = refused ? "true" : "false";
    execlp(answer, answer, (char *)NULL);
    _exit(2);
  }
  int ended;
  CHECK(waitpid(child, &ended, 0) == child && ended == 0);
  OK(tress_encryptor_finish(encryptor));
  tress_encryptor_free(encryptor);
  OK(tress_decrypt(whole.data, whole.length, identities, 1, &plain));
  CHECK(tress_buffer_length(plain) == 1);
  tress_buffer_free(plain);
  free(whole.data);

  tress_decryptor *decryptor;
  EXPECT(TRESS_NULL, tress_decryptor_new(identities, 1, NULL, NULL, &decryptor));
  OK(tress_decryptor_new(identities, 1, refuse, &good, &decryptor));
  EXPECT(TRESS_NOT_A_CONTAINER, tress_decryptor_finish(decryptor));
  EXPECT(TRESS_STATE, tress_decryptor_finish(decryptor));
  tress_decryptor_free(decryptor);
  good = 0;
  OK(tress_decryptor_new(identities, 1, refuse, &good, &decryptor));
  tress_status status = tress_decryptor_push(decryptor, sealed.data, sealed.length);
  if (status == TRESS_OK) status = tress_decryptor_finish(decryptor);
  CHECK(status == TRESS_CALLBACK);
  EXPECT(TRESS_STATE, tress_decryptor_push(decryptor, data, 0));
  tress_decryptor_free(decryptor);

  tress_reader *reader;
  tress_source source = {no_reading, NULL, sealed.length, 0};
  EXPECT(TRESS_NULL, tress_reader_open(NULL, identities, 1, &reader));
  EXPECT(TRESS_CALLBACK, tress_reader_open(&source, identities, 1, &reader));
  CHECK(reader == NULL);
  /* Lengths that differ from the container's. */
  struct bytes *all = &sealed;
  tress_source endless = {from_bytes, all, UINT64_MAX, 0};
  CHECK(tress_reader_open(&endless, identities, 1, &reader) != TRESS_OK && reader == NULL);
  endless.length = sealed.length - 1;
  CHECK(tress_reader_open(&endless, identities, 1, &reader) != TRESS_OK && reader == NULL);
  endless.length = sealed.length;
  OK(tress_reader_open(&endless, identities, 1, &reader));
  tress_reader_free(reader);
  source.reserved = 1;
  EXPECT(TRESS_ARGUMENT, tress_reader_open(&source, identities, 1, &reader));
  source.read_at = NULL;
  EXPECT(TRESS_NULL, tress_reader_open(&source, identities, 1, &reader));
  EXPECT(TRESS_IO, tress_reader_open_file("/nowhere/at/all", identities, 1, &reader));
  CHECK(strstr(tress_last_error(), "/nowhere/at/all") != NULL);
  /* A stream, which would wait for its writer if it were a FIFO. */
  EXPECT(TRESS_ARGUMENT, tress_reader_open_file("/dev/null", identities, 1, &reader));
  size_t got;
  EXPECT(TRESS_NULL, tress_reader_read_at(NULL, 0, data, 1, &got));
  CHECK(tress_reader_length(NULL) == 0 && tress_reader_name(NULL) == NULL && tress_reader_is_tree(NULL) == -1);
  CHECK(tress_reader_format(NULL) == NULL);
  CHECK(tress_decryptor_name(NULL) == NULL && tress_decryptor_is_tree(NULL) == -1);
  tress_encryptor_free(NULL), tress_decryptor_free(NULL), tress_reader_free(NULL);
  free(sealed.data);
  tress_recipients_free(recipients), tress_identities_free(identities);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void files(void) {
  char folder[] = "/tmp/tress-c-XXXXXX", in[64], sealed[64], out[64];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(in, sizeof in, "%s/in", folder), snprintf(sealed, sizeof sealed, "%s/sealed", folder);
  snprintf(out, sizeof out, "%s/out", folder);
  write_file(in, "lanes side by side");
  tress_recipients *recipients = tress_recipients_new();
  tress_identities *identities = tress_identities_new();
  OK(tress_recipients_add_key(recipients, KEY, 16));
  OK(tress_identities_add_key(identities, KEY, 16));
  tress_report report;
  EXPECT(TRESS_NULL, tress_encrypt_file(NULL, sealed, recipients, NULL, NULL, NULL));
  EXPECT(TRESS_NULL, tress_encrypt_file(in, NULL, recipients, NULL, NULL, NULL));
  EXPECT(TRESS_NULL, tress_encrypt_file(in, sealed, NULL, NULL, NULL, NULL));
  EXPECT(TRESS_IO, tress_encrypt_file(out, sealed, recipients, NULL, NULL, NULL));
  EXPECT(TRESS_OUTPUT_IS_INPUT, tress_encrypt_file(in, in, recipients, NULL, NULL, NULL));
  tress_control *control = tress_control_new();
  tress_control_cancel(control);
  EXPECT(TRESS_INTERRUPTED, tress_encrypt_file(in, sealed, recipients, NULL, control, NULL));
  CHECK(access(sealed, F_OK) != 0);
  tress_control_free(control);
  control = tress_control_new();
  OK(tress_encrypt_file(in, sealed, recipients, NULL, control, &report));
  CHECK(report.bytes_in == 18 && report.chunks == 1 && report.bytes_out > 4096);
  CHECK(tress_control_done_bytes(control) == 18 && tress_control_total_bytes(control) == 18);
  tress_control_free(control);
  EXPECT(TRESS_OUTPUT_EXISTS, tress_encrypt_file(in, sealed, recipients, NULL, NULL, NULL));
  tress_options options = {0};
  options.replace = 1;
  OK(tress_encrypt_file(in, sealed, recipients, &options, NULL, NULL));
  EXPECT(TRESS_NOT_A_CONTAINER, tress_decrypt_file(in, out, identities, NULL, NULL, NULL));
  options.range = 1;
  options.range_start = 6;
  options.range_end = 19;
  EXPECT(TRESS_RANGE, tress_decrypt_file(sealed, out, identities, &options, NULL, NULL));
  CHECK(access(out, F_OK) != 0);
  options.range_end = UINT64_MAX;
  OK(tress_decrypt_file(sealed, out, identities, &options, NULL, &report));
  CHECK(report.bytes_out == 12);
  options.range = 0;
  options.armor = 1;
  EXPECT(TRESS_ARGUMENT, tress_encrypt_file(in, sealed, recipients, &options, NULL, NULL));
  options.format = "age";
  EXPECT(TRESS_OTHER_FORMAT, tress_decrypt_file(sealed, out, identities, &options, NULL, NULL));
  write_file(out, "-----BEGIN AGE ENCRYPTED FILE-----\n!\n");
  EXPECT(TRESS_ARMOR_DAMAGED, tress_decrypt_file(out, sealed, identities, &options, NULL, NULL));
  options.format = NULL;
  tress_recipients *others = tress_recipients_new();
  OK(tress_recipients_add_key(others, KEY, 32));
  OK(tress_rewrap_file(sealed, identities, others, NULL, NULL));
  EXPECT(TRESS_NO_MATCHING_KEY, tress_decrypt_file(sealed, out, identities, &options, NULL, NULL));
  tress_control_cancel(NULL), tress_control_free(NULL);
  CHECK(tress_control_done_bytes(NULL) == 0 && tress_control_total_bytes(NULL) == 0);
  tress_recipients_free(recipients), tress_recipients_free(others), tress_identities_free(identities);
  CHECK(unlink(in) == 0 && unlink(sealed) == 0 && unlink(out) == 0 && rmdir(folder) == 0);
}

static void signatures(void) {
  tress_signing_key *key, *other;
  tress_verifying_key *public_key, *wrong;
  tress_buffer *pem, *public_pem;
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_generate("rsa-1024", NULL, &key));
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_generate("rsa-2049", NULL, &key));
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_generate("rsa-8194", NULL, &key));
  EXPECT(TRESS_WRONG_SCHEME, tress_signing_key_generate("rsa-2050", "rsa-pss-sha256:224", &key));
  OK(tress_signing_key_generate("rsa-2050", "rsa-pss-sha256:223", &key));
  tress_signing_key_free(key);
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_generate("dsa", NULL, &key));
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_generate("schnorr-2048", "schnorr-sha512", &key));
  EXPECT(TRESS_WRONG_SCHEME, tress_signing_key_generate("schnorr-2048", "dsa-sha256", &key));
  CHECK(key == NULL && tress_signing_key_signature_bytes(NULL) == 0);
  OK(tress_signing_key_generate("dsa-2048", NULL, &key));
  OK(tress_signing_key_public(key, &public_key));
  OK(tress_signing_key_pem(key, &pem));
  OK(tress_verifying_key_pem(public_key, &public_pem));
  const uint8_t *text = tress_buffer_data(pem), *public_text = tress_buffer_data(public_pem);
  size_t length = tress_buffer_length(pem), public_length = tress_buffer_length(public_pem);
  OK(tress_signing_key_read(text, length, NULL, "dsa-sha512", &other));
  tress_signing_key_free(other);
  EXPECT(TRESS_WRONG_SCHEME, tress_signing_key_read(text, length, NULL, "schnorr-sha256", &other));
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_read(text, length, NULL, "dsa-sha256:20", &other));
  EXPECT(TRESS_UNKNOWN_NAME, tress_signing_key_read(text, length, NULL, "rsa-pss-sha256:x", &other));
  EXPECT(TRESS_NOT_PRIVATE, tress_signing_key_read(public_text, public_length, NULL, NULL, &other));
  EXPECT(TRESS_NOT_PUBLIC, tress_verifying_key_read(text, length, NULL, &wrong));
  for (size_t cut = 0; cut < length; cut += 97) EXPECT(TRESS_MALFORMED_KEY, tress_signing_key_read(text, cut, NULL, NULL, &other));
  EXPECT(TRESS_NULL, tress_signing_key_read(NULL, 5, NULL, NULL, &other));
  OK(tress_signing_key_read_up_to(text, length, NULL, NULL, 1, &other));
  tress_signing_key_free(other);
  EXPECT(TRESS_LENGTH, tress_signing_key_read(text, SIZE_MAX, NULL, NULL, &other));

  size_t capacity = tress_signing_key_signature_bytes(key), made = 0;
  uint8_t signature[128];
  CHECK(capacity <= sizeof signature);
  EXPECT(TRESS_BUFFER, tress_sign(key, data, 5, signature, capacity - 1, &made));
  CHECK(made == capacity);
  EXPECT(TRESS_NULL, tress_sign(key, data, 5, NULL, capacity, &made));
  EXPECT(TRESS_NULL, tress_sign(key, data, 5, signature, capacity, NULL));
  EXPECT(TRESS_NULL, tress_sign(NULL, data, 5, signature, capacity, &made));
  OK(tress_sign(key, NULL, 0, signature, capacity, &made));
  OK(tress_verify(public_key, NULL, 0, signature, made));
  EXPECT(TRESS_MISMATCH, tress_verify(public_key, data, 1, signature, made));
  EXPECT(TRESS_MALFORMED_SIGNATURE, tress_verify(public_key, NULL, 0, signature, made - 1));
  EXPECT(TRESS_MALFORMED_SIGNATURE, tress_verify(public_key, NULL, 0, NULL, 0));
  EXPECT(TRESS_LENGTH, tress_verify(public_key, NULL, 0, signature, SIZE_MAX));
  EXPECT(TRESS_BUFFER, tress_digest("dsa-sha512", data, 5, signature, 63, &made));
  CHECK(made == 64);
  EXPECT(TRESS_UNKNOWN_NAME, tress_digest("sha512", data, 5, signature, 64, &made));

  uint8_t digest[32] = {1}, room[5][128];
  tress_sign_job sign[5];
  size_t failed = 0;
  for (int i = 0; i < 5; i++) {
    tress_sign_job job = {key, digest, 32, room[i], 128, 0, 9, TRESS_FAULT};
    sign[i] = job;
  }
  sign[1].key = NULL, sign[2].digest_length = 31, sign[3].capacity = 8, sign[4].signature = NULL;
  EXPECT(TRESS_JOBS, tress_sign_jobs(sign, 5, &failed));
  CHECK(failed == 4 && sign[0].status == TRESS_OK && sign[1].status == TRESS_NULL && sign[2].status == TRESS_DIGEST_LENGTH);
  CHECK(sign[3].status == TRESS_BUFFER && sign[4].status == TRESS_NULL && sign[1].signature_length == 0);
  tress_verify_job check[4] = {{public_key, digest, 32, room[0], sign[0].signature_length, 0, TRESS_FAULT},
                               {NULL, digest, 32, room[0], sign[0].signature_length, 0, TRESS_FAULT},
                               {public_key, digest, 32, room[0], 3, 0, TRESS_OK},
                               {public_key, digest, 32, room[0], sign[0].signature_length, 1, TRESS_OK}};
  EXPECT(TRESS_JOBS, tress_verify_jobs(check, 4, &failed));
  CHECK(failed == 3 && check[0].status == TRESS_OK && check[1].status == TRESS_NULL);
  CHECK(check[2].status == TRESS_MALFORMED_SIGNATURE && check[3].status == TRESS_ARGUMENT);
  EXPECT(TRESS_NULL, tress_sign_jobs(NULL, 1, NULL));
  EXPECT(TRESS_LENGTH, tress_verify_jobs(check, SIZE_MAX, NULL));
  OK(tress_verify_jobs(NULL, 0, NULL));
  tress_buffer_free(pem), tress_buffer_free(public_pem);
  tress_verifying_key_free(public_key), tress_signing_key_free(key);
  tress_signing_key_free(NULL), tress_verifying_key_free(NULL);
}

int main(void) {
  CHECK(strcmp(tress_last_error(), "") == 0);
  CHECK(strlen(tress_version()) > 0 && tress_abi() == TRESS_ABI);
  CHECK(strcmp(tress_status_text(TRESS_OK), "done") == 0 && strcmp(tress_status_text(12345), "unknown code") == 0);
  ciphers();
  in_memory();
  modes();
  too_long();
  jobs();
  chacha20poly1305();
  keys();
  streams();
  files();
  signatures();
  puts("wrong use and wrong input: every case returns its status");
  return 0;
}
