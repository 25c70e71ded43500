//! Medians and how sure they are.
//!
//! The interval of a median comes from order statistics (David and Nagaraja, Order Statistics, section 7.1): of `n`
//! independent samples, the number below the true median is binomial with p = 1/2, whatever their distribution. So no
//! assumption about the noise is made, and outliers stay in.

/// A median and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The median.
    pub median: f64,
    /// The lower end of the interval; the smallest sample when there are fewer than six.
    pub low: f64,
    /// The upper end; the largest sample when there are fewer than six.
    pub high: f64,
}

/// The median of `samples` and its interval. Panics when there is none, or one that is not a number.
pub fn median(samples: &[f64]) -> Median {
    ranked(samples, skipped(samples.len(), 0.025).unwrap_or(0))
}

/// The median of `samples` with an interval of another confidence, such as 0.999; `None` when there are too few samples for
/// it. Panics when one is not a number.
pub fn interval(samples: &[f64], confidence: f64) -> Option<Median> {
    skipped(samples.len(), (1.0 - confidence) / 2.0).map(|skip| ranked(samples, skip))
}

fn ranked(samples: &[f64], skip: usize) -> Median {
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("samples are numbers"));
    let n = sorted.len();
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Median { median, low: sorted[skip], high: sorted[n - 1 - skip] }
}

/// How many samples lie outside the interval on either side. The interval runs from the sample of rank `k` to that of
/// rank `n + 1 - k`, with the largest `k` for which fewer than `k` heads of `n` fair coins have a probability of at most
/// `tail`; `None` where even one has not.
fn skipped(n: usize, tail: f64) -> Option<usize> {
    let mut probability = 0.5f64.powi(n as i32);
    let mut sum = probability;
    let mut k = 0;
    // `sum` is the probability of at most `k` heads.
    while sum <= tail && k < n {
        probability *= (n - k) as f64 / (k + 1) as f64;
        sum += probability;
        k += 1;
    }
    // Ranks count from 1.
    k.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0]), Median { median: 3.0, low: 3.0, high: 3.0 });
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]).median, 2.5);
        assert_eq!(median(&[5.0, 1.0, 100.0]).median, 5.0);
    }

    /// Ranks (from 1) of the usual table of 95 % intervals for a median: n = 6: 1 and 6; 10: 2 and 9; 15: 4 and 12; 20: 6
    /// and 15; 41: 14 and 28.
    #[test]
    fn ranks_are_those_of_the_table() {
        for (n, low, high) in [(6, 1, 6), (10, 2, 9), (15, 4, 12), (20, 6, 15), (41, 14, 28)] {
            let samples: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let interval = median(&samples);
            assert_eq!((interval.low, interval.high), (f64::from(low), f64::from(high)), "{n}");
        }
        let five = median(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((five.low, five.high), (1.0, 5.0));
    }

    /// Binomial sums by hand: 0.5^10 is above 0.0005, 0.5^11 below; of 15 coins (1 + 15) / 2^15 = 0.00049 is, with 105 more it
    /// is not.
    #[test]
    fn surer_intervals_need_more_samples() {
        let samples = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
        assert_eq!(interval(&samples(10), 0.999), None);
        assert_eq!(interval(&[], 0.999), None);
        let ends = |n| interval(&samples(n), 0.999).map(|found| (found.low, found.high));
        assert_eq!(ends(11), Some((1.0, 11.0)));
        assert_eq!(ends(15), Some((2.0, 14.0)));
    }
}
