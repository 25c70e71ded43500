//! A receiver that answers at random, correctly or not, and checks of the sender: it ends, it reports success only if the receiver
//! has confirmed every file, and it seals the bytes of its files, no chunk twice under one key.
//!
//! By default a few hundred runs; with `TRESS_EVERY_FAULT` in the environment thousands (`make soak`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use super::*;
use crate::wire::limits::{END_TIME, HANDSHAKE_TIME};
use crate::wire::link::Listener;
use tress_container::format::{Content, LAYOUT, Payload};
use tress_container::testing::faulty::wants_all;

/// Longest silence of either end, if the receiver lies. A sender waits ten times as long for a confirmation.
const SILENCE: Duration = Duration::from_secs(2);
const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const SIZES: [usize; 6] = [0, 1, CHUNK_BYTES, 5 * CHUNK_BYTES + 7, BATCH, 3 * BATCH + 100];
const REFUSALS: [Refusal; 6] =
    [Refusal::Name, Refusal::Exists, Refusal::Quota, Refusal::Io, Refusal::Stopping, Refusal::TooMany];

/// Random numbers that are the same in every run with the same seed.
struct Random(Mutex<fastrand::Rng>);

impl Random {
    fn below(&self, bound: u64) -> u64 {
        self.0.lock().unwrap().u64(..bound)
    }
}

/// The receiver's record of messages in both directions.
#[derive(Default)]
struct Observed {
    /// Names of the offered file, or of the files in the list, by number.
    offers: BTreeMap<u32, Vec<String>>,
    /// Contents of the file, or of the list's pack.
    contents: HashMap<u32, Vec<u8>>,
    /// Number of entries of each list.
    entries: HashMap<u32, usize>,
    /// Received chunks of each file or pack.
    held: HashMap<u32, BTreeSet<u64>>,
    /// Number of batches received on each connection.
    batches: BTreeMap<u16, u64>,
    /// Files that the receiver reported as complete.
    said: BTreeSet<u32>,
    /// Lists for which statuses were lies: their packs may lack files.
    lied_about: BTreeSet<u32>,
    /// Chunks received under each key. Workers seal in parallel, so the order is arbitrary.
    keys: HashMap<Vec<u8>, BTreeSet<u64>>,
}

struct RandomReceiver<'a> {
    ends: &'a Ends,
    files: &'a BTreeMap<String, Vec<u8>>,
    random: &'a Random,
    /// One answer in `honesty` is a lie on average; 0 for none.
    honesty: u64,
    has_lied: AtomicBool,
    is_over: AtomicBool,
    observed: Mutex<Observed>,
}

