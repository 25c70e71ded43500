//! Outputs: existing files, links, devices, full disks, modes. Also unreadable inputs.
#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::{fs, thread};

use crate::common::{CHUNK_BYTES, Folder, MKNOD, SYS_ADMIN, mount, plaintext, run, skip_without_right};

#[test]
fn existing_output() {
    let folder = Folder::new();
    folder.write("in", plaintext(50_000));
    folder.write("out", "mine");
    let before = folder.names();
    let run = folder.tress(["encrypt", "-r", &folder.recipient, "-o", "out", "in"]).failed("out");
    assert!(run.stderr.contains("--force"));
    assert_eq!((folder.read("out").as_slice(), folder.names()), (b"mine".as_slice(), before.clone()));
    folder.tress(["encrypt", "-r", &folder.recipient, "--force", "-o", "out", "in"]).ok();
    assert_eq!(folder.names(), before);
    folder.write("plain", "mine");
    folder.tress(["decrypt", "-i", "me.key", "-o", "plain", "out"]).failed("plain");
    assert_eq!(folder.read("plain"), b"mine");
    folder.tress(["decrypt", "-i", "me.key", "-f", "-o", "plain", "out"]).ok();
    assert_eq!(folder.read("plain"), plaintext(50_000));
    // A failure with --force keeps the existing file.
    let mut damaged = folder.read("out");
    *damaged.last_mut().unwrap() ^= 1;
    folder.write("damaged", damaged);
    folder.tress(["decrypt", "-i", "me.key", "-f", "-o", "plain", "damaged"]).failed("damaged");
    assert_eq!(folder.read("plain"), plaintext(50_000));
    // An output must not be a folder.
    fs::create_dir(folder.path("folder")).unwrap();
    for verb in [&["encrypt", "-r", &folder.recipient, "in"][..], &["decrypt", "-i", "me.key", "out"]] {
        for output in [&["-o", "folder"][..], &["--force", "-o", "folder"]] {
            let run = folder.tress([verb, output].concat()).failed("folder: is a folder");
            assert!(run.stderr.contains("hint: ") && !run.stderr.contains("--force"), "{}", run.stderr);
        }
    }
}

#[test]
fn output_is_input() {
    let folder = Folder::new();
    folder.write("in", plaintext(50_000));
    symlink("in", folder.path("link")).unwrap();
    fs::hard_link(folder.path("in"), folder.path("twin")).unwrap();
    let before = folder.names();
    for name in ["in", "./in", "link", "twin"] {
        for force in ["--threads=2", "--force"] {
            let run = folder.tress(["encrypt", "-r", &folder.recipient, force, "-o", name, "in"]);
            run.failed(name);
            assert_eq!(folder.read("in"), plaintext(50_000));
        }
    }
    // `tress encrypt < in >> in` would otherwise never end.
    let mut command = folder.command(["encrypt", "-r", &folder.recipient]);
    command.stdin(fs::File::open(folder.path("in")).unwrap());
    command.stdout(fs::OpenOptions::new().append(true).open(folder.path("in")).unwrap());
    run(&mut command, &[]).failed("standard output");
    assert_eq!((folder.read("in"), folder.names()), (plaintext(50_000), before));
}

/// `--force` replaces neither keys nor lists nor the container if they are standard input.
#[cfg(target_os = "linux")]
#[test]
fn output_is_standard_input() {
    let folder = Folder::new();
    folder.write("in", plaintext(50_000));
    folder.write("list", &folder.recipient);
    folder.write("raw", [7; 32]);
    fs::create_dir(folder.path("dir")).unwrap();
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "box", "in"]).ok();
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "tree", "dir"]).ok();
    fs::rename(folder.path("tree"), folder.path("dir/tree")).unwrap();
    let (identity, tree) = (folder.read("me.key"), folder.read("dir/tree"));
    folder.write("dir/me.key", &identity);
    fs::set_permissions(folder.path("dir/me.key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    for (input, error, line) in [
        ("me.key", "the output is the input", "decrypt -f -i - -o me.key box"),
        ("list", "the output is the input", "encrypt -f -R - -o list in"),
        ("raw", "the output is the input", "encrypt -f --key-file - -o raw in"),
        ("dir/me.key", "has standard input in it, which the command reads", "decrypt -f -i - -o dir dir/tree"),
        ("dir/tree", "the input or is inside it", "decrypt -f -i me.key -o dir"),
        ("dir/tree", "the input or is inside it", "decrypt -f -i me.key --salvage -o dir -"),
    ] {
        let before = folder.read(input);
        let mut command = folder.command(line.split(' '));
        run(command.stdin(fs::File::open(folder.path(input)).unwrap()), &[]).failed(error);
        assert_eq!(folder.read(input), before, "{line}");
    }
    assert_eq!((folder.read("me.key"), folder.read("dir/tree")), (identity, tree));
}

