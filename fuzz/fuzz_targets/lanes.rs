//! Jobs in lanes against one message at a time: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::lanes::run(bytes));
