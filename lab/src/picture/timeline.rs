//! Work over time: a row for each worker, a bar for each piece of work, with time from left to right.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use tress_plan::picture::plan::unit;

use super::{Axis, Scale, WIDTH, axis_below, colour, escape, legend, shown, truncated_to_width};

const LEFT: f64 = 170.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 59.0;
const ROW: f64 = 30.0;
const BAR: f64 = 22.0;
const BOTTOM: f64 = 56.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    pub title: String,
    pub tracks: Vec<Track>,
    /// Kinds of work in the order of their colours, so that pictures side by side have the same. Others follow.
    #[serde(default)]
    pub kinds: Vec<String>,
}

/// A worker: a thread or a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Track {
    pub name: String,
    pub spans: Vec<Span>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Kind of work. Equal names have equal colours.
    pub name: String,
    pub from_s: f64,
    pub to_s: f64,
}

impl Timeline {
    pub(super) fn body(&self) -> (f64, String) {
        let spans = || self.tracks.iter().flat_map(|track| &track.spans);
        let from = spans().map(|span| span.from_s).fold(f64::INFINITY, f64::min);
        let to = spans().map(|span| span.to_s).fold(f64::NEG_INFINITY, f64::max);
        let mut kinds: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        for span in spans() {
            if !kinds.contains(&span.name.as_str()) {
                kinds.push(&span.name);
            }
        }
        let (scale, unit) = unit(to - from);
        let axis = Axis { name: format!("time, {unit}"), from: 0.0, to: (to - from) * scale, scale: Scale::Linear };
        let time = |at_s: f64| (at_s - from) * scale;
        let place = |at_s: f64| LEFT + axis.part(time(at_s)).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
        let mut body = String::new();
        let top = legend(&mut body, kinds.iter().copied(), TOP);
        let bottom = top + ROW * self.tracks.len() as f64;
        axis_below(&mut body, &axis, (LEFT, WIDTH - RIGHT), (top, bottom));
        for (row, track) in self.tracks.iter().enumerate() {
            let y = top + ROW * row as f64;
            let name = escape(&truncated_to_width(&track.name, LEFT - 24.0));
            let _ = writeln!(
                body,
                "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{name}</text>\n<g class=\"row\">",
                LEFT - 12.0,
                y + 16.0
            );
            for span in &track.spans {
                let (x, end) = (place(span.from_s), place(span.to_s));
                let colour = colour(kinds.iter().position(|kind| *kind == span.name).unwrap_or(0));
                let times = [time(span.from_s), time(span.to_s), (span.to_s - span.from_s) * scale].map(shown);
                let title =
                    format!("{}: {}, {} to {} {unit} ({} {unit})", track.name, span.name, times[0], times[1], times[2]);
                let _ = writeln!(
                    body,
                    "<rect class=\"fill {colour}\" x=\"{x:.2}\" y=\"{y:.0}\" width=\"{:.2}\" height=\"{BAR}\"><title>{}</title></rect>",
                    (end - x).max(0.3),
                    escape(&title)
                );
            }
            body.push_str("</g>\n");
        }
        (bottom + BOTTOM, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 800 pixels from 170 on are two seconds.
    #[test]
    fn places() {
        let span = |name: &str, from_s, to_s| Span { name: name.into(), from_s, to_s };
        let track = Track { name: "a < b".into(), spans: vec![span("read", 1.0, 1.5), span("seal", 1.5, 3.0)] };
        let svg = Timeline { title: "t".into(), tracks: vec![track], kinds: vec!["seal".into()] }.body().1;
        assert!(svg.contains("fill c1\" x=\"370.00") && svg.contains("fill c2\" x=\"170.00"), "{svg}");
        assert!(svg.contains(" x=\"170.00\" y=\"79\" width=\"200.00\""), "{svg}");
        assert!(svg.contains(" x=\"370.00\" y=\"79\" width=\"600.00\""), "{svg}");
        assert!(
            svg.contains(">a &lt; b</text>") && svg.contains("<title>a &lt; b: seal, 0.5 to 2 s (1.5 s)</title>"),
            "{svg}"
        );
    }

    #[test]
    fn empty_data_does_not_panic() {
        for tracks in [vec![], vec![Track { name: String::new(), spans: vec![] }]] {
            let svg = Timeline { title: String::new(), tracks, kinds: vec![] }.body().1;
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
