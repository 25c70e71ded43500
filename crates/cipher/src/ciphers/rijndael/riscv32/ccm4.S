# CCM with AES on RV32I for four messages side by side, constant time (SP 800-38C). Their chains are four blocks of the
# state, their counters the other four. The keys may differ (tress_aes8_set_lane_key: message l has blocks l and 4 + l).
#
# A: the state's address, B: the next counters, C to F: the messages' addresses, LEFT: blocks.

# void tress_aes8_ccm4_encrypt(const uint32_t context[], uint32_t state[32], uint8_t *const data[4], size_t blocks)
# void tress_aes8_ccm4_decrypt, with the same arguments: whole blocks, in place, `blocks` blocks of each message. state:
# the four chains, then the four next counter blocks, of which the last eight bytes count. Both are updated.
	aes_function tress_aes8_ccm4_encrypt
	beqz	a3, 9f
	aes_enter
	jal	tress_aes8_ccm4_begin
1:	.irp	lane, 0, 1, 2, 3
	addi	a0, sp, 16 * \lane
	mv	a1, a0
	lw	a2, AES_C + 4 * \lane(sp)
	jal	tress_aes_add_block
	.endr
	jal	tress_aes8_ccm4_counters
	jal	tress_aes8_encrypt_frame
	.irp	lane, 0, 1, 2, 3
	lw	a0, AES_C + 4 * \lane(sp)
	addi	a2, sp, 64 + 16 * \lane
	mv	a1, a0
	addi	t1, a0, 16
	sw	t1, AES_C + 4 * \lane(sp)
	jal	tress_aes_add_block
	.endr
	lw	t0, AES_LEFT(sp)
	addi	t0, t0, -1
	sw	t0, AES_LEFT(sp)
	bnez	t0, 1b
	lw	a0, AES_A(sp)
	mv	a1, sp
	li	a2, 64
	jal	tress_aes_copy
	aes_leave
9:	ret
	.size	tress_aes8_ccm4_encrypt, . - tress_aes8_ccm4_encrypt

# The chain over a block is encrypted together with the counter of the next block.
	aes_function tress_aes8_ccm4_decrypt
	beqz	a3, 9f
	aes_enter
	jal	tress_aes8_ccm4_begin
	jal	tress_aes8_ccm4_counters
	jal	tress_aes8_encrypt_frame
	mv	a0, sp
	lw	a1, AES_A(sp)
	li	a2, 64
	jal	tress_aes_copy
1:	.irp	lane, 0, 1, 2, 3
	lw	a0, AES_C + 4 * \lane(sp)
	addi	a2, sp, 64 + 16 * \lane
	mv	a1, a0
	addi	t1, a0, 16
	sw	t1, AES_C + 4 * \lane(sp)
	jal	tress_aes_add_block
	lw	a2, AES_C + 4 * \lane(sp)
	addi	a0, sp, 16 * \lane
	addi	a2, a2, -16
	mv	a1, a0
	jal	tress_aes_add_block
	.endr
	lw	t0, AES_LEFT(sp)
	addi	t0, t0, -1
	sw	t0, AES_LEFT(sp)
	beqz	t0, 2f
	jal	tress_aes8_ccm4_counters
2:	jal	tress_aes8_encrypt_frame
	lw	t0, AES_LEFT(sp)
	bnez	t0, 1b
	lw	a0, AES_A(sp)
	mv	a1, sp
	li	a2, 64
	jal	tress_aes_copy
	aes_leave
9:	ret
	.size	tress_aes8_ccm4_decrypt, . - tress_aes8_ccm4_decrypt

# Saves the arguments to their slots and copies the chains to sp.
	aes_part tress_aes8_ccm4_begin
	sw	a0, AES_CONTEXT(sp)
	sw	a1, AES_A(sp)
	sw	a3, AES_LEFT(sp)
	lw	t0, 0(a2)
	lw	t1, 4(a2)
	lw	t2, 8(a2)
	lw	t3, 12(a2)
	sw	t0, AES_C(sp)
	sw	t1, AES_D(sp)
	sw	t2, AES_E(sp)
	sw	t3, AES_F(sp)
	mv	a0, sp
	li	a2, 64
	j	tress_aes_copy
	.size	tress_aes8_ccm4_begin, . - tress_aes8_ccm4_begin

# Copies the next counters to sp + 64, then increments them.
	aes_part tress_aes8_ccm4_counters
	lw	a0, AES_A(sp)
	.irp	lane, 0, 1, 2, 3
	lw	t0, 64 + 16 * \lane(a0)
	lw	t1, 68 + 16 * \lane(a0)
	lw	t2, 72 + 16 * \lane(a0)
	lw	t3, 76 + 16 * \lane(a0)
	srli	t4, t3, 24
	addi	t4, t4, 1
	sw	t0, 64 + 16 * \lane(sp)
	sw	t1, 68 + 16 * \lane(sp)
	sw	t2, 72 + 16 * \lane(sp)
	sw	t3, 76 + 16 * \lane(sp)
	sb	t4, 79 + 16 * \lane(a0)
	andi	t4, t4, 0xff
	beqz	t4, 3f
2:
	.pushsection .text.tress_aes8_ccm4_carry,"ax",@progbits
3:	addi	t0, a0, 78 + 16 * \lane	# a carry
	addi	t1, t0, -7
4:	lbu	t2, 0(t0)
	addi	t2, t2, 1
	sb	t2, 0(t0)
	andi	t2, t2, 0xff
	bnez	t2, 2b
	addi	t0, t0, -1
	bne	t0, t1, 4b
	j	2b
	.popsection
	.endr
	ret
	.size	tress_aes8_ccm4_counters, . - tress_aes8_ccm4_counters
