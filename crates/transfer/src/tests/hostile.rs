//! Peers that do not follow the protocol: the tested end reports an error and keeps running.
#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is meant")]

use super::*;
use crate::testing::any_sender::{entry, file_entry, offer};
use std::sync::atomic::AtomicBool;
use tress_container::testing::faulty;

#[test]
fn garbage_on_the_port() {
    let ends = Ends::new();
    let running = ends.receive();
    let mut first = vec![];
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        &[0; 400],
        b"tress/v1 transfer\nx",
        &[&GREETING[..], &[9; 96]].concat(),
    ] {
        let mut stream = TcpStream::connect(&running.to).unwrap();
        stream.write_all(garbage).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // The greeting, or nothing if unread garbage reset the connection.
        assert!(answer.is_empty() || answer == GREETING, "{answer:?}");
        first.push(stream);
    }
    ends.send(&running, &Tcp, &ends.file("a", b"x"), 1).unwrap();
    // A check whether the port is open, or another connection that ends before its first message, is no event.
    for part in [&b""[..], &GREETING[..5], GREETING] {
        let mut stream = TcpStream::connect(&running.to).unwrap();
        stream.write_all(part).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
    drop(ends.hostile(&running));
    let log = running.log.clone();
    running.stop();
    assert!(!log.lock().unwrap().iter().any(|event| event.contains("Disconnected")), "{:?}", log.lock().unwrap());
    // An incomplete handshake is cut after its time limit.
    let running = ends.receive_with(&OS, &Tcp, |options| options.limits.handshake_time = Duration::from_millis(100));
    let mut stream = TcpStream::connect(&running.to).unwrap();
    stream.write_all(&GREETING[..5]).unwrap();
    assert_eq!(stream.read(&mut [0; 10]).unwrap_or(0), 0);
    running.stop();
}

#[test]
fn a_replayed_handshake_gets_nowhere() {
    let ends = Ends::new();
    let running = ends.receive();
    // Record the first messages of a good sender on a control connection.
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
    let address = ends.receiver.address().unwrap();
    let options = SendOptions { stall_time: HANG, ..SendOptions::new(at, address) };
    let _ = send_on(&OS, &Tcp, &[ends.file("a", b"x")], &ends.sender, &options, &Control::new());
    let recorded = recorder.join().unwrap();
    let mut replay = TcpStream::connect(&running.to).unwrap();
    replay.write_all(&recorded).unwrap();
    let mut answer = Vec::new();
    let _ = replay.read_to_end(&mut answer);
    // The receiver answers the handshake and nothing after it: it begins no session and makes no folder.
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
    // Without links, use a file: it cannot hold another one either.
    #[cfg(not(unix))]
    fs::write(ends.output("link"), b"").unwrap();
    let long = [b'x'; 256];
    let names = [
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
    ];
    for (number, name) in (1..).step_by(200).zip(names) {
        peer.send(&Request::Offer {
            file: number,
            size_bytes: Some(1),
            restart: true,
            identity: [0; 32],
            metadata: Metadata::default(),
            path: name.to_vec(),
        });
        let answer = peer.recv().unwrap();
        let is_refused = matches!(answer, Reply::Refused { reason: Refusal::Name | Refusal::Exists });
        assert!(is_refused, "{:?}: {answer:?}", String::from_utf8_lossy(name));
        // As a folder, a small file and a link.
        let link = EntryKind::Link { target: b"x".to_vec() };
        let entries = vec![entry(EntryKind::Folder, name), file_entry(1, name), entry(link, name)];
        let list = number + 100;
        peer.send(&Request::List { list, entries });
        let Some(Reply::Statuses { statuses, .. }) = peer.recv() else { panic!("statuses") };
        let refused = statuses.iter().filter(|status| matches!(status, EntryStatus::Refused(_))).count();
        assert_eq!(refused, if name == b"real" { 2 } else { 3 }, "{:?}", String::from_utf8_lossy(name));
    }
    for target in
        [&b"/etc/passwd"[..], b"..", b"../../x", b"real/../real", b"./..", b"link/../real", b"no/../real", b"a\0"]
    {
        let list =
            Request::List { list: 500, entries: vec![entry(EntryKind::Link { target: target.to_vec() }, b"planted")] };
        let (mut peer, _) = ends.hostile_session(&running);
        peer.send(&list);
        let statuses = vec![EntryStatus::Refused(Refusal::Name)];
        assert_eq!(peer.recv(), Some(Reply::Statuses { list: 500, statuses }), "{target:?}");
    }
    for (number, size) in [(9998, u64::MAX), (9999, 1 << 60)] {
        peer.send(&offer(number, size, b"big"));
        assert!(matches!(peer.recv(), Some(Reply::Refused { .. })), "{size}");
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
        data.send(&Request::Join { ticket, stream });
        (data.recv(), data)
    };
    let refused = |reason| Some(Reply::Refused { reason });
    let (control, ticket) = ends.hostile_session(&running);
    assert_eq!(join(Ticket::from_bytes([0; 32]), 0).0, refused(Refusal::Ticket));
    let (answer, data) = join(ticket.clone(), 0);
    assert_eq!(answer, Some(Reply::Joined));
    // A number that is in use, a number beyond the limit, one connection more than the session has.
    assert_eq!(join(ticket.clone(), 0).0, refused(Refusal::Ticket));
    assert_eq!(join(ticket.clone(), 1024).0, refused(Refusal::Ticket));
    let (answer, other) = join(ticket.clone(), 1);
    assert_eq!(answer, Some(Reply::Joined));
    assert_eq!(join(ticket.clone(), 2).0, refused(Refusal::TooMany));
    drop((data, other));
    // The ticket is invalid after the session has ended. That is no event: a sender's connection may just be late.
    control.out.link().close();
    let log = running.log.clone();
    let count = |what: &str| log.lock().unwrap().iter().filter(|event| event.contains(what)).count();
    while count("Disconnected") == 0 {
        std::thread::sleep(TICK);
    }
    assert_eq!(join(ticket, 5).0, refused(Refusal::Ticket));
    running.stop();
    assert_eq!(count("Ticket"), 2, "{:?}", log.lock().unwrap());
}

