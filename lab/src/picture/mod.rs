//! Pictures: [`Chart`] has curves, [`bars`] bars, [`timeline`] who did what when, [`intervals`] figures with how sure they are. A
//! [`Drawing`] is any of them: data, which is kept and read again, and an SVG.

pub mod bars;
pub mod intervals;
pub mod timeline;

use serde::{Deserialize, Serialize};

pub use tress_plan::picture::{Axis, Chart, Level, Line, Mark, Scale, plan};
use tress_plan::picture::{COLOURS, LETTER, STYLE, WIDTH, escape};

use bars::Bars;
use intervals::Intervals;
use timeline::Timeline;

/// Any picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    /// Curves.
    Chart(Chart),
    /// Bars.
    Bars(Bars),
    /// Who did what when.
    Timeline(Timeline),
    /// Figures with their intervals.
    Intervals(Intervals),
}

impl Drawing {
    /// The picture.
    pub fn svg(&self) -> String {
        match self {
            Drawing::Chart(chart) => chart.svg(),
            Drawing::Bars(bars) => bars.svg(),
            Drawing::Timeline(timeline) => timeline.svg(),
            Drawing::Intervals(intervals) => intervals.svg(),
        }
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        match self {
            Drawing::Chart(chart) => &chart.title,
            Drawing::Bars(bars) => &bars.title,
            Drawing::Timeline(timeline) => &timeline.title,
            Drawing::Intervals(intervals) => &intervals.title,
        }
    }
}

impl From<Chart> for Drawing {
    fn from(chart: Chart) -> Drawing {
        Drawing::Chart(chart)
    }
}

impl From<Bars> for Drawing {
    fn from(bars: Bars) -> Drawing {
        Drawing::Bars(bars)
    }
}

impl From<Intervals> for Drawing {
    fn from(intervals: Intervals) -> Drawing {
        Drawing::Intervals(intervals)
    }
}

impl From<Timeline> for Drawing {
    fn from(timeline: Timeline) -> Drawing {
        Drawing::Timeline(timeline)
    }
}
