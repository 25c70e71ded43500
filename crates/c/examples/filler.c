/* Encrypts messages that arrive at random times in batches. Prints how long they wait, and how late this machine wakes threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tress-cipher.h>

enum { MESSAGES = 4000, BYTES = 256, WAIT_NS = 50000 };

struct message {
  tress_ccm_job job; /* First, so that a pointer to the job is a pointer to the message. */
  uint64_t submitted_ns;
  uint8_t nonce[12], data[BYTES], tag[16];
};

static struct message messages[MESSAGES];
static double delays_us[MESSAGES];
static tress_filler *filler;
static uint64_t gap_ns;

static void check(tress_status status) {
  if (status == TRESS_OK) return;
  fprintf(stderr, "filler: %s\n", tress_last_error());
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns how late the thread woke up, in nanoseconds. */
static uint64_t sleep_until(uint64_t time_ns) {
  struct timespec time = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) continue;
  return now() - time_ns;
}

static void take_all(void) {
  for (struct message *message; (message = (struct message *)tress_filler_take(filler)) != NULL;) {
    check(message->job.status);
    delays_us[message - messages] = (double)(now() - message->submitted_ns) / 1000;
  }
}

/* Runs batches that are due. A message that arrives while this thread sleeps is due after the thread wakes up. */
static void *run_late(void *nothing) {
  for (;;) {
    uint64_t deadline;
    check(tress_filler_flush(filler, now(), &deadline));
    take_all();
    sleep_until(deadline == UINT64_MAX ? now() + WAIT_NS : deadline); /* pthread_cancel ends the thread here. */
  }
  return nothing;
}

static int by_size(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static void print(const char *what) {
  qsort(delays_us, MESSAGES, sizeof *delays_us, by_size);
  printf("%-28s median %5.0f us, 99 %% %5.0f us\n", what, delays_us[MESSAGES / 2], delays_us[MESSAGES * 99 / 100]);
}

int main(void) {
  tress_cipher *cipher;
  check(tress_cipher_new("aes-128", (const uint8_t *)"0123456789abcdef", 16, &cipher));
  tress_filler_options options = {WAIT_NS, 0, MESSAGES, {0}};
  check(tress_filler_new(&options, &filler));
  for (int i = 0; i < MESSAGES; i++) delays_us[i] = (double)sleep_until(now() + WAIT_NS) / 1000;
  print("a thread wakes late by");
  for (gap_ns = 1000; gap_ns <= 100000; gap_ns *= 10) {
    for (int i = 0; i < MESSAGES; i++) {
      struct message *m = &messages[i];
      memcpy(m->nonce, &gap_ns, sizeof gap_ns), memcpy(m->nonce + 8, &i, sizeof i);
      tress_ccm_job job = {cipher, m->nonce, 12, NULL, 0, m->data, m->data, BYTES, NULL, m->tag, 16, 0, TRESS_OK};
      m->job = job;
    }
    pthread_t late;
    if (pthread_create(&late, NULL, run_late, NULL) != 0) return 1;
    uint64_t next = now(), deadline = 0;
    for (struct message *m = messages; m < messages + MESSAGES; m++) {
      next += (uint64_t)rand() % (2 * gap_ns);
      while (now() < next) continue;
      m->submitted_ns = now();
      check(tress_filler_submit(filler, &m->job, 1, m->submitted_ns)); /* Encrypts the batch when it is full. */
      take_all();
    }
    while (deadline != UINT64_MAX) check(tress_filler_flush(filler, 0, &deadline));
    if (pthread_cancel(late) != 0 || pthread_join(late, NULL) != 0) return 1;
    take_all();
    char what[64];
    snprintf(what, sizeof what, "a message each %.0f us waits", (double)gap_ns / 1000);
    print(what);
  }
  tress_filler_free(filler);
  tress_cipher_free(cipher);
  return 0;
}
