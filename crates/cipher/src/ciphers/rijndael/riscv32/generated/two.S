# Two blocks of AES side by side on RV32I, constant time.
#
# Written by tools/rv32-aes/generate. Arrangement: fixslicing (A. Adomnicai, T. Peyrin, TCHES 2021): bit 8 r + 2 c + b of
# the word for a bit is that of row r, column c, block b, and ShiftRows is left out; four rounds bring the columns back to
# their places. Round keys have that form, eight words each, and from 1 on 0x63 added.

# Encrypts two blocks, word c of block b in register a(2 c + b). s10: the first round key, s11: the last.
# 136(sp) is room for ra. All other registers but sp, gp and tp are lost.
	.section .text.tress_aes2_encrypt_words,"ax",@progbits
	.balign 4
	.globl tress_aes2_encrypt_words
	.hidden tress_aes2_encrypt_words
	.type tress_aes2_encrypt_words, @function
tress_aes2_encrypt_words:
	sw	ra, 136(sp)
	li	s0, 0x55555555
	li	s1, 0x33333333
	li	t0, 0x0f0f0f0f
	srli	t1, a0, 1
	xor	t2, t1, a1
	and	t3, t2, s0
	slli	t4, t3, 1
	xor	t5, a0, t4
	xor	t6, a1, t3
	srli	s2, a2, 1
	xor	s3, s2, a3
	and	s4, s3, s0
	slli	s5, s4, 1
	xor	s6, a2, s5
	xor	s7, a3, s4
	srli	s8, a4, 1
	xor	s9, s8, a5
	and	ra, s9, s0
	slli	t1, ra, 1
	xor	t2, a4, t1
	xor	a0, a5, ra
	srli	t4, a6, 1
	xor	a1, t4, a7
	and	t3, a1, s0
	slli	s2, t3, 1
	xor	s3, a6, s2
	xor	a2, a7, t3
	srli	s5, t5, 2
	xor	a3, s5, s6
	and	s4, a3, s1
	slli	s8, s4, 2
	xor	s9, t5, s8
	xor	a4, s6, s4
	srli	t1, t6, 2
	xor	a5, t1, s7
	and	ra, a5, s1
	slli	t4, ra, 2
	xor	s0, t6, t4
	xor	a1, s7, ra
	srli	a6, t2, 2
	xor	s2, a6, s3
	and	a7, s2, s1
	slli	t3, a7, 2
	xor	s5, t2, t3
	xor	a3, s3, a7
	srli	t5, a0, 2
	xor	s8, t5, a2
	and	s6, s8, s1
	slli	s4, s6, 2
	xor	t1, a0, s4
	xor	a5, a2, s6
	srli	t6, s9, 4
	xor	t4, t6, s5
	and	s7, t4, t0
	slli	ra, s7, 4
	xor	a6, s9, ra
	xor	s2, s5, s7
	srli	t2, s0, 4
	xor	t3, t2, t1
	and	s3, t3, t0
	slli	a7, s3, 4
	xor	t5, s0, a7
	xor	s1, t1, s3
	srli	s8, a4, 4
	xor	a0, s8, a3
	and	s4, a0, t0
	slli	a2, s4, 4
	xor	s6, a4, a2
	xor	t6, a3, s4
	srli	t4, a1, 4
	xor	s9, t4, a5
	and	ra, s9, t0
	slli	s5, ra, 4
	xor	s7, a1, s5
	lw	t3, 0(s10)
	xor	t2, a5, ra
	lw	s0, 4(s10)
	xor	a0, t3, a6
	lw	a7, 8(s10)
	xor	a1, s0, t5
	lw	t1, 12(s10)
	xor	a2, a7, s6
	lw	s3, 16(s10)
	xor	a3, t1, s7
	lw	s8, 20(s10)
	xor	a4, s3, s2
	lw	s4, 24(s10)
	xor	a5, s8, s1
	lw	t4, 28(s10)
	xor	a6, s4, t6
	xor	a7, t4, t2
