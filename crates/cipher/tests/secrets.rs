//! No branch and no address depends on a secret. Keys and data are marked as undefined, and Valgrind's memcheck reports
//! every jump and every address that depends on undefined bytes.
//!
//! Needs the feature `secrets` (`make secrets`). The test runs itself again under Valgrind, which does not support
//! AVX-512, VAES and GFNI. So it covers the backends `portable`, `aesni` and `avx2`; `lab/machine-code` covers the others.
//! `reference`, which looks up tables, is a planted leak that has to be found.
#![cfg(target_arch = "x86_64")]

#[path = "../../modular/tests/common/memcheck.rs"]
mod memcheck;

use memcheck::{hide, show};
use tress_cipher::aes::Aes;
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::lanes::Aead;
use tress_cipher::lea::Lea;
use tress_cipher::modes::{cbc, ccm, ctr, ecb, gcm::Gcm, pkcs7};
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;
use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Aad, Backend, BlockCipher, CcmCipher, Error, Tag, lanes};

/// Runs the work of a backend and labels what memcheck finds in it.
fn watch(what: &str, backend: Backend, work: impl FnOnce()) {
    match backend {
        Backend::Reference => memcheck::watch("planted", work),
        _ => memcheck::watch(&format!("{} {what}", backend.name()), work),
    }
}

/// Long enough for every code path: several vectors, and an incomplete one.
const LENGTH: usize = 64 * 41 + 24;

fn secret(bytes: usize, seed: u8) -> Vec<u8> {
    let mut secret: Vec<u8> = (0..bytes).map(|i| (i as u8).wrapping_mul(29).wrapping_add(seed)).collect();
    hide(&mut secret);
    secret
}

fn block_modes<C: BlockCipher>(
    name: &str,
    backend: Backend,
    key_bytes: usize,
    make: fn(&[u8], Backend) -> Result<C, Error>,
) {
    let mut key = secret(key_bytes, 1);
    let mut cipher = None;
    watch(&format!("{name} key setup"), backend, || cipher = make(&key, backend).ok());
    let cipher = cipher.expect("an available backend");
    show(&mut key);
    let whole = LENGTH - LENGTH % C::BLOCK_BYTES;
    // PIPO's counter must have values left.
    let iv = vec![7; C::BLOCK_BYTES];
    let mut data = secret(whole, 2);
    watch(&format!("{name} ecb encrypt"), backend, || ecb::encrypt(&cipher, &mut data).unwrap());
    watch(&format!("{name} ecb decrypt"), backend, || ecb::decrypt(&cipher, &mut data).unwrap());
    watch(&format!("{name} cbc encrypt"), backend, || cbc::encrypt(&cipher, &iv, &mut data).unwrap());
    watch(&format!("{name} cbc decrypt"), backend, || cbc::decrypt(&cipher, &iv, &mut data).unwrap());
    let mut data = secret(LENGTH, 3);
    watch(&format!("{name} ctr"), backend, || ctr::apply(&cipher, &iv, &mut data).unwrap());
    let other = make(&secret(key_bytes, 4), backend).expect("an available backend");
    for keys in [[&cipher, &cipher], [&cipher, &other]] {
        let mut messages: Vec<Vec<u8>> = (0..9).map(|i| secret(C::BLOCK_BYTES * (3 * i + 1), i as u8)).collect();
        let mut jobs: Vec<_> = messages
            .iter_mut()
            .enumerate()
            .map(|(i, data)| lanes::cbc::Job::new(keys[i % 2], &iv, data).unwrap())
            .collect();
        watch(&format!("{name} cbc lanes"), backend, || lanes::cbc::encrypt(&mut jobs));
    }
}

fn ccm_modes<C: CcmCipher>(
    name: &str,
    backend: Backend,
    key_bytes: usize,
    make: fn(&[u8], Backend) -> Result<C, Error>,
) {
    let (one, other) = (make(&secret(key_bytes, 5), backend).unwrap(), make(&secret(key_bytes, 6), backend).unwrap());
    for tag_bytes in [16, 6] {
        let (mut data, mut aad, mut tag) = (secret(LENGTH, 7), secret(40, 8), vec![0; tag_bytes]);
        watch(&format!("{name} ccm encrypt"), backend, || {
            ccm::seal(&one, &[1; 12], Aad(&aad), &mut data, &mut tag[..]).unwrap()
        });
        let tag = Tag::new(&tag, tag_bytes).unwrap();
        watch(&format!("{name} ccm decrypt"), backend, || {
            ccm::open(&one, &[1; 12], Aad(&aad), &mut data, tag).unwrap()
        });
        watch(&format!("{name} ccm forged"), backend, || {
            assert!(ccm::open(&one, &[1; 12], Aad(&aad), &mut data, tag).is_err());
        });
        let lengths = ccm::Lengths { aad: 40, data: LENGTH as u64, tag: tag_bytes };
        let (mut data, mut tag) = (secret(LENGTH, 7), vec![0; tag_bytes]);
        watch(&format!("{name} ccm in pieces"), backend, || {
            let mut sealer = ccm::Sealer::new(&one, &[1; 12], lengths).unwrap();
            sealer.aad(Aad(&aad)).unwrap();
            data.chunks_mut(1000).for_each(|piece| sealer.update(piece).unwrap());
            sealer.finish(&mut tag[..]).unwrap();
            let mut opener = ccm::Opener::new(&one, &[1; 12], lengths).unwrap();
            opener.aad(Aad(&aad)).unwrap();
            data.chunks_mut(77).for_each(|piece| opener.update_unverified(piece).unwrap());
            opener.finish(Tag::new(&tag, tag_bytes).unwrap()).unwrap();
        });
        show(&mut aad);
        for keys in [[&one, &one], [&one, &other]] {
            let mut messages: Vec<_> =
                (0..9).map(|i| (secret(100 * i, i as u8), secret(5 * i, 9), vec![0; tag_bytes])).collect();
            let mut jobs: Vec<_> = messages
                .iter_mut()
                .enumerate()
                .map(|(i, (data, aad, tag))| {
                    lanes::ccm::Seal::new(keys[i % 2], &[i as u8; 13], Aad(aad), data, &mut tag[..]).unwrap()
                })
                .collect();
            watch(&format!("{name} ccm lanes encrypt"), backend, || lanes::ccm::seal(&mut jobs).unwrap());
            // The second time, only the message without data still matches its tag.
            for forged in [0, 8] {
                let mut jobs: Vec<_> = messages
                    .iter_mut()
                    .enumerate()
                    .map(|(i, (data, aad, tag))| {
                        lanes::ccm::Open::new(
                            keys[i % 2],
                            &[i as u8; 13],
                            Aad(aad),
                            data,
                            Tag::new(tag, tag_bytes).unwrap(),
                        )
                        .unwrap()
                    })
                    .collect();
                watch(&format!("{name} ccm lanes decrypt"), backend, || {
                    assert_eq!(lanes::ccm::open(&mut jobs).map_or_else(|found| found.count, |()| 0), forged);
                });
            }
        }
    }
}

