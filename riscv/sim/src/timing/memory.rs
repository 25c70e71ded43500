//! The timing of a machine's memory: level 1 caches, bus, level 2 and regions. It holds no data, which are in the
//! functional core. It computes when data are ready, which lines are evicted, and which lines other harts' writes
//! invalidate.
//!
//! A line in a level 1 cache is either unchanged and possibly shared with others, or changed and exclusive. A read of a
//! line that another cache has changed makes that cache write it back first; a write invalidates it in all other
//! caches.
//!
//! Approximations: tags change in the order in which instructions are simulated, which is program order within a hart;
//! harts take turns by their cycles. Contention for bus wires and busy memory is tracked by cycle. Wrong paths fetch
//! nothing. Instruction caches do not observe writes, so programs need `fence.i`.

use super::bus::{BusFigures, BusModel};
use super::cache::{CacheFigures, CacheTags, LineState};
use crate::machine::{self, Machine, Path, Write};
use serde::Serialize;

/// Statistics of the caches of one hart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HartFigures {
    /// The level 1 instruction cache.
    pub l1i: CacheFigures,
    /// The level 1 data cache.
    pub l1d: CacheFigures,
}

/// Statistics of the parts that all harts share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SharedFigures {
    /// The level 2 cache.
    pub l2: CacheFigures,
    /// The bus.
    pub bus: BusFigures,
}

/// The timing of all harts' memory accesses.
#[derive(Clone, Debug)]
pub(crate) struct MemoryModel {
    l1i: Vec<Option<CacheTags>>,
    l1d: Vec<Option<CacheTags>>,
    l1i_latency: u64,
    l1d_latency: u64,
    l1d_line: u64,
    l1i_line: u64,
    through: bool,
    l2: Option<CacheTags>,
    l2_latency: u64,
    l2_line: u32,
    l2_through: bool,
    bus: BusModel,
    regions: Vec<RegionModel>,
    /// Addresses outside all regions: devices, which are not cached.
    device: RegionModel,
}

/// A region, and the first cycle in which it is not busy.
#[derive(Clone, Debug)]
struct RegionModel {
    is: machine::Region,
    free: u64,
}

impl RegionModel {
    /// The cycle in which `bytes` requested at `cycle` are ready.
    fn access(&mut self, cycle: u64, bytes: u32) -> u64 {
        let beats = u64::from(bytes).div_ceil(self.is.beat_bytes) * self.is.beat_cycles;
        if self.is.busy == 0 {
            return cycle + self.is.latency + beats;
        }
        let begin = cycle.max(self.free);
        self.free = begin + self.is.busy + beats;
        begin + self.is.latency + beats
    }
}

impl MemoryModel {
    /// The empty caches, bus and regions of a machine.
    #[must_use]
    pub(crate) fn new(machine: &Machine) -> MemoryModel {
        let each = |cache: &Option<machine::Cache>| vec![cache.as_ref().map(CacheTags::new); machine.harts];
        let latency = |cache: &Option<machine::Cache>| u64::from(cache.as_ref().map_or(1, |cache| cache.latency));
        let line = |cache: &Option<machine::Cache>| u64::from(cache.as_ref().map_or(8, |cache| cache.line));
        let device = machine::Region { path: Path::Direct, ..machine::Region::ram(0, 0) };
        let through = |cache: &Option<machine::Cache>| cache.as_ref().is_none_or(|cache| cache.write == Write::Through);
        MemoryModel {
            l1i: each(&machine.l1i),
            l1d: each(&machine.l1d),
            l1i_latency: latency(&machine.l1i),
            l1d_latency: latency(&machine.l1d),
            l1i_line: line(&machine.l1i).max(machine.in_order.as_ref().map_or(0, |core| core.fetch_bytes.into())),
            l1d_line: line(&machine.l1d),
            through: through(&machine.l1d),
            l2: machine.l2.as_ref().map(CacheTags::new),
            l2_latency: machine.l2.as_ref().map_or(0, |l2| l2.latency.into()),
            l2_line: machine.l2.as_ref().map_or(0, |l2| l2.line),
            l2_through: through(&machine.l2),
            bus: BusModel::new(machine.bus.as_ref()),
            regions: machine.region.iter().map(|region| RegionModel { is: region.clone(), free: 0 }).collect(),
            device: RegionModel { is: device, free: 0 },
        }
    }

