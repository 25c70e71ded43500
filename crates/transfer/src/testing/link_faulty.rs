//! Connections with faults, for tests: cut after a number of bytes, short calls, a flipped bit, silence.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::wire::link::{Link, Network, StopCheck, TICK, Tcp};

/// The fault of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkFault {
    None,
    /// It ends after this number of bytes was written.
    Cut(u64),
    /// Reads and writes move few bytes, and every other one is interrupted.
    Restless,
    /// The written bit with this number is flipped.
    Flip(u64),
    /// After this number of bytes nothing is sent any more, and no call fails.
    Silent(u64),
}

/// A network that gives each new connection the next fault of the list. Connections beyond the list get the last one.
pub(crate) struct FaultyNetwork {
    pub(crate) faults: Vec<LinkFault>,
    pub(crate) connections: AtomicU64,
    /// Bytes written on all connections.
    pub(crate) written: Arc<AtomicU64>,
}

impl FaultyNetwork {
    pub(crate) fn new(faults: impl Into<Vec<LinkFault>>) -> Self {
        Self { faults: faults.into(), connections: AtomicU64::new(0), written: Arc::default() }
    }
}

impl Network for FaultyNetwork {
    fn connect(&self, to: &str, stop: StopCheck<'_>) -> io::Result<Box<dyn Link>> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed) as usize;
        let fault = *self.faults.get(number).or(self.faults.last()).unwrap_or(&LinkFault::None);
        Ok(Box::new(FaultyLink {
            link: Tcp.connect(to, stop)?,
            fault,
            bytes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            written: self.written.clone(),
        }))
    }
}

struct FaultyLink {
    link: Box<dyn Link>,
    fault: LinkFault,
    bytes: AtomicU64,
    calls: AtomicU64,
    written: Arc<AtomicU64>,
}

impl FaultyLink {
    fn is_interrupted(&self) -> bool {
        self.fault == LinkFault::Restless && self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
    }
}

impl Link for FaultyLink {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_interrupted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = if self.fault == LinkFault::Restless { buffer.len().min(977) } else { buffer.len() };
        self.link.read(&mut buffer[..most])
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.is_interrupted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let Some(first) = buffers.iter().find(|buffer| !buffer.is_empty()) else { return Ok(0) };
        let before = self.bytes.load(Ordering::Relaxed);
        let mut bytes = first[..first.len().min(4999)].to_vec();
        match self.fault {
            LinkFault::Cut(at) if before >= at => {
                self.link.close();
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            LinkFault::Cut(at) => bytes.truncate((at - before) as usize),
            LinkFault::Silent(at) if before >= at => {
                std::thread::sleep(TICK);
                return Err(io::ErrorKind::WouldBlock.into());
            }
            LinkFault::Flip(bit) if (before * 8..(before + bytes.len() as u64) * 8).contains(&bit) => {
                bytes[(bit / 8 - before) as usize] ^= 1 << (bit % 8);
            }
            LinkFault::Restless => bytes.truncate(1009),
            _ => {}
        }
        if bytes.is_empty() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = self.link.write(&[IoSlice::new(&bytes)])?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        self.written.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn close(&self) {
        self.link.close();
    }
}
