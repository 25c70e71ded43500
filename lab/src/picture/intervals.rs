//! Figures with their confidence intervals, in groups from top to bottom: a dot for each figure on a line from one end of
//! its interval to the other.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Axis, COLOURS, LETTER, STYLE, Scale, WIDTH, escape};

const LEFT: f64 = 24.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 88.0;
const LINE: f64 = 17.0;
/// The name of a group stands above its lines.
const NAME: f64 = 19.0;
const BETWEEN: f64 = 12.0;
const BOTTOM: f64 = 56.0;

/// Figures with their intervals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intervals {
    /// What they show.
    pub title: String,
    /// What the axis counts, with its unit.
    pub axis: String,
    /// How it counts.
    pub scale: Scale,
    /// A line from top to bottom, such as 1 for ratios.
    pub level: Option<f64>,
    /// Whose the figures of a group are, in their order.
    pub series: Vec<String>,
    /// The groups, from top to bottom.
    pub groups: Vec<Group>,
}

/// Figures of one thing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Of what.
    pub name: String,
    /// One for each series, where it has one.
    pub values: Vec<Option<Interval>>,
}

/// A figure and the ends of its interval.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// The figure.
    pub middle: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Intervals {
    /// Whether a figure has a place on the axis.
    fn is_drawn(&self, interval: &Interval) -> bool {
        let Interval { middle, low, high } = *interval;
        let least = if self.scale == Scale::Logarithmic { f64::MIN_POSITIVE } else { f64::MIN };
        [middle, low, high].iter().all(|value| value.is_finite() && *value >= least)
    }

    /// From the least to the most that is drawn, with some room.
    fn axis(&self) -> Axis {
        let drawn =
            || self.groups.iter().flat_map(|group| &group.values).flatten().filter(|value| self.is_drawn(value));
        let ends = drawn().flat_map(|value| [value.low, value.middle, value.high]).chain(self.level);
        let (from, to) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), end| (from.min(end), to.max(end)));
        let (from, to) = match self.scale {
            Scale::Logarithmic => (from / 1.2, to * 1.2),
            Scale::Linear => (from - (to - from) * 0.05, to + (to - from) * 0.05),
        };
        Axis { name: self.axis.clone(), from, to, scale: self.scale }
    }

    /// The picture. What is no figure is not drawn.
    pub fn svg(&self) -> String {
        let axis = self.axis();
        let lines = |group: &Group| group.values.iter().take(self.series.len()).flatten().count() as f64;
        let height = self.groups.iter().map(|group| NAME + lines(group) * LINE + BETWEEN).sum::<f64>() + TOP + BOTTOM;
        let (title, bottom) = (escape(&self.title), height - BOTTOM);
        let x = |value: f64| LEFT + axis.part(value) * (WIDTH - LEFT - RIGHT);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"34\" class=\"title\">{title}</text>\n"
        );
        let mut rule = |class: &str, at: f64| {
            let _ = writeln!(
                svg,
                "<line class=\"{class}\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>"
            );
        };
        let ticks = axis.ticks();
        ticks.iter().for_each(|(at, _)| rule("grid", x(*at)));
        self.level.iter().for_each(|level| rule("wall", x(*level)));
        for (at, label) in &ticks {
            let at = x(*at);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"tick\">{label}</text>",
                bottom + 20.0
            );
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let name = escape(&self.axis);
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>", height - 14.0);
        let mut at = LEFT;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            let name = escape(series);
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"59\" r=\"5\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"64\">{name}</text>",
                at + 5.0,
                at + 16.0
            );
            at += series.chars().count() as f64 * LETTER + 40.0;
        }
        let mut y = TOP;
        for group in &self.groups {
            let name = escape(&group.name);
            let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{:.1}\" class=\"halo\">{name}</text>", y + 14.0);
            y += NAME;
            for (value, colour) in group.values.iter().take(self.series.len()).zip(COLOURS.iter().cycle()) {
                let Some(value) = value else { continue };
                if self.is_drawn(value) {
                    let place = y + LINE / 2.0;
                    let _ = writeln!(
                        svg,
                        "<line x1=\"{:.1}\" y1=\"{place:.1}\" x2=\"{:.1}\" y2=\"{place:.1}\" stroke=\"{colour}\" \
                         stroke-width=\"2\"/><circle cx=\"{:.1}\" cy=\"{place:.1}\" r=\"4.5\" fill=\"{colour}\"/>",
                        x(value.low),
                        x(value.high),
                        x(value.middle)
                    );
                }
                y += LINE;
            }
            y += BETWEEN;
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(scale: Scale, values: &[Option<(f64, f64, f64)>]) -> Intervals {
        let values =
            values.iter().map(|value| value.map(|(low, middle, high)| Interval { middle, low, high })).collect();
        Intervals {
            title: "t < u".into(),
            axis: "a & b".into(),
            scale,
            level: Some(1.0),
            series: vec!["one".into(), "two".into()],
            groups: vec![Group { name: "<g>".into(), values }],
        }
    }

    /// By hand: the axis is 0 to 20 with 5 % more on both sides, -1 to 21, over the 916 pixels from 24 on.
    #[test]
    fn places() {
        let mut intervals = intervals(Scale::Linear, &[Some((0.0, 10.0, 20.0))]);
        intervals.level = None;
        let svg = intervals.svg();
        assert!(svg.contains("x1=\"65.6\" y1=\"115.5\" x2=\"898.4\""), "{svg}");
        assert!(svg.contains("cx=\"482.0\" cy=\"115.5\""), "{svg}");
        assert!(svg.contains(">&lt;g&gt;</text>") && svg.contains(">t &lt; u</text>"), "{svg}");
    }

    #[test]
    fn what_is_no_figure_is_not_drawn() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let nan = Some((f64::NAN, 1.0, f64::INFINITY));
            for values in [&[][..], &[None, nan], &[Some((-1.0, 0.0, 1.0)), nan], &[Some((0.0, 0.0, 0.0))]] {
                let svg = intervals(scale, values).svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
}
