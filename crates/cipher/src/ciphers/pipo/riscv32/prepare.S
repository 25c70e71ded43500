# PIPO on RV32I: the preparation of keys and nonces.
#
# void tress_pipo_prepare4(uint32_t *prepared, const uint32_t *keys, size_t words);
#   for the four-block kernels, from four consecutive keys (all equal, or one for each lane). words is the number of 64-bit
#   words of a key: 2 or 4. prepared has 28 or 46 words.
# void tress_pipo_prepare1(uint32_t *prepared, const uint8_t *key, size_t words);
#   for the one-block kernels.
# void tress_pipo_nonce4(uint32_t nonce[6], const uint32_t *prepared, const uint8_t bytes[6], size_t words);
#   for the four-block CTR, whose four keys must be equal. nonce1 is for the one-block CTR.
# No branch and no address depends on key or nonce. Stack: prepare4 96 bytes, the others none.

FUNCTION tress_pipo_prepare4
    ENTER
    MASKS
    mv    t5, a0
    mv    t6, a1
    slli  s2, a2, 3             # the distance between keys
    addi  s3, s2, 40
    add   s3, s3, a0            # rows 1 to 7
    mv    s4, a2
    li    s5, 0
    slli  s6, a2, 1
    addi  s6, s6, 9             # rounds
1:  lw    s0, 0(t6)
    lw    a2, 4(t6)
    add   t3, t6, s2
    lw    a0, 0(t3)
    lw    a4, 4(t3)
    add   t3, t3, s2
    lw    s1, 0(t3)
    lw    a3, 4(t3)
    add   t3, t3, s2
    lw    a1, 0(t3)
    lw    a5, 4(t3)
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    sw    s1, 0(s3)
    sw    a0, 4(s3)
    sw    a1, 8(s3)
    sw    a2, 12(s3)
    sw    a3, 16(s3)
    sw    a4, 20(s3)
    sw    a5, 24(s3)
    addi  s3, s3, 28
    mv    t3, s5
2:  mv    t4, t3
    SPREAD t4, t0, t1
    xor   t4, t4, s0
    slli  t0, t3, 2
    add   t0, t0, t5
    sw    t4, 0(t0)
    add   t3, t3, s4
    ble   t3, s6, 2b
    addi  t6, t6, 8
    addi  s5, s5, 1
    bne   s5, s4, 1b
    LEAVE
END_FUNCTION tress_pipo_prepare4

FUNCTION tress_pipo_prepare1
    slli  a3, a2, 3
    addi  a3, a3, 40
    add   a3, a3, a0            # rows 1 to 7
    li    a4, 0
    slli  a5, a2, 1
    addi  a5, a5, 9             # rounds
1:  lbu   a6, 0(a1)
    mv    a7, a4
    REPEAT a6
2:  mv    t1, a7
    REPEAT t1
    slli  t2, a7, 2
    add   t2, t2, a0
    xor   t1, t1, a6
    sw    t1, 0(t2)
    add   a7, a7, a2
    ble   a7, a5, 2b
    li    t3, 7
3:  lbu   t1, 1(a1)
    addi  a1, a1, 1
    addi  t3, t3, -1
    REPEAT t1
    sw    t1, 0(a3)
    addi  a3, a3, 4
    bnez  t3, 3b
    addi  a1, a1, 1
    addi  a4, a4, 1
    bne   a4, a2, 1b
    ret
END_FUNCTION tress_pipo_prepare1

.macro NONCE name, form:vararg
FUNCTION \name
    slli  a3, a3, 3
    add   a3, a3, a1
    li    t3, 6
    mv    t4, a0
1:  lbu   t2, 0(a2)
    addi  a2, a2, 1
    addi  t3, t3, -1
    \form
    sw    t2, 0(t4)
    addi  t4, t4, 4
    bnez  t3, 1b
    lw    t0, 0(a1)
    lw    a4, 0(a0)
    lw    t1, 40(a3)
    lw    a5, 4(a0)
    xor   a4, a4, t0
    lw    t0, 44(a3)
    lw    a6, 8(a0)
    xor   a5, a5, t1
    xor   a6, a6, t0
    and   t1, a5, a4
    xor   a6, a6, t1            # a2 of the S-layer's formulas
    or    t1, a6, a5
    xor   a4, a4, t1            # a0
    or    t1, a6, a4
    xor   a5, a5, t1            # a1
    not   a6, a6                # b2
    sw    a4, 0(a0)
    sw    a5, 4(a0)
    sw    a6, 8(a0)
    lw    t0, 48(a3)
    lw    a4, 12(a0)
    lw    t1, 52(a3)
    lw    a5, 16(a0)
    lw    t2, 56(a3)
    lw    a6, 20(a0)
    xor   a4, a4, t0
    xor   a5, a5, t1
    xor   a6, a6, t2
    sw    a4, 12(a0)
    sw    a5, 16(a0)
    sw    a6, 20(a0)
    ret
END_FUNCTION \name
.endm

NONCE tress_pipo_nonce4, SPREAD t2, t0, t1
NONCE tress_pipo_nonce1, REPEAT t2
