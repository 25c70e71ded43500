//! One CCM message (SP 800-38C) in the two passes that the paper describes: the CBC-MAC, and CTR in segments.

use tress_cipher::Error;
use tress_cipher::aes::Aes;
use tress_cipher::modes::{cbc, ctr};

/// Bytes that are chained in one step: small enough for the first-level cache.
const PIECE: usize = 4096;
const BLOCK: usize = 16;
const NONCE: usize = 12;

/// A message with its key, without associated data and with a tag of 16 bytes.
pub(super) struct CcmMessage<'a> {
    pub(super) cipher: &'a Aes,
    pub(super) nonce: [u8; NONCE],
}

impl CcmMessage<'_> {
    /// The CBC-MAC of the plaintext: of B_0, the data and zeros up to a block.
    pub(super) fn mac(&self, plain: &[u8]) -> Result<[u8; BLOCK], Error> {
        // Flags: no associated data, a tag of 16 bytes, 3 bytes of length.
        let mut chain = [0; BLOCK];
        chain[0] = (((16 - 2) / 2) << 3) | (3 - 1);
        chain[1..13].copy_from_slice(&self.nonce);
        chain[13..].copy_from_slice(&(plain.len() as u32).to_be_bytes()[1..]);
        cbc::encrypt(self.cipher, &[0; BLOCK], &mut chain)?;
        let mut scratch = [0; PIECE];
        for piece in plain.chunks(PIECE) {
            let padded = &mut scratch[..piece.len().next_multiple_of(BLOCK)];
            padded[..piece.len()].copy_from_slice(piece);
            padded[piece.len()..].fill(0);
            cbc::encrypt(self.cipher, &chain, padded)?;
            chain.copy_from_slice(&padded[padded.len() - BLOCK..]);
        }
        Ok(chain)
    }

    pub(super) fn ctr(&self, first_block: usize, data: &mut [u8]) -> Result<(), Error> {
        ctr::apply(self.cipher, &self.counter(first_block as u32 + 1), data)
    }

    /// The tag of the message: the encrypted MAC.
    pub(super) fn tag(&self, mut mac: [u8; BLOCK]) -> Result<[u8; BLOCK], Error> {
        ctr::apply(self.cipher, &self.counter(0), &mut mac)?;
        Ok(mac)
    }

    fn counter(&self, number: u32) -> [u8; BLOCK] {
        let mut counter = [0; BLOCK];
        counter[0] = 3 - 1;
        counter[1..13].copy_from_slice(&self.nonce);
        counter[13..].copy_from_slice(&number.to_be_bytes()[1..]);
        counter
    }
}

#[cfg(test)]
mod tests {
    use tress_cipher::Aad;
    use tress_cipher::modes::ccm;

    use super::*;

    /// Compared with `modes::ccm`, which the vectors of NIST and Wycheproof check.
    #[test]
    fn two_passes_make_ccm() {
        let cipher = Aes::new(&[7; 16]).expect("a key");
        let message = CcmMessage { cipher: &cipher, nonce: *b"twelve bytes" };
        for length in [0, 1, 15, 16, 17, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
            let plain: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let (mut whole, mut tag) = (plain.clone(), [0; 16]);
            ccm::seal(&cipher, &message.nonce, Aad(b""), &mut whole, &mut tag).expect("a message");
            assert_eq!(message.tag(message.mac(&plain).expect("a MAC")).expect("a tag"), tag, "{length}");
            // CTR in two parts.
            let mut parts = plain.clone();
            let (first, second) = parts.split_at_mut(length / 2 / BLOCK * BLOCK);
            message.ctr(0, first).expect("CTR");
            message.ctr(first.len() / BLOCK, second).expect("CTR");
            assert_eq!(parts, whole, "{length}");
        }
    }
}
