# Eight blocks of AES side by side on RV32I, constant time: decryption.
#
# Written by tools/rv32-aes/generate, which holds the circuits and gives out the registers. S-box: the circuit of 113
# gates of J. Boyar, R. Peralta and C. Calik, in reverse that of 121 gates; its gates are named beside their instructions.
# Arrangement: E. Kaesper, P. Schwabe, CHES 2009; A. Adomnicai, T. Peyrin, TCHES 2021 ("barrel-shiftrows").
#
# A state is 32 words in the caller's frame: bit i of row r at sp + 16 i + 4 r; bit 8 c + b of the word is that of block b,
# column c. At sp + 128 is the address of the next round key (the same form), at sp + 132 where the rounds end, at
# sp + 136 room for ra. All registers but sp, gp and tp are used, none is kept. Round keys from 1 on have 0x63 added.

# Rounds of decryption until 128(sp), which goes down, is 132(sp).
	.section .text.tress_aes8_inverse_rounds,"ax",@progbits
	.balign 4
	.globl tress_aes8_inverse_rounds
	.hidden tress_aes8_inverse_rounds
	.type tress_aes8_inverse_rounds, @function
tress_aes8_inverse_rounds:
	sw	ra, 136(sp)
1:
	lw	a0, 112(sp)              # x0.7
	lw	a1, 80(sp)               # x0.5
	lw	a3, 16(sp)               # x0.1
	lw	a4, 0(sp)                # x0.0
	xor	a2, a0, a1              # L2
	xor	a5, a3, a4              # L0
	lw	s0, 64(sp)               # x0.4
	lw	s1, 48(sp)               # x0.3
	lw	a7, 96(sp)               # x0.6
	xor	a6, s0, s1              # L1
	xor	t0, a7, s0              # Y2
	lw	t2, 32(sp)               # x0.2
	xor	t1, a0, s0              # Y0
	xor	t3, t2, a2              # Y5
	xor	t4, a0, t0              # Y4
	xor	t5, t0, a5              # Y1
	xor	t6, t5, a6              # Y3
	xor	s2, t4, t3              # bh
	xor	s3, a1, t5              # Y7
	xor	s4, t0, t6              # al
	xor	s5, t1, t5              # ah
	xor	s6, t5, t6              # sa0
	and	s7, s5, s2              # abcd1
	xor	s8, t1, t0              # sa1
	xor	s9, t3, s3              # sb0
	xor	s10, a4, a6             # Y6
	xor	s11, t4, s10            # sb1
	and	ra, t6, s3              # r2
	xor	a3, s6, s9              # ab20
	and	s1, t5, t3              # t01
	xor	a7, s1, s7              # ph01
	xor	s0, s8, s11             # ab21
	xor	a2, a3, s7              # ph11
	and	t2, t1, t4              # rr1
	xor	a0, a7, s0              # ab1
	xor	a5, a2, t2              # ab0
	xor	a1, s10, s3             # bl
	and	a4, s4, a1              # abcd2
	xor	a6, ra, a4              # pl01
	xor	s1, s4, a1              # ab22
	xor	s7, s1, a4              # pl11
	and	a3, t0, s10             # r1
	xor	a7, s7, a3              # ab2
	and	s0, s6, s9              # r3
	and	a2, s8, s11             # wr1
	xor	t2, a2, s0              # qr1
	xor	ra, a6, t2              # ab3
	xor	a4, a0, t2              # cp2
	xor	s1, t6, s3              # ab23
	xor	s7, ra, s1              # cp4
	xor	a3, s6, s8              # aa
	xor	a2, s9, s11             # bb
	and	a6, a3, a2
	xor	a0, a6, s0              # pr1
	xor	t2, a7, a0              # cp3
	xor	ra, a5, a0              # cp1
	and	s1, a4, t2              # i11
	xor	s0, t2, s7              # i1
	and	a6, s0, s1              # i12
	and	a7, t2, ra              # i2
	xor	a5, s0, a7              # i13
	xor	a0, a6, a5              # d3
	xor	s1, a4, a7              # i3
	and	t2, s1, s0              # i7
	xor	a6, s7, t2              # d2
	xor	a5, s7, a7              # i5
	and	s0, ra, s7              # i8
	xor	s1, ra, a4              # i4
	and	t2, a5, s1              # i6
	xor	s7, a4, t2              # d0
	and	ra, s1, s0              # i9
	xor	a5, s1, a7              # i10
	xor	a4, ra, a5              # d1
	and	t2, a4, s10             # r4
	and	s0, a0, t1              # r7
	and	a7, a4, t0              # r9
	and	s1, s7, s3              # r5
	and	ra, a0, t4              # rr2
	xor	a5, s7, a4              # dl
	and	s10, a5, s4             # abcd6
	and	t1, a5, a1              # abcd4
	and	t0, a6, t3              # t02
	and	s3, s7, t6              # r10
	and	t4, a6, t5              # r8
	xor	s4, s7, a6              # sd0
	xor	a1, a6, a0              # dh
	xor	a5, a4, a0              # sd1
	and	t3, a1, s2              # abcd3
	and	t6, a1, s5              # abcd5
	and	t5, s4, s9              # r6
	and	s7, s4, s6              # r11
	xor	a6, s1, t1              # pl02
	xor	a0, s3, s10             # pl03
	and	a4, a5, s8              # wr3
	xor	s2, t4, t6              # ph03
	xor	s5, t0, t3              # ph02
	xor	a1, s4, a5              # dd
	xor	s9, a4, s7              # qr3
	xor	s6, ra, t3              # ph12
	xor	s1, a7, s10             # pl13
	and	s3, a5, s11             # wr2
	xor	s8, s3, t5              # qr2
	and	t4, a1, a3
	xor	t0, s0, t6              # ph13
	xor	s4, t4, s7              # pr3
	and	a4, a1, a2
	xor	ra, a4, t5              # pr2
	xor	t3, a0, s9              # p7
	xor	a7, t2, t1              # pl12
	xor	s10, a6, s8             # p3
	xor	s11, s2, s9             # s7
	xor	a5, a7, ra              # p2
	xor	s3, s1, s4              # p6
	xor	a3, s10, s3             # s0
	xor	s0, s5, s8              # p1
	xor	t6, s6, ra              # p0
	xor	s7, t0, s4              # p4
	xor	t4, s0, s11             # X16
	xor	a2, t6, a5              # X11
	xor	a1, a3, a2              # s5
	xor	t5, t6, s7              # X18
	xor	a4, s0, s3              # s3
	xor	a0, a1, t4              # X19
	xor	t2, t5, a0              # s4
	xor	t1, s7, t3              # X13
	xor	a6, a2, t1              # X14
	xor	s2, a6, t4              # s2
	xor	s9, a4, a6              # s1
	lw	s1, 128(sp)              # key
	xor	a7, a5, s3              # s6
	lw	s10, 0(s1)
	lw	s8, 16(s1)
	xor	s5, s11, s10
	lw	ra, 32(s1)
	xor	s6, a7, s8
	lw	s4, 48(s1)
	xor	t0, a1, ra
	lw	s0, 64(s1)
	xor	t6, t2, s4
	lw	a0, 80(s1)
	xor	t5, a4, s0
	lw	s7, 96(s1)
	xor	t3, s2, a0
	lw	t1, 112(s1)
	xor	a2, s9, s7
	lw	a6, 4(sp)                # x1.0
	xor	t4, a3, t1
	srli	a5, a6, 24
	slli	s3, a6, 8
	lw	s10, 20(sp)              # x1.1
	or	s11, a5, s3
	srli	a7, s10, 24
	slli	s8, s10, 8
	lw	ra, 36(sp)               # x1.2
	or	a1, a7, s8
	srli	t2, ra, 24
	slli	s4, ra, 8
	lw	s0, 52(sp)               # x1.3
	or	a4, t2, s4
	srli	s2, s0, 24
	slli	a0, s0, 8
	lw	s7, 68(sp)               # x1.4
	or	s9, s2, a0
	srli	a3, s7, 24
	slli	t1, s7, 8
	lw	a5, 84(sp)               # x1.5
	or	a6, a3, t1
	srli	s3, a5, 24
	slli	s10, a5, 8
	lw	s8, 100(sp)              # x1.6
	or	a7, s3, s10
	srli	ra, s8, 24
	slli	t2, s8, 8
	lw	s0, 116(sp)              # x1.7
	or	s4, ra, t2
	srli	s2, s0, 24
	slli	a0, s0, 8
	or	s7, s2, a0
	xor	a3, s7, a7              # L2
	xor	t1, a1, s11             # L0
	xor	a5, a6, s9              # L1
	xor	s3, s4, a6              # Y2
	xor	s10, s7, a6             # Y0
	xor	s8, a4, a3              # Y5
	xor	ra, s7, s3              # Y4
	xor	t2, s3, t1              # Y1
	xor	s0, t2, a5              # Y3
	xor	s2, ra, s8              # bh
	xor	a0, a7, t2              # Y7
	xor	a1, s3, s0              # al
	xor	s9, s10, t2             # ah
	xor	s4, t2, s0              # sa0
	and	a6, s9, s2              # abcd1
	xor	a4, s10, s3             # sa1
	xor	a3, s8, a0              # sb0
	xor	s7, s11, a5             # Y6
	xor	t1, ra, s7              # sb1
	and	a7, s0, a0              # r2
	xor	s11, s4, a3             # ab20
	and	a5, t2, s8              # t01
	xor	a5, a5, a6              # ph01
	sw	t3, 80(sp)
	xor	t3, a4, t1              # ab21
	xor	a6, s11, a6             # ph11
	and	s11, s10, ra            # rr1
	xor	a5, a5, t3              # ab1
	xor	t3, a6, s11             # ab0
	xor	a6, s7, a0              # bl
	and	s11, a1, a6             # abcd2
	xor	a7, a7, s11             # pl01
	sw	t5, 64(sp)
	xor	t5, a1, a6              # ab22
	xor	s11, t5, s11            # pl11
	and	t5, s3, s7              # r1
	xor	s11, s11, t5            # ab2
	and	t5, s4, a3              # r3
	sw	t6, 48(sp)
	and	t6, a4, t1              # wr1
	xor	t6, t6, t5              # qr1
	xor	a7, a7, t6              # ab3
	xor	a5, a5, t6              # cp2
	xor	t6, s0, a0              # ab23
	xor	a7, a7, t6              # cp4
	xor	t6, s4, a4              # aa
	sw	s6, 16(sp)
	xor	s6, a3, t1              # bb
	sw	t0, 32(sp)
	and	t0, t6, s6
	xor	t5, t0, t5              # pr1
	xor	t0, s11, t5             # cp3
	xor	s11, t3, t5             # cp1
	and	t3, a5, t0              # i11
	xor	t5, t0, a7              # i1
	and	t3, t5, t3              # i12
	and	t0, t0, s11             # i2
	sw	s5, 0(sp)
	xor	s5, t5, t0              # i13
	xor	t3, t3, s5              # d3
	xor	s5, a5, t0              # i3
	and	t5, s5, t5              # i7
	xor	s5, a7, t5              # d2
	xor	t5, a7, t0              # i5
	and	a7, s11, a7             # i8
	xor	s11, s11, a5            # i4
	and	t5, t5, s11             # i6
	xor	a5, a5, t5              # d0
	and	t5, s11, a7             # i9
	xor	a7, s11, t0             # i10
	xor	t0, t5, a7              # d1
	and	s11, t0, s7             # r4
	and	t5, t3, s10             # r7
	and	a7, t0, s3              # r9
	and	s7, a5, a0              # r5
	and	s10, t3, ra             # rr2
	xor	s3, a5, t0              # dl
	and	a0, s3, a1              # abcd6
	and	ra, s3, a6              # abcd4
	and	a1, s5, s8              # t02
	and	a6, a5, s0              # r10
	and	s3, s5, t2              # r8
	xor	s8, a5, s5              # sd0
	xor	s0, s5, t3              # dh
	xor	t2, t0, t3              # sd1
	and	a5, s0, s2              # abcd3
	and	s5, s0, s9              # abcd5
	and	t3, s8, a3              # r6
	and	t0, s8, s4              # r11
	xor	s2, s7, ra              # pl02
	xor	s9, a6, a0              # pl03
	and	s0, t2, a4              # wr3
	xor	a3, s3, s5              # ph03
	xor	s4, a1, a5              # ph02
	xor	s7, s8, t2              # dd
	xor	a6, s0, t0              # qr3
	xor	a4, s10, a5             # ph12
	xor	s3, a7, a0              # pl13
	and	a1, t2, t1              # wr2
	xor	s8, a1, t3              # qr2
	and	s0, s7, t6
	xor	s10, t5, s5             # ph13
	xor	a5, s0, t0              # pr3
	and	a7, s7, s6
	xor	a0, a7, t3              # pr2
	xor	t1, s9, a6              # p7
	xor	t2, s11, ra             # pl12
	xor	a1, s2, s8              # p3
	xor	t6, a3, a6              # s7
	xor	t5, t2, a0              # p2
	xor	s5, s3, a5              # p6
	xor	t0, a1, s5              # s0
	xor	s0, s4, s8              # p1
	xor	s6, a4, a0              # p0
	xor	s7, s10, a5             # p4
	xor	t3, s0, t6              # X16
	xor	a7, s6, t5              # X11
	xor	s9, t0, a7              # s5
	xor	s11, s6, s7             # X18
	xor	ra, s0, s5              # s3
	xor	s2, s9, t3              # X19
	xor	a3, s11, s2             # s4
	xor	a6, s7, t1              # X13
	xor	t2, a7, a6              # X14
	xor	s3, t2, t3              # s2
	xor	a1, ra, t2              # s1
	lw	s8, 4(s1)
	xor	s4, t5, s5              # s6
	lw	a0, 20(s1)
	xor	a4, t6, s8
	lw	a5, 36(s1)
	xor	s10, s4, a0
	lw	s0, 52(s1)
	xor	s6, s9, a5
	lw	s2, 68(s1)
	xor	s11, a3, s0
	lw	s7, 84(s1)
	xor	t1, ra, s2
	lw	a6, 100(s1)
	xor	a7, s3, s7
	lw	t2, 116(s1)
	xor	t3, a1, a6
	lw	s5, 8(sp)                # x2.0
	xor	t5, t0, t2
	srli	t6, s5, 16
	slli	s8, s5, 16
	lw	a0, 24(sp)               # x2.1
	or	s4, t6, s8
	srli	s9, a0, 16
	slli	a5, a0, 16
	lw	s0, 40(sp)               # x2.2
	or	a3, s9, a5
	srli	ra, s0, 16
	slli	s2, s0, 16
	lw	s7, 56(sp)               # x2.3
	or	s3, ra, s2
	srli	a1, s7, 16
	slli	a6, s7, 16
	lw	t2, 72(sp)               # x2.4
	or	t0, a1, a6
	srli	s5, t2, 16
	slli	t6, t2, 16
	lw	a0, 88(sp)               # x2.5
	or	s8, s5, t6
	srli	s9, a0, 16
	slli	a5, a0, 16
	lw	ra, 104(sp)              # x2.6
	or	s0, s9, a5
	srli	s2, ra, 16
	slli	s7, ra, 16
	lw	a6, 120(sp)              # x2.7
	or	a1, s2, s7
	srli	t2, a6, 16
	slli	s5, a6, 16
	or	t6, t2, s5
	xor	a0, t6, s0              # L2
	xor	s9, a3, s4              # L0
	xor	a5, s8, t0              # L1
	xor	ra, a1, s8              # Y2
	xor	s2, t6, s8              # Y0
	xor	s7, s3, a0              # Y5
	xor	a6, t6, ra              # Y4
	xor	t2, ra, s9              # Y1
	xor	s5, t2, a5              # Y3
	xor	a3, a6, s7              # bh
	xor	t0, s0, t2              # Y7
	xor	a1, ra, s5              # al
	xor	s8, s2, t2              # ah
	xor	s3, t2, s5              # sa0
	and	a0, s8, a3              # abcd1
	xor	t6, s2, ra              # sa1
	xor	s9, s7, t0              # sb0
	xor	s0, s4, a5              # Y6
	xor	s4, a6, s0              # sb1
	and	a5, s5, t0              # r2
	sw	a7, 84(sp)
	xor	a7, s3, s9              # ab20
	sw	t1, 68(sp)
	and	t1, t2, s7              # t01
	xor	t1, t1, a0              # ph01
	sw	s11, 52(sp)
	xor	s11, t6, s4             # ab21
	xor	a0, a7, a0              # ph11
	and	a7, s2, a6              # rr1
	xor	t1, t1, s11             # ab1
	xor	s11, a0, a7             # ab0
	xor	a0, s0, t0              # bl
	and	a7, a1, a0              # abcd2
	xor	a5, a5, a7              # pl01
	sw	s10, 20(sp)
	xor	s10, a1, a0             # ab22
	xor	a7, s10, a7             # pl11
	and	s10, ra, s0             # r1
	xor	a7, a7, s10             # ab2
	and	s10, s3, s9             # r3
	sw	s6, 36(sp)
	and	s6, t6, s4              # wr1
	xor	s6, s6, s10             # qr1
	xor	a5, a5, s6              # ab3
	xor	t1, t1, s6              # cp2
	xor	s6, s5, t0              # ab23
	xor	a5, a5, s6              # cp4
	xor	s6, s3, t6              # aa
	sw	a4, 4(sp)
	xor	a4, s9, s4              # bb
	sw	t5, 116(sp)
	and	t5, s6, a4
	xor	s10, t5, s10            # pr1
	xor	t5, a7, s10             # cp3
	xor	a7, s11, s10            # cp1
	and	s11, t1, t5             # i11
	xor	s10, t5, a5             # i1
	and	s11, s10, s11           # i12
	and	t5, t5, a7              # i2
	sw	t3, 100(sp)
	xor	t3, s10, t5             # i13
	xor	s11, s11, t3            # d3
	xor	t3, t1, t5              # i3
	and	s10, t3, s10            # i7
	xor	t3, a5, s10             # d2
	xor	s10, a5, t5             # i5
	and	a5, a7, a5              # i8
	xor	a7, a7, t1              # i4
	and	s10, s10, a7            # i6
	xor	t1, t1, s10             # d0
	and	s10, a7, a5             # i9
	xor	a5, a7, t5              # i10
	xor	t5, s10, a5             # d1
	and	a7, t5, s0              # r4
	and	s10, s11, s2            # r7
	and	a5, t5, ra              # r9
	and	s0, t1, t0              # r5
	and	s2, s11, a6             # rr2
	xor	ra, t1, t5              # dl
	and	t0, ra, a1              # abcd6
	and	a6, ra, a0              # abcd4
	and	a1, t3, s7              # t02
	and	a0, t1, s5              # r10
	and	ra, t3, t2              # r8
	xor	s7, t1, t3              # sd0
	xor	s5, t3, s11             # dh
	xor	t2, t5, s11             # sd1
	and	t1, s5, a3              # abcd3
	and	t3, s5, s8              # abcd5
	and	s11, s7, s9             # r6
	and	t5, s7, s3              # r11
	xor	a3, s0, a6              # pl02
	xor	s8, a0, t0              # pl03
	and	s5, t2, t6              # wr3
	xor	s9, ra, t3              # ph03
	xor	s3, a1, t1              # ph02
	xor	s0, s7, t2              # dd
	xor	a0, s5, t5              # qr3
	xor	t6, s2, t1              # ph12
	xor	ra, a5, t0              # pl13
	and	a1, t2, s4              # wr2
	xor	s7, a1, s11             # qr2
	and	s5, s0, s6
	xor	s2, s10, t3             # ph13
	xor	t1, s5, t5              # pr3
	and	a5, s0, a4
	xor	t0, a5, s11             # pr2
	xor	s4, s8, a0              # p7
	xor	t2, a7, a6              # pl12
	xor	a1, a3, s7              # p3
	xor	s6, s9, a0              # s7
	xor	s10, t2, t0             # p2
	xor	t3, ra, t1              # p6
	xor	t5, a1, t3              # s0
	xor	s5, s3, s7              # p1
	xor	a4, t6, t0              # p0
	xor	s0, s2, t1              # p4
	xor	s11, s5, s6             # X16
	xor	a5, a4, s10             # X11
	xor	s8, t5, a5              # s5
	xor	a7, a4, s0              # X18
	xor	a6, s5, t3              # s3
	xor	a3, s8, s11             # X19
	xor	s9, a7, a3              # s4
	xor	a0, s0, s4              # X13
	xor	t2, a5, a0              # X14
	xor	ra, t2, s11             # s2
	xor	a1, a6, t2              # s1
	lw	s7, 8(s1)
	xor	s3, s10, t3             # s6
	lw	t0, 24(s1)
	xor	t6, s6, s7
	lw	t1, 40(s1)
	xor	s2, s3, t0
	lw	s5, 56(s1)
	xor	a4, s8, t1
	lw	a3, 72(s1)
	xor	a7, s9, s5
	lw	s0, 88(s1)
	xor	s4, a6, a3
	lw	a0, 104(s1)
	xor	a5, ra, s0
	lw	t2, 120(s1)
	xor	s11, a1, a0
	lw	t3, 12(sp)               # x3.0
	xor	s10, t5, t2
	srli	s6, t3, 8
	slli	s7, t3, 24
	lw	t0, 28(sp)               # x3.1
	or	s3, s6, s7
	srli	s8, t0, 8
	slli	t1, t0, 24
	lw	s5, 44(sp)               # x3.2
	or	s9, s8, t1
	srli	a6, s5, 8
	slli	a3, s5, 24
	lw	s0, 60(sp)               # x3.3
	or	ra, a6, a3
	srli	a1, s0, 8
	slli	a0, s0, 24
	lw	t2, 76(sp)               # x3.4
	or	t5, a1, a0
	srli	t3, t2, 8
	slli	s6, t2, 24
	lw	t0, 92(sp)               # x3.5
	or	s7, t3, s6
	srli	s8, t0, 8
	slli	t1, t0, 24
	lw	a6, 108(sp)              # x3.6
	or	s5, s8, t1
	srli	a3, a6, 8
	slli	s0, a6, 24
	lw	a0, 124(sp)              # x3.7
	or	a1, a3, s0
	srli	t2, a0, 8
	slli	t3, a0, 24
	or	s6, t2, t3
	xor	t0, s6, s5              # L2
	xor	s8, s9, s3              # L0
	xor	t1, s7, t5              # L1
	xor	a6, a1, s7              # Y2
	xor	a3, s6, s7              # Y0
	xor	s0, ra, t0              # Y5
	xor	a0, s6, a6              # Y4
	xor	t2, a6, s8              # Y1
	xor	t3, t2, t1              # Y3
	xor	s9, a0, s0              # bh
	xor	t5, s5, t2              # Y7
	xor	a1, a6, t3              # al
	xor	s7, a3, t2              # ah
	xor	ra, t2, t3              # sa0
	and	t0, s7, s9              # abcd1
	xor	s6, a3, a6              # sa1
	xor	s8, s0, t5              # sb0
	xor	s5, s3, t1              # Y6
	xor	s3, a0, s5              # sb1
	and	t1, t3, t5              # r2
	sw	a5, 88(sp)
	xor	a5, ra, s8              # ab20
	sw	s4, 72(sp)
	and	s4, t2, s0              # t01
	xor	s4, s4, t0              # ph01
	sw	a7, 56(sp)
	xor	a7, s6, s3              # ab21
	xor	t0, a5, t0              # ph11
	and	a5, a3, a0              # rr1
	xor	s4, s4, a7              # ab1
	xor	a7, t0, a5              # ab0
	xor	t0, s5, t5              # bl
	and	a5, a1, t0              # abcd2
	xor	t1, t1, a5              # pl01
	sw	s2, 24(sp)
	xor	s2, a1, t0              # ab22
	xor	a5, s2, a5              # pl11
	and	s2, a6, s5              # r1
	xor	a5, a5, s2              # ab2
	and	s2, ra, s8              # r3
	sw	a4, 40(sp)
	and	a4, s6, s3              # wr1
	xor	a4, a4, s2              # qr1
	xor	t1, t1, a4              # ab3
	xor	s4, s4, a4              # cp2
	xor	a4, t3, t5              # ab23
	xor	t1, t1, a4              # cp4
	xor	a4, ra, s6              # aa
	sw	t6, 8(sp)
	xor	t6, s8, s3              # bb
	sw	t4, 112(sp)
	and	t4, a4, t6
	xor	s2, t4, s2              # pr1
	xor	t4, a5, s2              # cp3
	xor	a5, a7, s2              # cp1
	and	a7, s4, t4              # i11
	xor	s2, t4, t1              # i1
	and	a7, s2, a7              # i12
	and	t4, t4, a5              # i2
	sw	s10, 120(sp)
	xor	s10, s2, t4             # i13
	xor	a7, a7, s10             # d3
	xor	s10, s4, t4             # i3
	and	s2, s10, s2             # i7
	xor	s10, t1, s2             # d2
	xor	s2, t1, t4              # i5
	and	t1, a5, t1              # i8
	xor	a5, a5, s4              # i4
	and	s2, s2, a5              # i6
	xor	s4, s4, s2              # d0
	and	s2, a5, t1              # i9
	xor	t1, a5, t4              # i10
	xor	t4, s2, t1              # d1
	and	a5, t4, s5              # r4
	and	s2, a7, a3              # r7
	and	t1, t4, a6              # r9
	and	s5, s4, t5              # r5
	and	a3, a7, a0              # rr2
	xor	a6, s4, t4              # dl
	and	t5, a6, a1              # abcd6
	and	a0, a6, t0              # abcd4
	and	a1, s10, s0             # t02
	and	t0, s4, t3              # r10
	and	a6, s10, t2             # r8
	xor	s0, s4, s10             # sd0
	xor	t3, s10, a7             # dh
	xor	t2, t4, a7              # sd1
	and	s4, t3, s9              # abcd3
	and	s10, t3, s7             # abcd5
	and	a7, s0, s8              # r6
	and	t4, s0, ra              # r11
	xor	s9, s5, a0              # pl02
	xor	s7, t0, t5              # pl03
	and	t3, t2, s6              # wr3
	xor	s8, a6, s10             # ph03
	xor	ra, a1, s4              # ph02
	xor	s5, s0, t2              # dd
	xor	t0, t3, t4              # qr3
	xor	s6, a3, s4              # ph12
	xor	a6, t1, t5              # pl13
	and	a1, t2, s3              # wr2
	xor	s0, a1, a7              # qr2
	and	t3, s5, a4
	xor	a3, s2, s10             # ph13
	xor	s4, t3, t4              # pr3
	and	t1, s5, t6
	xor	t5, t1, a7              # pr2
	xor	s3, s7, t0              # p7
	xor	t2, a5, a0              # pl12
	xor	a1, s9, s0              # p3
	xor	a4, s8, t0              # s7
	xor	s2, t2, t5              # p2
	xor	s10, a6, s4             # p6
	xor	t4, a1, s10             # s0
	xor	t3, ra, s0              # p1
	xor	t6, s6, t5              # p0
	xor	s5, a3, s4              # p4
	xor	a7, t3, a4              # X16
	xor	t1, t6, s2              # X11
	xor	s7, t4, t1              # s5
	xor	a5, t6, s5              # X18
	xor	a0, t3, s10             # s3
	xor	s9, s7, a7              # X19
	xor	s8, a5, s9              # s4
	xor	t0, s5, s3              # X13
	xor	t2, t1, t0              # X14
	xor	a6, t2, a7              # s2
	xor	a1, a0, t2              # s1
	lw	s0, 12(s1)
	xor	ra, s2, s10             # s6
	lw	t5, 28(s1)
	xor	s6, a4, s0
	lw	s4, 44(s1)
	xor	a3, ra, t5
	lw	t3, 60(s1)
	xor	t6, s7, s4
	lw	s9, 76(s1)
	xor	a5, s8, t3
	lw	s5, 92(s1)
	xor	s3, a0, s9
	lw	t0, 108(s1)
	xor	t1, a6, s5
	lw	t2, 124(s1)
	xor	a7, a1, t0
	xor	s2, t4, t2
	xor	s10, a2, s11
	lw	a4, 112(sp)
	lw	s0, 120(sp)
	lw	s7, 0(sp)
	xor	ra, a4, s0
	lw	s4, 8(sp)
	xor	t5, s10, ra
	xor	s8, s7, s4
	xor	t3, s7, s10
	xor	a0, s4, s10
	lw	a6, 32(sp)
	xor	s9, s8, ra
	lw	a1, 40(sp)
	xor	s5, a6, s9
	xor	t0, a1, s9
	lw	s1, 16(sp)
	lw	t4, 24(sp)
	xor	s7, s1, t5
	xor	t2, s1, t4
	xor	s4, t4, t5
	lw	s9, 48(sp)
	xor	s8, t2, s10
	lw	t4, 56(sp)
	xor	s1, s9, s8
	xor	s10, t4, s8
	xor	t2, a6, a1
	lw	a6, 64(sp)
	xor	s8, t2, t5
	lw	t5, 72(sp)
	xor	a1, a6, s8
	xor	t2, t5, s8
	xor	s8, s9, t4
	lw	t4, 80(sp)
	xor	s9, s8, ra
	lw	s8, 88(sp)
	xor	ra, t4, s9
	xor	s9, s8, s9
	xor	a6, a6, t5
	xor	t5, a2, a6
	xor	a2, s11, a6
	xor	s11, t4, s8
	xor	a6, a4, s11
	lw	s8, 100(sp)
	xor	t4, s0, s11
	lw	s0, 116(sp)
	xor	a4, s8, a7
	xor	s11, s0, s2
	sw	a2, 104(sp)
	xor	a2, a4, s11
	sw	t5, 96(sp)
	lw	t5, 4(sp)
	sw	s9, 88(sp)
	xor	s9, t5, s6
	xor	t5, t5, a4
	xor	s6, s6, a4
	xor	s9, s9, s11
	sw	ra, 80(sp)
	lw	ra, 36(sp)
	sw	t2, 72(sp)
	xor	t2, ra, s9
	xor	s9, t6, s9
	sw	a1, 64(sp)
	lw	a1, 20(sp)
	sw	s10, 56(sp)
	xor	s10, a1, a3
	xor	a1, a1, a2
	xor	a3, a3, a2
	xor	a4, s10, a4
	lw	s10, 52(sp)
	sw	s1, 48(sp)
	xor	s1, s10, a4
	xor	a4, a5, a4
	xor	t6, ra, t6
	xor	ra, t6, a2
	lw	a2, 68(sp)
	xor	a5, s10, a5
	xor	t6, a2, ra
	xor	ra, s3, ra
	xor	s10, a5, s11
	lw	s11, 84(sp)
	xor	s3, a2, s3
	xor	a5, s11, s10
	xor	s10, t1, s10
	xor	a2, s8, s3
	xor	s8, a7, s3
	xor	a7, s11, t1
	xor	s3, s0, a7
	xor	t1, s2, a7
	xor	s11, a6, s3
	xor	s0, s3, t4
	xor	s2, t4, t1
	xor	a7, t1, a6
	xor	s3, s3, s2
	xor	t4, t4, a7
	xor	t1, t1, s11
	xor	a6, a6, s0
	sw	s8, 108(sp)
	xor	s8, t3, t5
	sw	a2, 100(sp)
	xor	a2, t5, a0
	sw	s10, 92(sp)
	xor	s10, a0, s6
	sw	a5, 84(sp)
	xor	a5, s6, t3
	xor	t5, t5, s10
	xor	t5, t5, s11
	xor	a0, a0, a5
	xor	a0, a0, s0
	xor	s6, s6, s8
	xor	s6, s6, s2
	xor	t3, t3, a2
	xor	t3, t3, a7
	sw	t5, 0(sp)
	xor	t5, s7, a1
	sw	a0, 4(sp)
	xor	a0, a1, s4
	sw	s6, 8(sp)
	xor	s6, s4, a3
	sw	t3, 12(sp)
	xor	t3, a3, s7
	xor	a1, a1, s6
	xor	s8, a1, s8
	xor	a1, s8, s11
	xor	s8, s4, t3
	xor	s4, s8, a2
	xor	a2, s4, s0
	xor	s8, a3, t5
	xor	s4, s8, s10
	xor	a3, s4, s2
	xor	s10, s7, a0
	xor	s8, s10, a5
	xor	s4, s8, a7
	xor	s7, s5, t2
	xor	a5, t2, t0
	xor	s10, t0, s9
	xor	s8, s9, s5
	xor	t2, t2, s10
	xor	t5, t2, t5
	xor	t2, t0, s8
	xor	t0, t2, a0
	xor	a0, s9, s7
	xor	t2, a0, s6
	xor	s9, s5, a5
	lw	a0, 48(sp)
	xor	s6, s9, t3
	lw	t3, 56(sp)
	xor	s5, a0, s1
	xor	s9, s1, t3
	sw	a1, 16(sp)
	xor	a1, t3, a4
	sw	a2, 20(sp)
	xor	a2, a4, a0
	xor	s1, s1, a1
	xor	s7, s1, s7
	xor	s1, s7, s11
	xor	s7, t3, a2
	xor	t3, s7, a5
	xor	a5, t3, s0
	xor	s7, a4, s5
	xor	t3, s7, s10
	xor	a4, t3, s2
	xor	s10, a0, s9
	xor	s7, s10, s8
	lw	a0, 64(sp)
	xor	t3, s7, a7
	lw	s10, 72(sp)
	xor	s8, a0, t6
	xor	s7, t6, s10
	sw	a3, 24(sp)
	xor	a3, s10, ra
	sw	s4, 28(sp)
	xor	s4, ra, a0
	xor	t6, t6, a3
	xor	s5, t6, s5
	xor	t6, s5, s11
	xor	s11, s10, s4
	xor	s5, s11, s9
	xor	s10, s5, s0
	xor	s9, ra, s8
	xor	s11, s9, a1
	xor	s0, s11, s2
	xor	s5, a0, s7
	xor	ra, s5, a2
	xor	a1, ra, a7
	lw	s9, 80(sp)
	lw	s2, 84(sp)
	lw	a0, 88(sp)
	xor	s11, s9, s2
	lw	s5, 92(sp)
	xor	a2, s2, a0
	xor	a7, a0, s5
	xor	ra, s5, s9
	xor	s2, s2, a7
	xor	s8, s2, s8
	xor	s2, a0, ra
	xor	a0, s2, s7
	xor	s7, s5, s11
	xor	s2, s7, a3
	xor	s5, s9, a2
	xor	a3, s5, s4
	lw	s7, 96(sp)
	lw	s9, 100(sp)
	lw	s5, 104(sp)
	xor	s4, s7, s9
	sw	t5, 32(sp)
	xor	t5, s9, s5
	sw	t0, 36(sp)
	lw	t0, 108(sp)
	sw	t2, 40(sp)
	xor	t2, s5, t0
	xor	s7, t0, s7
	xor	s9, s9, t2
	xor	s11, s9, s11
	xor	s9, s5, s7
	xor	s5, s9, a2
	xor	a2, t0, s4
	lw	t0, 96(sp)
	xor	s9, a2, a7
	xor	a7, t0, t5
	xor	a2, a7, ra
	xor	t0, s3, s4
	xor	ra, t4, t5
	xor	a7, t1, t2
	xor	s3, a6, s7
	sw	s1, 48(sp)
	sw	t6, 64(sp)
	sw	s8, 80(sp)
	sw	s11, 96(sp)
	sw	t0, 112(sp)
	sw	a5, 52(sp)
	sw	s10, 68(sp)
	sw	a0, 84(sp)
	sw	s5, 100(sp)
	sw	ra, 116(sp)
	sw	a4, 56(sp)
	sw	s0, 72(sp)
	sw	s2, 88(sp)
	sw	s9, 104(sp)
	sw	a7, 120(sp)
	sw	s6, 44(sp)
	sw	t3, 60(sp)
	sw	a1, 76(sp)
	sw	a3, 92(sp)
	sw	a2, 108(sp)
	sw	s3, 124(sp)
	lw	t0, 128(sp)
	lw	t1, 132(sp)
	addi	t0, t0, -128
	sw	t0, 128(sp)
	beq	t0, t1, 2f
	j	1b
