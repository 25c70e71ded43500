//! Whole commands, from start to end of the process: `tress encrypt` and `decrypt` of files in memory, against `age`,
//! `openssl enc` and `cp`, in turn.
//!
//! Files lie in a tmpfs, so that no disk is measured. What a run writes is new each time and is deleted outside the
//! timed part. Everything is Linux only, as the tmpfs at /dev/shm and /proc are.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tress_cipher::{Backend, BlockCipher, aes::Aes, modes};

use super::{Document, Error, Missing, Options, Row, enough::Enough, progress, sample::compare};

/// The names of the rows.
pub const NAMES: [&str; 4] = ["encrypt-file", "decrypt-file", "encrypt-memory", "encrypt-start"];

const TMPFS: &str = "/dev/shm";
const TO_FILE: &str = "tmpfs to a fresh tmpfs file";
const THREADS: usize = 2;
const START_BYTES: u64 = 1024;

/// How much and how often.
struct Effort {
    file_bytes: u64,
    memory_bytes: u64,
    enough: Enough,
}

/// Everything that the rows share.
struct Bench<'a> {
    tress: &'a Path,
    folder: PathBuf,
    identity: PathBuf,
    recipient: String,
    effort: Effort,
    options: &'a Options,
}

/// A command and the file that it makes, if it makes one.
struct Run {
    command: Command,
    output: Option<PathBuf>,
}

