//! ELF files, most of them damaged: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| tress_fuzz::simulator::loader(file));
