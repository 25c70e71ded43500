/* Containers of all lengths that matter, made as streams with pieces of several sizes, in memory and as files. Each is opened in every
 * way. */
#include <unistd.h>

#include "check.h"
#include <tress.h>

enum { CHUNK = 16384, BATCH = 32 * CHUNK };

static tress_recipients *recipients;
static tress_identities *identities;

static int from_memory(void *context, uint64_t offset, uint8_t *buffer, size_t capacity, size_t *length) {
  const struct bytes *bytes = context;
  CHECK(offset <= bytes->length);
  /* Returns at most 5000 bytes, as sockets and pipes return less than asked for. */
  size_t left = bytes->length - (size_t)offset, part = capacity < 5000 ? capacity : 5000;
  *length = left < part ? left : part;
  memcpy(buffer, bytes->data + offset, *length);
  return 0;
}

static void open_all(const struct bytes *sealed, const uint8_t *plain, size_t length, size_t piece) {
  tress_buffer *whole;
  OK(tress_decrypt(sealed->data, sealed->length, identities, 0, &whole));
  CHECK(tress_buffer_length(whole) == length && same(tress_buffer_data(whole), plain, length));
  tress_buffer_free(whole);

  struct bytes back = {NULL, 0, 0};
  tress_decryptor *decryptor;
  OK(tress_decryptor_new(identities, 1, append, &back, &decryptor));
  for (size_t at = 0; at < sealed->length; at += piece)
    OK(tress_decryptor_push(decryptor, sealed->data + at, sealed->length - at < piece ? sealed->length - at : piece));
  CHECK(strcmp(tress_decryptor_name(decryptor), "n") == 0 && tress_decryptor_is_tree(decryptor) == 0);
  OK(tress_decryptor_finish(decryptor));
  tress_decryptor_free(decryptor);
  CHECK(back.length == length && same(back.data, plain, length));
  free(back.data);

  tress_source source = {from_memory, (void *)sealed, sealed->length, 0};
  tress_reader *reader;
  OK(tress_reader_open(&source, identities, 2, &reader));
  CHECK(tress_reader_length(reader) == length && strcmp(tress_reader_name(reader), "n") == 0);
  uint64_t state = length + 1;
  uint8_t *part = allocate(70000);
  for (int i = 0; i < 40; i++) {
    size_t offset = next_number(&state) % (length + 10), wanted = next_number(&state) % 70000, got;
    OK(tress_reader_read_at(reader, offset, part, wanted, &got));
    size_t there = offset > length ? 0 : length - offset;
    CHECK(got == (wanted < there ? wanted : there) && same(part, plain + (there ? offset : 0), got));
  }
  free(part);
  tress_reader_free(reader);
}

static void one(const uint8_t *plain, size_t length, size_t piece, size_t threads, const char *aead) {
  tress_options options = {0};
  options.threads = threads, options.aead = aead, options.name = "n";
  struct bytes sealed = {NULL, 0, 0};
  tress_encryptor *encryptor;
  OK(tress_encryptor_new(recipients, &options, append, &sealed, &encryptor));
  for (size_t at = 0; at < length; at += piece)
    OK(tress_encryptor_push(encryptor, plain + at, length - at < piece ? length - at : piece));
  OK(tress_encryptor_finish(encryptor));
  tress_encryptor_free(encryptor);
  open_all(&sealed, plain, length, piece + 37);
  free(sealed.data);
  tress_buffer *whole;
  OK(tress_encrypt(plain, length, recipients, &options, &whole));
  sealed.data = (uint8_t *)tress_buffer_data(whole), sealed.length = tress_buffer_length(whole);
  open_all(&sealed, plain, length, piece + 4096);
  tress_buffer_free(whole);
}

static void write_file(const char *path, const uint8_t *data, size_t length) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(data, 1, length, file) == length && fclose(file) == 0);
}

int main(void) {
  uint64_t state = 5;
  size_t most = 5 * BATCH + 1;
  uint8_t *plain = allocate(most), key[32];
  fill(&state, plain, most);
  fill(&state, key, sizeof key);
  recipients = tress_recipients_new(), identities = tress_identities_new();
  OK(tress_recipients_add_key(recipients, key, sizeof key));
  OK(tress_identities_add_key(identities, key, sizeof key));
  static const size_t lengths[] = {0, 1, 15, 16, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, BATCH - 1, BATCH, BATCH + 1, 5 * BATCH + 1};
  size_t count = 0;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    one(plain, lengths[i], BATCH + 5, 1, NULL);
    one(plain, lengths[i], 1000003, 2, "aes-256-ccm");
    if (lengths[i] < 100000) one(plain, lengths[i], 997, 1, "aes-128-ccm");
    count++;
  }
  one(plain, 5 * BATCH, most, 0, NULL);

  /* A streamed container is opened as a file, and a container file through the reader. */
  write_file("plain", plain, 100000);
  struct bytes sealed = {NULL, 0, 0};
  tress_options options = {0};
  options.name = "n";
  tress_encryptor *encryptor;
  OK(tress_encryptor_new(recipients, &options, append, &sealed, &encryptor));
  OK(tress_encryptor_push(encryptor, plain, 100000));
  OK(tress_encryptor_finish(encryptor));
  tress_encryptor_free(encryptor);
  write_file("sealed", sealed.data, sealed.length);
  OK(tress_decrypt_file("sealed", "back", identities, NULL, NULL, NULL));
  options.replace = 1;
  OK(tress_encrypt_file("back", "sealed", recipients, &options, NULL, NULL));
  tress_reader *reader;
  OK(tress_reader_open_file("sealed", identities, 1, &reader));
  uint8_t part[500];
  size_t got;
  OK(tress_reader_read_at(reader, 99700, part, sizeof part, &got));
  CHECK(got == 300 && same(part, plain + 99700, 300));
  tress_reader_free(reader);
  CHECK(unlink("plain") == 0 && unlink("sealed") == 0 && unlink("back") == 0);
  free(sealed.data);

  tress_recipients_free(recipients), tress_identities_free(identities);
  free(plain);
  printf("%zu lengths, as streams, in memory and with random access\n", count);
  return 0;
}
