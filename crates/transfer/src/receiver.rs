//! `receive`: a port, the senders that are let in, and a folder for each.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use cap_std::fs::Dir;
use zeroize::Zeroizing;

use super::admission::{Allow, Gate, Limits, Pass};
use super::folders::open_base;
use super::incoming;
use super::link::{Link, Listener, Network, Patience, Tcp};
use super::noise::{self, PublicKey};
use super::quota::Quotas;
use super::session::{END_TIME, Session};
use super::source::{AtEnd, lock};
use super::store::Store;
use super::ticket::Ticket;
use super::wire::{Reply, Request};
use tress_container::keys::KeyPair;
use tress_container::sys::{Os, System};
use tress_container::threads::start;
use tress_container::{Control, Error, ErrorKind, Refusal};

/// How to receive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReceiveOptions {
    /// Address and port; port 0 takes a free one.
    pub listen: String,
    /// Where everything goes. Made, mode 0700, if there is no such folder.
    pub folder: PathBuf,
    /// Who may send.
    pub allow: Allow,
    /// End after one session. A file that was refused is an error then.
    pub once: bool,
    /// What is granted.
    pub limits: Limits,
}

impl ReceiveOptions {
    /// Serves these senders until it is ended, with the limits that the command has.
    pub fn new(listen: impl Into<String>, folder: impl Into<PathBuf>, allow: Allow) -> Self {
        Self { listen: listen.into(), folder: folder.into(), allow, once: false, limits: Limits::default() }
    }
}

/// What a receiver tells whoever runs it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// It takes connections here.
    Listening(SocketAddr),
    /// A sender has begun a session; its files go to this folder.
    Admitted {
        /// Below the receiver's folder.
        folder: &'a str,
        /// Where it comes from.
        from: IpAddr,
    },
    /// A file is complete, synced and named.
    Received {
        /// The sender's folder.
        folder: &'a str,
        /// Below the sender's folder.
        name: &'a Path,
        /// Its size.
        bytes: u64,
    },
    /// A file or folder was refused.
    Refused {
        /// The sender's folder.
        folder: &'a str,
        /// Which file, by the name that the sender gives it, and why.
        error: &'a Error,
    },
    /// A connection was refused, or a session ended before its sender was done.
    Failed {
        /// Where it came from.
        from: IpAddr,
        /// Why.
        error: &'a Error,
    },
}

