//! Our modes on every backend against other people's: `make fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use fuzz_modes::Case;

fuzz_target!(|case: Case| case.check());
