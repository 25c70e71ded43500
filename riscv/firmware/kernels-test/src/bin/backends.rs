//! Tests every cipher of the catalogue on every backend of this target, in every mode and in lanes, and PIPO's kernels,
//! against `reference`, which the test vectors check on the host.
//!
//! `riscv/firmware/kernels-test/run` builds it and runs it under `qemu-riscv32`, because it makes Linux system calls.
//! Exits with 0 if all results agree, and prints differences.
#![no_std]
#![no_main]

use tress_cipher::catalogue::{CIPHERS, FromKey, WithCipher};
use tress_cipher::modes::{cbc, ccm, ctr, ecb};
use tress_cipher::pipo::Pipo;
use tress_cipher::riscv32::pipo::{Aligned, Group, Key, Lanes};
use tress_cipher::{Aad, Backend, BlockCipher, CcmCipher, Error};
use tress_cipher::{for_every_cipher, lanes};
use tress_kernels_test::write;

fn print(text: &str) {
    write(text.as_bytes());
}

/// Pseudo-random bytes (G. Marsaglia: "Xorshift RNGs", 2003).
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = (self.next() >> 11) as u8;
        }
    }
}

const MOST: usize = 700;
const MESSAGES: usize = 11;

fn same(a: &[u8], b: &[u8], what: &str, failures: &mut u32) {
    if a != b {
        *failures += 1;
        print("differs: ");
        print(what);
        print("\n");
    }
}

/// A random message with room for unaligned data, and a counter whose low bytes carry.
fn messages(random: &mut Random, length: usize) -> ([u8; MOST + 4], [u8; 32]) {
    let (mut data, mut iv) = ([0; MOST + 4], [0xff; 32]);
    random.fill(&mut data);
    if !length.is_multiple_of(3) {
        random.fill(&mut iv[..29 + length % 3]);
    }
    random.fill(&mut iv[31..]);
    (data, iv)
}

/// Compares ECB, CBC and CTR. Both ciphers have the same key. `at` is the offset of the data from a word boundary.
fn compare<C: BlockCipher>(ours: &C, reference: &C, random: &mut Random, length: usize, at: usize) -> u32 {
    let failures = &mut 0;
    let (mut a, iv) = messages(random, length);
    let mut b = a;
    let (a, b) = (&mut a[at..at + length], &mut b[at..at + length]);
    let iv = &iv[32 - C::BLOCK_BYTES..];
    let whole = length / C::BLOCK_BYTES * C::BLOCK_BYTES;

    ecb::encrypt(ours, &mut a[..whole]).unwrap();
    ecb::encrypt(reference, &mut b[..whole]).unwrap();
    same(a, b, "ECB encryption", failures);
    ecb::decrypt(ours, &mut a[..whole]).unwrap();
    ecb::decrypt(reference, &mut b[..whole]).unwrap();
    same(a, b, "ECB decryption", failures);
    cbc::encrypt(ours, iv, &mut a[..whole]).unwrap();
    cbc::encrypt(reference, iv, &mut b[..whole]).unwrap();
    same(a, b, "CBC encryption", failures);
    cbc::decrypt(ours, iv, &mut a[..whole]).unwrap();
    cbc::decrypt(reference, iv, &mut b[..whole]).unwrap();
    same(a, b, "CBC decryption", failures);
    // PIPO's counter of two bytes may end: then both must refuse and leave the data unchanged.
    if ctr::apply(ours, iv, a) != ctr::apply(reference, iv, b) {
        *failures += 1;
        print("CTR is refused by one backend only\n");
    }
    same(a, b, "CTR", failures);
    *failures
}

/// Compares CCM. Both ciphers have the same key. `at` is the offset of the data from a word boundary.
fn compare_ccm<C: CcmCipher>(ours: &C, reference: &C, random: &mut Random, length: usize, at: usize) -> u32 {
    let failures = &mut 0;
    let (mut a, iv) = messages(random, length);
    let mut b = a;
    let (a, b) = (&mut a[at..at + length], &mut b[at..at + length]);
    let (mut tag, mut other) = ([0; 16], [0; 16]);
    let (nonce, aad) = (&iv[16..28], Aad(&iv[19..]));
    ccm::seal(ours, nonce, aad, a, &mut tag).unwrap();
    ccm::seal(reference, nonce, aad, b, &mut other).unwrap();
    same(a, b, "CCM encryption", failures);
    same(&tag, &other, "CCM tag", failures);
    if ccm::open(ours, nonce, aad, a, &tag).is_err() {
        *failures += 1;
        print("CCM does not open its own\n");
    }
    ccm::open(reference, nonce, aad, b, &tag).unwrap();
    same(a, b, "CCM decryption", failures);
    *failures
}

