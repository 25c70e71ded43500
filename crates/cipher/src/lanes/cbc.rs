//! CBC encryption (SP 800-38A section 6.2) of many messages at once.

use super::kernel::CBC_ENCRYPT;
use super::schedule::{Message, Schedule};
use crate::aes::Aes;
use crate::modes::ecb::whole_blocks;
use crate::{Block, Error};

/// One message: its key, initialisation vector and buffer.
pub struct Job<'a> {
    cipher: &'a Aes,
    iv: Block,
    data: &'a mut [u8],
    pending: bool,
}

impl<'a> Job<'a> {
    /// A message of whole blocks, encrypted in place; `iv` has 16 bytes.
    pub fn new(cipher: &'a Aes, iv: &[u8], data: &'a mut [u8]) -> Result<Self, Error> {
        let iv = iv.try_into().map_err(|_| Error::IvLength)?;
        whole_blocks(data)?;
        Ok(Job { cipher, iv, data, pending: true })
    }
}

/// Encrypts all messages in place. Jobs that have run before are left alone.
pub fn encrypt(jobs: &mut [Job<'_>]) {
    while let Some(first) = jobs.iter().position(Message::is_pending) {
        let cipher = jobs[first].cipher;
        let shared = jobs.iter().all(|job| core::ptr::eq(job.cipher, cipher));
        cipher.run(Schedule::<_, CBC_ENCRYPT> { messages: jobs, shared });
    }
}

impl Message for Job<'_> {
    type Cipher = Aes;

    fn cipher(&self) -> &Aes {
        self.cipher
    }

    fn is_pending(&self) -> bool {
        self.pending
    }

    fn data(&mut self) -> &mut [u8] {
        self.data
    }

    fn header_blocks(&self) -> usize {
        0
    }

    fn header_block(&self, _: usize) -> Block {
        [0; 16]
    }

    fn start(&self) -> (Block, Block) {
        (self.iv, [0; 16])
    }

    fn finish(&mut self, _: &Block, _: &Block) {
        self.pending = false;
    }
}
