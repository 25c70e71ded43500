//! Pictures of curves as SVG: [`plan`] is what `tress plan -o` draws, [`Chart`] any other.
//!
//! SVG is text, and a chart is a few lines and words, so this writes it without a library. Labels stand beside what they
//! name; there is no legend to look up.

mod labels;
pub mod plan;
mod ticks;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

#[doc(hidden)]
pub const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 620.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 66.0;
/// From one name to the next below it.
const NAME_HEIGHT: f64 = 17.0;
/// Width of a letter of 14 pixels, about.
#[doc(hidden)]
pub const LETTER: f64 = 7.4;
/// The same of one of 12 pixels.
const SMALL_LETTER: f64 = 6.6;

#[doc(hidden)]
pub const STYLE: &str = "\
text { font: 14px system-ui, sans-serif; fill: #333 } .title { font-size: 18px; font-weight: 600 } \
.tick { font-size: 13px; fill: #666 } .grid { stroke: #e6e6e6 } .axis { stroke: #888 } \
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round } .level { stroke: #777; stroke-dasharray: 7 4; stroke-width: 1.5 } \
.wall { stroke: #777; stroke-dasharray: 2 3; stroke-width: 1.5 } .mark { fill: #c23b22 } \
.marked { font-weight: 600; fill: #c23b22 } .named { font-size: 12px } .leader { stroke: #999 } .halo { paint-order: stroke; stroke: white; stroke-width: 4px }";

/// Of the lines, first to last; apart also for those who see fewer colours.
#[doc(hidden)]
pub const COLOURS: [&str; 5] = ["#1f5fa8", "#d17a00", "#2f8f5b", "#8a4ba0", "#0e8a9a"];

/// A picture of curves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub lines: Vec<Line>,
    /// Straight lines from left to right.
    pub levels: Vec<Level>,
    /// Straight lines from top to bottom.
    pub walls: Vec<Level>,
    /// Points that stand out.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// What it counts, with its unit.
    pub name: String,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How it counts.
    pub scale: Scale,
}

/// How an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps add.
    Linear,
    /// Equal steps multiply; both ends are above zero.
    Logarithmic,
}

impl Axis {
    /// How far a value is from one end to the other; never a number that SVG lacks, nor one far outside.
    #[doc(hidden)]
    pub fn part(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.scale == Scale::Linear { value } else { value.ln() };
        let part = (scaled(value) - scaled(self.from)) / (scaled(self.to) - scaled(self.from));
        if part.is_nan() { 0.0 } else { part.clamp(-1.0, 2.0) }
    }

    #[doc(hidden)]
    pub fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => ticks::round(self.from, self.to),
            Scale::Logarithmic => ticks::decades(self.from, self.to),
        }
    }
}

/// A curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Its name, written above its end; none where it is the only one.
    pub name: String,
    /// From left to right. What lies above or below the picture is cut off.
    pub points: Vec<(f64, f64)>,
}

/// A straight line across the picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Level {
    /// Its name, written on it.
    pub name: String,
    /// Where.
    pub at: f64,
}

/// A point that stands out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// Its name, written beside it.
    pub name: String,
    /// Where.
    pub at: (f64, f64),
}

impl Chart {
    /// The picture. Axes that are empty or no numbers are drawn without a scale.
    pub fn svg(&self) -> String {
        let mut svg = Svg { chart: self, text: String::new(), taken: Vec::new() };
        svg.draw();
        svg.text
    }
}

struct Svg<'a> {
    chart: &'a Chart,
    text: String,
    /// Where names of lines are.
    taken: Vec<labels::Area>,
}

/// Where a text stands to its point.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

