//! Our modes on every backend against other people's: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|case: tress_fuzz::modes::Case| case.check());
