/* Programs in C for bare RISC-V harts, on the start code of tress-runtime. `int main(void)` runs on hart 0, and its result
   is the exit code.

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

/* Writes a string to the console. Only one hart may do so at a time. */
void tress_print(const char *text);

/* Writes an unsigned number. */
void tress_print_number(size_t number);

/* Ends the run for all harts, with an exit code of 0 to 255. */
_Noreturn void tress_exit(int code);

/* The number of this hart. */
size_t tress_hart(void);

/* Starts function(argument) on hart 1 or higher, which must be idle. */
void tress_spawn(size_t hart, void (*function)(size_t), size_t argument);

/* Waits until a hart has finished its function. */
void tress_join(size_t hart);

/* A barrier at which harts wait for each other. Initially all zeros. */
typedef struct {
    _Alignas(64) uint32_t words[16];
} tress_barrier;

/* Waits until `count` harts have arrived. Returns 1 to the last of them, 0 to the others. Not on targets without atomics
   (RV32IM). */
int tress_barrier_wait(tress_barrier *barrier, size_t count);

/* Marks the beginning of region `number`, a constant from 0 (no region) to 2047. The runtime uses region 1 for waiting. */
#define TRESS_MARK(number) __asm__ volatile("slti x0, x0, %0" : : "i"(number) : "memory")

/* Names a region. Use it outside functions: TRESS_REGION_NAME(2, key_setup). */
#define TRESS_REGION_NAME(number, name) \
    __asm__(".globl __region_" #number "_" #name "\n.set __region_" #number "_" #name ", " #number)

/* For `tress simulate --secret`: marks the current bytes as secret; marks bytes as public. */
#define TRESS_SECRET(pointer, bytes) __asm__ volatile("slt x0, %0, %1" : : "r"(pointer), "r"((size_t)(bytes)) : "memory")
#define TRESS_PUBLIC(pointer, bytes) __asm__ volatile("sltu x0, %0, %1" : : "r"(pointer), "r"((size_t)(bytes)) : "memory")

/* Cycles and instructions of this hart. On RV32, the lower halves of the counters. */
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
