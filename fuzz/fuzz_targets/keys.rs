//! Key files for signatures: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::keys::key_file(bytes));
