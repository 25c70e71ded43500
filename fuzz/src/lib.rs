//! What the fuzz targets do with their input, a file for each, so that it can be run and panics without a fuzzer too.
//! `docs/contributing/fuzzing.md` says what each of them checks.

pub mod calls;
pub mod commands;
pub mod container;
pub mod edits;
pub mod header;
mod input;
pub mod keys;
pub mod lanes;
pub mod machines;
pub mod modes;
pub mod mutate;
pub mod place;
pub mod qemu;
pub mod raw;
pub mod recipients;
pub mod records;
pub mod simulator;
pub mod tree;
pub mod vectors;

mod common;

/// Messages of a transfer, and what a receiver keeps on disk: what is read is what would be written.
pub fn messages(bytes: &[u8]) {
    tress_transfer::read_anything(bytes);
}

/// Sessions of a transfer: a sender that does what these bytes say, and what has to hold of the receiver.
pub fn sessions(bytes: &[u8]) {
    // As in every Rust program, but libFuzzer's has another `main`.
    // SAFETY: no handler is replaced that anybody set.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let mut rest = bytes.iter().copied();
    tress_transfer::any_sender(&mut || rest.next(), place::empty());
}
