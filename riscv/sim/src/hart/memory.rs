//! Loads, stores and atomic operations of a hart.

use super::Hart;
use super::execute::CACHE_BLOCK_BYTES;
use super::integer::word;
use super::op::{Amo, Op, Opcode};
use crate::bus::Bus;
use crate::error::cause;
use crate::retired::Class;

/// The `mcause` of a fault, and the address for `mtval`.
pub(super) type Fault = (u64, u64);

impl Hart {
    /// Whether a debugger watches memory that the next instruction accesses.
    pub(super) fn stops_at_access(&self, bus: &mut Bus) -> bool {
        let op = match self.current(bus) {
            op if op.code == Opcode::Unknown => self.fetch(bus).unwrap_or(op),
            op => op,
        };
        let bytes = match op.code {
            Opcode::CboZero => CACHE_BLOCK_BYTES,
            Opcode::Lb | Opcode::Lbu | Opcode::Sb => 1,
            Opcode::Lh | Opcode::Lhu | Opcode::Sh => 2,
            Opcode::Ld | Opcode::Fld | Opcode::Sd | Opcode::Fsd | Opcode::Lrd | Opcode::Scd | Opcode::Amod => 8,
            _ => 4,
        };
        let address = self.x[op.rs1 as usize & 63].wrapping_add(i64::from(op.immediate) as u64) & self.address_mask;
        let (class, address) = match op.code {
            Opcode::CboZero => (Class::Store, address & !(CACHE_BLOCK_BYTES - 1)),
            _ => (op.class, address),
        };
        bus.stops.watch(self.place_of_stop(), class, address, bytes)
    }

    #[inline]
    pub(super) fn load<const N: usize>(&self, bus: &mut Bus, address: u64) -> Result<u64, Fault> {
        if !self.misaligned && !address.is_multiple_of(N as u64) {
            return Err((cause::LOAD_MISALIGNED, address));
        }
        bus.load::<N>(address, self.cycle).ok_or_else(|| {
            let missing = self.bytes::<N>(address).find(|at| !bus.is_there(*at));
            (cause::LOAD_ACCESS, missing.unwrap_or(address))
        })
    }

    #[inline]
    pub(super) fn store<const N: usize>(&self, bus: &mut Bus, address: u64, value: u64) -> Result<(), Fault> {
        if !self.misaligned && !address.is_multiple_of(N as u64) {
            return Err((cause::STORE_MISALIGNED, address));
        }
        bus.store::<N>(address, value, self.id, self.cycle).ok_or_else(|| {
            let missing = self.bytes::<N>(address).find(|at| !bus.memory.is_writable(*at));
            (cause::STORE_ACCESS, missing.unwrap_or(address))
        })
    }

    /// The addresses of the bytes of an access: `mtval` of one that crosses the end of memory is the first byte that fails.
    fn bytes<const N: usize>(&self, address: u64) -> impl Iterator<Item = u64> {
        let mask = self.address_mask;
        (0..N as u64).map(move |at| address.wrapping_add(at) & mask)
    }

    /// Executes `lr`, `sc` or `amo`: the value for rd, and whether it wrote to memory. The address must be aligned on
    /// every machine.
    #[cold]
    #[inline(never)]
    pub(super) fn atomic(&self, bus: &mut Bus, address: u64, value: u64) -> Result<(u64, bool), Fault> {
        let op = self.current(bus);
        match op.code {
            Opcode::Lrw | Opcode::Scw | Opcode::Amow => self.atomic_of::<4>(bus, op, address, value),
            _ => self.atomic_of::<8>(bus, op, address, value),
        }
    }

    fn atomic_of<const N: usize>(&self, bus: &mut Bus, op: Op, address: u64, value: u64) -> Result<(u64, bool), Fault> {
        let is_load = matches!(op.code, Opcode::Lrw | Opcode::Lrd);
        if !address.is_multiple_of(N as u64) {
            let cause = if is_load { cause::LOAD_MISALIGNED } else { cause::STORE_MISALIGNED };
            return Err((cause, address));
        }
        let fault = if is_load { cause::LOAD_ACCESS } else { cause::STORE_ACCESS };
        let reserves = matches!(op.code, Opcode::Lrw | Opcode::Lrd | Opcode::Scw | Opcode::Scd);
        if reserves && !bus.memory.takes_reservations(address) {
            return Err((fault, address));
        }
        let sign = |value: u64| if N == 4 { word(value) } else { value };
        match op.code {
            Opcode::Lrw | Opcode::Lrd => {
                let old = bus.load::<N>(address, self.cycle).ok_or((fault, address))?;
                bus.reserve(self.id, address);
                Ok((sign(old), false))
            }
            Opcode::Scw | Opcode::Scd => {
                if !bus.memory.is_writable(address) {
                    return Err((fault, address));
                }
                if !bus.take_reservation(self.id, address) {
                    return Ok((1, false));
                }
                bus.store::<N>(address, value, self.id, self.cycle).ok_or((fault, address))?;
                Ok((0, true))
            }
            _ => {
                let old = sign(bus.load::<N>(address, self.cycle).ok_or((fault, address))?);
                let new = combine(op.amo, old, sign(value));
                bus.store::<N>(address, new, self.id, self.cycle).ok_or((fault, address))?;
                Ok((old, true))
            }
        }
    }
}

/// The new value in memory. Sign-extended operands compare the same in 32 and in 64 bits.
fn combine(operation: Amo, old: u64, value: u64) -> u64 {
    match operation {
        Amo::Swap => value,
        Amo::Add => old.wrapping_add(value),
        Amo::Xor => old ^ value,
        Amo::And => old & value,
        Amo::Or => old | value,
        Amo::Min => (old as i64).min(value as i64) as u64,
        Amo::Max => (old as i64).max(value as i64) as u64,
        Amo::Minu => old.min(value),
        Amo::Maxu => old.max(value),
    }
}
