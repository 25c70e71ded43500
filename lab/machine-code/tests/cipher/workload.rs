//! All operations of a backend, for the interpreter: without heap and output, with keys and data marked as secret by
//! the same requests as for Valgrind.

use core::array;

use tress_cipher::aes::Aes;
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::cpu::set_ccm_registers;
use tress_cipher::lea::Lea;
use tress_cipher::modes::{cbc, ccm, ctr, ecb, gcm::Gcm};
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;
use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Aad, Backend, Block, BlockCipher, CcmCipher, Error, Tag, lanes};

/// Marks the bytes as secret (MAKE_MEM_UNDEFINED).
fn hide(bytes: &mut [u8]) {
    let request: [u64; 6] = [0x4d43_0001, bytes.as_ptr().addr() as u64, bytes.len() as u64, 0, 0, 0];
    // SAFETY: on a processor the rotations add up to a full turn, and the exchange is of a register with itself.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const request, inout("rdx") 0u64 => _,
        );
    }
}

/// Prepares this thread's memory for lanes, which registers a destructor, and returns the thread pointer.
pub(crate) fn prepared_thread() -> u64 {
    let key = Aes::new(&[0; 16]).expect("a key");
    lanes::cbc::encrypt(&mut [lanes::cbc::Job::new(&key, &[0; 16], &mut [0; 16]).expect("a whole block")]);
    let pointer;
    // SAFETY: every thread's storage on x86-64 has the thread pointer at the thread pointer.
    unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) pointer) };
    pointer
}

/// A secret key.
fn keyed<C>(make: fn(&[u8], Backend) -> Result<C, Error>, bytes: usize, backend: Backend, seed: u8) -> C {
    let mut key = [seed; 32];
    hide(&mut key);
    make(&key[..bytes], backend).expect("a key")
}

/// Keys of a cipher.
struct KeyMaker<C> {
    make: fn(&[u8], Backend) -> Result<C, Error>,
    bytes: usize,
    /// A key length with another number of rounds.
    other_bytes: usize,
    backend: Backend,
}

/// Several flights of every engine, and a remainder.
const LENGTH: usize = 6144 + 24;
/// More than the lanes of any engine.
const MESSAGES: usize = 70;
/// Few messages run in smaller flights: parts of up to 8 and up to 16 messages, one of which half has run, then the rest.
const PARTS: [core::ops::Range<usize>; 4] = [0..5, 5..17, 13..25, 0..MESSAGES];
/// Three steps of the longest block and a remainder: the beginning, the middle and the end of a lane's work.
const MESSAGE: usize = 600;

/// Lengths of messages: all equal, and mixed, with long and empty ones in each part.
const LENGTHS: [fn(usize) -> usize; 2] = [
    |_| 128,
    |i| match i % 20 {
        9 | 18 => 0,
        19 => MESSAGE,
        _ => (i * 53) % 199,
    },
];

/// Selects one of four keys for a message: one of the first two for most messages, and each of the others for one message.
fn choose<T>(keys: [T; 4], index: usize) -> T {
    let [first, second, third, fourth] = keys;
    match index {
        30 => third,
        31 => fourth,
        _ if index.is_multiple_of(2) => first,
        _ => second,
    }
}

