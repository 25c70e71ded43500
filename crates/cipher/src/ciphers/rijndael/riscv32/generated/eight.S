# Eight blocks of AES side by side on RV32I, constant time: the parts of the modes.
#
# Written by tools/rv32-aes/generate, which holds the circuits and gives out the registers. S-box: the circuit of 113
# gates of J. Boyar, R. Peralta and C. Calik, in reverse that of 121 gates; its gates are named beside their instructions.
# Arrangement: E. Kaesper, P. Schwabe, CHES 2009; A. Adomnicai, T. Peyrin, TCHES 2021 ("barrel-shiftrows").
#
# A state is 32 words in the caller's frame: bit i of row r at sp + 16 i + 4 r; bit 8 c + b of the word is that of block b,
# column c. At sp + 128 is the address of the next round key (the same form), at sp + 132 where the rounds end, at
# sp + 136 room for ra. All registers but sp, gp and tp are used, none is kept. Round keys from 1 on have 0x63 added.

# Eight blocks at sp become a state, with the round key at 128(sp).
	.section .text.tress_aes8_pack,"ax",@progbits
	.balign 4
	.globl tress_aes8_pack
	.hidden tress_aes8_pack
	.type tress_aes8_pack, @function
tress_aes8_pack:
	sw	ra, 136(sp)
	lw	a1, 0(sp)
	li	a0, 0x00ff00ff
	lw	a3, 8(sp)
	srli	a2, a1, 16
	xor	a4, a2, a3
	slli	a5, a4, 16
	xor	s0, a1, a5
	srli	s1, a5, 16
	lw	a7, 4(sp)
	xor	a6, a3, s1
	lw	t1, 12(sp)
	srli	t0, a7, 16
	xor	t2, t0, t1
	slli	t3, t2, 16
	xor	t4, a7, t3
	srli	t5, t3, 16
	xor	t6, t1, t5
	srli	s2, s0, 8
	xor	s3, s2, t4
	and	s4, s3, a0
	slli	s5, s4, 8
	xor	s6, s0, s5
	xor	s7, t4, s4
	srli	s8, a6, 8
	xor	s9, s8, t6
	and	s10, s9, a0
	slli	s11, s10, 8
	xor	ra, a6, s11
	lw	a4, 16(sp)
	xor	a2, t6, s10
	lw	a5, 24(sp)
	srli	a1, a4, 16
	xor	a3, a1, a5
	slli	s1, a3, 16
	xor	t0, a4, s1
	srli	t2, s1, 16
	lw	t3, 20(sp)
	xor	a7, a5, t2
	lw	t5, 28(sp)
	srli	t1, t3, 16
	xor	s2, t1, t5
	slli	s3, s2, 16
	xor	s0, t3, s3
	srli	s5, s3, 16
	xor	t4, t5, s5
	srli	s4, t0, 8
	xor	s8, s4, s0
	and	s9, s8, a0
	slli	a6, s9, 8
	xor	s11, t0, a6
	xor	t6, s0, s9
	srli	s10, a7, 8
	xor	a1, s10, t4
	and	a3, a1, a0
	slli	a4, a3, 8
	xor	s1, a7, a4
	lw	t2, 32(sp)
	xor	a5, t4, a3
	lw	s2, 40(sp)
	srli	t1, t2, 16
	xor	t3, t1, s2
	slli	s3, t3, 16
	xor	t5, t2, s3
	srli	s5, s3, 16
	lw	s8, 36(sp)
	xor	s4, s2, s5
	lw	a6, 44(sp)
	srli	t0, s8, 16
	xor	s0, t0, a6
	slli	s9, s0, 16
	xor	s10, s8, s9
	srli	a1, s9, 16
	xor	a7, a6, a1
	srli	a4, t5, 8
	xor	t4, a4, s10
	and	a3, t4, a0
	slli	t1, a3, 8
	xor	t3, t5, t1
	xor	t2, s10, a3
	srli	s3, s4, 8
	xor	s2, s3, a7
	and	s5, s2, a0
	slli	t0, s5, 8
	xor	s0, s4, t0
	lw	s9, 48(sp)
	xor	s8, a7, s5
	lw	a1, 56(sp)
	srli	a6, s9, 16
	xor	a4, a6, a1
	slli	t4, a4, 16
	xor	t5, s9, t4
	srli	t1, t4, 16
	lw	a3, 52(sp)
	xor	s10, a1, t1
	lw	s2, 60(sp)
	srli	s3, a3, 16
	xor	s4, s3, s2
	slli	t0, s4, 16
	xor	a7, a3, t0
	srli	s5, t0, 16
	xor	a6, s2, s5
	srli	a4, t5, 8
	xor	s9, a4, a7
	and	t4, s9, a0
	slli	a1, t4, 8
	xor	t1, t5, a1
	xor	s3, a7, t4
	srli	s4, s10, 8
	xor	a3, s4, a6
	and	t0, a3, a0
	slli	s2, t0, 8
	xor	s5, s10, s2
	lw	s9, 64(sp)
	xor	a4, a6, t0
	lw	a1, 72(sp)
	srli	t5, s9, 16
	xor	a7, t5, a1
	slli	t4, a7, 16
	xor	s4, s9, t4
	srli	a3, t4, 16
	lw	s2, 68(sp)
	xor	s10, a1, a3
	lw	t0, 76(sp)
	srli	a6, s2, 16
	xor	t5, a6, t0
	slli	a7, t5, 16
	xor	s9, s2, a7
	srli	t4, a7, 16
	xor	a1, t0, t4
	srli	a3, s4, 8
	xor	a6, a3, s9
	and	t5, a6, a0
	slli	s2, t5, 8
	xor	a7, s4, s2
	xor	t0, s9, t5
	srli	t4, s10, 8
	xor	a3, t4, a1
	and	a6, a3, a0
	slli	s4, a6, 8
	xor	s2, s10, s4
	lw	t5, 80(sp)
	xor	s9, a1, a6
	lw	a3, 88(sp)
	srli	t4, t5, 16
	xor	s10, t4, a3
	slli	s4, s10, 16
	xor	a1, t5, s4
	srli	a6, s4, 16
	lw	s10, 84(sp)
	xor	t4, a3, a6
	lw	s4, 92(sp)
	srli	t5, s10, 16
	xor	a3, t5, s4
	slli	a6, a3, 16
	xor	t5, s10, a6
	srli	a3, a6, 16
	xor	s10, s4, a3
	srli	a6, a1, 8
	xor	s4, a6, t5
	and	a3, s4, a0
	slli	a6, a3, 8
	xor	s4, a1, a6
	xor	a1, t5, a3
	srli	a6, t4, 8
	xor	t5, a6, s10
	and	a3, t5, a0
	slli	a6, a3, 8
	xor	t5, t4, a6
	lw	a6, 96(sp)
	xor	t4, s10, a3
	lw	a3, 104(sp)
	srli	s10, a6, 16
	xor	s10, s10, a3
	slli	s10, s10, 16
	xor	a6, a6, s10
	srli	s10, s10, 16
	xor	a3, a3, s10
	lw	s10, 100(sp)
	sw	t4, 92(sp)
	srli	t4, s10, 16
	sw	s9, 76(sp)
	lw	s9, 108(sp)
	sw	a4, 60(sp)
	xor	t4, t4, s9
	slli	t4, t4, 16
	xor	s10, s10, t4
	srli	t4, t4, 16
	xor	s9, s9, t4
	srli	t4, a6, 8
	xor	t4, t4, s10
	and	t4, t4, a0
	slli	a4, t4, 8
	xor	a6, a6, a4
	xor	a4, s10, t4
	srli	s10, a3, 8
	xor	t4, s10, s9
	and	s10, t4, a0
	slli	t4, s10, 8
	xor	a3, a3, t4
	xor	t4, s9, s10
	lw	s9, 112(sp)
	sw	t4, 108(sp)
	lw	t4, 120(sp)
	srli	s10, s9, 16
	xor	s10, s10, t4
	slli	s10, s10, 16
	xor	s9, s9, s10
	srli	s10, s10, 16
	xor	t4, t4, s10
	lw	s10, 116(sp)
	sw	s8, 44(sp)
	srli	s8, s10, 16
	sw	a5, 28(sp)
	lw	a5, 124(sp)
	sw	a2, 12(sp)
	xor	s8, s8, a5
	slli	s8, s8, 16
	xor	s10, s10, s8
	srli	s8, s8, 16
	xor	a5, a5, s8
	srli	s8, s9, 8
	xor	s8, s8, s10
	and	s8, s8, a0
	slli	a2, s8, 8
	xor	s9, s9, a2
	xor	a2, s10, s8
	srli	s10, t4, 8
	xor	s8, s10, a5
	and	s10, s8, a0
	slli	a0, s10, 8
	xor	s8, t4, a0
	xor	t4, a5, s10
	li	a0, 0x55555555
	li	a5, 0x33333333
	li	s10, 0x0f0f0f0f
	sw	t4, 124(sp)
	srli	t4, s6, 1
	xor	t4, t4, s11
	and	t4, t4, a0
	sw	s8, 120(sp)
	slli	s8, t4, 1
	xor	s6, s6, s8
	xor	s8, s11, t4
	srli	s11, t3, 1
	xor	t4, s11, t1
	and	s11, t4, a0
	slli	t4, s11, 1
	xor	t3, t3, t4
	xor	t4, t1, s11
	srli	t1, a7, 1
	xor	s11, t1, s4
	and	t1, s11, a0
	slli	s11, t1, 1
	xor	a7, a7, s11
	xor	s11, s4, t1
	srli	s4, a6, 1
	xor	t1, s4, s9
	and	s4, t1, a0
	slli	t1, s4, 1
	xor	a6, a6, t1
	xor	t1, s9, s4
	srli	s9, s6, 2
	xor	s4, s9, t3
	and	s9, s4, a5
	slli	s4, s9, 2
	xor	s6, s6, s4
	xor	s4, t3, s9
	srli	t3, s8, 2
	xor	s9, t3, t4
	and	t3, s9, a5
	slli	s9, t3, 2
	xor	s8, s8, s9
	xor	s9, t4, t3
	srli	t4, a7, 2
	xor	t3, t4, a6
	and	t4, t3, a5
	slli	t3, t4, 2
	xor	a7, a7, t3
	xor	t3, a6, t4
	srli	a6, s11, 2
	xor	t4, a6, t1
	and	a6, t4, a5
	slli	t4, a6, 2
	xor	s11, s11, t4
	xor	t4, t1, a6
	srli	t1, s6, 4
	xor	a6, t1, a7
	and	t1, a6, s10
	slli	a6, t1, 4
	xor	s6, s6, a6
	xor	a6, a7, t1
	srli	a7, s8, 4
	xor	t1, a7, s11
	and	a7, t1, s10
	slli	t1, a7, 4
	xor	s8, s8, t1
	xor	t1, s11, a7
	srli	s11, s4, 4
	xor	a7, s11, t3
	and	s11, a7, s10
	slli	a7, s11, 4
	xor	s4, s4, a7
	xor	a7, t3, s11
	srli	t3, s9, 4
	xor	s11, t3, t4
	and	t3, s11, s10
	slli	s11, t3, 4
	xor	s9, s9, s11
	xor	s11, t4, t3
	lw	t4, 128(sp)              # key
	lw	t3, 0(t4)
	xor	s6, s6, t3
	lw	t3, 16(t4)
	sw	s6, 0(sp)
	xor	s8, s8, t3
	lw	t3, 32(t4)
	xor	s4, s4, t3
	lw	t3, 48(t4)
	xor	s9, s9, t3
	lw	t3, 64(t4)
	xor	a6, a6, t3
	lw	t3, 80(t4)
	xor	t1, t1, t3
	lw	t3, 96(t4)
	xor	a7, a7, t3
	lw	t3, 112(t4)
	xor	s11, s11, t3
	srli	t3, s7, 1
	xor	t3, t3, t6
	and	t3, t3, a0
	slli	s6, t3, 1
	xor	s7, s7, s6
	xor	s6, t6, t3
	srli	t6, t2, 1
	xor	t3, t6, s3
	and	t6, t3, a0
	slli	t3, t6, 1
	xor	t2, t2, t3
	xor	t3, s3, t6
	srli	s3, t0, 1
	xor	t6, s3, a1
	and	s3, t6, a0
	slli	t6, s3, 1
	xor	t0, t0, t6
	xor	t6, a1, s3
	srli	a1, a4, 1
	xor	s3, a1, a2
	and	a1, s3, a0
	slli	s3, a1, 1
	xor	a4, a4, s3
	xor	s3, a2, a1
	srli	a2, s7, 2
	xor	a1, a2, t2
	and	a2, a1, a5
	slli	a1, a2, 2
	xor	s7, s7, a1
	xor	a1, t2, a2
	srli	t2, s6, 2
	xor	a2, t2, t3
	and	t2, a2, a5
	slli	a2, t2, 2
	xor	s6, s6, a2
	xor	a2, t3, t2
	srli	t3, t0, 2
	xor	t2, t3, a4
	and	t3, t2, a5
	slli	t2, t3, 2
	xor	t0, t0, t2
	xor	t2, a4, t3
	srli	a4, t6, 2
	xor	t3, a4, s3
	and	a4, t3, a5
	slli	t3, a4, 2
	xor	t6, t6, t3
	xor	t3, s3, a4
	srli	s3, s7, 4
	xor	a4, s3, t0
	and	s3, a4, s10
	slli	a4, s3, 4
	xor	s7, s7, a4
	xor	a4, t0, s3
	srli	t0, s6, 4
	xor	s3, t0, t6
	and	t0, s3, s10
	slli	s3, t0, 4
	xor	s6, s6, s3
	xor	s3, t6, t0
	srli	t6, a1, 4
	xor	t0, t6, t2
	and	t6, t0, s10
	slli	t0, t6, 4
	xor	a1, a1, t0
	xor	t0, t2, t6
	srli	t2, a2, 4
	xor	t6, t2, t3
	and	t2, t6, s10
	slli	t6, t2, 4
	xor	a2, a2, t6
	xor	t6, t3, t2
	lw	t3, 4(t4)
	sw	s8, 16(sp)
	xor	t2, s7, t3
	lw	s7, 20(t4)
	xor	t3, s6, s7
	lw	s6, 36(t4)
	xor	s7, a1, s6
	lw	a1, 52(t4)
	xor	s6, a2, a1
	lw	a2, 68(t4)
	xor	a1, a4, a2
	lw	a4, 84(t4)
	xor	a2, s3, a4
	lw	s3, 100(t4)
	xor	a4, t0, s3
	lw	t0, 116(t4)
	xor	s3, t6, t0
	srli	t6, ra, 1
	xor	t0, t6, s1
	and	t6, t0, a0
	slli	t0, t6, 1
	xor	ra, ra, t0
	xor	t0, s1, t6
	srli	s1, s0, 1
	xor	t6, s1, s5
	and	s1, t6, a0
	slli	t6, s1, 1
	xor	s0, s0, t6
	xor	t6, s5, s1
	srli	s5, s2, 1
	xor	s1, s5, t5
	and	s5, s1, a0
	slli	s1, s5, 1
	xor	s2, s2, s1
	xor	s1, t5, s5
	lw	s5, 120(sp)
	srli	t5, a3, 1
	xor	t5, t5, s5
	and	t5, t5, a0
	slli	s8, t5, 1
	xor	a3, a3, s8
	xor	s8, s5, t5
	srli	s5, ra, 2
	xor	t5, s5, s0
	and	s5, t5, a5
	slli	t5, s5, 2
	xor	ra, ra, t5
	xor	t5, s0, s5
	srli	s0, t0, 2
	xor	s5, s0, t6
	and	s0, s5, a5
	slli	s5, s0, 2
	xor	t0, t0, s5
	xor	s5, t6, s0
	srli	t6, s2, 2
	xor	s0, t6, a3
	and	t6, s0, a5
	slli	s0, t6, 2
	xor	s2, s2, s0
	xor	s0, a3, t6
	srli	a3, s1, 2
	xor	t6, a3, s8
	and	a3, t6, a5
	slli	t6, a3, 2
	xor	s1, s1, t6
	xor	t6, s8, a3
	srli	s8, ra, 4
	xor	a3, s8, s2
	and	s8, a3, s10
	slli	a3, s8, 4
	xor	ra, ra, a3
	xor	a3, s2, s8
	srli	s2, t0, 4
	xor	s8, s2, s1
	and	s2, s8, s10
	slli	s8, s2, 4
	xor	t0, t0, s8
	xor	s8, s1, s2
	srli	s1, t5, 4
	xor	s2, s1, s0
	and	s1, s2, s10
	slli	s2, s1, 4
	xor	t5, t5, s2
	xor	s2, s0, s1
	srli	s0, s5, 4
	xor	s1, s0, t6
	and	s0, s1, s10
	slli	s1, s0, 4
	xor	s5, s5, s1
	xor	s1, t6, s0
	lw	t6, 8(t4)
	sw	s4, 32(sp)
	xor	s0, ra, t6
	lw	ra, 24(t4)
	lw	s4, 28(sp)
	xor	t6, t0, ra
	lw	t0, 40(t4)
	sw	s9, 48(sp)
	xor	ra, t5, t0
	lw	t5, 56(t4)
	sw	a6, 64(sp)
	xor	t0, s5, t5
	lw	s5, 72(t4)
	lw	a6, 60(sp)
	xor	t5, a3, s5
	lw	a3, 88(t4)
	sw	t1, 80(sp)
	xor	s5, s8, a3
	lw	s8, 104(t4)
	sw	a7, 96(sp)
	xor	a3, s2, s8
	lw	s2, 120(t4)
	lw	a7, 92(sp)
	xor	s8, s1, s2
	lw	s1, 12(sp)
	sw	s11, 112(sp)
	srli	s2, s1, 1
	xor	s2, s2, s4
	and	s2, s2, a0
	slli	s9, s2, 1
	xor	s1, s1, s9
	xor	s9, s4, s2
	lw	s4, 44(sp)
	sw	t2, 4(sp)
	srli	s2, s4, 1
	xor	s2, s2, a6
	and	s2, s2, a0
	slli	t1, s2, 1
	xor	s4, s4, t1
	xor	t1, a6, s2
	lw	a6, 76(sp)
	lw	t2, 124(sp)
	srli	s2, a6, 1
	xor	s2, s2, a7
	and	s2, s2, a0
	slli	s11, s2, 1
	xor	a6, a6, s11
	xor	s11, a7, s2
	lw	a7, 108(sp)
	srli	s2, a7, 1
	xor	s2, s2, t2
	and	a0, s2, a0
	slli	s2, a0, 1
	xor	a7, a7, s2
	xor	s2, t2, a0
	srli	t2, s1, 2
	xor	a0, t2, s4
	and	t2, a0, a5
	slli	a0, t2, 2
	xor	s1, s1, a0
	xor	a0, s4, t2
	srli	s4, s9, 2
	xor	t2, s4, t1
	and	s4, t2, a5
	slli	t2, s4, 2
	xor	s9, s9, t2
	xor	t2, t1, s4
	srli	t1, a6, 2
	xor	s4, t1, a7
	and	t1, s4, a5
	slli	s4, t1, 2
	xor	a6, a6, s4
	xor	s4, a7, t1
	srli	a7, s11, 2
	xor	t1, a7, s2
	and	a7, t1, a5
	slli	a5, a7, 2
	xor	t1, s11, a5
	xor	s11, s2, a7
	srli	a5, s1, 4
	xor	s2, a5, a6
	and	a7, s2, s10
	slli	a5, a7, 4
	xor	s2, s1, a5
	xor	s1, a6, a7
	srli	a5, s9, 4
	xor	a6, a5, t1
	and	a7, a6, s10
	slli	a5, a7, 4
	xor	a6, s9, a5
	xor	s9, t1, a7
	srli	a5, a0, 4
	xor	t1, a5, s4
	and	a7, t1, s10
	slli	a5, a7, 4
	xor	t1, a0, a5
	xor	a0, s4, a7
	srli	a5, t2, 4
	xor	s4, a5, s11
	and	a7, s4, s10
	slli	a5, a7, 4
	xor	s10, t2, a5
	lw	t2, 12(t4)
	xor	s4, s11, a7
	lw	s11, 28(t4)
	xor	a5, s2, t2
	lw	s2, 44(t4)
	xor	a7, a6, s11
	lw	a6, 60(t4)
	xor	t2, t1, s2
	lw	t1, 76(t4)
	xor	s11, s10, a6
	lw	s10, 92(t4)
	xor	s2, s1, t1
	lw	s1, 108(t4)
	xor	a6, s9, s10
	lw	s9, 124(t4)
	xor	t1, a0, s1
	xor	s10, s4, s9
	sw	t3, 20(sp)
	sw	s7, 36(sp)
	sw	s6, 52(sp)
	sw	a1, 68(sp)
	sw	a2, 84(sp)
	sw	a4, 100(sp)
	sw	s3, 116(sp)
	sw	s0, 8(sp)
	sw	t6, 24(sp)
	sw	ra, 40(sp)
	sw	t0, 56(sp)
	sw	t5, 72(sp)
	sw	s5, 88(sp)
	sw	a3, 104(sp)
	sw	s8, 120(sp)
	sw	a5, 12(sp)
	sw	a7, 28(sp)
	sw	t2, 44(sp)
	sw	s11, 60(sp)
	sw	s2, 76(sp)
	sw	a6, 92(sp)
	sw	t1, 108(sp)
	sw	s10, 124(sp)
	lw	ra, 136(sp)
	ret
	.size tress_aes8_pack, . - tress_aes8_pack

