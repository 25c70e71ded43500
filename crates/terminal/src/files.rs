//! Reads small files, and prints results to standard output.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write as _};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};
#[cfg(unix)]
use rustix::io::Errno;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::blocked::blocked;
use crate::failure::{self, Failure};
use crate::place::is_below;
use crate::{descriptor, secret};

/// Destination of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Standard output.
    Stdout,
    /// This file.
    Path(PathBuf),
}

/// Returns the destination of a picture. Commands call it before they measure, so that a wrong name costs no work.
///
/// # Errors
/// The picture would be mixed with JSON, the name does not end in `.svg`, or the file exists.
pub fn picture(output: Option<&Path>, json: bool, force: bool) -> Result<Option<Picture>, Failure> {
    let Some(path) = output else { return Ok(None) };
    if path == Path::new("-") {
        if json {
            return Err(Failure::wrong_use("--json and a picture cannot both go to standard output"));
        }
        return Ok(Some(Picture::Stdout));
    }
    // A name without `.svg` may be a typing mistake, and --force would make it worse: an error even with --force. A device has no suffix.
    let is_svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    if !is_svg && descriptor::number(path).is_none() && (path.is_file() || !path.exists()) {
        return Err(Failure::wrong_use(format!("{}: pictures are SVG only", failure::name(path)))
            .hint("give it a name that ends in .svg"));
    }
    refuse_existing(path, force)?;
    Ok(Some(Picture::Path(path.into())))
}

/// Fails if the output file exists, before the work that produces its content.
///
/// # Errors
/// The file exists and `force` is not set.
pub fn refuse_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_file() && !force && descriptor::number(path).is_none() {
        return Err(
            Failure::failed(format!("{}: output already exists", failure::name(path))).hint("--force replaces it")
        );
    }
    Ok(())
}

/// What all names of a regular file share.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    // A path of a descriptor leads nowhere without /proc.
    let take = |number| descriptor::take(number, false).or_else(|_| descriptor::take(number, true));
    let found = match descriptor::number(path) {
        Some(number) => take(number).and_then(|file| file.metadata()),
        None => std::fs::metadata(path),
    };
    found.ok().filter(std::fs::Metadata::is_file).map(|found| (found.dev(), found.ino()))
}

/// What all names of a regular file share, except those of hard links.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// The path of an input: a regular file may come from standard input too.
fn path_of(input: &Path) -> &Path {
    if input == Path::new("-") { Path::new("/dev/stdin") } else { input }
}

fn is_the_input(output: &Path) -> Failure {
    Failure::failed(format!("{}: the output is the input", failure::name(output)))
}

/// Fails if one of many outputs is one of the inputs, under any name that the system knows.
///
/// # Errors
/// It is.
pub fn refuse_inputs<'a>(
    mut outputs: impl Iterator<Item = PathBuf>,
    inputs: impl Iterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let inputs: HashSet<_> = inputs.map(path_of).filter_map(identity).collect();
    let is_one = |output: &PathBuf| identity(output).is_some_and(|output| inputs.contains(&output));
    outputs.find(is_one).map_or(Ok(()), |output| Err(is_the_input(&output)))
}

/// Fails if standard output is a regular file that is also the input, as after `>>`.
///
/// # Errors
/// It is.
pub fn refuse_stdout(input: &Path) -> Result<(), Failure> {
    let found = identity(Path::new("/dev/stdout"));
    let is_input = found.is_some() && found == identity(path_of(input));
    if is_input { Err(is_the_input(Path::new("standard output"))) } else { Ok(()) }
}

/// Fails if an output is one of the inputs, under any name, would be inside one that is a folder, or is a folder that holds one.
///
/// # Errors
/// It is.
pub fn refuse_input<'a>(output: &Path, mut inputs: impl Iterator<Item = &'a Path>) -> Result<(), Failure> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(place) = output.canonicalize().or_else(|_| folder.canonicalize()) else { return Ok(()) };
    inputs.try_for_each(|input| {
        let path = path_of(input);
        let is_same = identity(output).is_some() && identity(output) == identity(path);
        // A terminal or pipe may well be both.
        let found = path.canonicalize().ok().filter(|path| path.is_file() || path.is_dir()).unwrap_or_default();
        if is_same || found.is_absolute() && is_below(&place, &found) {
            return Err(is_the_input(output));
        }
        if output.is_dir() && is_below(&found, &place) {
            let (output, input) = (failure::name(output), failure::name(input));
            return Err(Failure::failed(format!("{output}: this folder has {input} in it, which the command reads"))
                .hint("name a file or folder inside it"));
        }
        Ok(())
    })
}

