//! The description of a machine, from which everything else is built: what the functional core has to know, and what the
//! models take time from. It is read from a TOML file, three of which come with the program; `docs/reference/machines.md` documents
//! every field. A number outside its limits, a field that is missing, unknown or contradicts another is an error that names
//! the field.

mod core;
mod memory;

pub use self::core::{
    Disambiguation, Divider, InOrder, OutOfOrder, Predictor, PredictorKind, Replace, Unit, UnitClass,
};
pub use self::memory::{Bus, Cache, Device, DeviceKind, Kind, Path, Region, Write};

use crate::error::{Error, ErrorKind};
use crate::isa::{Isa, Xlen};
use crate::memory::PAGE_BYTES;
use serde::Deserialize;

/// A machine. The fields are public so that studies can vary them; [`Machine::check`] says whether what came out is still
/// possible.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called in reports.
    pub name: String,
    /// One line about it.
    #[serde(default)]
    pub about: String,
    /// Instruction set, as in `rv32imac` or `rv64imafdc_zba_zbb_zbs_zbkb`; empty: all that the simulator knows, in the
    /// width of the program.
    #[serde(default)]
    pub isa: String,
    /// Harts, 1 to 64.
    #[serde(default = "one")]
    pub harts: usize,
    /// Whether misaligned loads and stores are done; otherwise they trap.
    #[serde(default)]
    pub misaligned: bool,
    /// Cycles for a tick of `mtime`.
    #[serde(default = "hundred")]
    pub cycles_per_tick: u64,
    /// Memory.
    pub region: Vec<Region>,
    /// Devices.
    #[serde(default)]
    pub device: Vec<Device>,
    /// Level 1 cache of each hart for instructions.
    pub l1i: Option<Cache>,
    /// Level 1 cache of each hart for data.
    pub l1d: Option<Cache>,
    /// Level 2 cache that all harts share.
    pub l2: Option<Cache>,
    /// The bus between level 1 and what all harts share; none: every hart has a way of its own.
    pub bus: Option<Bus>,
    /// Branch prediction.
    #[serde(default)]
    pub predictor: Predictor,
    /// Harts that execute in program order. Without a pipeline of either kind, every instruction takes a cycle.
    pub in_order: Option<InOrder>,
    /// Harts that execute out of order.
    pub out_of_order: Option<OutOfOrder>,
}

/// Harts that a machine can have.
pub const MAX_HARTS: usize = 64;
/// Memory that a machine can have: it is allocated when it is touched, and a program may touch all of it.
const MAX_MEMORY_BYTES: u64 = 4 << 30;
/// Most lines of all caches: 256 MiB of this machine's memory.
const MOST_LINES: u64 = 1 << 23;

fn one() -> usize {
    1
}

fn hundred() -> u64 {
    100
}

/// The machines that come with the program, `e31`, `fe310` and `raptor`: name and TOML text.
pub const PRESETS: &[(&str, &str)] = &[
    ("e31", include_str!("presets/e31.toml")),
    ("fe310", include_str!("presets/fe310.toml")),
    ("raptor", include_str!("presets/raptor.toml")),
];

/// An error that names a field.
pub(crate) fn wrong(field: &str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Machine(format!("{field}: {why}")))
}

/// Refuses a number outside `low` to `high`.
pub(crate) fn within(field: &str, number: u64, low: u64, high: u64) -> Result<(), Error> {
    if (low..=high).contains(&number) {
        return Ok(());
    }
    Err(wrong(field, format_args!("{number}, must be {low} to {high}")))
}

impl Machine {
    /// A machine without a pipeline, for programs that ask for none in particular: one hart, 1 GiB of RAM at 0x8000_0000,
    /// flash at 0x2000_0000, CLINT at 0x200_0000, a 16550 UART at 0x1000_0000, SiFive's at 0x1001_3000, a finisher at
    /// 0x10_0000. So images for QEMU's `virt` and `sifive_e` run, as far as they are in machine mode.
    #[must_use]
    pub fn generic() -> Machine {
        let device = |kind, base| Device { kind, base, shift: 0 };
        Machine {
            name: "generic".into(),
            about: String::new(),
            isa: String::new(),
            harts: 1,
            misaligned: true,
            cycles_per_tick: 100,
            region: vec![
                Region { kind: Kind::Rom, ..Region::ram(0x2000_0000, 0x2000_0000) },
                Region::ram(0x8000_0000, 0x4000_0000),
            ],
            device: vec![
                device(DeviceKind::Finisher, 0x0010_0000),
                device(DeviceKind::Clint, 0x0200_0000),
                device(DeviceKind::Uart16550, 0x1000_0000),
                device(DeviceKind::UartSifive, 0x1001_3000),
            ],
            l1i: None,
            l1d: None,
            l2: None,
            bus: None,
            predictor: Predictor::default(),
            in_order: None,
            out_of_order: None,
        }
    }

    /// The machine of that name that comes with the program, if there is one: `e31`, `fe310` or `raptor`, in lower case.
    #[must_use]
    pub fn preset(name: &str) -> Option<Machine> {
        let (_, text) = PRESETS.iter().find(|(preset, _)| *preset == name)?;
        Some(Machine::parse(text).expect("the presets are tested"))
    }