/// Each script ends with status 0 if the command used the descriptor as it is. E is `encrypt` of a line of six bytes, D decrypts.
#[test]
fn open_descriptors_are_used_as_they_are() {
    let folder = Folder::new();
    folder.write("in", "hello\n");
    for script in [
        "E -o /dev/stdout in | D | grep -q hello",
        "exec 3>gone; rm gone; E -o /dev/stdout in >&3; test ! -e 'gone (deleted)'",
        "echo old > log; E -f -o /dev/stdout in >> log; test $(head -c3 log) = old && tail -c+5 log | D | grep -q hello",
        "E -o /dev/fd/7 in 7>new && D < new | grep -q hello",
        "exec 8<in; read -n1 c <&8; E /dev/fd/8 | D | grep -qx ello",
        "E /proc/self/fd/8 8<in | D /dev/stdin | grep -q hello",
        "ln -s /dev/stdout link; E -o link in | D | grep -q hello",
        "$TRESS keygen -o /dev/fd/9 9>key 2>/dev/null && $TRESS keygen --public /dev/fd/9 9<key | grep -q age1",
        "echo word | $TRESS encrypt --passphrase-fd 0 -o pass in && $TRESS decrypt --passphrase-fd 5 pass 5< <(echo word)",
        "E -o /dev/fd/77 in 2>&1 | grep -q 'error: /dev/fd/77: descriptor 77 is not open$'",
        "E -o box in; for c in inspect 'list -i me.key' 'keygen --public'; do cp box b; \
         $TRESS $c b 2>&1 >> b | grep -q 'standard output: the output is the input$' && cmp b box || exit 1; done",
        // A folder would hold its own container.
        "mkdir f; cp in f; E f 2>&1 > f/out | grep -q 'inside it$' && E -o /dev/fd/7 f 7> f/out 2>&1 | grep -q 'inside it$'",
        "E f > beside && D -o g beside && cmp f/in g/in",
        "E -o here in; $TRESS rewrap -i me.key -r $R /dev/fd/3 3<>here 2>&1 | grep -q 'only a regular file'",
        // Whoever reads the same file next finds its end.
        "{ E > one; E > two; } < in && D < one | grep -q hello && test $(D two | wc -c) = 0",
        // What the command opens itself is not open to its user.
        "! E -o /dev/fd/3 in 2>/dev/null && ! D /dev/fd/3 2>/dev/null",
        "E -o /dev/fd/8 in 8<in 2>&1 | grep -q 'descriptor 8 is not open for writing$'",
        "E /dev/fd/8 8>>in 2>&1 | grep -q 'descriptor 8 is not open for reading$'",
        "D -i /dev/fd/77 in 2>&1 | grep -q 'descriptor 77 is not open$'",
        "D --passphrase-fd 77 in 2>&1 | grep -q 'descriptor 77 is not open$'",
        "$TRESS encrypt --passphrase-fd 8 /dev/fd/8 8<in 2>&1 | grep -q 'descriptor 8 cannot provide both the data and the passphrase$'",
        // Another process has it open: the file of that name is not replaced.
        "echo old > log; exec 7>>log; ! E -f -o /proc/$$/fd/7 in 2>/dev/null && test $(cat log) = old",
        "mkdir -p d; printf '\\377\\376*\\0' > p; E --exclude-from p d 2>&1 | grep -q 'p: is UTF-16'",
        "mkdir -p d; printf '*\\0' > p; E --exclude-from p d 2>&1 | grep -q 'p: is no text'",
        // A limit for files is an error, and nothing is left.
        "mkdir x; head -c 200000 /dev/zero > big; (ulimit -f 64; E -o x/y big 2>&1) | grep -q large; test -z $(ls -A x)",
        "mkdir man; (ulimit -f 1; $TRESS man man 2>&1) | grep -q large; test -z $(ls -A man)",
    ] {
        let commands = "E() { $TRESS encrypt -r $R \"$@\"; }; D() { $TRESS decrypt -i me.key \"$@\"; };";
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("{commands} {script}")]).current_dir(folder.root());
        bash.env("TRESS", env!("CARGO_BIN_EXE_tress")).env("R", &folder.recipient);
        assert!(bash.status().unwrap().success(), "{script}");
    }
}

