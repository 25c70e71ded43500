/* If there is no memory for a batch, no job of it has the status TRESS_OK. */
#include <sys/resource.h>

#include "check.h"
#include <tress.h>

enum { COUNT = 1000000 };

int main(void) {
  tress_signing_key *key;
  tress_verifying_key *public_key;
  OK(tress_signing_key_generate("schnorr-2048", NULL, &key));
  OK(tress_signing_key_public(key, &public_key));
  static uint8_t digest[32], signature[64];
  /* calloc sets every status to 0, which is TRESS_OK. */
  tress_sign_job *sign = calloc(COUNT, sizeof *sign);
  tress_verify_job *verify = calloc(COUNT, sizeof *verify);
  CHECK(sign != NULL && verify != NULL);
  for (size_t i = 0; i < COUNT; i++) {
    sign[i].key = key, sign[i].digest = digest, sign[i].digest_length = 32;
    sign[i].signature = signature, sign[i].capacity = sizeof signature;
    verify[i].key = i == 7 ? NULL : public_key, verify[i].digest = digest, verify[i].digest_length = 32;
    verify[i].signature = signature, verify[i].signature_length = sizeof signature;
  }
  /* Existing memory stays; an allocation as large as the jobs fails. */
  struct rlimit limit = {1, 1};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  EXPECT(TRESS_MEMORY, tress_sign_jobs(sign, COUNT, NULL));
  EXPECT(TRESS_MEMORY, tress_verify_jobs(verify, COUNT, NULL));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(sign[i].status == TRESS_MEMORY && sign[i].signature_length == 0);
    CHECK(verify[i].status == (i == 7 ? TRESS_NULL : TRESS_MEMORY));
  }
  free(sign), free(verify);
  tress_signing_key_free(key), tress_verifying_key_free(public_key);
  puts("a batch without memory: no job is TRESS_OK");
  return 0;
}
