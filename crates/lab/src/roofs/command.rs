//! `tress bench roofs`: the ceilings of this machine, and some rows of `tress bench` below them.

use std::io::Write;

use super::{Roofs, Scope, fill, measure, picture, table};
use crate::bench::{self, Document, Error};

/// Rows that are shown below the roofs: one of each kind, at most one core.
const ROWS: &str = "^(aes-128-(ctr|cbc|ccm)|aes-256-ccm|rc6-128-(ctr|cbc)|pipo-128-ctr|rijndael-256-256-ecb)$";

/// What to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Write the document rather than a table.
    pub json: bool,
    /// Fewer and shorter samples.
    pub quick: bool,
}

/// Measures roofs and rows and writes them. The document has both.
///
/// # Errors
/// Those of writing, and what a cipher refuses.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Document, Error> {
    let roofs = measure(Scope::All, options.quick);
    let mut document = bench::rows(ROWS)?;
    document.quick = options.quick;
    fill(&mut document, &roofs);
    if options.json {
        document.roofs = Some(roofs);
        serde_json::to_writer_pretty(&mut *out, &document).map_err(|error| Error::Output(error.into()))?;
        writeln!(out).map_err(Error::Output)?;
    } else {
        write(&document, &roofs, out).map_err(Error::Output)?;
        document.roofs = Some(roofs);
    }
    Ok(document)
}

fn write(document: &Document, roofs: &Roofs, out: &mut dyn Write) -> std::io::Result<()> {
    bench::write_machine(&document.machine, out)?;
    table::write(roofs, out)?;
    writeln!(out)?;
    bench::write_rows(document, out)
}

/// The roofline of such a document, as SVG.
pub fn svg(document: &Document) -> String {
    let roofs = document.roofs.clone().unwrap_or_default();
    picture::chart(document, &roofs).svg()
}
