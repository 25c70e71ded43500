# PIPO on RV32I: the rounds of one block.
#
# A register holds copies of a row of eight bits, so a shift to the right rotates the copies that remain valid. After one
# round of shifts by 1 to 7, the lowest 25 bits are valid and the others are undefined (the S-layer mixes all rows of a
# column). Shifted left by 8 to 15, at least 17 valid bits are at the top and zeros at the bottom, which the same value
# shifted right by 16 fills. That round takes three instructions a row and makes all 32 bits valid. So the R-layer
# alternates between 7 and 24 instructions, and takes 7 in each of the last three rounds, after which 11 bits are valid.
# Eum et al. (2022) need 28 in each round.
#
# With Zbb, one instruction rotates the copies, and each round takes 7.
#
# Prepared key: as for four blocks, but each row is a byte repeated four times. Registers: as in layers.S.

# Loads row r of a round key from memory, with row 1 at offset `at`. `at` is -1 if the key is in registers.
.macro ROW_KEY at, r, k
    .if \at >= 0
    lw    \k, \at+4*\r-4(t5)
    .endif
.endm

# out = in rotated to the right by k bits. Without Zbb, the highest k bits are not valid afterwards.
.macro DOWN out, in, k
.ifdef TRESS_ZBB
    rori  \out, \in, \k
.else
    srli  \out, \in, \k
.endif
.endm

# Applies the R-layer to the output of S_LAYER, by shifts, and XORs the round key. The rows are in order then. 16
# instructions.
.macro R_SHIFT key0, at, k1, k2, k3, k4, k5, k6, k7
    lw    t1, \key0
    ROW_KEY \at, 1, \k1
    DOWN  t0, s0, 1             # row 1: 7
    xor   s0, a5, t1            # row 0
    ROW_KEY \at, 7, \k7
    DOWN  a5, s1, 6             # row 7: 2
    xor   s1, t0, \k1
    xor   a5, a5, \k7
    ROW_KEY \at, 3, \k3
    ROW_KEY \at, 6, \k6
    DOWN  t0, a4, 5             # row 3: 3
    DOWN  a4, a1, 7             # row 6: 1
    xor   a1, t0, \k3
    xor   a4, a4, \k6
    ROW_KEY \at, 4, \k4
    ROW_KEY \at, 5, \k5
    DOWN  t0, a3, 2             # row 4: 6
    DOWN  a3, a2, 3             # row 5: 5
    xor   a2, t0, \k4
    ROW_KEY \at, 2, \k2
    xor   a3, a3, \k5
    DOWN  a0, a0, 4             # row 2: 4
    xor   a0, a0, \k2
.endm

# out = in rotated to the left by k bits. Makes all 32 bits valid, from 24 valid ones.
.macro WIDEN out, in, k, temporary
    slli  \out, \in, 8 + \k
    srli  \temporary, \out, 16
    or    \out, \out, \temporary
.endm

# R_SHIFT with WIDEN: makes all 32 bits valid, from 24 valid ones. 33 instructions.
.macro R_WIDEN key0, at, k1, k2, k3, k4, k5, k6, k7
    WIDEN t0, s0, 7, s0         # row 1
    WIDEN s0, a5, 0, t1         # row 0
    lw    t1, \key0
    ROW_KEY \at, 1, \k1
    WIDEN a5, s1, 2, s1         # row 7
    xor   s0, s0, t1
    ROW_KEY \at, 7, \k7
    xor   s1, t0, \k1
    WIDEN t0, a4, 3, a4         # row 3
    xor   a5, a5, \k7
    WIDEN a4, a1, 1, a1         # row 6
    ROW_KEY \at, 3, \k3
    ROW_KEY \at, 6, \k6
    xor   a1, t0, \k3
    WIDEN t0, a3, 6, a3         # row 4
    xor   a4, a4, \k6
    WIDEN a3, a2, 5, a2         # row 5
    ROW_KEY \at, 4, \k4
    ROW_KEY \at, 5, \k5
    xor   a2, t0, \k4
    WIDEN a0, a0, 4, t0         # row 2
    xor   a3, a3, \k5
    ROW_KEY \at, 2, \k2
    xor   a0, a0, \k2
.endm

# Calls a layer with the key of round i, from registers or from memory.
.macro WITH_KEY i, words, layer
    .if (\i) & (\words - 1) == 0
    \layer 4*(\i)(t5), -1, s2, s3, s4, s5, s6, s7, s8
    .elseif (\i) & (\words - 1) == 1
    \layer 4*(\i)(t5), -1, s9, s10, s11, a6, a7, t3, t4
    .else
    \layer 4*(\i)(t5), 72 + 28 * ((\i) & 3), t2, t1, t1, t1, t2, t2, t1
    .endif
.endm

# Applies the R-layer and XORs the key of round i.
.macro TURN1 i, words
.ifdef TRESS_ZBB
    WITH_KEY \i, \words, R_SHIFT
.else
    .if (\i) & 1 == 0 && (\i) < 7 + 4 * (\words) / 2
    WITH_KEY \i, \words, R_WIDEN
    .else
    WITH_KEY \i, \words, R_SHIFT
    .endif
.endif
.endm

.macro ROUND1 i, words
    S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    TURN1 \i, \words
.endm

# All rounds after the first.
.macro ROUNDS1_AFTER words
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    ROUND1 \i, \words
    .endr
    .if \words == 4
    .irp i, 14, 15, 16, 17
    ROUND1 \i, \words
    .endr
    .endif
.endm

