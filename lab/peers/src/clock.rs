//! Counts core cycles where the time stamp counter does not: that counter ticks at a constant rate, while the core's
//! clock changes with load and temperature. In a chain of register additions each depends on the one before, so it
//! takes one cycle per addition on every core that we know. The time of a chain of known length is the length of a
//! cycle.
//!
//! The addends are registers. Some cores (Golden Cove and later) fold additions of small constants when they rename
//! registers, so that those take no time.

/// Additions in one round of the chain.
pub const ROUND: u64 = 64;

/// Whether [`dependent_adds`] is a chain of known length on this architecture.
pub const AVAILABLE: bool =
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")) && !cfg!(miri);

/// The chain of an architecture: additions, a decrement of the rounds, and a jump back while rounds are left.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
macro_rules! chain {
    ($rounds:ident, $add:literal, $count:literal, $back:literal) => {
        // SAFETY: the block adds registers that it declares; it uses no memory and no stack.
        unsafe {
            core::arch::asm!(
                "2:",
                ".rept 64",
                $add,
                ".endr",
                $count,
                $back,
                sum = inout(reg) 0u64 => _,
                addend = in(reg) 1u64,
                rounds = inout(reg) $rounds => _,
                options(nomem, nostack),
            );
        }
    };
}

/// Runs `rounds` times 64 dependent additions, and returns the number of cycles that they take. Returns 0 on an
/// architecture without a chain.
#[inline(never)]
pub fn dependent_adds(rounds: u64) -> u64 {
    if !AVAILABLE || rounds == 0 {
        return 0;
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    chain!(rounds, "add {sum}, {addend}", "dec {rounds}", "jnz 2b");
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    chain!(rounds, "add {sum}, {sum}, {addend}", "subs {rounds}, {rounds}, #1", "b.ne 2b");
    #[cfg(all(target_arch = "riscv64", not(miri)))]
    chain!(rounds, "add {sum}, {sum}, {addend}", "addi {rounds}, {rounds}, -1", "bnez {rounds}, 2b");
    rounds * ROUND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_chain_takes_twice_the_time() {
        if !AVAILABLE {
            return;
        }
        let time_ns = |rounds| {
            (0..20)
                .map(|_| {
                    let start = std::time::Instant::now();
                    assert_eq!(dependent_adds(rounds), rounds * ROUND);
                    start.elapsed().as_nanos() as f64
                })
                .fold(f64::INFINITY, f64::min)
        };
        // The clock of a processor may change between the two.
        assert!((0..10).any(|_| (1.5..2.5).contains(&(time_ns(4000) / time_ns(2000)))));
    }
}
