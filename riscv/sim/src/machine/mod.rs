//! The description of a machine: what the functional core executes, and the times that the models use. It is read from
//! a TOML file; three such files come with the program, and `docs/reference/machines.md` documents every field. A
//! number out of range, a missing or unknown field, or a contradiction between fields is an error that names the field.

mod core;
mod memory;
mod set;

pub use self::core::{
    Disambiguation, Divider, InOrder, OutOfOrder, Predictor, PredictorKind, Replace, Unit, UnitClass,
};
pub use self::memory::{Bus, Cache, Device, DeviceKind, Kind, Path, Region, Write};

use crate::error::{Error, ErrorKind};
use crate::isa::{Isa, Xlen};
use crate::memory::PAGE_BYTES;
use serde::Deserialize;
use std::sync::LazyLock;

/// A machine. The fields are public so that studies can vary them; [`Machine::check`] validates the result.
///
/// ```
/// let mut machine = tress_sim::Machine::preset("raptor").expect("a preset");
/// machine.harts = 2;
/// machine.set_issue(8)?;
/// # Ok::<(), tress_sim::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name in reports.
    pub name: String,
    /// A description in one line.
    #[serde(default)]
    pub about: String,
    /// Instruction set, as in `rv32imac` or `rv64imafdc_zba_zbb_zbs_zbkb`. Empty means all supported extensions, with
    /// the program's register width.
    #[serde(default)]
    pub isa: String,
    /// Number of harts, 1 to 64.
    #[serde(default = "one")]
    pub harts: usize,
    /// Whether misaligned loads and stores are executed. If false, they trap.
    #[serde(default)]
    pub misaligned: bool,
    /// Cycles per second, by which semihosting's clocks count.
    #[serde(default = "gigahertz")]
    pub hertz: u64,
    /// Cycles per tick of `mtime`.
    #[serde(default = "hundred")]
    pub cycles_per_tick: u64,
    /// Whether harts have the CSR `time`. If false, reading it traps.
    #[serde(default = "yes")]
    pub time: bool,
    /// Event counters of each hart, `mhpmcounter3` and up, 0 to 29. They count the events of SiFive's E31.
    #[serde(default)]
    pub event_counters: u32,
    /// Regions of memory.
    pub region: Vec<Region>,
    /// Memory-mapped devices.
    #[serde(default)]
    pub device: Vec<Device>,
    /// Level 1 instruction cache of each hart.
    pub l1i: Option<Cache>,
    /// Level 1 data cache of each hart.
    pub l1d: Option<Cache>,
    /// Level 2 cache, shared by all harts.
    pub l2: Option<Cache>,
    /// The bus between the level 1 caches and the shared memory system. If `None`, each hart has its own path.
    pub bus: Option<Bus>,
    /// Branch prediction.
    #[serde(default)]
    pub predictor: Predictor,
    /// In-order pipeline of each hart. Without any pipeline, every instruction takes one cycle.
    pub in_order: Option<InOrder>,
    /// Out-of-order pipeline of each hart.
    pub out_of_order: Option<OutOfOrder>,
}

/// The most harts that a machine can have.
pub const MAX_HARTS: usize = 64;
/// The most bytes of memory that a machine can have. Memory is allocated on first use, and a program may use all of it.
const MAX_MEMORY_BYTES: u64 = 4 << 30;
/// The most cache lines in all caches. They take 256 MiB of the host's memory.
const MAX_CACHE_LINES: u64 = 1 << 23;

fn one() -> usize {
    1
}

fn hundred() -> u64 {
    100
}

fn gigahertz() -> u64 {
    1_000_000_000
}

fn yes() -> bool {
    true
}

/// The presets `e31`, `fe310` and `raptor`: name and TOML text.
pub const PRESETS: &[(&str, &str)] = &[
    ("e31", include_str!("presets/e31.toml")),
    ("fe310", include_str!("presets/fe310.toml")),
    ("raptor", include_str!("presets/raptor.toml")),
];

