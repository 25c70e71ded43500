//! Every AES vector under `vectors/aes/` on every backend that this machine has, in both directions: through the
//! functions of `modes`, through `lanes` with a whole file as one list of jobs, and through the RustCrypto traits. Those of
//! the other ciphers likewise, in files of their own.
//!
//! `vectors/README.md` says where the vectors come from. `TRESS_REQUIRED_BACKENDS=aesni,vaes512` turns a missing
//! backend from a loud line into a failure.

#[path = "vectors/backends.rs"]
mod backends;
#[path = "vectors/block_modes.rs"]
mod block_modes;
#[path = "vectors/ccm.rs"]
mod ccm;
#[path = "vectors/file.rs"]
mod file;
#[path = "vectors/rijndael.rs"]
mod rijndael;
#[path = "vectors/traits.rs"]
mod traits;

use std::collections::BTreeSet;

use file::{File, Kind, Test};

/// One test per file: the file's name and how many tests it holds. A file that shrinks or is emptied fails.
macro_rules! sets {
    ($($test:ident: $name:literal, $count:literal;)*) => {
        const SETS: &[(&str, usize)] = &[$(($name, $count)),*];

        $(#[test]
        fn $test() {
            run($name, $count);
        })*
    };
}

sets! {
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

/// Miri takes a millisecond for what takes a microsecond elsewhere: larger files are left to the machine.
const MIRI_FILE_BYTES: u64 = 2000;

/// A file, which has to hold the recorded number of tests.
fn read(cipher: &str, name: &str, count: usize) -> File {
    let file = File::read(cipher, name);
    let held: usize = file.groups.iter().map(|group| group.tests.len()).sum();
    assert!(held > 0, "{name} holds no tests");
    assert_eq!(held, count, "{name} does not hold the recorded number of tests");
    assert_eq!(file.number_of_tests, count, "{name} does not say its own number of tests");
    file
}

fn run(name: &str, count: usize) {
    if cfg!(miri) && file::size("aes", name) > MIRI_FILE_BYTES {
        return;
    }
    let file = read("aes", name, count);
    for backend in backends::available() {
        let mut done = 0;
        for group in &file.groups {
            for test in &group.tests {
                let what = format!("{name} test {} ({}) on {}", test.id, test.comment, backend.name());
                assert_eq!(test.key.len() * 8, group.key_bits, "{what}: the group's key size");
                let aes = block_modes::cipher(backend, &test.key);
                match group.kind {
                    Kind::AesEcb => {
                        block_modes::ecb(&aes, test, &what);
                        block_modes::aes_blocks(&aes, test, &what);
                    }
                    Kind::AesCbc => block_modes::cbc(&aes, test, &what),
                    Kind::AesCbcPkcs7 => block_modes::cbc_padded(&aes, test, &what),
                    Kind::AesCtr => block_modes::ctr(&aes, test, &what),
                    Kind::AesCcm => ccm::one(&aes, test, &what),
                    Kind::AesCbcMonteCarlo => block_modes::monte_carlo(&aes, group, test, &what),
                    _ => panic!("{what}: not of AES"),
                }
                done += 1;
            }
        }
        assert_eq!(done, count, "{name} on {}", backend.name());

        let all = |kind| file.tests_of(kind);
        let cipher = |test: &Test| block_modes::cipher(backend, &test.key);
        let what = format!("{name} on {}", backend.name());
        ccm::lanes(cipher, &all(Kind::AesCcm), &what);
        block_modes::cbc_lanes(cipher, &all(Kind::AesCbc), &what);
    }
    traits::run(&file, name);
}

#[test]
fn no_file_is_forgotten() {
    let known: BTreeSet<String> = SETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(file::names("aes"), known);
}

#[test]
fn a_missing_backend_is_an_error() {
    for backend in <tress_cipher::aes::Aes as tress_cipher::BlockCipher>::BACKENDS.iter().copied() {
        let made = tress_cipher::aes::Aes::with_backend(&[0; 16], backend);
        if backend.is_available() {
            assert_eq!(made.expect("an available backend").backend(), backend);
        } else {
            assert_eq!(made.err(), Some(tress_cipher::Error::BackendUnavailable(backend)));
        }
    }
}
