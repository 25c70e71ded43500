//! Every Rijndael vector under `vectors/rijndael/`, for all block and key lengths, on every backend that this machine has.

use tress_cipher::modes::ecb;
use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Backend, BlockCipher, CcmCipher};

use super::{aead, backends, block_modes, label};
use crate::vectors::file::{self, GroupKind, VectorFile, VectorGroup, VectorTest};
use crate::vectors::under_test::VectorCipher;

sets! {
    "rijndael" by run;
    published: "published", 4;
    constants: "constants", 25;
    ecb: "ecb", 805;
    cbc: "cbc", 175;
    ctr: "ctr", 200;
    ccm: "ccm", 40;
}

macro_rules! under_test {
    ($($bytes:literal)*) => {
        $(impl VectorCipher for Rijndael<$bytes> {
            const FOLDER: &'static str = "rijndael";

            fn prepare(backend: Backend, key: &[u8]) -> Self {
                let cipher = Self::with_backend(key, backend).expect("an available backend and a vector's key");
                assert_eq!((cipher.backend(), cipher.key_bytes()), (backend, key.len()));
                cipher
            }

            fn encrypt_blocks(&self, data: &mut [u8]) {
                ecb::encrypt(self, data).expect("whole blocks");
            }

            fn decrypt_blocks(&self, data: &mut [u8]) {
                ecb::decrypt(self, data).expect("whole blocks");
            }

            /// Rijndael does not implement the traits.
            fn through_traits(_: GroupKind, _: &VectorTest, _: &str) {}
        })*
    };
}

under_test!(16 20 24 28 32);

/// Runs the groups of one block length, and their CBC messages of all key lengths in lanes. Returns the number of tests.
fn of_block<C: VectorCipher>(backend: Backend, file: &VectorFile, name: &str) -> usize {
    let groups: Vec<&VectorGroup> = file
        .groups
        .iter()
        .filter(|group| group.block_bits == Some(8 * C::BLOCK_BYTES) && group.kind != GroupKind::Ccm)
        .collect();
    for group in &groups {
        for test in &group.tests {
            let label = format!("{} bits, {}", 8 * C::BLOCK_BYTES, label(name, test, backend));
            assert_eq!(test.key.len() * 8, group.key_bits, "{label}: the group's key size");
            match group.kind {
                GroupKind::Ecb => block_modes::ecb::<C>(backend, test, &label),
                GroupKind::Cbc => block_modes::cbc::<C>(backend, test, &label),
                GroupKind::Ctr => block_modes::ctr::<C>(backend, test, &label),
                _ => panic!("{label}: not of Rijndael"),
            }
        }
    }
    let cbc = groups.iter().filter(|group| group.kind == GroupKind::Cbc).flat_map(|group| &group.tests);
    block_modes::cbc_lanes::<C>(backend, &cbc.collect::<Vec<_>>(), name);
    groups.iter().map(|group| group.tests.len()).sum()
}

fn with_ccm<C: VectorCipher + CcmCipher>(backend: Backend, file: &VectorFile, name: &str) -> usize {
    let tests = file.tests_of(GroupKind::Ccm);
    for test in &tests {
        aead::one(&C::prepare(backend, &test.key), test, &label(name, test, backend));
    }
    aead::lanes(|test| C::prepare(backend, &test.key), backend, &tests, name);
    tests.len()
}

fn run(name: &str, count: usize) {
    if cfg!(miri) && file::size("rijndael", name) > crate::vectors::MIRI_FILE_BYTES {
        return;
    }
    let file = VectorFile::read("rijndael", name);
    assert_eq!(file.number_of_tests, count, "{name}: numberOfTests is wrong");
    for backend in backends::available::<Rijndael<16>>() {
        let done = of_block::<Rijndael<16>>(backend, &file, name)
            + of_block::<Rijndael<20>>(backend, &file, name)
            + of_block::<Rijndael<24>>(backend, &file, name)
            + of_block::<Rijndael<28>>(backend, &file, name)
            + of_block::<Rijndael<32>>(backend, &file, name)
            + with_ccm::<Rijndael<16>>(backend, &file, name);
        assert_eq!(done, count, "{name} on {}", backend.name());
    }
}
