//! Memory-mapped devices and the interfaces to the host.

mod clint;
mod htif;
pub(crate) mod semihosting;
mod uart;

pub(crate) use clint::Clint;
pub(crate) use htif::Htif;

use crate::bus::Host;
use crate::machine::{Device, DeviceKind, Machine};
use uart::{Uart16550, UartSifive};

/// The devices of a machine.
#[derive(Debug)]
pub(crate) struct Devices {
    /// Always present, because it keeps `mtime`. Harts can access it only on machines that map it.
    pub(crate) clint: Clint,
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
            },
        });
        Devices { clint: Clint::new(machine.harts, machine.cycles_per_tick), mapped: mapped.collect() }
    }

    /// Reads a register of `bytes` bytes, or returns `None` if no register can be read this way.
    #[cold]
    pub(crate) fn read(&mut self, address: u64, bytes: usize, now: u64, host: &mut Host) -> Option<u64> {
        let (clint, device, offset) = self.find(address, bytes)?;
        match device {
            DeviceState::Clint => clint.read(offset, bytes, now),
            DeviceState::Uart16550(uart) => uart.read(offset, bytes, host),
            DeviceState::UartSifive(uart) => uart.read(offset, bytes, host),
            DeviceState::Finisher => Some(0),
        }
    }

    /// Reads a register as [`read`](Self::read), without its effects.
    pub(crate) fn peek(&mut self, address: u64, bytes: usize, now: u64, host: &mut Host) -> Option<u64> {
        let (_, device, _) = self.find(address, bytes)?;
        let before = device.clone();
        match device {
            DeviceState::Uart16550(uart) => uart.receiver.rest(),
            DeviceState::UartSifive(uart) => uart.receiver.rest(),
            DeviceState::Clint | DeviceState::Finisher => {}
        }
        let value = self.read(address, bytes, now, host);
        *self.find(address, bytes)?.1 = before;
        value
    }

    #[cold]
    pub(crate) fn write(&mut self, address: u64, bytes: usize, value: u64, now: u64, host: &mut Host) -> Option<()> {
        let (clint, device, offset) = self.find(address, bytes)?;
        match device {
            DeviceState::Clint => clint.write(offset, bytes, value, now),
            DeviceState::Uart16550(uart) => uart.write(offset, bytes, value, host),
            DeviceState::UartSifive(uart) => uart.write(offset, bytes, value, host),
            DeviceState::Finisher => finish(offset, value, host),
        }
    }

    /// Whether a range of addresses is all of one device.
    pub(crate) fn contain(&self, start: u64, bytes: u64) -> bool {
        let contains = |device: &MappedDevice| {
            let offset = start.wrapping_sub(device.at.base);
            offset < device.at.kind.size() && bytes <= device.at.kind.size() - offset
        };
        self.mapped.iter().any(contains)
    }

    /// The device at an aligned address and the offset in it.
    fn find(&mut self, address: u64, bytes: usize) -> Option<(&mut Clint, &mut DeviceState, u64)> {
        let device =
            self.mapped.iter_mut().find(|device| address.wrapping_sub(device.at.base) < device.at.kind.size())?;
        let aligned = address.is_multiple_of(bytes as u64);
        aligned.then_some((&mut self.clint, &mut device.state, address - device.at.base))
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
