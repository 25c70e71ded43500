# Counter mode with AES on RV32I, constant time (SP 800-38A section 6.5); the counter is the whole block, big-endian.
#
# Counters are encrypted in groups of eight that start at a multiple of eight. 256 blocks differ only in the last byte, so
# round 1 is constant except for one byte, and round 2 except for one column (J. Park, D. Lee, FACE, TCHES 2018, do it with
# tables). The constant part is prepared once for 256 blocks, if at least nine of them are needed.

# void tress_aes8_ctr(const uint32_t context[], uint8_t counter[16], uint8_t *out, const uint8_t *in, size_t bytes,
#                     uint32_t room[40]): `out` may be `in`; `counter` is set to the next block. `room` is wiped.
#
# A: counter's address, B: room, C to F: the counter as words, most significant first, G: bytes of key stream to skip.
	aes_function tress_aes8_ctr
	beqz	a4, 9f
	aes_enter
	sw	a0, AES_CONTEXT(sp)
	sw	a2, AES_OUT(sp)
	sw	a3, AES_IN(sp)
	sw	a4, AES_LEFT(sp)
	sw	a1, AES_A(sp)
	sw	a5, AES_B(sp)
	addi	a0, sp, AES_C
	li	a2, 16
	jal	tress_aes_copy
	li	t5, 0xff00
	.irp	slot, AES_C, AES_D, AES_E, AES_F
	lw	t1, \slot(sp)
	aes_reverse t2, t1, t5, t3
	sw	t2, \slot(sp)
	.endr

1:	# The number of bytes up to the next multiple of 256 blocks, and whether these are worth preparing.
	lw	t0, AES_F(sp)
	lw	t1, AES_LEFT(sp)
	andi	t0, t0, 0xff
	li	t2, 256
	sub	t2, t2, t0
	slli	t2, t2, 4
	bleu	t2, t1, 2f
	mv	t2, t1
2:	li	t3, 128
	bgtu	t2, t3, 4f

	# Up to eight blocks from any counter.
	jal	tress_aes8_counters
	jal	tress_aes8_encrypt_frame
	sw	zero, AES_G(sp)
	jal	tress_aes8_use_key_stream
	lw	t0, AES_LEFT(sp)
	bnez	t0, 1b
	j	7f

4:	# A window of 256 blocks.
	lw	t0, AES_F(sp)
	andi	t1, t0, 0xff
	sw	t1, AES_END(sp)
	sub	t0, t0, t1
	sw	t0, AES_F(sp)
	jal	tress_aes8_prepare
	lw	t1, AES_END(sp)
	lw	t0, AES_F(sp)
	andi	t2, t1, 7		# begin with a whole group
	sub	t1, t1, t2
	add	t0, t0, t1
	sw	t0, AES_F(sp)
	slli	t2, t2, 4
	sw	t2, AES_G(sp)
5:	lw	a0, AES_F(sp)
	lw	a1, AES_CONTEXT(sp)
	lw	a2, AES_B(sp)
	andi	a0, a0, 0xff
	addi	a1, a1, 4
	jal	tress_aes8_counters_1
	lw	a0, AES_B(sp)
	jal	tress_aes8_counters_2
	lw	t0, AES_CONTEXT(sp)
	lw	t1, 0(t0)
	addi	t0, t0, 4
	slli	t1, t1, 7
	add	t1, t1, t0
	addi	t0, t0, 3 * 128
	sw	t1, AES_END(sp)
	sw	t0, AES_KEY(sp)
	jal	tress_aes8_rounds
	jal	tress_aes8_last
	jal	tress_aes8_use_key_stream
	lw	t0, AES_LEFT(sp)
	beqz	t0, 7f
	lw	t1, AES_F(sp)
	andi	t1, t1, 0xff
	bnez	t1, 5b
	j	1b

7:	lw	a0, AES_B(sp)		# wipe the prepared state
	.set	aes_offset, 0
	.rept	40
	sw	zero, aes_offset(a0)
	.set	aes_offset, aes_offset + 4
	.endr

	# Store the counter.
	li	t5, 0xff00
	.irp	slot, AES_C, AES_D, AES_E, AES_F
	lw	t1, \slot(sp)
	aes_reverse t2, t1, t5, t3
	sw	t2, \slot(sp)
	.endr
	lw	a0, AES_A(sp)
	addi	a1, sp, AES_C
	li	a2, 16
	jal	tress_aes_copy
	aes_leave
9:	ret
	.size	tress_aes8_ctr, . - tress_aes8_ctr

# Writes the eight counter blocks from that at C(sp) to sp.
	aes_part tress_aes8_counters
	lw	a0, AES_C(sp)
	lw	a1, AES_D(sp)
	lw	a2, AES_E(sp)
	lw	a3, AES_F(sp)
	li	t5, 0xff00
	mv	t0, sp
	addi	t6, sp, 128
