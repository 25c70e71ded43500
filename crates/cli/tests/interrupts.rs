//! Signals, closed pipes and terminals.
#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::common::{CHUNK_BYTES, Folder, plaintext, run, signal, skip, without_note};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use signal_hook::flag;

const SIGNALS: [(&str, i32); 5] =
    [("INT", SIGINT), ("TERM", SIGTERM), ("HUP", SIGHUP), ("XCPU", SIGXCPU), ("USR1", SIGUSR1)];

/// Waits until the number of unread bytes in a pipe of this command is as wanted.
fn wait_for_pipe(child: &mut Child, pipe: impl AsFd, is_wanted: impl Fn(u64) -> bool) {
    while !is_wanted(rustix::io::ioctl_fionread(&pipe).unwrap()) {
        assert!(child.try_wait().unwrap().is_none(), "the command has ended");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for the exit status, and ends a hang.
fn wait(child: &mut Child) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > Duration::from_secs(1200) {
            child.kill().unwrap();
            panic!("the command did not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Makes child processes react to signals. A test run in the background of a script may ignore Ctrl-C, and its children would inherit
/// that. Signals that this process catches have their default action in its children.
fn children_heed_signals() {
    for (_, signal) in SIGNALS {
        flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true))).unwrap();
    }
}

#[test]
fn a_signal_while_a_pipe_is_slow() {
    children_heed_signals();
    let folder = Folder::new();
    let sealed = folder.sealed(&plaintext(40 * CHUNK_BYTES));
    let before = folder.names();
    let encrypt: &[&str] = &["encrypt", "-r", &folder.recipient, "-o", "out"];
    let decrypt: &[&str] = &["decrypt", "-i", "me.key", "-o", "out"];
    for (name, number) in SIGNALS {
        for (arguments, data) in [(encrypt, plaintext(20 * CHUNK_BYTES)), (decrypt, sealed[..200_000].to_vec())] {
            let mut child = folder.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(&data).unwrap();
            wait_for_pipe(&mut child, &pipe, |bytes| bytes == 0);
            assert!(signal(child.id(), name));
            let status = wait(&mut child);
            assert_eq!(status.signal(), Some(number), "{arguments:?}: {status}");
            let mut stderr = String::new();
            child.stderr.unwrap().read_to_string(&mut stderr).unwrap();
            assert_eq!(without_note(&stderr).lines().count(), 1, "{stderr}");
            assert_eq!(folder.names(), before);
        }
    }
}

#[test]
fn a_signal_while_nobody_reads() {
    children_heed_signals();
    let folder = Folder::new();
    folder.write("in", plaintext(3_000_000));
    let mut child = folder.command(["encrypt", "-r", &folder.recipient, "in"]).spawn().unwrap();
    let pipe = child.stdout.take().unwrap();
    wait_for_pipe(&mut child, &pipe, |bytes| bytes > 0);
    assert!(signal(child.id(), "TERM"));
    assert_eq!(wait(&mut child).signal(), Some(15));
}

#[test]
fn ignored_signals_stay_ignored() {
    let folder = Folder::new();
    let script = format!("trap '' HUP; exec '{}' encrypt -r {} -o out", env!("CARGO_BIN_EXE_tress"), folder.recipient);
    let mut child =
        Command::new("sh").args(["-c", &script]).current_dir(folder.root()).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"some").unwrap();
    wait_for_pipe(&mut child, &pipe, |bytes| bytes == 0);
    assert!(signal(child.id(), "HUP"));
    drop(pipe);
    assert!(wait(&mut child).success());
    assert!(folder.exists("out"));
}

#[test]
fn a_closed_pipe() {
    let folder = Folder::new();
    folder.write("in", plaintext(3_000_000));
    folder.write("sealed", folder.sealed(&plaintext(3_000_000)));
    let encrypt: &[&str] = &["encrypt", "-r", &folder.recipient, "in"];
    for arguments in [encrypt, &["decrypt", "-i", "me.key", "sealed"]] {
        let mut child = folder.command(arguments).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut [0; 10]).unwrap();
        drop(pipe);
        let status = wait(&mut child);
        let mut stderr = String::new();
        child.stderr.unwrap().read_to_string(&mut stderr).unwrap();
        let run = crate::common::Run { status, stdout: Vec::new(), stderr };
        run.failed("standard output");
    }
    // Text output does not panic either. It succeeds while a process that another test has just started still holds the other end.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = run(folder.command(["ciphers"]).stdout(writer), &[]);
    if !ended.status.success() || !ended.stderr.is_empty() {
        ended.failed("standard output");
    }
}

