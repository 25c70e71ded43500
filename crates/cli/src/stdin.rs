//! Ensures that standard input has only one reader: the data, a key or a passphrase. And that no output replaces a key.

use std::path::{Path, PathBuf};

use tress_terminal::descriptor;

use crate::failure::Failure;
use crate::{args, files};

/// The reader of standard input, once there is one.
#[derive(Default)]
pub(crate) struct Stdin {
    reader: Option<&'static str>,
    /// The files that are read beside the data.
    others: Vec<PathBuf>,
}

impl Stdin {
    /// Claims standard input if `data` is it.
    pub(crate) fn with_data(data: &Path) -> Result<Stdin, Failure> {
        let mut stdin = Stdin::default();
        stdin.claim(data, "the data")?;
        Ok(stdin)
    }

    /// Records that `reader` reads `path`. Returns an error if it is the second reader of standard input, under any name.
    pub(crate) fn claim(&mut self, path: &Path, reader: &'static str) -> Result<(), Failure> {
        if reader != "the data" {
            self.others.push(path.into());
        }
        let is_named = path == Path::new("-") || descriptor::number(path) == Some(0);
        let is_stdin = is_named || self.reader.is_some() && is_stdin(path);
        if !is_stdin {
            return Ok(());
        }
        match self.reader.replace(reader) {
            None => Ok(()),
            Some(other) => Err(Failure::wrong_use(format!("standard input cannot provide both {other} and {reader}"))),
        }
    }

    /// Fails if the output would replace a file of keys, recipients or patterns that the command has read.
    pub(crate) fn keep(&self, output: &args::Output) -> Result<(), Failure> {
        match &output.output {
            Some(path) if output.force => files::refuse_input(path, self.others()),
            _ => Ok(()),
        }
    }

    /// The files of keys, recipients or patterns that the command has read.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Path> {
        self.others.iter().map(PathBuf::as_path)
    }
}

/// Whether the path refers to the same file as standard input: `/dev/stdin`, or `/dev/fd/3` after `3<&0`.
#[cfg(unix)]
fn is_stdin(path: &Path) -> bool {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    match (fs::metadata(path), fs::metadata("/dev/fd/0")) {
        (Ok(file), Ok(stdin)) => (file.dev(), file.ino()) == (stdin.dev(), stdin.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_stdin(_path: &Path) -> bool {
    false
}
