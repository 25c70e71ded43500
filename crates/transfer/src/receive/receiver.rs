//! `receive`: listens on a port, and stores each sender's files in a separate folder.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use cap_std::fs::Dir;
use zeroize::Zeroizing;

use crate::receive::admission::{AdmissionGate, Allow, ConnectionPass, Limits, descriptor_limit};
use crate::receive::folders::open_base;
use crate::receive::incoming;
use crate::receive::quota::Quotas;
use crate::receive::receipt::Receipt;
use crate::receive::session::ReceiveSession;
use crate::receive::store::SenderStore;
use crate::wire::limits::END_TIME;
use crate::wire::link::{Link, Listener, Network, Tcp, Timeouts};
use crate::wire::message::{Reply, Request};
use crate::wire::noise::{self, NoisePublicKey};
use crate::wire::ticket::Ticket;
use tress_container::keys::KeyPair;
use tress_container::sys::{Os, System};
use tress_container::threads::start;
use tress_container::workers::{OnDrop, lock};
use tress_container::{Control, Error, ErrorKind, Refusal};

/// Options of [`receive`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReceiveOptions {
    /// Address and port to listen on; port 0 lets the system choose a free one.
    pub listen: String,
    /// Folder for all received files. It is made with mode 0700 if it is missing.
    pub folder: PathBuf,
    /// The senders that are accepted.
    pub allow: Allow,
    /// End after one session. Then a refused file makes [`receive`] return an error.
    pub once: bool,
    /// Limits on connections, sessions and storage.
    pub limits: Limits,
}

impl ReceiveOptions {
    /// Returns options that serve these senders until cancelled, with the limits of `tress receive`.
    pub fn new(listen: impl Into<String>, folder: impl Into<PathBuf>, allow: Allow) -> Self {
        Self { listen: listen.into(), folder: folder.into(), allow, once: false, limits: Limits::default() }
    }
}

/// An event that [`receive`] reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The receiver listens on this address.
    Listening(SocketAddr),
    /// A sender has begun a session.
    Admitted {
        /// The sender's folder, relative to the receiver's folder.
        folder: &'a str,
        /// The sender's IP address.
        from: IpAddr,
    },
    /// A file is complete and synced under its final name.
    Received {
        /// The sender's folder.
        folder: &'a str,
        /// Path relative to the sender's folder.
        name: &'a Path,
        /// Size in bytes.
        bytes: u64,
        /// Records that the file was reported.
        receipt: &'a Receipt,
    },
    /// A file or folder was refused.
    Refused {
        /// The sender's folder.
        folder: &'a str,
        /// The sender's name for the file, and the reason.
        error: &'a Error,
    },
    /// A connection was refused, or a session ended early.
    Failed {
        /// The peer's IP address.
        from: IpAddr,
        /// The reason.
        error: &'a Error,
    },
}

