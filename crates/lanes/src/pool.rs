//! Threads that are started when they are first needed, and then wait for more work.

use std::any::Any;
use std::hint;
use std::mem::{take, transmute};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::fork::PerProcess;

/// Largest number of threads for one call, including the caller's.
pub const MAX_THREADS: usize = 1024;

/// Number of bytes that key setup and lanes use of a stack at most, with the functions around them. A call that overwrites as much needs
/// less than the 24 KiB that `docs/reference/c.md` promises.
pub const STACK_BYTES: usize = 22 << 10;

/// Helper threads that wait for work.
///
/// A pool starts helpers when they are first needed. It has up to one fewer than there are cores, or one fewer than the most threads
/// that one call has asked for, whichever is more. Helpers serve all callers. If the system refuses a thread, there are fewer; the
/// caller's thread always works too. Idle helpers sleep, keep no data of the work on their stacks, and do not keep the process from
/// exiting. In a forked process, a pool starts new helpers. Dropping a pool ends its helpers without waiting for them.
#[derive(Debug, Default)]
pub struct Pool {
    current: PerProcess<ProcessPool>,
}

/// The state of a pool in one process.
pub(crate) struct ProcessPool {
    cores: usize,
    pub(crate) shared: Arc<PoolShared>,
}

/// The state that callers and helpers share.
#[derive(Default)]
pub(crate) struct PoolShared {
    state: Mutex<PoolState>,
    /// Wakes helpers.
    offered: Condvar,
    /// Wakes callers.
    ended: Condvar,
}

#[derive(Default)]
pub(crate) struct PoolState {
    offers: Vec<Offer>,
    /// Number of the next offer.
    number: u64,
    helpers: usize,
    /// Number of helpers that wait or have just been started.
    idle: usize,
    is_closed: bool,
}

/// The work of one call.
struct Offer {
    number: u64,
    work: &'static (dyn Fn() + Sync),
    /// Number of helpers that may still begin.
    places: usize,
    /// Number of helpers that have begun and not ended.
    running: usize,
    panics: Vec<Box<dyn Any + Send>>,
}

impl Pool {
    /// Creates a pool, without threads yet.
    pub const fn new() -> Self {
        Self { current: PerProcess::new() }
    }

    /// The shared pool of this process.
    pub fn shared() -> &'static Self {
        static SHARED: Pool = Pool::new();
        &SHARED
    }

    /// Calls `work` on this thread and, in parallel, on up to `threads - 1` helpers. Returns when all calls have ended.
    /// 0 counts as 1 thread, unlike in [`ccm::seal`](crate::ccm::seal), where it means one for each core.
    /// Helpers that have not begun when the call on this thread ends do not begin at all. So `work` must take its parts from
    /// a shared list until that is empty. It may use the pool, but must not fork.
    ///
    /// # Panics
    /// With a panic of `work`, preferably that of this thread's call, after all calls have ended.
    pub fn run(&self, threads: usize, work: impl Fn() + Sync) {
        let places = threads.clamp(1, MAX_THREADS) - 1;
        if places == 0 {
            return work();
        }
        let generation = self.generation();
        let shared = &generation.shared;
        shared.start(places, places.max(generation.cores - 1));
        let work: &(dyn Fn() + Sync) = &work;
        // SAFETY: only helpers use the reference, and only while they count in `running`: both changes of that count are under the lock.
        // `withdraw` removes the offer after it has waited until `running` is 0. Nothing unwinds between here and the end of
        // `withdraw`, because a panic of `work` is caught. So no helper has the reference when this function returns or unwinds, and
        // `work` is borrowed until then.
        let lasting = unsafe { transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
        let number = shared.offer(places, lasting);
        let own = catch_unwind(AssertUnwindSafe(work));
        wipe_stack();
        let panics = shared.withdraw(number);
        if let Some(panic) = own.err().into_iter().chain(panics).next() {
            resume_unwind(panic);
        }
    }

    /// Number of cores that this process may use, at the time of the pool's first use.
    pub(crate) fn cores(&self) -> usize {
        self.generation().cores
    }

    /// The state of the pool in this process, which is created if there is none.
    pub(crate) fn generation(&self) -> &ProcessPool {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        self.current.get_or(|| ProcessPool { cores: cores(), shared: Arc::default() })
    }
}

impl Drop for ProcessPool {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.offered.notify_all();
    }
}

impl PoolShared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts helpers if too few are idle for all offers and a new one with `places`. The pool has up to `most` helpers.
    fn start(self: &Arc<Self>, places: usize, most: usize) {
        let mut state = self.lock();
        let wanted = places + state.offers.iter().map(|offer| offer.places).sum::<usize>();
        let new = wanted.saturating_sub(state.idle).min(most.saturating_sub(state.helpers));
        state.helpers += new;
        state.idle += new;
        drop(state);
        for started in 0..new {
            let shared = Arc::clone(self);
            if thread::Builder::new().name("tress-lanes".into()).spawn(move || shared.help_loop()).is_err() {
                let mut state = self.lock();
                state.helpers -= new - started;
                state.idle -= new - started;
                break;
            }
        }
    }

    /// Offers work to helpers, and returns the number of the offer.
    fn offer(&self, places: usize, work: &'static (dyn Fn() + Sync)) -> u64 {
        let mut state = self.lock();
        let number = state.number;
        state.number += 1;
        state.offers.push(Offer { number, work, places, running: 0, panics: Vec::new() });
        let woken = places.min(state.idle);
        drop(state);
        for _ in 0..woken {
            self.offered.notify_one();
        }
        number
    }

    /// Lets no more helpers begin this work, waits for those that have begun, and returns their panics.
    fn withdraw(&self, number: u64) -> Vec<Box<dyn Any + Send>> {
        let mut state = self.lock();
        loop {
            let place = state.offers.iter().position(|offer| offer.number == number).expect("only this removes it");
            let offer = &mut state.offers[place];
            offer.places = 0;
            if offer.running == 0 {
                return take(&mut state.offers.swap_remove(place).panics);
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The loop of a helper.
    fn help_loop(&self) {
        let mut state = self.lock();
        state.idle -= 1;
        while !state.is_closed {
            let Some(offer) = state.offers.iter_mut().find(|offer| offer.places > 0) else {
                state.idle += 1;
                state = self.offered.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            offer.places -= 1;
            offer.running += 1;
            let (number, work) = (offer.number, offer.work);
            drop(state);
            let outcome = catch_unwind(AssertUnwindSafe(work));
            wipe_stack();
            state = self.lock();
            let offer = state.offers.iter_mut().find(|offer| offer.number == number).expect("this helper runs it");
            offer.running -= 1;
            offer.panics.extend(outcome.err());
            if offer.running == 0 {
                self.ended.notify_all();
            }
        }
    }
}

/// Overwrites `STACK_BYTES` bytes of the stack below this frame, where calls that have returned may have left keys.
#[inline(never)]
pub fn wipe_stack() {
    let mut below = [0_u8; STACK_BYTES];
    hint::black_box(&mut below);
}
