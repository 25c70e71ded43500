//! Programs in the simulator and in QEMU: `make fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tress_fuzz::qemu::run(bytes));
