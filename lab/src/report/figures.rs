//! Figures and texts of the page.

use crate::study::Measured;

/// Units of time, which studies write after each figure.
const TIMES: [(&str, f64); 5] = [("ns", 1e-9), ("µs", 1e-6), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
/// Length in letters from which a cell counts as long.
const LONG: usize = 24;

/// A cell of a table: the text that is shown, and the value by which columns are sorted and which is copied.
#[derive(Clone, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) value: Option<f64>,
    /// Whether the text has its own unit. The value is copied without it.
    pub(super) has_unit: bool,
    /// The ends of a confidence interval.
    pub(super) interval: Option<(f64, f64)>,
    /// The anchor that the cell links to.
    pub(super) link: Option<String>,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A text. If it begins like a figure, it gets that value.
    pub(super) fn parsed(text: &str) -> Cell {
        let seconds = || {
            let (figure, unit) = text.trim().split_once(' ')?;
            Some(number(figure)? * TIMES.iter().find(|(name, _)| *name == unit)?.1)
        };
        let value = number(text);
        Cell { text: text.into(), value: value.or_else(seconds), has_unit: value.is_none(), ..Cell::default() }
    }

    pub(super) fn number(value: Option<f64>) -> Cell {
        value.map_or_else(Cell::default, |value| Cell { text: exact(value), value: Some(value), ..Cell::default() })
    }

    /// A value, with a text that includes its unit.
    pub(super) fn shown(text: String, value: f64) -> Cell {
        Cell { text, value: Some(value), ..Cell::default() }
    }

    pub(super) fn measured(measured: Option<Measured>) -> Cell {
        measured
            .map_or_else(Cell::default, |Measured { median, low, high }| Cell::between(median, low, high, "", figure))
    }

    /// A value with its interval.
    pub(super) fn between(value: f64, low: f64, high: f64, unit: &str, shown: impl Fn(f64) -> String) -> Cell {
        let text = format!("{}{unit} ({} to {})", shown(value), shown(low), shown(high));
        Cell { interval: Some((low, high)), ..Cell::shown(text, value) }
    }

    pub(super) fn is_number(&self) -> bool {
        self.value.is_some()
    }

    pub(super) fn value(&self) -> f64 {
        self.value.unwrap_or_default()
    }

    pub(super) fn low(&self) -> f64 {
        self.interval.unwrap_or_default().0
    }

    pub(super) fn high(&self) -> f64 {
        self.interval.unwrap_or_default().1
    }

    /// The anchor that the cell links to, or an empty string.
    pub(super) fn target(&self) -> &str {
        self.link.as_deref().unwrap_or_default()
    }
}

/// A table of the page. Empty columns are left out.
#[derive(Clone, Default)]
pub(super) struct PageTable {
    pub(super) caption: String,
    /// Name of the table where its caption is far away.
    pub(super) label: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Key of the rows' samples in the page's data. Empty for rows without samples.
    pub(super) samples: String,
}

#[derive(Clone, Default)]
pub(super) struct Column {
    pub(super) name: String,
    /// Text below the name.
    pub(super) note: String,
    /// The unit of copied values, where the cells show other units.
    pub(super) unit: &'static str,
    pub(super) is_number: bool,
    /// Whether the column has texts that need room.
    pub(super) is_long: bool,
}

impl PageTable {
    pub(super) fn new(caption: &str, names: &[&str], rows: Vec<Vec<Cell>>) -> PageTable {
        let names = names.iter().map(|name| (name.to_string(), String::new()));
        PageTable::with_notes(caption, names.collect(), rows)
    }

