//! What this machine has.
//!
//! A kernel that uses instructions beyond the target's baseline takes a token, and the only way to make a token is to
//! have detected those instructions. So a call of a kernel on a machine without them does not compile.
//!
//! `--cfg tress_without_avx512`, `_avx2`, `_vaes` and `_aesni` (in `RUSTFLAGS`) build a library that never detects them;
//! the test suite runs on such builds too.

/// An implementation of a cipher. Each cipher has its own choice of them: [`crate::BlockCipher::BACKENDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Backend {
    /// Follows the standard line by line. Slow, uses tables, not constant time: for tests and study only.
    Reference,
    /// Constant time, no tables, no instructions beyond the target's baseline.
    Portable,
    /// Assembly for the base instructions of 32-bit RISC-V.
    Riscv32,
    /// 128-bit registers of aarch64.
    Neon,
    /// The AES instructions of aarch64.
    ArmAes,
    /// AES-NI: 128-bit registers.
    AesNi,
    /// 256-bit registers (AVX2).
    Avx2,
    /// VAES on 256-bit registers (AVX2).
    Vaes256,
    /// 512-bit registers (AVX-512).
    Avx512,
    /// 512-bit registers with bit matrices (AVX-512, GFNI).
    Gfni512,
    /// VAES on 512-bit registers (AVX-512).
    Vaes512,
}

impl Backend {
    /// Every backend, slower ones first.
    pub const ALL: [Backend; 11] = [
        Backend::Reference,
        Backend::Portable,
        Backend::Riscv32,
        Backend::Neon,
        Backend::ArmAes,
        Backend::AesNi,
        Backend::Avx2,
        Backend::Vaes256,
        Backend::Avx512,
        Backend::Gfni512,
        Backend::Vaes512,
    ];

    /// The name that the command line uses.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Reference => "reference",
            Backend::Portable => "portable",
            Backend::Riscv32 => "riscv32",
            Backend::Neon => "neon",
            Backend::ArmAes => "arm-aes",
            Backend::AesNi => "aesni",
            Backend::Avx2 => "avx2",
            Backend::Vaes256 => "vaes256",
            Backend::Avx512 => "avx512",
            Backend::Gfni512 => "gfni512",
            Backend::Vaes512 => "vaes512",
        }
    }

    /// The backend of that name.
    pub fn from_name(name: &str) -> Option<Backend> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// Whether this machine and this build have what the backend needs.
    pub fn is_available(self) -> bool {
        match self {
            Backend::Reference | Backend::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Backend::AesNi => AesNi::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => Vaes256::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Gfni512 => Gfni512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => Vaes512::detect().is_some(),
            #[cfg(target_arch = "riscv32")]
            Backend::Riscv32 => Riscv32::detect().is_some(),
            #[cfg(target_arch = "aarch64")]
            Backend::Neon => Neon::detect().is_some(),
            #[cfg(target_arch = "aarch64")]
            Backend::ArmAes => ArmAes::detect().is_some(),
            _ => false,
        }
    }

    /// The last of `backends` that is available: what key setup chooses. Never `Reference`.
    pub fn best_of(backends: &[Backend]) -> Backend {
        let mut fast = backends.iter().rev().copied().filter(|backend| *backend != Backend::Reference);
        fast.find(|backend| backend.is_available()).unwrap_or(Backend::Portable)
    }
}

/// Defines a token: its features are detected once, then read from an atomic.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $module:ident, [$($feature:tt),+], without [$($off:ident),*]) => {
        #[cfg(not(miri))]
        cpufeatures::new!($module, $($feature),+);

        token!($(#[$doc])* $name, $module, without [$($off),*]);
    };
    ($(#[$doc:meta])* $name:ident, $module:ident, without [$($off:ident),*]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The proof that this machine has the instructions, if it has.
            #[inline]
            pub fn detect() -> Option<Self> {
                if cfg!(any(miri, $($off),*)) {
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
    without [tress_without_aesni]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AVX2.
    Avx2,
    avx2,
    ["ssse3", "sse4.1", "avx", "avx2"],
    without [tress_without_avx2]
);

/// VAES on 256 bits, which processors without AVX-512 have as well (Zen 3, Alder Lake); `cpufeatures` says that none has it
/// whose system does not keep registers of 512 bits.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vaes256 {
    use core::arch::x86_64::__cpuid_count;
    use core::sync::atomic::{AtomicU8, Ordering};

    cpufeatures::new!(aes_avx2, "aes", "ssse3", "sse4.1", "avx", "avx2");

    const UNKNOWN: u8 = 2;

    pub(super) fn get() -> bool {
        // CPUID takes microseconds in a virtual machine.
        static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
        match KNOWN.load(Ordering::Relaxed) {
            UNKNOWN => {
                // Who has AVX2 has leaf 7. Bit 9 of ECX is VAES.
                let found = aes_avx2::get() && __cpuid_count(7, 0).ecx >> 9 & 1 == 1;
                KNOWN.store(u8::from(found), Ordering::Relaxed);
                found
            }
            known => known == 1,
        }
    }
}

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has VAES and AVX2.
    Vaes256,
    vaes256,
    without [tress_without_vaes, tress_without_avx2, tress_without_aesni]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AVX-512 F, BW, DQ and VL.
    Avx512,
    avx512,
    ["ssse3", "sse4.1", "avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"],
    without [tress_without_avx512, tress_without_avx2]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AVX-512 F, BW, DQ, VL and VBMI, and GFNI.
    Gfni512,
    gfni512,
    ["ssse3", "sse4.1", "avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "gfni"],
    without [tress_without_avx512, tress_without_avx2]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has VAES and AVX-512 F, BW, DQ, VL and VBMI.
    Vaes512,
    vaes512,
    ["aes", "ssse3", "sse4.1", "avx", "avx2", "vaes", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi"],
    without [tress_without_avx512, tress_without_vaes, tress_without_avx2, tress_without_aesni]
);

#[cfg(target_arch = "aarch64")]
token!(
    /// This machine has the AES instructions of aarch64.
    ArmAes,
    arm_aes,
    ["aes"],
    without [tress_without_aesni]
);

/// This machine is an aarch64, which always has 128-bit registers.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

#[cfg(target_arch = "aarch64")]
impl Neon {
    /// The proof of it.
    #[inline]
    pub fn detect() -> Option<Self> {
        (!cfg!(miri)).then_some(Neon(()))
    }
}

/// This machine is a 32-bit RISC-V, which always has RV32I.
#[cfg(target_arch = "riscv32")]
#[derive(Clone, Copy, Debug)]
pub struct Riscv32(());

#[cfg(target_arch = "riscv32")]
impl Riscv32 {
    /// The proof of it.
    #[inline]
    pub fn detect() -> Option<Self> {
        (!cfg!(miri)).then_some(Riscv32(()))
    }
}