    /// Bytes that one fetch brings. The front end fetches each line once.
    pub(super) fn fetch_line(&self) -> u64 {
        self.l1i_line
    }

    /// Statistics of a hart's caches.
    #[must_use]
    pub(crate) fn hart_figures(&self, hart: usize) -> HartFigures {
        let figures =
            |cache: &Option<CacheTags>| cache.as_ref().map_or_else(CacheFigures::default, |cache| cache.figures);
        HartFigures { l1i: figures(&self.l1i[hart]), l1d: figures(&self.l1d[hart]) }
    }

    /// Statistics of level 2 and the bus.
    #[must_use]
    pub(crate) fn shared_figures(&self) -> SharedFigures {
        let l2 = self.l2.as_ref().map_or_else(CacheFigures::default, |l2| l2.figures);
        SharedFigures { l2, bus: self.bus.figures }
    }

    /// Drops bookkeeping before `cycle`. No hart will ask for earlier cycles.
    pub(crate) fn forget_before(&mut self, cycle: u64) {
        self.bus.forget_before(cycle);
    }

    #[inline]
    fn region(&mut self, address: u64) -> &mut RegionModel {
        // A linear search: machines have two or three regions.
        match self.regions.iter_mut().find(|region| region.is.contains(address)) {
            Some(region) => region,
            None => &mut self.device,
        }
    }

    /// Whether data at an address are neither cached nor tightly coupled.
    pub(crate) fn is_outside(&self, address: u64) -> bool {
        let region = self.regions.iter().find(|region| region.is.contains(address)).unwrap_or(&self.device);
        matches!(region.is.path, Path::Direct | Path::CachedCode)
    }

    /// Fetches the line of `address` at `cycle`, also where there is no cache. Returns when it can be used; a hit is
    /// ready at `cycle`.
    pub(super) fn fetch(&mut self, hart: usize, address: u64, cycle: u64) -> u64 {
        let path = self.region(address).is.path;
        if path == Path::Tight {
            return cycle;
        }
        let (latency, line) = (self.l1i_latency, self.l1i_line as u32);
        let Some(l1i) = &mut self.l1i[hart] else {
            return self.below(address, cycle, line, path == Path::Cached);
        };
        if path == Path::Direct {
            return self.below(address, cycle, line, false);
        }
        l1i.figures.accesses += 1;
        if let Some(place) = l1i.find(address) {
            let (ready, _) = l1i.touch(place);
            if ready > cycle {
                l1i.figures.misses += 1;
            }
            return ready.max(cycle);
        }
        l1i.figures.misses += 1;
        let begin = l1i.next_miss_cycle(cycle + latency);
        // Code comes only from level 2 or a region. A line that a data cache has changed is not written back first.
        let ready = self.below(address, begin, line, path == Path::Cached);
        let l1i = self.l1i[hart].as_mut().expect("it is there");
        l1i.record_miss(ready);
        l1i.insert(address, ready, LineState::Shared);
        ready
    }

    /// Reads from level 2 or a region, over the bus. Returns the cycle in which the bytes are ready.
    fn below(&mut self, address: u64, cycle: u64, bytes: u32, cached: bool) -> u64 {
        let begin = self.bus.request(cycle, 0);
        let ready = match cached {
            true => self.level2(address, begin, bytes, false),
            false => self.region(address).access(begin, bytes),
        };
        self.bus.respond(ready, bytes)
    }