/// Runs a shell command on a new terminal (`script` of util-linux), and returns its status and output. The output so far is in the file
/// `screen`.
fn on_terminal(folder: &Folder, command: &str, typed: &[&str]) -> Option<(Option<i32>, String)> {
    let mut child = Command::new("script")
        .args(["--quiet", "--flush", "--return", "--command", command, "screen"])
        // With TERM=dumb no progress is drawn.
        .env("TERM", "xterm")
        .current_dir(folder.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    for line in typed {
        // A prompt discards input that was typed before it.
        let mut byte = [0];
        while !shown.ends_with(b": ") && screen.read(&mut byte).unwrap() == 1 {
            shown.extend_from_slice(&byte);
        }
        shown.push(b'\n');
        keyboard.write_all(line.as_bytes()).unwrap();
    }
    screen.read_to_end(&mut shown).unwrap();
    let status = child.wait().unwrap();
    Some((status.code(), String::from_utf8_lossy(&shown).into_owned()))
}

#[test]
fn no_binary_on_a_terminal() {
    let folder = Folder::new();
    let tress = env!("CARGO_BIN_EXE_tress");
    folder.write("in", plaintext(1000));
    folder.write("text", "just a line\n");
    folder.write("sealed", folder.sealed(&plaintext(1000)));
    folder.write("sealed.text", folder.sealed(b"just a line\n"));
    let show = |arguments: &str| on_terminal(&folder, &format!("'{tress}' {arguments}"), &[]);
    let Some((status, shown)) = show(&format!("encrypt -r {} in", folder.recipient)) else {
        return skip("script of util-linux");
    };
    assert!(matches!(status, Some(1 | 2)), "{status:?} {shown}");
    assert!(shown.starts_with("tress: error: ") && shown.contains("terminal"), "{shown}");
    let key = "--key 2b7e151628aed2a6abf7158809cf4f3c";
    for arguments in [
        "decrypt -i me.key sealed",
        "decrypt -i me.key sealed.text",
        "decrypt -i me.key -o - sealed",
        &format!("raw encrypt --cipher aes-128-ecb {key} in"),
    ] {
        let (status, shown) = show(arguments).unwrap();
        assert!(matches!(status, Some(1 | 2)), "{arguments}: {status:?} {shown}");
        assert!(shown.starts_with("tress: error: ") && shown.contains("terminal"), "{arguments}: {shown}");
    }
    // With `-o -`, text is shown on a terminal.
    let (status, shown) = show("decrypt -i me.key -o - sealed.text").unwrap();
    assert_eq!((status, shown.trim_end()), (Some(0), "just a line"));
}

#[test]
fn passphrases_from_the_terminal() {
    children_heed_signals();
    let folder = Folder::new();
    let tress = env!("CARGO_BIN_EXE_tress");
    folder.write("in", plaintext(1000));
    let encrypt = format!("'{tress}' encrypt -p -o sealed in");
    let Some((status, shown)) = on_terminal(&folder, &encrypt, &["one\n", "two\n"]) else {
        return skip("script of util-linux");
    };
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("differ") && !folder.exists("sealed"), "{shown}");
    let (status, shown) = on_terminal(&folder, &encrypt, &["\n"]).unwrap();
    assert!(status != Some(0) && shown.contains("empty"), "{shown}");
    let (status, shown) = on_terminal(&folder, &encrypt, &["one two\n", "one two\n"]).unwrap();
    assert_eq!(status, Some(0), "{shown}");
    assert!(!shown.contains("one two"), "the passphrase is not shown: {shown}");
    folder.write("pass", "one two");
    let run = folder.tress(["decrypt", "--passphrase-file", "pass", "sealed"]).ok();
    assert_eq!(run.stdout, plaintext(1000));
    // Standard input may be the data.
    let decrypt = format!("'{tress}' decrypt -p -o again < sealed");
    let (status, shown) = on_terminal(&folder, &decrypt, &["one two\n"]).unwrap();
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(folder.read("again"), plaintext(1000));
    // Nobody types a passphrase for nothing.
    for (arguments, output) in
        [("decrypt -p -o new none", "no such file"), ("encrypt -p -o again in", "already exists")]
    {
        let (status, shown) = on_terminal(&folder, &format!("'{tress}' {arguments}"), &[]).unwrap();
        assert!(status == Some(1) && shown.contains(output) && !shown.contains("assphrase"), "{shown}");
    }
    // Ctrl-C at the prompt ends the command and restores the terminal.
    let abandoned = format!("trap : INT; '{tress}' decrypt -p sealed > other; stty -a");
    let (_, shown) = on_terminal(&folder, &abandoned, &["\x03"]).unwrap();
    assert!(shown.split_whitespace().any(|word| word == "echo"), "{shown}");
}

#[test]
fn a_prompt_needs_a_terminal() {
    let folder = Folder::new();
    // A new session has no terminal.
    let mut command = Command::new("setsid");
    command
        .args(["--wait", env!("CARGO_BIN_EXE_tress"), "encrypt", "-p"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .current_dir(folder.root());
    if command.status().is_err() {
        return skip("setsid of util-linux");
    }
    let run = run(&mut command, &[]).failed("terminal");
    assert!(run.stderr.contains("--passphrase-file"));
}

#[test]
fn progress_on_a_terminal_only() {
    let folder = Folder::new();
    let tress = env!("CARGO_BIN_EXE_tress");
    fs::File::create(folder.path("big")).unwrap().set_len(8 << 20).unwrap();
    let slow = |pause: &str, to: &str| {
        format!("(cat big; {pause}; cat big) | '{tress}' encrypt -r {} -o {to}", folder.recipient)
    };
    // The rest comes when progress is shown. The limit only ends a hang, and the pattern is no match of itself.
    let until_shown = "for i in $(seq 12000); do grep -q 'Mi[B]' screen && break; sleep 0.1; done";
    let Some((status, shown)) = on_terminal(&folder, &slow(until_shown, "out"), &[]) else {
        return skip("script of util-linux");
    };
    assert_eq!(status, Some(0));
    assert!(shown.contains("MiB"), "{shown:?}");
    let silent = slow("sleep 1.2", "out2");
    let output = Command::new("sh").args(["-c", &silent]).current_dir(folder.root()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
