//! CCM (SP 800-38C) of many messages in parallel.
//!
//! ```
//! use tress_cipher::{Aad, aes::Aes, lanes::ccm};
//!
//! let keys: Vec<Aes> = (0..100).map(|key| Aes::new(&[key; 16])).collect::<Result<_, _>>()?;
//! let mut packets = vec![([0; 600], [0; 16]); 100];
//! let jobs = packets.iter_mut().zip(&keys).map(|((data, tag), key)| ccm::Seal::new(key, &[0; 12], Aad(b""), data, tag));
//! ccm::seal(&mut jobs.collect::<Result<Vec<_>, _>>()?)?;
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use core::fmt;

use zeroize::Zeroize;

use super::aead::AeadJob;
use super::kernel::Ccm;
#[doc(hidden)]
pub use super::nonces::nonce_hash;
use super::nonces::{self, NonceJob};
use super::schedule::{self, LaneMessage};
use crate::engine::{CcmCore, CcmEngine, CcmOperation, CipherDirection, with_lane_memory};
use crate::message::{Aad, Nonce, Tag, TagMut};
use crate::operation::{CcmHeader, CcmLaneJob, CcmLanes, CcmModes, CcmTag};
use crate::reveal::reveal_bit;
use crate::{Backend, Block, CcmCipher, Error};

/// Defines a job, with what those of both directions have.
macro_rules! job {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name<'a, C: CcmCipher>(CcmLaneJob<'a, C::Core>);

        impl<C: CcmCipher> $name<'_, C> {
            /// Bytes of data and associated data.
            pub fn bytes(&self) -> usize {
                self.0.bytes()
            }

            /// The result of the job; `Authentication` if it has not run.
            pub fn result(&self) -> Result<(), Error> {
                self.0.result()
            }
        }

        impl<C: CcmCipher> AeadJob for $name<'_, C> {
            fn bytes(&self) -> usize {
                self.0.bytes()
            }

            fn result(&self) -> Result<(), Error> {
                self.0.result()
            }
        }

        impl<C: CcmCipher> fmt::Debug for $name<'_, C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("result", &self.result()).finish_non_exhaustive()
            }
        }
    };
}

job!(
    /// A message to encrypt: its key, nonce, associated data, buffer, and the buffer for its tag.
    Seal
);
job!(
    /// A message to decrypt: its key, nonce, associated data, buffer and tag.
    Open
);

impl<'a, C: CcmCipher> Seal<'a, C> {
    /// Prepares a message to encrypt in place. `nonce` has 7 to 13 bytes; `tag`, which is written, has 4, 6, …, 16.
    ///
    /// # Errors
    /// `NonceLength`, `TagLength`, and `MessageTooLong` for more data than a nonce of this length allows.
    #[inline]
    pub fn new<'n>(
        cipher: &'a C,
        nonce: impl Into<Nonce<'n>>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: impl Into<TagMut<'a>>,
    ) -> Result<Self, Error> {
        lane_job(cipher, nonce.into(), aad, data, CcmTag::Write(tag.into().0)).map(Seal)
    }
}

impl<'a, C: CcmCipher> Open<'a, C> {
    /// Prepares a message to decrypt in place. `nonce` has 7 to 13 bytes, `tag` 4, 6, …, 16.
    ///
    /// # Errors
    /// `NonceLength`, `TagLength`, and `MessageTooLong` for more data than a nonce of this length allows.
    #[inline]
    pub fn new<'n>(
        cipher: &'a C,
        nonce: impl Into<Nonce<'n>>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: impl Into<Tag<'a>>,
    ) -> Result<Self, Error> {
        lane_job(cipher, nonce.into(), aad, data, CcmTag::Check(tag.into().0)).map(Open)
    }
}

#[inline]
fn lane_job<'a, C: CcmCipher>(
    cipher: &'a C,
    nonce: Nonce<'_>,
    aad: Aad<'a>,
    data: &'a mut [u8],
    tag: CcmTag<'a>,
) -> Result<CcmLaneJob<'a, C::Core>, Error> {
    let header = CcmHeader::new(nonce.0, aad.0, data.len(), tag.bytes())?;
    Ok(CcmLaneJob { cipher: cipher.core(), header, data, tag, next: 0, is_authentic: None })
}

