/* Eight threads share one cipher, one signing key and one set of recipients and identities. Their results equal those of one thread. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include <tress.h>

enum { THREADS = 8, ROUNDS = 200, MESSAGES = 40, LENGTH = 7000, FORGED = 17 };

static tress_cipher *cipher;
static tress_recipients *recipients;
static tress_identities *identities;
static tress_signing_key *signing;
static tress_verifying_key *verifying;
static uint8_t plain[MESSAGES][LENGTH], sealed[MESSAGES][LENGTH], tags[MESSAGES][16], nonces[MESSAGES][12];

/* Encrypts on the calling thread (`threads` is 0) or on several. Unless `opened` is NULL, forges one tag and decrypts into it. */
static void encrypt(uint8_t data[MESSAGES][LENGTH], uint8_t tag[MESSAGES][16], size_t threads, uint8_t opened[MESSAGES][LENGTH]) {
  tress_ccm_job jobs[MESSAGES];
  for (int i = 0; i < MESSAGES; i++) {
    tress_ccm_job job = {cipher, nonces[i], 12, NULL, 0, plain[i], data[i], LENGTH, tag[i], tag[i], 16, 0, TRESS_FAULT};
    jobs[i] = job;
  }
  if (threads == 0) {
    OK(tress_ccm_encrypt_jobs(jobs, MESSAGES, NULL));
    return;
  }
  OK(tress_ccm_encrypt_jobs_threads(jobs, MESSAGES, threads, NULL));
  if (opened == NULL) return;
  for (int i = 0; i < MESSAGES; i++) jobs[i].input = data[i], jobs[i].output = opened[i];
  tag[FORGED][3] ^= 1;
  size_t failed;
  EXPECT(TRESS_JOBS, tress_ccm_decrypt_jobs_threads(jobs, MESSAGES, threads, &failed));
  tag[FORGED][3] ^= 1;
  CHECK(failed == 1 && jobs[FORGED].status == TRESS_AUTHENTICATION && all_zero(opened[FORGED], LENGTH));
  for (int i = 0; i < MESSAGES; i++)
    if (i != FORGED) CHECK(jobs[i].status == TRESS_OK && same(opened[i], plain[i], LENGTH));
}

static void *work(void *argument) {
  unsigned thread = *(unsigned *)argument;
  uint8_t(*data)[LENGTH] = malloc(sizeof plain), (*opened)[LENGTH] = malloc(sizeof plain);
  uint8_t tag[MESSAGES][16];
  CHECK(data != NULL && opened != NULL);
  for (int round = 0; round < ROUNDS; round++) {
    memset(data, 0, sizeof plain);
    encrypt(data, tag, (size_t)round % 4, opened);
    CHECK(memcmp(data, sealed, sizeof sealed) == 0 && memcmp(tag, tags, sizeof tags) == 0);
    int one = round % MESSAGES;
    OK(tress_ccm_decrypt(cipher, nonces[one], 12, NULL, 0, data[one], data[one], LENGTH, tag[one], 16));
    CHECK(same(data[one], plain[one], LENGTH));
    /* The last error is separate for each thread. */
    char name[8];
    snprintf(name, sizeof name, "x%u", thread);
    tress_cipher *none;
    EXPECT(TRESS_UNKNOWN_NAME, tress_cipher_new(name, NULL, 0, &none));
    if (thread % 2) EXPECT(TRESS_KEY_LENGTH, tress_cipher_new("aes-128", NULL, 0, &none));
    CHECK(strcmp(tress_last_error(), thread % 2 ? "wrong key length" : "unknown cipher name") == 0);
    if (round % 20) continue;
    tress_buffer *container, *back;
    OK(tress_encrypt(plain[0], sizeof plain, recipients, NULL, &container));
    OK(tress_decrypt(tress_buffer_data(container), tress_buffer_length(container), identities, 2, &back));
    CHECK(tress_buffer_length(back) == sizeof plain && memcmp(tress_buffer_data(back), plain, sizeof plain) == 0);
    tress_buffer_free(container);
    tress_buffer_free(back);
    uint8_t signature[128];
    size_t length;
    OK(tress_sign(signing, plain[one], LENGTH, signature, sizeof signature, &length));
    OK(tress_verify(verifying, plain[one], LENGTH, signature, length));
  }
  free(data), free(opened);
  return NULL;
}

/* A thread with little stack, less than the 128 KiB that musl gives: lanes keep their state on the heap. */
static void *small(void *unused) {
  (void)unused;
  static uint8_t data[MESSAGES][LENGTH], tag[MESSAGES][16], opened[MESSAGES][LENGTH];
  encrypt(data, tag, 0, NULL);
  encrypt(data, tag, 1, opened);
  CHECK(memcmp(data, sealed, sizeof data) == 0 && memcmp(tag, tags, sizeof tag) == 0);
  return NULL;
}

int main(void) {
  uint64_t state = 3;
  uint8_t key[16];
  fill(&state, key, sizeof key);
  fill(&state, plain[0], sizeof plain);
  fill(&state, nonces[0], sizeof nonces);
  OK(tress_cipher_new("aes-128", key, sizeof key, &cipher));
  recipients = tress_recipients_new();
  identities = tress_identities_new();
  OK(tress_recipients_add_key(recipients, key, sizeof key));
  OK(tress_identities_add_key(identities, key, sizeof key));
  OK(tress_signing_key_generate("schnorr-2048", NULL, &signing));
  OK(tress_signing_key_public(signing, &verifying));
  encrypt(sealed, tags, 0, NULL);
  pthread_attr_t attributes;
  pthread_t little;
  CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
  CHECK(pthread_create(&little, &attributes, small, NULL) == 0 && pthread_join(little, NULL) == 0);
  pthread_t threads[THREADS];
  unsigned numbers[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  }
  /* A child process starts new threads. Under AddressSanitizer, it may inherit a lock of the allocator that another thread held. */
#ifndef __SANITIZE_ADDRESS__
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    static uint8_t data[MESSAGES][LENGTH], tag[MESSAGES][16];
    alarm(60);
    encrypt(data, tag, 3, NULL);
    _exit(memcmp(data, sealed, sizeof data) == 0 && memcmp(tag, tags, sizeof tag) == 0 ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
  for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  tress_cipher_free(cipher);
  tress_recipients_free(recipients);
  tress_identities_free(identities);
  tress_signing_key_free(signing);
  tress_verifying_key_free(verifying);
  printf("%d threads share one handle of each type\n", THREADS);
  return 0;
}
