//! Runs functions on other harts. A hart runs one function at a time; callers wait for it to finish before they start another.

use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
};

use crate::region::{WAIT, mark};

/// The most harts that have a stack.
pub const MAX: usize = 64;

/// Idle, the state that `join` waits for.
const IDLE: u32 = 0;
const WORK: u32 = 1;

/// The function for one hart to run, on a separate cache line.
#[repr(C, align(64))]
struct Mailbox {
    state: AtomicU32,
    function: AtomicUsize,
    argument: AtomicUsize,
}

#[allow(clippy::declare_interior_mutable_const)]
const EMPTY: Mailbox =
    Mailbox { state: AtomicU32::new(IDLE), function: AtomicUsize::new(0), argument: AtomicUsize::new(0) };

#[cfg(not(feature = "flash"))]
static MAILBOXES: [Mailbox; MAX] = [EMPTY; MAX];
/// With little memory there is only hart 0.
#[cfg(feature = "flash")]
static MAILBOXES: [Mailbox; 1] = [EMPTY; 1];

/// Starts `function(argument)` on a hart from 1 to [`MAX`] − 1, which must be idle.
///
/// # Panics
/// If the hart's number is out of range or the hart is busy. If the machine lacks the hart, [`join`] never returns.
pub fn spawn(hart: usize, function: extern "C" fn(usize), argument: usize) {
    assert!(hart != 0 && hart < MAILBOXES.len(), "no such hart");
    let mailbox = &MAILBOXES[hart];
    assert!(mailbox.state.load(Ordering::Acquire) == IDLE, "this hart works");
    mailbox.function.store(function as usize, Ordering::Relaxed);
    mailbox.argument.store(argument, Ordering::Relaxed);
    mailbox.state.store(WORK, Ordering::Release);
}

/// Waits until a hart has finished its function. The caller's region does not change.
pub fn join(hart: usize) {
    while MAILBOXES[hart].state.load(Ordering::Acquire) != IDLE {
        spin_loop();
    }
}

/// The loop of every hart but 0.
pub(crate) fn work(hart: usize) -> ! {
    let mailbox = &MAILBOXES[hart];
    loop {
        mark::<WAIT>();
        while mailbox.state.load(Ordering::Acquire) != WORK {
            spin_loop();
        }
        let function = mailbox.function.load(Ordering::Relaxed);
        // SAFETY: `spawn` stored a function of this type before the state, and stores no other one before this one is done.
        let function = unsafe { core::mem::transmute::<usize, extern "C" fn(usize)>(function) };
        function(mailbox.argument.load(Ordering::Relaxed));
        mailbox.state.store(IDLE, Ordering::Release);
    }
}

/// Runs `function(hart)` on harts 0 to `harts` − 1 in parallel, and returns when all are done. Only hart 0 may call it.
/// It waits in the region [`WAIT`].
pub fn each<F: Fn(usize) + Sync>(harts: usize, function: F) {
    extern "C" fn call<F: Fn(usize)>(argument: usize) {
        // SAFETY: the address is that of `function` below, which lives until all harts are done and is Sync.
        let function = unsafe { &*core::ptr::with_exposed_provenance::<F>(argument) };
        function(crate::counters::hart());
    }
    let argument = (&raw const function).expose_provenance();
    for hart in 1..harts {
        spawn(hart, call::<F>, argument);
    }
    call::<F>(argument);
    mark::<WAIT>();
    for hart in 1..harts {
        join(hart);
    }
}

/// A reusable barrier at which a number of harts wait for each other.
#[cfg(target_has_atomic = "32")]
#[repr(C, align(64))]
pub struct Barrier {
    arrived: AtomicU32,
    turn: AtomicU32,
}

#[cfg(target_has_atomic = "32")]
impl Barrier {
    /// Creates a barrier. The number of harts is passed to `wait`.
    pub const fn new() -> Barrier {
        Barrier { arrived: AtomicU32::new(0), turn: AtomicU32::new(0) }
    }

    /// Waits until `harts` harts have called it. Returns whether this one was the last.
    pub fn wait(&self, harts: usize) -> bool {
        // `turn` cannot change before this hart has arrived.
        let turn = self.turn.load(Ordering::Relaxed);
        let is_last = self.arrived.fetch_add(1, Ordering::AcqRel) as usize + 1 == harts;
        if is_last {
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn.wrapping_add(1), Ordering::Release);
        } else {
            while self.turn.load(Ordering::Acquire) == turn {
                spin_loop();
            }
        }
        is_last
    }
}

#[cfg(target_has_atomic = "32")]
impl Default for Barrier {
    fn default() -> Barrier {
        Barrier::new()
    }
}
