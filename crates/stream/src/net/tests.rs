//! Sessions over connections with faults, and peers that do not follow the protocol.
#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is meant")]

use std::fs;
use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::link::{Link, Network, Patience, Tcp, write_all};
use super::link_faulty::{Fault, Faulty};
use super::noise::{self, GREETING, Incoming, Outgoing};
use super::receiver::{Event, receive_on};
use super::sender::send_on;
use super::ticket::Ticket;
use super::wire::{Reply, Request};
use super::{Allow, BATCH_PLAIN_BYTES, Limits, ReceiveOptions, SendOptions, SendReport};
use crate::keys::KeyPair;
use crate::sys::Os;
use crate::verbs::Source;
use crate::{Control, Error, ErrorKind, Refusal};

static OS: Os = Os;
const BATCH: usize = BATCH_PLAIN_BYTES as usize;
const STALL: Duration = Duration::from_secs(2);

struct Ends {
    root: tempfile::TempDir,
    sender: KeyPair,
    receiver: KeyPair,
}

struct Running {
    to: String,
    control: Arc<Control>,
    thread: JoinHandle<Result<(), Error>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Ends {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("out")).unwrap();
        Self { root, sender: KeyPair::generate().unwrap(), receiver: KeyPair::generate().unwrap() }
    }

    fn receive(&self) -> Running {
        let options = ReceiveOptions {
            listen: "127.0.0.1:0".into(),
            folder: self.root.path().join("out"),
            allow: Allow::Only(vec![self.sender.address().unwrap().parse().unwrap()]),
            once: false,
            limits: Limits {
                stall_time: STALL,
                handshake_time: Duration::from_secs(1),
                handshake_burst: 10_000,
                ..Limits::default()
            },
        };
        let (ready, address) = mpsc::channel();
        let ready = Mutex::new(ready);
        let (control, log) = (Arc::new(Control::new()), Arc::new(Mutex::new(Vec::new())));
        let (pair, running, events) = (self.receiver.clone(), control.clone(), log.clone());
        let thread = std::thread::spawn(move || {
            let tell = |event: &Event<'_>| {
                if let Event::Listening(address) = event {
                    ready.lock().unwrap().send(address.to_string()).unwrap();
                }
                events.lock().unwrap().push(format!("{event:?}"));
            };
            receive_on(&OS, &pair, &options, &tell, &running)
        });
        Running { to: address.recv_timeout(Duration::from_secs(10)).unwrap(), control, thread, log }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> Source {
        let path = self.root.path().join(name);
        fs::write(&path, bytes).unwrap();
        Source::Path(path)
    }

    fn send(
        &self,
        running: &Running,
        network: &dyn Network,
        source: &Source,
        streams: u16,
    ) -> Result<SendReport, Error> {
        let address = self.receiver.address().unwrap().parse().unwrap();
        let options = SendOptions { streams, stall_time: STALL, ..SendOptions::new(&running.to, address) };
        send_on(&OS, network, std::slice::from_ref(source), &self.sender, &options, &Control::new())
    }

    fn output(&self, name: &str) -> PathBuf {
        let folder = super::receiver::folder_name(&self.noise(&self.sender).1);
        self.root.path().join("out").join(folder).join(name)
    }

    /// Secret and public Noise key.
    fn noise(&self, pair: &KeyPair) -> ([u8; 32], [u8; 32]) {
        let address: crate::keys::Address = pair.address().unwrap().parse().unwrap();
        (*pair.noise_secret_key().unwrap(), *address.noise_public_key())
    }

    /// A connection as a sender that does what it likes.
    fn hostile(&self, running: &Running) -> Peer {
        let link: Arc<dyn Link> = Tcp.connect(&running.to).unwrap().into();
        let (incoming, out) = noise::initiate(
            link,
            &self.noise(&self.sender).0,
            &self.noise(&self.receiver).1,
            Duration::from_secs(5),
            &|| None,
        )
        .unwrap();
        Peer { incoming, out }
    }

    /// The same with a session, and its ticket.
    fn hostile_session(&self, running: &Running) -> (Peer, Ticket) {
        let mut peer = self.hostile(running);
        peer.say(&Request::Begin { streams: 2 });
        let Some(Reply::Admitted { ticket, .. }) = peer.hear() else { panic!("not admitted") };
        (peer, ticket)
    }
}

