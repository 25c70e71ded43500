//! A session at the receiver: one control connection, and the state of its data connections.
//!
//! `requests.rs` has the threads of the control connection, `incoming.rs` those of each data connection.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::receive::packs::ArrivingPack;
use crate::receive::store::{Denied, PartFile};
use crate::wire::limits::END_TIME;
use crate::wire::link::{Link, Timeouts};
use crate::wire::message::{MAX_STREAM_NUMBERS, Reply};
use crate::wire::noise::{NoisePublicKey, Outgoing};
use crate::wire::ticket::Ticket;
use tress_container::pipeline::Batch;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind, Refusal};

/// Amount of unsynced data after which a sync is due.
pub(super) const SYNC_BYTES: u64 = 8 << 20;
/// How long data in transit may take to arrive after the control connection has ended.
pub(super) const DRAIN_TIME: Duration = Duration::from_secs(2);
/// How long data in transit may take to arrive on a data connection that the sender has lost.
const LOST_TIME: Duration = Duration::from_millis(500);
/// Most abandoned files that a session remembers.
pub(super) const MAX_ABANDONED: usize = 64;
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(200);
pub(super) const POLL_PAUSE: Duration = Duration::from_millis(10);

/// Order of locks: the list of sessions, a session's `out`, its `state`, then the numbers of its file or pack. Every batch of any session
/// reads the progress of all of them, so none of these locks is held during a call on a file, and only `out` during a write to the sender.
pub(crate) struct ReceiveSession {
    pub(crate) ticket: Ticket,
    pub(crate) sender: NoisePublicKey,
    /// Most data connections at the same time.
    pub(super) streams: u16,
    pub(super) stall_time: Duration,
    pub(super) out: Mutex<Outgoing>,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    pub(super) ended: AtomicBool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) current: Option<ArrivingFile>,
    /// Lists whose packs are arriving, by number.
    pub(super) packs: BTreeMap<u32, Arc<ArrivingPack>>,
    /// The number of the last offered file or list, accepted or not.
    pub(super) last_file: u32,
    /// The files that the sender abandoned most recently: batches of them may still be in transit.
    pub(super) abandoned: VecDeque<u32>,
    pub(super) connections: BTreeMap<u16, DataConnection>,
    /// The control connection has ended; data in transit may still arrive.
    pub(super) has_lost_sender: bool,
    /// Why the receiver ended the session.
    pub(super) reason: Option<Refusal>,
    pub(super) error: Option<Error>,
    /// The error of the first refused file or folder, and the number of refused ones.
    pub(super) refused: Option<(Error, u64)>,
}

pub(super) struct ArrivingFile {
    pub(super) file: u32,
    pub(super) path: Vec<u8>,
    pub(super) part: Arc<PartFile>,
    /// The size, once the sender has read the whole input.
    pub(super) finish: Option<u64>,
    /// The file is being synced and named: the sender can no longer abandon it.
    pub(super) is_completing: bool,
}

/// Where a batch goes.
pub(crate) enum Arriving {
    File(Arc<PartFile>),
    Pack(Arc<ArrivingPack>),
}

impl Arriving {
    /// Whether a batch that begins with this chunk and has this length belongs to it.
    pub(crate) fn admits(&self, first_chunk: u64, sealed_bytes: usize) -> bool {
        match self {
            Self::File(part) => part.admits(first_chunk, sealed_bytes),
            Self::Pack(pack) => pack.admits(first_chunk, sealed_bytes),
        }
    }

    /// Writes a verified batch.
    pub(crate) fn write(&self, batch: &Batch) -> Result<(), Denied> {
        match self {
            Self::File(part) => part.write(batch),
            Self::Pack(pack) => {
                pack.write(batch);
                Ok(())
            }
        }
    }
}

pub(super) struct DataConnection {
    /// `None` if it never connected or has ended, so that its socket is freed.
    pub(super) link: Option<Arc<dyn Link>>,
    pub(super) batches: u64,
    pub(super) is_open: bool,
    /// When the sender reported it as lost.
    pub(super) lost: Option<Instant>,
}

