//! How many threads work, and starting them. A system may refuse one (`pids.max`, `TasksMax`, `ulimit -u`), and [`std::thread::Scope::spawn`] panics then;
//! here it is an error, and who can do the work alone goes on alone.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::commands::MAX_THREADS;
use crate::{Error, ErrorKind};

/// How many threads work, the caller's among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One for each core that this process may use.
    #[default]
    All,
    /// So many, and [`MAX_THREADS`] at most.
    Exactly(NonZero<usize>),
}

impl Threads {
    /// The caller's thread alone.
    pub const ONE: Self = Self::Exactly(NonZero::<usize>::MIN);

    /// The number of threads on this machine.
    pub fn count(self) -> usize {
        match self {
            Self::All => thread::available_parallelism().map_or(1, NonZero::get),
            Self::Exactly(count) => count.get().min(MAX_THREADS),
        }
    }
}

/// A number as commands and other languages have it: 0 is [`Threads::All`].
impl From<usize> for Threads {
    fn from(count: usize) -> Self {
        NonZero::new(count).map_or(Self::All, Self::Exactly)
    }
}

/// A thread of this scope, or [`ErrorKind::NoThread`].
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    #[cfg(any(test, feature = "testing"))]
    if refused() {
        return Err(Error::new(ErrorKind::NoThread));
    }
    Builder::new().spawn_scoped(scope, work).map_err(|_| Error::new(ErrorKind::NoThread))
}

/// `work` on this many threads, which get numbers from 0 on; the caller's is number 0, and its result is returned. They may wait for
/// each other, so all of them work or, where the system refuses one, none.
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
        started.map(|()| work(0))
    })
}

#[cfg(any(test, feature = "testing"))]
std::thread_local! {
    /// How many more threads this thread may start.
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