impl Running {
    /// It is still there, and ends as it is told.
    fn stop(self) {
        assert!(!self.thread.is_finished());
        self.control.cancel();
        let outcome = self.thread.join().expect("no panic");
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::Interrupted, "{:?}", self.log.lock().unwrap());
    }
}

struct Peer {
    incoming: Incoming,
    out: Outgoing,
}

impl Peer {
    fn say(&mut self, request: &Request) {
        self.say_bytes(&request.encode());
    }

    fn say_bytes(&mut self, bytes: &[u8]) {
        let _ = self.out.write(bytes, &Patience::silence(STALL, &|| None));
    }

    fn raw(&mut self, bytes: &[u8]) {
        let link = self.out.link().clone();
        let _ = write_all(&*link, &mut [IoSlice::new(bytes)], &Patience::silence(STALL, &|| None));
    }

    /// The next reply that is no report; `None` when the connection ends.
    fn hear(&mut self) -> Option<Reply> {
        loop {
            match self.incoming.read(&Patience::silence(Duration::from_secs(5), &|| None)) {
                Ok(Some(message)) => match Reply::parse(&message).unwrap() {
                    Reply::Progress { .. } => {}
                    reply => return Some(reply),
                },
                Ok(None) => return None,
                Err(error) if error.kind == ErrorKind::Disconnected => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn data(count: usize) -> Vec<u8> {
    (0..count as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

#[test]
fn restless_connections() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(3 * BATCH + 1000);
    let network = Faulty::new([Fault::Restless]);
    ends.send(&running, &network, &ends.file("a", &bytes), 2).unwrap();
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    running.stop();
}

#[test]
fn one_stream_of_four_is_cut() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(40 * BATCH + 3);
    // The first connection is the control connection. Cut in a handshake, at a batch's border, in its middle.
    for (name, cut) in [("a", 50), ("b", 200), ("c", 525_300), ("d", 2_000_000)] {
        let network = Faulty::new([Fault::None, Fault::None, Fault::Cut(cut), Fault::None]);
        let report = ends.send(&running, &network, &ends.file(name, &bytes), 4).unwrap();
        assert_eq!(report.bytes_sent, bytes.len() as u64);
        assert!(fs::read(ends.output(name)).unwrap() == bytes, "{name}");
        // Nothing that was verified went out again: at most the batch that the cut went through.
        let most = bytes.len() as u64 + 2 * BATCH_PLAIN_BYTES + bytes.len() as u64 / 500;
        assert!(network.written.load(Ordering::Relaxed) < most, "{name}");
    }
    running.stop();
}

#[test]
fn all_streams_are_cut_again_and_again() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(20 * BATCH);
    // Every data connection lives for three batches and a bit.
    let faults: Vec<Fault> = std::iter::once(Fault::None).chain((0..60).map(|_| Fault::Cut(1_700_000))).collect();
    let network = Faulty::new(faults);
    ends.send(&running, &network, &ends.file("a", &bytes), 2).unwrap();
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    running.stop();
}

#[test]
fn a_flipped_bit_is_found_and_sent_again() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(6 * BATCH);
    for (name, bit) in [("key", 8 * 250), ("header", 8 * 340), ("chunk", 8 * 300_000), ("tag", 8 * (280 + 16_395))] {
        let network = Faulty::new([Fault::None, Fault::Flip(bit), Fault::None]);
        ends.send(&running, &network, &ends.file(name, &bytes), 1).unwrap();
        assert!(fs::read(ends.output(name)).unwrap() == bytes, "{name}");
    }
    running.stop();
}

#[test]
fn a_cut_control_connection_is_resumed_by_the_next_run() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(30 * BATCH + 9);
    let source = ends.file("a", &bytes);
    // Control messages are small: it dies at its first ping, with much of the data on its way.
    let slow = Faulty::new([Fault::Cut(210), Fault::None]);
    let address = ends.receiver.address().unwrap().parse().unwrap();
    let options =
        SendOptions { rate_bytes_per_s: Some(10_000_000), stall_time: STALL, ..SendOptions::new(&running.to, address) };
    let error =
        send_on(&OS, &slow, std::slice::from_ref(&source), &ends.sender, &options, &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Disconnected);
    assert!(!ends.output("a").exists());
    let arrived = slow.written.load(Ordering::Relaxed);
    assert!(arrived > 2_000_000, "{arrived}");
    let report = ends.send(&running, &Tcp, &source, 1).unwrap();
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    // What left before the cut is not sent again, but for one batch.
    assert!(report.bytes_sent + arrived <= bytes.len() as u64 + 2 * BATCH_PLAIN_BYTES, "{report:?} {arrived}");
    running.stop();
}

#[test]
fn silence_is_told() {
    let ends = Ends::new();
    let running = ends.receive();
    let source = ends.file("a", &data(8 * BATCH));
    let begin = Instant::now();
    // Of the control connection: in the handshake, and after it.
    for at in [0, 200] {
        let error = ends.send(&running, &Faulty::new([Fault::Silent(at), Fault::None]), &source, 1).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Stalled | ErrorKind::Disconnected), "{error}");
    }
    assert!(begin.elapsed() < 6 * STALL);
    // Of a data connection: another takes its place.
    let network = Faulty::new([Fault::None, Fault::Silent(600_000), Fault::None]);
    ends.send(&running, &network, &source, 1).unwrap();
    running.stop();
}

