//! Checks the numbers of digit operations in the crate's table, with a digit type that counts them.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};
use std::{cell::Cell, vec, vec::Vec};

use zeroize::DefaultIsZeroes;

use crate::power::{binary_scratch, binary_vartime, fixed_window, fixed_window_scratch};
use crate::reduce::montgomery::{Arrangement, negative_inverse};
use crate::reduce::{Barrett, Classical, Montgomery, Ring, Selby, Takagi, barrett_scratch};
use crate::{Limb, add, multiply};
use tress_modular::parts::Sealed;

std::thread_local! {
    static PRODUCTS: Cell<usize> = const { Cell::new(0) };
    static SUMS: Cell<usize> = const { Cell::new(0) };
}

fn count(counter: &'static std::thread::LocalKey<Cell<usize>>) {
    counter.set(counter.get() + 1);
}

/// A digit of 16 bits that counts products, quotients and sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Counted(u16);

impl DefaultIsZeroes for Counted {}

impl Sealed for Counted {}

impl Limb for Counted {
    const BITS: u32 = 16;
    const ZERO: Self = Counted(0);
    const ONE: Self = Counted(1);
    const MAX: Self = Counted(u16::MAX);

    fn add(self, other: Self, carry: Self) -> (Self, Self) {
        count(&SUMS);
        let (sum, carry) = Limb::add(self.0, other.0, carry.0);
        (Counted(sum), Counted(carry))
    }

    fn subtract(self, other: Self, borrow: Self) -> (Self, Self) {
        count(&SUMS);
        let (difference, borrow) = Limb::subtract(self.0, other.0, borrow.0);
        (Counted(difference), Counted(borrow))
    }

    fn multiply_add(self, other: Self, addend: Self, carry: Self) -> (Self, Self) {
        count(&PRODUCTS);
        let (low, high) = self.0.multiply_add(other.0, addend.0, carry.0);
        (Counted(low), Counted(high))
    }

    fn multiply_low(self, other: Self) -> Self {
        count(&PRODUCTS);
        Counted(self.0.multiply_low(other.0))
    }

    fn divide(self, high: Self, divisor: Self) -> (Self, Self) {
        count(&PRODUCTS);
        let (quotient, rest) = Limb::divide(self.0, high.0, divisor.0);
        (Counted(quotient), Counted(rest))
    }

    fn leading_zeros(self) -> u32 {
        self.0.leading_zeros()
    }

    fn trailing_zeros(self) -> u32 {
        self.0.trailing_zeros()
    }

    fn from_u64(number: u64) -> Self {
        Counted(number as u16)
    }

    fn to_u64(self) -> u64 {
        self.0.into()
    }
}

macro_rules! operators {
    ($($operator:ident $name:ident;)*) => {$(
        impl $operator for Counted {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                Counted($operator::$name(self.0, other.0))
            }
        }
    )*};
}

operators! { BitAnd bitand; BitOr bitor; BitXor bitxor; }

impl Not for Counted {
    type Output = Self;
    fn not(self) -> Self {
        Counted(!self.0)
    }
}

impl Shl<u32> for Counted {
    type Output = Self;
    fn shl(self, bits: u32) -> Self {
        Counted(self.0 << bits)
    }
}

impl Shr<u32> for Counted {
    type Output = Self;
    fn shr(self, bits: u32) -> Self {
        Counted(self.0 >> bits)
    }
}

/// Number of digit products and sums in some work.
fn counted(work: impl FnOnce()) -> (usize, usize) {
    PRODUCTS.set(0);
    SUMS.set(0);
    work();
    (PRODUCTS.get(), SUMS.get())
}

const N: usize = 24;