impl DataConnection {
    fn close(&self) {
        if let Some(link) = &self.link {
            link.close();
        }
    }
}

impl ReceiveSession {
    pub(crate) fn new(
        ticket: Ticket,
        sender: NoisePublicKey,
        streams: u16,
        stall_time: Duration,
        out: Outgoing,
    ) -> Self {
        let (out, state, changed) = (Mutex::new(out), Mutex::default(), Condvar::new());
        Self { ticket, sender, streams, stall_time, out, state, changed, ended: AtomicBool::new(false) }
    }

    /// Returns the error that ends every wait of this session, once it has ended.
    pub(crate) fn stopped(&self) -> Option<Error> {
        self.ended.load(Ordering::Acquire).then(|| Error::new(ErrorKind::Disconnected))
    }

    pub(crate) fn stall_time(&self) -> Duration {
        self.stall_time
    }

    pub(super) fn send(&self, reply: &Reply) -> Result<(), Error> {
        self.write(&mut lock(&self.out), reply)
    }

    fn write(&self, out: &mut Outgoing, reply: &Reply) -> Result<(), Error> {
        let stop = || self.stopped();
        out.write(&reply.encode(), &Timeouts::idle(self.stall_time, &stop))
    }

    /// Ends the session, and sends the reason to the sender.
    pub(crate) fn end(&self, reason: Refusal, error: Option<Error>) {
        {
            let mut state = lock(&self.state);
            if state.reason.is_some() || self.stopped().is_some() {
                return;
            }
            state.reason = Some(reason);
            state.error = error;
        }
        // Best effort, for a limited time: the sender may be gone, or another thread may be stuck in a write to it.
        let until = Instant::now() + END_TIME;
        let out = loop {
            match self.out.try_lock() {
                Ok(out) => break Some(out),
                Err(TryLockError::Poisoned(poisoned)) => break Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() > until => break None,
                Err(TryLockError::WouldBlock) => thread::sleep(POLL_PAUSE),
            }
        };
        if let Some(mut out) = out {
            let timeouts = Timeouts { deadline: Some(until), ..Timeouts::idle(END_TIME, &|| None) };
            let _ = out.write(&Reply::Refused { reason }.encode(), &timeouts);
        }
        self.stop();
    }

    /// Ends every wait of this session and closes its data connections.
    pub(crate) fn stop(&self) {
        self.ended.store(true, Ordering::Release);
        for connection in lock(&self.state).connections.values() {
            connection.close();
        }
        self.changed.notify_all();
    }

    /// Sends the ticket to the sender.
    pub(super) fn admit(&self) -> Result<(), Error> {
        self.send(&Reply::Admitted { ticket: self.ticket.clone(), streams: self.streams })
    }

    /// Returns the first error of a refused file, with the number of others.
    pub(crate) fn refused(&self) -> Result<(), Error> {
        match lock(&self.state).refused.take() {
            None => Ok(()),
            Some((error, 1)) => Err(error),
            Some((error, count)) => Err(error.with_more(count - 1)),
        }
    }

    pub(super) fn with_current<T>(&self, file: u32, look: impl FnOnce(&mut ArrivingFile) -> T) -> Option<T> {
        let mut state = lock(&self.state);
        state.current.as_mut().filter(|current| current.file == file).map(look)
    }

    /// The arriving file or pack with this number.
    pub(crate) fn arriving(&self, number: u32) -> Option<Arriving> {
        let part = self.with_current(number, |current| Arriving::File(current.part.clone()));
        part.or_else(|| lock(&self.state).packs.get(&number).cloned().map(Arriving::Pack))
    }

    /// Whether the sender has recently abandoned this file.
    pub(crate) fn is_abandoned(&self, file: u32) -> bool {
        lock(&self.state).abandoned.contains(&file)
    }

