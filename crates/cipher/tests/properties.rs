//! Properties: every backend against the reference, lanes against one message at a time, and both against other
//! implementations, over random and edge-case lengths, alignments, counters and mixes of jobs.
//!
//! `PROPTEST_CASES` sets the number of cases. A failure prints the smallest case found. Under Miri each property runs a
//! few small cases on the portable code.

mod aes;
mod block_modes;
mod common;
#[cfg(feature = "gcm")]
mod gcm;
mod lanes_cbc;
mod lanes_ccm;
mod lea;
mod modes;
mod peers;
mod pipo;
mod rc6;
mod refusals;
mod rijndael;
mod s_boxes;