#[test]
fn a_silent_receiver_is_told() {
    let ends = Ends::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = ends.receiver.address().unwrap().parse().unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let options = SendOptions { stall_time: Duration::from_millis(300), ..SendOptions::new(to, address) };
    let send = || send_on(&OS, &Tcp, &[ends.file("a", b"x")], &ends.sender, &options, &Control::new());
    assert_eq!(send().unwrap_err().kind, ErrorKind::Stalled);
    drop(listener.accept());
    // Nobody there; something else there; another version there.
    for (answer, kind) in [
        (&b""[..], ErrorKind::Disconnected),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", ErrorKind::PeerVersion),
        (b"tress/v2 transfer\n", ErrorKind::PeerVersion),
        (GREETING, ErrorKind::WrongPeer),
        (&[&GREETING[..], &[7; 48]].concat(), ErrorKind::WrongPeer),
    ] {
        let (listener, said) = (listener.try_clone().unwrap(), answer.to_vec());
        let peer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut first = [0; 114];
            stream.read_exact(&mut first).unwrap();
            // No plaintext key: of the sender's static key nothing is to be seen.
            stream.write_all(&said).unwrap();
            first
        });
        assert_eq!(send().unwrap_err().kind, kind, "{answer:?}");
        let first = peer.join().unwrap();
        let key = ends.noise(&ends.sender).1;
        assert!(first.starts_with(GREETING) && !first.windows(32).any(|window| window == key));
    }
}

#[test]
fn garbage_on_the_port() {
    let ends = Ends::new();
    let running = ends.receive();
    let mut first = vec![];
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        &[0; 400],
        b"tress/v2 transfer\nx",
        &[&GREETING[..], &[9; 96]].concat(),
    ] {
        let mut stream = TcpStream::connect(&running.to).unwrap();
        stream.write_all(garbage).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // The version, or nothing where the rest of the garbage took it along.
        assert!(answer.is_empty() || answer == GREETING, "{answer:?}");
        first.push(stream);
    }
    // Half a handshake, and then nothing: its time is over soon.
    let mut stream = TcpStream::connect(&running.to).unwrap();
    stream.write_all(&GREETING[..5]).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let begin = Instant::now();
    assert_eq!(stream.read(&mut [0; 10]).unwrap_or(0), 0);
    assert!(begin.elapsed() < Duration::from_secs(3));
    ends.send(&running, &Tcp, &ends.file("a", b"x"), 1).unwrap();
    running.stop();
}

