//! Our modes on every backend against other people's: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::modes::run(bytes));
