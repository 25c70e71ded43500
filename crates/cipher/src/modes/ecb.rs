//! Electronic codebook (SP 800-38A section 6.1).

use super::{ParallelMode, check_whole_blocks, load, run_parallel, store};
use crate::block::BlockBytes;
use crate::engine::{CipherDirection, Engine, KeyBuffer, NoInterleave, Operation};
use crate::operation::{Ecb, Modes};
use crate::{BlockCipher, Error};

/// Encrypts whole blocks in place, each separately.
///
/// # Errors
/// `DataLength`.
pub fn encrypt<C: BlockCipher>(cipher: &C, data: &mut [u8]) -> Result<(), Error> {
    check_whole_blocks::<C>(data)?;
    cipher.core().ecb(Ecb { data, direction: CipherDirection::Encrypt });
    Ok(())
}

/// Decrypts whole blocks in place, each separately.
///
/// # Errors
/// `DataLength`.
pub fn decrypt<C: BlockCipher>(cipher: &C, data: &mut [u8]) -> Result<(), Error> {
    check_whole_blocks::<C>(data)?;
    cipher.core().ecb(Ecb { data, direction: CipherDirection::Decrypt });
    Ok(())
}

impl<B: BlockBytes> Operation<B> for Ecb<'_> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = B>,
    {
        match self.direction {
            CipherDirection::Encrypt => ecb::<E, FLIGHT, BLOCKS>(engine, keys, self.data, CipherDirection::Encrypt),
            CipherDirection::Decrypt => {
                let mut buffer = KeyBuffer::EMPTY;
                let keys = engine.inverse_keys(keys, &mut buffer);
                ecb::<E, FLIGHT, BLOCKS>(engine, keys, self.data, CipherDirection::Decrypt);
            }
        }
    }
}

/// ECB over whole blocks, with the round keys for the direction.
#[inline(always)]
pub(crate) fn ecb<E, const FLIGHT: usize, const BLOCKS: usize>(
    engine: E,
    keys: &E::RoundKeys,
    data: &mut [u8],
    direction: CipherDirection,
) where
    E: Engine,
{
    match direction {
        CipherDirection::Encrypt => run_parallel::<E, _, FLIGHT, BLOCKS>(EcbEncrypt, engine, keys, data),
        CipherDirection::Decrypt => run_parallel::<E, _, FLIGHT, BLOCKS>(EcbDecrypt, engine, keys, data),
    }
}

struct EcbEncrypt;
struct EcbDecrypt;

impl<E: Engine, const BLOCKS: usize> ParallelMode<E, BLOCKS> for EcbEncrypt {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::RoundKeys, bytes: &mut [u8]) {
        let mut x = [load::<E, N>(engine, bytes)];
        engine.encrypt(keys, &mut x, &mut NoInterleave);
        let [x] = x;
        store(engine, x, bytes);
    }
}

impl<E: Engine, const BLOCKS: usize> ParallelMode<E, BLOCKS> for EcbDecrypt {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::RoundKeys, bytes: &mut [u8]) {
        let mut x = load::<E, N>(engine, bytes);
        engine.decrypt(keys, &mut x);
        store(engine, x, bytes);
    }
}
