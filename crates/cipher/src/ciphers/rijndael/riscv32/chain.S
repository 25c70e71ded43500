# AES on RV32I for one block, for CBC encryption, and for CCM of one message, constant time. The kernel encrypts two blocks
# (two.S); with CCM the second one is the counter.

	# Sets s10 and s11 to the first and the last round key of the context at \context. Clobbers nothing else.
	.macro	aes2_keys context
	lw	s11, 0(\context)
	addi	s10, \context, 4
	slli	s11, s11, 5
	add	s11, s11, s10
	.endm

# void tress_aes2_encrypt(const uint32_t context[], uint8_t *out, const uint8_t *in): two blocks; `out` may be `in`.
	aes_function tress_aes2_encrypt
	aes_enter
	sw	a1, AES_OUT(sp)
	aes2_keys a0
	mv	a1, a2
	mv	a0, sp
	li	a2, 32
	jal	tress_aes_copy
	lw	a0, 0(sp)
	lw	a2, 4(sp)
	lw	a4, 8(sp)
	lw	a6, 12(sp)
	lw	a1, 16(sp)
	lw	a3, 20(sp)
	lw	a5, 24(sp)
	lw	a7, 28(sp)
	jal	tress_aes2_encrypt_words
	sw	a0, 0(sp)
	sw	a2, 4(sp)
	sw	a4, 8(sp)
	sw	a6, 12(sp)
	sw	a1, 16(sp)
	sw	a3, 20(sp)
	sw	a5, 24(sp)
	sw	a7, 28(sp)
	lw	a0, AES_OUT(sp)
	mv	a1, sp
	li	a2, 32
	jal	tress_aes_copy
	aes_leave
	.size	tress_aes2_encrypt, . - tress_aes2_encrypt

# Stores a block from registers to \at(\base), and loads it.
	.macro	aes2_store base, at, w0, w1, w2, w3
	sw	\w0, \at(\base)
	sw	\w1, \at + 4(\base)
	sw	\w2, \at + 8(\base)
	sw	\w3, \at + 12(\base)
	.endm

	.macro	aes2_load base, at, w0, w1, w2, w3
	lw	\w0, \at(\base)
	lw	\w1, \at + 4(\base)
	lw	\w2, \at + 8(\base)
	lw	\w3, \at + 12(\base)
	.endm

	# XORs the block in t0 to t3 into a block.
	.macro	aes2_add w0, w1, w2, w3
	xor	\w0, \w0, t0
	xor	\w1, \w1, t1
	xor	\w2, \w2, t2
	xor	\w3, \w3, t3
	.endm

# void tress_aes2_cbc_encrypt(const uint32_t context[], uint8_t iv[16], uint8_t *out, const uint8_t *in, size_t bytes):
# whole blocks; `out` may be `in`; `iv` is set to the last ciphertext block. The second block of the state is unused.
	aes_function tress_aes2_cbc_encrypt
	beqz	a4, 9f
	aes_enter
	sw	a0, AES_CONTEXT(sp)
	sw	a1, AES_A(sp)
	sw	a2, AES_OUT(sp)
	sw	a3, AES_IN(sp)
	sw	a4, AES_LEFT(sp)
	mv	a0, sp
	li	a2, 16
	jal	tress_aes_copy
	lw	t0, AES_OUT(sp)
	lw	t1, AES_IN(sp)
	or	t0, t0, t1
	andi	t0, t0, 3
	bnez	t0, 1f
	# Aligned to words: only this loop and the cipher run, so that both stay in an instruction cache of two ways.
	aes2_load sp, 0, a0, a2, a4, a6
3:	lw	s0, AES_IN(sp)
	lw	s1, AES_CONTEXT(sp)
	aes2_load s0, 0, t0, t1, t2, t3
	addi	s0, s0, 16
	sw	s0, AES_IN(sp)
	aes2_add a0, a2, a4, a6
	aes2_keys s1
	jal	tress_aes2_encrypt_words
	lw	s0, AES_OUT(sp)
	lw	t1, AES_LEFT(sp)
	aes2_store s0, 0, a0, a2, a4, a6
	addi	s0, s0, 16
	addi	t1, t1, -16
	sw	s0, AES_OUT(sp)
	sw	t1, AES_LEFT(sp)
	beqz	t1, 4f
	j	3b
4:	aes2_store sp, 0, a0, a2, a4, a6
	j	2f

1:	mv	a0, sp
	mv	a1, sp
	lw	a2, AES_IN(sp)
	addi	t1, a2, 16
	sw	t1, AES_IN(sp)
	jal	tress_aes_add_block
	aes2_load sp, 0, a0, a2, a4, a6
	lw	t0, AES_CONTEXT(sp)
	mv	a1, a0
	mv	a3, a2
	mv	a5, a4
	mv	a7, a6
	aes2_keys t0
	jal	tress_aes2_encrypt_words
	aes2_store sp, 0, a0, a2, a4, a6
	lw	a0, AES_OUT(sp)
	mv	a1, sp
	li	a2, 16
	addi	t1, a0, 16
	sw	t1, AES_OUT(sp)
	jal	tress_aes_copy
	lw	t1, AES_LEFT(sp)
	addi	t1, t1, -16
	sw	t1, AES_LEFT(sp)
	bnez	t1, 1b
