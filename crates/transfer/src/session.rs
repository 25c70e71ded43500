//! A session at the receiver: one control connection, and what its data connections bring.
//!
//! The thread of the control connection answers the sender; a second one syncs, writes the journal and gives names, so
//! that a slow disk does not look like a dead receiver. Data connections have threads of their own (`incoming.rs`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::link::{Link, Patience};
use super::noise::{Incoming, Outgoing, PublicKey};
use super::receiver::{Event, Server, folder_name};
use super::source::{AtEnd, lock};
use super::store::{Denied, Offered, Part, Store};
use super::ticket::Ticket;
use super::wire::{MAX_STREAM_NUMBERS, Reply, Request};
use tress_container::threads::start;
use tress_container::{Error, ErrorKind, Refusal};

/// Unsynced data after which a sync is due, in bytes and in time.
const SYNC_BYTES: u64 = 8 << 20;
const SYNC_TIME: Duration = Duration::from_secs(1);
/// How long data that was on its way may take to arrive after the control connection ended.
const DRAIN_TIME: Duration = Duration::from_secs(2);
/// The same for a data connection that the sender has lost.
const LOST_TIME: Duration = Duration::from_millis(500);
/// How long an earlier session may take to let go of a file.
const TAKEOVER_TIME: Duration = Duration::from_secs(10);
/// Files that were given up and are remembered.
const MAX_ABANDONED: usize = 64;
const PULSE: Duration = Duration::from_millis(200);
/// How long a sender may take to hear that its session ends.
pub(crate) const END_TIME: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct Session {
    pub(crate) ticket: Ticket,
    pub(crate) sender: PublicKey,
    /// Data connections at the same time.
    streams: u16,
    stall_time: Duration,
    out: Mutex<Outgoing>,
    state: Mutex<State>,
    bell: Condvar,
    ended: AtomicBool,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    /// The number of the last offer, whatever became of it.
    last_file: u32,
    /// Files that the sender gave up last: batches of them may still be on their way.
    abandoned: VecDeque<u32>,
    connections: BTreeMap<u16, Connection>,
    /// Why this end ended it.
    reason: Option<Refusal>,
    error: Option<Error>,
    /// The first file or folder that was refused, and the number of all of them.
    refused: Option<(Error, u64)>,
}

struct Current {
    file: u32,
    path: Vec<u8>,
    part: Arc<Part>,
    /// The size, once all of the input was read.
    finish: Option<u64>,
    /// It is being synced and named: too late for the sender to forget it.
    is_completing: bool,
}

struct Connection {
    /// `None` for one that never came, or is gone: its socket goes with it.
    link: Option<Arc<dyn Link>>,
    batches: u64,
    is_open: bool,
    /// When the sender said that it lost it.
    lost: Option<Instant>,
}

impl Connection {
    fn close(&self) {
        if let Some(link) = &self.link {
            link.close();
        }
    }
}

impl Session {
    pub(crate) fn new(ticket: Ticket, sender: PublicKey, streams: u16, stall_time: Duration, out: Outgoing) -> Self {
        let (out, state, bell) = (Mutex::new(out), Mutex::default(), Condvar::new());
        Self { ticket, sender, streams, stall_time, out, state, bell, ended: AtomicBool::new(false) }
    }

    /// What ends every wait of this session.
    pub(crate) fn stopped(&self) -> Option<Error> {
        self.ended.load(Ordering::Acquire).then(|| Error::new(ErrorKind::Disconnected))
    }

    pub(crate) fn stall_time(&self) -> Duration {
        self.stall_time
    }

    fn send(&self, reply: &Reply) -> Result<(), Error> {
        let stop = || self.stopped();
        lock(&self.out).write(&reply.encode(), &Patience::silence(self.stall_time, &stop))
    }

