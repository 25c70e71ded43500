//! The tests of this crate as one program: linking several takes longer than compiling.

extern crate tress_ccm as ccm;

mod drop_in;
