# PIPO on RV32I: CBC of four blocks at a time: decryption of one message, encryption of four.
#
# void tress_pipo128_cbc_decrypt4(const uint32_t key[28], uint8_t chain[8], const uint8_t *in, uint8_t *out, size_t groups);
# void tress_pipo128_cbc_x4(const uint32_t key[28], uint8_t chains[32], const uint8_t *const in[4],
#                                   uint8_t *const out[4], size_t blocks);
# and tress_pipo256_: key[46]. The key of cbc_x4 may be prepared from four keys, one for each message; blocks is the number
# of blocks of each message. chain is the IV and is set to the last ciphertext block. All pointers are aligned to four
# bytes; in and out are equal or do not overlap. No branch and no address depends on key or data. Stack: 96 bytes, 112 for
# cbc_x4.

.set END, OWN
.set DISTANCE, OWN + 4
.set CHAIN, OWN + 8             # its address
.set CHAIN0, OWN + 12           # its words
.set CHAIN1, OWN + 16
.set INPUTS, OWN + 8
.set OUTPUTS, OWN + 24

# XORs a block of message n, t6 bytes from its beginning, into two words.
.macro ADD_BLOCK_OF n, x0, x1
    lw    t0, INPUTS+4*\n(sp)
    add   t0, t0, t6
    lw    t1, 0(t0)
    lw    t2, 4(t0)
    xor   \x0, \x0, t1
    xor   \x1, \x1, t2
.endm

.macro STORE_BLOCK_OF n, x0, x1
    lw    t0, OUTPUTS+4*\n(sp)
    add   t0, t0, t6
    sw    \x0, 0(t0)
    sw    \x1, 4(t0)
.endm

.macro CBC4 name, words
FUNCTION tress_pipo\name\()_cbc_decrypt4
    beqz  a4, 9f
    ENTER
    slli  a4, a4, 5
    add   a4, a4, a2
    lw    t0, 0(a1)
    lw    t1, 4(a1)
    sub   a3, a3, a2
    sw    a4, END(sp)
    sw    a3, DISTANCE(sp)
    sw    a1, CHAIN(sp)
    sw    t0, CHAIN0(sp)
    sw    t1, CHAIN1(sp)
    mv    t5, a0
    mv    t6, a2
    MASKS
    LOAD_KEYS_OF \words
1:  LOAD_BLOCKS t6
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    INVERSE_ROUNDS \words
    UNPACK s1, a5, a0, a4, a3, a2, a1, s0
    lw    t0, CHAIN0(sp)        # block 0 is in s1 a3, 1 in a0 a1, 2 in a5 a2, 3 in a4 s0
    lw    t1, CHAIN1(sp)
    lw    t2, 0(t6)
    xor   s1, s1, t0
    xor   a3, a3, t1
    lw    t0, 4(t6)
    lw    t1, 8(t6)
    xor   a0, a0, t2
    xor   a1, a1, t0
    lw    t2, 12(t6)
    lw    t0, 16(t6)
    xor   a5, a5, t1
    xor   a2, a2, t2
    lw    t1, 20(t6)
    lw    t2, 24(t6)
    xor   a4, a4, t0
    lw    t0, 28(t6)
    xor   s0, s0, t1
    sw    t2, CHAIN0(sp)
    sw    t0, CHAIN1(sp)
    lw    t0, DISTANCE(sp)
    lw    t1, END(sp)
    add   t0, t0, t6
    addi  t6, t6, 32
    STORE_BLOCKS s1, a5, a0, a4, a3, a2, a1, s0, t0
    bne   t6, t1, 1b
    lw    t0, CHAIN(sp)
    lw    t1, CHAIN0(sp)
    lw    t2, CHAIN1(sp)
    sw    t1, 0(t0)
    sw    t2, 4(t0)
    LEAVE
9:  ret
END_FUNCTION tress_pipo\name\()_cbc_decrypt4

FUNCTION tress_pipo\name\()_cbc_x4
    beqz  a4, 9f
    ENTER 112
    slli  a4, a4, 3
    sw    a4, END(sp)
    lw    t0, 0(a2)
    lw    t1, 4(a2)
    lw    t2, 8(a2)
    lw    t3, 12(a2)
    sw    t0, INPUTS+0(sp)
    sw    t1, INPUTS+4(sp)
    sw    t2, INPUTS+8(sp)
    sw    t3, INPUTS+12(sp)
    lw    t0, 0(a3)
    lw    t1, 4(a3)
    lw    t2, 8(a3)
    lw    t3, 12(a3)
    sw    t0, OUTPUTS+0(sp)
    sw    t1, OUTPUTS+4(sp)
    sw    t2, OUTPUTS+8(sp)
    sw    t3, OUTPUTS+12(sp)
    mv    t5, a0
    mv    t6, a1
    sw    a1, DISTANCE(sp)
    MASKS
    LOAD_KEYS_OF \words
    LOAD_BLOCKS t6
    li    t6, 0
1:  ADD_BLOCK_OF 0, s0, a2
    ADD_BLOCK_OF 1, a0, a4
    ADD_BLOCK_OF 2, s1, a3
    ADD_BLOCK_OF 3, a1, a5
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    WHITEN \words
    ROUNDS \words
    UNPACK s0, s1, a0, a1, a2, a3, a4, a5
    STORE_BLOCK_OF 0, s0, a2
    STORE_BLOCK_OF 1, a0, a4
    STORE_BLOCK_OF 2, s1, a3
    STORE_BLOCK_OF 3, a1, a5
    lw    t1, END(sp)
    addi  t6, t6, 8
    bne   t6, t1, 1b
    lw    t0, DISTANCE(sp)
    STORE_BLOCKS s0, s1, a0, a1, a2, a3, a4, a5, t0
    LEAVE 112
9:  ret
END_FUNCTION tress_pipo\name\()_cbc_x4
.endm

CBC4 128, 2
CBC4 256, 4
