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

use super::kernel::{CCM_DECRYPT, CCM_ENCRYPT, Mode};
use super::schedule::{Message, Schedule};
use crate::aes::Aes;
use crate::modes::ccm::Header;
use crate::{Block, Error};

/// One message: its key, nonce, associated data, buffer and tag.
pub struct Job<'a> {
    cipher: &'a Aes,
    header: Header<'a>,
    data: &'a mut [u8],
    tag: &'a mut [u8],
    decrypts: bool,
    /// `None` until the job has run.
    result: Option<Result<(), Error>>,
}

impl<'a> Job<'a> {
    /// A message with `nonce` (7 to 13 bytes) and associated data; `data` is transformed in place. `tag` (4, 6, …, 16
    /// bytes) is written by [`encrypt`] and read by [`decrypt`].
    pub fn new(
        cipher: &'a Aes,
        nonce: &[u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<Self, Error> {
        let header = Header::new(nonce, aad, data.len(), tag.len())?;
        Ok(Job { cipher, header, data, tag, decrypts: false, result: None })
    }

    /// What became of the job. A job that has not run is not verified: `Authentication`.
    pub fn result(&self) -> Result<(), Error> {
        self.result.unwrap_or(Err(Error::Authentication))
    }
}

/// Encrypts all messages in place and writes their tags. Jobs that have run before are left alone.
pub fn encrypt(jobs: &mut [Job<'_>]) {
    run::<CCM_ENCRYPT>(jobs);
}

/// Decrypts all messages in place; returns how many of those that ran are forged. The data of a forged message is wiped;
/// the others are not touched by it. Jobs that have run before are left alone.
pub fn decrypt(jobs: &mut [Job<'_>]) -> usize {
    let before = forged(jobs);
    run::<CCM_DECRYPT>(jobs);
    forged(jobs) - before
}

fn forged(jobs: &[Job<'_>]) -> usize {
    jobs.iter().filter(|job| matches!(job.result, Some(Err(_)))).count()
}

/// Runs the jobs of one backend and number of rounds after the other.
fn run<const MODE: Mode>(jobs: &mut [Job<'_>]) {
    for job in &mut *jobs {
        job.decrypts = MODE == CCM_DECRYPT;
    }
    while let Some(first) = jobs.iter().position(Message::is_pending) {
        let cipher = jobs[first].cipher;
        let shared = jobs.iter().all(|job| core::ptr::eq(job.cipher, cipher));
        cipher.run(Schedule::<_, MODE> { messages: jobs, shared });
    }
}

impl Message for Job<'_> {
    type Cipher = Aes;

    fn cipher(&self) -> &Aes {
        self.cipher
    }

    fn is_pending(&self) -> bool {
        self.result.is_none()
    }

    fn data(&mut self) -> &mut [u8] {
        self.data
    }

    fn header_blocks(&self) -> usize {
        self.header.blocks()
    }

    fn header_block(&self, index: usize) -> Block {
        self.header.block(index)
    }

    fn start(&self) -> (Block, Block) {
        ([0; 16], self.header.counter())
    }

    fn finish(&mut self, chain: &Block, mask: &Block) {
        let mut tag = (u128::from_ne_bytes(*chain) ^ u128::from_ne_bytes(*mask)).to_ne_bytes();
        let length = self.tag.len();
        self.result = Some(Ok(()));
        if !self.decrypts {
            match <&mut Block>::try_from(&mut *self.tag) {
                // The usual length, without a call.
                Ok(whole) => *whole = tag,
                Err(_) => self.tag.copy_from_slice(&tag[..length]),
            }
        } else if !bool::from(tag[..length].ct_eq(self.tag)) {
            self.data.zeroize();
            self.result = Some(Err(Error::Authentication));
        }
        tag.zeroize();
    }
}