#[test]
fn a_ticket_of_another_sender() {
    let ends = Ends::new();
    let other = KeyPair::generate().unwrap();
    let running = ends.receive();
    let (_control, ticket) = ends.hostile_session(&running);
    let link: Arc<dyn Link> = Tcp.connect(&running.to, &|| None).unwrap().into();
    let keys = (ends.noise(&other).0, ends.noise(&ends.receiver).1);
    let (incoming, out) = noise::initiate(link, &keys.0, &keys.1, HANG, &|| None).unwrap();
    let mut stranger = RawPeer { incoming, out };
    stranger.send(&Request::Join { ticket, stream: 0 });
    // The receiver does not accept this sender at all.
    assert_eq!(stranger.recv(), Some(Reply::Refused { reason: Refusal::NotAdmitted }));
    running.stop();
}

fn batch(file: u32, first_chunk: u64, sealed_bytes: u32) -> Request {
    Request::Batch { file, first_chunk, sealed_bytes }
}

#[test]
fn hostile_data() {
    let ends = Ends::new();
    let running = ends.receive();
    let key = |epoch: &crate::wire::epoch::Epoch| epoch.message.encode();
    type Case = Box<dyn Fn(&mut RawPeer)>;
    let cases: Vec<Case> = vec![
        // No key; unknown file; lengths that no batch has; chunks beyond the file; a last chunk that is full, or too short.
        Box::new(|peer| peer.send(&batch(1, 0, 524_800))),
        Box::new(|peer| peer.send(&batch(9, 0, 524_800))),
        Box::new(|peer| peer.send(&batch(1, 0, 0))),
        Box::new(|peer| peer.send(&batch(1, 0, 16_401))),
        Box::new(|peer| peer.send(&batch(1, 0, 33 * 16_400))),
        Box::new(|peer| peer.send(&batch(1, 0, u32::MAX))),
        Box::new(|peer| peer.send(&batch(1, 0, 524_801))),
        Box::new(|peer| peer.send(&batch(1, 33, 524_800))),
        Box::new(|peer| peer.send(&batch(1, u64::MAX, 16_400))),
        Box::new(|peer| peer.send(&batch(1, 1 << 40, 524_800))),
        Box::new(|peer| peer.send(&batch(1, 64, 16))),
        Box::new(|peer| peer.send_bytes(&[0xff; 20])),
        Box::new(|peer| peer.send_bytes(&[])),
        Box::new(|peer| peer.send(&Request::Bye)),
        // Bytes that are not a message.
        Box::new(|peer| peer.send_raw(&[0, 3, 1, 2, 3])),
        Box::new(|peer| peer.send_raw(&[0xff; 100_000])),
        // A valid header, and chunks that do not verify.
        Box::new(|peer| {
            peer.send(&batch(1, 0, 524_800));
            peer.send_raw(&vec![0; 524_800]);
        }),
    ];
    for (number, case) in cases.iter().enumerate() {
        let (mut control, ticket) = ends.hostile_session(&running);
        let size = 2 * BATCH_PLAIN_BYTES + 5;
        control.offer(1, size, format!("file-{number}").as_bytes());
        let mut data = ends.hostile_stream(&running, &ticket, 0);
        if number > 0 {
            data.send_bytes(&key(&crate::wire::epoch::Epoch::new(1).unwrap()));
        }
        case(&mut data);
        // This connection ends, none of its batches count, and the control connection stays open.
        assert_eq!(control.recv(), Some(Reply::Drained { stream: 0, batches: 0 }), "case {number}");
        control.send(&Request::Abandon { file: 1 });
        control.send(&Request::Bye);
        assert_eq!(control.recv(), None);
        assert!(!ends.output(&format!("file-{number}")).exists());
    }
    running.stop();
}

