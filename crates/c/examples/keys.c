/* Prepares keys in memory of the program, for packets that have a key each. */
#include <stdlib.h>
#include <tress-cipher.h>

int main(void) {
  enum { KEYS = 32 };
  size_t bytes = tress_cipher_bytes();
  unsigned char *memory = malloc(KEYS * bytes); /* Once for all batches. */
  tress_cipher *keys[KEYS];
  uint8_t key[16] = {1}, nonce[13] = {2}, data[64] = {0}, tag[8]; /* Real keys are random. */
  if (memory == NULL) return 1;
  for (int i = 0; i < KEYS; i++) {
    void *place = memory + (size_t)i * bytes;
    if (tress_cipher_init(place, bytes, "aes-128", key, sizeof key, &keys[i]) != TRESS_OK) return 1;
  }
  /* One message here; arrays of jobs take these handles as well. */
  tress_status status = tress_ccm_encrypt(keys[7], nonce, 13, NULL, 0, data, data, 64, tag, 8);
  if (status != TRESS_OK) return 1;
  for (int i = 0; i < KEYS; i++) tress_cipher_wipe(keys[i]);
  free(memory);
  return 0;
}