/// The machine file of the preset of this name, or `None` for any other name.
#[must_use]
pub fn preset_file(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, file)| *file)
}

/// An error that names a field of the machine file.
pub(crate) fn invalid_field(field: &str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Machine(format!("{field}: {why}")))
}

/// Returns an error unless the number is between `low` and `high`.
pub(crate) fn check_number(field: &str, number: u64, low: u64, high: u64) -> Result<(), Error> {
    if (low..=high).contains(&number) {
        return Ok(());
    }
    Err(invalid_field(field, format_args!("{number}, must be {low} to {high}")))
}

impl Machine {
    /// A machine without a pipeline, the default for programs. It has one hart, 1 GiB of RAM at 0x8000_0000, flash at
    /// 0x2000_0000, a CLINT at 0x200_0000, a PLIC at 0xc00_0000, a 16550 UART at 0x1000_0000, SiFive's UART at 0x1001_3000,
    /// the registers of its clocks and pins, and a finisher at 0x10_0000. It runs images for QEMU's `virt` and `sifive_e`
    /// that stay in machine mode.
    #[must_use]
    pub fn generic() -> Machine {
        static GENERIC: LazyLock<Machine> =
            LazyLock::new(|| toml::from_str(include_str!("presets/generic.toml")).expect("every test parses it"));
        GENERIC.clone()
    }

    /// The preset of this name (`e31`, `fe310` or `raptor`, in lower case), or `None` for any other name.
    #[must_use]
    pub fn preset(name: &str) -> Option<Machine> {
        Some(Machine::parse(preset_file(name)?).expect("the presets are tested"))
    }

