//! Core dumps and swap.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::common::{Folder, plaintext, program, run, skip_without_right};

/// Capabilities of Linux by their number (capabilities(7)).
const SETUID: u32 = 7;
const IPC_LOCK: u32 = 14;

/// The user `nobody`.
const OTHER_USER: u32 = 65534;

/// Starts an encryption and gives it some input, so that it runs and waits for more.
fn waiting(command: &mut Command) -> Child {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // More than a pipe holds: when all of it is written, the command is reading.
    child.stdin.as_mut().unwrap().write_all(&plaintext(1_000_000)).unwrap();
    child
}

/// A line of a file of the process, such as `status` or `limits` (proc(5)).
fn line(child: &Child, file: &str, start: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}")).to_string()
}

fn end(mut child: Child) -> String {
    let mut text = String::new();
    drop(child.stdin.take());
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    text
}

/// Lets every user make files in the folder.
fn open_folder(folder: &Folder) {
    fs::set_permissions(folder.root(), fs::Permissions::from_mode(0o777)).unwrap();
}

fn may_change_user() -> bool {
    let may = program().arg("--version").uid(OTHER_USER).output().is_ok_and(|output| output.status.success());
    if !may {
        skip_without_right(SETUID, "no other user can be tried");
    }
    may
}

#[test]
fn no_core_dumps() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "-r", &folder.recipient, "-o", "/dev/null"];
    let child = waiting(&mut folder.command(encrypt));
    let limit = line(&child, "limits", "Max core file size");
    assert_eq!(limit.split_whitespace().nth(4), Some("0"), "{limit}");
    end(child);

    // The files in /proc of a process that cannot be dumped belong to root.
    if !may_change_user() {
        return;
    }
    open_folder(&folder);
    for (value, owner) in [(None, 0), (Some("dump"), OTHER_USER), (Some("nonsense"), 0)] {
        let mut command = folder.command(encrypt);
        value.map(|value| command.env("TRESS_DEBUG_MEMORY", value));
        let child = waiting(command.uid(OTHER_USER));
        let memory = fs::metadata(format!("/proc/{}/mem", child.id())).unwrap();
        assert_eq!(memory.uid(), owner, "{value:?}");
        end(child);
    }
}

/// Files get their final names by links from /proc, to which a process without core dumps has less access.
#[test]
fn files_are_written_without_core_dumps() {
    let folder = Folder::new();
    if !may_change_user() {
        return;
    }
    open_folder(&folder);
    fs::set_permissions(folder.path("me.key"), fs::Permissions::from_mode(0o644)).unwrap();
    folder.write("passphrase", "kept\n");
    fs::set_permissions(folder.path("passphrase"), fs::Permissions::from_mode(0o644)).unwrap();
    let tress = |arguments: &[&str], stdin: &[u8]| {
        run(folder.command(arguments).uid(OTHER_USER).stdin(Stdio::piped()), stdin).ok();
    };
    tress(&["encrypt", "-r", &folder.recipient, "-o", "c"], &plaintext(100_000));
    tress(&["decrypt", "-i", "me.key", "-o", "out", "c"], b"");
    assert_eq!(folder.read("out"), plaintext(100_000));
    tress(&["keygen", "-o", "theirs.key"], b"");
    tress(&["encrypt", "--passphrase-file", "passphrase", "-o", "p", "c"], b"");
}

#[test]
fn memory_is_locked_or_that_is_told() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "-v", "-r", &folder.recipient, "-o", "/dev/null"];
    let locked =
        |child: &Child| line(child, "status", "VmLck:").split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
    let child = waiting(&mut folder.command(encrypt));
    let (kilobytes, told) = (locked(&child), end(child));
    assert_eq!(kilobytes > 0, !told.contains("swap"), "{kilobytes} kB locked, and told: {told:?}");
    if kilobytes == 0 {
        skip_without_right(IPC_LOCK, "memory could not be locked");
    }

    // Without privileges and with a low limit: memory is not locked, `-v` reports it, and the command succeeds.
    if !may_change_user() {
        return;
    }
    let limited = |arguments: &[&str]| {
        let script = "ulimit -l 64 && exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_tress")]).args(arguments).current_dir(folder.root());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).uid(OTHER_USER);
        command
    };
    let child = waiting(&mut limited(&encrypt));
    let (kilobytes, told) = (locked(&child), end(child));
    assert!(kilobytes == 0 && told.starts_with("tress: note: ") && told.lines().count() == 1, "{kilobytes} {told:?}");
    let quiet = run(limited(&["encrypt", "-r", &folder.recipient, "-o", "/dev/null"]).stdin(Stdio::piped()), b"x").ok();
    assert_eq!(quiet.stderr, "");
    let told =
        run(limited(&["encrypt", "-v", "-r", &folder.recipient, "-o", "/dev/null"]).stdin(Stdio::piped()), b"x").ok();
    assert!(told.stderr.contains("swap"), "{}", told.stderr);
    // Commands without keys do not lock memory.
    assert_eq!(run(limited(&["ciphers", "-v"]).stdin(Stdio::null()), b"").ok().stderr, "");
}
