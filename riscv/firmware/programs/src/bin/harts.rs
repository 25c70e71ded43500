//! An example: each hart adds up its part of a sum, and the harts meet at a barrier.
//!
//! `tress_harts` holds the number of harts, `HARTS` by default. The host may overwrite it.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicUsize, Ordering};

use tress_runtime::{entry, harts, println};

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_harts: u32 = 2;

static BARRIER: harts::Barrier = harts::Barrier::new();
static SUM: AtomicUsize = AtomicUsize::new(0);
static LATE: AtomicUsize = AtomicUsize::new(0);

/// The sum is that of 1 to this number.
const LAST: usize = 1000;

entry!(main);

fn main() -> i32 {
    // SAFETY: reads an initialised static. Volatile, because the host may have changed it in the file.
    let count = unsafe { (&raw const tress_harts).read_volatile() } as usize;
    harts::each(count, |hart| {
        let own: usize = (hart + 1..=LAST).step_by(count).sum();
        SUM.fetch_add(own, Ordering::Relaxed);
        BARRIER.wait(count);
        // After the barrier, the sum includes every part.
        if SUM.load(Ordering::Relaxed) != LAST * (LAST + 1) / 2 {
            LATE.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (sum, late) = (SUM.load(Ordering::Relaxed), LATE.load(Ordering::Relaxed));
    println!("{count} harts: {sum}");
    i32::from(late != 0 || sum != LAST * (LAST + 1) / 2)
}
