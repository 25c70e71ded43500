//! Tests of the filler: messages of several threads, deadlines, and jobs that panic. crates/c/tests/filler.c has more tests of batches
//! and refusals.

use std::mem::take;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tress_cipher::aes::Aes;
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::{Aad, Error, modes};

use crate::{AeadPacket, CcmPacket, Filler, FillerJob, FillerOptions, LocalFiller, NonceOfKey, Refused};

/// Messages to seal and to open come out in order for each key, with the results of one message at a time. One in seven is forged.
#[test]
fn messages_of_several_threads() {
    let keys = [0, 1, 2, 3].map(|key| Arc::new(Aes::new(&[key; 16]).unwrap()));
    let filler = Filler::new(FillerOptions::default());
    let message = |id: u64| {
        let (key, nonce, aad) = (&keys[id as usize % 4], [(id / 8) as u8; 7], vec![id as u8; id as usize % 40]);
        let (plain, mut data, mut tag) = (vec![id as u8; id as usize], vec![id as u8; id as usize], [0; 8]);
        modes::ccm::seal(&**key, &nonce, Aad(&aad), &mut data, &mut tag).unwrap();
        let packet = |data: &[u8], tag: [u8; 8]| [&aad[..], data, &tag].concat();
        if (id / 4).is_multiple_of(2) {
            let job = CcmPacket::<_, _, 7>::seal(id, key.clone(), nonce, aad.len(), packet(&plain, [0; 8]));
            return (job, Ok(packet(&data, tag)));
        }
        let is_forged = id.is_multiple_of(7);
        tag[3] ^= u8::from(is_forged);
        let forged = Err((Error::Authentication, packet(&vec![0; plain.len()], tag)));
        let expected = if is_forged { forged } else { Ok(packet(&plain, tag)) };
        (CcmPacket::open(id, key.clone(), nonce, aad.len(), packet(&data, tag)), expected)
    };
    thread::scope(|scope| {
        for thread in 0..4 {
            let (filler, message) = (&filler, &message);
            let submit = move |id| filler.submit(Duration::from_micros(id), message(id).0).unwrap();
            scope.spawn(move || (thread..1000).step_by(4).for_each(submit));
        }
    });
    filler.flush();
    let mut next = [0, 1, 2, 3];
    while let Some(done) = filler.take() {
        let id = &mut next[done.id as usize % 4];
        assert!(done.id == *id && done.finish() == message(*id).1, "{id}");
        *id += 4;
    }
    assert_eq!(next, [1000, 1001, 1002, 1003]);

    let filler = Filler::new(FillerOptions { max_wait: Duration::ZERO, ..FillerOptions::default() });
    let bad = CcmPacket::<_, _>::seal(0, keys[0].clone(), [0; 13], 0, vec![1; (1 << 16) + 8]);
    filler.submit(Duration::ZERO, bad).unwrap();
    assert_eq!(filler.take().unwrap().finish().unwrap_err().0, Error::MessageTooLong);
}

/// Packets in one buffer, sealed and opened, come back in their buffers with the bytes of one message at a time.
#[test]
fn packets_in_place() {
    let keys = [0, 1, 2].map(|key| Aes::new(&[key; 16]).unwrap());
    let options = FillerOptions { max_wait: Duration::MAX, max_batch: 300, capacity: 300 };
    let (mut seal, mut open) = (LocalFiller::new(options), LocalFiller::new(options));
    let mut memory: Vec<_> = (0..300).map(|id| vec![id as u8; id % 90 + 14]).collect();
    let mut buffers: Vec<&mut [u8]> = memory.iter_mut().map(|buffer| &mut buffer[..]).collect();
    let of = |id: usize| (&keys[id % 3], [(id / 3) as u8; 13]);
    for _ in 0..3 {
        for (id, buffer) in take(&mut buffers).into_iter().enumerate() {
            let (key, nonce) = of(id);
            seal.submit(Duration::ZERO, CcmPacket::<_, _>::seal(id as u64, key, nonce, 6, buffer)).unwrap();
            if id < 299 {
                // Among many, whose hashes are alike or not.
                let again = CcmPacket::seal(1000, key, nonce, 0, &mut [][..]);
                assert!(matches!(seal.submit(Duration::ZERO, again), Err(Refused::NonceRepeated(_))), "{id}");
            }
        }
        for (id, expected) in (0..300).map(|id| (id, vec![id as u8; id % 90])) {
            let packet = seal.take().unwrap();
            assert_eq!(packet.id, id as u64);
            let (buffer, (key, nonce)) = (packet.finish().unwrap(), of(id));
            let (aad, rest) = buffer.split_at(6);
            let (mut data, mut tag) = (expected, [0; 8]);
            modes::ccm::seal(key, &nonce, Aad(aad), &mut data, &mut tag).unwrap();
            assert_eq!((aad, rest), (&[id as u8; 6][..], &[&data[..], &tag].concat()[..]), "{id}");
            open.submit(Duration::ZERO, CcmPacket::<_, _>::open(id as u64, key, nonce, 6, buffer)).unwrap();
        }
        for id in 0..300 {
            let opened = open.take().unwrap().finish().unwrap();
            assert!(opened[..opened.len() - 8].iter().all(|byte| *byte == id as u8), "{id}");
            opened.fill(id as u8);
            buffers.push(opened);
        }
        assert!(seal.take().is_none() && open.take().is_none());
    }
    // Forged, and shorter by a byte than the associated data or the tag. The caller gets the buffers, without plaintext.
    let mut open = LocalFiller::new(FillerOptions { max_batch: 4, ..options });
    for bytes in [30, 14, 13, 5] {
        open.submit(Duration::ZERO, CcmPacket::<_, _>::open(0, &keys[0], [0; 13], 6, vec![1; bytes])).unwrap();
        open.flush();
        let (error, buffer) = open.take().unwrap().finish().unwrap_err();
        let expected = (0..bytes).map(|at| u8::from(at < 6 || at + 8 >= bytes)).collect();
        assert_eq!((error, buffer), (Error::Authentication, expected));
    }
}

