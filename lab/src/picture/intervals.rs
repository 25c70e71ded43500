//! Figures with their confidence intervals, in groups from top to bottom: a dot for each figure on a line from one end of
//! its interval to the other.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Axis, EDGE, Group, Scale, WIDTH, axis_below, colour, escape, legend, shown, truncated_to_width};

const RIGHT: f64 = 60.0;
const TOP: f64 = 59.0;
const LINE: f64 = 17.0;
/// Height of a group's name, which is above its lines.
const NAME: f64 = 19.0;
const BETWEEN: f64 = 12.0;
const BOTTOM: f64 = 56.0;

/// Figures with their intervals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intervals {
    pub title: String,
    /// Name of the axis, with the unit.
    pub axis: String,
    pub scale: Scale,
    /// A value with a vertical line through all groups, such as 1 for ratios.
    pub level: Option<f64>,
    /// Names of the figures of a group, in order.
    pub series: Vec<String>,
    pub groups: Vec<Group<Interval>>,
}

/// A figure and the ends of its interval.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Interval {
    pub middle: f64,
    pub low: f64,
    pub high: f64,
}

impl Intervals {
    /// Whether a figure has a place on the axis.
    fn is_drawn(&self, interval: &Interval) -> bool {
        let Interval { middle, low, high } = *interval;
        let least = if self.scale == Scale::Logarithmic { f64::MIN_POSITIVE } else { f64::MIN };
        [middle, low, high].iter().all(|value| value.is_finite() && *value >= least)
    }

    /// The axis, from the least to the largest value, with some room.
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

    pub(super) fn body(&self) -> (f64, String) {
        let axis = self.axis();
        let x = |value: f64| EDGE + axis.part(value) * (WIDTH - EDGE - RIGHT);
        let drawn = |group: &Group<Interval>| group.drawn(&self.series, |value| self.is_drawn(value));
        let groups: Vec<_> = self.groups.iter().map(|group| (group, drawn(group))).collect();
        let mut body = String::new();
        let top = legend(&mut body, self.series.iter().map(String::as_str), TOP);
        let bottom = top + groups.iter().map(|(_, values)| NAME + values.len() as f64 * LINE + BETWEEN).sum::<f64>();
        axis_below(&mut body, &axis, (EDGE, WIDTH - RIGHT), (top, bottom));
        let mut y = top;
        for (group, values) in groups {
            let name = escape(&truncated_to_width(&group.name, WIDTH - 2.0 * EDGE));
            let _ = writeln!(
                body,
                "<text x=\"{EDGE}\" y=\"{:.1}\" class=\"halo\">{name}</text>\n<g class=\"row\">",
                y + 14.0
            );
            y += NAME;
            // Not through the name.
            for at in self.level.iter().map(|level| x(*level)) {
                let end = y + values.len() as f64 * LINE;
                let _ = writeln!(
                    body,
                    "<line class=\"wall\" x1=\"{at:.1}\" y1=\"{y:.1}\" x2=\"{at:.1}\" y2=\"{end:.1}\"/>"
                );
            }
            for (place, Interval { middle, low, high }) in values {
                let figures = format!("{} ({} to {})", shown(middle), shown(low), shown(high));
                let title = escape(&format!("{}, {}: {figures}", group.name, self.series[place]));
                let _ = writeln!(
                    body,
                    "<g class=\"{}\"><title>{title}</title><line class=\"span\" x1=\"{:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/>\
                     <circle class=\"fill\" cx=\"{:.1}\" cy=\"{at:.1}\" r=\"4.5\"/></g>",
                    colour(place),
                    x(low),
                    x(high),
                    x(middle),
                    at = y + LINE / 2.0
                );
                y += LINE;
            }
            body.push_str("</g>\n");
            y += BETWEEN;
        }
        (bottom + BOTTOM, body)
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
        let svg = intervals.body().1;
        assert!(svg.contains("x1=\"65.6\" y1=\"106.5\" x2=\"898.4\""), "{svg}");
        assert!(svg.contains("cx=\"482.0\" cy=\"106.5\""), "{svg}");
        assert!(
            svg.contains(">&lt;g&gt;</text>") && svg.contains("<title>&lt;g&gt;, one: 10 (0 to 20)</title>"),
            "{svg}"
        );
    }

    #[test]
    fn values_that_are_not_figures_are_not_drawn() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let nan = Some((f64::NAN, 1.0, f64::INFINITY));
            for values in [&[][..], &[None, nan], &[Some((-1.0, 0.0, 1.0)), nan], &[Some((0.0, 0.0, 0.0))]] {
                let svg = intervals(scale, values).body().1;
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
}
