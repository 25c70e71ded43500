//! The stack that kernels use: threads with small stacks run them, and helpers overwrite that much after their work.

use std::ffi::c_void;
use std::ptr;

use tress_cipher::catalogue::{CIPHERS, FromKey, WithCipher};
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::lanes::{Aead, cbc, ccm};
use tress_cipher::{Aad, Backend, CcmCipher};

use crate::STACK_BYTES;

const UNCHANGED: u128 = u128::MAX / 0xff * 0xa5;

/// Number of bytes of its stack that a thread changes from its start to the end of `work`.
fn changed_bytes(work: &mut dyn FnMut()) -> usize {
    16 * stack_after(work).iter().skip_while(|word| **word == UNCHANGED).count()
}

/// The stack of a thread that has ended with `work`.
fn stack_after(mut work: &mut dyn FnMut()) -> Vec<u128> {
    extern "C" fn start(work: *mut c_void) -> *mut c_void {
        // SAFETY: the pointer is the one below, and its thread waits for this one.
        unsafe { (*work.cast::<&mut dyn FnMut()>())() };
        ptr::null_mut()
    }
    let mut stack = vec![UNCHANGED; 1 << 16];
    // SAFETY: the thread has ended when its stack is read again. All pointers are valid for the calls.
    unsafe {
        let mut thread = 0;
        let mut attributes = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstack(&mut attributes, stack.as_mut_ptr().cast(), size_of_val(&stack[..])), 0);
        assert_eq!(libc::pthread_create(&mut thread, &attributes, start, (&raw mut work).cast()), 0);
        assert_eq!(libc::pthread_join(thread, ptr::null_mut()), 0);
        libc::pthread_attr_destroy(&mut attributes);
    }
    stack
}

