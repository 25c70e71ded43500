//! A session at the sender, as all of its threads see it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::send::dial::pause_until;
use crate::send::ledger::Ledger;
use crate::send::options::{SendEvent, SendOptions};
use crate::send::packs::Packs;
use crate::send::queue::SendQueue;
use crate::send::rate::RateLimit;
use crate::send::steering::AdaptivePlanner;
use crate::send::trace::ChromeTrace;
use crate::wire::limits::{END_TIME, HANDSHAKE_TIME};
use crate::wire::link::{Network, TICK, Timeouts};
use crate::wire::message::{Reply, Request};
use crate::wire::noise::{self, NoisePublicKey, Outgoing};
use crate::wire::ticket::Ticket;
use tress_container::sys::System;
use tress_container::workers::lock;
use tress_container::{Control, Error, ErrorKind};

/// A session at the sender, shared by its threads.
pub(crate) struct SendSession<'a> {
    pub(super) system: &'static dyn System,
    pub(super) network: &'a dyn Network,
    pub(crate) options: &'a SendOptions,
    pub(super) on_event: &'a (dyn Fn(&SendEvent<'_>) + Sync),
    pub(crate) control: &'a Control,
    pub(super) secret: Zeroizing<[u8; 32]>,
    pub(super) receiver: NoisePublicKey,
    /// The address of the control connection's other end.
    pub(super) to: String,
    pub(super) ticket: Ticket,
    pub(crate) stall_time: Duration,
    pub(super) out: Mutex<Outgoing>,
    pub(crate) ledger: Ledger,
    pub(crate) queue: SendQueue,
    pub(crate) packs: Packs,
    pub(crate) rate: Option<RateLimit>,
    pub(crate) trace: ChromeTrace,
    pub(crate) planner: AdaptivePlanner,
    /// Cancelled when the session ends, to end a wait for a stream.
    pub(super) reading: Arc<Control>,
    /// Whether a request awaits its answer. A refusal at any other time ends the session.
    pub(super) takes_refusals: AtomicBool,
    pub(super) is_over: AtomicBool,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    /// Held until every connection has a thread or is marked as dead. Workers wait for it, so that they do not seal for a dead one.
    pub(super) starting: Mutex<()>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) failure: Option<Error>,
    /// Error of the data connection that was lost last.
    pub(super) loss: Option<Error>,
}

impl SendSession<'_> {
    /// Returns the error that ends every wait, once the session has ended or was cancelled.
    pub(crate) fn stopped(&self) -> Option<Error> {
        let is_over = self.is_over.load(Ordering::Acquire) || self.control.is_cancelled();
        is_over.then(|| Error::new(ErrorKind::Interrupted))
    }

    /// Ends the session. The first error is kept.
    pub(crate) fn fail(&self, error: Error) {
        lock(&self.state).failure.get_or_insert(error);
        self.stop();
    }

    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::Release);
        self.reading.cancel();
        self.ledger.wake();
        self.queue.wake();
        self.packs.wake();
        self.changed.notify_all();
    }

    /// Records why a data connection was lost, for [`fail_by_loss`](Self::fail_by_loss).
    pub(crate) fn record_loss(&self, error: Error) {
        lock(&self.state).loss = Some(error);
    }

    pub(crate) fn fail_by_loss(&self) {
        let loss = lock(&self.state).loss.take();
        self.fail(loss.unwrap_or_else(|| Error::new(ErrorKind::Disconnected)));
    }

    /// Sleeps until this time, or until the session ends.
    pub(crate) fn pause_until(&self, until: Instant) {
        pause_until(until, &|| self.stopped());
    }

    /// Waits up to two seconds until the receiver has read everything and closed. Closing a connection with unread bytes may lose the last
    /// bytes that were written to it.
    pub(super) fn await_hangup(&self) {
        let until = Instant::now() + END_TIME;
        let mut state = lock(&self.state);
        while self.stopped().is_none()
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            state = self.changed.wait_timeout(state, left.min(TICK)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends a request on the control connection. A failure ends the session.
    pub(crate) fn request(&self, request: &Request) {
        let stop = || self.stopped();
        let written = lock(&self.out).write(&request.encode(), &Timeouts::idle(self.stall_time, &stop));
        if let Err(error) = written
            && self.stopped().is_none()
        {
            self.fail(error.at(&self.options.to));
        }
    }

    /// Opens the data connection with this number.
    pub(crate) fn join(&self, stream: u16) -> Result<Outgoing, Error> {
        let stop = || self.stopped();
        let link = self.network.connect(&self.to, &stop).map_err(|error| Error::from(error).at(&self.options.to))?;
        let (mut incoming, mut out) = noise::initiate(link.into(), &self.secret, &self.receiver, HANDSHAKE_TIME, &stop)
            .map_err(|error| error.at(&self.options.to))?;
        let timeouts = Timeouts::idle(HANDSHAKE_TIME, &stop);
        out.write(&Request::Join { ticket: self.ticket.clone(), stream }.encode(), &timeouts)?;
        let message = incoming.read(&timeouts)?.ok_or_else(|| Error::new(ErrorKind::Disconnected))?;
        match Reply::parse(&message) {
            Ok(Reply::Joined) => Ok(out),
            Ok(Reply::Refused { reason }) => Err(Error::new(ErrorKind::Refused(reason))),
            _ => Err(Error::new(ErrorKind::Protocol)),
        }
        .map_err(|error| error.at(&self.options.to))
    }
}
