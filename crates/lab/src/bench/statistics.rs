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
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("samples are numbers"));
    let n = sorted.len();
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let skip = skipped(n);
    Median { median, low: sorted[skip], high: sorted[n - 1 - skip] }
}

/// How many samples lie outside the interval on either side. The interval runs from the sample of rank `k` to that of
/// rank `n + 1 - k`, with the largest `k` for which fewer than `k` heads of `n` fair coins have a probability of at most
/// 2.5 %.
fn skipped(n: usize) -> usize {
    let mut probability = 0.5f64.powi(n as i32);
    let mut sum = probability;
    let mut k = 0;
    // `sum` is the probability of at most `k` heads.
    while sum <= 0.025 && k < n {
        probability *= (n - k) as f64 / (k + 1) as f64;
        sum += probability;
        k += 1;
    }
    // Ranks count from 1.
    k.saturating_sub(1)
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
}
