//! The types of ciphers whose blocks have one size: one type with keys of all lengths, and one for each length, as the RustCrypto
//! traits require (`rustcrypto.rs`).

/// Defines a cipher: its type, the type of its round keys, its blocks, the lengths of its keys in bytes, its name in debug output (and
/// the bytes of its counter in CTR), then the types of its key lengths.
macro_rules! cipher {
    (
        $(#[$doc:meta])*
        $name:ident: $key:ty, $block:ty, [$($key_bytes:literal),+], $text:literal $(, counter $counter:literal)?;
        $($(#[$fixed_doc:meta])* $fixed:ident;)+
    ) => {
        $(#[$doc])*
        // The order of the fields puts the round keys at a multiple of 16 bytes.
        #[repr(C)]
        #[derive(Clone)]
        pub struct $name {
            key_bytes: usize,
            key: $key,
        }

        impl $name {
            /// Lengths of a key in bytes.
            pub const KEY_BYTES: &'static [usize] = &[$($key_bytes),+];

            /// Prepares a key for the fastest backend of this machine.
            ///
            /// # Errors
            /// `KeyLength` for lengths that are not in [`Self::KEY_BYTES`].
            pub fn new(key: &[u8]) -> Result<$name, $crate::Error> {
                Self::with_backend(key, $crate::Backend::best_of(<Self as $crate::BlockCipher>::BACKENDS))
            }

            /// Prepares a key for a given backend.
            ///
            /// # Errors
            /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
            pub fn with_backend(key: &[u8], backend: $crate::Backend) -> Result<$name, $crate::Error> {
                if !Self::KEY_BYTES.contains(&key.len()) {
                    return Err($crate::Error::KeyLength);
                }
                <$key>::check(backend)?;
                Ok(Self::prepare(key, backend))
            }

            /// Prepares a key for a backend. Callers have checked both.
            #[inline(always)]
            pub(crate) fn prepare(key: &[u8], backend: $crate::Backend) -> Self {
                $name { key: <$key>::new(key, backend), key_bytes: key.len() }
            }

            /// The backend that this key was prepared for.
            pub fn backend(&self) -> $crate::Backend {
                self.key.backend()
            }

            /// Length of the key in bytes.
            pub fn key_bytes(&self) -> usize {
                self.key_bytes
            }

            /// Encrypts blocks in place, each separately (ECB).
            pub fn encrypt_blocks(&self, blocks: &mut [$block]) {
                self.ecb(blocks, $crate::engine::CipherDirection::Encrypt);
            }

            /// Decrypts blocks in place, each separately (ECB).
            pub fn decrypt_blocks(&self, blocks: &mut [$block]) {
                self.ecb(blocks, $crate::engine::CipherDirection::Decrypt);
            }

            fn ecb(&self, blocks: &mut [$block], direction: $crate::engine::CipherDirection) {
                let data = $crate::block::flat_mut(blocks);
                $crate::operation::Modes::ecb(&self.key, $crate::operation::Ecb { data, direction });
            }
        }

        impl $crate::block_cipher::Sealed for $name {}

        impl $crate::BlockCipher for $name {
            const BLOCK_BYTES: usize = size_of::<$block>();
            $(const COUNTER_BYTES: usize = $counter;)?
            const BACKENDS: &'static [$crate::Backend] = <$key>::BACKENDS;
            type Core = $key;

            fn core(&self) -> &$key {
                &self.key
            }

            fn backend(&self) -> $crate::Backend {
                self.key.backend()
            }
        }

        /// Shows the variant and the backend, never the key.
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!($text, "{} ({})"), 8 * self.key_bytes, self.key.backend().name())
            }
        }

        $($crate::ciphers::define::fixed_key_size!($(#[$fixed_doc])* $fixed: $name);)+
    };
}

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
            const COUNTER_BYTES: usize = <$cipher as $crate::BlockCipher>::COUNTER_BYTES;
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

pub(crate) use {cipher, fixed_key_size};