    /// Accesses level 2 at `cycle`, and on a miss the region below. A level 2 that writes through passes `bytes` on.
    fn level2(&mut self, address: u64, cycle: u64, bytes: u32, write: bool) -> u64 {
        let (passes, hit) = (write && self.l2_through, cycle + self.l2_latency);
        let Some(l2) = &mut self.l2 else {
            return self.region(address).access(cycle, bytes);
        };
        l2.figures.accesses += 1;
        if let Some(place) = l2.find(address) {
            let (ready, _) = l2.touch(place);
            if ready > cycle {
                l2.figures.misses += 1;
            }
            if passes {
                self.region(address).access(hit, bytes);
            } else if write {
                l2.set_state(place, LineState::Modified);
            }
            return hit.max(ready);
        }
        l2.figures.misses += 1;
        if passes {
            return self.region(address).access(hit, bytes);
        }
        let begin = l2.next_miss_cycle(hit);
        let line = self.l2_line;
        let ready = self.region(address).access(begin, line);
        let l2 = self.l2.as_mut().expect("it is there");
        l2.record_miss(ready);
        let state = if write { LineState::Modified } else { LineState::Shared };
        if let Some(victim) = l2.insert(address, ready, state)
            && victim.modified
        {
            l2.figures.written_back += 1;
            // The victim is written from a buffer when memory is free, so the read does not wait for it.
            self.region(victim.address).access(ready, line);
        }
        ready
    }

    /// Invalidates the line of `address` in all other data caches. Returns whether one of them had changed it.
    fn invalidate_others(&mut self, hart: usize, address: u64) -> bool {
        let mut modified = false;
        if self.l1d.len() > 1 {
            for (other, cache) in self.l1d.iter_mut().enumerate() {
                if other != hart
                    && let Some(cache) = cache
                    && cache.invalidate(address) == Some(true)
                {
                    cache.figures.written_back += 1;
                    modified = true;
                }
            }
        }
        modified
    }

    /// Makes another hart's cache write back the line of `address` if it has changed it. Returns whether one had.
    fn clean_others(&mut self, hart: usize, address: u64) -> bool {
        if self.l1d.len() > 1 && !self.through {
            for (other, cache) in self.l1d.iter_mut().enumerate() {
                if other != hart
                    && let Some(cache) = cache
                    && let Some(place) = cache.find(address)
                    && cache.is_modified(place)
                {
                    cache.set_state(place, LineState::Shared);
                    cache.figures.written_back += 1;
                    return true;
                }
            }
        }
        false
    }

    /// Fills a line into a hart's data cache, for reading or writing. Returns the cycle in which it is ready.
    fn fill(&mut self, hart: usize, address: u64, cycle: u64, state: LineState) -> u64 {
        let line = self.l1d_line as u32;
        let l1d = self.l1d[hart].as_mut().expect("only a cache is filled");
        let begin = l1d.next_miss_cycle(cycle + self.l1d_latency);
        let mut begin = self.bus.request(begin, 0);
        let dirty = match state {
            LineState::Modified => self.invalidate_others(hart, address),
            LineState::Shared => self.clean_others(hart, address),
        };
        if dirty {
            // The other hart writes the line over the request wires into level 2, from which it is then read.
            begin = self.bus.request(begin + self.l1d_latency, line);
            self.level2(address, begin, line, true);
        }
        let ready = self.level2(address, begin, line, false);
        let ready = self.bus.respond(ready, line);
        let l1d = self.l1d[hart].as_mut().expect("only a cache is filled");
        l1d.record_miss(ready);
        if let Some(victim) = l1d.insert(address, ready, state)
            && victim.modified
        {
            l1d.figures.written_back += 1;
            let begin = self.bus.request(ready, line);
            self.level2(victim.address, begin, line, true);
        }
        ready
    }

    /// Reads data at `cycle`, and returns the cycle in which they are ready. A level 1 hit takes its latency, and
    /// tightly coupled memory one cycle.
    #[inline]
    pub(super) fn load(&mut self, hart: usize, address: u64, bytes: u8, cycle: u64) -> u64 {
        let ready = self.load_one(hart, address, bytes, cycle);
        let last = address.wrapping_add(u64::from(bytes.max(1)) - 1);
        if (address ^ last) & !(self.l1d_line - 1) == 0 {
            return ready;
        }
        // A misaligned access that crosses a line.
        ready.max(self.load_one(hart, last, bytes, cycle + 1))
    }

