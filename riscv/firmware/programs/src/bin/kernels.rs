//! Runs each kernel twice, and reports the cycles of both runs and the instructions and result of the second.
//!
//! The host writes its request over `tress_parameters` in the ELF file, and finds the figures at `tress_result`: four
//! words for each kernel, in the order above. The same figures are a line on the console. If `report` is not 0, every
//! word is stored to that address too, with 0xffffffff at the end, for test benches that see only a bus.
#![no_std]
#![no_main]

use core::{cell::UnsafeCell, hint::black_box};

use tress_programs::{
    kernels::{ALL, Memory},
    numbers::Numbers,
};
use tress_runtime::{console, counters, entry};

/// The request of the host.
#[repr(C)]
struct Parameters {
    /// `"kernels1"`, by which the host finds this structure.
    magic: [u8; 8],
    /// The first kernel.
    first: u32,
    /// Number of kernels. Kernels past the last one are ignored.
    count: u32,
    /// Address to which each result word is stored too, or 0.
    report: u32,
    /// Nonzero: nothing is written to the console.
    quiet: u32,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_parameters: Parameters =
    Parameters { magic: *b"kernels1", first: 0, count: u32::MAX, report: 0, quiet: 0 };

/// Cycles of the first run, cycles of the second, instructions of the second, and its result.
type Figures = [u32; 4];

struct Results(UnsafeCell<[Figures; ALL.len()]>);

// SAFETY: only one hart runs, so there are no concurrent accesses.
unsafe impl Sync for Results {}

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static tress_result: Results = Results(UnsafeCell::new([[0; 4]; ALL.len()]));

/// A static: with 16 KiB of memory, the largest kernel needs almost all of the stack.
struct Work(UnsafeCell<Memory>);

// SAFETY: only one hart runs, so there are no concurrent accesses.
unsafe impl Sync for Work {}

static WORK: Work = Work(UnsafeCell::new(Memory { from: [0; 256], to: [0; 256] }));

entry!(main);

fn main() -> i32 {
    // SAFETY: reads an initialised static. Volatile, because the host may have changed it in the file.
    let asked = unsafe { (&raw const tress_parameters).read_volatile() };
    // SAFETY: only one hart runs, and no other code creates references to it.
    let memory = unsafe { &mut *WORK.0.get() };
    let asked_for = ALL.iter().skip(asked.first as usize).take(asked.count as usize);
    for (place, kernel) in asked_for.enumerate() {
        let mut figures = [0; 4];
        for run in 0..2 {
            let mut numbers = Numbers(1);
            memory.from.fill_with(|| numbers.number());
            (kernel.prepare)(memory);
            let (cycles, instructions) = (counters::cycles(), counters::instructions());
            let value = (kernel.run)(black_box(&mut *memory));
            let (instructions, cycles) =
                (counters::instructions().wrapping_sub(instructions), counters::cycles().wrapping_sub(cycles));
            figures[run] = cycles as u32;
            figures[2] = instructions as u32;
            figures[3] = black_box(value);
        }
        // SAFETY: only one hart runs, and `take` and `skip` keep the index in range.
        unsafe { (*tress_result.0.get())[place] = figures };
        for word in figures {
            report(asked.report, word);
        }
        if asked.quiet == 0 {
            console::write(kernel.name);
            for number in &figures[..3] {
                console::write(" ");
                console::write_number(*number as usize);
            }
            console::write(" ");
            console::write_hexadecimal(figures[3] as usize);
            console::write("\n");
        }
    }
    report(asked.report, u32::MAX);
    0
}

fn report(address: u32, word: u32) {
    if address != 0 {
        // SAFETY: the host guarantees that words can be stored at this address.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(address as usize).write_volatile(word) };
    }
}
