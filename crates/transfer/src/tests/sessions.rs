//! What sessions hold and for how long: sockets, places, waits.

use super::*;
use std::io::IoSlice;
use std::sync::atomic::AtomicUsize;

/// Counts the connections that a receiver holds.
#[derive(Default)]
struct Counting(Arc<AtomicUsize>);

struct Counted(Box<dyn Link>, Arc<AtomicUsize>);

impl Network for Counting {
    fn connect(&self, to: &str) -> std::io::Result<Box<dyn Link>> {
        Tcp.connect(to)
    }

    fn accepted(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::new(Counted(link, self.0.clone()))
    }
}

impl Link for Counted {
    fn read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> std::io::Result<usize> {
        self.0.write(buffers)
    }

    fn close(&self) {
        self.0.close();
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Connections of a receiver that take so many bytes from it and are full then: nobody reads at the other end.
#[derive(Default)]
struct Full(Arc<AtomicUsize>);

const ROOM_BYTES: usize = 4096;

/// What there is room for, and how many links are full.
struct Filling(Box<dyn Link>, AtomicUsize, Arc<AtomicUsize>);

impl Network for Full {
    fn connect(&self, to: &str) -> std::io::Result<Box<dyn Link>> {
        Tcp.connect(to)
    }

    fn accepted(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(Filling(link, AtomicUsize::new(ROOM_BYTES), self.0.clone()))
    }
}

impl Link for Filling {
    fn read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> std::io::Result<usize> {
        if self.1.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(5));
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        let count = self.0.write(buffers)?;
        let room = self.1.load(Ordering::Relaxed).saturating_sub(count);
        self.1.store(room, Ordering::Relaxed);
        if room == 0 {
            self.2.fetch_add(1, Ordering::Relaxed);
        }
        Ok(count)
    }

    fn close(&self) {
        self.0.close();
    }
}

/// Waits for something that comes soon.
fn soon(what: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while !what() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    what()
}

/// A link that flaps: a hundred data connections of one session, one after the other.
#[test]
fn a_data_connection_that_is_gone_holds_no_socket() {
    let ends = Ends::new();
    let network: &'static Counting = Box::leak(Box::default());
    // The control connection says nothing meanwhile, and a busy machine takes its time.
    let running = ends.receive_with(&OS, network, |options| {
        options.limits.handshake_time = Duration::from_secs(30);
        options.limits.stall_time = Duration::from_secs(60);
    });
    let (mut control, ticket) = ends.hostile_session(&running);
    for stream in 0..100 {
        let mut data = ends.hostile(&running);
        data.say(&Request::Join { ticket: ticket.clone(), stream });
        assert_eq!(data.hear(), Some(Reply::Joined));
        drop(data);
        assert_eq!(control.hear(), Some(Reply::Drained { stream, batches: 0 }));
    }
    let live = || network.0.load(Ordering::Relaxed);
    assert!(soon(|| live() == 1), "{} of 100 are held", live());
    running.stop();
}

/// Sessions that begin at the same moment are as many as the sender may have.
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
                peer.say(&Request::Begin { streams: 1 });
                let answer = peer.hear();
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
    let network: &'static Full = Box::leak(Box::default());
    let running = ends.receive_with(&OS, network, |options| options.limits.stall_time = Duration::from_secs(3600));
    let offer = Request::Offer { file: 1, size_bytes: Some(9), restart: false, identity: [1; 32], path: b"a".to_vec() };
    let begin = Instant::now();
    // The second takes the file over from the first, which is stuck in an answer.
    let deaf = [1, 2].map(|number| {
        let (mut peer, _) = ends.hostile_session(&running);
        peer.say(&offer);
        assert_eq!(peer.hear(), Some(Reply::Resume { file: 1, held: vec![] }));
        (0..ROOM_BYTES / 16).for_each(|_| peer.say(&Request::Ping));
        assert!(soon(|| network.0.load(Ordering::Relaxed) == number));
        peer
    });
    running.stop();
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    drop(deaf);
}

#[test]
fn times_that_no_clock_reaches() {
    let ends = Ends::new();
    let running = ends.receive_with(&OS, &Tcp, |options| {
        (options.limits.handshake_time, options.limits.stall_time) = (Duration::MAX, Duration::MAX);
    });
    let source = ends.file("a", &data(BATCH));
    ends.send_with(&OS, &running, &Tcp, &[source], |options| options.stall_time = Duration::MAX).unwrap();
    running.stop();
}

/// While a folder is sent, another process swaps what is in it for links that lead elsewhere.
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
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, path("top/sub"), CWD, path("link"), RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        for _ in 0..5 {
            // Some files are gone, and said to be.
            let _ = ends.send(&running, &Tcp, &Source::Path(path("top")), 1);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    for file in fs::read_dir(ends.output("top/sub")).into_iter().flatten() {
        assert_eq!(fs::read(file.unwrap().path()).unwrap(), b"inside");
    }
    running.stop();
}

/// One file changes while it is read; those before and after it arrive, on the same connections.
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
            // Slow enough to be overtaken: `b` takes a second and a half.
            rate_bytes_per_s: Some(10_000_000),
            compute_bytes_per_s: Some(if mode == "sequential" { 10_000_000 } else { 1_000_000_000 }),
            synchronisation: if mode == "barrier" { Synchronisation::Barrier } else { Synchronisation::Counter },
            sequential: mode == "sequential",
            ..ends.options(&running)
        };
        let (control, network) = (Control::new(), Faulty::new([Fault::None]));
        let sent = std::thread::scope(|scope| {
            let sending = scope.spawn(|| send_on(&OS, &network, &inputs, &ends.sender, &options, &control));
            assert!(soon(|| ends.output("a").exists()));
            std::thread::sleep(Duration::from_millis(200));
            let changed = fs::File::options().write(true).open(folder.join("b")).unwrap();
            (&changed).write_all(b"other").unwrap();
            sending.join().unwrap()
        });
        assert_eq!(sent.unwrap_err().kind, ErrorKind::InputChanged, "{mode}");
        for (name, arrives) in [("a", true), ("b", false), ("c", true), ("d", true)] {
            let received = fs::read(ends.output(name)).ok();
            assert_eq!(received.is_some_and(|received| received == bytes[..3 * BATCH]), arrives, "{mode} {name}");
            let _ = fs::remove_file(ends.output(name));
        }
        // What was on its way when the file was given up has cut no connection, and what counted of it does no more.
        assert_eq!(network.connections.load(Ordering::Relaxed), u64::from(streams) + 1, "{mode}");
        assert_eq!(control.done_bytes(), 9 * BATCH_PLAIN_BYTES, "{mode}");
        assert_eq!(control.total_bytes(), Some(9 * BATCH_PLAIN_BYTES), "{mode}");
    }
    let log = running.log.lock().unwrap().join("\n");
    assert!(!log.contains("Failed"), "{log}");
    running.stop();
}