# Rounds until 128(sp), which goes up, is 132(sp); at least one.
	.section .text.tress_aes8_rounds,"ax",@progbits
	.balign 4
	.globl tress_aes8_rounds
	.hidden tress_aes8_rounds
	.type tress_aes8_rounds, @function
tress_aes8_rounds:
	sw	ra, 136(sp)
1:
	lw	a0, 112(sp)              # x0.7
	lw	a1, 16(sp)               # x0.1
	lw	a3, 32(sp)               # x0.2
	xor	a2, a0, a1              # y13
	lw	a5, 64(sp)               # x0.4
	xor	a4, a0, a3              # y8
	xor	s0, a5, a3              # y14
	lw	a6, 48(sp)               # x0.3
	xor	s1, a2, s0              # y12
	xor	a7, a6, s1              # t1
	lw	t0, 96(sp)               # x0.6
	lw	t1, 80(sp)               # x0.5
	lw	t3, 0(sp)                # x0.0
	xor	t2, t0, t1              # t0
	xor	t4, t2, t3              # y1
	xor	t5, t4, a1              # y5
	xor	t6, a7, a3              # y15
	xor	s2, a0, a5              # y9
	xor	s3, a7, t0              # y20
	xor	s4, t5, a4              # y3
	xor	s5, s3, s2              # y11
	xor	s6, t6, t3              # y6
	xor	s7, t2, s5              # y16
	and	s8, s1, t6              # t2
	xor	s9, t4, a5              # y4
	and	s10, s4, s6             # t3
	xor	s11, s10, s8            # t4
	xor	ra, a0, s7              # y18
	xor	a6, s11, s3             # t17
	and	t1, s9, t3              # t5
	xor	a1, t4, a0              # y2
	xor	a3, t6, t2              # y10
	xor	a7, t1, s8              # t6
	and	t0, s2, s5              # t12
	and	a5, a4, a3              # t15
	xor	s10, a5, t0             # t16
	xor	s3, a7, s10             # t18
	xor	s11, a3, a4             # y19
	xor	a0, s3, s11             # t22
	xor	t2, a3, s5              # y17
	and	s8, s0, t2              # t13
	xor	t1, s8, t0              # t14
	xor	a5, a6, t1              # t21
	and	a7, t5, t4              # t8
	and	s3, a2, s7              # t7
	xor	s11, a7, s3             # t9
	xor	t0, s11, t1             # t19
	xor	s8, a2, s7              # y21
	xor	a6, t0, s8              # t23
	xor	a7, t3, s5              # y7
	and	t1, a1, a7              # t10
	xor	s11, t1, s3             # t11
	xor	t0, s11, s10            # t20
	xor	s8, t0, ra              # t24
	xor	s3, a5, a0              # t25
	and	t1, a5, a6              # t26
	xor	s10, a6, s8             # t30
	xor	s11, a0, t1             # t31
	and	ra, s11, s10            # t32
	xor	t0, ra, s8              # t33
	xor	a5, s8, t1              # t27
	xor	s10, a6, t0             # t34
	xor	s11, a5, t0             # t35
	and	ra, s8, s11             # t36
	xor	t1, ra, s10             # t37
	xor	a6, a5, ra              # t38
	and	s8, s3, a5              # t28
	xor	s11, s8, a0             # t29
	and	s10, s11, a6            # t39
	xor	ra, s3, s10             # t40
	and	a5, ra, t5              # z13
	and	a0, s11, a1             # z14
	and	s8, t0, t3              # z2
	and	a6, ra, t4              # z4
	xor	s3, s11, ra             # t43
	and	s10, s3, s7             # z3
	and	t5, s3, a2              # z12
	xor	a1, ra, t1              # t41
	and	t3, t1, s6              # z1
	and	t4, t0, s9              # z11
	and	s7, t1, s4              # z10
	xor	a2, t0, t1              # t44
	xor	s3, s11, t0             # t42
	and	ra, s11, a7             # z5
	and	s6, a2, s1              # z9
	and	s9, a2, t6              # z0
	and	s4, a1, a3              # z8
	and	t1, s3, s2              # z15
	and	t0, a1, a4              # z17
	xor	a7, s3, a1              # t45
	xor	s11, s10, ra            # c12
	and	s1, a7, s0              # z16
	and	t6, s3, s5              # z6
	xor	a2, t3, s9              # c5
	xor	a3, t1, s1              # c1
	xor	s2, s10, a6             # c6
	xor	a4, s9, s8              # c4
	and	a1, a7, t2              # z7
	xor	ra, s7, a3              # c2
	xor	s0, a5, a3              # c13
	xor	s5, t5, a4              # c7
	xor	s3, s4, s5              # c9
	xor	t3, s2, a2              # c11
	xor	s1, s6, ra              # c3
	xor	a6, ra, t4              # c21
	xor	s10, a1, s2             # c8
	xor	s8, s10, s3             # c10
	xor	s9, s1, t3              # s3
	xor	t2, t6, s10             # c16
	xor	a7, s9, t2              # s1
	xor	s7, a0, s8              # c17
	xor	a5, t1, t2              # c20
	xor	a3, a6, s7              # s5
	xor	s4, a4, s11             # c14
	xor	s5, s4, s9              # s4
	xor	a2, s7, a5              # c26
	xor	s6, a2, t0              # s2
	xor	t4, s0, s4              # c18
	xor	ra, s1, t2              # s0
	xor	s2, s8, t4              # s6
	xor	a1, t5, t4              # s7
	lw	s3, 116(sp)              # x1.7
	lw	t3, 20(sp)               # x1.1
	lw	s10, 36(sp)              # x1.2
	xor	t6, s3, t3              # y13
	lw	t1, 68(sp)               # x1.4
	xor	a0, s3, s10             # y8
	xor	a6, t1, s10             # y14
	lw	a4, 52(sp)               # x1.3
	xor	s11, t6, a6             # y12
	xor	s7, a4, s11             # t1
	lw	a5, 100(sp)              # x1.6
	lw	t0, 84(sp)               # x1.5
	lw	s0, 4(sp)                # x1.0
	xor	a2, a5, t0              # t0
	xor	s4, a2, s0              # y1
	xor	s1, s4, t3              # y5
	xor	t2, s7, s10             # y15
	xor	s8, s3, t1              # y9
	xor	t5, s7, a5              # y20
	xor	t4, s1, a0              # y3
	xor	a4, t5, s8              # y11
	xor	t0, t2, s0              # y6
	xor	t3, a2, a4              # y16
	and	s10, s11, t2            # t2
	xor	s7, s4, t1              # y4
	and	a5, t4, t0              # t3
	xor	t1, a5, s10             # t4
	xor	a5, s3, t3              # y18
	xor	t5, t1, t5              # t17
	and	t1, s7, s0              # t5
	xor	s3, s4, s3              # y2
	xor	a2, t2, a2              # y10
	xor	s10, t1, s10            # t6
	and	t1, s8, a4              # t12
	sw	a7, 96(sp)
	and	a7, a0, a2              # t15
	xor	a7, a7, t1              # t16
	xor	s10, s10, a7            # t18
	sw	s6, 80(sp)
	xor	s6, a2, a0              # y19
	xor	s10, s10, s6            # t22
	xor	s6, a2, a4              # y17
	sw	s9, 64(sp)
	and	s9, a6, s6              # t13
	xor	t1, s9, t1              # t14
	xor	s9, t5, t1              # t21
	and	t5, s1, s4              # t8
	sw	s5, 48(sp)
	and	s5, t6, t3              # t7
	xor	t5, t5, s5              # t9
	xor	t1, t5, t1              # t19
	xor	t5, t6, t3              # y21
	xor	t1, t1, t5              # t23
	xor	t5, s0, a4              # y7
	sw	a3, 32(sp)
	and	a3, s3, t5              # t10
	xor	s5, a3, s5              # t11
	xor	a3, s5, a7              # t20
	xor	a7, a3, a5              # t24
	xor	s5, s9, s10             # t25
	and	a5, s9, t1              # t26
	xor	a3, t1, a7              # t30
	xor	s9, s10, a5             # t31
	and	a3, s9, a3              # t32
	xor	s9, a3, a7              # t33
	xor	a3, a7, a5              # t27
	xor	a5, t1, s9              # t34
	xor	t1, a3, s9              # t35
	and	a7, a7, t1              # t36
	xor	t1, a7, a5              # t37
	xor	a5, a3, a7              # t38
	and	a7, s5, a3              # t28
	xor	a3, a7, s10             # t29
	and	s10, a3, a5             # t39
	xor	a7, s5, s10             # t40
	and	a5, a7, s1              # z13
	and	s5, a3, s3              # z14
	and	s10, s9, s0             # z2
	and	s1, a7, s4              # z4
	xor	s3, a3, a7              # t43
	and	s0, s3, t3              # z3
	and	s4, s3, t6              # z12
	xor	t3, a7, t1              # t41
	and	t6, t1, t0              # z1
	and	s3, s9, s7              # z11
	and	a7, t1, t4              # z10
	xor	t0, s9, t1              # t44
	xor	s7, a3, s9              # t42
	and	t4, a3, t5              # z5
	and	t1, t0, s11             # z9
	and	s9, t0, t2              # z0
	and	t5, t3, a2              # z8
	and	a3, s7, s8              # z15
	and	s11, t3, a0             # z17
	xor	t2, s7, t3              # t45
	xor	t0, s0, t4              # c12
	and	a2, t2, a6              # z16
	and	s8, s7, a4              # z6
	xor	a0, t6, s9              # c5
	xor	t3, a3, a2              # c1
	xor	t4, s0, s1              # c6
	xor	a6, s9, s10             # c4
	and	a4, t2, s6              # z7
	xor	s7, a7, t3              # c2
	xor	t6, a5, t3              # c13
	xor	a2, s4, a6              # c7
	xor	s1, t5, a2              # c9
	xor	s0, t4, a0              # c11
	xor	s10, t1, s7             # c3
	xor	s9, s7, s3              # c21
	xor	s6, a4, t4              # c8
	xor	t2, s6, s1              # c10
	xor	a7, s10, s0             # s3
	xor	a5, s8, s6              # c16
	xor	t3, a7, a5              # s1
	xor	t5, s5, t2              # c17
	xor	a2, a3, a5              # c20
	xor	a0, s9, t5              # s5
	xor	t1, a6, t0              # c14
	xor	s3, t1, a7              # s4
	xor	s7, t5, a2              # c26
	xor	t4, s7, s11             # s2
	xor	a4, t6, t1              # c18
	xor	s1, s10, a5             # s0
	xor	s0, t2, a4              # s6
	xor	s8, s4, a4              # s7
	srli	s6, s8, 8
	slli	s5, s8, 24
	or	a3, s6, s5
	srli	s9, s0, 8
	slli	t0, s0, 24
	or	a6, s9, t0
	srli	t5, a0, 8
	slli	a2, a0, 24
	or	s11, t5, a2
	srli	s7, s3, 8
	slli	t6, s3, 24
	or	t1, s7, t6
	srli	s10, a7, 8
	slli	a5, a7, 24
	or	t2, s10, a5
	srli	s4, t4, 8
	slli	a4, t4, 24
	or	s8, s4, a4
	srli	s6, t3, 8
	slli	s5, t3, 24
	or	s0, s6, s5
	srli	s9, s1, 8
	slli	t0, s1, 24
	or	a0, s9, t0
	lw	t5, 120(sp)              # x2.7
	lw	a2, 24(sp)               # x2.1
	lw	s7, 40(sp)               # x2.2
	xor	s3, t5, a2              # y13
	lw	a7, 72(sp)               # x2.4
	xor	t6, t5, s7              # y8
	xor	s10, a7, s7             # y14
	lw	t4, 56(sp)               # x2.3
	xor	a5, s3, s10             # y12
	xor	s4, t4, a5              # t1
	lw	a4, 104(sp)              # x2.6
	lw	t3, 88(sp)               # x2.5
	lw	s5, 8(sp)                # x2.0
	xor	s6, a4, t3              # t0
	xor	s1, s6, s5              # y1
	xor	s9, s1, a2              # y5
	xor	t0, s4, s7              # y15
	xor	t4, t5, a7              # y9
	xor	t3, s4, a4              # y20
	xor	a2, s9, t6              # y3
	xor	s7, t3, t4              # y11
	xor	s4, t0, s5              # y6
	xor	a4, s6, s7              # y16
	sw	s0, 100(sp)
	and	s0, a5, t0              # t2
	xor	a7, s1, a7              # y4
	sw	s8, 84(sp)
	and	s8, a2, s4              # t3
	xor	s8, s8, s0              # t4
	sw	t2, 68(sp)
	xor	t2, t5, a4              # y18
	xor	t3, s8, t3              # t17
	and	s8, a7, s5              # t5
	xor	t5, s1, t5              # y2
	xor	s6, t0, s6              # y10
	xor	s0, s8, s0              # t6
	and	s8, t4, s7              # t12
	sw	t1, 52(sp)
	and	t1, t6, s6              # t15
	xor	t1, t1, s8              # t16
	xor	s0, s0, t1              # t18
	sw	s11, 36(sp)
	xor	s11, s6, t6             # y19
	xor	s0, s0, s11             # t22
	xor	s11, s6, s7             # y17
	sw	s2, 16(sp)
	and	s2, s10, s11            # t13
	xor	s8, s2, s8              # t14
	xor	s2, t3, s8              # t21
	and	t3, s9, s1              # t8
	sw	a6, 20(sp)
	and	a6, s3, a4              # t7
	xor	t3, t3, a6              # t9
	xor	s8, t3, s8              # t19
	xor	t3, s3, a4              # y21
	xor	s8, s8, t3              # t23
	xor	t3, s5, s7              # y7
	sw	a1, 0(sp)
	and	a1, t5, t3              # t10
	xor	a6, a1, a6              # t11
	xor	a1, a6, t1              # t20
	xor	t1, a1, t2              # t24
	xor	a6, s2, s0              # t25
	and	t2, s2, s8              # t26
	xor	a1, s8, t1              # t30
	xor	s2, s0, t2              # t31
	and	a1, s2, a1              # t32
	xor	s2, a1, t1              # t33
	xor	a1, t1, t2              # t27
	xor	t2, s8, s2              # t34
	xor	s8, a1, s2              # t35
	and	t1, t1, s8              # t36
	xor	s8, t1, t2              # t37
	xor	t2, a1, t1              # t38
	and	t1, a6, a1              # t28
	xor	a1, t1, s0              # t29
	and	s0, a1, t2              # t39
	xor	t1, a6, s0              # t40
	and	t2, t1, s9              # z13
	and	a6, a1, t5              # z14
	and	s0, s2, s5              # z2
	and	s9, t1, s1              # z4
	xor	t5, a1, t1              # t43
	and	s5, t5, a4              # z3
	and	s1, t5, s3              # z12
	xor	a4, t1, s8              # t41
	and	s3, s8, s4              # z1
	and	t5, s2, a7              # z11
	and	t1, s8, a2              # z10
	xor	s4, s2, s8              # t44
	xor	a7, a1, s2              # t42
	and	a2, a1, t3              # z5
	and	s8, s4, a5              # z9
	and	s2, s4, t0              # z0
	and	t3, a4, s6              # z8
	and	a1, a7, t4              # z15
	and	a5, a4, t6              # z17
	xor	t0, a7, a4              # t45
	xor	s4, s5, a2              # c12
	and	s6, t0, s10             # z16
	and	t4, a7, s7              # z6
	xor	t6, s3, s2              # c5
	xor	a4, a1, s6              # c1
	xor	a2, s5, s9              # c6
	xor	s10, s2, s0             # c4
	and	s7, t0, s11             # z7
	xor	a7, t1, a4              # c2
	xor	s3, t2, a4              # c13
	xor	s6, s1, s10             # c7
	xor	s9, t3, s6              # c9
	xor	s5, a2, t6              # c11
	xor	s0, s8, a7              # c3
	xor	s2, a7, t5              # c21
	xor	s11, s7, a2             # c8
	xor	t0, s11, s9             # c10
	xor	t1, s0, s5              # s3
	xor	t2, t4, s11             # c16
	xor	a4, t1, t2              # s1
	xor	t3, a6, t0              # c17
	xor	s6, a1, t2              # c20
	xor	t6, s2, t3              # s5
	xor	s8, s10, s4             # c14
	xor	t5, s8, t1              # s4
	xor	a7, t3, s6              # c26
	xor	a2, a7, a5              # s2
	xor	s7, s3, s8              # c18
	xor	s9, s0, t2              # s0
	xor	s5, t0, s7              # s6
	xor	t4, s1, s7              # s7
	srli	s11, t4, 16
	slli	a6, t4, 16
	or	a1, s11, a6
	srli	s2, s5, 16
	slli	s4, s5, 16
	or	s10, s2, s4
	srli	t3, t6, 16
	slli	s6, t6, 16
	or	a5, t3, s6
	srli	a7, t5, 16
	slli	s3, t5, 16
	or	s8, a7, s3
	srli	s0, t1, 16
	slli	t2, t1, 16
	or	t0, s0, t2
	srli	s1, a2, 16
	slli	s7, a2, 16
	or	t4, s1, s7
	srli	s11, a4, 16
	slli	a6, a4, 16
	or	s5, s11, a6
	srli	s2, s9, 16
	slli	s4, s9, 16
	or	t6, s2, s4
	lw	t3, 124(sp)              # x3.7
	lw	s6, 28(sp)               # x3.1
	lw	a7, 44(sp)               # x3.2
	xor	t5, t3, s6              # y13
	lw	t1, 76(sp)               # x3.4
	xor	s3, t3, a7              # y8
	xor	s0, t1, a7              # y14
	lw	a2, 60(sp)               # x3.3
	xor	t2, t5, s0              # y12
	xor	s1, a2, t2              # t1
	lw	s7, 108(sp)              # x3.6
	lw	a4, 92(sp)               # x3.5
	lw	a6, 12(sp)               # x3.0
	xor	s11, s7, a4             # t0
	xor	s9, s11, a6             # y1
	xor	s2, s9, s6              # y5
	xor	s4, s1, a7              # y15
	xor	a2, t3, t1              # y9
	xor	a4, s1, s7              # y20
	xor	s6, s2, s3              # y3
	xor	a7, a4, a2              # y11
	xor	s1, s4, a6              # y6
	xor	s7, s11, a7             # y16
	sw	s5, 104(sp)
	and	s5, t2, s4              # t2
	xor	t1, s9, t1              # y4
	sw	t4, 88(sp)
	and	t4, s6, s1              # t3
	xor	t4, t4, s5              # t4
	sw	t0, 72(sp)
	xor	t0, t3, s7              # y18
	xor	a4, t4, a4              # t17
	and	t4, t1, a6              # t5
	xor	t3, s9, t3              # y2
	xor	s11, s4, s11            # y10
	xor	s5, t4, s5              # t6
	and	t4, a2, a7              # t12
	sw	s8, 56(sp)
	and	s8, s3, s11             # t15
	xor	s8, s8, t4              # t16
	xor	s5, s5, s8              # t18
	sw	a5, 40(sp)
	xor	a5, s11, s3             # y19
	xor	s5, s5, a5              # t22
	xor	a5, s11, a7             # y17
	sw	s10, 24(sp)
	and	s10, s0, a5             # t13
	xor	t4, s10, t4             # t14
	xor	s10, a4, t4             # t21
	and	a4, s2, s9              # t8
	sw	a1, 8(sp)
	and	a1, t5, s7              # t7
	xor	a4, a4, a1              # t9
	xor	t4, a4, t4              # t19
	xor	a4, t5, s7              # y21
	xor	t4, t4, a4              # t23
	xor	a4, a6, a7              # y7
	sw	a3, 4(sp)
	and	a3, t3, a4              # t10
	xor	a1, a3, a1              # t11
	xor	a3, a1, s8              # t20
	xor	s8, a3, t0              # t24
	xor	a1, s10, s5             # t25
	and	t0, s10, t4             # t26
	xor	a3, t4, s8              # t30
	xor	s10, s5, t0             # t31
	and	a3, s10, a3             # t32
	xor	s10, a3, s8             # t33
	xor	a3, s8, t0              # t27
	xor	t0, t4, s10             # t34
	xor	t4, a3, s10             # t35
	and	s8, s8, t4              # t36
	xor	t4, s8, t0              # t37
	xor	t0, a3, s8              # t38
	and	s8, a1, a3              # t28
	xor	a3, s8, s5              # t29
	and	s5, a3, t0              # t39
	xor	s8, a1, s5              # t40
	and	t0, s8, s2              # z13
	and	a1, a3, t3              # z14
	and	s5, s10, a6             # z2
	and	s2, s8, s9              # z4
	xor	t3, a3, s8              # t43
	and	a6, t3, s7              # z3
	and	s9, t3, t5              # z12
	xor	s7, s8, t4              # t41
	and	t5, t4, s1              # z1
	and	t3, s10, t1             # z11
	and	s8, t4, s6              # z10
	xor	s1, s10, t4             # t44
	xor	t1, a3, s10             # t42
	and	s6, a3, a4              # z5
	and	t4, s1, t2              # z9
	and	s10, s1, s4             # z0
	and	a4, s7, s11             # z8
	and	a3, t1, a2              # z15
	and	t2, s7, s3              # z17
	xor	s4, t1, s7              # t45
	xor	s1, a6, s6              # c12
	and	s11, s4, s0             # z16
	and	a2, t1, a7              # z6
	xor	s3, t5, s10             # c5
	xor	s7, a3, s11             # c1
	xor	s6, a6, s2              # c6
	xor	s0, s10, s5             # c4
	and	a7, s4, a5              # z7
	xor	t1, s8, s7              # c2
	xor	t5, t0, s7              # c13
	xor	s11, s9, s0             # c7
	xor	s2, a4, s11             # c9
	xor	a6, s6, s3              # c11
	xor	s5, t4, t1              # c3
	xor	s10, t1, t3             # c21
	xor	a5, a7, s6              # c8
	xor	s4, a5, s2              # c10
	xor	s8, s5, a6              # s3
	xor	t0, a2, a5              # c16
	xor	s7, s8, t0              # s1
	xor	a4, a1, s4              # c17
	xor	s11, a3, t0             # c20
	xor	s3, s10, a4             # s5
	xor	t4, s0, s1              # c14
	xor	t3, t4, s8              # s4
	xor	t1, a4, s11             # c26
	xor	s6, t1, t2              # s2
	xor	a7, t5, t4              # c18
	xor	s2, s5, t0              # s0
	xor	a6, s4, a7              # s6
	xor	a2, s9, a7              # s7
	srli	a5, a2, 24
	slli	a1, a2, 8
	or	a3, a5, a1
	srli	s10, a6, 24
	slli	s1, a6, 8
	or	s0, s10, s1
	srli	a4, s3, 24
	slli	s11, s3, 8
	or	t2, a4, s11
	srli	t1, t3, 24
	slli	t5, t3, 8
	or	t4, t1, t5
	srli	s5, s8, 24
	slli	t0, s8, 8
	or	s4, s5, t0
	srli	s9, s6, 24
	slli	a7, s6, 8
	or	a2, s9, a7
	srli	a5, s7, 24
	slli	a1, s7, 8
	or	a6, a5, a1
	srli	s10, s2, 24
	slli	s1, s2, 8
	or	s3, s10, s1
	xor	a4, ra, a0
	xor	s11, a0, t6
	xor	t3, t6, s3
	xor	t1, s3, ra
	xor	t5, a0, t3
	xor	s8, t6, t1
	xor	s5, s3, a4
	xor	t0, ra, s11
	lw	s6, 0(sp)
	lw	s9, 4(sp)
	lw	s7, 8(sp)
	xor	a7, s6, s9
	xor	a5, s9, s7
	xor	a1, s7, a3
	xor	s2, a3, s6
	xor	s10, s9, a1
	lw	a0, 128(sp)              # key
	xor	s1, s10, a4
	lw	t6, 0(a0)
	xor	ra, s7, s2
	xor	s3, s1, t6
	lw	s10, 4(a0)
	xor	s9, ra, s11
	xor	s1, s9, s10
	xor	t6, a3, a7
	lw	ra, 8(a0)
	xor	s7, t6, t3
	xor	s9, s7, ra
	xor	s10, s6, a5
	lw	t6, 12(a0)
	xor	a3, s10, t1
	xor	s7, a3, t6
	lw	ra, 16(sp)
	lw	s6, 20(sp)
	lw	a3, 24(sp)
	xor	s10, ra, s6
	xor	t6, s6, a3
	sw	s3, 0(sp)
	xor	s3, a3, s0
	sw	s1, 4(sp)
	xor	s1, s0, ra
	xor	s6, s6, s3
	xor	a7, s6, a7
	xor	s6, a7, a4
	lw	a7, 16(a0)
	sw	s7, 12(sp)
	xor	s6, s6, a7
	xor	a7, a3, s1
	xor	a3, a7, a5
	lw	a7, 20(a0)
	xor	a5, a3, s11
	xor	a3, a5, a7
	xor	a5, s0, s10
	xor	a7, a5, a1
	lw	a1, 24(a0)
	xor	s0, a7, t3
	xor	a5, s0, a1
	xor	a7, ra, t6
	xor	s0, a7, s2
	lw	ra, 28(a0)
	xor	a1, s0, t1
	xor	s2, a1, ra
	lw	a7, 32(sp)
	lw	s0, 36(sp)
	lw	ra, 40(sp)
	xor	a1, a7, s0
	sw	s9, 8(sp)
	xor	s9, s0, ra
	xor	s7, ra, t2
	sw	s6, 16(sp)
	xor	s6, t2, a7
	xor	s0, s0, s7
	xor	s10, s0, s10
	lw	s0, 32(a0)
	sw	a5, 24(sp)
	xor	s10, s10, s0
	xor	s0, ra, s6
	xor	ra, s0, t6
	lw	t6, 36(a0)
	sw	s2, 28(sp)
	xor	s0, ra, t6
	xor	ra, t2, a1
	lw	t2, 40(a0)
	xor	t6, ra, s3
	xor	s3, t6, t2
	xor	ra, a7, s9
	lw	t2, 44(a0)
	xor	t6, ra, s1
	xor	a7, t6, t2
	lw	s1, 48(sp)
	lw	ra, 52(sp)
	lw	t2, 56(sp)
	xor	t6, s1, ra
	sw	a3, 20(sp)
	xor	a3, ra, t2
	xor	a5, t2, t4
	xor	s2, t4, s1
	xor	ra, ra, a5
	xor	a1, ra, a1
	xor	ra, a1, a4
	lw	a1, 48(a0)
	sw	s0, 36(sp)
	xor	ra, ra, a1
	xor	a1, t2, s2
	xor	t2, a1, s9
	lw	a1, 52(a0)
	xor	s9, t2, s11
	xor	t2, s9, a1
	xor	s9, t4, t6
	xor	a1, s9, s7
	lw	s7, 56(a0)
	xor	t4, a1, t3
	xor	s9, t4, s7
	xor	a1, s1, a3
	xor	t4, a1, s6
	lw	s1, 60(a0)
	xor	s7, t4, t1
	xor	s6, s7, s1
	lw	a1, 64(sp)
	lw	t4, 68(sp)
	lw	s1, 72(sp)
	xor	s7, a1, t4
	sw	s10, 32(sp)
	xor	s10, t4, s1
	xor	s0, s1, s4
	sw	s3, 40(sp)
	xor	t4, t4, s0
	xor	t6, t4, t6
	xor	t4, t6, a4
	lw	a4, 64(a0)
	xor	s3, s4, a1
	xor	t6, t4, a4
	xor	t4, s1, s3
	xor	a4, t4, a3
	lw	a3, 68(a0)
	xor	s1, a4, s11
	xor	t4, s1, a3
	xor	s11, s4, s7
	xor	a4, s11, a5
	lw	a3, 72(a0)
	xor	s1, a4, t3
	xor	s4, s1, a3
	xor	a5, a1, s10
	xor	s11, a5, s2
	lw	a4, 76(a0)
	xor	t3, s11, t1
	xor	s1, t3, a4
	lw	a3, 80(sp)
	lw	a1, 84(sp)
	lw	a5, 88(sp)
	xor	s2, a3, a1
	xor	t1, a1, a5
	xor	s11, a5, a2
	xor	t3, a2, a3
	xor	a4, a1, s11
	xor	a1, a4, s7
	lw	s7, 80(a0)
	sw	a7, 44(sp)
	xor	a4, a1, s7
	xor	a1, a5, t3
	lw	a5, 84(a0)
	xor	s7, a1, s10
	xor	s10, s7, a5
	xor	a1, a2, s2
	lw	a5, 88(a0)
	xor	s7, a1, s0
	xor	a2, s7, a5
	xor	s0, a3, t1
	lw	s7, 92(a0)
	xor	a1, s0, s3
	xor	a5, a1, s7
	lw	a3, 96(sp)
	lw	s3, 100(sp)
	lw	a1, 104(sp)
	xor	s0, a3, s3
	xor	s7, s3, a1
	xor	a7, a1, a6
	sw	ra, 48(sp)
	xor	ra, a6, a3
	xor	s3, s3, a7
	xor	s2, s3, s2
	lw	s3, 96(a0)
	sw	t6, 64(sp)
	xor	s2, s2, s3
	xor	s3, a1, ra
	xor	a1, s3, t1
	lw	t1, 100(a0)
	sw	a4, 80(sp)
	xor	s3, a1, t1
	xor	a1, a6, s0
	lw	a6, 104(a0)
	xor	t1, a1, s11
	xor	s11, t1, a6
	xor	a1, a3, s7
	lw	a6, 108(a0)
	xor	t1, a1, t3
	xor	a3, t1, a6
	lw	a1, 112(a0)
	xor	t3, t5, s0
	xor	t1, t3, a1
	lw	t5, 116(a0)
	xor	a6, s8, s7
	xor	s0, a6, t5
	lw	a1, 120(a0)
	xor	t3, s5, a7
	xor	s8, t3, a1
	lw	a6, 124(a0)
	xor	s7, t0, ra
	xor	t5, s7, a6
	sw	s2, 96(sp)
	sw	t1, 112(sp)
	sw	t2, 52(sp)
	sw	t4, 68(sp)
	sw	s10, 84(sp)
	sw	s3, 100(sp)
	sw	s0, 116(sp)
	sw	s9, 56(sp)
	sw	s4, 72(sp)
	sw	a2, 88(sp)
	sw	s11, 104(sp)
	sw	s8, 120(sp)
	sw	s6, 60(sp)
	sw	s1, 76(sp)
	sw	a5, 92(sp)
	sw	a3, 108(sp)
	sw	t5, 124(sp)
	lw	t0, 128(sp)
	lw	t1, 132(sp)
	addi	t0, t0, 128
	sw	t0, 128(sp)
	beq	t0, t1, 2f
	j	1b
