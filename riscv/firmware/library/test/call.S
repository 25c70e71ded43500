# uint32_t checked_call(const uint32_t arguments[6], void (*function)(), uint32_t report[2]);
#
# Calls a function with known values in every callee-saved register and a painted stack. report: the number of registers that
# it changed (sp, gp and tp included), and the bytes of stack that it used. Returns the function's result.

    .set  PAINTED, 2048
    .section .text.checked_call, "ax", @progbits
    .globl checked_call
    .type checked_call, @function
checked_call:
    addi  sp, sp, -80
    sw    ra, 0(sp)
    sw    s0, 4(sp)
    sw    s1, 8(sp)
    sw    s2, 12(sp)
    sw    s3, 16(sp)
    sw    s4, 20(sp)
    sw    s5, 24(sp)
    sw    s6, 28(sp)
    sw    s7, 32(sp)
    sw    s8, 36(sp)
    sw    s9, 40(sp)
    sw    s10, 44(sp)
    sw    s11, 48(sp)
    sw    gp, 52(sp)
    sw    tp, 56(sp)
    sw    a2, 60(sp)
    la    t0, saved_sp
    sw    sp, 0(t0)

    # Paint.
    li    t0, 0xa5a5a5a5
    li    t2, PAINTED
    sub   t1, sp, t2
1:  sw    t0, 0(t1)
    addi  t1, t1, 4
    bne   t1, sp, 1b

    mv    t6, a1
    mv    t5, a0
    .irp  n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    li    s\n, 0x5eed0000 + 0x111 * \n
    .endr
    lw    a0, 0(t5)
    lw    a1, 4(t5)
    lw    a2, 8(t5)
    lw    a3, 12(t5)
    lw    a4, 16(t5)
    lw    a5, 20(t5)
    jalr  t6

    li    t0, 0
    .irp  n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    li    t1, 0x5eed0000 + 0x111 * \n
    beq   s\n, t1, 2f
    addi  t0, t0, 1
2:
    .endr
    la    t1, saved_sp
    lw    t1, 0(t1)
    beq   sp, t1, 2f
    addi  t0, t0, 1
    mv    sp, t1
2:  lw    t1, 52(sp)
    beq   gp, t1, 2f
    addi  t0, t0, 1
    mv    gp, t1
2:  lw    t1, 56(sp)
    beq   tp, t1, 2f
    addi  t0, t0, 1
    mv    tp, t1
2:  lw    a2, 60(sp)
    sw    t0, 0(a2)

    # Find the lowest word that is no longer painted.
    li    t0, 0xa5a5a5a5
    li    t2, PAINTED
    sub   t1, sp, t2
3:  lw    t2, 0(t1)
    bne   t2, t0, 4f
    addi  t1, t1, 4
    bne   t1, sp, 3b
4:  sub   t1, sp, t1
    sw    t1, 4(a2)

    lw    ra, 0(sp)
    lw    s0, 4(sp)
    lw    s1, 8(sp)
    lw    s2, 12(sp)
    lw    s3, 16(sp)
    lw    s4, 20(sp)
    lw    s5, 24(sp)
    lw    s6, 28(sp)
    lw    s7, 32(sp)
    lw    s8, 36(sp)
    lw    s9, 40(sp)
    lw    s10, 44(sp)
    lw    s11, 48(sp)
    addi  sp, sp, 80
    ret

    .section .bss.saved_sp, "aw", @nobits
    .balign 4
saved_sp:
    .zero 4
