# Round keys of AES on RV32I, constant time (FIPS 197 section 5.2).
#
# A context is a word with the number of rounds, then the round keys: 32 words each for eight blocks (eight.S), 8 for two
# (two.S). From round 1, every byte has 0x63 added: the S-box circuit leaves this constant out.

# void tress_aes8_expand_key(uint32_t context[1 + 32 * 15], const uint8_t *key, size_t key_bytes): 16 or 32 bytes.
	aes_expand_key tress_aes8_expand_key, tress_aes8_key_form
# void tress_aes2_expand_key(uint32_t context[1 + 8 * 15], const uint8_t *key, size_t key_bytes): 16 or 32 bytes.
	aes_expand_key tress_aes2_expand_key, tress_aes2_key_form

# Writes the four words at D(sp), XORed with G, as a round key to A(sp). Adds 128 to A and sets G to 0x63636363.
	aes_part tress_aes8_key_form
	lw	t0, AES_D(sp)
	lw	t1, AES_G(sp)
	lw	a0, 0(t0)
	lw	a1, 4(t0)
	lw	a2, 8(t0)
	lw	a3, 12(t0)
	xor	a0, a0, t1
	xor	a1, a1, t1
	xor	a2, a2, t1
	xor	a3, a3, t1
	li	t0, 0x63636363
	sw	t0, AES_G(sp)
	aes_rows a0, a1, a2, a3, t0, t1
	lw	t0, AES_A(sp)
	addi	t1, t0, 128
	sw	t1, AES_A(sp)
	li	t2, 0x01010101
1:	.irp	row, 0, 1, 2, 3
	and	t3, a\row, t2
	srli	a\row, a\row, 1
	slli	t4, t3, 8
	sub	t4, t4, t3		# a bit becomes a byte
	sw	t4, 4 * \row(t0)
	.endr
	addi	t0, t0, 16
	bne	t0, t1, 1b
	ret
	.size	tress_aes8_key_form, . - tress_aes8_key_form

# The same for two blocks: writes eight words and adds 32 to A. F counts the rounds: in round F, the columns of row r are
# moved by F r.
	aes_part tress_aes2_key_form
	lw	t0, AES_D(sp)
	lw	t1, AES_G(sp)
	lw	a0, 0(t0)
	lw	a1, 4(t0)
	lw	a2, 8(t0)
	lw	a3, 12(t0)
	xor	a0, a0, t1
	xor	a1, a1, t1
	xor	a2, a2, t1
	xor	a3, a3, t1
	li	t0, 0x63636363
	sw	t0, AES_G(sp)
	lw	t6, AES_F(sp)
	addi	t0, t6, 1
	sw	t0, AES_F(sp)
	li	t0, 0xff00ff00
	li	t1, 0xffff0000
	andi	t2, t6, 1
	beqz	t2, 1f
	# Moves rows 1, 2 and 3 by one, two and three columns: rows 1 and 3 by one, then rows 2 and 3 by two.
	.macro	aes_row_step a, b
	xor	t2, \a, \b
	and	t2, t2, t0
	xor	\a, \a, t2
	xor	\b, \b, t2
	.endm
	aes_row_step a3, a2
	aes_row_step a2, a1
	aes_row_step a1, a0
	mv	t3, t0
	mv	t0, t1
	aes_row_step a0, a2
	aes_row_step a1, a3
	mv	t0, t3
1:	andi	t2, t6, 2
	beqz	t2, 2f
	aes_row_step a0, a2		# rows 1 and 3 by two columns
	aes_row_step a1, a3
2:	lw	t0, AES_A(sp)
	addi	t1, t0, 32
	sw	t1, AES_A(sp)
	li	t2, 0x01010101
3:	li	t4, 0
	.irp	column, 3, 2, 1, 0
	and	t3, a\column, t2
	srli	a\column, a\column, 1
	slli	t4, t4, 2
	or	t4, t4, t3
	.endr
	slli	t3, t4, 1		# for both blocks
	or	t4, t4, t3
	sw	t4, 0(t0)
	addi	t0, t0, 4
	bne	t0, t1, 3b
	ret
	.size	tress_aes2_key_form, . - tress_aes2_key_form

# void tress_aes8_set_lane_key(uint32_t merged[], size_t lane, const uint32_t context[]): sets the key of block `lane`, 0 to
# 7, in the merged round keys.
	aes_function tress_aes8_set_lane_key
	li	t0, 0x01010101
	sll	t0, t0, a1
	lw	t1, 0(a2)
	sw	t1, 0(a0)
	addi	t1, t1, 1
	slli	t1, t1, 5		# words
1:	lw	t2, 4(a0)
	lw	t3, 4(a2)
	addi	a2, a2, 4
	addi	t1, t1, -1
	xor	t3, t3, t2
	and	t3, t3, t0
	xor	t2, t2, t3
	sw	t2, 4(a0)
	addi	a0, a0, 4
	bnez	t1, 1b
	ret
	.size	tress_aes8_set_lane_key, . - tress_aes8_set_lane_key
