//! Host-target interface, as used by Spike and riscv-tests. A program stores a request to its symbol `tohost`, and the
//! host answers in `fromhost`.
//!
//! A request has the device in bits 63 to 56, a command in bits 55 to 48 and a payload below. Device 0: an odd payload
//! ends the program with the code above bit 0; an even payload is the address of a system call (number, then arguments,
//! 64 bits each), whose result replaces the number. Device 1: command 1 prints the low byte of the payload. There is no
//! input.
//!
//! RV32 programs store the two halves of a request in either order, or only the low half. A request is served once both
//! halves are stored, or a few instructions after one of them.

use crate::bus::Host;
use crate::error::ErrorKind;
use crate::memory::Memory;

/// Instructions to wait for the second half of a request.
const HALF_REQUEST_INSTRUCTIONS: u8 = 16;
/// The most bytes that one call prints. A program calls again for the remaining bytes.
const WRITE_BYTES: u64 = 1 << 16;

const SYS_WRITE: u64 = 64;
const SYS_EXIT: u64 = 93;
const NOT_IMPLEMENTED: u64 = -38_i64 as u64;
const BAD_FILE: u64 = -9_i64 as u64;
const BAD_ADDRESS: u64 = -14_i64 as u64;

#[derive(Debug)]
pub(crate) struct Htif {
    tohost: u64,
    fromhost: Option<u64>,
    /// Which halves have been stored: bit 0 is the low half, bit 1 the high one.
    halves: u8,
    /// Instructions left until a half-written request is served. 0 without such a request.
    instructions_left: u8,
}

impl Htif {
    pub(crate) fn new(tohost: u64, fromhost: Option<u64>) -> Htif {
        Htif { tohost, fromhost, halves: 0, instructions_left: 0 }
    }

    /// Whether an access touches `tohost`.
    #[inline]
    pub(crate) fn covers(&self, address: u64, bytes: u64) -> bool {
        address.wrapping_sub(self.tohost).wrapping_add(bytes - 1) < 7 + bytes
    }

    #[cold]
    pub(crate) fn stored(&mut self, address: u64, bytes: u64, memory: &mut Memory, host: &mut Host) {
        let first = address.wrapping_sub(self.tohost) as i64;
        self.halves |= u8::from(first < 4) | u8::from(first + bytes as i64 > 4) << 1;
        if self.request(memory) == 0 {
            // The program has cleared `tohost`, or stored a high half of zero, without which the low one waits.
            (self.halves, self.instructions_left) = (0, 0);
        } else if self.halves == 3 {
            self.serve(memory, host);
        } else {
            self.instructions_left = HALF_REQUEST_INSTRUCTIONS;
            host.alarm = true;
        }
    }

    /// Called after each instruction while the alarm is set.
    pub(crate) fn attend(&mut self, memory: &mut Memory, host: &mut Host) {
        match self.instructions_left {
            0 => {}
            1 => self.serve(memory, host),
            _ => {
                self.instructions_left -= 1;
                host.alarm = true;
            }
        }
    }

    /// Serves a half-written request, because no hart is awake to store the other half. Returns whether there was one.
    pub(crate) fn settle(&mut self, memory: &mut Memory, host: &mut Host) -> bool {
        let asked = self.instructions_left > 0;
        if asked {
            self.serve(memory, host);
        }
        asked
    }

    fn request(&self, memory: &Memory) -> u64 {
        memory.read(self.tohost).map_or(0, u64::from_le_bytes)
    }

    fn serve(&mut self, memory: &mut Memory, host: &mut Host) {
        let request = self.request(memory);
        (self.halves, self.instructions_left) = (0, 0);
        let (device, command, payload) = (request >> 56, request >> 48 & 0xff, request & 0xffff_ffff_ffff);
        match (device, command) {
            (0, 0) if payload & 1 != 0 => host.exit(payload >> 1),
            (0, 0) => {
                if call(payload, memory, host).is_none() {
                    host.fail(ErrorKind::Request(format!("system call at {payload:#x}, where there is no memory")));
                }
                self.answer(1, memory);
            }
            (1, 1) => host.print(&[payload as u8]),
            // The console has no input.
            (1, 0) => {}
            _ => host.fail(ErrorKind::Request(format!("HTIF device {device}, command {command}"))),
        }
        // If `tohost` is not memory, there was no request to clear.
        let _ = memory.write(self.tohost, [0; 8]);
    }

    fn answer(&self, value: u64, memory: &mut Memory) {
        if let Some(fromhost) = self.fromhost {
            let _ = memory.write(fromhost, value.to_le_bytes());
        }
    }
}

/// Serves the system call at an address.
fn call(at: u64, memory: &mut Memory, host: &mut Host) -> Option<()> {
    let word = |index: u64| memory.read(at.wrapping_add(8 * index)).map(u64::from_le_bytes);
    let (number, first, second, third) = (word(0)?, word(1)?, word(2)?, word(3)?);
    host.note_read(at, if number == SYS_WRITE { 32 } else { 16 });
    let result = match number {
        SYS_WRITE if first == 1 || first == 2 => {
            host.note_read(second, third.min(WRITE_BYTES));
            let bytes = memory.bytes(second, third.min(WRITE_BYTES));
            match first {
                2 => host.print_error(&bytes),
                _ => host.print(&bytes),
            }
            if bytes.is_empty() && third > 0 { BAD_ADDRESS } else { bytes.len() as u64 }
        }
        SYS_WRITE => BAD_FILE,
        SYS_EXIT => {
            host.exit(first & 0xffff_ffff);
            0
        }
        _ => NOT_IMPLEMENTED,
    };
    memory.write(at, result.to_le_bytes())
}