/// Name of a sender's folder: the first 16 bytes of its Noise key, in hexadecimal.
pub(crate) fn folder_name(sender: &NoisePublicKey) -> String {
    sender[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Receives files until `control` is cancelled, or with `once` until one session has ended.
///
/// # Errors
/// `BadIdentity` for a key pair without a Noise key; `Io` of the port and the folder; `Interrupted` when cancelled; with `once` the
/// error of the session.
///
/// # Examples
/// ```no_run
/// use tress_container::{Control, keys::KeyPair};
/// use tress_transfer::{Allow, Event, ReceiveOptions, receive};
///
/// let pair = KeyPair::parse(&std::fs::read_to_string("me.key")?)?;
/// let allow = Allow::read(std::fs::read("senders.txt")?.as_slice())?;
/// let options = ReceiveOptions::new("0.0.0.0:7878", "incoming", allow);
/// let print = |event: &Event<'_>| println!("{event:?}");
/// receive(&pair, &options, &print, &Control::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    let secret = noise::noise_key(pair)?;
    let at_port = |error: std::io::Error| Error::from(error).at(&options.listen);
    let stop = || control.is_cancelled().then(|| Error::new(ErrorKind::Interrupted));
    let listener = Listener::bind(&options.listen, &stop).map_err(at_port)?;
    let base = Arc::new(open_base(system, &options.folder)?);
    let server = Server {
        system,
        secret,
        options,
        base,
        gate: AdmissionGate::new(options.limits.clone(), descriptor_limit()),
        quotas: Quotas::new(options.limits.quota_bytes),
        sessions: Mutex::default(),
        claims: Mutex::default(),
        events,
        control,
        is_over: AtomicBool::new(false),
        outcome: Mutex::new(None),
    };
    server.emit(&Event::Listening(listener.address().map_err(at_port)?));
    thread::scope(|scope| {
        while server.stopped().is_none() {
            match listener.accept() {
                Ok(Some((link, address))) => {
                    let link: Arc<dyn Link> = network.accepted(link).into();
                    match server.gate.enter(address, &link, Instant::now()) {
                        Some(pass) => {
                            let server = &server;
                            // Without a thread only this connection is lost.
                            if let Err(error) = start(scope, move || server.serve(link, address, pass)) {
                                server.emit(&Event::Failed { from: address, error: &error });
                            }
                        }
                        None => link.close(),
                    }
                }
                Ok(None) => {}
                // Out of handles or memory: wait until other connections free some.
                Err(_) => thread::sleep(crate::wire::link::TICK),
            }
        }
        server.end_sessions();
    });
    if control.is_cancelled() {
        return Err(Error::new(ErrorKind::Interrupted));
    }
    lock(&server.outcome).take().unwrap_or(Ok(()))
}

fn declined(reason: Refusal, sender: &NoisePublicKey) -> Error {
    Error::new(ErrorKind::Declined(reason)).with_detail(format!("its key begins with {}", folder_name(sender)))
}

/// A sender and the name of one of its files.
type FileClaim = (NoisePublicKey, Vec<u8>);

/// A running receiver.
pub(crate) struct Server<'a> {
    system: &'static dyn System,
    secret: Zeroizing<[u8; 32]>,
    options: &'a ReceiveOptions,
    pub(crate) base: Arc<Dir>,
    gate: AdmissionGate,
    quotas: Quotas,
    sessions: Mutex<Vec<Arc<ReceiveSession>>>,
    /// The session that receives each arriving file.
    claims: Mutex<HashMap<FileClaim, Arc<ReceiveSession>>>,
    events: &'a (dyn Fn(&Event<'_>) + Sync),
    control: &'a Control,
    is_over: AtomicBool,
    /// With `once`, the result of the session.
    outcome: Mutex<Option<Result<(), Error>>>,
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

    /// Updates the progress: received bytes and total size of the arriving files.
    pub(crate) fn update_progress(&self) {
        let (mut done_bytes, mut total_bytes, mut is_known) = (0, 0_u64, true);
        for (arrived_bytes, size_bytes) in lock(&self.sessions).iter().filter_map(|session| session.arrived()) {
            done_bytes += arrived_bytes;
            total_bytes = total_bytes.saturating_add(size_bytes.unwrap_or(0));
            is_known &= size_bytes.is_some();
        }
        self.control.set_done_of(done_bytes, if is_known { total_bytes } else { 0 });
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
    fn end_sessions(&self) {
        let until = Instant::now() + 2 * END_TIME;
        while !lock(&self.sessions).is_empty() && Instant::now() < until {
            thread::sleep(crate::wire::link::TICK);
        }
        lock(&self.sessions).iter().for_each(|session| session.stop());
    }

    /// Registers a session. Returns `false` if its sender already has the most sessions that it may have.
    fn register(&self, session: &Arc<ReceiveSession>) -> bool {
        let mut sessions = lock(&self.sessions);
        let of_sender = sessions.iter().filter(|other| other.sender == session.sender).count();
        let has_room = of_sender < self.options.limits.sessions_per_sender;
        if has_room {
            sessions.push(session.clone());
        }
        has_room
    }

    /// Removes a session and its claims, even after a panic.
    fn unregister(&self, session: &Arc<ReceiveSession>) {
        lock(&self.sessions).retain(|other| !Arc::ptr_eq(other, session));
        lock(&self.claims).retain(|_, owner| !Arc::ptr_eq(owner, session));
        self.update_progress();
    }

    /// Serves a connection. It keeps its place until its report is made: connections must not outnumber the limits while reports wait.
    fn serve(&self, link: Arc<dyn Link>, from: IpAddr, pass: ConnectionPass<'_>) {
        let served = self.admit(&link, from, &pass);
        link.close();
        // A receiver that is stopping closes new connections without an event.
        if let Err(error) = served
            && !(error.kind == ErrorKind::Interrupted && self.stopped().is_some())
        {
            self.emit(&Event::Failed { from, error: &error });
        }
        drop(pass);
    }

    /// Performs the handshake, reads the first message, which identifies the sender, and serves the connection.
    fn admit(&self, link: &Arc<dyn Link>, from: IpAddr, pass: &ConnectionPass<'_>) -> Result<(), Error> {
        let limits = &self.options.limits;
        let begin = Instant::now();
        let stop = || self.stopped();
        let (mut incoming, mut outgoing, sender) =
            noise::respond(link.clone(), &self.secret, limits.handshake_time, &stop)?;
        pass.has_greeted();
        let timeouts = Timeouts {
            deadline: begin.checked_add(limits.handshake_time),
            ..Timeouts::idle(limits.handshake_time, &stop)
        };
        let mut refuse = |reason| {
            let _ = outgoing.write(&Reply::Refused { reason }.encode(), &timeouts);
            Err(declined(reason, &sender))
        };
        if !self.options.allow.admits(&sender) {
            // Read its message first: closing a connection with unread bytes may lose our answer.
            let _ = incoming.read(&timeouts);
            return refuse(Refusal::NotAdmitted);
        }
        // Everything so far may be a replay. This message proves that the sender holds its key.
        let Some(message) = incoming.read(&timeouts)? else { return Err(Error::new(ErrorKind::Disconnected)) };
        let request = Request::parse(&message);
        if !pass.authenticate(&sender, matches!(request, Ok(Request::Begin { .. }))) {
            return refuse(Refusal::TooMany);
        }
        match request {
            Ok(Request::Begin { streams }) if streams >= 1 => {
                let folder = folder_name(&sender);
                let (ticket, streams) = (Ticket::generate()?, streams.min(limits.streams.max(1)));
                let session = Arc::new(ReceiveSession::new(ticket, sender, streams, limits.stall_time, outgoing));
                if !self.register(&session) {
                    session.end(Refusal::TooMany, None);
                    return Err(declined(Refusal::TooMany, &sender));
                }
                // However the session ends, by a panic too, with `once` the receiver ends as well.
                let end = OnDrop(|| {
                    self.unregister(&session);
                    self.is_over.fetch_or(self.options.once, Ordering::AcqRel);
                });
                let store = SenderStore::open(self.system, &self.base, &folder, |root| self.quotas.of(&sender, root));
                let result = match store {
                    Ok(store) => {
                        self.emit(&Event::Admitted { folder: &folder, from });
                        session.run(incoming, &store, self)
                    }
                    Err(error) => {
                        session.end(Refusal::Io, None);
                        Err(Error::from(error).at(self.options.folder.join(folder)))
                    }
                };
                drop(end);
                if !self.options.once {
                    return result;
                }
                lock(&self.outcome).get_or_insert(result.and_then(|()| session.refused()));
                Ok(())
            }
            Ok(Request::Join { ticket, stream }) => {
                let session =
                    incoming::find(&self.sessions, |session| session.ticket == ticket && session.sender == sender);
                let Some(session) = session else {
                    // A data connection that arrives when its session has just ended is no fault: refuse it without an event.
                    let _ = refuse(Refusal::Ticket);
                    return Ok(());
                };
                if let Err(reason) = session.attach(stream, link.clone()) {
                    return refuse(reason);
                }
                if let Err(error) = outgoing.write(&Reply::Joined.encode(), &timeouts) {
                    session.detach(stream);
                    return Err(error);
                }
                incoming::serve(&session, stream, incoming, self)
            }
            _ => refuse(Refusal::Protocol),
        }
    }
}
