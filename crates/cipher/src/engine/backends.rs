//! Dispatch over the backends of a cipher.

/// Defines a cipher with a key: an enum with a variant for each backend, from slow to fast. A variant holds the engine, which proves
/// that the machine has the instructions, and the round keys in the form of that backend. A condition in brackets says which blocks the
/// backend has. `of` names the block type; `ccm` names the type that has CCM, if there is one.
macro_rules! backends {
    (
        $(#[$doc:meta])*
        pub enum $name:ident $(<$b:ident: $bound:ident>)? of $block:ident $backends:tt
        $(ccm $ccm:ty)?
    ) => {
        $crate::engine::backends!(@core [$(#[$doc])*] $name [$($b: $bound)?] [$($b)?] $block $backends);
        $($crate::engine::backends!(@ccm $ccm, $backends);)?
    };
    (@core [$($doc:tt)*] $name:ident [$($generics:tt)*] [$($b:ident)?] $block:ident {
        $($(#[cfg($cfg:meta)])? $backend:ident $([$($has_block:tt)+])?: $engine:ty,)*
    }) => {
        $($doc)*
        // The sizes of the variants differ, but the crate has no heap, so the large ones cannot be boxed.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone)]
        pub enum $name<$($generics)*> {
            $($(#[cfg($cfg)])? $backend($engine, <$engine as $crate::engine::Engine>::RoundKeys),)*
        }

        impl<$($generics)*> $name<$($b)?> {
            /// The backends that have this block, and their number.
            const LISTED: &'static ([$crate::cpu::Backend; $crate::cpu::Backend::ALL.len()], usize) = &{
                let (mut listed, mut count) = ([$crate::cpu::Backend::Reference; $crate::cpu::Backend::ALL.len()], 0);
                $(if true $(&& $($has_block)+)? {
                    listed[count] = $crate::cpu::Backend::$backend;
                    count += 1;
                })*
                (listed, count)
            };

            /// The backends, from slow to fast, including those that this machine lacks.
            pub(crate) const BACKENDS: &'static [$crate::cpu::Backend] = Self::LISTED.0.split_at(Self::LISTED.1).0;

            /// `BackendUnavailable` unless the cipher has the backend and the machine has its instructions.
            #[inline]
            pub(crate) fn check(backend: $crate::cpu::Backend) -> Result<(), $crate::error::Error> {
                let found = match backend {
                    $($(#[cfg($cfg)])? $crate::cpu::Backend::$backend => {
                        <$engine as $crate::engine::Engine>::detect().is_some()
                    })*
                    _ => false,
                };
                if found { Ok(()) } else { Err($crate::error::Error::BackendUnavailable(backend)) }
            }

            /// Prepares a key for a backend. Callers have checked the key's length and, with `check`, the backend. So this returns no
            /// `Result`, which would copy the round keys.
            #[inline(always)]
            pub(crate) fn new(key: &[u8], backend: $crate::cpu::Backend) -> Self {
                match backend {
                    $($(#[cfg($cfg)])? $crate::cpu::Backend::$backend => {
                        let Some(engine) = <$engine as $crate::engine::Engine>::detect() else {
                            unreachable!("the backend was checked")
                        };
                        $name::$backend(engine, $crate::engine::Engine::expand_key(engine, key))
                    })*
                    _ => unreachable!("the backend was checked"),
                }
            }

            /// The backend that this key was prepared for.
            pub(crate) fn backend(&self) -> $crate::cpu::Backend {
                match self {
                    $($(#[cfg($cfg)])? $name::$backend(..) => $crate::cpu::Backend::$backend,)*
                }
            }
        }

        impl<$($generics)*> $crate::engine::Core for $name<$($b)?> {
            type Block = $block;

            #[inline]
            fn run<O: $crate::engine::Operation<$block>>(&self, operation: O) -> O::Output {
                match self {
                    $($(#[cfg($cfg)])? $name::$backend(engine, keys) => {
                        $crate::engine::Engine::run(*engine, keys, operation)
                    })*
                }
            }

            #[inline(always)]
            fn round_keys<E: $crate::engine::Engine>(&self) -> Option<&E::RoundKeys> {
                match self {
                    $($(#[cfg($cfg)])? $name::$backend(_, keys) => $crate::engine::round_keys_if_same::<$engine, E>(keys),)*
                }
            }
        }
    };
    (@ccm $ccm:ty, { $($(#[cfg($cfg:meta)])? $backend:ident $([$($has_block:tt)+])?: $engine:ty,)* }) => {
        impl $crate::engine::CcmCore for $ccm {
            #[inline]
            fn run_ccm<O: $crate::engine::CcmOperation>(&self, operation: O) -> O::Output {
                match self {
                    $($(#[cfg($cfg)])? Self::$backend(engine, keys) => {
                        $crate::engine::CcmEngine::run_ccm(*engine, keys, operation)
                    })*
                }
            }
        }
    };
}

pub(crate) use backends;
