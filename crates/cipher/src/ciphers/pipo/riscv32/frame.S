# PIPO on RV32I: the entry, the exit and the rounds of the four-block kernels.
#
# The stack, from sp: masks (three words), variables of the kernel (from OWN), ra, s0 to s11. 96 bytes, or more in some
# kernels.

.set OWN, 12

# Saves the caller's registers.
.macro ENTER frame=96
    addi  sp, sp, -\frame
    sw    ra, \frame-52(sp)
    sw    s0, \frame-48(sp)
    sw    s1, \frame-44(sp)
    sw    s2, \frame-40(sp)
    sw    s3, \frame-36(sp)
    sw    s4, \frame-32(sp)
    sw    s5, \frame-28(sp)
    sw    s6, \frame-24(sp)
    sw    s7, \frame-20(sp)
    sw    s8, \frame-16(sp)
    sw    s9, \frame-12(sp)
    sw    s10, \frame-8(sp)
    sw    s11, \frame-4(sp)
.endm

# Restores the caller's registers and returns.
.macro LEAVE frame=96
    lw    ra, \frame-52(sp)
    lw    s0, \frame-48(sp)
    lw    s1, \frame-44(sp)
    lw    s2, \frame-40(sp)
    lw    s3, \frame-36(sp)
    lw    s4, \frame-32(sp)
    lw    s5, \frame-28(sp)
    lw    s6, \frame-24(sp)
    lw    s7, \frame-20(sp)
    lw    s8, \frame-16(sp)
    lw    s9, \frame-12(sp)
    lw    s10, \frame-8(sp)
    lw    s11, \frame-4(sp)
    addi  sp, sp, \frame
    ret
.endm

# Writes the masks of PACK and UNPACK.
.macro MASKS
    li    t0, 0x33333333
    li    t1, 0x0f0f0f0f
    li    t2, 0x00ff00ff
    sw    t0, 0(sp)
    sw    t1, 4(sp)
    sw    t2, 8(sp)
    li    ra, 0x55555555
.endm

# Loads rows 1 to 7 of K0 and K1 from byte `offset` of the prepared key.
.macro LOAD_KEYS offset
    lw    s2, \offset+0(t5)
    lw    s3, \offset+4(t5)
    lw    s4, \offset+8(t5)
    lw    s5, \offset+12(t5)
    lw    s6, \offset+16(t5)
    lw    s7, \offset+20(t5)
    lw    s8, \offset+24(t5)
    lw    s9, \offset+28(t5)
    lw    s10, \offset+32(t5)
    lw    s11, \offset+36(t5)
    lw    a6, \offset+40(t5)
    lw    a7, \offset+44(t5)
    lw    t3, \offset+48(t5)
    lw    t4, \offset+52(t5)
.endm

# Begins a function in its own section.
.macro FUNCTION name
    .section .text.\name, "ax", @progbits
    .globl \name
    .type \name, @function
    .balign 4
\name:
.endm

.macro END_FUNCTION name
    .size \name, . - \name
.endm

# LOAD_KEYS, with the offset for a key of `words` words.
.macro LOAD_KEYS_OF words
    .if \words == 4
    LOAD_KEYS 72
    .else
    LOAD_KEYS 56
    .endif
.endm

# Loads four blocks at `from` into the registers that PACK takes.
.macro LOAD_BLOCKS from
    lw    s0, 0(\from)
    lw    a0, 8(\from)
    lw    s1, 16(\from)
    lw    a1, 24(\from)
    lw    a2, 4(\from)
    lw    a4, 12(\from)
    lw    a3, 20(\from)
    lw    a5, 28(\from)
.endm

# Stores four blocks from registers in the order of UNPACK.
.macro STORE_BLOCKS x0, x1, x2, x3, x4, x5, x6, x7, to
    sw    \x0, 0(\to)
    sw    \x2, 8(\to)
    sw    \x1, 16(\to)
    sw    \x3, 24(\to)
    sw    \x4, 4(\to)
    sw    \x6, 12(\to)
    sw    \x5, 20(\to)
    sw    \x7, 28(\to)
.endm

# XORs four blocks of memory into the output of UNPACK.
.macro ADD_BLOCKS x0, x1, x2, x3, x4, x5, x6, x7, from
    lw    t0, 0(\from)
    lw    t1, 8(\from)
    lw    t2, 16(\from)
    xor   \x0, \x0, t0
    lw    t0, 24(\from)
    xor   \x2, \x2, t1
    lw    t1, 4(\from)
    xor   \x1, \x1, t2
    lw    t2, 12(\from)
    xor   \x3, \x3, t0
    lw    t0, 20(\from)
    xor   \x4, \x4, t1
    lw    t1, 28(\from)
    xor   \x6, \x6, t2
    xor   \x5, \x5, t0
    xor   \x7, \x7, t1
