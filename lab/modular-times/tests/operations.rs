//! Every operation runs in the memory that it asks for, at every digit size, and rejects less memory.

use tress_arithmetic::{Error, Limb};
use tress_modular_times::{BITS, Clock, Inlined, Line, Operation, Time, agrees, measure, table};

/// A clock that counts its readings.
struct CountingClock(u64);

impl Clock for CountingClock {
    const UNIT: &'static str = "questions";
    const ENOUGH: u64 = 1;

    fn now(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

fn all<L: Limb>() {
    for &operation in Operation::ALL {
        for bits in [BITS[0], BITS[3], 2048] {
            let mut memory = vec![L::ZERO; operation.memory::<L>(bits)];
            let time = measure::<L, Inlined>(operation, bits, &mut CountingClock(0), &mut memory);
            assert_eq!(time, Ok(Time { runs: 1, elapsed: 1 }), "{} of {bits} bits", operation.name());
            let less = memory.len() - 1;
            assert_eq!(
                measure::<L, Inlined>(operation, bits, &mut CountingClock(0), &mut memory[..less]),
                Err(Error::Length)
            );
        }
    }
}

#[test]
fn every_operation_at_every_digit_size() {
    all::<u16>();
    all::<u32>();
    all::<u64>();
}

#[test]
fn a_time_is_an_integer() {
    assert_eq!(Time { runs: 4, elapsed: 10 }.thousandths(), 2500);
    assert_eq!(Time { runs: 0, elapsed: 10 }.thousandths(), 10_000);
    assert!(Operation::PAPER.iter().all(|operation| Operation::ALL.contains(operation)));
}

#[test]
fn it_computes_what_python_does() {
    assert!(agrees::<u16, Inlined>() && agrees::<u32, Inlined>() && agrees::<u64, Inlined>());
}

/// Each operation of the paper, replaced by a wrong one.
#[test]
fn a_wrong_operation_is_found() {
    use tress_modular_times::Calls;

    struct Wrong<const WHICH: usize>;
    macro_rules! call {
        ($which:expr, $digits:ident, $call:expr) => {{
            let result = $call;
            if WHICH == $which {
                $digits[0] ^= 1;
            }
            result
        }};
    }
    type Done = Result<(), Error>;
    impl<const WHICH: usize> Calls<u32> for Wrong<WHICH> {
        fn add(a: &[u32], b: &[u32], sum: &mut [u32]) {
            call!(0, sum, Inlined::add(a, b, sum))
        }
        fn subtract(a: &[u32], b: &[u32], difference: &mut [u32]) {
            call!(1, difference, Inlined::subtract(a, b, difference))
        }
        fn multiply(a: &[u32], b: &[u32], product: &mut [u32]) {
            call!(2, product, Inlined::multiply(a, b, product))
        }
        fn square(a: &[u32], square: &mut [u32]) {
            call!(3, square, Inlined::square(a, square))
        }
        fn reduce(value: &mut [u32], modulus: &[u32]) -> Done {
            call!(4, value, Inlined::reduce(value, modulus))
        }
        fn montgomery(a: &[u32], b: &[u32], modulus: &[u32], inverse: u32, product: &mut [u32]) {
            call!(5, product, Inlined::montgomery(a, b, modulus, inverse, product))
        }
        fn power(base: &[u32], exponent: &[u32], modulus: &[u32], result: &mut [u32], scratch: &mut [u32]) -> Done {
            call!(6, result, Inlined::power(base, exponent, modulus, result, scratch))
        }
        fn montgomery_power(
            base: &[u32],
            exponent: &[u32],
            modulus: &[u32],
            result: &mut [u32],
            scratch: &mut [u32],
        ) -> Done {
            call!(7, result, Inlined::montgomery_power(base, exponent, modulus, result, scratch))
        }
    }
    assert!(agrees::<u32, Wrong<8>>());
    assert!(!agrees::<u32, Wrong<0>>() && !agrees::<u32, Wrong<1>>() && !agrees::<u32, Wrong<2>>());
    assert!(!agrees::<u32, Wrong<3>>() && !agrees::<u32, Wrong<4>>() && !agrees::<u32, Wrong<5>>());
    assert!(!agrees::<u32, Wrong<6>>() && !agrees::<u32, Wrong<7>>());
}

#[test]
fn a_table_has_a_line_for_each_time() {
    let mut memory = [0u64; 2048];
    let mut text = String::new();
    let mut put = |line: Line| line.write(&mut |byte| text.push(byte.into()));
    table::<u64, Inlined>(&Operation::PAPER, &BITS, 2, &mut CountingClock(0), &mut memory, &mut put).expect("times");
    assert_eq!(text.lines().count(), 32);
    assert_eq!(text.lines().next(), Some("64 256 add 1 1"));
    assert_eq!(text.lines().last(), Some("64 1024 power-montgomery-binary 1 1"));
    // An operation without enough memory is left out.
    let mut lines = 0;
    table::<u64, Inlined>(&Operation::PAPER, &BITS, 1, &mut CountingClock(0), &mut [0; 24], &mut |_| lines += 1)
        .expect("times");
    assert_eq!(lines, 5, "sums, products, squares and Montgomery's products of 256 bits");
    assert!(Operation::ALL.iter().all(|operation| Operation::of_name(operation.name()) == Some(*operation)));
    assert_eq!(Operation::of_name("no-such"), None);
}
