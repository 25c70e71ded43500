//! A [`System`] whose n-th call fails, is interrupted or moves few bytes, for tests: walk n over all calls of a run and look
//! at what is left.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Os, Readiness, Status, System};

/// What is done to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails.
    Error(io::ErrorKind),
    /// A signal comes: the call does nothing and fails with `EINTR`.
    Signal,
    /// A read or write moves fewer bytes than it could. No other call has such a thing.
    Short,
}

/// Passes calls on, but for those with the fault.
pub(crate) struct Faulty {
    os: Os,
    calls: AtomicU64,
    fault: Fault,
    /// Number of the first call with the fault, from 0.
    first: u64,
    /// Only reads and writes are counted, and every so many of them from the first on has the fault.
    period: Option<u64>,
    /// Whether the system has anonymous files.
    has_anonymous: bool,
    /// What standard input and output are, if not the process's own.
    stdin: Option<File>,
    stdout: Option<File>,
}

/// Bytes that a short read or write moves at most; a divisor of nothing.
const SHORT_BYTES: usize = 4999;

impl Faulty {
    /// Call `fails` has the fault.
    pub(crate) fn new(fails: u64, fault: Fault, has_anonymous: bool) -> Self {
        let calls = AtomicU64::new(0);
        Self { os: Os, calls, fault, first: fails, period: None, has_anonymous, stdin: None, stdout: None }
    }

    /// Every `period`-th read or write has the fault.
    pub(crate) fn every(period: u64, fault: Fault) -> Self {
        Self { period: Some(period), ..Self::new(0, fault, true) }
    }

    /// No faults.
    pub(crate) fn none() -> Self {
        Self::new(u64::MAX, Fault::Signal, true)
    }

    /// With these as standard input and output.
    pub(crate) fn with_standard(self, stdin: Option<File>, stdout: Option<File>) -> Self {
        Self { stdin, stdout, ..self }
    }

    /// Whether the call that should fail was reached.
    pub(crate) fn has_failed(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > self.first
    }

    fn call(&self) -> io::Result<Os> {
        if self.period.is_some() {
            return Ok(self.os);
        }
        match (self.count(), self.fault) {
            (true, Fault::Error(kind)) => Err(kind.into()),
            (true, Fault::Signal) => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(self.os),
        }
    }

    fn count(&self) -> bool {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.period {
            Some(period) => number.is_multiple_of(period),
            None => number == self.first,
        }
    }

    /// How many bytes a read or write may move.
    fn transfer(&self) -> io::Result<usize> {
        match (self.count(), self.fault) {
            (true, Fault::Error(kind)) => Err(kind.into()),
            (true, Fault::Signal) => Err(io::ErrorKind::Interrupted.into()),
            (true, Fault::Short) => Ok(SHORT_BYTES),
            (false, _) => Ok(usize::MAX),
        }
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
    fn stdin(&self) -> io::Result<File> {
        let os = self.call()?;
        self.stdin.as_ref().map_or_else(|| os.stdin(), File::try_clone)
    }

    fn stdout(&self) -> io::Result<File> {
        let os = self.call()?;
        self.stdout.as_ref().map_or_else(|| os.stdout(), File::try_clone)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.call()?.open(path)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.call()?.open_existing(path)
    }

    fn create_anonymous(&self, folder: &Path) -> io::Result<File> {
        let os = self.call()?;
        if self.has_anonymous { os.create_anonymous(folder) } else { Err(io::ErrorKind::Unsupported.into()) }
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        self.call()?.create_new(path)
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
        self.write_from(buffers, |buffers| self.os.write_at(file, buffers, offset))
    }

    fn copy(&self, from: &File, to: &File, bytes: u64) -> io::Result<u64> {
        self.call()?.copy(from, to, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.call()?.sync(file)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.call()?.sync_folder(folder)
    }
}
