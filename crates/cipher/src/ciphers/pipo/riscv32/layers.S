# PIPO on RV32I: the layers, as macros for the four-block kernels.
#
# State: bit j of row r of block b is bit 4j + b of register r (b = 0..3, the lane). So the R-layer, which rotates a row by
# k bits, rotates the whole register by 4k bits: three instructions and no mask. With a byte for each block, as in Eum et
# al., "Optimized Implementation of PIPO Lightweight Block Cipher on 32-bit RISC-V Processor" (2022), it takes five.
# Formulas: Kim et al., "PIPO", ICISC 2020.
#
# Prepared key (tress_pipo_prepare4): row 0 of all round keys, which includes the number of the round, then rows 1 to 7 of
# each 64-bit word of the key. Each row is a word in the form of the state. 28 words (112 bytes) for a key of 128 bits, 46
# (184 bytes) for one of 256.
#
# If the symbol TRESS_ZBB is defined, rotations are instructions of Zbb.
#
# Registers, unless a kernel says otherwise:
#   s0 s1 a0 a1 a2 a3 a4 a5     rows 0 to 7
#   t0 t1 t2                    temporaries, which every macro may clobber
#   s2 to s8                    rows 1 to 7 of key word K0
#   s9 s10 s11 a6 a7 t3 t4      rows 1 to 7 of key word K1
#   t5                          the prepared key
#   t6                          the address of the next input blocks

# The S-layer. Output rows 0 to 7: x7 x0 x2 x6 x5 x4 x3 x1. 34 instructions.
.macro S_LAYER x0, x1, x2, x3, x4, x5, x6, x7
    and   t0, \x7, \x6
    xor   \x5, \x5, t0          # a5
    and   t0, \x3, \x5
    xor   \x4, \x4, t0          # a4
    xor   \x7, \x7, \x4         # a7
    xor   \x6, \x6, \x3         # a6
    or    t0, \x4, \x5
    xor   \x3, \x3, t0          # a3
    xor   \x5, \x5, \x7         # b5
    and   t0, \x5, \x6
    xor   \x4, \x4, t0          # b4
    and   t0, \x1, \x0
    xor   \x2, \x2, t0          # a2
    or    t0, \x2, \x1
    xor   \x0, \x0, t0          # a0
    or    t0, \x2, \x0
    xor   \x1, \x1, t0          # a1
    not   \x2, \x2              # b2
    S_BRIDGE \x0, \x1, \x2, \x3, \x4, \x5, \x6, \x7
.endm

# The S-layer of round 1 in CTR. Rows 0 to 5 belong to the nonce, so a0 a1 b2, and x3 to x5 with their key, are prepared
# (LOAD_NONCE). 27 instructions.
.macro S_LAYER_AFTER_NONCE x0, x1, x2, x3, x4, x5, x6, x7
    and   t0, \x7, \x6
    xor   \x5, \x5, t0          # a5
    and   t0, \x3, \x5
    xor   \x4, \x4, t0          # a4
    xor   \x7, \x7, \x4         # a7
    xor   \x6, \x6, \x3         # a6
    or    t0, \x4, \x5
    xor   \x3, \x3, t0          # a3
    xor   \x5, \x5, \x7         # b5
    and   t0, \x5, \x6
    xor   \x4, \x4, t0          # b4
    S_BRIDGE \x0, \x1, \x2, \x3, \x4, \x5, \x6, \x7
.endm

# Loads a0 a1 b2 x3 x4 x5 of round 1 from t2.
.macro LOAD_NONCE
    lw    s0, 0(t2)
    lw    s1, 4(t2)
    lw    a0, 8(t2)
    lw    a1, 12(t2)
    lw    a2, 16(t2)
    lw    a3, 20(t2)
.endm

# The second half of the S-layer. Input: a7 a1 a3 b2 b4 a0 a6 b5 in x7 x1 x3 x2 x4 x0 x6 x5. 16 instructions.
.macro S_BRIDGE x0, x1, x2, x3, x4, x5, x6, x7
    xor   \x7, \x7, \x1         # c7
    xor   \x3, \x3, \x2         # c3
    xor   \x4, \x4, \x0         # c4
    and   t0, \x7, \x5
    xor   \x6, \x6, t0          # c6
    xor   t1, \x7, \x6          # t0 of the formulas
    or    t0, \x4, \x3
    xor   \x6, \x6, t0          # d6
    xor   t2, \x3, \x5          # t1 of the formulas
    or    t0, \x6, \x4
    xor   \x5, \x5, t0          # d5
    xor   \x2, \x2, t1          # b2 ^ t0
    xor   \x0, \x0, t2          # a0 ^ t1
    and   t1, t1, t2
    xor   t1, \x4, t1           # t2 of the formulas
    xor   \x1, \x1, t1          # a1 ^ t2
.endm

