//! Passes the linker script, which has the addresses of flash and memory.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rerun-if-changed=board.ld");
    println!("cargo::rustc-link-arg=-T{folder}/board.ld");
    println!("cargo::rustc-link-arg=--gc-sections");
}
