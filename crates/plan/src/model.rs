//! The paper's model, unchanged: M bytes in m stages, where stage i + 1 is computed while stage i is sent.
//!
//! Costs are in seconds per byte, as the paper's R are: 1 / (bytes per second).

/// Equation 1: `(m + 1) · (M / m) · R_max + m · T_syn`. While the first stage is computed nothing is sent, and while the last one is sent
/// nothing is computed, hence m + 1. Every stage ends in one synchronisation.
pub fn time_s(size_bytes: f64, stages: f64, r_max: f64, sync_s: f64) -> f64 {
    (stages + 1.0) * (size_bytes / stages) * r_max + stages * sync_s
}

/// Equation 2: `sqrt(M · R_max / T_syn)`, where the derivative of equation 1 is zero. Infinite if synchronisation costs nothing.
pub fn optimal_stages(size_bytes: f64, r_max: f64, sync_s: f64) -> f64 {
    (size_bytes * r_max / sync_s).sqrt()
}

/// Time to compute everything and then send everything: `M · R_comp + M · R_comm`.
pub fn sequential_s(size_bytes: f64, r_comp: f64, r_comm: f64) -> f64 {
    size_bytes * r_comp + size_bytes * r_comm
}

/// How several cores share the computation of a stage. The MAC and the CTR of CCM take half of the time each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// One message on one core; other cores are idle.
    Serial,
    /// Section 2.2, data-level: CTR is split over all cores, then one of them computes the MAC. Takes `T_seq / 2 / n + T_seq / 2`, so four
    /// cores are 8/5 times as fast.
    CtrSplit,
    /// Section 2.2, task-level: one core computes the MAC while the others share CTR. Takes `max(T_seq / 2 / (n − 1), T_seq / 2)`, so two
    /// or more cores are twice as fast.
    MacApart,
    /// Tress: a stage consists of many chunks, each a message with its own MAC, and all cores process the same number of chunks.
    #[default]
    Chunks,
}

impl Strategy {
    /// All strategies, from the slowest to the fastest.
    pub const ALL: [Strategy; 4] = [Strategy::Serial, Strategy::CtrSplit, Strategy::MacApart, Strategy::Chunks];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Serial => "serial",
            Strategy::CtrSplit => "ctr-split",
            Strategy::MacApart => "mac-apart",
            Strategy::Chunks => "chunks",
        }
    }

    /// Speed of `cores` cores, as a multiple of one core's.
    pub fn speedup(self, cores: usize) -> f64 {
        let n = cores as f64;
        match self {
            Strategy::Serial => 1.0,
            Strategy::CtrSplit => 1.0 / (0.5 / n + 0.5),
            Strategy::MacApart if cores < 2 => 1.0,
            Strategy::MacApart => 1.0 / f64::max(0.5 / (n - 1.0), 0.5),
            Strategy::Chunks => n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 2.2, for four cores: 5/8 of the time, and half of it.
    #[test]
    fn one_message_on_four_cores() {
        assert_eq!(Strategy::Serial.speedup(4), 1.0);
        assert_eq!(Strategy::CtrSplit.speedup(4), 1.6);
        assert_eq!(Strategy::MacApart.speedup(4), 2.0);
        assert_eq!(Strategy::Chunks.speedup(4), 4.0);
    }

    #[test]
    fn one_message_never_doubles() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.speedup(1), 1.0, "{strategy:?}");
        }
        // T/4 + T/2 on two cores; with one core for each half, T/2.
        assert_eq!(Strategy::CtrSplit.speedup(2), 4.0 / 3.0);
        assert_eq!(Strategy::MacApart.speedup(2), 2.0);
        for cores in [3, 64, 1_000_000] {
            assert!(Strategy::CtrSplit.speedup(cores) < 2.0);
            assert_eq!(Strategy::MacApart.speedup(cores), 2.0);
        }
    }

    /// By hand: 3 stages of 100 bytes at 2 s per byte take 4 · 200 s, and 3 · 5 s of synchronisation.
    #[test]
    fn equation_one_by_hand() {
        assert_eq!(time_s(300.0, 3.0, 2.0, 5.0), 815.0);
        assert_eq!(sequential_s(300.0, 2.0, 1.0), 900.0);
        // One stage overlaps nothing.
        assert_eq!(time_s(300.0, 1.0, 2.0, 5.0), 1205.0);
    }

    /// sqrt(300 · 2 / 6) = 10.
    #[test]
    fn equation_two_by_hand() {
        assert_eq!(optimal_stages(300.0, 2.0, 6.0), 10.0);
    }
}
