//! A session at the receiver: one control connection, and the state of its data connections.
//!
//! The thread of the control connection answers the sender. A second thread syncs files, writes the journal and gives files
//! their final names, so that a slow disk does not look like a dead receiver. Each data connection has its own threads (`incoming.rs`).

use crate::wire::limits::END_TIME;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::receive::receipt::Receipt;
use crate::receive::receiver::{Event, Server, folder_name};
use crate::receive::store::{Denied, Offered, PartFile, SenderStore};
use crate::wire::link::{Link, Timeouts};
use crate::wire::message::{MAX_STREAM_NUMBERS, Reply, Request};
use crate::wire::noise::{Incoming, NoisePublicKey, Outgoing};
use crate::wire::ticket::Ticket;
use tress_container::threads::start;
use tress_container::tree::shown_path;
use tress_container::workers::{OnDrop, lock};
use tress_container::{Error, ErrorKind, Refusal};

/// Amount of unsynced data after which a sync is due.
const SYNC_BYTES: u64 = 8 << 20;
/// Age of unsynced data after which a sync is due.
const SYNC_TIME: Duration = Duration::from_secs(1);
/// How long data in transit may take to arrive after the control connection has ended.
const DRAIN_TIME: Duration = Duration::from_secs(2);
/// How long data in transit may take to arrive on a data connection that the sender has lost.
const LOST_TIME: Duration = Duration::from_millis(500);
/// How long an earlier session may take to release a file.
const TAKEOVER_TIME: Duration = Duration::from_secs(10);
/// Most abandoned files that a session remembers.
const MAX_ABANDONED: usize = 64;
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const POLL_PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct ReceiveSession {
    pub(crate) ticket: Ticket,
    pub(crate) sender: NoisePublicKey,
    /// Most data connections at the same time.
    streams: u16,
    stall_time: Duration,
    out: Mutex<Outgoing>,
    state: Mutex<State>,
    changed: Condvar,
    ended: AtomicBool,
}

#[derive(Default)]
struct State {
    current: Option<ArrivingFile>,
    /// The number of the last offered file, accepted or not.
    last_file: u32,
    /// The files that the sender abandoned most recently: batches of them may still be in transit.
    abandoned: VecDeque<u32>,
    connections: BTreeMap<u16, DataConnection>,
    /// Why the receiver ended the session.
    reason: Option<Refusal>,
    error: Option<Error>,
    /// The error of the first refused file or folder, and the number of refused ones.
    refused: Option<(Error, u64)>,
}

struct ArrivingFile {
    file: u32,
    path: Vec<u8>,
    part: Arc<PartFile>,
    /// The size, once the sender has read the whole input.
    finish: Option<u64>,
    /// The file is being synced and named: the sender can no longer abandon it.
    is_completing: bool,
}

struct DataConnection {
    /// `None` if it never connected or has ended, so that its socket is freed.
    link: Option<Arc<dyn Link>>,
    batches: u64,
    is_open: bool,
    /// When the sender reported it as lost.
    lost: Option<Instant>,
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

