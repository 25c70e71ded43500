//! Pictures of curves as SVG: [`plan`] is the picture of `tress plan -o`, [`Chart`] draws any other.
//!
//! SVG is text, and a chart has few elements, so this writes it without a library. Labels are next to what they name; there is no legend.

mod labels;
pub mod plan;
mod ticks;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

#[doc(hidden)]
pub use ticks::shown;

#[doc(hidden)]
pub const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 620.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 66.0;
/// Distance between names that are below one another.
const NAME_HEIGHT: f64 = 17.0;
/// Approximate width of a letter of 14 pixels.
#[doc(hidden)]
pub const LETTER: f64 = 7.4;
/// Approximate width of a letter of 12 pixels.
const SMALL_LETTER: f64 = 6.6;

/// Largest number of points of a line with visible dots. The dots of a longer line are invisible and only show their figures on hover.
const MAX_DOTS: usize = 24;

/// The style of all pictures. Series use the classes `c1` to `c6` cyclically. Their colours are distinguishable for colour-blind readers.
#[doc(hidden)]
pub const STYLE: &str = "\
text { font: 14px system-ui, sans-serif; fill: #333; pointer-events: none } .title { font-size: 18px; font-weight: 600 } \
.tick { font-size: 13px; fill: #666 } .grid { stroke: #e6e6e6 } .axis { stroke: #888 } \
.line { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linejoin: round } \
.level { stroke: #777; stroke-dasharray: 7 4; stroke-width: 1.5 } .wall { stroke: #777; stroke-dasharray: 2 3; stroke-width: 1.5 } \
.fill { fill: currentColor } .span { stroke: currentColor; stroke-width: 2 } .unseen { fill-opacity: 0 } .mark { fill: #c23b22 } \
.marked { font-weight: 600; fill: #c23b22 } .named { font-size: 12px } .leader { stroke: #999 } \
.halo { paint-order: stroke; stroke: white; stroke-width: 4px } .c1 { color: #1f5fa8 } .c2 { color: #d17a00 } .c3 { color: #2f8f5b } \
.c4 { color: #8a4ba0 } .c5 { color: #0e8a9a } .c6 { color: #b8434e }";

/// The class of the series with this index, from 0.
#[doc(hidden)]
pub fn colour(place: usize) -> String {
    format!("c{}", place % 6 + 1)
}

/// A complete SVG file: style, white background, title and body.
#[doc(hidden)]
pub fn file(title: &str, height: f64, body: &str) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"white\"/>\n\
         <text x=\"24\" y=\"34\" class=\"title\">{title}</text>\n{body}</svg>\n"
    )
}

/// A picture of curves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chart {
    /// Title above the picture.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Curves.
    pub lines: Vec<Line>,
    /// Horizontal lines across the picture.
    pub levels: Vec<Level>,
    /// Vertical lines across the picture.
    pub walls: Vec<Level>,
    /// Marked points.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity with its unit.
    pub name: String,
    /// Value at the start of the axis.
    pub from: f64,
    /// Value at the end of the axis.
    pub to: f64,
    /// Linear or logarithmic.
    pub scale: Scale,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal factors. Both ends are above zero.
    Logarithmic,
}

impl Axis {
    /// Position of a value on the axis: 0 at the start, 1 at the end. Limited to -1 to 2, so that SVG can represent it.
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
    /// Name, written above the end of the curve. May be empty if this is the only curve.
    pub name: String,
    /// Points from left to right. Parts outside of the picture are cut off.
    pub points: Vec<(f64, f64)>,
}

/// A straight line across the picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Level {
    /// Name, written on the line.
    pub name: String,
    /// Position on the axis.
    pub at: f64,
}

/// A marked point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// Name, written next to the point.
    pub name: String,
    /// Position of the point.
    pub at: (f64, f64),
}

impl Chart {
    /// Draws the picture. An axis that is empty or whose ends are not numbers has no ticks.
    pub fn svg(&self) -> String {
        let (height, body) = self.body();
        file(&self.title, height, &body)
    }

