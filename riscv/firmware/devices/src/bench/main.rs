//! Cycles of every kernel for 32-bit RISC-V, PIPO's in a paper's layout among them, with the bytes of its code, tables, key and
//! stack: a table over the UART, then the same as lines of JSON. `tress study pipo-riscv` simulates its rows one by one, and
//! `tools/rtl` runs them on a core as RTL.
//!
//! A row is a kernel and the bytes of a call. Cycles are those of the very first call of all, which has to fetch its code, and of
//! one right after some others; what calling an empty function takes is taken off. Code is what this one operation links, data
//! that it needs beside its key are tables, stack is what it has changed of a painted kilobyte below the caller's. There are no
//! constants in any kernel. No kernel's time depends on its data, but on a core with a data cache that of those with `table`
//! in their names.
//!
//! A host may write what to do over `tress_parameters` in the ELF file, as for the program `kernels`. It finds the figures at
//! `tress_result`, five words a row, and the names of the rows at `tress_rows`.
#![no_std]
#![no_main]

mod measure;
mod memory;
mod report;
mod rows;

use core::{cell::UnsafeCell, hint::black_box};

use tress_runtime::{console, entry, region_name};

use measure::Call;
use memory::{Memory, sum};
use report::Figures;
use rows::{COUNT, ROWS, Row};

/// What the host asks for.
#[repr(C)]
struct Parameters {
    /// `"kernels1"`, by which the host knows what it writes over.
    magic: [u8; 8],
    /// The first row.
    first: u32,
    /// How many; those that there are not are left out.
    count: u32,
    /// Where words are stored to as well, or 0, and 0xffffffff at the end, for test benches that see only a bus.
    report: u32,
    /// Whether nothing is written to the console.
    quiet: u32,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_parameters: Parameters =
    Parameters { magic: *b"kernels1", first: 0, count: u32::MAX, report: 0, quiet: 0 };

/// What one hart alone uses.
struct Mine<T>(UnsafeCell<T>);

// SAFETY: one hart runs.
unsafe impl<T> Sync for Mine<T> {}

/// Of each row: cycles of the first call, of one after some others, instructions of that, the sum of the data after one, bytes
/// of stack.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static tress_result: Mine<[[u32; 5]; COUNT]> = Mine(UnsafeCell::new([[0; 5]; COUNT]));

/// Not on the stack, which is short.
static MEMORY: Mine<Memory> = Mine(UnsafeCell::new(Memory::new()));

// call.S marks them.
region_name!(2, "nothing");
region_name!(3, "call");

entry!(main);

fn main() -> i32 {
    // SAFETY: a static, which the host may have changed.
    let asked = unsafe { (&raw const tress_parameters).read_volatile() };
    // SAFETY: one hart runs, and this is the only place that asks for these.
    let (memory, result) = unsafe { (&mut *MEMORY.0.get(), &mut *tress_result.0.get()) };
    // What nobody refers to is not linked.
    black_box(&rows::tress_rows);
    let counts = asked.quiet != 0 || measure::counters_count();
    if asked.quiet == 0 {
        console::write("Tress: kernels for 32-bit RISC-V, in cycles of this hart's mcycle\n");
        if !counts {
            console::write(
                "WARNING: mcycle and minstret are not exact on this machine (QEMU's are not). Ignore cycles and instructions.\n",
            );
        }
        report::heading();
    }
    let mut left = &mut result[..];
    let mut place = 0;
    for row in &ROWS {
        let figures = left.split_off_mut(..row.bytes.len()).unwrap_or_default();
        for (&bytes, figures) in row.bytes.iter().zip(&mut *figures) {
            if (asked.first..asked.first.saturating_add(asked.count)).contains(&place) {
                *figures = measured(row, usize::from(bytes), memory);
                figures[..4].iter().for_each(|word| report(asked.report, *word));
            }
            place += 1;
        }
        if asked.quiet == 0 {
            report::line(row, &Figures::of(figures));
        }
    }
    report(asked.report, u32::MAX);
    let mut left = &result[..];
    for row in ROWS.iter().filter(|_| asked.quiet == 0) {
        let figures = left.split_off(..row.bytes.len()).unwrap_or_default();
        report::json(row, &Figures::of(figures), counts);
    }
    0
}

/// The figures of a row.
fn measured(row: &Row, bytes: usize, memory: &mut Memory) -> [u32; 5] {
    let arguments = memory.prepare(row, bytes);
    // SAFETY: arguments as the function's file has them; all that they point to stays where it is.
    let call = unsafe { Call::new(row.kernel.address(), arguments) };
    let nothing = Call::empty();
    memory.set_data();
    let [first, _] = call.first();
    let [cycles, instructions] = call.measure(before(bytes));
    memory.set_data();
    let stack = call.stack();
    let less = |count: u32, by: u32| count.wrapping_sub(by);
    [less(first, nothing[0]), less(cycles, nothing[0]), less(instructions, nothing[1]), sum(&memory.data), stack]
}

/// Calls before the one that is measured. The core's cache puts a line in any of its two ways, even where the other is empty,
/// so that code needs some passes to settle down. A long message has them in itself.
fn before(bytes: usize) -> usize {
    if bytes < 1024 { 8 } else { 1 }
}

fn report(address: u32, word: u32) {
    if address != 0 {
        // SAFETY: the host has named an address that takes words.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(address as usize).write_volatile(word) };
    }
}
