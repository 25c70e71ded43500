//! Tells the crate which compiler built it, for the records of measurements.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=RUSTC");
    let version = env::var_os("RUSTC")
        .and_then(|rustc| Command::new(rustc).arg("--version").output().ok())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.as_deref().map_or("unknown", str::trim);
    println!("cargo::rustc-env=TRESS_LAB_RUSTC={version}");
    println!("cargo::rustc-env=TRESS_LAB_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=TRESS_LAB_PROFILE={}", env::var("PROFILE").unwrap_or_default());
}
