//! Every LEA vector under `vectors/lea/`.

use tress_cipher::lea::{Lea, Lea128, Lea192, Lea256};

use crate::vectors::run;
use crate::vectors::under_test::under_test;

under_test!(Lea in "lea" by run, 16 Lea128, 24 Lea192, 32 Lea256);

sets! {
    "lea" by run::<Lea>;
    published: "published", 3;
    ecb: "ecb", 394;
    cbc: "cbc", 48;
    ctr: "ctr", 93;
    ccm: "ccm", 144;
}
