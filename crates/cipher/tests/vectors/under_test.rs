//! The interface of a cipher that its vectors need in addition to `BlockCipher`.

use tress_cipher::{Backend, BlockCipher};

use crate::vectors::file::{GroupKind, VectorTest};

pub(crate) trait VectorCipher: BlockCipher + Sized {
    /// The folder of its files below `vectors/`.
    const FOLDER: &'static str;

    /// Prepares a vector's key for an available backend.
    fn prepare(backend: Backend, key: &[u8]) -> Self;
    /// The cipher's own functions for whole blocks.
    fn encrypt_blocks(&self, data: &mut [u8]);
    fn decrypt_blocks(&self, data: &mut [u8]);
    /// Runs the test through the RustCrypto traits, with the type for its key length.
    fn through_traits(kind: GroupKind, test: &VectorTest, label: &str);
}

/// Implements `VectorCipher` for `$name`, which has a type for each key length.
macro_rules! under_test {
    ($name:ident in $folder:literal by $one:ident, $($bytes:literal $fixed:ty),*) => {
        impl $crate::vectors::under_test::VectorCipher for $name {
            const FOLDER: &'static str = $folder;

            fn prepare(backend: tress_cipher::Backend, key: &[u8]) -> Self {
                let cipher = $name::with_backend(key, backend).expect("an available backend and a vector's key");
                assert_eq!(tress_cipher::BlockCipher::backend(&cipher), backend);
                assert_eq!(cipher.key_bytes(), key.len());
                cipher
            }

            fn encrypt_blocks(&self, data: &mut [u8]) {
                let (blocks, []) = data.as_chunks_mut() else { panic!("not whole blocks") };
                $name::encrypt_blocks(self, blocks);
            }

            fn decrypt_blocks(&self, data: &mut [u8]) {
                let (blocks, []) = data.as_chunks_mut() else { panic!("not whole blocks") };
                $name::decrypt_blocks(self, blocks);
            }

            fn through_traits(kind: $crate::vectors::file::GroupKind, test: &$crate::vectors::file::VectorTest, label: &str) {
                match test.key.len() {
                    $($bytes => $crate::vectors::traits::$one::<$fixed>(kind, test, label),)*
                    _ => panic!("{label}: no type for this key length"),
                }
            }
        }
    };
}

pub(crate) use under_test;