.endm

# XORs rows 1 to 7 of round key i into registers x1 to x7. The key has `words` words, of which K0 and K1 are in registers.
.macro ADD_KEY i, words, x1, x2, x3, x4, x5, x6, x7
    .if (\i) & (\words - 1) == 0
    ADD_ROWS \x1, \x2, \x3, \x4, \x5, \x6, \x7, s2, s3, s4, s5, s6, s7, s8
    .elseif (\i) & (\words - 1) == 1
    ADD_ROWS \x1, \x2, \x3, \x4, \x5, \x6, \x7, s9, s10, s11, a6, a7, t3, t4
    .else
    ADD_ROWS_AT \x1, \x2, \x3, \x4, \x5, \x6, \x7, 72 + 28 * ((\i) & 3), t5
    .endif
.endm

.macro ROUND i, words
    S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
    R_LAYER s0, s1, a0, a1, a2, a3, a4, a5, 4*(\i)(t5)
    ADD_KEY \i, \words, s1, a0, a1, a2, a3, a4, a5
.endm

# XORs round key 0.
.macro WHITEN words
    lw    t0, 0(t5)
    ADD_KEY 0, \words, s1, a0, a1, a2, a3, a4, a5
    xor   s0, s0, t0
.endm

# All rounds except the whitening: 13 with two key words, 17 with four.
.macro ROUNDS words
    ROUND 1, \words
    ROUNDS_AFTER \words
.endm

# All rounds after the first.
.macro ROUNDS_AFTER words
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    ROUND \i, \words
    .endr
    .if \words == 4
    .irp i, 14, 15, 16, 17
    ROUND \i, \words
    .endr
    .endif
.endm

# XORs row 0 of a round key, at `key`, and applies the inverse of the R-layer to the output of INVERSE_S_LAYER. The rows are
# in order then. 23 instructions, 12 with Zbb.
.macro INVERSE_TURN key
    lw    t1, \key
.ifdef TRESS_ZBB
    rori  t0, s0, 8             # row 7: 6
    rori  t2, a1, 4             # row 6: 7
    xor   s0, s1, t1            # row 0
    rori  s1, a5, 28            # row 1: 1
    rori  a1, a4, 12            # row 3: 5
    mv    a5, t0
    mv    a4, t2
    rori  t0, a2, 20            # row 5: 3
    rori  a2, a3, 24            # row 4: 2
    mv    a3, t0
.else
    slli  t0, s0, 24            # row 7: 6
    srli  t2, s0, 8
    xor   s0, s1, t1            # row 0
    slli  s1, a5, 4             # row 1: 1
    srli  a5, a5, 28
    or    s1, s1, a5
    or    a5, t0, t2
    slli  t0, a4, 20            # row 3: 5
    srli  t1, a4, 12
    slli  t2, a1, 28            # row 6: 7
    srli  a1, a1, 4
    or    a4, a1, t2
    or    a1, t0, t1
    slli  t0, a3, 8             # row 4: 2
    srli  t1, a3, 24
    slli  t2, a2, 12            # row 5: 3
    srli  a2, a2, 20
    or    a3, a2, t2
    or    a2, t0, t1
.endif
    ROTATE a0, 16               # row 2: 4
.endm

# The inverse of round i, after another inverse round.
.macro INVERSE_ROUND i, words
    ADD_KEY \i, \words, a5, a0, a4, a3, a2, a1, s0
    INVERSE_TURN 4*(\i)(t5)
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
.endm

# The inverse of all rounds, including round key 0. Input: rows in order. Output: rows in s1 a5 a0 a4 a3 a2 a1 s0.
.macro INVERSE_ROUNDS words
    .if \words == 4
    FIRST_INVERSE_ROUND 17, 4
    .irp i, 16, 15, 14, 13
    INVERSE_ROUND \i, \words
    .endr
    .else
    FIRST_INVERSE_ROUND 13, 2
    .endif
    .irp i, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1
    INVERSE_ROUND \i, \words
    .endr
    lw    t0, 0(t5)
    ADD_KEY 0, \words, a5, a0, a4, a3, a2, a1, s0
    xor   s1, s1, t0
.endm

.macro FIRST_INVERSE_ROUND i, words
    lw    t0, 4*(\i)(t5)
    ADD_KEY \i, \words, s1, a0, a1, a2, a3, a4, a5
    xor   s0, s0, t0
    INVERSE_R_LAYER s1, a0, a1, a2, a3, a4, a5
    INVERSE_S_LAYER s0, s1, a0, a1, a2, a3, a4, a5
.endm
