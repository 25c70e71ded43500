# Calls a function with six arguments, and measures the call.
#
# void tress_bench_measure(void (*function)(), const uint32_t arguments[6], uint32_t spent[2], uint32_t before): cycles and
# instructions of a call, right after `before` other calls of the same function, so that no other code replaces it in the
# instruction cache. The measured call is region 3.
# void tress_bench_first(the same arguments): without a region.
# void tress_bench_empty(the same arguments): in region 2.
# uint32_t tress_bench_stack(void (*function)(), const uint32_t arguments[6]): bytes of stack that the function has written
# below its stack pointer. 1024 bytes are filled with a pattern before the call.
# void tress_bench_nothing(): returns. void tress_bench_counted(): executes 129 more instructions and returns.

.macro BENCH_FUNCTION name, align=4
    .section .text.\name, "ax", @progbits
    .globl \name
    .type \name, @function
    .balign \align
\name:
.endm

.macro BENCH_MEASURE name, region, align
BENCH_FUNCTION \name, \align
    addi  sp, sp, -32
    sw    ra, 28(sp)
    sw    s0, 24(sp)
    sw    s1, 20(sp)
    sw    s2, 16(sp)
    sw    s3, 12(sp)
    sw    s4, 8(sp)
    sw    s5, 4(sp)
    mv    s5, a0
    mv    s0, a1
    mv    s1, a3
    mv    s2, a2
    .balign 64              # what calls is one line
1:  lw    a0, 0(s0)
    lw    a1, 4(s0)
    lw    a2, 8(s0)
    lw    a3, 12(s0)
    lw    a4, 16(s0)
    lw    a5, 20(s0)
    bnez  s1, 2f
    slti  x0, x0, \region
2:  csrr  s3, minstret
    csrr  s4, mcycle
    jalr  s5
    csrr  t0, mcycle
    csrr  t1, minstret
    slti  x0, x0, 0
    addi  s1, s1, -1
    bgez  s1, 1b
    sub   t0, t0, s4
    sub   t1, t1, s3
    sw    t0, 0(s2)
    sw    t1, 4(s2)
    lw    ra, 28(sp)
    lw    s0, 24(sp)
    lw    s1, 20(sp)
    lw    s2, 16(sp)
    lw    s3, 12(sp)
    lw    s4, 8(sp)
    lw    s5, 4(sp)
    addi  sp, sp, 32
    ret
    .size \name, . - \name
.endm

BENCH_FUNCTION tress_bench_stack
    addi  sp, sp, -16
    sw    ra, 12(sp)
    mv    t6, a0
    mv    t5, a1
    li    t0, 0x5aa5c33c
    addi  t1, sp, -1024
    mv    t2, sp
1:  addi  t2, t2, -4
    sw    t0, 0(t2)
    bne   t2, t1, 1b
    lw    a0, 0(t5)
    lw    a1, 4(t5)
    lw    a2, 8(t5)
    lw    a3, 12(t5)
    lw    a4, 16(t5)
    lw    a5, 20(t5)
    jalr  t6
    li    t0, 0x5aa5c33c
    addi  t1, sp, -1024
2:  lw    t2, 0(t1)
    bne   t2, t0, 3f
    addi  t1, t1, 4
    bne   t1, sp, 2b
3:  sub   a0, sp, t1
    lw    ra, 12(sp)
    addi  sp, sp, 16
    ret
    .size tress_bench_stack, . - tress_bench_stack

BENCH_FUNCTION tress_bench_nothing
    ret
    .size tress_bench_nothing, . - tress_bench_nothing

BENCH_FUNCTION tress_bench_counted
    li    a0, 64
1:  addi  a0, a0, -1
    bnez  a0, 1b
    ret
    .size tress_bench_counted, . - tress_bench_counted

# Last, so that the kernels keep their addresses, at a place where both ways of 8 KiB have a line that no kernel needs.
BENCH_MEASURE tress_bench_measure, 3, 8192
BENCH_MEASURE tress_bench_first, 0, 64
BENCH_MEASURE tress_bench_empty, 2, 64