# Applies the R-layer to the output of S_LAYER, and XORs row 0 of the round key, at `key`. The rows are in order then. 23
# instructions, 12 with Zbb.
.macro R_LAYER x0, x1, x2, x3, x4, x5, x6, x7, key
    lw    t1, \key
.ifdef TRESS_ZBB
    rori  t0, \x0, 4            # row 1: 7
    rori  t2, \x6, 20           # row 3: 3
    xor   \x0, \x7, t1          # row 0
    rori  \x7, \x1, 24          # row 7: 2
    rori  \x6, \x3, 28          # row 6: 1
    mv    \x1, t0
    mv    \x3, t2
    rori  t0, \x5, 8            # row 4: 6
    rori  \x5, \x4, 12          # row 5: 5
    rori  \x2, \x2, 16          # row 2: 4
    mv    \x4, t0
.else
    slli  t0, \x0, 28           # row 1: 7
    srli  t2, \x0, 4
    xor   \x0, \x7, t1          # row 0
    slli  \x7, \x1, 8           # row 7: 2
    srli  \x1, \x1, 24
    or    \x7, \x7, \x1
    or    \x1, t0, t2
    slli  t0, \x6, 12           # row 3: 3
    srli  t1, \x6, 20
    slli  t2, \x3, 4            # row 6: 1
    srli  \x3, \x3, 28
    or    \x6, \x3, t2
    or    \x3, t0, t1
    slli  t0, \x5, 24           # row 4: 6
    srli  t1, \x5, 8
    slli  t2, \x4, 20           # row 5: 5
    srli  \x4, \x4, 12
    or    \x5, \x4, t2
    or    \x4, t0, t1
    slli  t0, \x2, 16           # row 2: 4
    srli  \x2, \x2, 16
    or    \x2, \x2, t0
.endif
.endm

# The inverse of the S-layer. Output rows 0 to 7: y1 y7 y2 y6 y5 y4 y3 y0. 34 instructions.
.macro INVERSE_S_LAYER y0, y1, y2, y3, y4, y5, y6, y7
    or    t0, \y3, \y5
    xor   \y4, \y4, t0          # b5
    or    t0, \y5, \y6
    xor   \y3, \y3, t0          # c6
    xor   t1, \y0, \y3          # t0 of the formulas
    xor   t2, \y6, \y4          # t1 of the formulas
    xor   \y2, \y2, t1          # b2
    xor   \y1, \y1, t2          # a0
    and   t1, t1, t2
    xor   t1, \y5, t1           # t2 of the formulas
    xor   \y7, \y7, t1          # a1
    and   t0, \y0, \y4
    xor   \y3, \y3, t0          # a6
    xor   \y0, \y0, \y7         # a7
    xor   \y6, \y6, \y2         # a3
    xor   \y5, \y5, \y1         # b4
    and   t0, \y4, \y3
    xor   \y5, \y5, t0          # a4
    xor   \y4, \y4, \y0         # a5
    or    t0, \y5, \y4
    xor   \y6, \y6, t0          # x3
    xor   \y3, \y3, \y6         # x6
    xor   \y0, \y0, \y5         # x7
    and   t0, \y6, \y4
    xor   \y5, \y5, t0          # x4
    and   t0, \y0, \y3
    xor   \y4, \y4, t0          # x5
    not   \y2, \y2              # a2
    or    t0, \y2, \y1
    xor   \y7, \y7, t0          # x1
    or    t0, \y2, \y7
    xor   \y1, \y1, t0          # x0
    and   t0, \y7, \y1
    xor   \y2, \y2, t0          # x2
.endm

# The inverse of the R-layer on rows in order, of which row 0 does not change. 21 instructions, 7 with Zbb.
.macro INVERSE_R_LAYER y1, y2, y3, y4, y5, y6, y7
    ROTATE \y1, 4
    ROTATE \y2, 16
    ROTATE \y3, 20
    ROTATE \y4, 8
    ROTATE \y5, 12
    ROTATE \y6, 28
    ROTATE \y7, 24
.endm

# Rotates a word to the left.
.macro ROTATE x, left
.ifdef TRESS_ZBB
    rori  \x, \x, 32 - \left
.else
    slli  t0, \x, \left
    srli  \x, \x, 32 - \left
    or    \x, \x, t0
.endif
.endm

# XORs rows 1 to 7 of a round key from registers.
.macro ADD_ROWS x1, x2, x3, x4, x5, x6, x7, k1, k2, k3, k4, k5, k6, k7
    xor   \x1, \x1, \k1
    xor   \x2, \x2, \k2
    xor   \x3, \x3, \k3
    xor   \x4, \x4, \k4
    xor   \x5, \x5, \k5
    xor   \x6, \x6, \k6
    xor   \x7, \x7, \k7
.endm

