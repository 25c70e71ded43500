//! The crate `pipo`. It takes key and block with the most significant byte first, and expands the key for every block.

use crate::{Direction, Error, Mode, PeerCipher};

pub const NAME: &str = "pipo";

pub fn version() -> String {
    env!("TRESS_PEERS_PIPO").into()
}

/// PIPO in ECB or CTR. The crate takes the key with each call.
pub struct Cipher {
    key: Vec<u8>,
    mode: Mode,
    direction: Direction,
}

impl PeerCipher for Cipher {
    fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Cipher, Error> {
        Ok(Cipher { key: key.to_vec(), mode, direction })
    }

    fn apply(&mut self, iv: &[u8], data: &mut [u8], _: &mut [u8]) -> Result<(), Error> {
        match self.mode {
            Mode::Ecb => ecb(&self.key, self.direction, data),
            Mode::Ctr => ctr(&self.key, iv.try_into().map_err(|_| Error::Length)?, data),
            _ => Err(Error::Refused("pipo")),
        }
    }
}

/// Encrypts or decrypts whole blocks in place with PIPO-64/128 or 64/256 in ECB. Key and blocks have the least
/// significant byte first, as in Tress.
fn ecb(key: &[u8], direction: Direction, data: &mut [u8]) -> Result<(), Error> {
    use pipo::plug_out::{decrypt128, decrypt256, encrypt128, encrypt256};
    let (blocks, rest) = data.as_chunks_mut::<8>();
    if !rest.is_empty() {
        return Err(Error::Length);
    }
    let each = |blocks: &mut [[u8; 8]], one: &dyn Fn([u8; 8]) -> [u8; 8]| {
        for block in blocks {
            block.reverse();
            *block = one(*block);
            block.reverse();
        }
    };
    if let Ok(mut key) = <[u8; 16]>::try_from(key) {
        key.reverse();
        match direction {
            Direction::Encrypt => each(blocks, &|block| encrypt128(key, block)),
            Direction::Decrypt => each(blocks, &|block| decrypt128(key, block)),
        }
    } else {
        let mut key = <[u8; 32]>::try_from(key).map_err(|_| Error::Length)?;
        key.reverse();
        match direction {
            Direction::Encrypt => each(blocks, &|block| encrypt256(key, block)),
            Direction::Decrypt => each(blocks, &|block| decrypt256(key, block)),
        }
    }
    Ok(())
}

/// Encrypts or decrypts in place in CTR, with a nonce of six bytes and a big-endian counter of two.
fn ctr(key: &[u8], counter: &[u8; 8], data: &mut [u8]) -> Result<(), Error> {
    let mut block = *counter;
    for bytes in data.chunks_mut(8) {
        let mut key_stream = block;
        ecb(key, Direction::Encrypt, &mut key_stream)?;
        for (byte, key) in bytes.iter_mut().zip(key_stream) {
            *byte ^= key;
        }
        let number = u16::from_be_bytes([block[6], block[7]]).wrapping_add(1);
        block[6..].copy_from_slice(&number.to_be_bytes());
    }
    Ok(())
}