/// Reads a small file (a key, a passphrase) completely. The bytes are wiped when dropped.
pub fn read_small(path: &Path, most_bytes: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let bytes = read_start(path, most_bytes + 1)?;
    if bytes.len() > most_bytes {
        return Err(Failure::failed(format!("{}: longer than {most_bytes} bytes", failure::name(path))));
    }
    Ok(bytes)
}

/// Whether this is a regular file that everybody may read.
#[cfg(unix)]
pub fn is_public(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.is_file() && file.permissions().mode() & 0o004 != 0
}

/// Always false on Windows, where access depends on the folder.
#[cfg(not(unix))]
pub fn is_public(_file: &std::fs::Metadata) -> bool {
    false
}

/// Warns if everybody may read a file of secrets.
pub fn warn_if_public(path: &Path) {
    if std::fs::metadata(path_of(path)).is_ok_and(|file| is_public(&file)) {
        crate::warn(&format!("{}: everybody can read this key; run chmod 600 on it", failure::name(path)));
    }
}

/// Reads at most the first `most_bytes` of a file. The bytes are wiped when dropped.
pub fn read_start(path: &Path, most_bytes: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    open(path).and_then(|input| secret::read(input, most_bytes)).map_err(|error| Failure::io(path, &error))
}

/// Opens a file for reading, standard input for `-`.
///
/// # Errors
/// Those of the system. A path may name a descriptor that is not open for reading.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") { Ok(Box::new(Stdin)) } else { Ok(Box::new(Input(descriptor::open(path)?))) }
}

/// An open file. It may be a descriptor that another process has made non-blocking.
struct Input(File);

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return when_ready(&self.0, PollFlags::IN, || rustix::io::read(&self.0, &mut *buffer));
        #[cfg(not(unix))]
        self.0.read(buffer)
    }
}

/// Makes a call. Waits before each further attempt while the stream is not ready and another process, such as Node.js, has made it
/// non-blocking.
#[cfg(unix)]
fn when_ready<T>(stream: impl AsFd, flags: PollFlags, mut call: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::AGAIN) => poll(&mut [PollFd::new(&stream, flags)], None)?,
            result => return Ok(result?),
        };
    }
}

/// Standard input without the standard library's buffer, which would keep secrets in memory until the process ends. The library would
/// also read a closed one as empty. Windows reads a console only through that buffer.
#[derive(Clone, Copy, Debug)]
pub struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return when_ready(io::stdin(), PollFlags::IN, || rustix::io::read(io::stdin(), &mut *buffer));
        #[cfg(not(unix))]
        io::stdin().lock().read(buffer)
    }
}

/// Standard output without the standard library's buffer, which would hide the error of a closed one.
#[derive(Clone, Copy, Debug)]
pub struct Stdout;

impl io::Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return blocked(|| when_ready(io::stdout(), PollFlags::OUT, || rustix::io::write(io::stdout(), bytes)));
        #[cfg(not(unix))]
        blocked(|| io::stdout().lock().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

/// Standard output in whole lines, for results that appear as they are found.
pub fn stdout() -> io::LineWriter<Stdout> {
    io::LineWriter::new(Stdout)
}

/// Prints a result to standard output, and reports a full or closed standard output as a failure.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Prints bytes to standard output, like [`print()`].
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    Stdout.write_all(bytes).and_then(|()| Stdout.flush()).map_err(|error| Failure::stdout(&error))
}

/// Escapes the non-ASCII characters of a JSON text. They occur only in strings, which may hold untrusted names that a terminal obeys.
pub fn in_ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            ' '..='~' | '\n' => text.push(letter),
            _ => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text
}

/// Serialises a result as JSON in ASCII.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| Failure::failed(error.to_string()))?;
    text.push('\n');
    Ok(in_ascii(&text))
}

/// Prints a result as JSON in ASCII.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_ascii_and_keeps_its_value() {
        let name = "a\"\\\n\u{7f}é\u{202e}漢\u{e0041}😀";
        let ascii = in_ascii(&serde_json::to_string_pretty(&[name]).unwrap());
        assert!(ascii.chars().all(|letter| letter == '\n' || (' '..='~').contains(&letter)), "{ascii:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&ascii).unwrap(), [name]);
    }
}
