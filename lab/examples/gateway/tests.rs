//! The packets of the image, opened by independent code; and every packet that is not a device's newest one is reported.

use std::collections::HashSet;

use zeroize::Zeroizing;

use crate::nodes::{EMPTY, Identity, NodeRun, Nodes, Store, Work};
use crate::receiver::Receiver;
use crate::wire::{Dropped, Frames, NONCE, Packet, Received, TAG};
use crate::{attacker, open, provision};

const ENOUGH: u64 = 1 << 28;

fn device() -> Identity {
    (*b"a device", Zeroizing::new(*b"sixteen bytes of"))
}

fn nodes() -> Nodes {
    Nodes::new().expect("the image")
}

fn frames(output: &[u8]) -> Vec<Received> {
    let mut found = Vec::new();
    let mut frames = Frames::default();
    frames.feed(output, &mut found);
    frames.end(&mut found);
    found
}

/// What a gateway that knows only this device makes of these frames.
fn opened(device: &Identity, mut received: Vec<Received>) -> Vec<Received> {
    Receiver::new([device]).open(&mut received);
    received
}

/// The counters of these packets, which must be genuine.
fn counters(received: Vec<Received>) -> Vec<u32> {
    opened(&device(), received).into_iter().map(|packet| packet.expect("a packet").counter()).collect()
}

/// A store with this counter in slot `slot`.
fn store(slot: usize, number: u32) -> Store {
    let mut store = EMPTY;
    store[8 * slot..8 * slot + 4].copy_from_slice(&number.to_le_bytes());
    store[8 * slot + 4..8 * slot + 8].copy_from_slice(&(!number).to_le_bytes());
    store
}

/// A packet with `samples` samples, made by this test.
fn packet(counter: u32, samples: usize) -> Packet {
    let (identifier, key) = device();
    let data: Vec<u8> = (0..4 * samples as u8).collect();
    let packet = [&[0x10 | samples as u8], &identifier[..], &counter.to_be_bytes(), &data, &[0; TAG]].concat();
    Packet(packet).seal(&key)
}

/// The first frame of the image with its default parameters. Made with Python's `cryptography` 48 (AESCCM with tags
/// of 8 bytes, nonce and plaintext below); FCS-16 and COBS by hand from RFC 1662 and the paper.
#[test]
fn the_image_sends_the_frame_of_independent_code() {
    let example = (*b"example0", Zeroizing::new(*b"everybody knows."));
    let output = nodes().run(&example, Work { packets: 1, begin: true }, &EMPTY, ENOUGH).expect("a run").output;
    let frame = "0a146578616d706c65300101011b7ceb39f3a5cf9913e4c4c0842dfe34cb2defe88cdf99881f746b";
    assert_eq!(output, [&[0], &crate::hexadecimal::<40>(frame).expect("digits")[..], &[0]].concat());
    let Ok(packet) = &opened(&example, frames(&output))[0] else { panic!("not genuine") };
    let samples: Vec<_> = packet.samples().collect();
    assert_eq!(samples, [(0x0867, 0x125c), (0x0868, 0x125e), (0x0870, 0x1267), (0x0879, 0x126f)]);
}

#[test]
fn a_thousand_devices_with_an_attacker() {
    let devices = provision(1000);
    let outputs = nodes().run_all(&devices, 4, || ()).expect("runs");
    let (received, planted) = attacker::add_attacks(&outputs, 4).expect("packets");
    assert_eq!(planted.values().copied().collect::<Vec<_>>(), [80; 5]);
    // In reads of any length.
    for piece in [1 << 16, 1000] {
        let pieces = Pieces { rest: &received, piece };
        let (summary, _) = open(&mut Receiver::new(&devices), pieces, |_| Ok(())).expect("no input fails");
        assert_eq!((summary.opened, summary.samples), (4000, 16_000));
        assert_eq!(summary.dropped, planted);
    }
    // No two devices sent the same bytes, and no packet contains its plaintext.
    let distinct: HashSet<&[u8]> = outputs.iter().map(Vec::as_slice).collect();
    assert_eq!(distinct.len(), devices.len());
}

struct Pieces<'a> {
    rest: &'a [u8],
    piece: usize,
}

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = self.piece.min(self.rest.len()).min(to.len());
        to[..count].copy_from_slice(&self.rest[..count]);
        self.rest = &self.rest[count..];
        Ok(count)
    }
}

#[test]
fn every_number_of_samples() {
    for samples in 1..=15 {
        let Ok(packet) = &opened(&device(), frames(&packet(7, samples).frame()))[0] else {
            panic!("{samples} samples")
        };
        assert_eq!((packet.samples().len(), packet.samples().next()), (samples, Some((0x0001, 0x0203))));
    }
}