#[test]
fn a_replayed_handshake_gets_nowhere() {
    let ends = Ends::new();
    let running = ends.receive();
    // Record what a good sender says, first on a control connection.
    let relay = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (to, at) = (running.to.clone(), relay.local_addr().unwrap().to_string());
    let recorder = std::thread::spawn(move || {
        let (mut from, _) = relay.accept().unwrap();
        let mut on = TcpStream::connect(to).unwrap();
        let mut recorded = vec![0; 114];
        from.read_exact(&mut recorded).unwrap();
        on.write_all(&recorded).unwrap();
        let mut answer = [0; 66];
        on.read_exact(&mut answer).unwrap();
        from.write_all(&answer).unwrap();
        let mut begin = [0; 2 + 3 + 16];
        from.read_exact(&mut begin).unwrap();
        recorded.extend_from_slice(&begin);
        recorded
    });
    let address = ends.receiver.address().unwrap().parse().unwrap();
    let options = SendOptions { stall_time: Duration::from_millis(500), ..SendOptions::new(at, address) };
    let _ = send_on(&OS, &Tcp, &[ends.file("a", b"x")], &ends.sender, &options, &Control::new());
    let recorded = recorder.join().unwrap();
    let mut replay = TcpStream::connect(&running.to).unwrap();
    replay.write_all(&recorded).unwrap();
    replay.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut answer = Vec::new();
    let _ = replay.read_to_end(&mut answer);
    // The second message of the handshake and nothing after it: no session has begun, no folder was made.
    assert!(answer.len() <= 66, "{}", answer.len());
    assert!(!ends.output("").exists());
    running.stop();
}

