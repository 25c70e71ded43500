//! CCM (SP 800-38C) of many messages at once.
//!
//! ```
//! use tress_cipher::{aes::Aes, lanes::ccm};
//!
//! let cipher = Aes::new(&[7; 16])?;
//! let mut packets = vec![([0; 600], [0; 16]); 100];
//! let mut jobs = Vec::new();
//! for (number, (data, tag)) in packets.iter_mut().enumerate() {
//!     let nonce = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number as u8];
//!     jobs.push(ccm::Job::new(&cipher, &nonce, b"", data, tag)?);
//! }
//! ccm::encrypt(&mut jobs);
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::kernel::{CcmDecrypt, CcmEncrypt};
use super::schedule::{self, Message, Start};
use crate::engine::{CcmCore, CcmEngine, CcmOperation, Direction};
use crate::operation::{CcmHeader, CcmLanesDecrypt, CcmLanesEncrypt, CcmModes, CcmTask};
use crate::reveal::reveal;
use crate::{Block, CcmCipher, Error};

/// One message: its key, nonce, associated data, buffer and tag.
#[repr(transparent)]
pub struct Job<'a, C: CcmCipher>(CcmTask<'a, C::Core>);

impl<'a, C: CcmCipher> Job<'a, C> {
    /// A message with `nonce` (7 to 13 bytes, never twice under one key, also not by two jobs of one call) and associated data; `data` is transformed in place. `tag` (4, 6, …, 16
    /// bytes) is written by [`encrypt`] and read by [`decrypt`].
    #[inline]
    pub fn new(
        cipher: &'a C,
        nonce: &[u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<Self, Error> {
        let header = CcmHeader::new(nonce, aad, data.len(), tag.len())?;
        Ok(Job(CcmTask { cipher: cipher.core(), header, data, tag, next: 0, result: None }))
    }

    /// What became of the job. A job that has not run is not verified: `Authentication`.
    pub fn result(&self) -> Result<(), Error> {
        self.0.result.unwrap_or(Err(Error::Authentication))
    }
}

/// Encrypts all messages in place and writes their tags. Jobs that have run before are left alone.
pub fn encrypt<C: CcmCipher>(jobs: &mut [Job<'_, C>]) {
    run(jobs, Direction::Encrypt);
}

/// Decrypts all messages in place; returns how many of those that ran are forged. The data of a forged message is wiped;
/// the others are not touched by it. Jobs that have run before are left alone.
#[must_use = "forged messages are among them"]
pub fn decrypt<C: CcmCipher>(jobs: &mut [Job<'_, C>]) -> usize {
    run(jobs, Direction::Decrypt)
}

/// Runs the jobs of one backend and number of rounds after the other.
fn run<C: CcmCipher>(jobs: &mut [Job<'_, C>], direction: Direction) -> usize {
    // SAFETY: a job is a task and nothing else.
    let tasks: &mut [CcmTask<'_, C::Core>] =
        unsafe { core::slice::from_raw_parts_mut(jobs.as_mut_ptr().cast(), jobs.len()) };
    let mut forged = 0;
    while let Some(first) = tasks.iter().position(Message::is_pending) {
        let cipher = tasks[first].cipher;
        let shared = tasks.iter().all(|task| core::ptr::eq(task.cipher, cipher));
        forged += match direction {
            Direction::Encrypt => cipher.ccm_lanes_encrypt(CcmLanesEncrypt { tasks, shared }),
            Direction::Decrypt => cipher.ccm_lanes_decrypt(CcmLanesDecrypt { tasks, shared }),
        };
    }
    forged
}

impl<C: CcmCore> CcmOperation for CcmLanesEncrypt<'_, '_, C> {
    type Output = usize;

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys) -> usize
    where
        E: CcmEngine,
    {
        schedule::run::<E, _, CcmEncrypt, FLIGHT, BLOCKS>(engine, keys, self.tasks, self.shared)
    }
}

impl<C: CcmCore> CcmOperation for CcmLanesDecrypt<'_, '_, C> {
    type Output = usize;

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys) -> usize
    where
        E: CcmEngine,
    {
        schedule::run::<E, _, CcmDecrypt, FLIGHT, BLOCKS>(engine, keys, self.tasks, self.shared)
    }
}

impl<C: CcmCore> Message for CcmTask<'_, C> {
    type Cipher = C;
    type Block = Block;

    fn cipher(&self) -> &C {
        self.cipher
    }

    fn is_pending(&self) -> bool {
        self.result.is_none()
    }

    fn next(&mut self) -> &mut usize {
        &mut self.next
    }

    fn data_bytes(&self) -> usize {
        self.data.len()
    }

    fn data(&mut self) -> &mut [u8] {
        self.data
    }

    #[inline(always)]
    fn header_blocks(&self) -> usize {
        self.header.blocks()
    }

    #[inline(always)]
    fn header_block(&self, index: usize) -> Block {
        self.header.block(index)
    }

    #[inline(always)]
    fn start(&self) -> Start<Block> {
        let zero = self.header.counter();
        let counter = (u128::from_be_bytes(zero) + 1).to_le_bytes();
        Start { chain: self.header.block(0), zero, counter }
    }

    #[inline(always)]
    fn finish(&mut self, decrypted: bool, chain: &Block, mask: &Block) -> bool {
        let mut tag = u128::from_ne_bytes(*chain) ^ u128::from_ne_bytes(*mask);
        let length = self.tag.len();
        let mut good = true;
        if !decrypted {
            match <&mut Block>::try_from(&mut *self.tag) {
                // The usual length, without a call.
                Ok(whole) => *whole = tag.to_ne_bytes(),
                Err(_) => self.tag.copy_from_slice(&tag.to_ne_bytes()[..length]),
            }
        } else {
            let given = match <&Block>::try_from(&*self.tag) {
                Ok(whole) => *whole,
                Err(_) => {
                    let mut padded = [0; 16];
                    padded[..length].copy_from_slice(self.tag);
                    padded
                }
            };
            // The bytes that a short tag lacks count as equal.
            let kept = u128::MAX >> (8 * (16 - length));
            let difference = (u128::from_le_bytes(tag.to_ne_bytes()) ^ u128::from_le_bytes(given)) & kept;
            good = reveal((difference as u64 | (difference >> 64) as u64).ct_eq(&0));
        }
        tag.zeroize();
        if !good {
            self.data.zeroize();
        }
        self.result = Some(if good { Ok(()) } else { Err(Error::Authentication) });
        good
    }
}
