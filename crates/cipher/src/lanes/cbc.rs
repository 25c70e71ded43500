//! CBC encryption (SP 800-38A section 6.2) of many messages in parallel.
//!
//! ```
//! use tress_cipher::{aes::Aes, lanes::cbc};
//!
//! let cipher = Aes::new(&[7; 16])?;
//! let (ivs, mut messages) = ([[1; 16], [2; 16]], [[0; 64]; 2]);
//! let jobs = messages.iter_mut().zip(&ivs).map(|(message, iv)| cbc::Job::new(&cipher, iv, message));
//! cbc::encrypt(&mut jobs.collect::<Result<Vec<_>, _>>()?);
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use super::kernel::CbcEncrypt;
use super::schedule::{self, LaneMessage};
use crate::block::BlockBytes;
use crate::engine::{Core, Engine, Operation, with_lane_memory};
use crate::modes::{check_whole_blocks, iv_block};
use crate::operation::{CbcLaneJob, CbcLanesEncrypt, Modes};
use crate::{BlockCipher, Error};

/// One message: its key, initialisation vector and buffer.
#[repr(transparent)]
pub struct Job<'a, C: BlockCipher>(CbcLaneJob<'a, C::Core>);

impl<'a, C: BlockCipher> Job<'a, C> {
    /// Prepares a message to encrypt in place. `iv` is one block, and `data` is whole blocks.
    ///
    /// # Errors
    /// `IvLength` and `DataLength`.
    pub fn new(cipher: &'a C, iv: &[u8], data: &'a mut [u8]) -> Result<Self, Error> {
        let iv = iv_block(iv)?;
        check_whole_blocks::<C>(data)?;
        Ok(Job(CbcLaneJob { cipher: cipher.core(), iv, data, pending: true, next: 0 }))
    }
}

impl<C: BlockCipher> core::fmt::Debug for Job<'_, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// Encrypts all messages in place. Jobs that have run before are skipped.
pub fn encrypt<C: BlockCipher>(jobs: &mut [Job<'_, C>]) {
    // SAFETY: `Job` is a `repr(transparent)` wrapper of its lane job, so both slices have the same length, size and alignment.
    let lane_jobs: &mut [CbcLaneJob<'_, C::Core>] =
        unsafe { core::slice::from_raw_parts_mut(jobs.as_mut_ptr().cast(), jobs.len()) };
    while let Some(first) = lane_jobs.iter().position(LaneMessage::is_pending) {
        let cipher = lane_jobs[first].cipher;
        let shared = lane_jobs.iter().all(|lane_job| core::ptr::eq(lane_job.cipher, cipher));
        with_lane_memory(|memory| cipher.cbc_lanes(CbcLanesEncrypt { lane_jobs, shared, memory }));
    }
}

impl<C: Core> Operation<C::Block> for CbcLanesEncrypt<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn most_blocks(&self) -> usize {
        self.lane_jobs.len()
    }

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = C::Block>,
    {
        schedule::run::<E, _, CbcEncrypt, FLIGHT, BLOCKS>(engine, keys, self.lane_jobs, self.shared, self.memory);
    }
}

impl<C: Core> LaneMessage for CbcLaneJob<'_, C> {
    type Cipher = C;
    type Block = C::Block;

    fn cipher(&self) -> &C {
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

    fn first_block(&self) -> &Self::Block {
        &self.iv
    }

    fn counter_mask(&self) -> &Self::Block {
        &self.iv
    }

    fn finish(&mut self, _: bool, _: &Self::Block, _: &Self::Block) {
        self.pending = false;
    }
}
