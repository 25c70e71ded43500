//! What comes over a UART: frames, and the packets in them (docs/reference/formats/node.md).

use std::fmt;

use crc::{CRC_16_IBM_SDLC, Crc};

/// Bytes of an identifier.
pub(crate) const IDENTIFIER: usize = 8;
/// Bytes of a key.
pub(crate) const KEY: usize = 16;
/// The header, which is the nonce: format and number of samples, identifier, counter.
pub(crate) const NONCE: usize = 1 + IDENTIFIER + 4;
/// Bytes of a tag.
pub(crate) const TAG: usize = 8;
/// Bytes of a sample.
pub(crate) const SAMPLE: usize = 4;
const CHECK: usize = 2;
const FORMAT: u8 = 1;
const MAX_SAMPLES: usize = 15;
/// A frame between its zeros: a packet, and a byte more for stuffing.
const MAX_FRAME: usize = packet_bytes(MAX_SAMPLES) + 1;

/// The check of frames: RFC 1662's.
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_SDLC);

/// Bytes of a packet, its check included.
const fn packet_bytes(samples: usize) -> usize {
    NONCE + SAMPLE * samples + TAG + CHECK
}

/// Why something that was received is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dropped {
    /// It ends before the length that its first byte says.
    Truncated,
    /// No packet, or its check is wrong: noise, or a line of text.
    Damaged,
    /// Of a device that has no key here.
    Unknown,
    /// The tag is wrong.
    Forged,
    /// Genuine, but its counter is not above the last one's.
    Replayed,
}

/// A packet as it was received, without its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sealed(Vec<u8>);

impl Sealed {
    /// A packet from what stands between two zeros.
    pub(crate) fn parse(frame: &[u8]) -> Result<Sealed, Dropped> {
        // Stuffing leaves the first byte where it is, since that is never zero, and takes one more byte in all.
        let &[_, first, ..] = frame else { return Err(Dropped::Damaged) };
        let samples = usize::from(first & 15);
        if first >> 4 != FORMAT || samples == 0 {
            return Err(Dropped::Damaged);
        }
        let length = packet_bytes(samples);
        if frame.len() <= length {
            return Err(Dropped::Truncated);
        }
        let mut packet = frame.to_vec();
        if frame.len() > length + 1 || cobs::decode_in_place(&mut packet) != Ok(length) {
            return Err(Dropped::Damaged);
        }
        packet.truncate(length);
        let (covered, check) = packet.split_at(length - CHECK);
        if CRC.checksum(covered).to_le_bytes() != check {
            return Err(Dropped::Damaged);
        }
        packet.truncate(length - CHECK);
        Ok(Sealed(packet))
    }

    /// The frame of a packet, with the zeros around it; `packet` has everything but the check.
    pub(crate) fn frame(packet: &[u8]) -> Vec<u8> {
        let mut packet = packet.to_vec();
        packet.extend(CRC.checksum(&packet).to_le_bytes());
        let mut stuffed = vec![0; cobs::max_encoding_length(packet.len())];
        let length = cobs::encode(&packet, &mut stuffed);
        let mut frame = vec![0];
        frame.extend(&stuffed[..length]);
        frame.push(0);
        frame
    }

    /// Header, samples and tag.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whose it says it is.
    pub(crate) fn identifier(&self) -> [u8; IDENTIFIER] {
        std::array::from_fn(|byte| self.0[1 + byte])
    }

    /// Its counter.
    pub(crate) fn counter(&self) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|byte| self.0[1 + IDENTIFIER + byte]))
    }

    /// Nonce, data, tag.
    pub(crate) fn parts(&mut self) -> ([u8; NONCE], &mut [u8], &mut [u8]) {
        let nonce = std::array::from_fn(|byte| self.0[byte]);
        let end = self.0.len() - TAG;
        let (data, tag) = self.0[NONCE..].split_at_mut(end - NONCE);
        (nonce, data, tag)
    }
}

/// Cuts what comes at its zeros; remembers no more than a frame can have.
#[derive(Default)]
pub(crate) struct Frames {
    frame: Vec<u8>,
    too_long: bool,
}

impl Frames {
    /// Takes what has come, and adds the frames that end in it.
    pub(crate) fn feed(&mut self, bytes: &[u8], found: &mut Vec<Result<Sealed, Dropped>>) {
        for byte in bytes {
            match byte {
                0 => self.end(found),
                _ if self.frame.len() < MAX_FRAME => self.frame.push(*byte),
                _ => self.too_long = true,
            }
        }
    }

    /// What came last is all that there is of its frame. Nothing between two zeros is no frame.
    pub(crate) fn end(&mut self, found: &mut Vec<Result<Sealed, Dropped>>) {
        if self.too_long {
            found.push(Err(Dropped::Damaged));
        } else if !self.frame.is_empty() {
            found.push(Sealed::parse(&self.frame));
        }
        self.frame.clear();
        self.too_long = false;
    }
}

/// Bytes as people read them.
pub(crate) struct Hexadecimal<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
