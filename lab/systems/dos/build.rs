//! Passes the linker script, which makes a .COM program.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rerun-if-changed=com.ld");
    println!("cargo::rustc-link-arg=-T{folder}/com.ld");
    println!("cargo::rustc-link-arg=--gc-sections");
    println!("cargo::rustc-link-arg=--oformat=binary");
}
