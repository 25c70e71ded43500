//! The tests of `tress-ccm`, with these crates of the older generation.

extern crate tress_ccm_05 as ccm;

#[path = "../../ccm/tests/drop_in.rs"]
mod drop_in;
