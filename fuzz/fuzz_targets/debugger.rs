//! Packets of a debugger, right and wrong ones: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::simulator::debugger(bytes));
