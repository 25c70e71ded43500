//! Cipher block chaining (SP 800-38A section 6.2).
//!
//! Encryption of one message is serial; [`crate::lanes::cbc`] encrypts many in parallel. Decryption is parallel.
//!
//! ```
//! use tress_cipher::{aes::Aes, modes::{cbc, pkcs7}};
//!
//! let (cipher, iv) = (Aes::new(&[7; 16])?, [1; 16]);
//! let mut data = b"a message".to_vec();
//! let padding = pkcs7::padding(data.len(), 16);
//! data.resize(data.len() + padding, padding as u8);
//! cbc::encrypt(&cipher, &iv, &mut data)?;
//!
//! cbc::decrypt(&cipher, &iv, &mut data)?;
//! data.truncate(pkcs7::unpad(&data, 16)?);
//! assert_eq!(data, b"a message");
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use super::{BlockOf, ParallelMode, check_whole_blocks, iv_block, load, run_parallel, store, vector_bytes};
use crate::block::{BlockBytes, flat_mut};
use crate::engine::{Engine, KeyBuffer, Operation};
use crate::operation::{Modes, OneCbcDecrypt, OneCbcEncrypt};
use crate::{BlockCipher, Error};

/// Encrypts whole blocks in place. `iv` is one block, which must be unpredictable.
///
/// # Errors
/// `IvLength` and `DataLength`.
pub fn encrypt<C: BlockCipher>(cipher: &C, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let chain: BlockOf<C> = iv_block(iv)?;
    check_whole_blocks::<C>(data)?;
    cipher.core().cbc_encrypt(OneCbcEncrypt { chain, data });
    Ok(())
}

/// Decrypts whole blocks in place. `iv` is one block.
///
/// # Errors
/// `IvLength` and `DataLength`.
pub fn decrypt<C: BlockCipher>(cipher: &C, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let chain: BlockOf<C> = iv_block(iv)?;
    check_whole_blocks::<C>(data)?;
    cipher.core().cbc_decrypt(OneCbcDecrypt { chain, data });
    Ok(())
}

impl<B: BlockBytes> Operation<B> for OneCbcEncrypt<'_, B> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(mut self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = B>,
    {
        engine.cbc_encrypt_blocks(keys, &mut self.chain, self.data);
    }
}

impl<B: BlockBytes> Operation<B> for OneCbcDecrypt<'_, B> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = B>,
    {
        if !engine.cbc_decrypt(keys, &self.chain, self.data) {
            let mut buffer = KeyBuffer::EMPTY;
            let keys = engine.inverse_keys(keys, &mut buffer);
            run_parallel::<E, _, FLIGHT, BLOCKS>(CbcDecryption(self.chain), engine, keys, self.data);
        }
    }
}

/// The ciphertext block before the next flight.
struct CbcDecryption<B>(B);

impl<E: Engine, const BLOCKS: usize> ParallelMode<E, BLOCKS> for CbcDecryption<E::Block> {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::RoundKeys, bytes: &mut [u8]) {
        // Each decrypted block is XORed with the ciphertext block before it: the ciphertext, shifted by one block. For all vectors but
        // the first, that is still in `bytes`.
        let (size, block) = (vector_bytes::<E>(), E::Block::BYTES);
        let bytes = &mut bytes[..N * size];
        let mut first = [E::Block::ZERO; BLOCKS];
        let first = &mut flat_mut(&mut first)[..size];
        first[..block].copy_from_slice(self.0.as_ref());
        first[block..].copy_from_slice(&bytes[..size - block]);
        self.0.as_mut().copy_from_slice(&bytes[N * size - block..]);
        let mut x = load::<E, N>(engine, bytes);
        engine.decrypt(keys, &mut x);
        x[0] = engine.xor(x[0], engine.load(first));
        for i in 1..N {
            x[i] = engine.xor(x[i], engine.load(&bytes[size * i - block..][..size]));
        }
        store(engine, x, bytes);
    }
}
