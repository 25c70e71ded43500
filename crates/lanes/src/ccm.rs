//! CCM (SP 800-38C) of many messages, in lanes on every core.

use tress_cipher::lanes::ccm::{Forged, Open, Seal};
use tress_cipher::{CcmCipher, Error};

use crate::{Pool, aead};

/// [`seal`](aead::seal) for CCM.
///
/// # Errors
/// As there.
pub fn seal<'a, C: CcmCipher + 'a>(jobs: &mut [Seal<'a, C>], pool: &Pool, threads: usize) -> Result<(), Error> {
    aead::seal::<C>(jobs, pool, threads)
}

/// [`open`](aead::open) for CCM.
///
/// # Errors
/// As there.
pub fn open<'a, C: CcmCipher + 'a>(jobs: &mut [Open<'a, C>], pool: &Pool, threads: usize) -> Result<(), Forged> {
    aead::open::<C>(jobs, pool, threads)
}
