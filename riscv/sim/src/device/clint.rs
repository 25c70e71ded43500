//! Core-local interruptor: a software interrupt for each hart at `4 * hart`, `mtimecmp` at `0x4000 + 8 * hart`, `mtime` at
//! 0xbff8. SiFive FE310-G000 Manual, chapter 9; RISC-V ACLINT.

const MTIMECMP: u64 = 0x4000;
const MTIME: u64 = 0xbff8;
/// A timer that is due at this cycle or later never is, so that the issue slots of all harts, up to 64 of each in a cycle, can
/// be added.
const NEVER: u64 = 1 << 50;

/// Bits of `mip` and `mie`.
pub(crate) const SOFTWARE: u64 = 1 << 3;
pub(crate) const TIMER: u64 = 1 << 7;

#[derive(Debug)]
pub(crate) struct Clint {
    cycles_per_tick: u64,
    /// Difference between `mtime` and its tick count, set when a program writes `mtime`.
    offset: u64,
    software: Vec<bool>,
    compare: Vec<u64>,
}

impl Clint {
    pub(crate) fn new(harts: usize, cycles_per_tick: u64) -> Clint {
        // No timer is due before one is set.
        Clint { cycles_per_tick, offset: 0, software: vec![false; harts], compare: vec![u64::MAX; harts] }
    }

    pub(crate) fn time(&self, now: u64) -> u64 {
        (now / self.cycles_per_tick).wrapping_add(self.offset)
    }

    pub(crate) fn pending(&self, hart: usize, now: u64) -> u64 {
        let software = if self.software[hart] { SOFTWARE } else { 0 };
        let timer = if self.time(now) >= self.compare[hart] { TIMER } else { 0 };
        software | timer
    }

    /// The first cycle from `now` on at which the timer is due, or `None` if it never is.
    pub(crate) fn due(&self, hart: usize, now: u64) -> Option<u64> {
        let ticks = self.compare[hart].saturating_sub(self.time(now));
        if ticks == 0 {
            return Some(now);
        }
        let due = (now / self.cycles_per_tick).checked_add(ticks)?.checked_mul(self.cycles_per_tick)?;
        (due < NEVER).then_some(due)
    }

    pub(crate) fn read(&self, offset: u64, bytes: usize, now: u64) -> Option<u64> {
        let (register, word) = (offset & !7, self.word(offset, bytes)?);
        let value = match register {
            MTIME => self.time(now),
            _ if offset < MTIMECMP => {
                return (bytes == 4).then(|| self.software.get(offset as usize / 4).is_some_and(|set| *set).into());
            }
            _ => *self.compare.get((register - MTIMECMP) as usize / 8).unwrap_or(&0),
        };
        Some(if bytes == 8 { value } else { value >> (32 * word) & 0xffff_ffff })
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: usize, value: u64, now: u64) -> Option<()> {
        let (register, word) = (offset & !7, self.word(offset, bytes)?);
        let merge = |old: u64| match bytes {
            8 => value,
            _ => old & !(0xffff_ffff << (32 * word)) | (value & 0xffff_ffff) << (32 * word),
        };
        match register {
            MTIME => self.offset = merge(self.time(now)).wrapping_sub(now / self.cycles_per_tick),
            _ if offset < MTIMECMP => {
                if bytes != 4 {
                    return None;
                }
                if let Some(set) = self.software.get_mut(offset as usize / 4) {
                    *set = value & 1 != 0;
                }
            }
            _ => {
                if let Some(compare) = self.compare.get_mut((register - MTIMECMP) as usize / 8) {
                    *compare = merge(*compare);
                }
            }
        }
        Some(())
    }

    /// Which half of a 64-bit register a 4-byte access means. `None` for bytes and halfwords.
    fn word(&self, offset: u64, bytes: usize) -> Option<u64> {
        (bytes >= 4).then_some(offset >> 2 & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_make_a_register() {
        let mut clint = Clint::new(2, 10);
        assert_eq!(clint.write(MTIMECMP + 8, 4, 7, 0), Some(()));
        assert_eq!(clint.write(MTIMECMP + 12, 4, 0, 0), Some(()));
        assert_eq!(clint.read(MTIMECMP + 8, 8, 0), Some(7));
        assert_eq!(clint.read(MTIMECMP, 8, 0), Some(u64::MAX));
        assert_eq!(clint.due(1, 15), Some(70));
        assert_eq!(clint.due(0, 15), None);
        assert_eq!(clint.pending(1, 69), 0);
        assert_eq!(clint.pending(1, 70), TIMER);
        assert_eq!(clint.write(MTIME, 8, 100, 70), Some(()));
        assert_eq!(clint.read(MTIME, 4, 85), Some(101));
        assert_eq!(clint.write(4, 4, 3, 0), Some(()));
        assert_eq!((clint.pending(0, 0), clint.pending(1, 0) & SOFTWARE), (0, SOFTWARE));
        assert_eq!(clint.read(4, 4, 0), Some(1));
        assert_eq!(clint.read(0, 1, 0), None);
    }
}
