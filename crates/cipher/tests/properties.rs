//! Properties: every backend against the reference, lanes against one message at a time, and both against other
//! people's implementations, over random and over awkward lengths, alignments, counters and mixes of jobs.
//!
//! `PROPTEST_CASES` multiplies the work; a failure prints the smallest case found. Under Miri each property runs a
//! handful of small cases on the portable paths.

#[path = "properties/aes.rs"]
mod aes;
#[path = "properties/block_modes.rs"]
mod block_modes;
#[path = "properties/common.rs"]
mod common;
#[path = "properties/lanes_cbc.rs"]
mod lanes_cbc;
#[path = "properties/lanes_ccm.rs"]
mod lanes_ccm;
#[path = "properties/modes.rs"]
mod modes;
#[path = "properties/peers.rs"]
mod peers;
#[path = "properties/pipo.rs"]
mod pipo;
#[path = "properties/rc6.rs"]
mod rc6;
#[path = "properties/refusals.rs"]
mod refusals;
#[path = "properties/rijndael.rs"]
mod rijndael;
#[path = "properties/s_boxes.rs"]
mod s_boxes;
