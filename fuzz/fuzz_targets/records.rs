//! Records of measurements, and the page that is made of them: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::records::run(bytes));
