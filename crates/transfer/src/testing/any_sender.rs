//! A sender that follows a script of bytes, valid or not, and checks of the receiver's behaviour. For the fuzz target `sessions` and
//! the tests.
//!
//! The sender may lie about everything except one thing: a correctly sealed chunk holds the bytes of its file. So every file to
//! which the receiver gives a final name must equal an offered file, byte for byte.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use crate::receive::options::{Event, folder_name};
use crate::receive::receiver::receive_on;
use crate::wire::epoch::Epoch;
use crate::wire::link::{Link, Network, Tcp, Timeouts, write_all};
use crate::wire::message::{Entry, EntryKind, EntryStatus, Metadata, Reply, Request};
use crate::wire::noise::{self, Incoming, Outgoing};
use crate::wire::ticket::Ticket;
use crate::{Allow, Limits, ReceiveOptions};
use tress_container::format::LAYOUT;
use tress_container::keys::{Address, KeyPair};
use tress_container::sys::Os;
use tress_container::{Control, ErrorKind, Refusal};

static OS: Os = Os;
/// Longer than any wait of the receiver, and than the delays of a busy machine. The fuzzer ends a hang sooner.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(test) { 400 } else { 25 });
const STALL: Duration = Duration::from_secs(if cfg!(test) { 300 } else { 20 });

/// The sender's end of a connection.
pub(crate) struct RawPeer {
    pub(crate) incoming: Incoming,
    pub(crate) out: Outgoing,
}

impl RawPeer {
    pub(crate) fn connect(to: &str, sender: &KeyPair, receiver: &KeyPair) -> Self {
        let link: Arc<dyn Link> = Tcp.connect(to, &|| None).expect("a receiver").into();
        let secret = sender.noise_secret_key().expect("a key of Noise");
        let (incoming, out) =
            noise::initiate(link, &secret, &public(receiver), MAX_WAIT, &|| None).expect("a handshake");
        Self { incoming, out }
    }

    pub(crate) fn send(&mut self, request: &Request) {
        self.send_bytes(&request.encode());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.out.write(bytes, &Timeouts::idle(STALL, &|| None));
    }

    /// Writes bytes outside Noise.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let link = self.out.link().clone();
        let _ = write_all(&*link, &mut [IoSlice::new(bytes)], &Timeouts::idle(STALL, &|| None));
    }

    /// Begins a session. Returns its ticket.
    pub(crate) fn begin(&mut self, streams: u16) -> Ticket {
        self.send(&Request::Begin { streams });
        let Some(Reply::Admitted { ticket, .. }) = self.recv() else { panic!("not admitted") };
        ticket
    }

    /// Makes this a data connection of a session.
    pub(crate) fn join(&mut self, ticket: Ticket, stream: u16) {
        self.send(&Request::Join { ticket, stream });
        assert_eq!(self.recv(), Some(Reply::Joined));
    }

    /// Offers a file of which the receiver has nothing.
    #[cfg(test)]
    pub(crate) fn offer(&mut self, file: u32, size_bytes: u64, path: &[u8]) {
        self.send(&offer(file, size_bytes, path));
        assert_eq!(self.recv(), Some(Reply::Resume { file, held: vec![] }));
    }

    /// Sends a pack of one chunk on this data connection.
    pub(crate) fn send_pack(&mut self, list: u32, content: &[u8]) {
        let epoch = Epoch::new(list).expect("a key");
        self.send(&epoch.message);
        let mut sealed = [content, &[0; LAYOUT.tag_bytes()][..]].concat();
        epoch.payload.seal(0, &mut sealed, true).expect("a chunk");
        self.send(&Request::Batch { file: list, first_chunk: 0, sealed_bytes: sealed.len() as u32 });
        self.send_raw(&sealed);
    }

    /// The next reply; `None` if the connection ends.
    pub(crate) fn recv_any(&mut self) -> Option<Reply> {
        match self.incoming.read(&Timeouts::idle(MAX_WAIT, &|| None)) {
            Ok(Some(message)) => Some(Reply::parse(&message).expect("a reply")),
            Ok(None) => None,
            Err(error) if error.kind == ErrorKind::Disconnected => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// The next reply that is not a progress report.
    pub(crate) fn recv(&mut self) -> Option<Reply> {
        loop {
            match self.recv_any() {
                Some(Reply::Progress { .. }) => {}
                reply => return reply,
            }
        }
    }
}

impl Drop for RawPeer {
    fn drop(&mut self) {
        self.out.link().close();
    }
}

/// An offer of a new file.
#[cfg(test)]
pub(crate) fn offer(file: u32, size_bytes: u64, path: &[u8]) -> Request {
    let (identity, metadata) = ([1; 32], Metadata::default());
    Request::Offer { file, size_bytes: Some(size_bytes), restart: false, identity, metadata, path: path.to_vec() }
}

/// An entry of a list.
pub(crate) fn entry(kind: EntryKind, path: &[u8]) -> Entry {
    Entry { kind, metadata: Metadata::default(), path: path.to_vec() }
}

/// A small file in a list.
pub(crate) fn file_entry(size_bytes: u64, path: &[u8]) -> Entry {
    entry(EntryKind::File { size_bytes, identity: [1; 32] }, path)
}

/// The public Noise key of a pair.
pub(crate) fn public(pair: &KeyPair) -> [u8; 32] {
    let address: Address = pair.address().expect("an address");
    *address.noise_public_key()
}

/// Names that the receiver accepts, and names that it refuses.
const PATHS: [&[u8]; 16] = [
    b"a",
    b"b",
    b"c/d",
    b"c/e",
    b"c",
    b"f/g/h",
    b"A",
    b"a.part",
    b"../a",
    b"/a",
    b"",
    b"c//d",
    b".tress/x",
    b".",
    b"a\0",
    b"\xff",
];
/// Sizes of files: around the size of a chunk, and one larger than a batch.
const SIZES: [u64; 8] = [0, 1, 1000, 16383, 16384, 16385, 40_000, 33 * 16384 + 5];
const VERSIONS: u8 = 3;

/// An offered file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct OfferedVersion {
    path: usize,
    /// Selects the bytes, see [`content`].
    content: u8,
    /// `None` for a stream.
    size_bytes: Option<u64>,
}

