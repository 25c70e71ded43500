//! PIPO's vectors.

use std::collections::BTreeSet;

use tress_cipher::pipo::Pipo;
use tress_cipher::{Backend, BlockCipher, Error};

use crate::file::{File, Kind};
use crate::{backends, block_modes, file, traits};

sets! {
    published: "published", 2;
    single_bits: "single-bits", 516;
    ecb_lengths: "ecb-lengths", 40;
    cbc_lengths: "cbc-lengths", 40;
    ctr_lengths: "ctr-lengths", 62;
    ctr_borders: "ctr-borders", 206;
}

fn cipher(backend: Backend, key: &[u8]) -> Pipo {
    let pipo = Pipo::with_backend(key, backend).expect("an available backend and a vector's key");
    assert_eq!((pipo.backend(), pipo.key_bytes()), (backend, key.len()));
    pipo
}

fn run(name: &str, count: usize) {
    if file::is_too_long("pipo", name) {
        return;
    }
    let file = File::read("pipo", name, count);
    for backend in backends::available::<Pipo>("PIPO") {
        for (kind, test) in file.groups.iter().flat_map(|group| group.tests.iter().map(|test| (group.kind, test))) {
            let what = format!("{name} test {} ({}) on {}", test.id, test.comment, backend.name());
            let pipo = &cipher(backend, &test.key);
            match kind {
                Kind::PipoEcb => {
                    block_modes::ecb(pipo, test, &what);
                    block_modes::blocks(|x| pipo.encrypt_blocks(x), |x| pipo.decrypt_blocks(x), test, &what);
                }
                Kind::PipoCbc => block_modes::cbc(pipo, test, &what),
                Kind::PipoCtr => block_modes::ctr(pipo, test, &what),
                kind => panic!("{what}: {kind:?} is not of PIPO"),
            }
        }
        let what = format!("{name} on {}", backend.name());
        block_modes::cbc_lanes(|key| cipher(backend, key), &file.tests_of(Kind::PipoCbc), &what);
    }
    traits::run(&file, name);
}

#[test]
fn no_file_is_forgotten() {
    let known: BTreeSet<String> = SETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(file::names("pipo"), known);
}

#[test]
fn a_missing_backend_is_an_error() {
    for backend in Backend::ALL {
        let made = Pipo::with_backend(&[0; 16], backend);
        if Pipo::BACKENDS.contains(&backend) && backend.is_available() {
            assert_eq!(made.expect("an available backend").backend(), backend);
        } else {
            assert_eq!(made.err(), Some(Error::BackendUnavailable(backend)));
        }
    }
}

#[test]
fn the_key_is_not_shown() {
    let pipo = Pipo::with_backend(&[0xa7; 32], Backend::Portable).expect("a key of 32 bytes");
    assert_eq!(format!("{pipo:?}"), "Pipo-64/256 (portable)");
}
