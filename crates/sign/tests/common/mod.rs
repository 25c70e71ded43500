//! Shared by the tests of this crate.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

pub mod der;
#[path = "../../../modular/tests/common/freed.rs"]
pub mod freed;
pub mod openssl;
pub mod vectors;

/// The numbers of a 2048-bit RSA key: version, n, e, d, p, q, d mod p − 1, d mod q − 1, 1 / q mod p.
pub fn rsa_numbers() -> Vec<Vec<u8>> {
    let file = vectors::File::read("cavp-rsa-pkcs1-sigver");
    let pkcs8 = file.groups.iter().find_map(|group| group.private_key.as_ref()).unwrap();
    // The version of PKCS #8 is before them.
    let numbers = der::integers(pkcs8).split_off(1);
    assert_eq!(numbers.len(), 9);
    numbers
}
