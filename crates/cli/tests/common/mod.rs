//! Shared parts of the script tests of all programs: a temporary folder, the command under test (`PROGRAM`), and the checks of a failure.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

pub mod faults;
pub mod kept;

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::{fs, thread};

/// Plaintext bytes of a chunk, and bytes of a sealed one (docs/reference/formats/container.md).
pub const CHUNK_BYTES: usize = 16384;
pub const SEALED_BYTES: usize = 16400;
/// Bytes of salt and commitment before the chunks.
pub const PREFIX_BYTES: usize = 56;

/// A temporary folder with an identity `me.key`, its recipient, and a second identity `other.key`.
pub struct Folder {
    folder: tempfile::TempDir,
    pub recipient: String,
}

/// The outcome of a command.
pub struct Run {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Folder {
    /// An empty folder.
    pub fn empty() -> Folder {
        Folder { folder: tempfile::tempdir().unwrap(), recipient: String::new() }
    }

    pub fn new() -> Folder {
        let mut new = Folder::empty();
        new.tress(["keygen", "-o", "me.key"]).ok();
        new.tress(["keygen", "-o", "other.key"]).ok();
        new.recipient = new.public("me.key", 0);
        new
    }

    /// A line of the output of `keygen --public`: 0 is the recipient, 1 the address.
    pub fn public(&self, identity: &str, line: usize) -> String {
        let public = self.tress(["keygen", "--public", identity]).ok().stdout;
        String::from_utf8(public).unwrap().lines().nth(line).unwrap().to_string()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// The sorted names in the folder.
    pub fn names(&self) -> Vec<String> {
        names(self.root())
    }

    /// The command, to be run in the folder, with empty standard input.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = program();
        command.current_dir(self.root()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(arguments);
        command
    }

    pub fn tress<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        run(&mut self.command(arguments), &[])
    }

    pub fn tress_with<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, stdin: &[u8]) -> Run {
        run(self.command(arguments).stdin(Stdio::piped()), stdin)
    }

    /// A container of these bytes, encrypted to `me.key`.
    pub fn sealed(&self, plain: &[u8]) -> Vec<u8> {
        self.tress_with(["encrypt", "-r", &self.recipient], plain).ok().stdout
    }

    /// Writes an executable shell script.
    #[cfg(unix)]
    pub fn script(&self, name: &str, text: &str) {
        let written = format!("{name}.text");
        self.write(&written, format!("#!/bin/sh\n{text}\n"));
        install(&self.path(&written), &self.path(name));
        fs::remove_file(self.path(&written)).unwrap();
    }

    /// Offset of the container's payload.
    pub fn header_bytes(&self, container: &[u8]) -> usize {
        self.write("inspected", container);
        let json = self.tress(["inspect", "--json", "inspected"]).json();
        fs::remove_file(self.path("inspected")).unwrap();
        json["header_bytes"].as_u64().unwrap() as usize
    }
}

/// The sorted names in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Installs a program by another process. A file that is open for writing cannot be executed, and a file that this process writes
/// is briefly open in the processes that other tests start, too.
#[cfg(unix)]
pub fn install(from: &Path, to: &Path) {
    assert!(Command::new("install").args(["-m", "755"]).arg(from).arg(to).status().unwrap().success());
}

/// The program under test. A program other than `tress` gets the environment that `tress` sets for it.
pub fn program() -> Command {
    let mut command = Command::new(crate::PROGRAM);
    let tress = Path::new(crate::PROGRAM).with_file_name("tress");
    if tress != Path::new(crate::PROGRAM) {
        command.env("TRESS_COMMAND", tress);
    }
    command
}

/// Runs the command. If its standard input is a pipe, writes these bytes to it.
pub fn run(command: &mut Command, stdin: &[u8]) -> Run {
    let mut child = command.spawn().unwrap();
    let pipe = child.stdin.take();
    let output = thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut pipe) = pipe {
                // The command may end before it has read everything.
                let _ = pipe.write_all(stdin);
            }
        });
        child.wait_with_output().unwrap()
    });
    Run { status: output.status, stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}

/// Standard error without the note that cleaning up takes long, which a busy machine may cause.
pub fn without_note(stderr: &str) -> String {
    stderr.lines().filter(|line| !line.contains(": still cleaning up; ")).map(|line| format!("{line}\n")).collect()
}

