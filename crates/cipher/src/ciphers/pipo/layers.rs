//! The layers and rounds of PIPO, written once over [`StateRow`] for all backends except `reference`.

use zeroize::Zeroize;

use crate::engine::Interleave;

/// A block of PIPO. Byte `r` is row `r` of the state; the paper's number is `u64::from_le_bytes` of the block.
pub type Block = [u8; 8];

/// Largest number of rounds, that of a key of 256 bits.
pub(super) const MAX_ROUNDS: usize = 17;

/// The number of bits by which the R-layer rotates each row to the left.
pub(super) const ROTATIONS: [u32; 8] = [0, 7, 4, 3, 6, 5, 1, 2];

/// One row of the states of many blocks.
///
/// The operations are those of the S-layer, with up to three operands: some machines have them as one instruction.
///
/// # Safety
/// The machine must have the row's instructions for every method.
#[allow(unreachable_pub)] // Reachable only through the engines with registers.
pub trait StateRow: Copy {
    /// The unit that fills a row when repeated.
    type Word: Copy + Zeroize;
    unsafe fn splat(word: Self::Word) -> Self;
    unsafe fn xor(self, a: Self) -> Self;
    /// `self ^ a ^ b`
    unsafe fn xor3(self, a: Self, b: Self) -> Self;
    /// `self ^ !a`
    unsafe fn xnor(self, a: Self) -> Self;
    /// `!self ^ a ^ b`
    unsafe fn xnor3(self, a: Self, b: Self) -> Self;
    /// `self ^ (a & b)`
    unsafe fn xor_and(self, a: Self, b: Self) -> Self;
    /// `self ^ (a | b)`
    unsafe fn xor_or(self, a: Self, b: Self) -> Self;
    /// Rotates the row of every block to the left by 1 to 7 bits.
    unsafe fn rotate<const LEFT: u32>(self) -> Self;
}

/// A source of round keys.
pub(crate) trait RoundKeySource<R> {
    fn rounds(&self) -> usize;
    /// Round key 0.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn whitening(&self) -> [R; 8];
    /// The key of a round, which counts from 1. Its rows are rotated back, so it is added before the R-layer.
    ///
    /// # Safety
    /// The machine must have the instructions of `R`.
    unsafe fn round_key(&self, round: usize) -> [R; 8];
}

// Loops, not closures: a closure is a separate function without the target features. If the compiler does not inline it, every
// instruction in it becomes a call.

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn add<R: StateRow>(x: &mut [R; 8], other: [R; 8]) {
    for row in 0..8 {
        // SAFETY: the caller guarantees the instructions.
        x[row] = unsafe { x[row].xor(other[row]) };
    }
}

/// The S-layer followed by the addition of `key`. The names are those of the specification's formulas: a letter for the stage, and the
/// number of the input row. Rows 1, 2 and 7 end with an addition, which takes the key as another operand.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn s_layer<R: StateRow>([x0, x1, x2, x3, x4, x5, x6, x7]: [R; 8], key: [R; 8]) -> [R; 8] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let a5 = x5.xor_and(x7, x6);
        let a4 = x4.xor_and(x3, a5);
        let a6 = x6.xor(x3);
        let a3 = x3.xor_or(a4, a5);
        // a7 = x7 ^ a4 is not computed: it only occurs in sums.
        let b5 = a5.xor3(x7, a4);
        let b4 = a4.xor_and(b5, a6);
        let a2 = x2.xor_and(x1, x0);
        let a0 = x0.xor_or(a2, x1);
        let a1 = x1.xor_or(a2, a0);
        let c7 = a1.xor3(x7, a4);
        // b2 = !a2 is not computed: it only occurs in sums.
        let c3 = a3.xnor(a2);
        let c4 = b4.xor(a0);
        let c6 = a6.xor_and(c7, b5);
        let t0 = c7.xor(c6);
        let d6 = c6.xor_or(c4, c3);
        let t1 = c3.xor(b5);
        let d5 = b5.xor_or(d6, c4);
        let t2 = c4.xor_and(t1, t0);
        [
            c7.xor(key[0]),
            a0.xor3(t1, key[1]),
            a2.xnor3(t0, key[2]),
            d6.xor(key[3]),
            d5.xor(key[4]),
            c4.xor(key[5]),
            c3.xor(key[6]),
            a1.xor3(t2, key[7]),
        ]
    }
}

