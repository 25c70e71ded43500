//! Small tests of all code that handles raw memory, for Miri. `make miri` runs only this file, on the backends that Miri can execute.
//! `properties.rs` tests more lengths and mixes.

use tress_cipher::aes::Aes;
use tress_cipher::pipo::Pipo;
use tress_cipher::{Aad, Backend, Error, lanes, modes};

/// More jobs than the portable backend has lanes, so that lanes are refilled, left idle, staged and run in place.
const LENGTHS: [usize; 9] = [0, 1, 16, 48, 70, 13, 0, 3, 20];

const BACKENDS: [Backend; 2] = [Backend::Reference, Backend::Portable];

fn message(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + length) as u8).collect()
}

fn keys(backend: Backend, own: bool) -> Vec<Aes> {
    (0..LENGTHS.len())
        .map(|i| {
            let key = vec![if own { i as u8 } else { 0 }; if own && i % 3 == 0 { 32 } else { 16 }];
            Aes::with_backend(&key, backend).unwrap()
        })
        .collect()
}

#[test]
fn ccm_lanes() {
    let mut cases = BACKENDS.into_iter().flat_map(|backend| [(backend, true), (backend, false)]).collect::<Vec<_>>();
    if cfg!(miri) {
        // Both backends run the same code in lanes, and Miri needs a minute for each case.
        cases = vec![(Backend::Portable, true)];
    }
    for (backend, own) in cases {
        let keys = self::keys(backend, own);
        let cipher = |i: usize| if own { &keys[i] } else { &keys[0] };
        let references = self::keys(Backend::Reference, own);
        let reference = |i: usize| if own { &references[i] } else { &references[0] };
        let aad = message(20);
        let mut data = LENGTHS.map(message);
        let mut tags = [[0; 16]; LENGTHS.len()];
        let mut jobs: Vec<_> = data
            .iter_mut()
            .zip(&mut tags)
            .enumerate()
            .map(|(i, (data, tag))| {
                lanes::ccm::Seal::new(cipher(i), &[i as u8; 13], Aad(&aad[..i]), data, tag).unwrap()
            })
            .collect();
        lanes::ccm::seal(&mut jobs).unwrap();
        drop(jobs);
        for (i, length) in LENGTHS.into_iter().enumerate() {
            let (mut alone, mut tag) = (message(length), [0; 16]);
            modes::ccm::seal(reference(i), &[i as u8; 13], Aad(&aad[..i]), &mut alone, &mut tag).unwrap();
            assert_eq!((&data[i], tags[i]), (&alone, tag));
        }

        tags[4][15] ^= 1;
        let mut jobs: Vec<_> = data
            .iter_mut()
            .zip(&tags)
            .enumerate()
            .map(|(i, (data, tag))| {
                lanes::ccm::Open::new(cipher(i), &[i as u8; 13], Aad(&aad[..i]), data, tag).unwrap()
            })
            .collect();
        assert_eq!(lanes::ccm::open(&mut jobs).map_err(|forged| (forged.count, forged.first)), Err((1, 4)));
        assert_eq!(jobs[4].result(), Err(Error::Authentication));
        drop(jobs);
        for (i, length) in LENGTHS.into_iter().enumerate() {
            assert_eq!(data[i], if i == 4 { vec![0; length] } else { message(length) });
        }
    }
}

#[test]
fn cbc_lanes_and_back() {
    for backend in BACKENDS {
        let keys = keys(backend, true);
        let mut data = LENGTHS.map(|length| message(length / 16 * 16));
        let mut jobs: Vec<_> = data
            .iter_mut()
            .zip(&keys)
            .map(|(data, cipher)| lanes::cbc::Job::new(cipher, &[3; 16], data).unwrap())
            .collect();
        lanes::cbc::encrypt(&mut jobs);
        drop(jobs);
        for ((data, cipher), length) in data.iter_mut().zip(&keys).zip(LENGTHS) {
            modes::cbc::decrypt(cipher, &[3; 16], data).unwrap();
            assert_eq!(*data, message(length / 16 * 16));
        }
    }
}

#[test]
fn ctr_and_ecb() {
    let [reference, portable] = BACKENDS.map(|backend| Aes::with_backend(&[9; 24], backend).unwrap());
    let (mut a, mut b) = (message(150), message(150));
    modes::ctr::apply(&reference, &[0xff; 16], &mut a).unwrap();
    modes::ctr::apply(&portable, &[0xff; 16], &mut b).unwrap();
    assert_eq!(a, b);
    modes::ecb::encrypt(&portable, &mut b[..144]).unwrap();
    modes::ecb::decrypt(&reference, &mut b[..144]).unwrap();
    assert_eq!(a, b);
}

/// Blocks of 64 bits, which make steps of another length, and a key for each of sixteen lanes.
#[test]
fn pipo() {
    let key = |i: usize| vec![i as u8; if i.is_multiple_of(3) { 32 } else { 16 }];
    let [references, keys] = BACKENDS
        .map(|backend| (0..LENGTHS.len()).map(|i| Pipo::with_backend(&key(i), backend).unwrap()).collect::<Vec<_>>());
    let mut data = LENGTHS.map(|length| message(length / 8 * 8));
    let mut jobs: Vec<_> =
        data.iter_mut().zip(&keys).map(|(data, cipher)| lanes::cbc::Job::new(cipher, &[3; 8], data).unwrap()).collect();
    lanes::cbc::encrypt(&mut jobs);
    drop(jobs);
    for ((data, reference), length) in data.iter_mut().zip(&references).zip(LENGTHS) {
        modes::cbc::decrypt(reference, &[3; 8], data).unwrap();
        assert_eq!(*data, message(length / 8 * 8));
    }

    let (mut a, mut b) = (message(150), message(150));
    modes::ctr::apply(&references[0], &[0xfe; 8], &mut a).unwrap();
    modes::ctr::apply(&keys[0], &[0xfe; 8], &mut b).unwrap();
    assert_eq!(a, b);
}