2:	lw	a0, AES_A(sp)
	mv	a1, sp
	li	a2, 16
	jal	tress_aes_copy
	aes_leave
9:	ret
	.size	tress_aes2_cbc_encrypt, . - tress_aes2_cbc_encrypt

# void tress_aes2_ccm_encrypt(const uint32_t context[], uint32_t state[8], uint8_t *data, size_t blocks)
# void tress_aes2_ccm_decrypt, with the same arguments: whole blocks, in place. state: the chain, then the next counter
# block, of which the last eight bytes count. Both are updated.
#
# Frame: the counter at 0, a staged block at 16. A: the state's address, B: whether blocks are staged, which data that is
# not aligned to words needs.
	.macro	aes2_ccm_begin
	beqz	a3, 9f
	aes_enter
	sw	a0, AES_CONTEXT(sp)
	sw	a1, AES_A(sp)
	sw	a2, AES_OUT(sp)
	sw	a3, AES_LEFT(sp)
	andi	t0, a2, 3
	sw	t0, AES_B(sp)
	mv	s0, a1
	aes2_load s0, 16, t0, t1, t2, t3
	aes2_store sp, 0, t0, t1, t2, t3
	aes2_load s0, 0, a0, a2, a4, a6
	.endm

	# Loads the next counter to a1, a3, a5, a7 and increments it.
	.macro	aes2_ccm_counter
	aes2_load sp, 0, a1, a3, a5, a7
	srli	t0, a7, 24
	addi	t0, t0, 1
	andi	t1, t0, 0xff
	sb	t0, 15(sp)
	bnez	t1, 8f
	addi	t0, sp, 14		# a carry
	addi	t1, sp, 7
7:	lbu	t2, 0(t0)
	addi	t2, t2, 1
	sb	t2, 0(t0)
	andi	t2, t2, 0xff
	bnez	t2, 8f
	addi	t0, t0, -1
	bne	t0, t1, 7b
8:
	.endm

	.macro	aes2_ccm_cipher
	lw	t0, AES_CONTEXT(sp)
	nop				# the loaded value is available a cycle later
	aes2_keys t0
	jal	tress_aes2_encrypt_words
	.endm

	.macro	aes2_ccm_end
	lw	s0, AES_A(sp)
	aes2_store s0, 0, a0, a2, a4, a6
	aes2_load sp, 0, t0, t1, t2, t3
	aes2_store s0, 16, t0, t1, t2, t3
	aes_leave
9:	ret
	.endm

	# Sets s0 to the address of the next block: in the message, or of its staged copy.
	.macro	aes2_ccm_next
	lw	t1, AES_B(sp)
	lw	s0, AES_OUT(sp)
	beqz	t1, 6f
	addi	s1, sp, 16
	li	s2, 16
	mv	s3, s1
5:	lbu	t0, 0(s0)
	addi	s0, s0, 1
	addi	s2, s2, -1
	sb	t0, 0(s1)
	addi	s1, s1, 1
	bnez	s2, 5b
	mv	s0, s3
6:
	.endm

	# Ends the block at s0: copies a staged block back and advances to the next one.
	.macro	aes2_ccm_done
	lw	t1, AES_B(sp)
	lw	t2, AES_OUT(sp)
	lw	t3, AES_LEFT(sp)
	beqz	t1, 6f
	li	s2, 16
	mv	s1, t2
5:	lbu	t0, 0(s0)
	addi	s0, s0, 1
	addi	s2, s2, -1
	sb	t0, 0(s1)
	addi	s1, s1, 1
	bnez	s2, 5b
6:	addi	t2, t2, 16
	addi	t3, t3, -1
	sw	t2, AES_OUT(sp)
	sw	t3, AES_LEFT(sp)
	.endm

	aes_function tress_aes2_ccm_encrypt
	aes2_ccm_begin
1:	aes2_ccm_next
	aes2_load s0, 0, t0, t1, t2, t3
	aes2_add a0, a2, a4, a6
	aes2_ccm_counter
	aes2_ccm_cipher
	aes2_ccm_next
	aes2_load s0, 0, t0, t1, t2, t3
	aes2_add a1, a3, a5, a7
	aes2_store s0, 0, a1, a3, a5, a7
	aes2_ccm_done
	beqz	t3, 2f
	j	1b
2:	aes2_ccm_end
	.size	tress_aes2_ccm_encrypt, . - tress_aes2_ccm_encrypt

# The chain over a block is encrypted together with the counter of the next block.
	aes_function tress_aes2_ccm_decrypt
	aes2_ccm_begin
	aes2_ccm_counter
	aes2_store sp, 32, a0, a2, a4, a6
	aes2_ccm_cipher
	aes2_load sp, 32, a0, a2, a4, a6
1:	aes2_ccm_next
	aes2_load s0, 0, t0, t1, t2, t3
	aes2_add a1, a3, a5, a7
	aes2_store s0, 0, a1, a3, a5, a7
	mv	t0, a1
	mv	t1, a3
	mv	t2, a5
	mv	t3, a7
	aes2_add a0, a2, a4, a6
	aes2_ccm_done
	beqz	t3, 2f
	aes2_ccm_counter
	aes2_ccm_cipher
	j	1b
2:	aes2_ccm_cipher
	aes2_ccm_end
	.size	tress_aes2_ccm_decrypt, . - tress_aes2_ccm_decrypt
