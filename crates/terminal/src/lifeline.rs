//! A program of ours that another one starts ends with that, even if it is killed.
//!
//! The starting process holds a lock on a file for as long as it lives, and names the file in an environment variable. A thread of the
//! started process waits for the lock. This works the same way on every system, and needs no standard stream. `tress_simulate` in Python
//! does the same (riscv/python/tress_simulate/_lifeline.py).

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use std::{env, io, thread};

const LIFELINE: &str = "TRESS_LIFELINE";

/// The lock of this process, once it has started another one.
static OWN: Mutex<Option<(File, PathBuf)>> = Mutex::new(None);

/// Lets the process that `command` starts end with this one. Without a temporary folder it does not.
pub fn tie(command: &mut Command) {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if own.is_none() {
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
        let path = env::temp_dir().join(format!("tress-{}-{now:x}.lock", process::id()));
        let locked = File::create_new(&path).and_then(|file| file.lock().map(|()| file));
        *own = locked.ok().map(|file| (file, path));
    }
    if let Some((_, path)) = &*own {
        command.env(LIFELINE, path);
    }
}

/// Ends this process as SIGTERM does when the process that started it has ended, if that called [`tie`].
pub fn follow() {
    let Some(path) = env::var_os(LIFELINE) else { return };
    let wait = move || {
        let is_over = match File::open(&path) {
            Ok(file) => file.lock_shared().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if is_over {
            let _ = fs::remove_file(&path);
            end();
        }
    };
    let _ = thread::Builder::new().spawn(wait);
}

/// Removes the file. Called when this process ends, after those that it has started.
pub fn release() {
    if let Some((file, path)) = OWN.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _: io::Result<()> = fs::remove_file(path);
        drop(file);
    }
}

fn end() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
    #[cfg(not(unix))]
    process::exit(1);
}
