//! Passes the link script of the HiFive1 Rev B to the linker.

use std::env;

fn main() {
    let script = env::var("DEP_TRESS_RUNTIME_SCRIPT").expect("tress-runtime's build script sets it");
    println!("cargo::rustc-link-arg-bins=-T{script}");
    // Labels of the compiler are not functions.
    println!("cargo::rustc-link-arg-bins=--discard-locals");
    println!("cargo::rerun-if-changed=build.rs");
    // All programs depend on the link scripts.
    for file in ["hifive1-revb.x", "sections.x"] {
        println!("cargo::rerun-if-changed=../runtime/link/{file}");
    }
}
