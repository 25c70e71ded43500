//! Messages of a transfer, and what a receiver keeps on disk: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::messages(bytes));
