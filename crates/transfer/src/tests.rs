//! Sessions over connections with faults. `tests/hostile.rs` has peers that do not follow the protocol.

mod any_receiver;
mod faults;
mod hostile;
mod sessions;
mod threads;
mod transfers;

use std::fs;
use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::receive::options::Event;
use crate::receive::receiver::receive_on;
use crate::send::sender::send_on;
use crate::testing::any_sender::RawPeer;
use crate::testing::link_faulty::{FaultyNetwork, LinkFault};
use crate::wire::batch::BATCH_PLAIN_BYTES;
use crate::wire::link::{Link, Network, StopCheck, TICK, Tcp, Timeouts};
use crate::wire::message::{EntryKind, EntryStatus, Metadata, Reply, Request};
use crate::wire::noise::{self, GREETING};
use crate::wire::ticket::Ticket;
use crate::{Allow, Limits, ReceiveOptions, SendOptions, SendReport, Synchronisation};
use tress_container::commands::Source;
use tress_container::keys::KeyPair;
use tress_container::sys::{Os, System};
use tress_container::{Control, Error, ErrorKind, Refusal};

static OS: Os = Os;
const BATCH: usize = BATCH_PLAIN_BYTES as usize;
/// Ends a hang, and no test that gets on.
const HANG: Duration = Duration::from_secs(1200);
/// For tests that wait for the end of a silence.
const STALL: Duration = Duration::from_secs(if cfg!(windows) { 10 } else { 3 });

/// A network that wraps each connection by a function of its number and its link.
struct WrappedNetwork<F> {
    wrap: F,
    connections: AtomicUsize,
}

impl<F: Fn(usize, Box<dyn Link>) -> Box<dyn Link> + Send + Sync> WrappedNetwork<F> {
    fn leak(wrap: F) -> &'static Self {
        Box::leak(Box::new(Self { wrap, connections: AtomicUsize::new(0) }))
    }

    fn take(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        (self.wrap)(self.connections.fetch_add(1, Ordering::Relaxed), link)
    }
}

impl<F: Fn(usize, Box<dyn Link>) -> Box<dyn Link> + Send + Sync> Network for WrappedNetwork<F> {
    fn connect(&self, to: &str, stop: StopCheck<'_>) -> std::io::Result<Box<dyn Link>> {
        Tcp.connect(to, stop).map(|link| self.take(link))
    }

    fn accepted(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        self.take(link)
    }
}

/// A link that runs a function before each call. An error of the function becomes that of the call.
struct HookedLink {
    link: Box<dyn Link>,
    read: Box<dyn Fn() + Send + Sync>,
    write: Box<dyn Fn(usize) -> std::io::Result<()> + Send + Sync>,
}

impl HookedLink {
    fn on_read(link: Box<dyn Link>, read: impl Fn() + Send + Sync + 'static) -> Box<dyn Link> {
        Box::new(Self { link, read: Box::new(read), write: Box::new(|_| Ok(())) })
    }

    fn on_write(
        link: Box<dyn Link>,
        write: impl Fn(usize) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Box<dyn Link> {
        Box::new(Self { link, read: Box::new(|| {}), write: Box::new(write) })
    }
}

impl Link for HookedLink {
    fn read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
        (self.read)();
        self.link.read(buffer)
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> std::io::Result<usize> {
        (self.write)(buffers.iter().map(|buffer| buffer.len()).sum())?;
        self.link.write(buffers)
    }

    fn close(&self) {
        self.link.close();
    }
}

struct Ends {
    root: tempfile::TempDir,
    sender: KeyPair,
    receiver: KeyPair,
}

struct RunningReceiver {
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

    fn receive(&self) -> RunningReceiver {
        self.receive_on(&OS, &Tcp)
    }

    fn receive_on(&self, system: &'static dyn System, network: &'static dyn Network) -> RunningReceiver {
        self.receive_with(system, network, |_| {})
    }

