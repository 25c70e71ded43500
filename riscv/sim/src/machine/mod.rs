//! Descriptions of machines: TOML files with everything that a model takes time from, and the three that come with the
//! program. `docs/machines.md` documents every field. A number outside its limits, a field that is missing, unknown or
//! contradicts another is an error that names the field.

mod core;
mod memory;

pub use self::core::{
    Disambiguation, Divider, InOrder, OutOfOrder, Predictor, PredictorKind, Replace, Unit, UnitClass,
};
pub use self::memory::{Bus, Cache, Device, DeviceName, Kind, Path, Region, Write};

use crate::error::{Error, ErrorKind};
use crate::platform::{self, DeviceKind, Isa, Platform, Xlen};
use serde::Deserialize;

/// A machine. Parsed from TOML by [`Machine::parse`]; the fields are public so that studies can vary them, and
/// [`Machine::check`] says whether what came out is still possible.
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
    pub harts: u32,
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
    /// Harts that execute in program order.
    pub in_order: Option<InOrder>,
    /// Harts that execute out of order.
    pub out_of_order: Option<OutOfOrder>,
}

/// Most lines of all caches: 256 MiB of this machine's memory.
const MOST_LINES: u64 = 1 << 23;

fn one() -> u32 {
    1
}

fn hundred() -> u64 {
    100
}

/// The machines that come with the program: name and TOML text.
pub const PRESETS: [(&str, &str); 3] = [
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
    /// The machine of that name that comes with the program, if there is one.
    #[must_use]
    pub fn preset(name: &str) -> Option<Machine> {
        let (_, text) = PRESETS.iter().find(|(preset, _)| *preset == name)?;
        Some(Machine::parse(text).expect("the presets are tested"))
    }

    /// Reads a machine file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the field, or shows the line, that is wrong.
    pub fn parse(text: &str) -> Result<Machine, Error> {
        let machine: Machine = toml::from_str(text)
            .map_err(|error| Error::new(ErrorKind::Machine(error.to_string().trim_end().into())))?;
        machine.check()?;
        Ok(machine)
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the field.
    pub fn check(&self) -> Result<(), Error> {
        within("harts", self.harts.into(), 1, platform::MAX_HARTS as u64)?;
        within("cycles_per_tick", self.cycles_per_tick, 1, 1 << 32)?;
        if self.region.is_empty() {
            return Err(wrong("region", "the machine has no memory"));
        }
        for (number, region) in self.region.iter().enumerate() {
            region.check(&format!("region[{number}]"))?;
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
            (None, None) => return Err(wrong("in_order", "missing: a machine needs in_order or out_of_order")),
        }
        let xlen = self.xlen()?.unwrap_or(Xlen::Rv64);
        self.platform(xlen)?.check()
    }

    /// Every line of every cache is in memory from the start, so that a few words of a file must not ask for all there is.
    fn check_lines(&self) -> Result<(), Error> {
        let mut lines = 0;
        let each = u64::from(self.harts);
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

    /// The width of its registers, where the file says one.
    fn xlen(&self) -> Result<Option<Xlen>, Error> {
        match self.isa.get(..4).map(str::to_ascii_lowercase).as_deref() {
            Some("rv32") => Ok(Some(Xlen::Rv32)),
            Some("rv64") => Ok(Some(Xlen::Rv64)),
            None if self.isa.is_empty() => Ok(None),
            _ => Err(wrong("isa", format_args!("{:?} does not begin with rv32 or rv64", self.isa))),
        }
    }

    /// The instruction set for a program of that width.
    fn instruction_set(&self, program: Xlen) -> Result<Isa, Error> {
        let Some(xlen) = self.xlen()? else {
            return Ok(Isa::full(program));
        };
        let none = Isa { m: false, a: false, f: false, d: false, c: false, ..Isa::full(xlen) };
        let mut isa = Isa { zba: false, zbb: false, zbs: false, zbkb: false, ..none };
        let lower = self.isa[4..].to_ascii_lowercase();
        let mut parts = lower.split('_');
        for letter in parts.next().unwrap_or_default().chars() {
            match letter {
                'i' => {}
                'm' => isa.m = true,
                'a' => isa.a = true,
                'f' => isa.f = true,
                'd' => isa.d = true,
                'c' => isa.c = true,
                'g' => (isa.m, isa.a, isa.f, isa.d) = (true, true, true, true),
                _ => return Err(wrong("isa", format_args!("unknown extension {letter:?}"))),
            }
        }
        for part in parts {
            match part {
                "zba" => isa.zba = true,
                "zbb" => isa.zbb = true,
                "zbs" => isa.zbs = true,
                "zbkb" => isa.zbkb = true,
                "zicsr" | "zifencei" => {}
                _ => return Err(wrong("isa", format_args!("unknown extension {part:?}"))),
            }
        }
        Ok(isa)
    }

    /// What the functional core has to know, for a program of that width. A program of another width than the machine's
    /// is refused when it is loaded.
    ///
    /// # Errors
    ///
    /// As [`Machine::check`].
    pub fn platform(&self, program: Xlen) -> Result<Platform, Error> {
        let memory = self.region.iter().map(|region| platform::Region {
            base: region.base,
            size: region.size,
            writable: region.kind == Kind::Ram,
            reserve: region.reserve,
        });
        let devices = self.device.iter().map(|device| platform::Device {
            base: device.base,
            kind: match device.kind {
                DeviceName::Clint => DeviceKind::Clint,
                DeviceName::Uart16550 => DeviceKind::Uart16550 { shift: device.shift },
                DeviceName::UartSifive => DeviceKind::UartSifive,
                DeviceName::Finisher => DeviceKind::Finisher,
            },
        });
        Ok(Platform {
            isa: self.instruction_set(program)?,
            harts: self.harts as usize,
            memory: memory.collect(),
            devices: devices.collect(),
            misaligned: self.misaligned,
            semihosting: true,
            cycles_per_tick: self.cycles_per_tick,
        })
    }
}
