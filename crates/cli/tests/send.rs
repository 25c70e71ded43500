//! `tress send` and `tress receive` as two processes over loopback, also if one of them is killed.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::common::{
    CHUNK_BYTES, Folder, Run, listening, mount, names, plaintext, run, runs_as_nobody, signal, skip, skip_without_right,
};

/// A running receiver with the folder `out`, and its address.
struct ReceiverProcess {
    child: Child,
    to: String,
    stderr: thread::JoinHandle<String>,
}

struct Ends {
    folder: Folder,
    /// The receiver's address, of `other.key`.
    address: String,
}

impl Ends {
    fn new() -> Ends {
        let folder = Folder::new();
        folder.write("allow", format!("# senders\n{}\n", folder.public("me.key", 1)));
        let address = folder.public("other.key", 1);
        Ends { folder, address }
    }

    fn receive_command(&self, more: &[&str]) -> Command {
        let arguments = ["receive", "--listen", "127.0.0.1:0", "-i", "other.key", "-o", "out"];
        self.folder.command([&arguments[..], more].concat())
    }

    fn receive_with(&self, more: &[&str]) -> ReceiverProcess {
        self.start(&mut self.receive_command(more))
    }

    fn start(&self, command: &mut Command) -> ReceiverProcess {
        let mut child = command.spawn().unwrap();
        let (to, stderr) = listening(&mut child);
        ReceiverProcess { child, to, stderr }
    }

    fn receive(&self) -> ReceiverProcess {
        self.receive_with(&["--allow", "allow"])
    }

    fn send_command(&self, to: &str, more: &[&str]) -> Command {
        let mut arguments = vec!["send", "--to", to, "-r", &self.address, "-i", "me.key"];
        arguments.extend(more);
        self.folder.command(arguments)
    }

    fn send(&self, receiver: &ReceiverProcess, more: &[&str]) -> Run {
        run(&mut self.send_command(&receiver.to, more), &[])
    }

    /// Sends after a sender was killed, whose session at the receiver may keep its files for long on a slow disk.
    fn send_again(&self, receiver: &ReceiverProcess, more: &[&str]) -> Run {
        let is_free = |run: &Run| !run.stderr.contains("too many connections or transfers");
        (0..30).map(|_| self.send(receiver, more)).find(is_free).expect("the receiver keeps the files")
    }