    /// Starts a receiver that accepts the sender.
    fn receive_with(
        &self,
        system: &'static dyn System,
        network: &'static dyn Network,
        change: impl FnOnce(&mut ReceiveOptions),
    ) -> RunningReceiver {
        let mut options = ReceiveOptions {
            listen: "127.0.0.1:0".into(),
            folder: self.root.path().join("out"),
            allow: Allow::Only(vec![self.sender.address().unwrap()]),
            once: false,
            limits: Limits { stall_time: HANG, handshake_time: HANG, handshake_burst: 10_000, ..Limits::default() },
        };
        change(&mut options);
        let (ready, address) = mpsc::channel();
        let ready = Mutex::new(ready);
        let (control, log) = (Arc::new(Control::new()), Arc::new(Mutex::new(Vec::new())));
        let (pair, running, events) = (self.receiver.clone(), control.clone(), log.clone());
        let thread = std::thread::spawn(move || {
            let record = |event: &Event<'_>| {
                if let Event::Listening(address) = event {
                    ready.lock().unwrap().send(address.to_string()).unwrap();
                }
                events.lock().unwrap().push(format!("{event:?}"));
            };
            receive_on(system, network, &pair, &options, &record, &running)
        });
        RunningReceiver { to: address.recv_timeout(HANG).unwrap(), control, thread, log }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> Source {
        let path = self.root.path().join(name);
        fs::write(&path, bytes).unwrap();
        Source::Path(path)
    }

    fn send(
        &self,
        running: &RunningReceiver,
        network: &dyn Network,
        source: &Source,
        streams: u16,
    ) -> Result<SendReport, Error> {
        let sources = std::slice::from_ref(source);
        self.send_with(&OS, running, network, sources, |options| options.streams = streams)
    }

    fn send_with(
        &self,
        system: &'static dyn System,
        running: &RunningReceiver,
        network: &dyn Network,
        sources: &[Source],
        change: impl FnOnce(&mut SendOptions),
    ) -> Result<SendReport, Error> {
        let mut options = self.options(running);
        change(&mut options);
        send_on(system, network, sources, &self.sender, &options, &Control::new())
    }

    fn options(&self, running: &RunningReceiver) -> SendOptions {
        SendOptions { stall_time: HANG, ..SendOptions::new(&running.to, self.receiver.address().unwrap()) }
    }

    fn output(&self, name: &str) -> PathBuf {
        let folder = crate::receive::options::folder_name(&self.noise(&self.sender).1);
        self.root.path().join("out").join(folder).join(name)
    }

    /// The secret and public Noise key of a pair.
    fn noise(&self, pair: &KeyPair) -> ([u8; 32], [u8; 32]) {
        let address = pair.address().unwrap();
        (*pair.noise_secret_key().unwrap(), *address.noise_public_key())
    }

    /// Opens a connection as a sender that need not follow the protocol.
    fn hostile(&self, running: &RunningReceiver) -> RawPeer {
        RawPeer::connect(&running.to, &self.sender, &self.receiver)
    }

    /// Opens such a connection and begins a session. Returns the ticket as well.
    fn hostile_session(&self, running: &RunningReceiver) -> (RawPeer, Ticket) {
        let mut peer = self.hostile(running);
        let ticket = peer.begin(2);
        (peer, ticket)
    }

    /// Opens a data connection of such a session.
    fn hostile_stream(&self, running: &RunningReceiver, ticket: &Ticket, stream: u16) -> RawPeer {
        let mut data = self.hostile(running);
        data.join(ticket.clone(), stream);
        data
    }
}

impl RunningReceiver {
    /// Checks that the receiver still runs, and that it ends when it is cancelled.
    fn stop(self) {
        assert!(!self.thread.is_finished());
        self.control.cancel();
        let outcome = self.thread.join().expect("no panic");
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::Interrupted, "{:?}", self.log.lock().unwrap());
    }
}

