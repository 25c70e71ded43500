//! Our modes on every backend against other people's: `make fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tress_fuzz::modes::Case;

fuzz_target!(|case: Case| case.check());
