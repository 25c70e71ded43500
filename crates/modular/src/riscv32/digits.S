# Numbers of 32-bit digits, the lowest first, on RV32IM: sums, differences, products, squares, Montgomery's reduction (P. L. Montgomery,
# Modular multiplication without trial division, 1985).
#
# Products consist of rows of eight: one digit x times a block of eight digits, which stays in registers, added to eight columns, which also
# stay in registers. Each row adds a digit from memory to the lowest column and writes it to memory. Since instructions have three operands,
# the other columns move down by one register while they are added to. The sum of a row fits into nine digits:
# (b^8 - 1) + (b - 1) + (b^8 - 1)(b - 1) = b^9 - 1.
#
# Constant time if mul and mulhu are, as on the E31: no branch and no address depends on a digit. The E31 has one multiplier beside its
# pipeline. It takes six cycles for a product, and writes the register in the fifth if no other instruction writes one then, else later. So
# the third instruction after each mulhu is a store; if there is nothing to store, it stores zero to the stack. A row takes 97 cycles, of
# which the multiplier takes 96.

	.option	push
	.option	arch, +m

	.macro	modular_function name
	.section .text.\name,"ax",@progbits
	.balign	4
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.endm

	.macro	modular_enter
	addi	sp, sp, -128
	sw	ra, 76(sp)
	sw	s0, 80(sp)
	sw	s1, 84(sp)
	sw	s2, 88(sp)
	sw	s3, 92(sp)
	sw	s4, 96(sp)
	sw	s5, 100(sp)
	sw	s6, 104(sp)
	sw	s7, 108(sp)
	sw	s8, 112(sp)
	sw	s9, 116(sp)
	sw	s10, 120(sp)
	sw	s11, 124(sp)
	.endm

	.macro	modular_leave
	lw	ra, 76(sp)
	lw	s0, 80(sp)
	lw	s1, 84(sp)
	lw	s2, 88(sp)
	lw	s3, 92(sp)
	lw	s4, 96(sp)
	lw	s5, 100(sp)
	lw	s6, 104(sp)
	lw	s7, 108(sp)
	lw	s8, 112(sp)
	lw	s9, 116(sp)
	lw	s10, 120(sp)
	lw	s11, 124(sp)
	addi	sp, sp, 128
	ret
	.endm

	# Loads the block s0 to s7 from \offset(\from).
	.macro	modular_block from, offset=0
	lw	s0, \offset(\from)
	lw	s1, \offset + 4(\from)
	lw	s2, \offset + 8(\from)
	lw	s3, \offset + 12(\from)
	lw	s4, \offset + 16(\from)
	lw	s5, \offset + 20(\from)
	lw	s6, \offset + 24(\from)
	lw	s7, \offset + 28(\from)
	.endm

	# Sets all columns to zero. As rows expect it, the highest column, t6, is the sum of t1, s9 and s10.
	.macro	modular_no_columns
	li	a4, 0
	li	a5, 0
	li	a6, 0
	li	a7, 0
	li	t3, 0
	li	t4, 0
	li	t5, 0
	li	t1, 0
	li	s9, 0
	li	s10, 0
	.endm

	.macro	modular_store_columns to
	sw	a4, 0(\to)
	sw	a5, 4(\to)
	sw	a6, 8(\to)
	sw	a7, 12(\to)
	sw	t3, 16(\to)
	sw	t4, 20(\to)
	sw	t5, 24(\to)
	sw	t6, 28(\to)
	.endm

	# Adds s8 times \digit to column \from, into column \to, with the carry t1 + s9 + s10 of the previous product; leaves such a carry. Stores
	# \value in between.
	.macro	modular_column to, from, digit, value=zero, at=0(sp)
	mul	t0, s8, \digit
	add	s9, s9, s10
	add	t2, t1, s9
	mulhu	t1, s8, \digit
	add	\to, \from, t0
	sltu	s9, \to, t0
	sw	\value, \at
	add	\to, \to, t2
	sltu	s10, \to, t2
	.endm

# Rows: each digit from a1 to a2, at least one, times the block, added to memory from a0 on. On entry and exit the eight columns are in a4
# to a7 and t3 to t6; on entry t6 is t1 + s9 + s10. Advances a0 and a1. Overwrites t0 to t2, s8 to s11, 0(sp).
	modular_function tress_modular_rows
	lw	s8, 0(a1)
	j	2f
	.balign	4
1:	lw	s8, 0(a1)
	add	t5, t5, t2
	sltu	s10, t5, t2
