# Start code for Linux user emulation, system calls, and a call that checks the callee.

	.text
	.globl	_start
_start:
	.option push
	.option norelax
	la	gp, __global_pointer$
	.option pop
	andi	sp, sp, -16
	jal	main
	li	a7, 93
	ecall

# long system_call(long a, long b, long c, long number)
	.globl	system_call
system_call:
	mv	a7, a3
	ecall
	ret

# int checked_call(void *function, const long arguments[10], long *result): bit n of the result is set if callee-saved register n
# (or sp, gp or tp) came back changed. The 4096 bytes below the stack pointer are painted before the call; `stack_used` is the
# number of them that the function wrote to.
	.globl	checked_call
checked_call:
	addi	sp, sp, -80
	sw	ra, 0(sp)
	.set	offset, 4
	.irp	r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, gp, tp, a2
	sw	\r, offset(sp)
	.set	offset, offset + 4
	.endr
	la	t0, saved_sp
	sw	sp, 0(t0)
	mv	t6, a0
	mv	t5, a1
	mv	t0, sp
	li	t1, 4096
	sub	t0, t0, t1
	li	t1, 0xa5a5a5a5
1:	sw	t1, 0(t0)
	addi	t0, t0, 4
	bne	t0, sp, 1b
	.set	value, 0x5ee00001
	.irp	r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
	li	\r, value
	.set	value, value + 0x1111
	.endr
	lw	a0, 0(t5)
	lw	a1, 4(t5)
	lw	a2, 8(t5)
	lw	a3, 12(t5)
	lw	a4, 16(t5)
	lw	a5, 20(t5)
	lw	a6, 24(t5)
	lw	a7, 28(t5)
	lw	t0, 32(t5)		# the rest on the stack
	lw	t1, 36(t5)
	addi	sp, sp, -16
	sw	t0, 0(sp)
	sw	t1, 4(sp)
	jalr	t6
	addi	sp, sp, 16
	mv	t4, a0
	la	t0, saved_sp
	lw	t0, 0(t0)
	xor	t1, sp, t0
	snez	a0, t1
	slli	a0, a0, 2
	mv	sp, t0
	lw	t1, 52(sp)
	xor	t1, t1, gp
	snez	t1, t1
	slli	t1, t1, 3
	or	a0, a0, t1
	lw	t1, 56(sp)
	xor	t1, t1, tp
	snez	t1, t1
	slli	t1, t1, 4
	or	a0, a0, t1
	.set	value, 0x5ee00001
	.set	bit, 8
	.irp	r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
	li	t1, value
	xor	t1, t1, \r
	snez	t1, t1
	slli	t1, t1, bit
	or	a0, a0, t1
	.set	value, value + 0x1111
	.set	bit, bit + 1
	.endr
	mv	t0, sp
	li	t1, 4096
	sub	t0, t0, t1
	li	t1, 0xa5a5a5a5
1:	lw	t2, 0(t0)
	bne	t2, t1, 2f
	addi	t0, t0, 4
	bne	t0, sp, 1b
2:	sub	t0, sp, t0
	addi	t0, t0, -16
	la	t1, stack_used
	sw	t0, 0(t1)
	lw	a2, 60(sp)
	sw	t4, 0(a2)
	lw	ra, 0(sp)
	.set	offset, 4
	.irp	r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
	lw	\r, offset(sp)
	.set	offset, offset + 4
	.endr
	addi	sp, sp, 80
	ret

	.bss
	.balign	4
saved_sp: .space 4
	.globl	stack_used
stack_used: .space 4