impl Svg<'_> {
    fn draw(&mut self) {
        let title = escape(&self.chart.title);
        self.put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <clipPath id=\"inside\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
            WIDTH - LEFT - RIGHT,
            HEIGHT - TOP - BOTTOM,
        ));
        self.text_at(LEFT, 34.0, Anchor::Start, "title", &self.chart.title);
        self.axes();
        for level in &self.chart.levels {
            let y = self.y(level.at);
            self.rule("level", (LEFT, y), (WIDTH - RIGHT, y));
        }
        for wall in &self.chart.walls {
            let x = self.x(wall.at);
            self.rule("wall", (x, TOP), (x, HEIGHT - BOTTOM));
        }
        for (line, colour) in self.chart.lines.iter().zip(COLOURS.iter().cycle()) {
            self.line(line, colour);
        }
        // Words last, over the lines.
        self.names();
        for level in &self.chart.levels {
            let y = self.y(level.at);
            // Away from the middle, where the curves are.
            let y = if y < (TOP + HEIGHT - BOTTOM) / 2.0 { y - 8.0 } else { y + 19.0 };
            self.text_at((LEFT + WIDTH - RIGHT) / 2.0, y, Anchor::Middle, "halo", &level.name);
        }
        for wall in &self.chart.walls {
            self.beside(self.x(wall.at), TOP + 20.0, "halo", &wall.name);
        }
        match self.chart.marks.as_slice() {
            [mark] => {
                let (x, y) = (self.x(mark.at.0), self.y(mark.at.1));
                self.put(&format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>\n"));
                self.text_at(self.inside(x, &mark.name), y - 16.0, Anchor::Middle, "halo marked", &mark.name);
            }
            marks => self.marks(marks),
        }
        self.put("</svg>\n");
    }

    /// Many marks, each with its name where nothing else is.
    fn marks(&mut self, marks: &[Mark]) {
        let at: Vec<(f64, f64)> = marks.iter().map(|mark| (self.x(mark.at.0), self.y(mark.at.1))).collect();
        let inside = labels::Area { left: LEFT, right: WIDTH - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM };
        let widths: Vec<f64> = marks.iter().map(|mark| mark.name.chars().count() as f64 * SMALL_LETTER).collect();
        let places = labels::place(&at, &widths, inside, &self.taken);
        for (&(x, y), place) in at.iter().zip(&places) {
            if let Some((to_x, to_y)) = place.leader {
                self.rule("leader", (x, y), (to_x, to_y));
            }
        }
        for ((&(x, y), place), mark) in at.iter().zip(&places).zip(marks) {
            self.put(&format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>\n"));
            self.text_at(place.left, place.base, Anchor::Start, "halo named", &mark.name);
        }
    }

    fn axes(&mut self) {
        let (x, y) = (&self.chart.x, &self.chart.y);
        for (at, label) in x.ticks() {
            let place = self.x(at);
            self.rule("grid", (place, TOP), (place, HEIGHT - BOTTOM));
            // A long one at the very end would be cut.
            let most = WIDTH - label.chars().count() as f64 * LETTER / 2.0 - 4.0;
            self.text_at(place.min(most), HEIGHT - BOTTOM + 20.0, Anchor::Middle, "tick", &label);
        }
        for (at, label) in y.ticks() {
            let place = self.y(at);
            self.rule("grid", (LEFT, place), (WIDTH - RIGHT, place));
            self.text_at(LEFT - 9.0, place + 5.0, Anchor::End, "tick", &label);
        }
        self.rule("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
        self.rule("axis", (LEFT, TOP), (LEFT, HEIGHT - BOTTOM));
        self.text_at((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 18.0, Anchor::Middle, "", &x.name);
        let (place, name) = ((TOP + HEIGHT - BOTTOM) / 2.0, escape(&y.name));
        self.put(&format!(
            "<text x=\"24\" y=\"{place:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 24 {place:.1})\">{name}</text>\n"
        ));
    }

    fn line(&mut self, line: &Line, colour: &str) {
        let mut points = String::new();
        for &(x, y) in line.points.iter().filter(is_drawn) {
            let _ = write!(points, "{:.1},{:.1} ", self.x(x), self.y(y));
        }
        self.put(&format!(
            "<polyline class=\"line\" clip-path=\"url(#inside)\" stroke=\"{colour}\" points=\"{}\"/>\n",
            points.trim_end()
        ));
    }

    /// The names of the lines above their ends, in their colours, and below one another where they would overlap.
    fn names(&mut self) {
        let mut names: Vec<(f64, f64, &Line, &str)> = Vec::new();
        for (line, colour) in self.chart.lines.iter().zip(COLOURS.into_iter().cycle()) {
            if let Some(&(x, y)) = line.points.iter().rfind(is_drawn)
                && !line.name.is_empty()
            {
                let (middle, end) = (self.inside(self.x(x), &line.name), self.y(y));
                // A line that falls would go through a name above its end.
                let half = line.name.chars().count() as f64 * LETTER / 2.0;
                let falls = self.height_at(line, middle - half) < end - NAME_HEIGHT / 2.0;
                let below = end + NAME_HEIGHT;
                let y = if falls && below < HEIGHT - BOTTOM { below } else { end - 9.0 };
                names.push((middle, y, line, colour));
            }
        }
        names.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut above: Vec<(f64, f64, f64)> = Vec::new();
        for (x, mut y, line, colour) in names {
            let half = line.name.chars().count() as f64 * LETTER / 2.0;
            for &(other, at, other_half) in &above {
                if (x - other).abs() < half + other_half && y < at + NAME_HEIGHT {
                    y = at + NAME_HEIGHT;
                }
            }
            above.push((x, y, half));
            self.taken.push(labels::Area { left: x - half, right: x + half, top: y - 13.0, bottom: y + 4.0 });
            let name = escape(&line.name);
            self.put(&format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" class=\"halo\" style=\"fill:{colour}\">{name}</text>\n"
            ));
        }
    }

    /// Where a line is at a place on the horizontal axis; far below where it is not.
    fn height_at(&self, line: &Line, place: f64) -> f64 {
        let points: Vec<(f64, f64)> =
            line.points.iter().filter(is_drawn).map(|&(x, y)| (self.x(x), self.y(y))).collect();
        let pair = points.windows(2).find(|pair| pair[0].0 <= place && place <= pair[1].0);
        pair.map_or(f64::INFINITY, |pair| {
            let part = (place - pair[0].0) / (pair[1].0 - pair[0].0).max(1e-9);
            pair[0].1 + part * (pair[1].1 - pair[0].1)
        })
    }

    /// The place of a value on the horizontal axis.
    fn x(&self, value: f64) -> f64 {
        LEFT + self.chart.x.part(value) * (WIDTH - LEFT - RIGHT)
    }

    /// The place of a value on the vertical axis, at most a picture's height outside.
    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.chart.y.part(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// The middle of a text near `x` that stays in the picture.
    fn inside(&self, x: f64, text: &str) -> f64 {
        let half = text.chars().count() as f64 * LETTER / 2.0;
        x.min(WIDTH - RIGHT - half).max(LEFT + half + 6.0)
    }

    /// A text on the side of `x` that has the room.
    fn beside(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let is_right = x + text.chars().count() as f64 * LETTER + 8.0 < WIDTH - RIGHT;
        let (x, anchor) = if is_right { (x + 8.0, Anchor::Start) } else { (x - 8.0, Anchor::End) };
        self.text_at(x, y, anchor, class, text);
    }

    fn text_at(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let (anchor, text) = (anchor.name(), escape(text));
        self.put(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>\n"
        ));
    }

    fn rule(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.put(&format!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
            from.0, from.1, to.0, to.1
        ));
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// Whether a point has a place.
fn is_drawn((x, y): &&(f64, f64)) -> bool {
    x.is_finite() && y.is_finite() && *x > 0.0
}

/// A text as XML has it. Controls, which XML 1.0 cannot hold, are left out.
#[doc(hidden)]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "a < b & \"c\"\n".into(),
            x: Axis { name: "x".into(), from: 1.0, to: 100.0, scale: Scale::Logarithmic },
            y: Axis { name: "y".into(), from: 0.0, to: 2.0, scale: Scale::Linear },
            lines: vec![Line { name: "l".into(), points: vec![(1.0, 0.0), (10.0, 1.0), (100.0, 2.0)] }],
            levels: vec![Level { name: "level".into(), at: 1.0 }],
            walls: vec![],
            marks: vec![Mark { name: "mark".into(), at: (10.0, 1.0) }],
        }
    }

    /// By hand: the plot is 878 by 492 pixels from (92, 62) on, so its middle is (531, 308).
    #[test]
    fn places() {
        let svg = chart().svg();
        assert!(svg.contains("points=\"92.0,554.0 531.0,308.0 970.0,62.0\""), "{svg}");
        assert!(svg.contains("<circle class=\"mark\" cx=\"531.0\" cy=\"308.0\""), "{svg}");
        assert!(svg.contains("class=\"level\" x1=\"92.0\" y1=\"308.0\" x2=\"970.0\" y2=\"308.0\""), "{svg}");
    }

    /// Both end at (970, 62), 9 above which is 53.
    #[test]
    fn names_stand_below_one_another() {
        let mut chart = chart();
        chart.lines.push(Line { name: "k".into(), ..chart.lines[0].clone() });
        let svg = chart.svg();
        assert!(
            svg.contains("y=\"53.0\" text-anchor=\"middle\" class=\"halo\" style=\"fill:#1f5fa8\">l</text>"),
            "{svg}"
        );
        assert!(
            svg.contains("y=\"70.0\" text-anchor=\"middle\" class=\"halo\" style=\"fill:#d17a00\">k</text>"),
            "{svg}"
        );
    }

    /// By hand: it ends at (970, 308), 17 below which is 325.
    #[test]
    fn a_line_that_falls_has_its_name_below() {
        let mut chart = chart();
        chart.lines[0] = Line { name: "a name that is long".into(), points: vec![(1.0, 2.0), (100.0, 1.0)] };
        let svg = chart.svg();
        assert!(
            svg.contains("y=\"325.0\" text-anchor=\"middle\" class=\"halo\" style=\"fill:#1f5fa8\">a name"),
            "{svg}"
        );
    }

    #[test]
    fn text_is_escaped() {
        let svg = chart().svg();
        assert!(svg.contains(">a &lt; b &amp; &quot;c&quot;</text>"), "{svg}");
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }

    /// By hand: the last of nine letters ends at 1000 - 4.
    #[test]
    fn the_last_number_of_an_axis_is_whole() {
        let mut chart = chart();
        chart.x.to = 1e6;
        let svg = chart.svg();
        assert!(svg.contains("x=\"962.7\" y=\"574.0\" text-anchor=\"middle\" class=\"tick\">1,000,000<"), "{svg}");
    }

    #[test]
    fn no_axis_no_panic() {
        for (from, to) in [(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 1.0), (2.0, 1.0)] {
            let mut chart = chart();
            (chart.x.from, chart.x.to, chart.y.from, chart.y.to) = (from, to, from, to);
            let svg = chart.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