2:	mul	t0, s8, s0
	add	s9, s9, s10
	add	t6, t1, s9
	sw	zero, 0(sp)
	lw	t2, 0(a0)
	addi	a1, a1, 4
	mulhu	t1, s8, s0
	add	s11, a4, t0
	sltu	s9, s11, t0
	sw	zero, 0(sp)
	add	s11, s11, t2
	sltu	s10, s11, t2
	modular_column a4, a5, s1, s11, 0(a0)
	modular_column a5, a6, s2
	modular_column a6, a7, s3
	modular_column a7, t3, s4
	modular_column t3, t4, s5
	modular_column t4, t5, s6
	mul	t0, s8, s7
	add	s9, s9, s10
	add	t2, t1, s9
	sw	zero, 0(sp)
	addi	a0, a0, 4
	mulhu	t1, s8, s7
	add	t5, t6, t0
	sltu	s9, t5, t0
	# Takes the slot of a store. The rest of the column is processed above.
	bne	a1, a2, 1b
	add	t5, t5, t2
	sltu	s10, t5, t2
	add	s9, s9, s10
	add	t6, t1, s9
	ret
	.size	tress_modular_rows, . - tress_modular_rows

# void tress_modular_multiply(uint32_t *t, const uint32_t *a, const uint32_t *b, size_t n)
# t = a b. a and b have n digits, a positive multiple of eight, t has 2 n. t overlaps neither a nor b.
	modular_function tress_modular_multiply
	modular_enter
	slli	a3, a3, 2
	add	a4, a2, a3
	sw	a2, 4(sp)
	sw	a4, 8(sp)
	add	a4, a1, a3
	sw	a4, 12(sp)
	add	a3, a0, a3
	mv	a4, a0
1:	sw	zero, 0(a4)
	sw	zero, 4(a4)
	sw	zero, 8(a4)
	sw	zero, 12(a4)
	addi	a4, a4, 16
	bne	a4, a3, 1b
	mv	a3, a1
	# Multiplies each block of a by all digits of b.
2:	modular_block a3
	modular_no_columns
	lw	a1, 4(sp)
	lw	a2, 8(sp)
	jal	tress_modular_rows
	modular_store_columns a0
	lw	t0, 4(sp)
	lw	t1, 12(sp)
	sub	a0, a0, a2
	add	a0, a0, t0
	addi	a0, a0, 32
	addi	a3, a3, 32
	bne	a3, t1, 2b
	modular_leave
	.size	tress_modular_multiply, . - tress_modular_multiply

# void tress_modular_square(uint32_t *t, const uint32_t *a, uint32_t *doubled, size_t n)
# t = a a. a has n digits, a positive multiple of eight; t has 2 n + 1, the highest of which is zero; doubled has n + 1 digits of memory.
# Each block is multiplied by itself and by twice the digits above it.
	modular_function tress_modular_square
	modular_enter
	slli	a3, a3, 2
	add	a4, a1, a3
	sw	a4, 4(sp)
	li	t0, 0
	mv	a3, a0
	mv	a5, a1
	mv	a6, a2
1:	lw	t1, 0(a5)
	sw	zero, 0(a3)
	addi	a5, a5, 4
	addi	a3, a3, 4
	slli	t2, t1, 1
	or	t2, t2, t0
	srli	t0, t1, 31
	sw	t2, 0(a6)
	addi	a6, a6, 4
	bne	a5, a4, 1b
	sw	t0, 0(a6)
	sw	zero, 0(a3)
	addi	a6, a6, 4
	sw	a6, 8(sp)
	addi	a3, a2, 32
2:	modular_block a1
	modular_no_columns
	addi	a2, a1, 32
	jal	tress_modular_rows
	sw	a1, 12(sp)
	# The lowest bit comes from the block. After the last block this leaves zero.
	lw	t0, 0(a3)
	andi	t0, t0, -2
	sw	t0, 0(a3)
	mv	t1, t6
	li	s9, 0
	li	s10, 0
	mv	a1, a3
	lw	a2, 8(sp)
	jal	tress_modular_rows
	modular_store_columns a0
	lw	a1, 12(sp)
	lw	t0, 4(sp)
	sub	a0, a0, a2
	add	a0, a0, a3
	addi	a0, a0, 32
	addi	a3, a3, 32
	bne	a1, t0, 2b
	modular_leave
	.size	tress_modular_square, . - tress_modular_square

# void tress_modular_reduce(uint32_t *t, const uint32_t *modulus, uint32_t *result, size_t n, uint32_t inverse)
# result = t / b^n modulo N, below b^n: adds a multiple of N to t such that it is divisible by b^n, and if that carries, subtracts N. N and
# the result have n digits, a positive multiple of eight; t has 2 n and is overwritten. inverse is -1 / N modulo b. The result may be part
# of t's upper half or separate from it.
	modular_function tress_modular_reduce
	modular_enter
	slli	a3, a3, 2
	add	a5, a1, a3
	sw	a1, 36(sp)
	sw	a5, 40(sp)
	sw	a2, 44(sp)
	sw	a4, 48(sp)
	sw	zero, 52(sp)
	add	a5, a0, a3
	sw	a5, 60(sp)
	# Eight digits of the quotient from the lowest block of N, which clear as many columns; they are stored to 4(sp).
