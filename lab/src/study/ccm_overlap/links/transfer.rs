//! Transfers over a [`Wire`]: one receiver, which is the command itself, and one sender after the other, which is the lab's.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde::Deserialize;

use super::wire::{End, Wire};
use crate::interrupted;
use crate::study::Effort;
use crate::study::busy::BusyMonitor;

/// Sender and receiver of transfers.
pub(in super::super) struct Transfers<'a> {
    lab: &'a Path,
    folder: tempfile::TempDir,
    receiver: Child,
    address: String,
    /// Host and port of the receiver.
    to: String,
    count: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(in super::super) struct Report {
    pub(in super::super) elapsed_s: f64,
}

impl<'a> Transfers<'a> {
    /// Makes keys and a file of `bytes` bytes, and starts a receiver.
    pub(in super::super) fn new(effort: &'a Effort, wire: &Wire, bytes: usize) -> Result<Self, String> {
        let tress = effort.tress.as_deref().ok_or("the tress command was not found")?;
        let lab = effort.lab.as_deref().ok_or("the tress-lab command was not found")?;
        // In memory if possible, because no disk is to be measured.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let folder = interrupted::folder(&parent).map_err(|error| format!("temporary folder: {error}"))?;
        let at = |name: &str| folder.path().join(name);
        let files = || -> std::io::Result<()> {
            fs::create_dir(at("out"))?;
            let mut input = File::create(at("input"))?;
            let block: Vec<u8> = (0..1 << 16).map(|i: u32| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
            let mut left = bytes;
            while left > 0 {
                let part = left.min(block.len());
                input.write_all(&block[..part])?;
                left -= part;
            }
            Ok(())
        };
        files().map_err(|error| format!("{}: {error}", folder.path().display()))?;
        let mut addresses = Vec::new();
        for key in ["sender.key", "receiver.key"] {
            finish(Command::new(tress).args(["keygen", "-o"]).arg(at(key)))?;
            let public = finish(Command::new(tress).args(["keygen", "--public"]).arg(at(key)))?;
            let address = public.split_whitespace().find(|word| word.starts_with("tress1"));
            addresses.push(address.ok_or("keygen printed no address")?.to_string());
        }
        fs::write(at("allow"), &addresses[0]).map_err(|error| format!("allow file: {error}"))?;
        let mut receiver = wire
            .command(End::Receiver, tress)
            .args(["receive", "--listen", &wire.listen()])
            .arg("-i")
            .arg(at("receiver.key"))
            .arg("--allow")
            .arg(at("allow"))
            .arg("-o")
            .arg(at("out"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("receiver: {error}"))?;
        let mut notes = BufReader::new(receiver.stderr.take().ok_or("no standard error")?);
        let mut first = String::new();
        // The receiver listens now, or has reported an error. A thread has to read its further output.
        let _ = notes.read_line(&mut first);
        thread::spawn(move || std::io::copy(&mut notes, &mut std::io::sink()));
        let to = first.trim().rsplit_once("listening on ").map(|(_, to)| to.to_string());
        let mut this =
            Transfers { lab, folder, receiver, address: addresses.swap_remove(1), to: String::new(), count: 0 };
        this.to = to.ok_or_else(|| format!("receiver: {}", first.trim()))?;
        Ok(this)
    }

    /// Sends the file under a new name with these options, compares the received file, and removes it. `during`
    /// runs during the transfer.
    pub(in super::super) fn send(
        &mut self,
        wire: &mut Wire,
        options: &[&str],
        during: impl FnOnce(&mut Wire) -> Result<(), String>,
    ) -> Result<Report, String> {
        self.count += 1;
        let name = format!("input-{}", self.count);
        let (input, path) = (self.path("input"), self.path(&name));
        fs::hard_link(&input, &path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut sender = wire
            .command(End::Sender, self.lab)
            .args(["sender", "--to", &self.to, "-r", &self.address, "-i"])
            .arg(self.path("sender.key"))
            .args(options)
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("sender: {error}"))?;
        let beside = during(wire);
        if beside.is_err() {
            let _ = sender.kill();
        }
        let output = sender.wait_with_output().map_err(|error| error.to_string())?;
        beside?;
        if !output.status.success() {
            return Err(format!("send {}: {}", options.join(" "), String::from_utf8_lossy(&output.stderr).trim()));
        }
        let arrived = self.arrived(&name)?;
        let same = same_bytes(&input, &arrived).map_err(|error| format!("{}: {error}", arrived.display()))?;
        let _ = (fs::remove_file(&path), fs::remove_file(&arrived));
        if !same {
            return Err(format!("{name}: the received file differs from the sent one"));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("sender: {error}"))
    }

    /// Alternating transfers, `count` with each of these options. Returns the seconds of each.
    pub(in super::super) fn alternate(
        &mut self,
        wire: &mut Wire,
        options: &[impl AsRef<str>],
        count: usize,
        monitor: &mut BusyMonitor,
    ) -> Result<Vec<Vec<f64>>, String> {
        let mut seconds = vec![Vec::new(); options.len()];
        for _ in 0..count {
            monitor.check();
            for (options, seconds) in options.iter().zip(&mut seconds) {
                let words: Vec<&str> = options.as_ref().split_whitespace().collect();
                seconds.push(self.send(wire, &words, no_disturbance)?.elapsed_s);
            }
        }
        Ok(seconds)
    }

    pub(in super::super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// In the only folder of the only sender.
    fn arrived(&self, name: &str) -> Result<PathBuf, String> {
        let senders = fs::read_dir(self.path("out")).map_err(|error| error.to_string())?;
        let paths = senders.flatten().map(|sender| sender.path().join(name));
        paths.into_iter().find(|path| path.exists()).ok_or(format!("{name} did not arrive"))
    }
}

impl Drop for Transfers<'_> {
    fn drop(&mut self) {
        let _ = self.receiver.kill();
        let _ = self.receiver.wait();
    }
}

/// Does nothing during the transfer.
pub(in super::super) fn no_disturbance(_: &mut Wire) -> Result<(), String> {
    Ok(())
}

fn finish(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text) } else { Err(text.trim().into()) }
}

fn same_bytes(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = (BufReader::new(File::open(one)?), BufReader::new(File::open(other)?));
    let (mut a, mut b) = (vec![0; 1 << 16], Vec::with_capacity(1 << 16));
    loop {
        let bytes = one.read(&mut a)?;
        b.clear();
        (&mut other).take(bytes.max(1) as u64).read_to_end(&mut b)?;
        if a[..bytes] != b[..] {
            return Ok(false);
        }
        if bytes == 0 {
            return Ok(true);
        }
    }
}
