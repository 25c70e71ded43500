//! Every LEA vector under `vectors/lea/`.

use tress_cipher::lea::{Lea, Lea128, Lea192, Lea256};

use crate::vectors::file;
use crate::vectors::run;
use crate::vectors::under_test::under_test;

under_test!(Lea in "lea" by run, 16 Lea128, 24 Lea192, 32 Lea256);

sets! {
    run::<Lea>;
    published: "published", 3;
    ecb: "ecb", 394;
    cbc: "cbc", 48;
    ctr: "ctr", 93;
    ccm: "ccm", 144;
}

#[test]
fn no_file_is_forgotten() {
    let known = SETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(file::names("lea"), known);
}

#[test]
fn a_missing_backend_is_an_error() {
    crate::vectors::missing_backend::<Lea>(|backend| Lea::with_backend(&[0; 16], backend));
}
