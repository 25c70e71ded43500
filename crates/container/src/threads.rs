//! The number of threads, and starting them. A system may refuse a thread (`pids.max`, `TasksMax`, `ulimit -u`). Then
//! [`std::thread::Scope::spawn`] panics, but the functions here return an error, so that a caller that can do the work alone continues.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

pub use tress_lanes::MAX_THREADS;
use tress_lanes::wipe_stack;

use crate::{Error, ErrorKind};

/// Number of threads that work, including the caller's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One for each core that this process may use.
    #[default]
    All,
    /// This number, at most [`MAX_THREADS`] and two for each core.
    Exactly(NonZero<usize>),
}

impl Threads {
    /// Only the caller's thread.
    pub const ONE: Self = Self::Exactly(NonZero::<usize>::MIN);

    /// The number of threads on this machine. More than two for each core would only wait for cores, with buffers that no cache holds.
    pub fn count(self) -> usize {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        match self {
            Self::All => cores,
            Self::Exactly(count) => count.get().min(2 * cores).min(MAX_THREADS),
        }
    }
}

/// Converts a number as commands and other languages use it: 0 is [`Threads::All`].
impl From<usize> for Threads {
    fn from(count: usize) -> Self {
        NonZero::new(count).map_or(Self::All, Self::Exactly)
    }
}

/// Starts a thread in this scope; [`ErrorKind::NoThread`] if the system refuses it. At its end the thread overwrites its stack, which the C
/// library may keep for the next thread.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    #[cfg(any(test, feature = "testing"))]
    if refused() {
        return Err(Error::new(ErrorKind::NoThread));
    }
    let clean = move || {
        let result = work();
        wipe_stack();
        result
    };
    Builder::new().spawn_scoped(scope, clean).map_err(|_| Error::new(ErrorKind::NoThread))
}

/// Runs `work` on this many threads, numbered from 0. The caller's thread is number 0, and its result is returned. The threads may wait
/// for each other, so if the system refuses one, none of them runs `work`.
pub fn together<T>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Result<T, Error> {
    let (may_begin, work) = (OnceLock::new(), &work);
    thread::scope(|scope| {
        let started = (1..threads).try_for_each(|number| {
            let may_begin = &may_begin;
            let helper = start(scope, move || {
                if *may_begin.wait() {
                    work(number);
                }
            });
            helper.map(drop)
        });
        let _ = may_begin.set(started.is_ok());
        started.map(|()| {
            let result = work(0);
            wipe_stack();
            result
        })
    })
}

#[cfg(any(test, feature = "testing"))]
std::thread_local! {
    /// Number of further threads that this thread may start.
    pub static LEFT: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

#[cfg(any(test, feature = "testing"))]
fn refused() -> bool {
    LEFT.with(|left| match left.get() {
        usize::MAX => false,
        0 => true,
        more => {
            left.set(more - 1);
            false
        }
    })
}
