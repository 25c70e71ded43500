//! The functions that `pthread.h` declares and does not define. A thread is a function on a hart, which no other thread uses until it is
//! joined. Waiting is spinning.

use core::{
    cell::UnsafeCell,
    ffi::{c_int, c_void},
    ptr::null_mut,
    sync::atomic::{AtomicU32, Ordering},
};

use runtime::harts;

// Error numbers, as in `pthread.h`.
const NO_THREAD: c_int = 3;
const AGAIN: c_int = 11;

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// The thread of a hart.
struct Thread {
    /// 1 from `pthread_create` to the end of `pthread_join`.
    is_used: AtomicU32,
    /// The function with its argument, and its result in place of the argument when it has returned.
    call: UnsafeCell<(Option<Start>, *mut c_void)>,
}

// SAFETY: `call` belongs to the thread that set `is_used`, then to the hart until it is idle, then to the thread that
// joins it.
unsafe impl Sync for Thread {}

#[allow(clippy::declare_interior_mutable_const)]
const FREE: Thread = Thread { is_used: AtomicU32::new(0), call: UnsafeCell::new((None, null_mut())) };

static THREADS: [Thread; harts::MAX] = [FREE; harts::MAX];

/// Runs the thread of a hart.
extern "C" fn run(hart: usize) {
    // SAFETY: `pthread_create` stored the function before it started this hart, and nobody reads the result before the
    // hart is idle.
    let (start, value) = unsafe { &mut *THREADS[hart].call.get() };
    if let Some(start) = *start {
        *value = start(*value);
    }
}

/// Whether the machine has this hart: its software interrupt in the CLINT keeps what is written. No hart enables that
/// interrupt.
fn exists(hart: usize) -> bool {
    let interrupt = (0x200_0000 as *mut u32).wrapping_add(hart);
    // SAFETY: the machines of this runtime have a CLINT at this address, with a register for each possible hart.
    unsafe {
        interrupt.write_volatile(1);
        let is_set = interrupt.read_volatile() == 1;
        interrupt.write_volatile(0);
        is_set
    }
}

/// Starts a thread on the first hart without one. `AGAIN` if all harts of the machine have one.
///
/// # Safety
/// `thread` is valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut usize,
    _attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let take = |hart: &usize| exists(*hart) && THREADS[*hart].is_used.swap(1, Ordering::Acquire) == 0;
    let Some(hart) = (1..harts::MAX).find(take) else { return AGAIN };
    // SAFETY: `is_used` gives this thread the cell, and the caller guarantees the place for the number.
    unsafe {
        *THREADS[hart].call.get() = (Some(start), argument);
        *thread = hart;
    }
    harts::spawn(hart, run, hart);
    0
}

/// Waits until a thread has returned. Its hart is free for another thread afterwards.
///
/// # Safety
/// `result` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: usize, result: *mut *mut c_void) -> c_int {
    let Some(joined) = THREADS.get(thread).filter(|joined| joined.is_used.load(Ordering::Relaxed) != 0) else {
        return NO_THREAD;
    };
    harts::join(thread);
    if !result.is_null() {
        // SAFETY: the hart is idle, so it does not write the result, and the caller guarantees the place for it.
        unsafe { *result = (*joined.call.get()).1 };
    }
    joined.is_used.store(0, Ordering::Release);
    0
}
