//! RustCrypto's traits (`cipher` 0.5, `aead` 0.6), for users who know them.

use core::fmt;
use core::marker::PhantomData;

use aead::{AeadCore, AeadInOut, TagPosition};
use cipher::consts::{U8, U16, U24, U32, U64};
use cipher::inout::{InOut, InOutBuf};
use cipher::{
    AlgorithmName, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser,
    array::Array, array::ArraySize,
};
use zeroize::ZeroizeOnDrop;

use crate::ciphers::aes::{Aes128, Aes192, Aes256};
use crate::ciphers::pipo::{Pipo128, Pipo256};
use crate::ciphers::rc6::{Rc6_128, Rc6_192, Rc6_256};
use crate::engine::{BlockBytes, Core, Direction, Engine, Operation};
use crate::modes::{ccm, ecb::ecb};
use crate::{BLOCK_BYTES, BlockCipher, CcmCipher};

/// A block as the traits know it.
trait SizedBlock: BlockBytes {
    type Size: ArraySize;
    /// Blocks that a user of the traits hands over at a time: as many as the widest backend keeps in flight.
    type InFlight: ArraySize;
}

impl SizedBlock for [u8; 8] {
    type Size = U8;
    type InFlight = U64;
}

impl SizedBlock for [u8; 16] {
    type Size = U16;
    type InFlight = U32;
}

/// An engine with its keys, as the traits want it.
struct Backend<'k, E: Engine, const FLIGHT: usize, const BLOCKS: usize> {
    engine: E,
    keys: &'k E::Keys,
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> BlockSizeUser
    for Backend<'_, E, FLIGHT, BLOCKS>
{
    type BlockSize = <E::Block as SizedBlock>::Size;
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> ParBlocksSizeUser
    for Backend<'_, E, FLIGHT, BLOCKS>
{
    type ParBlocksSize = <E::Block as SizedBlock>::InFlight;
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> Backend<'_, E, FLIGHT, BLOCKS> {
    #[inline(always)]
    fn run(&self, data: &mut [u8], direction: Direction) {
        ecb::<E, FLIGHT, BLOCKS>(self.engine, self.keys, data, direction);
    }
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> BlockCipherEncBackend
    for Backend<'_, E, FLIGHT, BLOCKS>
{
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Array<u8, Self::BlockSize>>) {
        let mut bytes = E::Block::ZERO;
        bytes.as_mut().copy_from_slice(&block.clone_in());
        self.engine.encrypt_block(self.keys, &mut bytes);
        block.get_out().copy_from_slice(bytes.as_ref());
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        let mut copy = blocks.clone_in();
        self.run(Array::slice_as_flattened_mut(&mut copy), Direction::Encrypt);
        *blocks.get_out() = copy;
    }
}

impl<E: Engine<Block: SizedBlock>, const FLIGHT: usize, const BLOCKS: usize> BlockCipherDecBackend
    for Backend<'_, E, FLIGHT, BLOCKS>
{
    #[inline(always)]
    fn decrypt_block(&self, mut block: InOut<'_, '_, Array<u8, Self::BlockSize>>) {
        let mut bytes = block.clone_in();
        self.run(&mut bytes, Direction::Decrypt);
        *block.get_out() = bytes;
    }

    #[inline(always)]
    fn decrypt_par_blocks(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        let mut copy = blocks.clone_in();
        self.run(Array::slice_as_flattened_mut(&mut copy), Direction::Decrypt);
        *blocks.get_out() = copy;
    }
}

/// A user's closure as an operation.
struct EncryptWith<F>(F);
struct DecryptWith<F>(F);

impl<C: Core<Block: SizedBlock>, F: BlockCipherEncClosure<BlockSize = <C::Block as SizedBlock>::Size>> Operation<C>
    for EncryptWith<F>
{
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys)
    where
        E: Engine<Cipher = C, Block = C::Block>,
    {
        self.0.call(&Backend::<'_, E, FLIGHT, BLOCKS> { engine, keys });
    }
}

impl<C: Core<Block: SizedBlock>, F: BlockCipherDecClosure<BlockSize = <C::Block as SizedBlock>::Size>> Operation<C>
    for DecryptWith<F>
{
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys)
    where
        E: Engine<Cipher = C, Block = C::Block>,
    {
        self.0.call(&Backend::<'_, E, FLIGHT, BLOCKS> { engine, keys });
    }
}

/// Defines the cipher of one key size, for the RustCrypto traits. `$cipher` chooses by the key's length.
macro_rules! fixed_key_size {
    ($(#[$doc:meta])* $name:ident: $cipher:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name($cipher);

        impl $name {
            /// `key` has this type's length.
            pub(crate) fn from_key(key: &[u8]) -> Self {
                match <$cipher>::new(key) {
                    Ok(cipher) => $name(cipher),
                    Err(_) => unreachable!("the type fixes the key's length, and the best backend is there"),
                }
            }
        }

        impl $crate::BlockCipher for $name {
            const BLOCK_BYTES: usize = <$cipher as $crate::BlockCipher>::BLOCK_BYTES;
            const BACKENDS: &'static [$crate::Backend] = <$cipher as $crate::BlockCipher>::BACKENDS;
            type Core = <$cipher as $crate::BlockCipher>::Core;

            fn core(&self) -> &Self::Core {
                self.0.core()
            }

            fn backend(&self) -> $crate::Backend {
                self.0.backend()
            }
        }

        impl AsRef<$cipher> for $name {
            fn as_ref(&self) -> &$cipher {
                &self.0
            }
        }

        impl zeroize::ZeroizeOnDrop for $name {}
    };
}

pub(crate) use fixed_key_size;

/// The block cipher traits for one key size.
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
block_cipher!(Pipo128, U8, U16, "Pipo64/128");
block_cipher!(Pipo256, U8, U32, "Pipo64/256");
block_cipher!(Rc6_128, U16, U16, "Rc6_128");
block_cipher!(Rc6_192, U16, U24, "Rc6_192");
block_cipher!(Rc6_256, U16, U32, "Rc6_256");

/// CCM as an `aead`: `C` is [`Aes128`], [`Aes192`], [`Aes256`] or a type of another cipher such as [`Rc6_128`], `M` the
/// bytes of a tag (4, 6, …, 16), `N` those of a nonce (7 to 13).
///
/// ```
/// use aead::{AeadInOut, KeyInit, consts::{U12, U16}};
/// use tress_cipher::{aes::Aes256, modes::ccm::Ccm};
///
/// let ccm = Ccm::<Aes256, U16, U12>::new(&[7; 32].into());
/// let mut data = *b"hello";
/// let tag = ccm.encrypt_inout_detached(&[0; 12].into(), b"", (&mut data[..]).into())?;
/// # Ok::<(), aead::Error>(())
/// ```
#[derive(Clone)]
pub struct Ccm<C, M = U16, N = cipher::consts::U12> {
    cipher: C,
    sizes: PhantomData<(M, N)>,
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
    /// Other sizes are not CCM, and do not compile.
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
        let data = into_output(buffer);
        ccm::encrypt(&self.cipher, nonce, aad, data, &mut tag).map_err(|_| aead::Error)?;
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
        let data = into_output(buffer);
        ccm::decrypt(&self.cipher, nonce, aad, data, tag).map_err(|_| aead::Error)
    }
}

/// Copies the input to the output, which may be the same place.
fn into_output<'out>(mut buffer: InOutBuf<'_, 'out, u8>) -> &'out mut [u8] {
    for mut byte in buffer.reborrow() {
        let value = byte.clone_in();
        *byte.get_out() = value;
    }
    buffer.into_out()
}
