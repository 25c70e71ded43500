//! Resources of sessions: sockets, places, waiting times.

use super::*;
use crate::testing::any_sender::file_entry;
use crate::{SendEvent, send_with_events};
use std::sync::atomic::AtomicBool;
use tress_container::sys::{Call, Opening, Readers};

/// Waits until a condition holds.
fn soon(what: impl Fn() -> bool) -> bool {
    let until = Instant::now() + HANG;
    while !what() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    what()
}

/// A network that fails again and again: a hundred data connections of one session, one after the other.
#[test]
fn a_data_connection_that_is_gone_holds_no_socket() {
    let ends = Ends::new();
    // Each link of the receiver holds one reference.
    let count = Arc::new(());
    let held = count.clone();
    let network = WrappedNetwork::leak(move |_, link| {
        let held = held.clone();
        HookedLink::on_read(link, move || drop(held.clone()))
    });
    let running = ends.receive_on(&OS, network);
    let (mut control, ticket) = ends.hostile_session(&running);
    for stream in 0..100 {
        drop(ends.hostile_stream(&running, &ticket, stream));
        assert_eq!(control.recv(), Some(Reply::Drained { stream, batches: 0 }));
    }
    // Without the references of this function and of the network.
    let live = || Arc::strong_count(&count) - 2;
    assert!(soon(|| live() == 1), "{} of 100 are held", live());
    running.stop();
}

/// Two sessions of one sender offer a file: the first continues unless the second has the same version, or begins anew.
#[test]
fn an_offer_of_another_version_ends_no_session() {
    let ends = Ends::new();
    let running = ends.receive();
    let offer = |file, (size_bytes, identity), restart| {
        let (metadata, path) = (Metadata::default(), b"a".to_vec());
        Request::Offer { file, size_bytes, restart, identity: [identity; 32], metadata, path }
    };
    let [mut first, mut second] = [(); 2].map(|()| ends.hostile_session(&running).0);
    for (file, held, offered, restart, is_taken_over) in [
        (1, (Some(9), 1), (Some(9), 2), false, false),
        (2, (Some(9), 1), (Some(8), 1), false, false),
        (3, (Some(9), 1), (None, 1), false, false),
        (4, (None, 1), (None, 2), false, false),
        (5, (Some(9), 1), (Some(9), 1), false, true),
        (6, (Some(9), 1), (Some(8), 2), true, true),
    ] {
        let resume = Some(Reply::Resume { file, held: vec![] });
        first.send(&offer(file, held, false));
        assert_eq!(first.recv(), resume);
        second.send(&offer(file, offered, restart));
        if is_taken_over {
            assert_eq!(first.recv(), Some(Reply::Refused { reason: Refusal::TakenOver }));
            assert_eq!(second.recv(), resume);
            first = std::mem::replace(&mut second, ends.hostile_session(&running).0);
        } else {
            assert_eq!(second.recv(), Some(Reply::Refused { reason: Refusal::OtherVersion }));
        }
        first.send(&Request::Ping);
        assert!(matches!(first.recv_any(), Some(Reply::Progress { file: arriving, .. }) if arriving == file), "{file}");
        first.send(&Request::Abandon { file });
    }
    running.stop();
}

/// Of sessions that begin at the same moment, only as many as the sender may have are accepted.
#[test]
fn sessions_that_begin_at_once_are_counted() {
    let ends = Ends::new();
    let running = ends.receive();
    let most = Limits::default().sessions_per_sender;
    let all = Mutex::new(Vec::new());
    let barrier = std::sync::Barrier::new(2 * most);
    std::thread::scope(|scope| {
        for _ in 0..2 * most {
            scope.spawn(|| {
                let mut peer = ends.hostile(&running);
                barrier.wait();
                peer.send(&Request::Begin { streams: 1 });
                let answer = peer.recv();
                all.lock().unwrap().push((answer, peer));
            });
        }
    });
    let all = all.into_inner().unwrap();
    let admitted = all.iter().filter(|(answer, _)| matches!(answer, Some(Reply::Admitted { .. }))).count();
    let refused = all.iter().filter(|(answer, _)| *answer == Some(Reply::Refused { reason: Refusal::TooMany })).count();
    assert_eq!((admitted, refused), (most, most));
    drop(all);
    running.stop();
}

