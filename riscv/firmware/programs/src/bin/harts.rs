//! An example: every hart adds up its part of a sum, and they meet at a barrier.
//!
//! `HARTS` of `tress_harts` is how many there are to be; the host may write over it.
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

/// What is added up: 1 to this.
const LAST: usize = 1000;

entry!(main);

fn main() -> i32 {
    // SAFETY: a static, which the host may have changed.
    let count = unsafe { (&raw const tress_harts).read_volatile() } as usize;
    harts::each(count, |hart| {
        let own: usize = (hart + 1..=LAST).step_by(count).sum();
        SUM.fetch_add(own, Ordering::Relaxed);
        BARRIER.wait(count);
        // Behind the barrier every part is in.
        if SUM.load(Ordering::Relaxed) != LAST * (LAST + 1) / 2 {
            LATE.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (sum, late) = (SUM.load(Ordering::Relaxed), LATE.load(Ordering::Relaxed));
    println!("{count} harts: {sum}");
    i32::from(late != 0 || sum != LAST * (LAST + 1) / 2)
}
