# Start and exit of secrets.c on `tress simulate`: RAM at 0x80000000; the result of main is the exit code (HTIF).

	.section .text.start, "ax"
	.globl	_start
_start:
	.option	push
	.option	norelax
	la	gp, __global_pointer$
	.option	pop
	la	sp, stack_top
	call	main
	slli	a0, a0, 1
	ori	a0, a0, 1
	la	t0, tohost
	sw	a0, 0(t0)
	sw	zero, 4(t0)
1:	j	1b

	.data
	.balign	8
	.globl	tohost
tohost:	.space 8

	.bss
	.balign	16
	.space	16384
stack_top:
