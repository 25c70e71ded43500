//! Memory-mapped devices and the interfaces to the host.

mod clint;
mod htif;
pub(crate) mod linux;
mod plic;
mod registers;
pub(crate) mod semihosting;
mod uart;

use clint::Clint;
pub(crate) use htif::Htif;
pub(crate) use plic::MAX_SOURCE;

use crate::bus::Host;
use crate::machine::{Device, DeviceKind, Machine};
use plic::{EXTERNAL, Plic};
use registers::Registers;
use uart::{Uart16550, UartSifive};

/// The devices of a machine.
#[derive(Debug)]
pub(crate) struct Devices {
    /// Always present, because it keeps `mtime`. Harts can access it only on machines that map it.
    clint: Clint,
    plic: Option<Plic>,
    /// The harts that the PLIC interrupts, and the cycle at which a device changes next.
    external: Vec<bool>,
    changes: u64,
    mapped: Vec<MappedDevice>,
}

#[derive(Debug)]
struct MappedDevice {
    at: Device,
    state: DeviceState,
}

#[derive(Clone, Debug)]
enum DeviceState {
    Clint,
    Uart16550(Uart16550),
    UartSifive(UartSifive),
    Finisher,
    Plic,
    Registers(Registers),
}

impl Devices {
    pub(crate) fn new(machine: &Machine) -> Devices {
        let mapped = machine.device.iter().map(|device| MappedDevice {
            at: device.clone(),
            state: match device.kind {
                DeviceKind::Clint => DeviceState::Clint,
                DeviceKind::Uart16550 => DeviceState::Uart16550(Uart16550::new(device.shift)),
                DeviceKind::UartSifive => DeviceState::UartSifive(UartSifive::default()),
                DeviceKind::Finisher => DeviceState::Finisher,
                DeviceKind::Plic => DeviceState::Plic,
                DeviceKind::Registers => DeviceState::Registers(Registers::new(device)),
            },
        });
        let plic = machine.device.iter().find(|device| device.kind == DeviceKind::Plic);
        Devices {
            clint: Clint::new(machine.harts, machine.cycles_per_tick),
            plic: plic.map(|plic| Plic::new(machine.harts, plic.sources)),
            external: vec![false; machine.harts],
            changes: u64::MAX,
            mapped: mapped.collect(),
        }
    }

    /// The value of `mtime`.
    pub(crate) fn time(&self, now: u64) -> u64 {
        self.clint.time(now)
    }

    /// The interrupts pending for a hart, as `mip` has them.
    pub(crate) fn pending(&self, hart: usize, now: u64) -> u64 {
        self.clint.pending(hart, now) | if self.external[hart] { EXTERNAL } else { 0 }
    }

    /// The first cycle from `now` on at which one of the interrupts in `enabled` may become pending for a hart, if no
    /// program does anything.
    pub(crate) fn due(&self, hart: usize, enabled: u64, now: u64) -> Option<u64> {
        let timer = if enabled & clint::TIMER != 0 { self.clint.due(hart, now) } else { None };
        let external = (enabled & EXTERNAL != 0 && self.changes != u64::MAX).then_some(self.changes);
        timer.into_iter().chain(external).min()
    }

