//! Medians, their confidence intervals, and outliers.
//!
//! The interval of a median comes from order statistics (David and Nagaraja, Order Statistics, section 7.1): of `n`
//! independent samples, the number below the true median is binomial with p = 1/2, whatever their distribution. So it
//! makes no assumption about the noise, and outliers stay in. Outliers are counted by Tukey's fences (Exploratory
//! Data Analysis, 1977, section 2D): 1.5 interquartile ranges beyond the quartiles.

use statrs::distribution::{Binomial, ContinuousCDF as _, DiscreteCDF as _};

/// A median and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    pub median: f64,
    /// The lower end of the interval; the smallest sample when there are fewer than six.
    pub low: f64,
    /// The upper end; the largest sample when there are fewer than six.
    pub high: f64,
}

impl Median {
    /// Half the interval's width, as a fraction of the median.
    pub fn relative_half_width(&self) -> f64 {
        (self.high - self.low) / (2.0 * self.median.abs())
    }
}

/// The median of `samples` and its interval. Values that are not numbers (a record may contain pairs of zeros) count
/// as larger than all numbers.
///
/// # Panics
/// If `samples` is empty.
pub fn median(samples: &[f64]) -> Median {
    ranked(samples, skipped(samples.len(), 0.025).unwrap_or(0))
}

/// The ratio of `now` to `then`, with an interval of this confidence: the median of the ratios of all pairs, and the
/// ratios whose ranks the Mann-Whitney test does not reject (Hodges and Lehmann, Estimates of location based on rank
/// tests, 1963; its normal approximation, Conover, Practical Nonparametric Statistics, section 5.4). It assumes that
/// the two differ by a factor and that samples are independent, nothing else about the noise. All values must be
/// above zero. `None` if there are too few of them.
pub fn ratio(then: &[f64], now: &[f64], confidence: f64) -> Option<Median> {
    let normal = statrs::distribution::Normal::standard();
    let deviations = normal.inverse_cdf((1.0 + confidence) / 2.0);
    let (n, m) = (then.len() as f64, now.len() as f64);
    let skipped = (n * m / 2.0 - deviations * (n * m * (n + m + 1.0) / 12.0).sqrt()).floor();
    // Ranks count from 1.
    let skipped = if skipped >= 1.0 { skipped as usize - 1 } else { return None };
    let ratios: Vec<f64> = then.iter().flat_map(|then| now.iter().map(move |now| now / then)).collect();
    Some(ranked(&ratios, skipped))
}

