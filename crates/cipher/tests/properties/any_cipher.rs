//! What has to hold for every block cipher: each backend does what the reference does, and lanes what one message at a
//! time does. The files of the ciphers choose keys and lengths.

use tress_cipher::lanes::{cbc as cbc_lanes, ccm as ccm_lanes};
use tress_cipher::modes::{cbc, ccm, ctr, ecb};
use tress_cipher::{Backend, BlockCipher, CcmCipher, Error};

use crate::common::{Bytes, Placed, carve};

/// Makes a cipher of a key; the backend is available.
pub(crate) type Make<C> = fn(Backend, &[u8]) -> C;

/// The backends of a cipher that this machine has; Miri knows no instructions beyond the baseline.
pub(crate) fn backends_of<C: BlockCipher>() -> Vec<Backend> {
    let portable = |backend| matches!(backend, Backend::Reference | Backend::Portable);
    let here = |backend: &Backend| backend.is_available() && (!cfg!(miri) || portable(*backend));
    C::BACKENDS.iter().copied().filter(here).collect()
}

/// ECB, CBC and CTR in both directions, at any alignment. ECB and CBC take the whole blocks of `data`.
pub(crate) fn modes_agree<C: BlockCipher>(make: Make<C>, key: &[u8], iv: &[u8], data: &[u8], offset: usize) {
    type Mode<C> = fn(&C, &[u8], &mut [u8]) -> Result<(), Error>;
    let modes: [(&str, Mode<C>, usize); 5] = [
        ("ECB encryption", |cipher, _, data| ecb::encrypt(cipher, data), C::BLOCK_BYTES),
        ("ECB decryption", |cipher, _, data| ecb::decrypt(cipher, data), C::BLOCK_BYTES),
        ("CBC encryption", cbc::encrypt, C::BLOCK_BYTES),
        ("CBC decryption", cbc::decrypt, C::BLOCK_BYTES),
        ("CTR", ctr::apply, 1),
    ];
    for (name, mode, unit) in modes {
        let data = &data[..data.len() / unit * unit];
        let mut expected = data.to_vec();
        mode(&make(Backend::Reference, key), iv, &mut expected).unwrap();
        for backend in backends_of::<C>() {
            let mut placed = Placed::new(data, offset);
            mode(&make(backend, key), iv, placed.bytes()).unwrap();
            let what = format!(
                "{name} of {} bytes, block {}, key {}, on {}",
                data.len(),
                C::BLOCK_BYTES,
                key.len(),
                backend.name()
            );
            assert!(placed.finish() == expected, "{what}");
        }
    }
}

/// CCM of one message, sealed by the reference and by every backend, and opened.
pub(crate) fn ccm_agrees<C: CcmCipher>(
    make: Make<C>,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &[u8],
    tag_bytes: usize,
    offset: usize,
) {
    let (mut expected, mut expected_tag) = (data.to_vec(), vec![0; tag_bytes]);
    ccm::encrypt(&make(Backend::Reference, key), nonce, aad, &mut expected, &mut expected_tag).unwrap();
    for backend in backends_of::<C>() {
        let what = format!("{} bytes, key {}, on {}", data.len(), key.len(), backend.name());
        let cipher = make(backend, key);
        let (mut placed, mut tag) = (Placed::new(data, offset), vec![0; tag_bytes]);
        ccm::encrypt(&cipher, nonce, aad, placed.bytes(), &mut tag).unwrap();
        let sealed = placed.finish();
        assert!(sealed == expected && tag == expected_tag, "{what}: sealed");

        let mut placed = Placed::new(&sealed, offset);
        assert_eq!(ccm::decrypt(&cipher, nonce, aad, placed.bytes(), &tag), Ok(()), "{what}");
        assert!(placed.finish() == data, "{what}: opened");

        let mut wrong = tag.clone();
        wrong[tag_bytes - 1] ^= 1;
        let mut opened = sealed.clone();
        assert_eq!(ccm::decrypt(&cipher, nonce, aad, &mut opened, &wrong), Err(Error::Authentication), "{what}");
        assert!(opened.iter().all(|byte| *byte == 0), "{what}: not wiped");
    }
}

