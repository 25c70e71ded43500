//! Starting threads. A system may refuse one (`pids.max`, `TasksMax`, `ulimit -u`), and [`std::thread::Scope::spawn`] panics then;
//! here it is an error, and who can do the work alone goes on alone.

use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::{Error, ErrorKind};

/// A thread of this scope, or [`ErrorKind::NoThread`].
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    #[cfg(test)]
    if refused() {
        return Err(Error::new(ErrorKind::NoThread));
    }
    Builder::new().spawn_scoped(scope, work).map_err(|_| Error::new(ErrorKind::NoThread))
}

#[cfg(test)]
std::thread_local! {
    /// How many more threads this thread may start.
    pub(crate) static LEFT: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

#[cfg(test)]
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