#[test]
fn hostile_control() {
    let ends = Ends::new();
    let running = ends.receive();
    let offer = |file| offer(file, 9, b"a");
    let cases: Vec<Vec<Request>> = vec![
        vec![Request::Begin { streams: 1 }],
        vec![Request::Finish { file: 1, size_bytes: 9 }],
        vec![offer(1), offer(2)],
        vec![offer(0)],
        // The number of an abandoned file must not be reused: batches of that file may still be in transit.
        vec![offer(1), Request::Abandon { file: 1 }, offer(1)],
        vec![offer(2), Request::Abandon { file: 2 }, offer(1)],
        vec![offer(1), Request::Finish { file: 1, size_bytes: 8 }],
        vec![offer(1), Request::Finish { file: 2, size_bytes: 9 }],
        vec![offer(1), Request::Holes { file: 1, chunks: vec![0..2] }],
        vec![offer(1), Request::Holes { file: 2, chunks: vec![0..1] }],
        vec![offer(1), Request::Bye],
        vec![Request::Batch { file: 1, first_chunk: 0, sealed_bytes: 16 }],
    ];
    for case in cases {
        let (mut control, _) = ends.hostile_session(&running);
        case.iter().for_each(|request| control.send(request));
        let last = std::iter::from_fn(|| control.recv()).last();
        assert_eq!(last, Some(Reply::Refused { reason: Refusal::Protocol }), "{case:?}");
        assert!(!ends.output("a").exists());
    }
    // These messages must not come first on a connection.
    for first in [Request::Ping, Request::Bye, offer(1), Request::Begin { streams: 0 }] {
        let mut peer = ends.hostile(&running);
        peer.send(&first);
        assert_eq!(peer.recv(), Some(Reply::Refused { reason: Refusal::Protocol }), "{first:?}");
    }
    running.stop();
}

/// Sends the last chunk of file 1, which has nine bytes.
fn send_nine_bytes(data: &mut RawPeer, chunk: u64) {
    let epoch = crate::wire::epoch::Epoch::new(1).unwrap();
    data.send(&epoch.message);
    let mut sealed = [7; 9 + 16];
    epoch.payload.seal(chunk, &mut sealed, true).unwrap();
    data.send(&batch(1, chunk, 25));
    data.send_raw(&sealed);
}

