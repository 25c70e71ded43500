//! Physical memory: the regions of a machine, in pages that are allocated on the first write. Memory that was never
//! written reads as zero.

use crate::machine::{Kind, Region};

/// The unit of allocation.
pub const PAGE_BYTES: u64 = 4096;

const PAGE: usize = PAGE_BYTES as usize;
const PAGE_BITS: u32 = PAGE_BYTES.trailing_zeros();

type Page = [u8; PAGE];

#[derive(Debug)]
struct Bank {
    region: Region,
    pages: Vec<Option<Box<Page>>>,
}

/// The memory of a machine.
#[derive(Debug)]
pub struct Memory {
    banks: Vec<Bank>,
}

impl Memory {
    /// Empty memory with these regions, which must not overlap.
    #[must_use]
    pub(crate) fn new(regions: &[Region]) -> Memory {
        let bank = |region: &Region| Bank {
            region: region.clone(),
            pages: (0..region.size >> PAGE_BITS).map(|_| None).collect(),
        };
        let mut banks: Vec<Bank> = regions.iter().map(bank).collect();
        // Puts writable regions first, because most accesses are to them.
        banks.sort_by_key(|bank| bank.region.kind == Kind::Rom);
        Memory { banks }
    }

    /// The address ranges of memory, as text for people.
    pub(crate) fn ranges(&self) -> String {
        let mut banks: Vec<_> = self.banks.iter().map(|bank| (bank.region.base, bank.region.size)).collect();
        banks.sort_unstable();
        let range = |(base, size): (u64, u64)| format!("at {base:#x} to {:#x}", base.saturating_add(size));
        banks.into_iter().map(range).collect::<Vec<_>>().join(" and ")
    }

    /// Reads `N` bytes, or returns `None` if any of them is outside memory.
    #[inline]
    #[must_use]
    pub fn read<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        for bank in &self.banks {
            let offset = address.wrapping_sub(bank.region.base);
            if offset < bank.region.size {
                let inside = offset as usize % PAGE;
                if inside + N > PAGE {
                    return self.read_across(address);
                }
                return Some(match &bank.pages[(offset >> PAGE_BITS) as usize] {
                    Some(page) => page[inside..inside + N].try_into().unwrap_or([0; N]),
                    None => [0; N],
                });
            }
        }
        None
    }

    /// Writes `N` bytes, or returns `None` and writes nothing if any of them is not writable memory.
    #[inline]
    pub fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Option<()> {
        for bank in &mut self.banks {
            let offset = address.wrapping_sub(bank.region.base);
            if offset < bank.region.size {
                if bank.region.kind == Kind::Rom {
                    return None;
                }
                let inside = offset as usize % PAGE;
                if inside + N > PAGE {
                    return self.write_across(address, bytes);
                }
                let page = bank.pages[(offset >> PAGE_BITS) as usize].get_or_insert_with(empty);
                page[inside..inside + N].copy_from_slice(&bytes);
                return Some(());
            }
        }
        None
    }

    #[cold]
    fn read_across<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        for (at, byte) in bytes.iter_mut().enumerate() {
            [*byte] = self.read::<1>(address.wrapping_add(at as u64))?;
        }
        Some(bytes)
    }

    #[cold]
    fn write_across<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Option<()> {
        let place = |at: usize| address.wrapping_add(at as u64);
        if !(0..N).all(|at| self.is_writable(place(at))) {
            return None;
        }
        for (at, byte) in bytes.into_iter().enumerate() {
            self.write(place(at), [byte])?;
        }
        Some(())
    }

    /// Whether there is memory at an address.
    #[must_use]
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.banks.iter().any(|bank| bank.region.contains(address))
    }

    /// Whether programs can write at an address.
    #[must_use]
    pub(crate) fn is_writable(&self, address: u64) -> bool {
        self.banks.iter().any(|bank| bank.region.kind == Kind::Ram && bank.region.contains(address))
    }

    /// The last address of the region that contains an address, if programs can write there.
    pub(crate) fn last_of_ram(&self, address: u64) -> Option<u64> {
        let regions = self.banks.iter().map(|bank| &bank.region);
        let region = regions.into_iter().find(|region| region.kind == Kind::Ram && region.contains(address))?;
        Some(region.base + (region.size - 1))
    }

    /// Whether `lr` and `sc` can reserve an address.
    pub(crate) fn takes_reservations(&self, address: u64) -> bool {
        self.banks.iter().any(|bank| bank.region.reserve && bank.region.contains(address))
    }

    /// Whether a range (which may be empty) is all memory.
    #[must_use]
    pub(crate) fn contains_range(&self, start: u64, bytes: u64) -> bool {
        let (mut at, mut left) = (start, bytes);
        while left > 0 {
            let Some(bank) = self.banks.iter().find(|bank| bank.region.contains(at)) else {
                return false;
            };
            let here = left.min(bank.region.size - (at - bank.region.base));
            left -= here;
            at = at.wrapping_add(here);
        }
        true
    }

    /// Writes to any memory, read-only memory included, as a loader does. Returns false if part of the range is outside
    /// memory.
    #[must_use]
    pub fn load(&mut self, address: u64, bytes: &[u8]) -> bool {
        if !self.contains_range(address, bytes.len() as u64) {
            return false;
        }
        let (mut at, mut left) = (address, bytes);
        while !left.is_empty() {
            let Some(bank) = self.banks.iter_mut().find(|bank| bank.region.contains(at)) else {
                return false;
            };
            let offset = at - bank.region.base;
            let inside = offset as usize % PAGE;
            let (here, rest) = left.split_at(left.len().min(PAGE - inside));
            // Pages that would only hold zeros need not be allocated.
            let page = &mut bank.pages[(offset >> PAGE_BITS) as usize];
            if page.is_some() || here.iter().any(|byte| *byte != 0) {
                page.get_or_insert_with(empty)[inside..inside + here.len()].copy_from_slice(here);
            }
            at = at.wrapping_add(here.len() as u64);
            left = rest;
        }
        true
    }

    /// Reads up to `bytes` bytes, stopping at the first address outside memory.
    #[must_use]
    pub fn bytes(&self, address: u64, bytes: u64) -> Vec<u8> {
        let (mut found, mut at, mut left) = (Vec::new(), address, bytes);
        while left > 0
            && let Some(bank) = self.banks.iter().find(|bank| bank.region.contains(at))
        {
            let (offset, inside) = (at - bank.region.base, at % PAGE_BYTES);
            let here = left.min(PAGE_BYTES - inside);
            let page = bank.pages[(offset >> PAGE_BITS) as usize].as_deref().unwrap_or(&[0; PAGE]);
            found.extend_from_slice(&page[inside as usize..][..here as usize]);
            (at, left) = (at.wrapping_add(here), left - here);
        }
        found
    }

    /// Number of bytes allocated.
    #[must_use]
    pub fn allocated_bytes(&self) -> u64 {
        let pages = self.banks.iter().flat_map(|bank| &bank.pages).filter(|page| page.is_some()).count();
        pages as u64 * PAGE_BYTES
    }
}

