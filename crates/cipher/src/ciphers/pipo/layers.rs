//! The layers and rounds of PIPO, once for all backends but `reference`: over whatever holds a row of some blocks.

use zeroize::Zeroize;

use crate::engine::Meanwhile;

/// A block of PIPO: byte `r` is row `r`, so the paper's number is `u64::from_le_bytes` of it.
pub type Block = [u8; 8];

/// Rounds with a key of 256 bits, the larger number.
pub(super) const MAX_ROUNDS: usize = 17;

/// How far each row is rotated to the left by the R-layer.
pub(super) const ROTATIONS: [u32; 8] = [0, 7, 4, 3, 6, 5, 1, 2];

/// A row of the state of as many blocks as fit.
///
/// The operations are those of the S-layer with as many operands as some machines take at once.
///
/// # Safety
/// Every method needs the row's instructions.
#[allow(unreachable_pub)] // Only the engines with registers make it reachable.
pub trait Row: Copy {
    /// What fills a row, repeated.
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

/// Where the round keys of a state come from.
pub(crate) trait RoundKeys<R> {
    fn rounds(&self) -> usize;
    /// Round key 0.
    ///
    /// # Safety
    /// The machine needs the instructions of `R`.
    unsafe fn whitening(&self) -> [R; 8];
    /// The key of a round from 1 on, its rows rotated back: to be added before the R-layer.
    ///
    /// # Safety
    /// The machine needs the instructions of `R`.
    unsafe fn round_key(&self, round: usize) -> [R; 8];
}

// Loops, not closures: a closure is a function of its own without the target features, and where the compiler does not
// inline it every instruction in it becomes a call.

/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn add<R: Row>(x: &mut [R; 8], other: [R; 8]) {
    for row in 0..8 {
        // SAFETY: the caller vouches for the instructions.
        x[row] = unsafe { x[row].xor(other[row]) };
    }
}

/// The S-layer and a key after it. Names are those of the specification's formulas: a letter for how far a row has come,
/// its number in the input. Rows 1, 2 and 7 end with an addition, so the key is one operand more.
///
/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn s_layer<R: Row>([x0, x1, x2, x3, x4, x5, x6, x7]: [R; 8], key: [R; 8]) -> [R; 8] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let a5 = x5.xor_and(x7, x6);
        let a4 = x4.xor_and(x3, a5);
        let a6 = x6.xor(x3);
        let a3 = x3.xor_or(a4, a5);
        // a7 = x7 ^ a4 is only ever added to something.
        let b5 = a5.xor3(x7, a4);
        let b4 = a4.xor_and(b5, a6);
        let a2 = x2.xor_and(x1, x0);
        let a0 = x0.xor_or(a2, x1);
        let a1 = x1.xor_or(a2, a0);
        let c7 = a1.xor3(x7, a4);
        // b2 = !a2 is only ever added to something.
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

/// A key and the inverse of the S-layer after it.
///
/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn inverse_s_layer<R: Row>(y: [R; 8], key: [R; 8]) -> [R; 8] {
    // SAFETY: the caller vouches for the instructions.
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
        // With b2 = !a2.
        let a3 = c3.xnor(a2);
        let b4 = c4.xor(a0);
        let a4 = b4.xor_and(b5, a6);
        // a7 = c7 ^ a1 is only ever added to something.
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
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn r_layer<R: Row>([x0, x1, x2, x3, x4, x5, x6, x7]: [R; 8]) -> [R; 8] {
    const { assert!(matches!(ROTATIONS, [0, 7, 4, 3, 6, 5, 1, 2])) };
    // SAFETY: the caller vouches for the instructions.
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
/// The machine needs the instructions of `R`.
#[inline(always)]
unsafe fn inverse_r_layer<R: Row>([x0, x1, x2, x3, x4, x5, x6, x7]: [R; 8]) -> [R; 8] {
    // SAFETY: the caller vouches for the instructions.
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

/// `N` states through all rounds.
///
/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn encrypt<R: Row, const N: usize>(
    keys: &impl RoundKeys<R>,
    x: &mut [[R; 8]; N],
    meanwhile: &mut impl Meanwhile,
) {
    let mut y = *x;
    // SAFETY: the caller vouches for the instructions.
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
                meanwhile.round(round);
            }
        }
    }
    *x = y;
}

/// The inverse of `encrypt`.
///
/// # Safety
/// The machine needs the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn decrypt<R: Row, const N: usize>(keys: &impl RoundKeys<R>, x: &mut [[R; 8]; N]) {
    let mut y = *x;
    // SAFETY: the caller vouches for the instructions.
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
