//! The barrier of POSIX threads, in the C library of this system. macOS and Windows have none.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::time::Instant;
use std::{process, ptr, thread};

struct PosixBarrier(UnsafeCell<MaybeUninit<libc::pthread_barrier_t>>);

// SAFETY: POSIX lets any number of threads wait at a barrier at the same time.
unsafe impl Sync for PosixBarrier {}

impl PosixBarrier {
    fn pointer(&self) -> *mut libc::pthread_barrier_t {
        self.0.get().cast()
    }
}

/// Seconds of one wait between `threads` threads, from `rounds` of them; `None` if the system refuses a barrier.
pub fn barrier_seconds(threads: u32, rounds: u32) -> Option<f64> {
    let barrier = PosixBarrier(UnsafeCell::new(MaybeUninit::uninit()));
    // SAFETY: the barrier stays in its place until it is destroyed below; without attributes it has the default ones.
    if unsafe { libc::pthread_barrier_init(barrier.pointer(), ptr::null(), threads) } != 0 {
        return None;
    }
    // SAFETY: the barrier was initialised, and lives until all threads have ended.
    let wait = || unsafe { libc::pthread_barrier_wait(barrier.pointer()) };
    let seconds = thread::scope(|scope| {
        for _ in 1..threads {
            let run = || (0..=rounds).for_each(|_| _ = wait());
            // Without all of its threads the barrier would hold the others indefinitely.
            thread::Builder::new().spawn_scoped(scope, run).map_or_else(|_| process::abort(), drop);
        }
        wait();
        let start = Instant::now();
        (0..rounds).for_each(|_| _ = wait());
        start.elapsed().as_secs_f64()
    });
    // SAFETY: it was initialised, and nobody waits: all threads have ended.
    unsafe { libc::pthread_barrier_destroy(barrier.pointer()) };
    Some(seconds / f64::from(rounds))
}
