//! Whole commands, from start to end of the process: `tress encrypt` and `decrypt` of files in memory, measured
//! alternately with `age`, `openssl enc` and `cp`.
//!
//! The files are in a tmpfs, so that no disk is measured. Each run writes a new file, which is deleted outside the
//! timed part. All of this is for Linux only, because it uses the tmpfs at /dev/shm and /proc.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use tempfile::TempDir;
use tress_cipher::aes::Aes;
use tress_cipher::{Backend, BlockCipher, modes};

use super::Error;
use super::enough::StoppingRule;
use super::options::Options;
use super::process::{NULL, TimedCommand, finish_child, high_water_bytes, output_of, spawn, timed};
use super::record::{BenchRow, Document, Missing};
use super::sample::{SampleEffort, compare};
use super::visits::VisitedRow;
use crate::interrupted;

pub const NAMES: [&str; 4] = ["encrypt-file", "decrypt-file", "encrypt-memory", "encrypt-start"];

const TMPFS: &str = "/dev/shm";
const TO_FILE: &str = "tmpfs to a fresh tmpfs file";
const THREADS: usize = 2;
const START_BYTES: u64 = 1024;

pub(crate) struct CommandRow {
    /// The fields that are known before the measurement.
    row: BenchRow,
    ours: TimedCommand,
    /// Name, version and command of each peer.
    peers: Vec<(&'static str, String, TimedCommand)>,
    quick: bool,
    // Keeps the files until the row is dropped.
    _files: Rc<Files>,
}

impl CommandRow {
    /// Bytes of a run, or 1 where the row counts runs.
    fn unit(&self) -> f64 {
        if self.is_start() { 1.0 } else { self.row.message_bytes as f64 }
    }

    fn is_start(&self) -> bool {
        self.row.message_bytes == START_BYTES
    }
}

impl VisitedRow for CommandRow {
    fn title(&self) -> String {
        format!("{} {}", self.row.name, self.row.workload)
    }

    fn comparisons(&self) -> usize {
        self.peers.len().max(1)
    }

    fn has_same_peers(&self, row: &BenchRow) -> bool {
        let has = |(peer, version, _): &(&str, String, TimedCommand)| {
            row.against.get(*peer).is_some_and(|against| against.version == *version)
        };
        self.is_same_row(row) && self.peers.iter().all(has)
    }

    fn is_same_row(&self, row: &BenchRow) -> bool {
        (&row.name, &row.workload, row.message_bytes) == (&self.row.name, &self.row.workload, self.row.message_bytes)
    }

    fn stopping_rule(&self, options: &Options) -> StoppingRule {
        // A pair takes seconds.
        StoppingRule { least: 11, most: 41, ..options.stopping_rule() }
    }

    fn time(&self) -> Duration {
        Duration::from_secs(if self.quick { 3 } else { 40 })
    }

    /// Other rows are visited twice as often, unless the run is quick.
    fn is_due(&self, visit: usize) -> bool {
        self.quick || visit.is_multiple_of(2)
    }

