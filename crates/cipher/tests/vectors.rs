//! Every vector under `vectors/aes/` and the folders of other ciphers, on every backend that this machine has, in both
//! directions: with the functions of `modes`, with `lanes` and a whole file as one list of jobs, and with the RustCrypto
//! traits.
//!
//! `vectors/README.md` documents the sources of the vectors. A missing backend prints a warning, or is a failure if
//! `TRESS_REQUIRED_BACKENDS` lists it (`TRESS_REQUIRED_BACKENDS=aesni,vaes512`).

/// Defines a test for each file of a folder, with its name and its number of tests, and one that the folder has no other file. A test
/// fails if its file has another number of tests.
macro_rules! sets {
    ($folder:literal $(and $other:literal)? by $run:path; $($test:ident: $name:literal, $count:literal;)*) => {
        $(#[test]
        fn $test() {
            $run($name, $count);
        })*

        #[test]
        fn no_file_is_forgotten() {
            let known = [$($name,)* $($other)?].map(str::to_owned).into();
            assert_eq!($crate::vectors::file::names($folder), known);
        }
    };
}

mod aead;
mod backends;
mod block_modes;
#[cfg(feature = "chacha20poly1305")]
mod chacha20poly1305;
mod file;
mod lea;
mod monte_carlo;
mod pipo;
mod rc6;
mod rijndael;
mod traits;
mod under_test;

use tress_cipher::aes::{Aes, Aes128, Aes192, Aes256};
use tress_cipher::{Backend, CcmCipher};

use file::{GroupKind, VectorFile};
use under_test::{VectorCipher, under_test};

under_test!(Aes in "aes" by run, 16 Aes128, 24 Aes192, 32 Aes256);

sets! {
    "aes" by run::<Aes>;
    fips_197: "fips197", 4;
    sp_800_38a_ecb: "sp800-38a-ecb", 3;
    sp_800_38a_cbc: "sp800-38a-cbc", 3;
    sp_800_38a_ctr: "sp800-38a-ctr", 3;
    sp_800_38c: "sp800-38c", 4;
    rfc_3610: "rfc3610", 24;
    rfc_3686: "rfc3686-ctr", 9;
    rijndael_128_128: "rijndael-128-128", 1;
    cavp_ecb_gfsbox: "cavp-ecb-gfsbox", 18;
    cavp_ecb_keysbox: "cavp-ecb-keysbox", 61;
    cavp_ecb_varkey: "cavp-ecb-varkey", 576;
    cavp_ecb_vartxt: "cavp-ecb-vartxt", 384;
    cavp_ecb_mmt: "cavp-ecb-mmt", 60;
    cavp_cbc_gfsbox: "cavp-cbc-gfsbox", 18;
    cavp_cbc_keysbox: "cavp-cbc-keysbox", 61;
    cavp_cbc_varkey: "cavp-cbc-varkey", 576;
    cavp_cbc_vartxt: "cavp-cbc-vartxt", 384;
    cavp_cbc_mmt: "cavp-cbc-mmt", 60;
    cavp_cbc_montecarlo: "cavp-cbc-montecarlo", 600;
    ecb_monte_carlo: "ecb-monte-carlo", 18;
    cavp_ccm_vadt: "cavp-ccm-vadt", 990;
    cavp_ccm_vnt: "cavp-ccm-vnt", 210;
    cavp_ccm_vpt: "cavp-ccm-vpt", 750;
    cavp_ccm_dvpt: "cavp-ccm-dvpt", 720;
    cavp_ccm_vtt: "cavp-ccm-vtt", 210;
    wycheproof_ccm: "wycheproof-ccm", 552;
    wycheproof_cbc_pkcs5: "wycheproof-cbc-pkcs5", 216;
    openssl_ctr_carries: "openssl-ctr-carries", 21;
    openssl_ccm_lengths: "openssl-ccm-lengths", 43;
}

/// Largest file that runs under Miri, in bytes. Miri takes a thousand times as long.
const MIRI_FILE_BYTES: u64 = 2000;

/// Runs a file of a cipher with 128-bit blocks.
fn run<C: VectorCipher + CcmCipher>(name: &str, count: usize) {
    let Some(file) = run_block_modes::<C>(name, count) else { return };
    for backend in backends::available::<C>() {
        for group in file.groups.iter().filter(|group| group.kind == GroupKind::Ccm) {
            for test in &group.tests {
                aead::one(&C::prepare(backend, &test.key), test, &label(name, test, backend));
            }
        }
        aead::lanes(|test| C::prepare(backend, &test.key), backend, &file.tests_of(GroupKind::Ccm), name);
    }
}

/// Runs the tests of a file except CCM, and all that the traits support. `None` if Miri would take too long for the file.
fn run_block_modes<C: VectorCipher>(name: &str, count: usize) -> Option<VectorFile> {
    if cfg!(miri) && file::size(C::FOLDER, name) > MIRI_FILE_BYTES {
        return None;
    }
    let file = VectorFile::read(C::FOLDER, name);
    let held: usize = file.groups.iter().map(|group| group.tests.len()).sum();
    assert!(held > 0, "{name} has no tests");
    assert_eq!(held, count, "{name} has another number of tests");
    assert_eq!(file.number_of_tests, count, "{name}: numberOfTests is wrong");

    for backend in backends::available::<C>() {
        for group in &file.groups {
            for test in &group.tests {
                let label = label(name, test, backend);
                assert_eq!(test.key.len() * 8, group.key_bits, "{label}: the group's key size");
                match group.kind {
                    GroupKind::Ecb => block_modes::ecb::<C>(backend, test, &label),
                    GroupKind::Cbc => block_modes::cbc::<C>(backend, test, &label),
                    GroupKind::CbcPkcs7 => block_modes::cbc_padded::<C>(backend, test, &label),
                    GroupKind::Ctr => block_modes::ctr::<C>(backend, test, &label),
                    GroupKind::CbcMonteCarlo => monte_carlo::cbc::<C>(backend, group, test, &label),
                    GroupKind::EcbMonteCarlo => monte_carlo::ecb::<C>(backend, group, test, &label),
                    GroupKind::Ccm => assert_eq!(C::BLOCK_BYTES, 16, "{label}: CCM takes blocks of 128 bits"),
                    GroupKind::Rc6General | GroupKind::ChaCha20Poly1305 => panic!("{label}: has a separate test"),
                }
            }
        }
        block_modes::cbc_lanes::<C>(backend, &file.tests_of(GroupKind::Cbc), name);
    }
    for group in file.groups.iter().filter(|group| group.kind == GroupKind::EcbMonteCarlo) {
        monte_carlo::ecb_chain::<C>(group, name);
    }
    for group in &file.groups {
        for test in &group.tests {
            C::through_traits(group.kind, test, &format!("{name} test {} through the traits", test.id));
        }
    }
    Some(file)
}

fn label(name: &str, test: &file::VectorTest, backend: Backend) -> String {
    format!("{name} test {} ({}) on {}", test.id, test.comment, backend.name())
}