    /// Ends the session from this side, and tells the sender why.
    pub(crate) fn end(&self, reason: Refusal, error: Option<Error>) {
        {
            let mut state = lock(&self.state);
            if state.reason.is_some() || self.stopped().is_some() {
                return;
            }
            state.reason = Some(reason);
            state.error = error;
        }
        // Best effort: the sender may be gone, or another thread may be writing to it and get no further. Not for long: whoever
        // ends it has other things to do.
        let until = Instant::now() + END_TIME;
        let out = loop {
            match self.out.try_lock() {
                Ok(out) => break Some(out),
                Err(TryLockError::Poisoned(poisoned)) => break Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() > until => break None,
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        };
        if let Some(mut out) = out {
            let patience = Patience { deadline: Some(until), ..Patience::silence(END_TIME, &|| None) };
            let _ = out.write(&Reply::Refused { reason }.encode(), &patience);
        }
        self.stop();
    }

    /// Ends all of its waits.
    pub(crate) fn stop(&self) {
        self.ended.store(true, Ordering::Release);
        for connection in lock(&self.state).connections.values() {
            connection.close();
        }
        self.bell.notify_all();
    }

    /// Tells the sender that it is in.
    fn begin(&self) -> Result<(), Error> {
        self.send(&Reply::Admitted { ticket: self.ticket.clone(), streams: self.streams })
    }

    /// What was refused in this session.
    pub(crate) fn refused(&self) -> Result<(), Error> {
        match lock(&self.state).refused.take() {
            None => Ok(()),
            Some((error, 1)) => Err(error),
            Some((error, count)) => Err(error.with_more(count - 1)),
        }
    }

    /// Admits the sender, and serves the control connection until the sender says that it is done. What it left unfinished stays for the next
    /// session.
    pub(crate) fn run(
        self: &Arc<Self>,
        mut incoming: Incoming,
        store: &Store,
        server: &Server<'_>,
    ) -> Result<(), Error> {
        let result = thread::scope(|scope| {
            let guarded = || {
                let alarm = AtEnd(|| self.stop());
                self.sync_until_stopped(server);
                std::mem::forget(alarm);
            };
            let syncing = match start(scope, guarded) {
                Ok(syncing) => syncing,
                Err(error) => {
                    self.end(Refusal::TooMany, Some(error));
                    return Err(Error::new(ErrorKind::NoThread));
                }
            };
            let result = self.begin().and_then(|()| self.obey(&mut incoming, store, server));
            if result.is_err() {
                self.drain(server);
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
        let named = |error: Error| shown.iter().fold(error, |error, path| error.at(path));
        if let Some(current) = current {
            let kept = if current.part.size_bytes.is_some() {
                current.part.sync()
            } else {
                current.part.discard();
                Ok(())
            };
            // The file's lock goes before the claim does.
            let path = current.path;
            drop(current.part);
            server.release(self, &path);
            if let Err(Denied { error: Some(error), .. }) = kept {
                return Err(named(error));
            }
        }
        if reason.is_some() {
            linger(&mut incoming);
        }
        lock(&self.out).link().close();
        match (error, reason) {
            (Some(error), _) => Err(named(error)),
            (None, Some(reason)) => Err(named(server.declined(reason))),
            (None, None) => result,
        }
    }

    fn obey(self: &Arc<Self>, incoming: &mut Incoming, store: &Store, server: &Server<'_>) -> Result<(), Error> {
        let stop = || self.stopped().or_else(|| server.stopped());
        loop {
            let message = match incoming.read(&Patience::silence(self.stall_time, &stop)) {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Error::new(ErrorKind::Disconnected)),
                Err(error) if error.kind == ErrorKind::Interrupted => {
                    self.end(Refusal::Stopping, None);
                    return Err(error);
                }
                Err(error) if error.kind == ErrorKind::Protocol => return Err(self.broken(error)),
                Err(error) => return Err(error),
            };
            let Ok(request) = Request::parse(&message) else {
                return Err(self.broken(Error::new(ErrorKind::Protocol).with_detail("malformed message")));
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
                    let broken = |detail| Err(self.broken(Error::new(ErrorKind::Protocol).with_detail(detail)));
                    if !is_alone {
                        return broken("two files at the same time");
                    }
                    if file <= last_file {
                        return broken("file number is not above the last one");
                    }
                    self.take_up(file, size_bytes, restart, &identity, path, store, server)?;
                }
                Request::Finish { file, size_bytes } => {
                    let is_good = self.with_current(file, |current| {
                        current.finish = Some(size_bytes);
                        !current.part.contradicts(size_bytes)
                    });
                    if is_good != Some(true) {
                        return Err(self.broken(
                            Error::new(ErrorKind::Protocol).with_detail("file has another size than offered"),
                        ));
                    }
                    self.bell.notify_all();
                }
                Request::Abandon { file } => {
                    let forgotten = |current: &mut Current| current.file == file && !current.is_completing;
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
                    server.count();
                }
                Request::Lost { stream } => self.lose(stream)?,
                Request::Ping => self.report()?,
                Request::Bye if lock(&self.state).current.is_none() => return Ok(()),
                _ => return Err(self.broken(Error::new(ErrorKind::Protocol).with_detail("unexpected message"))),
            }
        }
    }

    /// The sender broke the protocol: it is told, and the session ends.
    fn broken(&self, error: Error) -> Error {
        self.end(Refusal::Protocol, None);
        error
    }

    fn deny(&self, denied: Denied, path: &[u8], server: &Server<'_>) -> Result<(), Error> {
        let error = denied.error.unwrap_or_else(|| server.declined(denied.reason));
        let error = error.at(&*String::from_utf8_lossy(path));
        server.tell(&Event::Refused { folder: &folder_name(&self.sender), error: &error });
        lock(&self.state).refused.get_or_insert((error, 0)).1 += 1;
        self.send(&Reply::Refused { reason: denied.reason })
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    fn take_up(
        self: &Arc<Self>,
        file: u32,
        size_bytes: Option<u64>,
        restart: bool,
        identity: &[u8; 32],
        path: Vec<u8>,
        store: &Store,
        server: &Server<'_>,
    ) -> Result<(), Error> {
        let until = Instant::now() + TAKEOVER_TIME;
        // An earlier session of this sender may not have noticed its end yet; the newer one goes first.
        while let Err(other) = server.claim(self, &path) {
            other.end(Refusal::TakenOver, None);
            if Instant::now() > until {
                return self.deny(Refusal::TooMany.into(), &path, server);
            }
            self.pause(server)?;
        }
        let offered = loop {
            match store.offer(&path, identity, size_bytes, restart) {
                // Its last batches may still be on their way to the disk, or another receiver has the file.
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
            Ok(Offered::Part(part)) => Arc::new(*part),
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
        lock(&self.state).current = Some(Current { file, path, part, finish: None, is_completing: false });
        server.count();
        self.send(&Reply::Resume { file, held })
    }

    /// A moment, unless the session or the receiver ends.
    fn pause(&self, server: &Server<'_>) -> Result<(), Error> {
        if let Some(error) = self.stopped() {
            return Err(error);
        }
        if let Some(error) = server.stopped() {
            self.end(Refusal::Stopping, None);
            return Err(error);
        }
        thread::sleep(PAUSE);
        Ok(())
    }

    fn with_current<T>(&self, file: u32, look: impl FnOnce(&mut Current) -> T) -> Option<T> {
        let mut state = lock(&self.state);
        state.current.as_mut().filter(|current| current.file == file).map(look)
    }

    /// The file of this number, if it is the one that is coming.
    pub(crate) fn part(&self, file: u32) -> Option<Arc<Part>> {
        self.with_current(file, |current| current.part.clone())
    }

    /// Whether the sender gave up this file not long ago.
    pub(crate) fn is_abandoned(&self, file: u32) -> bool {
        lock(&self.state).abandoned.contains(&file)
    }

    /// Plaintext that is there of the file that is coming, and its size.
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

    // Data connections.

    /// Takes up a data connection under a number that was not used before.
    pub(crate) fn attach(&self, stream: u16, link: Arc<dyn Link>) -> Result<(), Refusal> {
        let mut state = lock(&self.state);
        if self.stopped().is_some() || stream >= MAX_STREAM_NUMBERS || state.connections.contains_key(&stream) {
            return Err(Refusal::Ticket);
        }
        let in_use = |connection: &&Connection| connection.is_open && connection.lost.is_none();
        if state.connections.values().filter(in_use).count() >= usize::from(self.streams) {
            return Err(Refusal::TooMany);
        }
        state.connections.insert(stream, Connection { link: Some(link), batches: 0, is_open: true, lost: None });
        Ok(())
    }

    /// One more batch of this connection is verified and written.
    pub(crate) fn count(&self, stream: u16) {
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
            self.bell.notify_all();
        }
    }

    /// A data connection has ended, and all that it brought is written.
    pub(crate) fn detach(&self, stream: u16) {
        let batches = {
            let mut state = lock(&self.state);
            let Some(connection) = state.connections.get_mut(&stream) else { return };
            connection.is_open = false;
            connection.close();
            connection.link = None;
            connection.batches
        };
        self.bell.notify_all();
        // If this fails, the control connection has ended as well, and the next session asks anew.
        let _ = self.send(&Reply::Drained { stream, batches });
    }

    fn lose(&self, stream: u16) -> Result<(), Error> {
        let known = {
            let mut state = lock(&self.state);
            match state.connections.get_mut(&stream) {
                Some(connection) => {
                    // What is still on its way is read, if it comes soon; then `detach` answers, unless it has done so.
                    connection.lost.get_or_insert_with(Instant::now);
                    true
                }
                None if stream < MAX_STREAM_NUMBERS => {
                    // It never came, and must not come any more.
                    state.connections.insert(stream, Connection { link: None, batches: 0, is_open: false, lost: None });
                    false
                }
                None => true,
            }
        };
        if known { Ok(()) } else { self.send(&Reply::Drained { stream, batches: 0 }) }
    }

    /// Waits for the data connections to end by themselves, for a while.
    fn drain(&self, server: &Server<'_>) {
        let until = Instant::now() + DRAIN_TIME;
        let mut state = lock(&self.state);
        let is_wanted = |state: &State| state.reason.is_none() && server.stopped().is_none();
        while is_wanted(&state) && state.connections.values().any(|connection| connection.is_open) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            state = self.bell.wait_timeout(state, left.min(PULSE)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    // Disk.

    /// Closes what was lost a while ago and did not end by itself.
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
                    let (mut state, _) = self.bell.wait_timeout(state, PULSE).unwrap_or_else(PoisonError::into_inner);
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

    fn complete(self: &Arc<Self>, part: &Part, server: &Server<'_>) -> Result<(), Denied> {
        part.complete()?;
        let Some(current) = lock(&self.state).current.take() else { return Ok(()) };
        server.release(self, &current.path);
        server.count();
        let folder = folder_name(&self.sender);
        server.tell(&Event::Received { folder: &folder, name: &part.shown, bytes: current.finish.unwrap_or(0) });
        // The sender may be gone: then its next session hears of it.
        let _ = self.send(&Reply::Confirmed { file: current.file });
        Ok(())
    }
}

/// Work for the disk.
enum Due {
    Complete(Arc<Part>),
    Sync(Arc<Part>),
}

fn due(state: &mut State) -> Option<Due> {
    let current = state.current.as_mut()?;
    if current.finish.is_some_and(|size| current.part.is_whole(size)) {
        current.is_completing = true;
        return Some(Due::Complete(current.part.clone()));
    }
    let (bytes, since) = current.part.unsynced()?;
    // A stream that cannot be resumed is synced once, at its end.
    let is_due = current.part.size_bytes.is_some() && (bytes >= SYNC_BYTES || since.elapsed() >= SYNC_TIME);
    is_due.then(|| Due::Sync(current.part.clone()))
}

/// Reads on until the sender closes: a connection that is closed with unread bytes may lose the last ones to the other end.
fn linger(incoming: &mut Incoming) {
    let patience =
        Patience { deadline: Some(Instant::now() + Duration::from_secs(1)), ..Patience::silence(DRAIN_TIME, &|| None) };
    while let Ok(Some(_)) = incoming.read(&patience) {}
}