# XORs rows 1 to 7 of a round key from memory.
.macro ADD_ROWS_AT x1, x2, x3, x4, x5, x6, x7, offset, base
    lw    t0, \offset+0(\base)
    lw    t1, \offset+4(\base)
    lw    t2, \offset+8(\base)
    xor   \x1, \x1, t0
    xor   \x2, \x2, t1
    xor   \x3, \x3, t2
    lw    t0, \offset+12(\base)
    lw    t1, \offset+16(\base)
    lw    t2, \offset+20(\base)
    xor   \x4, \x4, t0
    xor   \x5, \x5, t1
    lw    t0, \offset+24(\base)
    xor   \x6, \x6, t2
    xor   \x7, \x7, t0
.endm

# Exchanges the bits of b in `mask` with those of a that are n bits above them.
.macro SWAP a, b, n, mask
    srli  t0, \a, \n
    xor   t0, t0, \b
    and   t0, t0, \mask
    xor   \b, \b, t0
    slli  t0, t0, \n
    xor   \a, \a, t0
.endm

# Exchanges the upper half of a with the lower half of b.
.macro SWAP_HALVES a, b
    srli  t0, \a, 16
    xor   t0, t0, \b
    slli  t0, t0, 16
    xor   \a, \a, t0
    srli  t0, t0, 16
    xor   \b, \b, t0
.endm

# Converts blocks to rows. x0 x2 x1 x3 hold the first words of blocks 0 to 3, x4 x6 x5 x7 the second ones. On the index of a
# bit (number of the word, then position in the word) this is a permutation of two cycles: each has one bit of the block's
# number, and three or two bits of the position. Exchanging a bit of the word's number with one of the position takes four
# SWAPs. ra holds the mask 55555555; 33333333, 0f0f0f0f and 00ff00ff are at sp (MASKS). 123 instructions.
.macro PACK x0, x1, x2, x3, x4, x5, x6, x7
    SWAP  \x0, \x2, 1, ra
    SWAP  \x1, \x3, 1, ra
    SWAP  \x4, \x6, 1, ra
    SWAP  \x5, \x7, 1, ra
    lw    t2, 0(sp)
    SWAP  \x0, \x1, 2, t2
    SWAP  \x2, \x3, 2, t2
    SWAP  \x4, \x5, 2, t2
    SWAP  \x6, \x7, 2, t2
    lw    t2, 4(sp)
    SWAP  \x0, \x2, 4, t2
    SWAP  \x1, \x3, 4, t2
    SWAP  \x4, \x6, 4, t2
    SWAP  \x5, \x7, 4, t2
    lw    t2, 8(sp)
    SWAP  \x0, \x1, 8, t2
    SWAP  \x2, \x3, 8, t2
    SWAP  \x4, \x5, 8, t2
    SWAP  \x6, \x7, 8, t2
    SWAP_HALVES \x0, \x2
    SWAP_HALVES \x1, \x3
    SWAP_HALVES \x4, \x6
    SWAP_HALVES \x5, \x7
.endm

# The inverse of PACK.
.macro UNPACK x0, x1, x2, x3, x4, x5, x6, x7
    SWAP_HALVES \x0, \x2
    SWAP_HALVES \x1, \x3
    SWAP_HALVES \x4, \x6
    SWAP_HALVES \x5, \x7
    lw    t2, 8(sp)
    SWAP  \x0, \x1, 8, t2
    SWAP  \x2, \x3, 8, t2
    SWAP  \x4, \x5, 8, t2
    SWAP  \x6, \x7, 8, t2
    lw    t2, 4(sp)
    SWAP  \x0, \x2, 4, t2
    SWAP  \x1, \x3, 4, t2
    SWAP  \x4, \x6, 4, t2
    SWAP  \x5, \x7, 4, t2
    lw    t2, 0(sp)
    SWAP  \x0, \x1, 2, t2
    SWAP  \x2, \x3, 2, t2
    SWAP  \x4, \x5, 2, t2
    SWAP  \x6, \x7, 2, t2
    SWAP  \x0, \x2, 1, ra
    SWAP  \x1, \x3, 1, ra
    SWAP  \x4, \x6, 1, ra
    SWAP  \x5, \x7, 1, ra
.endm

# Converts a byte to a row with the same value in all lanes.
.macro SPREAD x, t, u
    slli  \t, \x, 12
    or    \x, \x, \t
    li    \u, 0x000f000f
    and   \x, \x, \u
    slli  \t, \x, 6
    or    \x, \x, \t
    li    \u, 0x03030303
    and   \x, \x, \u
    slli  \t, \x, 3
    or    \x, \x, \t
    li    \u, 0x11111111
    and   \x, \x, \u
    slli  \t, \x, 4
    sub   \x, \t, \x
.endm

# Copies a byte, which has zeros above it, to all four bytes.
.macro REPEAT x
    slli  t0, \x, 8
    or    \x, \x, t0
    slli  t0, \x, 16
    or    \x, \x, t0
.endm
