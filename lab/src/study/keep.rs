//! Stored sections, so that an interrupted run continues where it stopped. A section of another machine, version or
//! effort is made again.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tress_sign::Hash;
use tress_sim::Machine;

use super::{Error, Section};
use crate::bench::record;

/// The version of [`StoredSection`].
pub(crate) const SCHEMA: u32 = 2;

/// A section, and the conditions under which it was made.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredSection<S> {
    pub(crate) schema: u32,
    pub(crate) tress: String,
    /// The machine that it was made on.
    pub(crate) machine: record::Machine,
    /// Whether it has few samples and small messages.
    pub(crate) quick: bool,
    /// Seconds since 1970-01-01 00:00 UTC.
    pub(crate) time: u64,
    /// SHA-256 digest of the study's inputs. Empty for a study without inputs.
    #[serde(default)]
    inputs: String,
    pub(crate) section: S,
}

/// The section in this file, if a run under the present conditions would make it again.
pub(super) fn load(path: &Path, quick: bool, inputs: &str) -> Option<Section> {
    let kept: StoredSection<Section> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let now = stamped(quick, inputs, ());
    let same = (kept.schema, kept.tress, name(&kept.machine), kept.quick, kept.inputs)
        == (now.schema, now.tress, name(&now.machine), now.quick, now.inputs);
    same.then_some(kept.section)
}

pub(super) fn store(path: &Path, quick: bool, inputs: &str, section: &Section) -> Result<(), Error> {
    let mut text = serde_json::to_vec_pretty(&stamped(quick, inputs, section))
        .map_err(|error| Error::files(path, io::Error::new(io::ErrorKind::InvalidData, error)))?;
    text.push(b'\n');
    write(path, &text)
}

/// Returns an error if this file exists and no study wrote it. `new` is what it is to contain, or the beginning of that.
pub(super) fn refuse_foreign(path: &Path, new: &[u8]) -> Result<(), Error> {
    /// Bytes of the head that all pictures have in common.
    const PICTURE_HEAD: usize = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 "#.len();
    let line = |bytes: &[u8]| bytes.split(|&byte| byte == b'\n').next().map(<[u8]>::to_vec);
    let is_ours = |old: &[u8]| match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => serde_json::from_slice::<StoredSection<serde_json::Value>>(old).is_ok(),
        Some("toml") => std::str::from_utf8(old).is_ok_and(|text| Machine::parse(text).is_ok()),
        Some("svg") => old.starts_with(&new[..PICTURE_HEAD.min(new.len())]),
        _ => line(old) == line(new),
    };
    match fs::read(path) {
        Ok(old) if old.is_empty() || is_ours(&old) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "exists, and no study wrote it")),
        Err(error) => Err(error),
    }
    .map_err(|error| Error::files(path, error))
}

/// Writes a file atomically, and replaces that of an earlier run.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    refuse_foreign(path, bytes)?;
    let _whole = crate::interrupted::hold();
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".tress-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        #[cfg(unix)]
        fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        file.persist(path).map_err(|error| error.error).map(drop)
    };
    write().map_err(|error: io::Error| Error::files(path, error))
}

/// Properties by which two machines count as the same.
fn name(machine: &record::Machine) -> String {
    format!("{}, {} cores, {}", machine.model, machine.cores, machine.target)
}

fn stamped<S>(quick: bool, inputs: &str, section: S) -> StoredSection<S> {
    StoredSection {
        schema: SCHEMA,
        tress: env!("CARGO_PKG_VERSION").into(),
        machine: crate::bench::machine(),
        quick,
        time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        inputs: if inputs.is_empty() { String::new() } else { digest(inputs) },
        section,
    }
}

fn digest(text: &str) -> String {
    Hash::Sha256.digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sections_of_the_same_conditions_are_loaded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part.json");
        assert!(load(&path, false, "").is_none());
        store(&path, false, "", &Section { text: "t".into(), ..Section::default() }).expect("written");
        assert_eq!(load(&path, false, "").expect("kept").text, "t");
        assert!(load(&path, true, "").is_none() && load(&path, false, "something else").is_none());
        let text = fs::read_to_string(&path).expect("text");
        for changed in
            [text.replace("\"model\": \"", "\"model\": \"other "), text[..text.len() / 2].into(), String::new()]
        {
            fs::write(&path, changed).expect("written");
            assert!(load(&path, false, "").is_none());
        }
    }
}
