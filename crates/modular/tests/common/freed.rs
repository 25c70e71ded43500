//! Searches freed memory for secrets, with an allocator that keeps freed blocks while a test runs. Shared with the tests of `tress-sign`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::ptr;
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Number of bytes that are searched for together: one digit. Leftovers of a number are rarely complete.
const PIECE: usize = 8;

/// A freed block.
struct FreedBlock {
    start: *mut u8,
    bytes: usize,
    earlier: *mut FreedBlock,
}

static KEEPS: AtomicBool = AtomicBool::new(false);
static LAST: AtomicPtr<FreedBlock> = AtomicPtr::new(ptr::null_mut());

struct KeepingAllocator;

#[global_allocator]
static ALLOCATOR: KeepingAllocator = KeepingAllocator;

// SAFETY: calls the system's allocator with the same arguments, but may leave blocks unfreed. The default `realloc` frees old blocks by
// `dealloc`.
unsafe impl GlobalAlloc for KeepingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a valid layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a valid layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if !KEEPS.load(Ordering::Relaxed) {
            // SAFETY: the system's allocator allocated `start` with this layout, as the caller guarantees.
            return unsafe { System.dealloc(start, layout) };
        }
        // SAFETY: the size of `FreedBlock` is not zero.
        let block = unsafe { System.alloc(Layout::new::<FreedBlock>()) }.cast::<FreedBlock>();
        assert!(!block.is_null());
        let mut earlier = LAST.load(Ordering::Relaxed);
        loop {
            // SAFETY: `block` is valid and aligned for a `FreedBlock`, and not shared yet.
            unsafe { block.write(FreedBlock { start, bytes: layout.size(), earlier }) };
            match LAST.compare_exchange_weak(earlier, block, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => earlier = now,
            }
        }
    }
}

/// Returns the result of some work, and the places of its secrets in memory that was freed during the work. Searches for each secret in
/// both byte orders, because digits reverse it. Other tests may run at the same time.
pub(crate) fn secrets_left_by<R>(
    work: impl FnOnce() -> R,
    secrets: impl FnOnce(&R) -> Vec<Vec<u8>>,
) -> (R, Vec<String>) {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    KEEPS.store(true, Ordering::Relaxed);
    let result = work();
    KEEPS.store(false, Ordering::Relaxed);
    let mut pieces = HashSet::new();
    for secret in secrets(&result) {
        for bytes in [secret.clone(), secret.into_iter().rev().collect()] {
            pieces.extend(bytes.chunks_exact(PIECE).map(|piece| <[u8; PIECE]>::try_from(piece).expect("a piece")));
        }
    }
    // Pieces with few different bytes would be found everywhere.
    pieces.retain(|piece| piece.iter().collect::<HashSet<_>>().len() > PIECE / 2);
    let firsts: HashSet<_> = pieces.iter().map(|piece| piece[0]).collect();
    assert!(!pieces.is_empty());
    let (mut found, mut blocks) = (Vec::new(), 0);
    let mut next = LAST.swap(ptr::null_mut(), Ordering::Acquire);
    while !next.is_null() {
        // SAFETY: `dealloc` initialised the block; it was removed from the list, and nobody else has it.
        let block = unsafe { &*next };
        // SAFETY: the last owner freed the block, and it was kept since. Bytes that were never written have arbitrary values.
        let bytes = unsafe { slice::from_raw_parts(block.start, block.bytes) };
        for (at, piece) in bytes.windows(PIECE).enumerate() {
            if firsts.contains(&piece[0]) && pieces.contains(piece) {
                found.push(format!("byte {at} of {}", block.bytes));
            }
        }
        blocks += 1;
        next = block.earlier;
    }
    assert!(blocks > 0, "nothing was given back");
    drop(one);
    (result, found)
}

#[test]
fn secrets_in_freed_memory_are_found() {
    let secret: Vec<u8> = (1..=32).collect();
    let (_, found) = secrets_left_by(|| drop(secret.clone()), |()| vec![secret.clone()]);
    assert!(!found.is_empty());
}
