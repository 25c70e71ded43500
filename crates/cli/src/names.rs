//! The ciphers and modes that `raw` and `ciphers` know by name.

use tress_cipher::{Backend, BlockCipher, CcmCipher, Error, aes::Aes};

use crate::failure::Failure;

/// A cipher by the name that the command line uses.
pub(crate) struct Cipher {
    pub(crate) name: String,
    pub(crate) key_bytes: usize,
    family: Family,
}

/// Which type of the library it is.
#[derive(Clone, Copy)]
enum Family {
    Aes,
}

/// Something to do with a cipher of whatever type.
pub(crate) trait WithCipher {
    type Output;
    /// A cipher that has no CCM.
    fn block<C: BlockCipher>(self, cipher: &C) -> Self::Output;
    /// A cipher with 128-bit blocks.
    fn ccm<C: CcmCipher>(self, cipher: &C) -> Self::Output;
}

/// Every cipher.
pub(crate) fn ciphers() -> Vec<Cipher> {
    let aes = [16, 24, 32].map(|bytes| Cipher::new(format!("aes-{}", 8 * bytes), bytes, Family::Aes));
    aes.into()
}

impl Cipher {
    fn new(name: String, key_bytes: usize, family: Family) -> Cipher {
        Cipher { name, key_bytes, family }
    }

    pub(crate) fn block_bytes(&self) -> usize {
        match self.family {
            Family::Aes => Aes::BLOCK_BYTES,
        }
    }

    /// Slower ones first.
    pub(crate) fn backends(&self) -> &'static [Backend] {
        match self.family {
            Family::Aes => Aes::BACKENDS,
        }
    }

    /// CCM needs blocks of 128 bits.
    pub(crate) fn modes(&self) -> &'static [Mode] {
        if self.block_bytes() == tress_cipher::BLOCK_BYTES { &Mode::ALL } else { &Mode::ALL[..3] }
    }

    /// Prepares the key, for the fastest backend unless one is given.
    pub(crate) fn with<W: WithCipher>(
        &self,
        key: &[u8],
        backend: Option<Backend>,
        with: W,
    ) -> Result<W::Output, Error> {
        let backend = backend.unwrap_or_else(|| Backend::best_of(self.backends()));
        Ok(match self.family {
            Family::Aes => with.ccm(&Aes::with_backend(key, backend)?),
        })
    }
}

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
pub(crate) fn cipher_and_mode(name: &str) -> Option<(Cipher, Mode)> {
    let (cipher, mode) = name.rsplit_once('-')?;
    let cipher = ciphers().into_iter().find(|known| known.name == cipher)?;
    let mode = cipher.modes().iter().copied().find(|known| known.name() == mode)?;
    Some((cipher, mode))
}

/// The names that are most like an unknown one: at most three, the nearest first.
pub(crate) fn nearest(name: &str) -> Vec<String> {
    let all = ciphers().into_iter().flat_map(|cipher| {
        let name = cipher.name.clone();
        cipher.modes().iter().map(move |mode| format!("{name}-{}", mode.name())).collect::<Vec<_>>()
    });
    let mut near: Vec<(usize, String)> =
        all.map(|known| (strsim::damerau_levenshtein(&name.to_lowercase(), &known), known)).collect();
    near.sort();
    near.into_iter().filter(|(distance, _)| *distance <= name.len() / 3 + 1).take(3).map(|(_, name)| name).collect()
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

    #[test]
    fn a_slip_of_the_finger_is_near() {
        assert_eq!(nearest("aes-129-cbc")[0], "aes-128-cbc");
        assert_eq!(nearest("AES128-CTR")[0], "aes-128-ctr");
        assert!(nearest("something else entirely").is_empty());
    }
}
