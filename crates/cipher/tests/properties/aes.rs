//! AES: every property; `peers.rs` and `refusals.rs` have more.

use tress_cipher::aes::Aes;

crate::modes::modes!(Aes);
crate::lanes_cbc::cbc_lanes!(Aes);
crate::lanes_ccm::ccm_lanes!(Aes);
