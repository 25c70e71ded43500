/* Programs in C for bare RISC-V harts, on the start code of tress-runtime. `int main(void)` runs on hart 0, and what it
   returns is the exit code.

       riscv64-unknown-elf-gcc -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -ffreestanding -nostdlib -nostartfiles \
           -I riscv/firmware/c/include -L riscv/firmware/runtime/link -T ram.x program.c libtress_runtime.a -lgcc -o program.elf

   The library: `cargo build --release -p tress-runtime-c --target riscv64gc-unknown-none-elf` in firmware/, or
   riscv32imac-unknown-none-elf with -march=rv32imac -mabi=ilp32. */
#ifndef TRESS_RUNTIME_H
#define TRESS_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a text to the console. One hart at a time. */
void tress_print(const char *text);

/* Writes a number, unsigned. */
void tress_print_number(size_t number);

/* Ends the run for all harts, with an exit code of 0 to 255. */
_Noreturn void tress_exit(int code);

/* The number of this hart. */
size_t tress_hart(void);

/* Begins function(argument) on a hart from 1 on that has nothing to do. */
void tress_spawn(size_t hart, void (*function)(size_t), size_t argument);

/* Waits until a hart has done its work. */
void tress_join(size_t hart);

/* A place where harts wait for each other; all zeros to begin with. */
typedef struct {
    _Alignas(64) uint32_t words[16];
} tress_barrier;

/* Waits until `count` harts have come here. Not on targets without atomics (RV32IM). */
void tress_barrier_wait(tress_barrier *barrier, size_t count);

/* From here on this hart is in region `number`, a constant from 0 (none) to 2047; 1 is the runtime's, for waiting. */
#define TRESS_MARK(number) __asm__ volatile("slti x0, x0, %0" : : "i"(number) : "memory")

/* Names a region, outside of functions: TRESS_REGION_NAME(2, key_setup). */
#define TRESS_REGION_NAME(number, name) \
    __asm__(".globl __region_" #number "_" #name "\n.set __region_" #number "_" #name ", " #number)

/* For `tress simulate --secret`: the bytes, as they stand there, are secret from here on; they are public from here on. */
#define TRESS_SECRET(pointer, bytes) __asm__ volatile("slt x0, %0, %1" : : "r"(pointer), "r"((size_t)(bytes)) : "memory")
#define TRESS_PUBLIC(pointer, bytes) __asm__ volatile("sltu x0, %0, %1" : : "r"(pointer), "r"((size_t)(bytes)) : "memory")

/* Cycles and instructions of this hart; the lower halves of RV32's counters. */
static inline size_t tress_cycles(void) {
    size_t count;
    __asm__ volatile("csrr %0, mcycle" : "=r"(count));
    return count;
}

static inline size_t tress_instructions(void) {
    size_t count;
    __asm__ volatile("csrr %0, minstret" : "=r"(count));
    return count;
}

#ifdef __cplusplus
}
#endif

#endif
