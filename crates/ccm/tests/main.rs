//! One program for all tests: linking takes longer than compiling.

extern crate tress_ccm as ccm;

mod drop_in;
