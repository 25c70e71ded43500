# PIPO on RV32I: ECB of groups of four blocks, with a prepared key.
#
# void tress_pipo128_encrypt4(const uint32_t key[28], const uint8_t *in, uint8_t *out, size_t groups);
# and decrypt4; tress_pipo256_: key[46]. in and out are aligned to four bytes, and are equal or do not overlap; groups may
# be zero.
# No branch and no address depends on key or data. Stack: 96 bytes.

# Variables on the stack: the end of the input, and the distance from the input to the output.
.set END, OWN
.set DISTANCE, OWN + 4

.macro ENTER_ECB4 words
    beqz  a3, 9f
    ENTER
    slli  a3, a3, 5
    add   a3, a3, a1
    sub   a2, a2, a1
    sw    a3, END(sp)
    sw    a2, DISTANCE(sp)
    mv    t5, a0
    mv    t6, a1
    MASKS
    LOAD_KEYS_OF \words
.endm

.macro ECB4 name, words
FUNCTION tress_pipo\name\()_encrypt4
    ENTER_ECB4 \words
1:  LOAD_BLOCKS t6
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    WHITEN \words
    ROUNDS \words
    UNPACK s0, s1, a0, a1, a2, a3, a4, a5
    lw    t0, DISTANCE(sp)
    lw    t1, END(sp)
    add   t0, t0, t6
    addi  t6, t6, 32
    STORE_BLOCKS s0, s1, a0, a1, a2, a3, a4, a5, t0
    bne   t6, t1, 1b
    LEAVE
9:  ret
END_FUNCTION tress_pipo\name\()_encrypt4

FUNCTION tress_pipo\name\()_decrypt4
    ENTER_ECB4 \words
1:  LOAD_BLOCKS t6
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    INVERSE_ROUNDS \words
    UNPACK s1, a5, a0, a4, a3, a2, a1, s0
    lw    t0, DISTANCE(sp)
    lw    t1, END(sp)
    add   t0, t0, t6
    addi  t6, t6, 32
    STORE_BLOCKS s1, a5, a0, a4, a3, a2, a1, s0, t0
    bne   t6, t1, 1b
    LEAVE
9:  ret
END_FUNCTION tress_pipo\name\()_decrypt4
.endm

ECB4 128, 2
ECB4 256, 4
