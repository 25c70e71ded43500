# LEA on RV32I (KS X 3246), and with the rotations of Zbb for cores that have them. Constant time: additions, XORs and shifts by
# fixed amounts. Branches depend on lengths, addresses and the counter.
#
# Each function tress_lea_... has a variant tress_lea_zbb_.... Round keys are six words for each of 24, 28 or 32 rounds; callers give
# their number of bytes. A block is four little-endian words in a4 to a7. Three more are in s2 to s5, s6 to s9, and s10, s11, t4, t5.

	.macro	lea_function name
	.section .text.\name,"ax",@progbits
	.balign	4
	.globl	\name
	.type	\name, @function
\name:
	.endm

	# Rotates \x to the left. Clobbers t3.
	.macro	lea_left zbb, x, amount
	.if	\zbb
	rori	\x, \x, 32 - \amount
	.else
	srli	t3, \x, 32 - \amount
	slli	\x, \x, \amount
	or	\x, \x, t3
	.endif
	.endm

	# \y = ((\x ^ t1) + (\y ^ t2)), rotated to the left.
	.macro	lea_encrypt_step zbb, x, y, amount
	xor	t3, \x, t1
	xor	\y, \y, t2
	add	\y, \y, t3
	lea_left \zbb, \y, \amount
	.endm

	# Undoes a step. \amount is the difference of its rotation to 32.
	.macro	lea_decrypt_step zbb, x, y, amount
	lea_left \zbb, \y, \amount
	xor	t3, \x, t1
	sub	\y, \y, t3
	xor	\y, \y, t2
	.endm

	# A step of one block or of four, with the round keys at \key(t0).
	.macro	lea_steps zbb, way, key, amount, x, y, x1, y1, x2, y2, x3, y3
	lw	t1, \key(t0)
	lw	t2, \key + 4(t0)
	lea_\way\()_step \zbb, \x, \y, \amount
	.ifnb	\x1
	lea_\way\()_step \zbb, \x1, \y1, \amount
	lea_\way\()_step \zbb, \x2, \y2, \amount
	lea_\way\()_step \zbb, \x3, \y3, \amount
	.endif
	.endm

	# A round. Words \a to \d of a block; the next round's are \b, \c, \d, \a.
	.macro	lea_encrypt_round zbb, key, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
	lea_steps \zbb, encrypt, \key + 16, 29, \c, \d, \g, \h, \k, \l, \o, \p
	lea_steps \zbb, encrypt, \key + 8, 27, \b, \c, \f, \g, \j, \k, \n, \o
	lea_steps \zbb, encrypt, \key, 9, \a, \b, \e, \f, \i, \j, \m, \n
	.endm

	.macro	lea_decrypt_round zbb, key, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
	lea_steps \zbb, decrypt, \key, 23, \a, \b, \e, \f, \i, \j, \m, \n
	lea_steps \zbb, decrypt, \key + 8, 5, \b, \c, \f, \g, \j, \k, \n, \o
	lea_steps \zbb, decrypt, \key + 16, 3, \c, \d, \g, \h, \k, \l, \o, \p
	.endm

	# Round 0, 1, 2 or 3 of four, for one block or four.
	.macro	lea_round zbb, way, number, count
	.if	\count == 1
	.if	\number == 0
	lea_\way\()_round \zbb, 0, a4, a5, a6, a7
	.elseif	\number == 1
	lea_\way\()_round \zbb, 24, a5, a6, a7, a4
	.elseif	\number == 2
	lea_\way\()_round \zbb, 48, a6, a7, a4, a5
	.else
	lea_\way\()_round \zbb, 72, a7, a4, a5, a6
	.endif
	.elseif	\number == 0
	lea_\way\()_round \zbb, 0, a4, a5, a6, a7, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t4, t5
	.elseif	\number == 1
	lea_\way\()_round \zbb, 24, a5, a6, a7, a4, s3, s4, s5, s2, s7, s8, s9, s6, s11, t4, t5, s10
	.elseif	\number == 2
	lea_\way\()_round \zbb, 48, a6, a7, a4, a5, s4, s5, s2, s3, s8, s9, s6, s7, t4, t5, s10, s11
	.else
	lea_\way\()_round \zbb, 72, a7, a4, a5, a6, s5, s2, s3, s4, s9, s6, s7, s8, t5, s10, s11, t4
	.endif
	.endm

	# All rounds with the round keys of a1 bytes at a0. Clobbers t0 to t3 and t6. `rest` leaves out the first three rounds: a block's
	# words are in a7, a4, a5, a6.
	.macro	lea_rounds prefix, zbb, count
	lea_function \prefix\()_rest\count
	.hidden	\prefix\()_rest\count
	mv	t0, a0
	add	t6, a0, a1
	j	2f
	.globl	\prefix\()_encrypt_words\count
	.type	\prefix\()_encrypt_words\count, @function
	.hidden	\prefix\()_encrypt_words\count
