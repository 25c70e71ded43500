//! The ciphers and modes that `raw` and `ciphers` know by name.

use tress_cipher::Backend;

use crate::failure::Failure;

/// A cipher by the name that the command line uses.
pub(crate) struct Cipher {
    pub(crate) name: &'static str,
    pub(crate) key_bytes: usize,
}

pub(crate) const CIPHERS: [Cipher; 3] = [
    Cipher { name: "aes-128", key_bytes: 16 },
    Cipher { name: "aes-192", key_bytes: 24 },
    Cipher { name: "aes-256", key_bytes: 32 },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Ecb,
    Cbc,
    Ctr,
    Ccm,
}

impl Mode {
    pub(crate) const ALL: [Mode; 4] = [Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Ccm];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Ccm => "ccm",
        }
    }
}

/// The cipher and the mode of `CIPHER-MODE`.
pub(crate) fn cipher_and_mode(name: &str) -> Option<(&'static Cipher, Mode)> {
    let (cipher, mode) = name.rsplit_once('-')?;
    Some((
        CIPHERS.iter().find(|known| known.name == cipher)?,
        Mode::ALL.into_iter().find(|known| known.name() == mode)?,
    ))
}

/// The backend that `--backend` names.
pub(crate) fn backend(name: &str) -> Result<Backend, Failure> {
    Backend::from_name(name).ok_or_else(|| {
        Failure::wrong_use(format!("unknown backend '{name}'")).hint("'tress ciphers' lists the backends")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_cipher_and_a_mode() {
        let (cipher, mode) = cipher_and_mode("aes-192-cbc").unwrap();
        assert_eq!((cipher.key_bytes, mode), (24, Mode::Cbc));
        for wrong in ["", "aes-128", "aes-129-cbc", "aes-128-gcm", "-cbc"] {
            assert!(cipher_and_mode(wrong).is_none(), "{wrong:?}");
        }
    }
}