/// The receiver holds the last chunk of a file, which is short. The others are sent, and nothing else counts as sent.
#[test]
fn a_last_chunk_that_is_held_counts_its_bytes() {
    let ends = Ends::new();
    let running = ends.receive();
    let bytes = [vec![1; BATCH], vec![7; 9]].concat();
    let source = ends.file("a", &bytes);
    let identity = crate::send::source::version_of(&OS.status_of(source.path().unwrap()).unwrap(), false);
    let (mut control, ticket) = ends.hostile_session(&running);
    let (size_bytes, metadata, path) = (Some(bytes.len() as u64), Metadata::default(), b"a".to_vec());
    control.send(&Request::Offer { file: 1, size_bytes, restart: false, identity, metadata, path });
    assert_eq!(control.recv(), Some(Reply::Resume { file: 1, held: vec![] }));
    let mut data = ends.hostile_stream(&running, &ticket, 0);
    send_nine_bytes(&mut data, 32);
    while !matches!(control.recv_any(), Some(Reply::Progress { synced_chunks: 1, .. })) {}
    assert_eq!(running.control.done_bytes(), 9);
    let report = ends.send(&running, &Tcp, &source, 1).unwrap();
    assert_eq!(report.bytes_sent, BATCH_PLAIN_BYTES);
    assert!(fs::read(ends.output("a")).unwrap() == bytes);
    running.stop();
}

/// Chunks of a stream are synced before its end.
#[test]
fn a_stream_is_synced_while_it_comes() {
    let ends = Ends::new();
    let running = ends.receive();
    let (mut control, ticket) = ends.hostile_session(&running);
    let (identity, metadata, path) = ([1; 32], Metadata::default(), b"a".to_vec());
    control.send(&Request::Offer { file: 1, size_bytes: None, restart: false, identity, metadata, path });
    assert_eq!(control.recv(), Some(Reply::Resume { file: 1, held: vec![] }));
    let mut data = ends.hostile_stream(&running, &ticket, 0);
    send_nine_bytes(&mut data, 0);
    while !matches!(control.recv_any(), Some(Reply::Progress { synced_chunks: 1, .. })) {}
    running.stop();
}

/// The sender abandons a file and offers another one while the receiver gives the first its final name. Each call of the receiver is
/// held once.
#[test]
fn abandoned_while_it_gets_its_name() {
    let forget = |n: u64| {
        let ends = Ends::new();
        let system = faulty::Faulty::leak(n, faulty::Fault::Held);
        let running = ends.receive_on(system, &Tcp);
        let log = running.log.clone();
        let is_told = || log.lock().unwrap().iter().any(|event| event.starts_with("Received"));
        let (mut control, ticket) = ends.hostile_session(&running);
        control.offer(1, 9, b"a");
        let mut data = ends.hostile_stream(&running, &ticket, 0);
        send_nine_bytes(&mut data, 0);
        system.arm();
        control.send(&Request::Finish { file: 1, size_bytes: 9 });
        while !system.is_held() && !is_told() {
            std::thread::yield_now();
        }
        control.send(&Request::Abandon { file: 1 });
        control.send(&offer(2, 9, b"b"));
        let (answered, answer) = std::sync::mpsc::channel();
        let replies: Vec<Reply> = std::thread::scope(|scope| {
            let replies = scope.spawn(|| {
                let replies = std::iter::from_fn(|| {
                    control.send(&Request::Ping);
                    let reply = control.recv_any();
                    let _ = answered.send(());
                    reply
                });
                replies.take(10).collect()
            });
            // The thread that is held may be the one that would answer.
            let _ = answer.recv_timeout(Duration::from_millis(100));
            system.release();
            replies.join().unwrap()
        });
        assert!(!replies.contains(&Reply::Confirmed { file: 2 }), "{n}: {replies:?}");
        drop((control, data));
        running.stop();
        assert!(!ends.output("b").exists(), "{n}");
        assert_eq!(ends.output("a").exists(), is_told(), "{n}: {:?}", log.lock().unwrap());
        system.has_failed()
    };
    let next = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| while forget(next.fetch_add(1, Ordering::Relaxed)) {});
        }
    });
    assert!(next.into_inner() > 16 + 10);
}