/// CBC encryption in lanes. `shape`: for each message its blocks, the bytes before it in the buffer, and which of the
/// keys it has; with one key all messages share one cipher, else each has its own. Without `one_backend` the messages
/// take backends at random.
pub(crate) fn cbc_lanes_agree<C: BlockCipher>(
    make: Make<C>,
    seed: u64,
    keys: &[Vec<u8>],
    shape: &[(usize, usize, usize)],
    one_backend: Option<Backend>,
) {
    let (mut random, backends) = (Bytes(seed), backends_of::<C>());
    let spans = || shape.iter().map(|&(blocks, gap, _)| (gap, blocks * C::BLOCK_BYTES));
    let key = |index: usize| &keys[shape[index].2 % keys.len()][..];
    let ciphers: Vec<C> = (0..if keys.len() == 1 { 1 } else { shape.len() })
        .map(|index| make(one_backend.unwrap_or(backends[random.below(backends.len())]), key(index)))
        .collect();
    let ivs: Vec<Vec<u8>> = shape.iter().map(|_| random.take(C::BLOCK_BYTES)).collect();
    let mut buffer = random.take(spans().map(|(gap, bytes)| gap + bytes).sum());

    let mut expected = buffer.clone();
    for (index, message) in carve(&mut expected, spans()).into_iter().enumerate() {
        cbc::encrypt(&make(Backend::Reference, key(index)), &ivs[index], message).unwrap();
    }
    let mut jobs: Vec<_> = carve(&mut buffer, spans())
        .into_iter()
        .enumerate()
        .map(|(index, message)| {
            cbc_lanes::Job::new(&ciphers[index.min(ciphers.len() - 1)], &ivs[index], message).unwrap()
        })
        .collect();
    cbc_lanes::encrypt(&mut jobs);
    drop(jobs);
    for (index, (got, want)) in carve(&mut buffer, spans()).into_iter().zip(carve(&mut expected, spans())).enumerate() {
        assert!(got == want, "block {}, job {index}: {:?}, {one_backend:?}", C::BLOCK_BYTES, shape[index]);
    }
    assert!(buffer == expected, "bytes between the messages were written");
}

/// CCM in lanes, each message with its own key: sealed as the reference does, opened again, a damaged one alone refused.
pub(crate) fn ccm_lanes_agree<C: CcmCipher>(make: Make<C>, seed: u64, keys: &[Vec<u8>], lengths: &[usize]) {
    for backend in backends_of::<C>() {
        let mut random = Bytes(seed);
        let ciphers: Vec<C> = (0..lengths.len()).map(|index| make(backend, &keys[index % keys.len()])).collect();
        let plain: Vec<Vec<u8>> = lengths.iter().map(|&length| random.take(length)).collect();
        let nonces: Vec<Vec<u8>> = lengths.iter().map(|_| random.take(12)).collect();
        let aads: Vec<Vec<u8>> = lengths.iter().map(|&length| random.take(length % 50)).collect();
        let (mut data, mut tags) = (plain.clone(), vec![[0; 16]; lengths.len()]);
        let jobs = |data: &mut [Vec<u8>], tags: &mut [[u8; 16]], run: &mut dyn FnMut(&mut [ccm_lanes::Job<'_, C>])| {
            let mut jobs: Vec<_> = (data.iter_mut().zip(tags).enumerate())
                .map(|(i, (data, tag))| ccm_lanes::Job::new(&ciphers[i], &nonces[i], &aads[i], data, tag).unwrap())
                .collect();
            run(&mut jobs);
        };
        jobs(&mut data, &mut tags, &mut |jobs| ccm_lanes::encrypt(jobs));
        for i in 0..lengths.len() {
            let (mut expected, mut tag) = (plain[i].clone(), [0; 16]);
            let reference = make(Backend::Reference, &keys[i % keys.len()]);
            ccm::encrypt(&reference, &nonces[i], &aads[i], &mut expected, &mut tag).unwrap();
            assert!(data[i] == expected && tags[i] == tag, "job {i} of {} bytes on {}", lengths[i], backend.name());
        }
        let damaged = lengths.len() / 2;
        tags[damaged][3] ^= 0x10;
        jobs(&mut data, &mut tags, &mut |jobs| {
            assert_eq!(ccm_lanes::decrypt(jobs), 1);
            assert_eq!(jobs[damaged].result(), Err(Error::Authentication));
        });
        for i in 0..lengths.len() {
            let expected = if i == damaged { vec![0; lengths[i]] } else { plain[i].clone() };
            assert!(data[i] == expected, "job {i} opened on {}", backend.name());
        }
    }
}