\prefix\()_encrypt_words\count:
	mv	t0, a0
	add	t6, a0, a1
1:	lea_round \zbb, encrypt, 0, \count
	lea_round \zbb, encrypt, 1, \count
	lea_round \zbb, encrypt, 2, \count
2:	lea_round \zbb, encrypt, 3, \count
	addi	t0, t0, 96
	bne	t0, t6, 1b
	ret
	.size	\prefix\()_rest\count, . - \prefix\()_rest\count
	.size	\prefix\()_encrypt_words\count, . - \prefix\()_encrypt_words\count

	lea_function \prefix\()_decrypt_words\count
	.hidden	\prefix\()_decrypt_words\count
	add	t0, a0, a1
1:	addi	t0, t0, -96
	lea_round \zbb, decrypt, 3, \count
	lea_round \zbb, decrypt, 2, \count
	lea_round \zbb, decrypt, 1, \count
	lea_round \zbb, decrypt, 0, \count
	bne	t0, a0, 1b
	ret
	.size	\prefix\()_decrypt_words\count, . - \prefix\()_decrypt_words\count
	.endm

	.macro	lea_save at
	sw	ra, \at(sp)
	sw	s0, \at + 4(sp)
	sw	s1, \at + 8(sp)
	sw	s2, \at + 12(sp)
	sw	s3, \at + 16(sp)
	sw	s4, \at + 20(sp)
	sw	s5, \at + 24(sp)
	sw	s6, \at + 28(sp)
	sw	s7, \at + 32(sp)
	sw	s8, \at + 36(sp)
	sw	s9, \at + 40(sp)
	sw	s10, \at + 44(sp)
	sw	s11, \at + 48(sp)
	.endm

	.macro	lea_restore at
	lw	ra, \at(sp)
	lw	s0, \at + 4(sp)
	lw	s1, \at + 8(sp)
	lw	s2, \at + 12(sp)
	lw	s3, \at + 16(sp)
	lw	s4, \at + 20(sp)
	lw	s5, \at + 24(sp)
	lw	s6, \at + 28(sp)
	lw	s7, \at + 32(sp)
	lw	s8, \at + 36(sp)
	lw	s9, \at + 40(sp)
	lw	s10, \at + 44(sp)
	lw	s11, \at + 48(sp)
	.endm

	# Applies `lw` or `sw` to four words.
	.macro	lea_move op, at, from, a, b, c, d
	\op	\a, \at(\from)
	\op	\b, \at + 4(\from)
	\op	\c, \at + 8(\from)
	\op	\d, \at + 12(\from)
	.endm

	.macro	lea_move4 op, at, from
	lea_move \op, \at, \from, a4, a5, a6, a7
	lea_move \op, \at + 16, \from, s2, s3, s4, s5
	lea_move \op, \at + 32, \from, s6, s7, s8, s9
	lea_move \op, \at + 48, \from, s10, s11, t4, t5
	.endm

	# Copies 16 bytes. Advances both pointers, and clobbers t0 and t1.
	.macro	lea_copy to, from
	addi	t1, \from, 16
8:	lbu	t0, 0(\from)
	addi	\from, \from, 1
	addi	\to, \to, 1
	sb	t0, -1(\to)
	bne	\from, t1, 8b
	.endm

	# void tress_lea_encrypt(const uint32_t *round_keys, size_t key_bytes, uint8_t *out, const uint8_t *in, size_t bytes), and decrypt:
	# whole blocks; `out` may be `in`.
	.macro	lea_blocks prefix, way
	lea_function \prefix\()_\way
	beqz	a4, 9f
	addi	sp, sp, -80		# 0: a block that is not aligned to words
	lea_save 16
	mv	s0, a2
	mv	s1, a3
	mv	a2, a4
1:	or	t0, s0, s1
	andi	t0, t0, 3
	bnez	t0, 4f
	li	t1, 64
	bltu	a2, t1, 3f
	lea_move4 lw, 0, s1
	jal	\prefix\()_\way\()_words4
	lea_move4 sw, 0, s0
	addi	s0, s0, 64
	addi	s1, s1, 64
	addi	a2, a2, -64
	bnez	a2, 1b
	j	5f
