//! What a file system cannot do although the output is complete, and what another user may have planted.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::types::Status;
#[cfg(unix)]
use super::unix as platform;
#[cfg(windows)]
use super::windows as platform;

/// Prints what the file system could not do although the output is complete, such as syncing a folder.
static NOTE: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that prints these notes. Without it they are dropped.
pub fn on_note(note: fn(&str)) {
    let _ = NOTE.set(note);
}

/// Accepts that a file system cannot do something which is no reason to discard a complete file, and notes it once.
pub(crate) fn tolerate(done: io::Result<()>, what: &'static str) -> io::Result<()> {
    static NOTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let Err(error) = &done else { return done };
    if !platform::is_unsupported(error) {
        return done;
    }
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !noted.contains(&what) {
        noted.push(what);
        if let Some(note) = NOTE.get() {
            note(&format!("this file system cannot {what}: {error}"));
        }
    }
    Ok(())
}

/// Returns an error for a file or link that another user may have planted.
pub(crate) fn refuse_planted(file: &Status, folder: &Status) -> io::Result<()> {
    let error =
        || io::Error::new(io::ErrorKind::PermissionDenied, "made by another user in a folder that everybody shares");
    if platform::is_planted(file, folder) { Err(error()) } else { Ok(()) }
}