1:	addi	s10, s10, 32
# Columns one place too far.
	xor	s0, a7, a1              # y13
	xor	s1, a7, a2              # y8
	xor	t0, a4, a2              # y14
	xor	t1, s0, t0              # y12
	xor	t2, a3, t1              # t1
	xor	t3, a6, a5              # t0
	xor	t4, t3, a0              # y1
	xor	t5, t4, a1              # y5
	xor	t6, t2, a2              # y15
	xor	s2, a7, a4              # y9
	xor	s3, t2, a6              # y20
	xor	s4, t5, s1              # y3
	xor	s5, s3, s2              # y11
	xor	s6, t6, a0              # y6
	xor	s7, t3, s5              # y16
	and	s8, t1, t6              # t2
	xor	s9, t4, a4              # y4
	and	ra, s4, s6              # t3
	xor	a3, ra, s8              # t4
	xor	a5, a7, s7              # y18
	xor	a1, a3, s3              # t17
	and	a2, s9, a0              # t5
	xor	a6, t4, a7              # y2
	xor	t2, t6, t3              # y10
	xor	a4, a2, s8              # t6
	and	ra, s2, s5              # t12
	and	s3, s1, t2              # t15
	xor	a3, s3, ra              # t16
	xor	a7, a4, a3              # t18
	xor	t3, t2, s1              # y19
	xor	s8, a7, t3              # t22
	xor	a2, t2, s5              # y17
	and	s3, t0, a2              # t13
	xor	a4, s3, ra              # t14
	xor	a7, a1, a4              # t21
	and	t3, t5, t4              # t8
	and	ra, s0, s7              # t7
	xor	s3, t3, ra              # t9
	xor	a1, s3, a4              # t19
	xor	t3, s0, s7              # y21
	xor	a4, a1, t3              # t23
	xor	s3, a0, s5              # y7
	and	a1, a6, s3              # t10
	xor	t3, a1, ra              # t11
	xor	ra, t3, a3              # t20
	xor	a1, ra, a5              # t24
	xor	a3, a7, s8              # t25
	and	t3, a7, a4              # t26
	xor	a5, a4, a1              # t30
	xor	ra, s8, t3              # t31
	and	a7, ra, a5              # t32
	xor	a5, a7, a1              # t33
	xor	ra, a1, t3              # t27
	xor	a7, a4, a5              # t34
	xor	t3, ra, a5              # t35
	and	a4, a1, t3              # t36
	xor	a1, a4, a7              # t37
	xor	t3, ra, a4              # t38
	and	a7, a3, ra              # t28
	xor	a4, a7, s8              # t29
	and	ra, a4, t3              # t39
	xor	s8, a3, ra              # t40
	and	a7, s8, t5              # z13
	and	t3, a4, a6              # z14
	and	a3, a5, a0              # z2
	and	ra, s8, t4              # z4
	xor	t5, a4, s8              # t43
	and	a6, t5, s7              # z3
	and	a0, t5, s0              # z12
	xor	t4, s8, a1              # t41
	and	s7, a1, s6              # z1
	and	s0, a5, s9              # z11
	and	t5, a1, s4              # z10
	xor	s8, a5, a1              # t44
	xor	s6, a4, a5              # t42
	and	s9, a4, s3              # z5
	and	s4, s8, t1              # z9
	and	a1, s8, t6              # z0
	and	a5, t4, t2              # z8
	and	s3, s6, s2              # z15
	and	a4, t4, s1              # z17
	xor	t1, s6, t4              # t45
	xor	t6, a6, s9              # c12
	and	s8, t1, t0              # z16
	and	t2, s6, s5              # z6
	xor	s2, s7, a1              # c5
	xor	s1, s3, s8              # c1
	xor	t4, a6, ra              # c6
	xor	s9, a1, a3              # c4
	and	t0, t1, a2              # z7
	xor	s5, t5, s1              # c2
	xor	s6, a7, s1              # c13
	xor	s7, a0, s9              # c7
	xor	s8, a5, s7              # c9
	xor	ra, t4, s2              # c11
	xor	a6, s4, s5              # c3
	xor	a3, s5, s0              # c21
	xor	a1, t0, t4              # c8
	xor	a2, a1, s8              # c10
	xor	t1, a6, ra              # s3
	xor	t5, t2, a1              # c16
	xor	a7, t1, t5              # s1
	xor	s1, t3, a2              # c17
	xor	a5, s3, t5              # c20
	xor	s7, a3, s1              # s5
	xor	s2, s9, t6              # c14
	xor	s4, s2, t1              # s4
	xor	s0, s1, a5              # c26
	xor	s5, s0, a4              # s2
	xor	t4, s6, s2              # c18
	xor	t0, a6, t5              # s0
	xor	s8, a2, t4              # s6
	xor	ra, a0, t4              # s7
	li	t2, 0x3f3f3f3f
	li	a1, 0x0f0f0f0f
	srli	t3, t0, 2
	slli	s3, t0, 6
	xor	a3, t3, s3
	and	t6, a3, t2
	xor	s9, s3, t6
	srli	s1, s9, 8
	slli	a5, s9, 24
	or	a4, s1, a5
	xor	s0, t0, a4
	srli	s6, s0, 4
	slli	s2, s0, 4
	xor	a6, s6, s2
	and	t5, a6, a1
	xor	a2, s2, t5
	srli	a0, a2, 16
	slli	t4, a2, 16
	or	t3, a0, t4
	xor	a3, a4, t3
	srli	s3, ra, 2
	slli	t6, ra, 6
	xor	s9, s3, t6
	and	s1, s9, t2
	xor	a5, t6, s1
	srli	t0, a5, 8
	slli	s6, a5, 24
	or	a6, t0, s6
	xor	s2, ra, a6
	xor	t5, a6, s0
	srli	a2, s2, 4
	slli	a0, s2, 4
	xor	t4, a2, a0
	and	a4, t4, a1
	xor	t3, a0, a4
	srli	s3, t3, 16
	slli	s9, t3, 16
	or	t6, s3, s9
	xor	s1, t5, t6
	srli	a5, s8, 2
	slli	t0, s8, 6
	xor	s6, a5, t0
	and	ra, s6, t2
	xor	a6, t0, ra
	srli	a2, a6, 8
	slli	t4, a6, 24
	or	a0, a2, t4
	xor	a4, s8, a0
	xor	t3, a0, s2
	srli	s3, a4, 4
	slli	s9, a4, 4
	xor	t5, s3, s9
	and	t6, t5, a1
	xor	a5, s9, t6
	srli	s6, a5, 16
	slli	t0, a5, 16
	or	ra, s6, t0
	xor	a6, t3, ra
	xor	a2, a6, s0
	srli	t4, s7, 2
	slli	s8, s7, 6
	xor	s2, t4, s8
	and	a0, s2, t2
	xor	s3, s8, a0
	srli	t5, s3, 8
	slli	s9, s3, 24
	or	t6, t5, s9
	xor	a5, s7, t6
	xor	s6, t6, a4
	srli	t0, a5, 4
	slli	t3, a5, 4
	xor	ra, t0, t3
	and	a6, ra, a1
	xor	t4, t3, a6
	srli	s2, t4, 16
	slli	s8, t4, 16
	or	a0, s2, s8
	xor	s3, s6, a0
	srli	t5, s4, 2
	slli	s9, s4, 6
	xor	s7, t5, s9
	and	a4, s7, t2
	xor	t6, s9, a4
	srli	t0, t6, 8
	slli	ra, t6, 24
	or	t3, t0, ra
	xor	a6, s4, t3
	xor	t4, t3, a5
	srli	s2, a6, 4
	slli	s8, a6, 4
	xor	s6, s2, s8
	and	a0, s6, a1
	xor	t5, s8, a0
	srli	s7, t5, 16
	slli	s9, t5, 16
	or	a4, s7, s9
	xor	t6, t4, a4
	xor	t0, t6, s0
	srli	ra, t1, 2
	slli	s4, t1, 6
	xor	a5, ra, s4
	and	t3, a5, t2
	xor	s2, s4, t3
	srli	s6, s2, 8
	slli	s8, s2, 24
	or	a0, s6, s8
	xor	t5, t1, a0
	xor	s7, a0, a6
	srli	s9, t5, 4
	slli	t4, t5, 4
	xor	a4, s9, t4
	and	t6, a4, a1
	xor	ra, t4, t6
	srli	a5, ra, 16
	slli	s4, ra, 16
	or	t3, a5, s4
	xor	s2, s7, t3
	xor	s6, s2, s0
	srli	s8, s5, 2
	slli	t1, s5, 6
	xor	a6, s8, t1
	and	a0, a6, t2
	xor	s9, t1, a0
	srli	a4, s9, 8
	slli	t4, s9, 24
	or	t6, a4, t4
	xor	ra, s5, t6
	xor	a5, t6, t5
	srli	s4, ra, 4
	slli	s7, ra, 4
	xor	t3, s4, s7
	and	s0, t3, a1
	xor	s2, s7, s0
	srli	s8, s2, 16
	slli	a6, s2, 16
	or	t1, s8, a6
	xor	a0, a5, t1
	srli	s9, a7, 2
	slli	a4, a7, 6
	xor	t4, s9, a4
	and	s5, t4, t2
	xor	t5, a4, s5
	srli	t6, t5, 8
	slli	s4, t5, 24
	or	t3, t6, s4
	xor	s7, a7, t3
	xor	s0, t3, ra
	srli	s2, s7, 4
	slli	s8, s7, 4
	xor	a6, s2, s8
	and	a5, a6, a1
	xor	t1, s8, a5
	srli	s9, t1, 16
	slli	t2, t1, 16
	or	t4, s9, t2
	xor	a4, s0, t4
	lw	t5, 0(s10)
	xor	s5, a3, s7
	lw	s4, 4(s10)
	xor	t6, t5, s1
	lw	a7, 8(s10)
	xor	a1, s4, a2
	lw	ra, 12(s10)
	xor	a2, a7, s3
	lw	t3, 16(s10)
	xor	a3, ra, t0
	lw	a6, 20(s10)
	xor	s2, t3, s6
	lw	s8, 24(s10)
	xor	a5, a6, a0
	lw	t1, 28(s10)
	xor	a6, s8, a4
	xor	a7, t1, s5
	mv	a0, t6
	mv	a4, s2
	addi	s10, s10, 32
	beq	s10, s11, 3f
