//! What the fuzz targets do with their input; each target under `fuzz_targets/` is a line.
#![forbid(unsafe_code)]

pub mod modes;
