//! Ciphers whose type determines the length of the key, as the RustCrypto traits require (`rustcrypto.rs`).

/// Defines the type for one key length of `$cipher`.
macro_rules! fixed_key_size {
    ($(#[$doc:meta])* $name:ident: $cipher:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name($cipher);

        impl $name {
            /// Prepares a key, which must have the length of this type.
            pub(crate) fn from_key(key: &[u8]) -> Self {
                // `best_of` returns an available backend.
                let backend = $crate::Backend::best_of(<Self as $crate::BlockCipher>::BACKENDS);
                $name(<$cipher>::prepare(key, backend))
            }
        }

        impl $crate::block_cipher::Sealed for $name {}

        impl $crate::BlockCipher for $name {
            const BLOCK_BYTES: usize = <$cipher as $crate::BlockCipher>::BLOCK_BYTES;
            const BACKENDS: &'static [$crate::Backend] = <$cipher as $crate::BlockCipher>::BACKENDS;
            type Core = <$cipher as $crate::BlockCipher>::Core;

            fn core(&self) -> &Self::Core {
                self.0.core()
            }

            fn backend(&self) -> $crate::Backend {
                self.0.backend()
            }
        }

        impl AsRef<$cipher> for $name {
            fn as_ref(&self) -> &$cipher {
                &self.0
            }
        }

        impl zeroize::ZeroizeOnDrop for $name {}
    };
}

pub(crate) use fixed_key_size;
