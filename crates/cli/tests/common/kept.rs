//! Outputs of an earlier build (fixtures/README.md). This build must write the same shapes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Folder;

pub const RECORD: &str = "record.json";
pub const OUTPUTS: &str = "outputs.jsonl";

/// Keys of outputs that may be missing, null or an empty list, depending on the machine.
const DEPENDS_ON_MACHINE: &[&str] = &[
    "bound",
    "commit",
    "cycle_samples",
    "cycles_per_byte",
    "governor",
    "load",
    "memory_bytes",
    "missing",
    "per_cycle",
    "share",
];

pub fn folder_of_fixtures() -> PathBuf {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above.find_map(|at| Some(at.join("crates/cli/tests/fixtures")).filter(|at| at.exists())).unwrap()
}

/// The relative paths of all files below a folder.
pub fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path()).into_iter().map(|inner| format!("{name}/{inner}"))),
            false => found.push(name),
        }
    }
    found
}

/// A copy of the fixtures.
pub fn fixtures() -> Folder {
    let folder = Folder::empty();
    for file in files(&folder_of_fixtures()) {
        let (from, to) = (folder_of_fixtures().join(&file), folder.path(&file));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::mode(&from.metadata().unwrap()) & 0o100 != 0 {
            super::install(&from, &to);
            continue;
        }
        fs::copy(from, to).unwrap();
    }
    folder
}

/// The recorded outputs: `name`, `arguments`, `file` (of the output, if it is not on standard output), `status`, `output`.
pub fn outputs() -> Vec<Value> {
    let text = fs::read_to_string(folder_of_fixtures().join(OUTPUTS)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn kept(name: &str) -> Value {
    let line = outputs().into_iter().find(|line| line["name"] == name);
    line.unwrap_or_else(|| panic!("{OUTPUTS}: {name}"))["output"].take()
}

/// Describes a part of the shape of `kept` that is missing in `now`, if there is one. New keys are allowed.
pub fn lost(kept: &Value, now: &Value, at: &str) -> Option<String> {
    match (kept, now) {
        (Value::Null, _) => None,
        (Value::Object(kept), Value::Object(now)) => kept.iter().find_map(|(key, kept)| {
            let (at, depends) = (format!("{at}.{key}"), DEPENDS_ON_MACHINE.contains(&key.as_str()));
            match now.get(key) {
                None | Some(Value::Null) if depends => None,
                Some(Value::Array(now)) if depends && now.is_empty() => None,
                None => Some(format!("{at} is missing")),
                Some(now) => lost(kept, now, &at),
            }
        }),
        // Every recorded shape occurs, and each element has one of them.
        (Value::Array(kept), Value::Array(now)) if !kept.is_empty() => {
            let at = format!("{at}[]");
            let like = |kept: &Value, now: &Value| lost(kept, now, &at).is_none();
            let gone = kept.iter().find(|kept| !now.iter().any(|now| like(kept, now)));
            let odd = now.iter().find(|now| !kept.iter().any(|kept| like(kept, now)));
            let (kept, now) = gone.map(|kept| (kept, now.first())).or(odd.map(|now| (&kept[0], Some(now))))?;
            now.map_or(Some(format!("{at}: nothing is there")), |now| lost(kept, now, &at))
        }
        _ if std::mem::discriminant(kept) == std::mem::discriminant(now) => None,
        _ => Some(format!("{at} is {now}, and was {kept}")),
    }
}

/// Runs the recorded commands whose first word `is_ours` accepts, and checks that each output has the recorded shape.
pub fn same_shapes(folder: &Folder, is_ours: impl Fn(&str) -> bool) {
    let mut failures = Vec::new();
    for line in outputs() {
        let Some(words) = line["arguments"].as_array() else { continue };
        if !is_ours(words[0].as_str().unwrap()) {
            continue;
        }
        let name = line["name"].as_str().unwrap();
        // `tress-simulate` has no subcommand.
        let words = words.iter().map(|word| word.as_str().unwrap()).filter(|word| *word != "simulate");
        let words = words.map(|word| if word == "TRESS" { crate::PROGRAM } else { word });
        let run = super::run(folder.command(words).env("XDG_CACHE_HOME", folder.path("cache")), b"");
        if run.status.code().map(i64::from) != line["status"].as_i64() {
            failures.push(format!("{name}: {}: {}", run.status, run.stderr));
            continue;
        }
        let output = line["file"].as_str().map_or(run.stdout, |file| folder.read(file));
        match serde_json::from_slice(&output) {
            Ok(now) => failures.extend(lost(&line["output"], &now, name)),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{OUTPUTS}:\n{}", failures.join("\n"));
}