impl<C> CcmLaneJob<'_, C> {
    fn bytes(&self) -> usize {
        self.header.aad.len() + self.data.len()
    }

    fn result(&self) -> Result<(), Error> {
        if self.is_authentic == Some(true) { Ok(()) } else { Err(Error::Authentication) }
    }
}

/// The error for batches in which the tag of a message does not match its key, nonce, associated data and ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forged {
    /// Number of such messages.
    pub count: usize,
    /// Index of the first one among the jobs.
    pub first: usize,
}

impl fmt::Display for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "authentication failed for {} of the messages, first for number {}", self.count, self.first)
    }
}

impl core::error::Error for Forged {}

impl From<Forged> for Error {
    fn from(_: Forged) -> Error {
        Error::Authentication
    }
}

/// Encrypts all messages in place and writes their tags. Jobs that have run before are skipped.
///
/// # Errors
/// `NonceRepeated`, as [`check_nonces`] finds it. Nothing is encrypted then.
pub fn seal<C: CcmCipher>(jobs: &mut [Seal<'_, C>]) -> Result<(), Error> {
    check_nonces(jobs)?;
    seal_without_nonce_check(jobs);
    Ok(())
}

/// Checks that no nonce occurs twice with the same key object, as [`seal`] does. Two key objects count as two keys, even if they were
/// created from the same bytes. The check is quick if the nonces, or the addresses of the keys, increase from job to job; otherwise it
/// takes about 10 ns a job.
///
/// # Errors
/// `NonceRepeated` with a job that has the key and nonce of an earlier one.
pub fn check_nonces<C: CcmCipher>(jobs: &mut [Seal<'_, C>]) -> Result<(), Error> {
    // SAFETY: `Seal` is a `repr(transparent)` wrapper of its lane job.
    let lane_jobs: &mut [CcmLaneJob<'_, C::Core>] = unsafe { lane_jobs(jobs) };
    nonces::repeated(lane_jobs).map_or(Ok(()), |job| Err(Error::NonceRepeated { job }))
}

/// [`seal`] without the check, for callers that know that no two of these jobs have the same key and nonce. If two have, an attacker
/// learns about the plaintext of both and can forge messages.
pub fn seal_without_nonce_check<C: CcmCipher>(jobs: &mut [Seal<'_, C>]) {
    // SAFETY: `Seal` is a `repr(transparent)` wrapper of its lane job.
    run::<C>(unsafe { lane_jobs(jobs) }, CipherDirection::Encrypt);
}

/// Decrypts all messages in place. The data of a forged message is wiped; all other messages are decrypted. Jobs that have run before
/// are skipped, but those that were forged count in the error.
///
/// # Errors
/// `Forged` if at least one message is forged. [`Open::result`] says which.
pub fn open<C: CcmCipher>(jobs: &mut [Open<'_, C>]) -> Result<(), Forged> {
    // SAFETY: `Open` is a `repr(transparent)` wrapper of its lane job.
    run::<C>(unsafe { lane_jobs(jobs) }, CipherDirection::Decrypt).map_or(Ok(()), Err)
}

/// The number of AES-CCM messages that fill the lanes of a backend. Another number takes as long as the next multiple of this. `vaes512`
/// hides the latency of AES with half of its usual registers, other backends with all of theirs.
#[doc(hidden)]
#[must_use]
pub fn full_lanes(backend: Backend) -> usize {
    match backend {
        #[cfg(target_arch = "x86_64")]
        Backend::Vaes512 => crate::cpu::ccm_registers() / 2 * 4,
        Backend::Vaes256 | Backend::ArmAes => 8,
        Backend::AesNi => 4,
        _ => 16,
    }
}

/// # Safety
/// `J` must be a `repr(transparent)` wrapper of `T`.
unsafe fn lane_jobs<J, T>(jobs: &mut [J]) -> &mut [T] {
    // SAFETY: the caller guarantees that a `J` has the layout of a `T`, and the slice covers exactly the jobs.
    unsafe { core::slice::from_raw_parts_mut(jobs.as_mut_ptr().cast(), jobs.len()) }
}

/// Runs all pending lane jobs. One pass runs those with the same backend and number of rounds.
fn run<C: CcmCipher>(lane_jobs: &mut [CcmLaneJob<'_, C::Core>], direction: CipherDirection) -> Option<Forged> {
    loop {
        let mut forged = None::<Forged>;
        let mut pending = None;
        for (place, lane_job) in lane_jobs.iter().enumerate() {
            match lane_job.is_authentic {
                Some(true) => {}
                Some(false) => forged.get_or_insert(Forged { count: 0, first: place }).count += 1,
                None => {
                    pending = Some(lane_job.cipher);
                    break;
                }
            }
        }
        let Some(cipher) = pending else { return forged };
        let shared = lane_jobs.iter().all(|lane_job| core::ptr::eq(lane_job.cipher, cipher));
        with_lane_memory(|memory| match direction {
            CipherDirection::Encrypt => cipher.ccm_lanes_encrypt(CcmLanes { lane_jobs, shared, memory }),
            CipherDirection::Decrypt => cipher.ccm_lanes_decrypt(CcmLanes { lane_jobs, shared, memory }),
        });
    }
}

/// Shortest messages, in bytes, for which a separate run of the rest is worth its set-up.
const MIN_DIVIDED_BYTES: usize = 256;
/// Lanes of the smallest flight.
const FEWEST_LANES: usize = 8;

/// Separates the messages that leave a smaller flight's lanes of `lanes` empty: an idle lane takes as long as a busy one. More than half
/// is separated at the half. Messages of several lengths stay together, because short ones fill lanes while long ones run.
fn divide<'j, 'a, C>(
    lane_jobs: &'j mut [CcmLaneJob<'a, C>],
    lanes: usize,
) -> (&'j mut [CcmLaneJob<'a, C>], Option<&'j mut [CcmLaneJob<'a, C>]>) {
    let rest = lane_jobs.len() % lanes;
    let full = match lane_jobs.len() - rest {
        0 if rest > lanes / 2 => lanes / 2,
        full => full,
    };
    let is_worth_it = full > 0
        && (1..=lanes - FEWEST_LANES).contains(&rest)
        && lane_jobs[0].data.len() >= MIN_DIVIDED_BYTES
        && lane_jobs.iter().all(|lane_job| lane_job.data.len() == lane_jobs[0].data.len());
    if !is_worth_it {
        return (lane_jobs, None);
    }
    let (full, rest) = lane_jobs.split_at_mut(full);
    (full, Some(rest))
}

impl<C: CcmCore, const DECRYPTS: bool> CcmOperation for CcmLanes<'_, '_, C, DECRYPTS> {
    type Output = ();

    #[inline(always)]
    fn most_blocks(&self) -> usize {
        self.lane_jobs.len()
    }

    #[inline(always)]
    fn divide(self, blocks: usize) -> (Self, Option<Self>) {
        let Self { shared, memory, .. } = self;
        let (lane_jobs, rest) = divide(self.lane_jobs, blocks);
        (Self { lane_jobs, shared, memory }, rest.map(|lane_jobs| Self { lane_jobs, shared, memory }))
    }

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: CcmEngine,
    {
        schedule::run::<E, _, Ccm<DECRYPTS>, FLIGHT, BLOCKS>(engine, keys, self.lane_jobs, self.shared, self.memory);
    }
}

impl<C> NonceJob for CcmLaneJob<'_, C> {
    #[inline(always)]
    fn key_and_nonce(&self) -> (usize, u128) {
        (core::ptr::from_ref(self.cipher).addr(), u128::from_be_bytes(self.header.counter()))
    }

    #[inline(always)]
    fn link(&mut self) -> &mut usize {
        &mut self.next
    }

    #[inline(always)]
    fn linked(&self) -> usize {
        self.next
    }
}

impl<C: CcmCore> LaneMessage for CcmLaneJob<'_, C> {
    type Cipher = C;
    type Block = Block;

    fn cipher(&self) -> &C {
        self.cipher
    }

    fn is_pending(&self) -> bool {
        self.is_authentic.is_none()
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
    fn first_block(&self) -> &Block {
        &self.header.b0
    }

    #[inline(always)]
    fn counter_mask(&self) -> &Block {
        self.header.counter_mask()
    }

    #[inline(always)]
    fn finish(&mut self, decrypted: bool, chain: &Block, mask: &Block) {
        let tag = || u128::from_ne_bytes(*chain) ^ u128::from_ne_bytes(*mask);
        let mut good = true;
        match &mut self.tag {
            CcmTag::Write(place) if !decrypted => match <&mut Block>::try_from(&mut **place) {
                // The usual length, without a call of memcpy.
                Ok(whole) => *whole = tag().to_ne_bytes(),
                Err(_) => place.copy_from_slice(&tag().to_ne_bytes()[..place.len()]),
            },
            CcmTag::Check(given) if decrypted => {
                // If the message is forged, this is its valid tag.
                let mut tag = tag();
                let difference = match <&Block>::try_from(*given) {
                    Ok(whole) => tag ^ u128::from_ne_bytes(*whole),
                    Err(_) => {
                        // The bytes beyond a short tag are equal.
                        let mut padded = tag.to_ne_bytes();
                        padded[..given.len()].copy_from_slice(given);
                        let difference = tag ^ u128::from_ne_bytes(padded);
                        padded.zeroize();
                        difference
                    }
                };
                tag.zeroize();
                // As `ct_eq` does, whose barrier is a call.
                let different = difference as u64 | (difference >> 64) as u64;
                good = !reveal_bit(core::hint::black_box(((different | different.wrapping_neg()) >> 63) as u8));
            }
            _ => unreachable!("sealing writes a tag, opening checks one"),
        }
        if !good {
            self.data.zeroize();
        }
        self.is_authentic = Some(good);
    }
}

#[cfg(test)]
#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::BlockCipher;
    use crate::aes::Aes;
    use crate::cpu::set_ccm_registers;

    /// What a thread keeps from a call does not depend on keys, data or tags. Nonces, lengths and addresses are the same.
    #[test]
    fn kept_memory_has_no_secrets() {
        let memory = || with_lane_memory(|memory| memory.bytes());
        memory();
        let shapes = [(1, 1, 16, 64), (5, 5, 16, 100), (40, 40, 32, 64), (70, 1, 24, 300)];
        let backends = Aes::BACKENDS.iter().filter(|backend| backend.is_available());
        let cases =
            backends.flat_map(|backend| shapes.map(|shape| [2, 4, 8].map(|registers| (backend, shape, registers))));
        for (backend, (count, key_count, key_bytes, bytes), registers) in cases.flatten() {
            set_ccm_registers(registers);
            let mut messages: Vec<_> = (0..count).map(|_| ([0; 300], [0; 16])).collect();
            let mut kept = |secret: u8| {
                let key = |key| Aes::with_backend(&[secret ^ key; 32][..key_bytes], *backend).unwrap();
                let keys: Vec<_> = (0..key_count).map(key).collect();
                let parts = messages.iter_mut().zip(keys.iter().cycle()).enumerate();
                let jobs = parts.map(|(number, ((data, tag), key))| {
                    data.fill(secret);
                    Seal::new(key, &[number as u8; 12], Aad(b"header"), &mut data[..bytes], tag).unwrap()
                });
                seal_without_nonce_check(&mut jobs.collect::<Vec<_>>());
                let sealed = memory();
                let parts = messages.iter_mut().zip(keys.iter().cycle()).enumerate();
                let jobs = parts.map(|(number, ((data, tag), key))| {
                    tag[0] ^= number as u8 % 2;
                    Open::new(key, &[number as u8; 12], Aad(b"header"), &mut data[..bytes], &*tag).unwrap()
                });
                let forged = open(&mut jobs.collect::<Vec<_>>()).map_or_else(|forged| forged.count, |()| 0);
                assert_eq!(forged, count / 2);
                [sealed, memory()]
            };
            kept(1);
            assert!(kept(3) == kept(0xd5), "{backend:?}: {count} messages, {key_count} keys, {registers} registers");
        }
        set_ccm_registers(0);
    }
}
