//! Recipients, identities and passphrases as text: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::recipients::run(bytes));