#[test]
fn a_sender_that_reads_nothing_delays_nobody() {
    let ends = Ends::new();
    // The sender does not read: the receiver's links accept `ROOM_BYTES` and are full then.
    const ROOM_BYTES: usize = 4096;
    let full = Arc::new(AtomicUsize::new(0));
    let all_full = full.clone();
    let network = WrappedNetwork::leak(move |_, link| {
        let (taken, full) = (AtomicUsize::new(0), all_full.clone());
        let write = move |bytes| {
            let before = taken.fetch_add(bytes, Ordering::Relaxed);
            if before >= ROOM_BYTES {
                std::thread::sleep(Duration::from_millis(5));
                return Err(std::io::ErrorKind::WouldBlock.into());
            }
            if before + bytes >= ROOM_BYTES {
                full.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        HookedLink::on_write(link, write)
    });
    let running = ends.receive_with(&OS, network, |options| options.limits.stall_time = Duration::MAX);
    // The second session takes over the file from the first, which is stuck in a write.
    let deaf = [1, 2].map(|number| {
        let (mut peer, _) = ends.hostile_session(&running);
        peer.offer(1, 9, b"a");
        (0..ROOM_BYTES / 16).for_each(|_| peer.send(&Request::Ping));
        assert!(soon(|| full.load(Ordering::Relaxed) == number));
        peer
    });
    running.stop();
    drop(deaf);
}

/// A disk that blocks when the file of a pack is made, and when a file gets the length `HOLES_BYTES`.
struct BlockingDisk {
    is_reached: mpsc::SyncSender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

const HOLES_BYTES: u64 = 40_000;

impl BlockingDisk {
    fn block(&self) {
        let _ = self.is_reached.send(());
        let _ = self.go.lock().unwrap().recv();
    }
}

impl System for BlockingDisk {
    fn open_in(&self, folder: &cap_std::fs::Dir, name: &std::ffi::OsStr, how: Opening) -> std::io::Result<fs::File> {
        if how == Opening::New(Readers::Umask) {
            self.block();
        }
        OS.open_in(folder, name, how)
    }

    fn set_length(&self, file: &fs::File, bytes: u64) -> std::io::Result<()> {
        if bytes == HOLES_BYTES {
            self.block();
        }
        OS.set_length(file, bytes)
    }
}

/// While the disk makes one session wait for its pack, or for a file with holes, another one receives a file.
#[test]
fn a_slow_disk_delays_no_other_session() {
    for has_pack in [true, false] {
        let ends = Ends::new();
        let ((is_reached, reached), (go, wait)) = (mpsc::sync_channel(1), mpsc::channel::<()>());
        let system: &'static BlockingDisk = Box::leak(Box::new(BlockingDisk { is_reached, go: Mutex::new(wait) }));
        let running = ends.receive_on(system, &Tcp);
        let (mut control, ticket) = ends.hostile_session(&running);
        let mut connection = ends.hostile_stream(&running, &ticket, 0);
        if has_pack {
            control.send(&Request::List { list: 1, entries: vec![file_entry(4, b"packed")] });
            control.send(&Request::PackEnd { list: 1, void: vec![] });
            assert_eq!(control.recv(), Some(Reply::Statuses { list: 1, statuses: vec![EntryStatus::Wanted] }));
            connection.send_pack(1, b"pack");
        } else {
            control.offer(1, HOLES_BYTES, b"holes");
            control.send(&Request::Holes { file: 1, chunks: vec![0..1, 2..3] });
        }
        reached.recv_timeout(HANG).unwrap();
        let source = ends.file("a", &data(BATCH));
        let sent = std::thread::scope(|scope| {
            let (done, over) = mpsc::channel();
            scope.spawn(|| {
                let done = done;
                done.send(ends.send(&running, &Tcp, &source, 1).is_ok())
            });
            let sent = over.recv_timeout(HANG);
            drop(go);
            sent
        });
        assert_eq!(sent, Ok(true), "{has_pack}");
        running.stop();
    }
}

#[test]
fn timeouts_beyond_the_clock() {
    let ends = Ends::new();
    let running = ends.receive_with(&OS, &Tcp, |options| {
        (options.limits.handshake_time, options.limits.stall_time) = (Duration::MAX, Duration::MAX);
    });
    let source = ends.file("a", &data(BATCH));
    ends.send_with(&OS, &running, &Tcp, &[source], |options| options.stall_time = Duration::MAX).unwrap();
    running.stop();
}

/// The receiver ends after the sender has found that a file is missing: the error of the session does not hide that of the file.
#[test]
fn a_session_that_fails_reports_the_first_file_that_failed() {
    let ends = Ends::new();
    let running = ends.receive();
    let sources = [Source::Path(ends.root.path().join("missing")), ends.file("a", &data(30 * BATCH))];
    // Eight seconds, of which the receiver sees the first.
    let options = SendOptions { rate_bytes_per_s: Some(2_000_000), ..ends.options(&running) };
    let receiver = running.control.clone();
    let control = Control::new().on_progress(move |done, _| {
        if done > 0 {
            receiver.cancel();
        }
    });
    let failed = Mutex::new(Vec::new());
    let on_event = |event: &SendEvent<'_>| failed.lock().unwrap().push(format!("{event:?}"));
    let error = send_with_events(&sources, &ends.sender, &options, &on_event, &control).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Refused(_) | ErrorKind::Disconnected), "{error}");
    let failed = failed.into_inner().unwrap();
    assert!(matches!(&failed[..], [event] if event.contains("missing")), "{failed:?}");
    let _ = running.thread.join();
}

/// A receiver that counts a quota or copies a journal is silent for longer than the sender waits later.
#[test]
fn a_receiver_that_is_slow_to_begin_is_awaited() {
    static STALL_TIME: Mutex<Duration> = Mutex::new(STALL);
    struct SlowBegin;
    impl System for SlowBegin {
        fn set_folder_mode(&self, parent: &cap_std::fs::Dir, name: &std::ffi::OsStr, mode: u32) -> std::io::Result<()> {
            let stall_time = *STALL_TIME.lock().unwrap();
            std::thread::sleep(stall_time + Duration::from_secs(1));
            OS.set_folder_mode(parent, name, mode)
        }
    }
    // On a busy machine the receiver may be silent for as long elsewhere.
    for stall_time in [STALL, 8 * STALL, 64 * STALL] {
        *STALL_TIME.lock().unwrap() = stall_time;
        let ends = Ends::new();
        let running = ends.receive_on(&SlowBegin, &Tcp);
        let source = ends.file("a", b"a");
        let sent = ends.send_with(&OS, &running, &Tcp, &[source], |options| options.stall_time = stall_time);
        running.stop();
        if sent.is_ok() {
            return;
        }
    }
    panic!("the sender did not wait");
}

/// While a folder is sent, another process swaps a folder in it with a link to a folder elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn nothing_of_another_folder_is_sent() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let ends = Ends::new();
    let running = ends.receive();
    let path = |name: &str| ends.root.path().join(name);
    for (folder, text) in [("top/sub", "inside"), ("elsewhere", "outside")] {
        fs::create_dir_all(path(folder)).unwrap();
        (0..200).for_each(|number| fs::write(path(folder).join(number.to_string()), text).unwrap());
    }
    std::os::unix::fs::symlink(path("elsewhere"), path("link")).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, path("top/sub"), CWD, path("link"), RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        for round in 0..1000 {
            // Some files are missing and reported as errors.
            let _ = ends.send(&running, &Tcp, &Source::Path(path("top")), 1);
            let has_some = fs::read_dir(ends.output("top/sub")).is_ok_and(|mut files| files.next().is_some());
            if round >= 4 && has_some {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let files: Vec<_> = fs::read_dir(ends.output("top/sub")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty() && files.iter().all(|file| fs::read(file).unwrap() == b"inside"), "{files:?}");
    running.stop();
}

/// One file changes while it is read. The files before and after it arrive, on the same connections.
#[test]
fn a_changed_file_does_not_end_the_session() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(30 * BATCH);
    for (mode, streams) in [("counter", 2), ("barrier", 2), ("sequential", 1)] {
        let folder = ends.root.path().join(mode);
        fs::create_dir(&folder).unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::write(folder.join(name), if name == "b" { &bytes } else { &bytes[..3 * BATCH] }).unwrap();
        }
        let inputs = ["a", "b", "c", "d"].map(|name| Source::Path(folder.join(name)));
        let options = SendOptions {
            streams,
            // Slow enough to change `b` while it is sent, which takes a second and a half.
            rate_bytes_per_s: Some(10_000_000),
            compute_bytes_per_s: Some(if mode == "sequential" { 10_000_000 } else { 1_000_000_000 }),
            synchronisation: if mode == "barrier" { Synchronisation::Barrier } else { Synchronisation::Counter },
            sequential: mode == "sequential",
            ..ends.options(&running)
        };
        // A report of the sender, after `a` and a part of `b`.
        let (changes, is_changed) = (folder.join("b"), AtomicBool::new(false));
        let control = Control::new().on_progress(move |done, _| {
            if done > 4 * BATCH_PLAIN_BYTES && !is_changed.swap(true, Ordering::Relaxed) {
                fs::File::options().write(true).open(&changes).unwrap().write_all(b"other").unwrap();
            }
        });
        let network = FaultyNetwork::new([LinkFault::None]);
        let sent = send_on(&OS, &network, &inputs, &ends.sender, &options, &control);
        assert_eq!(sent.unwrap_err().kind, ErrorKind::InputChanged, "{mode}");
        for (name, arrives) in [("a", true), ("b", false), ("c", true), ("d", true)] {
            let received = fs::read(ends.output(name)).ok();
            assert_eq!(received.is_some_and(|received| received == bytes[..3 * BATCH]), arrives, "{mode} {name}");
            let _ = fs::remove_file(ends.output(name));
        }
        // Batches in transit when the file was given up cut no connection, and no longer count as progress.
        assert_eq!(network.connections.load(Ordering::Relaxed), u64::from(streams) + 1, "{mode}");
        assert_eq!(control.done_bytes(), 9 * BATCH_PLAIN_BYTES, "{mode}");
        assert_eq!(control.total_bytes(), Some(9 * BATCH_PLAIN_BYTES), "{mode}");
    }
    let log = running.log.lock().unwrap().join("\n");
    assert!(!log.contains("Failed"), "{log}");
    running.stop();
}

