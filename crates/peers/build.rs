//! Tells the crate which versions of the RustCrypto crates it was built with, from the workspace's lock file.

use std::{env, fs, path::Path};

const CRATES: [&str; 5] = ["aes", "aes-gcm", "cbc", "ccm", "ctr"];

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let lock = Path::new(&manifest).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(&lock).unwrap_or_default();
    for name in CRATES {
        // `age` brings older releases of some of these; ours are the newest ones in the lock file.
        let newest = versions(&text, name)
            .max_by_key(|version| version.split('.').map(|n| n.parse().unwrap_or(0)).collect::<Vec<u64>>());
        let variable = name.to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=TRESS_PEERS_{variable}={}", newest.unwrap_or("unknown"));
    }
}

fn versions<'a>(lock: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let head = format!("name = \"{name}\"\nversion = \"");
    lock.split("[[package]]\n").filter_map(move |package| package.strip_prefix(&head)?.split('"').next())
}