/// Sends a signal to a process. Returns whether it was there.
pub fn signal(process: u32, name: &str) -> bool {
    Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap().success()
}

/// Lets root run a command as the user `nobody`, who gets these files. Returns false where that user does not exist or may not run the
/// program.
#[cfg(unix)]
pub fn runs_as_nobody(command: &mut Command, folder: &Folder, names: &[&str]) -> bool {
    use std::os::unix::{fs::chown, process::CommandExt as _};
    const NOBODY: u32 = 65534;
    let can_run = program().arg("--version").uid(NOBODY).output().is_ok_and(|output| output.status.success());
    let is_given = |name: &&str| chown(folder.path(name), Some(NOBODY), Some(NOBODY)).is_ok();
    let runs = can_run && names.iter().all(is_given);
    if runs {
        command.uid(NOBODY).gid(NOBODY);
    } else {
        skip("the program cannot be run as the user nobody");
    }
    runs
}

/// Mounts a file system in memory, with these options. Returns false without the right to do so.
pub fn mount(folder: &Path, options: &str) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(folder).stderr(Stdio::null());
    mount.status().is_ok_and(|status| status.success())
}

/// Waits until a receiver listens, and returns its address. The thread drains its standard error, so that it does not block, and returns
/// the text.
pub fn listening(receiver: &mut Child) -> (String, thread::JoinHandle<String>) {
    let mut stderr = BufReader::new(receiver.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let to = line.trim().strip_prefix("tress: listening on ").unwrap_or_else(|| panic!("{line:?}")).to_string();
    let drain = thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    (to, drain)
}

impl Run {
    #[track_caller]
    pub fn ok(self) -> Run {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr);
        self
    }

    /// Checks success, and parses standard output as JSON.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_slice(&self.ok().stdout).unwrap()
    }

    /// Checks exit status 1 and an error line that contains `file`.
    #[track_caller]
    pub fn failed(self, file: &str) -> Run {
        self.refused(1, file)
    }

    /// Checks exit status 2 and an error line that contains `text`.
    #[track_caller]
    pub fn wrong_use(self, text: &str) -> Run {
        self.refused(2, text)
    }

    #[track_caller]
    fn refused(self, status: i32, text: &str) -> Run {
        assert_eq!(self.status.code(), Some(status), "{}", self.stderr);
        self.one_line(text);
        self
    }

    /// Checks that the error is one line of the form `tress: error: ...`, with at most one hint after it.
    #[track_caller]
    pub fn one_line(&self, text: &str) {
        let lines: Vec<&str> = self.stderr.lines().collect();
        assert!((1..=2).contains(&lines.len()), "{}", self.stderr);
        let error = lines[0].strip_prefix("tress: error: ").unwrap_or_else(|| panic!("{}", self.stderr));
        assert!(error.contains(text), "{text:?} in {}", self.stderr);
        assert!(!error.ends_with('.'), "{error}");
        assert!(lines.get(1).is_none_or(|hint| hint.starts_with("hint: ")), "{}", self.stderr);
        assert!(!self.stderr.contains(|letter: char| letter.is_control() && letter != '\n'), "{:?}", self.stderr);
    }
}

/// Pseudorandom bytes, so that all chunks differ.
pub fn plaintext(bytes: usize) -> Vec<u8> {
    let mut plaintext = vec![0; bytes];
    fastrand::Rng::with_seed(1).fill(&mut plaintext);
    plaintext
}

/// Reports that a check was skipped. Under CI that is a failure.
pub fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "under CI nothing is skipped: {why}");
    say_skipped(why);
}

/// Capabilities of Linux by their number (capabilities(7)).
pub const SYS_ADMIN: u32 = 21;
pub const MKNOD: u32 = 27;

/// Reports that a check was skipped because a capability is missing. Under CI that is a failure only if this process has the
/// capability.
pub fn skip_without_right(capability: u32, why: &str) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let rights = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ours = rights >> capability & 1 == 1;
    assert!(!is_ours || std::env::var_os("CI").is_none(), "the right is there, and yet: {why}");
    say_skipped(why);
}

/// Writes directly to standard error: the test runner hides the output of a test that passes.
fn say_skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: {why} ***");
}
