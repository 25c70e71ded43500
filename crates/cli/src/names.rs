//! Names of ciphers, modes and backends.

use tress_cipher::catalogue::{CIPHERS, Cipher, Mode};
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::{Backend, cpu};

use crate::failure::Failure;
use crate::usage;

/// A cipher in a mode.
#[derive(Clone, Copy)]
pub(crate) enum RawAlgorithm {
    Block(&'static Cipher, Mode),
    ChaCha20Poly1305,
}

/// The properties of an algorithm that do not depend on a key.
pub(crate) struct RawAlgorithmFacts {
    pub(crate) cipher: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) key_bytes: usize,
    pub(crate) backends: &'static [Backend],
}

impl RawAlgorithm {
    fn all() -> impl Iterator<Item = Self> {
        let modes = |cipher: &'static Cipher| cipher.modes.iter().map(move |mode| Self::Block(cipher, *mode));
        CIPHERS.iter().flat_map(modes).chain([Self::ChaCha20Poly1305])
    }

    pub(crate) fn facts(self) -> RawAlgorithmFacts {
        let (cipher, mode, key_bytes, backends) = match self {
            Self::Block(cipher, mode) => (cipher.name, mode.name(), cipher.key_bytes, cipher.backends),
            Self::ChaCha20Poly1305 => ("chacha20", "poly1305", 32, ChaCha20Poly1305::BACKENDS),
        };
        RawAlgorithmFacts { cipher, mode, key_bytes, backends }
    }

    fn name(self) -> String {
        let RawAlgorithmFacts { cipher, mode, .. } = self.facts();
        format!("{cipher}-{mode}")
    }
}

/// Parses `CIPHER-MODE`.
pub(crate) fn algorithm(name: &str) -> Option<RawAlgorithm> {
    RawAlgorithm::all().find(|algorithm| algorithm.name() == name)
}

/// Known names that are similar to an unknown one, the nearest first.
pub(crate) fn nearest(name: &str) -> Vec<String> {
    usage::nearest(name, RawAlgorithm::all().map(RawAlgorithm::name))
}

/// Parses the name of a backend.
pub(crate) fn backend(name: &str) -> Result<Backend, Failure> {
    Backend::from_name(name).ok_or_else(|| {
        Failure::wrong_use(format!("unknown backend '{name}'")).hint("run 'tress ciphers' for a list of backends")
    })
}

/// Checks `TRESS_CPU`. The libraries ignore unknown features in it, so a typing error would go unnoticed.
pub(crate) fn known_switches() -> Result<(), Failure> {
    let value = std::env::var_os("TRESS_CPU").unwrap_or_default();
    let Some(item) = cpu::unknown_switch(&value.to_string_lossy()).map(str::to_string) else { return Ok(()) };
    let known = cpu::SWITCHES.map(|name| format!("-{name}")).join(", ");
    Err(Failure::wrong_use(format!("TRESS_CPU: unknown feature '{item}'")).hint(format!("known are {known}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_cipher_and_a_mode() {
        for (name, cipher, mode, key_bytes) in [
            ("aes-192-cbc", "aes-192", "cbc", 24),
            ("rijndael-256-192-cbc", "rijndael-256-192", "cbc", 24),
            ("rc6-192-ccm", "rc6-192", "ccm", 24),
            ("rijndael-128-160-ccm", "rijndael-128-160", "ccm", 20),
            ("chacha20-poly1305", "chacha20", "poly1305", 32),
        ] {
            let facts = algorithm(name).unwrap().facts();
            assert_eq!((facts.cipher, facts.mode, facts.key_bytes), (cipher, mode, key_bytes));
        }
        assert_eq!(CIPHERS.len(), 3 + 25 + 3 + 3 + 2);
        for wrong in [
            "",
            "aes-128",
            "aes-129-cbc",
            "aes-128-gcm",
            "chacha20",
            "aes-128-poly1305",
            "-cbc",
            "pipo-128-ccm",
            "rijndael-160-128-ccm",
            "pipo-192-ecb",
        ] {
            assert!(algorithm(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn typing_errors_are_near() {
        assert_eq!(nearest("aes-129-cbc")[0], "aes-128-cbc");
        assert_eq!(nearest("AES128-CTR")[0], "aes-128-ctr");
        assert!(nearest("something else entirely").is_empty());
    }
}
