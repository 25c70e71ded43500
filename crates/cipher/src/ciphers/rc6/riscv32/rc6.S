# RC6-32/20 on RV32IM (R. L. Rivest, M. J. B. Robshaw, R. Sidney, Y. L. Yin: "The RC6 Block Cipher", 1998), and with the
# rotations of Zbb for cores that have them. Constant time if mul and shifts are, as on the E31.
#
# Each function tress_rc6_... has a variant tress_rc6_zbb_.... Round keys are 44 words. Blocks are the little-endian words
# A, B, C, D, in a4 to a7.

	.macro	rc6_function name
	.section .text.\name,"ax",@progbits
	.balign	4
	.globl	\name
	.type	\name, @function
\name:
	.endm

	# \to = \x rotated to the left by five. Clobbers \t.
	.macro	rc6_left_5 zbb, to, x, t
	.if	\zbb
	rori	\to, \x, 27
	.else
	srli	\t, \x, 27
	slli	\to, \x, 5
	or	\to, \to, \t
	.endif
	.endm

	# Rotates \x by the low five bits of \n. Clobbers \t and \v.
	.macro	rc6_left zbb, x, n, t, v
	.if	\zbb
	rol	\x, \x, \n
	.else
	neg	\t, \n
	sll	\v, \x, \n
	srl	\x, \x, \t
	or	\x, \x, \v
	.endif
	.endm

	.macro	rc6_right zbb, x, n, t, v
	.if	\zbb
	ror	\x, \x, \n
	.else
	neg	\t, \n
	srl	\v, \x, \n
	sll	\x, \x, \t
	or	\x, \x, \v
	.endif
	.endm

	# t1 = t and t2 = u of a round, before their rotations by five.
	.macro	rc6_quadratic zbb, b, d
	slli	t1, \b, 1
	slli	t2, \d, 1
	addi	t1, t1, 1
	addi	t2, t2, 1
	mul	t1, t1, \b
	mul	t2, t2, \d
	.endm

	# A round with the keys at \key(t0). The next round's A, B, C, D are \b, \c, \d, \a.
	.macro	rc6_round zbb, a, b, c, d, key
	rc6_quadratic \zbb, \b, \d
	lw	t5, \key(t0)
	lw	t6, \key + 4(t0)
	rc6_left_5 \zbb, t1, t1, t3
	rc6_left_5 \zbb, t2, t2, t4
	xor	\a, \a, t1
	xor	\c, \c, t2
	rc6_left \zbb, \a, t2, t3, t4
	rc6_left \zbb, \c, t1, t3, t4
	add	\a, \a, t5
	add	\c, \c, t6
	.endm

	.macro	rc6_inverse_round zbb, a, b, c, d, key
	rc6_quadratic \zbb, \b, \d
	lw	t5, \key(t0)
	lw	t6, \key + 4(t0)
	sub	\a, \a, t5
	sub	\c, \c, t6
	rc6_left_5 \zbb, t1, t1, t3
	rc6_left_5 \zbb, t2, t2, t4
	rc6_right \zbb, \a, t2, t3, t4
	rc6_right \zbb, \c, t1, t3, t4
	xor	\a, \a, t1
	xor	\c, \c, t2
	.endm

	# Defines all functions; \prefix is tress_rc6 or tress_rc6_zbb.
	.macro	rc6_parts prefix, zbb
	.option	push
	.option	arch, +m
	.if	\zbb
	.option	arch, +zbb
	.endif

# Encrypts a4 to a7 with the round keys at a0. Clobbers t0 to t6 and a2.
	rc6_function \prefix\()_encrypt_words
	.hidden	\prefix\()_encrypt_words
	lw	t1, 0(a0)
	lw	t2, 4(a0)
	addi	t0, a0, 8
	add	a5, a5, t1
	add	a7, a7, t2
	addi	a2, a0, 8 + 160
1:	rc6_round \zbb, a4, a5, a6, a7, 0
	rc6_round \zbb, a5, a6, a7, a4, 8
	rc6_round \zbb, a6, a7, a4, a5, 16
	rc6_round \zbb, a7, a4, a5, a6, 24
	addi	t0, t0, 32
	bne	t0, a2, 1b
	lw	t1, 0(t0)
	lw	t2, 4(t0)
	add	a4, a4, t1
	add	a6, a6, t2
	ret
	.size	\prefix\()_encrypt_words, . - \prefix\()_encrypt_words

