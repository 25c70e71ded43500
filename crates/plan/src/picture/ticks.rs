//! Ticks of an axis and their labels.

/// Largest number of ticks on an axis.
const MAX_TICKS: usize = 12;
/// Largest number of characters of all labels of a logarithmic axis, which would touch each other.
const MAX_CHARACTERS: usize = 64;

/// The powers of ten between `from` and `to`. If there are few, also 2 and 5 times the powers. If both ends are powers of two, as for
/// numbers of cores, the powers of two.
pub(super) fn decades(from: f64, to: f64) -> Vec<(f64, String)> {
    let is_axis = from > 0.0 && to.is_finite() && from < to;
    if !is_axis {
        return Vec::new();
    }
    let (low, high) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let of = |factors: &[f64]| {
        let all = (low..=high).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        all.filter(|at| (from * 0.999..=to * 1.001).contains(at)).collect::<Vec<_>>()
    };
    let characters = |ticks: &[f64]| ticks.iter().map(|at| number(*at, *at).len()).sum::<usize>();
    let doubled: Vec<f64> = (0..MAX_TICKS as i32).map(|power| from * 2f64.powi(power)).collect();
    if from.log2().fract() == 0.0 && doubled.contains(&to) {
        return doubled.into_iter().filter(|at| *at <= to).map(|at| (at, shown(at))).collect();
    }
    let mut ticks = of(&[1.0, 2.0, 5.0]);
    if ticks.len() > MAX_TICKS || characters(&ticks) > MAX_CHARACTERS {
        ticks = of(&[1.0]);
    }
    // Every second or third power if there are too many.
    let step = ticks.len().div_ceil(MAX_TICKS).max(1);
    ticks.into_iter().step_by(step).map(|at| (at, number(at, at))).collect()
}

/// About six round numbers between `from` and `to`.
pub(super) fn round(from: f64, to: f64) -> Vec<(f64, String)> {
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let power = 10f64.powf((span / 6.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| span / step <= 8.0);
    let Some(step) = step.filter(|step| step.is_normal()) else { return Vec::new() };
    // Keeps ends that are ticks, even if they are rounded in binary.
    let (first, to) = ((from / step - 1e-6).ceil() as i64, to + step * 1e-6);
    (first..)
        .map(|count| count as f64 * step)
        .take_while(|at| *at <= to)
        .take(MAX_TICKS)
        .map(|at| (at, number(at, step)))
        .collect()
}

/// Formats a number with four significant digits; from 10,000 on without decimals and with separators.
pub fn shown(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e12).contains(&size) {
        return format!("{value:.3e}");
    }
    let text = grouped(value, if size == 0.0 { 0.0 } else { 3.0 - size.log10().floor() });
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Formats a number with as many decimals as ticks with this step need.
fn number(at: f64, step: f64) -> String {
    let magnitude = at.abs().max(step);
    if !(1e-4..1e10).contains(&magnitude) {
        return format!("{at:e}");
    }
    grouped(at, -step.log10().floor())
}

/// Formats a number with decimals and separators.
fn grouped(value: f64, decimals: f64) -> String {
    let decimals = decimals.max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match rest {
        Some(rest) => format!("{grouped}.{rest}"),
        None => grouped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn powers_of_ten() {
        assert_eq!(labels(decades(1.0, 100.0)), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(decades(1.0, 1e6)), ["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"]);
        assert_eq!(labels(decades(0.05, 0.3)), ["0.05", "0.1", "0.2"]);
        assert_eq!(labels(decades(1.0, 16.0)), ["1", "2", "4", "8", "16"]);
        assert_eq!(labels(decades(1.0, 65536.0)), ["1", "10", "100", "1,000", "10,000"]);
        // 2, 5 and so on would make 12 ticks with 67 characters.
        assert_eq!(labels(decades(2e3, 1e7)), ["10,000", "100,000", "1,000,000", "10,000,000"]);
        assert!(decades(1.0, 1e300).len() <= MAX_TICKS);
    }

    #[test]
    fn round_numbers() {
        assert_eq!(labels(round(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(round(7950.0, 8400.0)), ["8,000", "8,100", "8,200", "8,300", "8,400"]);
        assert_eq!(
            labels(round(0.79, 0.83)),
            ["0.790", "0.795", "0.800", "0.805", "0.810", "0.815", "0.820", "0.825", "0.830"]
        );
    }

    #[test]
    fn numbers_to_read() {
        for (value, text) in [
            (0.0, "0"),
            (401.0, "401"),
            (283.842_712, "283.8"),
            (0.5, "0.5"),
            (-4.9, "-4.9"),
            (9999.6, "10,000"),
            (1_234_567.89, "1,234,568"),
            (0.000_123_456, "0.0001235"),
            (0.000_012_345_6, "1.235e-5"),
            (1e12, "1.000e12"),
        ] {
            assert_eq!(shown(value), text);
        }
    }

    #[test]
    fn empty_axes_have_none() {
        for (from, to) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(decades(from, to).is_empty() && round(from, to).is_empty());
        }
    }
}