fn block_modes<C: BlockCipher>(keys: &KeyMaker<C>) {
    let cipher = keyed(keys.make, keys.bytes, keys.backend, 1);
    let mut buffer = [0; LENGTH];
    hide(&mut buffer);
    let iv = [7; 32];
    let iv = &iv[..C::BLOCK_BYTES];
    for length in [0, 1, 2, 7, 16, 33, 70, 130, LENGTH / C::BLOCK_BYTES].map(|blocks| blocks * C::BLOCK_BYTES) {
        let data = &mut buffer[..length.min(LENGTH - LENGTH % C::BLOCK_BYTES)];
        assert!(ecb::encrypt(&cipher, data).is_ok());
        assert!(ecb::decrypt(&cipher, data).is_ok());
        assert!(cbc::encrypt(&cipher, iv, data).is_ok());
        assert!(cbc::decrypt(&cipher, iv, data).is_ok());
    }
    // Counters with and without a carry. PIPO rejects a message that exhausts its counter.
    let (mut soon, end) = ([0xff; 32], [0xff; 32]);
    soon[C::BLOCK_BYTES - 1] = 0xf0;
    for length in [0, 1, C::BLOCK_BYTES, 100, 1000, LENGTH] {
        assert!(ctr::apply(&cipher, iv, &mut buffer[..length]).is_ok());
        let _ = ctr::apply(&cipher, &soon[..C::BLOCK_BYTES], &mut buffer[..length]);
        let _ = ctr::apply(&cipher, &end[..C::BLOCK_BYTES], &mut buffer[..length]);
    }

    let same = keyed(keys.make, keys.bytes, keys.backend, 2);
    let longer = keyed(keys.make, keys.other_bytes, keys.backend, 3);
    let elsewhere = keyed(keys.make, keys.bytes, Backend::Portable, 4);
    let mut messages = [0; MESSAGE * MESSAGES];
    hide(&mut messages);
    for length in LENGTHS {
        for keys in [[&cipher; 4], [&cipher, &same, &longer, &elsewhere]] {
            let mut places = messages.chunks_exact_mut(MESSAGE);
            let mut jobs: [_; MESSAGES] = array::from_fn(|i| {
                let data = &mut places.next().expect("room")[..length(i) / C::BLOCK_BYTES * C::BLOCK_BYTES];
                lanes::cbc::Job::new(choose(keys, i), iv, data).expect("whole blocks")
            });
            for part in PARTS {
                lanes::cbc::encrypt(&mut jobs[part]);
            }
        }
    }
}

fn ccm_modes<C: CcmCipher>(keys: &KeyMaker<C>) {
    let cipher = keyed(keys.make, keys.bytes, keys.backend, 5);
    let mut buffer = [0; LENGTH];
    hide(&mut buffer);
    let mut aad = [0; 70];
    hide(&mut aad);
    for (length, aad_bytes, tag_bytes, nonce_bytes) in
        [(0, 0, 16, 12), (1, 1, 4, 13), (16, 14, 16, 7), (100, 40, 6, 12), (1000, 70, 16, 12), (LENGTH, 3, 8, 11)]
    {
        let (data, aad, nonce) = (&mut buffer[..length], Aad(&aad[..aad_bytes]), &[1; 13][..nonce_bytes]);
        let mut tag = [0; 16];
        let tag = &mut tag[..tag_bytes];
        assert!(ccm::seal(&cipher, nonce, aad, data, &mut *tag).is_ok());
        let _ = Tag::new(tag, tag_bytes).and_then(|tag| ccm::open(&cipher, nonce, aad, data, tag));
        // A forged message has been wiped.
        hide(data);
    }

    let same = keyed(keys.make, keys.bytes, keys.backend, 6);
    let longer = keyed(keys.make, keys.other_bytes, keys.backend, 7);
    let elsewhere = keyed(keys.make, keys.bytes, Backend::Portable, 8);
    let mut messages = [0; MESSAGE * MESSAGES];
    hide(&mut messages);
    // Processors differ in the number of registers.
    let keys_of_all = [[&cipher; 4], [&cipher, &same, &longer, &elsewhere]];
    for (length, registers) in [(LENGTHS[0], 4), (LENGTHS[0], 8), (LENGTHS[1], 4), (LENGTHS[1], 8)] {
        set_ccm_registers(registers);
        for keys in keys_of_all {
            let mut tags = [[0; 16]; MESSAGES];
            let tag_bytes = |i: usize| if i.is_multiple_of(3) { 6 } else { 16 };
            let public = |i: usize| ([i as u8; 13], 7 + i % 7, Aad(&aad[..(i * 11) % 70]));
            let mut places = messages.chunks_exact_mut(MESSAGE).zip(&mut tags);
            let mut jobs: [_; MESSAGES] = array::from_fn(|i| {
                let ((data, tag), (nonce, bytes, aad)) = (places.next().expect("room"), public(i));
                let tag = &mut tag[..tag_bytes(i)];
                let job = lanes::ccm::Seal::new(choose(keys, i), &nonce[..bytes], aad, &mut data[..length(i)], tag);
                job.expect("lengths that CCM has")
            });
            for part in PARTS {
                assert!(lanes::ccm::seal(&mut jobs[part]).is_ok());
            }
            let mut places = messages.chunks_exact_mut(MESSAGE).zip(&tags);
            let mut jobs: [_; MESSAGES] = array::from_fn(|i| {
                let ((data, tag), (nonce, bytes, aad)) = (places.next().expect("room"), public(i));
                let tag = Tag::new(&tag[..tag_bytes(i)], tag_bytes(i)).expect("its length");
                let job = lanes::ccm::Open::new(choose(keys, i), &nonce[..bytes], aad, &mut data[..length(i)], tag);
                job.expect("lengths that CCM has")
            });
            for part in PARTS {
                let _ = lanes::ccm::open(&mut jobs[part]);
            }
            hide(&mut messages);
        }
    }
}

