//! A roofline (S. Williams, A. Waterman, D. Patterson, Roofline: an insightful visual performance model for multicore
//! architectures, CACM 52(4), 2009): operational intensity against rate, both logarithmic.
//!
//! Ciphers differ in what they count, so intensity is given in cycles: the least cycles per byte of the unit that
//! limits the row. All compute roofs of a core are then one line, from upper left to lower right: twice the cycles
//! per byte is half the rate. Each byte passes through memory once, so the roofs of memory are level. The distance of
//! a row below the line is its share.

use super::bounds;
use crate::bench::{BenchRow, Document};
use crate::picture::{Axis, Chart, Line, Mark, Scale};
use crate::roofs::Roofline;

/// The picture of a document's rows that have a bound, below these rooflines.
pub fn chart(document: &Document, roofs: &Roofline) -> Chart {
    let points: Vec<(f64, f64, String)> = shown(document).into_iter().filter_map(|row| point(row, roofs)).collect();
    let clock = clock_per_s(roofs);
    let (mut left, mut right) = (0.1f64, 10.0f64);
    for (cycles, ..) in &points {
        (left, right) = (left.min(cycles / 1.5), right.max(cycles * 1.5));
    }
    let gb = |rate: f64| rate / 1e9;
    let mut lines = Vec::new();
    if let Some(clock) = clock {
        lines.push(Line {
            name: format!("compute: all cycles of a core at {:.2} GHz", gb(clock)),
            points: [left, right].map(|cycles| (cycles, gb(clock / cycles))).into(),
        });
    }
    let mut top = clock.map_or(10.0, |clock| gb(clock / left));
    let mut bottom = 1.0f64;
    for (level, name) in
        [("l1", "level 1 cache"), ("l2", "level 2 cache"), ("l3", "level 3 cache"), ("memory", "memory")]
    {
        if let Some(roof) = roofs.find(&format!("{level}-update")) {
            let rate = gb(roof.per_s);
            (top, bottom) = (top.max(rate), bottom.min(rate));
            lines.push(Line {
                name: format!("{name}, in place: {rate:.1} GB/s"),
                points: vec![(left, rate), (right, rate)],
            });
        }
    }
    for (_, rate, _) in &points {
        bottom = bottom.min(*rate);
    }
    Chart {
        title: format!("Roofline of one core, {}", document.machine.model),
        x: Axis {
            name: "operational intensity: least cycles per byte of the limiting unit".into(),
            from: left,
            to: right,
            scale: Scale::Logarithmic,
        },
        y: Axis { name: "rate, GB/s".into(), from: bottom / 2.0, to: top * 2.0, scale: Scale::Logarithmic },
        lines,
        levels: Vec::new(),
        walls: Vec::new(),
        marks: points.into_iter().map(|(cycles, rate, name)| Mark { name, at: (cycles, rate) }).collect(),
    }
}

/// Among rows that the picture cannot distinguish, takes the fastest, and decryption only where there is no encryption.
fn shown(document: &Document) -> Vec<&BenchRow> {
    let mut shown: Vec<&BenchRow> = Vec::new();
    let is_like = |a: &BenchRow, b: &BenchRow| (&a.name, a.lanes, &a.bound) == (&b.name, b.lanes, &b.bound);
    let rank = |row: &BenchRow| (row.direction != "decrypt", row.bytes_per_s.unwrap_or(0.0));
    for row in document.rows.iter().filter(|row| row.bound.is_some() && row.threads <= 1) {
        match shown.iter_mut().find(|other| is_like(other, row)) {
            Some(other) if rank(row) > rank(other) => *other = row,
            Some(_) => {}
            None => shown.push(row),
        }
    }
    shown
}

/// The row's cycles per byte at its roof, its rate in GB/s, and its name.
fn point(row: &BenchRow, roofs: &Roofline) -> Option<(f64, f64, String)> {
    let (name, share) = (row.bound.as_deref()?, row.share?);
    let bound = bounds::bounds_of_row(row, roofs).into_iter().find(|bound| bound.roof == name)?;
    let cycles = bound.per_unit / roofs.find(name)?.per_cycle?;
    let lanes = match row.lanes {
        1 => String::new(),
        lanes => format!(", {lanes} lanes"),
    };
    let direction = if row.direction == "decrypt" { " decrypted" } else { "" };
    Some((cycles, row.bytes_per_s? / 1e9, format!("{}{direction}{lanes}: {:.0} %", row.name, 100.0 * share)))
}

/// The clock rate of the core during the measurement of the roofs, in cycles per second.
fn clock_per_s(roofs: &Roofline) -> Option<f64> {
    let mut clocks: Vec<f64> =
        roofs.roofs.iter().filter_map(|roof| Some(roof.median_per_s / roof.median_per_cycle()?)).collect();
    clocks.sort_by(f64::total_cmp);
    clocks.get(clocks.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;
    use crate::bench::record::Machine;
    use crate::roofs::Roof;

    /// By hand: 0.625 rounds a byte at 4 a cycle are 0.15625 cycles; at 3 GHz this point of the line is at 19.2 GB/s.
    #[test]
    fn a_row_is_below_its_roof_by_its_share() {
        let roof = |name: &str, per_cycle: f64| Roof {
            name: name.into(),
            per_s: 3e9 * per_cycle,
            per_cycle: Some(per_cycle),
            median_per_s: 3e9 * per_cycle,
            cycle_samples: vec![per_cycle; 3],
            ..Roof::default()
        };
        let roofs = Roofline {
            roofs: vec![roof("aes-512", 4.0), roof("l1-update", 32.0)],
            missing: Vec::new(),
            cache_bytes: vec![1 << 20],
        };
        let mut document = Document::new(Machine::default());
        document.rows.push(BenchRow {
            name: "aes-128-ctr".into(),
            backend: "vaes512".into(),
            lanes: 1,
            threads: 1,
            message_bytes: 16_384,
            bytes_per_s: Some(9.6e9),
            ..BenchRow::default()
        });
        // A slower row at the same point is not drawn.
        document.rows.push(BenchRow { bytes_per_s: Some(9e9), ..document.rows[0].clone() });
        document.rows.push(BenchRow { name: "encrypt-start".into(), per_s: Some(100.0), ..BenchRow::default() });
        document.roofs = Some(roofs.clone());
        fill(&mut document);
        let chart = chart(&document, &roofs);
        assert_eq!(chart.marks.len(), 1);
        assert_eq!(chart.marks[0].name, "aes-128-ctr: 50 %");
        let (x, y) = chart.marks[0].at;
        assert!((x - 0.15625).abs() < 1e-12 && (y - 9.6).abs() < 1e-12, "{x} {y}");
        let (at, rate) = chart.lines[0].points[0];
        assert!((at * rate - 3.0).abs() < 1e-9, "{at} {rate}");
        assert_eq!(chart.lines[1].points[0].1, 96.0);
        assert!(!chart.svg().contains("NaN"));
    }

    #[test]
    fn a_document_without_rows_can_be_drawn() {
        let svg = chart(&Document::new(Machine::default()), &Roofline::default()).svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
