//! Tells those who link where the link scripts are (`-L`), and which of them to use.

use std::env;

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let script = if env::var_os("CARGO_FEATURE_FLASH").is_some() { "flash.x" } else { "ram.x" };
    println!("cargo::rustc-link-search={folder}/link");
    println!("cargo::metadata=script={script}");
    println!("cargo::rerun-if-changed=build.rs");
}
