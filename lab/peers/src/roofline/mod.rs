//! Loops that keep one part of the processor busy and do nothing else. They measure the most that this part allows:
//! the roofs of `tress bench roofs` (docs/explanation/method.md).
//!
//! - [`loops`]: instructions on registers, of one kind or mixed as in a cipher; and chains, in which each instruction
//!   depends on the one before.
//! - [`traffic`]: reading and writing memory, from the first-level cache to memory that no cache holds.
//!
//! The loops are assembly, so that no compiler changes them. A loop exists only if this machine has its instructions.
//! [`NAMES`] has the names of all loops, so that missing ones can be listed.

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod aarch64;
pub mod traffic;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The loop's name, one of [`NAMES`].
    pub name: &'static str,
    /// The unit that is counted.
    pub counts: &'static str,
    /// Units in one turn.
    pub per_turn: u32,
    /// Runs the loop for at least one turn. The processor has its instructions, otherwise it would not be in the list.
    run: fn(u64),
}

impl Loop {
    pub fn run(&self, turns: u64) {
        if turns > 0 {
            (self.run)(turns);
        }
    }

    pub fn count(&self, turns: u64) -> f64 {
        turns as f64 * f64::from(self.per_turn)
    }
}

/// The names of all loops on all architectures. A number is the width of the registers in bits.
pub const NAMES: [&str; 21] = [
    "aes-512",
    "aes-256",
    "aes-128",
    "aes-chain",
    "ifma-512",
    "multiply-add-64",
    "multiply-64",
    "logic-512",
    "logic-256",
    "logic-128",
    "add-32-512",
    "add-32-256",
    "rotate-32-512",
    "multiply-32-512",
    "multiply-32-256",
    "affine-512",
    "shuffle-512",
    "rc6-512",
    "rc6-256",
    "rc6-chain",
    "pipo-512",
];

/// The loops of this machine, in the order of [`NAMES`].
pub fn loops() -> Vec<Loop> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let mut loops = x86::loops();
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    let mut loops = aarch64::loops();
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let mut loops: Vec<Loop> = Vec::new();
    loops.sort_by_key(|found| NAMES.iter().position(|name| *name == found.name));
    loops
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn every_loop_has_its_name_once() {
        let loops = loops();
        for (index, found) in loops.iter().enumerate() {
            assert!(NAMES.contains(&found.name), "{}", found.name);
            assert!(loops[..index].iter().all(|other| other.name != found.name), "{}", found.name);
            assert!(found.per_turn > 0);
            found.run(0);
            found.run(3);
        }
    }

    /// A loop that ended early, or whose turns were counted wrong, would not take twice the time for twice the turns.
    /// Other programs disturb the times too, so one good attempt of several is enough; a wrong loop has no good
    /// attempt.
    #[test]
    fn twice_the_turns_take_twice_the_time() {
        for found in loops() {
            let time_ns = |turns| {
                (0..20)
                    .map(|_| {
                        let start = Instant::now();
                        found.run(turns);
                        start.elapsed().as_nanos() as f64
                    })
                    .fold(f64::INFINITY, f64::min)
            };
            let ratios: Vec<f64> = (0..10).map(|_| time_ns(8000) / time_ns(4000)).collect();
            assert!(ratios.iter().any(|ratio| (1.8..2.2).contains(ratio)), "{}: {ratios:?}", found.name);
        }
    }
}
