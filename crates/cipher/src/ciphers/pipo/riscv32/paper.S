# PIPO-64/128 on RV32I as in Eum et al., "Optimized Implementation of PIPO Lightweight Block Cipher on 32-bit RISC-V
# Processor" (2022), for comparison only. One call processes one block or four.
#
# One block: a row is in the lowest byte of a register, whose other bytes andi clears before each rotation (Table 3). Round
# keys are 14 times 8 bytes, read as words and shifted apart. Four blocks: a register has a byte for each block (Fig. 7),
# and rotations take two masks, loaded with li (Table 4). Round keys are widened to 14 times 8 words beforehand, or from 112
# bytes in each round.
#
# void tress_pipo128_paper_encrypt1(const uint8_t keys[112], const uint8_t in[8], uint8_t out[8]);
# void tress_pipo128_paper_cbc_encrypt1(const uint8_t keys[112], uint8_t chain[8], const uint8_t in[8], uint8_t out[8]);
# void tress_pipo128_paper_ctr1(const uint8_t keys[112], const uint8_t counter[8], const uint8_t in[8], uint8_t out[8]);
# void tress_pipo128_paper_encrypt4(const uint32_t keys[112], const uint8_t in[32], uint8_t out[32]);
# void tress_pipo128_paper_memory4(const uint8_t keys[112], const uint8_t in[32], uint8_t out[32]);
# void tress_pipo128_paper_ctr4(const uint32_t keys[112], const uint32_t nonce[6], uint32_t counter, const uint8_t in[32],
#                               uint8_t out[32]); nonce is widened.
# void tress_pipo128_paper_cbc_decrypt4(const uint32_t keys[112], uint8_t chain[8], const uint8_t in[32], uint8_t out[32]);
# All pointers are aligned to four bytes; in and out do not overlap. Stack: 0 to 16 bytes.
#
# Registers: a5 a6 a7 t4 t5 t6 s0 s1 are rows 0 to 7, t0 to t3 temporaries.

.macro PAPER_ENTER
    addi  sp, sp, -16
    sw    s0, 8(sp)
    sw    s1, 12(sp)
.endm

.macro PAPER_LEAVE
    lw    s0, 8(sp)
    lw    s1, 12(sp)
    addi  sp, sp, 16
    ret
.endm

# XORs a round key of 8 bytes, at offset(a0), for one block.
.macro PAPER_KEY1 offset
    lw    t0, \offset(a0)
    lw    t1, \offset+4(a0)
    PAPER_SPLIT t0, a5, a6, a7, t4
    PAPER_SPLIT t1, t5, t6, s0, s1
.endm

.macro PAPER_SPLIT word, x0, x1, x2, x3
    xor   \x0, \x0, \word
    srli  \word, \word, 8
    xor   \x1, \x1, \word
    srli  \word, \word, 8
    xor   \x2, \x2, \word
    srli  \word, \word, 8
    xor   \x3, \x3, \word
.endm

.macro PAPER_ROTATE1 out, in, left
    andi  t1, \in, 0xff
    slli  t2, t1, \left
    srli  t1, t1, 8 - \left
    or    \out, t1, t2
.endm

# The rotation of table 4. The masks keep every bit in its block.
.macro PAPER_ROTATE4 out, in, left
    li    t2, 0x01010101 * ((0xff << \left) & 0xff)
    li    t3, 0x01010101 * (0xff >> (8 - \left))
    slli  t1, \in, \left
    and   t1, t1, t2
    srli  t2, \in, 8 - \left
    and   t2, t2, t3
    or    \out, t1, t2
.endm

# Applies the R-layer to the output of S_LAYER.
.macro PAPER_R_LAYER rotate
    \rotate t0, a5, 7
    mv    a5, s1
    \rotate s1, a6, 2
    mv    a6, t0
    \rotate a7, a7, 4
    \rotate t0, s0, 3
    \rotate s0, t4, 1
    mv    t4, t0
    \rotate t0, t6, 6
    \rotate t6, t5, 5
    mv    t5, t0
.endm

.macro PAPER_ROUND key, offset, rotate
    S_LAYER a5, a6, a7, t4, t5, t6, s0, s1
    PAPER_R_LAYER \rotate
    \key  \offset
.endm

.macro PAPER_ROUNDS key, bytes, rotate
    .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    PAPER_ROUND \key, \bytes*\i, \rotate
    .endr
.endm

# Convert two words to rows, and rows to two words.
.macro PAPER_ROWS
    srli  a6, a5, 8
    srli  a7, a5, 16
    srli  t4, a5, 24
    srli  t6, t5, 8
    srli  s0, t5, 16
    srli  s1, t5, 24
.endm

