//! An attacker between devices and gateway, who passes all packets on, and adds what can be made from them without a key.

use std::collections::BTreeMap;

use tress_cipher::Aad;
use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;

use crate::nodes::Node;
use crate::wire::{Dropped, Frames, NONCE, Sealed, TAG};

/// Number of packets for one added by the attacker.
const EVERY: usize = 10;
const KINDS: [Dropped; 5] =
    [Dropped::Forged, Dropped::Replayed, Dropped::Damaged, Dropped::Truncated, Dropped::Unknown];

/// The input of the gateway: the first packet of each device, then the second of each, and so on, with the attacker's
/// additions; and the number of additions by kind.
pub(crate) fn add_attacks(outputs: &[Vec<u8>], devices: &[Node]) -> Result<(Vec<u8>, BTreeMap<Dropped, u64>), String> {
    let mut queues = Vec::new();
    for (output, device) in outputs.iter().zip(devices) {
        let mut frames = Vec::new();
        Frames::default().feed(output, &mut frames);
        if frames.len() as u32 != device.packets {
            return Err(format!("a node sent {} frames", frames.len()));
        }
        queues.push(frames);
    }
    let (mut received, mut planted) = (Vec::new(), BTreeMap::new());
    let most = queues.iter().map(Vec::len).max().unwrap_or(0);
    let sent = (0..most).flat_map(|number| queues.iter().filter_map(move |queue| queue.get(number)));
    for (number, packet) in sent.enumerate() {
        let packet = packet.as_ref().map_err(|dropped| format!("a node sent a frame that is {dropped:?}"))?;
        received.extend(Sealed::frame(packet.bytes()));
        if number % EVERY == EVERY - 1 {
            let kind = KINDS[number / EVERY % KINDS.len()];
            received.extend(make_attack(kind, packet, number));
            *planted.entry(kind).or_default() += 1;
        }
    }
    Ok((received, planted))
}

/// Makes an addition of this kind from a packet.
pub(crate) fn make_attack(kind: Dropped, packet: &Sealed, number: usize) -> Vec<u8> {
    let mut bytes = packet.bytes().to_vec();
    let frame = Sealed::frame(&bytes);
    match kind {
        // Another sample or another tag, with a matching checksum.
        Dropped::Forged => {
            let offset = NONCE + number % (bytes.len() - NONCE);
            bytes[offset] ^= 1 << (number % 8);
            Sealed::frame(&bytes)
        }
        Dropped::Replayed => frame,
        // A flipped bit after the length, such that no byte becomes the end of a frame.
        Dropped::Damaged => {
            let mut frame = frame;
            let offset = 3 + number % (frame.len() - 4);
            frame[offset] ^= if frame[offset] == 1 << (number % 8) { 0xff } else { 1 << (number % 8) };
            frame
        }
        // Cut off without the zero at the end. The zero at the beginning of the next frame ends it.
        Dropped::Truncated => frame[..3 + number % (frame.len() - 4)].to_vec(),
        // A device of the attacker.
        Dropped::Unknown => {
            bytes[1] ^= 0x80;
            let end = bytes.len() - TAG;
            let (head, tag) = bytes.split_at_mut(end);
            let (nonce, data) = head.split_at_mut(NONCE);
            let cipher = Aes::new(&[0; 16]).expect("a key");
            ccm::seal(&cipher, &*nonce, Aad(b""), data, tag).expect("lengths of a packet");
            Sealed::frame(&bytes)
        }
    }
}