/// Somebody takes the name of a file while it is sent: the file is refused, and the session continues.
#[test]
fn a_name_that_is_taken_meanwhile() {
    let ends = Ends::new();
    let running = ends.receive();
    let (mut control, ticket) = ends.hostile_session(&running);
    control.offer(1, 9, b"a");
    let mut data = ends.hostile_stream(&running, &ticket, 0);
    fs::write(ends.output("a"), b"theirs").unwrap();
    send_nine_bytes(&mut data, 0);
    control.send(&Request::Finish { file: 1, size_bytes: 9 });
    assert_eq!(control.recv(), Some(Reply::Refused { reason: Refusal::Exists }));
    control.offer(2, 9, b"b");
    control.send(&Request::Abandon { file: 2 });
    control.send(&Request::Bye);
    assert_eq!(control.recv(), None);
    running.stop();
    assert_eq!(fs::read(ends.output("a")).unwrap(), b"theirs");
    let kept: Vec<_> = fs::read_dir(ends.output(".tress")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(kept, ["files"]);
}

/// A sender that is gone when its pack has come: the files get their names. A name that exists by then is not replaced.
#[test]
fn a_pack_of_a_sender_that_is_gone() {
    let ends = Ends::new();
    let running = ends.receive();
    let (mut control, ticket) = ends.hostile_session(&running);
    let entries = vec![file_entry(4, b"d/a"), file_entry(4, b"d/b"), file_entry(4, b"d/a"), file_entry(4, b"d/c")];
    control.send(&Request::List { list: 1, entries: entries.clone() });
    assert_eq!(control.recv(), Some(Reply::Statuses { list: 1, statuses: vec![EntryStatus::Wanted; 4] }));
    fs::write(ends.output("d/b"), b"mine").unwrap();
    let mut data = ends.hostile_stream(&running, &ticket, 0);
    control.send(&Request::PackEnd { list: 1, void: vec![3] });
    data.send_pack(1, b"aaaabbbbAAAA\0\0\0\0");
    drop((control, data));
    let (mut control, _) = ends.hostile_session(&running);
    let exists = EntryStatus::Refused(Refusal::Exists);
    let statuses = vec![EntryStatus::Complete, exists, EntryStatus::Complete, EntryStatus::Wanted];
    for list in 1.. {
        // The earlier session may still be at work.
        control.send(&Request::List { list, entries: entries.clone() });
        let answer = control.recv();
        if answer == Some(Reply::Statuses { list, statuses: statuses.clone() }) {
            break;
        }
        assert!(matches!(answer, Some(Reply::Statuses { .. })), "{answer:?}");
        drop(std::mem::replace(&mut control, ends.hostile_session(&running).0));
        std::thread::sleep(TICK);
    }
    assert_eq!(fs::read(ends.output("d/a")).unwrap(), b"aaaa");
    assert_eq!(fs::read(ends.output("d/b")).unwrap(), b"mine");
    assert!(!ends.output("d/c").exists());
    running.stop();
}

/// Runs a receiver that grants more data connections than it was asked for, and sends these replies once the sender has offered or listed a
/// file, and the refusal among them as the answer to `Finish`, before it closes. Returns the sender's error.
fn lying_receiver(ends: &Ends, size: usize, lies: Vec<Reply>, stall_time: Duration) -> Error {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let secret = ends.noise(&ends.receiver).0;
    let is_refusal = |lie: &Reply| matches!(lie, Reply::Refused { .. });
    // After a file that is refused, another one.
    let files = 1 + lies.iter().filter(|lie| is_refusal(lie)).count();
    let liar = std::thread::spawn(move || {
        // Only the sender's link is under test.
        let listener = crate::wire::link::Listener::new(listener).unwrap();
        let accept = || loop {
            if let Some((link, _)) = listener.accept().unwrap() {
                return Arc::<dyn Link>::from(link);
            }
        };
        // A sender whose time is over closes the connection.
        let Ok((mut incoming, mut out, _)) = noise::respond(accept(), &secret, HANG, &|| None) else { return };
        let timeouts = Timeouts::idle(HANG, &|| None);
        let Ok(_) = incoming.read(&timeouts) else { return };
        let _ = out.write(&Reply::Admitted { ticket: Ticket::from_bytes([1; 32]), streams: 64 }.encode(), &timeouts);
        loop {
            let Ok(Some(message)) = incoming.read(&timeouts) else { return };
            if let Ok(Request::Offer { file, .. } | Request::List { list: file, .. }) = Request::parse(&message) {
                for lie in lies.iter().filter(|lie| !is_refusal(lie)) {
                    // Give the reply the number of the offered file.
                    let lie = match lie.clone() {
                        Reply::Resume { held, .. } => Reply::Resume { file, held },
                        Reply::Statuses { list: 0, statuses } => Reply::Statuses { list: file, statuses },
                        lie => lie,
                    };
                    let _ = out.write(&lie.encode(), &timeouts);
                }
                break;
            }
        }
        let is_finishing = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let idle = Reply::Progress { file: 0, synced_chunks: 0, streams: vec![] };
                // Regular reports, so that silence does not end the session.
                while out.write(&idle.encode(), &Timeouts::idle(HANG, &|| None)).is_ok() {
                    std::thread::sleep(Duration::from_millis(50));
                    let refusal = lies.iter().find(|lie| is_refusal(lie) && is_finishing.load(Ordering::Relaxed));
                    if let Some(refusal) = refusal {
                        let _ = out.write(&refusal.encode(), &Timeouts::idle(HANG, &|| None));
                        out.link().close();
                    }
                }
            });
            while let Ok(Some(message)) = incoming.read(&timeouts) {
                is_finishing
                    .fetch_or(matches!(Request::parse(&message), Ok(Request::Finish { .. })), Ordering::Relaxed);
            }
        });
    });
    let address = ends.receiver.address().unwrap();
    let options = SendOptions { stall_time, streams: 1, ..SendOptions::new(to, address) };
    let source = ends.file("a", &data(size));
    let network = FaultyNetwork::new([LinkFault::None]);
    let error = send_on(&OS, &network, &vec![source; files], &ends.sender, &options, &Control::new()).unwrap_err();
    liar.join().unwrap();
    assert!(network.connections.into_inner() <= 2);
    error
}

