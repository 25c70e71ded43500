//! Serves the requests of a session's control connection, on two threads. One reads requests and answers them: it looks for offered files
//! and listed entries, makes folders and links, and opens or removes an incomplete file. The other syncs what has arrived, writes the
//! journals, gives complete files their final names, confirms them and closes lost data connections: a slow sync does not look like a dead
//! receiver.

use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::receive::files::Receipt;
use crate::receive::options::{Event, folder_name};
use crate::receive::packs::ArrivingPack;
use crate::receive::server::Server;
use crate::receive::session::{
    ArrivingFile, DRAIN_TIME, MAX_ABANDONED, POLL_INTERVAL, POLL_PAUSE, ReceiveSession, SYNC_BYTES, State,
};
use crate::receive::store::{Denied, Offered, PartFile, SenderStore};
use crate::wire::link::Timeouts;
use crate::wire::message::{Entry, EntryStatus, MAX_LISTED_BYTES, MAX_LISTS, Metadata, Reply, Request, VersionId};
use crate::wire::names::path_of;
use crate::wire::noise::Incoming;
use tress_container::threads::start;
use tress_container::tree::shown_path;
use tress_container::workers::{OnDrop, lock};
use tress_container::{Error, ErrorKind, Refusal};

/// Age of unsynced data after which a sync is due.
const SYNC_TIME: Duration = Duration::from_secs(1);
/// How long an earlier session may take to release a file.
const TAKEOVER_TIME: Duration = Duration::from_secs(10);

/// A session, and what its requests are about.
pub(crate) struct Requests<'s> {
    pub(crate) session: &'s Arc<ReceiveSession>,
    pub(crate) store: &'s SenderStore,
    pub(crate) server: &'s Server<'s>,
}

/// A file that the sender offers.
struct Offer {
    file: u32,
    size_bytes: Option<u64>,
    restart: bool,
    identity: VersionId,
    metadata: Metadata,
    path: Vec<u8>,
}