1:	.irp	word, 0, 1, 2, 3
	aes_reverse t1, a\word, t5, t2
	sw	t1, 4 * \word(t0)
	.endr
	addi	a3, a3, 1
	seqz	t1, a3
	add	a2, a2, t1
	sltu	t1, a2, t1
	add	a1, a1, t1
	sltu	t1, a1, t1
	add	a0, a0, t1
	addi	t0, t0, 16
	bne	t0, t6, 1b
	ret
	.size	tress_aes8_counters, . - tress_aes8_counters

# XORs the key stream at sp, without its first G(sp) bytes, into the next bytes of data, up to their end, and advances the
# counter. The rest of an incomplete last block of key stream is dropped. Sets G to 0.
	aes_part tress_aes8_use_key_stream
	sw	ra, AES_RETURN(sp)
	lw	t0, AES_G(sp)
	lw	t1, AES_LEFT(sp)
	li	a3, 128
	add	a2, sp, t0
	sub	a3, a3, t0
	bleu	a3, t1, 1f
	mv	a3, t1
1:	lw	a0, AES_OUT(sp)
	lw	a1, AES_IN(sp)
	sub	t1, t1, a3
	sw	t1, AES_LEFT(sp)
	add	t2, a0, a3
	sw	t2, AES_OUT(sp)
	add	t2, a1, a3
	sw	t2, AES_IN(sp)
	add	t0, t0, a3
	addi	t0, t0, 15
	srli	t0, t0, 4		# blocks, including skipped ones: the counter is at their beginning
	sw	zero, AES_G(sp)
	lw	t1, AES_F(sp)
	add	t1, t1, t0
	sltu	t0, t1, t0
	sw	t1, AES_F(sp)
	.irp	slot, AES_E, AES_D, AES_C
	lw	t1, \slot(sp)
	add	t1, t1, t0
	sltu	t0, t1, t0
	sw	t1, \slot(sp)
	.endr
	jal	tress_aes_add
	lw	ra, AES_RETURN(sp)
	ret
	.size	tress_aes8_use_key_stream, . - tress_aes8_use_key_stream

# Prepares the 256 blocks from the counter at C(sp), which is a multiple of 256.
#
# Computes the states after rounds 1 and 2 of the first eight blocks, without the parts that tress_aes8_counters_1 and _2
# add for them. Preserves END(sp).
	aes_part tress_aes8_prepare
	sw	ra, AES_RETURN(sp)
	lw	t0, AES_END(sp)
	sw	t0, AES_G(sp)
	jal	tress_aes8_counters
	lw	t0, AES_CONTEXT(sp)
	addi	t0, t0, 4
	sw	t0, AES_KEY(sp)
	jal	tress_aes8_pack
	lw	t0, AES_KEY(sp)
	addi	t0, t0, 128
	sw	t0, AES_KEY(sp)
	addi	t0, t0, 128
	sw	t0, AES_END(sp)
	jal	tress_aes8_rounds
	# Column 0, with row r in byte -r modulo 4.
	lw	t0, AES_B(sp)
	mv	t1, sp
	addi	t2, sp, 128
1:	lbu	a0, 0(t1)
	lbu	a1, 4(t1)
	lbu	a2, 8(t1)
	lbu	a3, 12(t1)
	slli	a1, a1, 24
	slli	a2, a2, 16
	slli	a3, a3, 8
	or	a0, a0, a1
	or	a2, a2, a3
	or	a0, a0, a2
	sw	a0, 0(t0)
	addi	t0, t0, 4
	addi	t1, t1, 16
	bne	t1, t2, 1b
	lw	t0, AES_KEY(sp)
	addi	t0, t0, 128
	sw	t0, AES_END(sp)
	jal	tress_aes8_rounds
	lw	a0, AES_B(sp)
	addi	a0, a0, 32
	mv	a1, sp
	li	a2, 128
	jal	tress_aes_copy
	li	a0, 0
	lw	a1, AES_CONTEXT(sp)
	lw	a2, AES_B(sp)
	addi	a1, a1, 4
	jal	tress_aes8_counters_1
	lw	t0, AES_B(sp)
	mv	t1, sp
	addi	t2, sp, 128
2:	lw	a0, 0(t1)
	addi	t1, t1, 16
	sw	a0, 0(t0)
	addi	t0, t0, 4
	bne	t1, t2, 2b
	li	a0, 0
	lw	a1, AES_CONTEXT(sp)
	lw	a2, AES_B(sp)
	addi	a1, a1, 4
	jal	tress_aes8_counters_1
	lw	a0, AES_B(sp)
	jal	tress_aes8_counters_2
	lw	a0, AES_B(sp)
	addi	a0, a0, 32
	mv	a1, sp
	li	a2, 128
	jal	tress_aes_copy
	lw	t0, AES_G(sp)
	sw	t0, AES_END(sp)
	lw	ra, AES_RETURN(sp)
	ret
	.size	tress_aes8_prepare, . - tress_aes8_prepare
