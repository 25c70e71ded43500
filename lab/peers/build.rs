//! Passes the versions of other crates from the workspace's lock file to this crate, and compiles `src/cryptopp.cc`
//! into a library where Crypto++ is installed. With another lock file, whose path is in `TRESS_PEERS_LOCK`, the peer
//! RustCrypto has another name, so that one record can compare two releases of its crate `aes`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const CRATES: [&str; 9] = ["aes", "aes-gcm", "aws-lc-rs", "cbc", "ccm", "ctr", "pipo", "rc6", "ring"];

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rerun-if-env-changed=TRESS_PEERS_LOCK");
    let other = env::var_os("TRESS_PEERS_LOCK");
    let lock = other.clone().map_or_else(|| Path::new(&manifest).join("../../Cargo.lock"), Into::into);
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rustc-env=TRESS_PEERS_CRYPTOPP={}", crypto_plus_plus());
    let text = fs::read_to_string(&lock).unwrap_or_default();
    for name in CRATES {
        // `age` depends on older releases of some of these; this crate uses the newest release in the lock file.
        let newest = versions(&text, name)
            .max_by_key(|version| version.split('.').map(|n| n.parse().unwrap_or(0)).collect::<Vec<u64>>());
        let variable = name.to_uppercase().replace('-', "_");
        let version = newest.unwrap_or("unknown");
        println!("cargo::rustc-env=TRESS_PEERS_{variable}={version}");
        if name == "aes" {
            let release = if other.is_some() { format!("-aes-{version}") } else { String::new() };
            println!("cargo::rustc-env=TRESS_PEERS_RUSTCRYPTO=rustcrypto{release}");
        }
    }
}

/// The path of the compiled library, or an empty string. It is a separate library, so that the command starts without Crypto++.
fn crypto_plus_plus() -> String {
    const SOURCE: &str = "src/cryptopp.cc";
    println!("cargo::rerun-if-changed={SOURCE}");
    // Cargo treats a missing file as changed, and would rebuild all dependent crates each time.
    if let Some(watched) = ["/usr/include/crypto++/rc6.h", "/usr/include"].iter().find(|path| Path::new(path).exists())
    {
        println!("cargo::rerun-if-changed={watched}");
    }
    println!("cargo::rerun-if-env-changed=CXX");
    let library = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("libtress_cryptopp.so");
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let made = env::var_os("CARGO_FEATURE_CRYPTOPP").is_some()
        && env::var("HOST") == env::var("TARGET")
        && Command::new(compiler)
            .args(["-O3", "-march=native", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .args([SOURCE, "-lcryptopp"])
            .output()
            .is_ok_and(|output| output.status.success());
    if made { library.display().to_string() } else { String::new() }
}

fn versions<'a>(lock: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let head = format!("name = \"{name}\"\nversion = \"");
    lock.split("[[package]]\n").filter_map(move |package| package.strip_prefix(&head)?.split('"').next())
}