3:	lea_move lw, 0, s1, a4, a5, a6, a7
	jal	\prefix\()_\way\()_words1
	lea_move sw, 0, s0, a4, a5, a6, a7
	addi	s0, s0, 16
	addi	s1, s1, 16
	addi	a2, a2, -16
	bnez	a2, 1b
	j	5f
4:	mv	t2, sp
	lea_copy t2, s1
	lea_move lw, 0, sp, a4, a5, a6, a7
	jal	\prefix\()_\way\()_words1
	lea_move sw, 0, sp, a4, a5, a6, a7
	mv	t2, sp
	lea_copy s0, t2
	addi	a2, a2, -16
	bnez	a2, 1b
5:	lea_move sw, 0, sp, zero, zero, zero, zero
	lea_restore 16
	addi	sp, sp, 80
9:	ret
	.size	\prefix\()_\way, . - \prefix\()_\way
	.endm

	# \to = (\from ^ a word of the round keys) + a word prepared at \ahead(sp), rotated to the left; for one block or for four.
	.macro	lea_ahead zbb, key, ahead, amount, to, from, to1, from1, to2, from2, to3, from3
	lw	t1, \key(a0)
	lw	t2, \ahead(sp)
	lea_ahead_step \zbb, \amount, \to, \from
	.ifnb	\to1
	lea_ahead_step \zbb, \amount, \to1, \from1
	lea_ahead_step \zbb, \amount, \to2, \from2
	lea_ahead_step \zbb, \amount, \to3, \from3
	.endif
	.endm

	.macro	lea_ahead_step zbb, amount, to, from
	xor	\to, \from, t1
	add	\to, \to, t2
	lea_left \zbb, \to, \amount
	.endm

	# The first three rounds of counter blocks, whose last words are in \d, \h, \l and \p.
	.macro	lea_first_rounds zbb, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
	lea_ahead \zbb, 20, 16, 29, \d, \d, \h, \h, \l, \l, \p, \p
	lea_ahead \zbb, 36, 20, 27, \a, \d, \e, \h, \i, \l, \m, \p
	lea_ahead \zbb, 40, 24, 29, \b, \d, \f, \h, \j, \l, \n, \p
	lea_ahead \zbb, 52, 28, 9, \d, \a, \h, \e, \l, \i, \p, \m
	lw	t1, 60(a0)
	lw	t2, 56(a0)
	lea_encrypt_step \zbb, \b, \a, 27
	.ifnb	\e
	lea_encrypt_step \zbb, \f, \e, 27
	lea_encrypt_step \zbb, \j, \i, 27
	lea_encrypt_step \zbb, \n, \m, 27
	.endif
	lea_ahead \zbb, 64, 32, 29, \b, \b, \f, \f, \j, \j, \n, \n
	lw	\c, 36(sp)
	.ifnb	\e
	mv	\g, \c
	mv	\k, \c
	mv	\o, \c
	.endif
	.endm

	# XORs four words into \at(s1), and writes them to \at(s0).
	.macro	lea_add at, a, b, c, d
	lea_move lw, \at, s1, t0, t1, t2, t3
	xor	t0, t0, \a
	xor	t1, t1, \b
	xor	t2, t2, \c
	xor	t3, t3, \d
	lea_move sw, \at, s0, t0, t1, t2, t3
	.endm

	# void tress_lea_stream(const uint32_t *round_keys, size_t key_bytes, const uint8_t counter[16], uint8_t *out, const uint8_t *in,
	# size_t bytes): CTR. The counter is the whole block, big-endian; `out` may be `in`.
	#
	# Only the last word of the counter changes, and adding 2^24 to it counts until its last byte overflows. What the first three rounds
	# compute of the other words alone is prepared: five operands of additions, and word 3 after the three rounds.
	.macro	lea_stream prefix, zbb
	lea_function \prefix\()_stream
	beqz	a5, 9f
	addi	sp, sp, -160		# 0: the counter, 16: prepared words, 40: key stream
	lea_save 104
	mv	s0, a3
	mv	s1, a4
	mv	t2, sp
	lea_copy t2, a2
	mv	a2, a5
