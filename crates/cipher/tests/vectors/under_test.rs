//! What a cipher needs beside `BlockCipher` for its vectors to be run.

use tress_cipher::{Backend, BlockCipher};

use crate::vectors::file::{Kind, Test};
use crate::vectors::traits;

pub(crate) trait UnderTest: BlockCipher + Sized {
    /// Where its files are, below `vectors/`.
    const FOLDER: &'static str;

    /// The cipher with a vector's key on a backend that this machine has.
    fn prepare(backend: Backend, key: &[u8]) -> Self;
    /// The cipher's own functions for whole blocks.
    fn encrypt_blocks(&self, data: &mut [u8]);
    fn decrypt_blocks(&self, data: &mut [u8]);
    /// The test through the RustCrypto traits, with the type of the key's size.
    fn through_traits(kind: Kind, test: &Test, what: &str);
}

/// `$name` with the types of its key sizes.
macro_rules! under_test {
    ($name:ident in $folder:literal by $one:ident, $($bytes:literal $fixed:ty),*) => {
        impl UnderTest for $name {
            const FOLDER: &'static str = $folder;

            fn prepare(backend: Backend, key: &[u8]) -> Self {
                let cipher = $name::with_backend(key, backend).expect("an available backend and a vector's key");
                assert_eq!(cipher.backend(), backend);
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

            fn through_traits(kind: Kind, test: &Test, what: &str) {
                match test.key.len() {
                    $($bytes => traits::$one::<$fixed>(kind, test, what),)*
                    _ => panic!("{what}: there is no type for this key size"),
                }
            }
        }
    };
}

use tress_cipher::aes::{Aes, Aes128, Aes192, Aes256};
under_test!(Aes in "aes" by one, 16 Aes128, 24 Aes192, 32 Aes256);

use tress_cipher::rc6::{Rc6, Rc6_128, Rc6_192, Rc6_256};
under_test!(Rc6 in "rc6" by one, 16 Rc6_128, 24 Rc6_192, 32 Rc6_256);

use tress_cipher::pipo::{Pipo, Pipo128, Pipo256};
under_test!(Pipo in "pipo" by one_of_64_bits, 16 Pipo128, 32 Pipo256);