2:
	lw	ra, 136(sp)
	ret
	.size tress_aes8_rounds, . - tress_aes8_rounds

# The last round; the state becomes eight blocks at sp.
	.section .text.tress_aes8_last,"ax",@progbits
	.balign 4
	.globl tress_aes8_last
	.hidden tress_aes8_last
	.type tress_aes8_last, @function
tress_aes8_last:
	sw	ra, 136(sp)
	lw	a0, 112(sp)              # x0.7
	lw	a1, 16(sp)               # x0.1
	lw	a3, 32(sp)               # x0.2
	xor	a2, a0, a1              # y13
	lw	a5, 64(sp)               # x0.4
	xor	a4, a0, a3              # y8
	xor	s0, a5, a3              # y14
	lw	a6, 48(sp)               # x0.3
	xor	s1, a2, s0              # y12
	xor	a7, a6, s1              # t1
	lw	t0, 96(sp)               # x0.6
	lw	t1, 80(sp)               # x0.5
	lw	t3, 0(sp)                # x0.0
	xor	t2, t0, t1              # t0
	xor	t4, t2, t3              # y1
	xor	t5, t4, a1              # y5
	xor	t6, a7, a3              # y15
	xor	s2, a0, a5              # y9
	xor	s3, a7, t0              # y20
	xor	s4, t5, a4              # y3
	xor	s5, s3, s2              # y11
	xor	s6, t6, t3              # y6
	xor	s7, t2, s5              # y16
	and	s8, s1, t6              # t2
	xor	s9, t4, a5              # y4
	and	s10, s4, s6             # t3
	xor	s11, s10, s8            # t4
	xor	ra, a0, s7              # y18
	xor	a6, s11, s3             # t17
	and	t1, s9, t3              # t5
	xor	a1, t4, a0              # y2
	xor	a3, t6, t2              # y10
	xor	a7, t1, s8              # t6
	and	t0, s2, s5              # t12
	and	a5, a4, a3              # t15
	xor	s10, a5, t0             # t16
	xor	s3, a7, s10             # t18
	xor	s11, a3, a4             # y19
	xor	a0, s3, s11             # t22
	xor	t2, a3, s5              # y17
	and	s8, s0, t2              # t13
	xor	t1, s8, t0              # t14
	xor	a5, a6, t1              # t21
	and	a7, t5, t4              # t8
	and	s3, a2, s7              # t7
	xor	s11, a7, s3             # t9
	xor	t0, s11, t1             # t19
	xor	s8, a2, s7              # y21
	xor	a6, t0, s8              # t23
	xor	a7, t3, s5              # y7
	and	t1, a1, a7              # t10
	xor	s11, t1, s3             # t11
	xor	t0, s11, s10            # t20
	xor	s8, t0, ra              # t24
	xor	s3, a5, a0              # t25
	and	t1, a5, a6              # t26
	xor	s10, a6, s8             # t30
	xor	s11, a0, t1             # t31
	and	ra, s11, s10            # t32
	xor	t0, ra, s8              # t33
	xor	a5, s8, t1              # t27
	xor	s10, a6, t0             # t34
	xor	s11, a5, t0             # t35
	and	ra, s8, s11             # t36
	xor	t1, ra, s10             # t37
	xor	a6, a5, ra              # t38
	and	s8, s3, a5              # t28
	xor	s11, s8, a0             # t29
	and	s10, s11, a6            # t39
	xor	ra, s3, s10             # t40
	and	a5, ra, t5              # z13
	and	a0, s11, a1             # z14
	and	s8, t0, t3              # z2
	and	a6, ra, t4              # z4
	xor	s3, s11, ra             # t43
	and	s10, s3, s7             # z3
	and	t5, s3, a2              # z12
	xor	a1, ra, t1              # t41
	and	t3, t1, s6              # z1
	and	t4, t0, s9              # z11
	and	s7, t1, s4              # z10
	xor	a2, t0, t1              # t44
	xor	s3, s11, t0             # t42
	and	ra, s11, a7             # z5
	and	s6, a2, s1              # z9
	and	s9, a2, t6              # z0
	and	s4, a1, a3              # z8
	and	t1, s3, s2              # z15
	and	t0, a1, a4              # z17
	xor	a7, s3, a1              # t45
	xor	s11, s10, ra            # c12
	and	s1, a7, s0              # z16
	and	t6, s3, s5              # z6
	xor	a2, t3, s9              # c5
	xor	a3, t1, s1              # c1
	xor	s2, s10, a6             # c6
	xor	a4, s9, s8              # c4
	and	a1, a7, t2              # z7
	xor	ra, s7, a3              # c2
	xor	s0, a5, a3              # c13
	xor	s5, t5, a4              # c7
	xor	s3, s4, s5              # c9
	xor	t3, s2, a2              # c11
	xor	s1, s6, ra              # c3
	xor	a6, ra, t4              # c21
	xor	s10, a1, s2             # c8
	xor	s8, s10, s3             # c10
	xor	s9, s1, t3              # s3
	xor	t2, t6, s10             # c16
	xor	a7, s9, t2              # s1
	xor	s7, a0, s8              # c17
	xor	a5, t1, t2              # c20
	xor	a3, a6, s7              # s5
	xor	s4, a4, s11             # c14
	xor	s5, s4, s9              # s4
	xor	a2, s7, a5              # c26
	xor	s6, a2, t0              # s2
	xor	t4, s0, s4              # c18
	xor	ra, s1, t2              # s0
	xor	s2, s8, t4              # s6
	lw	s3, 128(sp)              # key
	xor	a1, t5, t4              # s7
	lw	t3, 0(s3)
	lw	s10, 16(s3)
	xor	t6, a1, t3
	lw	t1, 32(s3)
	xor	a0, s2, s10
	lw	s11, 48(s3)
	xor	a6, a3, t1
	lw	s7, 64(s3)
	xor	a4, s5, s11
	lw	t0, 80(s3)
	xor	a5, s9, s7
	lw	s0, 96(s3)
	xor	a2, s6, t0
	lw	s1, 112(s3)
	xor	s4, a7, s0
	xor	t2, ra, s1
	li	s8, 0x55555555
	li	t5, 0x33333333
	li	t4, 0x0f0f0f0f
	srli	a1, t6, 1
	xor	t3, a1, a0
	and	s2, t3, s8
	slli	s10, s2, 1
	xor	a3, t6, s10
	xor	t1, a0, s2
	srli	s5, a6, 1
	xor	s11, s5, a4
	and	s9, s11, s8
	slli	s7, s9, 1
	xor	s6, a6, s7
	xor	t0, a4, s9
	srli	a7, a5, 1
	xor	s0, a7, a2
	and	ra, s0, s8
	slli	s1, ra, 1
	xor	a1, a5, s1
	xor	t3, a2, ra
	srli	t6, s4, 1
	xor	s10, t6, t2
	and	a0, s10, s8
	slli	s2, a0, 1
	xor	s5, s4, s2
	xor	s11, t2, a0
	srli	a6, a3, 2
	xor	s7, a6, s6
	and	a4, s7, t5
	slli	s9, a4, 2
	xor	a7, a3, s9
	xor	s0, s6, a4
	srli	a5, t1, 2
	xor	s1, a5, t0
	and	a2, s1, t5
	slli	ra, a2, 2
	xor	t6, t1, ra
	xor	s8, t0, a2
	srli	s10, a1, 2
	xor	s4, s10, s5
	and	s2, s4, t5
	slli	t2, s2, 2
	xor	a0, a1, t2
	xor	a6, s5, s2
	srli	s7, t3, 2
	xor	a3, s7, s11
	and	s9, a3, t5
	slli	s6, s9, 2
	xor	a4, t3, s6
	xor	a5, s11, s9
	srli	s1, a7, 4
	xor	t1, s1, a0
	and	ra, t1, t4
	slli	t0, ra, 4
	xor	a2, a7, t0
	xor	s10, a0, ra
	srli	s4, t6, 4
	xor	a1, s4, a4
	and	t2, a1, t4
	slli	s5, t2, 4
	xor	s2, t6, s5
	xor	s7, a4, t2
	srli	t5, s0, 4
	xor	a3, t5, a6
	and	t3, a3, t4
	slli	s6, t3, 4
	xor	s11, s0, s6
	xor	s9, a6, t3
	srli	s1, s8, 4
	xor	t1, s1, a5
	and	a7, t1, t4
	slli	t0, a7, 4
	xor	a0, s8, t0
	xor	ra, a5, a7
	lw	s4, 116(sp)              # x1.7
	lw	a1, 20(sp)               # x1.1
	lw	s5, 36(sp)               # x1.2
	xor	t6, s4, a1              # y13
	lw	t2, 68(sp)               # x1.4
	xor	a4, s4, s5              # y8
	xor	t5, t2, s5              # y14
	lw	s0, 52(sp)               # x1.3
	xor	a3, t6, t5              # y12
	xor	s6, s0, a3              # t1
	lw	a6, 100(sp)              # x1.6
	lw	t3, 84(sp)               # x1.5
	lw	t4, 4(sp)                # x1.0
	xor	s1, a6, t3              # t0
	xor	t1, s1, t4              # y1
	xor	s8, t1, a1              # y5
	xor	t0, s6, s5              # y15
	xor	a5, s4, t2              # y9
	xor	a7, s6, a6              # y20
	xor	s0, s8, a4              # y3
	xor	t3, a7, a5              # y11
	xor	a1, t0, t4              # y6
	xor	s5, s1, t3              # y16
	and	s6, a3, t0              # t2
	xor	a6, t1, t2              # y4
	and	t2, s0, a1              # t3
	xor	t2, t2, s6              # t4
	sw	ra, 112(sp)
	xor	ra, s4, s5              # y18
	xor	a7, t2, a7              # t17
	and	t2, a6, t4              # t5
	xor	s4, t1, s4              # y2
	xor	s1, t0, s1              # y10
	xor	s6, t2, s6              # t6
	and	t2, a5, t3              # t12
	sw	s9, 96(sp)
	and	s9, a4, s1              # t15
	xor	s9, s9, t2              # t16
	xor	s6, s6, s9              # t18
	sw	s7, 80(sp)
	xor	s7, s1, a4              # y19
	xor	s6, s6, s7              # t22
	xor	s7, s1, t3              # y17
	sw	s10, 64(sp)
	and	s10, t5, s7             # t13
	xor	t2, s10, t2             # t14
	xor	s10, a7, t2             # t21
	and	a7, s8, t1              # t8
	sw	a0, 48(sp)
	and	a0, t6, s5              # t7
	xor	a7, a7, a0              # t9
	xor	t2, a7, t2              # t19
	xor	a7, t6, s5              # y21
	xor	t2, t2, a7              # t23
	xor	a7, t4, t3              # y7
	sw	s11, 32(sp)
	and	s11, s4, a7             # t10
	xor	a0, s11, a0             # t11
	xor	s11, a0, s9             # t20
	xor	s9, s11, ra             # t24
	xor	a0, s10, s6             # t25
	and	ra, s10, t2             # t26
	xor	s11, t2, s9             # t30
	xor	s10, s6, ra             # t31
	and	s11, s10, s11           # t32
	xor	s10, s11, s9            # t33
	xor	s11, s9, ra             # t27
	xor	ra, t2, s10             # t34
	xor	t2, s11, s10            # t35
	and	s9, s9, t2              # t36
	xor	t2, s9, ra              # t37
	xor	ra, s11, s9             # t38
	and	s9, a0, s11             # t28
	xor	s11, s9, s6             # t29
	and	s6, s11, ra             # t39
	xor	s9, a0, s6              # t40
	and	ra, s9, s8              # z13
	and	a0, s11, s4             # z14
	and	s6, s10, t4             # z2
	and	s8, s9, t1              # z4
	xor	s4, s11, s9             # t43
	and	t4, s4, s5              # z3
	and	t1, s4, t6              # z12
	xor	s5, s9, t2              # t41
	and	t6, t2, a1              # z1
	and	s4, s10, a6             # z11
	and	s9, t2, s0              # z10
	xor	a1, s10, t2             # t44
	xor	a6, s11, s10            # t42
	and	s0, s11, a7             # z5
	and	t2, a1, a3              # z9
	and	s10, a1, t0             # z0
	and	a7, s5, s1              # z8
	and	s11, a6, a5             # z15
	and	a3, s5, a4              # z17
	xor	t0, a6, s5              # t45
	xor	a1, t4, s0              # c12
	and	s1, t0, t5              # z16
	and	a5, a6, t3              # z6
	xor	a4, t6, s10             # c5
	xor	s5, s11, s1             # c1
	xor	s0, t4, s8              # c6
	xor	t5, s10, s6             # c4
	and	t3, t0, s7              # z7
	xor	a6, s9, s5              # c2
	xor	t6, ra, s5              # c13
	xor	s1, t1, t5              # c7
	xor	s8, a7, s1              # c9
	xor	t4, s0, a4              # c11
	xor	s6, t2, a6              # c3
	xor	s10, a6, s4             # c21
	xor	s7, t3, s0              # c8
	xor	t0, s7, s8              # c10
	xor	s9, s6, t4              # s3
	xor	ra, a5, s7              # c16
	xor	s5, s9, ra              # s1
	xor	a7, a0, t0              # c17
	xor	s1, s11, ra             # c20
	xor	a4, s10, a7             # s5
	xor	t2, t5, a1              # c14
	xor	s4, t2, s9              # s4
	xor	a6, a7, s1              # c26
	xor	s0, a6, a3              # s2
	xor	t3, t6, t2              # c18
	xor	s8, s6, ra              # s0
	xor	t4, t0, t3              # s6
	xor	a5, t1, t3              # s7
	srli	s7, a5, 8
	slli	a0, a5, 24
	or	s11, s7, a0
	srli	s10, t4, 8
	slli	a1, t4, 24
	or	t5, s10, a1
	srli	a7, a4, 8
	slli	s1, a4, 24
	or	a3, a7, s1
	srli	a6, s4, 8
	slli	t6, s4, 24
	or	t2, a6, t6
	srli	s6, s9, 8
	slli	ra, s9, 24
	or	t0, s6, ra
	srli	t1, s0, 8
	slli	t3, s0, 24
	or	a5, t1, t3
	srli	s7, s5, 8
	slli	a0, s5, 24
	or	t4, s7, a0
	srli	s10, s8, 8
	slli	a1, s8, 24
	lw	a7, 4(s3)
	or	a4, s10, a1
	lw	s4, 20(s3)
	xor	s1, s11, a7
	lw	t6, 36(s3)
	xor	a6, t5, s4
	lw	s6, 52(s3)
	xor	s9, a3, t6
	lw	s0, 68(s3)
	xor	ra, t2, s6
	lw	t3, 84(s3)
	xor	t1, t0, s0
	lw	s7, 100(s3)
	xor	s5, a5, t3
	lw	s8, 116(s3)
	xor	a0, t4, s7
	xor	s10, a4, s8
	li	a1, 0x55555555
	li	s11, 0x33333333
	li	a7, 0x0f0f0f0f
	srli	t5, s1, 1
	xor	s4, t5, a6
	and	a3, s4, a1
	slli	t6, a3, 1
	xor	t2, s1, t6
	xor	s6, a6, a3
	srli	t0, s9, 1
	xor	s0, t0, ra
	and	a5, s0, a1
	slli	t3, a5, 1
	xor	t4, s9, t3
	xor	s7, ra, a5
	srli	a4, t1, 1
	xor	s8, a4, s5
	and	t5, s8, a1
	slli	s4, t5, 1
	xor	s1, t1, s4
	xor	t6, s5, t5
	srli	a6, a0, 1
	xor	a3, a6, s10
	and	t0, a3, a1
	slli	s0, t0, 1
	xor	s9, a0, s0
	xor	t3, s10, t0
	srli	ra, t2, 2
	xor	a5, ra, t4
	and	a4, a5, s11
	slli	s8, a4, 2
	xor	t1, t2, s8
	xor	s4, t4, a4
	srli	s5, s6, 2
	xor	t5, s5, s7
	and	a6, t5, s11
	slli	a1, a6, 2
	xor	a3, s6, a1
	xor	a0, s7, a6
	srli	s0, s1, 2
	xor	s10, s0, s9
	and	t0, s10, s11
	slli	ra, t0, 2
	xor	a5, s1, ra
	xor	t2, s9, t0
	srli	s8, t6, 2
	xor	t4, s8, t3
	and	a4, t4, s11
	slli	s5, a4, 2
	xor	t5, t6, s5
	xor	s6, t3, a4
	srli	a1, t1, 4
	xor	s7, a1, a5
	and	a6, s7, a7
	slli	s0, a6, 4
	xor	s10, t1, s0
	xor	s1, a5, a6
	srli	ra, a3, 4
	xor	s9, ra, t5
	and	t0, s9, a7
	slli	s8, t0, 4
	xor	s11, a3, s8
	xor	t4, t5, t0
	srli	t6, s4, 4
	xor	s5, t6, t2
	and	t3, s5, a7
	slli	a4, t3, 4
	xor	a1, s4, a4
	xor	s7, t2, t3
	srli	t1, a0, 4
	xor	s0, t1, s6
	and	a5, s0, a7
	slli	a6, a5, 4
	xor	ra, a0, a6
	xor	s9, s6, a5
	lw	a3, 120(sp)              # x2.7
	lw	s8, 24(sp)               # x2.1
	lw	t0, 40(sp)               # x2.2
	xor	t5, a3, s8              # y13
	lw	s5, 72(sp)               # x2.4
	xor	t6, a3, t0              # y8
	xor	s4, s5, t0              # y14
	lw	t2, 56(sp)               # x2.3
	xor	a4, t5, s4              # y12
	xor	t3, t2, a4              # t1
	lw	t1, 104(sp)              # x2.6
	lw	a7, 88(sp)               # x2.5
	lw	a0, 8(sp)                # x2.0
	xor	s0, t1, a7              # t0
	xor	a6, s0, a0              # y1
	xor	s6, a6, s8              # y5
	xor	a5, t3, t0              # y15
	xor	t2, a3, s5              # y9
	xor	a7, t3, t1              # y20
	xor	s8, s6, t6              # y3
	xor	t0, a7, t2              # y11
	xor	t3, a5, a0              # y6
	xor	t1, s0, t0              # y16
	sw	s9, 116(sp)
	and	s9, a4, a5              # t2
	xor	s5, a6, s5              # y4
	sw	s7, 100(sp)
	and	s7, s8, t3              # t3
	xor	s7, s7, s9              # t4
	sw	t4, 84(sp)
	xor	t4, a3, t1              # y18
	xor	a7, s7, a7              # t17
	and	s7, s5, a0              # t5
	xor	a3, a6, a3              # y2
	xor	s0, a5, s0              # y10
	xor	s9, s7, s9              # t6
	and	s7, t2, t0              # t12
	sw	s1, 68(sp)
	and	s1, t6, s0              # t15
	xor	s1, s1, s7              # t16
	xor	s9, s9, s1              # t18
	sw	ra, 52(sp)
	xor	ra, s0, t6              # y19
	xor	s9, s9, ra              # t22
	xor	ra, s0, t0              # y17
	sw	a1, 36(sp)
	and	a1, s4, ra              # t13
	xor	s7, a1, s7              # t14
	xor	a1, a7, s7              # t21
	and	a7, s6, a6              # t8
	sw	s11, 20(sp)
	and	s11, t5, t1             # t7
	xor	a7, a7, s11             # t9
	xor	s7, a7, s7              # t19
	xor	a7, t5, t1              # y21
	xor	s7, s7, a7              # t23
	xor	a7, a0, t0              # y7
	sw	s2, 16(sp)
	and	s2, a3, a7              # t10
	xor	s11, s2, s11            # t11
	xor	s2, s11, s1             # t20
	xor	s1, s2, t4              # t24
	xor	s11, a1, s9             # t25
	and	t4, a1, s7              # t26
	xor	s2, s7, s1              # t30
	xor	a1, s9, t4              # t31
	and	s2, a1, s2              # t32
	xor	a1, s2, s1              # t33
	xor	s2, s1, t4              # t27
	xor	t4, s7, a1              # t34
	xor	s7, s2, a1              # t35
	and	s1, s1, s7              # t36
	xor	s7, s1, t4              # t37
	xor	t4, s2, s1              # t38
	and	s1, s11, s2             # t28
	xor	s2, s1, s9              # t29
	and	s9, s2, t4              # t39
	xor	s1, s11, s9             # t40
	and	t4, s1, s6              # z13
	and	s11, s2, a3             # z14
	and	s9, a1, a0              # z2
	and	s6, s1, a6              # z4
	xor	a3, s2, s1              # t43
	and	a0, a3, t1              # z3
	and	a6, a3, t5              # z12
	xor	t1, s1, s7              # t41
	and	t5, s7, t3              # z1
	and	a3, a1, s5              # z11
	and	s1, s7, s8              # z10
	xor	t3, a1, s7              # t44
	xor	s5, s2, a1              # t42
	and	s8, s2, a7              # z5
	and	s7, t3, a4              # z9
	and	a1, t3, a5              # z0
	and	a7, t1, s0              # z8
	and	s2, s5, t2              # z15
	and	a4, t1, t6              # z17
	xor	a5, s5, t1              # t45
	xor	t3, a0, s8              # c12
	and	s0, a5, s4              # z16
	and	t2, s5, t0              # z6
	xor	t6, t5, a1              # c5
	xor	t1, s2, s0              # c1
	xor	s8, a0, s6              # c6
	xor	s4, a1, s9              # c4
	and	t0, a5, ra              # z7
	xor	s5, s1, t1              # c2
	xor	t5, t4, t1              # c13
	xor	s0, a6, s4              # c7
	xor	s6, a7, s0              # c9
	xor	a0, s8, t6              # c11
	xor	s9, s7, s5              # c3
	xor	a1, s5, a3              # c21
	xor	ra, t0, s8              # c8
	xor	a5, ra, s6              # c10
	xor	s1, s9, a0              # s3
	xor	t4, t2, ra              # c16
	xor	t1, s1, t4              # s1
	xor	a7, s11, a5             # c17
	xor	s0, s2, t4              # c20
	xor	t6, a1, a7              # s5
	xor	s7, s4, t3              # c14
	xor	a3, s7, s1              # s4
	xor	s5, a7, s0              # c26
	xor	s8, s5, a4              # s2
	xor	t0, t5, s7              # c18
	xor	s6, s9, t4              # s0
	xor	a0, a5, t0              # s6
	xor	t2, a6, t0              # s7
	srli	ra, t2, 16
	slli	s11, t2, 16
	or	s2, ra, s11
	srli	a1, a0, 16
	slli	t3, a0, 16
	or	s4, a1, t3
	srli	a7, t6, 16
	slli	s0, t6, 16
	or	a4, a7, s0
	srli	s5, a3, 16
	slli	t5, a3, 16
	or	s7, s5, t5
	srli	s9, s1, 16
	slli	t4, s1, 16
	or	a5, s9, t4
	srli	a6, s8, 16
	slli	t0, s8, 16
	or	t2, a6, t0
	srli	ra, t1, 16
	slli	s11, t1, 16
	or	a0, ra, s11
	srli	a1, s6, 16
	slli	t3, s6, 16
	lw	a7, 8(s3)
	or	t6, a1, t3
	lw	a3, 24(s3)
	xor	s0, s2, a7
	lw	t5, 40(s3)
	xor	s5, s4, a3
	lw	s9, 56(s3)
	xor	s1, a4, t5
	lw	s8, 72(s3)
	xor	t4, s7, s9
	lw	t0, 88(s3)
	xor	a6, a5, s8
	lw	ra, 104(s3)
	xor	t1, t2, t0
	lw	s6, 120(s3)
	xor	s11, a0, ra
	xor	a1, t6, s6
	li	t3, 0x55555555
	li	s2, 0x33333333
	li	a7, 0x0f0f0f0f
	srli	s4, s0, 1
	xor	a3, s4, s5
	and	a4, a3, t3
	slli	t5, a4, 1
	xor	s7, s0, t5
	xor	s9, s5, a4
	srli	a5, s1, 1
	xor	s8, a5, t4
	and	t2, s8, t3
	slli	t0, t2, 1
	xor	a0, s1, t0
	xor	ra, t4, t2
	srli	t6, a6, 1
	xor	s6, t6, t1
	and	s4, s6, t3
	slli	a3, s4, 1
	xor	s0, a6, a3
	xor	t5, t1, s4
	srli	s5, s11, 1
	xor	a4, s5, a1
	and	a5, a4, t3
	slli	s8, a5, 1
	xor	s1, s11, s8
	xor	t0, a1, a5
	srli	t4, s7, 2
	xor	t2, t4, a0
	and	t6, t2, s2
	slli	s6, t6, 2
	xor	a6, s7, s6
	xor	a3, a0, t6
	srli	t1, s9, 2
	xor	s4, t1, ra
	and	s5, s4, s2
	slli	t3, s5, 2
	xor	a4, s9, t3
	xor	s11, ra, s5
	srli	s8, s0, 2
	xor	a1, s8, s1
	and	a5, a1, s2
	slli	t4, a5, 2
	xor	t2, s0, t4
	xor	s7, s1, a5
	srli	s6, t5, 2
	xor	a0, s6, t0
	and	t6, a0, s2
	slli	t1, t6, 2
	xor	s4, t5, t1
	xor	s9, t0, t6
	srli	t3, a6, 4
	xor	ra, t3, t2
	and	s5, ra, a7
	slli	s8, s5, 4
	xor	a1, a6, s8
	xor	s0, t2, s5
	srli	t4, a4, 4
	xor	s1, t4, s4
	and	a5, s1, a7
	slli	s6, a5, 4
	xor	s2, a4, s6
	xor	a0, s4, a5
	srli	t5, a3, 4
	xor	t1, t5, s7
	and	t0, t1, a7
	slli	t6, t0, 4
	xor	t3, a3, t6
	xor	ra, s7, t0
	srli	a6, s11, 4
	xor	s8, a6, s9
	and	t2, s8, a7
	slli	s5, t2, 4
	xor	t4, s11, s5
	xor	s1, s9, t2
	lw	a4, 124(sp)              # x3.7
	lw	s6, 28(sp)               # x3.1
	lw	a5, 44(sp)               # x3.2
	xor	s4, a4, s6              # y13
	lw	t1, 76(sp)               # x3.4
	xor	t5, a4, a5              # y8
	xor	a3, t1, a5              # y14
	lw	s7, 60(sp)               # x3.3
	xor	t6, s4, a3              # y12
	xor	t0, s7, t6              # t1
	lw	a6, 108(sp)              # x3.6
	lw	a7, 92(sp)               # x3.5
	lw	s11, 12(sp)              # x3.0
	xor	s8, a6, a7              # t0
	xor	s5, s8, s11             # y1
	xor	s9, s5, s6              # y5
	xor	t2, t0, a5              # y15
	xor	s7, a4, t1              # y9
	xor	a7, t0, a6              # y20
	xor	s6, s9, t5              # y3
	xor	a5, a7, s7              # y11
	xor	t0, t2, s11             # y6
	xor	a6, s8, a5              # y16
	sw	s1, 120(sp)
	and	s1, t6, t2              # t2
	xor	t1, s5, t1              # y4
	sw	ra, 104(sp)
	and	ra, s6, t0              # t3
	xor	ra, ra, s1              # t4
	sw	a0, 88(sp)
	xor	a0, a4, a6              # y18
	xor	a7, ra, a7              # t17
	and	ra, t1, s11             # t5
	xor	a4, s5, a4              # y2
	xor	s8, t2, s8              # y10
	xor	s1, ra, s1              # t6
	and	ra, s7, a5              # t12
	sw	s0, 72(sp)
	and	s0, t5, s8              # t15
	xor	s0, s0, ra              # t16
	xor	s1, s1, s0              # t18
	sw	t4, 56(sp)
	xor	t4, s8, t5              # y19
	xor	s1, s1, t4              # t22
	xor	t4, s8, a5              # y17
	sw	t3, 40(sp)
	and	t3, a3, t4              # t13
	xor	ra, t3, ra              # t14
	xor	t3, a7, ra              # t21
	and	a7, s9, s5              # t8
	sw	s2, 24(sp)
	and	s2, s4, a6              # t7
	xor	a7, a7, s2              # t9
	xor	ra, a7, ra              # t19
	xor	a7, s4, a6              # y21
	xor	ra, ra, a7              # t23
	xor	a7, s11, a5             # y7
	sw	s10, 4(sp)
	and	s10, a4, a7             # t10
	xor	s2, s10, s2             # t11
	xor	s10, s2, s0             # t20
	xor	s0, s10, a0             # t24
	xor	s2, t3, s1              # t25
	and	a0, t3, ra              # t26
	xor	s10, ra, s0             # t30
	xor	t3, s1, a0              # t31
	and	s10, t3, s10            # t32
	xor	t3, s10, s0             # t33
	xor	s10, s0, a0             # t27
	xor	a0, ra, t3              # t34
	xor	ra, s10, t3             # t35
	and	s0, s0, ra              # t36
	xor	ra, s0, a0              # t37
	xor	a0, s10, s0             # t38
	and	s0, s2, s10             # t28
	xor	s10, s0, s1             # t29
	and	s1, s10, a0             # t39
	xor	s0, s2, s1              # t40
	and	a0, s0, s9              # z13
	and	s2, s10, a4             # z14
	and	s1, t3, s11             # z2
	and	s9, s0, s5              # z4
	xor	a4, s10, s0             # t43
	and	s11, a4, a6             # z3
	and	s5, a4, s4              # z12
	xor	a6, s0, ra              # t41
	and	s4, ra, t0              # z1
	and	a4, t3, t1              # z11
	and	s0, ra, s6              # z10
	xor	t0, t3, ra              # t44
	xor	t1, s10, t3             # t42
	and	s6, s10, a7             # z5
	and	ra, t0, t6              # z9
	and	t3, t0, t2              # z0
	and	a7, a6, s8              # z8
	and	s10, t1, s7             # z15
	and	t6, a6, t5              # z17
	xor	t2, t1, a6              # t45
	xor	t0, s11, s6             # c12
	and	s8, t2, a3              # z16
	and	s7, t1, a5              # z6
	xor	t5, s4, t3              # c5
	xor	a6, s10, s8             # c1
	xor	s6, s11, s9             # c6
	xor	a3, t3, s1              # c4
	and	a5, t2, t4              # z7
	xor	t1, s0, a6              # c2
	xor	s4, a0, a6              # c13
	xor	s8, s5, a3              # c7
	xor	s9, a7, s8              # c9
	xor	s11, s6, t5             # c11
	xor	s1, ra, t1              # c3
	xor	t3, t1, a4              # c21
	xor	t4, a5, s6              # c8
	xor	t2, t4, s9              # c10
	xor	s0, s1, s11             # s3
	xor	a0, s7, t4              # c16
	xor	a6, s0, a0              # s1
	xor	a7, s2, t2              # c17
	xor	s8, s10, a0             # c20
	xor	t5, t3, a7              # s5
	xor	ra, a3, t0              # c14
	xor	a4, ra, s0              # s4
	xor	t1, a7, s8              # c26
	xor	s6, t1, t6              # s2
	xor	a5, s4, ra              # c18
	xor	s9, s1, a0              # s0
	xor	s11, t2, a5             # s6
	xor	s7, s5, a5              # s7
	srli	t4, s7, 24
	slli	s2, s7, 8
	or	s10, t4, s2
	srli	t3, s11, 24
	slli	t0, s11, 8
	or	a3, t3, t0
	srli	a7, t5, 24
	slli	s8, t5, 8
	or	t6, a7, s8
	srli	t1, a4, 24
	slli	s4, a4, 8
	or	ra, t1, s4
	srli	s1, s0, 24
	slli	a0, s0, 8
	or	t2, s1, a0
	srli	s5, s6, 24
	slli	a5, s6, 8
	or	s7, s5, a5
	srli	t4, a6, 24
	slli	s2, a6, 8
	or	s11, t4, s2
	srli	t3, s9, 24
	slli	t0, s9, 8
	lw	a7, 12(s3)
	or	t5, t3, t0
	lw	a4, 28(s3)
	xor	s8, s10, a7
	lw	s4, 44(s3)
	xor	t1, a3, a4
	lw	s1, 60(s3)
	xor	s0, t6, s4
	lw	s6, 76(s3)
	xor	a0, ra, s1
	lw	a5, 92(s3)
	xor	s5, t2, s6
	lw	t4, 108(s3)
	xor	a6, s7, a5
	lw	s9, 124(s3)
	xor	s2, s11, t4
	xor	t3, t5, s9
	li	t0, 0x55555555
	li	s10, 0x33333333
	li	a7, 0x0f0f0f0f
	srli	a3, s8, 1
	xor	a4, a3, t1
	and	t6, a4, t0
	slli	s4, t6, 1
	xor	ra, s8, s4
	xor	s1, t1, t6
	srli	t2, s0, 1
	xor	s6, t2, a0
	and	s7, s6, t0
	slli	a5, s7, 1
	xor	s11, s0, a5
	xor	t4, a0, s7
	srli	s3, s5, 1
	xor	t5, s3, a6
	and	s9, t5, t0
	slli	a3, s9, 1
	xor	a4, s5, a3
	xor	s8, a6, s9
	srli	s4, s2, 1
	xor	t1, s4, t3
	and	t6, t1, t0
	slli	t2, t6, 1
	xor	s6, s2, t2
	xor	s0, t3, t6
	srli	a5, ra, 2
	xor	a0, a5, s11
	and	s7, a0, s10
	slli	s3, s7, 2
	xor	t5, ra, s3
	xor	s5, s11, s7
	srli	a3, s1, 2
	xor	a6, a3, t4
	and	s9, a6, s10
	slli	s4, s9, 2
	xor	t0, s1, s4
	xor	t1, t4, s9
	srli	s2, a4, 2
	xor	t2, s2, s6
	and	t3, t2, s10
	slli	t6, t3, 2
	xor	a5, a4, t6
	xor	a0, s6, t3
	srli	ra, s8, 2
	xor	s3, ra, s0
	and	s11, s3, s10
	slli	s7, s11, 2
	xor	a3, s8, s7
	xor	a6, s0, s11
	srli	s1, t5, 4
	xor	s4, s1, a5
	and	t4, s4, a7
	slli	s9, t4, 4
	xor	s2, t5, s9
	xor	t2, a5, t4
	srli	a4, t0, 4
	xor	t6, a4, a3
	and	s6, t6, a7
	slli	t3, s6, 4
	xor	ra, t0, t3
	xor	s10, a3, s6
	srli	s3, s5, 4
	xor	s8, s3, a0
	and	s7, s8, a7
	slli	s0, s7, 4
	xor	s11, s5, s0
	xor	s1, a0, s7
	srli	s4, t1, 4
	xor	t5, s4, a6
	and	s9, t5, a7
	slli	a5, s9, 4
	xor	t4, t1, a5
	xor	a4, a6, s9
	li	t6, 0x00ff00ff
	srli	t0, a2, 16
	xor	t3, t0, a1
	slli	a3, t3, 16
	xor	s6, a2, a3
	srli	s3, a3, 16
	lw	s5, 4(sp)
	xor	s8, a1, s3
	srli	s0, s5, 16
	xor	a0, s0, s2
	slli	s7, a0, 16
	xor	s4, s5, s7
	srli	a7, s7, 16
	xor	t5, s2, a7
	srli	t1, s6, 8
	xor	a5, t1, s4
	and	a6, a5, t6
	slli	s9, a6, 8
	xor	t0, s6, s9
	xor	t3, s4, a6
	srli	a2, s8, 8
	xor	a3, a2, t5
	and	a1, a3, t6
	slli	s3, a1, 8
	xor	s0, s8, s3
	lw	s5, 16(sp)
	xor	a0, t5, a1
	lw	s2, 24(sp)
	srli	s7, s5, 16
	xor	a7, s7, s2
	slli	t1, a7, 16
	xor	a5, s5, t1
	srli	s6, t1, 16
	lw	s4, 20(sp)
	xor	s9, s2, s6
	srli	a6, s4, 16
	xor	a2, a6, ra
	slli	a3, a2, 16
	xor	s8, s4, a3
	srli	s3, a3, 16
	xor	t5, ra, s3
	srli	a1, a5, 8
	xor	s7, a1, s8
	and	a7, s7, t6
	slli	s5, a7, 8
	xor	t1, a5, s5
	xor	s2, s8, a7
	srli	s6, s9, 8
	xor	a6, s6, t5
	and	a2, a6, t6
	slli	s4, a2, 8
	xor	a3, s9, s4
	lw	s3, 32(sp)
	xor	ra, t5, a2
	lw	s7, 40(sp)
	srli	a1, s3, 16
	xor	a5, a1, s7
	slli	s5, a5, 16
	xor	s8, s3, s5
	srli	a7, s5, 16
	lw	a6, 36(sp)
	xor	s6, s7, a7
	srli	s9, a6, 16
	xor	s4, s9, s11
	slli	t5, s4, 16
	xor	a2, a6, t5
	srli	a1, t5, 16
	xor	a5, s11, a1
	srli	s3, s8, 8
	xor	s5, s3, a2
	and	s7, s5, t6
	slli	a7, s7, 8
	xor	s9, s8, a7
	xor	s4, a2, s7
	srli	a6, s6, 8
	xor	t5, a6, a5
	and	s11, t5, t6
	slli	a1, s11, 8
	xor	s3, s6, a1
	lw	s8, 48(sp)
	xor	s5, a5, s11
	lw	a2, 56(sp)
	srli	a7, s8, 16
	xor	s7, a7, a2
	slli	a6, s7, 16
	xor	t5, s8, a6
	srli	s6, a6, 16
	lw	a5, 52(sp)
	xor	a1, a2, s6
	srli	s11, a5, 16
	xor	a7, s11, t4
	slli	s7, a7, 16
	xor	s8, a5, s7
	srli	a6, s7, 16
	xor	a2, t4, a6
	srli	s6, t5, 8
	xor	s11, s6, s8
	and	a7, s11, t6
	slli	a5, a7, 8
	xor	s7, t5, a5
	xor	t4, s8, a7
	srli	a6, a1, 8
	xor	s6, a6, a2
	and	s11, s6, t6
	slli	t5, s11, 8
	xor	a5, a1, t5
	lw	a7, 64(sp)
	xor	s8, a2, s11
	lw	s6, 72(sp)
	srli	a6, a7, 16
	xor	a1, a6, s6
	slli	t5, a1, 16
	xor	a2, a7, t5
	srli	s11, t5, 16
	lw	a1, 68(sp)
	xor	a6, s6, s11
	srli	a7, a1, 16
	xor	t5, a7, t2
	slli	s6, t5, 16
	xor	s11, a1, s6
	srli	a7, s6, 16
	xor	t5, t2, a7
	srli	a1, a2, 8
	xor	s6, a1, s11
	and	t2, s6, t6
	slli	a7, t2, 8
	xor	a1, a2, a7
	xor	s6, s11, t2
	srli	a2, a6, 8
	xor	a7, a2, t5
	and	s11, a7, t6
	slli	t2, s11, 8
	xor	a2, a6, t2
	lw	a6, 80(sp)
	xor	a7, t5, s11
	lw	t5, 88(sp)
	srli	t2, a6, 16
	xor	s11, t2, t5
	slli	t2, s11, 16
	xor	s11, a6, t2
	srli	a6, t2, 16
	xor	t2, t5, a6
	lw	t5, 84(sp)
	sw	t0, 0(sp)
	srli	a6, t5, 16
	xor	a6, a6, s10
	slli	a6, a6, 16
	xor	t5, t5, a6
	srli	a6, a6, 16
	xor	s10, s10, a6
	srli	a6, s11, 8
	xor	a6, a6, t5
	and	a6, a6, t6
	slli	t0, a6, 8
	xor	s11, s11, t0
	xor	t0, t5, a6
	srli	t5, t2, 8
	xor	a6, t5, s10
	and	t5, a6, t6
	slli	a6, t5, 8
	xor	t2, t2, a6
	xor	a6, s10, t5
	lw	s10, 96(sp)
	sw	t3, 4(sp)
	lw	t3, 104(sp)
	srli	t5, s10, 16
	xor	t5, t5, t3
	slli	t5, t5, 16
	xor	s10, s10, t5
	srli	t5, t5, 16
	xor	t3, t3, t5
	lw	t5, 100(sp)
	sw	s0, 8(sp)
	srli	s0, t5, 16
	xor	s0, s0, s1
	slli	s0, s0, 16
	xor	t5, t5, s0
	srli	s0, s0, 16
	xor	s1, s1, s0
	srli	s0, s10, 8
	xor	s0, s0, t5
	and	s0, s0, t6
	sw	a0, 12(sp)
	slli	a0, s0, 8
	xor	s10, s10, a0
	xor	a0, t5, s0
	srli	t5, t3, 8
	xor	s0, t5, s1
	and	t5, s0, t6
	slli	s0, t5, 8
	xor	t3, t3, s0
	xor	s0, s1, t5
	lw	s1, 112(sp)
	sw	t1, 16(sp)
	lw	t1, 120(sp)
	srli	t5, s1, 16
	xor	t5, t5, t1
	slli	t5, t5, 16
	xor	s1, s1, t5
	srli	t5, t5, 16
	xor	t1, t1, t5
	lw	t5, 116(sp)
	sw	s2, 20(sp)
	srli	s2, t5, 16
	xor	s2, s2, a4
	slli	s2, s2, 16
	xor	t5, t5, s2
	srli	s2, s2, 16
	xor	a4, a4, s2
	srli	s2, s1, 8
	xor	s2, s2, t5
	and	s2, s2, t6
	sw	a3, 24(sp)
	slli	a3, s2, 8
	xor	s1, s1, a3
	xor	a3, t5, s2
	srli	t5, t1, 8
	xor	s2, t5, a4
	and	t5, s2, t6
	slli	t6, t5, 8
	xor	s2, t1, t6
	xor	t1, a4, t5
	sw	ra, 28(sp)
	sw	s9, 32(sp)
	sw	s4, 36(sp)
	sw	s3, 40(sp)
	sw	s5, 44(sp)
	sw	s7, 48(sp)
	sw	t4, 52(sp)
	sw	a5, 56(sp)
	sw	s8, 60(sp)
	sw	a1, 64(sp)
	sw	s6, 68(sp)
	sw	a2, 72(sp)
	sw	a7, 76(sp)
	sw	s11, 80(sp)
	sw	t0, 84(sp)
	sw	t2, 88(sp)
	sw	a6, 92(sp)
	sw	s10, 96(sp)
	sw	a0, 100(sp)
	sw	t3, 104(sp)
	sw	s0, 108(sp)
	sw	s1, 112(sp)
	sw	a3, 116(sp)
	sw	s2, 120(sp)
	sw	t1, 124(sp)
	lw	ra, 136(sp)
	ret
	.size tress_aes8_last, . - tress_aes8_last

