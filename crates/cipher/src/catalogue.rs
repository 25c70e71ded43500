//! The list of all ciphers by name, with their blocks, keys, modes and backends.
//!
//! ```
//! use tress_cipher::catalogue::{self, FromKey, WithCipher};
//! use tress_cipher::{Backend, CcmCipher, Error, modes::ctr};
//!
//! /// CTR from counter block 0, by any cipher.
//! struct Ctr<'a>(&'a [u8], Backend, &'a mut [u8]);
//!
//! impl WithCipher for Ctr<'_> {
//!     type Output = Result<(), Error>;
//!
//!     fn block<C: FromKey>(self) -> Self::Output {
//!         let Ctr(key, backend, data) = self;
//!         ctr::apply(&C::with_backend(key, backend)?, &[0; 32][..C::BLOCK_BYTES], data)
//!     }
//!
//!     fn ccm<C: FromKey + CcmCipher>(self) -> Self::Output {
//!         self.block::<C>()
//!     }
//! }
//!
//! let cipher = catalogue::find("rc6-256").expect("a listed name");
//! let mut data = *b"a message";
//! cipher.with(Ctr(&[7; 32], cipher.best_backend(), &mut data))?;
//! # Ok::<(), Error>(())
//! ```

use core::ffi::CStr;

use crate::ciphers::aes::Aes;
use crate::{Backend, BlockCipher, CcmCipher, Error};

/// Calls a macro with the optional first arguments and a list of all cipher types. A list entry has a name for the type, the type, `ccm`
/// if its blocks have 128 bits or else `block`, and the names of its ciphers, which end with the key's length in bits. To add a cipher,
/// add a line here.
#[doc(hidden)]
#[macro_export]
macro_rules! for_every_cipher {
    ([$($with:tt)+] $(, $first:tt)?) => {
        $($with)+! {
            $($first)?
            Rijndael128: $crate::rijndael::Rijndael<16>, ccm,
                ["aes-" 128 192 256] ["rijndael-128-" 128 160 192 224 256];
            Rijndael160: $crate::rijndael::Rijndael<20>, block, ["rijndael-160-" 128 160 192 224 256];
            Rijndael192: $crate::rijndael::Rijndael<24>, block, ["rijndael-192-" 128 160 192 224 256];
            Rijndael224: $crate::rijndael::Rijndael<28>, block, ["rijndael-224-" 128 160 192 224 256];
            Rijndael256: $crate::rijndael::Rijndael<32>, block, ["rijndael-256-" 128 160 192 224 256];
            Rc6: $crate::rc6::Rc6, ccm, ["rc6-" 128 192 256];
            Lea: $crate::lea::Lea, ccm, ["lea-" 128 192 256];
            Pipo: $crate::pipo::Pipo, block, ["pipo-" 128 256];
        }
    };
}

/// A mode of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// [`crate::modes::ecb`].
    Ecb,
    /// [`crate::modes::cbc`].
    Cbc,
    /// [`crate::modes::ctr`].
    Ctr,
    /// [`crate::modes::ccm`], for blocks of 128 bits.
    Ccm,
}

impl Mode {
    /// Every mode. CCM comes last: not every cipher has it.
    pub const ALL: &[Mode] = &[Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Ccm];

    /// The name that the command line uses.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Ccm => "ccm",
        }
    }
}

/// A cipher that can be constructed from a key: every cipher of this crate.
pub trait FromKey: BlockCipher + Sized + Send + Sync + 'static {
    /// Lengths of its keys in bytes, the shortest first.
    const KEY_BYTES: &'static [usize];

    /// Prepares a key for a given backend.
    ///
    /// # Errors
    /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
    fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error>;
}

/// Code that is generic over the cipher's type, for [`Cipher::with`].
pub trait WithCipher {
    /// The result of the code.
    type Output;
    /// Runs for a cipher without CCM.
    fn block<C: FromKey>(self) -> Self::Output;
    /// Runs for a cipher with 128-bit blocks.
    fn ccm<C: FromKey + CcmCipher>(self) -> Self::Output;
}

/// A cipher with keys of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cipher {
    /// The name that the command line uses, such as `aes-128`.
    pub name: &'static str,
    /// `name` as a C string.
    pub c_name: &'static CStr,
    /// Length of a key in bytes.
    pub key_bytes: usize,
    /// Length of a block in bytes.
    pub block_bytes: usize,
    /// The modes that the cipher has.
    pub modes: &'static [Mode],
    /// The backends of the cipher, from slow to fast, including those that this machine lacks.
    pub backends: &'static [Backend],
    #[doc(hidden)]
    pub of: Type,
}

impl Cipher {
    const fn new<C: BlockCipher>(c_name: &'static str, key_bits: usize, of: Type) -> Cipher {
        let Ok(c_name) = CStr::from_bytes_with_nul(c_name.as_bytes()) else { panic!("a name ends with NUL") };
        let Ok(name) = c_name.to_str() else { panic!("a name is text") };
        let (modes, _) = Mode::ALL.split_at(if C::BLOCK_BYTES == crate::BLOCK_BYTES { 4 } else { 3 });
        let (key_bytes, block_bytes) = (key_bits / 8, C::BLOCK_BYTES);
        Cipher { name, c_name, key_bytes, block_bytes, modes, backends: C::BACKENDS, of }
    }

    /// The name up to the first hyphen.
    pub fn family(&self) -> &'static str {
        self.name.split('-').next().unwrap_or(self.name)
    }

    /// The backend that key setup chooses on this machine.
    pub fn best_backend(&self) -> Backend {
        Backend::best_of(self.backends)
    }
}

/// The cipher with this name.
pub fn find(name: &str) -> Option<&'static Cipher> {
    CIPHERS.iter().find(|cipher| cipher.name == name)
}

macro_rules! catalogue {
    ($($of:ident: $type:ty, $kind:ident, $([$name:literal $($bits:literal)*])*;)*) => {
        /// The cipher types of the library.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Type {
            $($of,)*
        }

        /// Every cipher.
        pub static CIPHERS: &[Cipher] =
            &[$($($(Cipher::new::<$type>(concat!($name, $bits, "\0"), $bits, Type::$of),)*)*)*];

        impl Cipher {
            /// Calls `with` with the type of this cipher.
            pub fn with<W: WithCipher>(&self, with: W) -> W::Output {
                match self.of {
                    $(Type::$of => with.$kind::<$type>(),)*
                }
            }
        }

        from_key!($($type,)* Aes);
    };
}

macro_rules! from_key {
    ($($type:ty),*) => {
        $(impl FromKey for $type {
            const KEY_BYTES: &'static [usize] = <$type>::KEY_BYTES;

            fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
                <$type>::with_backend(key, backend)
            }
        })*
    };
}

for_every_cipher!([catalogue]);
