//! Passes the folder of the link scripts (`-L`), and which one to use, to the build scripts of programs.

use std::env;

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let script = match (has("HIFIVE1_REVB"), has("FLASH")) {
        (true, _) => "hifive1-revb.x",
        (false, true) => "flash.x",
        (false, false) => "ram.x",
    };
    println!("cargo::rustc-link-search={folder}/link");
    println!("cargo::metadata=script={script}");
    println!("cargo::rerun-if-changed=build.rs");
}
