/* Encrypts a packet twice, in regions that --regions reports: the first time the code comes from flash. -DBYTES=16 sets its length. */
#include "tress_rv32.h"

/* The regions that --regions reports. */
__asm__(".globl __region_1_cold\n.set __region_1_cold, 1\n.globl __region_2_warm\n.set __region_2_warm, 2");

static tress_aes_key key;

static void packet(void)
{
    static uint8_t nonce[13]; /* a counter, in RAM */
    uint8_t data[BYTES] = { 0 }, tag[8];

    tress_aes_ccm_encrypt(&key, nonce, sizeof nonce, NULL, 0, data, sizeof data, tag, sizeof tag);
}

int main(void)
{
    tress_aes_set_key(&key, (const uint8_t *)"everybody knows.", 16);
    __asm__ volatile("slti x0, x0, 1" ::: "memory");
    packet();
    __asm__ volatile("slti x0, x0, 2" ::: "memory");
    packet();
    __asm__ volatile("slti x0, x0, 0" ::: "memory");
    return 0;
}