#[test]
fn every_packet_that_is_not_new_and_genuine_is_reported() {
    let genuine = |counter| packet(counter, 4).frame();
    // The frame of a packet with a changed byte.
    let changed = |counter, offset: usize, change: u8| {
        let mut packet = packet(counter, 4);
        packet.0[offset] ^= change;
        packet.frame()
    };
    // A forged packet with a high counter does not block the device.
    let forged = changed(u32::MAX - 1, NONCE, 1);
    for (received, expected) in [
        ([genuine(5), genuine(5)].concat(), &[Ok(5), Err(Dropped::Replayed)][..]),
        ([genuine(5), genuine(4), genuine(9)].concat(), &[Ok(5), Err(Dropped::Replayed), Ok(9)]),
        ([genuine(5), forged, genuine(6)].concat(), &[Ok(5), Err(Dropped::Forged), Ok(6)]),
        // A changed counter, number of samples, sample and tag, and another device.
        (changed(5, 12, 1), &[Err(Dropped::Forged)]),
        (changed(5, 0, 1), &[Err(Dropped::Truncated)]),
        (changed(5, NONCE + 15, 128), &[Err(Dropped::Forged)]),
        (changed(5, NONCE + 16, 1), &[Err(Dropped::Forged)]),
        (changed(5, NONCE + 23, 1), &[Err(Dropped::Forged)]),
        (changed(5, 8, 1), &[Err(Dropped::Unknown)]),
        // An unknown format, and a packet without samples.
        (changed(5, 0, 0x30), &[Err(Dropped::Damaged)]),
        (changed(5, 0, 4), &[Err(Dropped::Damaged)]),
        // Text, nothing, and a frame that is too long.
        (b"\0node: no counter\n\0".to_vec(), &[Err(Dropped::Damaged)]),
        (b"\0\0\0\0".to_vec(), &[]),
        ([b"\0".to_vec(), vec![0x15; 100_000], genuine(1)].concat(), &[Err(Dropped::Damaged), Ok(1)]),
    ] {
        let found =
            opened(&device(), frames(&received)).into_iter().map(|outcome| outcome.map(|packet| packet.counter()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{:x?}", &received[..received.len().min(50)]);
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_reported() {
    let frame = packet(0x0100, 4).frame();
    let opened = |received: &[u8]| opened(&device(), frames(received));
    for offset in 1..frame.len() - 1 {
        for bit in 0..8 {
            let mut damaged = frame.clone();
            damaged[offset] ^= 1 << bit;
            assert!(opened(&damaged).iter().all(Result::is_err), "bit {bit} of byte {offset}");
        }
        let cut = opened(&frame[..offset]);
        assert!(cut.iter().all(Result::is_err), "cut at {offset}");
        if offset > 2 {
            assert_eq!(cut, [Err(Dropped::Truncated)]);
        }
    }
}

/// Power is lost after any number of instructions and comes back, a hundred times.
#[test]
fn no_counter_repeats_after_a_loss_of_power() {
    let (nodes, mut store, mut seen) = (nodes(), EMPTY, HashSet::new());
    let run = |store: &Store, instructions| {
        nodes.run(&device(), Work { packets: 1000, begin: true }, store, instructions).expect("a run")
    };
    assert_eq!(counters(frames(&run(&EMPTY, ENOUGH).output)), (0..1000).collect::<Vec<_>>());
    let mut x = 1_u32;
    for _ in 0..100 {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let run = run(&store, u64::from(x >> 12));
        let mut received = frames(&run.output);
        // The last packet may be cut off.
        received.pop_if(|packet| packet.is_err());
        for counter in counters(received) {
            assert!(seen.insert(counter), "a counter twice");
        }
        store = run.store;
    }
    assert!(seen.len() > 1000, "it gets on: {}", seen.len());
}

/// A run of a device whose counter must be in its store.
fn run(packets: u32, store: &Store) -> NodeRun {
    nodes().run(&device(), Work { packets, begin: false }, store, ENOUGH).expect("a run")
}

/// A slot that is being written is not valid, and the other one counts.
#[test]
fn a_half_written_slot_is_not_valid() {
    let sent = |store: &Store| counters(frames(&run(1, store).output));
    for slot in [0, 1] {
        assert_eq!(sent(&store(slot, 640)), [640]);
        let mut half = store(slot, 640);
        half[8 * (1 - slot)..][..4].copy_from_slice(&704_u32.to_le_bytes());
        assert_eq!(sent(&half), [640]);
        // The next reservation uses the other slot.
        let after = run(1, &half).store;
        assert_eq!(after[8 * (1 - slot)..][..8], store(0, 704)[..8]);
        assert_eq!(after[8 * slot..][..8], store(0, 640)[..8]);
    }
    let mut both = store(0, 640);
    both[8..].copy_from_slice(&store(1, 704)[8..]);
    assert_eq!(sent(&both), [704]);
}

#[test]
fn a_device_that_has_lost_its_counter_sends_nothing() {
    let lost = run(1, &EMPTY);
    assert_eq!(lost.exit_code, Some(2));
    assert_eq!(frames(&lost.output), [Err(Dropped::Damaged)]);
    assert_eq!(lost.store, EMPTY);
}

#[test]
fn at_the_end_of_its_counter_a_device_stops_sending() {
    let last = run(10, &store(0, u32::MAX - 3));
    assert_eq!(last.exit_code, Some(3));
    let mut sent = frames(&last.output);
    assert_eq!(sent.pop(), Some(Err(Dropped::Damaged)));
    assert_eq!(counters(sent), [u32::MAX - 3, u32::MAX - 2, u32::MAX - 1]);
    let again = run(10, &last.store);
    assert_eq!((again.exit_code, frames(&again.output)), (Some(3), vec![Err(Dropped::Damaged)]));
}

#[test]
fn keys_are_read_or_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        crate::read_keys(&path)
    };
    let good = read("# comment\n\n6120646576696365 7369787465656e2062797465732e6f66\n").expect("a key");
    assert_eq!((good[0].0, *good[0].1), (*b"a device", *b"sixteen bytes.of"));
    for bad in [
        "6120646576696365",
        "61206465766963 7369787465656e2062797465732e6f66",
        "6120646576696365 7369787465656e2062797465732e6f",
        "6120646576696365 7369787465656e2062797465732e6f6g",
        "6120646576696365 +369787465656e2062797465732e6f66",
        "6120646576696365 7369787465656e2062797465732e6f66 more",
        "6120646576696365 7369787465656e2062797465732e6f66\n6120646576696365 8369787465656e2062797465732e6f66",
        "é120646576696365 7369787465656e2062797465732e6f66",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    assert!(crate::read_keys(folder.path()).is_err());
}