# Decrypts a4 to a7 with the round keys at a0. Clobbers t0 to t6 and a2.
	rc6_function \prefix\()_decrypt_words
	.hidden	\prefix\()_decrypt_words
	addi	t0, a0, 168
	lw	t1, 0(t0)
	lw	t2, 4(t0)
	addi	a2, a0, 8
	sub	a4, a4, t1
	sub	a6, a6, t2
1:	addi	t0, t0, -32
	rc6_inverse_round \zbb, a7, a4, a5, a6, 24
	rc6_inverse_round \zbb, a6, a7, a4, a5, 16
	rc6_inverse_round \zbb, a5, a6, a7, a4, 8
	rc6_inverse_round \zbb, a4, a5, a6, a7, 0
	bne	t0, a2, 1b
	lw	t1, 0(a0)
	lw	t2, 4(a0)
	sub	a5, a5, t1
	sub	a7, a7, t2
	ret
	.size	\prefix\()_decrypt_words, . - \prefix\()_decrypt_words

# void tress_rc6_expand_key(uint32_t round_keys[44], const uint8_t *key, size_t key_bytes): 16, 24 or 32 bytes.
	rc6_function \prefix\()_expand_key
	addi	sp, sp, -32		# the key's words
	mv	t0, sp
	add	t1, sp, a2
1:	lbu	t2, 0(a1)
	addi	t0, t0, 1
	addi	a1, a1, 1
	sb	t2, -1(t0)
	bne	t0, t1, 1b
	li	t2, 0xb7e15163
	li	t3, 0x9e3779b9
	addi	a3, a0, 176
	mv	t0, a0
2:	sw	t2, 0(t0)
	addi	t0, t0, 4
	add	t2, t2, t3
	bne	t0, a3, 2b
	li	a4, 0			# A
	li	a5, 0			# B
	li	a6, 132
	mv	t0, a0
	mv	t5, sp
3:	lw	t2, 0(t0)
	add	a4, a4, a5
	add	a4, a4, t2
	.if	\zbb
	rori	a4, a4, 29
	.else
	srli	t3, a4, 29
	slli	a4, a4, 3
	or	a4, a4, t3
	.endif
	sw	a4, 0(t0)
	lw	t2, 0(t5)
	add	t3, a4, a5
	add	a5, t2, t3
	rc6_left \zbb, a5, t3, t4, t6
	sw	a5, 0(t5)
	addi	t0, t0, 4
	addi	t5, t5, 4
	bne	t0, a3, 4f
	mv	t0, a0
4:	bne	t5, t1, 5f
	mv	t5, sp
5:	addi	a6, a6, -1
	bnez	a6, 3b
	.irp	offset, 0, 4, 8, 12, 16, 20, 24, 28
	sw	zero, \offset(sp)
	.endr
	addi	sp, sp, 32
	ret
	.size	\prefix\()_expand_key, . - \prefix\()_expand_key

	rc6_blocks \prefix, encrypt
	rc6_blocks \prefix, decrypt

# void tress_rc6_stream(const uint32_t round_keys[44], uint8_t counter[16], uint8_t *out, const uint8_t *in, size_t bytes):
# the counter is the whole block, big-endian, and is set to the next one; `out` may be `in`.
	rc6_function \prefix\()_stream
	beqz	a4, 9f
	addi	sp, sp, -64		# 0: the counter, 16: key stream
	sw	ra, 60(sp)
	sw	s0, 56(sp)
	sw	s1, 52(sp)
	sw	s2, 48(sp)
	sw	a1, 44(sp)
	mv	s0, a2
	mv	s1, a3
	mv	s2, a4
	mv	t0, sp
	addi	t1, sp, 16
1:	lbu	t2, 0(a1)
	addi	a1, a1, 1
	addi	t0, t0, 1
	sb	t2, -1(t0)
	bne	t0, t1, 1b
2:	lw	a4, 0(sp)
	lw	a5, 4(sp)
	lw	a6, 8(sp)
	lw	a7, 12(sp)
	jal	\prefix\()_encrypt_words
	li	t0, 16
	or	t1, s0, s1
	bltu	s2, t0, 3f
	andi	t1, t1, 3
	bnez	t1, 4f
	lw	t0, 0(s1)
	lw	t1, 4(s1)
	lw	t2, 8(s1)
	lw	t3, 12(s1)
	xor	a4, a4, t0
	xor	a5, a5, t1
	xor	a6, a6, t2
	xor	a7, a7, t3
	sw	a4, 0(s0)
	sw	a5, 4(s0)
	sw	a6, 8(s0)
	sw	a7, 12(s0)
	addi	s0, s0, 16
	addi	s1, s1, 16
	addi	s2, s2, -16
	j	6f
