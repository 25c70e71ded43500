//! No branch and no address depends on a secret, as in `crates/modular/tests/secrets.rs`. The binary method, whose time
//! depends on the exponent, is the planted leak: it must be found.
#![cfg(target_arch = "x86_64")]

use tress_arithmetic::power::{binary_scratch, binary_vartime, fixed_window, fixed_window_scratch};
use tress_arithmetic::reduce::montgomery::{Arrangement, negative_inverse};
use tress_arithmetic::reduce::{Barrett, Montgomery, Ring, barrett_scratch};
use tress_arithmetic::{Limb, inverse, multiply};

#[allow(dead_code)]
#[path = "../../../crates/modular/tests/common/memcheck.rs"]
mod memcheck;
#[path = "../../../crates/modular/tests/common/secrets.rs"]
mod numbers;

use memcheck::{hide, watch};
use numbers::{modulus, secret};

/// All functions that claim constant time, with digits of one size.
fn slices<L: Limb>() {
    let name = |what: &str| format!("{} bits {what}", L::BITS);
    for n in [2, 8, 33] {
        let (a, b) = (secret::<L>(n, 1), secret::<L>(n, 2));
        let mut sum = vec![L::ZERO; n];
        let (mut product, mut scratch) = (vec![L::ZERO; 2 * n], vec![L::ZERO; multiply::karatsuba_scratch(n)]);
        watch(&name("products"), || {
            multiply::rows(&a, &b, &mut product);
            multiply::columns(&a, &b, &mut product);
            multiply::multiply(&a, &b, &mut product, &mut scratch);
        });
        watch(&name("squares"), || {
            multiply::square::three_steps(&a, &mut product);
            multiply::square::columns(&a, &mut product);
            multiply::square::karatsuba(&a, &mut product, &mut scratch);
        });
        let public = modulus::<L>(n);
        let (mut reciprocal, mut memory) = (vec![L::ZERO; n + 2], vec![L::ZERO; barrett_scratch(n)]);
        let barrett = Barrett::new_vartime(&public, &mut reciprocal, &mut memory).unwrap();
        let mut memory = vec![L::ZERO; barrett.scratch()];
        watch(&name("barrett"), || {
            barrett.multiply(&a, &b, &mut sum, &mut memory);
            barrett.square(&a, &mut sum, &mut memory);
        });
        // The modulus is secret here.
        let mut hidden = modulus::<L>(n);
        hide(&mut hidden);
        let mut one = vec![L::ZERO; n];
        for arrangement in Arrangement::ALL {
            let (mut powers, mut memory) = (vec![L::ZERO; 2 * n], vec![L::ZERO; 2 * n]);
            watch(&name(arrangement.name()), || {
                let ring = Montgomery::new(&hidden, arrangement, &mut powers, &mut memory).unwrap();
                ring.enter(&a, &mut sum, &mut memory);
                ring.square(&a, &mut sum, &mut memory);
                ring.leave(&a, &mut sum, &mut memory);
                ring.one(&mut one);
            });
        }
        let exponent = secret::<L>(3, 5);
        let mut memory = vec![L::ZERO; fixed_window_scratch(n, 3 * L::BITS as usize)];
        watch(&name("fixed window"), || {
            let inverse = negative_inverse(hidden[0]);
            fixed_window(&b, &exponent, &hidden, inverse, &one, &mut sum, &mut memory);
        });
        let mut memory = vec![L::ZERO; inverse::inverse_scratch(n)];
        watch(&name("inverse"), || _ = inverse::inverse(&a, &hidden, &mut sum, &mut memory));
    }
    // The planted leak.
    let n = 4;
    let public = modulus::<L>(n);
    let (mut powers, mut memory) = (vec![L::ZERO; 2 * n], vec![L::ZERO; n]);
    let ring = Montgomery::new(&public, Arrangement::Cios, &mut powers, &mut memory).unwrap();
    let (base, exponent) = (secret::<L>(n, 3), secret::<L>(n, 4));
    let (mut result, mut memory) = (vec![L::ZERO; n], vec![L::ZERO; binary_scratch(&ring)]);
    watch("planted", || _ = binary_vartime(&ring, &base, &exponent, &mut result, &mut memory));
}

/// The run under Valgrind. Does nothing elsewhere.
#[test]
fn inside() {
    if memcheck::is_inside() {
        slices::<u16>();
        slices::<u32>();
        slices::<u64>();
    }
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    memcheck::check(84, 100);
}
