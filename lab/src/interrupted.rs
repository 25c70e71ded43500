//! What a signal removes when it ends a run: temporary folders and the like, which otherwise live as long as their owners.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io, mem, thread};

use tempfile::{Builder, TempDir};

/// Removes one thing. It may be gone already.
type Removal = Box<dyn FnOnce() + Send>;

static REMOVALS: Mutex<Vec<Removal>> = Mutex::new(Vec::new());
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// Attempts to remove a folder into which a process that ends may still write, and the time between two of them.
const ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// As long as this is held, no signal ends the run.
pub fn hold() -> MutexGuard<'static, impl Sized> {
    REMOVALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `removal` if a signal ends the run.
pub(crate) fn at_signal(removal: impl FnOnce() + Send + 'static) {
    REMOVALS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(removal));
}

/// A temporary folder in `parent` that a signal removes too.
pub(crate) fn folder(parent: &Path) -> io::Result<TempDir> {
    let folder = Builder::new().prefix("tress-lab-").tempdir_in(parent)?;
    let path = folder.path().to_path_buf();
    at_signal(move || {
        for _ in 0..ATTEMPTS {
            if fs::remove_dir_all(&path).is_ok() || !path.exists() {
                break;
            }
            thread::sleep(PAUSE);
        }
    });
    Ok(folder)
}

/// Ends the programs that this one has started, and removes everything. Afterwards [`hold`] does not return.
pub fn end() {
    HAS_BEGUN.store(true, Ordering::SeqCst);
    tress_terminal::lifeline::release();
    let mut removals = REMOVALS.lock().unwrap_or_else(PoisonError::into_inner);
    removals.drain(..).for_each(|removal| removal());
    mem::forget(removals);
}

/// Whether a signal ends this run. What fails then does so because of that.
pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::SeqCst)
}
