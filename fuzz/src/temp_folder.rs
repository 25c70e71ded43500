//! The temporary folder of a target: one for each thread, empty at the beginning of every input.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed when the thread ends.
struct TempFolder(&'static Path);

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0);
    }
}

thread_local! {
    static FOLDER: TempFolder = {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tress-fuzz-{}-{count}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        TempFolder(Box::leak(folder.into_boxed_path()))
    };
}

/// Empties and returns the folder. In `fuzz/run` it is in memory.
pub fn emptied() -> &'static Path {
    let folder = FOLDER.with(|folder| folder.0);
    for entry in fs::read_dir(folder).expect("the temporary folder") {
        remove(&entry.expect("an entry").path());
    }
    folder
}

fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().expect("an entry").is_dir();
    if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("what a target has made");
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