# Round 1 of the counters from number a0, a multiple of eight below 256, on.
# a1: round key 0, a2: the prepared words. The column that is not known beforehand, in words at sp + 16 i.
	.section .text.tress_aes8_counters_1,"ax",@progbits
	.balign 4
	.globl tress_aes8_counters_1
	.hidden tress_aes8_counters_1
	.type tress_aes8_counters_1, @function
tress_aes8_counters_1:
	sw	ra, 136(sp)
	lw	a4, 12(a1)
	lui	a3, 0xaa000
	xor	a5, a3, a4
	lw	s1, 28(a1)
	lui	s0, 0xcc000
	xor	a6, s0, s1
	lw	t0, 44(a1)
	lui	a7, 0xf0000
	xor	t1, a7, t0
	slli	t2, a0, 28
	lw	t4, 60(a1)
	srai	t3, t2, 31
	xor	t5, t3, t4
	slli	t6, a0, 27
	lw	s3, 76(a1)
	srai	s2, t6, 31
	xor	s4, s2, s3
	slli	s5, a0, 26
	lw	s7, 92(a1)
	srai	s6, s5, 31
	xor	s8, s6, s7
	slli	s9, a0, 25
	lw	s11, 108(a1)
	srai	s10, s9, 31
	xor	ra, s10, s11
	slli	a3, a0, 24
	lw	s0, 124(a1)
	srai	a4, a3, 31
	xor	s1, a4, s0
	xor	a7, s1, a6              # y13
	xor	t0, s1, t1              # y8
	xor	t2, s4, t1              # y14
	xor	t3, a7, t2              # y12
	xor	t4, t5, t3              # t1
	xor	t6, ra, s8              # t0
	xor	s2, t6, a5              # y1
	xor	s3, s2, a6              # y5
	xor	s5, t4, t1              # y15
	xor	s6, s1, s4              # y9
	xor	s7, t4, ra              # y20
	xor	s9, s3, t0              # y3
	xor	s10, s7, s6             # y11
	xor	s11, s5, a5             # y6
	xor	a3, t6, s10             # y16
	and	a4, t3, s5              # t2
	xor	s0, s2, s4              # y4
	and	t5, s9, s11             # t3
	xor	s8, t5, a4              # t4
	xor	a6, s1, a3              # y18
	xor	t1, s8, s7              # t17
	and	ra, s0, a5              # t5
	xor	t4, s2, s1              # y2
	xor	s4, s5, t6              # y10
	xor	t5, ra, a4              # t6
	and	s7, s6, s10             # t12
	and	s8, t0, s4              # t15
	xor	s1, s8, s7              # t16
	xor	t6, t5, s1              # t18
	xor	a4, s4, t0              # y19
	xor	ra, t6, a4              # t22
	xor	s8, s4, s10             # y17
	and	t5, t2, s8              # t13
	xor	t6, t5, s7              # t14
	xor	a4, t1, t6              # t21
	and	s7, s3, s2              # t8
	and	t5, a7, a3              # t7
	xor	t1, s7, t5              # t9
	xor	s7, t1, t6              # t19
	xor	t6, a7, a3              # y21
	xor	t1, s7, t6              # t23
	xor	s7, a5, s10             # y7
	and	t6, t4, s7              # t10
	xor	t5, t6, t5              # t11
	xor	t6, t5, s1              # t20
	xor	s1, t6, a6              # t24
	xor	t5, a4, ra              # t25
	and	a6, a4, t1              # t26
	xor	t6, t1, s1              # t30
	xor	a4, ra, a6              # t31
	and	t6, a4, t6              # t32
	xor	a4, t6, s1              # t33
	xor	t6, s1, a6              # t27
	xor	a6, t1, a4              # t34
	xor	t1, t6, a4              # t35
	and	s1, s1, t1              # t36
	xor	t1, s1, a6              # t37
	xor	a6, t6, s1              # t38
	and	s1, t5, t6              # t28
	xor	t6, s1, ra              # t29
	and	ra, t6, a6              # t39
	xor	s1, t5, ra              # t40
	and	a6, s1, s3              # z13
	and	t5, t6, t4              # z14
	and	ra, a4, a5              # z2
	and	s3, s1, s2              # z4
	xor	t4, t6, s1              # t43
	and	a5, t4, a3              # z3
	and	s2, t4, a7              # z12
	xor	a3, s1, t1              # t41
	and	a7, t1, s11             # z1
	and	t4, a4, s0              # z11
	and	s1, t1, s9              # z10
	xor	s11, a4, t1             # t44
	xor	s0, t6, a4              # t42
	and	s9, t6, s7              # z5
	and	t1, s11, t3             # z9
	and	a4, s11, s5             # z0
	and	s7, a3, s4              # z8
	and	t6, s0, s6              # z15
	and	t3, a3, t0              # z17
	xor	s5, s0, a3              # t45
	xor	s11, a5, s9             # c12
	and	s4, s5, t2              # z16
	and	s6, s0, s10             # z6
	xor	t0, a7, a4              # c5
	xor	a3, t6, s4              # c1
	xor	s9, a5, s3              # c6
	xor	t2, a4, ra              # c4
	and	s10, s5, s8             # z7
	xor	s0, s1, a3              # c2
	xor	a7, a6, a3              # c13
	xor	s4, s2, t2              # c7
	xor	s3, s7, s4              # c9
	xor	a5, s9, t0              # c11
	xor	ra, t1, s0              # c3
	xor	a4, s0, t4              # c21
	xor	s8, s10, s9             # c8
	xor	s5, s8, s3              # c10
	xor	s1, ra, a5              # s3
	xor	a6, s6, s8              # c16
	xor	a3, s1, a6              # s1
	xor	s7, t5, s5              # c17
	xor	s4, t6, a6              # c20
	xor	t0, a4, s7              # s5
	xor	t1, t2, s11             # c14
	xor	t4, t1, s1              # s4
	xor	s0, s7, s4              # c26
	xor	s9, s0, t3              # s2
	xor	s10, a7, t1             # c18
	xor	s3, ra, a6              # s0
	xor	a5, s5, s10             # s6
	xor	s6, s2, s10             # s7
	srli	s8, s6, 24
	srli	t5, a5, 24
	srli	t6, t0, 24
	srli	a4, t4, 24
	srli	s11, s1, 24
	srli	t2, s9, 24
	srli	s7, a3, 24
	srli	s4, s3, 24
	xor	t3, s8, s4
	xor	s0, t6, s4
	xor	a7, a4, s4
	slli	t1, s8, 24
	xor	ra, s8, s4
	slli	a6, ra, 16
	slli	s5, s4, 8
	xor	s2, s8, t1
	xor	s10, a6, s5
	lw	a5, 0(a2)
	xor	s6, s2, s10
	xor	t0, s6, a5
	slli	t4, t5, 24
	xor	s1, t5, t3
	slli	s9, s1, 16
	slli	a3, t3, 8
	xor	s3, t5, t4
	xor	ra, s9, a3
	lw	t1, 4(a2)
	xor	s8, s3, ra
	xor	a6, s8, t1
	slli	s5, t6, 24
	xor	s2, t6, t5
	slli	s10, s2, 16
	slli	s6, t5, 8
	xor	a5, t6, s5
	xor	s1, s10, s6
	lw	t4, 8(a2)
	xor	t3, a5, s1
	xor	s9, t3, t4
	slli	a3, a4, 24
	xor	s3, a4, s0
	slli	ra, s3, 16
	slli	s8, s0, 8
	xor	t1, a4, a3
	xor	s2, ra, s8
	lw	t6, 12(a2)
	xor	t5, t1, s2
	xor	s5, t5, t6
	slli	s10, s11, 24
	xor	s6, s11, a7
	slli	a5, s6, 16
	slli	s1, a7, 8
	xor	t3, s11, s10
	xor	t4, a5, s1
	lw	s0, 16(a2)
	xor	s3, t3, t4
	xor	a4, s3, s0
	slli	a3, t2, 24
	xor	ra, t2, s11
	slli	s8, ra, 16
	slli	t1, s11, 8
	xor	s2, t2, a3
	xor	t5, s8, t1
	lw	s6, 20(a2)
	xor	t6, s2, t5
	xor	a7, t6, s6
	slli	s10, s7, 24
	xor	a5, s7, t2
	slli	s1, a5, 16
	slli	t3, t2, 8
	xor	t4, s7, s10
	xor	s3, s1, t3
	lw	ra, 24(a2)
	xor	s0, t4, s3
	xor	s11, s0, ra
	slli	a3, s4, 24
	xor	s8, s4, s7
	slli	t1, s8, 16
	slli	s2, s7, 8
	xor	t5, s4, a3
	xor	t6, t1, s2
	lw	a5, 28(a2)
	xor	s6, t5, t6
	xor	t2, s6, a5
	sw	t0, 0(sp)
	sw	a6, 16(sp)
	sw	s9, 32(sp)
	sw	s5, 48(sp)
	sw	a4, 64(sp)
	sw	a7, 80(sp)
	sw	s11, 96(sp)
	sw	t2, 112(sp)
	lw	ra, 136(sp)
	ret
	.size tress_aes8_counters_1, . - tress_aes8_counters_1

