//! RC6: the properties of AES, without the comparison with other implementations.

use tress_cipher::rc6::{General, Rc6, Rc6_128};
use tress_cipher::{Backend, BlockCipher};

use crate::properties::common::{PropertyCipher, SeededBytes, backends};

crate::properties::modes::modes!(Rc6);
crate::properties::lanes_cbc::cbc_lanes!(Rc6);
crate::properties::lanes_ccm::ccm_lanes!(Rc6);

#[test]
fn twenty_rounds_of_the_general_cipher_are_rc6() {
    let mut random = SeededBytes::new(6);
    for key_bytes in [16, 24, 32] {
        let (key, blocks) = (random.take(key_bytes), random.take(16 * 100));
        let general = General::new(&key, 20).unwrap();
        let (blocks, _) = blocks.as_chunks::<16>();
        for backend in backends::<Rc6>() {
            let rc6 = Rc6::prepare(backend, &key);
            let mut sealed = blocks.to_vec();
            rc6.encrypt_blocks(&mut sealed);
            for (sealed, block) in sealed.iter_mut().zip(blocks) {
                general.decrypt_block(sealed);
                assert_eq!(sealed, block, "{}", backend.name());
            }
        }
    }
}

#[test]
fn the_fastest_backend_is_chosen_and_no_key_is_shown() {
    let rc6 = Rc6::new(&[0xa7; 24]).unwrap();
    let last = Rc6::BACKENDS.iter().rev().find(|backend| backend.is_available() && **backend != Backend::Reference);
    assert_eq!(Some(&rc6.backend()), last);
    assert_eq!(format!("{rc6:?}"), format!("RC6-192 ({})", rc6.backend().name()));
    assert_eq!(format!("{:?}", General::new(&[0xa7; 24], 9).unwrap()), "RC6-32/9 (reference)");
    assert_eq!(<Rc6_128 as BlockCipher>::BACKENDS, Rc6::BACKENDS);
}
