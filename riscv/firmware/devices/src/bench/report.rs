//! A table for people, and lines of JSON. It does not use `core::fmt`, which is larger than most kernels.

use tress_runtime::console;

use crate::rows::Row;

/// Widths of the table's columns.
const NAME: usize = 30;
const COLUMN: usize = 9;

/// The figures of a kernel.
pub(crate) struct Figures {
    /// Cycles of the first call, on the fewest bytes.
    first: u32,
    /// Cycles of a later call on the fewest bytes.
    small: u32,
    /// Cycles of a later call on the most bytes. 0 if there is only one length.
    large: u32,
    /// Instructions of the call on the most bytes.
    instructions: u32,
    /// The most bytes of stack that any call used.
    stack: u32,
}

impl Figures {
    /// From the rows of one kernel, sorted by length.
    pub(crate) fn of(rows: &[[u32; 5]]) -> Figures {
        let ([first, small, ..], [_, large, instructions, ..]) = (rows[0], rows[rows.len() - 1]);
        let large = if rows.len() > 1 { large } else { 0 };
        Figures { first, small, large, instructions, stack: rows.iter().fold(0, |most, row| most.max(row[4])) }
    }
}

/// Writes the heading of the table.
pub(crate) fn heading() {
    padded("kernel", NAME);
    for name in ["key bits", "bytes", "first", "cycles", "a byte", "1 KiB", "a byte", "code", "tables", "key", "stack"]
    {
        right(name.len());
        console::write(name);
    }
    console::write("\n");
}

/// Writes a row of the table.
pub(crate) fn line(row: &Row, figures: &Figures) {
    padded(row.kernel.name(), NAME);
    let (least, most) = row.lengths();
    number(usize::from(row.bits));
    number(least);
    number(figures.first as usize);
    number(figures.small as usize);
    per_byte(figures.small, least);
    number(figures.large as usize);
    per_byte(figures.large, most);
    number(row.code_bytes());
    number(row.table_bytes());
    number(row.key_bytes());
    number(figures.stack as usize);
    console::write("\n");
}

/// Writes a row as a JSON object. `instructions` are those of the call on the most bytes.
pub(crate) fn json(row: &Row, figures: &Figures, counts: bool) {
    console::write("{\"kernel\":\"");
    console::write(row.kernel.name());
    console::write("\"");
    let (least, most) = row.lengths();
    for (name, value) in [
        ("key_bits", usize::from(row.bits)),
        ("bytes", least),
        ("first_cycles", figures.first as usize),
        ("cycles", figures.small as usize),
        ("large_bytes", most),
        ("large_cycles", figures.large as usize),
        ("instructions", figures.instructions as usize),
        ("code_bytes", row.code_bytes()),
        ("constant_bytes", 0),
        ("table_bytes", row.table_bytes()),
        ("key_bytes", row.key_bytes()),
        ("stack_bytes", figures.stack as usize),
    ] {
        console::write(",\"");
        console::write(name);
        console::write("\":");
        console::write_number(value);
    }
    console::write(if counts { ",\"counted\":true}\n" } else { ",\"counted\":false}\n" });
}

fn padded(text: &str, width: usize) {
    console::write(text);
    spaces(width.saturating_sub(text.len()));
}

fn spaces(count: usize) {
    for _ in 0..count {
        console::write(" ");
    }
}

/// Writes the spaces before a text of this length in a column.
fn right(length: usize) {
    spaces(COLUMN.saturating_sub(length));
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

fn number(number: usize) {
    right(digits(number));
    console::write_number(number);
}

/// Writes the cycles per byte, to a tenth.
fn per_byte(cycles: u32, bytes: usize) {
    if bytes == 0 {
        right(1);
        console::write("-");
        return;
    }
    let tenths = (cycles as usize * 10 + bytes / 2) / bytes;
    right(digits(tenths / 10) + 2);
    console::write_number(tenths / 10);
    console::write(".");
    console::write_number(tenths % 10);
}
