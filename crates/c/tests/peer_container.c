/* Generates an identity file, and encrypts another file to it: peer_container IDENTITY PLAIN CONTAINER AEAD */
#include "check.h"
#include <tress.h>

static int write_out(void *file, const uint8_t *data, size_t length) { return fwrite(data, 1, length, file) != length; }

int main(int argc, char **argv) {
  static uint8_t piece[5000];
  CHECK(argc == 5);
  FILE *identity = fopen(argv[1], "wb"), *plain = fopen(argv[2], "rb"), *container = fopen(argv[3], "wb");
  CHECK(identity != NULL && plain != NULL && container != NULL);
  tress_keypair *pair;
  OK(tress_keypair_generate(&pair));
  CHECK(fputs(tress_keypair_identity(pair), identity) >= 0 && fclose(identity) == 0);
  tress_recipients *recipients = tress_recipients_new();
  OK(tress_recipients_add(recipients, tress_keypair_recipient(pair)));
  tress_options options = {0};
  options.aead = argv[4];
  tress_encryptor *encryptor;
  OK(tress_encryptor_new(recipients, &options, write_out, container, &encryptor));
  for (size_t length; (length = fread(piece, 1, sizeof piece, plain)) > 0;) OK(tress_encryptor_push(encryptor, piece, length));
  OK(tress_encryptor_finish(encryptor));
  CHECK(fclose(container) == 0);
  fclose(plain);
  tress_encryptor_free(encryptor), tress_recipients_free(recipients), tress_keypair_free(pair);
  return 0;
}