impl Requests<'_> {
    /// Admits the sender, and serves the control connection until the sender is done. An unfinished file stays for the next session.
    pub(crate) fn run(&self, mut incoming: Incoming) -> Result<(), Error> {
        let result = thread::scope(|scope| {
            let guarded = || {
                let stop_on_panic = OnDrop(|| self.session.stop());
                self.sync_until_stopped();
                std::mem::forget(stop_on_panic);
            };
            let syncing = match start(scope, guarded) {
                Ok(syncing) => syncing,
                Err(error) => {
                    self.session.end(Refusal::TooMany, Some(error));
                    return Err(Error::new(ErrorKind::NoThread));
                }
            };
            let result = self.session.admit().and_then(|()| self.serve_requests(&mut incoming));
            if result.is_err() {
                self.await_data_connections();
            }
            self.session.stop();
            if let Err(panic) = syncing.join() {
                std::panic::resume_unwind(panic);
            }
            result
        });
        let (current, reason, error) = {
            let mut state = lock(&self.session.state);
            state.packs.clear();
            (state.current.take(), state.reason, state.error.take())
        };
        let shown = current.as_ref().map(|current| current.part.shown.clone());
        let named = |error: Error| shown.iter().fold(error, |error, path| error.at_entry(path.clone()));
        if let Some(current) = current {
            let kept = current.part.leave();
            // Release the lock on the file before the claim.
            let path = current.path;
            drop(current.part);
            self.server.release(self.session, &path);
            if let Err(Denied { error: Some(error), .. }) = kept {
                return Err(named(error));
            }
        }
        if reason.is_some() {
            read_until_closed(&mut incoming);
        }
        lock(&self.session.out).link().close();
        match (error, reason) {
            (Some(error), _) => Err(named(error)),
            (None, Some(reason)) => Err(named(self.server.declined(reason))),
            (None, None) => result,
        }
    }

    fn serve_requests(&self, incoming: &mut Incoming) -> Result<(), Error> {
        let stop = || self.session.stopped().or_else(|| self.server.stopped());
        loop {
            let message = match incoming.read(&Timeouts::idle(self.session.stall_time(), &stop)) {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Error::new(ErrorKind::Disconnected)),
                Err(error) if error.kind == ErrorKind::Interrupted => {
                    self.session.end(Refusal::Stopping, None);
                    return Err(error);
                }
                Err(error) if error.kind == ErrorKind::Protocol => return Err(self.protocol_error(error)),
                Err(error) => return Err(error),
            };
            let Ok(request) = Request::parse(&message) else { return Err(self.broken("malformed message")) };
            match request {
                Request::List { list, entries } => self.accept_list(list, entries)?,
                Request::PackEnd { list, void } => {
                    let pack = lock(&self.session.state).packs.get(&list).cloned();
                    if !pack.is_some_and(|pack| pack.end(void)) {
                        return Err(self.broken("end of no pack"));
                    }
                    self.session.changed.notify_all();
                }
                Request::Offer { file, size_bytes, restart, identity, metadata, path } => {
                    if lock(&self.session.state).current.is_some() {
                        return Err(self.broken("two files at the same time"));
                    }
                    self.take_number(file)?;
                    self.accept_offer(Offer { file, size_bytes, restart, identity, metadata, path })?;
                }
                Request::Holes { file, chunks } => self.leave_holes(file, &chunks)?,
                Request::Finish { file, size_bytes } => self.finish_file(file, size_bytes)?,
                Request::Abandon { file } => self.abandon_file(file),
                Request::Lost { stream } => self.session.handle_lost(stream)?,
                Request::Ping => self.session.report()?,
                Request::Bye if self.is_idle() => return Ok(()),
                _ => return Err(self.broken("unexpected message")),
            }
        }
    }

    /// Whether neither a file nor a pack is arriving.
    fn is_idle(&self) -> bool {
        let state = lock(&self.session.state);
        state.current.is_none() && state.packs.is_empty()
    }

    /// Checks that the number of a file or list is new.
    fn take_number(&self, number: u32) -> Result<(), Error> {
        let last = std::mem::replace(&mut lock(&self.session.state).last_file, number);
        if number > last { Ok(()) } else { Err(self.broken("file number is not above the last one")) }
    }

    fn accept_list(&self, list: u32, entries: Vec<Entry>) -> Result<(), Error> {
        self.take_number(list)?;
        let listed_bytes = entries.iter().map(Entry::content_bytes).fold(0, u64::saturating_add);
        let has_room = {
            let state = lock(&self.session.state);
            let open_bytes: u64 = state.packs.values().map(|pack| pack.size_bytes).sum();
            state.packs.len() < MAX_LISTS && listed_bytes <= MAX_LISTED_BYTES - open_bytes
        };
        if !has_room {
            return Err(self.broken("too much is listed"));
        }
        let (listed, reservation) = match self.store.list(&entries) {
            Ok(listed) => listed,
            Err(error) => {
                let Denied { reason, error } = error.into();
                self.session.end(reason, error);
                return Err(Error::new(ErrorKind::Declined(reason)));
            }
        };
        let mut statuses = Vec::with_capacity(entries.len());
        for (entry, status) in entries.iter().zip(listed) {
            statuses.push(status.unwrap_or_else(|denied| EntryStatus::Refused(self.note_refused(denied, &entry.path))));
        }
        if statuses.contains(&EntryStatus::Wanted) {
            let entries = entries.into_iter().zip(statuses.iter().copied()).collect();
            let pack = Arc::new(ArrivingPack::new(list, entries, reservation));
            lock(&self.session.state).packs.insert(list, pack);
        }
        self.session.send(&Reply::Statuses { list, statuses })
    }

    fn finish_file(&self, file: u32, size_bytes: u64) -> Result<(), Error> {
        let is_good = self.session.with_current(file, |current| {
            current.finish = Some(size_bytes);
            !current.part.contradicts(size_bytes)
        });
        if is_good != Some(true) {
            return Err(self.broken("file has another size than offered"));
        }
        self.session.changed.notify_all();
        Ok(())
    }

    fn leave_holes(&self, file: u32, chunks: &[Range<u64>]) -> Result<(), Error> {
        // A call on a file, for which no other session waits.
        let part = self.session.with_current(file, |current| current.part.clone());
        match part.map(|part| part.leave_holes(chunks)) {
            Some(Ok(true)) => Ok(()),
            Some(Err(error)) => {
                let Denied { reason, error } = error.into();
                self.session.end(reason, error);
                Err(Error::new(ErrorKind::Declined(reason)))
            }
            _ => Err(self.broken("holes are not in the file")),
        }
    }

    fn abandon_file(&self, file: u32) {
        let forgotten = |current: &mut ArrivingFile| current.file == file && !current.is_completing;
        let mut state = lock(&self.session.state);
        let given_up = state.current.take_if(forgotten);
        if given_up.is_some() {
            state.abandoned.truncate(MAX_ABANDONED - 1);
            state.abandoned.push_front(file);
        }
        drop(state);
        if let Some(current) = given_up {
            current.part.discard();
            self.server.release(self.session, &current.path);
        }
        self.server.update_progress();
    }

    /// Ends the session because the sender broke the protocol.
    fn protocol_error(&self, error: Error) -> Error {
        self.session.end(Refusal::Protocol, None);
        error
    }

    fn broken(&self, detail: &'static str) -> Error {
        self.protocol_error(Error::new(ErrorKind::Protocol).with_detail(detail))
    }

    fn deny(&self, denied: Denied, path: &[u8]) -> Result<(), Error> {
        let reason = self.note_refused(denied, path);
        self.session.send(&Reply::Refused { reason })
    }

    /// Reports that a file, folder or link was refused. Returns the reason.
    fn note_refused(&self, denied: Denied, path: &[u8]) -> Refusal {
        let error = denied.error.unwrap_or_else(|| self.server.declined(denied.reason));
        let error = error.at_entry(shown_path(path));
        self.server.emit(&Event::Refused { folder: &folder_name(&self.session.sender), error: &error });
        lock(&self.session.state).refused.get_or_insert((error, 0)).1 += 1;
        denied.reason
    }

    fn accept_offer(&self, offer: Offer) -> Result<(), Error> {
        let until = Instant::now() + TAKEOVER_TIME;
        // An earlier session of this sender may not have noticed that its connection is gone: the newer session wins.
        while let Err(other) = self.server.claim(self.session, &offer.path) {
            match gives_way(&other, &offer) {
                Some(true) => other.end(Refusal::TakenOver, None),
                Some(false) => return self.deny(Refusal::OtherVersion.into(), &offer.path),
                None => {}
            }
            if Instant::now() > until {
                return self.deny(Refusal::TooMany.into(), &offer.path);
            }
            self.pause()?;
        }
        let Offer { file, size_bytes, restart, identity, metadata, path } = offer;
        let offered = loop {
            match self.store.offer(&path, &identity, size_bytes, restart) {
                // Its last batches may still be on their way to the disk, or another receiver has locked the file.
                Err(Denied { reason: Refusal::TooMany, .. }) if Instant::now() < until => {
                    if let Err(error) = self.pause() {
                        self.server.release(self.session, &path);
                        return Err(error);
                    }
                }
                offered => break offered,
            }
        };
        let part = match offered {
            Ok(Offered::PartFile(mut part)) => {
                part.metadata = metadata;
                Arc::new(*part)
            }
            Ok(Offered::Complete) => {
                self.server.release(self.session, &path);
                return self.session.send(&Reply::Complete { file });
            }
            Err(denied) => {
                self.server.release(self.session, &path);
                return self.deny(denied, &path);
            }
        };
        let held = part.synced();
        lock(&self.session.state).current = Some(ArrivingFile { file, path, part, finish: None, is_completing: false });
        self.server.update_progress();
        self.session.send(&Reply::Resume { file, held })
    }

    /// Sleeps briefly. Returns an error if the session or the receiver ends.
    fn pause(&self) -> Result<(), Error> {
        if let Some(error) = self.session.stopped() {
            return Err(error);
        }
        if let Some(error) = self.server.stopped() {
            self.session.end(Refusal::Stopping, None);
            return Err(error);
        }
        thread::sleep(POLL_PAUSE);
        Ok(())
    }

    /// Waits up to [`DRAIN_TIME`] until the data connections have ended.
    fn await_data_connections(&self) {
        let until = Instant::now() + DRAIN_TIME;
        let mut state = lock(&self.session.state);
        state.has_lost_sender = true;
        let is_wanted = |state: &State| state.reason.is_none() && self.server.stopped().is_none();
        while is_wanted(&state) && state.connections.values().any(|connection| connection.is_open) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            state = self
                .session
                .changed
                .wait_timeout(state, left.min(POLL_INTERVAL))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn sync_until_stopped(&self) {
        loop {
            self.session.close_lost();
            let due = {
                let mut state = lock(&self.session.state);
                let due = due(&mut state);
                if due.is_some() || self.session.stopped().is_some() {
                    due
                } else {
                    let (mut state, _) =
                        self.session.changed.wait_timeout(state, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner);
                    self::due(&mut state)
                }
            };
            let outcome = match due {
                Some(Due::Packs(packs)) => self.commit(&packs),
                Some(Due::Complete(part)) => self.complete(&part),
                Some(Due::Sync(part)) => part.sync().and_then(|()| self.session.report().or(Ok(()))),
                None if self.session.stopped().is_some() => return,
                None => Ok(()),
            };
            if let Err(denied) = outcome {
                self.session.end(denied.reason, denied.error);
                return;
            }
            if self.session.stopped().is_some() {
                return;
            }
        }
    }

    /// Gives the files of whole packs their names, and confirms them.
    fn commit(&self, packs: &[Arc<ArrivingPack>]) -> Result<(), Denied> {
        let note = |_: &Denied| self.note_unreported(packs.iter().any(|pack| pack.has_named()));
        let results = self.store.commit(packs).inspect_err(note)?;
        let folder = &folder_name(&self.session.sender);
        for (pack, results) in packs.iter().zip(results) {
            let mut statuses: Vec<EntryStatus> = pack.entries.iter().map(|(_, status)| *status).collect();
            for (index, kept) in results {
                let entry = &pack.entries[index].0;
                statuses[index] = match kept {
                    Ok(None) => EntryStatus::Complete,
                    Ok(Some(recorded)) => {
                        let (name, bytes) = (&path_of(&entry.path).unwrap_or_default(), entry.content_bytes());
                        let receipt = &Receipt::new(&recorded, &self.server.base, folder);
                        self.server.emit(&Event::Received { folder, name, bytes, receipt });
                        EntryStatus::Complete
                    }
                    Err(denied) => EntryStatus::Refused(self.note_refused(denied, &entry.path)),
                };
            }
            lock(&self.session.state).packs.remove(&pack.list);
            // The sender may be gone: its next session gets the same statuses.
            let _ = self.session.send(&Reply::Statuses { list: pack.list, statuses });
        }
        self.server.update_progress();
        Ok(())
    }

    /// Reports that the disk failed after files got their names: in the sender's next session they count as complete.
    fn note_unreported(&self, has_named: bool) {
        if has_named {
            self.server.emit(&Event::Unreported);
        }
    }

    fn complete(&self, part: &PartFile) -> Result<(), Denied> {
        let completed = part.complete();
        if completed.as_ref().is_err_and(|denied| !matches!(denied.reason, Refusal::Exists | Refusal::Name)) {
            self.note_unreported(part.has_name());
            return completed.map(drop);
        }
        let Some(current) = lock(&self.session.state).current.take() else { return Ok(()) };
        self.server.release(self.session, &current.path);
        self.server.update_progress();
        let recorded = match completed {
            Ok(recorded) => recorded,
            // Somebody has taken the name, or its folder cannot take the file. The sender may be gone.
            Err(denied) => {
                match denied.reason {
                    Refusal::Exists => part.discard(),
                    _ => part.leave()?,
                }
                let _ = self.deny(denied, &current.path);
                return Ok(());
            }
        };
        let folder = &folder_name(&self.session.sender);
        let (bytes, receipt) = (current.finish.unwrap_or(0), &Receipt::new(&recorded, &self.server.base, folder));
        self.server.emit(&Event::Received { folder, name: &part.shown, bytes, receipt });
        // The sender may be gone: its next session gets `Complete`.
        let _ = self.session.send(&Reply::Confirmed { file: current.file });
        Ok(())
    }
}