fn everything(backend: Backend) {
    /// Each cipher with each of its key lengths.
    macro_rules! ciphers {
        ($($modes:ident $name:literal $cipher:ty: $($key_bytes:literal)*;)*) => {
            $(if <$cipher>::BACKENDS.contains(&backend) {
                $(ciphers!(@ $modes $name $cipher, $key_bytes);)*
            })*
        };
        (@ ccm $name:literal $cipher:ty, $key_bytes:literal) => {
            ciphers!(@ block $name $cipher, $key_bytes);
            ccm_modes::<$cipher>(&format!("{}-{}", $name, 8 * $key_bytes), backend, $key_bytes, <$cipher>::with_backend);
        };
        (@ block $name:literal $cipher:ty, $key_bytes:literal) => {
            block_modes::<$cipher>(&format!("{}-{}", $name, 8 * $key_bytes), backend, $key_bytes, <$cipher>::with_backend);
        };
    }
    ciphers! {
        ccm "aes" Aes: 16 24 32;
        ccm "rijndael-128" Rijndael<16>: 20 28;
        block "rijndael-160" Rijndael<20>: 16 32;
        block "rijndael-192" Rijndael<24>: 24;
        block "rijndael-224" Rijndael<28>: 20;
        block "rijndael-256" Rijndael<32>: 16 32;
        ccm "rc6" Rc6: 16 24 32;
        ccm "lea" Lea: 16 24 32;
        block "pipo" Pipo: 16 32;
    }
}

/// The run under Valgrind. Does nothing outside of it.
#[test]
fn inside() {
    if !memcheck::is_inside() {
        return;
    }
    for &backend in Backend::ALL {
        if backend.is_available() {
            everything(backend);
        }
    }
    for key_bytes in [16, 32] {
        let (key, aad, mut data) = (secret(key_bytes, 1), secret(40, 2), secret(LENGTH, 3));
        watch(&format!("gcm {key_bytes}"), Backend::Portable, || {
            let gcm = Gcm::new(Aes::new(&key).unwrap());
            let tag = gcm.seal(&[1; 12], &aad, &mut data).unwrap();
            gcm.open(&[1; 12], &aad, &mut data, &tag).unwrap();
            assert!(gcm.open(&[2; 12], &aad, &mut data, &tag).is_err());
        });
    }
    for &backend in ChaCha20Poly1305::BACKENDS.iter().filter(|backend| backend.is_available()) {
        let (key, aad) = (secret(32, 1), secret(40, 2));
        let mut messages = [90, 0, 1000, LENGTH, 90].map(|bytes| (secret(bytes, 3), [0; 16]));
        watch("chacha20poly1305", backend, || {
            let aead = ChaCha20Poly1305::with_backend(&key, backend).unwrap();
            let jobs = messages.iter_mut().zip(0..).map(|((data, tag), number)| {
                aead.to_seal([number; 12][..].into(), Aad(&aad), data, tag.into()).unwrap()
            });
            let mut jobs = Vec::from_iter(jobs);
            // One alone, the others in a batch.
            <ChaCha20Poly1305 as Aead>::seal(&mut jobs[..1]).unwrap();
            <ChaCha20Poly1305 as Aead>::seal(&mut jobs).unwrap();
            if backend == Backend::Portable {
                // The crate compares tags, with a branch that memcheck cannot know to be allowed.
                return;
            }
            drop(jobs);
            // Valid, then forged.
            for forged in 0..2 {
                let jobs = messages.iter_mut().zip(forged..).map(|((data, tag), number)| {
                    aead.to_open([number; 12][..].into(), Aad(&aad), data, (&*tag).into()).unwrap()
                });
                let opened = <ChaCha20Poly1305 as Aead>::open(&mut Vec::from_iter(jobs));
                assert_eq!(opened.is_err(), forged == 1);
            }
        });
    }
    for last in [1, 16, 0, 17] {
        let mut data = [9; 32];
        data[31] = last;
        hide(&mut data);
        watch("pkcs7 unpad", Backend::Portable, || {
            let _ = pkcs7::unpad(&data, 16);
        });
    }
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    if memcheck::is_inside() {
        return;
    }
    let found = memcheck::check(500, 1000);
    for backend in ["portable ", "aesni ", "avx2 "] {
        assert!(found.contains(&format!("secrets: {backend}")), "{backend} did not run");
    }
}
