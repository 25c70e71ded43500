//! Every PIPO vector under `vectors/pipo/`.

use tress_cipher::pipo::{Pipo, Pipo128, Pipo256};

use super::run_block_modes;
use super::under_test::under_test;

under_test!(Pipo in "pipo" by run_64_bit_blocks, 16 Pipo128, 32 Pipo256);

sets! {
    "pipo" by run;
    published: "published", 2;
    single_bits: "single-bits", 516;
    s_box_columns: "s-box-columns", 2;
    ecb_lengths: "ecb-lengths", 40;
    cbc_lengths: "cbc-lengths", 40;
    ctr_lengths: "ctr-lengths", 62;
    ctr_borders: "ctr-borders", 206;
}

fn run(name: &str, count: usize) {
    run_block_modes::<Pipo>(name, count);
}
