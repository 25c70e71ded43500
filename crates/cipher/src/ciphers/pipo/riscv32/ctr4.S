# PIPO on RV32I: CTR of groups of four blocks, with a prepared key and a prepared nonce.
#
# void tress_pipo128_ctr4(const uint32_t key[28], const uint32_t nonce[6], uint32_t group, const uint8_t *in, uint8_t *out,
#                         size_t groups);
# and tress_pipo256_ctr4: key[46]. Group g has the blocks with the counters 4g to 4g + 3; group + groups is at most 2^14. in
# and out are aligned to four bytes, and are equal or do not overlap. No branch and no address depends on key or data (some
# depend on the counter). Stack: 224 bytes.
#
# Rows 0 to 5 of a counter block belong to the nonce; row 6 is the counter's high byte, row 7 its low one. So half of the
# first S-layer is constant. The S-layer works on each column separately, so one bit of the counter changes the state after
# round 1 by the same difference, whatever the other bits are. Of four groups that differ in two bits, the states of three
# are that of the first XOR a difference. The first four groups of each high byte store these differences on the stack.

.set END, OWN
.set DISTANCE, OWN + 4
.set NONCE, OWN + 8
.set GROUP, OWN + 12
.set HIGH, OWN + 16             # row 6 with its key
.set KNOWN, OWN + 20            # 1: the differences are stored, -1: only FIRST is, 0: nothing is
.set FIRST, OWN + 24            # the state after round 1 of the first group of four
.set DIFFERENCE, FIRST          # of group n of the four, at DIFFERENCE + 32 n

# Stores a row's difference to FIRST at t2.
.macro LEARN x, row
    lw    t0, FIRST+4*\row(sp)
    xor   t0, t0, \x
    sw    t0, DIFFERENCE+4*\row(t2)
.endm

.macro CTR4 name, words
FUNCTION tress_pipo\name\()_ctr4
    beqz  a5, 9f
    ENTER 224
    slli  a5, a5, 5
    add   a5, a5, a3
    sub   a4, a4, a3
    sw    a5, END(sp)
    sw    a4, DISTANCE(sp)
    sw    a1, NONCE(sp)
    sw    a2, GROUP(sp)
    mv    t5, a0
    mv    t6, a3
    MASKS
    LOAD_KEYS_OF \words
0:  lw    t0, GROUP(sp)             # a new high byte
    sw    zero, KNOWN(sp)
    srli  t0, t0, 6
    SPREAD t0, t1, t2
    xor   t0, t0, s7
    sw    t0, HIGH(sp)
1:  lw    t0, GROUP(sp)
    lw    t2, KNOWN(sp)
    andi  t1, t0, 3
    beqz  t1, 2f
    bgtz  t2, 5f
2:  andi  t0, t0, 63                # round 1 in full
    slli  t0, t0, 2
    lw    s1, NONCE(sp)
    SPREAD t0, t1, t2
    xori  t0, t0, 0xca              # the two lowest bits are the number of the lane
    mv    t2, s1
    xor   a5, t0, s8
    LOAD_NONCE
    lw    a4, HIGH(sp)
    S_LAYER_AFTER_NONCE s0, s1, a0, a1, a2, a3, a4, a5
    R_LAYER s0, s1, a0, a1, a2, a3, a4, a5, 4(t5)
    ADD_KEY 1, \words, s1, a0, a1, a2, a3, a4, a5
    lw    t2, GROUP(sp)
    lw    t1, KNOWN(sp)
    andi  t2, t2, 3
    bnez  t2, 3f
    sw    s0, FIRST+0(sp)
    sw    s1, FIRST+4(sp)
    sw    a0, FIRST+8(sp)
    sw    a1, FIRST+12(sp)
    sw    a2, FIRST+16(sp)
    sw    a3, FIRST+20(sp)
    sw    a4, FIRST+24(sp)
    sw    a5, FIRST+28(sp)
    bnez  t1, 6f
    li    t1, -1
    sw    t1, KNOWN(sp)
    j     6f
3:  bgez  t1, 6f                    # the first group of these four is not in this call
    addi  t1, t2, -3
    slli  t2, t2, 5
    add   t2, t2, sp
    LEARN s0, 0
    LEARN s1, 1
    LEARN a0, 2
    LEARN a1, 3
    LEARN a2, 4
    LEARN a3, 5
    LEARN a4, 6
    LEARN a5, 7
    bnez  t1, 6f
    li    t1, 1
    sw    t1, KNOWN(sp)
    j     6f
5:  slli  t1, t1, 5                 # round 1 from the first group's state and a difference
    add   t1, t1, sp
    lw    s0, FIRST+0(sp)
    lw    t0, DIFFERENCE+0(t1)
    lw    s1, FIRST+4(sp)
    xor   s0, s0, t0
    lw    t2, DIFFERENCE+4(t1)
    lw    a0, FIRST+8(sp)
    xor   s1, s1, t2
    lw    t0, DIFFERENCE+8(t1)
    lw    a1, FIRST+12(sp)
    xor   a0, a0, t0
    lw    t2, DIFFERENCE+12(t1)
    lw    a2, FIRST+16(sp)
    xor   a1, a1, t2
    lw    t0, DIFFERENCE+16(t1)
    lw    a3, FIRST+20(sp)
    xor   a2, a2, t0
    lw    t2, DIFFERENCE+20(t1)
    lw    a4, FIRST+24(sp)
    xor   a3, a3, t2
    lw    t0, DIFFERENCE+24(t1)
    lw    a5, FIRST+28(sp)
    xor   a4, a4, t0
    lw    t2, DIFFERENCE+28(t1)
    xor   a5, a5, t2
6:  ROUNDS_AFTER \words
    UNPACK s0, s1, a0, a1, a2, a3, a4, a5
    ADD_BLOCKS s0, s1, a0, a1, a2, a3, a4, a5, t6
    lw    t0, DISTANCE(sp)
    lw    t1, END(sp)
    lw    t2, GROUP(sp)
    add   t0, t0, t6
    addi  t6, t6, 32
    STORE_BLOCKS s0, s1, a0, a1, a2, a3, a4, a5, t0
    addi  t2, t2, 1
    sw    t2, GROUP(sp)
    andi  t2, t2, 63
    beq   t6, t1, 8f
    bnez  t2, 1b
    j     0b
8:  .irp word, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    sw    zero, FIRST+4*\word(sp)
    sw    zero, FIRST+64+4*\word(sp)
    .endr
    sw    zero, HIGH(sp)
    LEAVE 224
9:  ret
END_FUNCTION tress_pipo\name\()_ctr4
.endm

CTR4 128, 2
CTR4 256, 4
