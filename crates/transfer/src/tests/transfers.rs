//! Transfers from a sender to a receiver over loopback.

use super::*;

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
fn only_senders_of_the_allow_file() {
    let ends = Ends::new();
    let stranger = KeyPair::generate().unwrap();
    ends.file("a", b"data");
    let running = ends.receive_with(&OS, &Tcp, |options| options.allow = Allow::Only(vec![]));
    let error = ends.send_files(&running, &["a"], |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused(Refusal::NotAdmitted));
    running.stop();
    let running = ends.receive();
    let inputs = [Source::Path(ends.root.path().join("a"))];
    let send = |from: &KeyPair, to: &KeyPair| {
        let options = SendOptions::new(&running.to, to.address().unwrap());
        send_on(&OS, &Tcp, &inputs, from, &options, &Control::new())
    };
    assert_eq!(send(&stranger, &ends.receiver).unwrap_err().kind, ErrorKind::Refused(Refusal::NotAdmitted));
    // The right host, but with another key than the address.
    assert_eq!(send(&ends.sender, &stranger).unwrap_err().kind, ErrorKind::WrongPeer);
    assert!(fs::read_dir(ends.root.path().join("out")).unwrap().next().is_none());
    send(&ends.sender, &ends.receiver).unwrap();
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