    fn send(&self, reply: &Reply) -> Result<(), Error> {
        let stop = || self.stopped();
        lock(&self.out).write(&reply.encode(), &Timeouts::idle(self.stall_time, &stop))
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
    fn admit(&self) -> Result<(), Error> {
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

    /// Admits the sender, and serves the control connection until the sender is done. An unfinished file stays for the next session.
    pub(crate) fn run(
        self: &Arc<Self>,
        mut incoming: Incoming,
        store: &SenderStore,
        server: &Server<'_>,
    ) -> Result<(), Error> {
        let result = thread::scope(|scope| {
            let guarded = || {
                let stop_on_panic = OnDrop(|| self.stop());
                self.sync_until_stopped(server);
                std::mem::forget(stop_on_panic);
            };
            let syncing = match start(scope, guarded) {
                Ok(syncing) => syncing,
                Err(error) => {
                    self.end(Refusal::TooMany, Some(error));
                    return Err(Error::new(ErrorKind::NoThread));
                }
            };
            let result = self.admit().and_then(|()| self.serve_requests(&mut incoming, store, server));
            if result.is_err() {
                self.await_data_connections(server);
            }
            self.stop();
            if let Err(panic) = syncing.join() {
                std::panic::resume_unwind(panic);
            }
            result
        });
        let (current, reason, error) = {
            let mut state = lock(&self.state);
            (state.current.take(), state.reason, state.error.take())
        };
        let shown = current.as_ref().map(|current| current.part.shown.clone());
        let named = |error: Error| shown.iter().fold(error, |error, path| error.at_entry(path.clone()));
        if let Some(current) = current {
            let kept = if current.part.size_bytes.is_some() {
                current.part.sync()
            } else {
                current.part.discard();
                Ok(())
            };
            // Release the lock on the file before the claim.
            let path = current.path;
            drop(current.part);
            server.release(self, &path);
            if let Err(Denied { error: Some(error), .. }) = kept {
                return Err(named(error));
            }
        }
        if reason.is_some() {
            read_until_closed(&mut incoming);
        }
        lock(&self.out).link().close();
        match (error, reason) {
            (Some(error), _) => Err(named(error)),
            (None, Some(reason)) => Err(named(server.declined(reason))),
            (None, None) => result,
        }
    }

    fn serve_requests(
        self: &Arc<Self>,
        incoming: &mut Incoming,
        store: &SenderStore,
        server: &Server<'_>,
    ) -> Result<(), Error> {
        let stop = || self.stopped().or_else(|| server.stopped());
        loop {
            let message = match incoming.read(&Timeouts::idle(self.stall_time, &stop)) {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Error::new(ErrorKind::Disconnected)),
                Err(error) if error.kind == ErrorKind::Interrupted => {
                    self.end(Refusal::Stopping, None);
                    return Err(error);
                }
                Err(error) if error.kind == ErrorKind::Protocol => return Err(self.protocol_error(error)),
                Err(error) => return Err(error),
            };
            let Ok(request) = Request::parse(&message) else {
                return Err(self.protocol_error(Error::new(ErrorKind::Protocol).with_detail("malformed message")));
            };
            match request {
                Request::Folder { path } => match store.folder(&path) {
                    Ok(()) => self.send(&Reply::FolderReady)?,
                    Err(denied) => self.deny(denied, &path, server)?,
                },
                Request::Offer { file, size_bytes, restart, identity, path } => {
                    let (is_alone, last_file) = {
                        let mut state = lock(&self.state);
                        (state.current.is_none(), std::mem::replace(&mut state.last_file, file))
                    };
                    let protocol_error =
                        |detail| Err(self.protocol_error(Error::new(ErrorKind::Protocol).with_detail(detail)));
                    if !is_alone {
                        return protocol_error("two files at the same time");
                    }
                    if file <= last_file {
                        return protocol_error("file number is not above the last one");
                    }
                    self.accept_offer(file, size_bytes, restart, &identity, path, store, server)?;
                }
                Request::Finish { file, size_bytes } => {
                    let is_good = self.with_current(file, |current| {
                        current.finish = Some(size_bytes);
                        !current.part.contradicts(size_bytes)
                    });
                    if is_good != Some(true) {
                        return Err(self.protocol_error(
                            Error::new(ErrorKind::Protocol).with_detail("file has another size than offered"),
                        ));
                    }
                    self.changed.notify_all();
                }
                Request::Abandon { file } => {
                    let forgotten = |current: &mut ArrivingFile| current.file == file && !current.is_completing;
                    let mut state = lock(&self.state);
                    let given_up = state.current.take_if(forgotten);
                    if given_up.is_some() {
                        state.abandoned.truncate(MAX_ABANDONED - 1);
                        state.abandoned.push_front(file);
                    }
                    drop(state);
                    if let Some(current) = given_up {
                        current.part.discard();
                        server.release(self, &current.path);
                    }
                    server.update_progress();
                }
                Request::Lost { stream } => self.handle_lost(stream)?,
                Request::Ping => self.report()?,
                Request::Bye if lock(&self.state).current.is_none() => return Ok(()),
                _ => return Err(self.protocol_error(Error::new(ErrorKind::Protocol).with_detail("unexpected message"))),
            }
        }
    }

    /// Ends the session because the sender broke the protocol.
    fn protocol_error(&self, error: Error) -> Error {
        self.end(Refusal::Protocol, None);
        error
    }

    fn deny(&self, denied: Denied, path: &[u8], server: &Server<'_>) -> Result<(), Error> {
        let error = denied.error.unwrap_or_else(|| server.declined(denied.reason));
        let error = error.at_entry(shown_path(path));
        server.emit(&Event::Refused { folder: &folder_name(&self.sender), error: &error });
        lock(&self.state).refused.get_or_insert((error, 0)).1 += 1;
        self.send(&Reply::Refused { reason: denied.reason })
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    fn accept_offer(
        self: &Arc<Self>,
        file: u32,
        size_bytes: Option<u64>,
        restart: bool,
        identity: &[u8; 32],
        path: Vec<u8>,
        store: &SenderStore,
        server: &Server<'_>,
    ) -> Result<(), Error> {
        let until = Instant::now() + TAKEOVER_TIME;
        // An earlier session of this sender may not have noticed that its connection is gone: the newer session wins.
        while let Err(other) = server.claim(self, &path) {
            other.end(Refusal::TakenOver, None);
            if Instant::now() > until {
                return self.deny(Refusal::TooMany.into(), &path, server);
            }
            self.pause(server)?;
        }
        let offered = loop {
            match store.offer(&path, identity, size_bytes, restart) {
                // Its last batches may still be on their way to the disk, or another receiver has locked the file.
                Err(Denied { reason: Refusal::TooMany, .. }) if Instant::now() < until => {
                    if let Err(error) = self.pause(server) {
                        server.release(self, &path);
                        return Err(error);
                    }
                }
                offered => break offered,
            }
        };
        let part = match offered {
            Ok(Offered::PartFile(part)) => Arc::new(*part),
            Ok(Offered::Complete) => {
                server.release(self, &path);
                return self.send(&Reply::Complete { file });
            }
            Err(denied) => {
                server.release(self, &path);
                return self.deny(denied, &path, server);
            }
        };
        let held = part.synced();
        lock(&self.state).current = Some(ArrivingFile { file, path, part, finish: None, is_completing: false });
        server.update_progress();
        self.send(&Reply::Resume { file, held })
    }

    /// Sleeps briefly. Returns an error if the session or the receiver ends.
    fn pause(&self, server: &Server<'_>) -> Result<(), Error> {
        if let Some(error) = self.stopped() {
            return Err(error);
        }
        if let Some(error) = server.stopped() {
            self.end(Refusal::Stopping, None);
            return Err(error);
        }
        thread::sleep(POLL_PAUSE);
        Ok(())
    }

    fn with_current<T>(&self, file: u32, look: impl FnOnce(&mut ArrivingFile) -> T) -> Option<T> {
        let mut state = lock(&self.state);
        state.current.as_mut().filter(|current| current.file == file).map(look)
    }

    /// The arriving file, if it has this number.
    pub(crate) fn part(&self, file: u32) -> Option<Arc<PartFile>> {
        self.with_current(file, |current| current.part.clone())
    }

    /// Whether the sender has recently abandoned this file.
    pub(crate) fn is_abandoned(&self, file: u32) -> bool {
        lock(&self.state).abandoned.contains(&file)
    }

    /// Plaintext bytes received of the arriving file, and its size.
    pub(crate) fn arrived(&self) -> Option<(u64, Option<u64>)> {
        let state = lock(&self.state);
        state.current.as_ref().map(|current| (current.part.written_bytes(), current.part.size_bytes))
    }

    fn report(&self) -> Result<(), Error> {
        let (file, part, streams) = {
            let state = lock(&self.state);
            let open = state.connections.iter().filter(|(_, connection)| connection.is_open);
            let streams = open.map(|(&stream, connection)| (stream, connection.batches)).collect();
            let current = state.current.as_ref();
            (current.map_or(0, |current| current.file), current.map(|current| current.part.clone()), streams)
        };
        let synced_chunks = part.map_or(0, |part| part.synced_chunks());
        self.send(&Reply::Progress { file, synced_chunks, streams })
    }

    // Data connections

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
        });
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

