/* Tests of the filler. A table of calls with an artificial clock checks batches, refusals and the order of results. Then several
 * threads share a filler: jobs of one thread keep their order, and results equal those of single messages. */
#include <pthread.h>

#include "check.h"

enum { MOST = 16, THREADS = 4, EACH = 500, LENGTH = 80 };

/* A call and its expected result. */
struct step {
  char call;      /* e, d: submit a job to encrypt or decrypt. f: flush. t: take. */
  uint64_t now;   /* Time of the call, in nanoseconds. */
  int number;     /* e, d: the submitted job. t: the expected job, -1 for none. */
  uint64_t after; /* e, d: the expected status. f: the expected deadline. */
};

#define NEVER UINT64_MAX
static const struct {
  tress_filler_options options;
  struct step steps[20];
} TABLE[] = {
    /* Full batches, and a last one that a flush runs. */
    {{50, 3, 9, {0}},
     {{'e', 0, 1, 0}, {'e', 1, 2, 0}, {'t', 0, -1, 0}, {'f', 2, 0, 50}, {'e', 2, 3, 0}, {'f', 2, 0, NEVER}, {'e', 3, 4, 0},
      {'t', 0, 1, 0}, {'t', 0, 2, 0}, {'t', 0, 3, 0}, {'t', 0, -1, 0}, {'f', 52, 0, 53}, {'t', 0, -1, 0}, {'f', NEVER, 0, NEVER},
      {'f', NEVER, 0, NEVER}, {'t', 0, 4, 0}, {'t', 0, -1, 0}}},
    /* The deadline is that of the oldest job, also if it was not submitted first. A submission after the deadline joins the batch. */
    {{50, 9, 9, {0}},
     {{'f', 0, 0, NEVER}, {'e', 10, 1, 0}, {'d', 7, 2, 0}, {'e', 30, 3, 0}, {'f', 56, 0, 57}, {'t', 0, -1, 0}, {'f', 57, 0, NEVER},
      {'t', 0, 1, 0}, {'t', 0, 2, 0}, {'t', 0, 3, 0}, {'e', 60, 4, 0}, {'e', 110, 5, 0}, {'t', 0, 4, 0}, {'t', 0, 5, 0}}},
    /* An unlimited wait. */
    {{NEVER, 2, 2, {0}}, {{'e', 5, 1, 0}, {'f', NEVER - 1, 0, NEVER}, {'t', 0, -1, 0}, {'f', NEVER, 0, NEVER}, {'t', 0, 1, 0}}},
    /* The capacity counts jobs that were not taken, and is at least one batch. */
    {{50, 2, 3, {0}},
     {{'e', 0, 1, 0}, {'e', 0, 2, 0}, {'e', 0, 3, 0}, {'e', 0, 4, TRESS_FULL}, {'f', 50, 0, NEVER}, {'d', 50, 4, TRESS_FULL},
      {'t', 0, 1, 0}, {'e', 60, 4, 0}, {'t', 0, 2, 0}, {'t', 0, 3, 0}, {'t', 0, -1, 0}, {'f', 110, 0, NEVER}, {'t', 0, 4, 0}}},
    {{50, 2, 1, {0}}, {{'e', 0, 1, 0}, {'e', 0, 2, 0}, {'e', 0, 3, TRESS_FULL}, {'t', 0, 1, 0}, {'t', 0, 2, 0}}},
    /* The nonce of a waiting job to encrypt. Jobs 8 and 9 have the nonces of jobs 0 and 1. A refused job takes no capacity. */
    {{50, 4, 4, {0}},
     {{'e', 0, 0, 0}, {'e', 0, 8, TRESS_NONCE_REPEATED}, {'d', 0, 8, 0}, {'d', 0, 9, 0}, {'e', 0, 1, 0}, {'e', 0, 10, TRESS_FULL},
      {'t', 0, 0, 0}, {'t', 0, 8, 0}, {'t', 0, 9, 0}, {'t', 0, 1, 0}, {'e', 0, 0, 0}, {'e', 0, 8, TRESS_NONCE_REPEATED},
      {'f', NEVER, 0, NEVER}, {'t', 0, 0, 0}}},
    /* The default wait of 50 microseconds. */
    {{0, 0, 0, {0}}, {{'e', 0, 1, 0}, {'f', 49999, 0, 50000}, {'t', 0, -1, 0}, {'f', 50000, 0, NEVER}, {'t', 0, 1, 0}}},
};

static void table(const tress_cipher *cipher) {
  for (size_t row = 0; row < sizeof TABLE / sizeof *TABLE; row++) {
    tress_filler *filler;
    OK(tress_filler_new(row + 1 < sizeof TABLE / sizeof *TABLE ? &TABLE[row].options : NULL, &filler));
    uint8_t nonces[MOST][12] = {{0}}, data[MOST][LENGTH] = {{0}}, tags[MOST][16] = {{0}};
    tress_ccm_job jobs[MOST];
    for (int i = 0; i < MOST; i++) {
      nonces[i][3] = (uint8_t)(i % 8);
      tress_ccm_job job = {cipher, nonces[i], 12, NULL, 0, data[i], data[i], LENGTH, tags[i], tags[i], 16, 0, TRESS_FAULT};
      jobs[i] = job;
    }
    for (const struct step *step = TABLE[row].steps; step->call; step++) {
      tress_ccm_job *job = step->number < 0 ? NULL : &jobs[step->number];
      uint64_t deadline = 7;
      if (step->call == 't') {
        CHECK(tress_filler_take(filler) == job);
        if (job) CHECK(job->status == TRESS_OK || job->status == TRESS_AUTHENTICATION);
      } else if (step->call == 'f') {
        OK(tress_filler_flush(filler, step->now, &deadline));
        CHECK(deadline == step->after);
      } else {
        EXPECT((tress_status)step->after, tress_filler_submit(filler, job, step->call == 'e', step->now));
      }
    }
    tress_filler_free(filler);
  }
}