    /// Sets the unit of copied values of these columns.
    pub(super) fn in_units(mut self, units: &[(&str, &'static str)]) -> PageTable {
        for column in &mut self.columns {
            column.unit = units.iter().find(|(name, _)| *name == column.name).map_or("", |(_, unit)| unit);
        }
        self
    }

    /// A table whose columns have a name and a note each.
    pub(super) fn with_notes(caption: &str, names: Vec<(String, String)>, rows: Vec<Vec<Cell>>) -> PageTable {
        let is_used = |column: usize| {
            column == 0 || rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.text.is_empty()))
        };
        let used: Vec<usize> = (0..names.len()).filter(|&column| is_used(column)).collect();
        let rows: Vec<Vec<Cell>> = rows
            .iter()
            .map(|row| used.iter().map(|&column| row.get(column).cloned().unwrap_or_default()).collect())
            .collect();
        let columns = used
            .iter()
            .enumerate()
            .map(|(place, &column)| {
                let (mut name, note) = names[column].clone();
                if name.is_empty() {
                    name.push_str("row");
                }
                let mut cells = rows.iter().map(|row| &row[place]).filter(|cell| !cell.text.is_empty()).peekable();
                let is_number = place > 0 && cells.peek().is_some() && cells.all(Cell::is_number);
                let is_long = rows.iter().any(|row| row[place].text.chars().count() > LONG);
                Column { name, note, unit: "", is_number, is_long }
            })
            .collect();
        PageTable { caption: caption.into(), label: plain(caption), columns, rows, samples: String::new() }
    }
}

/// The style of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Code,
    Strong,
    Emphasis,
}

