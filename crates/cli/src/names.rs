//! The ciphers and modes that `raw` and `ciphers` know by name.

use tress_cipher::{Backend, BlockCipher, CcmCipher, Error, aes::Aes, cpu, pipo::Pipo, rc6::Rc6, rijndael::Rijndael};

use crate::{failure::Failure, usage};

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
    /// Bytes of the block.
    Rijndael(usize),
    Rc6,
    Pipo,
}

/// The lengths of Rijndael's blocks and keys.
const RIJNDAEL_BYTES: [usize; 5] = [16, 20, 24, 28, 32];

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
    let named = |name: &str, bytes: usize, family| Cipher::new(format!("{name}-{}", 8 * bytes), bytes, family);
    let mut ciphers: Vec<Cipher> = [16, 24, 32].map(|bytes| named("aes", bytes, Family::Aes)).into();
    for block in RIJNDAEL_BYTES {
        let name = format!("rijndael-{}", 8 * block);
        ciphers.extend(RIJNDAEL_BYTES.map(|key| named(&name, key, Family::Rijndael(block))));
    }
    ciphers.extend([16, 24, 32].map(|bytes| named("rc6", bytes, Family::Rc6)));
    ciphers.extend([16, 32].map(|bytes| named("pipo", bytes, Family::Pipo)));
    ciphers
}

impl Cipher {
    fn new(name: String, key_bytes: usize, family: Family) -> Cipher {
        Cipher { name, key_bytes, family }
    }

    pub(crate) fn block_bytes(&self) -> usize {
        match self.family {
            Family::Aes => Aes::BLOCK_BYTES,
            Family::Rijndael(bytes) => bytes,
            Family::Rc6 => Rc6::BLOCK_BYTES,
            Family::Pipo => Pipo::BLOCK_BYTES,
        }
    }

    /// Slower ones first.
    pub(crate) fn backends(&self) -> &'static [Backend] {
        match self.family {
            Family::Aes => Aes::BACKENDS,
            Family::Rijndael(_) => Rijndael::<16>::BACKENDS,
            Family::Rc6 => Rc6::BACKENDS,
            Family::Pipo => Pipo::BACKENDS,
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
            Family::Rijndael(20) => with.block(&Rijndael::<20>::with_backend(key, backend)?),
            Family::Rijndael(24) => with.block(&Rijndael::<24>::with_backend(key, backend)?),
            Family::Rijndael(28) => with.block(&Rijndael::<28>::with_backend(key, backend)?),
            Family::Rijndael(32) => with.block(&Rijndael::<32>::with_backend(key, backend)?),
            Family::Rijndael(_) => with.ccm(&Rijndael::<16>::with_backend(key, backend)?),
            Family::Rc6 => with.ccm(&Rc6::with_backend(key, backend)?),
            Family::Pipo => with.block(&Pipo::with_backend(key, backend)?),
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

/// The names that an unknown one may stand for, the nearest first.
pub(crate) fn nearest(name: &str) -> Vec<String> {
    let names = |cipher: Cipher| {
        cipher.modes().iter().map(move |mode| format!("{}-{}", cipher.name, mode.name())).collect::<Vec<_>>()
    };
    usage::nearest(name, ciphers().into_iter().flat_map(names))
}

/// The backend that `--backend` names.
pub(crate) fn backend(name: &str) -> Result<Backend, Failure> {
    Backend::from_name(name).ok_or_else(|| {
        Failure::wrong_use(format!("unknown backend '{name}'")).hint("run 'tress ciphers' for a list of backends")
    })
}

/// The libraries ignore what they do not know in `TRESS_CPU`; a slip there would measure what nobody asked for.
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
        assert_eq!((cipher.block_bytes(), cipher.key_bytes, mode), (32, 24, Mode::Cbc));
        assert!(cipher_and_mode("rc6-192-ccm").is_some() && cipher_and_mode("rijndael-128-160-ccm").is_some());
        assert_eq!(ciphers().len(), 3 + 25 + 3 + 2);
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
    fn a_slip_of_the_finger_is_near() {
        assert_eq!(nearest("aes-129-cbc")[0], "aes-128-cbc");
        assert_eq!(nearest("AES128-CTR")[0], "aes-128-ctr");
        assert!(nearest("something else entirely").is_empty());
    }
}
