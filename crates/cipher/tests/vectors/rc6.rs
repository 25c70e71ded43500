//! Every RC6 vector under `vectors/rc6/`.

use tress_cipher::rc6::{General, Rc6, Rc6_128, Rc6_192, Rc6_256};

use crate::vectors::file::{self, GroupKind, VectorFile};
use crate::vectors::run;
use crate::vectors::under_test::under_test;

under_test!(Rc6 in "rc6" by run, 16 Rc6_128, 24 Rc6_192, 32 Rc6_256);

sets! {
    "rc6" and "general" by run::<Rc6>;
    published: "published", 11;
    ecb: "ecb", 394;
    cbc: "cbc", 48;
    ctr: "ctr", 93;
    ccm: "ccm", 144;
    ecb_monte_carlo: "ecb-monte-carlo", 18;
}

/// RC6-32/r/b with other r and b.
#[test]
fn other_rounds_and_keys() {
    let (name, count) = ("general", 168);
    if cfg!(miri) && file::size("rc6", name) > crate::vectors::MIRI_FILE_BYTES {
        return;
    }
    let file = VectorFile::read("rc6", name);
    let tests = file.tests_of(GroupKind::Rc6General);
    assert_eq!((tests.len(), file.number_of_tests), (count, count));
    for group in &file.groups {
        let rounds = group.rounds.expect("a number of rounds");
        for test in &group.tests {
            assert_eq!(test.key.len() * 8, group.key_bits, "{}: the group's key size", test.comment);
            let rc6 = General::new(&test.key, rounds).expect("a vector's key");
            assert_eq!(rc6.rounds(), rounds);
            let mut block = test.message().try_into().expect("one block");
            rc6.encrypt_block(&mut block);
            assert_eq!(block, test.ct[..], "{}: encrypt", test.comment);
            rc6.decrypt_block(&mut block);
            assert_eq!(block, test.message(), "{}: decrypt", test.comment);
        }
    }
    assert_eq!(General::new(&[0; 256], 20).err(), Some(tress_cipher::Error::KeyLength));
}
