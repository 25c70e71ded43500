//! Messages of a transfer and the files that a receiver keeps: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::messages(bytes));
