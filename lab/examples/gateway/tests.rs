//! The packets of the image, opened by independent code; and every packet that is not a device's newest one is reported.

use std::collections::HashSet;

use tress_cipher::Aad;
use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;
use zeroize::Zeroizing;

use crate::nodes::{EMPTY, Node, Nodes, Store};
use crate::receiver::{Packet, Receiver, Summary};
use crate::wire::{Dropped, Frames, NONCE, Sealed, TAG};
use crate::{NODE, attacker, open, provision};

const ENOUGH: u64 = 1 << 28;

fn node(packets: u32, begin: bool) -> Node {
    Node { identifier: *b"a device", key: Zeroizing::new(*b"sixteen bytes of"), packets, begin }
}

fn nodes() -> Nodes {
    Nodes::new(NODE).expect("the image")
}

fn frames(output: &[u8]) -> Vec<Result<Sealed, Dropped>> {
    let mut found = Vec::new();
    let mut frames = Frames::default();
    frames.feed(output, &mut found);
    frames.end(&mut found);
    found
}

fn receiver(nodes: &[Node]) -> Receiver {
    Receiver::new(nodes.iter().map(|node| (node.identifier, &*node.key)))
}

/// What a gateway that knows only this device makes of these bytes.
fn opened(node: &Node, received: &[u8]) -> Vec<Result<Packet, Dropped>> {
    receiver(std::slice::from_ref(node)).open(&mut frames(received))
}

/// The counters of the packets that a device sent. All packets must be genuine.
fn counters(output: &[u8], node: &Node) -> Vec<u32> {
    opened(node, output).into_iter().map(|packet| packet.expect("a packet").counter).collect()
}

/// A store with this counter in slot `slot`.
fn store(slot: usize, number: u32) -> Store {
    let mut store = EMPTY;
    store[8 * slot..8 * slot + 4].copy_from_slice(&number.to_le_bytes());
    store[8 * slot + 4..8 * slot + 8].copy_from_slice(&(!number).to_le_bytes());
    store
}

/// A packet with `samples` samples, made by this test.
fn packet(node: &Node, counter: u32, samples: usize) -> Vec<u8> {
    let mut packet = vec![0x10 | samples as u8];
    packet.extend(node.identifier);
    packet.extend(counter.to_be_bytes());
    packet.extend((0..4 * samples).map(|byte| byte as u8));
    packet.extend([0; TAG]);
    let end = packet.len() - TAG;
    let (head, tag) = packet.split_at_mut(end);
    let (nonce, data) = head.split_at_mut(NONCE);
    ccm::seal(&Aes::new(&*node.key).expect("a key"), &*nonce, Aad(b""), data, tag).expect("a packet");
    packet
}

/// The first frame of the image with its default parameters. Made with Python's `cryptography` 48 (AESCCM with tags
/// of 8 bytes, nonce and plaintext below); FCS-16 and COBS by hand from RFC 1662 and the paper.
#[test]
fn the_image_sends_the_frame_of_independent_code() {
    let example = Node { identifier: *b"example0", key: Zeroizing::new(*b"everybody knows."), packets: 1, begin: true };
    let output = nodes().run(&example, &EMPTY, ENOUGH).expect("a run").output;
    let frame = "0a146578616d706c65300101011b7ceb39f3a5cf9913e4c4c0842dfe34cb2defe88cdf99881f746b";
    assert_eq!(output, [&[0], &crate::hexadecimal::<40>(frame).expect("digits")[..], &[0]].concat());
    let mut sealed = frames(&output);
    let Ok(packet) = &receiver(&[example]).open(&mut sealed)[0] else { panic!("not genuine") };
    let samples: Vec<_> = packet.samples.iter().map(|sample| (sample.temperature, sample.humidity)).collect();
    assert_eq!(samples, [(0x0867, 0x125c), (0x0868, 0x125e), (0x0870, 0x1267), (0x0879, 0x126f)]);
}