/// The sender's actions, from which the allowed state of the receiver follows.
#[derive(Default)]
struct Actions {
    /// The last number of a file or list. None is used twice.
    newest: u32,
    /// Offered files by number.
    offers: BTreeMap<u32, OfferedVersion>,
    /// The entries of lists: folders are `None`.
    lists: BTreeMap<u32, Vec<Option<OfferedVersion>>>,
    /// The files that the receiver wants of each list.
    wanted: BTreeMap<u32, Vec<OfferedVersion>>,
    /// Files that were sent in packs.
    packed: HashSet<OfferedVersion>,
    /// Chunks that were sealed correctly, even if they were not sent correctly.
    sealed: HashMap<OfferedVersion, HashSet<u64>>,
    /// Files with the sizes of their `Finish` messages.
    finished: HashSet<(OfferedVersion, u64)>,
    folders: HashSet<usize>,
    /// Files that the receiver reported as complete.
    confirmed: HashSet<u32>,
}

/// The byte at an offset of a file.
fn content(content: u8, offset: u64) -> u8 {
    (offset ^ (offset >> 8) ^ (offset >> 14)) as u8 ^ content.wrapping_mul(0x55)
}

/// A data connection.
struct DataLink {
    peer: RawPeer,
    epoch: Option<Epoch>,
}

struct ScriptRun<'a> {
    to: &'a str,
    folder: &'a Path,
    control: Option<(RawPeer, Option<Ticket>)>,
    data: BTreeMap<u16, DataLink>,
    /// Number of valid batches sent on each data connection.
    batches: HashMap<u16, u64>,
    actions: Actions,
}

