//! What this machine has.
//!
//! A kernel that uses instructions beyond the target's baseline takes a token, and the only way to make a token is to
//! have detected those instructions. So a call of a kernel on a machine without them does not compile.
//!
//! `--cfg tress_without_avx512`, `--cfg tress_without_vaes` and `--cfg tress_without_aesni` (in `RUSTFLAGS`) build a
//! library that never detects them; the test suite runs on such builds too.

/// An implementation of a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Backend {
    /// Follows the standard line by line. Slow, uses tables, not constant time: for tests and study only.
    Reference,
    /// Bitsliced 64-bit words, constant time, no tables, no instructions beyond the target's baseline.
    Portable,
    /// AES-NI: 128-bit registers.
    AesNi,
    /// VAES on 256-bit registers (AVX2).
    Vaes256,
    /// VAES on 512-bit registers (AVX-512).
    Vaes512,
}

impl Backend {
    /// Every backend, slowest first.
    pub const ALL: [Backend; 5] =
        [Backend::Reference, Backend::Portable, Backend::AesNi, Backend::Vaes256, Backend::Vaes512];

    /// The name that the command line uses.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Reference => "reference",
            Backend::Portable => "portable",
            Backend::AesNi => "aesni",
            Backend::Vaes256 => "vaes256",
            Backend::Vaes512 => "vaes512",
        }
    }

    /// The backend of that name.
    pub fn from_name(name: &str) -> Option<Backend> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// Whether this machine and this build have the backend.
    pub fn is_available(self) -> bool {
        match self {
            Backend::Reference | Backend::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Backend::AesNi => AesNi::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => Vaes256::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => Vaes512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The backend that key setup chooses on this machine. Never `Reference`.
    pub fn best() -> Backend {
        Self::ALL.into_iter().rev().find(|backend| backend.is_available()).unwrap_or(Backend::Portable)
    }
}

/// Defines a token: its features are detected once, then read from an atomic.
#[cfg(target_arch = "x86_64")]
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $module:ident, [$($feature:tt),+], without $($off:ident)|+) => {
        #[cfg(not(miri))]
        cpufeatures::new!($module, $($feature),+);

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The proof that this machine has the instructions, if it has.
            #[inline]
            pub fn detect() -> Option<Self> {
                if cfg!(any(miri, $($off),+)) {
                    return None;
                }
                #[cfg(not(miri))]
                return $module::get().then_some($name(()));
                #[cfg(miri)]
                None
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AES-NI and SSE4.1.
    AesNi,
    aesni,
    ["aes", "ssse3", "sse4.1"],
    without tress_without_aesni
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has VAES and AVX2.
    Vaes256,
    vaes256,
    ["aes", "ssse3", "sse4.1", "avx", "avx2", "vaes"],
    without tress_without_vaes | tress_without_aesni
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has VAES and AVX-512 F, BW, DQ and VL.
    Vaes512,
    vaes512,
    ["aes", "ssse3", "sse4.1", "avx", "avx2", "vaes", "avx512f", "avx512bw", "avx512dq", "avx512vl"],
    without tress_without_avx512 | tress_without_vaes | tress_without_aesni
);
