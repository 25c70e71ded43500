//! An attacker between devices and gateway, who passes all packets on, and adds what can be made from them without a key.

use std::collections::BTreeMap;

use crate::wire::{Dropped, Frames, NONCE, Packet};

/// Number of packets for one added by the attacker.
const EVERY: usize = 10;
const KINDS: [Dropped; 5] =
    [Dropped::Forged, Dropped::Replayed, Dropped::Damaged, Dropped::Truncated, Dropped::Unknown];

/// The input of the gateway: the first packet of each device, then the second of each, and so on, with the attacker's
/// additions; and the number of additions by kind.
pub(crate) fn add_attacks(outputs: &[Vec<u8>], packets: u32) -> Result<(Vec<u8>, BTreeMap<Dropped, u64>), String> {
    let mut queues = Vec::new();
    for output in outputs {
        let mut frames = Vec::new();
        Frames::default().feed(output, &mut frames);
        if frames.len() as u32 != packets {
            return Err(format!("a node sent {} frames", frames.len()));
        }
        queues.push(frames);
    }
    let (mut received, mut planted) = (Vec::new(), BTreeMap::new());
    let sent = (0..packets as usize).flat_map(|number| queues.iter().map(move |queue| &queue[number]));
    for (number, packet) in sent.enumerate() {
        let packet = packet.as_ref().map_err(|dropped| format!("a node sent a frame that is {dropped:?}"))?;
        received.extend(packet.frame());
        if number % EVERY == EVERY - 1 {
            let kind = KINDS[number / EVERY % KINDS.len()];
            received.extend(make_attack(kind, packet.clone(), number));
            *planted.entry(kind).or_default() += 1;
        }
    }
    Ok((received, planted))
}

/// Makes an addition of this kind from a packet.
fn make_attack(kind: Dropped, mut packet: Packet, number: usize) -> Vec<u8> {
    let mut frame = packet.frame();
    let place = 3 + number % (frame.len() - 4);
    match kind {
        // Another sample or another tag, with a matching checksum.
        Dropped::Forged => {
            let offset = NONCE + number % (packet.0.len() - NONCE);
            packet.0[offset] ^= 1 << (number % 8);
            packet.frame()
        }
        Dropped::Replayed => frame,
        // A flipped bit after the length, such that no byte becomes the end of a frame.
        Dropped::Damaged => {
            frame[place] ^= if frame[place] == 1 << (number % 8) { 0xff } else { 1 << (number % 8) };
            frame
        }
        // Cut off without the zero at the end. The zero at the beginning of the next frame ends it.
        Dropped::Truncated => frame[..place].to_vec(),
        // A device of the attacker.
        Dropped::Unknown => {
            packet.0[1] ^= 0x80;
            packet.seal(&[0; 16]).frame()
        }
    }
}