/// Runs a script against a receiver with an empty folder `out` in `root`.
///
/// # Panics
/// If the folder holds a file that was not offered, if an incomplete file is reported as complete, if anything outside the folder
/// changes, or if the receiver stops serving.
pub(crate) fn run(next: &mut dyn FnMut() -> Option<u8>, root: &Path) -> Vec<PathBuf> {
    static PAIRS: OnceLock<(KeyPair, KeyPair)> = OnceLock::new();
    let generate = || KeyPair::generate().expect("a key pair");
    let (sender, receiver) = PAIRS.get_or_init(|| (generate(), generate()));
    let out = root.join("out");
    fs::create_dir(&out).expect("a folder");
    fs::write(root.join("beside"), b"untouched").expect("a file");
    let quota_bytes = [None, None, Some(100_000), Some(20_000)][usize::from(next().unwrap_or(0) % 4)];
    let options = ReceiveOptions {
        listen: "127.0.0.1:0".into(),
        folder: out.clone(),
        allow: Allow::Only(vec![sender.address().expect("an address")]),
        once: false,
        limits: Limits {
            quota_bytes,
            handshake_burst: 10_000,
            connections: 10_000,
            connections_per_sender: 10_000,
            sessions_per_sender: 10_000,
            streams: 3,
            stall_time: STALL,
            ..Limits::default()
        },
    };
    let folder = out.join(folder_name(&public(sender)));
    let control = Control::new();
    let received = Mutex::new(Vec::new());
    let (ready, address) = mpsc::channel();
    let ready = Mutex::new(ready);
    let tell = |event: &Event<'_>| match event {
        Event::Listening(address) => ready.lock().expect("no panic").send(address.to_string()).expect("a listener"),
        Event::Received { name, bytes, .. } => received.lock().expect("no panic").push((folder.join(name), *bytes)),
        _ => {}
    };
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| receive_on(&OS, &Tcp, receiver, &options, &tell, &control));
        let to = address.recv_timeout(MAX_WAIT).expect("it listens");
        let (data, batches) = (BTreeMap::new(), HashMap::new());
        let mut session =
            ScriptRun { to: &to, folder: &folder, control: None, data, batches, actions: Actions::default() };
        while let Some(what) = next() {
            session.step(what, &mut || next().unwrap_or(0), sender, receiver);
        }
        session.data.clear();
        session.control = None;
        let last = quota_bytes.is_none().then(|| honest(&to, sender, receiver));
        control.cancel();
        // A connection makes the receiver check its control.
        drop(Tcp.connect(&to, &|| None));
        let outcome = receiving.join().expect("no panic of the receiver");
        assert_eq!(outcome.expect_err("it was cancelled").kind, ErrorKind::Interrupted);
        let received = received.lock().expect("no panic");
        for (path, bytes) in received.iter() {
            assert_eq!(fs::metadata(path).expect("it was received").len(), *bytes, "{path:?}");
        }
        let found = check(root, &folder, &session.actions, last);
        let reported: HashSet<_> = received.iter().map(|(path, _)| path.clone()).collect();
        assert!(found.iter().all(|path| reported.contains(path)), "no event reported one of {found:?}");
        found
    })
}

/// Checks that a sender that follows the protocol is served after any script.
fn honest(to: &str, sender: &KeyPair, receiver: &KeyPair) -> &'static str {
    let mut control = RawPeer::connect(to, sender, receiver);
    let ticket = control.begin(1);
    control.send(&Request::List { list: 1, entries: vec![file_entry(7, b"last")] });
    assert_eq!(control.recv(), Some(Reply::Statuses { list: 1, statuses: vec![EntryStatus::Wanted] }));
    let mut data = RawPeer::connect(to, sender, receiver);
    data.join(ticket, 0);
    data.send_pack(1, b"content");
    control.send(&Request::PackEnd { list: 1, void: vec![] });
    assert_eq!(control.recv(), Some(Reply::Statuses { list: 1, statuses: vec![EntryStatus::Complete] }));
    control.send(&Request::Bye);
    assert_eq!(control.recv(), None);
    "last"
}

/// Checks that the folders hold only offered files. Returns the paths of these files.
fn check(root: &Path, folder: &Path, actions: &Actions, last: Option<&str>) -> Vec<PathBuf> {
    assert_eq!(names(root), ["beside", "out"]);
    assert_eq!(fs::read(root.join("beside")).expect("it is there"), b"untouched");
    if !folder.exists() {
        assert_eq!(names(&root.join("out")), Vec::<String>::new());
        return Vec::new();
    }
    assert_eq!(names(&root.join("out")), [folder.file_name().expect("a name").to_string_lossy()]);
    let path_of = |index: usize| tress_container::tree::names::to_os(PATHS[index]).map(|name| folder.join(name));
    let mut files = Vec::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(within) = left.pop() {
        for entry in fs::read_dir(&within).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, kind) = (entry.path(), entry.file_type().expect("an entry"));
            if path == folder.join(crate::wire::names::STATE_FOLDER) {
                continue;
            }
            let offered: Vec<usize> = actions.versions().map(|version| version.path).collect();
            if kind.is_dir() {
                let asked = actions.folders.iter().chain(&offered).filter_map(|&index| path_of(index));
                assert!({ asked }.any(|asked| asked.starts_with(&path)), "{path:?} was not asked for");
                left.push(path);
                continue;
            }
            assert!(kind.is_file(), "{path:?}");
            let bytes = fs::read(&path).expect("a file");
            if last.is_some_and(|last| path == folder.join(last)) {
                assert_eq!(bytes, b"content");
            } else {
                let is_one = |version: &OfferedVersion| {
                    path_of(version.path).as_ref() == Some(&path) && actions.is(version, &bytes)
                };
                assert!(actions.versions().any(is_one), "{path:?} of {} bytes was never sent", bytes.len());
            }
            files.push(path);
        }
    }
    files
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

