//! Every Rijndael vector under `vectors/rijndael/`, for all blocks and keys, on every backend that this machine has.

use std::collections::BTreeSet;

use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Backend, BlockCipher, Error};

use crate::file::{self, Group, Kind, Test};
use crate::{block_modes, ccm};

const SETS: [(&str, usize); 6] =
    [("published", 4), ("constants", 25), ("ecb", 805), ("cbc", 175), ("ctr", 200), ("ccm", 40)];

/// The backends of this machine; Miri knows no instructions beyond the baseline.
fn backends() -> impl Iterator<Item = Backend> {
    Rijndael::<16>::BACKENDS.iter().copied().filter(|backend| {
        backend.is_available() && (!cfg!(miri) || matches!(backend, Backend::Reference | Backend::Portable))
    })
}

/// What the runner needs of a size beyond `BlockCipher`.
trait Keyed: BlockCipher + Sized {
    fn make(backend: Backend, key: &[u8]) -> Result<Self, Error>;
    fn key_bytes(&self) -> usize;
}

macro_rules! keyed {
    ($($bytes:literal)*) => {
        $(impl Keyed for Rijndael<$bytes> {
            fn make(backend: Backend, key: &[u8]) -> Result<Self, Error> {
                Self::with_backend(key, backend)
            }

            fn key_bytes(&self) -> usize {
                self.key_bytes()
            }
        })*
    };
}

keyed!(16 20 24 28 32);

fn cipher<C: Keyed>(backend: Backend, test: &Test) -> C {
    let cipher = C::make(backend, &test.key).expect("an available backend and a vector's key");
    assert_eq!(cipher.backend(), backend);
    assert_eq!(cipher.key_bytes(), test.key.len());
    cipher
}

/// One group, and its CBC messages of all key lengths in lanes.
fn group<C: Keyed>(backend: Backend, group: &Group, name: &str) {
    for test in &group.tests {
        let sizes = format!("{} bits, key {}", 8 * C::BLOCK_BYTES, group.key_bits);
        let what = format!("{name} test {} ({sizes}, {}) on {}", test.id, test.comment, backend.name());
        assert_eq!(test.key.len() * 8, group.key_bits, "{what}: the group's key size");
        let cipher = cipher::<C>(backend, test);
        match group.kind {
            Kind::Ecb => block_modes::ecb(&cipher, test, &what),
            Kind::Cbc => block_modes::cbc(&cipher, test, &what),
            Kind::Ctr => block_modes::ctr(&cipher, test, &what),
            Kind::Ccm => ccm::one(&self::cipher::<Rijndael<16>>(backend, test), test, &what),
            _ => panic!("{what}: not of Rijndael"),
        }
    }
}

/// All CBC and CCM vectors of a block's length as one list of jobs, whatever their keys' lengths.
fn lanes<C: Keyed>(backend: Backend, groups: &[&Group], name: &str) {
    let of_kind = |kind| -> Vec<&Test> {
        groups.iter().filter(|group| group.kind == kind).flat_map(|group| &group.tests).collect()
    };
    let what = format!("{name}, {} bits, on {}", 8 * C::BLOCK_BYTES, backend.name());
    block_modes::cbc_lanes(|test| cipher::<C>(backend, test), &of_kind(Kind::Cbc), &what);
    if C::BLOCK_BYTES == 16 {
        ccm::lanes(|test| cipher::<Rijndael<16>>(backend, test), &of_kind(Kind::Ccm), &what);
    }
}

fn run(name: &str, count: usize) {
    if cfg!(miri) && file::size("rijndael", name) > crate::MIRI_FILE_BYTES {
        return;
    }
    let file = crate::read("rijndael", name, count);
    for backend in backends() {
        macro_rules! sizes {
            ($($bytes:literal)*) => {
                $(
                    let groups: Vec<&Group> =
                        file.groups.iter().filter(|group| group.block_bits == Some(8 * $bytes)).collect();
                    for group in &groups {
                        self::group::<Rijndael<$bytes>>(backend, group, name);
                    }
                    lanes::<Rijndael<$bytes>>(backend, &groups, name);
                )*
                let known = |group: &Group| [$(Some(8 * $bytes)),*].contains(&group.block_bits);
                assert!(file.groups.iter().all(known), "{name} has a group of another block");
            };
        }
        sizes!(16 20 24 28 32);
    }
}

macro_rules! sets {
    ($($test:ident: $index:literal;)*) => {
        $(#[test]
        fn $test() {
            run(SETS[$index].0, SETS[$index].1);
        })*
    };
}

sets! {
    published: 0;
    constants: 1;
    ecb: 2;
    cbc: 3;
    ctr: 4;
    ccm_128: 5;
}

#[test]
fn no_file_is_forgotten() {
    let known: BTreeSet<String> = SETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(file::names("rijndael"), known);
}

#[test]
fn a_missing_backend_is_an_error() {
    for backend in Rijndael::<32>::BACKENDS.iter().copied() {
        let made = Rijndael::<32>::with_backend(&[0; 20], backend);
        if backend.is_available() {
            assert_eq!(made.expect("an available backend").backend(), backend);
        } else {
            assert_eq!(made.err(), Some(Error::BackendUnavailable(backend)));
        }
    }
}