impl RandomReceiver<'_> {
    fn lies(&self) -> bool {
        let lies = self.honesty > 0 && self.random.below(self.honesty) == 0;
        if lies {
            self.has_lied.store(true, Ordering::Relaxed);
        }
        lies
    }

    fn one_of(&self, numbers: &[u64]) -> u64 {
        numbers[self.random.below(numbers.len() as u64) as usize]
    }

    /// A random reply.
    fn lie(&self, file: u32, stream: u16) -> Vec<u8> {
        let number = self.one_of(&[0, 1, 2, 31, 32, 33, 97, 1 << 20, u64::MAX]);
        let file = file.wrapping_add(self.one_of(&[0, 0, 0, 1, u64::from(u32::MAX)]) as u32);
        let stream = stream.wrapping_add(self.one_of(&[0, 0, 1, 1000]) as u16);
        let reply = match self.random.below(11) {
            0 => Reply::Admitted { ticket: Ticket::from_bytes([1; 32]), streams: number as u16 },
            1 => Reply::Joined,
            2 => {
                let statuses = [EntryStatus::Complete, EntryStatus::Wanted, EntryStatus::Refused(Refusal::Exists)];
                let count = self.one_of(&[1, 1, 2, 3, 4]);
                self.observed.lock().unwrap().lied_about.insert(file);
                let status = || statuses[self.random.below(3) as usize];
                Reply::Statuses { list: file, statuses: (0..count).map(|_| status()).collect() }
            }
            3 => Reply::Resume { file, held: vec![0..number, number..number.saturating_add(1)] },
            4 => Reply::Complete { file },
            5 => Reply::Progress { file, synced_chunks: number, streams: vec![(stream, number)] },
            6 | 7 => Reply::Drained { stream, batches: number % 4 },
            8 => Reply::Confirmed { file },
            9 => Reply::Refused { reason: REFUSALS[self.random.below(6) as usize] },
            _ => return (0..self.random.below(40)).map(|_| self.random.below(256) as u8).collect(),
        };
        self.note(&reply);
        reply.encode()
    }

    fn note(&self, reply: &Reply) {
        let is_complete = match reply {
            Reply::Statuses { statuses, .. } => statuses.iter().all(|status| *status == EntryStatus::Complete),
            _ => true,
        };
        if let Reply::Complete { file } | Reply::Confirmed { file } | Reply::Statuses { list: file, .. } = reply
            && is_complete
        {
            self.observed.lock().unwrap().said.insert(*file);
        }
    }

    fn serve(&self, link: Arc<dyn Link>) {
        let secret = self.ends.noise(&self.ends.receiver).0;
        let Ok((incoming, out, _)) = noise::respond(link.clone(), &secret, HANG, &|| None) else { return };
        let mut peer = RawPeer { incoming, out };
        let over = || self.is_over.load(Ordering::Relaxed).then(|| Error::new(ErrorKind::Interrupted));
        let timeouts = Timeouts::idle(HANG, &over);
        match peer.incoming.read(&timeouts).ok().flatten().map(|first| Request::parse(&first).unwrap()) {
            Some(Request::Begin { streams }) => self.control(&mut peer, streams, &timeouts),
            Some(Request::Join { stream, .. }) => self.data(&mut peer, stream, &timeouts),
            None => {}
            first => panic!("{first:?}"),
        }
    }

    fn control(&self, peer: &mut RawPeer, streams: u16, timeouts: &Timeouts<'_>) {
        let RawPeer { incoming, out } = peer;
        let out = Mutex::new(out);
        let link = incoming.link().clone();
        let put = |bytes: &[u8]| out.lock().unwrap().write(bytes, &Timeouts::idle(HANG, &|| None));
        let answer = |reply: Reply, file: u32, stream: u16| {
            if self.lies() {
                if self.random.below(8) == 0 {
                    link.close();
                }
                let _ = put(&self.lie(file, stream));
                // The lie replaces the true reply, or comes before it.
                if self.random.below(4) == 0 {
                    return;
                }
            }
            self.note(&reply);
            let _ = put(&reply.encode());
        };
        answer(Reply::Admitted { ticket: Ticket::from_bytes([1; 32]), streams }, 0, 0);
        let newest = AtomicU32::new(0);
        let report = || {
            let streams =
                self.observed.lock().unwrap().batches.iter().map(|(&stream, &count)| (stream, count)).collect();
            Reply::Progress { file: newest.load(Ordering::Relaxed), synced_chunks: 0, streams }
        };
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Regular reports, because silence would end the transfer too early.
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) && put(&report().encode()).is_ok() {
                    std::thread::sleep(SILENCE / 4);
                }
            });
            // The goodbye was sent after this.
            let mut since = Instant::now();
            while let Ok(Some(message)) = incoming.read(timeouts) {
                let request = Request::parse(&message).unwrap();
                if matches!(request, Request::PackEnd { .. } | Request::Finish { .. }) {
                    since = Instant::now();
                }
                match request {
                    Request::Offer { file, path, .. } => {
                        newest.store(file, Ordering::Relaxed);
                        let name = String::from_utf8(path).unwrap();
                        let mut observed = self.observed.lock().unwrap();
                        observed.contents.insert(file, self.files[&name].clone());
                        observed.offers.insert(file, vec![name]);
                        drop(observed);
                        answer(Reply::Resume { file, held: vec![] }, file, 0);
                    }
                    Request::List { list, entries } => {
                        newest.store(list, Ordering::Relaxed);
                        let names = entries.iter().filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
                        let names: Vec<String> =
                            names.map(|entry| String::from_utf8(entry.path.clone()).unwrap()).collect();
                        let content = names.iter().flat_map(|name| self.files[name].clone()).collect();
                        let statuses = entries.iter().map(|entry| match entry.kind {
                            EntryKind::File { .. } => EntryStatus::Wanted,
                            _ => EntryStatus::Complete,
                        });
                        let mut observed = self.observed.lock().unwrap();
                        observed.contents.insert(list, content);
                        observed.entries.insert(list, entries.len());
                        if !names.is_empty() {
                            observed.offers.insert(list, names);
                        }
                        drop(observed);
                        answer(Reply::Statuses { list, statuses: statuses.collect() }, list, 0);
                    }
                    Request::PackEnd { list, void } => {
                        assert!(void.is_empty(), "{void:?}");
                        let size_bytes = self.observed.lock().unwrap().contents[&list].len() as u64;
                        if self.await_whole(list, size_bytes) || self.honesty > 0 {
                            let count = self.observed.lock().unwrap().entries[&list];
                            answer(Reply::Statuses { list, statuses: vec![EntryStatus::Complete; count] }, list, 0);
                        }
                    }
                    Request::Ping => answer(report(), newest.load(Ordering::Relaxed), 0),
                    Request::Lost { stream } => {
                        let batches = self.observed.lock().unwrap().batches.remove(&stream).unwrap_or(0);
                        answer(Reply::Drained { stream, batches }, newest.load(Ordering::Relaxed), stream);
                    }
                    Request::Finish { file, size_bytes } => {
                        if self.await_whole(file, size_bytes) || self.honesty > 0 {
                            answer(Reply::Confirmed { file }, file, 0);
                        }
                    }
                    Request::Holes { file, chunks } => {
                        let mut observed = self.observed.lock().unwrap();
                        observed.held.entry(file).or_default().extend(chunks.into_iter().flatten());
                    }
                    Request::Abandon { .. } => {}
                    Request::Bye => {
                        // The sender still reads, so these messages do not reset the connection.
                        let still_reads = (0..4).all(|_| {
                            std::thread::sleep(Duration::from_millis(5));
                            put(&report().encode()).is_ok()
                        });
                        let has_waited = since.elapsed() >= END_TIME;
                        assert!(still_reads || has_waited || self.honesty > 0, "the sender hung up first");
                        break;
                    }
                    request => panic!("{request:?}"),
                }
            }
            has_ended.store(true, Ordering::Relaxed);
        });
    }

    /// Waits until all chunks of a file or pack have come. After a lie they may not.
    fn await_whole(&self, file: u32, size_bytes: u64) -> bool {
        let (since, most) = (Instant::now(), if self.honesty > 0 { SILENCE / 2 } else { HANG });
        let is_whole = || {
            let observed = self.observed.lock().unwrap();
            observed.held.get(&file).map_or(0, BTreeSet::len) as u64 == LAYOUT.chunks(size_bytes)
        };
        while !is_whole() && since.elapsed() < most && !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        is_whole()
    }

    /// Checks that the received chunks are those of the sender's files.
    fn data(&self, peer: &mut RawPeer, stream: u16, timeouts: &Timeouts<'_>) {
        if self.lies() {
            match self.random.below(3) {
                0 => return,
                1 => peer.send(&Request::Bye),
                _ => peer.send_bytes(&self.lie(0, stream)),
            }
        } else {
            peer.send_bytes(&Reply::Joined.encode());
        }
        let mut key: Option<(u32, Vec<u8>, Payload)> = None;
        while let Ok(Some(message)) = peer.incoming.read(timeouts) {
            match Request::parse(&message).unwrap() {
                Request::Key { file, aead, input_key, prefix } => {
                    let payload = Payload::open(&Content::with_input_key(aead, &input_key).unwrap(), &prefix).unwrap();
                    key = Some((file, [&input_key[..], &prefix].concat(), payload));
                }
                Request::Batch { file, first_chunk, sealed_bytes } => {
                    let (of, key, payload) = key.as_ref().expect("a key before its batches");
                    assert_eq!(*of, file);
                    let mut sealed = vec![0; sealed_bytes as usize];
                    if peer.incoming.read_raw(&mut sealed, timeouts).is_err() {
                        return;
                    }
                    let ends = LAYOUT.run(0, sealed.len(), true).is_ok();
                    payload.unseal(first_chunk, &mut sealed, ends).expect("what is sent verifies");
                    let plain: Vec<u8> = LAYOUT.plain_parts(&sealed).flatten().copied().collect();
                    let count = sealed.len().div_ceil(LAYOUT.sealed_chunk_bytes()) as u64;
                    let mut observed = self.observed.lock().unwrap();
                    let bytes = &observed.contents[&file];
                    let is_right = || bytes[first_chunk as usize * CHUNK_BYTES..].starts_with(&plain);
                    assert!(observed.lied_about.contains(&file) || is_right(), "something else was sent");
                    let sealed = observed.keys.entry(key.clone()).or_default();
                    let all_new = (first_chunk..first_chunk + count).all(|chunk| sealed.insert(chunk));
                    assert!(all_new, "{count} chunks from {first_chunk} on: one of them twice under one key");
                    observed.held.entry(file).or_default().extend(first_chunk..first_chunk + count);
                    *observed.batches.entry(stream).or_default() += 1;
                    drop(observed);
                    // Close the connection after this batch: a lie as well.
                    if self.honesty > 0 && self.random.below(8 * self.honesty) == 0 {
                        self.has_lied.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                request => panic!("{request:?}"),
            }
        }
    }
}

/// Runs a transfer to a random receiver.
fn meet(seed: u64) -> Result<SendReport, Error> {
    let ends = Ends::new();
    let random = Random(Mutex::new(fastrand::Rng::with_seed(seed)));
    let listener = Listener::new(std::net::TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
    let names = ["in/a", "in/b", "in/below/c"];
    fs::create_dir_all(ends.root.path().join("in/below")).unwrap();
    let files: BTreeMap<String, Vec<u8>> = names
        .iter()
        .map(|name| {
            let bytes = data(SIZES[random.below(6) as usize]);
            fs::write(ends.root.path().join(name), &bytes).unwrap();
            ((*name).to_owned(), bytes)
        })
        .collect();
    let address = ends.receiver.address().unwrap();
    let honesty = [0, 2, 4, 10, 30][seed as usize % 5];
    let options = SendOptions {
        streams: 1 + random.below(3) as u16,
        threads: (random.below(3) as usize).into(),
        stage_bytes: (random.below(2) == 0).then(|| 1 + random.below(4) * 100_000),
        synchronisation: if random.below(4) == 0 { Synchronisation::Barrier } else { Synchronisation::Counter },
        stall_time: if honesty > 0 { SILENCE } else { HANG / 10 },
        ..SendOptions::new(listener.address().unwrap().to_string(), address)
    };
    let receiver = RandomReceiver {
        ends: &ends,
        files: &files,
        random: &random,
        honesty,
        has_lied: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        observed: Mutex::default(),
    };
    let since = Instant::now();
    let outcome = std::thread::scope(|scope| {
        let receiver = &receiver;
        scope.spawn(move || {
            while !receiver.is_over.load(Ordering::Relaxed) {
                if let Some((link, _)) = listener.accept().unwrap() {
                    scope.spawn(move || receiver.serve(link.into()));
                }
            }
        });
        let source = Source::Path(ends.root.path().join("in"));
        let outcome = send_on(&OS, &Tcp, &[source], &ends.sender, &options, &Control::new());
        receiver.is_over.store(true, Ordering::Relaxed);
        outcome
    });
    let (took, least_limit) = (since.elapsed(), if honesty > 0 { SILENCE } else { HANDSHAKE_TIME });
    assert!(took < HANG, "{seed}: {took:?}");
    let observed = receiver.observed.into_inner().unwrap();
    match &outcome {
        Ok(report) => {
            assert_eq!(report.files, 3, "{seed}");
            let said = observed.offers.iter().filter(|(number, _)| observed.said.contains(number));
            let said: BTreeSet<&String> = said.flat_map(|(_, names)| names).collect();
            assert_eq!(said.len(), 3, "{seed}");
        }
        // On a busy machine a receiver may be late.
        Err(error) if took >= least_limit && matches!(error.kind, ErrorKind::Stalled | ErrorKind::Disconnected) => {}
        Err(error) => assert!(receiver.has_lied.into_inner(), "{seed}: {error}"),
    }
    outcome
}

#[test]
fn any_receiver() {
    let most = if wants_all() { 20_000 } else { 300 };
    let (next, good, bad) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= most {
                        return;
                    }
                    if meet(seed).is_ok() { &good } else { &bad }.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let (good, bad) = (good.into_inner(), bad.into_inner());
    println!("{good} transfers came to their end, {bad} ended with an error");
    assert!(good > most / 20 && bad > most / 20, "{good} {bad}");
}