fn aead_of_one_message(
    seal: impl Fn(&[u8; 12], &[u8], &mut [u8]) -> Result<Block, Error>,
    open: impl Fn(&[u8; 12], &[u8], &mut [u8], &Block) -> Result<(), Error>,
) {
    let (mut buffer, mut aad) = ([0; LENGTH], [0; 70]);
    hide(&mut aad);
    for (length, aad_bytes) in [(0, 0), (1, 1), (64, 16), (1000, 70), (1024, 12), (LENGTH, 3)] {
        let (data, aad) = (&mut buffer[..length], &aad[..aad_bytes]);
        hide(data);
        let tag = seal(&[1; 12], aad, data).expect("a short message");
        let _ = open(&[1; 12], aad, data, &tag);
    }
}

extern "sysv64" fn chacha20poly1305(backend: u64, _: u64) {
    let key = keyed(ChaCha20Poly1305::with_backend, 32, Backend::ALL[backend as usize], 1);
    aead_of_one_message(|n, aad, data| key.seal(n, aad, data), |n, aad, data, tag| key.open(n, aad, data, tag));
}

extern "sysv64" fn aes_gcm(backend: u64, _: u64) {
    let key = Gcm::new(keyed(Aes::with_backend, 32, Backend::ALL[backend as usize], 1));
    aead_of_one_message(|n, aad, data| key.seal(n, aad, data), |n, aad, data, tag| key.open(n, aad, data, tag));
}

/// Each cipher of a backend with each of its key lengths, and with lengths of other numbers of rounds.
macro_rules! ciphers {
    ($($entry:ident: $modes:ident $cipher:ty: $($key_bytes:literal)*;)*) => {
        $(
            #[inline(never)]
            extern "sysv64" fn $entry(backend: u64, is_brief: u64) {
                let backend = Backend::ALL[backend as usize];
                let all = [$($key_bytes),*];
                let count = if is_brief == 0 { all.len() } else { 1 };
                for (i, bytes) in all.into_iter().enumerate().take(count) {
                    let other_bytes = all[(i + 1) % all.len()];
                    $modes::<$cipher>(&KeyMaker { make: <$cipher>::with_backend, bytes, other_bytes, backend });
                }
            }
        )*

        /// Name, backends, and the address of the function that runs everything.
        pub(crate) fn all() -> Vec<(&'static str, &'static [Backend], u64)> {
            let mut all = vec![$((stringify!($entry), <$cipher>::BACKENDS, $entry as *const () as u64)),*];
            all.push(("aes_gcm", &[Backend::Vaes512], aes_gcm as *const () as u64));
            all.push(("chacha20poly1305", &[Backend::Avx512], chacha20poly1305 as *const () as u64));
            all
        }
    };
}

ciphers! {
    aes: block_modes Aes: 16 24 32;
    aes_ccm: ccm_modes Aes: 16 24 32;
    rijndael_128: block_modes Rijndael<16>: 20 28;
    rijndael_128_ccm: ccm_modes Rijndael<16>: 20 28;
    rijndael_160: block_modes Rijndael<20>: 16 32;
    rijndael_192: block_modes Rijndael<24>: 24 32;
    rijndael_224: block_modes Rijndael<28>: 20 32;
    rijndael_256: block_modes Rijndael<32>: 16 32;
    rc6: block_modes Rc6: 16 24 32;
    rc6_ccm: ccm_modes Rc6: 16 24 32;
    lea: block_modes Lea: 16 24 32;
    lea_ccm: ccm_modes Lea: 16 24 32;
    pipo: block_modes Pipo: 16 32;
}
