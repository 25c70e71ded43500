//! Reads the contents of a folder for a report: sections that `tress study --out` wrote, and records of `tress bench
//! --record`. Other files are ignored. JSON that is neither, or that is damaged, gets a note.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Error;
use crate::bench::{Document, record};
use crate::study::keep::{self, StoredSection};
use crate::study::{self, Section};

/// Largest file in bytes.
const MOST_BYTES: u64 = 64 << 20;
const MOST_FILES: usize = 500;
const MOST_BYTES_OF_ALL: u64 = 256 << 20;
/// Depth to which folders are searched.
const MOST_DEPTH: usize = 3;

/// The contents of a folder.
#[derive(Default)]
pub(super) struct FolderContents {
    /// In the order of [`study::all`], then by path.
    pub(super) studies: Vec<StudySections>,
    /// By time.
    pub(super) records: Vec<Record>,
    /// Files that are not in the report, with the reason; one line each.
    pub(super) notes: Vec<String>,
}

pub(super) struct StudySections {
    /// The name of the study, which is the name of its folder.
    pub(super) name: String,
    /// The folder, relative to the one that was searched.
    pub(super) path: String,
    /// Sections with the names of their parts, in the study's order.
    pub(super) parts: Vec<(String, StoredSection<Section>)>,
}

pub(super) struct Record {
    pub(super) path: String,
    pub(super) document: Document,
}

pub(super) fn read(folder: &Path) -> Result<FolderContents, Error> {
    let mut files = Vec::new();
    let mut found = FolderContents::default();
    // The folder itself has to be readable; folders below it need not be.
    fs::read_dir(folder).map_err(|error| Error::folder(folder, error))?;
    walk(folder, 0, &mut files, &mut found.notes);
    files.sort();
    if files.len() > MOST_FILES {
        found.notes.push(format!("{} of {} files were not read: too many", files.len() - MOST_FILES, files.len()));
        files.truncate(MOST_FILES);
    }
    let mut studies: BTreeMap<PathBuf, Vec<(String, StoredSection<Section>)>> = BTreeMap::new();
    let mut left = MOST_BYTES_OF_ALL;
    for path in &files {
        let shown = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        match read_file(path, &mut left) {
            Ok(Content::Section(kept)) => {
                let part = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                let parent = path.parent().unwrap_or(folder).to_path_buf();
                studies.entry(parent).or_default().push((part, *kept));
            }
            Ok(Content::Record(document)) => found.records.push(Record { path: shown, document: *document }),
            Err(why) => found.notes.push(format!("{shown}: {why}")),
        }
    }
    found.records.sort_by_key(|record| record.document.time);
    for (path, mut parts) in studies {
        let name = name(&path);
        let known = study::all().into_iter().find(|study| study.name == name);
        let place = |part: &str| known.as_ref()?.parts.iter().position(|known| known.name == part);
        parts.sort_by_key(|(part, _)| place(part).unwrap_or(usize::MAX));
        let path = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        found.studies.push(StudySections { name, path, parts });
    }
    found
        .studies
        .sort_by_key(|kind| study::all().iter().position(|study| study.name == kind.name).unwrap_or(usize::MAX));
    Ok(found)
}

enum Content {
    Section(Box<StoredSection<Section>>),
    Record(Box<Document>),
}

/// The contents of one file, or the reason why it is not in the report.
fn read_file(path: &Path, left: &mut u64) -> Result<Content, String> {
    let text = bytes(path, left)?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| format!("damaged: {error}"))?;
    let version = value.get("schema").and_then(Value::as_u64);
    let known = |schema: u32, what: &str| match version {
        Some(version) if version == u64::from(schema) => Ok(()),
        Some(version) => Err(format!("{what} has schema {version}, this version of tress reads {schema}")),
        None => Err(format!("{what} has no schema")),
    };
    if value.get("section").is_some() {
        known(keep::SCHEMA, "the section")?;
        serde_json::from_value(value)
            .map(|kept| Content::Section(Box::new(kept)))
            .map_err(|error| format!("damaged: {error}"))
    } else if value.get("rows").is_some() && value.get("machine").is_some() {
        known(record::SCHEMA, "the record")?;
        let damaged = |error: serde_json::Error| format!("damaged: {error}");
        serde_json::from_value(value).map(|found| Content::Record(Box::new(found))).map_err(damaged)
    } else {
        Err("neither a section of a study nor a bench record".into())
    }
}

fn bytes(path: &Path, left: &mut u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    if !file.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("not a regular file".into());
    }
    let most = MOST_BYTES.min(*left);
    let mut text = Vec::new();
    file.take(most + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > most {
        return Err(format!("larger than {most} bytes"));
    }
    *left -= text.len() as u64;
    Ok(text)
}

/// Collects JSON files below a folder. Links to folders are not followed, so there are no cycles.
fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>, notes: &mut Vec<String>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return notes.push(format!("{}: {error}", folder.display())),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            // The entries after an error are not listed either.
            Err(error) => return notes.push(format!("{}: {error}", folder.display())),
        };
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if is_hidden {
            continue;
        }
        let note = |error| format!("{}: {error}", path.display());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < MOST_DEPTH => walk(&path, depth + 1, files, notes),
            Ok(kind) if kind.is_dir() => {}
            Ok(_) if path.extension() == Some(OsStr::new("json")) => match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => files.push(path),
                Ok(_) => {}
                Err(error) => notes.push(note(error)),
            },
            Ok(_) => {}
            Err(error) => notes.push(note(error)),
        }
    }
}

/// The last component of a path, also for `.`.
fn name(path: &Path) -> String {
    let named = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    named.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "study".into())
}
