//! A [`System`] whose n-th call fails, is interrupted or moves few bytes. Tests run n over all calls of a run and check what is left.

use std::fs::File;
use std::io::{self, IoSlice, Seek};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::sys::{Call, Change, Os, Readiness, System};
use crate::workers::lock;

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
    /// The call waits for [`Faulty::release`]. Calls are counted from [`Faulty::arm`] on.
    Held,
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

/// Where the call with [`Fault::Held`] is.
#[derive(Default, PartialEq, Eq)]
enum Gate {
    #[default]
    NotCounted,
    Armed,
    Held,
    Released,
}

/// Passes calls to the system, except those with a fault.
pub struct Faulty {
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
    gate: Mutex<Gate>,
    moved: Condvar,
}

/// Largest number of bytes that a short read or write moves; prime, so that it divides no buffer length.
const SHORT_BYTES: usize = 4999;

impl Faulty {
    /// Call number `fails` has the fault.
    pub fn new(fails: u64, fault: Fault, has_anonymous: bool) -> Self {
        let calls = AtomicU64::new(0);
        let (period, stdin, stdout, unsynced) = (None, None, None, Mutex::default());
        let (gate, moved) = Default::default();
        Self { calls, fault, first: fails, period, has_anonymous, stdin, stdout, unsynced, gate, moved }
    }

    /// The same for threads of any duration, with anonymous files.
    pub fn leak(fails: u64, fault: Fault) -> &'static Self {
        Box::leak(Box::new(Self::new(fails, fault, true)))
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

    /// Counts calls from now on.
    pub fn arm(&self) {
        *lock(&self.gate) = Gate::Armed;
    }

    /// Whether the call with the fault waits.
    pub fn is_held(&self) -> bool {
        *lock(&self.gate) == Gate::Held
    }

    /// Lets the call continue, also if it comes later.
    pub fn release(&self) {
        *lock(&self.gate) = Gate::Released;
        self.moved.notify_all();
    }

    /// The result of a call with the fault.
    fn fails(&self) -> io::Result<()> {
        match self.fault {
            Fault::Error(kind) => Err(kind.into()),
            Fault::Signal => Err(io::ErrorKind::Interrupted.into()),
            Fault::Gone | Fault::Lost => Err(broken_disk().into()),
            Fault::Unsupported => Err(unsupported()),
            Fault::Short => Ok(()),
            Fault::Held => {
                let mut gate = lock(&self.gate);
                if *gate == Gate::Armed {
                    *gate = Gate::Held;
                    let is_held = |gate: &mut Gate| *gate == Gate::Held;
                    drop(self.moved.wait_while(gate, is_held).unwrap_or_else(PoisonError::into_inner));
                }
                Ok(())
            }
        }
    }

    fn count(&self) -> bool {
        if self.fault == Fault::Held && *lock(&self.gate) == Gate::NotCounted {
            return false;
        }
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.period {
            Some(period) => number.is_multiple_of(period),
            None if self.fault == Fault::Gone => number >= self.first,
            None => number == self.first,
        }
    }

    /// Loses the data that was written to this file since its last sync, if this sync has the fault.
    fn lose_or_sync(&self, file: &File) -> io::Result<()> {
        let number = identity(file);
        let mut unsynced = lock(&self.unsynced);
        if !self.count() {
            unsynced.retain(|written| written.0 != number);
            return Ok(());
        }
        for (_, mut offset, bytes) in unsynced.extract_if(.., |written| written.0 == number) {
            let mut left = &vec![0xEE; bytes as usize][..];
            while !left.is_empty() {
                let count = Os.write_at(file, &[IoSlice::new(left)], offset)?;
                (left, offset) = (&left[count..], offset + count as u64);
            }
        }
        self.fails()
    }
}

fn identity(file: &File) -> Option<(u64, u64)> {
    Os.status(file).ok().and_then(|status| status.identity)
}

impl System for Faulty {
    fn before(&self, call: Call<'_>) -> io::Result<usize> {
        let mut most = usize::MAX;
        match call {
            Call::Sync(file) if self.fault == Fault::Lost => self.lose_or_sync(file)?,
            Call::Move if self.fault != Fault::Lost && self.count() => {
                self.fails()?;
                most = if self.fault == Fault::Short { SHORT_BYTES } else { most };
            }
            Call::Move => {}
            _ if self.fault == Fault::Lost || self.period.is_some() => {}
            _ if self.count() => self.fails()?,
            _ => {}
        }
        match call {
            Call::CreateAnonymous if !self.has_anonymous => Err(io::ErrorKind::Unsupported.into()),
            _ => Ok(most),
        }
    }

    fn after(&self, change: Change<'_>) -> io::Result<()> {
        let written = match change {
            Change::Written(file, Some(offset), _, bytes) => (file, offset, bytes as u64),
            Change::Copied(_, mut file, bytes) => (file, file.stream_position()? - bytes, bytes),
            _ => return Ok(()),
        };
        if self.fault == Fault::Lost {
            lock(&self.unsynced).push((identity(written.0), written.1, written.2));
        }
        Ok(())
    }

    fn descriptor(&self, number: u32, readiness: Readiness) -> io::Result<File> {
        self.before(Call::Other)?;
        let replaced = [&self.stdin, &self.stdout].get(number as usize).and_then(|file| file.as_ref());
        replaced.map_or_else(|| Os.descriptor(number, readiness), File::try_clone)
    }
}
