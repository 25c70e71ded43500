//! Counter mode (SP 800-38A section 6.5) with a counter that is the whole block, big-endian.

use super::{Parallel, load, parallel, store, xor};
use crate::Error;
use crate::aes::Aes;
use crate::engine::{Engine, Nothing, Operation, SLOT_NUMBERS};

/// Encrypts or decrypts data of any length in place. `counter` is the first counter block, 16 bytes; it wraps from
/// ff…ff to 00…00. No counter block may ever be used twice with a key.
pub fn apply(cipher: &Aes, counter: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let counter = u128::from_be_bytes(counter.try_into().map_err(|_| Error::IvLength)?);
    cipher.run(Ctr { counter, data });
    Ok(())
}

struct Ctr<'a> {
    counter: u128,
    data: &'a mut [u8],
}

impl<C> Operation<C> for Ctr<'_> {
    type Output = ();

    #[inline(always)]
    fn call<E: Engine<Cipher = C>, const FLIGHT: usize>(self, engine: E, keys: &E::Keys) {
        parallel::<E, _, FLIGHT>(Counter(self.counter), engine, keys, self.data);
    }
}

/// The next counter.
struct Counter(u128);

impl<E: Engine> Parallel<E> for Counter {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::Keys, bytes: &mut [u8]) {
        let mut key_stream = [counters::<E, N>(engine, self.0)];
        self.0 = self.0.wrapping_add((N * E::SLOTS) as u128);
        engine.encrypt(keys, &mut key_stream, &mut Nothing);
        xor(engine, &mut key_stream[0], &load(engine, bytes));
        let [output] = key_stream;
        store(engine, output, bytes);
    }
}

/// Counter blocks from `first`.
#[inline(always)]
fn counters<E: Engine, const N: usize>(engine: E, first: u128) -> [E::Vector; N] {
    let numbers = engine.load(SLOT_NUMBERS[..E::SLOTS].as_flattened());
    let step = engine.splat(&(E::SLOTS as u128).to_le_bytes());
    let mut next = engine.add64(engine.splat(&first.to_le_bytes()), numbers);
    let mut vectors = [next; N];
    if first as u64 <= u64::MAX - (N * E::SLOTS) as u64 {
        for vector in &mut vectors {
            *vector = engine.reverse(next);
            next = engine.add64(next, step);
        }
    } else {
        // A carry into the upper half, once in 2^64 blocks.
        for (i, vector) in vectors.iter_mut().enumerate() {
            let mut blocks = SLOT_NUMBERS;
            for (slot, block) in blocks.iter_mut().enumerate() {
                *block = first.wrapping_add((i * E::SLOTS + slot) as u128).to_be_bytes();
            }
            *vector = engine.load(blocks[..E::SLOTS].as_flattened());
        }
    }
    vectors
}