# Round 2 of the counters. a0: the prepared words. Leaves a whole state.
	.section .text.tress_aes8_counters_2,"ax",@progbits
	.balign 4
	.globl tress_aes8_counters_2
	.hidden tress_aes8_counters_2
	.type tress_aes8_counters_2, @function
tress_aes8_counters_2:
	sw	ra, 136(sp)
	lw	a1, 112(sp)              # x0.7
	lw	a2, 16(sp)               # x0.1
	lw	a4, 32(sp)               # x0.2
	xor	a3, a1, a2              # y13
	lw	s0, 64(sp)               # x0.4
	xor	a5, a1, a4              # y8
	xor	s1, s0, a4              # y14
	lw	a7, 48(sp)               # x0.3
	xor	a6, a3, s1              # y12
	xor	t0, a7, a6              # t1
	lw	t1, 96(sp)               # x0.6
	lw	t2, 80(sp)               # x0.5
	lw	t4, 0(sp)                # x0.0
	xor	t3, t1, t2              # t0
	xor	t5, t3, t4              # y1
	xor	t6, t5, a2              # y5
	xor	s2, t0, a4              # y15
	xor	s3, a1, s0              # y9
	xor	s4, t0, t1              # y20
	xor	s5, t6, a5              # y3
	xor	s6, s4, s3              # y11
	xor	s7, s2, t4              # y6
	xor	s8, t3, s6              # y16
	and	s9, a6, s2              # t2
	xor	s10, t5, s0             # y4
	and	s11, s5, s7             # t3
	xor	ra, s11, s9             # t4
	xor	a7, a1, s8              # y18
	xor	t2, ra, s4              # t17
	and	a2, s10, t4             # t5
	xor	a4, t5, a1              # y2
	xor	t0, s2, t3              # y10
	xor	t1, a2, s9              # t6
	and	s0, s3, s6              # t12
	and	s11, a5, t0             # t15
	xor	s4, s11, s0             # t16
	xor	ra, t1, s4              # t18
	xor	a1, t0, a5              # y19
	xor	t3, ra, a1              # t22
	xor	s9, t0, s6              # y17
	and	a2, s1, s9              # t13
	xor	s11, a2, s0             # t14
	xor	t1, t2, s11             # t21
	and	ra, t6, t5              # t8
	and	a1, a3, s8              # t7
	xor	s0, ra, a1              # t9
	xor	a2, s0, s11             # t19
	xor	t2, a3, s8              # y21
	xor	ra, a2, t2              # t23
	xor	s11, t4, s6             # y7
	and	s0, a4, s11             # t10
	xor	a2, s0, a1              # t11
	xor	t2, a2, s4              # t20
	xor	a1, t2, a7              # t24
	xor	s0, t1, t3              # t25
	and	s4, t1, ra              # t26
	xor	a2, ra, a1              # t30
	xor	a7, t3, s4              # t31
	and	t2, a7, a2              # t32
	xor	t1, t2, a1              # t33
	xor	a2, a1, s4              # t27
	xor	a7, ra, t1              # t34
	xor	t2, a2, t1              # t35
	and	s4, a1, t2              # t36
	xor	ra, s4, a7              # t37
	xor	a1, a2, s4              # t38
	and	t2, s0, a2              # t28
	xor	a7, t2, t3              # t29
	and	s4, a7, a1              # t39
	xor	a2, s0, s4              # t40
	and	t3, a2, t6              # z13
	and	t2, a7, a4              # z14
	and	a1, t1, t4              # z2
	and	s0, a2, t5              # z4
	xor	s4, a7, a2              # t43
	and	t6, s4, s8              # z3
	and	a4, s4, a3              # z12
	xor	t4, a2, ra              # t41
	and	t5, ra, s7              # z1
	and	s8, t1, s10             # z11
	and	a3, ra, s5              # z10
	xor	s4, t1, ra              # t44
	xor	a2, a7, t1              # t42
	and	s7, a7, s11             # z5
	and	s10, s4, a6             # z9
	and	s5, s4, s2              # z0
	and	ra, t4, t0              # z8
	and	t1, a2, s3              # z15
	and	s11, t4, a5             # z17
	xor	a7, a2, t4              # t45
	xor	a6, t6, s7              # c12
	and	s2, a7, s1              # z16
	and	s4, a2, s6              # z6
	xor	t0, t5, s5              # c5
	xor	s3, t1, s2              # c1
	xor	a5, t6, s0              # c6
	xor	t4, s5, a1              # c4
	and	s7, a7, s9              # z7
	xor	s1, a3, s3              # c2
	xor	s6, t3, s3              # c13
	xor	a2, a4, t4              # c7
	xor	t5, ra, a2              # c9
	xor	s2, a5, t0              # c11
	xor	s0, s10, s1             # c3
	xor	t6, s1, s8              # c21
	xor	a1, s7, a5              # c8
	xor	s5, a1, t5              # c10
	xor	s9, s0, s2              # s3
	xor	a7, s4, a1              # c16
	xor	a3, s9, a7              # s1
	xor	t3, t2, s5              # c17
	xor	s3, t1, a7              # c20
	xor	ra, t6, t3              # s5
	xor	a2, t4, a6              # c14
	xor	t0, a2, s9              # s4
	xor	s10, t3, s3             # c26
	xor	s8, s10, s11            # s2
	xor	s1, s6, a2              # c18
	xor	a5, s0, a7              # s0
	xor	s7, s5, s1              # s6
	xor	t5, a4, s1              # s7
	xor	s2, t5, a5
	xor	s4, ra, a5
	xor	a1, t0, a5
	li	t2, 0xffffff00
	li	t1, 0xff0000ff
	li	t6, 0x00ffffff
	li	a6, 0xffff0000
	li	t4, 0xff00ffff
	li	t3, 0x00ffff00
	li	s3, 0xffff00ff
	li	s11, 0x0000ffff
	and	s10, t5, t2
	and	s6, a5, t1
	lw	s0, 32(a0)
	xor	a2, s10, s6
	xor	a7, a2, s0
	and	s5, t5, t6
	and	a4, a5, a6
	lw	s10, 36(a0)
	xor	s1, s5, a4
	xor	s6, s1, s10
	and	a2, t5, t4
	and	s0, a5, t3
	lw	a4, 40(a0)
	xor	s5, a2, s0
	xor	s1, s5, a4
	and	s10, t5, s3
	and	a2, a5, s11
	lw	s5, 44(a0)
	xor	s0, s10, a2
	xor	a4, s0, s5
	and	t5, s7, t2
	and	s10, s2, t1
	lw	s0, 48(a0)
	xor	a2, t5, s10
	xor	s5, a2, s0
	and	t5, s7, t6
	and	s10, s2, a6
	lw	s0, 52(a0)
	xor	a2, t5, s10
	xor	t5, a2, s0
	and	s10, s7, t4
	and	a2, s2, t3
	xor	s0, s10, a2
	lw	s10, 56(a0)
	sw	a7, 0(sp)
	xor	a2, s0, s10
	and	s0, s7, s3
	and	s10, s2, s11
	xor	s2, s0, s10
	lw	s0, 60(a0)
	and	a7, s7, a6
	xor	s10, s2, s0
	and	s2, ra, t2
	and	s0, s7, t1
	xor	s2, s2, s0
	lw	s0, 64(a0)
	sw	s6, 4(sp)
	xor	s2, s2, s0
	and	s0, ra, t6
	xor	s0, s0, a7
	lw	a7, 68(a0)
	and	s6, s7, t3
	xor	s0, s0, a7
	and	a7, ra, t4
	xor	a7, a7, s6
	lw	s6, 72(a0)
	sw	s1, 8(sp)
	xor	a7, a7, s6
	and	s6, ra, s3
	and	ra, s7, s11
	xor	s7, s6, ra
	lw	s6, 76(a0)
	and	s1, s4, a6
	xor	ra, s7, s6
	and	s7, t0, t2
	and	s6, s4, t1
	xor	s7, s7, s6
	lw	s6, 80(a0)
	sw	a4, 12(sp)
	xor	s7, s7, s6
	and	s6, t0, t6
	xor	s6, s6, s1
	lw	s1, 84(a0)
	and	a4, s4, t3
	xor	s6, s6, s1
	and	s1, t0, t4
	xor	s1, s1, a4
	lw	a4, 88(a0)
	sw	s5, 16(sp)
	xor	s1, s1, a4
	and	a4, t0, s3
	and	t0, s4, s11
	xor	s4, a4, t0
	lw	a4, 92(a0)
	and	s5, a1, a6
	xor	t0, s4, a4
	and	s4, s9, t2
	and	a4, a1, t1
	xor	s4, s4, a4
	lw	a4, 96(a0)
	sw	t5, 20(sp)
	xor	s4, s4, a4
	and	a4, s9, t6
	xor	a4, a4, s5
	lw	s5, 100(a0)
	and	t5, a1, t3
	xor	a4, a4, s5
	and	s5, s9, t4
	xor	s5, s5, t5
	lw	t5, 104(a0)
	and	a1, a1, s11
	xor	s5, s5, t5
	and	t5, s9, s3
	xor	t5, t5, a1
	lw	a1, 108(a0)
	sw	a2, 24(sp)
	xor	t5, t5, a1
	and	a1, s8, t2
	and	a2, s9, t1
	xor	a1, a1, a2
	lw	a2, 112(a0)
	sw	s10, 28(sp)
	xor	a1, a1, a2
	and	a2, s8, t6
	and	s10, s9, a6
	xor	a2, a2, s10
	lw	s10, 116(a0)
	sw	s2, 32(sp)
	xor	a2, a2, s10
	and	s10, s8, t4
	and	s2, s9, t3
	xor	s10, s10, s2
	lw	s2, 120(a0)
	and	s9, s9, s11
	xor	s10, s10, s2
	and	s2, s8, s3
	xor	s2, s2, s9
	lw	s9, 124(a0)
	sw	s0, 36(sp)
	xor	s2, s2, s9
	and	s9, a3, t2
	and	s0, s8, t1
	xor	s9, s9, s0
	lw	s0, 128(a0)
	sw	a7, 40(sp)
	xor	s9, s9, s0
	and	s0, a3, t6
	and	a7, s8, a6
	xor	s0, s0, a7
	lw	a7, 132(a0)
	sw	ra, 44(sp)
	xor	s0, s0, a7
	and	a7, a3, t4
	and	ra, s8, t3
	xor	a7, a7, ra
	lw	ra, 136(a0)
	and	s8, s8, s11
	xor	a7, a7, ra
	and	ra, a3, s3
	xor	ra, ra, s8
	lw	s8, 140(a0)
	sw	s7, 48(sp)
	xor	ra, ra, s8
	and	s8, a5, t2
	and	t2, a3, t1
	xor	t1, s8, t2
	lw	s8, 144(a0)
	sw	s4, 64(sp)
	xor	t2, t1, s8
	and	t1, a5, t6
	and	s8, a3, a6
	lw	a6, 148(a0)
	xor	t6, t1, s8
	xor	t1, t6, a6
	and	s8, a5, t4
	and	t6, a3, t3
	lw	t4, 152(a0)
	xor	a6, s8, t6
	xor	t3, a6, t4
	and	s8, a5, s3
	and	t6, a3, s11
	lw	t4, 156(a0)
	xor	a6, s8, t6
	xor	a5, a6, t4
	sw	a1, 80(sp)
	sw	s9, 96(sp)
	sw	t2, 112(sp)
	sw	s6, 52(sp)
	sw	a4, 68(sp)
	sw	a2, 84(sp)
	sw	s0, 100(sp)
	sw	t1, 116(sp)
	sw	s1, 56(sp)
	sw	s5, 72(sp)
	sw	s10, 88(sp)
	sw	a7, 104(sp)
	sw	t3, 120(sp)
	sw	t0, 60(sp)
	sw	t5, 76(sp)
	sw	s2, 92(sp)
	sw	ra, 108(sp)
	sw	a5, 124(sp)
	lw	ra, 136(sp)
	ret
	.size tress_aes8_counters_2, . - tress_aes8_counters_2