# XORs the round key and applies the inverse of the R-layer to rows in order, by shifts.
.macro FIRST_INVERSE_R_SHIFT key0, at, k1, k2, k3, k4, k5, k6, k7
    lw    t0, \key0
    xor   s1, s1, \k1
    xor   a0, a0, \k2
    xor   s0, s0, t0
    xor   a1, a1, \k3
    xor   a2, a2, \k4
    xor   a3, a3, \k5
    xor   a4, a4, \k6
    xor   a5, a5, \k7
    DOWN  s1, s1, 7
    DOWN  a0, a0, 4
    DOWN  a1, a1, 3
    DOWN  a2, a2, 6
    DOWN  a3, a3, 5
    DOWN  a4, a4, 1
    DOWN  a5, a5, 2
.endm

# XORs the round key and applies the inverse of the R-layer to the output of INVERSE_S_LAYER, by shifts.
.macro INVERSE_R_SHIFT key0, at, k1, k2, k3, k4, k5, k6, k7
    ROW_KEY \at, 7, \k7
    ROW_KEY \at, 1, \k1
    xor   t0, s0, \k7
    lw    t1, \key0
    xor   a5, a5, \k1
    xor   s0, s1, t1            # row 0
    DOWN  s1, a5, 7             # row 1: 1
    DOWN  a5, t0, 2             # row 7: 6
    ROW_KEY \at, 3, \k3
    ROW_KEY \at, 6, \k6
    xor   t0, a4, \k3
    xor   a1, a1, \k6
    DOWN  a4, a1, 1             # row 6: 7
    DOWN  a1, t0, 3             # row 3: 5
    ROW_KEY \at, 4, \k4
    ROW_KEY \at, 5, \k5
    xor   t0, a3, \k4
    xor   a2, a2, \k5
    ROW_KEY \at, 2, \k2
    DOWN  a3, a2, 5             # row 5: 3
    DOWN  a2, t0, 6             # row 4: 2
    xor   a0, a0, \k2
    DOWN  a0, a0, 4             # row 2: 4
.endm

# INVERSE_R_SHIFT with WIDEN: makes all 32 bits valid, from 24 valid ones.
.macro INVERSE_R_WIDEN key0, at, k1, k2, k3, k4, k5, k6, k7
    ROW_KEY \at, 7, \k7
    ROW_KEY \at, 1, \k1
    xor   t0, s0, \k7
    lw    t1, \key0
    xor   a5, a5, \k1
    xor   s1, s1, t1
    WIDEN s0, s1, 0, t1         # row 0
    WIDEN s1, a5, 1, t1         # row 1
    WIDEN a5, t0, 6, t1         # row 7
    ROW_KEY \at, 3, \k3
    ROW_KEY \at, 6, \k6
    xor   t0, a4, \k3
    xor   a1, a1, \k6
    WIDEN a4, a1, 7, t1         # row 6
    WIDEN a1, t0, 5, t1         # row 3
    ROW_KEY \at, 4, \k4
    ROW_KEY \at, 5, \k5
    xor   t0, a3, \k4
    xor   a2, a2, \k5
    WIDEN a3, a2, 3, t1         # row 5
    ROW_KEY \at, 2, \k2
    WIDEN a2, t0, 2, t0         # row 4
    xor   a0, a0, \k2
    WIDEN a0, a0, 4, t0         # row 2
.endm

# The inverse of round i. `nth` counts the inverse rounds from 1, the last round.
.macro INVERSE_ROUND1 i, words, nth
.ifdef TRESS_ZBB
    WITH_KEY \i, \words, INVERSE_R_SHIFT
.else
    .if (\nth) & 1 == 0 && (\nth) < 7 + 4 * (\words) / 2
    WITH_KEY \i, \words, INVERSE_R_WIDEN
    .else
    WITH_KEY \i, \words, INVERSE_R_SHIFT
    .endif
.endif
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
.endm

# The inverse of all rounds. Output: rows in s1 a5 a0 a4 a3 a2 a1 s0.
.macro INVERSE_ROUNDS1 words
    .if \words == 4
    WITH_KEY 17, 4, FIRST_INVERSE_R_SHIFT
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    .irp nth, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    INVERSE_ROUND1 18-\nth, 4, \nth
    .endr
    .else
    WITH_KEY 13, 2, FIRST_INVERSE_R_SHIFT
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    .irp nth, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    INVERSE_ROUND1 14-\nth, 2, \nth
    .endr
    .endif
    lw    t0, 0(t5)
    ADD_ROWS a5, a0, a4, a3, a2, a1, s0, s2, s3, s4, s5, s6, s7, s8
    xor   s1, s1, t0
.endm

# XORs round key 0.
.macro WHITEN1
    lw    t0, 0(t5)
    ADD_ROWS s1, a0, a1, a2, a3, a4, a5, s2, s3, s4, s5, s6, s7, s8
    xor   s0, s0, t0
.endm

.macro REPEAT_ALL
    REPEAT s0
    REPEAT s1
    REPEAT a0
    REPEAT a1
    REPEAT a2
    REPEAT a3
    REPEAT a4
    REPEAT a5
.endm

# Loads the eight rows of a block.
.macro LOAD_ROWS x0, x1, x2, x3, x4, x5, x6, x7, from
    lbu   \x0, 0(\from)
    lbu   \x1, 1(\from)
    lbu   \x2, 2(\from)
    lbu   \x3, 3(\from)
    lbu   \x4, 4(\from)
    lbu   \x5, 5(\from)
    lbu   \x6, 6(\from)
    lbu   \x7, 7(\from)
.endm

.macro STORE_ROWS x0, x1, x2, x3, x4, x5, x6, x7, to
    sb    \x0, 0(\to)
    sb    \x1, 1(\to)
    sb    \x2, 2(\to)
    sb    \x3, 3(\to)
    sb    \x4, 4(\to)
    sb    \x5, 5(\to)
    sb    \x6, 6(\to)
    sb    \x7, 7(\to)
.endm