    /// For what is arriving, the plaintext bytes received, and the size.
    pub(crate) fn arrived(&self) -> Vec<(u64, Option<u64>)> {
        let state = lock(&self.state);
        let file = state.current.as_ref().map(|current| (current.part.written_bytes(), current.part.size_bytes));
        file.into_iter().chain(state.packs.values().map(|pack| (pack.written_bytes(), Some(pack.size_bytes)))).collect()
    }

    pub(super) fn report(&self) -> Result<(), Error> {
        // A report must not be overtaken by a later one, nor by the end of a connection.
        let mut out = lock(&self.out);
        let (file, part, streams) = {
            let state = lock(&self.state);
            let open = state.connections.iter().filter(|(_, connection)| connection.is_open);
            let streams = open.map(|(&stream, connection)| (stream, connection.batches)).collect();
            let current = state.current.as_ref();
            (current.map_or(0, |current| current.file), current.map(|current| current.part.clone()), streams)
        };
        let synced_chunks = part.map_or(0, |part| part.synced_chunks());
        self.write(&mut out, &Reply::Progress { file, synced_chunks, streams })
    }

    /// Registers a data connection under a number that was not used before.
    pub(crate) fn attach(&self, stream: u16, link: Arc<dyn Link>) -> Result<(), Refusal> {
        let mut state = lock(&self.state);
        if self.stopped().is_some() || stream >= MAX_STREAM_NUMBERS || state.connections.contains_key(&stream) {
            return Err(Refusal::Ticket);
        }
        let in_use = |connection: &&DataConnection| connection.is_open && connection.lost.is_none();
        if state.connections.values().filter(in_use).count() >= usize::from(self.streams) {
            return Err(Refusal::TooMany);
        }
        state.connections.insert(stream, DataConnection { link: Some(link), batches: 0, is_open: true, lost: None });
        Ok(())
    }

    /// Counts a batch of this connection that was verified and written.
    pub(crate) fn count_batch(&self, stream: u16) {
        let mut state = lock(&self.state);
        if let Some(connection) = state.connections.get_mut(&stream) {
            connection.batches += 1;
        }
        let is_due = state.current.as_ref().is_some_and(|current| {
            current.finish.is_some_and(|size| current.part.is_whole(size))
                || current.part.unsynced().is_some_and(|(bytes, _)| bytes >= SYNC_BYTES)
        }) || state.packs.values().any(|pack| pack.is_whole());
        drop(state);
        if is_due {
            self.changed.notify_all();
        }
    }

    /// Records that a data connection has ended and all of its batches are written.
    pub(crate) fn detach(&self, stream: u16) {
        let batches = {
            let mut state = lock(&self.state);
            let Some(connection) = state.connections.get_mut(&stream) else { return };
            connection.is_open = false;
            connection.close();
            connection.link = None;
            connection.batches
        };
        self.changed.notify_all();
        // If this fails, the control connection has ended too, and the next session resumes.
        let _ = self.send(&Reply::Drained { stream, batches });
    }

    pub(super) fn handle_lost(&self, stream: u16) -> Result<(), Error> {
        let known = {
            let mut state = lock(&self.state);
            match state.connections.get_mut(&stream) {
                Some(connection) => {
                    // Batches in transit are still read if they arrive soon. Then `detach` answers, unless it already has.
                    connection.lost.get_or_insert_with(Instant::now);
                    true
                }
                None if stream < MAX_STREAM_NUMBERS => {
                    // It never connected, and must not connect from now on.
                    state
                        .connections
                        .insert(stream, DataConnection { link: None, batches: 0, is_open: false, lost: None });
                    false
                }
                None => true,
            }
        };
        if known { Ok(()) } else { self.send(&Reply::Drained { stream, batches: 0 }) }
    }

    /// Closes connections that were reported lost [`LOST_TIME`] ago and are still open.
    pub(super) fn close_lost(&self) {
        for connection in lock(&self.state).connections.values() {
            if connection.is_open && connection.lost.is_some_and(|since| since.elapsed() >= LOST_TIME) {
                connection.close();
            }
        }
    }
}
