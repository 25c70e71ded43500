//! `tress bench roofs`: the rooflines of this machine, and some rows of `tress bench` below them.

use std::io::{self, Write};

use super::picture;
use crate::bench::{self, Document, Error, text};
use crate::roofs::{self, Scope};

/// The rows to show below the rooflines: one of each kind, on one core.
const ROWS: &str = "^(aes-128-(ctr|cbc|ccm)|aes-256-ccm|rc6-128-(ctr|cbc)|pipo-128-ctr|rijndael-256-256-ecb)$";

/// Measures rooflines and rows, for a document that has both. With `quick`, samples of the rooflines are fewer and
/// shorter; those of rows always are.
///
/// # Errors
/// Errors of a cipher, and [`Error::Threads`].
pub fn measure(quick: bool) -> Result<Document, Error> {
    bench::rows(ROWS, roofs::measure(Scope::All, quick).map_err(Error::of_thread)?)
}

/// Writes the document as tables or as JSON.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write(document: &Document, as_json: bool, out: &mut dyn Write) -> Result<(), Error> {
    if as_json { text::json(document, out) } else { write_tables(document, out).map_err(Error::Output) }
}

fn write_tables(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    bench::write_machine(&document.machine, out)?;
    if let Some(roofs) = &document.roofs {
        roofs::write(roofs, out)?;
        writeln!(out)?;
    }
    bench::write_rows(document, out)
}

/// The roofline of such a document, as SVG.
pub fn svg(document: &Document) -> String {
    let roofs = document.roofs.clone().unwrap_or_default();
    picture::chart(document, &roofs).svg()
}
