//! A [`System`] whose n-th call fails, is interrupted or moves few bytes. Tests run n over all calls of a run and check what is left.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::Dir;

use crate::sys::{Opening, Os, Readers, Readiness, Status, System};

/// The fault that a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails.
    Error(io::ErrorKind),
    /// A signal arrives: the call does nothing and fails with `EINTR`.
    Signal,
    /// A read or write moves fewer bytes than it could. Has no effect on other calls.
    Short,
    /// This call and all later ones fail: the disk is gone (EIO).
    Gone,
    /// The call takes a while.
    Slow,
    /// A sync fails, and the data written since the last sync is lost. As in real systems, the data is dropped, and the next sync reports
    /// success. Only syncs of files are counted.
    Lost,
    /// The file system does not support the call (EOPNOTSUPP).
    Unsupported,
}

/// The error of a broken disk, EIO. The standard library has no kind for it.
pub fn broken_disk() -> io::ErrorKind {
    io::Error::from_raw_os_error(5).kind()
}

/// The error of a call that a file system does not support.
pub fn unsupported() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::OPNOTSUPP.into();
    #[cfg(not(unix))]
    io::ErrorKind::Unsupported.into()
}

/// Whether long tests try every n (`make soak`), instead of fewer.
pub fn wants_all() -> bool {
    std::env::var_os("TRESS_EVERY_FAULT").is_some()
}

/// A file's identity, and the offset and length of a write.
type UnsyncedWrite = (Option<(u64, u64)>, u64, u64);

/// Passes calls to the system, except those with a fault.
pub struct Faulty {
    os: Os,
    calls: AtomicU64,
    fault: Fault,
    /// Number of the first call with the fault, from 0.
    first: u64,
    /// If set, only reads and writes are counted, and every `period`-th of them has the fault.
    period: Option<u64>,
    /// Whether the system has anonymous files.
    has_anonymous: bool,
    /// Standard input and output, if not the process's own.
    stdin: Option<File>,
    stdout: Option<File>,
    /// Writes since the last sync, for [`Fault::Lost`].
    unsynced: Mutex<Vec<UnsyncedWrite>>,
}

/// Largest number of bytes that a short read or write moves; prime, so that it divides no buffer length.
const SHORT_BYTES: usize = 4999;

/// Shortest duration of a slow call.
const SLOW: Duration = Duration::from_millis(300);

impl Faulty {
    /// Call number `fails` has the fault.
    pub fn new(fails: u64, fault: Fault, has_anonymous: bool) -> Self {
        let calls = AtomicU64::new(0);
        let (period, stdin, stdout, unsynced) = (None, None, None, Mutex::default());
        Self { os: Os, calls, fault, first: fails, period, has_anonymous, stdin, stdout, unsynced }
    }

    /// Every `period`-th read or write has the fault.
    pub fn every(period: u64, fault: Fault) -> Self {
        Self { period: Some(period), ..Self::new(0, fault, true) }
    }

    /// No faults.
    pub fn none() -> Self {
        Self::new(u64::MAX, Fault::Signal, true)
    }

    /// Replaces standard input and output.
    pub fn with_standard(self, stdin: Option<File>, stdout: Option<File>) -> Self {
        Self { stdin, stdout, ..self }
    }

    /// Whether the call with the fault was reached.
    pub fn has_failed(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > self.first
    }

    fn call(&self) -> io::Result<Os> {
        if self.period.is_some() || self.fault == Fault::Lost {
            return Ok(self.os);
        }
        match self.count() {
            true => self.fails().map(|()| self.os),
            false => Ok(self.os),
        }
    }

    /// The result of a call with the fault.
    fn fails(&self) -> io::Result<()> {
        match self.fault {
            Fault::Error(kind) => Err(kind.into()),
            Fault::Signal => Err(io::ErrorKind::Interrupted.into()),
            Fault::Gone | Fault::Lost => Err(broken_disk().into()),
            Fault::Unsupported => Err(unsupported()),
            Fault::Short => Ok(()),
            Fault::Slow => {
                std::thread::sleep(SLOW);
                Ok(())
            }
        }
    }

    fn count(&self) -> bool {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.period {
            Some(period) => number.is_multiple_of(period),
            None if self.fault == Fault::Gone => number >= self.first,
            None => number == self.first,
        }
    }

    /// Number of bytes that a read or write may move.
    fn transfer(&self) -> io::Result<usize> {
        if self.fault == Fault::Lost || !self.count() {
            return Ok(usize::MAX);
        }
        self.fails().map(|()| if self.fault == Fault::Slow { usize::MAX } else { SHORT_BYTES })
    }

    fn number(&self, file: &File) -> Option<(u64, u64)> {
        self.os.status(file).ok().and_then(|status| status.identity)
    }

