//! The functions of the fuzz targets, with a file for most of them, so that tests can run them without a fuzzer.
//! `docs/contributing/fuzzing.md` documents what each of them checks.
#![allow(missing_docs, reason = "only this repository uses the crate, and most names say it")]

pub mod calls;
pub mod commands;
pub mod container;
pub mod edits;
pub mod header;
mod input;
pub mod keys;
pub mod machines;
pub mod mutate;
pub mod qemu;
pub mod recipients;
pub mod records;
pub mod simulator;
pub mod temp_folder;
pub mod tree;
pub mod vectors;

mod common;

/// Reads messages of a transfer and the files that a receiver keeps. Data that is accepted has the form in which it is written.
pub fn messages(bytes: &[u8]) {
    tress_transfer::read_anything(bytes);
}

/// Runs a transfer from a sender that is scripted by the input, and checks the receiver.
pub fn sessions(bytes: &[u8]) {
    // Rust's `main` ignores SIGPIPE, but libFuzzer has another `main`.
    // SAFETY: SIG_IGN is a valid handler, and no code of this process relies on another one.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let mut rest = bytes.iter().copied();
    tress_transfer::any_sender(&mut || rest.next(), temp_folder::emptied());
}
