//! LEA: the properties of AES, without the comparison with other implementations.

use tress_cipher::lea::Lea;

crate::properties::modes::modes!(Lea);
crate::properties::lanes_cbc::cbc_lanes!(Lea);
crate::properties::lanes_ccm::ccm_lanes!(Lea);
