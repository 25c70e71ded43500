//! Serial ports whose output is the console. They receive nothing, and sending takes no time.

use crate::bus::Host;

/// A 16550 UART: PC16550D data sheet, Texas Instruments, table 2.
#[derive(Debug)]
pub(crate) struct Uart16550 {
    shift: u8,
    /// Registers that can be written and read back: 0 and 1 divisor, 2 interrupt enable, 3 line control, 4 modem
    /// control, 7 scratch.
    kept: [u8; 8],
}

const LINE_CONTROL: usize = 3;
/// Bit of the line control register: registers 0 and 1 are the divisor.
const DIVISOR_ACCESS: u8 = 0x80;
/// No interrupt pending; FIFOs are on.
const NO_INTERRUPT: u8 = 0xc1;
/// The transmitter is empty, both holding and shift register.
const IDLE: u8 = 0x60;

impl Uart16550 {
    pub(crate) fn new(shift: u8) -> Uart16550 {
        Uart16550 { shift, kept: [0; 8] }
    }

    /// The register at an offset. Offsets between registers read as zero and ignore writes.
    fn register(&self, offset: u64) -> Option<usize> {
        let register = offset >> self.shift;
        (register << self.shift == offset && register < 8).then_some(register as usize)
    }

    pub(crate) fn read(&self, offset: u64, bytes: usize) -> Option<u64> {
        if bytes > 4 {
            return None;
        }
        let divisor = self.kept[LINE_CONTROL] & DIVISOR_ACCESS != 0;
        Some(u64::from(match self.register(offset) {
            Some(0) if !divisor => 0,
            Some(1) if !divisor => self.kept[2],
            Some(2) => NO_INTERRUPT,
            Some(5) => IDLE,
            Some(6) | None => 0,
            Some(register) => self.kept[register],
        }))
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: usize, value: u64, host: &mut Host) -> Option<()> {
        if bytes > 4 {
            return None;
        }
        let divisor = self.kept[LINE_CONTROL] & DIVISOR_ACCESS != 0;
        match self.register(offset) {
            Some(0) if !divisor => host.print(&[value as u8]),
            Some(1) if !divisor => self.kept[2] = value as u8,
            Some(2 | 5 | 6) | None => {}
            Some(register) => self.kept[register] = value as u8,
        }
        Some(())
    }
}

/// SiFive's UART: FE310-G000 Manual, chapter 18.
#[derive(Debug, Default)]
pub(crate) struct UartSifive {
    /// txctrl, rxctrl, ie, ip (unused), div.
    kept: [u32; 5],
}

const RECEIVED_NOTHING: u64 = 1 << 31;
/// `txwm`: the transmit queue has room.
const CAN_SEND: u64 = 1;

impl UartSifive {
    pub(crate) fn read(&self, offset: u64, bytes: usize) -> Option<u64> {
        if bytes != 4 {
            return None;
        }
        Some(match offset {
            0x4 => RECEIVED_NOTHING,
            0x14 => CAN_SEND,
            0x8 | 0xc | 0x10 | 0x18 => u64::from(self.kept[offset as usize / 4 - 2]),
            _ => 0,
        })
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: usize, value: u64, host: &mut Host) -> Option<()> {
        match (offset, bytes) {
            // Some programs send a character by a byte store.
            (0, 1 | 4) => host.print(&[value as u8]),
            (0x8 | 0xc | 0x10 | 0x18, 4) => self.kept[offset as usize / 4 - 2] = value as u32,
            (_, 4) => {}
            _ => return None,
        }
        Some(())
    }
}
