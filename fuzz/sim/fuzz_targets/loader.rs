//! Files that claim to be programs: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| fuzz_sim::loader(file));
