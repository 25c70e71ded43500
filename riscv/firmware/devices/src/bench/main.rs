//! Cycles of every kernel for 32-bit RISC-V (PIPO's in a paper's layout too), with the bytes of its code, tables, key
//! and stack. Writes a table over the UART, then the same figures as lines of JSON. `tress study pipo-riscv` simulates
//! the rows one by one, and `tools/rtl` runs them on the RTL of a core.
//!
//! A row is a kernel and the number of bytes of a call. It has the cycles of the first call, which must fetch its code,
//! and of a call after several others; the cycles of calling an empty function are subtracted. Code is what this
//! operation links, and tables are the data that it needs besides its key. Stack is the part of a painted kilobyte
//! below the caller's stack that it has changed. No kernel has constants. No kernel's time depends on its data, except
//! on a core with a data cache that of kernels with `table` in their names.
//!
//! A host may write its request over `tress_parameters` in the ELF file, as for the program `kernels`. It finds the
//! figures at `tress_result`, five words for each row, and the names of the rows at `tress_rows`.
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

/// The request of the host.
#[repr(C)]
struct Parameters {
    /// `"kernels1"`, by which the host finds this structure.
    magic: [u8; 8],
    /// The first row.
    first: u32,
    /// Number of rows. Rows past the last one are ignored.
    count: u32,
    /// Address to which each result word is stored too, with 0xffffffff at the end, or 0. For test benches that see only a bus.
    report: u32,
    /// Nonzero: nothing is written to the console.
    quiet: u32,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_parameters: Parameters =
    Parameters { magic: *b"kernels1", first: 0, count: u32::MAX, report: 0, quiet: 0 };

/// A cell that only one hart uses.
struct Mine<T>(UnsafeCell<T>);

// SAFETY: only one hart runs, so there are no concurrent accesses.
unsafe impl<T> Sync for Mine<T> {}

/// For each row: cycles of the first call, cycles and instructions of a call after several others, the sum of the data
/// after a call, and bytes of stack.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static tress_result: Mine<[[u32; 5]; COUNT]> = Mine(UnsafeCell::new([[0; 5]; COUNT]));

/// A static, because the stack is small.
static MEMORY: Mine<Memory> = Mine(UnsafeCell::new(Memory::new()));

// call.S marks these regions.
region_name!(2, "nothing");
region_name!(3, "call");

entry!(main);

fn main() -> i32 {
    // SAFETY: reads an initialised static. Volatile, because the host may have changed it in the file.
    let asked = unsafe { (&raw const tress_parameters).read_volatile() };
    // SAFETY: only one hart runs, and no other code creates references to these.
    let (memory, result) = unsafe { (&mut *MEMORY.0.get(), &mut *tress_result.0.get()) };
    // Keeps the names of the rows, which nothing else refers to, in the image.
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

/// Measures a row.
fn measured(row: &Row, bytes: usize, memory: &mut Memory) -> [u32; 5] {
    let arguments = memory.prepare(row, bytes);
    // SAFETY: the arguments match the function's file, and all that they point to outlives the call.
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

/// Number of calls before the measured one. The core's cache puts a line in either of its two ways, even if the other
/// is empty, so code needs several passes to settle. A long message includes them.
fn before(bytes: usize) -> usize {
    if bytes < 1024 { 8 } else { 1 }
}

fn report(address: u32, word: u32) {
    if address != 0 {
        // SAFETY: the host guarantees that words can be stored at this address.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(address as usize).write_volatile(word) };
    }
}
