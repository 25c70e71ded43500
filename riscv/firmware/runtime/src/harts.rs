//! Functions on many harts. A hart does one thing at a time; whoever gives it work waits for its end before it gives more.

use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
};

use crate::region::{WAIT, mark};

/// Most harts that have a stack.
pub const MAX: usize = 64;

/// Nothing to do; what `join` waits for.
const IDLE: u32 = 0;
const WORK: u32 = 1;

/// Work for one hart, on a cache line of its own.
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
/// With little memory there is one hart, and nobody to send to.
#[cfg(feature = "flash")]
static MAILBOXES: [Mailbox; 1] = [EMPTY; 1];

/// Begins `function(argument)` on a hart from 1 to [`MAX`] − 1 that has nothing to do.
///
/// # Panics
/// For a hart that cannot be, or that works. A hart that this machine lacks is never done: [`join`] waits for ever.
pub fn spawn(hart: usize, function: extern "C" fn(usize), argument: usize) {
    assert!(hart != 0 && hart < MAILBOXES.len(), "no such hart");
    let mailbox = &MAILBOXES[hart];
    assert!(mailbox.state.load(Ordering::Acquire) == IDLE, "this hart works");
    mailbox.function.store(function as usize, Ordering::Relaxed);
    mailbox.argument.store(argument, Ordering::Relaxed);
    mailbox.state.store(WORK, Ordering::Release);
}

/// Waits until a hart has done its work, in whatever region the caller is.
pub fn join(hart: usize) {
    while MAILBOXES[hart].state.load(Ordering::Acquire) != IDLE {
        spin_loop();
    }
}

/// The rest of a hart's life.
pub(crate) fn work(hart: usize) -> ! {
    let mailbox = &MAILBOXES[hart];
    loop {
        mark::<WAIT>();
        while mailbox.state.load(Ordering::Acquire) != WORK {
            spin_loop();
        }
        let function = mailbox.function.load(Ordering::Relaxed);
        // SAFETY: `spawn` has stored such a function before the state, and stores no other before this one is done.
        let function = unsafe { core::mem::transmute::<usize, extern "C" fn(usize)>(function) };
        function(mailbox.argument.load(Ordering::Relaxed));
        mailbox.state.store(IDLE, Ordering::Release);
    }
}

/// `function(hart)` on harts 0 to `harts` − 1 at the same time; back when all are done. Hart 0 has to call it, and waits
/// in the region [`WAIT`].
pub fn each<F: Fn(usize) + Sync>(harts: usize, function: F) {
    extern "C" fn call<F: Fn(usize)>(argument: usize) {
        // SAFETY: the address of `function` below, which lives until all harts are done. It is Sync.
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

/// A place where a number of harts wait for each other, as often as they like.
#[cfg(target_has_atomic = "32")]
#[repr(C, align(64))]
pub struct Barrier {
    arrived: AtomicU32,
    turn: AtomicU32,
}

#[cfg(target_has_atomic = "32")]
impl Barrier {
    /// A barrier; how many harts meet at it is said when they do.
    pub const fn new() -> Barrier {
        Barrier { arrived: AtomicU32::new(0), turn: AtomicU32::new(0) }
    }

    /// Waits until `harts` harts have come here.
    pub fn wait(&self, harts: usize) {
        // The turn does not change before this hart has arrived.
        let turn = self.turn.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) as usize + 1 == harts {
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn.wrapping_add(1), Ordering::Release);
        } else {
            while self.turn.load(Ordering::Acquire) == turn {
                spin_loop();
            }
        }
    }
}

#[cfg(target_has_atomic = "32")]
impl Default for Barrier {
    fn default() -> Barrier {
        Barrier::new()
    }
}
