//! Messages of a transfer, and what a receiver keeps on disk: `make fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tress_stream::net::read_anything(bytes));
