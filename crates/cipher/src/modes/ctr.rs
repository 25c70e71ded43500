//! Counter mode (SP 800-38A section 6.5) with a big-endian counter.
//!
//! The counter is the whole block, which wraps from ff…ff to 00…00. Ciphers with a shorter one
//! ([`BlockCipher::COUNTER_BYTES`]: the last bytes of the block, after a nonce) refuse to run past its end.

use super::{BlockOf, Parallel, initial, parallel, vector_bytes};
use crate::engine::{Core, Engine, Nothing, Operation, increment_by};
use crate::{BlockCipher, Error};

/// Encrypts or decrypts data of any length in place. `counter` is the first counter block. No counter block may ever be
/// used twice with a key.
pub fn apply<C: BlockCipher>(cipher: &C, counter: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let counter: BlockOf<C> = initial(counter)?;
    if blocks_left::<C>(&counter).is_some_and(|left| data.len().div_ceil(C::BLOCK_BYTES) as u64 > left) {
        return Err(Error::CounterExhausted);
    }
    cipher.core().run(Ctr { counter, data });
    Ok(())
}

/// How many counter blocks there are from `counter` on, itself among them; `None` if they never end.
fn blocks_left<C: BlockCipher>(counter: &BlockOf<C>) -> Option<u64> {
    if C::COUNTER_BYTES == C::BLOCK_BYTES {
        return None;
    }
    let number = &counter.as_ref()[C::BLOCK_BYTES - C::COUNTER_BYTES..];
    let used = number.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    Some((1 << (8 * C::COUNTER_BYTES)) - used)
}

struct Ctr<'a, B> {
    counter: B,
    data: &'a mut [u8],
}

impl<C: Core> Operation<C> for Ctr<'_, C::Block> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys)
    where
        E: Engine<Cipher = C, Block = C::Block>,
    {
        parallel::<E, _, FLIGHT, BLOCKS>(Counter(self.counter), engine, keys, self.data);
    }
}

/// The next counter.
struct Counter<B>(B);

impl<E: Engine, const BLOCKS: usize> Parallel<E, BLOCKS> for Counter<E::Block> {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::Keys, bytes: &mut [u8]) {
        let mut key_stream = [engine.counters::<N>(&self.0)];
        increment_by(self.0.as_mut(), (N * E::SLOTS) as u64);
        engine.encrypt(keys, &mut key_stream, &mut Nothing);
        let (size, [key_stream]) = (vector_bytes::<E>(), key_stream);
        let bytes = &mut bytes[..N * size];
        for i in 0..N {
            engine.add_to(key_stream[i], &mut bytes[size * i..][..size]);
        }
    }
}