/// Where a sender's files go, below the receiver's folder: the first 16 bytes of its Noise key, in hexadecimal.
pub(crate) fn folder_name(sender: &PublicKey) -> String {
    sender[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Receives until `control` is cancelled, or with `once` until one session has ended.
///
/// # Errors
/// `BadIdentity` for a key pair without a Noise key; `Io` of the port and the folder; `Interrupted`; with `once` the
/// failure of the session.
pub fn receive(
    pair: &KeyPair,
    options: &ReceiveOptions,
    events: &(dyn Fn(&Event<'_>) + Sync),
    control: &Control,
) -> Result<(), Error> {
    static OS: Os = Os;
    receive_on(&OS, &Tcp, pair, options, events, control)
}

pub(crate) fn receive_on(
    system: &'static dyn System,
    network: &dyn Network,
    pair: &KeyPair,
    options: &ReceiveOptions,
    events: &(dyn Fn(&Event<'_>) + Sync),
    control: &Control,
) -> Result<(), Error> {
    let secret = super::noise_key(pair)?;
    let at_port = |error: std::io::Error| Error::from(error).at(&options.listen);
    let listener = Listener::bind(&options.listen).map_err(at_port)?;
    let base = open_base(system, &options.folder)?;
    let server = Server {
        system,
        secret,
        options,
        base,
        gate: Gate::new(options.limits.clone()),
        quotas: Quotas::new(options.limits.quota_bytes),
        sessions: Mutex::default(),
        claims: Mutex::default(),
        events,
        control,
        is_over: AtomicBool::new(false),
        outcome: Mutex::new(None),
    };
    server.tell(&Event::Listening(listener.address().map_err(at_port)?));
    thread::scope(|scope| {
        while server.stopped().is_none() {
            match listener.accept() {
                Ok(Some((link, address))) => {
                    let link: Arc<dyn Link> = network.accepted(link).into();
                    match server.gate.enter(address, &link, Instant::now()) {
                        Some(pass) => {
                            let server = &server;
                            // No thread, no connection: the others go on.
                            if let Err(error) = start(scope, move || server.serve(link, address, pass)) {
                                server.tell(&Event::Failed { from: address, error: &error });
                            }
                        }
                        None => link.close(),
                    }
                }
                Ok(None) => {}
                // Out of handles or memory: others will give some back.
                Err(_) => thread::sleep(super::link::TICK),
            }
        }
        server.wind_up();
    });
    if control.is_cancelled() {
        return Err(Error::new(ErrorKind::Interrupted));
    }
    lock(&server.outcome).take().unwrap_or(Ok(()))
}

fn declined(reason: Refusal, sender: &PublicKey) -> Error {
    Error::new(ErrorKind::Declined(reason)).with_detail(format!("its key begins with {}", folder_name(sender)))
}

/// A sender's file, by its name.
type Claim = (PublicKey, Vec<u8>);

/// A running receiver.
pub(crate) struct Server<'a> {
    system: &'static dyn System,
    secret: Zeroizing<[u8; 32]>,
    options: &'a ReceiveOptions,
    base: Dir,
    gate: Gate,
    quotas: Quotas,
    sessions: Mutex<Vec<Arc<Session>>>,
    /// Which session a file is coming by.
    claims: Mutex<HashMap<Claim, Arc<Session>>>,
    events: &'a (dyn Fn(&Event<'_>) + Sync),
    control: &'a Control,
    is_over: AtomicBool,
    /// Of the one session.
    outcome: Mutex<Option<Result<(), Error>>>,
}

impl Server<'_> {
    pub(crate) fn stopped(&self) -> Option<Error> {
        let is_over = self.control.is_cancelled() || self.is_over.load(Ordering::Acquire);
        is_over.then(|| Error::new(ErrorKind::Interrupted))
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        (self.events)(event);
    }

    /// An error for this reason, with the limit that was exceeded.
    pub(crate) fn declined(&self, reason: Refusal) -> Error {
        let error = Error::new(ErrorKind::Declined(reason));
        match self.options.limits.quota_bytes {
            Some(bytes) if reason == Refusal::Quota => error.with_detail(format!("{bytes} bytes")),
            _ => error,
        }
    }

    /// Counts what is there of the files that are arriving.
    pub(crate) fn count(&self) {
        let (mut done_bytes, mut total_bytes, mut is_known) = (0, 0_u64, true);
        for (arrived_bytes, size_bytes) in lock(&self.sessions).iter().filter_map(|session| session.arrived()) {
            done_bytes += arrived_bytes;
            total_bytes = total_bytes.saturating_add(size_bytes.unwrap_or(0));
            is_known &= size_bytes.is_some();
        }
        self.control.set_done_of(done_bytes, if is_known { total_bytes } else { 0 });
    }

    /// Counts a batch that has arrived.
    pub(crate) fn count_batch(&self, plain_bytes: u64) {
        self.control.add_moved(plain_bytes);
        self.count();
    }

    /// Notes that a file comes by this session, unless it comes by another.
    pub(crate) fn claim(&self, session: &Arc<Session>, path: &[u8]) -> Result<(), Arc<Session>> {
        match lock(&self.claims).entry((session.sender, path.to_vec())) {
            std::collections::hash_map::Entry::Occupied(entry) => Err(entry.get().clone()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(session.clone());
                Ok(())
            }
        }
    }

    pub(crate) fn release(&self, session: &Arc<Session>, path: &[u8]) {
        let mut claims = lock(&self.claims);
        let key = (session.sender, path.to_vec());
        if claims.get(&key).is_some_and(|owner| Arc::ptr_eq(owner, session)) {
            claims.remove(&key);
        }
    }

    /// Lets the sessions tell their senders, and ends those that do not get that far: a sender that reads nothing must not keep
    /// the receiver.
    fn wind_up(&self) {
        let until = Instant::now() + 2 * END_TIME;
        while !lock(&self.sessions).is_empty() && Instant::now() < until {
            thread::sleep(super::link::TICK);
        }
        lock(&self.sessions).iter().for_each(|session| session.stop());
    }

    /// Counts a session among those of its sender, unless there are as many as there may be.
    fn enter(&self, session: &Arc<Session>) -> bool {
        let mut sessions = lock(&self.sessions);
        let of_sender = sessions.iter().filter(|other| other.sender == session.sender).count();
        let has_room = of_sender < self.options.limits.sessions_per_sender;
        if has_room {
            sessions.push(session.clone());
        }
        has_room
    }

    /// The session has ended, also by a panic: it holds no file any more.
    fn leave(&self, session: &Arc<Session>) {
        lock(&self.sessions).retain(|other| !Arc::ptr_eq(other, session));
        lock(&self.claims).retain(|_, owner| !Arc::ptr_eq(owner, session));
        self.count();
    }

    fn serve(&self, link: Arc<dyn Link>, from: IpAddr, pass: Pass<'_>) {
        // A receiver that ends cuts whoever connects in that moment.
        if let Err(error) = self.admit(&link, from, pass)
            && !(error.kind == ErrorKind::Interrupted && self.stopped().is_some())
        {
            self.tell(&Event::Failed { from, error: &error });
        }
        link.close();
    }

    /// Everything up to the first message, after which the sender is known, within the time for a handshake.
    fn admit(&self, link: &Arc<dyn Link>, from: IpAddr, pass: Pass<'_>) -> Result<(), Error> {
        let limits = &self.options.limits;
        let begin = Instant::now();
        let stop = || self.stopped();
        let (mut incoming, mut outgoing, sender) =
            noise::respond(link.clone(), &self.secret, limits.handshake_time, &stop)?;
        pass.has_greeted();
        let patience = Patience {
            deadline: begin.checked_add(limits.handshake_time),
            ..Patience::silence(limits.handshake_time, &stop)
        };
        let mut refuse = |reason| {
            let _ = outgoing.write(&Reply::Refused { reason }.encode(), &patience);
            Err(declined(reason, &sender))
        };
        if !self.options.allow.admits(&sender) {
            // Read what it says first: a connection closed with unread bytes may lose the answer.
            let _ = incoming.read(&patience);
            return refuse(Refusal::NotAdmitted);
        }
        // Up to here all may have been replayed. This message proves the key.
        let Some(message) = incoming.read(&patience)? else { return Err(Error::new(ErrorKind::Disconnected)) };
        if !pass.is_of(&sender) {
            return refuse(Refusal::TooMany);
        }
        match Request::parse(&message) {
            Ok(Request::Begin { streams }) if streams >= 1 => {
                let folder = folder_name(&sender);
                let (ticket, streams) = (Ticket::generate()?, streams.min(limits.streams.max(1)));
                let session = Arc::new(Session::new(ticket, sender, streams, limits.stall_time, outgoing));
                if !self.enter(&session) {
                    session.end(Refusal::TooMany, None);
                    return Err(declined(Refusal::TooMany, &sender));
                }
                let end = AtEnd(|| self.leave(&session));
                let store = match Store::open(self.system, &self.base, &folder, |root| self.quotas.of(&sender, root)) {
                    Ok(store) => store,
                    Err(error) => {
                        session.end(Refusal::Io, None);
                        return Err(Error::from(error).at(self.options.folder.join(folder)));
                    }
                };
                self.tell(&Event::Admitted { folder: &folder, from });
                let result = session.run(incoming, &store, self);
                drop(end);
                if !self.options.once {
                    return result;
                }
                let mut outcome = lock(&self.outcome);
                outcome.get_or_insert(result.and_then(|()| session.refused()));
                self.is_over.store(true, Ordering::Release);
                Ok(())
            }
            Ok(Request::Join { ticket, stream }) => {
                let session =
                    incoming::find(&self.sessions, |session| session.ticket == ticket && session.sender == sender);
                let Some(session) = session else { return refuse(Refusal::Ticket) };
                if let Err(reason) = session.attach(stream, link.clone()) {
                    return refuse(reason);
                }
                if let Err(error) = outgoing.write(&Reply::Joined.encode(), &patience) {
                    session.detach(stream);
                    return Err(error);
                }
                incoming::serve(&session, stream, incoming, self)
            }
            _ => refuse(Refusal::Protocol),
        }
    }
}
