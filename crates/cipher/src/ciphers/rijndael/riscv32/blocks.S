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

# void tress_aes8_ecb_encrypt(const uint32_t context[], uint8_t *out, const uint8_t *in, size_t bytes): whole blocks.
	aes_ecb tress_aes8_ecb_encrypt, tress_aes8_encrypt_frame