/// Sockets as standard input and output, which another process has made non-blocking. At first one is empty, and the other is full.
#[test]
fn streams_that_are_not_ready_are_waited_for() {
    let folder = Folder::new();
    folder.write("in", "x");
    folder.write("sealed", folder.sealed(b"x"));
    let (key, recipient) = (folder.read("me.key"), folder.recipient.as_bytes());
    let lines: [(&str, &[u8]); 11] = [
        ("ciphers", b""),
        ("--help", b""),
        ("encrypt --help", b""),
        ("man", b""),
        ("keygen", b""),
        ("inspect sealed", b""),
        ("keygen --public -", &key),
        ("decrypt -i - sealed", &key),
        ("decrypt -i /dev/stdin sealed", &key),
        ("encrypt -R - in", recipient),
        ("decrypt -i me.key", &folder.read("sealed")),
    ];
    let started = lines.map(|(line, input)| {
        let [(stdin, feed), (stdout, drain)] = [(); 2].map(|()| UnixStream::pair().unwrap());
        [&stdin, &stdout].iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
        while (&stdout).write(&[b'.'; 256]).is_ok() {}
        let mut command = folder.command(line.split(' '));
        let child = command.stdin(OwnedFd::from(stdin)).stdout(OwnedFd::from(stdout)).spawn().unwrap();
        (line, input, child, feed, drain)
    });
    for (line, input, child, mut feed, mut drain) in started {
        // Until it waits, or has ended because it did not.
        let stat = format!("/proc/{}/stat", child.id());
        let state = || fs::read_to_string(&stat).unwrap().rsplit(") ").next().and_then(|rest| rest.chars().next());
        while !matches!(state(), Some('S' | 'Z')) {
            thread::yield_now();
        }
        let _ = feed.write_all(input);
        drop(feed);
        drain.read_to_end(&mut Vec::new()).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn modes_follow_the_umask() {
    let folder = Folder::new();
    folder.write("in", "x");
    let tress = env!("CARGO_BIN_EXE_tress");
    for (umask, wanted) in [("022", 0o644), ("077", 0o600), ("000", 0o666)] {
        let script = format!("umask {umask} && '{tress}' encrypt -f -r {} -o out in", folder.recipient);
        let status = Command::new("sh").args(["-c", &script]).current_dir(folder.root()).status().unwrap();
        assert!(status.success());
        let mode = fs::metadata(folder.path("out")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, wanted, "umask {umask}");
        fs::remove_file(folder.path("out")).unwrap();
    }
}

#[test]
fn no_space_left() {
    let folder = Folder::new();
    folder.write("in", plaintext(3_000_000));
    folder.write("sealed", folder.sealed(&plaintext(3_000_000)));
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let encrypt = ["encrypt", "-r", &folder.recipient, "in"];
    run(folder.command(encrypt).stdout(full()), &[]).failed("no space left");
    run(folder.command(["decrypt", "-i", "me.key", "sealed"]).stdout(full()), &[]).failed("no space left");
    run(folder.command(["keygen"]).stdout(full()), &[]).failed("standard output");
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "/dev/full", "in"]).failed("/dev/full");
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

#[test]
fn a_disk_that_fills_up() {
    let folder = Folder::new();
    folder.write("in", plaintext(3_000_000));
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    if !mount(&disk, "size=1m") {
        return skip_without_right(SYS_ADMIN, "a disk that fills up, for want of the right to mount one");
    }
    let run = folder.tress(["encrypt", "-r", &folder.recipient, "-o", "disk/out", "in"]);
    let left = fs::read_dir(&disk).unwrap().count();
    let unmounted = Command::new("umount").arg("-l").arg(&disk).status().unwrap();
    assert!(unmounted.success());
    run.failed("disk/out");
    assert_eq!(left, 0);
}

/// A folder that is replaced loses nothing that is mounted in it, and is the same one where it is mounted a second time.
#[test]
fn mounts_stay() {
    let folder = Folder::new();
    let [bound, disk] = ["bound", "to/disk"].map(|name| folder.path(name));
    [&bound, &disk, &folder.path("in")].into_iter().for_each(|path| fs::create_dir_all(path).unwrap());
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "box", "in"]).ok();
    fs::copy(folder.path("box"), folder.path("to/box")).unwrap();
    let bind = [folder.path("to"), bound.clone()];
    let is_bound = Command::new("mount").arg("--bind").args(bind).stderr(Stdio::null()).status();
    if !is_bound.is_ok_and(|status| status.success()) {
        return skip_without_right(SYS_ADMIN, "folders with mounts, for want of the right to mount them");
    }
    let same = folder.tress(["decrypt", "-f", "-i", "me.key", "-o", "to", "bound/box"]);
    let is_mounted = mount(&disk, "mode=1777");
    let holds = folder.tress(["decrypt", "-f", "-i", "me.key", "-o", "to", "box"]);
    let status = fs::metadata(&disk);
    let unmounted = [&disk, &bound].map(|path| Command::new("umount").arg("-l").arg(path).status().unwrap().success());
    assert!(is_mounted && unmounted == [true; 2]);
    same.failed("to: output is the input");
    holds.failed("to/disk is a mount");
    assert_eq!(status.unwrap().permissions().mode() & 0o7777, 0o1777);
}