    fn note(&self, file: &File, offset: u64, bytes: u64) {
        if self.fault == Fault::Lost {
            let written = (self.number(file), offset, bytes);
            self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).push(written);
        }
    }

    fn sync_or_lose(&self, file: &File) -> io::Result<()> {
        let number = self.number(file);
        let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        if self.count() {
            for (_, offset, bytes) in unsynced.extract_if(.., |written| written.0 == number) {
                let mut left = &vec![0xEE; bytes as usize][..];
                let mut offset = offset;
                while !left.is_empty() {
                    let count = self.os.write_at(file, &[IoSlice::new(left)], offset)?;
                    (left, offset) = (&left[count..], offset + count as u64);
                }
            }
            return self.fails();
        }
        unsynced.retain(|written| written.0 != number);
        self.os.sync(file)
    }

    fn read_into<T>(
        &self,
        buffers: &mut [IoSliceMut<'_>],
        call: impl FnOnce(&mut [IoSliceMut<'_>]) -> io::Result<T>,
    ) -> io::Result<T> {
        let bytes = self.transfer()?;
        match buffers.iter_mut().find(|buffer| !buffer.is_empty()) {
            Some(buffer) if bytes != usize::MAX => {
                let bytes = bytes.min(buffer.len());
                call(&mut [IoSliceMut::new(&mut buffer[..bytes])])
            }
            _ => call(buffers),
        }
    }

    fn write_from<T>(
        &self,
        buffers: &[IoSlice<'_>],
        call: impl FnOnce(&[IoSlice<'_>]) -> io::Result<T>,
    ) -> io::Result<T> {
        let bytes = self.transfer()?;
        match buffers.iter().find(|buffer| !buffer.is_empty()) {
            Some(buffer) if bytes != usize::MAX => call(&[IoSlice::new(&buffer[..bytes.min(buffer.len())])]),
            _ => call(buffers),
        }
    }
}

impl System for Faulty {
    fn descriptor(&self, number: u32, readiness: Readiness) -> io::Result<File> {
        let os = self.call()?;
        let replaced = [&self.stdin, &self.stdout].get(number as usize).and_then(|file| file.as_ref());
        replaced.map_or_else(|| os.descriptor(number, readiness), File::try_clone)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.call()?.open(path)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.call()?.open_existing(path)
    }

    fn create_anonymous(&self, folder: &Path, readers: Readers) -> io::Result<File> {
        let os = self.call()?;
        if self.has_anonymous { os.create_anonymous(folder, readers) } else { Err(io::ErrorKind::Unsupported.into()) }
    }

    fn create_new(&self, path: &Path, readers: Readers) -> io::Result<File> {
        self.call()?.create_new(path, readers)
    }

    fn link(&self, file: &File, path: &Path) -> io::Result<()> {
        self.call()?.link(file, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call()?.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call()?.rename_new(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.call()?.unlink(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.call()?.read_link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.call()?.canonical(path)
    }

    fn names_in(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.call()?.names_in(folder)
    }

    fn metadata_of(&self, path: &Path) -> io::Result<std::fs::Metadata> {
        self.call()?.metadata_of(path)
    }

    fn status_of(&self, path: &Path) -> io::Result<Status> {
        self.call()?.status_of(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        self.call()?.status(file)
    }

    fn adopt(&self, file: &File, old: &Status) -> io::Result<()> {
        self.call()?.adopt(file, old)
    }

    fn position(&self, file: &File) -> io::Result<u64> {
        self.call()?.position(file)
    }

    fn is_terminal(&self, file: &File) -> bool {
        self.os.is_terminal(file)
    }

    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
        self.call()?.wait(file, readiness, timeout)
    }

    fn read(&self, file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.read_into(buffers, |buffers| self.os.read(file, buffers))
    }

    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        self.read_into(buffers, |buffers| self.os.read_at(file, buffers, offset))
    }

    fn write(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_from(buffers, |buffers| self.os.write(file, buffers))
    }

    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_from(buffers, |buffers| self.os.write_ready(file, buffers))
    }

    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let written = self.write_from(buffers, |buffers| self.os.write_at(file, buffers, offset))?;
        self.note(file, offset, written as u64);
        Ok(written)
    }

    fn copy(&self, from: &File, to: &File, bytes: u64) -> io::Result<u64> {
        let os = self.call()?;
        let offset = if self.fault == Fault::Lost { os.position(to)? } else { 0 };
        let copied = os.copy(from, to, bytes)?;
        self.note(to, offset, copied);
        Ok(copied)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        if self.fault == Fault::Lost {
            return self.sync_or_lose(file);
        }
        self.call()?.sync(file)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.call()?.sync_folder(folder)
    }

    fn open_in(&self, folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File> {
        self.call()?.open_in(folder, name, how)
    }

    fn open_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir> {
        self.call()?.open_folder_in(parent, name)
    }

    fn create_folder_in(&self, parent: &Dir, name: &OsStr, readers: Readers) -> io::Result<()> {
        self.call()?.create_folder_in(parent, name, readers)
    }

    fn close_folder(&self, folder: &Dir) -> io::Result<()> {
        self.call()?.close_folder(folder)
    }

    fn exists_in(&self, folder: &Dir, name: &OsStr) -> io::Result<bool> {
        self.call()?.exists_in(folder, name)
    }

    fn remove_in(&self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        self.call()?.remove_in(folder, name)
    }

    fn rename_in(&self, folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.call()?.rename_in(folder, from, to)
    }

    fn move_in(&self, from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()> {
        self.call()?.move_in(from_folder, from, to_folder, to)
    }

    fn sync_folder_in(&self, folder: &Dir) -> io::Result<()> {
        self.call()?.sync_folder_in(folder)
    }

    fn set_length(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.call()?.set_length(file, bytes)
    }
}
