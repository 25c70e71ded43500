//! The counter that makes a nonce: no number comes twice with a key, whatever becomes of the power.
//!
//! What survives is the store: the first number that has not been reserved. Numbers are reserved 64 at a time, before the
//! first of them is used, so after a reset or a loss of power the counter goes on behind all that can have been sent, and
//! up to 63 numbers are left out. The store has two slots, which are written in turn, each a number and its complement: a
//! slot that was being written when power went is not valid, and the other has what was reserved before.
//!
//! A store without a valid slot means that nobody knows the counter: the device must not send (`begin` is for its first
//! start). The last number is 2^32 − 2; 2^32 − 1 says that all are used.
//!
//! Here the store is memory that neither a reset nor the start code clears, at the symbol `tress_store`; the simulator
//! carries it from run to run. **A product has it in flash, FRAM or EEPROM**: `load` and `save` are all that changes.

use core::cell::UnsafeCell;

/// Numbers that are reserved at a time: a write of the store for so many packets.
const RESERVED: u32 = 64;
/// All numbers are used.
const END: u32 = u32::MAX;

/// A number and its complement, twice.
#[repr(C)]
struct Store(UnsafeCell<[[u32; 2]; 2]>);

// SAFETY: one hart runs.
unsafe impl Sync for Store {}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".noinit")]
#[allow(non_upper_case_globals)]
static tress_store: Store = Store(UnsafeCell::new([[0; 2]; 2]));

/// The number in a slot, if it is valid.
fn load(slot: usize) -> Option<u32> {
    // SAFETY: one hart runs; the start code leaves these words as they were, and any value is one.
    let [number, complement] = unsafe { (*tress_store.0.get()).as_ptr().add(slot & 1).read_volatile() };
    (number == !complement).then_some(number)
}

/// Writes a slot: first the number, which makes the slot invalid, then its complement.
fn save(slot: usize, number: u32) {
    // SAFETY: one hart runs; the slot is one of two.
    unsafe {
        let slot = (*tress_store.0.get()).as_mut_ptr().add(slot & 1).cast::<u32>();
        slot.write_volatile(number);
        slot.add(1).write_volatile(!number);
    }
}

/// The numbers that are left.
pub(crate) struct Counter {
    next: u32,
    /// The first that is not reserved.
    reserved: u32,
    /// The slot to be written next.
    slot: usize,
}

impl Counter {
    /// What the store has; where it has nothing, 0 if `begin` says so.
    pub(crate) fn open(begin: bool) -> Option<Counter> {
        let at = |number, slot| Some(Counter { next: number, reserved: number, slot });
        match (load(0), load(1)) {
            (Some(first), Some(second)) if first > second => at(first, 1),
            (_, Some(second)) => at(second, 0),
            (Some(first), None) => at(first, 1),
            (None, None) if begin => at(0, 0),
            (None, None) => None,
        }
    }

    /// A number that has never been taken, and never will be again; none where all are used.
    pub(crate) fn take(&mut self) -> Option<u32> {
        if self.next == END {
            return None;
        }
        if self.next == self.reserved {
            self.reserved = self.next.saturating_add(RESERVED);
            save(self.slot, self.reserved);
            self.slot ^= 1;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}
