//! Semihosting: calls of the host by `ebreak` between two shifts of x0. Arm's "Semihosting for AArch32 and AArch64",
//! and the RISC-V Semihosting specification 1.0.
//!
//! What a bare-metal program needs to print and to end is served; there are no files but the console, and no input.

use crate::{bus::Bus, platform::Xlen};

/// `slli x0, x0, 0x1f` before and `srai x0, x0, 7` after the `ebreak`.
pub(crate) const BEFORE: u32 = 0x01f0_1013;
pub(crate) const AFTER: u32 = 0x4070_5013;

/// Bytes that one call may print.
const WRITE_BYTES: u64 = 1 << 16;
/// `ADP_Stopped_ApplicationExit`.
const APPLICATION_EXIT: u64 = 0x20026;
const FAILED: u64 = u64::MAX;

mod operation {
    pub(super) const OPEN: u64 = 0x01;
    pub(super) const CLOSE: u64 = 0x02;
    pub(super) const WRITEC: u64 = 0x03;
    pub(super) const WRITE0: u64 = 0x04;
    pub(super) const WRITE: u64 = 0x05;
    pub(super) const READ: u64 = 0x06;
    pub(super) const READC: u64 = 0x07;
    pub(super) const ISTTY: u64 = 0x09;
    pub(super) const CLOCK: u64 = 0x10;
    pub(super) const TIME: u64 = 0x11;
    pub(super) const EXIT: u64 = 0x18;
    pub(super) const EXIT_EXTENDED: u64 = 0x20;
    pub(super) const ELAPSED: u64 = 0x30;
    pub(super) const TICK_FREQUENCY: u64 = 0x31;
}

/// Handles of the console; 0 is none.
const STDIN: u64 = 1;
const STDOUT: u64 = 2;
const STDERR: u64 = 3;

/// Serves a call; what it returns in a0. `now` is the hart's cycle, which stands for time: a cycle is a nanosecond.
pub(crate) fn call(bus: &mut Bus, xlen: Xlen, operation: u64, parameter: u64, now: u64) -> u64 {
    let word = |bus: &Bus, index: u64| -> Option<u64> {
        match xlen {
            Xlen::Rv32 => {
                let at = parameter.wrapping_add(4 * index) & 0xffff_ffff;
                bus.memory.read(at).map(|word| u64::from(u32::from_le_bytes(word)))
            }
            Xlen::Rv64 => bus.memory.read(parameter.wrapping_add(8 * index)).map(u64::from_le_bytes),
        }
    };
    let address = |value: u64| value & xlen.address_mask();
    match operation {
        operation::OPEN => open(bus, word(bus, 0), word(bus, 1)).unwrap_or(FAILED),
        operation::CLOSE => 0,
        operation::WRITEC => {
            if let Some([byte]) = bus.memory.read(address(parameter)) {
                bus.host.print(&[byte]);
            }
            0
        }
        operation::WRITE0 => {
            let byte = |at: u64| bus.memory.read::<1>(address(parameter.wrapping_add(at))).map_or(0, |[byte]| byte);
            let text: Vec<u8> = (0..WRITE_BYTES).map(byte).take_while(|byte| *byte != 0).collect();
            bus.host.print(&text);
            0
        }
        operation::WRITE => match (word(bus, 0), word(bus, 1), word(bus, 2)) {
            (Some(STDOUT | STDERR), Some(start), Some(length)) => {
                let bytes = bus.memory.bytes(start, length.min(WRITE_BYTES));
                bus.host.print(&bytes);
                // What was not written.
                length - bytes.len() as u64
            }
            (_, _, length) => length.unwrap_or(FAILED),
        },
        // The end of the input: nothing of what was asked for.
        operation::READ => word(bus, 2).unwrap_or(FAILED),
        operation::READC => FAILED,
        operation::ISTTY => u64::from(matches!(word(bus, 0), Some(STDIN..=STDERR))),
        operation::CLOCK => now / 10_000_000,
        operation::TIME => 0,
        operation::ELAPSED => {
            let bytes = now.to_le_bytes();
            match bus.memory.write(address(parameter), bytes) {
                Some(()) => 0,
                None => FAILED,
            }
        }
        operation::TICK_FREQUENCY => 1_000_000_000,
        operation::EXIT if xlen == Xlen::Rv32 => {
            bus.host.exit(u64::from(address(parameter) != APPLICATION_EXIT));
            0
        }
        operation::EXIT | operation::EXIT_EXTENDED => {
            let code = match (word(bus, 0), word(bus, 1)) {
                (Some(APPLICATION_EXIT), Some(code)) => code & 0xffff_ffff,
                _ => 1,
            };
            bus.host.exit(code);
            0
        }
        _ => FAILED,
    }
}

/// Only the console, `:tt`: for reading it is standard input, for writing output, for appending errors.
fn open(bus: &Bus, name: Option<u64>, mode: Option<u64>) -> Option<u64> {
    if bus.memory.read::<4>(name?)? != *b":tt\0" {
        return None;
    }
    match mode? {
        0..4 => Some(STDIN),
        4..8 => Some(STDOUT),
        8..12 => Some(STDERR),
        _ => None,
    }
}
