//! Parts of tables, lists and result lines.

use std::io::Write;

use comfy_table::{Table, presets};
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
pub(crate) fn table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

pub(crate) fn json(what: &impl Serialize, out: &mut dyn Write) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *out, what).map_err(|error| Error::Output(error.into()))?;
    writeln!(out).map_err(Error::Output)
}
