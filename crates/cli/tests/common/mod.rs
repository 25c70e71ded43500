//! What the script tests of all programs share (`PROGRAM` is the one under test): a folder that vanishes, the command, and the checks that every failure has to pass.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

pub mod faults;
pub mod kept;

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
};

/// Plaintext bytes of a chunk, and bytes of a sealed one (docs/reference/formats/container.md).
pub const CHUNK_BYTES: usize = 16384;
pub const SEALED_BYTES: usize = 16400;
/// Salt and commitment.
pub const PREFIX_BYTES: usize = 56;

/// A folder of its own, with an identity `me.key`, its recipient and a second identity `other.key`.
pub struct Folder {
    folder: tempfile::TempDir,
    pub recipient: String,
}

/// What the command did.
pub struct Run {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Folder {
    /// One with nothing in it.
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

    /// A line of what `keygen --public` shows: 0 is the recipient, 1 the address.
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

    /// Every name in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        names(self.root())
    }

    /// The command, started in the folder, with nothing on standard input.
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

    /// A container of these bytes for `me.key`.
    pub fn sealed(&self, plain: &[u8]) -> Vec<u8> {
        self.tress_with(["encrypt", "-r", &self.recipient], plain).ok().stdout
    }

    /// A shell script that runs.
    #[cfg(unix)]
    pub fn script(&self, name: &str, text: &str) {
        let written = format!("{name}.text");
        self.write(&written, format!("#!/bin/sh\n{text}\n"));
        install(&self.path(&written), &self.path(name));
        fs::remove_file(self.path(&written)).unwrap();
    }

    /// Where the container's payload begins.
    pub fn header_bytes(&self, container: &[u8]) -> usize {
        self.write("inspected", container);
        let json = self.tress(["inspect", "--json", "inspected"]).json();
        fs::remove_file(self.path("inspected")).unwrap();
        json["header_bytes"].as_u64().unwrap() as usize
    }
}

/// Every name in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Puts a program there, by another process. A file that is open for writing does not run, and what this process has open is for a
/// moment also open in the programs that other tests start.
#[cfg(unix)]
pub fn install(from: &Path, to: &Path) {
    assert!(Command::new("install").args(["-m", "755"]).arg(from).arg(to).status().unwrap().success());
}

/// The program, as `tress` runs it where it is another one.
pub fn program() -> Command {
    let mut command = Command::new(crate::PROGRAM);
    let tress = Path::new(crate::PROGRAM).with_file_name("tress");
    if tress != Path::new(crate::PROGRAM) {
        command.env("TRESS_COMMAND", tress);
    }
    command
}

/// Runs the command, with these bytes on its standard input if that is a pipe.
pub fn run(command: &mut Command, stdin: &[u8]) -> Run {
    let mut child = command.spawn().unwrap();
    let pipe = child.stdin.take();
    let output = thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut pipe) = pipe {
                // The command may have refused before it read everything.
                let _ = pipe.write_all(stdin);
            }
        });
        child.wait_with_output().unwrap()
    });
    Run { status: output.status, stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}

impl Run {
    #[track_caller]
    pub fn ok(self) -> Run {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr);
        self
    }

    /// Standard output of a command that has succeeded, as JSON.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_slice(&self.ok().stdout).unwrap()
    }

    /// Exit status 1 and one line that names `file`.
    #[track_caller]
    pub fn failed(self, file: &str) -> Run {
        self.refused(1, file)
    }

    /// Exit status 2 and one line.
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

    /// The error is one line of the agreed form, perhaps with one hint after it.
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

/// Bytes in which no two chunks are alike.
pub fn plaintext(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

/// Says loudly that a check could not be made; under CI that is a failure.
pub fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "under CI nothing is skipped: {why}");
    say_skipped(why);
}

/// Capabilities of Linux by their number (capabilities(7)).
pub const SYS_ADMIN: u32 = 21;
pub const MKNOD: u32 = 27;

/// Says loudly that a check could not be made for want of a right; under CI that is a failure only where this process
/// has the right.
pub fn skip_without_right(capability: u32, why: &str) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let rights = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ours = rights >> capability & 1 == 1;
    assert!(!is_ours || std::env::var_os("CI").is_none(), "the right is there, and yet: {why}");
    say_skipped(why);
}

/// Past the test runner, which shows nothing of a test that passes.
fn say_skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: {why} ***");
}
