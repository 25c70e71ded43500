/* Encrypts under a key of 16 bytes and a context, for PyCA cryptography and others. */
#include <stdio.h>
#include <tress.h>

int main(void) {
  const uint8_t *key = (const uint8_t *)"16 unsafe bytes!"; /* Yours are random. */
  const uint8_t *context = (const uint8_t *)"backup";
  tress_recipients *to = tress_recipients_new();
  tress_identities *from = tress_identities_new();
  tress_buffer *sealed = NULL, *plain = NULL;
  if (tress_recipients_add_cobblestone_key(to, "cobblestone-128", key, 16, context, 6) != TRESS_OK ||
      tress_identities_add_cobblestone_key(from, "cobblestone-128", key, 16, context, 6) != TRESS_OK ||
      tress_encrypt((const uint8_t *)"side by side", 12, to, NULL, &sealed) != TRESS_OK ||
      tress_decrypt(tress_buffer_data(sealed), tress_buffer_length(sealed), from, 0, &plain) != TRESS_OK)
    return 1;
  printf("%.12s\n", (const char *)tress_buffer_data(plain));
  tress_buffer_free(sealed), tress_buffer_free(plain);
  tress_recipients_free(to), tress_identities_free(from);
  return 0;
}
