//! What the functional core has to know of a machine: instruction set, memory map, devices. Machine files are read into
//! one; [`Platform::generic`] is where programs run that ask for no machine in particular.

use crate::error::{Error, ErrorKind};

/// Width of the integer registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Xlen {
    /// RV32.
    Rv32,
    /// RV64.
    Rv64,
}

impl Xlen {
    /// In bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Xlen::Rv32 => 32,
            Xlen::Rv64 => 64,
        }
    }

    /// The bits that an address has.
    #[must_use]
    pub const fn address_mask(self) -> u64 {
        match self {
            Xlen::Rv32 => 0xffff_ffff,
            Xlen::Rv64 => u64::MAX,
        }
    }
}

/// An instruction set: RV32I or RV64I with Zicsr and Zifencei, and these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct Isa {
    pub xlen: Xlen,
    pub m: bool,
    pub a: bool,
    pub f: bool,
    pub d: bool,
    pub c: bool,
    pub zba: bool,
    pub zbb: bool,
    pub zbs: bool,
    pub zbkb: bool,
}

impl Isa {
    /// Everything that this simulator executes.
    #[must_use]
    pub const fn full(xlen: Xlen) -> Isa {
        Isa { xlen, m: true, a: true, f: true, d: true, c: true, zba: true, zbb: true, zbs: true, zbkb: true }
    }

    /// `misa`: the width and a bit for each letter.
    #[must_use]
    pub(crate) fn misa(&self) -> u64 {
        let letters = [('a', self.a), ('c', self.c), ('d', self.d), ('f', self.f), ('i', true), ('m', self.m)]
            .into_iter()
            .chain([('b', self.zba && self.zbb && self.zbs)])
            .fold(0, |letters, (letter, there)| letters | u64::from(there) << (letter as u8 - b'a'));
        match self.xlen {
            // As all values of RV32 are kept: sign-extended.
            Xlen::Rv32 => letters | 1 << 30,
            Xlen::Rv64 => letters | 2 << 62,
        }
    }
}

/// A range of addresses with memory behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first byte.
    pub base: u64,
    /// Bytes, a multiple of 4096.
    pub size: u64,
    /// Whether programs can write to it (the loader always can).
    pub writable: bool,
    /// Whether `lr` and `sc` may reserve it; otherwise they raise an access fault.
    pub reserve: bool,
}

/// What else has addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Core-local interruptor: software interrupts, `mtime` and `mtimecmp`.
    Clint,
    /// A 16550-like UART; registers are `1 << shift` bytes apart.
    Uart16550 {
        /// Logarithm of the registers' distance.
        shift: u8,
    },
    /// SiFive's UART.
    UartSifive,
    /// SiFive's test finisher: a write ends the program.
    Finisher,
}

impl DeviceKind {
    /// Bytes that it takes from the memory map.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            DeviceKind::Clint => 0x1_0000,
            _ => 0x1000,
        }
    }
}

/// A device at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its first register.
    pub base: u64,
    /// What it is.
    pub kind: DeviceKind,
}

/// A machine, as far as its function goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// What its harts execute.
    pub isa: Isa,
    /// How many harts, 1 to 64.
    pub harts: usize,
    /// Its memory; regions and devices must not overlap.
    pub memory: Vec<Region>,
    /// Its devices.
    pub devices: Vec<Device>,
    /// Whether misaligned loads and stores are done; otherwise they trap.
    pub misaligned: bool,
    /// Whether the semihosting sequence around `ebreak` calls the host.
    pub semihosting: bool,
    /// Cycles for a tick of `mtime`.
    pub cycles_per_tick: u64,
}

/// Harts that a machine can have.
pub const MAX_HARTS: usize = 64;
/// Memory that a machine can have: it is allocated when it is touched, and a program may touch all of it.
pub const MAX_MEMORY_BYTES: u64 = 4 << 30;
/// Pages are allocated one by one.
pub const PAGE_BYTES: u64 = 4096;

impl Platform {
    /// A machine for programs that ask for none: 1 GiB of RAM at 0x8000_0000, flash at 0x2000_0000, CLINT at
    /// 0x200_0000, a 16550 UART at 0x1000_0000, SiFive's at 0x1001_3000, a finisher at 0x10_0000. So images for QEMU's
    /// `virt` and `sifive_e` run, as far as they are in machine mode.
    #[must_use]
    pub fn generic(xlen: Xlen, harts: usize) -> Platform {
        Platform {
            isa: Isa::full(xlen),
            harts,
            memory: vec![
                Region { base: 0x2000_0000, size: 0x2000_0000, writable: false, reserve: true },
                Region { base: 0x8000_0000, size: 0x4000_0000, writable: true, reserve: true },
            ],
            devices: vec![
                Device { base: 0x0010_0000, kind: DeviceKind::Finisher },
                Device { base: 0x0200_0000, kind: DeviceKind::Clint },
                Device { base: 0x1000_0000, kind: DeviceKind::Uart16550 { shift: 0 } },
                Device { base: 0x1001_3000, kind: DeviceKind::UartSifive },
            ],
            misaligned: true,
            semihosting: true,
            cycles_per_tick: 100,
        }
    }

    /// Refuses what contradicts itself.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::new(ErrorKind::Machine(text)));
        if self.isa.d && !self.isa.f {
            return wrong("isa: extension D requires F".into());
        }
        if !(1..=MAX_HARTS).contains(&self.harts) {
            return wrong(format!("harts: {}, must be 1 to {MAX_HARTS}", self.harts));
        }
        if self.cycles_per_tick == 0 {
            return wrong("cycles_per_tick: 0".into());
        }
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (what, base, size) in self
            .memory
            .iter()
            .map(|region| ("memory", region.base, region.size))
            .chain(self.devices.iter().map(|device| ("devices", device.base, device.kind.size())))
        {
            if size == 0 || size % PAGE_BYTES != 0 || base % PAGE_BYTES != 0 {
                return wrong(format!(
                    "{what}: {size:#x} bytes at {base:#x} are not whole pages of {PAGE_BYTES} bytes"
                ));
            }
            match base.checked_add(size - 1) {
                Some(last) if last <= self.isa.xlen.address_mask() => taken.push((base, last)),
                _ => return wrong(format!("{what}: {size:#x} bytes at {base:#x} are beyond the last address")),
            }
        }
        taken.sort_unstable();
        if let Some(pair) = taken.windows(2).find(|pair| pair[0].1 >= pair[1].0) {
            return wrong(format!("memory or devices overlap at {:#x}", pair[1].0));
        }
        let total = self.memory.iter().fold(0_u64, |total, region| total.saturating_add(region.size));
        if total > MAX_MEMORY_BYTES {
            return wrong(format!("memory: {total} bytes in total, the limit is {MAX_MEMORY_BYTES}"));
        }
        Ok(())
    }
}
