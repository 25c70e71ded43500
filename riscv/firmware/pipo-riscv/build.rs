//! The link script that the runtime's features ask for.

use std::env;

fn main() {
    let script = env::var("DEP_TRESS_RUNTIME_SCRIPT").expect("tress-runtime's build script sets it");
    println!("cargo::rustc-link-arg-bins=-T{script}");
    // Labels of the compiler are no functions.
    println!("cargo::rustc-link-arg-bins=--discard-locals");
    println!("cargo::rerun-if-changed=build.rs");
    // Whatever is linked depends on the scripts.
    for file in ["ram.x", "flash.x", "sections.x"] {
        println!("cargo::rerun-if-changed=../runtime/link/{file}");
    }
}
