//! The memory system as a machine file describes it: regions, caches, bus and devices.

use super::{check_number, invalid_field};
use crate::device::MAX_SOURCE;
use crate::error::Error;
use crate::memory::PAGE_BYTES;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeSet;

/// The most bytes of the registers of one device.
const MAX_REGISTERS_BYTES: u64 = 64 << 20;

/// A range of memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The name in reports.
    pub name: String,
    /// The first address, a multiple of 4096.
    pub base: u64,
    /// Size in bytes, a multiple of 4096.
    pub size: u64,
    /// Whether programs can write it.
    pub kind: Kind,
    /// How harts reach it.
    #[serde(default)]
    pub path: Path,
    /// Cycles from a request to the data, after caches and bus. Ignored for tightly coupled memory.
    #[serde(default = "one")]
    pub latency: u64,
    /// Cycles that one access (a cache line, or an uncached access) keeps the memory busy. 0 means that accesses never
    /// wait for each other.
    #[serde(default)]
    pub busy: u64,
    /// Bytes in a beat, 1 to 1024. The data of an access arrive beat by beat.
    #[serde(default = "one")]
    pub beat_bytes: u64,
    /// Cycles per beat, 0 to 10000. Each beat of an access adds this number to `latency` and, if `busy` is not 0, to
    /// `busy`.
    #[serde(default)]
    pub beat_cycles: u64,
    /// Whether `lr` and `sc` can reserve an address in it. If false, they trap.
    #[serde(default = "yes")]
    pub reserve: bool,
}

/// Whether memory can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Programs can write it.
    Ram,
    /// Only the loader can write it.
    Rom,
}

/// How harts reach memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Through all caches that the machine has.
    #[default]
    Cached,
    /// Instructions through the instruction cache, data past all caches.
    CachedCode,
    /// Tightly coupled: as fast as a level 1 hit, for instructions and data.
    Tight,
    /// Past all caches.
    Direct,
}

/// When a cache writes to the next level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Write {
    /// Write-through: at every store. A store that misses does not allocate a line.
    Through,
    /// Write-back: when a changed line is evicted. A store that misses fills its line first.
    Back,
}

/// A set-associative cache with LRU replacement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cache {
    /// Size in bytes, 64 to 2^30.
    pub size: u64,
    /// Associativity, 1 to 64.
    pub ways: u32,
    /// Line size in bytes, a power of two from 8 to 1024.
    pub line: u32,
    /// Cycles from the request to the data on a hit, 1 to 10000.
    pub latency: u32,
    /// When it writes to the next level. Ignored for instruction caches.
    #[serde(default = "back")]
    pub write: Write,
    /// The most misses that can be outstanding, 1 to 1024.
    #[serde(default = "misses")]
    pub misses: u32,
}

/// The bus between the level 1 caches and level 2 or memory. Requests and written data use one set of wires, and
/// returning lines another. Each carries one transfer at a time, first come first served; ties go to the lower hart
/// number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Bus {
    /// Cycles that a request occupies the request wires, 1 to 1000.
    pub request: u32,
    /// Bytes that either set of wires carries in a cycle, 1 to 1024. A 32-byte line takes two cycles at 16.
    pub width: u32,
}

/// A memory-mapped device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The type of device.
    pub kind: DeviceKind,
    /// Address of its first register, a multiple of 4096.
    pub base: u64,
    /// For a 16550: its registers are `1 << shift` bytes apart, 0 to 3.
    #[serde(default)]
    pub shift: u8,
    /// For SiFive's UART: the source at the PLIC by which it interrupts, 1 to [`sources`](Self::sources). 0 means none.
    #[serde(default)]
    pub interrupt: u32,
    /// For a PLIC: the highest number of a source, 1 to 127.
    #[serde(default)]
    pub sources: u32,
    /// For registers: size in bytes, a multiple of 4096.
    #[serde(default)]
    pub size: u64,
    /// For registers: offsets, multiples of 4, and what they have at the start. All others are zero.
    #[serde(default, deserialize_with = "pairs")]
    pub reset: Vec<(u64, u32)>,
    /// For registers: offsets, multiples of 4, and bits that always read as one.
    #[serde(default, deserialize_with = "pairs")]
    pub ones: Vec<(u64, u32)>,
}

/// The types of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// Core-local interruptor: software interrupts, `mtime` and `mtimecmp`.
    Clint,
    /// A 16550-like UART.
    #[serde(rename = "uart-16550")]
    Uart16550,
    /// SiFive's UART.
    UartSifive,
    /// SiFive's test finisher: a store to it ends the program.
    Finisher,
    /// Platform-level interrupt controller: the interrupts of other devices.
    Plic,
    /// Registers of a device that is not simulated. They keep what programs write.
    Registers,
}

impl Device {
    /// A device with no further fields.
    #[must_use]
    pub fn new(kind: DeviceKind, base: u64) -> Device {
        Device { kind, base, shift: 0, interrupt: 0, sources: 0, size: 0, reset: Vec::new(), ones: Vec::new() }
    }