#[test]
fn a_thousand_devices_with_an_attacker() {
    let devices = provision(1000, 4);
    let outputs = nodes().run_all(&devices, || ()).expect("runs");
    let (received, planted) = attacker::add_attacks(&outputs, &devices).expect("packets");
    assert_eq!(planted.values().copied().collect::<Vec<_>>(), [80; 5]);
    // In reads of any length.
    for piece in [1 << 16, 1000] {
        let mut summary = Summary::default();
        let pieces = Pieces { rest: &received, piece };
        open(&mut receiver(&devices), &mut summary, pieces, |_| Ok(())).expect("no input fails");
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
    let node = node(0, true);
    for samples in 1..=15 {
        let frame = Sealed::frame(&packet(&node, 7, samples));
        let Ok(Packet { samples: found, .. }) = &opened(&node, &frame)[0] else { panic!("{samples} samples") };
        assert_eq!((found.len(), found[0].temperature, found[0].humidity), (samples, 0x0001, 0x0203));
    }
}

#[test]
fn every_packet_that_is_not_new_and_genuine_is_reported() {
    let node = node(0, true);
    let genuine = |counter| Sealed::frame(&packet(&node, counter, 4));
    // The frame of a packet with a changed byte.
    let changed = |counter, offset: usize, change: u8| {
        let mut packet = packet(&node, counter, 4);
        packet[offset] ^= change;
        Sealed::frame(&packet)
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
        let found = opened(&node, &received).into_iter().map(|outcome| outcome.map(|packet| packet.counter));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{:x?}", &received[..received.len().min(50)]);
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_reported() {
    let node = node(0, true);
    let frame = Sealed::frame(&packet(&node, 0x0100, 4));
    for offset in 1..frame.len() - 1 {
        for bit in 0..8 {
            let mut damaged = frame.clone();
            damaged[offset] ^= 1 << bit;
            assert!(opened(&node, &damaged).iter().all(Result::is_err), "bit {bit} of byte {offset}");
        }
        let cut = opened(&node, &frame[..offset]);
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
    let device = node(1000, true);
    let whole = nodes.run(&device, &EMPTY, ENOUGH).expect("a run");
    assert_eq!(counters(&whole.output, &device), (0..1000).collect::<Vec<_>>());
    let mut x = 1_u32;
    for _ in 0..100 {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let run = nodes.run(&device, &store, u64::from(x >> 12)).expect("a run");
        let cut = frames(&run.output).last().is_some_and(Result::is_err);
        let mut received = frames(&run.output);
        received.truncate(received.len() - usize::from(cut));
        for outcome in receiver(std::slice::from_ref(&device)).open(&mut received) {
            assert!(seen.insert(outcome.expect("a packet").counter), "a counter twice");
        }
        store = run.store;
    }
    assert!(seen.len() > 1000, "it gets on: {}", seen.len());
}

/// A slot that is being written is not valid, and the other one counts.
#[test]
fn a_half_written_slot_is_not_valid() {
    let (nodes, device) = (nodes(), node(1, false));
    let run = |store: &Store| nodes.run(&device, store, ENOUGH).expect("a run");
    for slot in [0, 1] {
        assert_eq!(counters(&run(&store(slot, 640)).output, &device), [640]);
        let mut half = store(slot, 640);
        half[8 * (1 - slot)..][..4].copy_from_slice(&704_u32.to_le_bytes());
        assert_eq!(counters(&run(&half).output, &device), [640]);
        // The next reservation uses the other slot.
        assert_eq!(run(&half).store[8 * (1 - slot)..][..8], store(0, 704)[..8]);
        assert_eq!(run(&half).store[8 * slot..][..8], store(0, 640)[..8]);
    }
    let mut both = store(0, 640);
    both[8..].copy_from_slice(&store(1, 704)[8..]);
    assert_eq!(counters(&run(&both).output, &device), [704]);
}

#[test]
fn a_device_that_has_lost_its_counter_sends_nothing() {
    let lost = nodes().run(&node(1, false), &EMPTY, ENOUGH).expect("a run");
    assert_eq!(lost.exit_code, Some(2));
    assert_eq!(frames(&lost.output), [Err(Dropped::Damaged)]);
    assert_eq!(lost.store, EMPTY);
}

#[test]
fn at_the_end_of_its_counter_a_device_stops_sending() {
    let (nodes, device) = (nodes(), node(10, false));
    let last = nodes.run(&device, &store(0, u32::MAX - 3), ENOUGH).expect("a run");
    assert_eq!(last.exit_code, Some(3));
    let mut sent = frames(&last.output);
    assert_eq!(sent.pop(), Some(Err(Dropped::Damaged)));
    let opened = receiver(std::slice::from_ref(&device)).open(&mut sent);
    let counters: Vec<_> = opened.into_iter().map(|packet| packet.expect("a packet").counter).collect();
    assert_eq!(counters, [u32::MAX - 3, u32::MAX - 2, u32::MAX - 1]);
    let again = nodes.run(&device, &last.store, ENOUGH).expect("a run");
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
