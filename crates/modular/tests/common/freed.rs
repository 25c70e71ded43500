//! What code leaves in the memory that it gives back: an allocator that keeps all of it while somebody wants to see it.
//! Shared with the tests of `tress-sign`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::ptr;
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Bytes that are looked for at a time: a digit. What is left of a number is rarely whole.
const PIECE: usize = 8;

/// A block that was given back.
struct Block {
    start: *mut u8,
    bytes: usize,
    earlier: *mut Block,
}

static KEEPS: AtomicBool = AtomicBool::new(false);
static LAST: AtomicPtr<Block> = AtomicPtr::new(ptr::null_mut());

struct Keeping;

#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

// SAFETY: the system's allocator, which may get a block back never. `realloc` of the trait gives each old block back.
unsafe impl GlobalAlloc for Keeping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if !KEEPS.load(Ordering::Relaxed) {
            // SAFETY: what the system's allocator gave.
            return unsafe { System.dealloc(start, layout) };
        }
        // SAFETY: a layout of some bytes.
        let block = unsafe { System.alloc(Layout::new::<Block>()) }.cast::<Block>();
        assert!(!block.is_null());
        let mut earlier = LAST.load(Ordering::Relaxed);
        loop {
            // SAFETY: memory for a block, which nobody else knows yet.
            unsafe { block.write(Block { start, bytes: layout.size(), earlier }) };
            match LAST.compare_exchange_weak(earlier, block, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => earlier = now,
            }
        }
    }
}

/// The result of some work, and which of its secrets lie in memory that was given back meanwhile. Each secret is looked for
/// as it is and with all bytes reversed, as digits have them. Other tests may run beside it.
pub(crate) fn left_by<R>(work: impl FnOnce() -> R, secrets: impl FnOnce(&R) -> Vec<Vec<u8>>) -> (R, Vec<String>) {
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
    // What has hardly any bytes of its own is found everywhere.
    pieces.retain(|piece| piece.iter().collect::<HashSet<_>>().len() > PIECE / 2);
    let firsts: HashSet<_> = pieces.iter().map(|piece| piece[0]).collect();
    assert!(!pieces.is_empty());
    let (mut found, mut blocks) = (Vec::new(), 0);
    let mut next = LAST.swap(ptr::null_mut(), Ordering::Acquire);
    while !next.is_null() {
        // SAFETY: written by `dealloc`, taken out of the list above, and given to nobody.
        let block = unsafe { &*next };
        // SAFETY: given back by its last owner and kept since. Padding that nobody wrote reads as anything.
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
fn what_is_left_is_found() {
    let secret: Vec<u8> = (1..=32).collect();
    let (_, found) = left_by(|| drop(secret.clone()), |()| vec![secret.clone()]);
    assert!(!found.is_empty());
}