.macro PAPER_WORD word, x1, x2, x3
    andi  \word, \word, 0xff
    andi  \x1, \x1, 0xff
    andi  \x2, \x2, 0xff
    slli  \x1, \x1, 8
    slli  \x2, \x2, 16
    slli  \x3, \x3, 24
    or    \word, \word, \x1
    or    \word, \word, \x2
    or    \word, \word, \x3
.endm

.macro PAPER_WORDS
    PAPER_WORD a5, a6, a7, t4
    PAPER_WORD t5, t6, s0, s1
.endm

.macro PAPER_CIPHER1
    PAPER_ROWS
    PAPER_KEY1 0
    PAPER_ROUNDS PAPER_KEY1, 8, PAPER_ROTATE1
    PAPER_WORDS
.endm

.macro PAPER_ADD at
    lw    t0, 0(\at)
    lw    t1, 4(\at)
    xor   a5, a5, t0
    xor   t5, t5, t1
.endm

FUNCTION tress_pipo128_paper_encrypt1
    PAPER_ENTER
    lw    a5, 0(a1)
    lw    t5, 4(a1)
    PAPER_CIPHER1
    sw    a5, 0(a2)
    sw    t5, 4(a2)
    PAPER_LEAVE
END_FUNCTION tress_pipo128_paper_encrypt1

FUNCTION tress_pipo128_paper_cbc_encrypt1
    PAPER_ENTER
    lw    a5, 0(a2)
    lw    t5, 4(a2)
    PAPER_ADD a1
    PAPER_CIPHER1
    sw    a5, 0(a3)
    sw    t5, 4(a3)
    sw    a5, 0(a1)
    sw    t5, 4(a1)
    PAPER_LEAVE
END_FUNCTION tress_pipo128_paper_cbc_encrypt1

FUNCTION tress_pipo128_paper_ctr1
    PAPER_ENTER
    lw    a5, 0(a1)
    lw    t5, 4(a1)
    PAPER_CIPHER1
    PAPER_ADD a2
    sw    a5, 0(a3)
    sw    t5, 4(a3)
    PAPER_LEAVE
END_FUNCTION tress_pipo128_paper_ctr1

# XOR a widened round key (the speed variant), or 8 bytes that are widened first (the memory variant).
.macro PAPER_KEY_ROW x, offset
    lw    t0, \offset(a0)
    xor   \x, \x, t0
.endm

.macro PAPER_KEY4 offset
    PAPER_KEY_ROW a5, \offset
    PAPER_KEY_ROW a6, \offset+4
    PAPER_KEY_ROW a7, \offset+8
    PAPER_KEY_ROW t4, \offset+12
    PAPER_KEY_ROW t5, \offset+16
    PAPER_KEY_ROW t6, \offset+20
    PAPER_KEY_ROW s0, \offset+24
    PAPER_KEY_ROW s1, \offset+28
.endm

.macro PAPER_WIDEN x, word, byte
    srli  t2, \word, 8*\byte
    andi  t2, t2, 0xff
    slli  t3, t2, 8
    or    t2, t2, t3
    slli  t3, t2, 16
    or    t2, t2, t3
    xor   \x, \x, t2
.endm

.macro PAPER_MEMORY4 offset
    lw    t0, \offset(a0)
    lw    t1, \offset+4(a0)
    PAPER_WIDEN a5, t0, 0
    PAPER_WIDEN a6, t0, 1
    PAPER_WIDEN a7, t0, 2
    PAPER_WIDEN t4, t0, 3
    PAPER_WIDEN t5, t1, 0
    PAPER_WIDEN t6, t1, 1
    PAPER_WIDEN s0, t1, 2
    PAPER_WIDEN s1, t1, 3
.endm

# Copies byte `from` of a word to byte `to` of a row.
.macro PAPER_BYTE row, word, from, to
    srli  t3, \word, 8*\from
    andi  t3, t3, 0xff
    .if \to == 0
    mv    \row, t3
    .else
    slli  t3, t3, 8*\to
    or    \row, \row, t3
    .endif
.endm

# Converts a word of each of the blocks A to D, at offset(from), to four rows.
.macro PAPER_ALIGN x0, x1, x2, x3, offset, from
    .irp block, 0, 1, 2, 3
    lw    t0, \offset+8*\block(\from)
    PAPER_BYTE \x0, t0, 0, \block
    PAPER_BYTE \x1, t0, 1, \block
    PAPER_BYTE \x2, t0, 2, \block
    PAPER_BYTE \x3, t0, 3, \block
    .endr
.endm

# Converts rows to one word of one block, in t0.
.macro PAPER_GATHER x0, x1, x2, x3, block
    PAPER_BYTE t0, \x0, \block, 0
    PAPER_BYTE t0, \x1, \block, 1
    PAPER_BYTE t0, \x2, \block, 2
    PAPER_BYTE t0, \x3, \block, 3
