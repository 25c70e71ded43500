//! CCM (SP 800-38C) of many messages, in lanes on every core.

use std::sync::atomic::{AtomicUsize, Ordering};

use tress_cipher::lanes::ccm::{self, Job};
use tress_cipher::{CcmCipher, Error};

use crate::Pool;
use crate::groups::Groups;

/// Messages that are encrypted or decrypted together.
pub struct Batch<'a, C: CcmCipher> {
    jobs: Vec<Job<'a, C>>,
    /// Bytes of data and associated data of each job, which jobs do not say.
    bytes: Vec<usize>,
}

impl<C: CcmCipher> Default for Batch<'_, C> {
    fn default() -> Self {
        Self { jobs: Vec::new(), bytes: Vec::new() }
    }
}

impl<'a, C: CcmCipher<Core: Sync>> Batch<'a, C> {
    /// No messages yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message with `nonce` (7 to 13 bytes, never twice under one key) and associated data. `data` is transformed in place;
    /// `tag` (4, 6, …, 16 bytes) is written by [`encrypt`](Self::encrypt) and read by [`decrypt`](Self::decrypt).
    ///
    /// # Errors
    /// Those of [`Job::new`]; the batch is as it was.
    pub fn push(
        &mut self,
        cipher: &'a C,
        nonce: &[u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<(), Error> {
        let bytes = data.len() + aad.len();
        self.jobs.push(Job::new(cipher, nonce, aad, data, tag)?);
        self.bytes.push(bytes);
        Ok(())
    }

    /// Encrypts all messages in place and writes their tags, on up to `threads` threads of which the caller's is one; 0 is one
    /// for each core. A batch that is too small for more runs on the caller's thread alone. Messages that have run before are
    /// left alone.
    pub fn encrypt(&mut self, pool: &Pool, threads: usize) {
        let groups = Groups::new(self.bytes.iter().copied(), pool, threads);
        groups.run(pool, &mut self.jobs, ccm::encrypt);
    }

    /// Decrypts all messages in place, on threads as [`encrypt`](Self::encrypt); returns how many of those that ran are forged.
    /// The data of a forged message is wiped; the others are not touched by it.
    #[must_use = "forged messages are among them"]
    pub fn decrypt(&mut self, pool: &Pool, threads: usize) -> usize {
        let forged = AtomicUsize::new(0);
        let groups = Groups::new(self.bytes.iter().copied(), pool, threads);
        groups.run(pool, &mut self.jobs, |jobs| {
            forged.fetch_add(ccm::decrypt(jobs), Ordering::Relaxed);
        });
        forged.into_inner()
    }

    /// What became of each message, in the order in which they were added. One that has not run is `Authentication`.
    pub fn results(&self) -> impl ExactSizeIterator<Item = Result<(), Error>> {
        self.jobs.iter().map(Job::result)
    }
}