/// In the middle of a stage, one of two connections is given up. The stage ends without the buffers that it has.
#[test]
fn a_stage_does_not_wait_for_a_dead_connection() {
    /// The control connection and one data connection. The others fail: the first attempt, and four more.
    #[derive(Default)]
    struct TwoConnections(AtomicUsize);
    impl Network for TwoConnections {
        fn connect(&self, to: &str, stop: StopCheck<'_>) -> std::io::Result<Box<dyn Link>> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Tcp.connect(to, stop),
                _ => Err(std::io::ErrorKind::ConnectionRefused.into()),
            }
        }
    }
    /// Workers read only when the connection has failed.
    struct SlowReads(Arc<TwoConnections>, std::thread::ThreadId);
    impl System for SlowReads {
        fn before(&self, call: Call<'_>) -> std::io::Result<usize> {
            if matches!(call, Call::Move) && std::thread::current().id() != self.1 {
                soon(|| self.0.0.load(Ordering::Relaxed) >= 7);
            }
            Ok(usize::MAX)
        }
    }
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(8 * BATCH);
    let network = Arc::new(TwoConnections::default());
    let system = Box::leak(Box::new(SlowReads(network.clone(), std::thread::current().id())));
    ends.send_with(system, &running, &*network, &[ends.file("a", &bytes)], |options| {
        (options.streams, options.threads) = (2, 1.into());
        (options.synchronisation, options.stage_bytes) = (Synchronisation::Barrier, Some(4 * BATCH_PLAIN_BYTES));
    })
    .unwrap();
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    running.stop();
}

