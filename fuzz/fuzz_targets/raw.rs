//! `raw` against OpenSSL: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::raw::run(bytes));