# Two and three places.
	xor	s0, a7, a1              # y13
	xor	s1, a7, a2              # y8
	xor	t0, a4, a2              # y14
	xor	t1, s0, t0              # y12
	xor	t2, a3, t1              # t1
	xor	t3, a6, a5              # t0
	xor	t4, t3, a0              # y1
	xor	t5, t4, a1              # y5
	xor	t6, t2, a2              # y15
	xor	s2, a7, a4              # y9
	xor	s3, t2, a6              # y20
	xor	s4, t5, s1              # y3
	xor	s5, s3, s2              # y11
	xor	s6, t6, a0              # y6
	xor	s7, t3, s5              # y16
	and	s8, t1, t6              # t2
	xor	s9, t4, a4              # y4
	and	ra, s4, s6              # t3
	xor	a3, ra, s8              # t4
	xor	a5, a7, s7              # y18
	xor	a1, a3, s3              # t17
	and	a2, s9, a0              # t5
	xor	a6, t4, a7              # y2
	xor	t2, t6, t3              # y10
	xor	a4, a2, s8              # t6
	and	ra, s2, s5              # t12
	and	s3, s1, t2              # t15
	xor	a3, s3, ra              # t16
	xor	a7, a4, a3              # t18
	xor	t3, t2, s1              # y19
	xor	s8, a7, t3              # t22
	xor	a2, t2, s5              # y17
	and	s3, t0, a2              # t13
	xor	a4, s3, ra              # t14
	xor	a7, a1, a4              # t21
	and	t3, t5, t4              # t8
	and	ra, s0, s7              # t7
	xor	s3, t3, ra              # t9
	xor	a1, s3, a4              # t19
	xor	t3, s0, s7              # y21
	xor	a4, a1, t3              # t23
	xor	s3, a0, s5              # y7
	and	a1, a6, s3              # t10
	xor	t3, a1, ra              # t11
	xor	ra, t3, a3              # t20
	xor	a1, ra, a5              # t24
	xor	a3, a7, s8              # t25
	and	t3, a7, a4              # t26
	xor	a5, a4, a1              # t30
	xor	ra, s8, t3              # t31
	and	a7, ra, a5              # t32
	xor	a5, a7, a1              # t33
	xor	ra, a1, t3              # t27
	xor	a7, a4, a5              # t34
	xor	t3, ra, a5              # t35
	and	a4, a1, t3              # t36
	xor	a1, a4, a7              # t37
	xor	t3, ra, a4              # t38
	and	a7, a3, ra              # t28
	xor	a4, a7, s8              # t29
	and	ra, a4, t3              # t39
	xor	s8, a3, ra              # t40
	and	a7, s8, t5              # z13
	and	t3, a4, a6              # z14
	and	a3, a5, a0              # z2
	and	ra, s8, t4              # z4
	xor	t5, a4, s8              # t43
	and	a6, t5, s7              # z3
	and	a0, t5, s0              # z12
	xor	t4, s8, a1              # t41
	and	s7, a1, s6              # z1
	and	s0, a5, s9              # z11
	and	t5, a1, s4              # z10
	xor	s8, a5, a1              # t44
	xor	s6, a4, a5              # t42
	and	s9, a4, s3              # z5
	and	s4, s8, t1              # z9
	and	a1, s8, t6              # z0
	and	a5, t4, t2              # z8
	and	s3, s6, s2              # z15
	and	a4, t4, s1              # z17
	xor	t1, s6, t4              # t45
	xor	t6, a6, s9              # c12
	and	s8, t1, t0              # z16
	and	t2, s6, s5              # z6
	xor	s2, s7, a1              # c5
	xor	s1, s3, s8              # c1
	xor	t4, a6, ra              # c6
	xor	s9, a1, a3              # c4
	and	t0, t1, a2              # z7
	xor	s5, t5, s1              # c2
	xor	s6, a7, s1              # c13
	xor	s7, a0, s9              # c7
	xor	s8, a5, s7              # c9
	xor	ra, t4, s2              # c11
	xor	a6, s4, s5              # c3
	xor	a3, s5, s0              # c21
	xor	a1, t0, t4              # c8
	xor	a2, a1, s8              # c10
	xor	t1, a6, ra              # s3
	xor	t5, t2, a1              # c16
	xor	a7, t1, t5              # s1
	xor	s1, t3, a2              # c17
	xor	a5, s3, t5              # c20
	xor	s7, a3, s1              # s5
	xor	s2, s9, t6              # c14
	xor	s4, s2, t1              # s4
	xor	s0, s1, a5              # c26
	xor	s5, s0, a4              # s2
	xor	t4, s6, s2              # c18
	xor	t0, a6, t5              # s0
	xor	s8, a2, t4              # s6
	xor	ra, a0, t4              # s7
	li	t2, 0x0f0f0f0f
	srli	a1, t0, 4
	slli	t3, t0, 4
	xor	s3, a1, t3
	and	a3, s3, t2
	xor	t6, t3, a3
	srli	s9, t6, 8
	slli	s1, t6, 24
	or	a5, s9, s1
	xor	a4, t0, a5
	srli	s0, a4, 16
	slli	s6, a4, 16
	or	s2, s0, s6
	xor	a6, a5, s2
	srli	t5, ra, 4
	slli	a2, ra, 4
	xor	a0, t5, a2
	and	t4, a0, t2
	xor	a1, a2, t4
	srli	s3, a1, 8
	slli	t3, a1, 24
	or	a3, s3, t3
	xor	t6, ra, a3
	xor	s9, a3, a4
	srli	s1, t6, 16
	slli	t0, t6, 16
	or	s0, s1, t0
	xor	s6, s9, s0
	srli	a5, s8, 4
	slli	s2, s8, 4
	xor	t5, a5, s2
	and	a0, t5, t2
	xor	a2, s2, a0
	srli	t4, a2, 8
	slli	a1, a2, 24
	or	s3, t4, a1
	xor	t3, s8, s3
	xor	ra, s3, t6
	srli	a3, t3, 16
	slli	s1, t3, 16
	or	t0, a3, s1
	xor	s9, ra, t0
	xor	s0, s9, a4
	srli	a5, s7, 4
	slli	t5, s7, 4
	xor	s2, a5, t5
	and	a0, s2, t2
	xor	a2, t5, a0
	srli	t4, a2, 8
	slli	a1, a2, 24
	or	s8, t4, a1
	xor	t6, s7, s8
	xor	s3, s8, t3
	srli	a3, t6, 16
	slli	s1, t6, 16
	or	ra, a3, s1
	xor	t0, s3, ra
	srli	s9, s4, 4
	slli	a5, s4, 4
	xor	s2, s9, a5
	and	t5, s2, t2
	xor	a0, a5, t5
	srli	a2, a0, 8
	slli	t4, a0, 24
	or	a1, a2, t4
	xor	s7, s4, a1
	xor	t3, a1, t6
	srli	s8, s7, 16
	slli	a3, s7, 16
	or	s1, s8, a3
	xor	s3, t3, s1
	xor	ra, s3, a4
	srli	s9, t1, 4
	slli	s2, t1, 4
	xor	a5, s9, s2
	and	t5, a5, t2
	xor	a0, s2, t5
	srli	a2, a0, 8
	slli	t4, a0, 24
	or	s4, a2, t4
	xor	t6, t1, s4
	xor	a1, s4, s7
	srli	s8, t6, 16
	slli	a3, t6, 16
	or	t3, s8, a3
	xor	s1, a1, t3
	xor	s3, s1, a4
	srli	s9, s5, 4
	slli	a5, s5, 4
	xor	s2, s9, a5
	and	t5, s2, t2
	xor	a0, a5, t5
	srli	a2, a0, 8
	slli	t4, a0, 24
	or	t1, a2, t4
	xor	s7, s5, t1
	xor	s4, t1, t6
	srli	s8, s7, 16
	slli	a3, s7, 16
	or	a1, s8, a3
	xor	t3, s4, a1
	srli	a4, a7, 4
	slli	s1, a7, 4
	xor	s9, a4, s1
	and	s2, s9, t2
	xor	a5, s1, s2
	srli	t5, a5, 8
	slli	a0, a5, 24
	or	a2, t5, a0
	xor	t4, a7, a2
	xor	s5, a2, s7
	srli	t6, t4, 16
	slli	t1, t4, 16
	or	s8, t6, t1
	xor	a3, s5, s8
	lw	a1, 0(s10)
	xor	s4, a6, t4
	lw	t2, 4(s10)
	xor	a4, a1, s6
	lw	s1, 8(s10)
	xor	s9, t2, s0
	lw	a5, 12(s10)
	xor	s2, s1, t0
	lw	a0, 16(s10)
	xor	t5, a5, ra
	lw	s7, 20(s10)
	xor	a7, a0, s3
	lw	t6, 24(s10)
	xor	a2, s7, t3
	lw	s5, 28(s10)
	xor	t1, t6, a3
	xor	s8, s5, s4
	xor	a6, s8, s9              # y13
	xor	t4, s8, s2              # y8
	xor	s6, a7, s2              # y14
	xor	a1, a6, s6              # y12
	xor	s0, t5, a1              # t1
	xor	t2, t1, a2              # t0
	xor	t0, t2, a4              # y1
	xor	s1, t0, s9              # y5
	xor	ra, s0, s2              # y15
	xor	a5, s8, a7              # y9
	xor	s3, s0, t1              # y20
	xor	a0, s1, t4              # y3
	xor	t3, s3, a5              # y11
	xor	s7, ra, a4              # y6
	xor	a3, t2, t3              # y16
	and	t6, a1, ra              # t2
	xor	s4, t0, a7              # y4
	and	s5, a0, s7              # t3
	xor	t5, s5, t6              # t4
	xor	a2, s8, a3              # y18
	xor	s9, t5, s3              # t17
	and	s2, s4, a4              # t5
	xor	t1, t0, s8              # y2
	xor	s0, ra, t2              # y10
	xor	a7, s2, t6              # t6
	and	s5, a5, t3              # t12
	and	s3, t4, s0              # t15
	xor	t5, s3, s5              # t16
	xor	s8, a7, t5              # t18
	xor	t2, s0, t4              # y19
	xor	t6, s8, t2              # t22
	xor	s2, s0, t3              # y17
	and	s3, s6, s2              # t13
	xor	a7, s3, s5              # t14
	xor	s8, s9, a7              # t21
	and	t2, s1, t0              # t8
	and	s5, a6, a3              # t7
	xor	s3, t2, s5              # t9
	xor	s9, s3, a7              # t19
	xor	t2, a6, a3              # y21
	xor	a7, s9, t2              # t23
	xor	s3, a4, t3              # y7
	and	s9, t1, s3              # t10
	xor	t2, s9, s5              # t11
	xor	s5, t2, t5              # t20
	xor	s9, s5, a2              # t24
	xor	t5, s8, t6              # t25
	and	t2, s8, a7              # t26
	xor	a2, a7, s9              # t30
	xor	s5, t6, t2              # t31
	and	s8, s5, a2              # t32
	xor	a2, s8, s9              # t33
	xor	s5, s9, t2              # t27
	xor	s8, a7, a2              # t34
	xor	t2, s5, a2              # t35
	and	a7, s9, t2              # t36
	xor	s9, a7, s8              # t37
	xor	t2, s5, a7              # t38
	and	s8, t5, s5              # t28
	xor	a7, s8, t6              # t29
	and	s5, a7, t2              # t39
	xor	t6, t5, s5              # t40
	and	s8, t6, s1              # z13
	and	t2, a7, t1              # z14
	and	t5, a2, a4              # z2
	and	s5, t6, t0              # z4
	xor	s1, a7, t6              # t43
	and	t1, s1, a3              # z3
	and	a4, s1, a6              # z12
	xor	t0, t6, s9              # t41
	and	a3, s9, s7              # z1
	and	a6, a2, s4              # z11
	and	s1, s9, a0              # z10
	xor	t6, a2, s9              # t44
	xor	s7, a7, a2              # t42
	and	s4, a7, s3              # z5
	and	a0, t6, a1              # z9
	and	s9, t6, ra              # z0
	and	a2, t0, s0              # z8
	and	s3, s7, a5              # z15
	and	a7, t0, t4              # z17
	xor	a1, s7, t0              # t45
	xor	ra, t1, s4              # c12
	and	t6, a1, s6              # z16
	and	s0, s7, t3              # z6
	xor	a5, a3, s9              # c5
	xor	t4, s3, t6              # c1
	xor	t0, t1, s5              # c6
	xor	s4, s9, t5              # c4
	and	s6, a1, s2              # z7
	xor	t3, s1, t4              # c2
	xor	s7, s8, t4              # c13
	xor	a3, a4, s4              # c7
	xor	t6, a2, a3              # c9
	xor	s5, t0, a5              # c11
	xor	t1, a0, t3              # c3
	xor	t5, t3, a6              # c21
	xor	s9, s6, t0              # c8
	xor	s2, s9, t6              # c10
	xor	a1, t1, s5              # s3
	xor	s1, s0, s9              # c16
	xor	s8, a1, s1              # s1
	xor	t4, t2, s2              # c17
	xor	a2, s3, s1              # c20
	xor	a3, t5, t4              # s5
	xor	a5, s4, ra              # c14
	xor	a0, a5, a1              # s4
	xor	a6, t4, a2              # c26
	xor	t3, a6, a7              # s2
	xor	t0, s7, a5              # c18
	xor	s6, t1, s1              # s0
	xor	t6, s2, t0              # s6
	xor	s5, a4, t0              # s7
	li	s0, 0x03030303
	li	s9, 0x0f0f0f0f
	srli	t2, s6, 6
	slli	s3, s6, 2
	xor	t5, t2, s3
	and	ra, t5, s0
	xor	s4, s3, ra
	srli	t4, s4, 8
	slli	a2, s4, 24
	or	a7, t4, a2
	xor	a6, s6, a7
	srli	s7, a6, 4
	slli	a5, a6, 4
	xor	t1, s7, a5
	and	s1, t1, s9
	xor	s2, a5, s1
	srli	a4, s2, 16
	slli	t0, s2, 16
	or	t2, a4, t0
	xor	t5, a7, t2
	srli	s3, s5, 6
	slli	ra, s5, 2
	xor	s4, s3, ra
	and	t4, s4, s0
	xor	a2, ra, t4
	srli	s6, a2, 8
	slli	s7, a2, 24
	or	t1, s6, s7
	xor	a5, s5, t1
	xor	s1, t1, a6
	srli	s2, a5, 4
	slli	a4, a5, 4
	xor	t0, s2, a4
	and	a7, t0, s9
	xor	t2, a4, a7
	srli	s3, t2, 16
	slli	s4, t2, 16
	or	ra, s3, s4
	xor	t4, s1, ra
	srli	a2, t6, 6
	slli	s6, t6, 2
	xor	s7, a2, s6
	and	s5, s7, s0
	xor	t1, s6, s5
	srli	s2, t1, 8
	slli	t0, t1, 24
	or	a4, s2, t0
	xor	a7, t6, a4
	xor	t2, a4, a5
	srli	s3, a7, 4
	slli	s4, a7, 4
	xor	s1, s3, s4
	and	ra, s1, s9
	xor	a2, s4, ra
	srli	s7, a2, 16
	slli	s6, a2, 16
	or	s5, s7, s6
	xor	t1, t2, s5
	xor	s2, t1, a6
	srli	t0, a3, 6
	slli	t6, a3, 2
	xor	a5, t0, t6
	and	a4, a5, s0
	xor	s3, t6, a4
	srli	s1, s3, 8
	slli	s4, s3, 24
	or	ra, s1, s4
	xor	a2, a3, ra
	xor	s7, ra, a7
	srli	s6, a2, 4
	slli	t2, a2, 4
	xor	s5, s6, t2
	and	t1, s5, s9
	xor	t0, t2, t1
	srli	a5, t0, 16
	slli	t6, t0, 16
	or	a4, a5, t6
	xor	s3, s7, a4
	srli	s1, a0, 6
	slli	s4, a0, 2
	xor	a3, s1, s4
	and	a7, a3, s0
	xor	ra, s4, a7
	srli	s6, ra, 8
	slli	s5, ra, 24
	or	t2, s6, s5
	xor	t1, a0, t2
	xor	t0, t2, a2
	srli	a5, t1, 4
	slli	t6, t1, 4
	xor	s7, a5, t6
	and	a4, s7, s9
	xor	s1, t6, a4
	srli	a3, s1, 16
	slli	s4, s1, 16
	or	a7, a3, s4
	xor	ra, t0, a7
	xor	s6, ra, a6
	srli	s5, a1, 6
	slli	a0, a1, 2
	xor	a2, s5, a0
	and	t2, a2, s0
	xor	a5, a0, t2
	srli	s7, a5, 8
	slli	t6, a5, 24
	or	a4, s7, t6
	xor	s1, a1, a4
	xor	a3, a4, t1
	srli	s4, s1, 4
	slli	t0, s1, 4
	xor	a7, s4, t0
	and	ra, a7, s9
	xor	s5, t0, ra
	srli	a2, s5, 16
	slli	a0, s5, 16
	or	t2, a2, a0
	xor	a5, a3, t2
	xor	s7, a5, a6
	srli	t6, t3, 6
	slli	a1, t3, 2
	xor	t1, t6, a1
	and	a4, t1, s0
	xor	s4, a1, a4
	srli	a7, s4, 8
	slli	t0, s4, 24
	or	ra, a7, t0
	xor	s5, t3, ra
	xor	a2, ra, s1
	srli	a0, s5, 4
	slli	a3, s5, 4
	xor	t2, a0, a3
	and	a6, t2, s9
	xor	a5, a3, a6
	srli	t6, a5, 16
	slli	t1, a5, 16
	or	a1, t6, t1
	xor	a4, a2, a1
	srli	s4, s8, 6
	slli	a7, s8, 2
	xor	t0, s4, a7
	and	t3, t0, s0
	xor	s1, a7, t3
	srli	ra, s1, 8
	slli	a0, s1, 24
	or	t2, ra, a0
	xor	a3, s8, t2
	xor	a6, t2, s5
	srli	a5, a3, 4
	slli	t6, a3, 4
	xor	t1, a5, t6
	and	a2, t1, s9
	xor	a1, t6, a2
	srli	s4, a1, 16
	slli	s0, a1, 16
	or	t0, s4, s0
	xor	a7, a6, t0
	lw	s1, 32(s10)
	xor	t3, t5, a3
	lw	ra, 36(s10)
	xor	a0, s1, t4
	lw	s8, 40(s10)
	xor	a1, ra, s2
	lw	s5, 44(s10)
	xor	a2, s8, s3
	lw	t2, 48(s10)
	xor	a3, s5, s6
	lw	s9, 52(s10)
	xor	a5, t2, s7
	lw	t6, 56(s10)
	xor	t1, s9, a4
	lw	s4, 60(s10)
	xor	a6, t6, a7
	xor	a7, s4, t3
	mv	a4, a5
	mv	a5, t1
	addi	s10, s10, 64
	beq	s10, s11, 2f
