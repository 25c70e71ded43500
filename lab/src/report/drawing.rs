//! A picture on the page: its SVG, coloured by the page's style, and its figures as a table.

use super::figures::{Cell, PageTable, plain};
use crate::picture::intervals::Interval;
use crate::picture::{Drawing, escape};

/// Height of the title in an SVG file. On the page, the title is text above the picture.
const TITLE: f64 = 40.0;

pub(super) struct PictureView {
    pub(super) anchor: String,
    pub(super) title: String,
    /// An SVG element without a style. Texts from files are escaped in it.
    pub(super) svg: String,
    pub(super) table: PageTable,
}

impl PictureView {
    pub(super) fn new(anchor: String, drawing: &Drawing) -> PictureView {
        let (title, (height, body)) = (plain(drawing.title()), drawing.body());
        let svg = format!(
            "<svg viewBox=\"0 {TITLE} 1000 {:.0}\" role=\"img\" aria-label=\"{}\">\n{body}</svg>",
            height - TITLE,
            escape(&title)
        );
        PictureView { anchor, svg, table: table(drawing), title }
    }
}

/// All figures of a picture, with all their digits.
fn table(drawing: &Drawing) -> PageTable {
    let digits = |value: f64| Cell::shown(value.to_string(), value);
    let cell = |value: Option<f64>| value.map_or_else(Cell::default, digits);
    let names = |first: &[&str], more: &[String]| -> Vec<String> {
        first.iter().map(|name| name.to_string()).chain(more.iter().cloned()).collect()
    };
    let (names, rows): (Vec<String>, Vec<Vec<Cell>>) = match drawing {
        Drawing::Chart(chart) => {
            // A single line needs no name.
            let named = usize::from(chart.lines.len() < 2);
            let row = &|place, (x, y)| vec![Cell::text(chart.name(place)), digits(x), digits(y)].split_off(named);
            let lines = chart.lines.iter().enumerate();
            let rows = lines.flat_map(|(place, line)| line.points.iter().map(move |&point| row(place, point)));
            (names(&["line"], &[chart.x.name.clone(), chart.y.name.clone()]).split_off(named), rows.collect())
        }
        Drawing::Bars(bars) => {
            let row = |name: &str, values: &[Option<f64>]| {
                [Cell::text(name)].into_iter().chain(values.iter().map(|value| cell(*value))).collect()
            };
            (names(&["row"], &bars.series), bars.groups.iter().map(|group| row(&group.name, &group.values)).collect())
        }
        Drawing::Intervals(intervals) => {
            let ends = |value: &Option<Interval>| {
                let ends = |Interval { middle, low, high }| [middle, low, high].map(Some);
                value.map_or([None; 3], ends).map(cell)
            };
            let series =
                intervals.series.iter().flat_map(|name| ["", ", low", ", high"].map(|end| format!("{name}{end}")));
            let rows = intervals
                .groups
                .iter()
                .map(|group| [Cell::text(&group.name)].into_iter().chain(group.values.iter().flat_map(ends)).collect());
            (names(&["row"], &series.collect::<Vec<_>>()), rows.collect())
        }
        Drawing::Timeline(timeline) => {
            let spans = timeline.tracks.iter().flat_map(|track| track.spans.iter().map(move |span| (track, span)));
            let rows = spans.map(|(track, span)| {
                vec![Cell::text(&track.name), Cell::text(&span.name), digits(span.from_s), digits(span.to_s)]
            });
            (names(&["row", "work", "from, s", "to, s"], &[]), rows.collect())
        }
    };
    PageTable::new(drawing.title(), &names.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
