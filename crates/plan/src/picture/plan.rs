//! The picture of a plan: equation 1 as a function of the number of stages, its minimum, and the times to compare with.

use super::{Axis, Chart, Level, Line, Mark, Scale};
use crate::{Limit, Plan, Problem};

/// Points of the curve.
const POINTS: u32 = 400;

/// The picture of `plan`, which must be a plan for `problem`.
pub fn chart(problem: &Problem, plan: &Plan, title: String) -> Chart {
    let time_s = |stages: f64| match plan.limit {
        Limit::OneCore => plan.time_s,
        _ => problem.time_s(stages, plan.compute_cores, plan.link_cores),
    };
    let top = f64::max(plan.sequential_s, plan.time_s);
    let bottom = plan.lower_bound_s;
    let margin = (top - bottom).max(top * 1e-3) * 0.12;
    let (scale, unit) = unit(top);
    // The horizontal axis ends where the curve leaves the picture, and not before ten times the best number of stages.
    let best = plan.stages as f64;
    let most = (1..60).map(|power| best * 2f64.powi(power)).find(|&stages| time_s(stages) > top + margin);
    let last = most.unwrap_or(best * 10.0).max(best * 10.0).clamp(10.0, 1e15);
    let points = (0..=POINTS)
        .map(|point| last.powf(f64::from(point) / f64::from(POINTS)))
        .map(|stages| (stages, time_s(stages) * scale))
        .collect();
    let level = |name: &str, at: f64| Level { name: format!("{name}, {}", figure(at * scale, unit)), at: at * scale };
    let mut walls = Vec::new();
    let mut wall = |name: String, bytes: Option<u64>| {
        if let Some(bytes) = bytes {
            let at = problem.size_bytes as f64 / bytes as f64;
            if at > 1.0 && at < last {
                walls.push(Level { name, at });
            }
        }
    };
    wall("smallest batch".into(), problem.min_batch_bytes);
    wall("buffer".into(), problem.buffer_bytes);
    let name = if plan.stages == 1 { "1 stage".into() } else { format!("{} stages", plan.stages) };
    Chart {
        title,
        x: Axis { name: "stages".into(), from: 1.0, to: last, scale: Scale::Logarithmic },
        y: Axis {
            name: format!("time, {unit}"),
            from: (bottom - margin).max(0.0) * scale,
            to: (top + margin) * scale,
            scale: Scale::Linear,
        },
        lines: vec![Line { name: String::new(), points }],
        levels: vec![
            level("computing, then sending", plan.sequential_s),
            level("the slower side alone", plan.lower_bound_s),
        ],
        walls,
        marks: vec![Mark {
            name: format!("{name}, {}", figure(plan.time_s * scale, unit)),
            at: (best, plan.time_s * scale),
        }],
    }
}

/// The unit in which a time has few digits.
#[doc(hidden)]
pub fn unit(seconds: f64) -> (f64, &'static str) {
    match seconds {
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    }
}

fn figure(value: f64, unit: &str) -> String {
    let decimals = if value >= 1000.0 { 0 } else { 3 };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1 of the paper, 10 GB at 100 Mbit/s: 8,944 stages; 1170 s sequentially, 800 s for the link alone.
    #[test]
    fn a_plan_has_its_lines_and_its_mark() {
        let problem = Problem::new(10_000_000_000, 0.037e-6, 0.08e-6, 10e-6);
        let chart = chart(&problem, &problem.plan().expect("a plan"), "t".into());
        assert!((chart.levels[0].at - 1170.0).abs() < 1e-6 && (chart.levels[1].at - 800.0).abs() < 1e-6);
        assert_eq!(chart.marks[0].at.0, 8944.0);
        assert!(chart.marks[0].name.starts_with("8944 stages"));
        let lowest = chart.lines[0].points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        assert!(lowest >= chart.marks[0].at.1 - 1e-6);
        assert!(chart.x.to >= 89440.0 && chart.walls.is_empty());
    }

    #[test]
    fn bounds_are_walls() {
        let problem = Problem {
            min_batch_bytes: Some(1 << 20),
            buffer_bytes: Some(1 << 30),
            ..Problem::new(1 << 34, 1e-9, 1e-9, 1e-6)
        };
        let chart = chart(&problem, &problem.plan().expect("a plan"), "t".into());
        let walls: Vec<f64> = chart.walls.iter().map(|wall| wall.at).collect();
        assert_eq!(walls, [16384.0, 16.0]);
    }

    #[test]
    fn any_plan_can_be_drawn() {
        for (size, r, sync) in [(1, 1e-9, 1e-3), (u64::MAX, 1e-3, 1e-9), (1 << 20, 1e-12, 100.0), (3, 1e6, 1e-12)] {
            for cores in [1, 2] {
                let problem = Problem { cores, ..Problem::new(size, r, r, sync) };
                let svg = chart(&problem, &problem.plan().expect("a plan"), "t".into()).svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
            }
        }
    }
}