    /// Size in bytes of its address range.
    pub(crate) fn size(&self) -> u64 {
        match self.kind {
            DeviceKind::Clint => 0x1_0000,
            DeviceKind::Plic => 0x400_0000,
            DeviceKind::Registers => self.size,
            _ => 0x1000,
        }
    }

    pub(super) fn check(&self, field: &str, sources: u32) -> Result<(), Error> {
        use DeviceKind::{Plic, Registers, Uart16550, UartSifive};
        let (plic, registers) = (self.kind == Plic, self.kind == Registers);
        let misplaced = [
            ("shift", self.shift != 0 && self.kind != Uart16550, "uart-16550"),
            ("interrupt", self.interrupt != 0 && self.kind != UartSifive, "uart-sifive"),
            ("sources", self.sources != 0 && !plic, "plic"),
            ("size", self.size != 0 && !registers, "registers"),
            ("reset", !self.reset.is_empty() && !registers, "registers"),
            ("ones", !self.ones.is_empty() && !registers, "registers"),
        ];
        if let Some((name, _, kind)) = misplaced.iter().find(|(_, misplaced, _)| *misplaced) {
            return Err(invalid_field(&format!("{field}.{name}"), format_args!("only {kind} has it")));
        }
        check_number(&format!("{field}.shift"), self.shift.into(), 0, 3)?;
        if plic {
            check_number(&format!("{field}.sources"), self.sources.into(), 1, MAX_SOURCE.into())?;
        }
        if registers {
            check_number(&format!("{field}.size"), self.size, PAGE_BYTES, MAX_REGISTERS_BYTES)?;
        }
        if self.interrupt > sources {
            let why = match sources {
                0 => "the machine has no PLIC".into(),
                _ => format!("{}, the machine's PLIC has {sources} sources", self.interrupt),
            };
            return Err(invalid_field(&format!("{field}.interrupt"), why));
        }
        for (name, words) in [("reset", &self.reset), ("ones", &self.ones)] {
            let mut seen = BTreeSet::new();
            let invalid = |(offset, _): &&(u64, u32)| offset % 4 != 0 || *offset >= self.size || !seen.insert(*offset);
            if let Some((offset, _)) = words.iter().find(invalid) {
                let why = format_args!("no register at {offset:#x}, or it is there twice");
                return Err(invalid_field(&format!("{field}.{name}"), why));
            }
        }
        Ok(())
    }
}

/// Pairs of an offset and a word. A tuple would leave out what a longer array has.
fn pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(u64, u32)>, D::Error> {
    let pair = |pair: Vec<u64>| match pair[..] {
        [offset, word] => Ok((offset, u32::try_from(word).map_err(de::Error::custom)?)),
        _ => Err(de::Error::custom("not a pair of an offset and a word")),
    };
    Vec::<Vec<u64>>::deserialize(deserializer)?.into_iter().map(pair).collect()
}

fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

fn back() -> Write {
    Write::Back
}

fn misses() -> u32 {
    8
}

impl Region {
    /// Cached RAM with default timing.
    #[must_use]
    pub fn ram(base: u64, size: u64) -> Region {
        Region {
            name: String::new(),
            base,
            size,
            kind: Kind::Ram,
            path: Path::Cached,
            latency: 1,
            busy: 0,
            beat_bytes: 1,
            beat_cycles: 0,
            reserve: true,
        }
    }

    /// Whether the region contains an address.
    #[inline]
    pub(crate) const fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.size
    }

    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        check_number(&format!("{field}.latency"), self.latency, 0, 10_000)?;
        check_number(&format!("{field}.busy"), self.busy, 0, 10_000)?;
        check_number(&format!("{field}.beat_bytes"), self.beat_bytes, 1, 1024)?;
        check_number(&format!("{field}.beat_cycles"), self.beat_cycles, 0, 10_000)
    }
}

impl Cache {
    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.size / (u64::from(self.line) * u64::from(self.ways))
    }

    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        check_number(&format!("{field}.size"), self.size, 64, 1 << 30)?;
        check_number(&format!("{field}.ways"), self.ways.into(), 1, 64)?;
        check_number(&format!("{field}.line"), self.line.into(), 8, 1024)?;
        check_number(&format!("{field}.latency"), self.latency.into(), 1, 10_000)?;
        check_number(&format!("{field}.misses"), self.misses.into(), 1, 1024)?;
        if !self.line.is_power_of_two() {
            return Err(invalid_field(&format!("{field}.line"), format_args!("{} is not a power of two", self.line)));
        }
        let set = u64::from(self.line) * u64::from(self.ways);
        if !self.size.is_multiple_of(set) || !self.sets().is_power_of_two() {
            let (size, ways, line) = (self.size, self.ways, self.line);
            let why =
                format!("{size} bytes / {ways} ways / {line}-byte lines: the number of sets is not a power of two");
            return Err(invalid_field(&format!("{field}.size"), why));
        }
        Ok(())
    }
}

impl Bus {
    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        check_number(&format!("{field}.request"), self.request.into(), 1, 1000)?;
        check_number(&format!("{field}.width"), self.width.into(), 1, 1024)
    }
}
