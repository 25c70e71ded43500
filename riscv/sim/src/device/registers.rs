//! Registers of a device that is not simulated: they keep what programs write. Some bits always read as one, such as
//! those by which a clock says that it is ready.

use std::collections::BTreeMap;

use crate::machine::Device;

#[derive(Clone, Debug)]
pub(crate) struct Registers {
    /// The words by their offset, where they are not zero.
    words: BTreeMap<u64, u32>,
    ones: BTreeMap<u64, u32>,
}

impl Registers {
    pub(crate) fn new(device: &Device) -> Registers {
        Registers { words: device.reset.iter().copied().collect(), ones: device.ones.iter().copied().collect() }
    }

    fn word(&self, offset: u64) -> u32 {
        let of = |words: &BTreeMap<u64, u32>| words.get(&(offset & !3)).copied().unwrap_or(0);
        of(&self.words) | of(&self.ones)
    }

    /// Reads one, two or four bytes.
    pub(crate) fn read(&self, offset: u64, bytes: usize) -> Option<u64> {
        let value = u64::from(self.word(offset) >> (8 * (offset & 3)));
        (bytes <= 4).then_some(value & (u64::MAX >> (64 - 8 * bytes)))
    }

    /// Writes one, two or four bytes.
    pub(crate) fn write(&mut self, offset: u64, bytes: usize, value: u64) -> Option<()> {
        if bytes > 4 {
            return None;
        }
        let shift = 8 * (offset & 3);
        let mask = (u64::MAX >> (64 - 8 * bytes) << shift) as u32;
        let word = self.word(offset) & !mask | (value << shift) as u32 & mask;
        self.words.insert(offset & !3, word);
        Some(())
    }
}