# The S-box on the bytes of a0, for key schedules.
	.section .text.tress_aes_sub_word,"ax",@progbits
	.balign 4
	.globl tress_aes_sub_word
	.hidden tress_aes_sub_word
	.type tress_aes_sub_word, @function
tress_aes_sub_word:
	sw	ra, 136(sp)
	li	a1, 0x01010101
	and	a2, a0, a1
	srli	a3, a0, 1
	and	a4, a3, a1
	srli	a5, a0, 2
	and	s0, a5, a1
	srli	s1, a0, 3
	and	a6, s1, a1
	srli	a7, a0, 4
	and	t0, a7, a1
	srli	t1, a0, 5
	and	t2, t1, a1
	srli	t3, a0, 6
	and	t4, t3, a1
	srli	t5, a0, 7
	and	t6, t5, a1
	xor	s2, t6, a4              # y13
	xor	s3, t6, s0              # y8
	xor	s4, t0, s0              # y14
	xor	s5, s2, s4              # y12
	xor	s6, a6, s5              # t1
	xor	s7, t4, t2              # t0
	xor	s8, s7, a2              # y1
	xor	s9, s8, a4              # y5
	xor	s10, s6, s0             # y15
	xor	s11, t6, t0             # y9
	xor	ra, s6, t4              # y20
	xor	a3, s9, s3              # y3
	xor	a5, ra, s11             # y11
	xor	s1, s10, a2             # y6
	xor	a7, s7, a5              # y16
	and	t1, s5, s10             # t2
	xor	t3, s8, t0              # y4
	and	a0, a3, s1              # t3
	xor	a1, a0, t1              # t4
	xor	t5, t6, a7              # y18
	xor	a6, a1, ra              # t17
	and	t2, t3, a2              # t5
	xor	a4, s8, t6              # y2
	xor	s0, s10, s7             # y10
	xor	t4, t2, t1              # t6
	and	s6, s11, a5             # t12
	and	t0, s3, s0              # t15
	xor	a0, t0, s6              # t16
	xor	ra, t4, a0              # t18
	xor	a1, s0, s3              # y19
	xor	t6, ra, a1              # t22
	xor	s7, s0, a5              # y17
	and	t1, s4, s7              # t13
	xor	t2, t1, s6              # t14
	xor	t0, a6, t2              # t21
	and	t4, s9, s8              # t8
	and	ra, s2, a7              # t7
	xor	a1, t4, ra              # t9
	xor	s6, a1, t2              # t19
	xor	t1, s2, a7              # y21
	xor	a6, s6, t1              # t23
	xor	t4, a2, a5              # y7
	and	t2, a4, t4              # t10
	xor	a1, t2, ra              # t11
	xor	s6, a1, a0              # t20
	xor	t1, s6, t5              # t24
	xor	ra, t0, t6              # t25
	and	t2, t0, a6              # t26
	xor	a0, a6, t1              # t30
	xor	a1, t6, t2              # t31
	and	t5, a1, a0              # t32
	xor	s6, t5, t1              # t33
	xor	t0, t1, t2              # t27
	xor	a0, a6, s6              # t34
	xor	a1, t0, s6              # t35
	and	t5, t1, a1              # t36
	xor	t2, t5, a0              # t37
	xor	a6, t0, t5              # t38
	and	t1, ra, t0              # t28
	xor	a1, t1, t6              # t29
	and	a0, a1, a6              # t39
	xor	t5, ra, a0              # t40
	and	t0, t5, s9              # z13
	and	t6, a1, a4              # z14
	and	t1, s6, a2              # z2
	and	a6, t5, s8              # z4
	xor	ra, a1, t5              # t43
	and	a0, ra, a7              # z3
	and	s9, ra, s2              # z12
	xor	a4, t5, t2              # t41
	and	a2, t2, s1              # z1
	and	s8, s6, t3              # z11
	and	a7, t2, a3              # z10
	xor	s2, s6, t2              # t44
	xor	ra, a1, s6              # t42
	and	t5, a1, t4              # z5
	and	s1, s2, s5              # z9
	and	t3, s2, s10             # z0
	and	a3, a4, s0              # z8
	and	t2, ra, s11             # z15
	and	s6, a4, s3              # z17
	xor	t4, ra, a4              # t45
	xor	a1, a0, t5              # c12
	and	s5, t4, s4              # z16
	and	s10, ra, a5             # z6
	xor	s2, a2, t3              # c5
	xor	s0, t2, s5              # c1
	xor	s11, a0, a6             # c6
	xor	s3, t3, t1              # c4
	and	a4, t4, s7              # z7
	xor	t5, a7, s0              # c2
	xor	s4, t0, s0              # c13
	xor	a5, s9, s3              # c7
	xor	ra, a3, a5              # c9
	xor	a2, s11, s2             # c11
	xor	s5, s1, t5              # c3
	xor	a6, t5, s8              # c21
	xor	a0, a4, s11             # c8
	xor	t1, a0, ra              # c10
	xor	t3, s5, a2              # s3
	xor	s7, s10, a0             # c16
	xor	t4, t3, s7              # s1
	xor	a7, t6, t1              # c17
	xor	t0, t2, s7              # c20
	xor	s0, a6, a7              # s5
	xor	a3, s3, a1              # c14
	xor	a5, a3, t3              # s4
	xor	s2, a7, t0              # c26
	xor	s1, s2, s6              # s2
	xor	s8, s4, a3              # c18
	xor	t5, s5, s7              # s0
	xor	s11, t1, s8             # s6
	xor	a4, s9, s8              # s7
	li	ra, 0x63636363
	xor	a2, ra, a4
	slli	s10, s11, 1
	xor	a0, a2, s10
	slli	t6, s0, 2
	xor	t2, a0, t6
	slli	a6, a5, 3
	xor	a1, t2, a6
	slli	s3, t3, 4
	xor	a7, a1, s3
	slli	t0, s1, 5
	xor	s6, a7, t0
	slli	s2, t4, 6
	xor	s4, s6, s2
	slli	a3, t5, 7
	xor	a0, s4, a3
	lw	ra, 136(sp)
	ret
	.size tress_aes_sub_word, . - tress_aes_sub_word
