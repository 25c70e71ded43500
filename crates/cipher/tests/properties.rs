//! Properties: every backend against the reference, lanes against one message at a time, and both against other
//! people's implementations, over random and over awkward lengths, alignments, counters and mixes of jobs.
//!
//! `PROPTEST_CASES` multiplies the work; a failure prints the smallest case found. Under Miri each property runs a
//! handful of small cases on the portable paths.

mod aes;
mod block_modes;
mod common;
mod lanes_cbc;
mod lanes_ccm;
mod modes;
mod peers;
mod pipo;
mod rc6;
mod refusals;
mod rijndael;
mod s_boxes;
