//! `receive`: listens on a port, and stores each sender's files in a separate folder.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use cap_std::fs::Dir;

use crate::receive::admission::{AdmissionGate, ConnectionPass, descriptor_limit};
use crate::receive::files::OpenJournals;
use crate::receive::folders::open_base;
use crate::receive::incoming;
use crate::receive::options::{Event, ReceiveOptions, folder_name};
use crate::receive::quota::Quotas;
use crate::receive::requests::Requests;
use crate::receive::server::Server;
use crate::receive::session::ReceiveSession;
use crate::receive::store::SenderStore;
use crate::wire::link::{Link, Listener, Network, Tcp, Timeouts};
use crate::wire::message::{Reply, Request};
use crate::wire::noise::{self, NoisePublicKey};
use crate::wire::ticket::Ticket;
use tress_container::keys::KeyPair;
use tress_container::sys::{Os, System};
use tress_container::threads::start;
use tress_container::workers::{OnDrop, lock};
use tress_container::{Control, Error, ErrorKind, Refusal};

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
        journals: OpenJournals::default(),
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

impl Server<'_> {
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
            match noise::respond(link.clone(), &self.secret, limits.handshake_time, &stop) {
                // A check whether the port is open, or a data connection that its session no longer needs.
                Err(error) if error.kind == ErrorKind::Disconnected && pass.has_room() => return Ok(()),
                greeted => greeted?,
            };
        pass.has_greeted();
        let timeouts = Timeouts {
            deadline: begin.checked_add(limits.handshake_time),
            ..Timeouts::idle(limits.handshake_time, &stop)
        };
        let mut refuse = |reason| {
            let _ = outgoing.write(&Reply::Refused { reason }.encode(), &timeouts);
            Err(declined(reason, &sender))
        };
        let (is_admitted, fault) = self.options.allow.admits(self.system, &sender);
        if let Some(error) = &fault {
            self.emit(&Event::AllowFile { error });
        }
        if !is_admitted {
            // Read its message first: closing a connection with unread bytes may lose our answer.
            let _ = incoming.read(&timeouts);
            return refuse(Refusal::NotAdmitted);
        }
        // Everything so far may be a replay. This message proves that the sender holds its key.
        let message = match incoming.read(&timeouts) {
            Err(error) if error.kind == ErrorKind::Disconnected && pass.has_room() => return Ok(()),
            read => read?,
        };
        let Some(message) = message else { return Ok(()) };
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
                let usage = |root: &Dir| self.quotas.of(&sender, root);
                let store = SenderStore::open(self.system, &self.base, &folder, &self.journals, usage);
                let result = match store {
                    Ok(store) => {
                        self.emit(&Event::Admitted { folder: &folder, from });
                        Requests { session: &session, store: &store, server: self }.run(incoming)
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
                let session = find(&self.sessions, |session| session.ticket == ticket && session.sender == sender);
                let Some(session) = session else {
                    // A data connection that arrives when its session has just ended is no fault: refuse it without an event.
                    let _ = refuse(Refusal::Ticket);
                    return Ok(());
                };
                // The same for one whose session is ending.
                let unless_ended = |error| if session.stopped().is_some() { Ok(()) } else { Err(error) };
                if let Err(reason) = session.attach(stream, link.clone()) {
                    return refuse(reason).or_else(unless_ended);
                }
                if let Err(error) = outgoing.write(&Reply::Joined.encode(), &timeouts) {
                    session.detach(stream);
                    return unless_ended(error);
                }
                incoming::serve(&session, stream, incoming, self)
            }
            _ => refuse(Refusal::Protocol),
        }
    }
}

/// Finds a session.
pub(crate) fn find(
    sessions: &std::sync::Mutex<Vec<Arc<ReceiveSession>>>,
    wanted: impl Fn(&ReceiveSession) -> bool,
) -> Option<Arc<ReceiveSession>> {
    // Compare with all sessions, so that the time does not depend on which one matches.
    let mut found = None;
    for session in lock(sessions).iter() {
        if wanted(session) {
            found = Some(session.clone());
        }
    }
    found
}
