# Decryption with AES on RV32I, eight blocks at a time, constant time: ECB and CBC (SP 800-38A section 6).

# Decrypts the eight blocks at sp with the round keys of AES_CONTEXT(sp).
	aes_part tress_aes8_decrypt_frame
	sw	ra, AES_RETURN(sp)
	lw	t0, AES_CONTEXT(sp)
	lw	t1, 0(t0)
	addi	t0, t0, 4
	slli	t1, t1, 7
	sw	t0, AES_END(sp)
	add	t1, t1, t0
	sw	t1, AES_KEY(sp)
	jal	tress_aes8_pack
	lw	t0, AES_KEY(sp)
	addi	t0, t0, -128
	sw	t0, AES_KEY(sp)
	jal	tress_aes8_inverse_rounds
	lw	ra, AES_RETURN(sp)
	tail	tress_aes8_inverse_last
	.size	tress_aes8_decrypt_frame, . - tress_aes8_decrypt_frame

# void tress_aes8_ecb_decrypt(const uint32_t context[], uint8_t *out, const uint8_t *in, size_t bytes): whole blocks.
	aes_ecb tress_aes8_ecb_decrypt, tress_aes8_decrypt_frame

# void tress_aes8_cbc_decrypt(const uint32_t context[], uint8_t iv[16], uint8_t *out, const uint8_t *in, size_t bytes):
# whole blocks; `out` may be `in`; `iv` is set to the last ciphertext block.
#
# A: iv, B: bytes of this step, C to F: the next iv.
	aes_function tress_aes8_cbc_decrypt
	beqz	a4, 9f
	aes_enter
	sw	a0, AES_CONTEXT(sp)
	sw	a1, AES_A(sp)
	sw	a2, AES_OUT(sp)
	sw	a3, AES_IN(sp)
	sw	a4, AES_LEFT(sp)
1:	lw	a2, AES_LEFT(sp)
	lw	a1, AES_IN(sp)
	li	t0, 128
	bleu	a2, t0, 2f
	mv	a2, t0
2:	sw	a2, AES_B(sp)
	mv	a0, sp
	jal	tress_aes_copy
	lw	a1, AES_B(sp)
	add	a1, a1, sp
	addi	a1, a1, -16
	addi	a0, sp, AES_C
	li	a2, 16
	jal	tress_aes_copy
	jal	tress_aes8_decrypt_frame
	# XOR the ciphertext of the block before into all blocks except the first.
	lw	a3, AES_B(sp)
	addi	a0, sp, 16
	mv	a1, a0
	lw	a2, AES_IN(sp)
	addi	a3, a3, -16
	jal	tress_aes_add
	mv	a0, sp
	mv	a1, sp
	lw	a2, AES_A(sp)
	li	a3, 16
	jal	tress_aes_add
	lw	a0, AES_A(sp)
	addi	a1, sp, AES_C
	li	a2, 16
	jal	tress_aes_copy
	lw	a2, AES_B(sp)
	lw	a0, AES_OUT(sp)
	lw	t1, AES_LEFT(sp)
	lw	t2, AES_IN(sp)
	add	t0, a0, a2
	sw	t0, AES_OUT(sp)
	add	t2, t2, a2
	sw	t2, AES_IN(sp)
	sub	t1, t1, a2
	sw	t1, AES_LEFT(sp)
	mv	a1, sp
	jal	tress_aes_copy
	lw	t1, AES_LEFT(sp)
	bnez	t1, 1b
	aes_leave
9:	ret
	.size	tress_aes8_cbc_decrypt, . - tress_aes8_cbc_decrypt