/// Measures key setup and the lanes of a cipher, with its key and backend.
struct Measure(&'static [u8], Backend);

impl Measure {
    fn most<C: FromKey>(&self, mut lanes: impl FnMut(&[C], &mut [Vec<u8>])) -> usize {
        let Measure(key, backend) = *self;
        let empty = changed_bytes(&mut || ());
        let keys: Vec<C> = (0..130).map(|_| C::with_backend(key, backend).unwrap()).collect();
        let mut most = changed_bytes(&mut || drop(C::with_backend(key, backend)));
        for count in [1, 5, 24, 130] {
            // Whole blocks, in some messages the same number.
            let mut data: Vec<_> = (0..count).map(|job| vec![7; 30 * C::BLOCK_BYTES * (job % 3 + 1)]).collect();
            for used in [&keys[..1], &keys[..count]] {
                most = most.max(changed_bytes(&mut || lanes(used, &mut data)));
            }
        }
        most - empty
    }
}

impl WithCipher for Measure {
    type Output = usize;

    fn block<C: FromKey>(self) -> usize {
        let iv = &[0; 32][..C::BLOCK_BYTES];
        let lanes = |keys: &[C], data: &mut [Vec<u8>]| {
            let jobs =
                data.iter_mut().zip(keys.iter().cycle()).map(|(data, key)| cbc::Job::new(key, iv, data).unwrap());
            cbc::encrypt(&mut jobs.collect::<Vec<_>>());
        };
        self.most(lanes)
    }

    fn ccm<C: FromKey + CcmCipher>(self) -> usize {
        let lanes = |keys: &[C], data: &mut [Vec<u8>]| {
            let mut tags = vec![[0; 16]; data.len()];
            let jobs = data.iter_mut().zip(&mut tags).zip(keys.iter().cycle()).enumerate();
            let mut jobs: Vec<_> = jobs
                .map(|(number, ((data, tag), key))| {
                    // No nonce is in order, so all of them are compared.
                    let nonce = (number as u64 ^ 1).to_be_bytes();
                    ccm::Seal::new(key, &nonce, Aad(b"a header of two blocks"), data, tag).unwrap()
                })
                .collect();
            ccm::seal(&mut jobs).unwrap();
            drop(jobs);
            let jobs = data.iter_mut().zip(&tags).zip(keys.iter().cycle()).enumerate();
            let jobs = jobs.map(|(number, ((data, tag), key))| {
                let nonce = (number as u64 ^ 1).to_be_bytes();
                ccm::Open::new(key, &nonce, Aad(b"a header of two blocks"), data, tag).unwrap()
            });
            ccm::open(&mut jobs.collect::<Vec<_>>()).unwrap();
        };
        let most = self.most(lanes);
        most.max(Measure(self.0, self.1).block::<C>())
    }
}

/// Callers' frames take some of `STACK_BYTES`, which is overwritten.
#[test]
fn kernels_use_little_stack() {
    let mut most = (0, "", "");
    for cipher in CIPHERS {
        for backend in cipher.backends.iter().filter(|backend| backend.is_available()) {
            let bytes = cipher.with(Measure(&[3; 32][..cipher.key_bytes], *backend));
            println!("{} {}: {bytes}", cipher.name, backend.name());
            most = most.max((bytes, cipher.name, backend.name()));
        }
    }
    for backend in vectors() {
        let key = ChaCha20Poly1305::with_backend(&[3; 32], backend).unwrap();
        for count in [1, 5, 24, 130] {
            let mut messages: Vec<_> = (0..count).map(|job| (vec![7; 300 * (job % 3 + 1)], [0; 16])).collect();
            let bytes = changed_bytes(&mut || seal(&key, &mut messages));
            println!("chacha20poly1305 {}, {count} messages: {bytes}", backend.name());
            most = most.max((bytes, "chacha20poly1305", backend.name()));
        }
    }
    assert!(most.0 > 1000 && most.0 <= STACK_BYTES - 2048, "{most:?}");
}

/// The backends of ChaCha20-Poly1305 that wipe their stack. The crate does not.
fn vectors() -> impl Iterator<Item = Backend> {
    let backends = ChaCha20Poly1305::BACKENDS.iter().copied();
    backends.filter(|backend| *backend != Backend::Portable && backend.is_available())
}

fn seal(key: &ChaCha20Poly1305, messages: &mut [(Vec<u8>, [u8; 16])]) {
    let nonce = [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7];
    let jobs = messages.iter_mut();
    let jobs = jobs.map(|(data, tag)| key.to_seal(nonce[..].into(), Aad(b""), data, tag.into()).unwrap());
    ChaCha20Poly1305::seal_without_nonce_check(&mut jobs.collect::<Vec<_>>());
}

/// The message's key of RFC 8439, section 2.6.2: r in limbs of 44 bits, and s.
#[test]
fn chacha20poly1305_leaves_no_key_of_a_message() {
    let r = 0x7194b24a_27405081_cc815f90_8ba0d58a_u128 & 0x0ffffffc_0ffffffc_0ffffffc_0fffffff;
    let s = 0x46a6d1fd_e2b8db08_a50dfde3_37b633a8_u128;
    let secrets = [r % (1 << 44), (r >> 44) % (1 << 44), r >> 88, s % (1 << 64), s >> 64].map(|secret| secret as u64);
    for backend in vectors() {
        let aead = ChaCha20Poly1305::with_backend(&std::array::from_fn::<_, 32, _>(|i| 0x80 + i as u8), backend);
        let aead = aead.unwrap();
        for (length, count) in [(100, 1), (5000, 1), (100, 40)] {
            let mut messages = vec![(vec![0; length], [0; 16]); count];
            let stack = stack_after(&mut || seal(&aead, &mut messages));
            let mut words = stack.iter().flat_map(|word| [*word as u64, (*word >> 64) as u64]);
            assert!(words.all(|word| !secrets.contains(&word)), "{}, {count} of {length} bytes", backend.name());
        }
    }
}