    /// Waits until more than this number of bytes of some file have arrived, or until the sender has ended.
    fn wait_for_bytes(&self, sender: &mut Child, bytes: u64) -> bool {
        loop {
            let has_ended = sender.try_wait().unwrap().is_some();
            let mut folders = vec![self.folder.path("out")];
            while let Some(folder) = folders.pop() {
                // A folder may disappear between listing and reading.
                for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
                    match entry.metadata() {
                        Ok(found) if found.is_dir() => folders.push(entry.path()),
                        Ok(found) if found.len() > bytes => return true,
                        _ => {}
                    }
                }
            }
            if has_ended {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until a megabyte of some file has arrived.
    fn wait_for_a_part(&self, sender: &mut Child) {
        assert!(self.wait_for_bytes(sender, 1_000_000), "the sender has ended");
    }

    /// The path of a name in the only sender's folder.
    fn output(&self, name: &str) -> PathBuf {
        let sender = fs::read_dir(self.folder.path("out")).unwrap().next().expect("a sender's folder").unwrap();
        sender.path().join(name)
    }

    #[track_caller]
    fn assert_received(&self, name: &str, bytes: &[u8]) {
        let received = fs::read(self.output(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(received == bytes, "{name} differs");
    }
}

impl ReceiverProcess {
    /// Ends the receiver by a signal. Returns its standard output and standard error.
    fn stop(mut self) -> (String, String) {
        signal(self.child.id(), "TERM");
        self.child.wait().unwrap();
        self.output()
    }

    fn output(mut self) -> (String, String) {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        (stdout, self.stderr.join().unwrap())
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_file_a_folder_and_a_stream() {
    let ends = Ends::new();
    let receiver = ends.receive();
    let data = plaintext(3_000_000);
    ends.folder.write("big.img", &data);
    fs::create_dir_all(ends.folder.path("tree/in")).unwrap();
    ends.folder.write("tree/in/x", b"x");
    // An input that is named twice is sent once.
    ends.send(&receiver, &["--streams", "3", "big.img", "tree", "./tree", "tree/in/.."]).ok();
    ends.assert_received("big.img", &data);
    ends.assert_received("tree/in/x", b"x");
    let mut child = ends.send_command(&receiver.to, &["--dry-run", "-"]);
    let shown = run(child.stdin(fs::File::open(ends.folder.path("big.img")).unwrap()), &[]).ok().stderr;
    assert!(shown.contains("bytes: 3,000,000"), "{shown}");
    // Standard input, whose length is unknown.
    let mut child = ends.send_command(&receiver.to, &["--name", "log", "-"]);
    run(child.stdin(Stdio::piped()), &data).ok();
    ends.assert_received("log", &data);
    let (stdout, _) = receiver.stop();
    let names: Vec<&str> = stdout.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["big.img", "x", "log"]);
    assert!(stdout.lines().all(|line| ends.folder.path(line).is_file()), "{stdout}");
}

#[test]
fn a_part_of_a_folder_and_what_would_be_sent() {
    let ends = Ends::new();
    fs::create_dir_all(ends.folder.path("top/cache/in")).unwrap();
    for name in ["top/a", "top/b.tmp", "top/cache/c", "top/cache/in/d"] {
        ends.folder.write(name, name);
    }
    let receiver = ends.receive();
    for (patterns, left) in [
        (&["--exclude", "*.tmp"][..], &["top/a", "top/cache/c", "top/cache/in/d"][..]),
        (&["--exclude", "cache"], &["top/a", "top/b.tmp"]),
        (&["--exclude", "cache/in/", "--exclude", "/a"], &["top/b.tmp", "top/cache/c"]),
        (&["--exclude", "**/d"], &["top/a", "top/b.tmp", "top/cache/c"]),
    ] {
        let listed = ends.send(&receiver, &[patterns, &["--dry-run", "top"]].concat()).ok();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(listed.lines().collect::<Vec<_>>(), left, "{patterns:?}");
        ends.send(&receiver, &[patterns, &["top"]].concat()).ok();
        for name in ["top/a", "top/b.tmp", "top/cache/c", "top/cache/in/d"] {
            assert_eq!(ends.output(name).exists(), left.contains(&name), "{patterns:?}: {name}");
        }
        fs::remove_dir_all(ends.output("top")).unwrap();
    }
    ends.send(&receiver, &["--exclude", "a[", "top"]).wrong_use("a[");
    ends.send(&receiver, &["--dry-run", "missing"]).failed("missing");
    // A missing input is an error, and the others are sent.
    let listed = ends.send(&receiver, &["--dry-run", "missing", "top"]);
    assert!(
        listed.stderr.starts_with("tress: would send files: 4, bytes: 39\ntress: error: missing: "),
        "{}",
        listed.stderr
    );
    assert_eq!((listed.status.code(), listed.stdout.lines().count()), (Some(1), 4));
    ends.send(&receiver, &["missing", "top"]).failed("missing");
    ends.assert_received("top/a", b"top/a");
    fs::create_dir_all(ends.folder.path("else/top")).unwrap();
    ends.send(&receiver, &["top", "else/top"]).wrong_use("else/top: two inputs have one name");
    let none = ends.send(&receiver, &["missing", "gone"]);
    assert!(["missing: ", "gone: "].iter().all(|name| none.stderr.contains(name)), "{}", none.stderr);
    receiver.stop();
}

#[test]
fn one_session_and_its_exit_status() {
    let ends = Ends::new();
    ends.folder.write("a", b"a");
    let mut receiver = ends.receive_with(&["--allow", "allow", "--once"]);
    ends.send(&receiver, &["a"]).ok();
    assert!(receiver.child.wait().unwrap().success());
    assert!(receiver.output().0.ends_with("/a\n"));
    // A session whose folder is refused is one, too.
    fs::set_permissions(ends.output(""), fs::Permissions::from_mode(0o777)).unwrap();
    let mut receiver = ends.receive_with(&["--allow", "allow", "--once"]);
    ends.send(&receiver, &["a"]).failed("");
    assert_eq!(receiver.child.wait().unwrap().code(), Some(1));
}

/// The list of senders changes while the receiver runs; names of received files are printed for programs.
#[test]
fn an_allow_file_is_followed_and_files_are_printed_for_programs() {
    let ends = Ends::new();
    ends.folder.write("a b", b"12345");
    let senders = fs::read(ends.folder.path("allow")).unwrap();
    for (option, is_json) in [("--json", true), ("-0", false)] {
        ends.folder.write("allow", b"");
        let receiver = ends.receive_with(&["--allow", "allow", option]);
        ends.send(&receiver, &["a b"]).failed("receiver does not accept this sender");
        ends.folder.write("allow", &senders);
        ends.send(&receiver, &["a b"]).ok();
        ends.folder.write("allow", b"tress1\n");
        fs::remove_file(ends.output("a b")).unwrap();
        ends.send(&receiver, &["a b"]).ok();
        let (stdout, stderr) = receiver.stop();
        assert!(
            stderr.contains("line 1: not a tress address; the senders that it named before are accepted"),
            "{stderr}"
        );
        let sender = ends.output("").file_name().unwrap().to_string_lossy().into_owned();
        let path = format!("out/{sender}/a b");
        let line = match is_json {
            true => format!("{}\n", serde_json::json!({ "path": path, "sender": sender, "size": 5 })),
            false => format!("{path}\0"),
        };
        assert_eq!(stdout, line.repeat(2));
        fs::remove_file(ends.output("a b")).unwrap();
    }
}

/// Nobody reads a stream of the receiver: files are confirmed, a signal ends it, and every file is printed, by the next receiver at last.
#[test]
fn lines_that_nobody_reads_hold_up_nothing() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::os::unix::process::ExitStatusExt as _;
    let fill = |mut pipe: &std::io::PipeWriter| {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        while poll(&mut [PollFd::new(&pipe, PollFlags::OUT)], Some(&now)) == Ok(1) {
            pipe.write_all(&[b'.'; 4096]).unwrap();
        }
    };
    for is_stdout in [true, false] {
        let ends = Ends::new();
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = ends.receive_command(&["--allow", "allow"]);
        let (mut child, to) = if is_stdout {
            fill(&writer);
            let receiver = ends.start(command.stdout(writer.try_clone().unwrap()));
            (receiver.child, receiver.to)
        } else {
            let child = command.stderr(writer.try_clone().unwrap()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(&reader).read_line(&mut line).unwrap();
            fill(&writer);
            (child, line.trim().strip_prefix("tress: listening on ").unwrap().to_string())
        };
        for name in ["a", "b"] {
            ends.folder.write(name, name);
            run(&mut ends.send_command(&to, &[name]), &[]).ok();
        }
        // A stream, whose next offer would be refused.
        run(ends.send_command(&to, &["--name", "c", "-"]).stdin(Stdio::piped()), b"c").ok();
        signal(child.id(), "TERM");
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        let mut printed = String::new();
        let _ = child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut printed));
        ends.folder.write("d", "d");
        let mut receiver = ends.receive();
        ends.send(&receiver, &["a", "d"]).ok();
        let mut lines = BufReader::new(receiver.child.stdout.as_mut().unwrap()).lines();
        let mut names: Vec<String> = printed.lines().map(str::to_string).collect();
        names.extend((names.len()..4).map(|_| lines.next().unwrap().unwrap()));
        names.sort();
        let names: Vec<&str> = names.iter().map(|line| line.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        receiver.stop();
    }
}

#[test]
fn a_reader_that_is_gone_ends_the_receiver() {
    let ends = Ends::new();
    ends.folder.write("a", "a");
    // A reader that ends before there is a line, and a full disk.
    let mut closed = ends.receive();
    drop(closed.child.stdout.take());
    let mut receivers = vec![closed];
    if PathBuf::from("/dev/full").exists() {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let receiver = ends.start(ends.receive_command(&["--allow", "allow"]).stdout(full));
        // Confirmed, or refused because the receiver ends.
        ends.send(&receiver, &["a"]);
        receivers.push(receiver);
    } else {
        skip("/dev/full");
    }
    for mut receiver in receivers {
        assert_eq!(receiver.child.wait().unwrap().code(), Some(1));
        let stderr = receiver.stderr.join().unwrap();
        assert!(stderr.lines().last().unwrap().starts_with("tress: error: standard output: "), "{stderr}");
    }
    // The next receiver prints the file, whichever of the two got it.
    let mut receiver = ends.receive();
    ends.send(&receiver, &["a"]).ok();
    let mut line = String::new();
    BufReader::new(receiver.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.ends_with("/a\n"), "{line}");
    receiver.stop();
}

#[test]
fn who_may_and_who_may_not() {
    let ends = Ends::new();
    ends.folder.write("a", b"a");
    ends.folder.write("empty", "# nobody\n");
    let receiver = ends.receive_with(&["--allow", "empty"]);
    let refused = ends.send(&receiver, &["a"]).failed(&receiver.to);
    assert!(refused.stderr.contains("allow file"), "{}", refused.stderr);
    // The receiver's message is worded for its own user.
    let (_, log) = receiver.stop();
    assert!(log.contains("sender is not in the allow file") && !log.contains("receiver does not"), "{log}");
    assert!(fs::read_dir(ends.folder.path("out")).unwrap().next().is_none());
    let receiver = ends.receive_with(&["--allow-any"]);
    ends.send(&receiver, &["a"]).ok();
    // A receiver with another key than the given address.
    let me = ends.folder.public("me.key", 1);
    ends.folder.tress(["send", "--to", &receiver.to, "-r", &me, "-i", "me.key", "a"]).failed(&receiver.to);
    receiver.stop();
}

#[test]
fn links_that_stay_inside_are_kept() {
    let ends = Ends::new();
    let receiver = ends.receive();
    fs::create_dir(ends.folder.path("tree")).unwrap();
    ends.folder.write("tree/z", b"z");
    for (link, target) in [("a", "z"), ("b", "nowhere"), ("out", "../me.key")] {
        std::os::unix::fs::symlink(target, ends.folder.path("tree").join(link)).unwrap();
    }
    ends.send(&receiver, &["tree"]).failed("tree/out: link points outside");
    ends.assert_received("tree/z", b"z");
    let links = ["tree/a", "tree/b"].map(|link| fs::read_link(ends.output(link)).unwrap());
    assert_eq!(links, ["z", "nowhere"].map(PathBuf::from));
    assert!(fs::symlink_metadata(ends.output("tree/out")).is_err());
    // A container has no place for one.
    let sent = ends.send(&receiver, &["--json", "--keep-sealed", "tree"]);
    assert_eq!(sent.status.code(), Some(3), "{}", sent.stderr);
    for line in ["tree/a: symbolic link, skipped", "tree/out: symbolic link, skipped", "3 symbolic links skipped"] {
        assert!(sent.stderr.contains(line), "{}", sent.stderr);
    }
    let report: serde_json::Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!((&report["files"], &report["skipped"]), (&1.into(), &3.into()));
    // Special files are errors.
    fs::create_dir(ends.folder.path("other")).unwrap();
    assert!(Command::new("mkfifo").arg(ends.folder.path("other/f")).status().unwrap().success());
    ends.send(&receiver, &["other"]).failed("other/f");
    receiver.stop();
}

#[test]
fn a_changed_input() {
    let ends = Ends::new();
    let receiver = ends.receive();
    let data = plaintext(20_000_000);
    ends.folder.write("a", &data);
    let mut child = ends.send_command(&receiver.to, &["--rate", "1MB", "a"]).spawn().unwrap();
    ends.wait_for_a_part(&mut child);
    // Same size and same time of modification: only the time of change (ctime) shows it.
    let path = ends.folder.path("a");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"other", 19_000_000).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(modified)).unwrap();
    let status = child.wait().unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    Run { status, stdout: Vec::new(), stderr }.failed("a: input changed");
    assert!(!ends.output("a").exists());
    // The receiver has discarded the incomplete file, so it accepts the new version.
    let data = ends.folder.read("a");
    ends.send(&receiver, &["a"]).ok();
    ends.assert_received("a", &data);
    receiver.stop();
}

#[test]
fn a_changed_input_between_two_runs() {
    let ends = Ends::new();
    let receiver = ends.receive();
    ends.folder.write("a", plaintext(20_000_000));
    let mut child = ends.send_command(&receiver.to, &["--rate", "1MB", "a"]).spawn().unwrap();
    ends.wait_for_a_part(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    // The time of change alone is another version, unless the user says that it is not.
    fs::set_permissions(ends.folder.path("a"), fs::Permissions::from_mode(0o640)).unwrap();
    ends.send_again(&receiver, &["a"]).failed("a");
    let report = ends.send(&receiver, &["--ignore-ctime", "--json", "a"]).json();
    assert!(report["bytes_sent"].as_u64().unwrap() < 20_000_000, "{report}");
    fs::set_permissions(ends.folder.path("a"), fs::Permissions::from_mode(0o600)).unwrap();
    let report = ends.send(&receiver, &["--ignore-ctime", "--json", "a"]).json();
    assert_eq!(report["complete_before"], 1);
    fs::remove_file(ends.output("a")).unwrap();

    let mut child = ends.send_command(&receiver.to, &["--rate", "1MB", "a"]).spawn().unwrap();
    ends.wait_for_a_part(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let other = plaintext(20_000_001)[1..].to_vec();
    ends.folder.write("a", &other);
    let refused = ends.send_again(&receiver, &["a"]).failed("a");
    assert!(refused.stderr.contains("--restart"), "{}", refused.stderr);
    ends.send(&receiver, &["--restart", "a"]).ok();
    ends.assert_received("a", &other);
    receiver.stop();
}

#[test]
fn any_umask() {
    for umask in [0, 0o002, 0o077] {
        let ends = Ends::new();
        fs::create_dir_all(ends.folder.path("top/sub")).unwrap();
        for _ in 0..2 {
            let plain =
                ends.folder.command(["receive", "--listen=127.0.0.1:0", "-iother.key", "-oout", "--allow=allow"]);
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("umask {umask:o}; exec \"$0\" \"$@\"")).arg(plain.get_program());
            command
                .args(plain.get_args())
                .current_dir(ends.folder.root())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let receiver = ends.start(&mut command);
            ends.send(&receiver, &["top"]).ok();
            receiver.stop();
        }
        // A folder may have the set-group-ID bit of the one around it.
        let mode = |name: &str| fs::metadata(ends.output(name)).unwrap().permissions().mode() & 0o777;
        // Others never write to them: the next session would refuse them.
        let sent = |name| fs::metadata(ends.folder.path(name)).unwrap().permissions().mode() & 0o777;
        let expected = [0o775 & !umask, sent("top") & !0o002, sent("top/sub") & !0o002, 0o700];
        assert_eq!(["", "top", "top/sub", ".tress"].map(mode), expected, "{umask:o}");
    }
}

/// A receiver's user cannot open the files that it made, but they are complete in the next run.
#[test]
fn files_that_their_owner_cannot_read() {
    let ends = Ends::new();
    fs::create_dir(ends.folder.path("top")).unwrap();
    // A sender without rights could not read the last one.
    let is_root = rustix::process::geteuid().is_root();
    let files = [("small", 10, 0o400), ("large", 400_000, 0o400), ("none", 20, if is_root { 0 } else { 0o500 })];
    for (name, size, mode) in files {
        ends.folder.write(&format!("top/{name}"), plaintext(size));
        fs::set_permissions(ends.folder.path("top").join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = ends.receive_command(&["--allow", "allow"]);
    if is_root && !runs_as_nobody(&mut command, &ends.folder, &["", "other.key", "allow"]) {
        return;
    }
    let receiver = ends.start(&mut command);
    for complete_before in [0, 3] {
        let report = ends.send(&receiver, &["--json", "top"]).json();
        assert_eq!((&report["files"], &report["complete_before"]), (&3.into(), &complete_before.into()));
    }
    receiver.stop();
    for (name, size, mode) in files {
        assert_eq!(fs::metadata(ends.output(&format!("top/{name}"))).unwrap().permissions().mode() & 0o777, mode);
        fs::set_permissions(ends.output(&format!("top/{name}")), fs::Permissions::from_mode(0o600)).unwrap();
        ends.assert_received(&format!("top/{name}"), &plaintext(size));
    }
}

/// Names that are easily mixed up, and names that are too long or too deep.
#[test]
fn names_of_all_kinds() {
    use std::{collections::BTreeSet, ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let ends = Ends::new();
    let (deep, long) = ("deep/".to_string() + &"d/".repeat(130), "y".repeat(252));
    fs::create_dir_all(ends.folder.path(&deep)).unwrap();
    ends.folder.write(&long, "long");
    // A file system may refuse bytes that are not UTF-8.
    let names = [&b"a\\nb"[..], b"a\nb", b"\xff", b"\xfe", b"\\xff", b"\xef\xbf\xbd", b"a\\\\nb", b"z"];
    let path = |name: &&[u8]| ends.folder.path("deep").join(OsStr::from_bytes(name));
    let names: Vec<_> = names.iter().filter(|name| fs::write(path(name), "").is_ok()).collect();
    let receiver = ends.receive();
    ends.send(&receiver, &["--keep-sealed", &long]).ok();
    // An error of that folder, and all files are sent.
    let sent = ends.send(&receiver, &["deep"]);
    assert!(sent.status.code() == Some(1) && sent.stderr.contains("128"), "{}", sent.stderr);
    let (stdout, _) = receiver.stop();
    let lines: BTreeSet<&str> = stdout.lines().collect();
    assert_eq!((lines.len(), stdout.lines().count()), (names.len() + 1, names.len() + 1), "{stdout}");
    for shown in [r"deep/a\\nb", r"deep/a\nb", r"deep/a\\\\nb"] {
        assert!(lines.iter().any(|line| line.ends_with(shown)), "{shown}: {stdout}");
    }
    let path = ends.output(&format!("{}.tress-long/{}.tress", &long[..150], &long[150..]));
    assert_eq!(ends.folder.tress(["decrypt", "-i", "other.key", path.to_str().unwrap()]).ok().stdout, b"long");
}

#[test]
fn containers_are_kept_sealed() {
    let ends = Ends::new();
    let receiver = ends.receive();
    let data = plaintext(1_500_000);
    let container = ends.folder.sealed(&data);
    ends.folder.write("plain", &data);
    ends.folder.write("sealed.tress", &container);
    for (name, format) in [("sealed.age", &["--format", "age"][..]), ("sealed.asc", &["--format", "age", "-a"])] {
        let to = ["encrypt", "-r", &ends.folder.recipient, "-o", name, "plain"];
        ends.folder.tress([&to[..], format].concat()).ok();
    }
    // Headers of which the length is known at their end only, or in the middle of them.
    ends.folder.write("one", "1");
    for (number, format) in [&[][..], &["-a"], &["-r", &ends.folder.recipient]].into_iter().enumerate() {
        let name = format!("short{number}");
        let to = ["encrypt", "--format", "age", "-r", &ends.folder.recipient, "-o", &name, "one"];
        ends.folder.tress([&to[..], format].concat()).ok();
    }
    // With recipients of all kinds.
    let kinds = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/containers");
    fs::create_dir(ends.folder.path("kinds")).unwrap();
    let mut sealed: Vec<String> =
        ["sealed.tress", "sealed.age", "sealed.asc", "short0", "short1", "short2"].map(str::to_string).into();
    for name in names(&kinds) {
        ends.folder.write(&format!("kinds/{name}"), fs::read(kinds.join(&name)).unwrap());
        sealed.push(format!("kinds/{name}"));
    }
    // Texts that begin like them, and a container that is cut in its header.
    let texts = ["tress/v1 is ours", "age-encryption.org/v1\n-> as", "-----BEGIN AGE ENCRYPTED FILE-----\n", ""];
    let texts = texts.map(|start| (start.to_string() + &" text".repeat(100)).into_bytes());
    let plain: Vec<_> = texts.into_iter().chain([data.clone(), container[..150].to_vec()]).enumerate().collect();
    let mut inputs =
        vec!["--keep-sealed", "kinds", "sealed.tress", "sealed.age", "sealed.asc", "short0", "short1", "short2"];
    let numbered: Vec<String> = plain.iter().map(|(number, _)| format!("plain{number}")).collect();
    plain.iter().for_each(|(number, bytes)| ends.folder.write(&numbered[*number], bytes));
    inputs.extend(numbered.iter().map(String::as_str));
    ends.send(&receiver, &inputs).ok();
    for name in &sealed {
        ends.assert_received(name, &ends.folder.read(name));
    }
    for (number, bytes) in &plain {
        let path = ends.output(&format!("plain{number}.tress"));
        let opened = ends.folder.tress(["decrypt", "-i", "other.key", path.to_str().unwrap()]).ok();
        assert!(opened.stdout == *bytes, "{number}");
    }
    // The next run finds all of them complete.
    let report = ends.send(&receiver, &[&["--json"], &inputs[..]].concat()).json();
    assert_eq!((&report["complete_before"], &report["bytes_sent"]), (&report["files"], &0.into()));
    let mut child = ends.send_command(&receiver.to, &["--keep-sealed", "--name", "in", "-"]);
    run(child.stdin(Stdio::piped()), &data).ok();
    let path = ends.output("in.tress");
    assert!(ends.folder.tress(["decrypt", "-i", "other.key", path.to_str().unwrap()]).ok().stdout == data);
    receiver.stop();
}

#[test]
fn a_trace_has_a_row_for_everyone_and_a_slice_for_every_batch() {
    let ends = Ends::new();
    let receiver = ends.receive();
    ends.folder.write("a", plaintext(5_000_000));
    ends.send(&receiver, &["--streams", "2", "--threads", "2", "--trace", "trace.json", "a"]).ok();
    let trace: serde_json::Value = serde_json::from_slice(&ends.folder.read("trace.json")).unwrap();
    let events = trace.as_array().unwrap();
    let rows: Vec<&str> =
        events.iter().filter(|event| event["ph"] == "M").map(|event| event["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(rows, ["session", "worker 0", "worker 1", "link 0", "link 1"]);
    let batches = |name: &str| {
        let slices = events.iter().filter(|event| event["name"] == name);
        let mut batches: Vec<u64> = slices.map(|slice| slice["args"]["first_chunk"].as_u64().unwrap()).collect();
        batches.sort_unstable();
        batches
    };
    // 5,000,000 bytes are 306 chunks, at most 32 of them in a batch.
    let read = batches("read");
    assert!(
        read.len() >= 10 && read[0] == 0 && read.windows(2).all(|two| (1..=32).contains(&(two[1] - two[0]))),
        "{read:?}"
    );
    assert_eq!((batches("seal"), batches("write")), (read.clone(), read));
    // A trace replaces a file only with --force, and never an input.
    let send = |trace, force: &[&str]| ends.send(&receiver, &[&["--trace", trace, "a"], force].concat());
    fs::create_dir(ends.folder.path("inner")).unwrap();
    send("trace.json", &[]).failed("trace.json");
    send("trace.json", &["--force"]).ok();
    for (trace, input) in [("a", "a"), ("me.key", "a"), ("inner/new", "inner")] {
        send(trace, &["--force", input]).failed(trace);
    }
    receiver.stop();
}

#[test]
fn a_quota_refuses_what_is_too_much_and_takes_the_rest() {
    let ends = Ends::new();
    let receiver = ends.receive_with(&["--allow", "allow", "--quota", "2MB"]);
    let data = plaintext(1_500_000);
    ends.folder.write("a", &data);
    ends.folder.write("b", &data);
    ends.folder.write("c", b"small");
    ends.send(&receiver, &["a", "b", "c"]).failed("b");
    ends.assert_received("a", &data);
    ends.assert_received("c", b"small");
    assert!(!ends.output("b").exists());
    receiver.stop();
    // With only this file, the receiver's session fails too.
    let mut receiver = ends.receive_with(&["--allow", "allow", "--quota", "2MB", "--once"]);
    ends.send(&receiver, &["b"]).failed("b");
    assert_eq!(receiver.child.wait().unwrap().code(), Some(1));
    let (_, stderr) = receiver.output();
    let error = stderr.lines().find_map(|line| line.strip_prefix("tress: error: b: ")).expect("an error about b");
    assert!(error.contains("quota") && error.contains("2000000"), "{stderr}");
    assert!(!stderr.contains("interrupted"), "{stderr}");
}

/// Pseudorandom numbers below `most`, the same in every run.
fn moments(count: u64, most: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(move |n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % most)
}

/// Size of a file that takes a second and a half to send.
const KILL_BYTES: usize = 60_000_000;
const KILL_RATE: &str = "40MB";

/// Kills the sender or the receiver at some byte of each transfer, or after it. The next run completes it.
fn killed_at_any_moment(kills_receiver: bool) {
    let ends = Ends::new();
    let data = plaintext(KILL_BYTES);
    ends.folder.write("a", &data);
    let mut receiver = ends.receive();
    for (round, bytes) in moments(20, KILL_BYTES as u64 * 16 / 15).enumerate() {
        let name = format!("a{round}");
        fs::hard_link(ends.folder.path("a"), ends.folder.path(&name)).unwrap();
        let sent = ["--streams", "2", "--rate", KILL_RATE, &name];
        let mut child = ends.send_command(&receiver.to, &sent).spawn().unwrap();
        ends.wait_for_bytes(&mut child, bytes);
        if kills_receiver {
            receiver.kill();
            receiver = ends.receive();
        } else {
            let _ = child.kill();
        }
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        let is_noticed = ended.status.success() || !said.contains("stopped responding");
        assert!(is_noticed, "the sender notices a lost connection: {said}");
        ends.send_again(&receiver, &["--streams", "2", &name]).ok();
        ends.assert_received(&name, &data);
        fs::remove_file(ends.output(&name)).unwrap();
    }
    let (_, said) = receiver.stop();
    assert!(!said.contains("stopped responding"), "the receiver notices a lost connection: {said}");
}

#[test]
fn the_sender_killed_at_any_moment() {
    killed_at_any_moment(false);
}

#[test]
fn the_receiver_killed_at_any_moment() {
    killed_at_any_moment(true);
}

/// Either end of a transfer of many small files. No file is half visible, and the next run completes the others.
#[test]
fn small_files_while_an_end_is_killed_at_any_moment() {
    const FILES: usize = 2000;
    let ends = Ends::new();
    for round in 0..4 {
        fs::create_dir_all(ends.folder.path(&format!("tree{round}/sub"))).unwrap();
        (0..FILES).for_each(|number| {
            ends.folder.write(&format!("tree{round}/sub/{number}"), plaintext(number * 7 % 4000));
        });
    }
    let check = |tree: &str| {
        if !fs::read_dir(ends.folder.path("out")).is_ok_and(|mut senders| senders.next().is_some()) {
            return 0;
        }
        let found = fs::read_dir(ends.output(tree).join("sub")).into_iter().flatten().map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let sent = fs::read(ends.folder.path(tree).join("sub").join(&name)).unwrap();
            assert!(fs::read(ends.output(tree).join("sub").join(&name)).unwrap() == sent, "{tree}/{name}");
        });
        found.count()
    };
    for (round, moment) in moments(16, 400).enumerate() {
        let tree = format!("tree{}", round % 4);
        let receiver = ends.receive();
        let mut child = ends.send_command(&receiver.to, &["--streams", "2", &tree]).spawn().unwrap();
        // Each moment is a good one, on a slow machine too.
        thread::sleep(Duration::from_millis(moment));
        if round % 2 == 0 {
            receiver.kill();
        } else {
            child.kill().unwrap();
            receiver.stop();
        }
        child.wait().unwrap();
        check(&tree);
    }
    let receiver = ends.receive();
    for round in 0..4 {
        let report = ends.send(&receiver, &["--json", &format!("tree{round}")]).json();
        assert_eq!(report["files"], FILES);
        assert_eq!(check(&format!("tree{round}")), FILES);
    }
    receiver.stop();
    assert_eq!(fs::read_dir(ends.output(".tress")).unwrap().count(), 1);
}

#[test]
fn a_killed_receiver_loses_little() {
    let ends = Ends::new();
    ends.folder.write("a", plaintext(KILL_BYTES));
    let receiver = ends.receive();
    let mut child = ends.send_command(&receiver.to, &["--rate", "4MB", "a"]).spawn().unwrap();
    // The bytes that the journal names as synced: behind its header of 64 bytes, each record is a range of chunks and a check.
    let synced = || {
        let sender = fs::read_dir(ends.folder.path("out")).ok()?.next()?.ok()?.path();
        let mut files = fs::read_dir(sender.join(".tress")).ok()?.filter_map(Result::ok);
        let journal = files.find(|entry| entry.path().extension().is_some_and(|ending| ending == "journal"))?;
        let journal = fs::read(journal.path()).ok()?;
        let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
        let chunks = |record: &[u8]| number(&record[8..16]) - number(&record[..8]);
        Some(journal.get(64..)?.chunks_exact(24).map(chunks).sum::<u64>() * CHUNK_BYTES as u64)
    };
    // The first sync comes long before the end.
    while synced().is_none_or(|bytes| bytes == 0) {
        assert!(child.try_wait().unwrap().is_none(), "the sender has ended");
        thread::sleep(Duration::from_millis(5));
    }
    receiver.kill();
    child.wait().unwrap();
    let synced = synced().expect("a journal");
    let receiver = ends.receive();
    let sent = ends.send(&receiver, &["--json", "a"]).json()["bytes_sent"].as_u64().unwrap();
    assert!(sent + synced <= KILL_BYTES as u64, "{sent} bytes were sent, although {synced} were synced");
    receiver.stop();
}

#[test]
fn what_is_resumed_after_a_lost_connection() {
    let ends = Ends::new();
    ends.folder.write("a", b"a");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap().to_string();
    thread::spawn(move || listener.incoming().for_each(drop));
    thread::scope(|scope| {
        for (inputs, continues) in [(&["a"][..], true), (&["a", "-"], false), (&["--keep-sealed", "a"], false)] {
            let (ends, to) = (&ends, &to);
            scope.spawn(move || {
                let lost = run(ends.send_command(to, inputs).stdin(Stdio::piped()), b"x").failed("lost");
                let hint = lost.stderr.lines().last().unwrap();
                assert_eq!((hint.contains("continue"), hint.contains("anew")), (continues, !continues), "{inputs:?}");
            });
        }
    });
}

#[test]
fn a_full_disk_is_reported_and_resumed() {
    let ends = Ends::new();
    fs::create_dir(ends.folder.path("out")).unwrap();
    if !mount(&ends.folder.path("out"), "size=8m") {
        return skip_without_right(crate::common::SYS_ADMIN, "mounting a small file system");
    }
    let receiver = ends.receive();
    let data = plaintext(12_000_000);
    ends.folder.write("a", &data);
    let told = ends.send(&receiver, &["a"]);
    assert_eq!(told.status.code(), Some(1), "{}", told.stderr);
    assert!(told.stderr.contains("no space"), "{}", told.stderr);
    assert!(mount(&ends.folder.path("out"), "remount,size=32m"));
    ends.send(&receiver, &["a"]).ok();
    ends.assert_received("a", &data);
    receiver.stop();
    let _ = Command::new("umount").arg("-l").arg(ends.folder.path("out")).status();
}

#[test]
fn nothing_readable_on_the_wire() {
    // A relay sees every byte that a packet capture would.
    let ends = Ends::new();
    let receiver = ends.receive();
    let relay = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (to, at) = (receiver.to.clone(), relay.local_addr().unwrap().to_string());
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let record = seen.clone();
    thread::spawn(move || {
        for from in relay.incoming() {
            let (from, on) = (from.unwrap(), std::net::TcpStream::connect(&to).unwrap());
            for (mut from, mut on) in [(from.try_clone().unwrap(), on.try_clone().unwrap()), (on, from)] {
                let record = record.clone();
                thread::spawn(move || {
                    let mut buffer = [0; 65536];
                    while let Ok(bytes @ 1..) = from.read(&mut buffer) {
                        record.lock().unwrap().extend_from_slice(&buffer[..bytes]);
                        if std::io::Write::write_all(&mut on, &buffer[..bytes]).is_err() {
                            break;
                        }
                    }
                    let _ = on.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    let line = b"a line that is easy to find in what was captured\n";
    ends.folder.write("secret-file-name", line.repeat(30_000));
    run(&mut ends.send_command(&at, &["--streams", "2", "secret-file-name"]), &[]).ok();
    let seen = seen.lock().unwrap();
    assert!(seen.len() > line.len() * 30_000);
    for text in [&line[..20], b"secret-file", b"me.key", ends.address.as_bytes()] {
        assert!(!seen.windows(text.len()).any(|window| window == text), "{}", String::from_utf8_lossy(text));
    }
    // Only the greeting is readable.
    assert!(seen.windows(18).any(|window| window == b"tress/v2 transfer\n"));
    receiver.stop();
}

#[test]
fn progress_and_memory_stay_within_bounds() {
    let ends = Ends::new();
    if !PathBuf::from("/proc/self/status").exists() {
        return skip("/proc");
    }
    let receiver = ends.receive();
    fs::File::create(ends.folder.path("big")).unwrap().set_len(1 << 30).unwrap();
    // The sender stops itself just before it ends.
    let mut command = ends.send_command(&receiver.to, &["--streams", "4", "big"]);
    let mut child = command.env("TRESS_DEBUG_MEMORY", "stop").spawn().unwrap();
    let peak = |id: u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:").map(str::to_string));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    while fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap().split(' ').nth(2) != Some("T") {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it stopped itself");
        thread::sleep(Duration::from_millis(5));
    }
    let (sender_kib, receiver_kib) = (peak(child.id()), peak(receiver.child.id()));
    assert!(signal(child.id(), "CONT"));
    assert!(child.wait().unwrap().success());
    // Limit: 64 MiB, and 4 MiB for each stream.
    for kib in [sender_kib, receiver_kib] {
        assert!((1..(64 + 4 * 4) * 1024).contains(&kib), "{sender_kib} {receiver_kib}");
    }
    receiver.stop();
}
