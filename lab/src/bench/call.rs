//! The input of one call of a cipher in a mode: how many messages, their lengths and places in the buffer, and their keys.

use std::mem;
use std::sync::LazyLock;

use tress_cipher::CcmCipher;
use tress_cipher::catalogue::{Cipher, FromKey, Mode, WithCipher};
use tress_peers::{Direction, NONCE_BYTES, TAG_BYTES};

const KEY: [u8; 32] = *b"thirty-two bytes of a key, or 16";
const IV: [u8; 32] = [0x5a; 32];

/// How the messages of a call differ from those of the usual call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One length, one key, 16 bytes (the size of a tag) between messages.
    Usual,
    /// More room between messages, so that no two lanes share a set of the first-level cache.
    Spread,
    KeyEach,
    /// Equal numbers of messages of three lengths, whose mean is that of the call.
    Mixed,
    MixedKeyEach,
    /// One message after the other, where the usual call uses lanes.
    OneAtATime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) cipher: &'static Cipher,
    pub(crate) mode: Mode,
    pub(crate) direction: Direction,
    pub(crate) lanes: usize,
    pub(crate) message_bytes: usize,
    pub(crate) shape: Shape,
    /// Registers of a row of CCM's lanes; 0 for the usual number ([`tress_cipher::cpu::set_ccm_registers`]).
    pub(crate) registers: u8,
}

impl Shape {
    pub(crate) const MIXED_BYTES: [usize; 3] = [64, 576, 1500];
    pub(crate) const MIXED_MESSAGES: usize = 540;
}

/// Equal numbers of each length, in a fixed order (Knuth's MMIX generator, shuffled by Fisher and Yates's method).
static MIXED: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut lengths: Vec<usize> = Shape::MIXED_BYTES.into_iter().cycle().take(Shape::MIXED_MESSAGES).collect();
    let mut state = 1u64;
    for last in (1..lengths.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lengths.swap(last, (state >> 33) as usize % (last + 1));
    }
    lengths
});

impl Call {
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.cipher.name, self.mode.name())
    }

    /// Length of each message, where they differ.
    fn lengths(&self) -> &'static [usize] {
        if matches!(self.shape, Shape::Mixed | Shape::MixedKeyEach) { &MIXED } else { &[] }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self.lengths() {
            [] => self.lanes * self.message_bytes,
            lengths => lengths.iter().sum(),
        }
    }

    /// Bytes between a message and the next: a tag, also in modes without tags, which spreads messages over the sets of the
    /// first-level cache.
    fn gap_bytes(&self) -> usize {
        if self.shape == Shape::Spread { 64 } else { TAG_BYTES }
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
        self.bytes() + self.lanes * self.gap_bytes()
    }

    /// Offset and length of each message in a buffer.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (lengths, usual, gap_bytes) = (self.lengths(), self.message_bytes, self.gap_bytes());
        let mut next = 0;
        (0..self.lanes).map(move |number| {
            let (start, bytes) = (next, lengths.get(number).copied().unwrap_or(usual));
            next += bytes + gap_bytes;
            (start, bytes)
        })
    }

    /// Every message of a buffer, with its number and its tag.
    pub(crate) fn messages<'a>(
        &self,
        mut buffer: &'a mut [u8],
    ) -> impl Iterator<Item = (usize, &'a mut [u8], &'a mut [u8])> + use<'a> {
        let gap_bytes = self.gap_bytes();
        self.offsets().enumerate().map(move |(number, (_, bytes))| {
            let (message, after) = mem::take(&mut buffer).split_at_mut(bytes + gap_bytes);
            buffer = after;
            let (data, gap_bytes) = message.split_at_mut(bytes);
            (number, data, &mut gap_bytes[..TAG_BYTES])
        })
    }

    /// Calls `work` for one message after the other, with its number, data and tag. A single message bypasses the
    /// iterator, which would be a tenth of the time of 64 bytes.
    #[inline]
    pub(crate) fn for_each_message<E>(
        &self,
        buffer: &mut [u8],
        mut one: impl FnMut(usize, &mut [u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.lanes == 1 {
            let (data, gap_bytes) = buffer.split_at_mut(self.message_bytes);
            return one(0, data, &mut gap_bytes[..TAG_BYTES]);
        }
        self.messages(buffer).try_for_each(|(number, data, tag)| one(number, data, tag))
    }

    /// A key for each message, or one for all of them.
    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        let key = |number: usize| {
            let mut key = KEY[..self.cipher.key_bytes].to_vec();
            key[0] ^= number as u8;
            key
        };
        let count = if matches!(self.shape, Shape::KeyEach | Shape::MixedKeyEach) { self.lanes } else { 1 };
        (0..count).map(key).collect()
    }

    pub(crate) fn nonces(&self) -> Vec<[u8; NONCE_BYTES]> {
        let nonce = |number: usize| {
            let mut nonce = [IV[0]; NONCE_BYTES];
            nonce[4..].copy_from_slice(&(number as u64).to_be_bytes());
            nonce
        };
        (0..self.lanes).map(nonce).collect()
    }

    /// The initialisation vector, or the first counter block. Counters that are shorter than a block start at 0.
    pub(crate) fn iv(&self) -> Vec<u8> {
        let (block_bytes, counter_bytes) = (self.cipher.block_bytes, counter_bytes(self.cipher));
        let mut iv = if self.mode == Mode::Ecb { Vec::new() } else { IV[..block_bytes].to_vec() };
        if self.mode == Mode::Ctr && counter_bytes < block_bytes {
            iv[block_bytes - counter_bytes..].fill(0);
        }
        iv
    }

    /// Bytes of the longest message in CTR, where the counter is shorter than a block.
    pub(crate) fn max_ctr_bytes(&self) -> Option<usize> {
        let (block_bytes, counter_bytes) = (self.cipher.block_bytes, counter_bytes(self.cipher));
        if counter_bytes < block_bytes { block_bytes.checked_shl(8 * counter_bytes as u32) } else { None }
    }

    /// Whether our messages go through lanes: each message is a chain, and there are several.
    pub(crate) fn in_lanes(&self) -> bool {
        has_lanes(self.mode, self.direction) && self.lanes > 1 && self.shape != Shape::OneAtATime
    }
}

/// Whether the mode chains the blocks of a message, so that many messages are done in lanes.
pub(crate) fn has_lanes(mode: Mode, direction: Direction) -> bool {
    match mode {
        Mode::Ccm => true,
        Mode::Cbc => direction == Direction::Encrypt,
        Mode::Ecb | Mode::Ctr => false,
    }
}

fn counter_bytes(cipher: &Cipher) -> usize {
    struct CounterBytes;

    impl WithCipher for CounterBytes {
        type Output = usize;

        fn block<C: FromKey>(self) -> usize {
            C::COUNTER_BYTES
        }

        fn ccm<C: FromKey + CcmCipher>(self) -> usize {
            C::COUNTER_BYTES
        }
    }

    cipher.with(CounterBytes)
}
