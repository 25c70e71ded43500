/* Overwriting secrets. */
#include "tress_rv32.h"

void tress_wipe(void *memory, size_t length)
{
    volatile uint8_t *byte = memory;
    while (length--)
        *byte++ = 0;
}
