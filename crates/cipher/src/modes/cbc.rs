//! Cipher block chaining (SP 800-38A section 6.2).
//!
//! Encrypting one message is serial; [`crate::lanes::cbc`] encrypts many at once. Decryption is parallel.

use super::ecb::whole_blocks;
use super::{Parallel, load, parallel, store, xor};
use crate::aes::Aes;
use crate::engine::{Engine, MAX_GROUPS, MAX_SLOTS, Operation};
use crate::{Block, Error};

/// Encrypts whole blocks in place. `iv` has 16 bytes that nobody could predict.
pub fn encrypt(cipher: &Aes, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let chain = iv.try_into().map_err(|_| Error::IvLength)?;
    whole_blocks(data)?;
    cipher.run(Encrypt { chain, data });
    Ok(())
}

/// Decrypts whole blocks in place. `iv` has 16 bytes.
pub fn decrypt(cipher: &Aes, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let chain = iv.try_into().map_err(|_| Error::IvLength)?;
    whole_blocks(data)?;
    cipher.run(Decrypt { chain, data });
    Ok(())
}

struct Encrypt<'a> {
    chain: Block,
    data: &'a mut [u8],
}

impl<C> Operation<C> for Encrypt<'_> {
    type Output = ();

    #[inline(always)]
    fn call<E: Engine<Cipher = C>, const FLIGHT: usize>(mut self, engine: E, keys: &E::Keys) {
        engine.cbc_encrypt_blocks(keys, &mut self.chain, self.data);
    }
}

struct Decrypt<'a> {
    chain: Block,
    data: &'a mut [u8],
}

impl<C> Operation<C> for Decrypt<'_> {
    type Output = ();

    #[inline(always)]
    fn call<E: Engine<Cipher = C>, const FLIGHT: usize>(self, engine: E, keys: &E::Keys) {
        parallel::<E, _, FLIGHT>(Chain(self.chain), engine, keys, self.data);
    }
}

/// The ciphertext block before the next one.
struct Chain(Block);

impl<E: Engine> Parallel<E> for Chain {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::Keys, bytes: &mut [u8]) {
        // The ciphertext moved on by one block: what is added to each decrypted block.
        let mut before = [0; 16 * MAX_SLOTS * MAX_GROUPS];
        let before = &mut before[..bytes.len()];
        before[..16].copy_from_slice(&self.0);
        before[16..].copy_from_slice(&bytes[..bytes.len() - 16]);
        self.0.copy_from_slice(&bytes[bytes.len() - 16..]);
        let mut x = load::<E, N>(engine, bytes);
        engine.decrypt(keys, &mut x);
        let before = load(engine, before);
        xor(engine, &mut x, &before);
        store(engine, x, bytes);
    }
}