    /// The height of the picture, and its elements below the title.
    #[doc(hidden)]
    pub fn body(&self) -> (f64, String) {
        let mut svg = Svg { chart: self, text: String::new(), taken: Vec::new(), strokes: Vec::new() };
        svg.draw();
        (HEIGHT, svg.text)
    }

    /// The name of a line. A single line without a name has the name of the vertical axis.
    #[doc(hidden)]
    pub fn name(&self, place: usize) -> String {
        match self.lines[place].name.as_str() {
            "" if self.lines.len() > 1 => format!("line {}", place + 1),
            "" => self.y.name.clone(),
            name => name.into(),
        }
    }
}

struct Svg<'a> {
    chart: &'a Chart,
    text: String,
    /// Areas of texts.
    taken: Vec<labels::LabelArea>,
    /// The parts of lines, which no text covers.
    strokes: Vec<labels::Stroke>,
}

/// The area in which the texts of lines and points are.
const INSIDE: labels::LabelArea =
    labels::LabelArea { left: LEFT, right: WIDTH - RIGHT, top: TOP - 22.0, bottom: HEIGHT - BOTTOM };

impl Svg<'_> {
    fn draw(&mut self) {
        self.axes();
        for level in &self.chart.levels {
            let y = self.y(level.at);
            self.stroke("level", (LEFT, y), (WIDTH - RIGHT, y));
        }
        for wall in &self.chart.walls {
            let x = self.x(wall.at);
            self.stroke("wall", (x, TOP), (x, HEIGHT - BOTTOM));
        }
        self.lines();
        // Text last, on top of the lines.
        self.names();
        for level in &self.chart.levels {
            let y = self.y(level.at);
            // Away from the middle, where the curves are, if there is room.
            let (near, far) = if y < (TOP + HEIGHT - BOTTOM) / 2.0 { (y - 8.0, y + 19.0) } else { (y + 19.0, y - 8.0) };
            let half = half_width(&level.name);
            let x = |part: f64| (LEFT + half + 6.0) * (1.0 - part) + (WIDTH - RIGHT - half - 6.0) * part;
            let places = [0.5, 0.35, 0.65, 0.2, 0.8, 0.0, 1.0].map(x);
            let places: Vec<_> = places.iter().map(|x| (*x, near)).chain(places.iter().map(|x| (*x, far))).collect();
            self.label("halo", &level.name, &places);
        }
        for wall in &self.chart.walls {
            let (x, half) = (self.x(wall.at), half_width(&wall.name) + 8.0);
            let places = (0..20).map(|row| TOP + 20.0 + NAME_HEIGHT * f64::from(row));
            self.label("halo", &wall.name, &places.flat_map(|y| [(x + half, y), (x - half, y)]).collect::<Vec<_>>());
        }
        self.marks();
    }

    /// Draws marks, each with its name at a free position. A single one is larger.
    fn marks(&mut self) {
        let marks = &self.chart.marks;
        let (class, radius, letter) =
            if marks.len() == 1 { ("halo marked", 6.0, LETTER) } else { ("halo named", 4.5, SMALL_LETTER) };
        let at: Vec<(f64, f64)> = marks.iter().map(|mark| (self.x(mark.at.0), self.y(mark.at.1))).collect();
        let widths: Vec<f64> = marks.iter().map(|mark| mark.name.chars().count() as f64 * letter).collect();
        let places = labels::place(&at, &widths, INSIDE, &self.taken, &self.strokes);
        for (&(x, y), place) in at.iter().zip(&places) {
            if let Some((to_x, to_y)) = place.leader {
                self.rule("leader", (x, y), (to_x, to_y));
            }
        }
        self.put("<g class=\"row\">\n");
        for (&at, mark) in at.iter().zip(marks) {
            self.dot("mark", at, radius, &mark.name);
        }
        self.put("</g>\n");
        for (place, mark) in places.iter().zip(marks) {
            self.text_at(place.left, place.base, "start", class, &mark.name);
        }
    }

    fn axes(&mut self) {
        let (x, y) = (&self.chart.x, &self.chart.y);
        for (at, label) in self.measured_ticks().unwrap_or_else(|| x.ticks()) {
            let place = self.x(at);
            self.rule("grid", (place, TOP), (place, HEIGHT - BOTTOM));
            // A long label at the end of the axis would be cut off.
            let most = WIDTH - half_width(&label) - 4.0;
            self.text_at(place.min(most), HEIGHT - BOTTOM + 20.0, "middle", "tick", &label);
        }
        for (at, label) in y.ticks() {
            let place = self.y(at);
            self.rule("grid", (LEFT, place), (WIDTH - RIGHT, place));
            self.text_at(LEFT - 9.0, place + 5.0, "end", "tick", &label);
        }
        self.rule("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
        self.rule("axis", (LEFT, TOP), (LEFT, HEIGHT - BOTTOM));
        self.text_at((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 18.0, "middle", "", &x.name);
        let (place, name) = ((TOP + HEIGHT - BOTTOM) / 2.0, escape(&y.name));
        self.put(&format!(
            "<text x=\"16\" y=\"{place:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {place:.1})\">{name}</text>\n"
        ));
    }

    /// Ticks where the points are, if these are a few whole numbers along the axis, such as threads or sizes: those whose labels
    /// have room.
    fn measured_ticks(&self) -> Option<Vec<(f64, String)>> {
        let points = self.chart.lines.iter().flat_map(|line| self.drawn(line)).map(|(x, _)| x);
        let mut at: Vec<f64> = points.filter(|x| (0.0..=1.0).contains(&self.chart.x.part(*x))).collect();
        at.sort_by(f64::total_cmp);
        at.dedup();
        let length = self.chart.x.part(*at.last()?) - self.chart.x.part(at[0]);
        if !(3..=12).contains(&at.len()) || length < 0.6 || at.iter().any(|x| x.fract() != 0.0) {
            return None;
        }
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for x in at.into_iter().rev() {
            let label = shown(x);
            let room = |(at, other): &(f64, String)| self.x(*at) - self.x(x) - half_width(&label) - half_width(other);
            if ticks.last().is_none_or(|tick| room(tick) > 4.0) {
                ticks.push((x, label));
            }
        }
        Some(ticks)
    }

    /// Draws the lines, cut off at the edges of the plot, and on top of them their points with their figures.
    fn lines(&mut self) {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        self.put(&format!(
            "<svg x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" viewBox=\"{LEFT} {TOP} {width} {height}\">\n"
        ));
        for (place, line) in self.chart.lines.iter().enumerate() {
            let mut points = String::new();
            let at: Vec<(f64, f64)> = self.drawn(line).map(|point| self.at(point)).collect();
            self.strokes.extend(at.windows(2).map(|ends| (ends[0], ends[1])));
            for (x, y) in at {
                let _ = write!(points, "{x:.1},{y:.1} ");
            }
            let (class, points) = (colour(place), points.trim_end());
            self.put(&format!("<polyline class=\"line {class}\" points=\"{points}\"/>\n"));
        }
        self.put("</svg>\n");
        for (place, line) in self.chart.lines.iter().enumerate() {
            let name = self.chart.name(place);
            let unseen = if line.points.len() > MAX_DOTS { " unseen" } else { "" };
            self.put(&format!("<g class=\"row {}{unseen}\">\n", colour(place)));
            for point in self.drawn(line) {
                let (x, y) = self.at(point);
                if (LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y) {
                    let figures = format!("{name}: {} at {}", shown(point.1), shown(point.0));
                    self.dot("fill", (x, y), 3.5, &figures);
                }
            }
            self.put("</g>\n");
        }
    }

    /// The points of a line that have a position on both axes.
    fn drawn<'b>(&self, line: &'b Line) -> impl DoubleEndedIterator<Item = (f64, f64)> + use<'b> {
        let least = [&self.chart.x, &self.chart.y].map(|axis| match axis.scale {
            Scale::Linear => f64::MIN,
            Scale::Logarithmic => f64::MIN_POSITIVE,
        });
        let has_place = move |value: f64, least: f64| value.is_finite() && value >= least;
        line.points.iter().copied().filter(move |&(x, y)| has_place(x, least[0]) && has_place(y, least[1]))
    }

    /// A dot with a tooltip.
    fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64, text: &str) {
        let text = escape(text);
        self.put(&format!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{text}</title></circle>\n"
        ));
    }

    /// Draws the names of the lines at their ends, in their colours: above if there is room, else below, farther to the left along
    /// the line, or farther from it.
    fn names(&mut self) {
        let lines = self.chart.lines.iter().enumerate();
        let named = lines.filter(|(_, line)| self.chart.lines.len() > 1 || !line.name.is_empty());
        let ends = named.filter_map(|(place, line)| Some((self.at(self.drawn(line).next_back()?), place)));
        let mut names: Vec<((f64, f64), usize)> = ends.collect();
        names.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        for ((x, end), place) in names {
            let (line, name) = (&self.chart.lines[place], self.chart.name(place));
            let steps =
                (0..8).flat_map(|row| (0..8).map(move |left| (NAME_HEIGHT * f64::from(row), 50.0 * f64::from(left))));
            let places = steps.flat_map(|(away, left)| {
                let middle = self.inside(x - left, &name);
                let at = Some(self.height_at(line, middle)).filter(|at| left > 0.0 && at.is_finite()).unwrap_or(end);
                [(middle, at - 9.0 - away), (middle, at + NAME_HEIGHT + away)]
            });
            self.label(&format!("halo fill {}", colour(place)), &name, &places.collect::<Vec<_>>());
        }
    }

    /// Draws a text at the first of these positions, middles with baselines, where it covers no other text and no line. Without
    /// one, at the first where it covers no text.
    fn label(&mut self, class: &str, text: &str, places: &[(f64, f64)]) {
        let half = half_width(text);
        let area = |&(x, base): &(f64, f64)| labels::LabelArea {
            left: x - half,
            right: x + half,
            top: base - 13.0,
            bottom: base + 4.0,
        };
        let is_free = |place: &&(f64, f64)| {
            INSIDE.holds(&area(place)) && !self.taken.iter().any(|other| other.overlaps(&area(place)))
        };
        let is_clear =
            |place: &&(f64, f64)| is_free(place) && !self.strokes.iter().any(|stroke| area(place).is_crossed(stroke));
        let place = *places.iter().find(is_clear).or_else(|| places.iter().find(is_free)).unwrap_or(&places[0]);
        self.taken.push(area(&place));
        self.text_at(place.0, place.1, "middle", class, text);
    }

    /// Vertical position of a line at a horizontal position; far below the picture if the line is not there.
    fn height_at(&self, line: &Line, place: f64) -> f64 {
        let points: Vec<(f64, f64)> = self.drawn(line).map(|point| self.at(point)).collect();
        let pair = points.windows(2).find(|pair| pair[0].0 <= place && place <= pair[1].0);
        pair.map_or(f64::INFINITY, |pair| {
            let part = (place - pair[0].0) / (pair[1].0 - pair[0].0).max(1e-9);
            pair[0].1 + part * (pair[1].1 - pair[0].1)
        })
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    /// Horizontal position of a value.
    fn x(&self, value: f64) -> f64 {
        LEFT + self.chart.x.part(value) * (WIDTH - LEFT - RIGHT)
    }

    /// Vertical position of a value, at most a picture's height outside of the picture.
    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.chart.y.part(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// The middle of a text near `x`, such that the text stays in the picture.
    fn inside(&self, x: f64, text: &str) -> f64 {
        let half = half_width(text);
        x.min(WIDTH - RIGHT - half).max(LEFT + half + 6.0)
    }

    fn text_at(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let text = escape(text);
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

    /// A line that no text covers.
    fn stroke(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.strokes.push((from, to));
        self.rule(class, from, to);
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// Half the approximate width of a text of 14 pixels.
fn half_width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER / 2.0
}

/// Escapes a text for XML. Control characters, which XML 1.0 cannot represent, are left out.
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

    /// Both end at (970, 62); 9 above is 53. The line runs through the area below. 50 to the left it is at 90, and 9 above is 81.
    #[test]
    fn names_stand_below_one_another() {
        let mut chart = chart();
        chart.lines.push(Line { name: "k".into(), ..chart.lines[0].clone() });
        let svg = chart.svg();
        assert!(svg.contains("y=\"53.0\" text-anchor=\"middle\" class=\"halo fill c1\">l</text>"), "{svg}");
        assert!(svg.contains("y=\"81.0\" text-anchor=\"middle\" class=\"halo fill c2\">k</text>"), "{svg}");
    }

    /// By hand: it ends at (970, 308); 17 below is 325.
    #[test]
    fn falling_lines_have_their_name_below() {
        let mut chart = chart();
        chart.lines[0] = Line { name: "a name that is long".into(), points: vec![(1.0, 2.0), (100.0, 1.0)] };
        let svg = chart.svg();
        assert!(svg.contains("y=\"325.0\" text-anchor=\"middle\" class=\"halo fill c1\">a name"), "{svg}");
    }

    /// The second line runs through the areas above and below the end of the first.
    #[test]
    fn no_line_runs_through_a_name() {
        let mut chart = chart();
        (chart.levels, chart.marks) = (vec![], vec![]);
        chart.lines[0] = Line { name: "flat".into(), points: vec![(1.0, 1.2), (100.0, 1.2)] };
        chart.lines.push(Line { name: String::new(), points: vec![(80.0, 2.0), (90.0, 0.0)] });
        let mut svg = Svg { chart: &chart, text: String::new(), taken: Vec::new(), strokes: Vec::new() };
        svg.draw();
        assert_eq!(svg.taken.len(), 2);
        for area in svg.taken {
            assert!(!svg.strokes.iter().any(|stroke| area.is_crossed(stroke)), "{area:?}");
        }
    }

    /// Threads and sizes are at their values, and those without room are left out. Other figures get round ticks.
    #[test]
    fn ticks_are_where_the_points_are() {
        let ticks = |to: f64, scale, xs: &[f64]| {
            let mut chart = chart();
            chart.x = Axis { name: "x".into(), from: 1.0, to, scale };
            chart.lines[0].points = xs.iter().map(|x| (*x, 1.0)).collect();
            let svg = chart.svg();
            let ticks = svg.split("text-anchor=\"middle\" class=\"tick\">").skip(1);
            ticks.map(|rest| rest.split('<').next().unwrap().into()).collect::<Vec<String>>()
        };
        assert_eq!(ticks(16.0, Scale::Logarithmic, &[16.0, 1.0, 2.0, 4.0, 8.0, 2.0]), ["16", "8", "4", "2", "1"]);
        assert_eq!(ticks(1024.0, Scale::Linear, &[1.0, 2.0, 512.0, 1024.0]), ["1,024", "512", "2"]);
        assert_eq!(ticks(20.0, Scale::Logarithmic, &[1.0, 2.5, 20.0]), ["1", "2", "5", "10", "20"]);
    }

    /// Each point and mark inside the axes has its figures. Those outside have none.
    #[test]
    fn figures_are_titles() {
        let mut chart = chart();
        chart.lines[0].points.extend([(1000.0, 1.0), (50.0, 3.0), (f64::NAN, 1.0)]);
        let svg = chart.svg();
        let titles: Vec<&str> = svg.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next()).collect();
        assert_eq!(titles, ["l: 0 at 1", "l: 1 at 10", "l: 2 at 100", "mark"]);
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
    fn empty_axes_do_not_panic() {
        for (from, to) in [(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 1.0), (2.0, 1.0)] {
            let mut chart = chart();
            (chart.x.from, chart.x.to, chart.y.from, chart.y.to) = (from, to, from, to);
            let svg = chart.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