fn data(count: usize) -> Vec<u8> {
    (0..count as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Calls are short and interrupted; every data connection is cut after three batches and a bit; a bit is flipped.
#[test]
fn faults_do_not_change_the_file() {
    let ends = Ends::new();
    let running = ends.receive();
    let flip = |bit| vec![LinkFault::None, LinkFault::Flip(bit), LinkFault::None];
    let cuts = std::iter::once(LinkFault::None).chain((0..60).map(|_| LinkFault::Cut(1_700_000))).collect();
    for (name, bytes, streams, faults) in [
        ("restless", 3 * BATCH + 1000, 2, vec![LinkFault::Restless]),
        ("cuts", 20 * BATCH, 2, cuts),
        ("key", 6 * BATCH, 1, flip(8 * 250)),
        ("header", 6 * BATCH, 1, flip(8 * 340)),
        ("chunk", 6 * BATCH, 1, flip(8 * 300_000)),
        ("tag", 6 * BATCH, 1, flip(8 * (280 + 16_395))),
    ] {
        let bytes = data(bytes);
        ends.send(&running, &FaultyNetwork::new(faults), &ends.file(name, &bytes), streams).unwrap();
        assert!(fs::read(ends.output(name)).unwrap() == bytes, "{name}");
    }
    running.stop();
}

#[test]
fn one_stream_of_four_is_cut() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(40 * BATCH + 3);
    // The first connection is the control connection. The second is cut in the handshake, after it, at the end of a batch, and within one.
    for (name, cut) in [("a", 50), ("b", 200), ("c", 525_300), ("d", 2_000_000)] {
        let network = FaultyNetwork::new([LinkFault::None, LinkFault::None, LinkFault::Cut(cut), LinkFault::None]);
        let report = ends.send(&running, &network, &ends.file(name, &bytes), 4).unwrap();
        assert_eq!(report.bytes_sent, bytes.len() as u64);
        assert!(fs::read(ends.output(name)).unwrap() == bytes, "{name}");
        // Verified batches are not sent again. A receiver that is late drops the few that were under way, too.
        let most = bytes.len() as u64 + 5 * BATCH_PLAIN_BYTES + bytes.len() as u64 / 500;
        assert!(network.written.load(Ordering::Relaxed) < most, "{name}");
    }
    running.stop();
}

/// Number of bytes that have arrived when [`cut_in_the_middle`] cuts, at least.
const CUT_BYTES: u64 = 4 * BATCH_PLAIN_BYTES;

/// A network that holds data back after eight batches, and cuts the control connection when half of them have arrived.
fn cut_in_the_middle(running: &RunningReceiver) -> &'static dyn Network {
    let (left, received) = (Arc::new(AtomicUsize::new(8 * BATCH)), running.control.clone());
    WrappedNetwork::leak(move |number, link| {
        let (left, received) = (left.clone(), received.clone());
        let write = move |bytes| match number {
            // At a ping.
            0 if received.done_bytes() >= CUT_BYTES => Err(std::io::ErrorKind::BrokenPipe.into()),
            0 => Ok(()),
            _ if left.load(Ordering::Relaxed) == 0 => {
                std::thread::sleep(TICK);
                Err(std::io::ErrorKind::WouldBlock.into())
            }
            _ => {
                let less = |left: usize| Some(left.saturating_sub(bytes));
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap();
                Ok(())
            }
        };
        HookedLink::on_write(link, write)
    })
}

#[test]
fn a_cut_control_connection_is_resumed_by_the_next_run() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(30 * BATCH + 9);
    let source = ends.file("a", &bytes);
    let error = ends.send(&running, cut_in_the_middle(&running), &source, 1).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Disconnected);
    assert!(!ends.output("a").exists());
    let report = ends.send(&running, &Tcp, &source, 1).unwrap();
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    // Batches that arrived before the cut are not sent again.
    assert!(report.bytes_sent <= bytes.len() as u64 - CUT_BYTES, "{report:?}");
    running.stop();
}