    /// Parses a machine file, which must describe a pipeline.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the wrong field or shows the wrong line.
    pub fn parse(text: &str) -> Result<Machine, Error> {
        let machine: Machine = toml::from_str(text).map_err(|error| {
            // The parser's own text has several lines.
            let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count());
            let (shown, why) =
                (text.lines().nth(line).unwrap_or("").trim(), error.message().trim().replace('\n', ", "));
            Error::new(ErrorKind::Machine(format!("line {}, {shown}: {why}", line + 1)))
        })?;
        machine.complete()
    }

    /// This machine, if it has a pipeline and is valid.
    fn complete(self) -> Result<Machine, Error> {
        if self.in_order.is_none() && self.out_of_order.is_none() {
            return Err(invalid_field("in_order", "missing: a machine needs in_order or out_of_order"));
        }
        self.check()?;
        Ok(self)
    }

    /// Validates the machine.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the field.
    pub fn check(&self) -> Result<(), Error> {
        self.check_for(Xlen::Rv64).map(drop)
    }

    /// Validates the machine for programs of this register width, and returns the instruction set of its harts.
    ///
    /// # Errors
    ///
    /// As [`Machine::check`].
    pub fn check_for(&self, program: Xlen) -> Result<Isa, Error> {
        check_number("harts", self.harts as u64, 1, MAX_HARTS as u64)?;
        check_number("hertz", self.hertz, 1000, 1_000_000_000_000)?;
        check_number("cycles_per_tick", self.cycles_per_tick, 1, 1 << 32)?;
        check_number("event_counters", self.event_counters.into(), 0, 29)?;
        if self.region.is_empty() {
            return Err(invalid_field("region", "the machine has no memory"));
        }
        for (number, region) in self.region.iter().enumerate() {
            region.check(&format!("region[{number}]"))?;
        }
        let mut plics = self.device.iter().filter(|device| device.kind == DeviceKind::Plic);
        let sources = plics.next().map_or(0, |plic| plic.sources);
        if plics.next().is_some() {
            return Err(invalid_field("device", "a machine has one PLIC"));
        }
        for (number, device) in self.device.iter().enumerate() {
            device.check(&format!("device[{number}]"), sources)?;
        }
        for (name, cache) in [("l1i", &self.l1i), ("l1d", &self.l1d), ("l2", &self.l2)] {
            if let Some(cache) = cache {
                cache.check(name)?;
            }
        }
        self.check_lines()?;
        if let Some(l2) = &self.l2
            && [&self.l1i, &self.l1d].into_iter().flatten().any(|cache| cache.line > l2.line)
        {
            return Err(invalid_field("l2.line", "shorter than a line of the level 1 caches"));
        }
        if let Some(bus) = &self.bus {
            bus.check("bus")?;
        }
        if let (Some(core), Some(l1i)) = (&self.in_order, &self.l1i)
            && core.fetch_bytes > l1i.line
        {
            return Err(invalid_field("in_order.fetch_bytes", "longer than a line of l1i"));
        }
        self.predictor.check("predictor")?;
        match (&self.in_order, &self.out_of_order) {
            (Some(core), None) => core.check("in_order")?,
            (None, Some(core)) => core.check("out_of_order")?,
            (Some(_), Some(_)) => {
                return Err(invalid_field("in_order", "out_of_order is present too: a hart has one pipeline"));
            }
            (None, None) => {}
        }
        let isa = if self.isa.is_empty() { Isa::full(program) } else { Isa::parse(&self.isa)? };
        self.check_map(isa.xlen)?;
        Ok(isa)
    }

    /// Checks that regions and devices consist of whole pages in the address space, do not overlap, and stay below the
    /// limit on memory.
    fn check_map(&self, xlen: Xlen) -> Result<(), Error> {
        let regions = self.region.iter().map(|region| ("memory", region.base, region.size));
        let devices = self.device.iter().map(|device| ("devices", device.base, device.size()));
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (what, base, size) in regions.chain(devices) {
            if size == 0 || size % PAGE_BYTES != 0 || base % PAGE_BYTES != 0 {
                let why = format!("{size:#x} bytes at {base:#x} are not whole pages of {PAGE_BYTES} bytes");
                return Err(invalid_field(what, why));
            }
            match base.checked_add(size - 1) {
                Some(last) if last <= xlen.address_mask() => taken.push((base, last)),
                _ => {
                    return Err(invalid_field(
                        what,
                        format_args!("{size:#x} bytes at {base:#x} are beyond the last address"),
                    ));
                }
            }
        }
        taken.sort_unstable();
        if let Some(pair) = taken.windows(2).find(|pair| pair[0].1 >= pair[1].0) {
            return Err(Error::new(ErrorKind::Machine(format!("memory or devices overlap at {:#x}", pair[1].0))));
        }
        let total = self.region.iter().fold(0_u64, |total, region| total.saturating_add(region.size));
        if total > MAX_MEMORY_BYTES {
            return Err(invalid_field(
                "memory",
                format_args!("{total} bytes in total, the limit is {MAX_MEMORY_BYTES}"),
            ));
        }
        Ok(())
    }

    /// Checks the number of cache lines. All lines are allocated from the start, so a short machine file could
    /// otherwise exhaust the host's memory.
    fn check_lines(&self) -> Result<(), Error> {
        let mut lines = 0;
        let each = self.harts as u64;
        for (name, cache, copies) in [("l1i", &self.l1i, each), ("l1d", &self.l1d, each), ("l2", &self.l2, 1)] {
            lines += cache.as_ref().map_or(0, |cache| copies * (cache.size / u64::from(cache.line)));
            if lines > MAX_CACHE_LINES {
                let why = format!(
                    "the caches of all harts have {lines} lines up to this one, the limit is {MAX_CACHE_LINES}"
                );
                return Err(invalid_field(&format!("{name}.size"), why));
            }
        }
        Ok(())
    }

    /// Sets the issue width, and with it all widths that default to it.
    ///
    /// # Errors
    ///
    /// An in-order machine accepts only 1; an out-of-order machine accepts 1 to 64.
    pub fn set_issue(&mut self, issue: u32) -> Result<(), Error> {
        let Some(core) = &mut self.out_of_order else {
            return if issue == 1 {
                Ok(())
            } else {
                Err(invalid_field("issue", "an in-order hart issues one instruction a cycle"))
            };
        };
        core.issue = issue;
        self.check()
    }
}
