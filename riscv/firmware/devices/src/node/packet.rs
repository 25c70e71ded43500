//! Packets, as defined in docs/reference/formats/node.md.

use tress_runtime::console;
use tress_rv32::ccm::{Ccm, NONCE, TAG};

use super::sensor::Sample;

/// Bytes of a device's identifier.
pub(crate) const IDENTIFIER: usize = 8;
/// Version of the format, in the upper half of the first byte. The lower half is the number of samples.
const VERSION: u8 = 1 << 4;
const MAX_SAMPLES: usize = 15;
const SAMPLE: usize = 4;
const CHECK: usize = 2;
const MAX_BYTES: usize = NONCE + SAMPLE * MAX_SAMPLES + TAG + CHECK;

/// A packet in the making: its header, which is also its nonce, and the samples up to now.
pub(crate) struct Packet {
    bytes: [u8; MAX_BYTES],
    length: usize,
}

impl Packet {
    /// A packet without samples.
    pub(crate) fn new(identifier: &[u8; IDENTIFIER], counter: u32) -> Packet {
        let mut packet = Packet { bytes: [0; MAX_BYTES], length: 0 };
        packet.append(&[VERSION]);
        packet.append(identifier);
        packet.append(&counter.to_be_bytes());
        packet
    }

    /// Adds a sample. A packet holds up to 15.
    pub(crate) fn push(&mut self, sample: Sample) {
        if usize::from(self.bytes[0] & 15) < MAX_SAMPLES {
            self.bytes[0] += 1;
            self.append(&sample.temperature.to_be_bytes());
            self.append(&sample.humidity.to_be_bytes());
        }
    }

    /// Encrypts the packet and sends it as a frame.
    pub(crate) fn send(mut self, cipher: &Ccm) {
        let (nonce, data) = self.bytes[..self.length].split_at_mut(NONCE);
        let nonce = core::array::from_fn(|byte| nonce[byte]);
        let tag = cipher.encrypt(&nonce, data);
        self.append(&tag);
        let check = check(&self.bytes[..self.length]);
        self.append(&check.to_le_bytes());
        let mut frame = [0; MAX_BYTES + 3];
        let length = stuff(&self.bytes[..self.length], &mut frame[1..]);
        console::write_bytes(&frame[..length + 2]);
    }

    fn append(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
}

/// The frame check sequence of PPP (RFC 1662 appendix C.2), bit by bit.
fn check(bytes: &[u8]) -> u16 {
    let mut check = u16::MAX;
    for byte in bytes {
        check ^= u16::from(*byte);
        for _ in 0..8 {
            check = (check >> 1) ^ ((check & 1) * 0x8408);
        }
    }
    !check
}

/// Consistent overhead byte stuffing (S. Cheshire, M. Baker, 1999) of less than 254 bytes: every zero becomes the
/// distance to the next one. Returns the length of the output: the input's plus one.
fn stuff(bytes: &[u8], out: &mut [u8]) -> usize {
    let (mut zero, mut length) = (0, 1);
    for byte in bytes {
        if *byte == 0 {
            out[zero] = (length - zero) as u8;
            zero = length;
        } else {
            out[length] = *byte;
        }
        length += 1;
    }
    out[zero] = (length - zero) as u8;
    length
}
