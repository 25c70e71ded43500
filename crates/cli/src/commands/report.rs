//! `tress report`: a thin cover over the lab's pages.

use std::path::Path;

use tress_container::verbs::{self, Sink};
use tress_lab::report;

use super::{cancellable, note};
use crate::{args, failure::Failure, files};

pub(crate) fn run(options: &args::Report) -> Result<(), Failure> {
    let output = options.output.clone().unwrap_or_else(|| options.folder.join("report.html"));
    let sink = match output {
        path if path == Path::new("-") => Sink::Stdout,
        path => Sink::Path { path, force: options.force },
    };
    if let Sink::Path { path, force: false } = &sink
        && path.is_file()
    {
        return Err(tress_container::Error::new(tress_container::ErrorKind::OutputExists).at(path).into());
    }
    let report = report::make(&options.folder).map_err(|error| match error {
        report::Error::Nothing(_) => Failure::failed(error.to_string())
            .hint("'tress study NAME --out DIR' and 'tress bench --record=DIR' create such folders"),
        error => Failure::failed(error.to_string()),
    })?;
    for line in &report.notes {
        note(line);
    }
    if sink == Sink::Stdout {
        return files::print(&report.html);
    }
    cancellable(|control| {
        verbs::store(report.html.as_bytes(), &sink, control)
            .map_err(|error| Failure::from(error).with_force(options.force))
    })
}
