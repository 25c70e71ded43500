//! An allocator for numbers that frees only in bulk: everything that was allocated after a mark.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

struct Heap;

/// Start of the heap, at the start of memory. The stack is above it.
const START: usize = 0x8000_0000;
const BYTES: usize = 14 << 10;

#[global_allocator]
static HEAP: Heap = Heap;

/// Pointer to the address of the next allocation, which is stored in the first word of memory.
fn next() -> *mut usize {
    ptr::with_exposed_provenance_mut(START)
}

/// Empties the heap. To be called at the start of a program.
pub(crate) fn begin() {
    // SAFETY: nothing has been allocated.
    unsafe { release(START + size_of::<usize>()) };
}

/// The current end of the allocations, for [`release`].
pub fn mark() -> usize {
    // SAFETY: only this module uses the first word of memory, and there is one hart.
    unsafe { next().read() }
}

/// Frees everything that was allocated after the mark.
///
/// # Safety
/// No allocation after the mark may be in use.
pub unsafe fn release(mark: usize) {
    // SAFETY: as in `mark`; the caller guarantees that no freed allocation is in use.
    unsafe { next().write(mark) };
}

// SAFETY: an allocation is aligned, inside of the heap, and not allocated again before `release`.
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
