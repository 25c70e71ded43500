//! Random bytes from a seed, edge-case lengths, and buffers at every alignment.

use proptest::prelude::*;
use tress_cipher::{Backend, aes::Aes, catalogue::FromKey};

/// The configuration for `count` cases of a property. `PROPTEST_CASES` overrides the number outside of Miri.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = if cfg!(miri) { 1 } else { asked.unwrap_or(count) };
    // No file of old failures: it would depend on the current folder, and the printed case is enough.
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A cipher, for properties of all ciphers.
pub(crate) trait PropertyCipher: FromKey {
    /// Prepares a key. The backend must be available, and the key must have one of the cipher's lengths.
    fn prepare(backend: Backend, key: &[u8]) -> Self {
        Self::with_backend(key, backend).expect("an available backend and a key of the right length")
    }
}

impl<C: FromKey> PropertyCipher for C {}

/// Calls a generic function for Rijndael of each block length.
macro_rules! for_every_block {
    ($call:ident($($argument:expr),*)) => {
        $call::<Rijndael<16>>($($argument),*);
        $call::<Rijndael<20>>($($argument),*);
        $call::<Rijndael<24>>($($argument),*);
        $call::<Rijndael<28>>($($argument),*);
        $call::<Rijndael<32>>($($argument),*);
    };
}

pub(crate) use for_every_block;

/// Defines a test for each of these generic functions, with this cipher.
macro_rules! tests {
    ($module:ident, $cipher:ty: $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                $crate::properties::$module::$name::<$cipher>();
            }
        )*
    };
}

pub(crate) use tests;

/// The available backends. Miri supports no instructions beyond the baseline.
pub(crate) fn backends<C: PropertyCipher>() -> Vec<Backend> {
    let portable = |backend| matches!(backend, Backend::Reference | Backend::Portable);
    C::BACKENDS
        .iter()
        .copied()
        .filter(|backend| backend.is_available() && (!cfg!(miri) || portable(*backend)))
        .collect()
}

/// The backends to compare with the reference.
pub(crate) fn backends_to_compare<C: PropertyCipher>() -> Vec<Backend> {
    backends::<C>().into_iter().filter(|backend| *backend != Backend::Reference).collect()
}

pub(crate) fn aes(backend: Backend, key: &[u8]) -> Aes {
    Aes::with_backend(key, backend).expect("an available backend and a key of an AES length")
}

/// A deterministic source of bytes, so that a failing case only has to print its seed.
pub(crate) struct SeededBytes(fastrand::Rng);

impl SeededBytes {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0.u64(..)
    }

    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.fill(&mut bytes);
        bytes
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }
}

/// Lengths of 0 to 8 bytes, and of a block, a vector, a flight of vectors and a page, each also minus one and plus one.
pub(crate) const EDGES: [usize; 33] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023,
    1024, 1025, 4095, 4096, 4097,
];

/// All edge lengths, or a few of them under Miri.
pub(crate) fn edges() -> impl Iterator<Item = usize> {
    EDGES.into_iter().filter(|length| !cfg!(miri) || matches!(length, 0 | 1 | 15 | 16 | 17 | 33))
}

pub(crate) fn any_length() -> impl Strategy<Value = usize> {
    let longest: usize = if cfg!(miri) { 40 } else { 6000 };
    prop_oneof![prop::sample::select(edges().collect::<Vec<_>>()), 0..longest.min(80), 0..longest,]
}

pub(crate) fn any_key_bytes<C: PropertyCipher>() -> impl Strategy<Value = usize> {
    prop::sample::select(C::KEY_BYTES)
}

pub(crate) fn any_tag_bytes() -> impl Strategy<Value = usize> {
    (2..=8_usize).prop_map(|half| 2 * half)
}

/// A counter block: any, or one with a long carry within its first few hundred blocks.
pub(crate) fn any_counter() -> impl Strategy<Value = [u8; 16]> {
    (any::<[u8; 16]>(), 0..=16_usize, 0..600_u128).prop_map(|(block, ones, before)| {
        let mut block = block;
        block[16 - ones..].fill(0xff);
        let near = u128::from_be_bytes(block);
        if ones == 0 { block } else { near.wrapping_sub(before).to_be_bytes() }
    })
}

/// A buffer whose contents start `offset` bytes after a multiple of 64, with guards around them.
pub(crate) struct GuardedBuffer {
    buffer: Vec<u8>,
    start: usize,
    length: usize,
}

const GUARD: u8 = 0xa5;

impl GuardedBuffer {
    pub(crate) fn new(contents: &[u8], offset: usize) -> GuardedBuffer {
        let mut buffer = vec![GUARD; contents.len() + 64 + 64 + 64];
        let to_aligned = (64 - buffer.as_ptr().addr() % 64) % 64;
        let start = to_aligned + offset % 64;
        buffer[start..start + contents.len()].copy_from_slice(contents);
        GuardedBuffer { buffer, start, length: contents.len() }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.start + self.length]
    }

    /// Returns the contents, after checking that the guards are unchanged.
    pub(crate) fn finish(self) -> Vec<u8> {
        let end = self.start + self.length;
        let around = self.buffer[..self.start].iter().chain(&self.buffer[end..]);
        assert!(around.copied().all(|byte| byte == GUARD), "bytes outside of the buffer were written");
        self.buffer[self.start..end].to_vec()
    }
}

/// Splits one buffer into slices with gaps of the given lengths before each.
pub(crate) fn carve(buffer: &mut [u8], gaps_and_lengths: impl IntoIterator<Item = (usize, usize)>) -> Vec<&mut [u8]> {
    let mut rest = buffer;
    let mut slices = Vec::new();
    for (gap, length) in gaps_and_lengths {
        let (slice, after) = std::mem::take(&mut rest)[gap..].split_at_mut(length);
        slices.push(slice);
        rest = after;
    }
    slices
}
