//! Names of ciphers, modes and backends.

use tress_cipher::catalogue::{self, CIPHERS, Cipher, Mode};
use tress_cipher::{Backend, cpu};

use crate::failure::Failure;
use crate::usage;

/// Parses `CIPHER-MODE`.
pub(crate) fn cipher_and_mode(name: &str) -> Option<(&'static Cipher, Mode)> {
    let (cipher, mode) = name.rsplit_once('-')?;
    let cipher = catalogue::find(cipher)?;
    let mode = cipher.modes.iter().copied().find(|known| known.name() == mode)?;
    Some((cipher, mode))
}

/// Known names that are similar to an unknown one, the nearest first.
pub(crate) fn nearest(name: &str) -> Vec<String> {
    let names =
        |cipher: &'static Cipher| cipher.modes.iter().map(move |mode| format!("{}-{}", cipher.name, mode.name()));
    usage::nearest(name, CIPHERS.iter().flat_map(names))
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
        let (cipher, mode) = cipher_and_mode("aes-192-cbc").unwrap();
        assert_eq!((cipher.key_bytes, mode), (24, Mode::Cbc));
        let (cipher, mode) = cipher_and_mode("rijndael-256-192-cbc").unwrap();
        assert_eq!((cipher.block_bytes, cipher.key_bytes, mode), (32, 24, Mode::Cbc));
        assert!(cipher_and_mode("rc6-192-ccm").is_some() && cipher_and_mode("rijndael-128-160-ccm").is_some());
        assert_eq!(CIPHERS.len(), 3 + 25 + 3 + 3 + 2);
        for wrong in [
            "",
            "aes-128",
            "aes-129-cbc",
            "aes-128-gcm",
            "-cbc",
            "pipo-128-ccm",
            "rijndael-160-128-ccm",
            "pipo-192-ecb",
        ] {
            assert!(cipher_and_mode(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn typing_errors_are_near() {
        assert_eq!(nearest("aes-129-cbc")[0], "aes-128-cbc");
        assert_eq!(nearest("AES128-CTR")[0], "aes-128-ctr");
        assert!(nearest("something else entirely").is_empty());
    }
}
