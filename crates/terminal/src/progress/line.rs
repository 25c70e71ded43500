//! The progress line: computes the rate and formats the text. It reads no clock and writes nothing.

use std::collections::VecDeque;
use std::time::Duration;

use super::Count;
use crate::units::count_text;

/// Length of the time window of the rate.
const WINDOW: Duration = Duration::from_secs(4);
/// Shortest observation that gives a rate.
const MIN_OBSERVED: Duration = Duration::from_millis(500);
/// If few values arrive, the window extends back to this many changes.
const MIN_CHANGES: usize = 3;

/// The values of a counter within the window, each with the time when it was first seen. Times count from any fixed start.
#[derive(Default)]
pub(super) struct RateWindow {
    changes: VecDeque<(Duration, u64)>,
    now: Duration,
}

impl RateWindow {
    /// Records the counter's value.
    pub(super) fn note(&mut self, now: Duration, count: u64) {
        self.now = now;
        let (last, known) = self.changes.back().copied().unwrap_or_default();
        if count > known {
            // After a long pause the observation starts again.
            if self.mean_pause().is_some_and(|pause| now.saturating_sub(last) > WINDOW.max(4 * pause)) {
                self.changes.clear();
            }
            self.changes.push_back((now, count));
        }
        while self.changes.len() > MIN_CHANGES && self.changes[0].0 + WINDOW < now {
            self.changes.pop_front();
        }
    }

    /// Mean time between two changes, if there are any.
    fn mean_pause(&self) -> Option<Duration> {
        let steps = self.changes.len().checked_sub(1).filter(|steps| *steps > 0)?;
        Some((self.changes[steps].0 - self.changes[0].0) / steps as u32)
    }

    /// The rate, after [`MIN_OBSERVED`]. It falls while the counter is unchanged for longer than usual.
    pub(super) fn per_second(&self) -> Option<f64> {
        let ((first, from), (last, to)) = (self.changes.front()?, self.changes.back()?);
        let observed = (*last - *first).max((self.now - *first).saturating_sub(self.mean_pause()?));
        (observed >= MIN_OBSERVED).then(|| (to - from) as f64 / observed.as_secs_f64())
    }
}

/// The text of the line, at most `columns` columns wide. If space is short, the bar is left out first, then the time left, then the rate.
pub(super) fn line(count: &Count, bytes_per_s: Option<f64>, columns: usize) -> String {
    let Count { done: done_bytes, total: total_bytes, files, .. } = *count;
    let rate = bytes_per_s.map(|rate| format!("{:>10}", format!("{}/s", bytes_text(rate as u64))));
    // A total that has turned out too small counts as unknown.
    let Some(total) = total_bytes.filter(|total| *total >= done_bytes.max(1)) else {
        return join(&[Some(format!("{:>8}", bytes_text(done_bytes))), rate], columns);
    };
    let unit = unit(total);
    let sizes = format!("{:>4} of {} {}", digits(done_bytes, unit), digits(total, unit), unit.1);
    let files = files.map(|(done, all)| format!("{} of {} files", count_text(done), count_text(all)));
    let share = done_bytes as f64 / total as f64;
    let (rate, left) = if done_bytes == total {
        // Syncing and naming the file may take a while.
        (Some("finishing".into()), None)
    } else {
        (rate, bytes_per_s.and_then(|rate| left_text((total - done_bytes) as f64 / rate)))
    };
    // The bar keeps its length while other fields appear and disappear.
    const OTHERS: usize = "100 %".len() + "1023 MiB/s".len() + "59 min 59 s left".len() + 4 * GAP.len();
    let room = columns
        .saturating_sub(OTHERS + sizes.len() + files.as_ref().map_or(0, |text| GAP.len() + text.len()))
        .min(MAX_BAR);
    let bar = (room >= MIN_BAR).then(|| {
        let inside = room - 2;
        let filled = (share * inside as f64) as usize;
        let tip = if filled < inside { ">" } else { "" };
        format!("[{:<inside$}]", "=".repeat(filled) + tip)
    });
    let percent = format!("{:>3} %", (share * 100.0) as u8);
    join(&[bar, Some(percent), Some(sizes), files, rate, left], columns)
}

const GAP: &str = "  ";
const MIN_BAR: usize = 12;
const MAX_BAR: usize = 52;

/// Joins the present fields, up to the first that does not fit.
fn join(fields: &[Option<String>], columns: usize) -> String {
    let mut line = String::new();
    for field in fields.iter().flatten() {
        let gap = if line.is_empty() { "" } else { GAP };
        if line.len() + gap.len() + field.len() > columns {
            break;
        }
        line += gap;
        line += field;
    }
    line
}

