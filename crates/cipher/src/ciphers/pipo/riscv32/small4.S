# PIPO on RV32I: ECB of groups of four blocks with little memory: no prepared key, and rounds in a loop.
#
# void tress_pipo128_small_encrypt4(const uint32_t key[4], const uint8_t *in, uint8_t *out, size_t groups);
# and small_decrypt4; tress_pipo256_: key[8]. key is the bytes of the key. All pointers are aligned to four bytes; in and
# out are equal or do not overlap. No branch and no address depends on key or data. Stack: 144 bytes, 208 with a key of 256
# bits.

.set END, OWN
.set DISTANCE, OWN + 4
.set ROW0, OWN + 8              # row 0 of all round keys
.set ROWS2, ROW0 + 72           # rows 1 to 7 of K2 and K3

# Copies a lane of a word to all lanes. t2 is 11111111.
.macro LANE out, in, lane
    .if \lane
    srli  \out, \in, \lane
    and   \out, \out, t2
    .else
    and   \out, \in, t2
    .endif
    slli  t0, \out, 4
    sub   \out, t0, \out
.endm

# Stores row 0 of key word w, in `row`, for each round key that uses the word, XORed with the number of the round.
.macro ROW0_KEYS row, w, words
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    .if (\i) & (\words - 1) == \w && (\i) <= 9 + 2 * \words
    .if \i == 0
    sw    \row, ROW0(sp)
    .else
    li    t0, (\i & 1) * 0xf | (\i >> 1 & 1) * 0xf0 | (\i >> 2 & 1) * 0xf00 | (\i >> 3 & 1) * 0xf000 | (\i >> 4) * 0xf0000
    xor   t0, t0, \row
    sw    t0, ROW0+4*\i(sp)
    .endif
    .endif
    .endr
.endm

# Loads two key words from t5. Their four halves are the lanes of s0 s1 a0 a1, which are rows 0 and 4, 1 and 5, and so on.
.macro KEY_WORDS
    lw    s0, 0(t5)
    lw    a0, 4(t5)
    lw    s1, 8(t5)
    lw    a1, 12(t5)
    lw    t2, 0(sp)
    SWAP  s0, a0, 1, ra
    SWAP  s1, a1, 1, ra
    SWAP  s0, s1, 2, t2
    SWAP  a0, a1, 2, t2
    lw    t2, 4(sp)
    SWAP  s0, a0, 4, t2
    SWAP  s1, a1, 4, t2
    lw    t2, 8(sp)
    SWAP  s0, s1, 8, t2
    SWAP  a0, a1, 8, t2
    SWAP_HALVES s0, a0
    SWAP_HALVES s1, a1
    li    t2, 0x11111111
.endm

.macro LANE_TO to, in, lane
    LANE  t1, \in, \lane
    sw    t1, \to(sp)
.endm

.macro SMALL_FRAME words, layer
    .if \words == 4
    \layer 208
    .else
    \layer 144
    .endif
.endm

.macro ENTER_SMALL4 words
    beqz  a3, 9f
    SMALL_FRAME \words, ENTER
    slli  a3, a3, 5
    add   a3, a3, a1
    sub   a2, a2, a1
    sw    a3, END(sp)
    sw    a2, DISTANCE(sp)
    mv    t5, a0
    mv    t6, a1
    MASKS
    .if \words == 4
    addi  t5, t5, 16
    KEY_WORDS
    LANE  t1, s0, 0
    ROW0_KEYS t1, 2, 4
    LANE  t1, s0, 2
    ROW0_KEYS t1, 3, 4
    LANE_TO ROWS2, s1, 0
    LANE_TO ROWS2+4, a0, 0
    LANE_TO ROWS2+8, a1, 0
    LANE_TO ROWS2+12, s0, 1
    LANE_TO ROWS2+16, s1, 1
    LANE_TO ROWS2+20, a0, 1
    LANE_TO ROWS2+24, a1, 1
    LANE_TO ROWS2+28, s1, 2
    LANE_TO ROWS2+32, a0, 2
    LANE_TO ROWS2+36, a1, 2
    LANE_TO ROWS2+40, s0, 3
    LANE_TO ROWS2+44, s1, 3
    LANE_TO ROWS2+48, a0, 3
    LANE_TO ROWS2+52, a1, 3
    addi  t5, t5, -16
    .endif
    KEY_WORDS
    LANE  t1, s0, 0
    ROW0_KEYS t1, 0, \words
    LANE  t1, s0, 2
    ROW0_KEYS t1, 1, \words
    LANE  s2, s1, 0
    LANE  s3, a0, 0
    LANE  s4, a1, 0
    LANE  s5, s0, 1
    LANE  s6, s1, 1
    LANE  s7, a0, 1
    LANE  s8, a1, 1
    LANE  s9, s1, 2
    LANE  s10, a0, 2
    LANE  s11, a1, 2
    LANE  a6, s0, 3
    LANE  a7, s1, 3
    LANE  t3, a0, 3
    LANE  t4, a1, 3