1:	sw	a0, 56(sp)
	lw	a1, 36(sp)
	modular_block a1
	lw	a4, 0(a0)
	lw	a5, 4(a0)
	lw	a6, 8(a0)
	lw	a7, 12(a0)
	lw	t3, 16(a0)
	lw	t4, 20(a0)
	lw	t5, 24(a0)
	lw	t1, 28(a0)
	li	s9, 0
	li	s10, 0
	addi	a3, sp, 4
	addi	a2, sp, 36
	lw	ra, 48(sp)
2:	mul	s8, a4, ra
	add	s9, s9, s10
	add	t6, t1, s9
	mulhu	t1, s8, s0
	# The sum of the low half and the column is zero, with a carry if the column was not zero.
	snez	s9, a4
	li	s10, 0
	sw	s8, 0(a3)
	addi	a3, a3, 4
	modular_column a4, a5, s1
	modular_column a5, a6, s2
	modular_column a6, a7, s3
	modular_column a7, t3, s4
	modular_column t3, t4, s5
	modular_column t4, t5, s6
	modular_column t5, t6, s7
	bne	a3, a2, 2b
	# These digits times the other digits of N.
	addi	a0, a0, 32
	addi	a1, a1, 32
	lw	a2, 40(sp)
	beq	a1, a2, 3f
	modular_block sp, 4
	jal	tress_modular_rows
	j	4f
3:	add	s9, s9, s10
	add	t6, t1, s9
	# The carry of the previous block is added where this block's columns are stored.
4:	lw	s9, 52(sp)
	.irp	column, a4, a5, a6, a7, t3, t4, t5, t6
	lw	t0, 0(a0)
	add	\column, \column, s9
	sltu	t1, \column, s9
	add	\column, \column, t0
	sltu	s9, \column, t0
	or	s9, s9, t1
	sw	\column, 0(a0)
	addi	a0, a0, 4
	.endr
	sw	s9, 52(sp)
	lw	a0, 56(sp)
	lw	a1, 60(sp)
	addi	a0, a0, 32
	bne	a0, a1, 1b
	# The upper half minus N times the carry.
	lw	a1, 36(sp)
	lw	a2, 40(sp)
	lw	a3, 44(sp)
	neg	s9, s9
	li	t2, 0
5:	.irp	offset, 0, 4, 8, 12
	lw	t0, \offset(a1)
	lw	t1, \offset(a0)
	and	t0, t0, s9
	sltu	t3, t1, t0
	sub	t1, t1, t0
	sltu	t4, t1, t2
	sub	t1, t1, t2
	or	t2, t3, t4
	sw	t1, \offset(a3)
	.endr
	addi	a0, a0, 16
	addi	a1, a1, 16
	addi	a3, a3, 16
	bne	a1, a2, 5b
	# Wipes the quotient on the stack.
	.irp	offset, 4, 8, 12, 16, 20, 24, 28, 32
	sw	zero, \offset(sp)
	.endr
	modular_leave
	.size	tress_modular_reduce, . - tress_modular_reduce

	# a4 is the carry. Adds digits \a and \b; the sum is stored to \offset(a0).
	.macro	modular_sum a, b, offset
	add	\a, \a, a4
	sltu	a4, \a, a4
	add	\a, \a, \b
	sltu	a7, \a, \b
	or	a4, a4, a7
	sw	\a, \offset(a0)
	.endm

	# a4 is the borrow.
	.macro	modular_difference a, b, offset
	sltu	a7, \a, a4
	sub	\a, \a, a4
	sltu	a4, \a, \b
	sub	\a, \a, \b
	or	a4, a4, a7
	sw	\a, \offset(a0)
	.endm

	# uint32_t \name(uint32_t *result, const uint32_t *a, const uint32_t *b, size_t n): applies \digit to n digits, any number; returns the
	# carry or borrow. The result may be a or b.
	.macro	modular_digits name, digit
	modular_function \name
	li	a4, 0
	andi	a5, a3, -4
	slli	a5, a5, 2
	slli	a3, a3, 2
	add	a5, a1, a5
	add	a3, a1, a3
	beq	a1, a5, 2f
1:	lw	t0, 0(a1)
	lw	t1, 0(a2)
	lw	t2, 4(a1)
	lw	t3, 4(a2)
	lw	t4, 8(a1)
	lw	t5, 8(a2)
	lw	t6, 12(a1)
	lw	a6, 12(a2)
	addi	a1, a1, 16
	addi	a2, a2, 16
	\digit	t0, t1, 0
	\digit	t2, t3, 4
	\digit	t4, t5, 8
	\digit	t6, a6, 12
	addi	a0, a0, 16
	bne	a1, a5, 1b
2:	beq	a1, a3, 4f
3:	lw	t0, 0(a1)
	lw	t1, 0(a2)
	addi	a1, a1, 4
	addi	a2, a2, 4
	\digit	t0, t1, 0
	addi	a0, a0, 4
	bne	a1, a3, 3b
4:	mv	a0, a4
	ret
	.size	\name, . - \name
	.endm

	modular_digits tress_modular_add, modular_sum
	modular_digits tress_modular_subtract, modular_difference

	.option	pop
