//! Files from a sender to a receiver over loopback, by the public interface.

use std::fs;
use std::time::Duration;

use crate::common::{Ends, bytes, options};
use tress_container::commands::Source;
use tress_container::{ErrorKind, Refusal};

const BATCH: usize = 524_288;

#[test]
fn sizes_around_every_border() {
    let ends = Ends::new();
    let receiver = ends.receive();
    for size in [0, 1, 16_383, 16_384, 16_385, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 5 * BATCH + 77] {
        let name = format!("file-{size}");
        ends.write(&name, &bytes(size));
        let report = ends.send(&receiver, &[&name], |_| {}).unwrap();
        assert_eq!((report.files, report.bytes_sent), (1, size as u64));
        assert!(ends.received(&name) == bytes(size), "{size}");
    }
    assert_eq!(receiver.stop(), Ok(()));
    assert!(ends.leftovers().is_empty(), "{:?}", ends.leftovers());
}

#[test]
fn several_streams_and_every_synchronisation() {
    use tress_transfer::Synchronisation;
    let ends = Ends::new();
    let receiver = ends.receive();
    let data = bytes(37 * BATCH + 5);
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
        ends.write(&name, &data);
        let report = ends.send(&receiver, &[&name], |options| {
            options.streams = streams;
            options.threads = threads.into();
            options.synchronisation = synchronisation;
            options.sequential = sequential;
        });
        assert_eq!(report.unwrap().bytes_sent, data.len() as u64);
        assert!(ends.received(&name) == data, "{streams}");
    }
    assert_eq!(receiver.stop(), Ok(()));
}

#[test]
fn folders_and_files_of_folders() {
    let ends = Ends::new();
    let receiver = ends.receive();
    fs::create_dir_all(ends.input("top/empty")).unwrap();
    fs::create_dir_all(ends.input("top/a/b")).unwrap();
    for (name, size) in [("top/one", 10), ("top/a/two", 0), ("top/a/b/three", BATCH + 9), ("single", 3)] {
        ends.write(name, &bytes(size));
    }
    let report = ends.send(&receiver, &["top", "single"], |_| {}).unwrap();
    assert_eq!(report.files, 4);
    for name in ["top/one", "top/a/two", "top/a/b/three", "single"] {
        assert!(ends.received(name) == fs::read(ends.input(name)).unwrap(), "{name}");
    }
    assert!(ends.output("top/empty").is_dir());
    // Again: every file is known to be there.
    let again = ends.send(&receiver, &["top", "single"], |_| {}).unwrap();
    assert_eq!((again.files, again.complete_before, again.bytes_sent), (4, 4, 0));
    assert_eq!(receiver.stop(), Ok(()));
}

#[test]
fn what_exists_is_never_overwritten() {
    let ends = Ends::new();
    let receiver = ends.receive();
    ends.write("a", b"first");
    ends.send(&receiver, &["a"], |_| {}).unwrap();
    // Other content, another version; and something that was never received.
    ends.write("a", b"second");
    fs::write(ends.output("b"), b"mine").unwrap();
    ends.write("b", b"theirs");
    ends.write("c", b"third");
    let error = ends.send(&receiver, &["a", "b", "c"], |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused(Refusal::Exists));
    assert_eq!(ends.received("a"), b"first");
    assert_eq!(ends.received("b"), b"mine");
    assert_eq!(ends.received("c"), b"third");
    assert_eq!(receiver.stop(), Ok(()));
}

#[test]
fn only_senders_of_the_allow_file() {
    let ends = Ends::new();
    let stranger = tress_container::keys::KeyPair::generate().unwrap();
    ends.write("a", b"data");
    let receiver = ends.receive_with(|options| options.allow = tress_transfer::Allow::Only(vec![]));
    let error = ends.send(&receiver, &["a"], |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused(Refusal::NotAdmitted));
    assert_eq!(receiver.stop(), Ok(()));
    let receiver = ends.receive();
    let inputs = [Source::Path(ends.input("a"))];
    let send = |pair| tress_transfer::send(&inputs, pair, &options(&receiver, &ends.receiver), &receiver.control());
    assert_eq!(send(&stranger).unwrap_err().kind, ErrorKind::Refused(Refusal::NotAdmitted));
    // The right host, another key than the address says.
    let elsewhere = options(&receiver, &stranger);
    let error = tress_transfer::send(&inputs, &ends.sender, &elsewhere, &receiver.control()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::WrongPeer);
    assert!(fs::read_dir(ends.folder()).unwrap().next().is_none());
    send(&ends.sender).unwrap();
    assert_eq!(receiver.stop(), Ok(()));
}

#[test]
fn the_rate_holds() {
    let ends = Ends::new();
    let receiver = ends.receive();
    for streams in [1, 3] {
        // What comes before and after the data needs some milliseconds; others at work may need the disk meanwhile.
        let is_close = (0..5).any(|attempt| {
            let name = format!("{streams}-{attempt}");
            ends.write(&name, &bytes(20_000_000));
            let begin = std::time::Instant::now();
            ends.send(&receiver, &[&name], |options| {
                options.rate_bytes_per_s = Some(20_000_000);
                options.streams = streams;
            })
            .unwrap();
            let took = begin.elapsed();
            // The tags are a thousandth.
            assert!(took > Duration::from_millis(970), "{took:?}");
            took < Duration::from_millis(1900)
        });
        assert!(is_close, "five times half as fast as asked for, or slower, with {streams} streams");
    }
    assert_eq!(receiver.stop(), Ok(()));
}

/// A small file, or an error: nothing panics and nothing hangs. Limits of 0 let nobody in, and the sender soon knows.
#[test]
fn options_with_extreme_values() {
    use tress_transfer::{ReceiveOptions, SendOptions};
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
        let receiver = ends.receive();
        let sent = |number: usize, done: Result<_, tress_container::Error>| match done.map_err(|error| error.kind) {
            Ok(_) => assert_eq!(ends.received(&format!("file-{number}")), bytes(300), "{number}, {value}"),
            Err(ErrorKind::Usage | ErrorKind::Refused(_) | ErrorKind::Disconnected | ErrorKind::Stalled) => {}
            Err(other) => panic!("{number}, {value}: {other:?}"),
        };
        for (number, set) in sending.iter().enumerate() {
            let name = format!("file-{number}");
            ends.write(&name, &bytes(300));
            sent(number, ends.send(&receiver, &[&name], |options| set(options, value)));
        }
        assert_eq!(receiver.stop(), Ok(()));
        for (number, set) in receiving.iter().enumerate() {
            let (number, name) = (number + sending.len(), format!("file-{}", number + sending.len()));
            ends.write(&name, &bytes(300));
            let receiver = ends.receive_with(|options| set(options, value));
            sent(number, ends.send(&receiver, &[&name], |options| options.stall_time = Duration::from_millis(300)));
            assert_eq!(receiver.stop(), Ok(()));
        }
    }
}
