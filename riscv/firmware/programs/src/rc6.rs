//! RC6-32/20 with a key of 128 bits, one block at a time, as in the submission to the AES contest: R. L. Rivest, M. J.
//! B. Robshaw, R. Sidney, Y. L. Yin, "The RC6 Block Cipher", version 1.1, 20 August 1998, sections 2.2 and 2.3.

/// Rounds, r.
const ROUNDS: usize = 20;

/// Odd((e − 2) 2^32).
const P: u32 = 0xb7e1_5163;
/// Odd((φ − 1) 2^32).
const Q: u32 = 0x9e37_79b9;

/// Round keys, S.
pub type Keys = [u32; 2 * ROUNDS + 4];

/// Key schedule: three passes over S. Each step depends on the one before.
#[inline(never)]
pub fn expand_key(key: &[u32; 4], s: &mut Keys) {
    let mut l = *key;
    s[0] = P;
    for i in 1..s.len() {
        s[i] = s[i - 1].wrapping_add(Q);
    }
    let (mut a, mut b, mut i, mut j) = (0u32, 0u32, 0, 0);
    for _ in 0..3 * s.len() {
        s[i] = s[i].wrapping_add(a).wrapping_add(b).rotate_left(3);
        a = s[i];
        l[j] = l[j].wrapping_add(a).wrapping_add(b).rotate_left(a.wrapping_add(b) & 31);
        b = l[j];
        i = if i + 1 == s.len() { 0 } else { i + 1 };
        j = (j + 1) % 4;
    }
}

/// Key schedule with a key of `NK` words. With one or two `DIVISIONS` the index into S, and into L, wraps around as
/// `(i + 1) % t`, as in many C programs of the time, and with a t that the compiler does not know to be constant: a
/// division in each step.
#[inline(never)]
pub fn expand_key_by<const NK: usize, const DIVISIONS: usize>(key: &[u32; NK], s: &mut Keys) {
    let mut l = *key;
    s[0] = P;
    for i in 1..s.len() {
        s[i] = s[i - 1].wrapping_add(Q);
    }
    let (mut a, mut b, mut i, mut j) = (0u32, 0u32, 0, 0);
    let next = |index: usize, length: usize, divides: bool| {
        // Compilers replace the division by a comparison if they see that the divisor is constant.
        let wrapped = if divides { (index as u32 + 1) % core::hint::black_box(length as u32) } else { 0 };
        if divides || index + 1 == length { wrapped as usize } else { index + 1 }
    };
    for _ in 0..3 * s.len() {
        s[i] = s[i].wrapping_add(a).wrapping_add(b).rotate_left(3);
        a = s[i];
        l[j] = l[j].wrapping_add(a).wrapping_add(b).rotate_left(a.wrapping_add(b) & 31);
        b = l[j];
        i = next(i, s.len(), DIVISIONS > 0);
        j = next(j, NK, DIVISIONS > 1);
    }
}

/// x (2x + 1), rotated by lg 32.
#[inline(always)]
fn quadratic(x: u32) -> u32 {
    x.wrapping_mul(x.wrapping_add(x).wrapping_add(1)).rotate_left(5)
}

/// One round. The words change names instead of places.
#[inline(always)]
fn round(s: &[u32], a: &mut u32, b: u32, c: &mut u32, d: u32) {
    let t = quadratic(b);
    let u = quadratic(d);
    *a = (*a ^ t).rotate_left(u & 31).wrapping_add(s[0]);
    *c = (*c ^ u).rotate_left(t & 31).wrapping_add(s[1]);
}

/// Encrypts one block of each of two messages with their own keys, side by side: while one waits for a product, the
/// other continues.
#[inline(never)]
pub fn encrypt_two(s: [&Keys; 2], blocks: [&[u32; 4]; 2], out: [&mut [u32; 4]; 2]) {
    let [mut x, mut y] = blocks.map(|block| *block);
    for (s, x) in s.iter().zip([&mut x, &mut y]) {
        x[1] = x[1].wrapping_add(s[0]);
        x[3] = x[3].wrapping_add(s[1]);
    }
    let fours = s.map(|s| s[2..2 + 2 * ROUNDS].as_chunks::<8>().0);
    for (s, t) in fours[0].iter().zip(fours[1]) {
        for turn in 0..4 {
            for (s, x) in [(s, &mut x), (t, &mut y)] {
                let [a, b, c, d] = core::array::from_fn(|word| (word + turn) % 4);
                let (mut p, mut q) = (x[a], x[c]);
                round(&s[2 * turn..], &mut p, x[b], &mut q, x[d]);
                (x[a], x[c]) = (p, q);
            }
        }
    }
    for ((s, [a, b, c, d]), out) in s.iter().zip([x, y]).zip(out) {
        *out = [a.wrapping_add(s[2 * ROUNDS + 2]), b, c.wrapping_add(s[2 * ROUNDS + 3]), d];
    }
}

/// Encrypts a block of four little-endian words.
#[inline(never)]
pub fn encrypt_block(s: &Keys, block: &[u32; 4], out: &mut [u32; 4]) {
    let [mut a, mut b, mut c, mut d] = *block;
    b = b.wrapping_add(s[0]);
    d = d.wrapping_add(s[1]);
    let (four, _) = s[2..2 + 2 * ROUNDS].as_chunks::<8>();
    for s in four {
        round(&s[0..], &mut a, b, &mut c, d);
        round(&s[2..], &mut b, c, &mut d, a);
        round(&s[4..], &mut c, d, &mut a, b);
        round(&s[6..], &mut d, a, &mut b, c);
    }
    *out = [a.wrapping_add(s[2 * ROUNDS + 2]), b, c.wrapping_add(s[2 * ROUNDS + 3]), d];
}
