//! Implementations of RustCrypto's traits (`cipher` 0.5, `aead` 0.6).

use core::marker::PhantomData;
use core::{fmt, ptr};

use aead::{AeadCore, AeadInOut, TagPosition};
#[cfg(feature = "ciphers")]
use cipher::consts::{U8, U64};
use cipher::consts::{U16, U24, U32};
use cipher::inout::{InOut, InOutBuf};
use cipher::{
    AlgorithmName, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser,
    array::Array, array::ArraySize,
};
use zeroize::ZeroizeOnDrop;

use crate::block::BlockBytes;
use crate::ciphers::aes::{Aes128, Aes192, Aes256};
use crate::engine::{CipherDirection, Core, Engine, KeyBuffer, Operation};
use crate::modes::{
    ccm::{self, Ccm},
    ecb::ecb,
};
use crate::{Aad, BLOCK_BYTES, BlockCipher, CcmCipher, Tag};

/// A block whose length the traits take as a type.
trait SizedBlock: BlockBytes {
    type Size: ArraySize;
    /// Number of blocks that the traits process at a time: those that the widest backend keeps in flight.
    type InFlight: ArraySize;
}

#[cfg(feature = "ciphers")]
impl SizedBlock for [u8; 8] {
    type Size = U8;
    type InFlight = U64;
}

impl SizedBlock for [u8; 16] {
    type Size = U16;
    type InFlight = U32;
}

/// An engine with the round keys for one direction, as a backend of the traits.
struct EngineWithKeys<'k, E: Engine, const FLIGHT: usize, const BLOCKS: usize> {
    engine: E,
    keys: &'k E::RoundKeys,
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> BlockSizeUser
    for EngineWithKeys<'_, E, FLIGHT, BLOCKS>
{
    type BlockSize = <E::Block as SizedBlock>::Size;
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> ParBlocksSizeUser
    for EngineWithKeys<'_, E, FLIGHT, BLOCKS>
{
    type ParBlocksSize = <E::Block as SizedBlock>::InFlight;
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> EngineWithKeys<'_, E, FLIGHT, BLOCKS> {
    #[inline(always)]
    fn run(&self, data: &mut [u8], direction: CipherDirection) {
        ecb::<E, FLIGHT, BLOCKS>(self.engine, self.keys, data, direction);
    }
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> BlockCipherEncBackend
    for EngineWithKeys<'_, E, FLIGHT, BLOCKS>
{
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Array<u8, Self::BlockSize>>) {
        let mut bytes = E::Block::ZERO;
        bytes.as_mut().copy_from_slice(&block.clone_in());
        self.engine.encrypt_block(self.keys, &mut bytes);
        block.get_out().copy_from_slice(bytes.as_ref());
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.run(output(blocks.into_buf()), CipherDirection::Encrypt);
    }
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> BlockCipherDecBackend
    for EngineWithKeys<'_, E, FLIGHT, BLOCKS>
{
    #[inline(always)]
    fn decrypt_block(&self, block: InOut<'_, '_, Array<u8, Self::BlockSize>>) {
        self.run(block.into_buf().into_out_with_copied_in(), CipherDirection::Decrypt);
    }

    #[inline(always)]
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.run(output(blocks.into_buf()), CipherDirection::Decrypt);
    }
}

/// The bytes of the output, to which the input is copied block by block, unless they are one buffer: a copy elsewhere would stay there.
#[inline(always)]
fn output<'out, N: ArraySize>(mut blocks: InOutBuf<'_, 'out, Array<u8, N>>) -> &'out mut [u8] {
    let input = blocks.get_in().as_ptr();
    if !ptr::eq(input, blocks.get_out().as_ptr()) {
        for mut block in blocks.reborrow() {
            *block.get_out() = block.clone_in();
        }
    }
    Array::slice_as_flattened_mut(blocks.into_out())
}

/// The caller's closure as an operation.
struct EncryptWith<F>(F);
struct DecryptWith<F>(F);

impl<B: SizedBlock, F: BlockCipherEncClosure<BlockSize = B::Size>> Operation<B> for EncryptWith<F> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = B>,
    {
        self.0.call(&EngineWithKeys::<'_, E, FLIGHT, BLOCKS> { engine, keys });
    }
}

impl<B: SizedBlock, F: BlockCipherDecClosure<BlockSize = B::Size>> Operation<B> for DecryptWith<F> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = B>,
    {
        let mut buffer = KeyBuffer::EMPTY;
        let keys = engine.inverse_keys(keys, &mut buffer);
        self.0.call(&EngineWithKeys::<'_, E, FLIGHT, BLOCKS> { engine, keys });
    }
}

/// Implements the block cipher traits for one key length.
macro_rules! block_cipher {
    ($name:ident, $block_bytes:ty, $key_bytes:ty, $text:literal) => {
        impl KeySizeUser for $name {
            type KeySize = $key_bytes;
        }

        impl KeyInit for $name {
            fn new(key: &Key<Self>) -> Self {
                $name::from_key((*key).as_ref())
            }
        }

        impl BlockSizeUser for $name {
            type BlockSize = $block_bytes;
        }

        impl BlockCipherEncrypt for $name {
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = $block_bytes>) {
                self.core().run(EncryptWith(f));
            }
        }

        impl BlockCipherDecrypt for $name {
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = $block_bytes>) {
                self.core().run(DecryptWith(f));
            }
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }
    };
}