#[test]
fn hostile_names_and_sizes() {
    let ends = Ends::new();
    let running = ends.receive();
    let (mut peer, _) = ends.hostile_session(&running);
    fs::create_dir(ends.output("real")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(ends.root.path(), ends.output("link")).unwrap();
    let long = [b'x'; 256];
    for name in [
        &b"/etc/passwd"[..],
        b"../a",
        b"a/../../b",
        b".",
        b"a//b",
        b"a\0",
        b".tress/x",
        b".TRESS",
        b"link/a",
        b"real",
        &long,
    ] {
        peer.say(&Request::Offer {
            file: 1,
            size_bytes: Some(1),
            restart: true,
            identity: [0; 32],
            path: name.to_vec(),
        });
        let answer = peer.hear().unwrap();
        let is_refused = matches!(answer, Reply::Refused { reason: Refusal::Name | Refusal::Exists });
        assert!(is_refused, "{:?}: {answer:?}", String::from_utf8_lossy(name));
        if name != b"real" {
            peer.say(&Request::Folder { path: name.to_vec() });
            assert!(matches!(peer.hear(), Some(Reply::Refused { .. })), "{:?}", String::from_utf8_lossy(name));
        }
    }
    for size in [u64::MAX, 1 << 60] {
        peer.say(&Request::Offer {
            file: 1,
            size_bytes: Some(size),
            restart: false,
            identity: [0; 32],
            path: b"big".to_vec(),
        });
        assert!(matches!(peer.hear(), Some(Reply::Refused { .. })), "{size}");
    }
    let outside: Vec<_> = fs::read_dir(ends.root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["out"]);
    running.stop();
}

#[test]
fn hostile_tickets() {
    let ends = Ends::new();
    let running = ends.receive();
    let join = |ticket: Ticket, stream| {
        let mut data = ends.hostile(&running);
        data.say(&Request::Join { ticket, stream });
        (data.hear(), data)
    };
    let refused = |reason| Some(Reply::Refused { reason });
    let (control, ticket) = ends.hostile_session(&running);
    assert_eq!(join(Ticket::from_bytes([0; 32]), 0).0, refused(Refusal::Ticket));
    let (answer, data) = join(ticket.clone(), 0);
    assert_eq!(answer, Some(Reply::Joined));
    // The same number again, a number beyond all, one connection more than were asked for.
    assert_eq!(join(ticket.clone(), 0).0, refused(Refusal::Ticket));
    assert_eq!(join(ticket.clone(), 1024).0, refused(Refusal::Ticket));
    let (answer, other) = join(ticket.clone(), 1);
    assert_eq!(answer, Some(Reply::Joined));
    assert_eq!(join(ticket.clone(), 2).0, refused(Refusal::TooMany));
    drop((data, other));
    // The session is over, and so is its ticket.
    control.out.link().close();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(join(ticket, 5).0, refused(Refusal::Ticket));
    running.stop();
}

#[test]
fn a_ticket_of_another_sender() {
    let ends = Ends::new();
    let other = KeyPair::generate().unwrap();
    let running = ends.receive();
    let (_control, ticket) = ends.hostile_session(&running);
    let link: Arc<dyn Link> = Tcp.connect(&running.to).unwrap().into();
    let keys = (ends.noise(&other).0, ends.noise(&ends.receiver).1);
    let (incoming, out) = noise::initiate(link, &keys.0, &keys.1, Duration::from_secs(5), &|| None).unwrap();
    let mut stranger = Peer { incoming, out };
    stranger.say(&Request::Join { ticket, stream: 0 });
    // It is not even admitted.
    assert_eq!(stranger.hear(), Some(Reply::Refused { reason: Refusal::NotAdmitted }));
    running.stop();
}

fn batch(file: u32, first_chunk: u64, sealed_bytes: u32) -> Request {
    Request::Batch { file, first_chunk, sealed_bytes }
}

#[test]
fn hostile_data() {
    let ends = Ends::new();
    let running = ends.receive();
    let key = |epoch: &super::epoch::Epoch| epoch.message.encode();
    type Case = Box<dyn Fn(&mut Peer)>;
    let cases: Vec<Case> = vec![
        // No key; no such file; a length that no batch has; not where a batch begins; beyond the file; too short a last one.
        Box::new(|peer| peer.say(&batch(1, 0, 524_800))),
        Box::new(|peer| peer.say(&batch(9, 0, 524_800))),
        Box::new(|peer| peer.say(&batch(1, 0, 16_400))),
        Box::new(|peer| peer.say(&batch(1, 0, u32::MAX))),
        Box::new(|peer| peer.say(&batch(1, 0, 524_801))),
        Box::new(|peer| peer.say(&batch(1, 1, 524_800))),
        Box::new(|peer| peer.say(&batch(1, 1 << 40, 524_800))),
        Box::new(|peer| peer.say(&batch(1, 64, 16))),
        Box::new(|peer| peer.say_bytes(&[0xff; 20])),
        Box::new(|peer| peer.say_bytes(&[])),
        Box::new(|peer| peer.say(&Request::Bye)),
        // Bytes that are no message.
        Box::new(|peer| peer.raw(&[0, 3, 1, 2, 3])),
        Box::new(|peer| peer.raw(&[0xff; 100_000])),
        // A good header, and chunks that do not verify.
        Box::new(|peer| {
            peer.say(&batch(1, 0, 524_800));
            peer.raw(&vec![0; 524_800]);
        }),
    ];
    for (number, case) in cases.iter().enumerate() {
        let (mut control, ticket) = ends.hostile_session(&running);
        let size = 2 * BATCH_PLAIN_BYTES + 5;
        let path = format!("file-{number}").into_bytes();
        control.say(&Request::Offer { file: 1, size_bytes: Some(size), restart: false, identity: [1; 32], path });
        assert_eq!(control.hear(), Some(Reply::Resume { file: 1, held: vec![] }));
        let mut data = ends.hostile(&running);
        data.say(&Request::Join { ticket, stream: 0 });
        assert_eq!(data.hear(), Some(Reply::Joined));
        if number > 0 {
            data.say_bytes(&key(&super::epoch::Epoch::new(1).unwrap()));
        }
        case(&mut data);
        // This connection ends, nothing of it counts, and the control connection lives.
        assert_eq!(control.hear(), Some(Reply::Drained { stream: 0, batches: 0 }), "case {number}");
        control.say(&Request::Abandon { file: 1 });
        control.say(&Request::Bye);
        assert_eq!(control.hear(), None);
        assert!(!ends.output(&format!("file-{number}")).exists());
    }
    running.stop();
}

#[test]
fn hostile_control() {
    let ends = Ends::new();
    let running = ends.receive();
    let offer =
        |file| Request::Offer { file, size_bytes: Some(9), restart: false, identity: [1; 32], path: b"a".to_vec() };
    let cases: Vec<Vec<Request>> = vec![
        vec![Request::Begin { streams: 1 }],
        vec![Request::Finish { file: 1, size_bytes: 9 }],
        vec![offer(1), offer(2)],
        vec![offer(1), Request::Finish { file: 1, size_bytes: 8 }],
        vec![offer(1), Request::Finish { file: 2, size_bytes: 9 }],
        vec![offer(1), Request::Bye],
        vec![Request::Batch { file: 1, first_chunk: 0, sealed_bytes: 16 }],
    ];
    for case in cases {
        let (mut control, _) = ends.hostile_session(&running);
        case.iter().for_each(|request| control.say(request));
        let last = std::iter::from_fn(|| control.hear()).last();
        assert_eq!(last, Some(Reply::Refused { reason: Refusal::Protocol }), "{case:?}");
        assert!(!ends.output("a").exists());
    }
    // The first message decides what a connection is; most are out of place there.
    for first in [Request::Ping, Request::Bye, offer(1), Request::Begin { streams: 0 }] {
        let mut peer = ends.hostile(&running);
        peer.say(&first);
        assert_eq!(peer.hear(), Some(Reply::Refused { reason: Refusal::Protocol }), "{first:?}");
    }
    running.stop();
}

/// A receiver that says what it likes once the sender has offered a file.
fn lying_receiver(ends: &Ends, lies: Vec<Reply>) -> Error {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let secret = ends.noise(&ends.receiver).0;
    let liar = std::thread::spawn(move || {
        // The sender's `Link` is the one under test; ours may be plain.
        let listener = super::link::Listener::new(listener).unwrap();
        let accept = || loop {
            if let Some((link, _)) = listener.accept().unwrap() {
                return Arc::<dyn Link>::from(link);
            }
        };
        let (mut incoming, mut out, _) = noise::respond(accept(), &secret, STALL, &|| None).unwrap();
        let patience = Patience::silence(STALL, &|| None);
        incoming.read(&patience).unwrap();
        out.write(&Reply::Admitted { ticket: Ticket::from_bytes([1; 32]), streams: 1 }.encode(), &patience).unwrap();
        loop {
            let message = incoming.read(&patience).unwrap().unwrap();
            if let Ok(Request::Offer { file, .. }) = Request::parse(&message) {
                for lie in &lies {
                    // Every lie is about the file that was offered.
                    let lie = match lie.clone() {
                        Reply::Resume { held, .. } => Reply::Resume { file, held },
                        lie => lie,
                    };
                    let _ = out.write(&lie.encode(), &patience);
                }
                break;
            }
        }
        while let Ok(Some(_)) = incoming.read(&patience) {}
    });
    let address = ends.receiver.address().unwrap().parse().unwrap();
    let options = SendOptions { stall_time: STALL, ..SendOptions::new(to, address) };
    let source = ends.file("a", &data(3 * BATCH));
    let error = send_on(&OS, &Tcp, &[source], &ends.sender, &options, &Control::new()).unwrap_err();
    liar.join().unwrap();
    error
}

#[test]
fn a_receiver_that_lies() {
    let ends = Ends::new();
    let resume = Reply::Resume { file: 0, held: vec![] };
    for lies in [
        vec![Reply::Resume { file: 0, held: vec![0..5] }],
        vec![Reply::Resume { file: 0, held: vec![u64::MAX - 1..u64::MAX] }],
        vec![Reply::Complete { file: 77_777 }],
        vec![Reply::FolderReady],
        vec![Reply::Joined],
        vec![resume.clone(), Reply::Progress { file: 0, synced_batches: 0, streams: vec![(0, 1000)] }],
        vec![resume.clone(), Reply::Drained { stream: 0, batches: 1000 }],
        vec![
            resume.clone(),
            Reply::FolderReady,
            Reply::FolderReady,
            Reply::FolderReady,
            Reply::FolderReady,
            Reply::FolderReady,
        ],
    ] {
        let error = lying_receiver(&ends, lies.clone());
        assert_eq!(error.kind, ErrorKind::Protocol, "{lies:?}");
    }
}
