//! Two ends for the tests of `net`: a sender's folder, a receiver that runs in a thread, and its folder.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tress_container::commands::Source;
use tress_container::keys::KeyPair;
use tress_container::{Control, Error, ErrorKind};
use tress_transfer::{Allow, Event, ReceiveOptions, SendOptions, SendReport, receive, send};

pub struct Ends {
    root: tempfile::TempDir,
    pub sender: KeyPair,
    pub receiver: KeyPair,
}

/// A running receiver.
pub struct Receiver {
    pub port: u16,
    control: Arc<Control>,
    thread: JoinHandle<Result<(), Error>>,
    pub log: Arc<Mutex<Vec<String>>>,
}

/// Bytes in which no two chunks are alike.
pub fn bytes(count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ count as u64;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

pub fn options(receiver: &Receiver, pair: &KeyPair) -> SendOptions {
    let address = pair.address().unwrap();
    let mut options = SendOptions::new(format!("127.0.0.1:{}", receiver.port), address);
    options.stall_time = Duration::from_secs(5);
    options
}

impl Ends {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("in")).unwrap();
        fs::create_dir(root.path().join("out")).unwrap();
        Self { root, sender: KeyPair::generate().unwrap(), receiver: KeyPair::generate().unwrap() }
    }

    pub fn input(&self, name: &str) -> PathBuf {
        self.root.path().join("in").join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.input(name), bytes).unwrap();
    }

    /// The receiver's folder.
    pub fn folder(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// A name in the one sender's folder.
    pub fn output(&self, name: &str) -> PathBuf {
        let sender = fs::read_dir(self.folder()).unwrap().next().expect("a sender's folder").unwrap();
        sender.path().join(name)
    }

    pub fn received(&self, name: &str) -> Vec<u8> {
        fs::read(self.output(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// What the receiver keeps beside complete files and their records.
    pub fn leftovers(&self) -> Vec<String> {
        let state = self.output(".tress");
        let names = fs::read_dir(state).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".done")).collect()
    }

    pub fn receive(&self) -> Receiver {
        self.receive_with(|_| {})
    }

    /// A receiver that admits the sender.
    pub fn receive_with(&self, change: impl FnOnce(&mut ReceiveOptions)) -> Receiver {
        let allow = Allow::Only(vec![self.sender.address().unwrap()]);
        let mut options = ReceiveOptions::new("127.0.0.1:0", self.folder(), allow);
        options.limits.stall_time = Duration::from_secs(5);
        change(&mut options);
        let (ready, port) = mpsc::channel();
        let ready = Mutex::new(ready);
        let control = Arc::new(Control::new());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (pair, running, events) = (self.receiver.clone(), control.clone(), log.clone());
        let thread = std::thread::spawn(move || {
            let tell = |event: &Event<'_>| {
                if let Event::Listening(address) = event {
                    ready.lock().unwrap().send(address.port()).unwrap();
                }
                events.lock().unwrap().push(format!("{event:?}"));
            };
            receive(&pair, &options, &tell, &running)
        });
        let port = port.recv_timeout(Duration::from_secs(10)).expect("the receiver listens");
        Receiver { port, control, thread, log }
    }

    pub fn send(
        &self,
        receiver: &Receiver,
        names: &[&str],
        change: impl FnOnce(&mut SendOptions),
    ) -> Result<SendReport, Error> {
        let mut options = options(receiver, &self.receiver);
        change(&mut options);
        let inputs: Vec<Source> = names.iter().map(|name| Source::Path(self.input(name))).collect();
        send(&inputs, &self.sender, &options, &Control::new())
    }
}

impl Receiver {
    /// A control that nobody cancels.
    pub fn control(&self) -> Control {
        Control::new()
    }

    /// Stops it as a signal would; an error is one that came before.
    pub fn stop(self) -> Result<(), ErrorKind> {
        self.control.cancel();
        match self.thread.join().unwrap() {
            Err(error) if error.kind == ErrorKind::Interrupted => Ok(()),
            other => other.map_err(|error| error.kind),
        }
    }

    /// What it returns by itself.
    pub fn wait(self) -> Result<(), Error> {
        self.thread.join().unwrap()
    }
}

/// Whether a path lies in a folder, by their real names.
pub fn is_below(path: &Path, folder: &Path) -> bool {
    path.canonicalize().unwrap().starts_with(folder.canonicalize().unwrap())
}
