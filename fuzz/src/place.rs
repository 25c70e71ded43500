//! Where a target has its files: a folder of the process, empty at the beginning of every input.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder, emptied. `fuzz/run` puts it into memory, and removes it.
pub fn empty() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("tress-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        folder
    });
    for entry in fs::read_dir(folder).expect("the temporary folder") {
        remove(&entry.expect("an entry").path());
    }
    folder
}

fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().expect("an entry").is_dir();
    if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("what a target has made");
}

/// Names in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
