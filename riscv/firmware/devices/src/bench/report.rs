//! A table for people, and lines of JSON. Without `core::fmt`, which is larger than most kernels.

use tress_runtime::console;

use crate::{
    measure::{Figures, MANY},
    rows::Row,
};

/// Widths of the table's columns.
const NAME: usize = 30;
const COLUMN: usize = 9;

/// The table's heading.
pub(crate) fn heading() {
    padded("kernel", NAME);
    for name in ["key bits", "bytes", "first", "cycles", "a byte", "1 KiB", "a byte", "code", "tables", "key", "stack"]
    {
        right(name.len());
        console::write(name);
    }
    console::write("\n");
}

/// A row of the table.
pub(crate) fn line(row: &Row, bits: u16, figures: &Figures) {
    padded(row.kernel.name(), NAME);
    let unit = usize::from(row.unit);
    number(usize::from(bits));
    number(unit);
    number(figures.first as usize);
    number(figures.small as usize);
    per_byte(figures.small, unit);
    number(figures.large as usize);
    per_byte(figures.large, if unit > 0 { MANY } else { 0 });
    number(row.code_bytes());
    number(row.table_bytes());
    number(row.key_bytes(bits));
    number(figures.stack as usize);
    console::write("\n");
}

/// The same as an object. `instructions` are those of the large call, or of the small one where there is no other.
pub(crate) fn json(row: &Row, bits: u16, figures: &Figures, counts: bool) {
    console::write("{\"kernel\":\"");
    console::write(row.kernel.name());
    console::write("\"");
    let unit = usize::from(row.unit);
    for (name, value) in [
        ("key_bits", usize::from(bits)),
        ("bytes", unit),
        ("first_cycles", figures.first as usize),
        ("cycles", figures.small as usize),
        ("large_bytes", if unit > 0 { MANY } else { 0 }),
        ("large_cycles", figures.large as usize),
        ("instructions", figures.instructions as usize),
        ("code_bytes", row.code_bytes()),
        ("constant_bytes", 0),
        ("table_bytes", row.table_bytes()),
        ("key_bytes", row.key_bytes(bits)),
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

/// Spaces before what has that many characters.
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

/// Cycles for each of so many bytes, to a tenth.
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
