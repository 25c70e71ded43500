//! The tests of `tress-ccm`, with the older versions of the crates.

extern crate tress_ccm_05 as ccm;

#[path = "../../ccm/tests/drop_in.rs"]
mod drop_in;