/// A receiver that claims to hold everything but never confirms it, and one that never answers. Both send progress reports.
#[test]
fn a_receiver_that_gets_nowhere() {
    let all = Reply::Resume { file: 0, held: vec![0..97] };
    for lies in [vec![all], vec![]] {
        let error = lying_receiver(&Ends::new(), 3 * BATCH, lies, Duration::from_millis(300));
        assert_eq!(error.kind, ErrorKind::Stalled);
    }
}

/// The receiver ends the session instead of confirming a file: that is the error, and no lost connection.
#[test]
fn a_session_that_ends_with_a_file() {
    for reason in [Refusal::Quota, Refusal::NoSpace, Refusal::Io, Refusal::TakenOver] {
        let lies = vec![Reply::Resume { file: 0, held: vec![0..97] }, Reply::Refused { reason }];
        let error = lying_receiver(&Ends::new(), 3 * BATCH, lies, HANG);
        assert_eq!(error.kind, ErrorKind::Refused(reason));
    }
}

#[test]
fn a_receiver_that_lies() {
    let ends = Ends::new();
    let resume = Reply::Resume { file: 0, held: vec![] };
    let status = |status| Reply::Statuses { list: 0, statuses: vec![status] };
    // The last statuses come again, because the content may not be read yet.
    let wanted_again = [vec![status(EntryStatus::Wanted)], vec![status(EntryStatus::Unfinished); 9]].concat();
    for lies in [
        wanted_again,
        vec![Reply::Confirmed { file: 0 }, resume.clone()],
        vec![Reply::Resume { file: 0, held: vec![0..50_000] }],
        vec![Reply::Resume { file: 0, held: vec![u64::MAX - 1..u64::MAX] }],
        vec![Reply::Complete { file: 77_777 }],
        vec![Reply::Statuses { list: 1, statuses: vec![EntryStatus::Complete] }],
        vec![Reply::Joined],
        vec![resume.clone(), Reply::Progress { file: 0, synced_chunks: 0, streams: vec![(0, 1000)] }],
        vec![resume.clone(), Reply::Drained { stream: 0, batches: 1000 }],
        [vec![resume.clone()], vec![Reply::Confirmed { file: 0 }; 6]].concat(),
    ] {
        let size = if matches!(lies[0], Reply::Statuses { list: 0, .. }) { 9 } else { 3 * BATCH };
        let error = lying_receiver(&ends, size, lies.clone(), HANG);
        assert_eq!(error.kind, ErrorKind::Protocol, "{lies:?}");
    }
}
