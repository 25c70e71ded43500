/* Encrypts and verifies a thousand packets of ten devices in parallel lanes. Each device has a separate key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tress-cipher.h>

enum { DEVICES = 10, PACKETS = 1000, BYTES = 600 };

struct packet {
  uint8_t nonce[12]; /* Never used twice with one key. */
  uint8_t header[8]; /* Authenticated, not encrypted. */
  uint8_t data[BYTES];
  uint8_t tag[16];
};

static struct packet packets[PACKETS];

static void check(tress_status status) {
  if (status == TRESS_OK) return;
  fprintf(stderr, "packets: %s\n", tress_last_error());
  exit(1);
}

int main(void) {
  tress_cipher *keys[DEVICES];
  for (int i = 0; i < DEVICES; i++) {
    uint8_t key[16] = {(uint8_t)i}; /* Real keys must be random. */
    check(tress_cipher_new("aes-128", key, sizeof key, &keys[i]));
  }
  printf("backend %s\n", tress_cipher_backend(keys[0]));

  tress_ccm_job jobs[PACKETS];
  memset(jobs, 0, sizeof jobs);
  for (int i = 0; i < PACKETS; i++) {
    struct packet *packet = &packets[i];
    memcpy(packet->nonce, &i, sizeof i);
    memset(packet->data, 'a' + i % 26, BYTES);
    jobs[i].cipher = keys[i % DEVICES];
    jobs[i].nonce = packet->nonce;
    jobs[i].nonce_length = sizeof packet->nonce;
    jobs[i].aad = packet->header;
    jobs[i].aad_length = sizeof packet->header;
    jobs[i].input = jobs[i].output = packet->data; /* In place is fastest. */
    jobs[i].length = BYTES;
    jobs[i].tag = jobs[i].tag_output = packet->tag;
    jobs[i].tag_length = sizeof packet->tag;
  }
  check(tress_ccm_encrypt_jobs(jobs, PACKETS, NULL));

  packets[17].header[0] ^= 1; /* An attacker changes packet 17. */
  size_t forged;
  if (tress_ccm_decrypt_jobs(jobs, PACKETS, &forged) == TRESS_JOBS)
    for (int i = 0; i < PACKETS; i++)
      if (jobs[i].status != TRESS_OK) printf("packet %d: %s\n", i, tress_status_text(jobs[i].status));
  printf("%zu forged, packet 18 begins with %.5s\n", forged, (char *)packets[18].data);

  for (int i = 0; i < DEVICES; i++) tress_cipher_free(keys[i]);
  return forged == 1 ? 0 : 1;
}
