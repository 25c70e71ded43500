//! The file of a record during a run: it is replaced as a whole every few rows, so that an interrupted run leaves its
//! finished rows, and `--resume` continues from there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, iter};

use super::Error;
use super::compare::{first_difference, read, read_full};
use super::record::Document;

/// Least time between two writes, because rows can follow each other faster than a disk should write them.
const PAUSE: Duration = Duration::from_secs(2);

pub(crate) struct RecordWriter {
    file: PathBuf,
    /// Whether the file has to be created, in a folder where no file is replaced.
    is_new: bool,
    /// Whether the file is a device or a pipe, which gets the record only at the end.
    is_stream: bool,
    written: Instant,
}

impl RecordWriter {
    /// Finds the file and makes sure that it can be written. With `resume`, the rows of an unfinished record are
    /// added to the document. An existing record or empty file will be replaced; any other file is an error.
    pub(crate) fn open(path: &Path, resume: bool, document: &mut Document) -> Result<RecordWriter, Error> {
        let failed = |error: io::Error| Error::Record { path: path.to_path_buf(), error };
        let (mut file, mut is_new) = (path.to_path_buf(), false);
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            fs::create_dir_all(path).map_err(failed)?;
        }
        if path.is_dir() {
            match if resume { unfinished(path, document) } else { None } {
                Some(found) => file = found,
                None => (file, is_new) = (unused_name(path, &document.file_name()), true),
            }
        }
        let found = match fs::metadata(&file) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let is_stream = found.as_ref().is_some_and(|metadata| !metadata.is_file());
        if found.is_some() && !is_stream {
            // Keeps the link, and replaces its target.
            file = fs::canonicalize(&file).map_err(failed)?;
            if resume {
                resume_record(&file, document)?;
            } else if found.is_some_and(|metadata| metadata.len() > 0) && !is_record(&file) {
                return Err(Error::NoRecord(file));
            }
        }
        if !is_stream {
            // Fail now rather than after an hour of measurements.
            drop(temporary(&file).map_err(failed)?);
        }
        Ok(RecordWriter { file, is_new, is_stream, written: Instant::now() })
    }

    /// Writes the document if the last write was at least [`PAUSE`] ago.
    pub(crate) fn write_if_due(&mut self, document: &Document) -> Result<(), Error> {
        if self.is_stream || self.written.elapsed() < PAUSE { Ok(()) } else { self.write(document) }
    }

    /// Writes the document. The file under the record's name is a complete record at every moment.
    pub(crate) fn write(&mut self, document: &Document) -> Result<(), Error> {
        let result = self.replace(document);
        self.written = Instant::now();
        result.map_err(|error| Error::Record { path: self.file.clone(), error })
    }

    fn replace(&mut self, document: &Document) -> io::Result<()> {
        let mut text = Vec::new();
        document.write_lines(&mut text)?;
        if self.is_stream {
            return fs::write(&self.file, text);
        }
        let _whole = crate::interrupted::hold();
        let mut file = temporary(&self.file)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        while self.is_new {
            match file.persist_noclobber(&self.file) {
                Ok(_) => {
                    self.is_new = false;
                    return Ok(());
                }
                // Another run has created a file of this name.
                Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => {
                    self.file = unused_name(folder(&self.file), &document.file_name());
                    file = taken.file;
                }
                Err(other) => return Err(other.error),
            }
        }
        file.persist(&self.file).map(drop).map_err(|error| error.error)
    }
}

/// Creates a file in the same folder that is deleted unless it is renamed to the record's name.
fn temporary(file: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tress-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder(file))
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// This name in the folder, or with a number added if the file exists: earlier records of the day stay.
fn unused_name(folder: &Path, name: &str) -> PathBuf {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let numbered = (2..).map(|number| folder.join(format!("{stem}-{number}.json")));
    iter::once(folder.join(name)).chain(numbered).find(|file| !file.exists()).expect("numbers do not end")
}

/// The latest unfinished record in the folder that this run could resume.
fn unfinished(folder: &Path, document: &Document) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let records = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    let usable = records.filter_map(|file| {
        let record = read_full(&file).ok()?;
        (!record.complete && resume_difference(&record, document).is_none()).then_some((record.time, file))
    });
    usable.max().map(|(_, file)| file)
}

/// Whether the file is a record, of any schema.
fn is_record(file: &Path) -> bool {
    matches!(read(file), Ok(_) | Err(Error::Schema { .. }))
}

fn resume_record(file: &Path, document: &mut Document) -> Result<(), Error> {
    let record = read_full(file)?;
    if let Some(what) = resume_difference(&record, document) {
        return Err(Error::NotResumable { path: file.to_path_buf(), what });
    }
    if record.machine.commit != document.machine.commit {
        let commits = [record.machine.commit, document.machine.commit.take()];
        document.machine.commit = Some(commits.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    document.time = record.time;
    document.rows = record.rows;
    document.roofs = record.roofs;
    Ok(())
}

/// The difference between a record and this run's document for which it cannot be resumed. Commits may differ.
fn resume_difference(record: &Document, document: &Document) -> Option<&'static str> {
    let version = (record.tress != document.tress).then_some("versions of Tress");
    first_difference(record, document).or(version)
}

#[cfg(test)]
#[path = "keep_test.rs"]
mod tests;