    /// Reads a machine file, which has a pipeline.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the field, or shows the line, that is wrong.
    pub fn parse(text: &str) -> Result<Machine, Error> {
        let machine: Machine = toml::from_str(text)
            .map_err(|error| Error::new(ErrorKind::Machine(error.to_string().trim_end().into())))?;
        if machine.in_order.is_none() && machine.out_of_order.is_none() {
            return Err(wrong("in_order", "missing: a machine needs in_order or out_of_order"));
        }
        machine.check()?;
        Ok(machine)
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the field.
    pub fn check(&self) -> Result<(), Error> {
        self.check_for(Xlen::Rv64).map(drop)
    }

    /// The same for a program of that width, which says what a machine without an `isa` executes; what its harts execute.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn check_for(&self, program: Xlen) -> Result<Isa, Error> {
        within("harts", self.harts as u64, 1, MAX_HARTS as u64)?;
        within("cycles_per_tick", self.cycles_per_tick, 1, 1 << 32)?;
        if self.region.is_empty() {
            return Err(wrong("region", "the machine has no memory"));
        }
        for (number, region) in self.region.iter().enumerate() {
            region.check(&format!("region[{number}]"))?;
        }
        for (number, device) in self.device.iter().enumerate() {
            within(&format!("device[{number}].shift"), device.shift.into(), 0, 3)?;
        }
        for (name, cache) in [("l1i", &self.l1i), ("l1d", &self.l1d), ("l2", &self.l2)] {
            if let Some(cache) = cache {
                cache.check(name)?;
            }
        }
        self.check_lines()?;
        if let (Some(l2), line) = (&self.l2, self.l1d.as_ref().or(self.l1i.as_ref()).map(|cache| cache.line))
            && line.is_some_and(|line| line > l2.line)
        {
            return Err(wrong("l2.line", "shorter than a line of the level 1 caches"));
        }
        if let Some(bus) = &self.bus {
            bus.check("bus")?;
        }
        self.predictor.check("predictor")?;
        match (&self.in_order, &self.out_of_order) {
            (Some(core), None) => core.check("in_order")?,
            (None, Some(core)) => core.check("out_of_order")?,
            (Some(_), Some(_)) => {
                return Err(wrong("in_order", "out_of_order is present too: a hart has one pipeline"));
            }
            (None, None) => {}
        }
        let isa = if self.isa.is_empty() { Isa::full(program) } else { Isa::parse(&self.isa)? };
        self.check_map(isa.xlen)?;
        Ok(isa)
    }

    /// Memory and devices are whole pages that addresses reach, apart from each other, and not more than there may be.
    fn check_map(&self, xlen: Xlen) -> Result<(), Error> {
        let regions = self.region.iter().map(|region| ("memory", region.base, region.size));
        let devices = self.device.iter().map(|device| ("devices", device.base, device.kind.size()));
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (what, base, size) in regions.chain(devices) {
            if size == 0 || size % PAGE_BYTES != 0 || base % PAGE_BYTES != 0 {
                let why = format!("{size:#x} bytes at {base:#x} are not whole pages of {PAGE_BYTES} bytes");
                return Err(wrong(what, why));
            }
            match base.checked_add(size - 1) {
                Some(last) if last <= xlen.address_mask() => taken.push((base, last)),
                _ => return Err(wrong(what, format_args!("{size:#x} bytes at {base:#x} are beyond the last address"))),
            }
        }
        taken.sort_unstable();
        if let Some(pair) = taken.windows(2).find(|pair| pair[0].1 >= pair[1].0) {
            return Err(Error::new(ErrorKind::Machine(format!("memory or devices overlap at {:#x}", pair[1].0))));
        }
        let total = self.region.iter().fold(0_u64, |total, region| total.saturating_add(region.size));
        if total > MAX_MEMORY_BYTES {
            return Err(wrong("memory", format_args!("{total} bytes in total, the limit is {MAX_MEMORY_BYTES}")));
        }
        Ok(())
    }

    /// Every line of every cache is in memory from the start, so that a few words of a file must not ask for all there is.
    fn check_lines(&self) -> Result<(), Error> {
        let mut lines = 0;
        let each = self.harts as u64;
        for (name, cache, copies) in [("l1i", &self.l1i, each), ("l1d", &self.l1d, each), ("l2", &self.l2, 1)] {
            lines += cache.as_ref().map_or(0, |cache| copies * (cache.size / u64::from(cache.line)));
            if lines > MOST_LINES {
                let why =
                    format!("the caches of all harts have {lines} lines up to this one, the limit is {MOST_LINES}");
                return Err(wrong(&format!("{name}.size"), why));
            }
        }
        Ok(())
    }

    /// Sets the issue width, and with it every width that the file does not give.
    ///
    /// # Errors
    ///
    /// An in-order machine issues one instruction at a time; an out-of-order one 1 to 64.
    pub fn set_issue(&mut self, issue: u32) -> Result<(), Error> {
        let Some(core) = &mut self.out_of_order else {
            return if issue == 1 {
                Ok(())
            } else {
                Err(wrong("issue", "an in-order hart issues one instruction a cycle"))
            };
        };
        core.issue = issue;
        self.check()
    }
}