type ByteUnit = (u64, &'static str);

/// The largest unit that is not larger than `bytes`.
fn unit(bytes: u64) -> ByteUnit {
    const UNITS: [ByteUnit; 6] = [(60, "EiB"), (50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let found = UNITS.into_iter().find(|(bits, _)| bytes >> bits > 0);
    found.map_or((1, "B"), |(bits, name)| (1 << bits, name))
}

/// Formats with three significant digits.
fn digits(bytes: u64, (factor, _): ByteUnit) -> String {
    let value = bytes as f64 / factor as f64;
    let decimals = match value {
        _ if factor == 1 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

fn bytes_text(bytes: u64) -> String {
    let unit = unit(bytes);
    format!("{} {}", digits(bytes, unit), unit.1)
}

/// Formats the time left; `None` for 100 days or more.
pub(super) fn left_text(seconds: f64) -> Option<String> {
    let seconds = seconds.ceil() as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    Some(match seconds {
        0..60 => format!("{seconds} s left"),
        60..3600 => format!("{minutes} min {} s left", seconds % 60),
        3600..86_400 => format!("{hours} h {minutes} min left"),
        86_400..8_640_000 => format!("{days} d {hours} h left"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1e6;

    /// A clock ticks every 100 ms. Each case has a function from seconds to the bytes moved, and rows of a time and the bounds of the rate
    /// at that time; -1 means no rate.
    #[test]
    fn rates() {
        type Case = (&'static str, fn(f64) -> f64, &'static [(f64, f64, f64)]);
        let cases: [Case; 6] = [
            // Keys are derived for a second. The rate appears half a second later, with the right value.
            ("steady", |s| 100.0 * MB * (s - 1.0), &[(1.6, 99.0 * MB, 101.0 * MB), (9.0, 99.0 * MB, 101.0 * MB)]),
            ("a buffer fills immediately", |s| 64.0 * MB + 10.0 * MB * s, &[(0.5, 9.9 * MB, 10.1 * MB)]),
            // Half a megabyte every 1.7 s.
            (
                "large steps",
                |s| (s / 1.7).floor() * 0.5 * MB,
                &[(3.4, 0.28 * MB, 0.31 * MB), (9.0, 0.28 * MB, 0.31 * MB)],
            ),
            (
                "slower after 5 s",
                |s| s.min(5.0) * 80.0 * MB + (s - 5.0).max(0.0) * 8.0 * MB,
                &[(9.2, 7.9 * MB, 8.1 * MB)],
            ),
            ("nothing after 5 s", |s| s.min(5.0) * 80.0 * MB, &[(8.0, 1.0, 40.0 * MB), (9.9, 1.0, 5.0 * MB)]),
            // Bytes before a long pause do not count.
            (
                "a pause from 1 to 9 s",
                |s| (s.min(1.0) + (s - 9.0).max(0.0)) * 80.0 * MB,
                &[(9.2, -1.0, 0.0), (9.8, 79.0 * MB, 81.0 * MB)],
            ),
        ];
        for (name, moved, rows) in cases {
            let mut window = RateWindow::default();
            let mut rates = Vec::new();
            for tick in 0..100 {
                let now = f64::from(tick) / 10.0;
                window.note(Duration::from_millis(100 * tick as u64), moved(now).max(0.0) as u64);
                rates.push(window.per_second());
            }
            for (since, low, high) in rows {
                let rate = rates[(since * 10.0) as usize].unwrap_or(-1.0);
                assert!((*low..*high).contains(&rate), "{name} at {since} s: {rate}");
            }
            let first = rates.iter().position(Option::is_some).unwrap();
            assert!(first >= 5 && rates[first..].iter().take(10).all(Option::is_some), "{name}: {first}");
        }
    }

    #[test]
    fn lines() {
        const GIB: u64 = 1 << 30;
        let cases = [
            (1 << 20, Some(2 * GIB), None, 79, "[>                     ]    0 %  0.00 of 2.00 GiB"),
            (
                GIB,
                Some(2 * GIB),
                Some(891_289_600.0),
                79,
                "[===========>          ]   50 %  1.00 of 2.00 GiB   850 MiB/s  2 s left",
            ),
            (GIB, Some(2 * GIB), Some(891_289_600.0), 39, " 50 %  1.00 of 2.00 GiB   850 MiB/s"),
            (GIB, Some(2 * GIB), Some(891_289_600.0), 45, " 50 %  1.00 of 2.00 GiB   850 MiB/s  2 s left"),
            (GIB, Some(2 * GIB), Some(891_289_600.0), 34, " 50 %  1.00 of 2.00 GiB"),
            (GIB, Some(2 * GIB), Some(891_289_600.0), 10, " 50 %"),
            (GIB, Some(2 * GIB), Some(0.0), 60, " 50 %  1.00 of 2.00 GiB       0 B/s"),
            (2 * GIB, Some(2 * GIB), Some(1e9), 60, "100 %  2.00 of 2.00 GiB  finishing"),
            (2 * GIB - 1, Some(2 * GIB), Some(1e3), 60, " 99 %  2.00 of 2.00 GiB    1000 B/s  1 s left"),
            (999, Some(1000), Some(12.0), 60, " 99 %   999 of 1000 B      12 B/s  1 s left"),
            (0, Some(1 << 40), Some(3e6), 60, "  0 %  0.00 of 1.00 TiB  2.86 MiB/s  4 d 5 h left"),
            (0, Some(150 * GIB), Some(3e6), 60, "  0 %  0.00 of 150 GiB  2.86 MiB/s  14 h 54 min left"),
            (0, Some(3 * GIB), Some(3e6), 60, "  0 %  0.00 of 3.00 GiB  2.86 MiB/s  17 min 54 s left"),
            // A pipe, and an input that has grown.
            (3 << 20, None, Some(999.0 * 1048576.0), 79, "3.00 MiB   999 MiB/s"),
            (3 << 20, Some(1 << 20), None, 79, "3.00 MiB"),
        ];
        for (done, total, rate, columns, expected) in cases {
            let line = line(&Count { done, total, ..Count::default() }, rate, columns);
            assert_eq!(line, expected);
            assert!(line.len() <= columns);
        }
        let count = Count { done: GIB, total: Some(2 * GIB), files: Some((12, 10_000)), ..Count::default() };
        for (columns, expected) in [
            (90, "[======>      ]   50 %  1.00 of 2.00 GiB  12 of 10,000 files   850 MiB/s  2 s left"),
            (50, " 50 %  1.00 of 2.00 GiB  12 of 10,000 files"),
        ] {
            assert_eq!(line(&count, Some(891_289_600.0), columns), expected);
        }
    }
}
