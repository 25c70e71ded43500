//! Runs an operation until the clock has counted enough.

use core::hint::black_box;

use tress_arithmetic::multiply::{self, square};
use tress_arithmetic::power::{self, FixedBase, PowerTable, r_ary_vartime};
use tress_arithmetic::reduce::montgomery::negative_inverse;
use tress_arithmetic::reduce::{Barrett, Montgomery, Ring, Selby, Takagi, barrett_scratch};
use tress_arithmetic::{Error, Limb, add};

use crate::{Calls, Clock, Operation, Time};

/// Measures an operation on numbers of `bits` bits, in memory of at least [`Operation::memory`] digits.
///
/// All operands have all their bits. The exponent is as long as the modulus, and half of its bits are set. Set-up,
/// such as tables of a modulus or a base, is not timed, except in the two exponentiations of the paper's tables,
/// whose algorithms include it. The operations in [`Operation::PAPER`] are called through `P`.
pub fn measure<L: Limb, P: Calls<L>>(
    operation: Operation,
    bits: usize,
    clock: &mut impl Clock,
    memory: &mut [L],
) -> Result<Time, Error> {
    let n = bits / L::BITS as usize;
    if n < 2 || memory.len() < operation.memory::<L>(bits) {
        return Err(Error::Length);
    }
    let (base, rest) = memory.split_at_mut(n);
    let (factor, rest) = rest.split_at_mut(n);
    let (modulus, rest) = rest.split_at_mut(n);
    let (exponent, rest) = rest.split_at_mut(n);
    let (product, scratch) = rest.split_at_mut(2 * n);
    fill(base, 1);
    fill(factor, 2);
    fill(modulus, 3);
    fill(exponent, 4);
    modulus[0] = modulus[0] | L::ONE;
    modulus[n - 1] = modulus[n - 1] | (L::ONE << (L::BITS - 1));
    // Below the modulus.
    for number in [&mut *base, &mut *factor] {
        number[n - 1] = (number[n - 1] >> 1) | (L::ONE << (L::BITS - 2));
    }
    exponent[n - 1] = exponent[n - 1] | (L::ONE << (L::BITS - 1));
    let (a, b, modulus, exponent) = (&*base, &*factor, &*modulus, &*exponent);

    let result = &mut product[..n];
    Ok(match operation {
        Operation::Add => time(clock, || P::add(black_box(a), black_box(b), result)),
        Operation::Subtract => time(clock, || P::subtract(black_box(a), black_box(b), result)),
        Operation::SubtractBorrow => time(clock, || add::subtract(black_box(a), black_box(b), result)),
        Operation::Rows => time(clock, || P::multiply(black_box(a), black_box(b), product)),
        Operation::Columns => time(clock, || multiply::columns(black_box(a), black_box(b), product)),
        Operation::Karatsuba => time(clock, || multiply::karatsuba(black_box(a), black_box(b), product, scratch)),
        Operation::SquareThreeSteps => time(clock, || P::square(black_box(a), product)),
        Operation::SquareKaratsuba => time(clock, || square::karatsuba(black_box(a), product, scratch)),
        Operation::Classical => {
            multiply::rows(a, b, product);
            let value = &mut scratch[..2 * n];
            // The time includes a copy of the value.
            try_time(clock, || {
                value.copy_from_slice(black_box(product));
                P::reduce(value, modulus)
            })?
        }
        Operation::Barrett => {
            let (reciprocal, scratch) = scratch.split_at_mut(n + 2);
            let ring = Barrett::new_vartime(modulus, reciprocal, &mut scratch[..barrett_scratch(n)])?;
            multiply::rows(a, b, product);
            let (result, scratch) = scratch.split_at_mut(n);
            try_time(clock, || ring.reduce(black_box(product), result, scratch))?
        }
        Operation::Selby => {
            let (table, scratch) = scratch.split_at_mut(n * n);
            let ring = Selby::new(modulus, table, scratch)?;
            multiply::rows(a, b, product);
            let (result, scratch) = scratch.split_at_mut(n);
            try_time(clock, || ring.reduce_vartime(black_box(product), result, scratch))?
        }
        Operation::Takagi => {
            let ring = Takagi::new(modulus)?;
            time(clock, || ring.multiply(black_box(a), black_box(b), result, scratch))
        }
        Operation::Montgomery => {
            let inverse = negative_inverse(modulus[0]);
            time(clock, || P::montgomery(black_box(a), black_box(b), modulus, inverse, result))
        }
        Operation::Binary => try_time(clock, || P::power(black_box(a), exponent, modulus, result, scratch))?,
        Operation::MontgomeryBinary => {
            try_time(clock, || P::montgomery_power(black_box(a), exponent, modulus, result, scratch))?
        }
        Operation::RAry | Operation::PowerTable | Operation::FixedBase => {
            let (powers, scratch) = scratch.split_at_mut(2 * n);
            let ring = Montgomery::new(modulus, powers, scratch)?;
            return in_montgomery_form(operation, &ring, a, exponent, result, scratch, clock);
        }
    })
}

/// Powers modulo N with Montgomery's multiplication, of bases in Montgomery form.
fn in_montgomery_form<L: Limb>(
    operation: Operation,
    ring: &Montgomery<'_, L>,
    a: &[L],
    exponent: &[L],
    result: &mut [L],
    scratch: &mut [L],
    clock: &mut impl Clock,
) -> Result<Time, Error> {
    let bits = a.len() * L::BITS as usize;
    match operation {
        Operation::PowerTable => {
            let (table, scratch) = scratch.split_at_mut(power::power_table_digits(ring, bits));
            let table = PowerTable::new(ring, a, table, scratch)?;
            try_time(clock, || table.power_vartime(black_box(exponent), result, scratch))
        }
        Operation::FixedBase => {
            let (table, scratch) = scratch.split_at_mut(power::fixed_base_digits(ring, bits, 4));
            let table = FixedBase::new(ring, a, 4, table, scratch)?;
            try_time(clock, || table.power_vartime(black_box(exponent), result, scratch))
        }
        _ => try_time(clock, || r_ary_vartime(ring, black_box(a), exponent, 4, result, scratch)),
    }
}

/// Times work that can fail; if it does, it fails in its first run.
fn try_time<C: Clock>(clock: &mut C, mut work: impl FnMut() -> Result<(), Error>) -> Result<Time, Error> {
    work()?;
    Ok(time(clock, work))
}

/// Doubles the number of runs until they take long enough.
fn time<C: Clock, T>(clock: &mut C, mut work: impl FnMut() -> T) -> Time {
    let mut runs = 1;
    loop {
        let start = clock.now();
        for _ in 0..runs {
            black_box(work());
        }
        let elapsed = clock.now().saturating_sub(start);
        if elapsed >= C::ENOUGH || runs >= 1 << 30 {
            return Time { runs, elapsed };
        }
        runs *= 2;
    }
}

/// Fills a number with pseudorandom digits, the same bits for every digit size.
fn fill<L: Limb>(number: &mut [L], seed: u64) {
    let per_word = (64 / L::BITS) as usize;
    for (i, digit) in number.iter_mut().enumerate() {
        let mut word = ((i / per_word) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (seed << 40);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        *digit = L::from_u64(word >> ((i % per_word) as u32 * L::BITS));
    }
}
