# The shared macros of the AES kernels for RV32I. The other files need this one before them.
#
# A frame has 240 bytes: the state at 0, the variables of eight.S at 128, slots for the modes, and saved registers. The
# state is wiped before a kernel returns.

	.equ	AES_KEY, 128		# address of the next round key
	.equ	AES_END, 132		# address of the round key where the rounds end
	.equ	AES_CONTEXT, 140	# the slots: arguments of the caller
	.equ	AES_OUT, 144
	.equ	AES_IN, 148
	.equ	AES_LEFT, 152		# remaining bytes or blocks
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

	# Begins a function that C may call, and one that only the kernels call.
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

	# Reverses the bytes of a word. \mask holds 0xff00. Clobbers \t.
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

	# Exchanges the bits of \b in \mask with those of \a that are \n bits above them.
	.macro	aes_swapmove a, b, mask, n, t
	srli	\t, \a, \n
	xor	\t, \t, \b
	and	\t, \t, \mask
	xor	\b, \b, \t
	slli	\t, \t, \n
	xor	\a, \a, \t
	.endm

	# Converts four columns to four rows, or the reverse.
	.macro	aes_rows a, b, c, d, mask, t
	li	\mask, 0x0000ffff
	aes_swapmove \a, \c, \mask, 16, \t
	aes_swapmove \b, \d, \mask, 16, \t
	li	\mask, 0x00ff00ff
	aes_swapmove \a, \b, \mask, 8, \t
	aes_swapmove \c, \d, \mask, 8, \t
	.endm

	# Defines a function that applies \blocks to a3 bytes from a2 to a1, at most 128 at a time. a1 may equal a2.
	.macro	aes_ecb name, blocks
	aes_function \name
	beqz	a3, 3f
	aes_enter
	sw	a0, AES_CONTEXT(sp)
	sw	a1, AES_OUT(sp)
	sw	a2, AES_IN(sp)
	sw	a3, AES_LEFT(sp)
1:	lw	a2, AES_LEFT(sp)
	lw	a1, AES_IN(sp)
	li	t0, 128
	bleu	a2, t0, 2f
	mv	a2, t0
2:	add	t0, a1, a2
	sw	t0, AES_IN(sp)
	mv	a0, sp
	sw	a2, AES_A(sp)
	jal	tress_aes_copy
	jal	\blocks
	lw	a2, AES_A(sp)
	lw	a0, AES_OUT(sp)
	lw	t1, AES_LEFT(sp)
	add	t0, a0, a2
	sw	t0, AES_OUT(sp)
	sub	t1, t1, a2
	sw	t1, AES_LEFT(sp)
	mv	a1, sp
	jal	tress_aes_copy
	lw	t1, AES_LEFT(sp)
	bnez	t1, 1b
	aes_leave
3:	ret
	.size	\name, . - \name
	.endm

# Defines a key schedule; \form converts each round key to the form of a kernel.
#
# Frame: the last eight words of the schedule at 0 (four for 16 bytes). A: address of the next round key, B: rounds left,
# C: round constant, D: address of this round's words, E: address of the words before them, F: number of this round,
# G: 0, and from round 1 0x63636363.
	.macro	aes_expand_key name, form
	aes_function \name
	aes_enter
	sw	a0, AES_CONTEXT(sp)
	sw	a2, AES_LEFT(sp)
	srli	t0, a2, 2
	addi	t0, t0, 6
	sw	t0, 0(a0)
	sw	t0, AES_B(sp)
	addi	t1, a0, 4
	sw	t1, AES_A(sp)
	li	t2, 1
	sw	t2, AES_C(sp)
	sw	zero, AES_F(sp)
	sw	zero, AES_G(sp)
	mv	a0, sp
	jal	tress_aes_copy
	# Round key 0, and with 32 bytes round key 1, are the key itself.
	sw	sp, AES_D(sp)
	jal	\form
	lw	t0, AES_LEFT(sp)
	addi	t1, sp, 0
	addi	t2, t0, -32
	bnez	t2, 1f
	addi	t3, sp, 16
	sw	t3, AES_D(sp)
	jal	\form
	lw	t0, AES_B(sp)
	addi	t0, t0, -1
	sw	t0, AES_B(sp)
	addi	t1, sp, 16
1:	sw	t1, AES_E(sp)		# the words before these
	sw	sp, AES_D(sp)

2:	lw	t0, AES_E(sp)
	lw	a0, 12(t0)
	lw	t1, AES_D(sp)
	bne	t1, sp, 3f		# the second half of 32 bytes has neither rotation nor constant
	slli	t2, a0, 24
	srli	a0, a0, 8
	or	a0, a0, t2
3:	jal	tress_aes_sub_word
	lw	t1, AES_D(sp)
	bne	t1, sp, 4f
	lw	t0, AES_C(sp)
	xor	a0, a0, t0
	slli	t0, t0, 1
	andi	t2, t0, 0x100
	beqz	t2, 5f
	xori	t0, t0, 0x11b
5:	sw	t0, AES_C(sp)
4:	lw	t2, 0(t1)
	lw	t3, 4(t1)
	lw	t4, 8(t1)
	lw	t5, 12(t1)
	xor	t2, t2, a0
	xor	t3, t3, t2
	xor	t4, t4, t3
	xor	t5, t5, t4
	sw	t2, 0(t1)
	sw	t3, 4(t1)
	sw	t4, 8(t1)
	sw	t5, 12(t1)
	jal	\form
	lw	t0, AES_D(sp)
	lw	t1, AES_LEFT(sp)
	addi	t1, t1, -32
	bnez	t1, 6f
	lw	t2, AES_E(sp)		# exchange the halves
	sw	t0, AES_E(sp)
	sw	t2, AES_D(sp)
6:	lw	t0, AES_B(sp)
	addi	t0, t0, -1
	sw	t0, AES_B(sp)
	bnez	t0, 2b
	aes_leave
	.size	\name, . - \name
	.endm