2:
	lw	ra, 136(sp)
	ret
	.size tress_aes8_inverse_rounds, . - tress_aes8_inverse_rounds

# The last round of decryption; the state becomes eight blocks at sp.
	.section .text.tress_aes8_inverse_last,"ax",@progbits
	.balign 4
	.globl tress_aes8_inverse_last
	.hidden tress_aes8_inverse_last
	.type tress_aes8_inverse_last, @function
tress_aes8_inverse_last:
	sw	ra, 136(sp)
	lw	a0, 112(sp)              # x0.7
	lw	a1, 80(sp)               # x0.5
	lw	a3, 16(sp)               # x0.1
	lw	a4, 0(sp)                # x0.0
	xor	a2, a0, a1              # L2
	xor	a5, a3, a4              # L0
	lw	s0, 64(sp)               # x0.4
	lw	s1, 48(sp)               # x0.3
	lw	a7, 96(sp)               # x0.6
	xor	a6, s0, s1              # L1
	xor	t0, a7, s0              # Y2
	lw	t2, 32(sp)               # x0.2
	xor	t1, a0, s0              # Y0
	xor	t3, t2, a2              # Y5
	xor	t4, a0, t0              # Y4
	xor	t5, t0, a5              # Y1
	xor	t6, t5, a6              # Y3
	xor	s2, t4, t3              # bh
	xor	s3, a1, t5              # Y7
	xor	s4, t0, t6              # al
	xor	s5, t1, t5              # ah
	xor	s6, t5, t6              # sa0
	and	s7, s5, s2              # abcd1
	xor	s8, t1, t0              # sa1
	xor	s9, t3, s3              # sb0
	xor	s10, a4, a6             # Y6
	xor	s11, t4, s10            # sb1
	and	ra, t6, s3              # r2
	xor	a3, s6, s9              # ab20
	and	s1, t5, t3              # t01
	xor	a7, s1, s7              # ph01
	xor	s0, s8, s11             # ab21
	xor	a2, a3, s7              # ph11
	and	t2, t1, t4              # rr1
	xor	a0, a7, s0              # ab1
	xor	a5, a2, t2              # ab0
	xor	a1, s10, s3             # bl
	and	a4, s4, a1              # abcd2
	xor	a6, ra, a4              # pl01
	xor	s1, s4, a1              # ab22
	xor	s7, s1, a4              # pl11
	and	a3, t0, s10             # r1
	xor	a7, s7, a3              # ab2
	and	s0, s6, s9              # r3
	and	a2, s8, s11             # wr1
	xor	t2, a2, s0              # qr1
	xor	ra, a6, t2              # ab3
	xor	a4, a0, t2              # cp2
	xor	s1, t6, s3              # ab23
	xor	s7, ra, s1              # cp4
	xor	a3, s6, s8              # aa
	xor	a2, s9, s11             # bb
	and	a6, a3, a2
	xor	a0, a6, s0              # pr1
	xor	t2, a7, a0              # cp3
	xor	ra, a5, a0              # cp1
	and	s1, a4, t2              # i11
	xor	s0, t2, s7              # i1
	and	a6, s0, s1              # i12
	and	a7, t2, ra              # i2
	xor	a5, s0, a7              # i13
	xor	a0, a6, a5              # d3
	xor	s1, a4, a7              # i3
	and	t2, s1, s0              # i7
	xor	a6, s7, t2              # d2
	xor	a5, s7, a7              # i5
	and	s0, ra, s7              # i8
	xor	s1, ra, a4              # i4
	and	t2, a5, s1              # i6
	xor	s7, a4, t2              # d0
	and	ra, s1, s0              # i9
	xor	a5, s1, a7              # i10
	xor	a4, ra, a5              # d1
	and	t2, a4, s10             # r4
	and	s0, a0, t1              # r7
	and	a7, a4, t0              # r9
	and	s1, s7, s3              # r5
	and	ra, a0, t4              # rr2
	xor	a5, s7, a4              # dl
	and	s10, a5, s4             # abcd6
	and	t1, a5, a1              # abcd4
	and	t0, a6, t3              # t02
	and	s3, s7, t6              # r10
	and	t4, a6, t5              # r8
	xor	s4, s7, a6              # sd0
	xor	a1, a6, a0              # dh
	xor	a5, a4, a0              # sd1
	and	t3, a1, s2              # abcd3
	and	t6, a1, s5              # abcd5
	and	t5, s4, s9              # r6
	and	s7, s4, s6              # r11
	xor	a6, s1, t1              # pl02
	xor	a0, s3, s10             # pl03
	and	a4, a5, s8              # wr3
	xor	s2, t4, t6              # ph03
	xor	s5, t0, t3              # ph02
	xor	a1, s4, a5              # dd
	xor	s9, a4, s7              # qr3
	xor	s6, ra, t3              # ph12
	xor	s1, a7, s10             # pl13
	and	s3, a5, s11             # wr2
	xor	s8, s3, t5              # qr2
	and	t4, a1, a3
	xor	t0, s0, t6              # ph13
	xor	s4, t4, s7              # pr3
	and	a4, a1, a2
	xor	ra, a4, t5              # pr2
	xor	t3, a0, s9              # p7
	xor	a7, t2, t1              # pl12
	xor	s10, a6, s8             # p3
	xor	s11, s2, s9             # s7
	xor	a5, a7, ra              # p2
	xor	s3, s1, s4              # p6
	xor	a3, s10, s3             # s0
	xor	s0, s5, s8              # p1
	xor	t6, s6, ra              # p0
	xor	s7, t0, s4              # p4
	xor	t4, s0, s11             # X16
	xor	a2, t6, a5              # X11
	xor	a1, a3, a2              # s5
	xor	t5, t6, s7              # X18
	xor	a4, s0, s3              # s3
	xor	a0, a1, t4              # X19
	xor	t2, t5, a0              # s4
	xor	t1, s7, t3              # X13
	xor	a6, a2, t1              # X14
	xor	s2, a6, t4              # s2
	xor	s9, a4, a6              # s1
	lw	s1, 128(sp)              # key
	xor	a7, a5, s3              # s6
	lw	s10, 0(s1)
	lw	s8, 16(s1)
	xor	s5, s11, s10
	lw	ra, 32(s1)
	xor	s6, a7, s8
	lw	s4, 48(s1)
	xor	t0, a1, ra
	lw	s0, 64(s1)
	xor	t6, t2, s4
	lw	a0, 80(s1)
	xor	t5, a4, s0
	lw	s7, 96(s1)
	xor	t3, s2, a0
	lw	t1, 112(s1)
	xor	a2, s9, s7
	xor	t4, a3, t1
	li	a6, 0x55555555
	li	a5, 0x33333333
	li	s3, 0x0f0f0f0f
	srli	s11, s5, 1
	xor	s10, s11, s6
	and	a7, s10, a6
	slli	s8, a7, 1
	xor	a1, s5, s8
	xor	ra, s6, a7
	srli	t2, t0, 1
	xor	s4, t2, t6
	and	a4, s4, a6
	slli	s0, a4, 1
	xor	s2, t0, s0
	xor	a0, t6, a4
	srli	s9, t5, 1
	xor	s7, s9, t3
	and	a3, s7, a6
	slli	t1, a3, 1
	xor	s11, t5, t1
	xor	s10, t3, a3
	srli	s5, a2, 1
	xor	s8, s5, t4
	and	s6, s8, a6
	slli	a7, s6, 1
	xor	t2, a2, a7
	xor	s4, t4, s6
	srli	t0, a1, 2
	xor	s0, t0, s2
	and	t6, s0, a5
	slli	a4, t6, 2
	xor	s9, a1, a4
	xor	s7, s2, t6
	srli	t5, ra, 2
	xor	t1, t5, a0
	and	t3, t1, a5
	slli	a3, t3, 2
	xor	s5, ra, a3
	xor	a6, a0, t3
	srli	s8, s11, 2
	xor	a2, s8, t2
	and	a7, a2, a5
	slli	t4, a7, 2
	xor	s6, s11, t4
	xor	t0, t2, a7
	srli	s0, s10, 2
	xor	a1, s0, s4
	and	a4, a1, a5
	slli	s2, a4, 2
	xor	t6, s10, s2
	xor	t5, s4, a4
	srli	t1, s9, 4
	xor	ra, t1, s6
	and	a3, ra, s3
	slli	a0, a3, 4
	xor	t3, s9, a0
	xor	s8, s6, a3
	srli	a2, s5, 4
	xor	s11, a2, t6
	and	t4, s11, s3
	slli	t2, t4, 4
	xor	a7, s5, t2
	xor	s0, t6, t4
	srli	a5, s7, 4
	xor	a1, a5, t0
	and	s10, a1, s3
	slli	s2, s10, 4
	xor	s4, s7, s2
	xor	a4, t0, s10
	srli	t1, a6, 4
	xor	ra, t1, t5
	and	s9, ra, s3
	slli	a0, s9, 4
	xor	s6, a6, a0
	lw	a2, 4(sp)                # x1.0
	xor	a3, t5, s9
	srli	s11, a2, 24
	slli	s5, a2, 8
	lw	t6, 20(sp)               # x1.1
	or	t2, s11, s5
	srli	t4, t6, 24
	slli	a5, t6, 8
	lw	s7, 36(sp)               # x1.2
	or	a1, t4, a5
	srli	s2, s7, 24
	slli	t0, s7, 8
	lw	t1, 52(sp)               # x1.3
	or	s10, s2, t0
	srli	s3, t1, 24
	slli	ra, t1, 8
	lw	a0, 68(sp)               # x1.4
	or	a6, s3, ra
	srli	t5, a0, 24
	slli	s9, a0, 8
	lw	s11, 84(sp)              # x1.5
	or	a2, t5, s9
	srli	s5, s11, 24
	slli	t6, s11, 8
	lw	a5, 100(sp)              # x1.6
	or	t4, s5, t6
	srli	s7, a5, 24
	slli	s2, a5, 8
	lw	t1, 116(sp)              # x1.7
	or	t0, s7, s2
	srli	s3, t1, 24
	slli	ra, t1, 8
	or	a0, s3, ra
	xor	t5, a0, t4              # L2
	xor	s9, a1, t2              # L0
	xor	s11, a2, a6             # L1
	xor	s5, t0, a2              # Y2
	xor	t6, a0, a2              # Y0
	xor	a5, s10, t5             # Y5
	xor	s7, a0, s5              # Y4
	xor	s2, s5, s9              # Y1
	xor	t1, s2, s11             # Y3
	xor	s3, s7, a5              # bh
	xor	ra, t4, s2              # Y7
	xor	a1, s5, t1              # al
	xor	a6, t6, s2              # ah
	xor	t0, s2, t1              # sa0
	and	a2, a6, s3              # abcd1
	xor	s10, t6, s5             # sa1
	xor	t5, a5, ra              # sb0
	xor	a0, t2, s11             # Y6
	xor	s9, s7, a0              # sb1
	and	t4, t1, ra              # r2
	xor	t2, t0, t5              # ab20
	and	s11, s2, a5             # t01
	xor	s11, s11, a2            # ph01
	sw	a3, 112(sp)
	xor	a3, s10, s9             # ab21
	xor	a2, t2, a2              # ph11
	and	t2, t6, s7              # rr1
	xor	s11, s11, a3            # ab1
	xor	a3, a2, t2              # ab0
	xor	a2, a0, ra              # bl
	and	t2, a1, a2              # abcd2
	xor	t4, t4, t2              # pl01
	sw	a4, 96(sp)
	xor	a4, a1, a2              # ab22
	xor	t2, a4, t2              # pl11
	and	a4, s5, a0              # r1
	xor	t2, t2, a4              # ab2
	and	a4, t0, t5              # r3
	sw	s0, 80(sp)
	and	s0, s10, s9             # wr1
	xor	s0, s0, a4              # qr1
	xor	t4, t4, s0              # ab3
	xor	s11, s11, s0            # cp2
	xor	s0, t1, ra              # ab23
	xor	t4, t4, s0              # cp4
	xor	s0, t0, s10             # aa
	sw	s8, 64(sp)
	xor	s8, t5, s9              # bb
	sw	s6, 48(sp)
	and	s6, s0, s8
	xor	a4, s6, a4              # pr1
	xor	s6, t2, a4              # cp3
	xor	t2, a3, a4              # cp1
	and	a3, s11, s6             # i11
	xor	a4, s6, t4              # i1
	and	a3, a4, a3              # i12
	and	s6, s6, t2              # i2
	sw	s4, 32(sp)
	xor	s4, a4, s6              # i13
	xor	a3, a3, s4              # d3
	xor	s4, s11, s6             # i3
	and	a4, s4, a4              # i7
	xor	s4, t4, a4              # d2
	xor	a4, t4, s6              # i5
	and	t4, t2, t4              # i8
	xor	t2, t2, s11             # i4
	and	a4, a4, t2              # i6
	xor	s11, s11, a4            # d0
	and	a4, t2, t4              # i9
	xor	t4, t2, s6              # i10
	xor	s6, a4, t4              # d1
	and	t2, s6, a0              # r4
	and	a4, a3, t6              # r7
	and	t4, s6, s5              # r9
	and	a0, s11, ra             # r5
	and	t6, a3, s7              # rr2
	xor	s5, s11, s6             # dl
	and	ra, s5, a1              # abcd6
	and	s7, s5, a2              # abcd4
	and	a1, s4, a5              # t02
	and	a2, s11, t1             # r10
	and	s5, s4, s2              # r8
	xor	a5, s11, s4             # sd0
	xor	t1, s4, a3              # dh
	xor	s2, s6, a3              # sd1
	and	s11, t1, s3             # abcd3
	and	s4, t1, a6              # abcd5
	and	a3, a5, t5              # r6
	and	s6, a5, t0              # r11
	xor	s3, a0, s7              # pl02
	xor	a6, a2, ra              # pl03
	and	t1, s2, s10             # wr3
	xor	t5, s5, s4              # ph03
	xor	t0, a1, s11             # ph02
	xor	a0, a5, s2              # dd
	xor	a2, t1, s6              # qr3
	xor	s10, t6, s11            # ph12
	xor	s5, t4, ra              # pl13
	and	a1, s2, s9              # wr2
	xor	a5, a1, a3              # qr2
	and	t1, a0, s0
	xor	t6, a4, s4              # ph13
	xor	s11, t1, s6             # pr3
	and	t4, a0, s8
	xor	ra, t4, a3              # pr2
	xor	s9, a6, a2              # p7
	xor	s2, t2, s7              # pl12
	xor	a1, s3, a5              # p3
	xor	s0, t5, a2              # s7
	xor	a4, s2, ra              # p2
	xor	s4, s5, s11             # p6
	xor	s6, a1, s4              # s0
	xor	t1, t0, a5              # p1
	xor	s8, s10, ra             # p0
	xor	a0, t6, s11             # p4
	xor	a3, t1, s0              # X16
	xor	t4, s8, a4              # X11
	xor	a6, s6, t4              # s5
	xor	t2, s8, a0              # X18
	xor	s7, t1, s4              # s3
	xor	s3, a6, a3              # X19
	xor	t5, t2, s3              # s4
	xor	a2, a0, s9              # X13
	xor	s2, t4, a2              # X14
	xor	s5, s2, a3              # s2
	xor	a1, s7, s2              # s1
	lw	a5, 4(s1)
	xor	t0, a4, s4              # s6
	lw	ra, 20(s1)
	xor	s10, s0, a5
	lw	s11, 36(s1)
	xor	t6, t0, ra
	lw	t1, 52(s1)
	xor	s8, a6, s11
	lw	s3, 68(s1)
	xor	t2, t5, t1
	lw	a0, 84(s1)
	xor	s9, s7, s3
	lw	a2, 100(s1)
	xor	t4, s5, a0
	lw	s2, 116(s1)
	xor	a3, a1, a2
	xor	a4, s6, s2
	li	s4, 0x55555555
	li	s0, 0x33333333
	li	a5, 0x0f0f0f0f
	srli	t0, s10, 1
	xor	ra, t0, t6
	and	a6, ra, s4
	slli	s11, a6, 1
	xor	t5, s10, s11
	xor	t1, t6, a6
	srli	s7, s8, 1
	xor	s3, s7, t2
	and	s5, s3, s4
	slli	a0, s5, 1
	xor	a1, s8, a0
	xor	a2, t2, s5
	srli	s6, s9, 1
	xor	s2, s6, t4
	and	t0, s2, s4
	slli	ra, t0, 1
	xor	s10, s9, ra
	xor	s11, t4, t0
	srli	t6, a3, 1
	xor	a6, t6, a4
	and	s7, a6, s4
	slli	s3, s7, 1
	xor	s8, a3, s3
	xor	a0, a4, s7
	srli	t2, t5, 2
	xor	s5, t2, a1
	and	s6, s5, s0
	slli	s2, s6, 2
	xor	s9, t5, s2
	xor	ra, a1, s6
	srli	t4, t1, 2
	xor	t0, t4, a2
	and	t6, t0, s0
	slli	s4, t6, 2
	xor	a6, t1, s4
	xor	a3, a2, t6
	srli	s3, s10, 2
	xor	a4, s3, s8
	and	s7, a4, s0
	slli	t2, s7, 2
	xor	s5, s10, t2
	xor	t5, s8, s7
	srli	s2, s11, 2
	xor	a1, s2, a0
	and	s6, a1, s0
	slli	t4, s6, 2
	xor	t0, s11, t4
	xor	t1, a0, s6
	srli	s4, s9, 4
	xor	a2, s4, s5
	and	t6, a2, a5
	slli	s3, t6, 4
	xor	a4, s9, s3
	xor	s10, s5, t6
	srli	t2, a6, 4
	xor	s8, t2, t0
	and	s7, s8, a5
	slli	s2, s7, 4
	xor	s0, a6, s2
	xor	a1, t0, s7
	srli	s11, ra, 4
	xor	t4, s11, t5
	and	a0, t4, a5
	slli	s6, a0, 4
	xor	s4, ra, s6
	xor	a2, t5, a0
	srli	s9, a3, 4
	xor	s3, s9, t1
	and	s5, s3, a5
	slli	t6, s5, 4
	xor	t2, a3, t6
	lw	a6, 8(sp)                # x2.0
	xor	s8, t1, s5
	srli	s2, a6, 16
	slli	t0, a6, 16
	lw	s11, 24(sp)              # x2.1
	or	s7, s2, t0
	srli	t4, s11, 16
	slli	ra, s11, 16
	lw	t5, 40(sp)               # x2.2
	or	s6, t4, ra
	srli	a0, t5, 16
	slli	s9, t5, 16
	lw	s3, 56(sp)               # x2.3
	or	a5, a0, s9
	srli	a3, s3, 16
	slli	t6, s3, 16
	lw	s5, 72(sp)               # x2.4
	or	t1, a3, t6
	srli	a6, s5, 16
	slli	s2, s5, 16
	lw	s11, 88(sp)              # x2.5
	or	t0, a6, s2
	srli	t4, s11, 16
	slli	ra, s11, 16
	lw	a0, 104(sp)              # x2.6
	or	t5, t4, ra
	srli	s9, a0, 16
	slli	s3, a0, 16
	lw	t6, 120(sp)              # x2.7
	or	a3, s9, s3
	srli	s5, t6, 16
	slli	a6, t6, 16
	or	s2, s5, a6
	xor	s11, s2, t5             # L2
	xor	t4, s6, s7              # L0
	xor	ra, t0, t1              # L1
	xor	a0, a3, t0              # Y2
	xor	s9, s2, t0              # Y0
	xor	s3, a5, s11             # Y5
	xor	t6, s2, a0              # Y4
	xor	s5, a0, t4              # Y1
	xor	a6, s5, ra              # Y3
	xor	s6, t6, s3              # bh
	xor	t1, t5, s5              # Y7
	xor	a3, a0, a6              # al
	xor	t0, s9, s5              # ah
	xor	a5, s5, a6              # sa0
	and	s11, t0, s6             # abcd1
	xor	s2, s9, a0              # sa1
	xor	t4, s3, t1              # sb0
	xor	t5, s7, ra              # Y6
	xor	s7, t6, t5              # sb1
	and	ra, a6, t1              # r2
	sw	s8, 116(sp)
	xor	s8, a5, t4              # ab20
	sw	a2, 100(sp)
	and	a2, s5, s3              # t01
	xor	a2, a2, s11             # ph01
	sw	a1, 84(sp)
	xor	a1, s2, s7              # ab21
	xor	s11, s8, s11            # ph11
	and	s8, s9, t6              # rr1
	xor	a2, a2, a1              # ab1
	xor	a1, s11, s8             # ab0
	xor	s11, t5, t1             # bl
	and	s8, a3, s11             # abcd2
	xor	ra, ra, s8              # pl01
	sw	s10, 68(sp)
	xor	s10, a3, s11            # ab22
	xor	s8, s10, s8             # pl11
	and	s10, a0, t5             # r1
	xor	s8, s8, s10             # ab2
	and	s10, a5, t4             # r3
	sw	t2, 52(sp)
	and	t2, s2, s7              # wr1
	xor	t2, t2, s10             # qr1
	xor	ra, ra, t2              # ab3
	xor	a2, a2, t2              # cp2
	xor	t2, a6, t1              # ab23
	xor	ra, ra, t2              # cp4
	xor	t2, a5, s2              # aa
	sw	s4, 36(sp)
	xor	s4, t4, s7              # bb
	sw	s0, 20(sp)
	and	s0, t2, s4
	xor	s10, s0, s10            # pr1
	xor	s0, s8, s10             # cp3
	xor	s8, a1, s10             # cp1
	and	a1, a2, s0              # i11
	xor	s10, s0, ra             # i1
	and	a1, s10, a1             # i12
	and	s0, s0, s8              # i2
	sw	a7, 16(sp)
	xor	a7, s10, s0             # i13
	xor	a1, a1, a7              # d3
	xor	a7, a2, s0              # i3
	and	s10, a7, s10            # i7
	xor	a7, ra, s10             # d2
	xor	s10, ra, s0             # i5
	and	ra, s8, ra              # i8
	xor	s8, s8, a2              # i4
	and	s10, s10, s8            # i6
	xor	a2, a2, s10             # d0
	and	s10, s8, ra             # i9
	xor	ra, s8, s0              # i10
	xor	s0, s10, ra             # d1
	and	s8, s0, t5              # r4
	and	s10, a1, s9             # r7
	and	ra, s0, a0              # r9
	and	t5, a2, t1              # r5
	and	s9, a1, t6              # rr2
	xor	a0, a2, s0              # dl
	and	t1, a0, a3              # abcd6
	and	t6, a0, s11             # abcd4
	and	a3, a7, s3              # t02
	and	s11, a2, a6             # r10
	and	a0, a7, s5              # r8
	xor	s3, a2, a7              # sd0
	xor	a6, a7, a1              # dh
	xor	s5, s0, a1              # sd1
	and	a2, a6, s6              # abcd3
	and	a7, a6, t0              # abcd5
	and	a1, s3, t4              # r6
	and	s0, s3, a5              # r11
	xor	s6, t5, t6              # pl02
	xor	t0, s11, t1             # pl03
	and	a6, s5, s2              # wr3
	xor	t4, a0, a7              # ph03
	xor	a5, a3, a2              # ph02
	xor	t5, s3, s5              # dd
	xor	s11, a6, s0             # qr3
	xor	s2, s9, a2              # ph12
	xor	a0, ra, t1              # pl13
	and	a3, s5, s7              # wr2
	xor	s3, a3, a1              # qr2
	and	a6, t5, t2
	xor	s9, s10, a7             # ph13
	xor	a2, a6, s0              # pr3
	and	ra, t5, s4
	xor	t1, ra, a1              # pr2
	xor	s7, t0, s11             # p7
	xor	s5, s8, t6              # pl12
	xor	a3, s6, s3              # p3
	xor	t2, t4, s11             # s7
	xor	s10, s5, t1             # p2
	xor	a7, a0, a2              # p6
	xor	s0, a3, a7              # s0
	xor	a6, a5, s3              # p1
	xor	s4, s2, t1              # p0
	xor	t5, s9, a2              # p4
	xor	a1, a6, t2              # X16
	xor	ra, s4, s10             # X11
	xor	t0, s0, ra              # s5
	xor	s8, s4, t5              # X18
	xor	t6, a6, a7              # s3
	xor	s6, t0, a1              # X19
	xor	t4, s8, s6              # s4
	xor	s11, t5, s7             # X13
	xor	s5, ra, s11             # X14
	xor	a0, s5, a1              # s2
	xor	a3, t6, s5              # s1
	lw	s3, 8(s1)
	xor	a5, s10, a7             # s6
	lw	t1, 24(s1)
	xor	s2, t2, s3
	lw	a2, 40(s1)
	xor	s9, a5, t1
	lw	a6, 56(s1)
	xor	s4, t0, a2
	lw	s6, 72(s1)
	xor	s8, t4, a6
	lw	t5, 88(s1)
	xor	s7, t6, s6
	lw	s11, 104(s1)
	xor	ra, a0, t5
	lw	s5, 120(s1)
	xor	a1, a3, s11
	xor	s10, s0, s5
	li	a7, 0x55555555
	li	t2, 0x33333333
	li	s3, 0x0f0f0f0f
	srli	a5, s2, 1
	xor	t1, a5, s9
	and	t0, t1, a7
	slli	a2, t0, 1
	xor	t4, s2, a2
	xor	a6, s9, t0
	srli	t6, s4, 1
	xor	s6, t6, s8
	and	a0, s6, a7
	slli	t5, a0, 1
	xor	a3, s4, t5
	xor	s11, s8, a0
	srli	s0, s7, 1
	xor	s5, s0, ra
	and	a5, s5, a7
	slli	t1, a5, 1
	xor	s2, s7, t1
	xor	a2, ra, a5
	srli	s9, a1, 1
	xor	t0, s9, s10
	and	t6, t0, a7
	slli	s6, t6, 1
	xor	s4, a1, s6
	xor	t5, s10, t6
	srli	s8, t4, 2
	xor	a0, s8, a3
	and	s0, a0, t2
	slli	s5, s0, 2
	xor	s7, t4, s5
	xor	t1, a3, s0
	srli	ra, a6, 2
	xor	a5, ra, s11
	and	s9, a5, t2
	slli	a7, s9, 2
	xor	t0, a6, a7
	xor	a1, s11, s9
	srli	s6, s2, 2
	xor	s10, s6, s4
	and	t6, s10, t2
	slli	s8, t6, 2
	xor	a0, s2, s8
	xor	t4, s4, t6
	srli	s5, a2, 2
	xor	a3, s5, t5
	and	s0, a3, t2
	slli	ra, s0, 2
	xor	a5, a2, ra
	xor	a6, t5, s0
	srli	a7, s7, 4
	xor	s11, a7, a0
	and	s9, s11, s3
	slli	s6, s9, 4
	xor	s10, s7, s6
	xor	s2, a0, s9
	srli	s8, t0, 4
	xor	s4, s8, a5
	and	t6, s4, s3
	slli	s5, t6, 4
	xor	t2, t0, s5
	xor	a3, a5, t6
	srli	a2, t1, 4
	xor	ra, a2, t4
	and	t5, ra, s3
	slli	s0, t5, 4
	xor	a7, t1, s0
	xor	s11, t4, t5
	srli	s7, a1, 4
	xor	s6, s7, a6
	and	a0, s6, s3
	slli	s9, a0, 4
	xor	s8, a1, s9
	lw	t0, 12(sp)               # x3.0
	xor	s4, a6, a0
	srli	s5, t0, 8
	slli	a5, t0, 24
	lw	a2, 28(sp)               # x3.1
	or	t6, s5, a5
	srli	ra, a2, 8
	slli	t1, a2, 24
	lw	t4, 44(sp)               # x3.2
	or	s0, ra, t1
	srli	t5, t4, 8
	slli	s7, t4, 24
	lw	s6, 60(sp)               # x3.3
	or	s3, t5, s7
	srli	a1, s6, 8
	slli	s9, s6, 24
	lw	a0, 76(sp)               # x3.4
	or	a6, a1, s9
	srli	t0, a0, 8
	slli	s5, a0, 24
	lw	a2, 92(sp)               # x3.5
	or	a5, t0, s5
	srli	ra, a2, 8
	slli	t1, a2, 24
	lw	t5, 108(sp)              # x3.6
	or	t4, ra, t1
	srli	s7, t5, 8
	slli	s6, t5, 24
	lw	s9, 124(sp)              # x3.7
	or	a1, s7, s6
	srli	a0, s9, 8
	slli	t0, s9, 24
	or	s5, a0, t0
	xor	a2, s5, t4              # L2
	xor	ra, s0, t6              # L0
	xor	t1, a5, a6              # L1
	xor	t5, a1, a5              # Y2
	xor	s7, s5, a5              # Y0
	xor	s6, s3, a2              # Y5
	xor	s9, s5, t5              # Y4
	xor	a0, t5, ra              # Y1
	xor	t0, a0, t1              # Y3
	xor	s0, s9, s6              # bh
	xor	a6, t4, a0              # Y7
	xor	a1, t5, t0              # al
	xor	a5, s7, a0              # ah
	xor	s3, a0, t0              # sa0
	and	a2, a5, s0              # abcd1
	xor	s5, s7, t5              # sa1
	xor	ra, s6, a6              # sb0
	xor	t4, t6, t1              # Y6
	xor	t6, s9, t4              # sb1
	and	t1, t0, a6              # r2
	sw	s4, 120(sp)
	xor	s4, s3, ra              # ab20
	sw	s11, 104(sp)
	and	s11, a0, s6             # t01
	xor	s11, s11, a2            # ph01
	sw	a3, 88(sp)
	xor	a3, s5, t6              # ab21
	xor	a2, s4, a2              # ph11
	and	s4, s7, s9              # rr1
	xor	s11, s11, a3            # ab1
	xor	a3, a2, s4              # ab0
	xor	a2, t4, a6              # bl
	and	s4, a1, a2              # abcd2
	xor	t1, t1, s4              # pl01
	sw	s2, 72(sp)
	xor	s2, a1, a2              # ab22
	xor	s4, s2, s4              # pl11
	and	s2, t5, t4              # r1
	xor	s4, s4, s2              # ab2
	and	s2, s3, ra              # r3
	sw	s8, 56(sp)
	and	s8, s5, t6              # wr1
	xor	s8, s8, s2              # qr1
	xor	t1, t1, s8              # ab3
	xor	s11, s11, s8            # cp2
	xor	s8, t0, a6              # ab23
	xor	t1, t1, s8              # cp4
	xor	s8, s3, s5              # aa
	sw	a7, 40(sp)
	xor	a7, ra, t6              # bb
	sw	t2, 24(sp)
	and	t2, s8, a7
	xor	s2, t2, s2              # pr1
	xor	t2, s4, s2              # cp3
	xor	s4, a3, s2              # cp1
	and	a3, s11, t2             # i11
	xor	s2, t2, t1              # i1
	and	a3, s2, a3              # i12
	and	t2, t2, s4              # i2
	sw	a4, 4(sp)
	xor	a4, s2, t2              # i13
	xor	a3, a3, a4              # d3
	xor	a4, s11, t2             # i3
	and	s2, a4, s2              # i7
	xor	a4, t1, s2              # d2
	xor	s2, t1, t2              # i5
	and	t1, s4, t1              # i8
	xor	s4, s4, s11             # i4
	and	s2, s2, s4              # i6
	xor	s11, s11, s2            # d0
	and	s2, s4, t1              # i9
	xor	t1, s4, t2              # i10
	xor	t2, s2, t1              # d1
	and	s4, t2, t4              # r4
	and	s2, a3, s7              # r7
	and	t1, t2, t5              # r9
	and	t4, s11, a6             # r5
	and	s7, a3, s9              # rr2
	xor	t5, s11, t2             # dl
	and	a6, t5, a1              # abcd6
	and	s9, t5, a2              # abcd4
	and	a1, a4, s6              # t02
	and	a2, s11, t0             # r10
	and	t5, a4, a0              # r8
	xor	s6, s11, a4             # sd0
	xor	t0, a4, a3              # dh
	xor	a0, t2, a3              # sd1
	and	s11, t0, s0             # abcd3
	and	a4, t0, a5              # abcd5
	and	a3, s6, ra              # r6
	and	t2, s6, s3              # r11
	xor	s0, t4, s9              # pl02
	xor	a5, a2, a6              # pl03
	and	t0, a0, s5              # wr3
	xor	ra, t5, a4              # ph03
	xor	s3, a1, s11             # ph02
	xor	t4, s6, a0              # dd
	xor	a2, t0, t2              # qr3
	xor	s5, s7, s11             # ph12
	xor	t5, t1, a6              # pl13
	and	a1, a0, t6              # wr2
	xor	s6, a1, a3              # qr2
	and	t0, t4, s8
	xor	s7, s2, a4              # ph13
	xor	s11, t0, t2             # pr3
	and	t1, t4, a7
	xor	a6, t1, a3              # pr2
	xor	t6, a5, a2              # p7
	xor	a0, s4, s9              # pl12
	xor	a1, s0, s6              # p3
	xor	s8, ra, a2              # s7
	xor	s2, a0, a6              # p2
	xor	a4, t5, s11             # p6
	xor	t2, a1, a4              # s0
	xor	t0, s3, s6              # p1
	xor	a7, s5, a6              # p0
	xor	t4, s7, s11             # p4
	xor	a3, t0, s8              # X16
	xor	t1, a7, s2              # X11
	xor	a5, t2, t1              # s5
	xor	s4, a7, t4              # X18
	xor	s9, t0, a4              # s3
	xor	s0, a5, a3              # X19
	xor	ra, s4, s0              # s4
	xor	a2, t4, t6              # X13
	xor	a0, t1, a2              # X14
	xor	t5, a0, a3              # s2
	xor	a1, s9, a0              # s1
	lw	s6, 12(s1)
	xor	s3, s2, a4              # s6
	lw	a6, 28(s1)
	xor	s5, s8, s6
	lw	s11, 44(s1)
	xor	s7, s3, a6
	lw	t0, 60(s1)
	xor	a7, a5, s11
	lw	s0, 76(s1)
	xor	s4, ra, t0
	lw	t4, 92(s1)
	xor	t6, s9, s0
	lw	a2, 108(s1)
	xor	t1, t5, t4
	lw	a0, 124(s1)
	xor	a3, a1, a2
	xor	s2, t2, a0
	li	a4, 0x55555555
	li	s8, 0x33333333
	li	s6, 0x0f0f0f0f
	srli	s3, s5, 1
	xor	a6, s3, s7
	and	a5, a6, a4
	slli	s11, a5, 1
	xor	ra, s5, s11
	xor	t0, s7, a5
	srli	s9, a7, 1
	xor	s0, s9, s4
	and	t5, s0, a4
	slli	t4, t5, 1
	xor	a1, a7, t4
	xor	a2, s4, t5
	srli	s1, t6, 1
	xor	t2, s1, t1
	and	a0, t2, a4
	slli	s3, a0, 1
	xor	a6, t6, s3
	xor	s5, t1, a0
	srli	s11, a3, 1
	xor	s7, s11, s2
	and	a5, s7, a4
	slli	s9, a5, 1
	xor	s0, a3, s9
	xor	a7, s2, a5
	srli	t4, ra, 2
	xor	s4, t4, a1
	and	t5, s4, s8
	slli	s1, t5, 2
	xor	t2, ra, s1
	xor	t6, a1, t5
	srli	s3, t0, 2
	xor	t1, s3, a2
	and	a0, t1, s8
	slli	s11, a0, 2
	xor	a4, t0, s11
	xor	s7, a2, a0
	srli	a3, a6, 2
	xor	s9, a3, s0
	and	s2, s9, s8
	slli	a5, s2, 2
	xor	t4, a6, a5
	xor	s4, s0, s2
	srli	ra, s5, 2
	xor	s1, ra, a7
	and	a1, s1, s8
	slli	t5, a1, 2
	xor	s3, s5, t5
	xor	t1, a7, a1
	srli	t0, t2, 4
	xor	s11, t0, t4
	and	a2, s11, s6
	slli	a0, a2, 4
	xor	a3, t2, a0
	xor	s9, t4, a2
	srli	a6, a4, 4
	xor	a5, a6, s3
	and	s0, a5, s6
	slli	s2, s0, 4
	xor	ra, a4, s2
	xor	s8, s3, s0
	srli	s1, t6, 4
	xor	s5, s1, s4
	and	t5, s5, s6
	slli	a7, t5, 4
	xor	a1, t6, a7
	xor	t0, s4, t5
	srli	s11, s7, 4
	xor	t2, s11, t1
	and	a0, t2, s6
	slli	t4, a0, 4
	xor	a2, s7, t4
	xor	a6, t1, a0
	li	a5, 0x00ff00ff
	srli	a4, t3, 16
	xor	s2, a4, s10
	slli	s3, s2, 16
	xor	s0, t3, s3
	srli	s1, s3, 16
	lw	t6, 4(sp)
	xor	s5, s10, s1
	srli	a7, t6, 16
	xor	s4, a7, a3
	slli	t5, s4, 16
	xor	s11, t6, t5
	srli	s6, t5, 16
	xor	t2, a3, s6
	srli	s7, s0, 8
	xor	t4, s7, s11
	and	t1, t4, a5
	slli	a0, t1, 8
	xor	a4, s0, a0
	xor	s2, s11, t1
	srli	t3, s5, 8
	xor	s3, t3, t2
	and	s10, s3, a5
	slli	s1, s10, 8
	xor	a7, s5, s1
	lw	t6, 16(sp)
	xor	s4, t2, s10
	lw	a3, 24(sp)
	srli	t5, t6, 16
	xor	s6, t5, a3
	slli	s7, s6, 16
	xor	t4, t6, s7
	srli	s0, s7, 16
	lw	s11, 20(sp)
	xor	a0, a3, s0
	srli	t1, s11, 16
	xor	t3, t1, ra
	slli	s3, t3, 16
	xor	s5, s11, s3
	srli	s1, s3, 16
	xor	t2, ra, s1
	srli	s10, t4, 8
	xor	t5, s10, s5
	and	s6, t5, a5
	slli	t6, s6, 8
	xor	s7, t4, t6
	xor	a3, s5, s6
	srli	s0, a0, 8
	xor	t1, s0, t2
	and	t3, t1, a5
	slli	s11, t3, 8
	xor	s3, a0, s11
	lw	s1, 32(sp)
	xor	ra, t2, t3
	lw	t5, 40(sp)
	srli	s10, s1, 16
	xor	t4, s10, t5
	slli	t6, t4, 16
	xor	s5, s1, t6
	srli	s6, t6, 16
	lw	t1, 36(sp)
	xor	s0, t5, s6
	srli	a0, t1, 16
	xor	s11, a0, a1
	slli	t2, s11, 16
	xor	t3, t1, t2
	srli	s10, t2, 16
	xor	t4, a1, s10
	srli	s1, s5, 8
	xor	t6, s1, t3
	and	t5, t6, a5
	slli	s6, t5, 8
	xor	a0, s5, s6
	xor	s11, t3, t5
	srli	t1, s0, 8
	xor	t2, t1, t4
	and	a1, t2, a5
	slli	s10, a1, 8
	xor	s1, s0, s10
	lw	s5, 48(sp)
	xor	t6, t4, a1
	lw	t3, 56(sp)
	srli	s6, s5, 16
	xor	t5, s6, t3
	slli	t1, t5, 16
	xor	t2, s5, t1
	srli	s0, t1, 16
	lw	t4, 52(sp)
	xor	s10, t3, s0
	srli	a1, t4, 16
	xor	s6, a1, a2
	slli	t5, s6, 16
	xor	s5, t4, t5
	srli	t1, t5, 16
	xor	t3, a2, t1
	srli	s0, t2, 8
	xor	a1, s0, s5
	and	s6, a1, a5
	slli	t4, s6, 8
	xor	t5, t2, t4
	xor	a2, s5, s6
	srli	t1, s10, 8
	xor	s0, t1, t3
	and	a1, s0, a5
	slli	t2, a1, 8
	xor	t4, s10, t2
	lw	s6, 64(sp)
	xor	s5, t3, a1
	lw	s0, 72(sp)
	srli	t1, s6, 16
	xor	s10, t1, s0
	slli	t2, s10, 16
	xor	t3, s6, t2
	srli	a1, t2, 16
	lw	s10, 68(sp)
	xor	t1, s0, a1
	srli	s6, s10, 16
	xor	t2, s6, s9
	slli	s0, t2, 16
	xor	a1, s10, s0
	srli	s6, s0, 16
	xor	t2, s9, s6
	srli	s10, t3, 8
	xor	s0, s10, a1
	and	s9, s0, a5
	slli	s6, s9, 8
	xor	s10, t3, s6
	xor	s0, a1, s9
	srli	t3, t1, 8
	xor	s6, t3, t2
	and	a1, s6, a5
	slli	s9, a1, 8
	xor	t3, t1, s9
	lw	t1, 80(sp)
	xor	s6, t2, a1
	lw	t2, 88(sp)
	srli	s9, t1, 16
	xor	a1, s9, t2
	slli	s9, a1, 16
	xor	a1, t1, s9
	srli	t1, s9, 16
	xor	s9, t2, t1
	lw	t2, 84(sp)
	sw	a4, 0(sp)
	srli	t1, t2, 16
	xor	t1, t1, s8
	slli	t1, t1, 16
	xor	t2, t2, t1
	srli	t1, t1, 16
	xor	s8, s8, t1
	srli	t1, a1, 8
	xor	t1, t1, t2
	and	t1, t1, a5
	slli	a4, t1, 8
	xor	a1, a1, a4
	xor	a4, t2, t1
	srli	t2, s9, 8
	xor	t1, t2, s8
	and	t2, t1, a5
	slli	t1, t2, 8
	xor	s9, s9, t1
	xor	t1, s8, t2
	lw	s8, 96(sp)
	sw	s2, 4(sp)
	lw	s2, 104(sp)
	srli	t2, s8, 16
	xor	t2, t2, s2
	slli	t2, t2, 16
	xor	s8, s8, t2
	srli	t2, t2, 16
	xor	s2, s2, t2
	lw	t2, 100(sp)
	sw	a7, 8(sp)
	srli	a7, t2, 16
	xor	a7, a7, t0
	slli	a7, a7, 16
	xor	t2, t2, a7
	srli	a7, a7, 16
	xor	t0, t0, a7
	srli	a7, s8, 8
	xor	a7, a7, t2
	and	a7, a7, a5
	sw	s4, 12(sp)
	slli	s4, a7, 8
	xor	s8, s8, s4
	xor	s4, t2, a7
	srli	t2, s2, 8
	xor	a7, t2, t0
	and	t2, a7, a5
	slli	a7, t2, 8
	xor	s2, s2, a7
	xor	a7, t0, t2
	lw	t0, 112(sp)
	sw	s7, 16(sp)
	lw	s7, 120(sp)
	srli	t2, t0, 16
	xor	t2, t2, s7
	slli	t2, t2, 16
	xor	t0, t0, t2
	srli	t2, t2, 16
	xor	s7, s7, t2
	lw	t2, 116(sp)
	sw	a3, 20(sp)
	srli	a3, t2, 16
	xor	a3, a3, a6
	slli	a3, a3, 16
	xor	t2, t2, a3
	srli	a3, a3, 16
	xor	a6, a6, a3
	srli	a3, t0, 8
	xor	a3, a3, t2
	and	a3, a3, a5
	sw	s3, 24(sp)
	slli	s3, a3, 8
	xor	t0, t0, s3
	xor	s3, t2, a3
	srli	t2, s7, 8
	xor	a3, t2, a6
	and	t2, a3, a5
	slli	a5, t2, 8
	xor	a3, s7, a5
	xor	s7, a6, t2
	sw	ra, 28(sp)
	sw	a0, 32(sp)
	sw	s11, 36(sp)
	sw	s1, 40(sp)
	sw	t6, 44(sp)
	sw	t5, 48(sp)
	sw	a2, 52(sp)
	sw	t4, 56(sp)
	sw	s5, 60(sp)
	sw	s10, 64(sp)
	sw	s0, 68(sp)
	sw	t3, 72(sp)
	sw	s6, 76(sp)
	sw	a1, 80(sp)
	sw	a4, 84(sp)
	sw	s9, 88(sp)
	sw	t1, 92(sp)
	sw	s8, 96(sp)
	sw	s4, 100(sp)
	sw	s2, 104(sp)
	sw	a7, 108(sp)
	sw	t0, 112(sp)
	sw	s3, 116(sp)
	sw	a3, 120(sp)
	sw	s7, 124(sp)
	lw	ra, 136(sp)
	ret
	.size tress_aes8_inverse_last, . - tress_aes8_inverse_last
