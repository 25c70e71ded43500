# Eight blocks of AES at a time: ECB.

# Encrypts the eight blocks at sp with the round keys of AES_CONTEXT(sp).
	aes_part tress_aes8_encrypt_frame
	sw	ra, AES_RETURN(sp)
	lw	t0, AES_CONTEXT(sp)
	lw	t1, 0(t0)
	addi	t0, t0, 4
	slli	t1, t1, 7
	sw	t0, AES_KEY(sp)
	add	t1, t1, t0
	sw	t1, AES_END(sp)
	jal	tress_aes8_pack
	lw	t0, AES_KEY(sp)
	addi	t0, t0, 128
	sw	t0, AES_KEY(sp)
	jal	tress_aes8_rounds
	lw	ra, AES_RETURN(sp)
	tail	tress_aes8_last
	.size	tress_aes8_encrypt_frame, . - tress_aes8_encrypt_frame

	# A function that does \blocks on \bytes at a time, at most 128, from a2 to a1: both may be the same. a3: bytes.
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

# void tress_aes8_ecb_encrypt(const uint32_t context[], uint8_t *out, const uint8_t *in, size_t bytes): whole blocks.
	aes_ecb tress_aes8_ecb_encrypt, tress_aes8_encrypt_frame