/// The progress that both ends report in four runs: the control connection is cut, a data connection is cut, the files are
/// already there, another version is refused.
#[test]
fn counts_of_cut_and_resumed_sessions() {
    let ends = Ends::new();
    let running = ends.receive();
    let (bytes, small) = (data(30 * BATCH + 9), BATCH_PLAIN_BYTES);
    let size = bytes.len() as u64;
    ends.file("a", &bytes);
    ends.file("b", &bytes[..BATCH]);
    let sources = ["a", "b"].map(|name| Source::Path(ends.root.path().join(name)));
    let options = ends.options(&running);
    let received = &running.control;
    let cut = cut_in_the_middle(&running);
    let lost = FaultyNetwork::new([LinkFault::None, LinkFault::Cut(2_000_000), LinkFault::None]);
    let runs: [(&dyn Network, _, _); 4] = [
        (cut, Some(ErrorKind::Disconnected), None),
        (&lost, None, Some(size + small)),
        (&Tcp, None, Some(size + small)),
        (&Tcp, Some(ErrorKind::Refused(Refusal::Exists)), Some(small)),
    ];
    for (run, (network, failure, total)) in runs.into_iter().enumerate() {
        if run == 3 {
            ends.file("a", &bytes[1..]);
        }
        let (reported, moved_before) = (Arc::new(Mutex::new((0, None))), received.moved_bytes());
        let noted = reported.clone();
        let control = Control::new().on_progress(move |done, total| *noted.lock().unwrap() = (done, total));
        let sent = std::thread::scope(|scope| {
            let sending = scope.spawn(|| send_on(&OS, network, &sources, &ends.sender, &options, &control));
            while !sending.is_finished() {
                assert!(control.done_bytes() <= size + small);
                let (done, total) = (received.done_bytes(), received.total_bytes());
                assert!(done <= size && total.is_none_or(|total| total == size || total == small), "{done} {total:?}");
                std::thread::yield_now();
            }
            sending.join().unwrap()
        });
        assert_eq!(sent.err().map(|error| error.kind), failure, "{run}");
        let (moved, received_bytes) = (control.moved_bytes(), received.moved_bytes() - moved_before);
        match run {
            0 => assert!(moved >= CUT_BYTES && moved < size, "{moved}"),
            // Chunks of the earlier run count as done, not as moved.
            1 => assert!(received_bytes <= size - CUT_BYTES && moved > received_bytes, "{moved} {received_bytes}"),
            _ => assert_eq!((moved, received_bytes), (0, 0)),
        }
        if let Some(total) = total {
            assert_eq!((control.done_bytes(), control.total_bytes()), (total, Some(total)), "{run}");
            assert_eq!(*reported.lock().unwrap(), (total, Some(total)), "{run}");
        }
        let until = Instant::now() + HANG;
        while (received.done_bytes(), received.total_bytes()) != (0, None) {
            assert!(Instant::now() < until, "{run}: {} {:?}", received.done_bytes(), received.total_bytes());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    running.stop();
}

#[test]
fn a_connection_that_is_cut_immediately_is_retried() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(BATCH + 1);
    let source = ends.file("a", &bytes);
    // Before the handshake, in it, and after it.
    let cuts = [LinkFault::Cut(0), LinkFault::Cut(30), LinkFault::Cut(114)];
    let network = FaultyNetwork::new([&cuts[..], &[LinkFault::None]].concat());
    ends.send(&running, &network, &source, 1).unwrap();
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    assert_eq!(network.connections.load(Ordering::Relaxed), 5);
    // There is a limit on the attempts.
    for cut in cuts {
        let network = FaultyNetwork::new([cut]);
        let error = ends.send(&running, &network, &source, 1).unwrap_err();
        assert_eq!((error.kind, network.connections.load(Ordering::Relaxed)), (ErrorKind::Disconnected, 4));
    }
    running.stop();
}

#[test]
fn silence_is_an_error() {
    let ends = Ends::new();
    let running = ends.receive();
    let source = ends.file("a", &data(8 * BATCH));
    let sources = std::slice::from_ref(&source);
    let send = |faults: [LinkFault; 3], stall_time| {
        ends.send_with(&OS, &running, &FaultyNetwork::new(faults), sources, |options| options.stall_time = stall_time)
    };
    // The control connection falls silent: in the handshake, and after it.
    for at in [0, 200] {
        let error = send([LinkFault::Silent(at), LinkFault::None, LinkFault::None], STALL).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Stalled | ErrorKind::Disconnected), "{error}");
    }
    // A data connection falls silent: another one replaces it. On a busy machine the others may be silent for as long.
    let mut stall_time = STALL;
    while let Err(error) = send([LinkFault::None, LinkFault::Silent(600_000), LinkFault::None], stall_time) {
        assert!(stall_time < 30 * STALL, "{error}");
        stall_time *= 4;
    }
    running.stop();
}

