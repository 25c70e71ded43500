//! Transfers from a sender to a receiver over loopback.

use super::*;
#[cfg(unix)]
use cap_std::fs::Dir;
use std::ffi::OsStr;
#[cfg(unix)]
use tress_container::sys::FileTime;
use tress_container::sys::Status;
use tress_container::testing::faulty;

impl Ends {
    /// Sends the files with these names.
    fn send_files(
        &self,
        running: &RunningReceiver,
        names: &[&str],
        change: impl FnOnce(&mut SendOptions),
    ) -> Result<SendReport, Error> {
        let sources: Vec<Source> = names.iter().map(|name| Source::Path(self.root.path().join(name))).collect();
        self.send_with(&OS, running, &Tcp, &sources, change)
    }

    #[track_caller]
    fn received(&self, name: &str) -> Vec<u8> {
        fs::read(self.output(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

#[test]
fn sizes_around_every_border() {
    let ends = Ends::new();
    let running = ends.receive();
    for size in [0, 1, 16_383, 16_384, 16_385, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 5 * BATCH + 77] {
        let name = format!("file-{size}");
        ends.file(&name, &data(size));
        let report = ends.send_files(&running, &[&name], |_| {}).unwrap();
        assert_eq!((report.files, report.bytes_sent), (1, size as u64));
        assert!(ends.received(&name) == data(size), "{size}");
    }
    running.stop();
    // Only complete files and their journal are kept.
    let kept: Vec<_> = fs::read_dir(ends.output(".tress")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(kept, ["files"]);
}

#[test]
fn several_streams_and_every_synchronisation() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(37 * BATCH + 5);
    for (index, (streams, threads, synchronisation, sequential)) in [
        (1, 1, Synchronisation::Counter, false),
        (4, 3, Synchronisation::Counter, false),
        (3, 3, Synchronisation::Barrier, false),
        (2, 2, Synchronisation::Counter, true),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("file-{index}");
        ends.file(&name, &bytes);
        let report = ends.send_files(&running, &[&name], |options| {
            options.streams = streams;
            options.threads = threads.into();
            options.synchronisation = synchronisation;
            options.sequential = sequential;
        });
        assert_eq!(report.unwrap().bytes_sent, bytes.len() as u64);
        assert!(ends.received(&name) == bytes, "{streams}");
    }
    running.stop();
}

#[test]
fn folders_and_files_of_folders() {
    let ends = Ends::new();
    let running = ends.receive();
    fs::create_dir_all(ends.root.path().join("top/empty")).unwrap();
    fs::create_dir_all(ends.root.path().join("top/a/b")).unwrap();
    for (name, size) in [("top/one", 10), ("top/a/two", 0), ("top/a/b/three", BATCH + 9), ("single", 3)] {
        ends.file(name, &data(size));
    }
    let report = ends.send_files(&running, &["top", "single"], |_| {}).unwrap();
    assert_eq!(report.files, 4);
    for name in ["top/one", "top/a/two", "top/a/b/three", "single"] {
        assert!(ends.received(name) == fs::read(ends.root.path().join(name)).unwrap(), "{name}");
    }
    assert!(ends.output("top/empty").is_dir());
    // The second run finds every file complete.
    let again = ends.send_files(&running, &["top", "single"], |_| {}).unwrap();
    assert_eq!((again.files, again.complete_before, again.bytes_sent), (4, 4, 0));
    running.stop();
}

/// Hundreds of files in several lists, over connections that are cut.
#[test]
fn packs_over_connections_that_are_cut() {
    let ends = Ends::new();
    let running = ends.receive();
    let content = |number: usize| data(number * number % 20_000);
    for number in 0..600 {
        fs::create_dir_all(ends.root.path().join(format!("top/{}", number % 30))).unwrap();
        ends.file(&format!("top/{}/{number}", number % 30), &content(number));
    }
    ends.file("top/large", &data(BATCH));
    let top = Source::Path(ends.root.path().join("top"));
    let cuts: Vec<_> = std::iter::once(LinkFault::None).chain((0..60).map(|_| LinkFault::Cut(900_000))).collect();
    let report = ends.send(&running, &FaultyNetwork::new(cuts), &top, 3).unwrap();
    assert_eq!((report.files, report.complete_before), (601, 0));
    for number in 0..600 {
        assert!(ends.received(&format!("top/{}/{number}", number % 30)) == content(number), "{number}");
    }
    let again = ends.send(&running, &Tcp, &top, 1).unwrap();
    assert_eq!((again.files, again.complete_before, again.bytes_sent), (601, 601, 0));
    running.stop();
    let kept: Vec<_> = fs::read_dir(ends.output(".tress")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(kept, ["files"]);
}

/// Holes are not sent, also not after an interruption, and take no space at the receiver.
#[cfg(target_os = "linux")]
#[test]
fn holes_stay_holes() {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    let ends = Ends::new();
    let running = ends.receive();
    let size = 50 * BATCH as u64 + 5;
    for (name, parts) in [("ends", &[3 * BATCH as u64 + 7][..]), ("begins", &[0, 40 * BATCH as u64]), ("empty", &[])] {
        let file = fs::File::create(ends.root.path().join(name)).unwrap();
        file.set_len(size).unwrap();
        parts.iter().for_each(|&offset| file.write_all_at(&data(BATCH), offset).unwrap());
        let stored_bytes = 512 * file.metadata().unwrap().blocks();
        assert!(stored_bytes < size / 2, "the file system of the test has no holes");
        let network = FaultyNetwork::new([LinkFault::None, LinkFault::Cut(900_000)]);
        let source = Source::Path(ends.root.path().join(name));
        let report = ends.send(&running, &network, &source, 1);
        let (sent_bytes, least) = (report.unwrap().bytes_sent, (parts.len() * BATCH) as u64);
        assert!((least..least + (1 << 17)).contains(&sent_bytes), "{name}: {sent_bytes}");
        assert!(ends.received(name) == fs::read(ends.root.path().join(name)).unwrap(), "{name}");
        assert!(512 * fs::metadata(ends.output(name)).unwrap().blocks() <= stored_bytes + (1 << 17), "{name}");
    }
    running.stop();
}

/// A file system that cannot say where holes are.
struct WithoutHoles;

impl System for WithoutHoles {
    fn segments(&self, _: &fs::File, _: u64) -> std::io::Result<Option<Vec<std::ops::Range<u64>>>> {
        Err(faulty::broken_disk().into())
    }
}

#[test]
fn holes_that_are_not_found_are_sent() {
    let ends = Ends::new();
    let running = ends.receive();
    let sources = ["a", "b"].map(|name| ends.file(name, &data(BATCH)));
    ends.send_with(&WithoutHoles, &running, &Tcp, &sources, |_| {}).unwrap();
    assert!(["a", "b"].iter().all(|name| ends.received(name) == data(BATCH)));
    running.stop();
}

/// Files whose sizes are together above 2^64.
struct LargeFiles;

impl System for LargeFiles {
    fn status_of(&self, path: &std::path::Path) -> std::io::Result<Status> {
        OS.status_of(path).map(|status| Status { size_bytes: i64::MAX as u64, ..status })
    }
}

#[test]
fn sums_of_sizes_do_not_overflow() {
    let ends = Ends::new();
    let running = ends.receive();
    let sources = ["a", "b", "c"].map(|name| ends.file(name, b"short"));
    assert_eq!(ends.send_with(&LargeFiles, &running, &Tcp, &sources, |_| {}).unwrap().files, 3);
    running.stop();
}

/// The receiver's name may have several addresses: all connections go to the same.
#[test]
fn data_connections_go_where_the_control_connection_goes() {
    struct Named(Mutex<Vec<String>>);
    impl Network for Named {
        fn connect(&self, to: &str, stop: StopCheck<'_>) -> std::io::Result<Box<dyn Link>> {
            self.0.lock().unwrap().push(to.into());
            Tcp.connect(&to.replace("receiver.example", "127.0.0.1"), stop)
        }
    }
    let ends = Ends::new();
    let running = ends.receive();
    let (network, name) = (Named(Mutex::default()), running.to.replace("127.0.0.1", "receiver.example"));
    let source = ends.file("a", &data(BATCH));
    ends.send_with(&OS, &running, &network, &[source], |options| options.to.clone_from(&name)).unwrap();
    let dialled = network.0.into_inner().unwrap();
    assert_eq!(dialled[..2], [name, running.to.clone()]);
    running.stop();
}

/// A system that gives no file a name that begins with `odd`.
struct OddFolder(std::io::ErrorKind);

impl System for OddFolder {
    fn move_in(
        &self,
        from_folder: &cap_std::fs::Dir,
        from: &OsStr,
        to_folder: &cap_std::fs::Dir,
        to: &OsStr,
    ) -> std::io::Result<()> {
        let is_odd = to.to_str().is_some_and(|to| to.starts_with("odd"));
        if is_odd { Err(self.0.into()) } else { OS.move_in(from_folder, from, to_folder, to) }
    }
}

/// A folder that is another file system, that may not be written to, or that is gone cannot take its files. All others get their names, and
/// are reported. When the folder can take them, what has come is not sent again.
#[test]
fn a_folder_that_cannot_take_its_files() {
    use std::io::ErrorKind as Kind;
    for kind in [Kind::CrossesDevices, Kind::PermissionDenied, Kind::ReadOnlyFilesystem, Kind::NotFound] {
        let ends = Ends::new();
        let running = ends.receive_on(Box::leak(Box::new(OddFolder(kind))), &Tcp);
        let log = running.log.clone();
        fs::create_dir(ends.root.path().join("top")).unwrap();
        let small = ["a", "odd", "z"].map(|name| (name, 9));
        let files = small.into_iter().chain(["large", "odd-large", "z-large"].map(|name| (name, BATCH)));
        let files: Vec<_> = files.map(|(name, size)| (format!("top/{name}"), size)).collect();
        files.iter().for_each(|(name, size)| drop(ends.file(name, &data(*size))));
        let error = ends.send_files(&running, &["top"], |_| {}).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused(Refusal::Name), "{kind}");
        for (name, _) in &files {
            assert_eq!(ends.output(name).exists(), !name.contains("odd"), "{kind} {name}");
        }
        running.stop();
        let count = |event| log.lock().unwrap().iter().filter(|line| line.starts_with(event)).count();
        assert_eq!((count("Received"), count("Refused")), (4, 2), "{kind}");
        let running = ends.receive();
        let report = ends.send_files(&running, &["top"], |_| {}).unwrap();
        assert_eq!((report.files, report.complete_before, report.bytes_sent), (6, 4, 9), "{kind}");
        assert!(files.iter().all(|(name, size)| ends.received(name) == data(*size)), "{kind}");
        running.stop();
    }
}

/// What `cp -p` keeps, also of files that are not in packs.
#[cfg(unix)]
#[test]
fn modes_times_links_and_names_are_kept() {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let ends = Ends::new();
    let running = ends.receive();
    let top = ends.root.path().join("top");
    fs::create_dir_all(top.join("d/empty")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\n");
    for (name, size, mode) in [("a", 10, 0o640), ("d/b", 0, 0o400), ("d/large", 2 * BATCH, 0o751)] {
        ends.file(&format!("top/{name}"), &data(size));
        fs::set_permissions(top.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::write(top.join(odd), b"odd").unwrap();
    fs::set_permissions(top.join("d/empty"), fs::Permissions::from_mode(0o557)).unwrap();
    for (link, target) in [("l", "d/b"), ("d/up", "../a"), ("dangling", "nowhere"), ("d/.up", "./../a")] {
        symlink(target, top.join(link)).unwrap();
    }
    let folder = Dir::open_ambient_dir(&top, cap_std::ambient_authority()).unwrap();
    let names = ["a", "d/b", "d/large", "l", "d/up", "dangling", "d/.up", "d/empty", "d", "."];
    let times = (1..).map(|seconds| FileTime { seconds: 1_000_000_000 + seconds, nanoseconds: 123_456_789 });
    for (name, time) in names.iter().zip(times) {
        OS.set_modified(&folder, name.as_ref(), time).unwrap();
    }
    ends.send_files(&running, &["top"], |_| {}).unwrap();
    let found = |path: &std::path::Path| fs::symlink_metadata(path).unwrap();
    for name in names {
        let (sent, received) = (found(&top.join(name)), found(&ends.output("top").join(name)));
        assert_eq!((sent.mtime(), sent.mtime_nsec()), (received.mtime(), received.mtime_nsec()), "{name}");
        // In a folder the receiver keeps its rights, and others get none to write.
        let mode = if sent.is_dir() { (sent.mode() | 0o700) & !0o002 } else { sent.mode() };
        assert_eq!(received.mode(), mode, "{name}");
        if sent.is_symlink() {
            assert_eq!(fs::read_link(top.join(name)).unwrap(), fs::read_link(ends.output("top").join(name)).unwrap());
        }
    }
    assert_eq!(fs::read(ends.output("top").join(odd)).unwrap(), b"odd");
    // Nothing changes, so nothing is sent. A link that leads out is an error, and the rest is sent.
    let again = ends.send_files(&running, &["top"], |_| {}).unwrap();
    assert_eq!((again.files, again.complete_before), (4, 4));
    ends.file("top/more", b"more");
    for target in ["../../outside", "l/../a", "nowhere/../a", "d/../a", "../top/a"] {
        symlink(target, top.join("out")).unwrap();
        assert_eq!(ends.send_files(&running, &["top"], |_| {}).unwrap_err().kind, ErrorKind::TreeLink, "{target}");
        assert_eq!(ends.received("top/more"), b"more");
        assert!(fs::symlink_metadata(ends.output("top/out")).is_err(), "{target}");
        fs::remove_file(top.join("out")).unwrap();
    }
    running.stop();
}

/// Files change after they were listed, before they are read.
#[cfg(unix)]
#[test]
fn small_files_that_change_never_appear() {
    let ends = Ends::new();
    let running = ends.receive();
    let names = ["appears", "grows", "shrinks", "vanishes", "link", "same"];
    fs::create_dir(ends.root.path().join("top")).unwrap();
    names.iter().for_each(|name| drop(ends.file(&format!("top/{name}"), &data(1000))));
    let top = ends.root.path().join("top");
    let path = top.clone();
    // The only large write on the control connection is the list.
    let network = WrappedNetwork::leak(move |number, link| {
        if number != 0 {
            return link;
        }
        let (path, lists) = (path.clone(), AtomicUsize::new(0));
        HookedLink::on_write(link, move |bytes| {
            if bytes > 200 && lists.fetch_add(1, Ordering::Relaxed) == 0 {
                fs::write(path.join("grows"), data(2000)).unwrap();
                fs::write(path.join("shrinks"), data(500)).unwrap();
                fs::remove_file(path.join("vanishes")).unwrap();
                fs::remove_file(path.join("link")).unwrap();
                std::os::unix::fs::symlink("same", path.join("link")).unwrap();
            }
            Ok(())
        })
    });
    let error = ends.send(&running, network, &Source::Path(top.clone()), 1).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::InputChanged | ErrorKind::Io(_)), "{error}");
    for name in names {
        let is_same = ["appears", "same"].contains(&name);
        assert_eq!(fs::read(ends.output("top").join(name)).ok(), is_same.then(|| data(1000)), "{name}");
    }
    let report = ends.send(&running, &Tcp, &Source::Path(top), 1).unwrap();
    assert_eq!((report.files, report.complete_before), (4, 2));
    assert_eq!(ends.received("top/grows"), data(2000));
    running.stop();
}

#[test]
fn what_exists_is_never_overwritten() {
    let ends = Ends::new();
    let running = ends.receive();
    ends.file("a", b"first");
    ends.send_files(&running, &["a"], |_| {}).unwrap();
    // `a` has changed, so it is another version; `b` exists but was never received.
    ends.file("a", b"second");
    fs::write(ends.output("b"), b"mine").unwrap();
    ends.file("b", b"theirs");
    ends.file("c", b"third");
    let error = ends.send_files(&running, &["a", "b", "c"], |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused(Refusal::Exists));
    assert_eq!(ends.received("a"), b"first");
    assert_eq!(ends.received("b"), b"mine");
    assert_eq!(ends.received("c"), b"third");
    running.stop();
}

#[test]
fn the_rate_is_not_exceeded() {
    let ends = Ends::new();
    let running = ends.receive();
    for streams in [1, 3] {
        let name = streams.to_string();
        ends.file(&name, &data(20_000_000));
        let begin = Instant::now();
        ends.send_files(&running, &[&name], |options| {
            options.rate_bytes_per_s = Some(20_000_000);
            options.streams = streams;
        })
        .unwrap();
        // Tags add a thousandth to the bytes. That it is no slower than the limit is the test of `RateLimit`, whose clock is simulated.
        assert!(begin.elapsed() > Duration::from_millis(970), "{:?}", begin.elapsed());
    }
    running.stop();
}

/// Extreme values lead to a complete transfer or to an error, and never to a panic or an endless wait. Limits of 0 refuse everyone.
#[test]
fn options_with_extreme_values() {
    let sending: [fn(&mut SendOptions, u64); 6] = [
        |options, value| options.streams = value as u16,
        |options, value| options.threads = (value as usize).into(),
        |options, value| options.rate_bytes_per_s = Some(value),
        |options, value| options.compute_bytes_per_s = Some(value),
        |options, value| options.stage_bytes = Some(value),
        |options, value| options.stall_time = Duration::from_nanos(value),
    ];
    let receiving: [fn(&mut ReceiveOptions, u64); 11] = [
        |options, value| options.limits.half_open = value as usize,
        |options, value| options.limits.half_open_per_address = value as usize,
        |options, value| options.limits.handshake_burst = value as u32,
        |options, value| options.limits.handshakes_per_s = value as u32,
        |options, value| options.limits.connections = value as usize,
        |options, value| options.limits.connections_per_sender = value as usize,
        |options, value| options.limits.sessions_per_sender = value as usize,
        |options, value| options.limits.streams = value as u16,
        |options, value| options.limits.quota_bytes = Some(value),
        |options, value| options.limits.handshake_time = Duration::from_nanos(value),
        |options, value| options.limits.stall_time = Duration::from_nanos(value),
    ];
    for value in [0, u64::MAX] {
        let ends = Ends::new();
        let running = ends.receive();
        let sent = |number: usize, done: Result<_, Error>| match done.map_err(|error| error.kind) {
            Ok(_) => assert_eq!(ends.received(&format!("file-{number}")), data(300), "{number}, {value}"),
            Err(ErrorKind::Usage | ErrorKind::Refused(_) | ErrorKind::Disconnected | ErrorKind::Stalled) => {}
            Err(other) => panic!("{number}, {value}: {other:?}"),
        };
        for (number, set) in sending.iter().enumerate() {
            let name = format!("file-{number}");
            ends.file(&name, &data(300));
            sent(number, ends.send_files(&running, &[&name], |options| set(options, value)));
        }
        running.stop();
        for (number, set) in receiving.iter().enumerate() {
            let (number, name) = (number + sending.len(), format!("file-{}", number + sending.len()));
            ends.file(&name, &data(300));
            let running = ends.receive_with(&OS, &Tcp, |options| set(options, value));
            sent(
                number,
                ends.send_files(&running, &[&name], |options| options.stall_time = Duration::from_millis(300)),
            );
            running.stop();
        }
    }
}