/// Splits a text into pieces by `code`, **strong** and *emphasis*, as in Markdown. A mark without its counterpart stays text.
pub(super) fn pieces(text: &str) -> Vec<(Tone, &str)> {
    const MARKS: [(&str, Tone); 3] = [("`", Tone::Code), ("**", Tone::Strong), ("*", Tone::Emphasis)];
    let (mut pieces, mut rest, mut from) = (Vec::new(), text, 0);
    while let Some(at) = rest.get(from..).and_then(|left| left.find(['`', '*'])).map(|at| from + at) {
        let (mark, tone) = MARKS.into_iter().find(|(mark, _)| rest[at..].starts_with(mark)).unwrap_or(MARKS[2]);
        let inner = &rest[at + mark.len()..];
        // `2*3*4` is a product.
        let is_apart = |letter: Option<char>| !letter.is_some_and(char::is_alphanumeric);
        let end = inner.find(mark).filter(|end| {
            let after = inner[end + mark.len()..].chars().next();
            let is_word = tone == Tone::Code || is_apart(rest[..at].chars().next_back()) && is_apart(after);
            *end > 0 && !inner.starts_with(' ') && is_word
        });
        match end {
            Some(end) => {
                pieces.push((Tone::Plain, &rest[..at]));
                pieces.push((tone, &inner[..end]));
                rest = &inner[end + mark.len()..];
                from = 0;
            }
            None => from = at + mark.len(),
        }
    }
    pieces.push((Tone::Plain, rest));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

/// The text without its marks, for attributes, which cannot have styles.
pub(super) fn plain(text: &str) -> String {
    pieces(text).into_iter().map(|(_, piece)| piece).collect()
}

/// The value with four significant digits, or one after the point, as on the pages of studies.
pub(super) fn figure(value: f64) -> String {
    apart(value, crate::study::figure(value))
}

/// A value that was not measured: whole numbers have no decimals.
fn exact(value: f64) -> String {
    apart(value, crate::study::exact(value))
}

fn apart(value: f64, text: String) -> String {
    if value.abs() < 10_000.0 { text } else { grouped(&text) }
}

/// Separates thousands.
pub(super) fn grouped(text: &str) -> String {
    let (whole, rest) = text.find('.').map_or((text, ""), |point| text.split_at(point));
    let digits = whole.trim_start_matches('-').len();
    let mut grouped = String::with_capacity(text.len() + digits / 3);
    let mut left = digits;
    for letter in whole.chars() {
        if letter.is_ascii_digit() {
            if left < digits && left.is_multiple_of(3) {
                grouped.push(',');
            }
            left -= 1;
        }
        grouped.push(letter);
    }
    grouped + rest
}

/// The value of a text that is a number: digits, optionally with separated thousands and with a percent or times sign after them.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches(['%', '×']).trim_end();
    let is_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-' | '+' | 'e' | 'E');
    if text.is_empty() || !text.chars().all(is_number) || !text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return None;
    }
    // A comma counts only as a separator of thousands: `1,2` may be a list.
    let (whole, _) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(',');
    let _first = parts.next();
    if parts.any(|part| part.len() != 3) {
        return None;
    }
    text.replace(',', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// An anchor of the page: `prefix`, and the letters, digits and hyphens of a text.
pub(super) fn anchor(prefix: &str, text: &str) -> String {
    let mut anchor = String::from(prefix);
    for letter in text.chars().take(80) {
        let letter = if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        if letter != '-' || !anchor.ends_with('-') {
            anchor.push(letter);
        }
    }
    anchor.trim_end_matches('-').into()
}

/// A time as `2026-11-21 14:03 UTC`.
pub(super) fn moment(time: u64) -> String {
    // Time of a damaged record may be after the year 9999.
    let time = time.min(253_402_300_799);
    format!("{} {:02}:{:02} UTC", tress_plan::date(time), time / 3600 % 24, time / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_no_decimals() {
        let text = |value| Cell::number(Some(value)).text;
        assert_eq!([734_972.0, 64.0, 10_000.5].map(text), ["734,972", "64", "10,000.5"]);
    }

    #[test]
    fn thousands() {
        for (text, expected) in
            [("1", "1"), ("-999.5", "-999.5"), ("1000", "1,000"), ("-1234567.25", "-1,234,567.25"), ("NaN", "NaN")]
        {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn what_is_a_number() {
        for (text, value) in [("1,234.5", 1234.5), ("12 %", 12.0), ("3.3×", 3.3), ("-7", -7.0), ("1e3", 1000.0)] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in ["", "a", "1,2", "1 to 2", "—", "1e999", "2-3", "inf", "NaN"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    /// By `date -u -d @1795347962 '+%F %H:%M'`.
    #[test]
    fn moments() {
        assert_eq!(moment(1_795_347_962), "2026-11-22 11:46 UTC");
        assert!(moment(u64::MAX).starts_with("9999-12-31"));
    }

    #[test]
    fn times_are_sorted_as_times() {
        let value = |text| Cell::parsed(text).value;
        assert!((value("5.5 µs").expect("a time") - 5.5e-6).abs() < 1e-18 && value("2 ms") > value("900 ns"));
        assert!(Cell::parsed("2 ms").has_unit && !Cell::parsed("2").has_unit);
        assert_eq!((value("2 apples"), value("a b"), value("")), (None, None, None));
    }

    #[test]
    fn columns_that_are_empty_are_left_out() {
        let rows = vec![vec![Cell::text("a"), Cell::default(), Cell::number(Some(1.0))], vec![Cell::text("b")]];
        let table = PageTable::new("t", &["row", "paper", "model"], rows);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["row", "model"]);
        assert!(table.columns[1].is_number && table.rows[1][1].text.is_empty());
    }

    #[test]
    fn marks_of_markdown() {
        use Tone::*;
        assert_eq!(pieces("a `b*` c"), [(Plain, "a "), (Code, "b*"), (Plain, " c")]);
        assert_eq!(pieces("**a** *b*"), [(Strong, "a"), (Plain, " "), (Emphasis, "b")]);
        for text in ["a `b", "2 * 3 * 4", "2*3*4", "**", "a*", "``", "*ü"] {
            assert_eq!(pieces(text), [(Plain, text)], "{text}");
        }
        assert!(pieces("").is_empty());
        assert_eq!(plain("**a** `b` *c* 2*3"), "a b c 2*3");
    }

    #[test]
    fn anchors_are_names() {
        assert_eq!(anchor("study-", "A <b> & ü c"), "study-a-b-c");
    }
}