static void refused(tress_cipher *cipher) {
  tress_filler_options bad = {0, 0, 0, {0, 0, 0, 1}}, at_once = {0, 1, 0, {0}};
  tress_filler *filler = (tress_filler *)&bad;
  EXPECT(TRESS_NULL, tress_filler_new(NULL, NULL));
  EXPECT(TRESS_ARGUMENT, tress_filler_new(&bad, &filler));
  CHECK(filler == NULL);
  tress_ccm_job job = {cipher, NULL, 12, NULL, 0, NULL, NULL, 0, NULL, NULL, 16, 0, TRESS_OK};
  EXPECT(TRESS_NULL, tress_filler_submit(NULL, &job, 1, 0));
  EXPECT(TRESS_NULL, tress_filler_flush(NULL, 0, NULL));
  CHECK(tress_filler_take(NULL) == NULL);
  tress_filler_free(NULL);
  OK(tress_filler_new(NULL, &filler));
  EXPECT(TRESS_NULL, tress_filler_submit(filler, NULL, 1, 0));
  /* Two jobs without a nonce do not repeat a nonce. A job that has not run has the status TRESS_STATE. */
  tress_ccm_job other = job;
  OK(tress_filler_submit(filler, &job, 1, 0));
  OK(tress_filler_submit(filler, &other, 1, 0));
  CHECK(job.status == TRESS_STATE);
  OK(tress_filler_flush(filler, UINT64_MAX, NULL));
  CHECK(tress_filler_take(filler) == &job && job.status == TRESS_NULL);
  OK(tress_filler_submit(filler, &job, 0, 0));
  tress_filler_free(filler);
  CHECK(job.status == TRESS_STATE && other.status == TRESS_NULL);
  OK(tress_filler_new(&at_once, &filler));
  job.cipher = NULL;
  OK(tress_filler_submit(filler, &job, 1, 0));
  CHECK(tress_filler_take(filler) == &job && job.status == TRESS_NULL);
  tress_filler_free(filler);
}

static struct message {
  tress_ccm_job job; /* First, so that a pointer to the job is a pointer to the message. */
  int thread, number;
  uint8_t nonce[12], data[LENGTH], tag[16];
} messages[THREADS][EACH];
static tress_filler *shared;

/* Messages with odd numbers are decrypted, and some of those are forged. */
static void prepare(struct message *m, tress_cipher *cipher, int thread, int number) {
  tress_ccm_job job = {cipher, m->nonce, 12, m->nonce, 5, m->data, m->data, (size_t)number % LENGTH, m->tag, m->tag, 16, 0, TRESS_FAULT};
  m->job = job;
  m->thread = thread, m->number = number;
  memcpy(m->nonce, &number, sizeof number);
  memset(m->data, number, LENGTH);
  if (number % 2 == 0) return;
  OK(tress_ccm_encrypt(cipher, m->nonce, 12, m->nonce, 5, m->data, m->data, job.length, m->tag, 16));
  m->tag[number % 16] ^= number % 7 == 0;
}

static void check(const struct message *m) {
  uint8_t data[LENGTH], tag[16];
  memset(data, m->number, LENGTH);
  if (m->number % 2) {
    CHECK(m->job.status == (m->number % 7 ? TRESS_OK : TRESS_AUTHENTICATION));
    CHECK(m->number % 7 ? same(m->data, data, m->job.length) : all_zero(m->data, m->job.length));
    return;
  }
  OK(tress_ccm_encrypt(m->job.cipher, m->nonce, 12, m->nonce, 5, data, data, m->job.length, tag, 16));
  CHECK(m->job.status == TRESS_OK && same(m->data, data, m->job.length) && same(m->tag, tag, 16));
}

static void *work(void *argument) {
  struct message *mine = argument;
  for (int i = 0; i < EACH; i++) {
    tress_status status;
    while ((status = tress_filler_submit(shared, &mine[i].job, mine[i].number % 2 == 0, (uint64_t)i * 1000)) == TRESS_FULL) continue;
    CHECK(status == TRESS_OK);
  }
  return NULL;
}

int main(void) {
  static const char *const NAMES[THREADS] = {"aes-128", "rc6-128", "aes-128", "aes-128"};
  tress_cipher *ciphers[THREADS];
  for (int t = 0; t < THREADS; t++) OK(tress_cipher_new(NAMES[t], (const uint8_t *)"0123456789abcdef", 16, &ciphers[t]));
  table(ciphers[0]);
  refused(ciphers[0]);
  /* The capacity is small, so that threads wait until this thread takes jobs. */
  tress_filler_options options = {0, 0, 64, {0}};
  OK(tress_filler_new(&options, &shared));
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++) {
    for (int i = 0; i < EACH; i++) prepare(&messages[t][i], ciphers[t], t, i);
    CHECK(pthread_create(&threads[t], NULL, work, messages[t]) == 0);
  }
  int next[THREADS] = {0};
  for (int taken = 0; taken < THREADS * EACH;) {
    struct message *m = (struct message *)tress_filler_take(shared);
    if (m == NULL) {
      OK(tress_filler_flush(shared, UINT64_MAX, NULL));
      continue;
    }
    CHECK(m->number == next[m->thread]++);
    check(m);
    taken++;
  }
  for (int t = 0; t < THREADS; t++) {
    CHECK(pthread_join(threads[t], NULL) == 0);
    tress_cipher_free(ciphers[t]);
  }
  tress_filler_free(shared);
  printf("%d jobs of %d threads through one filler\n", THREADS * EACH, THREADS);
  return 0;
}