/// Measures the rows that `options` ask for and adds them to `document`.
///
/// `keep` is called when rows have come.
pub fn run(
    options: &Options,
    document: &mut Document,
    keep: &mut dyn FnMut(&Document) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(tress) = &options.command else { return Ok(()) };
    let enough = options.enough();
    let effort = if options.quick {
        let enough = Enough { time: Duration::from_secs(3), ..enough };
        Effort { file_bytes: 256 << 20, memory_bytes: 1 << 30, enough }
    } else {
        let enough = Enough { least: 11, time: Duration::from_secs(20), ..enough };
        Effort { file_bytes: 2 << 30, memory_bytes: 8 << 30, enough }
    };
    // The plaintext, its container, and one output; or two small files.
    let needed_bytes = 3 * effort.file_bytes + (64 << 20);
    require_space(Path::new(TMPFS), needed_bytes)?;
    let folder = tempfile::Builder::new().prefix("tress-bench-").tempdir_in(TMPFS).map_err(Error::Files)?;
    let folder_path = folder.path().to_path_buf();
    let identity = folder_path.join("identity");
    output_of(Command::new(tress).arg("keygen").arg("-o").arg(&identity))?;
    let public = output_of(Command::new(tress).arg("keygen").arg("--public").arg(&identity))?;
    let recipient = public.split_whitespace().find(|word| word.starts_with("age1")).unwrap_or_default().to_string();
    let bench = Bench { tress, folder: folder_path, identity, recipient, effort, options };

    type Part<'a> = fn(&Bench<'a>, &mut Document) -> Result<(), Error>;
    let parts: [Part<'_>; 5] =
        [Bench::to_null, Bench::encrypt_to_file, Bench::decrypt_to_file, Bench::memory, Bench::start];
    let bar = progress(parts.len() as u64);
    bar.set_message("whole commands");
    for part in parts {
        part(&bench, document)?;
        keep(document)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

impl Bench<'_> {
    fn to_null(&self, document: &mut Document) -> Result<(), Error> {
        let Some(mut row) = self.row(document, NAMES[0], "encrypt", "tmpfs to /dev/null") else { return Ok(()) };
        let plain = self.plain()?;
        let null = Path::new("/dev/null");
        let ours = || Run { command: self.encrypt(&plain, null), output: None };
        self.against(document, &mut row, "age", "age", "--version", ours, || Run {
            command: self.age(&plain, null),
            output: None,
        })?;
        self.against(document, &mut row, "openssl", "openssl", "version", ours, || {
            let mut command = Command::new("openssl");
            command.args(["enc", "-aes-128-ctr", "-K", "000102030405060708090a0b0c0d0e0f", "-iv"]);
            command.arg("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").arg("-in").arg(&plain).arg("-out").arg(null);
            Run { command, output: None }
        })?;
        self.finish(document, row, ours)
    }

    fn encrypt_to_file(&self, document: &mut Document) -> Result<(), Error> {
        let Some(mut row) = self.row(document, NAMES[0], "encrypt", TO_FILE) else { return Ok(()) };
        let plain = self.plain()?;
        let (sealed, copy) = (self.folder.join("output.tress"), self.folder.join("copy"));
        let ours = || Run { command: self.encrypt(&plain, &sealed), output: Some(sealed.clone()) };
        self.against(document, &mut row, "cp", "cp", "--version", ours, || copy_run(&plain, &copy))?;
        self.finish(document, row, ours)
    }

    fn decrypt_to_file(&self, document: &mut Document) -> Result<(), Error> {
        let Some(mut row) = self.row(document, NAMES[1], "decrypt", TO_FILE) else { return Ok(()) };
        let plain = self.plain()?;
        let sealed = self.folder.join("plain.tress");
        run_once(&mut self.encrypt(&plain, &sealed))?;
        let (opened, copy) = (self.folder.join("output"), self.folder.join("copy"));
        let ours = || {
            let mut command = Command::new(self.tress);
            command.arg("decrypt").arg("-i").arg(&self.identity).arg("--threads").arg(THREADS.to_string());
            command.arg("-o").arg(&opened).arg(&sealed);
            Run { command, output: Some(opened.clone()) }
        };
        self.against(document, &mut row, "cp", "cp", "--version", ours, || copy_run(&sealed, &copy))?;
        self.finish(document, row, ours)?;
        fs::remove_file(&sealed).map_err(Error::Files)
    }

    /// The most resident memory while a file without blocks (all zeros, so that it takes none itself) is encrypted.
    fn memory(&self, document: &mut Document) -> Result<(), Error> {
        let workload = "sparse tmpfs file to /dev/null";
        let Some(mut row) = self.row(document, NAMES[2], "encrypt", workload) else { return Ok(()) };
        let sparse = self.folder.join("sparse");
        File::create(&sparse).and_then(|file| file.set_len(self.effort.memory_bytes)).map_err(Error::Files)?;
        row.message_bytes = self.effort.memory_bytes;
        let mut command = self.encrypt(&sparse, Path::new("/dev/null"));
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
        document.rows.push(row);
        Ok(())
    }

    fn start(&self, document: &mut Document) -> Result<(), Error> {
        let Some(mut row) = self.row(document, NAMES[3], "encrypt", TO_FILE) else { return Ok(()) };
        let small = self.folder.join("small");
        fs::write(&small, [0x33; START_BYTES as usize]).map_err(Error::Files)?;
        row.message_bytes = START_BYTES;
        let (sealed, theirs) = (self.folder.join("small.tress"), self.folder.join("small.age"));
        let ours = || Run { command: self.encrypt(&small, &sealed), output: Some(sealed.clone()) };
        self.against(document, &mut row, "age", "age", "--version", ours, || Run {
            command: self.age(&small, &theirs),
            output: Some(theirs.clone()),
        })?;
        self.finish(document, row, ours)
    }

    /// The row as far as it is known beforehand, where it is wanted and not there from an earlier run.
    fn row(&self, document: &Document, name: &str, direction: &str, workload: &str) -> Option<Row> {
        let is_there = document.rows.iter().any(|row| row.name == name && row.workload == workload);
        (self.options.wants(name) && !is_there).then(|| Row {
            name: name.into(),
            direction: direction.into(),
            workload: workload.into(),
            backend: Backend::best_of(Aes::BACKENDS).name().into(),
            threads: THREADS,
            lanes: 0,
            message_bytes: self.effort.file_bytes,
            ..Row::default()
        })
    }

    fn encrypt(&self, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(self.tress);
        command.arg("encrypt").arg("-r").arg(&self.recipient).arg("--threads").arg(THREADS.to_string());
        command.arg("-o").arg(output).arg(input);
        command
    }

    fn age(&self, input: &Path, output: &Path) -> Command {
        let mut command = Command::new("age");
        command.arg("-r").arg(&self.recipient).arg("-o").arg(output).arg(input);
        command
    }

    /// The plaintext that all rows share: bytes without holes or repetitions.
    fn plain(&self) -> Result<PathBuf, Error> {
        let path = self.folder.join("plain");
        if path.exists() {
            return Ok(path);
        }
        let aes = Aes::new(&[1; 16])?;
        let mut file = File::create(&path).map_err(Error::Files)?;
        let mut piece = vec![0; 1 << 20];
        for number in 0..self.effort.file_bytes >> 20 {
            let mut counter = [0; 16];
            counter[..8].copy_from_slice(&number.to_be_bytes());
            modes::ctr::apply(&aes, &counter, &mut piece)?;
            file.write_all(&piece).map_err(Error::Files)?;
        }
        Ok(path)
    }

    /// Runs ours and theirs in turn and adds the comparison to the row; tells when theirs is not installed.
    #[expect(clippy::too_many_arguments, reason = "a row and the two sides of a comparison, used four times above")]
    fn against(
        &self,
        document: &mut Document,
        row: &mut Row,
        peer: &str,
        program: &str,
        version: &str,
        ours: impl Fn() -> Run,
        theirs: impl Fn() -> Run,
    ) -> Result<(), Error> {
        if !self.options.wants_against(peer) {
            return Ok(());
        }
        let Ok(version) = output_of(Command::new(program).arg(version)) else {
            let hint = format!("{program} is missing: apt-get install {program}");
            if !document.missing.iter().any(|missing| missing.hint == hint) {
                document.missing.push(Missing { peer: peer.into(), hint });
            }
            return Ok(());
        };
        let version = version.lines().next().unwrap_or_default().trim().to_string();
        timed(ours())?;
        timed(theirs())?;
        let unit = if row.message_bytes == START_BYTES { 1.0 } else { row.message_bytes as f64 };
        let once = |is_ours| {
            let time = timed(if is_ours { ours() } else { theirs() })?;
            Ok(unit / time.as_secs_f64())
        };
        let (pairs, stopped) = self.effort.enough.in_turn(once, |rate| *rate)?;
        let rates: Vec<[f64; 2]> = pairs.into_iter().map(|(mine, other)| [mine, other]).collect();
        row.samples.extend(rates.iter().map(|pair| pair[0]));
        row.against.insert(peer.into(), compare(version, rates, 1, Some(stopped)));
        Ok(())
    }

    /// Adds the row, measured alone when it had no peer.
    fn finish(&self, document: &mut Document, mut row: Row, ours: impl Fn() -> Run) -> Result<(), Error> {
        let small = row.message_bytes == START_BYTES;
        let unit = if small { 1.0 } else { row.message_bytes as f64 };
        if row.samples.is_empty() {
            timed(ours())?;
            let once = || Ok(unit / timed(ours())?.as_secs_f64());
            let (samples, stopped) = self.effort.enough.alone(once, |rate| *rate)?;
            (row.samples, row.stopped) = (samples, Some(stopped));
        }
        let rate = row.summarise();
        *(if small { &mut row.per_s } else { &mut row.bytes_per_s }) = Some(rate);
        document.rows.push(row);
        Ok(())
    }
}

fn copy_run(from: &Path, to: &Path) -> Run {
    let mut command = Command::new("cp");
    command.arg(from).arg(to);
    Run { command, output: Some(to.to_path_buf()) }
}

/// The time from before the process is made until it has been waited for. Its output is removed before and after.
fn timed(mut run: Run) -> Result<Duration, Error> {
    let start = Instant::now();
    let child = spawn(&mut run.command)?;
    finish_child(&run.command, child)?;
    let time = start.elapsed();
    if let Some(output) = &run.output {
        fs::remove_file(output).map_err(Error::Files)?;
    }
    Ok(time)
}

fn run_once(command: &mut Command) -> Result<(), Error> {
    let child = spawn(command)?;
    finish_child(command, child)
}

fn spawn(command: &mut Command) -> Result<Child, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().map_err(|error| failed(command, error.to_string()))
}

fn finish_child(command: &Command, child: Child) -> Result<(), Error> {
    let output = child.wait_with_output().map_err(|error| failed(command, error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed(command, format!("{}: {}", output.status, text.trim())))
}

fn output_of(command: &mut Command) -> Result<String, Error> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(command, error.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(command, format!("{}: {}", output.status, text.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn failed(command: &Command, message: String) -> Error {
    let words = std::iter::once(command.get_program()).chain(command.get_args().take(1));
    let program = words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    Error::Command { program, message }
}

fn high_water_bytes(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
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
