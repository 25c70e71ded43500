//! RustCrypto's AES crates, in the versions of this build's lock file.

use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser, InnerIvInit, KeyInit,
    StreamCipher,
};
use aes::{Aes128, Aes192, Aes256};
use ccm::aead::{AeadInOut, Nonce, Tag};
use ccm::consts::{U12, U16, U20, U24, U32};

use crate::{Direction, Error, Mode, PeerCipher};

/// The name in `tress bench --against`: `rustcrypto`, or for example `rustcrypto-aes-0.9.2` in a build with another lock file.
pub const NAME: &str = env!("TRESS_PEERS_RUSTCRYPTO");

pub fn version() -> String {
    format!(
        "aes {}{}, ccm {}, ctr {}, cbc {}, aes-gcm {}, rc6 {}",
        env!("TRESS_PEERS_AES"),
        if cfg!(aes_backend = "soft") { " without AES instructions" } else { "" },
        env!("TRESS_PEERS_CCM"),
        env!("TRESS_PEERS_CTR"),
        env!("TRESS_PEERS_CBC"),
        env!("TRESS_PEERS_AES_GCM"),
        env!("TRESS_PEERS_RC6"),
    )
}

/// A cipher by the length of its key.
enum Keyed<A, B, C> {
    K128(A),
    K192(B),
    K256(C),
}

/// Evaluates `$body` with the cipher of the key's length as `$cipher`.
macro_rules! with_key {
    ($keyed:expr, $cipher:ident => $body:expr) => {
        match &$keyed {
            Keyed::K128($cipher) => $body,
            Keyed::K192($cipher) => $body,
            Keyed::K256($cipher) => $body,
        }
    };
}

impl<A: KeyInit, B: KeyInit, C: KeyInit> Keyed<A, B, C> {
    fn new(key: &[u8]) -> Result<Self, Error> {
        match key.len() {
            16 => A::new_from_slice(key).map(Keyed::K128),
            24 => B::new_from_slice(key).map(Keyed::K192),
            _ => C::new_from_slice(key).map(Keyed::K256),
        }
        .map_err(|_| Error::Length)
    }
}

/// A cipher in ECB, CBC or CTR (`Ctr128BE`: the whole block is the counter).
pub struct Blocks<A, B, C> {
    keyed: Keyed<A, B, C>,
    mode: Mode,
    direction: Direction,
}

pub type Cipher = Blocks<Aes128, Aes192, Aes256>;

/// RC6-32/20, one block at a time.
pub type Rc6 = Blocks<rc6::RC6<u32, U20, U16>, rc6::RC6<u32, U20, U24>, rc6::RC6<u32, U20, U32>>;

impl<A: Block128, B: Block128, C: Block128> PeerCipher for Blocks<A, B, C> {
    fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Self, Error> {
        Ok(Blocks { keyed: Keyed::new(key)?, mode, direction })
    }

    fn apply(&mut self, iv: &[u8], data: &mut [u8], _: &mut [u8]) -> Result<(), Error> {
        with_key!(self.keyed, cipher => match self.mode {
            Mode::Ecb => ecb(cipher, self.direction, data),
            Mode::Cbc => cbc(cipher, self.direction, iv, data),
            _ => ctr(cipher, iv, data),
        })
    }
}

/// A cipher with blocks of 128 bits.
pub trait Block128: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> {}

impl<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>> Block128 for C {}

fn ecb(cipher: &impl Block128, direction: Direction, data: &mut [u8]) -> Result<(), Error> {
    let blocks = blocks(data)?;
    match direction {
        Direction::Encrypt => cipher.encrypt_blocks(blocks),
        Direction::Decrypt => cipher.decrypt_blocks(blocks),
    }
    Ok(())
}

fn cbc<C: Block128>(cipher: &C, direction: Direction, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let blocks = blocks(data)?;
    match direction {
        Direction::Encrypt => {
            cbc::Encryptor::inner_iv_slice_init(cipher, iv).map_err(|_| Error::Length)?.encrypt_blocks(blocks);
        }
        Direction::Decrypt => {
            cbc::Decryptor::inner_iv_slice_init(cipher, iv).map_err(|_| Error::Length)?.decrypt_blocks(blocks);
        }
    }
    Ok(())
}

fn ctr<C: Block128>(cipher: &C, counter: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let core =
        ctr::CtrCore::<_, ctr::flavors::Ctr128BE>::inner_iv_slice_init(cipher, counter).map_err(|_| Error::Length)?;
    ctr::Ctr128BE::from_core(core).try_apply_keystream(data).map_err(|_| Error::MessageTooLong)
}

fn blocks(data: &mut [u8]) -> Result<&mut [aes::Block], Error> {
    let (blocks, rest) = aes::Block::slice_as_chunks_mut(data);
    if rest.is_empty() { Ok(blocks) } else { Err(Error::Length) }
}

/// A mode with nonces of 12 bytes and tags of 16.
pub struct Aead<A, B, C> {
    keyed: Keyed<A, B, C>,
    direction: Direction,
}

pub type Ccm = Aead<ccm::Ccm<Aes128, U16, U12>, ccm::Ccm<Aes192, U16, U12>, ccm::Ccm<Aes256, U16, U12>>;

pub type Gcm = Aead<aes_gcm::Aes128Gcm, aes_gcm::AesGcm<Aes192, U12>, aes_gcm::Aes256Gcm>;

impl<A: AeadInOut + KeyInit, B: AeadInOut + KeyInit, C: AeadInOut + KeyInit> PeerCipher for Aead<A, B, C> {
    fn new(_: Mode, direction: Direction, key: &[u8]) -> Result<Self, Error> {
        Ok(Aead { keyed: Keyed::new(key)?, direction })
    }

    fn apply(&mut self, iv: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        with_key!(self.keyed, aead => with_tag(aead, self.direction, iv, data, tag))
    }
}

fn with_tag<A: AeadInOut>(
    aead: &A,
    direction: Direction,
    nonce: &[u8],
    data: &mut [u8],
    tag: &mut [u8],
) -> Result<(), Error> {
    let nonce = <&Nonce<A>>::try_from(nonce).map_err(|_| Error::Length)?;
    let tag = <&mut Tag<A>>::try_from(tag).map_err(|_| Error::Length)?;
    match direction {
        Direction::Encrypt => {
            *tag = aead.encrypt_inout_detached(nonce, b"", data.into()).map_err(|_| Error::MessageTooLong)?;
            Ok(())
        }
        Direction::Decrypt => {
            aead.decrypt_inout_detached(nonce, b"", data.into(), tag).map_err(|_| Error::Authentication)
        }
    }
}