# In their places.
	xor	s0, a7, a1              # y13
	xor	s1, a7, a2              # y8
	xor	t0, a4, a2              # y14
	xor	t1, s0, t0              # y12
	xor	t2, a3, t1              # t1
	xor	t3, a6, a5              # t0
	xor	t4, t3, a0              # y1
	xor	t5, t4, a1              # y5
	xor	t6, t2, a2              # y15
	xor	s2, a7, a4              # y9
	xor	s3, t2, a6              # y20
	xor	s4, t5, s1              # y3
	xor	s5, s3, s2              # y11
	xor	s6, t6, a0              # y6
	xor	s7, t3, s5              # y16
	and	s8, t1, t6              # t2
	xor	s9, t4, a4              # y4
	and	ra, s4, s6              # t3
	xor	a3, ra, s8              # t4
	xor	a5, a7, s7              # y18
	xor	a1, a3, s3              # t17
	and	a2, s9, a0              # t5
	xor	a6, t4, a7              # y2
	xor	t2, t6, t3              # y10
	xor	a4, a2, s8              # t6
	and	ra, s2, s5              # t12
	and	s3, s1, t2              # t15
	xor	a3, s3, ra              # t16
	xor	a7, a4, a3              # t18
	xor	t3, t2, s1              # y19
	xor	s8, a7, t3              # t22
	xor	a2, t2, s5              # y17
	and	s3, t0, a2              # t13
	xor	a4, s3, ra              # t14
	xor	a7, a1, a4              # t21
	and	t3, t5, t4              # t8
	and	ra, s0, s7              # t7
	xor	s3, t3, ra              # t9
	xor	a1, s3, a4              # t19
	xor	t3, s0, s7              # y21
	xor	a4, a1, t3              # t23
	xor	s3, a0, s5              # y7
	and	a1, a6, s3              # t10
	xor	t3, a1, ra              # t11
	xor	ra, t3, a3              # t20
	xor	a1, ra, a5              # t24
	xor	a3, a7, s8              # t25
	and	t3, a7, a4              # t26
	xor	a5, a4, a1              # t30
	xor	ra, s8, t3              # t31
	and	a7, ra, a5              # t32
	xor	a5, a7, a1              # t33
	xor	ra, a1, t3              # t27
	xor	a7, a4, a5              # t34
	xor	t3, ra, a5              # t35
	and	a4, a1, t3              # t36
	xor	a1, a4, a7              # t37
	xor	t3, ra, a4              # t38
	and	a7, a3, ra              # t28
	xor	a4, a7, s8              # t29
	and	ra, a4, t3              # t39
	xor	s8, a3, ra              # t40
	and	a7, s8, t5              # z13
	and	t3, a4, a6              # z14
	and	a3, a5, a0              # z2
	and	ra, s8, t4              # z4
	xor	t5, a4, s8              # t43
	and	a6, t5, s7              # z3
	and	a0, t5, s0              # z12
	xor	t4, s8, a1              # t41
	and	s7, a1, s6              # z1
	and	s0, a5, s9              # z11
	and	t5, a1, s4              # z10
	xor	s8, a5, a1              # t44
	xor	s6, a4, a5              # t42
	and	s9, a4, s3              # z5
	and	s4, s8, t1              # z9
	and	a1, s8, t6              # z0
	and	a5, t4, t2              # z8
	and	s3, s6, s2              # z15
	and	a4, t4, s1              # z17
	xor	t1, s6, t4              # t45
	xor	t6, a6, s9              # c12
	and	s8, t1, t0              # z16
	and	t2, s6, s5              # z6
	xor	s2, s7, a1              # c5
	xor	s1, s3, s8              # c1
	xor	t4, a6, ra              # c6
	xor	s9, a1, a3              # c4
	and	t0, t1, a2              # z7
	xor	s5, t5, s1              # c2
	xor	s6, a7, s1              # c13
	xor	s7, a0, s9              # c7
	xor	s8, a5, s7              # c9
	xor	ra, t4, s2              # c11
	xor	a6, s4, s5              # c3
	xor	a3, s5, s0              # c21
	xor	a1, t0, t4              # c8
	xor	a2, a1, s8              # c10
	xor	t1, a6, ra              # s3
	xor	t5, t2, a1              # c16
	xor	a7, t1, t5              # s1
	xor	s1, t3, a2              # c17
	xor	a5, s3, t5              # c20
	xor	s7, a3, s1              # s5
	xor	s2, s9, t6              # c14
	xor	s4, s2, t1              # s4
	xor	s0, s1, a5              # c26
	xor	s5, s0, a4              # s2
	xor	t4, s6, s2              # c18
	xor	t0, a6, t5              # s0
	xor	s8, a2, t4              # s6
	xor	ra, a0, t4              # s7
	srli	t2, t0, 8
	slli	a1, t0, 24
	or	t3, t2, a1
	xor	s3, t0, t3
	srli	a3, s3, 16
	slli	t6, s3, 16
	or	s9, a3, t6
	xor	s1, t3, s9
	srli	a5, ra, 8
	slli	a4, ra, 24
	or	s0, a5, a4
	xor	s6, ra, s0
	xor	s2, s0, s3
	srli	a6, s6, 16
	slli	t5, s6, 16
	or	a2, a6, t5
	xor	a0, s2, a2
	srli	t4, s8, 8
	slli	t2, s8, 24
	or	a1, t4, t2
	xor	t0, s8, a1
	xor	a3, a1, s6
	srli	t6, t0, 16
	slli	t3, t0, 16
	or	s9, t6, t3
	xor	a5, a3, s9
	xor	a4, a5, s3
	srli	ra, s7, 8
	slli	s0, s7, 24
	or	a6, ra, s0
	xor	t5, s7, a6
	xor	s2, a6, t0
	srli	a2, t5, 16
	slli	t4, t5, 16
	or	t2, a2, t4
	xor	s8, s2, t2
	srli	s6, s4, 8
	slli	a1, s4, 24
	or	t6, s6, a1
	xor	t3, s4, t6
	xor	a3, t6, t5
	srli	s9, t3, 16
	slli	a5, t3, 16
	or	ra, s9, a5
	xor	s0, a3, ra
	xor	s7, s0, s3
	srli	t0, t1, 8
	slli	a6, t1, 24
	or	a2, t0, a6
	xor	t4, t1, a2
	xor	s2, a2, t3
	srli	t2, t4, 16
	slli	s6, t4, 16
	or	a1, t2, s6
	xor	s4, s2, a1
	xor	t5, s4, s3
	srli	t6, s5, 8
	slli	s9, s5, 24
	or	a5, t6, s9
	xor	a3, s5, a5
	xor	ra, a5, t4
	srli	s0, a3, 16
	slli	t0, a3, 16
	or	a6, s0, t0
	xor	t1, ra, a6
	srli	t3, a7, 8
	slli	a2, a7, 24
	or	t2, t3, a2
	xor	s6, a7, t2
	xor	s2, t2, a3
	srli	a1, s6, 16
	slli	s3, s6, 16
	or	s4, a1, s3
	xor	t6, s2, s4
	lw	s5, 0(s10)
	xor	s9, s1, s6
	lw	t4, 4(s10)
	xor	a0, s5, a0
	lw	a5, 8(s10)
	xor	a1, t4, a4
	lw	s0, 12(s10)
	xor	a2, a5, s8
	lw	t0, 16(s10)
	xor	a3, s0, s7
	lw	ra, 20(s10)
	xor	a4, t0, t5
	lw	a6, 24(s10)
	xor	a5, ra, t1
	lw	t3, 28(s10)
	xor	a6, a6, t6
	xor	a7, t3, s9
	j	1b
