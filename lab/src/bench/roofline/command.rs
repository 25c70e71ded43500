//! `tress bench roofs`: the ceilings of this machine, and some rows of `tress bench` below them.

use std::io::{self, Write};

use super::picture;
use crate::{
    bench::{self, Document, Error},
    roofs::{self, Scope},
};

/// Rows that are shown below the roofs: one of each kind, at most one core.
const ROWS: &str = "^(aes-128-(ctr|cbc|ccm)|aes-256-ccm|rc6-128-(ctr|cbc)|pipo-128-ctr|rijndael-256-256-ecb)$";

/// What to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Write the document rather than a table.
    pub json: bool,
    /// Fewer and shorter samples of the roofs; those of rows are few and short anyway.
    pub quick: bool,
}

/// Measures roofs and rows and writes them. The document has both.
///
/// # Errors
/// Those of writing, what a cipher refuses, and [`Error::Threads`].
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Document, Error> {
    let document = bench::rows(ROWS, roofs::measure(Scope::All, options.quick).map_err(Error::of_thread)?)?;
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &document).map_err(|error| Error::Output(error.into()))?;
        writeln!(out).map_err(Error::Output)?;
    } else {
        write(&document, out).map_err(Error::Output)?;
    }
    Ok(document)
}

fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
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
