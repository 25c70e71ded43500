//! Passphrases, by age's scrypt recipient with a fixed work factor. age would measure this machine and choose a work factor of about a
//! second, so that a small machine could not open a file made on a big one.

use std::{hint, io};

use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use crate::{Error, ErrorKind};

/// scrypt work factor (log2 of N) of the containers that we write: 256 MiB of memory.
pub const WORK_FACTOR: u8 = 18;
/// Largest scrypt work factor that we accept unless a caller raises it: 1 GiB of memory.
pub const MAX_WORK_FACTOR: u8 = 20;
/// Largest scrypt work factor that a caller can have accepted: 4 GiB of memory, as in `age`.
pub const LARGEST_WORK_FACTOR: u8 = 22;

/// The note before a passphrase is tried in another form, which takes as long again.
pub(super) const OTHER_FORM: &str = "the passphrase does not fit: trying its other Unicode form";

/// The other of the Unicode forms NFC and NFD of a passphrase: none if there is no difference. A text in neither form has both.
pub fn other_forms(passphrase: &str) -> Vec<Zeroizing<String>> {
    // Growing would leave copies behind. No character's decomposition has more than three times its bytes.
    let in_form = |letters: &mut dyn Iterator<Item = char>| {
        let mut text = Zeroizing::new(String::with_capacity(4 * passphrase.len()));
        text.extend(letters);
        text
    };
    let forms = [in_form(&mut passphrase.nfc()), in_form(&mut passphrase.nfd())];
    forms.into_iter().filter(|form| **form != passphrase).collect()
}

pub(super) fn check(passphrase: &str, work_factor: u8) -> Result<(), Error> {
    if passphrase.is_empty() {
        return Err(Error::new(ErrorKind::BadPassphrase).with_detail("empty"));
    }
    if !(1..=LARGEST_WORK_FACTOR).contains(&work_factor) {
        return Err(Error::new(ErrorKind::WorkFactorTooHigh).with_detail(format!("1 to {LARGEST_WORK_FACTOR}")));
    }
    Ok(())
}

/// Checks that there is memory for scrypt with this work factor. Without it, crate `scrypt` would abort the process.
pub(super) fn check_memory(work_factor: u8) -> io::Result<()> {
    let bytes = 1024_u64.checked_shl(work_factor.into()).and_then(|bytes| bytes.try_into().ok()).unwrap_or(usize::MAX);
    let mut block = Vec::<u8>::new();
    let reserved = block.try_reserve_exact(bytes);
    // The compiler may leave out an allocation that it sees unused, and assume that it succeeds.
    hint::black_box(&mut block);
    reserved.map_err(|_| {
        let text = format!("not enough memory: the passphrase needs {} MiB", bytes >> 20);
        Error::new(ErrorKind::Io(io::ErrorKind::OutOfMemory)).with_detail(text).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Identities, Recipients};

    #[test]
    fn unusable_passphrases_are_refused() {
        let cases = [0, LARGEST_WORK_FACTOR + 1, 64, 255].map(|factor| ("p", factor, ErrorKind::WorkFactorTooHigh));
        for (text, factor, expected) in [("", WORK_FACTOR, ErrorKind::BadPassphrase)].into_iter().chain(cases) {
            assert_eq!(Recipients::from_passphrase_with_work_factor(text, factor).unwrap_err().kind, expected);
            assert_eq!(Identities::from_passphrase_up_to(text, factor).unwrap_err().kind, expected);
        }
    }
}
