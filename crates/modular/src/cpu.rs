//! What this machine has.
//!
//! Code that uses instructions beyond the target's baseline takes a token, and the only way to make a token is to have
//! detected those instructions. So a call of it on a machine without them does not compile.
//!
//! `--cfg tress_without_avx512`, `--cfg tress_without_adx` and `--cfg tress_without_riscv32` (in `RUSTFLAGS`) build a library
//! without that code. What 32-bit RISC-V has is known when it is compiled.

/// Whether every instruction is taken for there: for an interpreter that has them, in a process whose processor may not.
#[cfg(tress_secrets)]
static ALL: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

/// From now on this process prepares moduli for all lanes, and may use them in the interpreter of machine code only.
#[cfg(tress_secrets)]
#[doc(hidden)]
pub fn take_all_instructions_for_there() {
    ALL.store(true, core::sync::atomic::Ordering::Relaxed);
}

/// Defines a token: its features are detected once, then read from an atomic.
#[allow(unused_macros, reason = "no token on other processors, and in builds without any")]
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $module:ident, [$($feature:tt),+]) => {
        #[cfg(not(miri))]
        cpufeatures::new!($module, $($feature),+);

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            /// The proof that this machine has the instructions, if it has.
            #[inline]
            pub(crate) fn detect() -> Option<Self> {
                #[cfg(tress_secrets)]
                if ALL.load(core::sync::atomic::Ordering::Relaxed) {
                    return Some($name(()));
                }
                #[cfg(not(miri))]
                return $module::get().then_some($name(()));
                #[cfg(miri)]
                None
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", not(tress_without_avx512), feature = "alloc"))]
token!(
    /// This machine has AVX-512 F and IFMA.
    Ifma,
    ifma,
    ["avx512f", "avx512ifma"]
);

#[cfg(all(target_arch = "x86_64", not(tress_without_adx), feature = "alloc"))]
token!(
    /// This machine has MULX (BMI2), and ADCX and ADOX (ADX).
    Adx,
    adx,
    ["bmi2", "adx"]
);
