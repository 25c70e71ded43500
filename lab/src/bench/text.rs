//! Parts of tables, lists and result lines.

use std::io::Write;

use comfy_table::{CellAlignment, Row, Table, presets};
use serde::Serialize;

use super::Error;

/// A length in the largest unit that divides it.
pub(crate) fn length(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 && b % (1 << 30) == 0 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

/// A table without lines and with these column names.
pub(crate) fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// Aligns these columns of a table to the right.
pub(crate) fn align_right(table: &mut Table, columns: impl IntoIterator<Item = usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Writes a value as JSON.
pub(crate) fn json(what: &impl Serialize, out: &mut dyn Write) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *out, what).map_err(|error| Error::Output(error.into()))?;
    writeln!(out).map_err(Error::Output)
}
