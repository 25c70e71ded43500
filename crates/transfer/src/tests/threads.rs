//! Threads that the system refuses, and threads that panic: the session ends with an error, or continues with fewer threads. It never
//! waits indefinitely.

use super::*;
use tress_container::threads::LEFT;

/// Wraps the connection with this number, so that one of its threads is refused or panics.
type Wrap = fn(usize, Box<dyn Link>) -> Box<dyn Link>;

#[test]
fn a_sender_with_few_threads() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = data(9 * BATCH + 1);
    for (mode, needed) in [("counter", 4), ("barrier", 5), ("sequential", 4), ("sealed", 4)] {
        for left in 0..13 {
            let name = format!("{mode}-{left}");
            let source = ends.file(&name, &bytes);
            let options = SendOptions {
                streams: 3,
                threads: 3.into(),
                synchronisation: if mode == "barrier" { Synchronisation::Barrier } else { Synchronisation::Counter },
                sequential: mode == "sequential",
                keep_sealed: mode == "sealed",
                ..ends.options(&running)
            };
            LEFT.set(left);
            let sent = send_on(&OS, &Tcp, &[source], &ends.sender, &options, &Control::new());
            LEFT.set(usize::MAX);
            // In mode `sealed`, with no thread left the encrypting thread is refused too; a session starts twelve threads.
            let is_enough = if mode == "sealed" { left == 12 } else { left >= needed };
            match sent {
                Ok(report) => assert!(is_enough && report.files == 1, "{name}"),
                Err(error) => assert!(!is_enough && error.kind == ErrorKind::NoThread, "{name}: {error}"),
            }
            if is_enough && mode != "sealed" {
                assert!(fs::read(ends.output(&name)).unwrap() == bytes, "{name}");
            }
        }
    }
    running.stop();
}

/// The system refuses, one per case: the thread of a control connection, its disk thread, the thread of a data connection, and the
/// thread that opens its batches.
#[test]
fn a_receiver_without_threads() {
    // The connection, whether it is in use already, and the outcome: mostly, the sender tries again.
    for (refused, in_use, expected) in [
        (0, false, Ok(())),
        (0, true, Err(ErrorKind::Refused(Refusal::TooMany))),
        (1, false, Ok(())),
        (1, true, Ok(())),
    ] {
        let wrap = move |number, link: Box<dyn Link>| -> Box<dyn Link> {
            match (number == refused, in_use) {
                (true, true) => HookedLink::on_read(link, || LEFT.set(0)),
                (_, true) => link,
                (is_refused, false) => {
                    LEFT.set(if is_refused { 0 } else { usize::MAX });
                    link
                }
            }
        };
        let ends = Ends::new();
        let running = ends.receive_on(&OS, WrappedNetwork::leak(wrap));
        let bytes = data(3 * BATCH);
        let source = ends.file("a", &bytes);
        let sent = ends.send(&running, &Tcp, &source, 1);
        assert_eq!(sent.map(drop).map_err(|error| error.kind), expected, "{refused} {in_use}");
        ends.send(&running, &Tcp, &source, 1).unwrap();
        assert!(fs::read(ends.output("a")).unwrap() == bytes);
        let log = running.log.lock().unwrap().join("\n");
        assert!(log.contains("NoThread"), "{refused} {in_use}: {log}");
        running.stop();
    }
}

/// At the sender: the thread that reads replies panics, the writer panics, and the progress callback panics.
#[test]
fn a_session_ends_when_a_thread_of_it_panics() {
    let panics: [(Wrap, bool, &str); 3] = [
        (
            |number, link| {
                let begun = std::thread::current().id();
                let read = move || assert!(std::thread::current().id() == begun, "a panic that a test wants");
                if number == 0 { HookedLink::on_read(link, read) } else { link }
            },
            false,
            "listen",
        ),
        (
            |number, link| {
                let write = |bytes| {
                    assert!(bytes < 100_000, "a panic that a test wants");
                    Ok(())
                };
                if number == 1 { HookedLink::on_write(link, write) } else { link }
            },
            false,
            "write",
        ),
        (|_, link| link, true, "report"),
    ];
    for (wrap, report_panics, label) in panics {
        let ends = Ends::new();
        let running = ends.receive();
        let source = ends.file("a", &data(3 * BATCH));
        let options = SendOptions { stall_time: Duration::from_secs(3600), ..ends.options(&running) };
        let (done, over) = mpsc::channel();
        let sender = ends.sender.clone();
        // A separate thread that is not joined, so that it cannot block this test.
        std::thread::spawn(move || {
            let report = move |done, _| assert!(done == 0 || !report_panics, "a panic that a test wants");
            let control = Control::new().on_progress(report);
            let send = || send_on(&OS, WrappedNetwork::leak(wrap), &[source], &sender, &options, &control);
            let _ = done.send(std::panic::catch_unwind(std::panic::AssertUnwindSafe(send)).is_err());
        });
        assert_eq!(over.recv_timeout(HANG), Ok(true), "{label}");
        ends.send(&running, &Tcp, &ends.file("b", b"x"), 1).unwrap();
        running.stop();
    }
}
