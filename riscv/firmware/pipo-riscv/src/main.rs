//! The kernels for 32-bit RISC-V, PIPO's in a paper's layout among them, each on messages of some lengths: cycles of the
//! first call and of a later one, instructions, stack, and a sum of what came out. What `tress study pipo-riscv` simulates,
//! and `tools/rtl` runs on a core as RTL.
//!
//! The host writes what to do over `tress_parameters` in the ELF file, as for the program `kernels`. It finds the figures at
//! `tress_result`, four words a row, the stack at `tress_stack`, a halfword a row, and the names of the rows at `tress_rows`. Cycles and
//! instructions are those of the call alone: what calling a function that returns at once takes is taken off.
#![no_std]
#![no_main]

mod assembly;
mod memory;
mod rows;

use core::cell::UnsafeCell;

use assembly::Call;
use memory::{Memory, sum};
use rows::{NAMES, ROWS};
use tress_runtime::{console, entry, region_name};

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

/// Cycles of the first call, of one after some others, instructions of that, the sum of the data after one; of each row.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static tress_result: Mine<[[u32; 4]; ROWS.len()]> = Mine(UnsafeCell::new([[0; 4]; ROWS.len()]));

/// Bytes of stack, of each row.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static tress_stack: Mine<[u16; ROWS.len()]> = Mine(UnsafeCell::new([0; ROWS.len()]));

/// Not on the stack.
static MEMORY: Mine<Memory> = Mine(UnsafeCell::new(Memory::new()));

// call.S marks them.
region_name!(2, "nothing");
region_name!(3, "call");

entry!(main);

fn main() -> i32 {
    // SAFETY: a static, which the host may have changed.
    let asked = unsafe { (&raw const tress_parameters).read_volatile() };
    // SAFETY: one hart runs, and this is the only place that asks for these.
    let (memory, result, stack) =
        unsafe { (&mut *MEMORY.0.get(), &mut *tress_result.0.get(), &mut *tress_stack.0.get()) };
    let mut names = NAMES.lines().skip(1 + asked.first as usize);
    let asked_for = ROWS.iter().zip(result).zip(stack).skip(asked.first as usize).take(asked.count as usize);
    for (((kernel, bytes), result), stack) in asked_for {
        memory.set_key();
        let call = kernel(memory, usize::from(*bytes));
        let nothing = Call::empty();
        memory.set_data();
        let [first, _] = call.first();
        let [cycles, instructions] = call.measure(before(*bytes));
        memory.set_data();
        *stack = call.stack() as u16;
        *result = [first - nothing[0], cycles - nothing[0], instructions - nothing[1], sum(&memory.data)];
        for word in *result {
            report(asked.report, word);
        }
        if asked.quiet == 0 {
            // Names are in flash, which is slow, and nowhere measured.
            console::write(names.next().unwrap_or_default());
            for number in [result[0], result[1], result[2], u32::from(*stack)] {
                console::write(" ");
                console::write_number(number as usize);
            }
            console::write(" ");
            console::write_hexadecimal(result[3] as usize);
            console::write("\n");
        }
    }
    report(asked.report, u32::MAX);
    0
}

/// Calls before the one that is measured. The core's cache puts a line in any of its two ways, even where the other is empty,
/// so that code needs some passes to settle down. A long message has them in itself.
fn before(bytes: u16) -> usize {
    if bytes < 1024 { 8 } else { 1 }
}

fn report(address: u32, word: u32) {
    if address != 0 {
        // SAFETY: the host has named an address that takes words.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(address as usize).write_volatile(word) };
    }
}