/// root can replace a device by a file, which would be a disaster. So the test makes its own device.
#[test]
fn devices_stay_devices() {
    let folder = Folder::new();
    folder.write("in", plaintext(50_000));
    let null = folder.path("null");
    let made = Command::new("mknod")
        .arg(&null)
        .args(["c", "1", "3"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    // On a file system mounted with `nodev`, the node can be made but not opened.
    if !made || fs::OpenOptions::new().write(true).open(&null).is_err() {
        return skip_without_right(MKNOD, "a device made by the test, without the right to make one");
    }
    for force in ["--threads=2", "--force"] {
        folder.tress(["encrypt", "-r", &folder.recipient, force, "-o", "null", "in"]).ok();
        assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
    }
    folder.write("sealed", folder.sealed(&plaintext(50_000)));
    folder.tress(["decrypt", "-i", "me.key", "--force", "-o", "null", "sealed"]).ok();
    assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let folder = Folder::new();
    let name = "evil\x1b[2J\nname";
    folder.write(name, "x");
    folder.tress(["decrypt", "-i", "me.key", name]).failed("evil");
    folder.tress(["decrypt", "-i", "me.key", "no\x1b[2J\nname"]).failed("name");
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "sealed", name]).ok();
    let text = folder.tress(["inspect", "-i", "me.key", "sealed"]).ok().stdout;
    let text = String::from_utf8(text).unwrap();
    // Such a name is not stored at all.
    assert!(!text.contains("name ") && !text.contains('\x1b'), "{text}");
}

/// The library's tests have all bounds (`tests/pipeline.rs`).
#[test]
fn ranges() {
    let folder = Folder::new();
    let plain = plaintext(5 * CHUNK_BYTES + 77);
    folder.write("sealed", folder.sealed(&plain));
    let range = |range: &str| folder.tress(["decrypt", "-i", "me.key", "--range", range, "sealed"]);
    for (text, from, to) in [("16KiB:32KiB", 16384, 32768), ("80KiB:", 81920, plain.len()), (":5", 0, 5)] {
        assert!(range(text).ok().stdout == plain[from..to], "{text}");
    }
    for text in ["0:81998", "1TiB:2TiB"] {
        assert!(range(text).failed("sealed: range").stdout.is_empty(), "{text}");
    }
    folder.tress(["decrypt", "-i", "me.key", "--range", "5:9", "-o", "piece", "sealed"]).ok();
    assert_eq!(folder.read("piece"), plain[5..9]);
}
