//! CBC and CCM of one message: the serial chain, on 128-bit registers.

use core::arch::x86_64::*;

use super::*;
use crate::engine::increment;

#[inline(always)]
unsafe fn load(block: &[u8]) -> __m128i {
    debug_assert!(block.len() >= 16);
    // SAFETY: SSE2 is part of x86-64; the caller passes at least 16 bytes.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

/// # Safety
/// The machine must have AES-NI.
#[inline(always)]
pub(super) unsafe fn encrypt_block(keys: &RoundKeys<Block>, block: &mut Block) {
    // SAFETY: the caller guarantees AES-NI; a block has 16 bytes, and the accesses need no alignment.
    unsafe {
        let mut x = [[load(block)]];
        encrypt(keys, &mut x, &mut NoInterleave);
        _mm_storeu_si128(block.as_mut_ptr().cast(), x[0][0]);
    }
}

/// A CBC chain whose last AESENCLAST is still to come. The last round key, the next input and the first round key are added outside
/// the chain and become the key of that instruction. So the latency of the chain is that of its AES instructions alone.
struct CbcChain<'a> {
    keys: &'a RoundKeys<Block>,
    /// The last round key XOR the first.
    last_xor_first_key: __m128i,
    state: __m128i,
}

impl<'a> CbcChain<'a> {
    /// # Safety
    /// The machine must have AES-NI, here and below.
    #[inline(always)]
    unsafe fn start(keys: &'a RoundKeys<Block>, chain: &Block) -> Self {
        // SAFETY: the caller guarantees AES-NI.
        unsafe {
            let last = keys.register(keys.rounds());
            // The state from which AESENCLAST computes `chain`.
            let state = _mm_aesdeclast_si128(_mm_xor_si128(load(chain), last), _mm_setzero_si128());
            CbcChain { keys, last_xor_first_key: _mm_xor_si128(last, keys.register(0)), state }
        }
    }

    /// Ends the last round of a block, adds `input`, and runs all rounds except the last.
    #[inline(always)]
    unsafe fn next(&mut self, input: __m128i) {
        // SAFETY: the caller guarantees AES-NI.
        unsafe {
            self.state = _mm_aesenclast_si128(self.state, _mm_xor_si128(self.last_xor_first_key, input));
            for round in 1..self.keys.rounds() {
                self.state = _mm_aesenc_si128(self.state, self.keys.register(round));
            }
        }
    }

    /// Chains whole blocks.
    #[inline(always)]
    unsafe fn feed(&mut self, blocks: &[u8]) {
        for block in blocks.chunks_exact(16) {
            // SAFETY: the caller guarantees AES-NI.
            unsafe { self.next(load(block)) };
        }
    }

    #[inline(always)]
    unsafe fn finish(self, chain: &mut Block) {
        // SAFETY: the caller guarantees AES-NI; a block has 16 bytes.
        unsafe {
            let last = self.keys.register(self.keys.rounds());
            _mm_storeu_si128(chain.as_mut_ptr().cast(), _mm_aesenclast_si128(self.state, last));
        }
    }
}

#[repr(align(64))]
struct CacheAligned<T>(T);

/// Number of registers of key stream computed at a time: enough to fill the latency of the chain.
const AHEAD: usize = 2;

