//! Frames on a UART, and the packets in them (docs/reference/formats/node.md).

use std::fmt;

use base16ct::HexDisplay;
use crc::{CRC_16_IBM_SDLC, Crc};
use tress_cipher::aes::Aes;
use tress_cipher::{Aad, modes::ccm};

pub(crate) const KEY: usize = 16;
/// Length of the header, which is also the nonce: format and number of samples, identifier, counter.
pub(crate) const NONCE: usize = 13;
pub(crate) const TAG: usize = 8;
const CHECK: usize = 2;
const FORMAT: u8 = 1;
/// Longest frame between its zeros: a packet with 15 samples, and one byte of stuffing.
const MAX_FRAME: usize = packet_bytes(15) + 1;
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_SDLC);

/// Length of a packet in bytes, with its checksum.
const fn packet_bytes(samples: usize) -> usize {
    NONCE + 4 * samples + TAG + CHECK
}

pub(crate) type Identifier = [u8; 8];

/// Why a received packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dropped {
    /// The packet ends before the length that its first byte gives.
    Truncated,
    /// Not a packet, or the checksum is wrong: noise, or a line of text.
    Damaged,
    Unknown,
    Forged,
    /// Genuine, but the counter is not above that of the last packet.
    Replayed,
}

pub(crate) type Received = Result<Packet, Dropped>;

/// A packet without its checksum: header, samples and tag. The receiver opens it in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet(pub(crate) Vec<u8>);

impl Packet {
    /// Parses a packet from the bytes between two zeros.
    fn parse(frame: &[u8]) -> Received {
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
        let check = packet[length - CHECK..length].to_vec();
        packet.truncate(length - CHECK);
        if CRC.checksum(&packet).to_le_bytes() == *check { Ok(Packet(packet)) } else { Err(Dropped::Damaged) }
    }

    /// The frame of this packet, with zeros before and after it.
    pub(crate) fn frame(&self) -> Vec<u8> {
        cobs::encode_vec_including_sentinels(&[&self.0[..], &CRC.checksum(&self.0).to_le_bytes()].concat())
    }

    /// The identifier in the header, which is not authenticated before the packet is opened.
    pub(crate) fn identifier(&self) -> Identifier {
        std::array::from_fn(|byte| self.0[1 + byte])
    }

    pub(crate) fn counter(&self) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|byte| self.0[9 + byte]))
    }

    /// The samples of an opened packet: hundredths of a degree Celsius, and of a percent of relative humidity.
    pub(crate) fn samples(&self) -> impl ExactSizeIterator<Item = (i16, u16)> {
        let samples = self.0[NONCE..self.0.len() - TAG].as_chunks().0.iter();
        samples.map(|&[a, b, c, d]| (i16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
    }

    /// Nonce, data and tag.
    pub(crate) fn parts(&mut self) -> ([u8; NONCE], &mut [u8], &mut [u8]) {
        let (nonce, rest) = self.0.split_first_chunk_mut().expect("a packet has a header");
        let (data, tag) = rest.split_at_mut(rest.len() - TAG);
        (*nonce, data, tag)
    }

    /// Encrypts the samples and makes the tag: the work of a device.
    pub(crate) fn seal(mut self, key: &[u8; KEY]) -> Packet {
        let (nonce, data, tag) = self.parts();
        ccm::seal(&Aes::new(key).expect("a key"), &nonce, Aad(b""), data, tag).expect("lengths of a packet");
        self
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x} {}", HexDisplay(&self.identifier()), self.counter())?;
        for (temperature, humidity) in self.samples() {
            write!(f, "  {:.2} °C {:.2} %", f64::from(temperature) / 100.0, f64::from(humidity) / 100.0)?;
        }
        Ok(())
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
    pub(crate) fn feed(&mut self, bytes: &[u8], found: &mut Vec<Received>) {
        for byte in bytes {
            match byte {
                0 => self.end(found),
                _ if self.frame.len() < MAX_FRAME => self.frame.push(*byte),
                _ => self.too_long = true,
            }
        }
    }

    /// Ends the stream: the remaining bytes are a frame. An empty frame is ignored.
    pub(crate) fn end(&mut self, found: &mut Vec<Received>) {
        if self.too_long {
            found.push(Err(Dropped::Damaged));
        } else if !self.frame.is_empty() {
            found.push(Packet::parse(&self.frame));
        }
        *self = Frames::default();
    }
}
