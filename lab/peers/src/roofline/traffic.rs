//! Reading and writing memory as fast as one core can, with the widest registers of this machine.

/// 64 bytes, the line of a cache.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheLine([u64; 8]);

/// An access to lines of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// Copies the first half of the lines to the second half.
    Copy,
    /// Reads each line and writes it back changed, as encryption in place does.
    Update,
}

impl Access {
    pub const ALL: [Access; 4] = [Access::Read, Access::Write, Access::Copy, Access::Update];

    /// The access's name, which is the last part of a roof's name.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Copy => "copy",
            Access::Update => "update",
        }
    }

    /// Bytes that a pass over this many lines reads, writes, copies or changes.
    pub const fn bytes(self, lines: usize) -> usize {
        match self {
            Access::Copy => lines / 2 * size_of::<CacheLine>(),
            _ => lines * size_of::<CacheLine>(),
        }
    }
}

/// Lines of one turn of the loop.
pub const LINES_PER_TURN: usize = 8;

/// Passes over all lines, `times` times.
///
/// # Panics
/// If the number of lines is not a multiple of two [`LINES_PER_TURN`]s.
pub fn pass(access: Access, lines: &mut [CacheLine], times: usize) {
    assert!(lines.len().is_multiple_of(2 * LINES_PER_TURN), "{} lines", lines.len());
    if lines.is_empty() {
        return;
    }
    for _ in 0..times {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if x86::pass(access, lines) {
            continue;
        }
        portable(access, lines);
    }
}

fn portable(access: Access, lines: &mut [CacheLine]) {
    let lines = std::hint::black_box(lines);
    match access {
        Access::Read => {
            let mut sum = [0; 8];
            for line in &*lines {
                for (sum, word) in sum.iter_mut().zip(line.0) {
                    *sum ^= word;
                }
            }
            std::hint::black_box(sum);
        }
        Access::Write => lines.fill(CacheLine([0x33; 8])),
        Access::Copy => {
            let (from, to) = lines.split_at_mut(lines.len() / 2);
            to.copy_from_slice(from);
        }
        Access::Update => {
            for word in lines.iter_mut().flat_map(|line| &mut line.0) {
                *word ^= 0x33;
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use core::arch::asm;

    use super::{Access, CacheLine, LINES_PER_TURN};

    /// Defines a pass with registers of one width: the byte offsets of the registers in a turn, and the instructions of
    /// each access for one register.
    macro_rules! width {
        ($name:ident, $features:literal, $offsets:literal, $($access:ident $body:literal),+ $(,)?) => {
            /// # Safety
            /// `from` must be valid for reads, and `to` for writes, of `turns` times 512 bytes. Both are aligned to
            /// 64 bytes, and `turns` is at least 1.
            #[target_feature(enable = $features)]
            unsafe fn $name(access: Access, from: *mut CacheLine, to: *mut CacheLine, turns: usize) {
                match access {
                    // SAFETY: the caller guarantees that the memory is valid and aligned. The block declares the
                    // registers that it changes, and clears their upper halves.
                    $(Access::$access => unsafe {
                        asm!(
                            "vpxor xmm1, xmm1, xmm1",
                            "2:",
                            concat!(".irp o,", $offsets),
                            $body,
                            ".endr",
                            "add {from}, 512",
                            "add {to}, 512",
                            "dec {turns}",
                            "jnz 2b",
                            "vzeroupper",
                            from = inout(reg) from => _,
                            to = inout(reg) to => _,
                            turns = inout(reg) turns => _,
                            out("xmm0") _, out("xmm1") _,
                            options(nostack),
                        );
                    },)+
                }
            }
        };
    }

    width! {
        pass_512, "avx512f", "0,64,128,192,256,320,384,448",
        Read "vmovdqa64 zmm0, [{from} + \\o]",
        Write "vmovdqa64 [{from} + \\o], zmm1",
        Copy "vmovdqa64 zmm0, [{from} + \\o]\nvmovdqa64 [{to} + \\o], zmm0",
        Update "vpxorq zmm0, zmm1, [{from} + \\o]\nvmovdqa64 [{from} + \\o], zmm0",
    }
    width! {
        pass_256, "avx2", "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480",
        Read "vmovdqa ymm0, [{from} + \\o]",
        Write "vmovdqa [{from} + \\o], ymm1",
        Copy "vmovdqa ymm0, [{from} + \\o]\nvmovdqa [{to} + \\o], ymm0",
        Update "vpxor ymm0, ymm1, [{from} + \\o]\nvmovdqa [{from} + \\o], ymm0",
    }

    /// Makes one pass. Returns `false` if this machine lacks the registers.
    pub(super) fn pass(access: Access, lines: &mut [CacheLine]) -> bool {
        let turns =
            if access == Access::Copy { lines.len() / 2 / LINES_PER_TURN } else { lines.len() / LINES_PER_TURN };
        if turns == 0 {
            return false;
        }
        let from = lines.as_mut_ptr();
        let to = from.wrapping_add(lines.len() / 2);
        let pass = if is_x86_feature_detected!("avx512f") {
            pass_512
        } else if is_x86_feature_detected!("avx2") {
            pass_256
        } else {
            return false;
        };
        // SAFETY: the processor has the registers (checked above). Lines are aligned to 64 bytes. There are `turns`
        // times `LINES_PER_TURN` lines at `from`. Only a copy uses `to`, and there are as many lines behind the first half.
        unsafe { pass(access, from, to, turns) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Vec<CacheLine> {
        (0..count).map(|line| CacheLine([line; 8])).collect()
    }

    fn check(access: Access, run: impl Fn(Access, &mut [CacheLine])) {
        let mut memory = lines(34);
        run(access, &mut memory[1..33]);
        // Neighbouring lines are unchanged.
        assert!(memory[0].0 == [0; 8] && memory[33].0 == [33; 8]);
        let changed = memory[1..33].iter().zip(&lines(34)[1..33]).filter(|(now, then)| now.0 != then.0).count();
        match access {
            Access::Read => assert_eq!(changed, 0),
            // Encryption in place would change every line. This update XORs with zero.
            Access::Update => {}
            Access::Write => assert!(memory[1..33].iter().all(|line| line.0 == memory[1].0)),
            Access::Copy => {
                assert_eq!(changed, 16);
                assert!((0..16).all(|line| memory[17 + line].0 == [line as u64 + 1; 8]));
            }
        }
    }

    #[test]
    fn a_pass_touches_its_lines_only() {
        for access in Access::ALL {
            check(access, |access, lines| pass(access, lines, 1));
            check(access, portable);
        }
    }

    /// By hand: 64 bytes per line; a copy moves half of them.
    #[test]
    fn bytes() {
        assert_eq!(Access::Read.bytes(16), 1024);
        assert_eq!(Access::Copy.bytes(16), 512);
    }

    #[test]
    #[should_panic = "24 lines"]
    fn a_wrong_number_of_lines_panics() {
        pass(Access::Read, &mut lines(24), 1);
    }
}
