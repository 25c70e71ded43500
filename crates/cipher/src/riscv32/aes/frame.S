# What the AES kernels for RV32I share: their frame, moving bytes, numbers in big-endian order.
#
# A frame has 240 bytes: the state at 0, what the parts in eight.S use at 128, slots for the modes, saved registers. The
# state is wiped before a kernel returns.

	.equ	AES_KEY, 128		# address of the next round key
	.equ	AES_END, 132		# address of the round key where the rounds end
	.equ	AES_CONTEXT, 140	# the slots: what the caller gave
	.equ	AES_OUT, 144
	.equ	AES_IN, 148
	.equ	AES_LEFT, 152		# bytes or blocks to do
	.equ	AES_A, 156		# free for each mode
	.equ	AES_B, 160
	.equ	AES_C, 164
	.equ	AES_D, 168
	.equ	AES_E, 172
	.equ	AES_F, 176
	.equ	AES_G, 180
	.equ	AES_RETURN, 184		# ra of tress_aes8_encrypt_frame and its inverse

	.macro	aes_enter
	addi	sp, sp, -240
	sw	s0, 188(sp)
	sw	s1, 192(sp)
	sw	s2, 196(sp)
	sw	s3, 200(sp)
	sw	s4, 204(sp)
	sw	s5, 208(sp)
	sw	s6, 212(sp)
	sw	s7, 216(sp)
	sw	s8, 220(sp)
	sw	s9, 224(sp)
	sw	s10, 228(sp)
	sw	s11, 232(sp)
	sw	ra, 236(sp)
	.endm

	.macro	aes_leave
	.set	aes_offset, 0
	.rept	32
	sw	zero, aes_offset(sp)
	.set	aes_offset, aes_offset + 4
	.endr
	lw	s0, 188(sp)
	lw	s1, 192(sp)
	lw	s2, 196(sp)
	lw	s3, 200(sp)
	lw	s4, 204(sp)
	lw	s5, 208(sp)
	lw	s6, 212(sp)
	lw	s7, 216(sp)
	lw	s8, 220(sp)
	lw	s9, 224(sp)
	lw	s10, 228(sp)
	lw	s11, 232(sp)
	lw	ra, 236(sp)
	addi	sp, sp, 240
	ret
	.endm

	# The opening of a function that C may call, and of one that only the kernels call.
	.macro	aes_function name
	.section .text.\name,"ax",@progbits
	.balign	4
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro	aes_part name
	aes_function \name
	.hidden	\name
	.endm

	# Reverses the bytes of a word. \mask holds 0xff00; \t is written.
	.macro	aes_reverse to, from, mask, t
	slli	\t, \from, 24
	srli	\to, \from, 24
	or	\t, \t, \to
	and	\to, \from, \mask
	slli	\to, \to, 8
	or	\t, \t, \to
	srli	\to, \from, 8
	and	\to, \to, \mask
	or	\to, \to, \t
	.endm

	# Exchanges the bits of \b under \mask with those of \a that stand \n higher.
	.macro	aes_swapmove a, b, mask, n, t
	srli	\t, \a, \n
	xor	\t, \t, \b
	and	\t, \t, \mask
	xor	\b, \b, \t
	slli	\t, \t, \n
	xor	\a, \a, \t
	.endm

	# Four columns become four rows, or the other way round.
	.macro	aes_rows a, b, c, d, mask, t
	li	\mask, 0x0000ffff
	aes_swapmove \a, \c, \mask, 16, \t
	aes_swapmove \b, \d, \mask, 16, \t
	li	\mask, 0x00ff00ff
	aes_swapmove \a, \b, \mask, 8, \t
	aes_swapmove \c, \d, \mask, 8, \t
	.endm

# Copies a2 bytes from a1 to a0. Writes a0 to a5 and t0.
	aes_part tress_aes_copy
	or	t0, a0, a1
	andi	t0, t0, 3
	bnez	t0, 2f
1:	addi	a2, a2, -16
	bltz	a2, 1f
	lw	a3, 0(a1)
	lw	a4, 4(a1)
	lw	a5, 8(a1)
	lw	t0, 12(a1)
	sw	a3, 0(a0)
	sw	a4, 4(a0)
	sw	a5, 8(a0)
	sw	t0, 12(a0)
	addi	a1, a1, 16
	addi	a0, a0, 16
	j	1b
1:	addi	a2, a2, 16
2:	beqz	a2, 4f
3:	lbu	a3, 0(a1)
	addi	a2, a2, -1
	addi	a1, a1, 1
	sb	a3, 0(a0)
	addi	a0, a0, 1
	bnez	a2, 3b
4:	ret
	.size	tress_aes_copy, . - tress_aes_copy

# Writes the sum of a3 bytes at a1 and a2 to a0, which may be either of them. Writes a0 to a7 and t0 to t6.
	aes_part tress_aes_add
	or	t0, a0, a1
	or	t0, t0, a2
	andi	t0, t0, 3
	bnez	t0, 2f
1:	addi	a3, a3, -16
	bltz	a3, 1f
	lw	a4, 0(a1)
	lw	t0, 0(a2)
	lw	a5, 4(a1)
	lw	t1, 4(a2)
	lw	a6, 8(a1)
	lw	t2, 8(a2)
	lw	a7, 12(a1)
	lw	t3, 12(a2)
	xor	a4, a4, t0
	xor	a5, a5, t1
	xor	a6, a6, t2
	xor	a7, a7, t3
	sw	a4, 0(a0)
	sw	a5, 4(a0)
	sw	a6, 8(a0)
	sw	a7, 12(a0)
	addi	a1, a1, 16
	addi	a2, a2, 16
	addi	a0, a0, 16
	j	1b
1:	addi	a3, a3, 16
2:	beqz	a3, 4f
3:	lbu	a4, 0(a1)
	lbu	t0, 0(a2)
	addi	a3, a3, -1
	addi	a1, a1, 1
	addi	a2, a2, 1
	xor	a4, a4, t0
	sb	a4, 0(a0)
	addi	a0, a0, 1
	bnez	a3, 3b
4:	ret
	.size	tress_aes_add, . - tress_aes_add

# Writes the sum of the blocks at a1 and a2 to a0. Writes a3 to a7, a0 and t0 to t5.
	aes_part tress_aes_add_block
	or	t0, a0, a1
	or	t0, t0, a2
	andi	t0, t0, 3
	bnez	t0, 1f
	lw	a3, 0(a1)
	lw	t0, 0(a2)
	lw	a4, 4(a1)
	lw	t2, 4(a2)
	lw	a5, 8(a1)
	lw	t3, 8(a2)
	lw	a6, 12(a1)
	lw	t4, 12(a2)
	xor	a3, a3, t0
	xor	a4, a4, t2
	xor	a5, a5, t3
	xor	a6, a6, t4
	sw	a3, 0(a0)
	sw	a4, 4(a0)
	sw	a5, 8(a0)
	sw	a6, 12(a0)
	ret
1:	li	a3, 16
	tail	tress_aes_add
	.size	tress_aes_add_block, . - tress_aes_add_block
