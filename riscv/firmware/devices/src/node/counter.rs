//! The counter for nonces: no number is used twice with a key, even if the power fails.
//!
//! The store holds the first number that is not reserved, and survives resets. Numbers are reserved 64 at a time before
//! the first of them is used. After a reset or power failure the counter continues after all numbers that can have been
//! sent, so up to 63 are skipped. The store has two slots, written alternately. Each holds a number and its complement:
//! a slot whose write was interrupted is invalid, and the other slot holds the earlier value.
//!
//! If no slot is valid, the counter is unknown and the device must not send (`begin` is for its first start). The last
//! number is 2^32 − 2, and 2^32 − 1 means that all are used.
//!
//! Here the store is memory that neither a reset nor the start code clears, at the symbol `tress_store`; the simulator
//! keeps it between runs. **A product keeps it in flash, FRAM or EEPROM**: only `load` and `save` change.

use core::cell::UnsafeCell;

/// Number of numbers that are reserved at a time: one write of the store for this many packets.
const RESERVED: u32 = 64;
/// Means that all numbers are used.
const END: u32 = u32::MAX;

/// Two slots, each with a number and its complement.
#[repr(C)]
struct Store(UnsafeCell<[[u32; 2]; 2]>);

// SAFETY: only one hart runs, so there are no concurrent accesses.
unsafe impl Sync for Store {}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".noinit")]
#[allow(non_upper_case_globals)]
static tress_store: Store = Store(UnsafeCell::new([[0; 2]; 2]));

/// The number in a slot, if it is valid.
fn load(slot: usize) -> Option<u32> {
    // SAFETY: only one hart runs. The start code does not clear these words, and any value is valid.
    let [number, complement] = unsafe { (*tress_store.0.get()).as_ptr().add(slot & 1).read_volatile() };
    (number == !complement).then_some(number)
}

/// Writes a slot: first the number, which makes the slot invalid, then its complement.
fn save(slot: usize, number: u32) {
    // SAFETY: only one hart runs, and the index of the slot is 0 or 1.
    unsafe {
        let slot = (*tress_store.0.get()).as_mut_ptr().add(slot & 1).cast::<u32>();
        slot.write_volatile(number);
        slot.add(1).write_volatile(!number);
    }
}

/// The unused numbers.
pub(crate) struct Counter {
    next: u32,
    /// The first number that is not reserved.
    reserved: u32,
    /// The slot to write next.
    slot: usize,
}

impl Counter {
    /// Reads the store. If it has no valid slot, begins at 0 if `begin` is set.
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

    /// Returns an unused number, or `None` if all are used.
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
