//! Bars side by side, in groups: figures of the same things from several places.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{COLOURS, LETTER, STYLE, WIDTH, escape};

/// Room for the names of groups: at least this, and at most half of the picture.
const LEFT: f64 = 250.0;
/// Room for a figure behind the longest bar.
const RIGHT: f64 = 80.0;
const TOP: f64 = 62.0;
const BAR: f64 = 19.0;
const GAP: f64 = 3.0;
const BETWEEN: f64 = 15.0;

/// Bars from left to right, each with its name in it and its figure behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bars {
    /// What they show, with the unit.
    pub title: String,
    /// Whose the bars of a group are, in their order.
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
    pub values: Vec<Option<f64>>,
}

impl Bars {
    /// The picture. What is no number above zero has no bar.
    pub fn svg(&self) -> String {
        let values = |group: &Group| -> Vec<Option<f64>> {
            let is_drawn = |value: &f64| value.is_finite() && *value > 0.0;
            group.values.iter().take(self.series.len()).map(|value| value.filter(is_drawn)).collect()
        };
        let groups: Vec<(&Group, Vec<Option<f64>>)> = self.groups.iter().map(|group| (group, values(group))).collect();
        let longest = groups.iter().map(|(group, _)| group.name.chars().count()).max().unwrap_or(0);
        let left = (longest as f64 * LETTER + 24.0).clamp(LEFT, WIDTH / 2.0);
        let most = groups.iter().flat_map(|(_, values)| values).flatten().fold(f64::MIN_POSITIVE, |a, b| a.max(*b));
        let bars = |values: &[Option<f64>]| values.iter().flatten().count().max(1) as f64;
        let height: f64 =
            groups.iter().map(|(_, values)| bars(values) * (BAR + GAP) + BETWEEN).sum::<f64>() + TOP + BETWEEN;
        let title = escape(&self.title);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE} .inside {{ fill: white; font-size: \
             13px }}</style>\n<rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"white\"/>\n\
             <text x=\"24\" y=\"34\" class=\"title\">{title}</text>\n"
        );
        let mut y = TOP;
        for (group, values) in groups {
            let middle = y + bars(&values) * (BAR + GAP) / 2.0 + 4.0;
            let name = escape(&group.name);
            let _ = writeln!(svg, "<text x=\"{:.0}\" y=\"{middle:.1}\" text-anchor=\"end\">{name}</text>", left - 12.0);
            for (place, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let width = value / most * (WIDTH - left - RIGHT);
                let colour = COLOURS[place % COLOURS.len()];
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left:.0}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>"
                );
                let base = y + BAR - 5.0;
                let series = &self.series[place];
                if series.chars().count() as f64 * LETTER + 12.0 < width {
                    let series = escape(series);
                    let _ =
                        writeln!(svg, "<text x=\"{:.0}\" y=\"{base:.1}\" class=\"inside\">{series}</text>", left + 7.0);
                }
                let figure = if *value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.1}") };
                let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{base:.1}\">{figure}</text>", left + width + 7.0);
                y += BAR + GAP;
            }
            if values.iter().all(Option::is_none) {
                y += BAR + GAP;
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

    fn bars(values: &[Option<f64>]) -> String {
        let group = Group { name: "a < b".into(), values: values.into() };
        Bars { title: "t & u".into(), series: vec!["one".into(), "two".into()], groups: vec![group] }.svg()
    }

    /// The longest takes the 670 pixels from 250 on; half of it half of them.
    #[test]
    fn lengths() {
        let svg = bars(&[Some(50.0), Some(100.0)]);
        assert!(svg.contains("width=\"335.0\"") && svg.contains("width=\"670.0\""), "{svg}");
        assert!(svg.contains(">50.0</text>") && svg.contains(">100.0</text>"), "{svg}");
        assert!(svg.contains(">a &lt; b</text>") && svg.contains(">t &amp; u</text>"), "{svg}");
    }

    /// By hand: 45 letters of 7.4 pixels, and 24 pixels.
    #[test]
    fn long_names_have_room() {
        let group = Group { name: "n".repeat(45), values: vec![Some(1.0)] };
        let svg = Bars { title: "t".into(), series: vec!["one".into()], groups: vec![group] }.svg();
        assert!(svg.contains("<rect x=\"357\""), "{svg}");
    }

    #[test]
    fn what_is_no_figure_has_no_bar() {
        let svg = bars(&[None, Some(f64::NAN), Some(3.0)]);
        assert!(!svg.contains("NaN") && svg.matches("<rect").count() == 1, "{svg}");
        let svg = bars(&[Some(-1.0), Some(0.5)]);
        assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
    }
}
