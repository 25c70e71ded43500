//! Passes the folder of the shared library to the linker, for a program that uses it.

fn main() {
    println!("cargo::rerun-if-env-changed=TRESS_LIBRARY");
    if std::env::var_os("CARGO_FEATURE_SHARED").is_some() {
        let folder = std::env::var("TRESS_LIBRARY").expect("TRESS_LIBRARY is the folder of the library");
        println!("cargo::rustc-link-search=native={folder}");
        println!("cargo::rustc-link-lib=dylib=tress_times_library");
    }
}