block_cipher!(Aes128, U16, U16, "Aes128");
block_cipher!(Aes192, U16, U24, "Aes192");
block_cipher!(Aes256, U16, U32, "Aes256");

#[cfg(feature = "ciphers")]
mod others {
    use super::*;
    use crate::ciphers::{lea::*, pipo::*, rc6::*};

    block_cipher!(Lea128, U16, U16, "Lea128");
    block_cipher!(Lea192, U16, U24, "Lea192");
    block_cipher!(Lea256, U16, U32, "Lea256");
    block_cipher!(Pipo128, U8, U16, "Pipo64/128");
    block_cipher!(Pipo256, U8, U32, "Pipo64/256");
    block_cipher!(Rc6_128, U16, U16, "Rc6_128");
    block_cipher!(Rc6_192, U16, U24, "Rc6_192");
    block_cipher!(Rc6_256, U16, U32, "Rc6_256");
}

impl<C: KeySizeUser, M, N> KeySizeUser for Ccm<C, M, N> {
    type KeySize = C::KeySize;
}

impl<C: KeyInit, M, N> KeyInit for Ccm<C, M, N> {
    fn new(key: &Key<Self>) -> Self {
        Ccm { cipher: C::new(key), sizes: PhantomData }
    }
}

impl<C, M, N> From<C> for Ccm<C, M, N> {
    fn from(cipher: C) -> Self {
        Ccm { cipher, sizes: PhantomData }
    }
}

impl<C, M: ArraySize, N: ArraySize> AeadCore for Ccm<C, M, N> {
    type NonceSize = N;
    type TagSize = M;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: ZeroizeOnDrop, M, N> ZeroizeOnDrop for Ccm<C, M, N> {}

impl<C: CcmCipher, M: ArraySize, N: ArraySize> Ccm<C, M, N> {
    /// Rejects other lengths at compile time.
    const SIZES_ARE_VALID: () = assert!(
        M::USIZE >= 4 && M::USIZE <= BLOCK_BYTES && M::USIZE.is_multiple_of(2) && N::USIZE >= 7 && N::USIZE <= 13,
        "a CCM tag has 4, 6, …, 16 bytes and a nonce 7 to 13"
    );
}

impl<C: CcmCipher, M: ArraySize, N: ArraySize> AeadInOut for Ccm<C, M, N> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Array<u8, N>,
        aad: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Array<u8, M>> {
        let () = Self::SIZES_ARE_VALID;
        let mut tag = Array::<u8, M>::default();
        let data = checked_output(nonce, buffer, M::USIZE)?;
        ccm::seal(&self.cipher, nonce.as_slice(), Aad(aad), data, tag.as_mut_slice()).map_err(|_| aead::Error)?;
        Ok(tag)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Array<u8, N>,
        aad: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Array<u8, M>,
    ) -> aead::Result<()> {
        let () = Self::SIZES_ARE_VALID;
        let data = checked_output(nonce, buffer, M::USIZE)?;
        ccm::open(&self.cipher, nonce.as_slice(), Aad(aad), data, Tag(tag)).map_err(|_| aead::Error)
    }
}

/// Copies the input to the output, which may be the same buffer, if a message may have this length.
fn checked_output<'out>(
    nonce: &[u8],
    buffer: InOutBuf<'_, 'out, u8>,
    tag_bytes: usize,
) -> aead::Result<&'out mut [u8]> {
    ccm::check_lengths(nonce, buffer.len(), tag_bytes).map_err(|_| aead::Error)?;
    Ok(buffer.into_out_with_copied_in())
}
