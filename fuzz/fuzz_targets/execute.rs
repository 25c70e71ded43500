//! Bytes executed as instructions: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::simulator::execute(bytes));