fn digits(seed: u64) -> Vec<Counted> {
    let mut digits: Vec<_> =
        (0..N as u64).map(|i| Counted((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(11) as u16)).collect();
    digits[0].0 |= 1;
    digits[N - 1].0 |= 1 << 15;
    digits
}

/// Two numbers below the modulus, and the modulus.
fn numbers() -> (Vec<Counted>, Vec<Counted>, Vec<Counted>) {
    let (mut a, mut b) = (digits(1), digits(2));
    (a[N - 1].0, b[N - 1].0) = (0x1234, 0x4321);
    (a, b, digits(3))
}

#[test]
fn sums_and_products() {
    let (a, b, _) = numbers();
    let mut sum = a.clone();
    assert_eq!(counted(|| _ = add::add(&a, &b, &mut sum)), (0, N));
    assert_eq!(counted(|| _ = add::subtract(&a, &b, &mut sum)), (0, N));
    assert_eq!(counted(|| _ = add::subtract_complement(&a, &b, &mut sum)), (0, N));
    let mut product = vec![Counted(0); 2 * N];
    let mut products = |work: &mut dyn FnMut(&mut [Counted])| counted(|| work(&mut product)).0;
    assert_eq!(products(&mut |product| multiply::rows(&a, &b, product)), N * N);
    assert_eq!(products(&mut |product| multiply::columns(&a, &b, product)), N * N);
    assert_eq!(products(&mut |square| multiply::square::three_steps(&a, square)), N * (N + 1) / 2);
    assert_eq!(products(&mut |square| multiply::square::columns(&a, square)), N * (N + 1) / 2);
    // Two levels above the threshold: nine products of a quarter of the length.
    let threshold = multiply::KARATSUBA_DIGITS;
    let n = 2 * threshold;
    let long = [&a[..], &b[..], &a[..], &b[..], &a[..]].concat()[..n].to_vec();
    let mut product = vec![Counted(0); 2 * n];
    let mut scratch = vec![Counted(0); multiply::karatsuba_scratch(n)];
    let (products, _) = counted(|| multiply::karatsuba(&long, &long, &mut product, &mut scratch));
    assert_eq!(products, 9 * (threshold / 2) * (threshold / 2));
    let (products, _) = counted(|| multiply::square::karatsuba(&long, &mut product, &mut scratch));
    assert_eq!(products, 9 * (threshold / 2) * (threshold / 2 + 1) / 2);
}

/// Number of digit products in one product modulo N.
fn in_ring(ring: &impl Ring<Counted>) -> usize {
    let (a, b, _) = numbers();
    let (mut product, mut scratch) = (a.clone(), vec![Counted(0); ring.scratch()]);
    counted(|| ring.multiply(&a, &b, &mut product, &mut scratch)).0
}

#[test]
fn products_modulo() {
    let (_, _, modulus) = numbers();
    for arrangement in Arrangement::ALL {
        let (mut powers, mut scratch) = (vec![Counted(0); 2 * N], vec![Counted(0); N]);
        let ring = Montgomery::new(&modulus, arrangement, &mut powers, &mut scratch).unwrap();
        // 2 n² + n, and for CIHS one product by 1 for each row, which adds a carry to a column.
        let extra = if arrangement == Arrangement::Cihs { 2 * N } else { 0 };
        assert_eq!(in_ring(&ring), 2 * N * N + N + extra, "{}", arrangement.name());
    }
    // A product, and for each of the quotient's n digits n products, a division and one or more products for the estimate.
    let classical = in_ring(&Classical::new(&modulus).unwrap());
    assert!((2 * N * N + 2 * N..=2 * N * N + 4 * N).contains(&classical), "{classical}");
    let takagi = in_ring(&Takagi::new(&modulus).unwrap());
    assert!((2 * N * N + 2 * N..=2 * N * N + 4 * N).contains(&takagi), "{takagi}");
    let (mut table, mut scratch) = (vec![Counted(0); N * N], vec![Counted(0); N + 1]);
    let selby = in_ring(&Selby::new(&modulus, &mut table, &mut scratch).unwrap());
    assert!((2 * N * N..=2 * N * N + 4 * N).contains(&selby), "{selby}");
    let (mut reciprocal, mut scratch) = (vec![Counted(0); N + 2], vec![Counted(0); barrett_scratch(N)]);
    let barrett = in_ring(&Barrett::new_vartime(&modulus, &mut reciprocal, &mut scratch).unwrap());
    assert!((2 * N * N..=2 * N * N + 6 * N).contains(&barrett), "{barrett}");
}

#[test]
fn powers() {
    let (base, exponent, modulus) = numbers();
    let (mut powers, mut scratch) = (vec![Counted(0); 2 * N], vec![Counted(0); N]);
    let ring = Montgomery::new(&modulus, Arrangement::Cios, &mut powers, &mut scratch).unwrap();
    let product = 2 * N * N + N;
    let mut result = base.clone();
    let mut scratch = vec![Counted(0); binary_scratch(&ring)];
    let (products, _) = counted(|| binary_vartime(&ring, &base, &exponent, &mut result, &mut scratch).unwrap());
    let bits = add::bits_vartime(&exponent);
    let ones: u32 = exponent.iter().map(|digit| digit.0.count_ones()).sum();
    assert_eq!(products, (bits - 1 + ones as usize - 1) * product);
    // Windows of 5 bits: the exponent has 77 windows, so 384 squares, a product for each window, and the table.
    let (mut one, mut memory) = (base.clone(), vec![Counted(0); fixed_window_scratch(N, 16 * N)]);
    ring.one(&mut one);
    let inverse = negative_inverse(modulus[0]);
    let (products, _) = counted(|| fixed_window(&base, &exponent, &modulus, inverse, &one, &mut result, &mut memory));
    assert_eq!(products, (77 * 6 + 30) * product);
}