    fn handle_lost(&self, stream: u16) -> Result<(), Error> {
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

    /// Waits up to [`DRAIN_TIME`] until the data connections have ended.
    fn await_data_connections(&self, server: &Server<'_>) {
        let until = Instant::now() + DRAIN_TIME;
        let mut state = lock(&self.state);
        let is_wanted = |state: &State| state.reason.is_none() && server.stopped().is_none();
        while is_wanted(&state) && state.connections.values().any(|connection| connection.is_open) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            state = self.changed.wait_timeout(state, left.min(POLL_INTERVAL)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    // Disk

    /// Closes connections that were reported lost [`LOST_TIME`] ago and are still open.
    fn close_lost(&self) {
        for connection in lock(&self.state).connections.values() {
            if connection.is_open && connection.lost.is_some_and(|since| since.elapsed() >= LOST_TIME) {
                connection.close();
            }
        }
    }

    fn sync_until_stopped(self: &Arc<Self>, server: &Server<'_>) {
        loop {
            self.close_lost();
            let due = {
                let mut state = lock(&self.state);
                let due = due(&mut state);
                if due.is_some() || self.stopped().is_some() {
                    due
                } else {
                    let (mut state, _) =
                        self.changed.wait_timeout(state, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner);
                    self::due(&mut state)
                }
            };
            let outcome = match due {
                Some(Due::Complete(part)) => self.complete(&part, server),
                Some(Due::Sync(part)) => part.sync().and_then(|()| self.report().or(Ok(()))),
                None if self.stopped().is_some() => return,
                None => Ok(()),
            };
            if let Err(denied) = outcome {
                self.end(denied.reason, denied.error);
                return;
            }
            if self.stopped().is_some() {
                return;
            }
        }
    }

    fn complete(self: &Arc<Self>, part: &PartFile, server: &Server<'_>) -> Result<(), Denied> {
        part.complete()?;
        let Some(current) = lock(&self.state).current.take() else { return Ok(()) };
        server.release(self, &current.path);
        server.update_progress();
        let folder = folder_name(&self.sender);
        let receipt = &Receipt::new(&server.base, &folder, &part.state_name("done"));
        let bytes = current.finish.unwrap_or(0);
        server.emit(&Event::Received { folder: &folder, name: &part.shown, bytes, receipt });
        // The sender may be gone: its next session gets `Complete`.
        let _ = self.send(&Reply::Confirmed { file: current.file });
        Ok(())
    }
}

/// Work of the disk thread.
enum Due {
    Complete(Arc<PartFile>),
    Sync(Arc<PartFile>),
}

fn due(state: &mut State) -> Option<Due> {
    let current = state.current.as_mut()?;
    if current.finish.is_some_and(|size| current.part.is_whole(size)) {
        current.is_completing = true;
        return Some(Due::Complete(current.part.clone()));
    }
    let (bytes, since) = current.part.unsynced()?;
    // A stream cannot be resumed, so it is synced once, at its end.
    let is_due = current.part.size_bytes.is_some() && (bytes >= SYNC_BYTES || since.elapsed() >= SYNC_TIME);
    is_due.then(|| Due::Sync(current.part.clone()))
}

/// Reads until the sender closes: closing a connection with unread bytes may lose the last bytes that were written to it.
fn read_until_closed(incoming: &mut Incoming) {
    let timeouts =
        Timeouts { deadline: Some(Instant::now() + Duration::from_secs(1)), ..Timeouts::idle(DRAIN_TIME, &|| None) };
    while let Ok(Some(_)) = incoming.read(&timeouts) {}
}
