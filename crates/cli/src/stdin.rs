//! Ensures that standard input and other descriptors have only one reader: the data, a key or a passphrase. And that no output replaces a
//! key.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tress_terminal::descriptor;

use crate::failure::Failure;
use crate::{args, files};

/// The readers of standard input and of other descriptors.
#[derive(Default)]
pub(crate) struct Stdin {
    readers: HashMap<u32, &'static str>,
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

    /// Records that `reader` reads `path`. Returns an error if it is the second reader of a descriptor; of standard input, under any name.
    pub(crate) fn claim(&mut self, path: &Path, reader: &'static str) -> Result<(), Failure> {
        if reader != "the data" {
            self.others.push(path.into());
        }
        let number = if path == Path::new("-") { Some(0) } else { descriptor::number(path) };
        let is_stdin = self.readers.contains_key(&0) && is_stdin(path);
        let Some(number) = is_stdin.then_some(0).or(number) else { return Ok(()) };
        let Some(other) = self.readers.insert(number, reader) else { return Ok(()) };
        let name = if number == 0 { "standard input".into() } else { format!("descriptor {number}") };
        Err(Failure::wrong_use(format!("{name} cannot provide both {other} and {reader}")))
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
