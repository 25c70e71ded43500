//! Sequences of calls of the C interface: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::calls::run(bytes));
