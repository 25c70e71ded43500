//! The properties of AES. `peers.rs` and `refusals.rs` have more.

use tress_cipher::aes::Aes;

crate::properties::modes::modes!(Aes);
crate::properties::lanes_cbc::cbc_lanes!(Aes);
crate::properties::lanes_ccm::ccm_lanes!(Aes);
