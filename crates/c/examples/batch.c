/* Signs and verifies a batch of messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tress.h>

enum { MESSAGES = 16 };

static void check(tress_status status) {
  if (status == TRESS_OK) return;
  fprintf(stderr, "batch: %s\n", tress_last_error());
  exit(1);
}

int main(void) {
  /* A new DSA key takes no time, a new RSA key seconds. tress_signing_key_read reads the keys of OpenSSL (PEM or DER). */
  tress_signing_key *key;
  tress_verifying_key *public_key;
  check(tress_signing_key_generate("dsa-2048", "dsa-sha256", &key));
  check(tress_signing_key_public(key, &public_key));

  uint8_t digests[MESSAGES][32];
  size_t room = tress_signing_key_signature_bytes(key), digest_length, failed;
  uint8_t *signatures = malloc(MESSAGES * room);
  if (signatures == NULL) return 1;
  tress_sign_job sign[MESSAGES];
  tress_verify_job verify[MESSAGES];
  memset(sign, 0, sizeof sign);
  memset(verify, 0, sizeof verify);
  for (int i = 0; i < MESSAGES; i++) {
    char message[32];
    int length = snprintf(message, sizeof message, "message %d", i);
    check(tress_digest("dsa-sha256", (uint8_t *)message, (size_t)length, digests[i], 32, &digest_length));
    sign[i].key = key;
    sign[i].digest = digests[i];
    sign[i].digest_length = digest_length;
    sign[i].signature = signatures + (size_t)i * room;
    sign[i].capacity = room;
  }
  check(tress_sign_jobs(sign, MESSAGES, NULL));

  for (int i = 0; i < MESSAGES; i++) {
    verify[i].key = public_key;
    verify[i].digest = digests[i];
    verify[i].digest_length = digest_length;
    verify[i].signature = sign[i].signature;
    verify[i].signature_length = sign[i].signature_length;
  }
  digests[3][0] ^= 1; /* Differs from the signed digest. */
  tress_status status = tress_verify_jobs(verify, MESSAGES, &failed);
  printf("%s: %zu of %d signatures are not valid; number 3: %s\n", tress_status_text(status), failed, MESSAGES,
         tress_status_text(verify[3].status));

  free(signatures);
  tress_verifying_key_free(public_key);
  tress_signing_key_free(key);
  return failed == 1 ? 0 : 1;
}
