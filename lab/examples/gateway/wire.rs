//! Frames on a UART, and the packets in them (docs/reference/formats/node.md).

use crc::{CRC_16_IBM_SDLC, Crc};

/// Bytes of an identifier.
pub(crate) const IDENTIFIER: usize = 8;
/// Bytes of a key.
pub(crate) const KEY: usize = 16;
/// Length of the header, which is also the nonce: format and number of samples, identifier, counter.
pub(crate) const NONCE: usize = 1 + IDENTIFIER + 4;
/// Bytes of a tag.
pub(crate) const TAG: usize = 8;
/// Bytes of a sample.
pub(crate) const SAMPLE: usize = 4;
const CHECK: usize = 2;
const FORMAT: u8 = 1;
const MAX_SAMPLES: usize = 15;
/// Longest frame between its zeros: a packet, and one byte of stuffing.
const MAX_FRAME: usize = packet_bytes(MAX_SAMPLES) + 1;

/// The checksum of frames, as in RFC 1662.
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_SDLC);

/// Length of a packet in bytes, with its checksum.
const fn packet_bytes(samples: usize) -> usize {
    NONCE + SAMPLE * samples + TAG + CHECK
}

/// Why a received packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dropped {
    /// The packet ends before the length that its first byte gives.
    Truncated,
    /// Not a packet, or the checksum is wrong: noise, or a line of text.
    Damaged,
    /// The device is unknown.
    Unknown,
    /// The tag is wrong.
    Forged,
    /// Genuine, but the counter is not above that of the last packet.
    Replayed,
}

/// A received packet, without its checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sealed(Vec<u8>);

impl Sealed {
    /// Parses a packet from the bytes between two zeros.
    pub(crate) fn parse(frame: &[u8]) -> Result<Sealed, Dropped> {
        // COBS does not move the first byte, because it is never zero, and adds one byte in all.
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

    /// Makes the frame of a packet, with zeros before and after it. `packet` has everything but the checksum.
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

    /// The identifier in the header, which is not authenticated yet.
    pub(crate) fn identifier(&self) -> [u8; IDENTIFIER] {
        std::array::from_fn(|byte| self.0[1 + byte])
    }

    /// The counter in the header.
    pub(crate) fn counter(&self) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|byte| self.0[1 + IDENTIFIER + byte]))
    }

    /// Nonce, ciphertext and tag.
    pub(crate) fn parts(&mut self) -> ([u8; NONCE], &mut [u8], &mut [u8]) {
        let nonce = std::array::from_fn(|byte| self.0[byte]);
        let end = self.0.len() - TAG;
        let (data, tag) = self.0[NONCE..].split_at_mut(end - NONCE);
        (nonce, data, tag)
    }
}

/// Splits a stream of bytes at zeros. It stores at most the bytes of one frame.
#[derive(Default)]
pub(crate) struct Frames {
    frame: Vec<u8>,
    too_long: bool,
}

impl Frames {
    /// Takes received bytes, and adds the frames that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], found: &mut Vec<Result<Sealed, Dropped>>) {
        for byte in bytes {
            match byte {
                0 => self.end(found),
                _ if self.frame.len() < MAX_FRAME => self.frame.push(*byte),
                _ => self.too_long = true,
            }
        }
    }

    /// Ends the stream: the remaining bytes are a frame. An empty frame is ignored.
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