/// CCM over whole blocks. The key stream of one group of blocks is computed while the chain of the group before it runs:
/// the two do not depend on each other, so the processor overlaps them.
///
/// # Safety
/// The machine must have the instructions of `R` and AES-NI.
#[inline(always)]
pub(super) unsafe fn ccm_blocks<R: BlockRegister>(
    keys: &RoundKeys<Block>,
    mac: &mut Block,
    counter: &mut Block,
    data: &mut [u8],
    direction: CipherDirection,
) {
    let group_bytes = AHEAD * 16 * R::SLOTS;
    let (groups, rest) = data.split_at_mut(data.len() / group_bytes * group_bytes);
    if !groups.is_empty() {
        // SAFETY: the caller guarantees the instructions. All addresses are inside the current group, and the accesses need no
        // alignment.
        unsafe {
            let order = R::splat(load(counter)).reverse().add64(R::load(SLOT_NUMBERS.as_ptr().cast()));
            let mut counters = [order; AHEAD];
            for (i, counter) in counters.iter_mut().enumerate() {
                *counter = order.add64(R::splat(_mm_set_epi64x(0, (i * R::SLOTS) as i64)));
            }
            let step = R::splat(_mm_set_epi64x(0, (AHEAD * R::SLOTS) as i64));
            let mut chain = CbcChain::start(keys, mac);
            // The plaintext of this group of blocks and of the one before, over which the chain runs while the key stream of this
            // one is computed. Aligned, so that blocks can be read from stored registers by store forwarding.
            let mut plain = CacheAligned([[0; 16 * AHEAD * MAX_SLOTS]; 2]);
            for (number, group) in groups.chunks_exact_mut(group_bytes).enumerate() {
                let mut x = [counters];
                for i in 0..AHEAD {
                    x[0][i] = counters[i].reverse();
                    counters[i] = counters[i].add64(step);
                }
                encrypt(keys, &mut x, &mut NoInterleave);
                for i in 0..AHEAD {
                    let bytes = group.as_mut_ptr().add(i * 16 * R::SLOTS);
                    let input = R::load(bytes);
                    let output = input.xor(x[0][i]);
                    output.store(bytes);
                    let plain = plain.0[number % 2].as_mut_ptr().add(i * 16 * R::SLOTS);
                    if direction == CipherDirection::Encrypt { input.store(plain) } else { output.store(plain) }
                }
                if number > 0 {
                    chain.feed(&plain.0[(number + 1) % 2][..group_bytes]);
                }
            }
            chain.feed(&plain.0[(groups.len() / group_bytes + 1) % 2][..group_bytes]);
            chain.finish(mac);
            plain.0.as_flattened_mut().zeroize();
            // The first slot of the first register is the next counter.
            let mut next = [0; 64];
            counters[0].reverse().store(next.as_mut_ptr());
            counter.copy_from_slice(&next[..16]);
        }
    }
    for block in rest.chunks_exact_mut(16) {
        let mut key_stream = *counter;
        increment(counter);
        // SAFETY: the caller guarantees AES-NI.
        unsafe { encrypt_block(keys, &mut key_stream) };
        for i in 0..16 {
            let out = block[i] ^ key_stream[i];
            mac[i] ^= if direction == CipherDirection::Encrypt { block[i] } else { out };
            block[i] = out;
        }
        // SAFETY: the caller guarantees AES-NI.
        unsafe { encrypt_block(keys, mac) };
    }
}

/// # Safety
/// The machine must have AES-NI.
#[inline(always)]
pub(super) unsafe fn cbc_encrypt_blocks(keys: &RoundKeys<Block>, chain: &mut Block, data: &mut [u8]) {
    // SAFETY: the caller guarantees AES-NI. All addresses are inside the current block, and the accesses need no alignment.
    unsafe {
        let first = keys.register(0);
        let last = keys.register(keys.rounds());
        // The ciphertext XOR the first round key.
        let mut state = _mm_xor_si128(load(chain), first);
        for block in data.chunks_exact_mut(16) {
            let mut x = _mm_xor_si128(state, load(block));
            for round in 1..keys.rounds() {
                x = _mm_aesenc_si128(x, keys.register(round));
            }
            _mm_storeu_si128(block.as_mut_ptr().cast(), _mm_aesenclast_si128(x, last));
            state = _mm_aesenclast_si128(x, _mm_xor_si128(last, first));
        }
        _mm_storeu_si128(chain.as_mut_ptr().cast(), _mm_xor_si128(state, first));
    }
}
