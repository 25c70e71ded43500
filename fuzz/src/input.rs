//! Interprets the fuzzer's bytes. After their end everything is zero, so that every input is valid.

pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    pub fn short(&mut self) -> usize {
        usize::from(self.byte()) << 8 | usize::from(self.byte())
    }

    pub fn word(&mut self) -> u32 {
        (self.short() as u32) << 16 | self.short() as u32
    }

    /// Takes a number below `bound`, from as few bytes as hold it. 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 | 1 => 0,
            2..=0x100 => usize::from(self.byte()) % bound,
            0x101..=0x1_0000 => self.short() % bound,
            _ => self.word() as usize % bound,
        }
    }

    /// Takes a bit, which uses a byte.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 != 0
    }

    pub fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        &from[self.below(from.len())]
    }

    /// Takes `length` bytes, or fewer at the end of the input.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let length = length.min(self.0.len());
        self.0.split_off(..length).unwrap_or_default()
    }

    /// Takes `N` bytes, filled with zeros at the end of the input.
    pub fn fixed<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.take(N);
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }

    /// Makes a message of this length from four bytes of the input, repeated with changes, so that long messages use little input.
    pub fn message(&mut self, length: usize) -> Vec<u8> {
        let seed = self.fixed::<4>();
        (0..length).map(|at| seed[at % 4].wrapping_add((at / 4) as u8).wrapping_mul(seed[0] | 1)).collect()
    }

    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}
