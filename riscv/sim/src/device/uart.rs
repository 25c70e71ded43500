//! Serial ports: they send to the console in no time, and receive the input of the program.

use std::collections::VecDeque;

use crate::bus::Host;

/// The receiving half of a serial port.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// Bytes that wait for the program.
    bytes: VecDeque<u8>,
    /// The cycle at which the next byte arrives, if the program waits for an interrupt.
    arrives: Option<u64>,
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

    /// Whether more than `level` bytes wait. A program that looks once may want to send. One that looks again waits for
    /// input, so it gets the next byte however long that takes to arrive: a run with the same input takes the same
    /// cycles.
    fn is_above(&mut self, level: usize, host: &mut Host) -> bool {
        if self.looked && self.arrives.is_none() && self.bytes.len() <= level {
            self.receive(host);
        }
        self.looked = true;
        self.bytes.len() > level
    }

    fn receive(&mut self, host: &mut Host) {
        if !self.ended {
            let byte = host.read(1);
            self.ended = byte.is_empty();
            self.bytes.extend(byte);
        }
    }

    /// Receives a byte each `character` cycles while the program waits for an interrupt by more than `level` bytes. The
    /// run waits for a byte that has not arrived at the host.
    fn arrive(&mut self, is_awaited: bool, level: usize, character: u64, now: u64, host: &mut Host) {
        if is_awaited && self.arrives.is_some_and(|at| at <= now) {
            self.arrives = None;
            self.receive(host);
        }
        let waits = is_awaited && !self.ended && self.bytes.len() <= level;
        self.arrives = waits.then(|| self.arrives.unwrap_or(now.saturating_add(character)));
    }

    /// The cycle at which the next byte arrives, or the last one if none is awaited.
    pub(super) fn arrival(&self) -> u64 {
        self.arrives.unwrap_or(u64::MAX)
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
            Some(0) if !divisor => self.receiver.bytes.pop_front().unwrap_or(0),
            Some(1) if !divisor => self.kept[2],
            Some(2) => NO_INTERRUPT,
            Some(5) if self.receiver.is_above(0, host) => IDLE | DATA_READY,
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
/// The bits that exist in `kept`.
const KEPT: [u32; 5] = [0x7_0003, 0x7_0001, 3, 0, 0xffff];
// Indices in `kept`.
const TXCTRL: usize = 0;
const RXCTRL: usize = 1;
const IE: usize = 2;
const DIV: usize = 4;
/// Bit of `rxctrl` that turns the receiver on, and the level in `txctrl` and `rxctrl` by which `ip` judges the queues.
const RXEN: u32 = 1;
const LEVEL_SHIFT: u32 = 16;
const LEVELS: u32 = 7;
/// Bits of `ie` and `ip`. `txwm`: less than `txcnt` bytes wait to be sent. `rxwm`: more than `rxcnt` have been received.
const TXWM: u64 = 1;
const RXWM: u64 = 2;
/// Bits of a character: start, 8 of data, stop.
const CHARACTER_BITS: u64 = 10;

impl UartSifive {
    pub(crate) fn read(&mut self, offset: u64, bytes: usize, host: &mut Host) -> Option<u64> {
        if bytes != 4 {
            return None;
        }
        let receives = self.kept[RXCTRL] & RXEN != 0;
        Some(match offset {
            0x4 if receives && self.receiver.is_above(0, host) => {
                self.receiver.bytes.pop_front().map_or(RECEIVED_NOTHING, u64::from)
            }
            0x4 => RECEIVED_NOTHING,
            0x14 => {
                if receives {
                    self.receiver.is_above(self.level(RXCTRL), host);
                }
                self.waits()
            }
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
            (0x8 | 0xc | 0x10 | 0x18, 4) => {
                let register = offset as usize / 4 - 2;
                self.kept[register] = value as u32 & KEPT[register];
            }
            (_, 4) => {}
            _ => return None,
        }
        Some(())
    }

    fn level(&self, control: usize) -> usize {
        (self.kept[control] >> LEVEL_SHIFT & LEVELS) as usize
    }

    /// The bits of `ip`.
    fn waits(&self) -> u64 {
        let sent = if self.level(TXCTRL) > 0 { TXWM } else { 0 };
        let received = if self.receiver.bytes.len() > self.level(RXCTRL) { RXWM } else { 0 };
        sent | received
    }

    /// Whether it asks for an interrupt, after it has received what arrives by now.
    pub(crate) fn interrupts(&mut self, now: u64, host: &mut Host) -> bool {
        let enabled = u64::from(self.kept[IE]);
        let is_awaited = self.kept[RXCTRL] & RXEN != 0 && enabled & RXWM != 0;
        let character = CHARACTER_BITS * (u64::from(self.kept[DIV]) + 1);
        self.receiver.arrive(is_awaited, self.level(RXCTRL), character, now, host);
        self.waits() & enabled != 0
    }
}