1:	lw	a4, 0(sp)		# prepares
	lw	a5, 4(sp)
	lw	a6, 8(sp)
	lw	a3, 12(sp)
	lw	t1, 0(a0)
	lw	t2, 4(a0)
	mv	t4, a5
	lea_encrypt_step \zbb, a4, t4, 9	# t4: word 0 after round 0
	lw	t1, 8(a0)
	lw	t2, 12(a0)
	mv	t5, a6
	lea_encrypt_step \zbb, a5, t5, 27	# t5: word 1
	lw	t1, 16(a0)
	lw	t2, 32(a0)
	xor	t1, t1, a6
	xor	t2, t2, t5
	sw	t1, 16(sp)
	sw	t2, 20(sp)
	lw	t0, 44(a0)
	lw	t1, 24(a0)
	lw	t2, 28(a0)
	xor	t0, t0, a4
	sw	t0, 24(sp)
	lea_encrypt_step \zbb, t4, t5, 9	# t5: word 0 after round 1
	lw	t1, 48(a0)
	lw	t2, 68(a0)
	xor	t1, t1, t5
	xor	t2, t2, t4
	sw	t1, 28(sp)
	sw	t2, 32(sp)
	sw	t5, 36(sp)
2:	li	t0, 64
	srli	t1, a3, 24
	li	t2, 252
	bltu	a2, t0, 3f
	bltu	t2, t1, 3f
	lui	t0, 0x1000
	mv	a7, a3
	add	s5, a3, t0
	add	s9, s5, t0
	add	t5, s9, t0
	add	a3, t5, t0
	lea_first_rounds \zbb, a4, a5, a6, a7, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t4, t5
	jal	\prefix\()_rest4
	or	t0, s0, s1
	andi	t0, t0, 3
	bnez	t0, 4f
	lea_add	0, a4, a5, a6, a7
	lea_add	16, s2, s3, s4, s5
	lea_add	32, s6, s7, s8, s9
	lea_add	48, s10, s11, t4, t5
	addi	s0, s0, 64
	addi	s1, s1, 64
	addi	a2, a2, -64
	j	6f
4:	lea_move4 sw, 40, sp
	addi	t0, sp, 40 + 64
	addi	a2, a2, -64
	j	5f
3:	lui	t0, 0x1000
	mv	a7, a3
	add	a3, a3, t0
	lea_first_rounds \zbb, a4, a5, a6, a7
	jal	\prefix\()_rest1
	li	t2, 16
	or	t0, s0, s1
	andi	t0, t0, 3
	bltu	a2, t2, 4f
	bnez	t0, 7f
	lea_add	0, a4, a5, a6, a7
	addi	s0, s0, 16
	addi	s1, s1, 16
	addi	a2, a2, -16
	j	6f
4:	mv	t2, a2
7:	lea_move sw, 40, sp, a4, a5, a6, a7
	addi	t0, sp, 40
	add	t0, t0, t2
	sub	a2, a2, t2
5:	addi	t1, sp, 40		# byte by byte: less than a block, or not aligned to words
8:	lbu	t2, 0(t1)
	lbu	t3, 0(s1)
	addi	t1, t1, 1
	addi	s1, s1, 1
	xor	t2, t2, t3
	sb	t2, 0(s0)
	addi	s0, s0, 1
	bne	t1, t0, 8b
6:	beqz	a2, 5f
	srli	t0, a3, 24
	bnez	t0, 2b
	sw	a3, 12(sp)		# the last byte has become zero
	addi	t0, sp, 15
7:	lbu	t1, -1(t0)
	addi	t0, t0, -1
	addi	t1, t1, 1
	sb	t1, 0(t0)
	andi	t1, t1, 0xff
	bnez	t1, 1b
	bne	t0, sp, 7b
	j	1b
5:	addi	t0, sp, 16
	addi	t1, sp, 104
6:	sw	zero, 0(t0)
	addi	t0, t0, 4
	bne	t0, t1, 6b
	lea_restore 104
	addi	sp, sp, 160
9:	ret
	.size	\prefix\()_stream, . - \prefix\()_stream
	.endm

	# Defines all functions; \prefix is tress_lea or tress_lea_zbb.
	.macro	lea_parts prefix, zbb
	.option	push
	.if	\zbb
	.option	arch, +zbb
	.endif
	lea_rounds \prefix, \zbb, 1
	lea_rounds \prefix, \zbb, 4
	lea_blocks \prefix, encrypt
	lea_blocks \prefix, decrypt
	lea_stream \prefix, \zbb
	.option	pop
	.endm

	lea_parts tress_lea, 0
	lea_parts tress_lea_zbb, 1
