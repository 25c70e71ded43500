//! `tress report`: calls the reports of the lab.

use std::path::Path;

use tress_lab::report;
use tress_terminal::{Failure, failure, files, note};

use crate::{args, store};

pub(crate) fn run(options: &args::Report) -> Result<(), Failure> {
    let output = options.output.clone().unwrap_or_else(|| options.folder.join("report.html"));
    let is_stdout = output == Path::new("-");
    if !is_stdout {
        files::refuse_existing(&output, options.force)?;
        // It may be one of those that the report shows.
        if output.canonicalize().is_ok_and(|path| path.extension().is_some_and(|end| end == "json")) {
            return Err(Failure::failed(format!("{}: a report does not replace a record", failure::name(&output))));
        }
    }
    let report = report::make(&options.folder).map_err(|error| match error {
        report::Error::Nothing(_) => Failure::failed(error.to_string())
            .hint("'tress study NAME --out DIR' and 'tress bench --record=DIR' create such folders"),
        report::Error::Folder { path, error } => Failure::io(&path, &error),
        error => Failure::failed(error.to_string()),
    })?;
    for line in &report.notes {
        note(line);
    }
    if is_stdout { files::print(&report.html) } else { store(&report.html, output, options.force) }
}