fn empty() -> Box<Page> {
    Box::new([0; PAGE])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let region = |base, pages, kind| Region { kind, ..Region::ram(base, pages * PAGE_BYTES) };
        let (rom, ram) = (Kind::Rom, Kind::Ram);
        Memory::new(&[region(0x1000, 1, rom), region(0x2000, 2, ram), region(0xffff_ffff_ffff_f000, 1, ram)])
    }

    #[test]
    fn neighbouring_regions_are_read_across_and_not_written_across() {
        let mut memory = memory();
        assert!(memory.load(0x1ffe, &[1, 2, 3, 4]));
        assert_eq!(memory.read(0x1ffe), Some([1, 2, 3, 4]));
        assert_eq!(memory.bytes(0x1ffd, 6), [0, 1, 2, 3, 4, 0]);
        assert_eq!(memory.write(0x1ffe, [5; 4]), None);
        assert_eq!(memory.read(0x1ffe), Some([1, 2, 3, 4]));
        assert_eq!(memory.write(0x2ffe, [5; 4]), Some(()));
        assert_eq!(memory.read(0x2ffd), Some([0, 5, 5, 5]));
    }

    #[test]
    fn accesses_past_the_ends_fail() {
        let mut memory = memory();
        assert_eq!(memory.read::<4>(0x3ffd), None);
        assert_eq!(memory.write(0x3ffd, [1; 4]), None);
        assert_eq!(memory.read::<1>(0x3ffd), Some([0]));
        assert_eq!(memory.read::<8>(u64::MAX - 3), None);
        assert_eq!(memory.read::<8>(u64::MAX - 7), Some([0; 8]));
        assert!(!memory.load(0x3fff, &[1, 2]));
        assert!(!memory.contains_range(u64::MAX, 2));
        assert!(memory.contains_range(0x1000, 0x3000));
        assert_eq!(memory.bytes(0x3ffe, 100), [0, 0]);
        assert_eq!(memory.bytes(0x1000, u64::MAX), [0; 0x3000]);
        assert_eq!(memory.allocated_bytes(), 0);
    }
}