/// Whether a session that has claimed a file leaves it to a session with this offer: not if it is receiving another version. `None` if the
/// claim is about to change: the session has not begun the file, is done with it, or has lost its sender.
fn gives_way(other: &ReceiveSession, offer: &Offer) -> Option<bool> {
    let state = lock(&other.state);
    let current = state.current.as_ref().filter(|current| current.path == offer.path)?;
    let gives_way = offer.restart || current.part.is_version(&offer.identity, offer.size_bytes);
    (gives_way || !state.has_lost_sender).then_some(gives_way)
}

/// Work of the disk thread.
enum Due {
    Packs(Vec<Arc<ArrivingPack>>),
    Complete(Arc<PartFile>),
    Sync(Arc<PartFile>),
}

fn due(state: &mut State) -> Option<Due> {
    let whole: Vec<_> = state.packs.values().filter(|pack| pack.is_whole()).cloned().collect();
    if !whole.is_empty() {
        return Some(Due::Packs(whole));
    }
    let current = state.current.as_mut()?;
    if current.finish.is_some_and(|size| current.part.is_whole(size)) {
        current.is_completing = true;
        return Some(Due::Complete(current.part.clone()));
    }
    let (bytes, since) = current.part.unsynced()?;
    let is_due = bytes >= SYNC_BYTES || since.elapsed() >= SYNC_TIME;
    is_due.then(|| Due::Sync(current.part.clone()))
}

/// Reads until the sender closes: closing a connection with unread bytes may lose the last bytes that were written to it.
fn read_until_closed(incoming: &mut Incoming) {
    let timeouts =
        Timeouts { deadline: Some(Instant::now() + Duration::from_secs(1)), ..Timeouts::idle(DRAIN_TIME, &|| None) };
    while let Ok(Some(_)) = incoming.read(&timeouts) {}
}
