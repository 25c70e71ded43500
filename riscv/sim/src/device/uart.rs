//! Serial ports: they send to the console and receive the input of the program, both in no time.

use crate::bus::Host;

/// The receiving half of a serial port.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// The byte that waits for the program.
    byte: Option<u8>,
    /// Whether the program has looked for a byte since it last sent one.
    looked: bool,
    /// Whether the input has ended.
    ended: bool,
}

impl Receiver {
    /// Lets the next look for a byte be the first one, which takes no input.
    pub(super) fn rest(&mut self) {
        self.looked = false;
    }

    /// Whether a byte waits. A program that looks once may want to send. One that looks again waits for input, so it
    /// gets the next byte however long that takes to arrive: a run with the same input takes the same cycles.
    fn is_ready(&mut self, host: &mut Host) -> bool {
        if self.looked && self.byte.is_none() && !self.ended {
            self.byte = host.read(1).first().copied();
            self.ended = self.byte.is_none();
        }
        self.looked = true;
        self.byte.is_some()
    }
}

/// A 16550 UART: PC16550D data sheet, Texas Instruments, table 2.
#[derive(Clone, Debug)]
pub(crate) struct Uart16550 {
    shift: u8,
    /// Registers that can be written and read back: 0 and 1 divisor, 2 interrupt enable, 3 line control, 4 modem
    /// control, 7 scratch.
    kept: [u8; 8],
    pub(super) receiver: Receiver,
}

const LINE_CONTROL: usize = 3;
/// Bit of the line control register: registers 0 and 1 are the divisor.
const DIVISOR_ACCESS: u8 = 0x80;
/// No interrupt pending; FIFOs are on.
const NO_INTERRUPT: u8 = 0xc1;
/// The transmitter is empty, both holding and shift register.
const IDLE: u8 = 0x60;
/// A byte has been received.
const DATA_READY: u8 = 1;

impl Uart16550 {
    pub(crate) fn new(shift: u8) -> Uart16550 {
        Uart16550 { shift, kept: [0; 8], receiver: Receiver::default() }
    }

    /// The register at an offset. Offsets between registers read as zero and ignore writes.
    fn register(&self, offset: u64) -> Option<usize> {
        let register = offset >> self.shift;
        (register << self.shift == offset && register < 8).then_some(register as usize)
    }

    pub(crate) fn read(&mut self, offset: u64, bytes: usize, host: &mut Host) -> Option<u64> {
        if bytes > 4 {
            return None;
        }
        let divisor = self.kept[LINE_CONTROL] & DIVISOR_ACCESS != 0;
        Some(u64::from(match self.register(offset) {
            Some(0) if !divisor => self.receiver.byte.take().unwrap_or(0),
            Some(1) if !divisor => self.kept[2],
            Some(2) => NO_INTERRUPT,
            Some(5) if self.receiver.is_ready(host) => IDLE | DATA_READY,
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
            Some(0) if !divisor => {
                self.receiver.looked = false;
                host.print(&[value as u8]);
            }
            Some(1) if !divisor => self.kept[2] = value as u8,
            Some(2 | 5 | 6) | None => {}
            Some(register) => self.kept[register] = value as u8,
        }
        Some(())
    }
}

/// SiFive's UART: FE310-G000 Manual, chapter 18.
#[derive(Clone, Debug, Default)]
pub(crate) struct UartSifive {
    /// txctrl, rxctrl, ie, ip (unused), div.
    kept: [u32; 5],
    pub(super) receiver: Receiver,
}

const RECEIVED_NOTHING: u64 = 1 << 31;
/// Index of `rxctrl` in `kept`, and its bit that turns the receiver on.
const RXCTRL: usize = 1;
const RXEN: u32 = 1;
/// `txwm`: the transmit queue has room. `rxwm`: a byte has been received.
const CAN_SEND: u64 = 1;
const RECEIVED: u64 = 2;

impl UartSifive {
    pub(crate) fn read(&mut self, offset: u64, bytes: usize, host: &mut Host) -> Option<u64> {
        if bytes != 4 {
            return None;
        }
        let receives = self.kept[RXCTRL] & RXEN != 0;
        Some(match offset {
            0x4 if receives && self.receiver.is_ready(host) => {
                self.receiver.byte.take().map_or(RECEIVED_NOTHING, u64::from)
            }
            0x4 => RECEIVED_NOTHING,
            0x14 if receives && self.receiver.is_ready(host) => CAN_SEND | RECEIVED,
            0x14 => CAN_SEND,
            0x8 | 0xc | 0x10 | 0x18 => u64::from(self.kept[offset as usize / 4 - 2]),
            _ => 0,
        })
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: usize, value: u64, host: &mut Host) -> Option<()> {
        match (offset, bytes) {
            // Some programs send a character by a byte store.
            (0, 1 | 4) => {
                self.receiver.looked = false;
                host.print(&[value as u8]);
            }
            (0x8 | 0xc | 0x10 | 0x18, 4) => self.kept[offset as usize / 4 - 2] = value as u32,
            (_, 4) => {}
            _ => return None,
        }
        Some(())
    }
}
