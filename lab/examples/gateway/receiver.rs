//! Opens packets of several devices together, in the lanes of `tress-cipher`, each with the key of its device.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use base16ct::HexDisplay;
use tress_cipher::aes::Aes;
use tress_cipher::lanes::ccm;
use tress_cipher::{Aad, Tag};

use crate::wire::{Dropped, IDENTIFIER, KEY, SAMPLE, Sealed, TAG};

/// The devices that a gateway knows.
pub(crate) struct Receiver {
    devices: HashMap<[u8; IDENTIFIER], Device>,
}

struct Device {
    cipher: Aes,
    /// The counter of its last packet.
    last: Option<u32>,
}

/// A genuine packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Identifier of the device.
    pub(crate) identifier: [u8; IDENTIFIER],
    /// Counter of the packet.
    pub(crate) counter: u32,
    /// Measured samples.
    pub(crate) samples: Vec<Sample>,
}

/// A measurement of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Hundredths of a degree Celsius.
    pub(crate) temperature: i16,
    /// Hundredths of a percent of relative humidity.
    pub(crate) humidity: u16,
}

impl Receiver {
    /// A receiver of these devices, with no packet received yet.
    pub(crate) fn new<'a>(devices: impl IntoIterator<Item = ([u8; IDENTIFIER], &'a [u8; KEY])>) -> Receiver {
        let device = |(identifier, key): ([u8; IDENTIFIER], &[u8; KEY])| {
            let cipher = Aes::new(key).expect("AES has keys of 16 bytes");
            (identifier, Device { cipher, last: None })
        };
        Receiver { devices: devices.into_iter().map(device).collect() }
    }

    /// Opens packets in the order of arrival. Decrypts them in place, all in one call. Then checks the counter of
    /// each genuine packet against that of the device's last packet.
    pub(crate) fn open(&mut self, frames: &mut [Result<Sealed, Dropped>]) -> Vec<Result<Packet, Dropped>> {
        let mut verdicts: Vec<Result<(), Dropped>> = Vec::with_capacity(frames.len());
        let (mut jobs, mut places) = (Vec::new(), Vec::new());
        for (offset, frame) in frames.iter_mut().enumerate() {
            verdicts.push(match frame {
                Err(dropped) => Err(*dropped),
                Ok(sealed) => match self.devices.get(&sealed.identifier()) {
                    None => Err(Dropped::Unknown),
                    Some(device) => {
                        let (nonce, data, tag) = sealed.parts();
                        let tag = Tag::new(tag, TAG);
                        let job = tag.and_then(|tag| ccm::Open::new(&device.cipher, &nonce, Aad(b""), data, tag));
                        jobs.push(job.expect("lengths are checked"));
                        places.push(offset);
                        Ok(())
                    }
                },
            });
        }
        let _: Result<(), ccm::Forged> = ccm::open(&mut jobs);
        for (job, offset) in jobs.iter().zip(&places) {
            verdicts[*offset] = job.result().map_err(|_| Dropped::Forged);
        }
        drop(jobs);
        let take = |(frame, verdict): (&mut Result<Sealed, Dropped>, Result<(), Dropped>)| {
            verdict?;
            self.accept(frame.as_mut().map_err(|dropped| *dropped)?)
        };
        frames.iter_mut().zip(verdicts).map(take).collect()
    }

    /// Accepts a genuine packet, if it is new.
    fn accept(&mut self, packet: &mut Sealed) -> Result<Packet, Dropped> {
        let (identifier, counter) = (packet.identifier(), packet.counter());
        let device = self.devices.get_mut(&identifier).ok_or(Dropped::Unknown)?;
        if device.last.is_some_and(|last| counter <= last) {
            return Err(Dropped::Replayed);
        }
        device.last = Some(counter);
        let (_, data, _) = packet.parts();
        let sample = |bytes: &[u8; SAMPLE]| Sample {
            temperature: i16::from_be_bytes([bytes[0], bytes[1]]),
            humidity: u16::from_be_bytes([bytes[2], bytes[3]]),
        };
        Ok(Packet { identifier, counter, samples: data.as_chunks().0.iter().map(sample).collect() })
    }
}

/// Numbers of packets by outcome.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Packets that were genuine and new.
    pub(crate) opened: u64,
    /// Samples in these packets.
    pub(crate) samples: u64,
    /// Dropped packets.
    pub(crate) dropped: BTreeMap<Dropped, u64>,
}

impl Summary {
    /// Counts one outcome.
    pub(crate) fn count(&mut self, outcome: &Result<Packet, Dropped>) {
        match outcome {
            Ok(packet) => {
                self.opened += 1;
                self.samples += packet.samples.len() as u64;
            }
            Err(dropped) => *self.dropped.entry(*dropped).or_default() += 1,
        }
    }

    /// Number of all packets.
    pub(crate) fn frames(&self) -> u64 {
        self.opened + self.dropped.values().sum::<u64>()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "opened     {} packets, {} samples", self.opened, self.samples)?;
        for (kind, count) in &self.dropped {
            let what = match kind {
                Dropped::Truncated => "truncated",
                Dropped::Damaged => "damaged, or not packets",
                Dropped::Unknown => "of unknown devices",
                Dropped::Forged => "forged: the tag is wrong",
                Dropped::Replayed => "replayed: the counter is not above the last",
            };
            write!(f, "\ndropped    {count} {what}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x} {}", HexDisplay(&self.identifier), self.counter)?;
        for sample in &self.samples {
            write!(f, "  {:.2} °C {:.2} %", f64::from(sample.temperature) / 100.0, f64::from(sample.humidity) / 100.0)?;
        }
        Ok(())
    }
}