2:	li	s11, 0			# 12 rounds end with all columns in their places
3:
# The last round.
	xor	s0, a7, a1              # y13
	xor	s1, a7, a2              # y8
	xor	t0, a4, a2              # y14
	xor	t1, s0, t0              # y12
	xor	t2, a3, t1              # t1
	xor	t3, a6, a5              # t0
	xor	t4, t3, a0              # y1
	xor	t5, t4, a1              # y5
	xor	t6, t2, a2              # y15
	xor	s2, a7, a4              # y9
	xor	s3, t2, a6              # y20
	xor	s4, t5, s1              # y3
	xor	s5, s3, s2              # y11
	xor	s6, t6, a0              # y6
	xor	s7, t3, s5              # y16
	and	s8, t1, t6              # t2
	xor	s9, t4, a4              # y4
	and	ra, s4, s6              # t3
	xor	a3, ra, s8              # t4
	xor	a5, a7, s7              # y18
	xor	a1, a3, s3              # t17
	and	a2, s9, a0              # t5
	xor	a6, t4, a7              # y2
	xor	t2, t6, t3              # y10
	xor	a4, a2, s8              # t6
	and	ra, s2, s5              # t12
	and	s3, s1, t2              # t15
	xor	a3, s3, ra              # t16
	xor	a7, a4, a3              # t18
	xor	t3, t2, s1              # y19
	xor	s8, a7, t3              # t22
	xor	a2, t2, s5              # y17
	and	s3, t0, a2              # t13
	xor	a4, s3, ra              # t14
	xor	a7, a1, a4              # t21
	and	t3, t5, t4              # t8
	and	ra, s0, s7              # t7
	xor	s3, t3, ra              # t9
	xor	a1, s3, a4              # t19
	xor	t3, s0, s7              # y21
	xor	a4, a1, t3              # t23
	xor	s3, a0, s5              # y7
	and	a1, a6, s3              # t10
	xor	t3, a1, ra              # t11
	xor	ra, t3, a3              # t20
	xor	a1, ra, a5              # t24
	xor	a3, a7, s8              # t25
	and	t3, a7, a4              # t26
	xor	a5, a4, a1              # t30
	xor	ra, s8, t3              # t31
	and	a7, ra, a5              # t32
	xor	a5, a7, a1              # t33
	xor	ra, a1, t3              # t27
	xor	a7, a4, a5              # t34
	xor	t3, ra, a5              # t35
	and	a4, a1, t3              # t36
	xor	a1, a4, a7              # t37
	xor	t3, ra, a4              # t38
	and	a7, a3, ra              # t28
	xor	a4, a7, s8              # t29
	and	ra, a4, t3              # t39
	xor	s8, a3, ra              # t40
	and	a7, s8, t5              # z13
	and	t3, a4, a6              # z14
	and	a3, a5, a0              # z2
	and	ra, s8, t4              # z4
	xor	t5, a4, s8              # t43
	and	a6, t5, s7              # z3
	and	a0, t5, s0              # z12
	xor	t4, s8, a1              # t41
	and	s7, a1, s6              # z1
	and	s0, a5, s9              # z11
	and	t5, a1, s4              # z10
	xor	s8, a5, a1              # t44
	xor	s6, a4, a5              # t42
	and	s9, a4, s3              # z5
	and	s4, s8, t1              # z9
	and	a1, s8, t6              # z0
	and	a5, t4, t2              # z8
	and	s3, s6, s2              # z15
	and	a4, t4, s1              # z17
	xor	t1, s6, t4              # t45
	xor	t6, a6, s9              # c12
	and	s8, t1, t0              # z16
	and	t2, s6, s5              # z6
	xor	s2, s7, a1              # c5
	xor	s1, s3, s8              # c1
	xor	t4, a6, ra              # c6
	xor	s9, a1, a3              # c4
	and	t0, t1, a2              # z7
	xor	s5, t5, s1              # c2
	xor	s6, a7, s1              # c13
	xor	s7, a0, s9              # c7
	xor	s8, a5, s7              # c9
	xor	ra, t4, s2              # c11
	xor	a6, s4, s5              # c3
	xor	a3, s5, s0              # c21
	xor	a1, t0, t4              # c8
	xor	a2, a1, s8              # c10
	xor	t1, a6, ra              # s3
	xor	t5, t2, a1              # c16
	xor	a7, t1, t5              # s1
	xor	s1, t3, a2              # c17
	xor	a5, s3, t5              # c20
	xor	s7, a3, s1              # s5
	xor	s2, s9, t6              # c14
	xor	s4, s2, t1              # s4
	xor	s0, s1, a5              # c26
	xor	s5, s0, a4              # s2
	xor	t4, s6, s2              # c18
	xor	t0, a6, t5              # s0
	xor	s8, a2, t4              # s6
	lw	t2, 0(s10)
	xor	ra, a0, t4              # s7
	lw	t3, 4(s10)
	xor	a1, t2, ra
	lw	a3, 8(s10)
	xor	s3, t3, s8
	lw	s9, 12(s10)
	xor	t6, a3, s7
	lw	a5, 16(s10)
	xor	s1, s9, s4
	lw	s0, 20(s10)
	xor	a4, a5, t1
	lw	s2, 24(s10)
	xor	s6, s0, s5
	lw	t5, 28(s10)
	xor	a6, s2, a7
	xor	a2, t5, t0
	li	a0, 0x55555555
	li	t4, 0x33333333
	li	ra, 0x0f0f0f0f
	srli	t2, a1, 1
	xor	s8, t2, s3
	and	t3, s8, a0
	slli	s7, t3, 1
	xor	a3, a1, s7
	xor	s4, s3, t3
	srli	s9, t6, 1
	xor	t1, s9, s1
	and	a5, t1, a0
	slli	s5, a5, 1
	xor	s0, t6, s5
	xor	a7, s1, a5
	srli	s2, a4, 1
	xor	t0, s2, s6
	and	t5, t0, a0
	slli	t2, t5, 1
	xor	s8, a4, t2
	xor	a1, s6, t5
	srli	s7, a6, 1
	xor	s3, s7, a2
	and	t3, s3, a0
	slli	s9, t3, 1
	xor	t1, a6, s9
	xor	t6, a2, t3
	srli	s5, a3, 2
	xor	s1, s5, s0
	and	a5, s1, t4
	slli	s2, a5, 2
	xor	t0, a3, s2
	xor	a4, s0, a5
	srli	t2, s4, 2
	xor	s6, t2, a7
	and	t5, s6, t4
	slli	s7, t5, 2
	xor	a0, s4, s7
	xor	s3, a7, t5
	srli	a6, s8, 2
	xor	s9, a6, t1
	and	a2, s9, t4
	slli	t3, a2, 2
	xor	s5, s8, t3
	xor	s1, t1, a2
	srli	a3, a1, 2
	xor	s2, a3, t6
	and	s0, s2, t4
	slli	a5, s0, 2
	xor	t2, a1, a5
	xor	s6, t6, s0
	srli	s4, t0, 4
	xor	s7, s4, s5
	and	a7, s7, ra
	slli	t5, a7, 4
	xor	a6, t0, t5
	xor	s9, s5, a7
	srli	s8, a0, 4
	xor	t3, s8, t2
	and	t1, t3, ra
	slli	a2, t1, 4
	xor	a1, a0, a2
	xor	a5, t2, t1
	srli	a3, a4, 4
	xor	t4, a3, s1
	and	s2, t4, ra
	slli	t6, s2, 4
	xor	a2, a4, t6
	xor	s0, s1, s2
	srli	s4, s3, 4
	xor	s7, s4, s6
	and	t0, s7, ra
	slli	t5, t0, 4
	xor	a3, s3, t5
	xor	a7, s6, t0
	mv	a0, a6
	mv	a4, s9
	mv	a6, s0
	beqz	s11, 4f
# Rows 1 and 3 stand two columns too far.
	li	s0, 0xff00ff00
	xor	s1, a0, a4
	and	t0, s1, s0
	xor	a0, a0, t0
	xor	a4, a4, t0
	xor	t1, a1, a5
	and	t2, t1, s0
	xor	a1, a1, t2
	xor	a5, a5, t2
	xor	t3, a2, a6
	and	t4, t3, s0
	xor	a2, a2, t4
	xor	a6, a6, t4
	xor	t5, a3, a7
	and	t6, t5, s0
	xor	a3, a3, t6
	xor	a7, a7, t6
4:
	lw	ra, 136(sp)
	ret
	.size tress_aes2_encrypt_words, . - tress_aes2_encrypt_words