    /// Lets devices receive what has arrived.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64, host: &mut Host) {
        if now >= self.changes {
            self.update(now, host);
        }
    }

    /// Brings the interrupts up to date after an access to a device, or when one changes.
    #[cold]
    fn update(&mut self, now: u64, host: &mut Host) {
        let Some(plic) = &mut self.plic else { return };
        self.changes = u64::MAX;
        let mut level = 0;
        for device in &mut self.mapped {
            if let DeviceState::UartSifive(uart) = &mut device.state
                && device.at.interrupt != 0
            {
                level |= u128::from(uart.interrupts(now, host)) << device.at.interrupt;
                self.changes = self.changes.min(uart.receiver.arrival());
            }
        }
        plic.set_level(level);
        for (hart, external) in self.external.iter_mut().enumerate() {
            *external = plic.interrupts(hart);
        }
    }

    /// Reads a register of `bytes` bytes, or returns `None` if no register can be read this way.
    #[cold]
    pub(crate) fn read(&mut self, address: u64, bytes: usize, now: u64, host: &mut Host) -> Option<u64> {
        self.advance(now, host);
        let value = self.look(address, bytes, now, host);
        self.update(now, host);
        value
    }

    fn look(&mut self, address: u64, bytes: usize, now: u64, host: &mut Host) -> Option<u64> {
        let index = self.find(address, bytes)?;
        let device = &mut self.mapped[index];
        let offset = address - device.at.base;
        match &mut device.state {
            DeviceState::Clint => self.clint.read(offset, bytes, now),
            DeviceState::Uart16550(uart) => uart.read(offset, bytes, host),
            DeviceState::UartSifive(uart) => uart.read(offset, bytes, host),
            DeviceState::Finisher => Some(0),
            DeviceState::Plic => (bytes == 4).then(|| self.plic.as_mut().map_or(0, |plic| plic.read(offset))),
            DeviceState::Registers(registers) => registers.read(offset, bytes),
        }
    }

    /// Reads a register as [`read`](Self::read), without its effects.
    pub(crate) fn peek(&mut self, address: u64, bytes: usize, now: u64, host: &mut Host) -> Option<u64> {
        let index = self.find(address, bytes)?;
        let before = (self.mapped[index].state.clone(), self.plic.clone());
        match &mut self.mapped[index].state {
            DeviceState::Uart16550(uart) => uart.receiver.rest(),
            DeviceState::UartSifive(uart) => uart.receiver.rest(),
            _ => {}
        }
        let value = self.look(address, bytes, now, host);
        (self.mapped[index].state, self.plic) = before;
        value
    }

    #[cold]
    pub(crate) fn write(&mut self, address: u64, bytes: usize, value: u64, now: u64, host: &mut Host) -> Option<()> {
        self.advance(now, host);
        let index = self.find(address, bytes)?;
        let device = &mut self.mapped[index];
        let offset = address - device.at.base;
        let written = match &mut device.state {
            DeviceState::Clint => self.clint.write(offset, bytes, value, now),
            DeviceState::Uart16550(uart) => uart.write(offset, bytes, value, host),
            DeviceState::UartSifive(uart) => uart.write(offset, bytes, value, host),
            DeviceState::Finisher => finish(offset, value, host),
            DeviceState::Plic => (bytes == 4).then(|| {
                if let Some(plic) = &mut self.plic {
                    plic.write(offset, value as u32);
                }
            }),
            DeviceState::Registers(registers) => registers.write(offset, bytes, value),
        };
        self.update(now, host);
        written
    }

    /// Whether a range of addresses is all of one device.
    pub(crate) fn contain(&self, start: u64, bytes: u64) -> bool {
        let contains = |device: &MappedDevice| {
            let offset = start.wrapping_sub(device.at.base);
            offset < device.at.size() && bytes <= device.at.size() - offset
        };
        self.mapped.iter().any(contains)
    }

    /// The number of the device at an aligned address.
    fn find(&self, address: u64, bytes: usize) -> Option<usize> {
        let contains = |device: &MappedDevice| address.wrapping_sub(device.at.base) < device.at.size();
        self.mapped.iter().position(contains).filter(|_| address.is_multiple_of(bytes as u64))
    }
}

/// SiFive's test finisher, as QEMU's `virt` has it: 0x5555 passes, 0x3333 fails with the code above it.
fn finish(offset: u64, value: u64, host: &mut Host) -> Option<()> {
    match (offset, value & 0xffff) {
        (0, 0x5555) => host.exit(0),
        (0, 0x3333) => host.exit(value >> 16 & 0xffff),
        _ => {}
    }
    Some(())
}
