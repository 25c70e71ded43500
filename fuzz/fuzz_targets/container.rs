//! Damaged containers in every reader in memory: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::container::run(bytes));
