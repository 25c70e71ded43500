//! All figures of the paper that the study prints: its headline run, its gains, its formulas, its examples of Amdahl's law.

use super::Function;

/// 100 MB of text: seconds of the serial run, of its part in `Encrypt`, and of the parallel run (section 4.3).
pub(super) const SERIAL_S: f64 = 7.4999;
pub(super) const SERIAL_ENCRYPT_S: f64 = 4.2343;
pub(super) const PARALLEL_S: f64 = 5.0127;
/// Seconds saved, as printed (section 4.3).
pub(super) const SAVED: &str = "2.4872";
/// Places where the paper says by how many per cent it is faster.
pub(super) const GAINS: [(&str, f64); 3] = [("abstract", 30.0), ("section 4.3", 33.0), ("conclusion", 21.0)];
/// Gains of a task of which a fifth is parallel, by number of cores (section 2.2).
pub(super) const AMDAHL: [(f64, &str, &str); 2] =
    [(4.0, "4 cores", "1.176"), (f64::INFINITY, "any number of cores", "1.25")];
/// Number of cores of the paper's machine.
pub(super) const CORES: f64 = 2.0;

/// A formula for the number of operations of a function: `a n^2 + b n + c` (equations 4-1 to 4-6, tables 6 and 9).
pub(super) struct Formula {
    pub(super) function: Function,
    pub(super) cores: usize,
    /// The formula as printed.
    pub(super) text: &'static str,
    factors: [f64; 3],
}

impl Formula {
    pub(super) fn at(&self, n: f64) -> f64 {
        let [a, b, c] = self.factors;
        a * n * n + b * n + c
    }
}

const fn formula(function: Function, cores: usize, text: &'static str, factors: [f64; 3]) -> Formula {
    Formula { function, cores, text, factors }
}

pub(super) const FORMULAS: [Formula; 8] = [
    formula(Function::SubBytes, 1, "4n²+2n+1", [4.0, 2.0, 1.0]),
    formula(Function::SubBytes, 2, "2n²+n+3", [2.0, 1.0, 3.0]),
    formula(Function::SubBytes, 4, "n²+n/2+3", [1.0, 0.5, 3.0]),
    formula(Function::ShiftRows, 1, "16", [0.0, 0.0, 16.0]),
    formula(Function::ShiftRows, 2, "13", [0.0, 0.0, 13.0]),
    formula(Function::MixColumns, 1, "23n+1", [0.0, 23.0, 1.0]),
    formula(Function::MixColumns, 2, "10n+n/2+10", [0.0, 10.5, 10.0]),
    formula(Function::MixColumns, 4, "5n+n/4+10", [0.0, 5.25, 10.0]),
];

/// The formula of a function on this number of cores.
pub(super) fn of(function: Function, cores: usize) -> Option<&'static Formula> {
    FORMULAS.iter().find(|formula| formula.function == function && formula.cores == cores)
}

/// Amdahl's law: the gain if `cores` cores share the part `share` of the work.
pub(super) fn amdahl(share: f64, cores: f64) -> f64 {
    1.0 / (1.0 - share + share / cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, with n = 4.
    #[test]
    fn formulas_at_four() {
        let values: Vec<f64> = FORMULAS.iter().map(|formula| formula.at(4.0)).collect();
        assert_eq!(values, [73.0, 39.0, 21.0, 16.0, 13.0, 93.0, 52.0, 31.0]);
        assert_eq!(of(Function::SubBytes, 2).map(|formula| formula.text), Some("2n²+n+3"));
        assert!(of(Function::AddRoundKey, 1).is_none());
    }

    /// The paper's examples in section 2.2: a fifth in parallel gains 1.176 on 4 cores and 1.25 on any number.
    #[test]
    fn the_papers_examples_of_amdahls_law() {
        assert_eq!(AMDAHL.map(|(_, _, gain)| gain), ["1.176", "1.25"]);
        assert_eq!(format!("{:.3}", amdahl(0.2, 4.0)), "1.176");
        assert_eq!(amdahl(0.2, f64::INFINITY), 1.25);
        assert_eq!(amdahl(0.2, 1.0), 1.0);
    }
}
