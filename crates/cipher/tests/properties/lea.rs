//! LEA: the properties of AES, without the comparison with other implementations.

use tress_cipher::lea::{Lea, Lea128};
use tress_cipher::{Backend, BlockCipher};

crate::properties::modes::modes!(Lea);
crate::properties::lanes_cbc::cbc_lanes!(Lea);
crate::properties::lanes_ccm::ccm_lanes!(Lea);

#[test]
fn the_fastest_backend_is_chosen_and_no_key_is_shown() {
    let lea = Lea::new(&[0xa7; 24]).unwrap();
    let last = Lea::BACKENDS.iter().rev().find(|backend| backend.is_available() && **backend != Backend::Reference);
    assert_eq!(Some(&lea.backend()), last);
    assert_eq!(format!("{lea:?}"), format!("LEA-192 ({})", lea.backend().name()));
    assert_eq!(<Lea128 as BlockCipher>::BACKENDS, Lea::BACKENDS);
}