.endm

# Overwrites the keys on the stack.
.macro WIPE_KEYS words
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    sw    zero, ROW0+4*\i(sp)
    .if \words == 4
    sw    zero, ROWS2+4*\i(sp)
    .endif
    .endr
    .if \words == 4
    sw    zero, ROW0+56(sp)
    sw    zero, ROW0+60(sp)
    sw    zero, ROW0+64(sp)
    sw    zero, ROW0+68(sp)
    .endif
.endm

# Sets t0 to the output address. The blocks are the last ones if t6 = t1 afterwards.
.macro NEXT_SMALL4
    lw    t0, DISTANCE(sp)
    lw    t1, END(sp)
    add   t0, t0, t6
    addi  t6, t6, 32
.endm

# Round k of a loop over `words` rounds, after which the keys repeat. t5 is the base for row 0 of the round keys.
.macro SMALL_ROUND k, words
    S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    R_LAYER s0, s1, a0, a1, a2, a3, a4, a5, ROW0+4*\k(t5)
    SMALL_ROWS \k, \words, s1, a0, a1, a2, a3, a4, a5
.endm

.macro SMALL_ROWS k, words, x1, x2, x3, x4, x5, x6, x7
    .if (\k) & (\words - 1) < 2
    ADD_KEY \k, \words, \x1, \x2, \x3, \x4, \x5, \x6, \x7
    .else
    ADD_ROWS_AT \x1, \x2, \x3, \x4, \x5, \x6, \x7, ROWS2 + 28 * ((\k) & 1), sp
    .endif
.endm

# XORs the key of such a round and applies the inverse of the R-layer.
.macro INVERSE_SMALL_TURN k, words
    SMALL_ROWS \k, \words, a5, a0, a4, a3, a2, a1, s0
    INVERSE_TURN ROW0+4*\k(t5)
.endm

.macro SMALL4 name, words
FUNCTION tress_pipo\name\()_small_encrypt4
    ENTER_SMALL4 \words
1:  LOAD_BLOCKS t6
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    lw    t0, ROW0(sp)
    mv    t5, sp
    addi  ra, sp, 4 * (8 + 2 * \words)
    ADD_KEY 0, \words, s1, a0, a1, a2, a3, a4, a5
    xor   s0, s0, t0
2:  SMALL_ROUND 1, \words
    beq   t5, ra, 3f
    SMALL_ROUND 2, \words
    .if \words == 4
    SMALL_ROUND 3, \words
    SMALL_ROUND 4, \words
    .endif
    addi  t5, t5, 4*\words
    j     2b
3:  li    ra, 0x55555555
    UNPACK s0, s1, a0, a1, a2, a3, a4, a5
    NEXT_SMALL4
    STORE_BLOCKS s0, s1, a0, a1, a2, a3, a4, a5, t0
    bne   t6, t1, 1b
    WIPE_KEYS \words
    SMALL_FRAME \words, LEAVE
9:  ret
END_FUNCTION tress_pipo\name\()_small_encrypt4

FUNCTION tress_pipo\name\()_small_decrypt4
    ENTER_SMALL4 \words
1:  LOAD_BLOCKS t6
    PACK  s0, s1, a0, a1, a2, a3, a4, a5
    lw    t0, ROW0+4*(9+2*\words)(sp)
    ADD_KEY 1, \words, s1, a0, a1, a2, a3, a4, a5
    xor   s0, s0, t0
    INVERSE_R_LAYER s1, a0, a1, a2, a3, a4, a5
    addi  t5, sp, 4*(8+\words)
    addi  ra, sp, -4*\words
2:  INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    .if \words == 4
    .irp k, 4, 3, 2
    INVERSE_SMALL_TURN \k, \words
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    .endr
    .else
    INVERSE_SMALL_TURN 2, \words
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    .endif
    INVERSE_SMALL_TURN 1, \words
    addi  t5, t5, -4*\words
    bne   t5, ra, 2b
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    lw    t0, ROW0(sp)
    ADD_KEY 0, \words, a5, a0, a4, a3, a2, a1, s0
    xor   s1, s1, t0
    li    ra, 0x55555555
    UNPACK s1, a5, a0, a4, a3, a2, a1, s0
    NEXT_SMALL4
    STORE_BLOCKS s1, a5, a0, a4, a3, a2, a1, s0, t0
    bne   t6, t1, 1b
    WIPE_KEYS \words
    SMALL_FRAME \words, LEAVE
9:  ret
END_FUNCTION tress_pipo\name\()_small_decrypt4
.endm

SMALL4 128, 2
SMALL4 256, 4
