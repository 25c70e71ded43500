//! Opens packets of several devices together, in the lanes of `tress-cipher`, each with the key of its device.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use tress_cipher::aes::Aes;
use tress_cipher::lanes::ccm;
use tress_cipher::{Aad, Tag};

use crate::nodes::Identity;
use crate::wire::{Dropped, Identifier, Received, TAG};

/// The devices that a gateway knows: their ciphers, and the counters of their last packets.
pub(crate) struct Receiver(HashMap<Identifier, (Aes, Option<u32>)>);

impl Receiver {
    pub(crate) fn new<'a>(devices: impl IntoIterator<Item = &'a Identity>) -> Receiver {
        let cipher = |key: &[u8]| Aes::new(key).expect("AES has keys of 16 bytes");
        Receiver(devices.into_iter().map(|(identifier, key)| (*identifier, (cipher(&**key), None))).collect())
    }

    /// Opens packets in the order of arrival. Decrypts them in place, all in one call. Then checks the counter of
    /// each genuine packet against that of the device's last packet.
    pub(crate) fn open(&mut self, received: &mut [Received]) {
        for packet in received.iter_mut() {
            if packet.as_ref().is_ok_and(|packet| !self.0.contains_key(&packet.identifier())) {
                *packet = Err(Dropped::Unknown);
            }
        }
        let jobs = received.iter_mut().flatten().map(|packet| {
            let (cipher, _) = &self.0[&packet.identifier()];
            let (nonce, data, tag) = packet.parts();
            let tag = Tag::new(tag, TAG).expect("the length is checked");
            ccm::Open::new(cipher, &nonce, Aad(b""), data, tag).expect("lengths are checked")
        });
        let mut jobs: Vec<_> = jobs.collect();
        let _: Result<(), ccm::Forged> = ccm::open(&mut jobs);
        let genuine: Vec<bool> = jobs.iter().map(|job| job.result().is_ok()).collect();
        for (packet, is_genuine) in received.iter_mut().filter(|packet| packet.is_ok()).zip(genuine) {
            let Ok(opened) = packet else { continue };
            let counter = opened.counter();
            let (_, last) = self.0.get_mut(&opened.identifier()).expect("the device is known");
            if !is_genuine {
                *packet = Err(Dropped::Forged);
            } else if last.is_some_and(|last| counter <= last) {
                *packet = Err(Dropped::Replayed);
            } else {
                *last = Some(counter);
            }
        }
    }
}

/// Numbers of packets by outcome.
#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) opened: u64,
    pub(crate) samples: u64,
    pub(crate) dropped: BTreeMap<Dropped, u64>,
}

impl Summary {
    pub(crate) fn count(&mut self, received: &Received) {
        match received {
            Ok(packet) => {
                self.opened += 1;
                self.samples += packet.samples().len() as u64;
            }
            Err(dropped) => *self.dropped.entry(*dropped).or_default() += 1,
        }
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