#[test]
fn a_silent_or_foreign_receiver_is_an_error() {
    let ends = Ends::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = ends.receiver.address().unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let send = |stall_time| {
        let options = SendOptions { stall_time, ..SendOptions::new(&to, address.clone()) };
        send_on(&OS, &Tcp, &[ends.file("a", b"x")], &ends.sender, &options, &Control::new())
    };
    assert_eq!(send(Duration::from_millis(300)).unwrap_err().kind, ErrorKind::Stalled);
    drop(listener.accept());
    // A peer that closes, another program, another version, and a receiver with another key.
    for (answer, kind) in [
        (&b""[..], ErrorKind::Disconnected),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", ErrorKind::PeerVersion),
        (b"tress/v1 transfer\n", ErrorKind::PeerVersion),
        (GREETING, ErrorKind::WrongPeer),
        (&[&GREETING[..], &[7; 48]].concat(), ErrorKind::WrongPeer),
    ] {
        let (listener, said) = (listener.try_clone().unwrap(), answer.to_vec());
        // A peer that closes without an answer is tried again.
        let connections = if said.is_empty() { 4 } else { 1 };
        let peer = std::thread::spawn(move || {
            let mut first = [0; 114];
            for _ in 0..connections {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut first).unwrap();
                // The sender's static key is never sent as plaintext.
                stream.write_all(&said).unwrap();
            }
            first
        });
        assert_eq!(send(HANG).unwrap_err().kind, kind, "{answer:?}");
        let first = peer.join().unwrap();
        let key = ends.noise(&ends.sender).1;
        assert!(first.starts_with(GREETING) && !first.windows(32).any(|window| window == key));
    }
}

/// Runs a script that follows the protocol, then random ones, which mostly do not.
#[test]
fn any_sender() {
    let play = |script: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let mut rest = script.iter().copied();
        let found = crate::testing::any_sender::run(&mut || rest.next(), folder.path());
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    // No quota, a session, an offer of 40,000 bytes, a data connection, a key, a batch of three chunks, the end, a wait.
    let whole = [0, 0, 1, 2, 0, 0, 6, 5, 0, 0, 8, 0, 0, 10, 0, 0, 0, 2, 0, 14, 0, 0, 23, 0];
    assert_eq!(
        {
            let mut found = play(&whole);
            found.sort();
            found
        },
        ["a", "last"]
    );
    // Without the last chunk, the file is not complete. Then all of it, in another session.
    let mut half = whole;
    half[17] = 1;
    assert_eq!(play(&half), ["last"]);
    assert_eq!(play(&[&half[..], &[20], &whole[1..]].concat()).len(), 2);
    // A session, a list of one file of 1000 bytes, a data connection, the pack; then a pack that does not verify.
    let pack = [0, 0, 1, 17, 0, 0, 0, 2, 5, 0, 0, 24, 0, 0, 0];
    assert_eq!(play(&pack).len(), 2);
    assert_eq!(play(&[&pack[..14], &[0xf0]].concat()), ["last"]);
    // A chunk that does not verify.
    let mut flipped = whole;
    flipped[18] = 0xf0;
    assert_eq!(play(&flipped), ["last"]);
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20 {
        let script: Vec<u8> = (0..100).map(|_| random.u8(..)).collect();
        play(&script);
        // Mostly a valid script, with random bytes in it.
        let script: Vec<u8> = half
            .iter()
            .chain(&[20])
            .chain(&whole[1..])
            .copied()
            .map(|byte| if random.u8(..) < 8 { random.u8(..) } else { byte })
            .collect();
        play(&script);
    }
}
