//! Small files that are read, and results on standard output.

use std::{
    fs::File,
    io::{self, Read, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;
use zeroize::Zeroizing;

use crate::{
    failure::{self, Failure},
    shown::given,
};

/// Where a picture goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Standard output.
    Stdout,
    /// This file.
    Path(PathBuf),
}

/// Where a picture goes, checked before anything is measured.
///
/// # Errors
/// It would mix with JSON, is no SVG by its name, or is there.
pub fn picture(output: Option<&Path>, json: bool, force: bool) -> Result<Option<Picture>, Failure> {
    let Some(path) = output else { return Ok(None) };
    if path == Path::new("-") {
        if json {
            return Err(Failure::wrong_use("--json and a picture cannot both go to standard output"));
        }
        return Ok(Some(Picture::Stdout));
    }
    // Another ending would be taken for another format, and may be a slip that --force would make worse; a device has none.
    let is_svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    if !is_svg && (path.is_file() || !path.exists()) {
        return Err(Failure::wrong_use(format!("{}: pictures are SVG only", path.display()))
            .hint("give it a name that ends in .svg"));
    }
    refuse_existing(path, force)?;
    Ok(Some(Picture::Path(path.into())))
}

/// Refuses to replace a file before the work that makes its content.
///
/// # Errors
/// It is there, and is not to be replaced.
pub fn refuse_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_file() && !force {
        return Err(Failure::failed(format!("{}: output already exists", given(&failure::name(path))))
            .hint("--force replaces it"));
    }
    Ok(())
}

/// A small file (a key, a passphrase), whole. The bytes are wiped when dropped.
pub fn read_small(path: &Path, most_bytes: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let bytes = read_start(path, most_bytes + 1)?;
    if bytes.len() > most_bytes {
        return Err(Failure::failed(format!("{}: longer than {most_bytes} bytes", failure::name(path))));
    }
    Ok(bytes)
}

/// Whether this is a file on disk that everybody may read.
#[cfg(unix)]
pub fn is_public(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.is_file() && file.permissions().mode() & 0o004 != 0
}

/// Windows keeps to what the folder says.
#[cfg(not(unix))]
pub fn is_public(_file: &std::fs::Metadata) -> bool {
    false
}

/// Warns about a file of secrets that everybody may read.
pub fn warn_if_public(path: &Path) {
    if std::fs::metadata(path).is_ok_and(|file| is_public(&file)) {
        crate::warn(&format!("{}: everybody can read this key; chmod 600 changes that", path.display()));
    }
}

/// At most the first `most_bytes` of a file. The bytes are wiped when dropped.
pub fn read_start(path: &Path, most_bytes: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    // Room for all of it from the start: a buffer that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(most_bytes));
    let read = |input: &mut dyn Read, bytes: &mut Vec<u8>| input.take(most_bytes as u64).read_to_end(bytes);
    if path == Path::new("-") {
        unbuffered_stdin().and_then(|mut stdin| read(&mut stdin, &mut bytes))
    } else {
        File::open(path).and_then(|mut file| read(&mut file, &mut bytes))
    }
    .map_err(|error| Failure::io(path, &error))?;
    Ok(bytes)
}

/// Standard input without the standard library's buffer, where what has passed stays for as long as the process lives.
#[cfg(unix)]
fn unbuffered_stdin() -> io::Result<impl Read> {
    use std::os::fd::AsFd as _;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Elsewhere a console is read through that buffer only.
#[cfg(not(unix))]
fn unbuffered_stdin() -> io::Result<impl Read> {
    Ok(io::stdin().lock())
}

/// Prints a result. Standard output may be full or closed: that is a failure like any other.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// The same of bytes.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::io(&PathBuf::from("standard output"), &error))
}

/// The same JSON in ASCII: names in it are of others, and a terminal shows them as they are. Only strings hold anything else.
fn in_ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            ' '..='~' | '\n' => text.push(letter),
            _ => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text
}

/// A result as JSON, in ASCII.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| Failure::failed(error.to_string()))?;
    text.push('\n');
    Ok(in_ascii(&text))
}

/// Prints it.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_ascii_and_says_the_same() {
        let name = "a\"\\\n\u{7f}é\u{202e}漢\u{e0041}😀";
        let ascii = in_ascii(&serde_json::to_string_pretty(&[name]).unwrap());
        assert!(ascii.chars().all(|letter| letter == '\n' || (' '..='~').contains(&letter)), "{ascii:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&ascii).unwrap(), [name]);
    }
}
