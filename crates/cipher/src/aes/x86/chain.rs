//! One message: the serial chain of CBC and of CCM's MAC, on 128-bit registers.

use core::arch::x86_64::*;

use super::*;
use crate::engine::{SLOT_NUMBERS, increment};

#[inline(always)]
unsafe fn load(block: &[u8]) -> __m128i {
    debug_assert!(block.len() >= 16);
    // SAFETY: SSE2 is part of x86-64; the caller passes at least 16 bytes.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

/// # Safety
/// The machine needs AES-NI.
#[inline(always)]
pub(super) unsafe fn encrypt_block(keys: &Keys, block: &mut Block) {
    // SAFETY: the caller vouches for AES-NI; a block has 16 bytes.
    unsafe {
        let mut x = [[load(block)]];
        encrypt(keys.rounds, |round, _| keys.encryption(round), &mut x);
        _mm_storeu_si128(block.as_mut_ptr().cast(), x[0][0]);
    }
}

/// A CBC chain between two of its calls, with the first key already added: so one AESENC after the other is all that
/// its latency is made of. The last round's key, the next input and the first key are added outside the chain and
/// come in as the key of AESENCLAST.
struct Chain<'a> {
    keys: &'a Keys,
    /// The last round key XOR the first.
    border: __m128i,
    state: __m128i,
}

impl<'a> Chain<'a> {
    #[inline(always)]
    unsafe fn start(keys: &'a Keys, state: &Block, first: __m128i) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let border = _mm_xor_si128(keys.encryption(keys.rounds), keys.encryption(0));
            let state = _mm_xor_si128(_mm_xor_si128(load(state), keys.encryption(0)), first);
            Chain { keys, border, state }
        }
    }

    /// All rounds but the last.
    #[inline(always)]
    unsafe fn rounds(&mut self) {
        for round in 1..self.keys.rounds {
            // SAFETY: the caller vouches for AES-NI.
            self.state = unsafe { _mm_aesenc_si128(self.state, self.keys.encryption(round)) };
        }
    }

    /// The whole cipher call, then the next input.
    #[inline(always)]
    unsafe fn next(&mut self, input: __m128i) {
        // SAFETY: the caller vouches for AES-NI.
        unsafe {
            self.rounds();
            self.state = _mm_aesenclast_si128(self.state, _mm_xor_si128(self.border, input));
        }
    }

    #[inline(always)]
    unsafe fn finish(mut self, state: &mut Block) {
        // SAFETY: the caller vouches for AES-NI; a block has 16 bytes.
        unsafe {
            self.rounds();
            let last = self.keys.encryption(self.keys.rounds);
            _mm_storeu_si128(state.as_mut_ptr().cast(), _mm_aesenclast_si128(self.state, last));
        }
    }
}

/// Registers of key stream made at a time: enough work to fill the chain's latency.
const AHEAD: usize = 2;

/// CCM over whole blocks. The key stream of one group of blocks is computed while the chain of the group before it runs:
/// the two do not depend on each other, so the processor overlaps them.
///
/// # Safety
/// The machine needs the instructions of `R` and AES-NI.
#[inline(always)]
pub(super) unsafe fn ccm_blocks<R: Register>(
    keys: &Keys,
    mac: &mut Block,
    counter: &mut Block,
    data: &mut [u8],
    direction: Direction,
) {
    let group_bytes = AHEAD * 16 * R::SLOTS;
    let (groups, rest) = data.split_at_mut(data.len() / group_bytes * group_bytes);
    if !groups.is_empty() {
        // SAFETY: the caller vouches for the instructions; all addresses are inside the group at hand.
        unsafe {
            // The chain starts with the first input added, so `first` says that there is none to be finished yet.
            let mut chain: Option<Chain<'_>> = None;
            let order = R::splat(load(counter)).reverse().add64(R::load(SLOT_NUMBERS.as_ptr().cast()));
            let mut counters: [R; AHEAD] = core::array::from_fn(|i| {
                order.add64(R::splat(_mm_set_epi64x(0, (i * R::SLOTS) as i64)))
            });
            let step = R::splat(_mm_set_epi64x(0, (AHEAD * R::SLOTS) as i64));
            for group in groups.chunks_exact_mut(group_bytes) {
                let mut x = [counters.map(|c| c.reverse())];
                counters = counters.map(|c| c.add64(step));
                encrypt(keys.rounds, |round, _| R::splat(keys.encryption(round)), &mut x);
                if direction == Direction::Encrypt {
                    feed(&mut chain, keys, mac, group);
                }
                for (i, key_stream) in x[0].into_iter().enumerate() {
                    let bytes = group.as_mut_ptr().add(i * 16 * R::SLOTS);
                    R::load(bytes).xor(key_stream).store(bytes);
                }
                if direction == Direction::Decrypt {
                    feed(&mut chain, keys, mac, group);
                }
            }
            if let Some(chain) = chain {
                chain.finish(mac);
            }
            // The first slot of the first register is the next counter.
            let mut next = [0; 64];
            counters[0].reverse().store(next.as_mut_ptr());
            counter.copy_from_slice(&next[..16]);
        }
    }
    for block in rest.chunks_exact_mut(16) {
        let mut key_stream = *counter;
        increment(counter);
        // SAFETY: the caller vouches for AES-NI.
        unsafe { encrypt_block(keys, &mut key_stream) };
        for i in 0..16 {
            let out = block[i] ^ key_stream[i];
            mac[i] ^= if direction == Direction::Encrypt { block[i] } else { out };
            block[i] = out;
        }
        // SAFETY: as above.
        unsafe { encrypt_block(keys, mac) };
    }
}

/// Feeds whole blocks to the chain, which the first of them starts.
#[inline(always)]
unsafe fn feed<'a>(chain: &mut Option<Chain<'a>>, keys: &'a Keys, mac: &Block, blocks: &[u8]) {
    for block in blocks.chunks_exact(16) {
        // SAFETY: the caller vouches for AES-NI; a block has 16 bytes.
        unsafe {
            match chain {
                Some(chain) => chain.next(load(block)),
                None => *chain = Some(Chain::start(keys, mac, load(block))),
            }
        }
    }
}

/// # Safety
/// The machine needs AES-NI.
#[inline(always)]
pub(super) unsafe fn cbc_encrypt_blocks(keys: &Keys, chain: &mut Block, data: &mut [u8]) {
    // SAFETY: the caller vouches for AES-NI; all addresses are inside the block at hand.
    unsafe {
        let first = keys.encryption(0);
        let last = keys.encryption(keys.rounds);
        // Ciphertext XOR the first key.
        let mut state = _mm_xor_si128(load(chain), first);
        for block in data.chunks_exact_mut(16) {
            let mut x = _mm_xor_si128(state, load(block));
            for round in 1..keys.rounds {
                x = _mm_aesenc_si128(x, keys.encryption(round));
            }
            _mm_storeu_si128(block.as_mut_ptr().cast(), _mm_aesenclast_si128(x, last));
            state = _mm_aesenclast_si128(x, _mm_xor_si128(last, first));
        }
        _mm_storeu_si128(chain.as_mut_ptr().cast(), _mm_xor_si128(state, first));
    }
}
