//! RC6: the properties of AES, without the comparison with other implementations.

use tress_cipher::rc6::{General, Rc6};

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
