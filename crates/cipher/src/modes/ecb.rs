//! Electronic codebook (SP 800-38A section 6.1).

use super::{Parallel, load, parallel, store};
use crate::Error;
use crate::aes::Aes;
use crate::engine::{Direction, Engine, Nothing, Operation};

/// Encrypts whole blocks, each on its own.
pub fn encrypt(cipher: &Aes, data: &mut [u8]) -> Result<(), Error> {
    whole_blocks(data)?;
    cipher.run(Ecb::encrypt(data));
    Ok(())
}

/// Decrypts whole blocks, each on its own.
pub fn decrypt(cipher: &Aes, data: &mut [u8]) -> Result<(), Error> {
    whole_blocks(data)?;
    cipher.run(Ecb::decrypt(data));
    Ok(())
}

/// `DataLength` unless `data` is a whole number of blocks.
pub(crate) fn whole_blocks(data: &[u8]) -> Result<(), Error> {
    if data.len().is_multiple_of(16) { Ok(()) } else { Err(Error::DataLength) }
}

/// ECB over whole blocks.
pub(crate) struct Ecb<'a> {
    data: &'a mut [u8],
    direction: Direction,
}

impl<'a> Ecb<'a> {
    pub(crate) fn encrypt(data: &'a mut [u8]) -> Self {
        Ecb { data, direction: Direction::Encrypt }
    }

    pub(crate) fn decrypt(data: &'a mut [u8]) -> Self {
        Ecb { data, direction: Direction::Decrypt }
    }
}

impl<C> Operation<C> for Ecb<'_> {
    type Output = ();

    #[inline(always)]
    fn call<E: Engine<Cipher = C>, const FLIGHT: usize>(self, engine: E, keys: &E::Keys) {
        ecb::<E, FLIGHT>(engine, keys, self.data, self.direction);
    }
}

/// ECB over whole blocks.
#[inline(always)]
pub(crate) fn ecb<E: Engine, const FLIGHT: usize>(engine: E, keys: &E::Keys, data: &mut [u8], direction: Direction) {
    match direction {
        Direction::Encrypt => parallel::<E, _, FLIGHT>(Encrypt, engine, keys, data),
        Direction::Decrypt => parallel::<E, _, FLIGHT>(Decrypt, engine, keys, data),
    }
}

struct Encrypt;
struct Decrypt;

impl<E: Engine> Parallel<E> for Encrypt {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::Keys, bytes: &mut [u8]) {
        let mut x = [load::<E, N>(engine, bytes)];
        engine.encrypt(keys, &mut x, &mut Nothing);
        store(engine, x[0], bytes);
    }
}

impl<E: Engine> Parallel<E> for Decrypt {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::Keys, bytes: &mut [u8]) {
        let mut x = load::<E, N>(engine, bytes);
        engine.decrypt(keys, &mut x);
        store(engine, x, bytes);
    }
}
