//! ChaCha20-Poly1305 on every backend that this machine has.

use tress_cipher::chacha20poly1305::ChaCha20Poly1305;

use crate::vectors::file::{GroupKind, VectorFile, VectorTest};
use crate::vectors::{aead, label};

sets! {
    "chacha20poly1305" by run;
    wycheproof: "wycheproof", 325;
}

fn run(name: &str, count: usize) {
    let file = VectorFile::read("chacha20poly1305", name);
    let tests = file.tests_of(GroupKind::ChaCha20Poly1305);
    assert_eq!([tests.len(), file.number_of_tests], [count; 2], "{name} has another number of tests");
    for &backend in ChaCha20Poly1305::BACKENDS.iter().filter(|backend| backend.is_available()) {
        let key = |test: &VectorTest| ChaCha20Poly1305::with_backend(&test.key, backend).expect("a vector's key");
        for test in &tests {
            let key = key(test);
            assert_eq!(key.backend(), backend);
            aead::one(&key, test, &label(name, test, backend));
        }
        aead::lanes(key, backend, &tests, name);
    }
}