/// Compares CCM of messages with different keys and lengths, side by side.
fn compare_ccm_lanes<C: CcmCipher>(ours: &[C; MESSAGES], reference: &[C; MESSAGES], random: &mut Random) -> u32 {
    let failures = &mut 0;
    let (mut a, lengths) = lanes_of(random);
    let mut b = a;
    let mut tags = [[0; 16]; MESSAGES];
    let nonces: [[u8; 12]; MESSAGES] = core::array::from_fn(|i| [i as u8; 12]);
    {
        let (mut data, mut tag) = (a.iter_mut(), tags.iter_mut());
        let mut jobs: [_; MESSAGES] = core::array::from_fn(|i| {
            let data = &mut data.next().unwrap()[..lengths[i]];
            lanes::ccm::Seal::new(&ours[i], &nonces[i], Aad(b"lanes"), data, tag.next().unwrap()).unwrap()
        });
        lanes::ccm::seal(&mut jobs).unwrap();
    }
    let plain = b;
    for i in 0..MESSAGES {
        let mut tag = [0; 16];
        ccm::seal(&reference[i], &nonces[i], Aad(b"lanes"), &mut b[i][..lengths[i]], &mut tag).unwrap();
        same(&a[i], &b[i], "CCM in lanes", failures);
        same(&tags[i], &tag, "tag in lanes", failures);
    }
    // One of the messages is forged.
    tags[3][0] ^= 1;
    let forged = {
        let mut data = a.iter_mut();
        let mut jobs: [_; MESSAGES] = core::array::from_fn(|i| {
            let data = &mut data.next().unwrap()[..lengths[i]];
            lanes::ccm::Open::new(&ours[i], &nonces[i], Aad(b"lanes"), data, &tags[i]).unwrap()
        });
        lanes::ccm::open(&mut jobs)
    };
    if forged.map_err(|forged| (forged.count, forged.first)) != Err((1, 3)) {
        *failures += 1;
        print("a forged message is not reported\n");
    }
    for i in (0..MESSAGES).filter(|i| *i != 3) {
        same(&a[i], &plain[i], "CCM decryption in lanes", failures);
    }
    *failures
}

/// Compares CBC of messages with different keys and lengths, side by side.
fn compare_cbc_lanes<C: BlockCipher>(ours: &[C; MESSAGES], reference: &[C; MESSAGES], random: &mut Random) -> u32 {
    let failures = &mut 0;
    let (mut a, lengths) = lanes_of(random);
    let mut b = a;
    let whole = lengths.map(|length| length / C::BLOCK_BYTES * C::BLOCK_BYTES);
    let ivs: [[u8; 32]; MESSAGES] = core::array::from_fn(|i| [i as u8; 32]);
    {
        let mut data = a.iter_mut();
        let mut jobs: [_; MESSAGES] = core::array::from_fn(|i| {
            let data = &mut data.next().unwrap()[..whole[i]];
            lanes::cbc::Job::new(&ours[i], &ivs[i][..C::BLOCK_BYTES], data).unwrap()
        });
        lanes::cbc::encrypt(&mut jobs);
    }
    for i in 0..MESSAGES {
        cbc::encrypt(&reference[i], &ivs[i][..C::BLOCK_BYTES], &mut b[i][..whole[i]]).unwrap();
        same(&a[i], &b[i], "CBC in lanes", failures);
    }
    *failures
}

/// Random messages of random lengths.
fn lanes_of(random: &mut Random) -> ([[u8; 300]; MESSAGES], [usize; MESSAGES]) {
    let (mut data, mut lengths) = ([[0; 300]; MESSAGES], [0; MESSAGES]);
    for (message, length) in data.iter_mut().zip(&mut lengths) {
        random.fill(message);
        *length = random.next() as usize % 300;
    }
    (data, lengths)
}

/// PIPO's kernels called directly: four messages of two blocks with four keys, and CTR of nine groups.
fn pipo_kernels(key_bytes: usize, random: &mut Random) -> u32 {
    let failures = &mut 0;
    let mut keys = [[0; 32]; 4];
    keys.iter_mut().for_each(|key| random.fill(key));
    let keys = keys.each_ref().map(|key| &key[..key_bytes]);
    let mut chains = Group([0; 32]);
    random.fill(&mut chains.0);
    let mut wanted = [[0; 16]; 4];
    wanted.iter_mut().for_each(|message| random.fill(message));
    let mut messages = wanted.map(|message| {
        let (first, second) = message.split_at(8);
        [first, second].map(|block| Aligned(block.try_into().unwrap()))
    });
    for (i, message) in wanted.iter_mut().enumerate() {
        let cipher = Pipo::with_backend(keys[i], Backend::Reference).unwrap();
        cbc::encrypt(&cipher, &chains.0[8 * i..][..8], message).unwrap();
    }
    let lanes = Lanes::new(keys).unwrap();
    let [a, b, c, d] = &mut messages;
    lanes.cbc_encrypt(&mut chains, [a, b, c, d]).unwrap();
    for (message, wanted) in messages.iter().zip(&wanted) {
        same(&message[0].0, &wanted[..8], "PIPO's kernel for CBC, block 0", failures);
        same(&message[1].0, &wanted[8..], "PIPO's kernel for CBC, block 1", failures);
    }

    let key = Key::new(keys[1]).unwrap();
    let (mut data, mut bytes) = ([Group([0; 32]); 9], [[0; 32]; 9]);
    bytes.iter_mut().for_each(|group| random.fill(group));
    data.iter_mut().zip(&bytes).for_each(|(group, bytes)| group.0 = *bytes);
    // Group 60 has the blocks 240 to 243: the counter carries from group 63 to 64.
    key.ctr(&key.nonce(b"nonces"), 60, &mut data).unwrap();
    let cipher = Pipo::with_backend(keys[1], Backend::Reference).unwrap();
    ctr::apply(&cipher, b"nonces\x00\xf0", bytes.as_flattened_mut()).unwrap();
    for (group, bytes) in data.iter().zip(&bytes) {
        same(&group.0, bytes, "PIPO's kernel for CTR", failures);
    }
    if key.ctr(&key.nonce(b"nonces"), (1 << 14) - 1, &mut data) != Err(Error::CounterExhausted) {
        *failures += 1;
        print("PIPO's kernel for CTR counts past its end\n");
    }
    *failures
}

