//! Calls that nothing can interrupt and that hold nothing which needs cleaning up, such as opening a FIFO that has no other end. A command
//! that is cancelled during such a call may simply end.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of threads inside of such calls.
static BLOCKED: AtomicUsize = AtomicUsize::new(0);

/// Makes a call of this kind.
pub fn blocked<T>(call: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            BLOCKED.fetch_sub(1, Ordering::SeqCst);
        }
    }
    BLOCKED.fetch_add(1, Ordering::SeqCst);
    let _leave = Leave;
    call()
}

/// Whether a thread is inside of such a call.
pub fn is_blocked() -> bool {
    BLOCKED.load(Ordering::SeqCst) > 0
}
