# AES on RV32I with tables. Not constant time in general: addresses depend on secrets.
#
# Use it only on a core without a data cache, and with the tables in memory where every read takes the same time whatever
# else accesses it (the tightly integrated memory of an FE310, filled by tress_aes_table_make). Otherwise the time reveals
# the key. Read-only data in flash is not such memory. There are four tables of 256 words (J. Daemen, V. Rijmen: "AES
# Proposal: Rijndael", section 5.2.1), because RV32I has no rotation. One register that points at their middle reaches all.
#
# Counters: as in ctr.S, rounds 1 and 2 of 256 blocks depend on one byte and on one column. The rest is computed once.

	# The address of the table entry for byte \byte of \x, without its table's offset. s0: the middle of the tables.
	.macro	aes_index t, x, byte
	.if	\byte == 0
	slli	\t, \x, 2
	.else
	srli	\t, \x, 8 * \byte - 2
	.endif
	.if	\byte == 3
	andi	\t, \t, -4
	.else
	andi	\t, \t, 0x3fc
	.endif
	add	\t, \t, s0
	.endm

	# A column of a round, from the columns that ShiftRows selects. \key: offset from t4.
	.macro	aes_column out, a, b, c, d, key
	aes_index t0, \a, 0
	aes_index t1, \b, 1
	aes_index t2, \c, 2
	aes_index t3, \d, 3
	lw	\out, \key(t4)
	lw	t0, -2048(t0)
	lw	t1, -1024(t1)
	lw	t2, 0(t2)
	lw	t3, 1024(t3)
	xor	\out, \out, t0
	xor	\out, \out, t1
	xor	\out, \out, t2
	xor	\out, \out, t3
	.endm

	.macro	aes_table_round w, x, y, z, a, b, c, d
	aes_column \w, \a, \b, \c, \d, 0
	aes_column \x, \b, \c, \d, \a, 4
	aes_column \y, \c, \d, \a, \b, 8
	aes_column \z, \d, \a, \b, \c, 12
	.endm

	# A column of the last round. The S-box is byte 1 of the words of the first table.
	.macro	aes_last_column out, a, b, c, d, key
	aes_index t0, \a, 0
	aes_index t1, \b, 1
	aes_index t2, \c, 2
	aes_index t3, \d, 3
	lbu	t1, -2047(t1)
	lbu	t2, -2047(t2)
	lbu	t3, -2047(t3)
	lbu	t0, -2047(t0)
	lw	\out, \key(t4)
	slli	t1, t1, 8
	slli	t2, t2, 16
	slli	t3, t3, 24
	xor	t0, t0, t1
	xor	t2, t2, t3
	xor	\out, \out, t0
	xor	\out, \out, t2
	.endm

# An odd number of rounds, whose keys start at t4, and the last round, whose key is at s2. Input and output: a0 to a3.
	.macro	aes_table_rounds
1:	aes_table_round a4, a5, a6, t6, a0, a1, a2, a3
	addi	t4, t4, 16
	beq	t4, s2, 2f
	aes_table_round a0, a1, a2, a3, a4, a5, a6, t6
	addi	t4, t4, 16
	j	1b
2:	aes_last_column a0, a4, a5, a6, t6, 0
	aes_last_column a1, a5, a6, t6, a4, 4
	aes_last_column a2, a6, t6, a4, a5, 8
	aes_last_column a3, t6, a4, a5, a6, 12
	.endm

	# Sets s1 to round key 0 and s2 to the last. Clobbers \t.
	.macro	aes_table_keys context, t
	lw	\t, 0(\context)
	addi	s1, \context, 4
	slli	\t, \t, 4
	add	s2, s1, \t
	.endm

	.macro	aes_table_whiten
	lw	t0, 0(s1)
	lw	t1, 4(s1)
	lw	t2, 8(s1)
	lw	t3, 12(s1)
	xor	a0, a0, t0
	xor	a1, a1, t1
	xor	a2, a2, t2
	xor	a3, a3, t3
	addi	t4, s1, 16
	.endm

# void tress_aes_table_make(uint32_t tables[1024])
	aes_function tress_aes_table_make
	aes_enter
	sw	a0, AES_A(sp)
	li	t0, 0x03020100
	sw	t0, AES_B(sp)