    /// Takes one pair with each peer.
    fn visit(&mut self, _: SampleEffort, is_first: bool, row: Option<BenchRow>) -> Result<BenchRow, Error> {
        let mut row = row.unwrap_or_else(|| self.row.clone());
        let unit = self.unit();
        let rate = |run: &mut TimedCommand| Ok::<f64, Error>(unit / timed(run)?.as_secs_f64());
        if is_first {
            timed(&mut self.ours)?;
        }
        let mut ours = Vec::new();
        for (peer, version, theirs) in &mut self.peers {
            if is_first {
                timed(theirs)?;
            }
            let mut pairs = row.against.remove(*peer).map_or_else(Vec::new, |against| against.pairs);
            let pair = if pairs.len().is_multiple_of(2) {
                let mine = rate(&mut self.ours)?;
                [mine, rate(theirs)?]
            } else {
                let other = rate(theirs)?;
                [rate(&mut self.ours)?, other]
            };
            ours.push(pair[0]);
            pairs.push(pair);
            row.against.insert((*peer).into(), compare(version.clone(), pairs, 1, None));
        }
        if ours.is_empty() {
            ours.push(rate(&mut self.ours)?);
        }
        row.per_visit = ours.len();
        row.samples.extend(ours);
        let rate = row.summarise();
        *(if self.is_start() { &mut row.per_s } else { &mut row.bytes_per_s }) = Some(rate);
        Ok(row)
    }
}

/// Whether the options ask for any of these rows.
pub(crate) fn is_wanted(options: &Options) -> bool {
    options.command.is_some()
        && options.matrix.is_none()
        && (options.record.is_some() || options.filter.is_some())
        && NAMES.iter().any(|name| options.wants(name))
}

/// The files that all rows share.
struct Files {
    tress: PathBuf,
    folder: TempDir,
    identity: PathBuf,
    recipient: String,
    file_bytes: u64,
    memory_bytes: u64,
}

/// Returns the rows that `options` ask for. Adds peers that are not installed to the document, and also the memory
/// that a command takes, which is measured once.
pub(crate) fn rows(options: &Options, document: &mut Document) -> Result<Vec<CommandRow>, Error> {
    let Some(tress) = &options.command else { return Ok(Vec::new()) };
    let (file_bytes, memory_bytes) = if options.quick { (256 << 20, 1 << 30) } else { (2 << 30, 8 << 30) };
    // Room for the plaintext, its container, and one output; or for two small files.
    let is_large = NAMES[..2].iter().any(|name| options.wants(name));
    require_space(Path::new(TMPFS), if is_large { 3 * file_bytes + (64 << 20) } else { 1 << 20 })?;
    let folder = interrupted::folder(Path::new(TMPFS)).map_err(Error::Files)?;
    let identity = folder.path().join("identity");
    output_of(Command::new(tress).arg("keygen").arg("-o").arg(&identity))?;
    let public = output_of(Command::new(tress).arg("keygen").arg("--public").arg(&identity))?;
    let recipient = public.split_whitespace().find(|word| word.starts_with("age1")).unwrap_or_default().to_string();
    let files = Rc::new(Files { tress: tress.clone(), folder, identity, recipient, file_bytes, memory_bytes });
    let mut rows = Vec::new();
    let mut add = |name: &str, direction: &str, workload: &str, make: fn(&Files) -> Result<CommandSides, Error>| {
        if !options.wants(name) {
            return Ok(());
        }
        let CommandSides { ours, peers } = make(&files)?;
        let mut installed = Vec::new();
        for (peer, version, theirs) in peers {
            if options.wants_against(peer)
                && let Some(version) = version_of(peer, version, document)
            {
                installed.push((peer, version, theirs));
            }
        }
        let message_bytes = if name == NAMES[3] { START_BYTES } else { file_bytes };
        let row = BenchRow { message_bytes, ..row(name, direction, workload) };
        rows.push(CommandRow { row, ours, peers: installed, quick: options.quick, _files: files.clone() });
        Ok::<(), Error>(())
    };
    add(NAMES[0], "encrypt", "tmpfs to /dev/null", Files::to_null)?;
    add(NAMES[0], "encrypt", TO_FILE, Files::encrypt_to_file)?;
    add(NAMES[1], "decrypt", TO_FILE, Files::decrypt_to_file)?;
    add(NAMES[3], "encrypt", TO_FILE, Files::start)?;
    if options.wants(NAMES[2]) && !document.rows.iter().any(|row| row.name == NAMES[2]) {
        document.rows.push(files.memory()?);
    }
    Ok(rows)
}

/// Our command and the peers' commands; each peer with its name and the argument that prints its version.
struct CommandSides {
    ours: TimedCommand,
    peers: Vec<(&'static str, &'static str, TimedCommand)>,
}

/// First line of a peer's version. A peer that is not installed is added to the document's list.
fn version_of(program: &str, question: &str, document: &mut Document) -> Option<String> {
    match output_of(Command::new(program).arg(question)) {
        Ok(version) => Some(version.lines().next().unwrap_or_default().trim().to_string()),
        Err(_) => {
            let hint = format!("{program} is missing: apt-get install {program}");
            if !document.missing.iter().any(|missing| missing.hint == hint) {
                document.missing.push(Missing { peer: program.into(), hint });
            }
            None
        }
    }
}

fn row(name: &str, direction: &str, workload: &str) -> BenchRow {
    BenchRow {
        name: name.into(),
        direction: direction.into(),
        workload: workload.into(),
        backend: Backend::best_of(Aes::BACKENDS).name().into(),
        threads: THREADS,
        ..BenchRow::default()
    }
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn to_null(&self) -> Result<CommandSides, Error> {
        let plain = self.plain()?;
        let (key, counter) = ("000102030405060708090a0b0c0d0e0f", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let words: [&dyn AsRef<OsStr>; 10] =
            [&"enc", &"-aes-128-ctr", &"-K", &key, &"-iv", &counter, &"-in", &plain, &"-out", &NULL];
        let openssl = TimedCommand::new(with_words("openssl", &words), NULL.as_ref());
        let age = self.age(&plain, NULL.as_ref());
        let peers = vec![("age", "--version", age), ("openssl", "version", openssl)];
        Ok(CommandSides { ours: self.encrypt(&plain, NULL.as_ref()), peers })
    }

    fn encrypt_to_file(&self) -> Result<CommandSides, Error> {
        let plain = self.plain()?;
        Ok(CommandSides { ours: self.encrypt(&plain, &self.path("output.tress")), peers: vec![self.copy(&plain)] })
    }

    fn decrypt_to_file(&self) -> Result<CommandSides, Error> {
        let (sealed, opened) = (self.path("plain.tress"), self.path("output"));
        output_of(&mut self.encrypt(&self.plain()?, &sealed).command)?;
        let threads = THREADS.to_string();
        let words: [&dyn AsRef<OsStr>; 8] =
            [&"decrypt", &"-i", &self.identity, &"--threads", &threads, &"-o", &opened, &sealed];
        Ok(CommandSides {
            ours: TimedCommand::new(with_words(&self.tress, &words), &opened),
            peers: vec![self.copy(&sealed)],
        })
    }

    fn start(&self) -> Result<CommandSides, Error> {
        let small = self.path("small");
        fs::write(&small, [0x33; START_BYTES as usize]).map_err(Error::Files)?;
        let age = self.age(&small, &self.path("small.age"));
        let ours = self.encrypt(&small, &self.path("small.tress"));
        Ok(CommandSides { ours, peers: vec![("age", "--version", age)] })
    }

    /// Measures the most resident memory during encryption of a sparse file (all zeros, so that the file itself takes no memory).
    fn memory(&self) -> Result<BenchRow, Error> {
        let sparse = self.path("sparse");
        File::create(&sparse).and_then(|file| file.set_len(self.memory_bytes)).map_err(Error::Files)?;
        let mut row = row(NAMES[2], "encrypt", "sparse tmpfs file to /dev/null");
        row.message_bytes = self.memory_bytes;
        let mut command = self.encrypt(&sparse, NULL.as_ref()).command;
        let mut child = spawn(&mut command)?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut peak = None;
        // The high-water mark only rises, and the kernel forgets it when the process ends. Unlike `ru_maxrss` it does
        // not include what this process had resident when it forked.
        while child.try_wait().map_err(Error::Files)?.is_none() {
            peak = high_water_bytes(&status).or(peak);
            std::thread::sleep(Duration::from_millis(2));
        }
        finish_child(&command, child)?;
        fs::remove_file(&sparse).map_err(Error::Files)?;
        row.peak_bytes = peak;
        row.samples = peak.map(|bytes| bytes as f64).into_iter().collect();
        Ok(row)
    }

    fn encrypt(&self, input: &Path, output: &Path) -> TimedCommand {
        let (to, threads) = (&self.recipient, THREADS.to_string());
        let words: [&dyn AsRef<OsStr>; 8] = [&"encrypt", &"-r", to, &"--threads", &threads, &"-o", &output, &input];
        TimedCommand::new(with_words(&self.tress, &words), output)
    }

    fn age(&self, input: &Path, output: &Path) -> TimedCommand {
        TimedCommand::new(with_words("age", &[&"-r", &self.recipient, &"-o", &output, &input]), output)
    }

    fn copy(&self, input: &Path) -> (&'static str, &'static str, TimedCommand) {
        let copy = self.path("copy");
        ("cp", "--version", TimedCommand::new(with_words("cp", &[&input, &copy]), &copy))
    }

    /// The plaintext that all rows share: bytes without holes or repetitions.
    fn plain(&self) -> Result<PathBuf, Error> {
        let path = self.path("plain");
        if path.exists() {
            return Ok(path);
        }
        let aes = Aes::new(&[1; 16])?;
        let mut file = File::create(&path).map_err(Error::Files)?;
        let mut piece = vec![0; 1 << 20];
        for number in 0..self.file_bytes >> 20 {
            let mut counter = [0; 16];
            counter[..8].copy_from_slice(&number.to_be_bytes());
            modes::ctr::apply(&aes, &counter, &mut piece)?;
            file.write_all(&piece).map_err(Error::Files)?;
        }
        Ok(path)
    }
}

fn with_words(program: impl AsRef<OsStr>, words: &[&dyn AsRef<OsStr>]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

#[cfg(unix)]
fn require_space(path: &Path, needed_bytes: u64) -> Result<(), Error> {
    let space = rustix::fs::statvfs(path).map_err(|error| Error::Files(error.into()))?;
    if space.f_bavail * space.f_frsize < needed_bytes {
        return Err(Error::Space { path: path.into(), needed_bytes });
    }
    Ok(())
}

#[cfg(not(unix))]
fn require_space(_: &Path, _: u64) -> Result<(), Error> {
    Err(Error::Files(std::io::ErrorKind::Unsupported.into()))
}
