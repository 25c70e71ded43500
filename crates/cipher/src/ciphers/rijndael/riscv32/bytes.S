# Copying and XORing bytes, for the AES kernels on RV32I.

# Copies a2 bytes from a1 to a0. Clobbers a0 to a5 and t0.
	aes_part tress_aes_copy
	or	t0, a0, a1
	andi	t0, t0, 3
	bnez	t0, 2f
1:	addi	a2, a2, -16
	bltz	a2, 1f
	lw	a3, 0(a1)
	lw	a4, 4(a1)
	lw	a5, 8(a1)
	lw	t0, 12(a1)
	sw	a3, 0(a0)
	sw	a4, 4(a0)
	sw	a5, 8(a0)
	sw	t0, 12(a0)
	addi	a1, a1, 16
	addi	a0, a0, 16
	j	1b
1:	addi	a2, a2, 16
2:	beqz	a2, 4f
3:	lbu	a3, 0(a1)
	addi	a2, a2, -1
	addi	a1, a1, 1
	sb	a3, 0(a0)
	addi	a0, a0, 1
	bnez	a2, 3b
4:	ret
	.size	tress_aes_copy, . - tress_aes_copy

# Writes the XOR of a3 bytes at a1 and a2 to a0, which may equal a1 or a2. Clobbers a0 to a7 and t0 to t6.
	aes_part tress_aes_add
	or	t0, a0, a1
	or	t0, t0, a2
	andi	t0, t0, 3
	bnez	t0, 2f
1:	addi	a3, a3, -16
	bltz	a3, 1f
	lw	a4, 0(a1)
	lw	t0, 0(a2)
	lw	a5, 4(a1)
	lw	t1, 4(a2)
	lw	a6, 8(a1)
	lw	t2, 8(a2)
	lw	a7, 12(a1)
	lw	t3, 12(a2)
	xor	a4, a4, t0
	xor	a5, a5, t1
	xor	a6, a6, t2
	xor	a7, a7, t3
	sw	a4, 0(a0)
	sw	a5, 4(a0)
	sw	a6, 8(a0)
	sw	a7, 12(a0)
	addi	a1, a1, 16
	addi	a2, a2, 16
	addi	a0, a0, 16
	j	1b
1:	addi	a3, a3, 16
2:	beqz	a3, 4f
3:	lbu	a4, 0(a1)
	lbu	t0, 0(a2)
	addi	a3, a3, -1
	addi	a1, a1, 1
	addi	a2, a2, 1
	xor	a4, a4, t0
	sb	a4, 0(a0)
	addi	a0, a0, 1
	bnez	a3, 3b
4:	ret
	.size	tress_aes_add, . - tress_aes_add

# Writes the XOR of the blocks at a1 and a2 to a0. Clobbers a3 to a7, a0 and t0 to t5.
	aes_part tress_aes_add_block
	or	t0, a0, a1
	or	t0, t0, a2
	andi	t0, t0, 3
	bnez	t0, 1f
	lw	a3, 0(a1)
	lw	t0, 0(a2)
	lw	a4, 4(a1)
	lw	t2, 4(a2)
	lw	a5, 8(a1)
	lw	t3, 8(a2)
	lw	a6, 12(a1)
	lw	t4, 12(a2)
	xor	a3, a3, t0
	xor	a4, a4, t2
	xor	a5, a5, t3
	xor	a6, a6, t4
	sw	a3, 0(a0)
	sw	a4, 4(a0)
	sw	a5, 8(a0)
	sw	a6, 12(a0)
	ret
1:	li	a3, 16
	tail	tress_aes_add
	.size	tress_aes_add_block, . - tress_aes_add_block
