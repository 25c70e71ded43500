//! Caches measurements of this machine in one JSON file in the user's cache folder, `$XDG_CACHE_HOME/tress/` or `~/.cache/tress/` (on
//! Windows below `%LOCALAPPDATA%`).
//!
//! The file may be missing, old, truncated, from another machine, or hold anything else. Only a plausible measurement of this machine by
//! this version is accepted.

use std::env;
use std::fs::DirBuilder;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::measure::{Machine, Measurement, SCHEMA};
use tress_container::commands::{self, Control, Sink};
use tress_container::sys::{Os, System};
use tress_container::{Error, ErrorKind};

const FILE_NAME: &str = "machine-v1.json";
/// Far longer than a measurement.
const MAX_BYTES: u64 = 256 << 10;

/// The content of the cache.
#[derive(Clone, Debug, PartialEq)]
pub enum Cached {
    /// There is no file, or it cannot be read.
    Missing,
    /// The file is not a measurement of this machine by this version.
    Unusable,
    /// A measurement of this machine.
    Found(Box<Measurement>),
}

/// Path of the file, if the system has a cache folder.
pub fn path() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
    };
    Some(folder?.join("tress").join(FILE_NAME))
}

/// Loads the measurement in this file, if it is one of this machine.
pub fn load(path: &Path) -> Cached {
    // Only a regular file: opening a pipe would wait for its other end.
    if !path.is_file() {
        return Cached::Missing;
    }
    let Ok(file) = Os.open(path) else { return Cached::Missing };
    let mut text = Vec::new();
    if file.take(MAX_BYTES).read_to_end(&mut text).is_err() {
        return Cached::Unusable;
    }
    match serde_json::from_slice::<Measurement>(&text) {
        Ok(found) if found.schema == SCHEMA && found.machine == Machine::this() && found.is_plausible() => {
            Cached::Found(Box::new(found))
        }
        _ => Cached::Unusable,
    }
}

/// Writes a measurement to this file, and replaces an older one, damaged or not. Creates its folder if necessary.
///
/// # Errors
/// The file is something else, and the errors of writing a file.
pub fn store(path: &Path, measurement: &Measurement, control: &Control) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        // As the XDG base directory specification requires.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| Error::from(error).at(folder))?;
    }
    let mut text = serde_json::to_vec_pretty(measurement)
        .map_err(|error| Error::new(ErrorKind::Io(std::io::ErrorKind::InvalidData)).with_source(error))?;
    text.push(b'\n');
    commands::store(&text, &Sink::Path { path: path.to_path_buf(), force: is_measurement(path) }, control)
}

/// Whether a file begins like a measurement of any version, or is empty.
fn is_measurement(path: &Path) -> bool {
    let mut start = Vec::new();
    let is_read = path.is_file() && Os.open(path).is_ok_and(|file| file.take(64).read_to_end(&mut start).is_ok());
    let text: Vec<u8> = start.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    is_read && (text.is_empty() || text.starts_with(b"{\"schema\":"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::measure::{Figure, Spread, SyncFigures, SyncKind};
    use super::*;

    fn measurement() -> Measurement {
        let cost = Spread { median: 2e-9, low: 1e-9, high: 3e-9 };
        let figures = vec![Figure { count: 1, cost }, Figure { count: 2, cost }];
        let sync = |kind| SyncFigures { kind, seconds: vec![Figure { count: 2, cost }] };
        Measurement {
            schema: SCHEMA,
            machine: Machine::this(),
            time: 1,
            lanes: figures.clone(),
            threads: figures,
            memory: cost,
            loopback: None,
            sync: SyncKind::ALL.into_iter().map(sync).collect(),
        }
    }

    #[test]
    fn stored_measurements_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/tress.json");
        assert_eq!(load(&path), Cached::Missing);
        let mut kept = measurement();
        for time in [1, 2] {
            kept.time = time;
            store(&path, &kept, &Control::new()).unwrap();
            assert_eq!(load(&path), Cached::Found(Box::new(kept.clone())));
        }
    }

    #[test]
    fn other_content_is_unusable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tress.json");
        let unusable = |change: fn(&mut Measurement)| {
            let mut kept = measurement();
            change(&mut kept);
            store(&path, &kept, &Control::new()).unwrap();
            assert_eq!(load(&path), Cached::Unusable, "{kept:?}");
        };
        unusable(|kept| kept.schema += 1);
        unusable(|kept| kept.machine.cores += 1);
        unusable(|kept| kept.machine.model.push('x'));
        unusable(|kept| kept.machine.tress.push('x'));
        unusable(|kept| kept.lanes.clear());
        unusable(|kept| kept.lanes.reverse());
        unusable(|kept| kept.threads[0].cost.median = 0.0);
        unusable(|kept| kept.memory.low = -1.0);
        unusable(|kept| kept.memory.high = 1e-10);
        unusable(|kept| drop(kept.sync.pop()));
        unusable(|kept| kept.sync[0].seconds.clear());

        let whole = serde_json::to_vec(&measurement()).unwrap();
        for damaged in
            [&whole[..whole.len() / 2], b"", b"null", b"[]", b"\xff\xfe", &[b'['; 100_000], &vec![b' '; 1 << 20]]
        {
            fs::write(&path, damaged).unwrap();
            assert_eq!(load(&path), Cached::Unusable);
        }
        assert_eq!(load(folder.path()), Cached::Missing);
    }

    #[test]
    fn only_measurements_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tress.json");
        let kinds = [("", true), ("{\n \"schema\": 0, ", true), ("{\"x\": 1}", false), ("AGE-SECRET-KEY-1", false)];
        for (old, is_replaced) in kinds {
            fs::write(&path, old).unwrap();
            let stored = store(&path, &measurement(), &Control::new());
            assert_eq!(stored.is_ok(), is_replaced, "{old}");
            assert!(is_replaced || fs::read_to_string(&path).unwrap() == old, "{old}");
        }
    }
}
