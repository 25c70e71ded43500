//! Connections whose n-th call fails, for tests. Calls are counted over all connections of one end. Waits that end without
//! data count too, so n is not the same call in every run. Over all n, every call is reached in some run.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::wire::link::{Link, Network, StopCheck, Tcp};

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFault {
    /// The connection is reset.
    Reset,
    /// The connection ends: no more bytes are read or written.
    End,
    /// No data to read, and no room to write (EAGAIN).
    Again,
    /// A signal interrupts the call (EINTR).
    Signal,
    /// The call moves one byte.
    Short,
}

impl CallFault {
    /// Whether the transfer has to survive the fault.
    pub(crate) fn is_harmless(self) -> bool {
        matches!(self, CallFault::Again | CallFault::Signal | CallFault::Short)
    }
}

/// The connections of one end.
pub(crate) struct FailNth {
    first: u64,
    fault: CallFault,
    calls: Arc<AtomicU64>,
}

impl FailNth {
    pub(crate) fn new(first: u64, fault: CallFault) -> Self {
        Self { first, fault, calls: Arc::default() }
    }

    /// Whether the call with the fault has happened.
    pub(crate) fn has_failed(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > self.first
    }

    fn wrap(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(FailNthLink { link, first: self.first, fault: self.fault, calls: self.calls.clone() })
    }
}

impl Network for FailNth {
    fn connect(&self, to: &str, stop: StopCheck<'_>) -> io::Result<Box<dyn Link>> {
        let is_it = self.calls.fetch_add(1, Ordering::Relaxed) == self.first;
        match is_it && !self.fault.is_harmless() {
            true => Err(io::ErrorKind::ConnectionRefused.into()),
            false => Tcp.connect(to, stop).map(|link| self.wrap(link)),
        }
    }

    fn accepted(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        self.wrap(link)
    }
}

struct FailNthLink {
    link: Box<dyn Link>,
    first: u64,
    fault: CallFault,
    calls: Arc<AtomicU64>,
}

impl FailNthLink {
    /// The most bytes that this call may move, or its error. `None` if the connection has ended.
    fn call(&self) -> io::Result<Option<usize>> {
        if self.calls.fetch_add(1, Ordering::Relaxed) != self.first {
            return Ok(Some(usize::MAX));
        }
        match self.fault {
            CallFault::Reset => {
                self.link.close();
                Err(io::ErrorKind::ConnectionReset.into())
            }
            CallFault::End => {
                self.link.close();
                Ok(None)
            }
            CallFault::Again => Err(io::ErrorKind::WouldBlock.into()),
            CallFault::Signal => Err(io::ErrorKind::Interrupted.into()),
            CallFault::Short => Ok(Some(1)),
        }
    }
}

impl Link for FailNthLink {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(most) = self.call()? else { return Ok(0) };
        let most = most.min(buffer.len());
        self.link.read(&mut buffer[..most])
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.call()? {
            None => Err(io::ErrorKind::BrokenPipe.into()),
            Some(usize::MAX) => self.link.write(buffers),
            Some(most) => {
                let Some(first) = buffers.iter().find(|buffer| !buffer.is_empty()) else { return Ok(0) };
                self.link.write(&[IoSlice::new(&first[..most.min(first.len())])])
            }
        }
    }

    fn close(&self) {
        self.link.close();
    }
}