/// A receiver that ends before it reports a file leaves the record for the next one.
#[test]
fn files_are_unreported_until_a_report_succeeds() {
    let ends = Ends::new();
    let running = ends.receive();
    fs::create_dir_all(ends.root.path().join("d/e")).unwrap();
    let sources = [ends.file("d/e/b", b"b"), ends.file("a", b"a"), ends.file("empty", b"")];
    let folder = Source::Path(ends.root.path().join("d"));
    let sent = [folder, sources[1].clone(), sources[2].clone()];
    ends.send_with(&OS, &running, &Tcp, &sent, |_| {}).unwrap();
    running.stop();
    let unreported = |succeeds: &dyn Fn(&str) -> bool| {
        let mut names = Vec::new();
        let each = &mut |event: &Event<'_>| {
            let Event::Received { name, bytes, receipt, .. } = event else { panic!("{event:?}") };
            let name = name.to_str().unwrap().to_string();
            assert_eq!(*bytes, u64::from(name != "empty"));
            let _ = receipt.report(|| if succeeds(&name) { Ok(()) } else { Err(()) });
            // A second report of the same file.
            let _ = receipt.report(|| if succeeds(&name) { panic!("{name} is reported") } else { Err(()) });
            names.push(name);
        };
        super::super::unreported(&ends.root.path().join("out"), each).unwrap();
        names.sort();
        names
    };
    let b = PathBuf::from_iter(["d", "e", "b"]).to_str().unwrap().to_string();
    assert_eq!(unreported(&|_| false), ["a", &b, "empty"]);
    fs::write(ends.output("empty"), "changed").unwrap();
    assert_eq!(unreported(&|name| name == "a"), ["a", &b]);
    // A receipt that was kept, after the journal was closed.
    let mut kept = Vec::new();
    let each = &mut |event: &Event<'_>| {
        let Event::Received { receipt, .. } = event else { panic!("{event:?}") };
        kept.push((*receipt).clone());
    };
    super::super::unreported(&ends.root.path().join("out"), each).unwrap();
    assert!(matches!(&kept[..], [receipt] if receipt.report(|| Ok::<_, ()>(())).is_ok()));
    assert_eq!(unreported(&|_| true), [""; 0]);
    // The record still says that the file is complete.
    let running = ends.receive();
    let report = ends.send(&running, &Tcp, &sources[1], 1).unwrap();
    assert_eq!(report.complete_before, 1);
    running.stop();
}

