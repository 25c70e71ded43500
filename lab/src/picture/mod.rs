//! Pictures: [`Chart`] has curves, [`bars`] bars, [`timeline`] work over time, [`intervals`] figures with their
//! confidence intervals. A [`Drawing`] is any of them: data that is stored and read again, and its SVG.

pub mod bars;
pub mod intervals;
pub mod timeline;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

pub(crate) use tress_plan::picture::escape;
pub use tress_plan::picture::{Axis, Chart, Level, Line, Mark, STYLE, Scale, plan};
use tress_plan::picture::{LETTER, WIDTH, colour, file, shown};

use bars::Bars;
use intervals::Intervals;
use timeline::Timeline;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    Chart(Chart),
    Bars(Bars),
    Timeline(Timeline),
    Intervals(Intervals),
}

impl Drawing {
    pub fn svg(&self) -> String {
        let (height, body) = self.body();
        file(self.title(), height, &body)
    }

    /// The height of the picture, and its SVG elements below the title: a group `row` for each line, group or track.
    /// It contains a mark for each figure, with the figure as the mark's title.
    pub(crate) fn body(&self) -> (f64, String) {
        match self {
            Drawing::Chart(chart) => chart.body(),
            Drawing::Bars(bars) => bars.body(),
            Drawing::Timeline(timeline) => timeline.body(),
            Drawing::Intervals(intervals) => intervals.body(),
        }
    }

    pub fn title(&self) -> &str {
        match self {
            Drawing::Chart(chart) => &chart.title,
            Drawing::Bars(bars) => &bars.title,
            Drawing::Timeline(timeline) => &timeline.title,
            Drawing::Intervals(intervals) => &intervals.title,
        }
    }
}

macro_rules! drawing_of {
    ($($kind:ident),*) => { $(impl From<$kind> for Drawing {
        fn from(picture: $kind) -> Drawing {
            Drawing::$kind(picture)
        }
    })* };
}

drawing_of!(Chart, Bars, Timeline, Intervals);

/// The figures of one thing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group<V> {
    pub name: String,
    /// A value for each series; `None` where a series has none.
    pub values: Vec<Option<V>>,
}

impl<V: Copy> Group<V> {
    /// The values of these series that `is_drawn` accepts, each with the index of its series.
    fn drawn(&self, series: &[String], is_drawn: impl Fn(&V) -> bool) -> Vec<(usize, V)> {
        let values = self.values.iter().take(series.len()).enumerate();
        values.filter_map(|(place, value)| Some((place, (*value)?))).filter(|(_, value)| is_drawn(value)).collect()
    }
}

/// The left edge of legends and of intervals.
const EDGE: f64 = 24.0;
/// Height of a line of a legend.
const NAMES: f64 = 20.0;

/// A text, cut to a width in pixels.
fn truncated_to_width(text: &str, room: f64) -> String {
    let most = (room / LETTER).max(1.0) as usize;
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
        None => text.into(),
    }
}

/// Draws the names of series after dots in their colours, in lines from `y` on. Returns the y of the next line.
fn legend<'a>(body: &mut String, names: impl Iterator<Item = &'a str>, mut y: f64) -> f64 {
    let mut x = EDGE;
    for (place, name) in names.enumerate() {
        let name = truncated_to_width(name, WIDTH - 2.0 * EDGE - 16.0);
        let width = 16.0 + name.chars().count() as f64 * LETTER;
        if x + width > WIDTH - EDGE {
            (x, y) = (EDGE, y + NAMES);
        }
        let (colour, name, dot, base) = (colour(place), escape(&name), x + 5.0, y + 5.0);
        let _ = writeln!(
            body,
            "<circle class=\"fill {colour}\" cx=\"{dot:.1}\" cy=\"{y:.1}\" r=\"5\"/><text x=\"{:.1}\" y=\"{base:.1}\">{name}</text>",
            x + 16.0
        );
        x += width + 24.0;
    }
    y + NAMES
}

/// Draws the axis below the area from `top` to `bottom`: grid lines, their numbers, and the axis's name.
fn axis_below(body: &mut String, axis: &Axis, (left, right): (f64, f64), (top, bottom): (f64, f64)) {
    for (at, label) in axis.ticks() {
        let x = left + axis.part(at) * (right - left);
        let _ = writeln!(
            body,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"tick\">{label}</text>",
            bottom + 20.0
        );
    }
    let (middle, name) = ((left + right) / 2.0, escape(&axis.name));
    let _ = writeln!(body, "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>", bottom + 42.0);
}
