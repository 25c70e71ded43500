//! Containers from an independent writer (vectors/container), and their plaintexts.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;
use tress_container::Threads;
use tress_container::keys::{Identities, key_file};
use tress_container::streaming::decrypt_bytes;
use tress_sign::Hash;

/// Small containers that open without a passphrase, with the edge-case lengths.
const NAMES: [&str; 11] = [
    "valid-0",
    "valid-1",
    "valid-raw-16",
    "valid-raw-32",
    "valid-name",
    "valid-mixed",
    "valid-16383",
    "valid-16384",
    "valid-aes-256",
    "valid-40000",
    "valid-tree",
];

pub struct Container {
    pub name: &'static str,
    pub sealed: &'static [u8],
    /// The plaintext, whose hash has been compared with that of the vectors.
    pub plain: Vec<u8>,
}

pub fn containers() -> &'static [Container] {
    static CONTAINERS: OnceLock<Vec<Container>> = OnceLock::new();
    CONTAINERS.get_or_init(|| {
        let index: Value = serde_json::from_str(include_str!("../../vectors/container/index.json")).expect("JSON");
        let tests = index["testGroups"].as_array().expect("groups").iter().flat_map(|group| group["tests"].as_array());
        let tests: Vec<&Value> = tests.flatten().collect();
        let archive: &'static [u8] = include_bytes!("../../vectors/container/containers.tar");
        let mut reader = tar::Archive::new(archive);
        let entries = reader.entries().expect("a tar archive").map(|entry| {
            let entry = entry.expect("an entry");
            let begin = entry.raw_file_position() as usize;
            (entry.path_bytes().into_owned(), &archive[begin..begin + entry.size() as usize])
        });
        let sealed: HashMap<Vec<u8>, &'static [u8]> = entries.collect();
        let read = |name: &'static str| {
            let sealed = sealed[format!("{name}.tress").as_bytes()];
            let test = tests.iter().find(|test| test["name"] == name).expect("a vector of the index");
            let plain = decrypt_bytes(sealed, &identities(), Threads::ONE).expect("a valid container");
            let hash: String = Hash::Sha256.digest(&plain).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(test["plaintextSha256"], hash.as_str(), "{name}");
            Container { name, sealed, plain }
        };
        NAMES.map(read).into()
    })
}

/// The identities that open the containers.
pub fn identities() -> Identities {
    // From the index of the vectors. These keys protect nothing.
    const ALICE: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
    let mut identities = Identities::from_file(ALICE.as_bytes()).expect("an identity");
    for length in [16, 32] {
        let key: Vec<u8> = (0..length).collect();
        identities.extend([key_file(&key).expect("a key of its length")]);
    }
    identities
}