/// Packets of another AEAD come back with the bytes of one message. It refuses other lengths than its own.
#[test]
fn packets_of_chacha20poly1305() {
    fn run<J: FillerJob>(packet: J) -> J {
        let mut filler = LocalFiller::new(FillerOptions::default());
        filler.submit(Duration::ZERO, packet).unwrap();
        filler.flush();
        filler.take().unwrap()
    }
    let (key, nonce, mut data) = (&ChaCha20Poly1305::new(&[7; 32]), [1; 12], *b"data");
    let plain = [&b"aaddata"[..], &[0; 16]].concat();
    let tag = key.seal(&nonce, b"aad", &mut data).unwrap();
    let sealed = [&b"aad"[..], &data, &tag].concat();
    let seal = AeadPacket::<_, _>::seal(0, key, nonce, 3, plain.clone());
    assert_eq!(run(seal).finish().unwrap(), sealed);
    let open = |nonce| run(AeadPacket::<_, _>::open(0, key, nonce, 3, sealed.clone())).finish();
    assert!(open(nonce).unwrap().starts_with(b"aaddata"));
    assert_eq!(open([2; 12]), Err((Error::Authentication, [&b"aad"[..], &[0; 4], &tag].concat())));
    let long_nonce = AeadPacket::<_, _, 13>::seal(0, key, [1; 13], 3, plain.clone());
    assert_eq!(run(long_nonce).finish(), Err((Error::NonceLength, plain.clone())));
    let short_tag = AeadPacket::<_, _, 12, 8>::open(0, key, nonce, 3, plain.clone());
    assert_eq!(run(short_tag).finish(), Err((Error::TagLength, plain)));
}

impl FillerJob for u64 {
    fn nonce(&self) -> Option<NonceOfKey> {
        None
    }

    fn run(batch: &mut [Self]) {
        assert_ne!(batch, [13]);
    }
}

#[test]
fn a_panic_does_not_block_later_batches() {
    let filler = Filler::new(FillerOptions { max_batch: 1, ..FillerOptions::default() });
    let panics = [12, 13, 14].map(|job| catch_unwind(|| filler.submit(Duration::ZERO, job).unwrap()).is_err());
    assert_eq!((panics, [(); 4].map(|()| filler.take())), ([false, true, false], [Some(12), Some(13), Some(14), None]));
}

#[test]
fn batches_run_when_full_or_due() {
    let us = Duration::from_micros;
    // The times of the jobs and of a poll, then the number of jobs that ran and the deadline of the others.
    for (submitted, polled, ran, deadline) in [
        (&[10, 7, 30][..], 56, 0, Some(57)),
        (&[10, 7, 30], 57, 3, None),
        (&[0, 50], 50, 2, None),
        (&[0, 1, 2, 3, 4], 53, 4, Some(54)),
    ] {
        let options = FillerOptions { max_wait: us(50), max_batch: 4, capacity: 5 };
        let (filler, mut local) = (Filler::new(options), LocalFiller::new(options));
        for now in submitted {
            filler.submit(us(*now), 1).unwrap();
            local.submit(us(*now), 1).unwrap();
        }
        filler.poll(us(polled));
        local.poll(us(polled));
        assert_eq!((std::iter::from_fn(|| filler.take()).count(), filler.deadline()), (ran, deadline.map(us)));
        assert_eq!((std::iter::from_fn(|| local.take()).count(), local.deadline()), (ran, deadline.map(us)));
    }
    let filler = Filler::new(FillerOptions { max_wait: Duration::MAX, ..FillerOptions::default() });
    filler.submit(us(0), 1).unwrap();
    filler.poll(Duration::MAX);
    assert_eq!((filler.take(), filler.deadline()), (None, None));
}
