/* Containers, and files in other formats, of all lengths that matter, made as streams with pieces of several sizes, in memory and as files. Each is opened in every
 * way. */
#include <unistd.h>

#include "check.h"
#include <tress.h>

enum { CHUNK = 16384, BATCH = 32 * CHUNK };

static tress_recipients *recipients;
static tress_identities *identities;
/* The format that is tested, and the name that its files store. */
static const char *format = NULL, *name = "n";

static int is_name(const char *found) { return name == NULL ? found == NULL : found != NULL && strcmp(found, name) == 0; }

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
  /* The header of a short age file is read only at the end. */
  CHECK(format != NULL || (is_name(tress_decryptor_name(decryptor)) && tress_decryptor_is_tree(decryptor) == 0));
  OK(tress_decryptor_finish(decryptor));
  CHECK(is_name(tress_decryptor_name(decryptor)) && tress_decryptor_is_tree(decryptor) == 0);
  tress_decryptor_free(decryptor);
  CHECK(back.length == length && same(back.data, plain, length));
  free(back.data);

  tress_source source = {from_memory, (void *)sealed, sealed->length, 0};
  tress_reader *reader;
  OK(tress_reader_open(&source, identities, 2, &reader));
  CHECK(tress_reader_length(reader) == length && is_name(tress_reader_name(reader)));
  CHECK(strcmp(tress_reader_format(reader), format == NULL ? "tress" : format) == 0);
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
  options.threads = threads, options.aead = aead, options.name = name, options.format = format;
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

/* Files in the other formats: as streams, in memory, with random access; with an armor; with a range. */
static void formats(const uint8_t *plain, const uint8_t *key) {
  static const size_t lengths[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK - 1, 4 * CHUNK, 4 * CHUNK + 1, BATCH, 2 * BATCH + 1};
  static const struct { const char *name; size_t key_length; } all[] = {{"age", 0}, {"cobblestone-128", 16}, {"cobblestone-256", 32}};
  name = NULL;
  for (size_t f = 0; f < sizeof all / sizeof *all; f++) {
    format = all[f].name;
    recipients = tress_recipients_new(), identities = tress_identities_new();
    if (all[f].key_length == 0) {
      tress_keypair *pair;
      OK(tress_keypair_generate(&pair));
      OK(tress_recipients_add(recipients, tress_keypair_recipient(pair)));
      const char *identity = tress_keypair_identity(pair);
      OK(tress_identities_add(identities, (const uint8_t *)identity, strlen(identity), NULL));
      tress_keypair_free(pair);
    } else {
      const uint8_t *context = (const uint8_t *)"a context";
      OK(tress_recipients_add_cobblestone_key(recipients, format, key, all[f].key_length, context, 9));
      OK(tress_identities_add_cobblestone_key(identities, format, key, all[f].key_length, context, 9));
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) one(plain, lengths[i], lengths[i] < 100000 ? 997 : BATCH + 5, 2, NULL);
    write_file("plain", plain, 300000);
    for (int armor = 0; armor < (all[f].key_length == 0 ? 2 : 1); armor++) {
      tress_options options = {0};
      options.format = format, options.armor = armor, options.replace = 1;
      OK(tress_encrypt_file("plain", "sealed", recipients, &options, NULL, NULL));
      options.range = 1, options.range_start = 70000, options.range_end = 70100;
      tress_report report;
      OK(tress_decrypt_file("sealed", "back", identities, &options, NULL, &report));
      CHECK(report.bytes_out == 100);
      tress_reader *reader;
      OK(tress_reader_open_file("sealed", identities, 1, &reader));
      uint8_t part[100];
      size_t got;
      OK(tress_reader_read_at(reader, 70000, part, sizeof part, &got));
      CHECK(got == 100 && same(part, plain + 70000, 100));
      tress_reader_free(reader);
    }
    if (all[f].key_length != 0) {
      tress_identities *wrong = tress_identities_new();
      OK(tress_identities_add_cobblestone_key(wrong, format, key, all[f].key_length, NULL, 0));
      tress_options options = {0};
      options.replace = 1;
      EXPECT(TRESS_COMMITMENT, tress_decrypt_file("sealed", "back", wrong, &options, NULL, NULL));
      EXPECT(TRESS_OTHER_FORMAT, tress_rewrap_file("sealed", identities, recipients, NULL, NULL));
      tress_identities_free(wrong);
    }
    tress_recipients_free(recipients), tress_identities_free(identities);
    CHECK(unlink("plain") == 0 && unlink("sealed") == 0 && unlink("back") == 0);
  }
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
  formats(plain, key);
  free(plain);
  printf("%zu lengths, as streams, in memory and with random access; four formats\n", count);
  return 0;
}
