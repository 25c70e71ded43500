/* Helpers of the test programs. A check that fails prints its line and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tress-cipher.h>

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "%s:%d: check failed: %s (last error: %s)\n", __FILE__, __LINE__, #condition, tress_last_error()); \
      abort();                                                                         \
    }                                                                                  \
  } while (0)

/* Checks that a call returns this status. */
#define EXPECT(expected, call)                                                         \
  do {                                                                                 \
    tress_status status_ = (call);                                                     \
    if (status_ != (expected)) {                                                       \
      fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\" (last error: %s)\n", __FILE__, __LINE__, #call, \
              tress_status_text(status_), tress_status_text(expected), tress_last_error()); \
      abort();                                                                         \
    }                                                                                  \
  } while (0)

#define OK(call) EXPECT(TRESS_OK, call)

/* Allocates exactly `length` bytes (at least one), so that ASan detects every access beyond them. */
static inline uint8_t *allocate(size_t length) {
  uint8_t *memory = malloc(length ? length : 1);
  CHECK(memory != NULL);
  return memory;
}

static inline uint8_t *copy_of(const uint8_t *data, size_t length) {
  uint8_t *copy = allocate(length);
  if (length) memcpy(copy, data, length);
  return copy;
}

static inline int same(const uint8_t *a, const uint8_t *b, size_t length) {
  return length == 0 || memcmp(a, b, length) == 0;
}

static inline int all_are(uint8_t byte, const uint8_t *data, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (data[i] != byte) return 0;
  return 1;
}

static inline int all_zero(const uint8_t *data, size_t length) { return all_are(0, data, length); }

/* Pseudo-random numbers that are the same in every run (xorshift64*, Vigna 2014). */
static inline uint64_t next_number(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static inline void fill(uint64_t *state, uint8_t *data, size_t length) {
  for (size_t i = 0; i < length; i++) data[i] = (uint8_t)(next_number(state) >> 56);
}

/* A growing buffer, with `append` as its tress_write callback. */
struct bytes {
  uint8_t *data;
  size_t length, capacity;
};

static inline int append(void *context, const uint8_t *data, size_t length) {
  struct bytes *bytes = context;
  if (bytes->length + length > bytes->capacity) {
    bytes->capacity = 2 * (bytes->length + length);
    bytes->data = realloc(bytes->data, bytes->capacity);
    CHECK(bytes->data != NULL);
  }
  memcpy(bytes->data + bytes->length, data, length);
  bytes->length += length;
  return 0;
}

#endif
