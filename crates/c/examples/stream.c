/* Encrypts a stream into a container, then reads one line of the plaintext by its offset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tress.h>

static void check(tress_status status) {
  if (status == TRESS_OK) return;
  fprintf(stderr, "stream: %s\n", tress_last_error());
  exit(1);
}

/* Writes output of the library to a file. Returns 0 on success. */
static int write_file(void *file, const uint8_t *data, size_t length) {
  return fwrite(data, 1, length, file) == length ? 0 : 1;
}

/* Reads a part of the container for the library. Returns 0 on success. */
static int read_file(void *file, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length) {
  if (fseek(file, (long)offset, SEEK_SET) != 0) return 1;
  *length = fread(buffer, 1, capacity, file);
  return ferror(file) ? 1 : 0;
}

int main(void) {
  tress_keypair *pair;
  check(tress_keypair_generate(&pair));
  const char *identity = tress_keypair_identity(pair); /* The secret key: store it safely. */
  printf("to %.8s...\n", tress_keypair_recipient(pair));

  tress_recipients *recipients = tress_recipients_new();
  check(tress_recipients_add(recipients, tress_keypair_recipient(pair)));
  FILE *file = tmpfile();
  if (file == NULL) return 1;
  tress_encryptor *encryptor;
  check(tress_encryptor_new(recipients, NULL, write_file, file, &encryptor));
  for (int line = 0; line < 100000; line++) {
    char text[32];
    int length = snprintf(text, sizeof text, "line %8d\n", line);
    check(tress_encryptor_push(encryptor, (const uint8_t *)text, (size_t)length));
  }
  check(tress_encryptor_finish(encryptor)); /* Without this the container is truncated. */
  tress_encryptor_free(encryptor);
  if (fflush(file) != 0) return 1;

  tress_identities *identities = tress_identities_new();
  check(tress_identities_add(identities, (const uint8_t *)identity, strlen(identity), NULL));
  tress_source source = {read_file, file, (uint64_t)ftell(file), 0};
  tress_reader *reader;
  check(tress_reader_open(&source, identities, 0, &reader));
  char text[15] = "";
  size_t length;
  check(tress_reader_read_at(reader, 77777 * 14, (uint8_t *)text, 14, &length));
  printf("%llu bytes of plaintext, among them %s", (unsigned long long)tress_reader_length(reader), text);

  tress_reader_free(reader);
  tress_identities_free(identities);
  tress_recipients_free(recipients);
  tress_keypair_free(pair);
  fclose(file);
  return strcmp(text, "line    77777\n") == 0 ? 0 : 1;
}