/// The addition of `key` followed by the inverse of the S-layer.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn inverse_s_layer<R: StateRow>(y: [R; 8], key: [R; 8]) -> [R; 8] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let c7 = y[0].xor(key[0]);
        let d6 = y[3].xor(key[3]);
        let d5 = y[4].xor(key[4]);
        let c4 = y[5].xor(key[5]);
        let c3 = y[6].xor(key[6]);
        let b5 = d5.xor_or(d6, c4);
        let c6 = d6.xor_or(c4, c3);
        let t0 = c7.xor(c6);
        let t1 = c3.xor(b5);
        let t2 = c4.xor_and(t1, t0);
        let a6 = c6.xor_and(c7, b5);
        let a1 = y[7].xor3(t2, key[7]);
        let a0 = y[1].xor3(t1, key[1]);
        let a2 = y[2].xnor3(t0, key[2]);
        // The formula has b2 = !a2.
        let a3 = c3.xnor(a2);
        let b4 = c4.xor(a0);
        let a4 = b4.xor_and(b5, a6);
        // a7 = c7 ^ a1 is not computed: it only occurs in sums.
        let a5 = b5.xor3(c7, a1);
        let x3 = a3.xor_or(a4, a5);
        let x6 = a6.xor(x3);
        let x7 = a4.xor3(c7, a1);
        let x4 = a4.xor_and(x3, a5);
        let x5 = a5.xor_and(x7, x6);
        let x1 = a1.xor_or(a2, a0);
        let x0 = a0.xor_or(a2, x1);
        let x2 = a2.xor_and(x1, x0);
        [x0, x1, x2, x3, x4, x5, x6, x7]
    }
}

/// The R-layer.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn r_layer<R: StateRow>([x0, x1, x2, x3, x4, x5, x6, x7]: [R; 8]) -> [R; 8] {
    const { assert!(matches!(ROTATIONS, [0, 7, 4, 3, 6, 5, 1, 2])) };
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        [
            x0,
            x1.rotate::<7>(),
            x2.rotate::<4>(),
            x3.rotate::<3>(),
            x4.rotate::<6>(),
            x5.rotate::<5>(),
            x6.rotate::<1>(),
            x7.rotate::<2>(),
        ]
    }
}

/// The inverse of the R-layer.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn inverse_r_layer<R: StateRow>([x0, x1, x2, x3, x4, x5, x6, x7]: [R; 8]) -> [R; 8] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        [
            x0,
            x1.rotate::<1>(),
            x2.rotate::<4>(),
            x3.rotate::<5>(),
            x4.rotate::<2>(),
            x5.rotate::<3>(),
            x6.rotate::<7>(),
            x7.rotate::<6>(),
        ]
    }
}

/// Encrypts `N` states.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn encrypt<R: StateRow, const N: usize>(
    keys: &impl RoundKeySource<R>,
    x: &mut [[R; 8]; N],
    between_rounds: &mut impl Interleave,
) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let key = keys.whitening();
        for state in &mut y {
            add(state, key);
        }
        for round in 1..=keys.rounds() {
            let key = keys.round_key(round);
            for state in &mut y {
                *state = r_layer(s_layer(*state, key));
            }
            if round < 10 {
                between_rounds.run_part(round);
            }
        }
    }
    *x = y;
}

/// Decrypts `N` states.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn decrypt<R: StateRow, const N: usize>(keys: &impl RoundKeySource<R>, x: &mut [[R; 8]; N]) {
    let mut y = *x;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for round in (1..=keys.rounds()).rev() {
            let key = keys.round_key(round);
            for state in &mut y {
                *state = inverse_s_layer(inverse_r_layer(*state), key);
            }
        }
        let key = keys.whitening();
        for state in &mut y {
            add(state, key);
        }
    }
    *x = y;
}
