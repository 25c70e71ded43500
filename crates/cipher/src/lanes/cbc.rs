//! CBC encryption (SP 800-38A section 6.2) of many messages at once.

use super::kernel::CbcEncrypt;
use super::schedule::{self, Message, Start};
use crate::aes::Aes;
use crate::engine::{BlockBytes, Core, Engine, Operation};
use crate::modes::{initial, whole_blocks};
use crate::{BlockCipher, Error};

/// One message: its key, initialisation vector and buffer.
pub struct Job<'a, C: BlockCipher = Aes> {
    cipher: &'a C::Core,
    iv: <C::Core as Core>::Block,
    data: &'a mut [u8],
    pending: bool,
    next: usize,
}

impl<'a, C: BlockCipher> Job<'a, C> {
    /// A message of whole blocks, encrypted in place; `iv` has the length of a block.
    pub fn new(cipher: &'a C, iv: &[u8], data: &'a mut [u8]) -> Result<Self, Error> {
        let iv = initial(iv)?;
        whole_blocks::<C>(data)?;
        Ok(Job { cipher: cipher.core(), iv, data, pending: true, next: 0 })
    }
}

/// Encrypts all messages in place. Jobs that have run before are left alone.
pub fn encrypt<C: BlockCipher>(jobs: &mut [Job<'_, C>]) {
    while let Some(first) = jobs.iter().position(Message::is_pending) {
        let cipher = jobs[first].cipher;
        let shared = jobs.iter().all(|job| core::ptr::eq(job.cipher, cipher));
        cipher.run(Encrypt { jobs, shared });
    }
}

struct Encrypt<'j, 'a, C: BlockCipher> {
    jobs: &'j mut [Job<'a, C>],
    shared: bool,
}

impl<C: BlockCipher> Operation<C::Core> for Encrypt<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::Keys)
    where
        E: Engine<Cipher = C::Core, Block = <C::Core as Core>::Block>,
    {
        schedule::run::<E, _, CbcEncrypt, FLIGHT, BLOCKS>(engine, keys, self.jobs, self.shared);
    }
}

impl<C: BlockCipher> Message for Job<'_, C> {
    type Cipher = C::Core;
    type Block = <C::Core as Core>::Block;

    fn cipher(&self) -> &C::Core {
        self.cipher
    }

    fn is_pending(&self) -> bool {
        self.pending
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

    fn header_blocks(&self) -> usize {
        0
    }

    fn header_block(&self, _: usize) -> Self::Block {
        BlockBytes::ZERO
    }

    fn start(&self) -> Start<Self::Block> {
        Start { chain: self.iv, zero: BlockBytes::ZERO, counter: BlockBytes::ZERO }
    }

    fn finish(&mut self, _: bool, _: &Self::Block, _: &Self::Block) -> bool {
        self.pending = false;
        true
    }
}
