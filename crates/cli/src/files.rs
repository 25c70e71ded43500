//! Inputs and outputs, and the check for binary data on a terminal.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use tress_container::commands::{Sink, Source};
use tress_terminal::descriptor;
use tress_terminal::files::Picture;

pub(crate) use tress_terminal::files::*;

use crate::args;
use crate::failure::Failure;

pub(crate) fn source(path: &Path) -> Source {
    if path == Path::new("-") { Source::Stdin } else { Source::Path(path.to_path_buf()) }
}

/// The path to name in an error of the library, which escapes it.
pub(crate) fn shown(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("standard input") } else { path }
}

pub(crate) fn sink(output: &args::Output) -> Sink {
    match &output.output {
        Some(path) if path != Path::new("-") => Sink::Path { path: path.clone(), force: output.force },
        _ => Sink::Stdout,
    }
}

/// Fails if an input is missing or the output exists, before somebody types a passphrase for them.
pub(crate) fn check_names(inputs: &[PathBuf], output: &args::Output) -> Result<(), Failure> {
    for input in inputs.iter().filter(|input| *input != Path::new("-") && descriptor::number(input).is_none()) {
        match std::fs::symlink_metadata(input) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failure::io(input, &error)),
            _ => {} // Devices and pipes of Windows open without it.
        }
    }
    match sink(output) {
        Sink::Path { path, force } => refuse_existing(&path, force),
        _ => Ok(()),
    }
}

/// The sink for a picture.
pub(crate) fn picture_sink(output: Option<&Path>, json: bool, force: bool) -> Result<Option<Sink>, Failure> {
    Ok(picture(output, json, force)?.map(|picture| match picture {
        Picture::Stdout => Sink::Stdout,
        Picture::Path(path) => Sink::Path { path, force },
    }))
}

/// Refuses to write binary data to a terminal.
pub(crate) fn refuse_terminal(sink: &Sink) -> Result<(), Failure> {
    if *sink == Sink::Stdout && io::stdout().is_terminal() {
        return Err(Failure::wrong_use("standard output: binary data is not written to a terminal")
            .hint("write to a file with -o, or redirect standard output"));
    }
    Ok(())
}
