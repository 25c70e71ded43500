/* Encrypts four samples, the first packet of docs/reference/formats/node.md. */
#include <stdio.h>

#include "tress_rv32.h"

static tress_aes_key key; /* 2408 bytes, prepared once */

int main(void)
{
    static const uint8_t key_bytes[16] = "everybody knows.";
    static const uint8_t nonce[13] = "\x14" "example0"; /* never twice with a key: a counter goes here */
    uint8_t samples[] = { 0x08, 0x67, 0x12, 0x5c, 0x08, 0x68, 0x12, 0x5e, 0x08, 0x70, 0x12, 0x67, 0x08, 0x79, 0x12, 0x6f };
    uint8_t tag[8];

    if (tress_aes_set_key(&key, key_bytes, sizeof key_bytes) ||
        tress_aes_ccm_encrypt(&key, nonce, sizeof nonce, NULL, 0, samples, sizeof samples, tag, sizeof tag))
        return 1;
    for (unsigned i = 0; i < sizeof samples; i++)
        printf("%02x", samples[i]);
    printf(" ");
    for (unsigned i = 0; i < sizeof tag; i++)
        printf("%02x", tag[i]);
    printf("\n");
    tress_wipe(&key, sizeof key);
    return 0;
}
