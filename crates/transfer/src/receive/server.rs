//! A running receiver, as all of its threads see it: its sessions, and which of them receives which file.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use cap_std::fs::Dir;
use zeroize::Zeroizing;

use crate::receive::admission::AdmissionGate;
use crate::receive::files::OpenJournals;
use crate::receive::options::{Event, ReceiveOptions};
use crate::receive::quota::Quotas;
use crate::receive::session::ReceiveSession;
use crate::wire::limits::END_TIME;
use crate::wire::noise::NoisePublicKey;
use tress_container::sys::System;
use tress_container::workers::lock;
use tress_container::{Control, Error, ErrorKind, Refusal};

/// A sender and the name of one of its files.
type FileClaim = (NoisePublicKey, Vec<u8>);

/// A running receiver.
pub(crate) struct Server<'a> {
    pub(super) system: &'static dyn System,
    pub(super) secret: Zeroizing<[u8; 32]>,
    pub(super) options: &'a ReceiveOptions,
    pub(crate) base: Arc<Dir>,
    pub(super) gate: AdmissionGate,
    pub(super) quotas: Quotas,
    pub(super) journals: OpenJournals,
    pub(super) sessions: Mutex<Vec<Arc<ReceiveSession>>>,
    /// The session that receives each arriving file.
    pub(super) claims: Mutex<HashMap<FileClaim, Arc<ReceiveSession>>>,
    pub(super) events: &'a (dyn Fn(&Event<'_>) + Sync),
    pub(super) control: &'a Control,
    pub(super) is_over: AtomicBool,
    /// With `once`, the result of the session.
    pub(super) outcome: Mutex<Option<Result<(), Error>>>,
}

impl Server<'_> {
    pub(crate) fn stopped(&self) -> Option<Error> {
        let is_over = self.control.is_cancelled() || self.is_over.load(Ordering::Acquire);
        is_over.then(|| Error::new(ErrorKind::Interrupted))
    }

    pub(crate) fn emit(&self, event: &Event<'_>) {
        (self.events)(event);
    }

    /// Returns an error for this reason. For a quota it names the limit.
    pub(crate) fn declined(&self, reason: Refusal) -> Error {
        let error = Error::new(ErrorKind::Declined(reason));
        match self.options.limits.quota_bytes {
            Some(bytes) if reason == Refusal::Quota => error.with_detail(format!("{bytes} bytes")),
            _ => error,
        }
    }

    /// Updates the progress. Two threads may count at the same time: the one that sets its counts last counts again.
    pub(crate) fn update_progress(&self) {
        let mut counts = self.counts();
        loop {
            let (done_bytes, total_bytes) = counts;
            self.control.set_done_of(done_bytes, total_bytes);
            counts = self.counts();
            if counts == (done_bytes, total_bytes) {
                break;
            }
        }
    }

    /// Received bytes and total size of the arriving files; 0 if a size is not known.
    fn counts(&self) -> (u64, u64) {
        let (mut done_bytes, mut total_bytes, mut is_known) = (0, 0_u64, true);
        for (arrived_bytes, size_bytes) in lock(&self.sessions).iter().flat_map(|session| session.arrived()) {
            done_bytes += arrived_bytes;
            total_bytes = total_bytes.saturating_add(size_bytes.unwrap_or(0));
            is_known &= size_bytes.is_some();
        }
        (done_bytes, if is_known { total_bytes } else { 0 })
    }

    /// Counts a received batch.
    pub(crate) fn count_batch(&self, plain_bytes: u64) {
        self.control.add_moved(plain_bytes);
        self.update_progress();
    }

    /// Claims a file for this session. If another session has it, returns that session.
    pub(crate) fn claim(&self, session: &Arc<ReceiveSession>, path: &[u8]) -> Result<(), Arc<ReceiveSession>> {
        match lock(&self.claims).entry((session.sender, path.to_vec())) {
            std::collections::hash_map::Entry::Occupied(entry) => Err(entry.get().clone()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(session.clone());
                Ok(())
            }
        }
    }

    pub(crate) fn release(&self, session: &Arc<ReceiveSession>, path: &[u8]) {
        let mut claims = lock(&self.claims);
        let key = (session.sender, path.to_vec());
        if claims.get(&key).is_some_and(|owner| Arc::ptr_eq(owner, session)) {
            claims.remove(&key);
        }
    }

    /// Gives the sessions time to notify their senders, then ends those that are left: a sender that reads nothing must not block
    /// the receiver.
    pub(super) fn end_sessions(&self) {
        let until = Instant::now() + 2 * END_TIME;
        while !lock(&self.sessions).is_empty() && Instant::now() < until {
            thread::sleep(crate::wire::link::TICK);
        }
        lock(&self.sessions).iter().for_each(|session| session.stop());
    }

    /// Registers a session. Returns `false` if its sender already has the most sessions that it may have.
    pub(super) fn register(&self, session: &Arc<ReceiveSession>) -> bool {
        let mut sessions = lock(&self.sessions);
        let of_sender = sessions.iter().filter(|other| other.sender == session.sender).count();
        let has_room = of_sender < self.options.limits.sessions_per_sender;
        if has_room {
            sessions.push(session.clone());
        }
        has_room
    }

    /// Removes a session and its claims, even after a panic.
    pub(super) fn unregister(&self, session: &Arc<ReceiveSession>) {
        lock(&self.sessions).retain(|other| !Arc::ptr_eq(other, session));
        lock(&self.claims).retain(|_, owner| !Arc::ptr_eq(owner, session));
        self.update_progress();
    }
}
