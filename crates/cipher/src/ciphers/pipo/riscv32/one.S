# PIPO on RV32I: one block at a time, with a key prepared for one block. Data needs no alignment.
#
# void tress_pipo128_encrypt1(const uint32_t key[28], const uint8_t *in, uint8_t *out, size_t blocks);
# and decrypt1; tress_pipo256_: key[46].
# void tress_pipo128_cbc_encrypt1(const uint32_t key[28], uint8_t chain[8], const uint8_t *in, uint8_t *out, size_t blocks);
# void tress_pipo128_ctr1(const uint32_t key[28], const uint32_t nonce[6], uint32_t counter, const uint8_t *in,
#                         uint8_t *out, size_t blocks); nonce is prepared by tress_pipo_nonce1.
# in and out are equal or do not overlap. No branch and no address depends on key or data. Stack: 96 bytes.

.set END, OWN
.set NONCE, OWN + 4
.set COUNTER, OWN + 8
.set CHAIN, OWN + 12

# t6 is the input, ra the output.
.macro ENTER_ECB1 words
    beqz  a3, 9f
    ENTER
    slli  a3, a3, 3
    add   a3, a3, a1
    sw    a3, END(sp)
    mv    t5, a0
    mv    t6, a1
    mv    ra, a2
    LOAD_KEYS_OF \words
.endm

.macro NEXT1
    lw    t1, END(sp)
    addi  t6, t6, 8
    addi  ra, ra, 8
    bne   t6, t1, 1b
    LEAVE
9:  ret
.endm

.macro ONE name, words
FUNCTION tress_pipo\name\()_encrypt1
    ENTER_ECB1 \words
1:  LOAD_ROWS s0, s1, a0, a1, a2, a3, a4, a5, t6
    REPEAT_ALL
    WHITEN1
    ROUND1 1, \words
    ROUNDS1_AFTER \words
    STORE_ROWS s0, s1, a0, a1, a2, a3, a4, a5, ra
    NEXT1
END_FUNCTION tress_pipo\name\()_encrypt1

FUNCTION tress_pipo\name\()_decrypt1
    ENTER_ECB1 \words
1:  LOAD_ROWS s0, s1, a0, a1, a2, a3, a4, a5, t6
    REPEAT_ALL
    INVERSE_ROUNDS1 \words
    STORE_ROWS s1, a5, a0, a4, a3, a2, a1, s0, ra
    NEXT1
END_FUNCTION tress_pipo\name\()_decrypt1

FUNCTION tress_pipo\name\()_cbc_encrypt1
    beqz  a4, 9f
    ENTER
    slli  a4, a4, 3
    add   a4, a4, a2
    sw    a4, END(sp)
    sw    a1, CHAIN(sp)
    mv    t5, a0
    mv    t6, a2
    mv    ra, a3
    mv    t0, a1
    LOAD_KEYS_OF \words
    LOAD_ROWS s0, s1, a0, a1, a2, a3, a4, a5, t0
1:  lbu   t0, 0(t6)
    lbu   t1, 1(t6)
    lbu   t2, 2(t6)
    xor   s0, s0, t0
    lbu   t0, 3(t6)
    xor   s1, s1, t1
    lbu   t1, 4(t6)
    xor   a0, a0, t2
    lbu   t2, 5(t6)
    xor   a1, a1, t0
    lbu   t0, 6(t6)
    xor   a2, a2, t1
    lbu   t1, 7(t6)
    xor   a3, a3, t2
    xor   a4, a4, t0
    xor   a5, a5, t1
    andi  s0, s0, 255
    andi  s1, s1, 255
    andi  a0, a0, 255
    andi  a1, a1, 255
    andi  a2, a2, 255
    andi  a3, a3, 255
    andi  a4, a4, 255
    andi  a5, a5, 255
    REPEAT_ALL
    WHITEN1
    ROUND1 1, \words
    ROUNDS1_AFTER \words
    STORE_ROWS s0, s1, a0, a1, a2, a3, a4, a5, ra
    lw    t1, END(sp)
    addi  t6, t6, 8
    addi  ra, ra, 8
    bne   t6, t1, 1b
    lw    t0, CHAIN(sp)
    STORE_ROWS s0, s1, a0, a1, a2, a3, a4, a5, t0
    LEAVE
9:  ret
END_FUNCTION tress_pipo\name\()_cbc_encrypt1

FUNCTION tress_pipo\name\()_ctr1
    beqz  a5, 9f
    ENTER
    slli  a5, a5, 3
    add   a5, a5, a3
    sw    a5, END(sp)
    sw    a1, NONCE(sp)
    sw    a2, COUNTER(sp)
    mv    t5, a0
    mv    t6, a3
    mv    ra, a4
    LOAD_KEYS_OF \words
1:  lw    t1, COUNTER(sp)
    lw    t2, NONCE(sp)
    srli  a4, t1, 8
    andi  a5, t1, 255
    addi  t1, t1, 1
    sw    t1, COUNTER(sp)
    LOAD_NONCE
    REPEAT a4
    REPEAT a5
    xor   a4, a4, s7
    xor   a5, a5, s8
    S_LAYER_AFTER_NONCE s0, s1, a0, a1, a2, a3, a4, a5
    TURN1 1, \words
    ROUNDS1_AFTER \words
    lbu   t0, 0(t6)
    lbu   t1, 1(t6)
    lbu   t2, 2(t6)
    xor   s0, s0, t0
    lbu   t0, 3(t6)
    xor   s1, s1, t1
    lbu   t1, 4(t6)
    xor   a0, a0, t2
    lbu   t2, 5(t6)
    xor   a1, a1, t0
    lbu   t0, 6(t6)
    xor   a2, a2, t1
    lbu   t1, 7(t6)
    xor   a3, a3, t2
    xor   a4, a4, t0
    xor   a5, a5, t1
    STORE_ROWS s0, s1, a0, a1, a2, a3, a4, a5, ra
    NEXT1
END_FUNCTION tress_pipo\name\()_ctr1
.endm

ONE 128, 2
ONE 256, 4
