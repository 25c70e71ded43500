//! Semihosting: a program calls the host by `ebreak` between two shifts of x0. Sources: Arm's "Semihosting for AArch32
//! and AArch64" and the RISC-V Semihosting specification 1.0.
//!
//! The operations served are those that a bare-metal program needs to print, read and exit. The only files are the
//! console and the features file, which lists the extensions.

use crate::{bus::Bus, error::ErrorKind, isa::Xlen};

/// `slli x0, x0, 0x1f` before and `srai x0, x0, 7` after the `ebreak`.
pub(crate) const BEFORE: u32 = 0x01f0_1013;
pub(crate) const AFTER: u32 = 0x4070_5013;

/// The most bytes that one call prints.
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
    pub(super) const SEEK: u64 = 0x0a;
    pub(super) const FLEN: u64 = 0x0c;
    pub(super) const CLOCK: u64 = 0x10;
    pub(super) const TIME: u64 = 0x11;
    pub(super) const EXIT: u64 = 0x18;
    pub(super) const EXIT_EXTENDED: u64 = 0x20;
    pub(super) const ELAPSED: u64 = 0x30;
    pub(super) const TICK_FREQUENCY: u64 = 0x31;
}

/// Handles of the console. 0 is not a valid handle.
const STDIN: u64 = 1;
const STDOUT: u64 = 2;
const STDERR: u64 = 3;
/// Handle of the features file. Its contents are four magic bytes and one bit for each extension:
/// `SH_EXT_EXIT_EXTENDED` and `SH_EXT_STDOUT_STDERR`.
const FEATURES: u64 = 4;
const FEATURE_BYTES: &[u8] = b"SHFB\x03";
const FEATURES_NAME: &[u8] = b":semihosting-features\0";

/// Serves a call and returns its result for a0. `now` is the hart's cycle; the simulated clock counts one cycle as a
/// nanosecond.
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
    // Notes that the host reads this number of words at the parameter.
    let look = |bus: &mut Bus, words: u64| bus.host.note_read(address(parameter), words * u64::from(xlen.bits() / 8));
    match operation {
        operation::OPEN => {
            look(bus, 3);
            open(bus, word(bus, 0), word(bus, 1)).unwrap_or(FAILED)
        }
        operation::CLOSE => 0,
        operation::WRITEC => {
            if let Some([byte]) = bus.memory.read(address(parameter)) {
                bus.host.note_read(address(parameter), 1);
                bus.host.print(&[byte]);
            }
            0
        }
        operation::WRITE0 => {
            let byte = |at: u64| bus.memory.read::<1>(address(parameter.wrapping_add(at))).map_or(0, |[byte]| byte);
            let text: Vec<u8> = (0..WRITE_BYTES).map(byte).take_while(|byte| *byte != 0).collect();
            // Includes the terminating zero byte, which tells the length.
            bus.host.note_read(address(parameter), text.len() as u64 + 1);
            bus.host.print(&text);
            0
        }
        operation::WRITE => {
            look(bus, 3);
            match (word(bus, 0), word(bus, 1), word(bus, 2)) {
                (Some(STDOUT | STDERR), Some(start), Some(length)) => {
                    let bytes = bus.memory.bytes(start, length.min(WRITE_BYTES));
                    bus.host.note_read(start, bytes.len() as u64);
                    bus.host.print(&bytes);
                    // The result is the number of bytes not written.
                    length - bytes.len() as u64
                }
                (_, _, length) => length.unwrap_or(FAILED),
            }
        }
        operation::READ => {
            look(bus, 3);
            match (word(bus, 0), word(bus, 1), word(bus, 2)) {
                (Some(handle), Some(start), Some(length)) => read(bus, handle, start, length),
                _ => FAILED,
            }
        }
        operation::READC => match bus.host.read(1).first() {
            Some(byte) => u64::from(*byte),
            None => {
                bus.host.fail(ErrorKind::NoInput);
                FAILED
            }
        },
        operation::SEEK => match (word(bus, 0), word(bus, 1)) {
            (Some(FEATURES), Some(place)) if place <= FEATURE_BYTES.len() as u64 => {
                bus.host.features_read = place as usize;
                0
            }
            _ => FAILED,
        },
        operation::FLEN if word(bus, 0) == Some(FEATURES) => FEATURE_BYTES.len() as u64,
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
            look(bus, 2);
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

/// Reads from the console or the features file. Returns the number of bytes not read.
fn read(bus: &mut Bus, handle: u64, start: u64, length: u64) -> u64 {
    let bytes = match handle {
        STDIN => bus.host.read(length),
        FEATURES => {
            let rest = &FEATURE_BYTES[bus.host.features_read..];
            let bytes = rest[..rest.len().min(length as usize)].to_vec();
            bus.host.features_read += bytes.len();
            bytes
        }
        _ => return FAILED,
    };
    for (at, byte) in (0..).zip(&bytes) {
        if bus.memory.write(start.wrapping_add(at), [*byte]).is_none() {
            return FAILED;
        }
    }
    length - bytes.len() as u64
}

/// Opens the features file or the console, `:tt` (standard input for reading, output for writing, errors for
/// appending).
fn open(bus: &mut Bus, name: Option<u64>, mode: Option<u64>) -> Option<u64> {
    let name = bus.memory.bytes(name?, FEATURES_NAME.len() as u64);
    let mode = mode?;
    if name == FEATURES_NAME && mode < 4 {
        bus.host.features_read = 0;
        return Some(FEATURES);
    }
    if !name.starts_with(b":tt\0") {
        return None;
    }
    match mode {
        0..4 => Some(STDIN),
        4..8 => Some(STDOUT),
        8..12 => Some(STDERR),
        _ => None,
    }
}
