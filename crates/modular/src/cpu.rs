//! Detects the instructions of this machine.
//!
//! Code that uses instructions beyond the target's baseline takes a token. The only way to make a token is to detect those instructions, so
//! code that calls it without detection does not compile.
//!
//! `TRESS_CPU=-avx512,-adx` in the environment disables features, as in `tress_cipher::cpu`: `adx`, `ifma`, and `avx512` and `avx2`, on
//! which IFMA depends. It can only disable features; other items are ignored. It is read when a token is first requested, and only
//! with the feature `std`.

use core::sync::atomic::{AtomicU8, Ordering};

/// Whether to assume that all instructions are available.
#[cfg(feature = "secrets")]
static ASSUME_ALL: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

/// From now on this process prepares moduli for all lanes. For an interpreter that supports all instructions, in a process whose processor
/// may not.
///
/// # Safety
/// On a processor without BMI2, ADX and AVX-512 IFMA, no code that uses them may run outside of the interpreter.
#[cfg(feature = "secrets")]
#[doc(hidden)]
pub unsafe fn take_all_instructions_for_there() {
    ASSUME_ALL.store(true, Ordering::Relaxed);
}

/// The value of `TRESS_CPU`. Tests of secrets cover all code, and their interpreter has no environment.
fn tress_cpu() -> impl core::ops::Deref<Target = str> {
    // Not kept: a process that is forked while another thread sets a `OnceLock` would wait for it.
    #[cfg(all(feature = "std", not(feature = "secrets")))]
    {
        std::env::var_os("TRESS_CPU").unwrap_or_default().to_string_lossy().into_owned()
    }
    #[cfg(not(all(feature = "std", not(feature = "secrets"))))]
    ""
}

/// Whether a value of `TRESS_CPU` disables one of these features.
fn disables(value: &str, names: &[&str]) -> bool {
    value.split(',').any(|item| item.strip_prefix('-').is_some_and(|name| names.contains(&name)))
}

/// A cached detection result: detection takes microseconds in a virtual machine.
struct CachedDetection(AtomicU8);

impl CachedDetection {
    const UNKNOWN: u8 = 2;

    #[inline]
    fn or_detect(&self, detect: fn() -> bool) -> bool {
        #[cfg(feature = "secrets")]
        if ASSUME_ALL.load(Ordering::Relaxed) {
            return true;
        }
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => self.detect(detect),
            found => found == 1,
        }
    }

    #[cold]
    fn detect(&self, detect: fn() -> bool) -> bool {
        let found = detect();
        self.0.store(u8::from(found), Ordering::Relaxed);
        found
    }
}

/// Defines a token. Its features are detected once, then read from an atomic. `TRESS_CPU` can disable it by any of the names.
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $module:ident, [$($feature:tt),+], without [$($off:literal),+]) => {
        cpufeatures::new!($module, $($feature),+);

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            /// Returns a token if this machine has the instructions and `TRESS_CPU` does not disable them.
            #[inline]
            pub(crate) fn detect() -> Option<Self> {
                static FOUND: CachedDetection = CachedDetection(AtomicU8::new(CachedDetection::UNKNOWN));
                FOUND
                    .or_detect(|| !cfg!(miri) && $module::get() && !disables(&tress_cpu(), &[$($off),+]))
                    .then_some($name(()))
            }
        }
    };
}

token!(
    /// Proof that this machine has AVX-512 F and IFMA.
    Ifma,
    ifma,
    ["avx512f", "avx512ifma"],
    without ["ifma", "avx512", "avx2"]
);

token!(
    /// Proof that this machine has MULX (BMI2), and ADCX and ADOX (ADX).
    Adx,
    adx,
    ["bmi2", "adx"],
    without ["adx"]
);
