//! Memory as a machine file describes it: regions, caches, the bus, devices.

use super::{within, wrong};
use crate::error::Error;
use serde::Deserialize;

/// A range of addresses with memory behind it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// What it is called in reports.
    pub name: String,
    /// Its first byte; a multiple of 4096.
    pub base: u64,
    /// Bytes; a multiple of 4096.
    pub size: u64,
    /// What it is made of.
    pub kind: Kind,
    /// How harts reach it.
    #[serde(default)]
    pub path: Path,
    /// Cycles from a request to the data, after caches and bus. Of no meaning for tightly coupled memory.
    #[serde(default = "one")]
    pub latency: u64,
    /// Cycles that one access (a line, or what passes the caches by) keeps it busy; 0: it takes any number at once.
    #[serde(default)]
    pub busy: u64,
    /// Bytes of a beat, 1 to 1024: data come one beat after another.
    #[serde(default = "one")]
    pub beat_bytes: u64,
    /// Cycles of a beat, 0 to 10000: each beat of an access adds so many to `latency` and, where it is not 0, to `busy`.
    #[serde(default)]
    pub beat_cycles: u64,
    /// Whether `lr` and `sc` may reserve it; otherwise they trap.
    #[serde(default = "yes")]
    pub reserve: bool,
}

/// What memory is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Can be written.
    Ram,
    /// Cannot; the loader fills it.
    Rom,
}

/// How harts reach memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Through the caches that the machine has.
    #[default]
    Cached,
    /// Instructions through their cache, data past it.
    CachedCode,
    /// Beside the pipeline: as fast as a hit in a level 1 cache, for instructions and data.
    Tight,
    /// Past the caches.
    Direct,
}

/// When a cache writes to what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Write {
    /// At every store. A store that misses fills no line.
    Through,
    /// When a changed line has to leave. A store that misses fills its line first.
    Back,
}

/// A cache; the line used longest ago is replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes, 64 to 2^30.
    pub size: u64,
    /// Lines that an address can be in, 1 to 64.
    pub ways: u32,
    /// Bytes of a line, a power of two from 8 to 1024.
    pub line: u32,
    /// Cycles from the request to the data when it hits, 1 to 10000.
    pub latency: u32,
    /// When it writes; of no meaning for instructions.
    #[serde(default = "back")]
    pub write: Write,
    /// Lines that can be on their way at once, 1 to 1024.
    #[serde(default = "misses")]
    pub misses: u32,
}

/// What connects the harts' level 1 caches with level 2 and memory: wires for requests and written data, and wires for
/// the lines that come back. Each carries one thing at a time; who asks first is served first, by hart number in a tie.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Cycles that a request takes from the request wires, 1 to 1000.
    pub request: u32,
    /// Bytes that either kind of wire carries in a cycle, 1 to 1024: a line of 32 bytes over 16 takes two cycles.
    pub width: u32,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// What it is.
    pub kind: DeviceKind,
    /// Its first register; a multiple of 4096.
    pub base: u64,
    /// Of a 16550: its registers are `1 << shift` bytes apart, 0 to 3.
    #[serde(default)]
    pub shift: u8,
}

/// The devices that there are.
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
    /// SiFive's test finisher: a write ends the program.
    Finisher,
}

impl DeviceKind {
    /// Bytes that it takes from the memory map.
    pub(crate) const fn size(self) -> u64 {
        match self {
            DeviceKind::Clint => 0x1_0000,
            _ => 0x1000,
        }
    }
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
    /// RAM of which a machine file says no more than where it is.
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

    /// Whether an address is in it.
    #[inline]
    pub(crate) const fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.size
    }

    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        within(&format!("{field}.latency"), self.latency, 0, 10_000)?;
        within(&format!("{field}.busy"), self.busy, 0, 10_000)?;
        within(&format!("{field}.beat_bytes"), self.beat_bytes, 1, 1024)?;
        within(&format!("{field}.beat_cycles"), self.beat_cycles, 0, 10_000)
    }
}

impl Cache {
    /// Sets: how many different groups of lines there are.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.size / (u64::from(self.line) * u64::from(self.ways))
    }

    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        within(&format!("{field}.size"), self.size, 64, 1 << 30)?;
        within(&format!("{field}.ways"), self.ways.into(), 1, 64)?;
        within(&format!("{field}.line"), self.line.into(), 8, 1024)?;
        within(&format!("{field}.latency"), self.latency.into(), 1, 10_000)?;
        within(&format!("{field}.misses"), self.misses.into(), 1, 1024)?;
        if !self.line.is_power_of_two() {
            return Err(wrong(&format!("{field}.line"), format_args!("{} is not a power of two", self.line)));
        }
        let set = u64::from(self.line) * u64::from(self.ways);
        if !self.size.is_multiple_of(set) || !self.sets().is_power_of_two() {
            let (size, ways, line) = (self.size, self.ways, self.line);
            let why =
                format!("{size} bytes / {ways} ways / {line}-byte lines: the number of sets is not a power of two");
            return Err(wrong(&format!("{field}.size"), why));
        }
        Ok(())
    }
}

impl Bus {
    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        within(&format!("{field}.request"), self.request.into(), 1, 1000)?;
        within(&format!("{field}.width"), self.width.into(), 1, 1024)
    }
}