impl Actions {
    /// Everything that was offered or listed.
    fn versions(&self) -> impl Iterator<Item = &OfferedVersion> {
        self.offers.values().chain(self.lists.values().flatten().flatten())
    }

    /// Whether these bytes are this version, and it was sent in a pack, or all of its chunks were sealed and `Finish` was sent with their
    /// number.
    fn is(&self, version: &OfferedVersion, bytes: &[u8]) -> bool {
        let size_bytes = bytes.len() as u64;
        let sealed = self.sealed.get(version);
        let is_whole = self.finished.contains(&(*version, size_bytes))
            && (0..LAYOUT.chunks(size_bytes)).all(|chunk| sealed.is_some_and(|sealed| sealed.contains(&chunk)));
        version.size_bytes.is_none_or(|known| known == size_bytes)
            && (is_whole || self.packed.contains(version))
            && bytes.iter().enumerate().all(|(at, byte)| *byte == content(version.content, at as u64))
    }
}

impl ScriptRun<'_> {
    fn step(&mut self, what: u8, byte: &mut dyn FnMut() -> u8, sender: &KeyPair, receiver: &KeyPair) {
        match what % 26 {
            0 | 1 => {
                // Another session may still be open.
                let mut peer = RawPeer::connect(self.to, sender, receiver);
                peer.send(&Request::Begin { streams: u16::from(byte() % 5) });
                let ticket = match peer.recv_any() {
                    Some(Reply::Admitted { ticket, .. }) => Some(ticket),
                    _ => None,
                };
                // Batches of the older session still count.
                self.control = Some((peer, ticket));
            }
            2..=4 => {
                let (path, content, size) = (byte(), byte(), byte());
                let version = OfferedVersion {
                    path: usize::from(path) % PATHS.len(),
                    content: content % VERSIONS,
                    size_bytes: (size < 0xc0).then(|| SIZES[usize::from(size) % SIZES.len()]),
                };
                self.offer(version, content & 0x80 != 0, size >= 0xe0);
            }
            5..=7 => self.join(byte(), byte(), sender, receiver),
            8 | 9 => self.key(byte(), byte()),
            10..=13 => self.batch(byte),
            14 | 15 => {
                let (file, size) = (self.file(byte()), byte());
                let Some(&version) = self.actions.offers.get(&file) else { return };
                let size_bytes = match (version.size_bytes, size) {
                    (Some(known), 0..0xf0) => known,
                    _ => SIZES[usize::from(size) % SIZES.len()],
                };
                self.actions.finished.insert((version, size_bytes));
                self.send(&Request::Finish { file, size_bytes });
            }
            16 => {
                let file = self.file(byte());
                self.send(&Request::Abandon { file });
            }
            17 => {
                self.list(byte);
            }
            18 => self.send(&Request::Lost { stream: u16::from(byte() % 6) }),
            19 => {
                self.send(&Request::Ping);
                self.recv_until(|reply| matches!(reply, Reply::Progress { .. } | Reply::Refused { .. }));
            }
            20 => {
                self.send(&Request::Bye);
                self.control = None;
            }
            21 => {
                let stream = u16::from(byte() % 6);
                self.data.remove(&stream);
            }
            // Bytes that are not a message, or not even encrypted by Noise.
            22 => {
                let bytes: Vec<u8> = (0..byte() % 64).map(|_| byte()).collect();
                let on = byte();
                let control = self.control.as_mut().map(|(peer, _)| peer);
                let peer = match on % 4 {
                    0 => control,
                    stream => self.data.get_mut(&u16::from(stream)).map(|data| &mut data.peer),
                };
                match (peer, on & 0x80) {
                    (Some(peer), 0) => peer.send_bytes(&bytes),
                    (Some(peer), _) => {
                        peer.send_raw(&bytes);
                        // The receiver waits for the rest of an incomplete message.
                        self.control.take_if(|_| on.is_multiple_of(4));
                    }
                    (None, _) => {}
                }
            }
            24 | 25 => self.pack(byte),
            _ => self.wait(byte()),
        }
    }

    fn send(&mut self, request: &Request) {
        if let Some((control, _)) = &mut self.control {
            control.send(request);
        }
    }

    /// The number of an offered file, or of a file that was not offered.
    fn file(&self, number: u8) -> u32 {
        let newest = self.actions.newest;
        match number {
            0..0xc0 => newest,
            0xc0..0xf8 => newest.saturating_sub(u32::from(number % 3)),
            _ => newest + 1,
        }
    }

    fn offer(&mut self, version: OfferedVersion, restart: bool, hastily: bool) {
        if self.control.is_none() {
            return;
        }
        let file = self.next_number();
        self.actions.offers.insert(file, version);
        let (identity, metadata) = ([version.content; 32], Metadata::default());
        let path = PATHS[version.path].to_vec();
        self.send(&Request::Offer { file, size_bytes: version.size_bytes, restart, identity, metadata, path });
        if hastily {
            return;
        }
        let is_answer = |reply: &Reply| {
            matches!(reply, Reply::Resume { file: of, .. } | Reply::Complete { file: of } if *of == file)
                || matches!(reply, Reply::Refused { .. })
        };
        self.recv_until(is_answer);
    }

    fn next_number(&mut self) -> u32 {
        self.actions.newest += 1;
        self.actions.newest
    }

    /// Sends a list of folders and small files, and waits for its statuses.
    fn list(&mut self, byte: &mut dyn FnMut() -> u8) {
        if self.control.is_none() {
            return;
        }
        let list = self.next_number();
        let (mut versions, mut entries) = (Vec::new(), Vec::new());
        for _ in 0..=byte() % 3 {
            let (path, content, size) = (usize::from(byte()) % PATHS.len(), byte() % VERSIONS, byte());
            let size_bytes = SIZES[usize::from(size) % 7];
            let is_folder = size >= 0xc0;
            let kind = match is_folder {
                true => EntryKind::Folder,
                false => EntryKind::File { size_bytes, identity: [content; 32] },
            };
            if is_folder {
                self.actions.folders.insert(path);
            }
            versions.push((!is_folder).then_some(OfferedVersion { path, content, size_bytes: Some(size_bytes) }));
            // A name of no bytes does not parse.
            entries.push(entry(kind, PATHS[path]));
        }
        self.actions.lists.insert(list, versions);
        self.send(&Request::List { list, entries });
        let is_answer = |reply: &Reply| matches!(reply, Reply::Statuses { list: of, .. } if *of == list);
        self.recv_until(|reply| is_answer(reply) || matches!(reply, Reply::Refused { .. }));
    }

    /// Sends the pack of a list, correctly or not.
    fn pack(&mut self, byte: &mut dyn FnMut() -> u8) {
        let (stream, list, how) = (u16::from(byte() % 6), byte(), byte());
        let Some((&list, wanted)) = self.actions.wanted.iter().rev().nth(usize::from(list % 2)) else { return };
        let Some(data) = self.data.get_mut(&stream) else { return };
        let bytes = |version: &OfferedVersion| {
            let of = version.content;
            (0..version.size_bytes.unwrap_or(0)).map(move |at| content(of, at))
        };
        let mut sealed = Vec::new();
        let plain: Vec<u8> = wanted.iter().flat_map(bytes).collect();
        let whole = LAYOUT.chunks(plain.len() as u64) as usize;
        for chunk in 0..whole {
            let part = plain.len().min((chunk + 1) * LAYOUT.chunk_bytes());
            sealed.extend(&plain[chunk * LAYOUT.chunk_bytes()..part]);
            sealed.extend([0; LAYOUT.tag_bytes()]);
        }
        let epoch = Epoch::new(list).expect("a key");
        epoch.payload.seal(0, &mut sealed, true).expect("a batch");
        match how {
            0xf0..=0xf7 => {
                let at = usize::from(how) * 61 % sealed.len();
                sealed[at] ^= 1;
            }
            0xf8.. => sealed.truncate(sealed.len() / 2),
            _ => {
                self.actions.packed.extend(wanted);
                *self.batches.entry(stream).or_default() += 1;
            }
        }
        data.peer.send(&epoch.message);
        data.peer.send(&Request::Batch { file: list, first_chunk: 0, sealed_bytes: sealed.len() as u32 });
        data.peer.send_raw(&sealed);
        let void = if how % 8 == 7 { vec![u16::from(how % 3)] } else { vec![] };
        self.send(&Request::PackEnd { list, void });
        if how < 0xf0 && how % 8 != 7 {
            self.recv_until(|reply| {
                matches!(reply, Reply::Statuses { .. } | Reply::Refused { .. } | Reply::Drained { .. })
            });
        }
    }

    /// Reads and checks replies up to one for which `is_last` is true.
    fn recv_until(&mut self, is_last: impl Fn(&Reply) -> bool) {
        let Some((mut control, ticket)) = self.control.take() else { return };
        while let Some(reply) = control.recv_any() {
            self.check_reply(&reply);
            // The receiver waits a second for the sender to close.
            if reply == (Reply::Refused { reason: Refusal::Protocol }) {
                return;
            }
            if is_last(&reply) {
                self.control = Some((control, ticket));
                return;
            }
        }
    }

    fn check_reply(&mut self, reply: &Reply) {
        match reply {
            Reply::Resume { file, held } => {
                let version = self.actions.offers.get(file).expect("a file that was offered");
                let sealed = self.actions.sealed.get(version);
                for chunk in held.iter().cloned().flatten() {
                    assert!(sealed.is_some_and(|sealed| sealed.contains(&chunk)), "chunk {chunk} never came");
                }
            }
            Reply::Complete { file } | Reply::Confirmed { file } => {
                let version = self.actions.offers.get(file).expect("a file that was offered");
                let path = tress_container::tree::names::to_os(PATHS[version.path]).expect("a name");
                let bytes = fs::read(self.folder.join(path)).expect("a complete file is there");
                let has_its_size = version.size_bytes.is_none_or(|size| size == bytes.len() as u64);
                assert!(has_its_size, "{reply:?} of {} bytes instead of {version:?}", bytes.len());
                // The receiver knows the identity of a complete file, but not whether the offer named a size.
                let is_same = |other: &&OfferedVersion| (other.path, other.content) == (version.path, version.content);
                let is_it = |version: &OfferedVersion| is_same(&version) && self.actions.is(version, &bytes);
                assert!(self.actions.versions().any(is_it), "{reply:?} of something else");
                self.actions.confirmed.insert(*file);
            }
            Reply::Statuses { list, statuses } => {
                let versions = self.actions.lists.get(list).expect("a list that was sent").clone();
                assert_eq!(versions.len(), statuses.len());
                let listed =
                    || versions.iter().zip(statuses).filter_map(|(version, status)| Some(((*version)?, status)));
                for (version, _) in listed().filter(|(_, status)| **status == EntryStatus::Complete) {
                    let path = tress_container::tree::names::to_os(PATHS[version.path]).expect("a name");
                    let bytes = fs::read(self.folder.join(path)).expect("a complete file is there");
                    assert_eq!(version.size_bytes, Some(bytes.len() as u64));
                    let is_it = |other: &OfferedVersion| {
                        (other.path, other.content) == (version.path, version.content) && self.actions.is(other, &bytes)
                    };
                    assert!(self.actions.versions().any(is_it), "{version:?} is something else");
                }
                let wanted = listed().filter(|(_, status)| **status == EntryStatus::Wanted).map(|(version, _)| version);
                self.actions.wanted.insert(*list, wanted.collect());
                self.actions.wanted.retain(|_, versions| !versions.is_empty());
            }
            Reply::Drained { stream, batches } => {
                let most = self.batches.get(stream).copied().unwrap_or(0);
                assert!(*batches <= most, "{reply:?} of {most}");
            }
            _ => {}
        }
    }

    fn join(&mut self, stream: u8, how: u8, sender: &KeyPair, receiver: &KeyPair) {
        let stream = u16::from(stream % 6);
        let Some((_, Some(ticket))) = &self.control else { return };
        let ticket = if how >= 0xf0 { Ticket::from_bytes([how; 32]) } else { ticket.clone() };
        let mut peer = RawPeer::connect(self.to, sender, receiver);
        peer.send(&Request::Join { ticket, stream });
        if how % 8 == 7 || peer.recv_any() == Some(Reply::Joined) {
            self.data.insert(stream, DataLink { peer, epoch: None });
        }
    }

    fn key(&mut self, stream: u8, file: u8) {
        let file = self.file(file);
        let epoch = Epoch::new(file).expect("a key");
        if let Some(data) = self.data.get_mut(&u16::from(stream % 6)) {
            data.peer.send(&epoch.message);
            data.epoch = Some(epoch);
        }
    }

    fn batch(&mut self, byte: &mut dyn FnMut() -> u8) {
        let (stream, file, first, count, how) = (u16::from(byte() % 6), byte(), byte(), byte(), byte());
        let number = self.file(file);
        let Some(&version) = self.actions.offers.get(&number) else { return };
        // A stream may end anywhere, even twice.
        let size_bytes = version.size_bytes.unwrap_or_else(|| SIZES[usize::from(byte()) % SIZES.len()]);
        let all = LAYOUT.chunks(size_bytes);
        let Some(data) = self.data.get_mut(&stream) else { return };
        let Some(epoch) = &data.epoch else { return };
        let first_chunk = u64::from(first) % all;
        let count = if count >= 0x80 { 32 } else { u64::from(count % 4) + 1 }.min(all - first_chunk);
        let mut sealed = Vec::new();
        for chunk in first_chunk..first_chunk + count {
            let from = LAYOUT.plain_offset(chunk);
            let to = LAYOUT.plain_offset(chunk + 1).min(size_bytes);
            sealed.extend((from..to).map(|at| content(version.content, at)));
            sealed.extend([0; LAYOUT.tag_bytes()]);
        }
        // The cases of `how` below make the batch differ from its header. This one seals it under another chunk number.
        let as_chunk = if how == 0xff { first_chunk + 1 } else { first_chunk };
        let ends = LAYOUT.run(0, sealed.len(), true).is_ok();
        epoch.payload.seal(as_chunk, &mut sealed, ends).expect("a batch");
        let mut request = (number, first_chunk, sealed.len() as u32);
        match how {
            0xf0..=0xf3 => {
                let at = usize::from(first) * 61 % sealed.len();
                sealed[at] ^= 1;
            }
            0xf4 => request.2 += 1,
            0xf5 => request.2 = request.2.saturating_sub(LAYOUT.sealed_chunk_bytes() as u32),
            0xf6 => request.2 = u32::MAX,
            0xf7 => request.1 += 1,
            0xf8 => request.1 = u64::MAX - u64::from(first),
            0xf9 => request.1 = 1 << 37,
            0xfa => request.0 += 1,
            0xfb => sealed.truncate(sealed.len() / 2),
            0xff => {}
            // May still be invalid: the number of an older file, or the key of another file.
            _ => {
                self.actions.sealed.entry(version).or_default().extend(first_chunk..first_chunk + count);
                *self.batches.entry(stream).or_default() += 1;
            }
        }
        data.peer.send(&Request::Batch { file: request.0, first_chunk: request.1, sealed_bytes: request.2 });
        data.peer.send_raw(&sealed);
        if how == 0xfb {
            self.data.remove(&stream);
        }
    }

    /// Sends a ping. If the newest file was sent completely, repeats it for a while, so that the file may become complete.
    fn wait(&mut self, byte: u8) {
        let newest = self.actions.newest;
        let is_due = self.actions.offers.get(&newest).is_some_and(|version| {
            let mut sizes = self.actions.finished.iter().filter(|(of, _)| of == version).map(|&(_, size)| size);
            let sealed = self.actions.sealed.get(version);
            sizes.any(|size| (0..LAYOUT.chunks(size)).all(|chunk| sealed.is_some_and(|all| all.contains(&chunk))))
        });
        let times = if byte.is_multiple_of(2) && is_due { 10 } else { 1 };
        for time in 0..times {
            if self.control.is_none() || self.actions.confirmed.contains(&newest) && time > 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(time));
            self.send(&Request::Ping);
            self.recv_until(|reply| matches!(reply, Reply::Progress { .. } | Reply::Refused { .. }));
        }
    }
}