/// The centre of `ratios`, each of one pair of measurements, with an interval of this confidence: the median of the
/// geometric means of all pairs of ratios (each also with itself), and the means whose ranks Wilcoxon's signed-rank
/// test does not reject (Hodges and Lehmann, as above; Conover, section 5.7). It assumes that pairs are independent,
/// and that their errors are symmetric in logarithms. All values must be above zero. `None` if there are too few of
/// them.
pub fn paired_ratio(ratios: &[f64], confidence: f64) -> Option<Median> {
    let normal = statrs::distribution::Normal::standard();
    let deviations = normal.inverse_cdf((1.0 + confidence) / 2.0);
    let n = ratios.len() as f64;
    let skipped = (n * (n + 1.0) / 4.0 - deviations * (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt()).floor();
    let skipped = if skipped >= 1.0 { skipped as usize - 1 } else { return None };
    let means: Vec<f64> =
        ratios.iter().enumerate().flat_map(|(i, a)| ratios[i..].iter().map(move |b| (a * b).sqrt())).collect();
    Some(ranked(&means, skipped))
}

/// The median of each visit of `per_visit` samples; the last visit may have fewer.
pub fn by_visit(samples: &[f64], per_visit: usize) -> Vec<f64> {
    samples.chunks(per_visit.max(1)).map(|visit| median(visit).median).collect()
}

/// The number of `samples` more than 1.5 interquartile ranges beyond the quartiles, which are interpolated linearly
/// between samples (type 7 of Hyndman and Fan, Sample quantiles in statistical packages, 1996).
pub fn outliers(samples: &[f64]) -> usize {
    let sorted = sorted(samples);
    let Some(last) = sorted.len().checked_sub(1) else { return 0 };
    let quantile = |part: f64| {
        let place = part * last as f64;
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        below + place.fract() * (above - below)
    };
    let (first, third) = (quantile(0.25), quantile(0.75));
    let fence = 1.5 * (third - first);
    sorted.iter().filter(|sample| **sample < first - fence || **sample > third + fence).count()
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn ranked(samples: &[f64], skip: usize) -> Median {
    let sorted = sorted(samples);
    let n = sorted.len();
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Median { median, low: sorted[skip], high: sorted[n - 1 - skip] }
}

/// How many samples are outside the interval on either side. The interval runs from the sample of rank `k` to that of
/// rank `n + 1 - k`, with the largest `k` for which fewer than `k` heads of `n` fair coins have a probability of at
/// most `tail`. `None` if no `k` does.
fn skipped(n: usize, tail: f64) -> Option<usize> {
    let coins = Binomial::new(0.5, n as u64).ok()?;
    // `inverse_cdf` gives `k`, the first number of heads with a probability of at least `tail`. Rank `k` skips `k - 1` samples.
    coins.inverse_cdf(tail).checked_sub(1).map(|heads| heads as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits() {
        assert_eq!(by_visit(&[1.0, 9.0, 2.0, 5.0, 5.0, 7.0, 4.0], 3), [2.0, 5.0, 4.0]);
        assert_eq!(by_visit(&[1.0, 2.0], 1), [1.0, 2.0]);
        assert_eq!((by_visit(&[1.0, 2.0], 0), by_visit(&[], 3)), (vec![1.0, 2.0], vec![]));
    }

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
        // By scipy 1.17.1: `quantile_test(range(1, n + 1), p=0.5).confidence_interval(0.95)`, and from 21 on the largest `k` with
        // `binom.cdf(k - 1, n, 0.5) <= 0.025`.
        for (n, low, high) in [(11, 2, 10), (21, 6, 16), (113, 46, 68), (313, 139, 175), (1505, 714, 792)] {
            let interval = median(&(1..=n).map(f64::from).collect::<Vec<_>>());
            assert_eq!((interval.low, interval.high), (f64::from(low), f64::from(high)), "{n}");
        }
        let five = median(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((five.low, five.high), (1.0, 5.0));
    }

    /// By numpy 2.4 and scipy 1.17: all quotients sorted, the rank by `norm.ppf`. With 11 on either side 0.9999 is just possible.
    #[test]
    fn ratios_of_two_samples() {
        let steps = |from: f64, n: u32| (0..n).map(|step| from + f64::from(step)).collect::<Vec<_>>();
        let (a, b) = (steps(10.0, 11), steps(20.0, 11));
        let found = ratio(&a, &b, 0.9999).expect("enough");
        assert_eq!((found.low, found.high), (1.0, 3.0));
        assert!(ratio(&a, &b[..10], 0.9999).is_none() && ratio(&[], &b, 0.9999).is_none());
        let found = ratio(&a, &b, 0.95).expect("enough");
        assert!((found.low - 1.4).abs() < 1e-12 && (found.high - 2.0714285714285716).abs() < 1e-12, "{found:?}");
        assert!((found.median - 1.6666666666666667).abs() < 1e-12, "{found:?}");
        // The inverse ratio.
        let back = ratio(&b, &a, 0.95).expect("enough");
        assert!((back.low * found.high - 1.0).abs() < 1e-12 && (back.high * found.low - 1.0).abs() < 1e-12);
    }

    /// By Python's `statistics.NormalDist`: all means sorted, the rank by its `inv_cdf`.
    #[test]
    fn ratios_of_pairs() {
        let powers = |most: i32| (-most..=most).map(|power| f64::from(power).exp2()).collect::<Vec<_>>();
        let found = paired_ratio(&powers(5), 0.95).expect("enough");
        assert_eq!(found.median, 1.0);
        assert!((found.low - 0.1767766952966369).abs() < 1e-12 && (found.high - 5.656854249492381).abs() < 1e-12);
        let found = paired_ratio(&powers(10), 0.9999).expect("enough");
        assert_eq!((found.median, found.low, found.high), (1.0, 0.001953125, 512.0));
        // A quarter of the square, less the deviations, is below the first rank.
        assert!(paired_ratio(&powers(5), 0.9999).is_none() && paired_ratio(&[], 0.95).is_none());
    }

    /// By numpy 2.4.6: `percentile(samples, [25, 75])` are 9.9375 and 10.1625, so the fences 9.6 and 10.5.
    #[test]
    fn outliers_lie_beyond_the_fences() {
        let samples = [10.0, 10.1, 9.9, 10.2, 9.8, 10.05, 9.95, 12.0, 10.15, 7.0, 10.0, 30.0];
        assert_eq!(outliers(&samples), 3);
        // By hand: quartiles 2 and 4, fences -1 and 7, which are still inside.
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 7.0]), 0);
        assert_eq!(outliers(&[-1.5, 2.0, 3.0, 4.0, 7.5]), 2);
        assert_eq!((outliers(&[]), outliers(&[1.0]), outliers(&[5.0; 9])), (0, 0, 0));
    }

    #[test]
    fn widths_are_parts_of_the_median() {
        let width = |median, low, high| Median { median, low, high }.relative_half_width();
        assert_eq!(width(100.0, 98.0, 104.0), 0.03);
        assert_eq!(width(-2.0, -3.0, -1.0), 0.5);
        assert_eq!(width(5.0, 5.0, 5.0), 0.0);
    }
}
