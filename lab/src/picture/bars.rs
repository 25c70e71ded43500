//! Bars in groups: several figures side by side for each thing.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Axis, Group, LETTER, Scale, WIDTH, axis_below, colour, escape, legend, shown, truncated_to_width};

/// Width for the names of groups: at least this, and at most half of the picture.
const LEFT: f64 = 250.0;
/// Least width for the figure after the longest bar.
const RIGHT: f64 = 80.0;
const TOP: f64 = 58.0;
const BAR: f64 = 19.0;
const GAP: f64 = 3.0;
const BETWEEN: f64 = 15.0;

/// Bars from left to right, each followed by its figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bars {
    /// The picture's title, with the unit.
    pub title: String,
    /// Names of the bars of a group, in order.
    pub series: Vec<String>,
    /// The groups, from top to bottom.
    pub groups: Vec<Group<f64>>,
    /// The name of a logarithmic axis, for figures of several magnitudes. Without one, bars begin at zero.
    #[serde(default)]
    pub logarithmic: Option<String>,
}

impl Bars {
    /// The bars of a group: the numbers above zero, each with the index of its series.
    fn bars_of(&self, group: &Group<f64>) -> Vec<(usize, f64)> {
        group.drawn(&self.series, |value| value.is_finite() && *value > 0.0)
    }

    /// The height of the picture, and its SVG elements below the title.
    pub(super) fn body(&self) -> (f64, String) {
        let longest = self.groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
        let left = (longest as f64 * LETTER + 24.0).clamp(LEFT, WIDTH / 2.0);
        let values = || self.groups.iter().flat_map(|group| self.bars_of(group));
        let most = values().fold(f64::MIN_POSITIVE, |most, (_, value)| most.max(value));
        let figures = values().map(|(_, value)| shown(value).chars().count()).max().unwrap_or(0);
        let right = (figures as f64 * LETTER + 14.0).max(RIGHT);
        let least = values().fold(most, |least, (_, value)| least.min(value));
        let axis = self.logarithmic.clone().map(|name| Axis {
            name,
            from: 10f64.powf(least.log10().ceil() - 1.0),
            to: most,
            scale: Scale::Logarithmic,
        });
        let part = |value: f64| axis.as_ref().map_or(value / most, |axis| axis.part(value));
        let mut body = String::new();
        let mut y = legend(&mut body, self.series.iter().map(String::as_str), TOP);
        if let Some(axis) = &axis {
            let count = values().count() as f64;
            let bottom = y + count * (BAR + GAP) + self.groups.len() as f64 * BETWEEN;
            axis_below(&mut body, axis, (left, WIDTH - right), (y, bottom));
        }
        for group in &self.groups {
            let bars = self.bars_of(group).len().max(1) as f64;
            let middle = y + bars * (BAR + GAP) / 2.0 + 4.0;
            let name = escape(&truncated_to_width(&group.name, left - 24.0));
            let _ = writeln!(
                body,
                "<text x=\"{:.0}\" y=\"{middle:.1}\" text-anchor=\"end\">{name}</text>\n<g class=\"row\">",
                left - 12.0
            );
            for (number, (place, value)) in self.bars_of(group).into_iter().enumerate() {
                let (top, width) = (y + number as f64 * (BAR + GAP), part(value) * (WIDTH - left - right));
                let (colour, figure) = (colour(place), shown(value));
                let title = escape(&format!("{}, {}: {figure}", group.name, self.series[place]));
                let _ = writeln!(
                    body,
                    "<rect class=\"fill {colour}\" x=\"{left:.0}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BAR}\">\
                     <title>{title}</title></rect><text x=\"{:.1}\" y=\"{:.1}\" class=\"halo\">{figure}</text>",
                    left + width + 7.0,
                    top + BAR - 5.0
                );
            }
            body.push_str("</g>\n");
            y += bars * (BAR + GAP) + BETWEEN;
        }
        (if axis.is_some() { y + 54.0 } else { y }, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(values: &[Option<f64>]) -> String {
        let group = Group { name: "a < b".into(), values: values.into() };
        Bars { title: "t & u".into(), series: vec!["one".into(), "two".into()], groups: vec![group], logarithmic: None }
            .body()
            .1
    }

    /// The longest bar takes the 670 pixels from 250 on, a value of half of it half of them.
    #[test]
    fn lengths() {
        let svg = bars(&[Some(50.0), Some(100.0)]);
        assert!(svg.contains("width=\"335.0\"") && svg.contains("width=\"670.0\""), "{svg}");
        assert!(svg.contains(">50</text>") && svg.contains("<title>a &lt; b, two: 100</title>"), "{svg}");
        assert!(svg.contains(">a &lt; b</text>"), "{svg}");
    }

    /// By hand: 45 letters of 7.4 pixels, and 24 pixels.
    #[test]
    fn long_names_have_room() {
        let group = Group { name: "n".repeat(45), values: vec![Some(1.0)] };
        let svg =
            Bars { title: "t".into(), series: vec!["one".into()], groups: vec![group], logarithmic: None }.body().1;
        assert!(svg.contains(" x=\"357\""), "{svg}");
    }

    /// From 1 to 1000 in 670 pixels: each factor of ten is a third of them, and 2 begins at the power below it.
    #[test]
    fn factors_have_equal_lengths() {
        let groups = [2.0, 10.0, 1000.0].map(|value| Group { name: "a".into(), values: vec![Some(value)] }).into();
        let bars = Bars { title: "t".into(), series: vec!["one".into()], groups, logarithmic: Some("s".into()) };
        let svg = bars.body().1;
        for width in ["67.2", "223.3", "670.0"] {
            assert!(svg.contains(&format!("width=\"{width}\"")), "{width} in {svg}");
        }
        assert!(svg.contains(">100</text>") && svg.contains(">s</text>"), "{svg}");
    }

    #[test]
    fn values_that_are_not_figures_have_no_bar() {
        let svg = bars(&[None, Some(f64::NAN), Some(3.0)]);
        assert!(!svg.contains("NaN") && !svg.contains("<rect"), "{svg}");
        let svg = bars(&[Some(-1.0), Some(0.5)]);
        assert_eq!(svg.matches("<rect").count(), 1, "{svg}");
    }
}
