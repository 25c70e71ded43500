//! A fuzzer's bytes taken apart: where they end, everything is zero, so that every input means something.

/// What is left of an input.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of it.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    /// The next two bytes.
    pub fn short(&mut self) -> usize {
        usize::from(self.byte()) << 8 | usize::from(self.byte())
    }

    /// The next four.
    pub fn word(&mut self) -> u32 {
        (self.short() as u32) << 16 | self.short() as u32
    }

    /// A number below `bound`, of as few bytes as hold it; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 | 1 => 0,
            2..=0x100 => usize::from(self.byte()) % bound,
            0x101..=0x1_0000 => self.short() % bound,
            _ => self.word() as usize % bound,
        }
    }

    /// A bit.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 != 0
    }

    /// One of these.
    pub fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        &from[self.below(from.len())]
    }

    /// The next bytes, so many if there are.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let length = length.min(self.0.len());
        self.0.split_off(..length).unwrap_or_default()
    }

    /// So many bytes in any case.
    pub fn fixed<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.take(N);
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }

    /// A message of this length: a few bytes of the input, repeated and counted on, so that length costs no input.
    pub fn message(&mut self, length: usize) -> Vec<u8> {
        let seed = self.fixed::<4>();
        (0..length).map(|at| seed[at % 4].wrapping_add((at / 4) as u8).wrapping_mul(seed[0] | 1)).collect()
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}
