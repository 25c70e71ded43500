//! Archives of folders: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::tree::run(bytes));
