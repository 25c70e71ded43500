//! Parts of tables, lists and result lines.

use std::io::Write;

use serde::Serialize;

use super::Error;
pub(crate) use crate::roofs::table::empty_table as table;

/// A length in the largest unit that divides it.
pub(crate) fn length(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 && b % (1 << 30) == 0 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

pub(crate) fn json(what: &impl Serialize, out: &mut dyn Write) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *out, what).map_err(|error| Error::Output(error.into()))?;
    writeln!(out).map_err(Error::Output)
}
