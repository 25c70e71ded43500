/* Encrypts a device's message for a peer: PIPO-64/128 in CTR. Build with `make example`.
 *
 * CTR hides a message but does not protect it from changes; send a MAC with it. */
#include <stdio.h>
#include <string.h>

#include "tress_rv32.h"

int main(void)
{
    static const uint8_t key_bytes[16] = { 0x97, 0x22, 0x15, 0x2e, 0xad, 0x20, 0x1d, 0x7e,
                                           0xd2, 0x28, 0x94, 0x77, 0xdd, 0x16, 0xc4, 0x6d };
    static tress_pipo128_key key; /* 224 bytes, prepared once */
    tress_pipo_nonce nonce;
    uint8_t message[] = "21.5 degrees, 47 % humidity";

    /* A nonce must be used only once with a key: here it is the number of the message. */
    const uint8_t message_number[6] = { 1 };

    if (tress_pipo128_set_key(&key, key_bytes) || tress_pipo128_set_nonce(&nonce, &key, message_number))
        return 1;
    if (tress_pipo128_ctr(&key, &nonce, 0, message, message, sizeof message))
        return 1;
    for (size_t i = 0; i < sizeof message; i++)
        printf("%02x", message[i]);
    printf("\n");
    if (tress_pipo128_ctr(&key, &nonce, 0, message, message, sizeof message))
        return 1;
    printf("%s\n", (char *)message);

    /* An invalid call returns an error and writes nothing. */
    printf("past the counter's end: %d\n", tress_pipo128_ctr(&key, &nonce, 65535, message, message, sizeof message));
    tress_wipe(&key, sizeof key);
    return 0;
}
