//! Modes on every backend against other implementations: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::modes::run(bytes));
