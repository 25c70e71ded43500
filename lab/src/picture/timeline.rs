//! Who did what when: a row for each, a bar for each piece of work, from left to right as time goes by.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{COLOURS, STYLE, WIDTH, escape};

const LEFT: f64 = 170.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 62.0;
const ROW: f64 = 30.0;
const BAR: f64 = 22.0;

/// Rows of work over one span of time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// What it shows.
    pub title: String,
    /// From top to bottom.
    pub tracks: Vec<Track>,
}

/// One that works: a thread, a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// What it did, in order.
    pub spans: Vec<Span>,
}

/// A piece of work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Of what kind; equal names have equal colours.
    pub name: String,
    /// When it began, in seconds.
    pub from_s: f64,
    /// When it ended.
    pub to_s: f64,
}

impl Timeline {
    /// The picture.
    pub fn svg(&self) -> String {
        let spans = || self.tracks.iter().flat_map(|track| &track.spans);
        let from = spans().map(|span| span.from_s).fold(f64::INFINITY, f64::min);
        let to = spans().map(|span| span.to_s).fold(f64::NEG_INFINITY, f64::max);
        let mut kinds: Vec<&str> = Vec::new();
        for span in spans() {
            if !kinds.contains(&span.name.as_str()) {
                kinds.push(&span.name);
            }
        }
        let title = escape(&self.title);
        let height = TOP + ROW * (self.tracks.len() + 2) as f64;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"white\"/>\n\
             <text x=\"24\" y=\"34\" class=\"title\">{title}</text>\n"
        );
        let place = |at: f64| {
            let part = (at - from) / (to - from);
            LEFT + if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 } * (WIDTH - LEFT - RIGHT)
        };
        let colour = |name: &str| {
            let kind = kinds.iter().position(|kind| *kind == name).unwrap_or(0);
            COLOURS[kind % COLOURS.len()]
        };
        for (row, track) in self.tracks.iter().enumerate() {
            let y = TOP + ROW * row as f64;
            let name = escape(&track.name);
            let _ =
                writeln!(svg, "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{name}</text>", LEFT - 12.0, y + 16.0);
            for span in &track.spans {
                let (x, end) = (place(span.from_s), place(span.to_s));
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.2}\" y=\"{y:.0}\" width=\"{:.2}\" height=\"{BAR}\" fill=\"{}\"/>",
                    (end - x).max(0.3),
                    colour(&span.name)
                );
            }
        }
        let y = TOP + ROW * self.tracks.len() as f64 + 22.0;
        let mut x = LEFT;
        for kind in &kinds {
            let name = escape(kind);
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{:.0}\" y=\"{y:.0}\">{name}</text>",
                y - 11.0,
                colour(kind),
                x + 18.0
            );
            x += 40.0 + kind.chars().count() as f64 * super::LETTER;
        }
        if to > from {
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{y:.0}\" text-anchor=\"end\" class=\"tick\">{:.3} ms</text>",
                WIDTH - RIGHT,
                (to - from) * 1e3
            );
        }
        svg.push_str("</svg>\n");
        svg
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
        let svg = Timeline { title: "t".into(), tracks: vec![track] }.svg();
        assert!(svg.contains("<rect x=\"170.00\" y=\"62\" width=\"200.00\""), "{svg}");
        assert!(svg.contains("<rect x=\"370.00\" y=\"62\" width=\"600.00\""), "{svg}");
        assert!(svg.contains(">a &lt; b</text>") && svg.contains("2000.000 ms"), "{svg}");
    }

    #[test]
    fn nothing_is_no_panic() {
        for tracks in [vec![], vec![Track { name: String::new(), spans: vec![] }]] {
            let svg = Timeline { title: String::new(), tracks }.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