    fn load_one(&mut self, hart: usize, address: u64, bytes: u8, cycle: u64) -> u64 {
        let path = self.region(address).is.path;
        match path {
            Path::Tight => return cycle + 1,
            Path::Direct | Path::CachedCode => return self.below(address, cycle, bytes.into(), false),
            Path::Cached => {}
        }
        let latency = self.l1d_latency;
        let Some(l1d) = &mut self.l1d[hart] else {
            return self.below(address, cycle, bytes.into(), true);
        };
        l1d.figures.accesses += 1;
        if let Some(place) = l1d.find(address) {
            let (ready, _) = l1d.touch(place);
            if ready > cycle + latency {
                l1d.figures.misses += 1;
            }
            return ready.max(cycle + latency);
        }
        l1d.figures.misses += 1;
        self.fill(hart, address, cycle, LineState::Shared)
    }

    /// Writes data at `cycle`, and returns the cycle in which they have left the store queue.
    #[inline]
    pub(super) fn store(&mut self, hart: usize, address: u64, bytes: u8, cycle: u64) -> u64 {
        let done = self.store_one(hart, address, bytes, cycle);
        let last = address.wrapping_add(u64::from(bytes.max(1)) - 1);
        if (address ^ last) & !(self.l1d_line - 1) == 0 {
            return done;
        }
        done.max(self.store_one(hart, last, bytes, cycle + 1))
    }

    fn store_one(&mut self, hart: usize, address: u64, bytes: u8, cycle: u64) -> u64 {
        let path = self.region(address).is.path;
        match path {
            Path::Tight => return cycle + 1,
            Path::Direct | Path::CachedCode => {
                let begin = self.bus.request(cycle, bytes.into());
                return self.region(address).access(begin, bytes.into()).min(begin + 1);
            }
            Path::Cached => {}
        }
        if self.through {
            if let Some(l1d) = &mut self.l1d[hart] {
                l1d.figures.accesses += 1;
                match l1d.find(address) {
                    Some(place) => {
                        l1d.touch(place);
                    }
                    None => l1d.figures.misses += 1,
                }
            }
            let begin = self.bus.request(cycle, bytes.into());
            self.invalidate_others(hart, address);
            self.level2(address, begin, bytes.into(), true);
            return begin + 1;
        }
        let l1d = self.l1d[hart].as_mut().expect("without a cache, stores go through");
        l1d.figures.accesses += 1;
        let Some(place) = l1d.find(address) else {
            l1d.figures.misses += 1;
            return self.fill(hart, address, cycle, LineState::Modified) + 1;
        };
        let (ready, state) = l1d.touch(place);
        let cycle = cycle.max(ready);
        if state == LineState::Modified {
            return cycle + 1;
        }
        l1d.set_state(place, LineState::Modified);
        if self.l1d.len() == 1 {
            return cycle + 1;
        }
        let begin = self.bus.request(cycle, 0);
        self.invalidate_others(hart, address);
        begin + 1
    }

    /// Atomically reads and writes at `cycle`, and returns the cycle in which the old value is ready. If level 1 writes
    /// through, level 2 performs the operation; otherwise level 1 does, on an exclusive line.
    pub(super) fn atomic(&mut self, hart: usize, address: u64, bytes: u8, cycle: u64) -> u64 {
        if self.region(address).is.path != Path::Cached {
            let ready = self.load(hart, address, bytes, cycle);
            return ready.max(self.store(hart, address, bytes, cycle));
        }
        if self.through {
            if let Some(l1d) = &mut self.l1d[hart] {
                l1d.figures.accesses += 1;
            }
            let begin = self.bus.request(cycle + self.l1d_latency, bytes.into());
            self.invalidate_others(hart, address);
            let ready = self.level2(address, begin, bytes.into(), true);
            return self.bus.respond(ready, bytes.into());
        }
        self.store(hart, address, bytes, cycle) - 1 + self.l1d_latency
    }

    /// `fence.i`: clears the hart's instruction cache.
    pub(super) fn forget_code(&mut self, hart: usize) {
        if let Some(l1i) = &mut self.l1i[hart] {
            l1i.clear();
        }
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
