//! Memory for numbers, of which nothing is given back but all that came after a mark.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

struct Heap;

/// The first bytes of memory; what is above is the stack's.
const START: usize = 0x8000_0000;
const BYTES: usize = 14 << 10;

#[global_allocator]
static HEAP: Heap = Heap;

/// Where the next number goes; kept in the first word.
fn next() -> *mut usize {
    ptr::with_exposed_provenance_mut(START)
}

/// Nothing is in use. For the start of a program.
pub(crate) fn begin() {
    // SAFETY: nothing has been handed out.
    unsafe { release(START + size_of::<usize>()) };
}

/// What to [`release`] to.
pub fn mark() -> usize {
    // SAFETY: the first word of memory is nobody else's, and there is one hart.
    unsafe { next().read() }
}

/// Gives back all that came after the mark.
///
/// # Safety
/// Nothing of that may be in use.
pub unsafe fn release(mark: usize) {
    // SAFETY: as in `mark`; the caller knows the rest.
    unsafe { next().write(mark) };
}

// SAFETY: what is handed out is aligned, inside of the heap, and not handed out twice before `release`.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = mark().next_multiple_of(layout.align());
        if layout.size() > START + BYTES - start {
            return ptr::null_mut();
        }
        // SAFETY: as in `mark`.
        unsafe { next().write(start + layout.size()) };
        ptr::with_exposed_provenance_mut(start)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