3:	mv	t0, s2			# byte by byte: less than a block, or not aligned to words
4:	sub	s2, s2, t0
	sw	a4, 16(sp)
	sw	a5, 20(sp)
	sw	a6, 24(sp)
	sw	a7, 28(sp)
	addi	t1, sp, 16
	add	t0, t0, t1
5:	lbu	t2, 0(t1)
	lbu	t3, 0(s1)
	addi	t1, t1, 1
	addi	s1, s1, 1
	xor	t2, t2, t3
	sb	t2, 0(s0)
	addi	s0, s0, 1
	bne	t1, t0, 5b
6:	addi	t0, sp, 16		# the counter
7:	lbu	t1, -1(t0)
	addi	t0, t0, -1
	addi	t1, t1, 1
	sb	t1, 0(t0)
	andi	t1, t1, 0xff
	bnez	t1, 8f
	bne	t0, sp, 7b
8:	bnez	s2, 2b
	lw	a1, 44(sp)
	addi	t1, sp, 16
	mv	t0, sp
1:	lbu	t2, 0(t0)
	addi	t0, t0, 1
	addi	a1, a1, 1
	sb	t2, -1(a1)
	bne	t0, t1, 1b
	.irp	offset, 16, 20, 24, 28
	sw	zero, \offset(sp)
	.endr
	lw	ra, 60(sp)
	lw	s0, 56(sp)
	lw	s1, 52(sp)
	lw	s2, 48(sp)
	addi	sp, sp, 64
9:	ret
	.size	\prefix\()_stream, . - \prefix\()_stream
	.option	pop
	.endm

	# void tress_rc6_encrypt(const uint32_t round_keys[44], uint8_t *out, const uint8_t *in, size_t bytes), and decrypt: whole
	# blocks; `out` may be `in`.
	.macro	rc6_blocks prefix, way
	rc6_function \prefix\()_\way
	beqz	a3, 9f
	addi	sp, sp, -48		# 0: a block that is not aligned to words
	sw	ra, 44(sp)
	sw	s0, 40(sp)
	sw	s1, 36(sp)
	sw	s2, 32(sp)
	mv	s0, a1
	mv	s1, a2
	add	s2, a2, a3
1:	andi	t0, s1, 3
	mv	t1, s1
	beqz	t0, 3f
	mv	t1, sp
	addi	t2, sp, 16
2:	lbu	t0, 0(s1)
	addi	t1, t1, 1
	addi	s1, s1, 1
	sb	t0, -1(t1)
	bne	t1, t2, 2b
	mv	t1, sp
	addi	s1, s1, -16
3:	lw	a4, 0(t1)
	lw	a5, 4(t1)
	lw	a6, 8(t1)
	lw	a7, 12(t1)
	addi	s1, s1, 16
	jal	\prefix\()_\way\()_words
	andi	t0, s0, 3
	bnez	t0, 5f
	sw	a4, 0(s0)
	sw	a5, 4(s0)
	sw	a6, 8(s0)
	sw	a7, 12(s0)
	addi	s0, s0, 16
4:	bne	s1, s2, 1b
	.irp	offset, 0, 4, 8, 12
	sw	zero, \offset(sp)
	.endr
	lw	ra, 44(sp)
	lw	s0, 40(sp)
	lw	s1, 36(sp)
	lw	s2, 32(sp)
	addi	sp, sp, 48
9:	ret
5:	sw	a4, 0(sp)
	sw	a5, 4(sp)
	sw	a6, 8(sp)
	sw	a7, 12(sp)
	mv	t1, sp
	addi	t2, sp, 16
6:	lbu	t0, 0(t1)
	addi	t1, t1, 1
	addi	s0, s0, 1
	sb	t0, -1(s0)
	bne	t1, t2, 6b
	j	4b
	.size	\prefix\()_\way, . - \prefix\()_\way
	.endm

	rc6_parts tress_rc6, 0
	rc6_parts tress_rc6_zbb, 1
