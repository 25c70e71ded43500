//! Detection of CPU features, and the list of backends.
//!
//! A kernel that uses instructions beyond the target's baseline takes a token as an argument. A token is a proof: only the
//! detection of those instructions creates one. So code cannot call a kernel without detecting its instructions first.
//!
//! The environment variable `TRESS_CPU` disables features for tests and comparisons, for example `TRESS_CPU=-avx512,-aes`
//! ([`SWITCHES`] lists them). It cannot enable any. It is read when a feature is first detected, and only with the feature
//! `std`. Unknown items are ignored; [`unknown_switch`] finds them.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, Ordering};

/// An implementation of a cipher. [`crate::BlockCipher::BACKENDS`] lists the backends of one cipher.
///
/// ```
/// use tress_cipher::{Backend, BlockCipher, aes::Aes};
///
/// let available = Aes::BACKENDS.iter().filter(|backend| backend.is_available());
/// assert!(available.count() >= 2); // `Reference` and `Portable` are always available.
/// assert_eq!(Backend::from_name("portable"), Some(Backend::Portable));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Backend {
    /// Follows the standard line by line. Slow, uses tables, not constant time: for tests and study only.
    Reference,
    /// Constant time, no tables, no instructions beyond the target's baseline.
    Portable,
    /// Assembly for the base instructions of 32-bit RISC-V.
    Riscv32,
    /// 128-bit registers of aarch64 (Neon).
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
    /// Every backend, from slow to fast.
    pub const ALL: &[Backend] = &[
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
        match self.c_name().to_str() {
            Ok(name) => name,
            Err(_) => unreachable!(),
        }
    }

    /// The name as a C string.
    pub const fn c_name(self) -> &'static CStr {
        match self {
            Backend::Reference => c"reference",
            Backend::Portable => c"portable",
            Backend::Riscv32 => c"riscv32",
            Backend::Neon => c"neon",
            Backend::ArmAes => c"arm-aes",
            Backend::AesNi => c"aesni",
            Backend::Avx2 => c"avx2",
            Backend::Vaes256 => c"vaes256",
            Backend::Avx512 => c"avx512",
            Backend::Gfni512 => c"gfni512",
            Backend::Vaes512 => c"vaes512",
        }
    }

    /// The backend with this name.
    pub fn from_name(name: &str) -> Option<Backend> {
        Self::ALL.iter().copied().find(|backend| backend.name() == name)
    }

    /// Whether the backend works on this machine and in this build.
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

    /// The last of `backends` that is available, which key setup chooses. Never `Reference`.
    pub fn best_of(backends: &[Backend]) -> Backend {
        let mut fast = backends.iter().rev().copied().filter(|backend| *backend != Backend::Reference);
        fast.find(|backend| backend.is_available()).unwrap_or(Backend::Portable)
    }
}

/// Names of the features that `TRESS_CPU` can disable, on any machine; `adx` belongs to `tress-modular`, and `ifma` to it and to
/// ChaCha20-Poly1305.
///
/// Disabling a feature also disables those that build on it: `aes` disables VAES; `avx2` disables all backends of 256 and 512 bits;
/// `avx512` disables `gfni`, `ifma` and VAES on 512 bits; both `aes` and `neon` disable the AES instructions of aarch64.
pub const SWITCHES: [&str; 8] = ["aes", "avx2", "vaes", "avx512", "gfni", "neon", "adx", "ifma"];

/// The first unknown item in a value of `TRESS_CPU`. Libraries ignore it; a program can refuse it.
///
/// ```
/// use tress_cipher::cpu::unknown_switch;
///
/// assert_eq!(unknown_switch("-aes,-avx512"), None);
/// assert_eq!(unknown_switch("-aes,avx512"), Some("avx512"));
/// ```
pub fn unknown_switch(value: &str) -> Option<&str> {
    let is_known = |item: &str| item.strip_prefix('-').is_some_and(|name| SWITCHES.contains(&name));
    value.split_terminator(',').find(|item| !is_known(item))
}

/// The value of `TRESS_CPU`. Always empty with the feature `secrets`: those tests cover all backends and run without an environment.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn tress_cpu_value() -> impl core::ops::Deref<Target = str> {
    // Not kept: a process that is forked while another thread sets a `OnceLock` would wait for it.
    #[cfg(all(feature = "std", not(feature = "secrets")))]
    {
        std::env::var_os("TRESS_CPU").unwrap_or_default().to_string_lossy().into_owned()
    }
    #[cfg(not(all(feature = "std", not(feature = "secrets"))))]
    ""
}