1:	lw	a0, AES_B(sp)
	jal	tress_aes_sub_word
	lw	t0, AES_A(sp)
	li	t6, 4
2:	andi	t1, a0, 0xff		# s
	srli	a0, a0, 8
	slli	t2, t1, 1		# 2 s
	srli	t3, t1, 7
	neg	t3, t3
	andi	t3, t3, 0x11b
	xor	t2, t2, t3
	xor	t3, t2, t1		# 3 s
	slli	t4, t1, 8
	or	t4, t4, t2
	slli	t5, t1, 16
	or	t4, t4, t5
	slli	t5, t3, 24
	or	t4, t4, t5		# bytes 2 s, s, s, 3 s
	addi	t1, t0, 1024
	addi	t2, t0, 2047
	sw	t4, 0(t0)
	.irp	place, 0, 1, 1025
	slli	t5, t4, 8
	srli	t4, t4, 24
	or	t4, t4, t5
	.if	\place == 0
	sw	t4, 0(t1)
	.else
	sw	t4, \place(t2)
	.endif
	.endr
	addi	t0, t0, 4
	addi	t6, t6, -1
	bnez	t6, 2b
	sw	t0, AES_A(sp)
	lw	t1, AES_B(sp)
	li	t2, 0x04040404
	add	t1, t1, t2
	sw	t1, AES_B(sp)
	li	t2, 0x04030200		# the value after the last bytes, each with a carry into the next
	bne	t1, t2, 3f
	aes_leave
3:	j	1b
	.size	tress_aes_table_make, . - tress_aes_table_make

# Copies the four words of a round key unchanged, for tress_aes_table_expand_key.
	aes_part tress_aes_table_key_form
	lw	t0, AES_D(sp)
	lw	a0, 0(t0)
	lw	a1, 4(t0)
	lw	a2, 8(t0)
	lw	a3, 12(t0)
	lw	t0, AES_A(sp)
	addi	t1, t0, 16
	sw	t1, AES_A(sp)
	sw	a0, 0(t0)
	sw	a1, 4(t0)
	sw	a2, 8(t0)
	sw	a3, 12(t0)
	ret
	.size	tress_aes_table_key_form, . - tress_aes_table_key_form

# void tress_aes_table_expand_key(uint32_t context[1 + 4 * 15], const uint8_t *key, size_t key_bytes): constant time.
	aes_expand_key tress_aes_table_expand_key, tress_aes_table_key_form

# void tress_aes_table_encrypt(const uint32_t context[], uint8_t *out, const uint8_t *in, size_t bytes,
#                              const uint32_t tables[1024]): whole blocks; `out` may be `in`.
	aes_function tress_aes_table_encrypt
	beqz	a3, 9f
	aes_enter
	addi	s0, a4, 1024
	addi	s0, s0, 1024
	aes_table_keys a0, t0
	mv	s3, a1
	mv	s4, a2
	mv	s5, a3
3:	mv	a0, sp
	mv	a1, s4
	li	a2, 16
	jal	tress_aes_copy
	lw	a0, 0(sp)
	lw	a1, 4(sp)
	lw	a2, 8(sp)
	lw	a3, 12(sp)
	aes_table_whiten
	aes_table_rounds
	sw	a0, 0(sp)
	sw	a1, 4(sp)
	sw	a2, 8(sp)
	sw	a3, 12(sp)
	mv	a0, s3
	mv	a1, sp
	li	a2, 16
	jal	tress_aes_copy
	addi	s3, s3, 16
	addi	s4, s4, 16
	addi	s5, s5, -16
	beqz	s5, 4f
	j	3b
4:	aes_leave
9:	ret
	.size	tress_aes_table_encrypt, . - tress_aes_table_encrypt