.endm

.macro PAPER_STORE4 x0, x1, x2, x3, x4, x5, x6, x7, to
    .irp block, 0, 1, 2, 3
    PAPER_GATHER \x0, \x1, \x2, \x3, \block
    sw    t0, 8*\block(\to)
    PAPER_GATHER \x4, \x5, \x6, \x7, \block
    sw    t0, 8*\block+4(\to)
    .endr
.endm

# PAPER_STORE4 with memory XORed: the blocks at `add`, except that the first one is at `first`.
.macro PAPER_ADD_STORE4 x0, x1, x2, x3, x4, x5, x6, x7, add, first, to
    .irp block, 0, 1, 2, 3
    PAPER_GATHER \x0, \x1, \x2, \x3, \block
    PAPER_ADD_STORE 8*\block, \block, \add, \first, \to
    PAPER_GATHER \x4, \x5, \x6, \x7, \block
    PAPER_ADD_STORE 8*\block+4, \block, \add, \first, \to
    .endr
.endm

.macro PAPER_ADD_STORE at, block, add, first, to
    .if \block == 0
    lw    t1, \at(\first)
    .else
    lw    t1, \at(\add)
    .endif
    xor   t0, t0, t1
    sw    t0, \at(\to)
.endm

.macro PAPER_ECB4 name, key, bytes
FUNCTION \name
    PAPER_ENTER
    PAPER_ALIGN a5, a6, a7, t4, 0, a1
    PAPER_ALIGN t5, t6, s0, s1, 4, a1
    \key  0
    PAPER_ROUNDS \key, \bytes, PAPER_ROTATE4
    PAPER_STORE4 a5, a6, a7, t4, t5, t6, s0, s1, a2
    PAPER_LEAVE
END_FUNCTION \name
.endm

PAPER_ECB4 tress_pipo128_paper_encrypt4, PAPER_KEY4, 32
PAPER_ECB4 tress_pipo128_paper_memory4, PAPER_MEMORY4, 8

# Sets byte `block` of rows 6 and 7 to the bytes of a counter.
.macro PAPER_COUNTER block
    addi  t0, a2, \block
    PAPER_BYTE s0, t0, 1, \block
    PAPER_BYTE s1, t0, 0, \block
.endm

FUNCTION tress_pipo128_paper_ctr4
    PAPER_ENTER
    lw    a5, 0(a1)
    lw    a6, 4(a1)
    lw    a7, 8(a1)
    lw    t4, 12(a1)
    lw    t5, 16(a1)
    lw    t6, 20(a1)
    PAPER_COUNTER 0
    PAPER_COUNTER 1
    PAPER_COUNTER 2
    PAPER_COUNTER 3
    PAPER_KEY4 0
    PAPER_ROUNDS PAPER_KEY4, 32, PAPER_ROTATE4
    PAPER_ADD_STORE4 a5, a6, a7, t4, t5, t6, s0, s1, a3, a3, a4
    PAPER_LEAVE
END_FUNCTION tress_pipo128_paper_ctr4

# The inverse of a round. Rows are in order before and after it.
.macro PAPER_INVERSE_ROUND offset
    PAPER_KEY4 \offset
    PAPER_ROTATE4 a6, a6, 1
    PAPER_ROTATE4 a7, a7, 4
    PAPER_ROTATE4 t4, t4, 5
    PAPER_ROTATE4 t5, t5, 2
    PAPER_ROTATE4 t6, t6, 3
    PAPER_ROTATE4 s0, s0, 7
    PAPER_ROTATE4 s1, s1, 6
    INVERSE_S_LAYER a5, a6, a7, t4, t5, t6, s0, s1
    mv    t0, a5
    mv    a5, a6
    mv    a6, s1
    mv    s1, t0
    mv    t0, t4
    mv    t4, s0
    mv    s0, t0
    mv    t0, t5
    mv    t5, t6
    mv    t6, t0
.endm

FUNCTION tress_pipo128_paper_cbc_decrypt4
    PAPER_ENTER
    PAPER_ALIGN a5, a6, a7, t4, 0, a2
    PAPER_ALIGN t5, t6, s0, s1, 4, a2
    .irp i, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1
    PAPER_INVERSE_ROUND 32*\i
    .endr
    PAPER_KEY4 0
    addi  a4, a2, -8
    PAPER_ADD_STORE4 a5, a6, a7, t4, t5, t6, s0, s1, a4, a1, a3
    lw    t0, 24(a2)
    lw    t1, 28(a2)
    sw    t0, 0(a1)
    sw    t1, 4(a1)
    PAPER_LEAVE
END_FUNCTION tress_pipo128_paper_cbc_decrypt4