const LENGTHS: [usize; 22] =
    [0, 1, 15, 16, 17, 32, 48, 63, 64, 80, 96, 112, 127, 128, 129, 144, 160, 256, 272, 400, 513, MOST];

/// Compares a backend of a cipher with `reference`.
struct Comparison<'a> {
    backend: Backend,
    key_bytes: usize,
    random: &'a mut Random,
}

impl Comparison<'_> {
    /// Keys for messages, on the backend and on `reference`.
    fn keys<C: FromKey>(&mut self) -> [[C; MESSAGES]; 2] {
        let mut keys = [[0; 32]; MESSAGES];
        keys.iter_mut().for_each(|key| self.random.fill(key));
        let prepare = |backend| keys.each_ref().map(|key| C::with_backend(&key[..self.key_bytes], backend).unwrap());
        [self.backend, Backend::Reference].map(prepare)
    }

    /// Lengths, each at every offset from a word boundary. Portable code does not depend on that.
    fn shapes(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let offsets = if self.backend == Backend::Riscv32 { 4 } else { 1 };
        LENGTHS.into_iter().flat_map(move |length| (0..offsets).map(move |at| (length, at)))
    }
}

impl WithCipher for Comparison<'_> {
    type Output = u32;

    fn block<C: FromKey>(mut self) -> u32 {
        let [ours, reference] = self.keys::<C>();
        let mut failures = compare_cbc_lanes(&ours, &reference, self.random);
        for (length, at) in self.shapes() {
            failures += compare(&ours[0], &reference[0], self.random, length, at);
        }
        failures
    }

    fn ccm<C: FromKey + CcmCipher>(mut self) -> u32 {
        let [ours, reference] = self.keys::<C>();
        let mut failures = compare_ccm_lanes(&ours, &reference, self.random);
        for (length, at) in self.shapes() {
            failures += compare_ccm(&ours[0], &reference[0], self.random, length, at);
        }
        failures + self.block::<C>()
    }
}

/// Number of ciphers of the catalogue for which `new` fails or does not choose the last of their backends.
macro_rules! wrong_choices {
    ($($of:ident: $type:ty, $kind:ident, $([$name:literal $($bits:literal)*])*;)*) => {
        [$($($({
            let chosen = <$type>::new(&[0; $bits / 8]).map(|cipher| BlockCipher::backend(&cipher));
            chosen != Ok(*<$type as BlockCipher>::BACKENDS.iter().rfind(|backend| backend.is_available()).unwrap())
        },)*)*)*]
    };
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let random = &mut Random(0x2545_f491);
    let mut failures = pipo_kernels(16, random) + pipo_kernels(32, random);
    let (mut with_assembly, mut all) = (0, 0);
    for cipher in CIPHERS {
        for &backend in cipher.backends.iter().filter(|backend| backend.is_available()) {
            let failed = cipher.with(Comparison { backend, key_bytes: cipher.key_bytes, random });
            if failed > 0 {
                [cipher.name, " fails on ", backend.name(), "\n"].into_iter().for_each(print);
            }
            failures += failed;
            with_assembly += u32::from(backend == Backend::Riscv32);
            all += 1;
        }
    }
    failures += for_every_cipher!([wrong_choices]).into_iter().map(u32::from).sum::<u32>();
    // AES, RC6 and LEA with three lengths of keys, PIPO with two, and Rijndael's blocks of 128 bits with five.
    let agree = failures == 0 && with_assembly == 16 && all == 2 * CIPHERS.len() as u32 + with_assembly;
    print(if agree { "the backends agree\n" } else { "FAILED\n" });
    i32::from(!agree)
}
