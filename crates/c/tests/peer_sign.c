/* Signs a file and verifies OpenSSL's signature of it, or generates a key pair:
 *   peer_sign SCHEME KEY PUBLIC MESSAGE OURS THEIRS [PASSPHRASE]
 *   peer_sign SCHEME KEY PUBLIC generate */
#include "check.h"
#include <tress.h>

static size_t read_file(const char *path, uint8_t *data, size_t capacity) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  size_t length = fread(data, 1, capacity, file);
  CHECK(length < capacity);
  fclose(file);
  return length;
}

static void write_file(const char *path, const uint8_t *data, size_t length) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(data, 1, length, file) == length && fclose(file) == 0);
}

int main(int argc, char **argv) {
  static uint8_t key[1 << 16], message[1 << 16], signature[2048];
  tress_signing_key *signing;
  tress_verifying_key *verifying, *derived;
  CHECK(argc >= 5);
  if (strcmp(argv[4], "generate") == 0) {
    tress_buffer *pem, *public_pem;
    OK(tress_signing_key_generate("dsa-2048", argv[1], &signing));
    OK(tress_signing_key_public(signing, &verifying));
    OK(tress_signing_key_pem(signing, &pem));
    OK(tress_verifying_key_pem(verifying, &public_pem));
    write_file(argv[2], tress_buffer_data(pem), tress_buffer_length(pem));
    write_file(argv[3], tress_buffer_data(public_pem), tress_buffer_length(public_pem));
    tress_buffer_free(pem), tress_buffer_free(public_pem);
    tress_signing_key_free(signing), tress_verifying_key_free(verifying);
    return 0;
  }
  CHECK(argc >= 7);
  size_t length = read_file(argv[2], key, sizeof key);
  if (argc > 7) {
    EXPECT(TRESS_KEY_ENCRYPTED, tress_signing_key_read(key, length, NULL, argv[1], &signing));
    EXPECT(TRESS_WRONG_PASSPHRASE, tress_signing_key_read(key, length, "wrong", argv[1], &signing));
    for (uint8_t limit = 0; limit < 48; limit += 24)
      EXPECT(TRESS_WORK_FACTOR, tress_signing_key_read_up_to(key, length, argv[7], argv[1], limit, &signing));
    EXPECT(TRESS_WORK_FACTOR, tress_signing_key_read_up_to(key, length, argv[7], argv[1], 1, &signing));
  }
  OK(tress_signing_key_read(key, length, argc > 7 ? argv[7] : NULL, argv[1], &signing));
  length = read_file(argv[3], key, sizeof key);
  OK(tress_verifying_key_read(key, length, argv[1], &verifying));
  OK(tress_signing_key_public(signing, &derived));
  size_t message_length = read_file(argv[4], message, sizeof message);
  size_t their_length = read_file(argv[6], signature, sizeof signature);
  OK(tress_verify(verifying, message, message_length, signature, their_length));
  OK(tress_verify(derived, message, message_length, signature, their_length));
  message[0] ^= 1;
  EXPECT(TRESS_MISMATCH, tress_verify(verifying, message, message_length, signature, their_length));
  message[0] ^= 1;
  OK(tress_sign(signing, message, message_length, signature, sizeof signature, &length));
  write_file(argv[5], signature, length);
  tress_signing_key_free(signing), tress_verifying_key_free(verifying), tress_verifying_key_free(derived);
  return 0;
}
