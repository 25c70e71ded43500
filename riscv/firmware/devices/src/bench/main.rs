//! Cycles of every kernel for 32-bit RISC-V, with the bytes of its code, tables, key and stack: a table over the UART, then the
//! same as lines of JSON.
//!
//! A kernel is called with the least work and with a kilobyte, each twice; `first` is the very first call, which has to fetch
//! its code, the others find theirs in the instruction cache as far as it holds it. What calling an empty function takes is
//! taken off. Code is what this one operation links, data that it needs beside its key are tables, stack is what it has
//! changed of a painted kilobyte below the caller's. There are no constants in any kernel.
//!
//! Data are whatever the calls before have left: no kernel's time depends on them, but on a core with a data cache that of
//! those with `table` in their names.
#![no_std]
#![no_main]

mod measure;
mod report;
mod rows;

use core::cell::UnsafeCell;

use tress_runtime::{console, entry};

use measure::{Buffers, Figures};
use rows::ROWS;

/// What each row came to, by its key's size.
struct Results(UnsafeCell<[[Figures; 2]; ROWS.len()]>);

// SAFETY: one hart runs.
unsafe impl Sync for Results {}

static RESULTS: Results = Results(UnsafeCell::new([[Figures::NONE; 2]; ROWS.len()]));

entry!(main);

fn main() -> i32 {
    // SAFETY: one hart runs, and this is the only place that asks for it.
    let results = unsafe { &mut *RESULTS.0.get() };
    let buffers = Buffers::take();
    let counts = measure::counters_count();
    console::write("Tress: kernels for 32-bit RISC-V, in cycles of this hart's mcycle\n");
    if !counts {
        console::write(
            "WARNING: mcycle and minstret are not exact on this machine (QEMU's are not). Ignore cycles and instructions.\n",
        );
    }
    report::heading();
    // All rows of a key's size in turn, since a row may use what the one before has prepared.
    for (size, bits) in rows::BITS.into_iter().enumerate() {
        for (row, result) in ROWS.iter().zip(&mut *results) {
            if row.takes(bits) {
                result[size] = measure::measure(row, bits, buffers);
                report::line(row, bits, &result[size]);
            }
        }
    }
    for (size, bits) in rows::BITS.into_iter().enumerate() {
        for (row, result) in ROWS.iter().zip(&*results) {
            if row.takes(bits) {
                report::json(row, bits, &result[size], counts);
            }
        }
    }
    0
}