/// Whether a value of `TRESS_CPU` disables one of the features `names`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn disables(value: &str, names: &[&str]) -> bool {
    value.split(',').any(|item| item.strip_prefix('-').is_some_and(|name| names.contains(&name)))
}

/// The stored result of a detection, which takes microseconds in a virtual machine: 0, 1 or `UNKNOWN`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct CachedDetection(AtomicU8);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl CachedDetection {
    const UNKNOWN: u8 = 2;

    #[inline]
    fn or_detect(&self, detect: fn() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => self.detect(detect),
            found => found == 1,
        }
    }

    #[cold]
    fn detect(&self, detect: fn() -> bool) -> bool {
        let found = u8::from(detect());
        // If another thread was first, its result counts, because `TRESS_CPU` may have changed.
        let stored = self.0.compare_exchange(Self::UNKNOWN, found, Ordering::Relaxed, Ordering::Relaxed);
        stored.err().unwrap_or(found) == 1
    }
}

/// Defines a token. Its features are detected once; later calls read an atomic. Each name after `without` disables it in `TRESS_CPU`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $module:ident, [$($feature:tt),+], without [$($off:literal),+]) => {
        cpufeatures::new!($module, $($feature),+);

        token!($(#[$doc])* $name, $module, without [$($off),+]);
    };
    ($(#[$doc:meta])* $name:ident, $module:ident, without [$($off:literal),+]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            /// The proof that this machine has the instructions; `None` if it lacks them or `TRESS_CPU` disables them.
            #[inline]
            pub(crate) fn detect() -> Option<Self> {
                static CACHED: CachedDetection = CachedDetection(AtomicU8::new(CachedDetection::UNKNOWN));
                CACHED
                    .or_detect(|| !cfg!(miri) && $module::get() && !disables(&tress_cpu_value(), &[$($off),+]))
                    .then_some($name(()))
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
    without ["aes"]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AVX2.
    Avx2,
    avx2,
    ["ssse3", "sse4.1", "avx", "avx2"],
    without ["avx2"]
);

/// Detects wide AES and carry-less multiplication on 256 bits, which some processors without AVX-512 have (Zen 3, Alder Lake).
/// `cpufeatures` does not find them there: it requires an operating system that saves 512-bit registers.
#[cfg(target_arch = "x86_64")]
mod wide256 {
    use core::arch::x86_64::__cpuid_count;

    cpufeatures::new!(aes_avx2, "aes", "pclmulqdq", "ssse3", "sse4.1", "avx", "avx2");

    /// Whether the machine has AVX2 and the feature of this bit of leaf 7's ECX.
    pub(super) fn has(bit: u32) -> bool {
        // SAFETY: every x86-64 processor has CPUID, and processors with AVX2 have leaf 7.
        #[allow(unused_unsafe, reason = "`__cpuid_count` is still unsafe in the oldest supported Rust")]
        let leaf = || unsafe { __cpuid_count(7, 0) };
        aes_avx2::get() && leaf().ecx >> bit & 1 == 1
    }
}

#[cfg(target_arch = "x86_64")]
mod vaes256 {
    pub(super) fn get() -> bool {
        crate::cpu::wide256::has(9)
    }
}

#[cfg(all(target_arch = "x86_64", feature = "gcm"))]
mod clmul256 {
    pub(super) fn get() -> bool {
        crate::cpu::wide256::has(10)
    }
}

#[cfg(all(target_arch = "x86_64", feature = "gcm"))]
token!(
    /// This machine has carry-less multiplication on 256 bits, and AVX2.
    Clmul256,
    clmul256,
    without ["vaes", "avx2", "aes"]
);

#[cfg(all(target_arch = "x86_64", feature = "gcm"))]
token!(
    /// This machine has carry-less multiplication on 512 bits.
    Clmul512,
    clmul512,
    ["pclmulqdq", "vpclmulqdq", "ssse3", "sse4.1", "avx", "avx2", "avx512f", "avx512bw"],
    without ["vaes", "avx512", "avx2", "aes"]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has VAES and AVX2.
    Vaes256,
    vaes256,
    without ["vaes", "avx2", "aes"]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AVX-512 F, BW, DQ and VL.
    Avx512,
    avx512,
    ["ssse3", "sse4.1", "avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"],
    without ["avx512", "avx2"]
);

#[cfg(all(target_arch = "x86_64", feature = "chacha20poly1305"))]
token!(
    /// This machine has AVX-512 F and IFMA.
    Ifma,
    ifma,
    ["avx512f", "avx512ifma"],
    without ["ifma", "avx512", "avx2"]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has AVX-512 F, BW, DQ, VL and VBMI, and GFNI.
    Gfni512,
    gfni512,
    ["ssse3", "sse4.1", "avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "gfni"],
    without ["gfni", "avx512", "avx2"]
);

#[cfg(target_arch = "x86_64")]
token!(
    /// This machine has VAES and AVX-512 F, BW, DQ, VL and VBMI.
    Vaes512,
    vaes512,
    ["aes", "ssse3", "sse4.1", "avx", "avx2", "vaes", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi"],
    without ["vaes", "avx512", "avx2", "aes"]
);

/// What [`set_ccm_registers`] was called with.
static CCM_REGISTERS: AtomicU8 = AtomicU8::new(0);

/// Sets the number of 512-bit registers in each of the two rows that CCM in lanes encrypts at a time: 2, 4 or 8 (8, 16 or 32 lanes), or 0
/// for the number that is usual on this processor. For tests and measurements; it is in force for calls that begin later, on all threads.
/// Results do not depend on it. Other backends have one number.
#[doc(hidden)]
pub fn set_ccm_registers(registers: u8) {
    CCM_REGISTERS.store(if registers == 0 { 0 } else { registers.clamp(2, 8) }, Ordering::Relaxed);
}

/// The number of 512-bit registers in a row of CCM's lanes. Four hide the latency of processors that start one AES instruction in a cycle,
/// and are 2 to 6 % faster than eight on Zen 4: there is less state to keep in the first-level cache. Zen 5 starts two, and on Emerald
/// Rapids eight are 5 to 7 % faster. Of the processors measured with AVX-512, those two have AVX-VNNI; Ice Lake and Zen 4 do not.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn ccm_registers() -> usize {
    use core::arch::x86_64::{__cpuid, __cpuid_count};

    /// Whether the processor has AVX-VNNI: bit 4 of EAX in subleaf 1 of leaf 7.
    fn has_avx_vnni() -> bool {
        // SAFETY: every x86-64 processor has CPUID. The leaf is read only if it exists; a subleaf that does not is zero.
        #[allow(unused_unsafe, reason = "`__cpuid` is still unsafe in the oldest supported Rust")]
        unsafe {
            __cpuid(0).eax >= 7 && __cpuid_count(7, 1).eax >> 4 & 1 == 1
        }
    }
    static HAS_AVX_VNNI: CachedDetection = CachedDetection(AtomicU8::new(CachedDetection::UNKNOWN));
    match CCM_REGISTERS.load(Ordering::Relaxed) {
        0 if HAS_AVX_VNNI.or_detect(has_avx_vnni) => 8,
        0 => 4,
        registers => registers.into(),
    }
}

#[cfg(target_arch = "aarch64")]
token!(
    /// This machine has the AES instructions of aarch64.
    ArmAes,
    arm_aes,
    ["aes"],
    without ["aes", "neon"]
);

/// Every aarch64 has 128-bit registers.
#[cfg(target_arch = "aarch64")]
mod neon {
    pub(super) fn get() -> bool {
        true
    }
}

#[cfg(target_arch = "aarch64")]
token!(
    /// This machine is an aarch64, which always has 128-bit registers.
    Neon,
    neon,
    without ["neon"]
);

/// This machine is a 32-bit RISC-V, which always has RV32I.
#[cfg(target_arch = "riscv32")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Riscv32(());

#[cfg(target_arch = "riscv32")]
impl Riscv32 {
    /// The proof that this is a 32-bit RISC-V, which Miri does not interpret.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        (!cfg!(miri)).then_some(Riscv32(()))
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn the_first_detection_counts() {
        let cached = CachedDetection(AtomicU8::new(CachedDetection::UNKNOWN));
        let results = [cached.detect(|| true), cached.detect(|| false), cached.or_detect(|| false)];
        assert_eq!(results, [true; 3]);
    }

    #[test]
    fn switches_disable_what_they_name() {
        // Value, the features that it disables, and its first unknown item.
        let cases: [(&str, &[&str], Option<&str>); 9] = [
            ("", &[], None),
            ("-aes", &["aes"], None),
            ("-avx512,-adx", &["avx512", "adx"], None),
            ("-aes,", &["aes"], None),
            ("aes", &[], Some("aes")),
            ("+aes,-vaes", &["vaes"], Some("+aes")),
            ("-vaes,-AES", &["vaes"], Some("-AES")),
            ("-gfni, -aes", &["gfni"], Some(" -aes")),
            (",-aesni,-", &[], Some("")),
        ];
        for (value, expected, unknown) in cases {
            let disabled = SWITCHES.iter().filter(|name| disables(value, &[name]));
            assert!(disabled.eq(SWITCHES.iter().filter(|name| expected.contains(name))), "{value:?}");
            assert_eq!(unknown_switch(value), unknown, "{value:?}");
        }
    }
}