# void tress_aes_table_stream(const uint32_t context[], uint8_t counter[16], uint8_t *out, const uint8_t *in, size_t bytes,
#                          const uint32_t tables[1024]): `out` may be `in`; `counter` is set to the next block.
#
# The counter block is at 0. s6: its last byte, s7: the last byte of round key 0, s8: column 0 after round 1, s9 to s11
# and a7: the columns after round 2, both without the part of the last byte.
	aes_function tress_aes_table_stream
	beqz	a4, 9f
	aes_enter
	sw	a1, AES_A(sp)
	addi	s0, a5, 1024
	addi	s0, s0, 1024
	aes_table_keys a0, t0
	mv	s3, a2
	mv	s4, a3
	mv	s5, a4
	lbu	s7, 15(s1)
	mv	a0, sp
	li	a2, 16
	jal	tress_aes_copy

4:	lbu	s6, 15(sp)		# a window of at most 256 blocks
	lw	a0, 0(sp)
	lw	a1, 4(sp)
	lw	a2, 8(sp)
	lw	a3, 12(sp)
	aes_table_whiten
	srli	t5, a3, 24
	aes_table_round a4, a5, a6, t6, a0, a1, a2, a3
	slli	t5, t5, 2
	add	t5, t5, s0
	lw	s8, 1024(t5)
	addi	t4, t4, 16
	xor	s8, s8, a4
	aes_table_round s9, s10, s11, a7, a4, a5, a6, t6
	.macro	aes_add_column_0 w, x, y, z, to_w, to_x, to_y, to_z
	aes_index t0, a4, 0
	aes_index t1, a4, 3
	aes_index t2, a4, 2
	aes_index t3, a4, 1
	lw	t0, -2048(t0)
	lw	t1, 1024(t1)
	lw	t2, 0(t2)
	lw	t3, -1024(t3)
	xor	\to_w, \w, t0
	xor	\to_x, \x, t1
	xor	\to_y, \y, t2
	xor	\to_z, \z, t3
	.endm
	aes_add_column_0 s9, s10, s11, a7, s9, s10, s11, a7

5:	xor	t0, s6, s7
	slli	t0, t0, 2
	add	t0, t0, s0
	lw	t0, 1024(t0)
	addi	t4, s1, 48
	xor	a4, s8, t0
	aes_add_column_0 s9, s10, s11, a7, a0, a1, a2, a3
	aes_table_rounds
	li	t0, 16
	or	t1, s3, s4
	bltu	s5, t0, 7f
	andi	t1, t1, 3
	bnez	t1, 6f
	lw	t0, 0(s4)
	lw	t1, 4(s4)
	lw	t2, 8(s4)
	lw	t3, 12(s4)
	xor	a0, a0, t0
	xor	a1, a1, t1
	xor	a2, a2, t2
	xor	a3, a3, t3
	sw	a0, 0(s3)
	sw	a1, 4(s3)
	sw	a2, 8(s3)
	sw	a3, 12(s3)
	addi	s3, s3, 16
	addi	s4, s4, 16
	addi	s5, s5, -16
10:	addi	s6, s6, 1
	sltiu	t0, s6, 256
	beqz	t0, 8f
	beqz	s5, 8f
	j	5b

6:	mv	t0, s5			# byte by byte: not aligned to words, or less than a block
	li	s5, 16
	sub	t5, t0, s5
	j	11f
7:	li	t5, 0
11:	sw	a0, 16(sp)
	sw	a1, 20(sp)
	sw	a2, 24(sp)
	sw	a3, 28(sp)
	addi	t4, sp, 16
12:	lbu	t0, 0(t4)
	lbu	t1, 0(s4)
	addi	t4, t4, 1
	addi	s4, s4, 1
	addi	s5, s5, -1
	xor	t0, t0, t1
	sb	t0, 0(s3)
	addi	s3, s3, 1
	bnez	s5, 12b
	mv	s5, t5
	j	10b

8:	sb	s6, 15(sp)
	bnez	t0, 14f			# no carry
	addi	t0, sp, 14
13:	lbu	t1, 0(t0)
	addi	t1, t1, 1
	sb	t1, 0(t0)
	andi	t1, t1, 0xff
	bnez	t1, 14f
	beq	t0, sp, 14f
	addi	t0, t0, -1
	j	13b
14:	beqz	s5, 15f
	j	4b
15:	lw	a0, AES_A(sp)
	mv	a1, sp
	li	a2, 16
	jal	tress_aes_copy
	aes_leave
9:	ret
	.size	tress_aes_table_stream, . - tress_aes_table_stream