/// Nobody reads the reports: connections stay within their limit.
#[test]
fn a_connection_keeps_its_place_until_it_is_reported() {
    let ends = Ends::new();
    let mut options = ReceiveOptions::new("127.0.0.1:0", ends.root.path().join("out"), Allow::Any);
    options.limits.connections = 2;
    let (report, reports) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let (report, wait, control) = (Mutex::new(report), Mutex::new(wait), Control::new());
    let events = |event: &Event<'_>| {
        report.lock().unwrap().send(format!("{event:?}")).unwrap();
        if let Event::Failed { .. } = event {
            let _ = wait.lock().unwrap().recv();
        }
    };
    let meanwhile = std::thread::scope(|scope| {
        scope.spawn(|| receive_on(&OS, &Tcp, &ends.receiver, &options, &events, &control));
        let listening = reports.recv().unwrap();
        let to = listening.trim_start_matches("Listening(").trim_end_matches(')');
        // A handshake for another receiver.
        let answer = || {
            let mut stream = TcpStream::connect(to).unwrap();
            stream.write_all(&[&GREETING[..], &[9; 96]].concat()).unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            answer
        };
        let served = [answer(), answer()];
        let _ = [reports.recv(), reports.recv()];
        let meanwhile = (served, answer());
        drop(go);
        while answer() != GREETING {}
        control.cancel();
        meanwhile
    });
    assert_eq!(meanwhile, ([GREETING.to_vec(), GREETING.to_vec()], vec![]));
}
