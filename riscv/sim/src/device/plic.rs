//! Platform-level interrupt controller: SiFive FE310-G000 Manual, chapter 10; RISC-V PLIC Specification 1.0. Each hart
//! has one context, that of machine mode, in the order of harts.

/// Bit of `mip` and `mie`.
pub(crate) const EXTERNAL: u64 = 1 << 11;
/// The highest number of a source.
pub(crate) const MAX_SOURCE: u32 = 127;

// Offsets of the registers. Priorities begin at 0, four bytes for each source.
const PENDING: u64 = 0x1000;
const ENABLES: u64 = 0x2000;
const ENABLES_BYTES: u64 = 0x80;
const CONTEXTS: u64 = 0x20_0000;
const CONTEXT_BYTES: u64 = 0x1000;
/// Priorities are 0, which never interrupts, to 7.
const PRIORITIES: u32 = 7;

/// Sets of sources are masks: bit `n` is source `n`.
#[derive(Clone, Debug)]
pub(crate) struct Plic {
    sources: u128,
    priority: Vec<u8>,
    /// Sources whose devices ask for an interrupt.
    level: u128,
    pending: u128,
    /// Sources that a hart has claimed and not completed.
    claimed: u128,
    contexts: Vec<Context>,
}

#[derive(Clone, Debug, Default)]
struct Context {
    enabled: u128,
    threshold: u8,
}

impl Plic {
    /// A controller of sources 1 to `sources`.
    pub(crate) fn new(harts: usize, sources: u32) -> Plic {
        Plic {
            sources: u128::MAX >> (MAX_SOURCE - sources) & !1,
            priority: vec![0; MAX_SOURCE as usize + 1],
            level: 0,
            pending: 0,
            claimed: 0,
            contexts: vec![Context::default(); harts],
        }
    }

    /// Tells the sources whose devices ask for an interrupt now. A source stays pending until it is claimed.
    pub(crate) fn set_level(&mut self, level: u128) {
        self.level = level;
        self.pending |= level & self.sources & !self.claimed;
    }

    /// Whether a hart is interrupted.
    pub(crate) fn interrupts(&self, hart: usize) -> bool {
        let context = &self.contexts[hart];
        self.best(context).is_some_and(|source| self.priority[source] > context.threshold)
    }

    /// The pending source that a context claims next: the highest priority, and of these the lowest number.
    fn best(&self, context: &Context) -> Option<usize> {
        let mut waiting = self.pending & context.enabled;
        let mut best = None;
        while waiting != 0 {
            let source = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            if self.priority[source] > best.map_or(0, |best: usize| self.priority[best]) {
                best = Some(source);
            }
        }
        best
    }

    /// Reads a register of four bytes. Reading the claim register claims.
    pub(crate) fn read(&mut self, offset: u64) -> u64 {
        match offset {
            ..PENDING => self.priority.get(offset as usize / 4).map_or(0, |priority| u64::from(*priority)),
            PENDING..ENABLES => word(self.pending, offset - PENDING),
            ENABLES..CONTEXTS => {
                let context = self.contexts.get(((offset - ENABLES) / ENABLES_BYTES) as usize);
                context.map_or(0, |context| word(context.enabled, offset % ENABLES_BYTES))
            }
            _ => {
                let Some(context) = self.contexts.get(((offset - CONTEXTS) / CONTEXT_BYTES) as usize) else { return 0 };
                match offset % CONTEXT_BYTES {
                    0 => context.threshold.into(),
                    4 => {
                        let Some(source) = self.best(context) else { return 0 };
                        self.pending &= !(1 << source);
                        self.claimed |= 1 << source;
                        source as u64
                    }
                    _ => 0,
                }
            }
        }
    }

    /// Writes a register of four bytes.
    pub(crate) fn write(&mut self, offset: u64, value: u32) {
        match offset {
            ..PENDING => {
                let source = offset as usize / 4;
                if source <= MAX_SOURCE as usize && self.sources >> source & 1 != 0 {
                    self.priority[source] = (value & PRIORITIES) as u8;
                }
            }
            PENDING..ENABLES => {}
            ENABLES..CONTEXTS => {
                let shift = 8 * (offset % ENABLES_BYTES);
                if let Some(context) = self.contexts.get_mut(((offset - ENABLES) / ENABLES_BYTES) as usize)
                    && shift < u64::from(u128::BITS)
                {
                    let others = context.enabled & !(u128::from(u32::MAX) << shift);
                    context.enabled = (others | u128::from(value) << shift) & self.sources;
                }
            }
            _ => {
                let Some(context) = self.contexts.get_mut(((offset - CONTEXTS) / CONTEXT_BYTES) as usize) else {
                    return;
                };
                match offset % CONTEXT_BYTES {
                    0 => context.threshold = (value & PRIORITIES) as u8,
                    // A completion counts for sources that the context has enabled.
                    4 if value <= MAX_SOURCE && context.enabled >> value & 1 != 0 => {
                        self.claimed &= !(1 << value);
                        self.set_level(self.level);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The 32 sources of the word at this offset.
fn word(sources: u128, offset: u64) -> u64 {
    if offset >= 16 {
        return 0;
    }
    (sources >> (8 * offset)) as u32 as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_priority_and_then_the_lowest_number_is_claimed() {
        let mut plic = Plic::new(2, 52);
        for (source, priority) in [(3, 1), (5, 7), (9, 7), (40, 2), (53, 7)] {
            plic.write(4 * source, priority);
        }
        let context = CONTEXTS + CONTEXT_BYTES;
        plic.write(ENABLES + ENABLES_BYTES, 1 << 3 | 1 << 5 | 1 << 9 | 1);
        plic.write(ENABLES + ENABLES_BYTES + 4, 1 << (40 - 32) | 1 << (53 - 32));
        plic.set_level(1 << 3 | 1 << 9 | 1 << 40 | 1 << 53);
        assert!(plic.interrupts(1) && !plic.interrupts(0));
        assert_eq!((plic.read(PENDING), plic.read(PENDING + 4)), (1 << 3 | 1 << 9, 1 << 8));
        plic.write(context, 6);
        assert!(plic.interrupts(1));
        // A source that is claimed is not pending again before it is completed, whatever its device says.
        assert_eq!(plic.read(context + 4), 9);
        plic.set_level(1 << 3 | 1 << 9);
        assert!(!plic.interrupts(1));
        plic.write(context, 0);
        assert_eq!([0; 3].map(|_| plic.read(context + 4)), [40, 3, 0]);
        plic.write(context + 4, 9);
        assert_eq!(plic.read(context + 4), 9);
        plic.set_level(0);
        for source in [3, 9, 40, 53, 0, u32::MAX] {
            plic.write(context + 4, source);
        }
        assert_eq!((plic.read(context + 4), plic.interrupts(1)), (0, false));
    }

    #[test]
    fn offsets_without_a_register_read_as_zero() {
        let mut plic = Plic::new(1, MAX_SOURCE);
        for offset in (0..0x400_0000).step_by(0x7fc).chain([0x20_0008, 0x20_1000, 0x20_1004, 0x1010, 0x2010, 0x2080]) {
            plic.write(offset & !3, u32::MAX);
        }
        let read = |plic: &mut Plic, offset| plic.read(offset);
        assert_eq!([0x1010, 0x2010, 0x2080, 0x20_0008, 0x20_1004, 0x3ff_fffc].map(|at| read(&mut plic, at)), [0; 6]);
    }
}
