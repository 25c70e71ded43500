//! Threads that outlive the work: they are started when work first wants them, and wait for more.

use std::any::Any;
use std::mem::{take, transmute};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{hint, process, ptr, thread};

/// The most threads that work gets, the caller's among them.
pub const MAX_THREADS: usize = 1024;

/// Of a helper's stack, overwritten when work ends: many times what the kernels of ciphers use.
const STACK_BYTES: usize = 64 << 10;

/// Helper threads that wait for work.
///
/// A pool starts helpers when work first asks for them: one less than there are cores or, if that is more, than one call asked
/// for. They serve all callers. Where the system refuses a thread, there are fewer; the caller always works, too. Helpers that
/// have nothing to do sleep, have nothing of the work on their stacks, and do not keep the process from exiting. In a process that
/// was forked, a pool starts anew. Dropping a pool ends its helpers without waiting for them.
#[derive(Debug, Default)]
pub struct Pool {
    /// Null before the first use. What belongs to the process that forked this one stays, because its lock may be held by a thread
    /// that is not here.
    current: AtomicPtr<Generation>,
}

/// A pool in one process.
pub(crate) struct Generation {
    process: u32,
    cores: usize,
    pub(crate) shared: Arc<Shared>,
}

/// What callers and helpers share.
#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Wakes helpers.
    offered: Condvar,
    /// Wakes callers.
    ended: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    offers: Vec<Offer>,
    /// Of the next offer.
    number: u64,
    helpers: usize,
    /// Helpers that wait, or have just been started.
    idle: usize,
    is_closed: bool,
}

/// Work of one call.
struct Offer {
    number: u64,
    work: &'static (dyn Fn() + Sync),
    /// Helpers that may still begin.
    places: usize,
    /// Helpers that have begun and not ended.
    running: usize,
    panics: Vec<Box<dyn Any + Send>>,
}

impl Pool {
    /// A pool without threads yet.
    pub const fn new() -> Self {
        Self { current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The pool of this process.
    pub fn shared() -> &'static Self {
        static SHARED: Pool = Pool::new();
        &SHARED
    }

    /// Calls `work` on this thread and, at the same time, on up to `threads - 1` helpers; returns when all calls have ended.
    /// 0 counts as 1 thread; it is not one for each core, as in [`ccm::seal`](crate::ccm::seal).
    /// Helpers that have not begun when the call on this thread ends do not begin any more. So `work` takes its parts from
    /// a common list until that is empty. It may use the pool, but must not fork.
    ///
    /// # Panics
    /// With the panic of `work`, of this thread's call first, after all calls have ended.
    pub fn run(&self, threads: usize, work: impl Fn() + Sync) {
        let places = threads.clamp(1, MAX_THREADS) - 1;
        if places == 0 {
            return work();
        }
        let generation = self.generation();
        let shared = &generation.shared;
        shared.start(places, places.max(generation.cores - 1));
        let work: &(dyn Fn() + Sync) = &work;
        // SAFETY: the reference is used by helpers only, between taking a place of the offer and counting themselves out of
        // `running`, both under the lock. `withdraw` takes the offer back and waits until nobody runs it; nothing between here and its end
        // unwinds, as a panic of `work` is caught. So no helper has the reference when this function returns or unwinds, until when
        // `work` is borrowed.
        let lasting = unsafe { transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
        let number = shared.offer(places, lasting);
        let own = catch_unwind(AssertUnwindSafe(work));
        let panics = shared.withdraw(number);
        if let Some(panic) = own.err().into_iter().chain(panics).next() {
            resume_unwind(panic);
        }
    }

    /// Cores that this process may use, as they were at the first use.
    pub(crate) fn cores(&self) -> usize {
        self.generation().cores
    }

    /// The pool in this process.
    pub(crate) fn generation(&self) -> &Generation {
        let process = process::id();
        let mut current = self.current.load(Ordering::Acquire);
        loop {
            // SAFETY: null, or a box that only `drop` frees.
            match unsafe { current.as_ref() } {
                Some(generation) if generation.process == process => return generation,
                _ => {}
            }
            let cores = thread::available_parallelism().map_or(1, usize::from);
            let new = Box::into_raw(Box::new(Generation { process, cores, shared: Arc::default() }));
            current = match self.current.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => new,
                Err(other) => {
                    // SAFETY: just made, and nobody else has seen it.
                    drop(unsafe { Box::from_raw(new) });
                    other
                }
            };
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        if !current.is_null() {
            // SAFETY: a box of `generation`, and nobody else has the pool any more.
            let generation = unsafe { Box::from_raw(current) };
            if generation.process == process::id() {
                generation.shared.lock().is_closed = true;
                generation.shared.offered.notify_all();
            }
        }
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts helpers if too few are idle for all offers and one with this many places, up to `most` in all.
    fn start(self: &Arc<Self>, places: usize, most: usize) {
        let mut state = self.lock();
        let wanted = places + state.offers.iter().map(|offer| offer.places).sum::<usize>();
        let new = wanted.saturating_sub(state.idle).min(most.saturating_sub(state.helpers));
        state.helpers += new;
        state.idle += new;
        drop(state);
        for started in 0..new {
            let shared = Arc::clone(self);
            if thread::Builder::new().name("tress-lanes".into()).spawn(move || shared.help()).is_err() {
                let mut state = self.lock();
                state.helpers -= new - started;
                state.idle -= new - started;
                break;
            }
        }
    }

    /// Puts work where helpers find it; its number.
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

    /// Lets no more helpers begin this work, and waits for those that have; their panics.
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

    /// The life of a helper.
    fn help(&self) {
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

/// A helper's stack stays when a key is gone. The frames of calls that have returned lie below this one.
#[inline(never)]
fn wipe_stack() {
    let mut below = [0_u8; STACK_BYTES];
    hint::black_box(&mut below);
}
