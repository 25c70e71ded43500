//! Folders: round trips, and what is said about entries that are left out. The library's tests have hostile archives.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::common::{Folder, names, plaintext, run};
use tress_container::format::{Header, LAYOUT};

const SEALED_CHUNK_BYTES: usize = LAYOUT.sealed_chunk_bytes();

#[test]
fn round_trips() {
    let folder = Folder::new();
    let root = folder.path("photos");
    fs::create_dir_all(root.join("empty/deep")).unwrap();
    fs::write(root.join("a"), plaintext(40_000)).unwrap();

    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "photos.tress", "photos"]).ok();
    folder.tress(["decrypt", "-i", "me.key", "-o", "again", "photos.tress"]).ok();
    let again = folder.path("again");
    assert_eq!(fs::read(again.join("a")).unwrap(), plaintext(40_000));
    assert!(again.join("empty/deep").is_dir());

    let json = folder.tress(["inspect", "--json", "-i", "me.key", "photos.tress"]).json();
    assert_eq!((&json["content_type"], &json["name"]), (&"tree".into(), &"photos".into()));

    // Standard output gets the tar stream: 512-byte headers with the magic of POSIX.1-1988 at offset 257, and zeros at the end.
    let stream = folder.tress(["decrypt", "-i", "me.key", "photos.tress"]).ok().stdout;
    assert!(stream.len().is_multiple_of(512) && stream.len() > 40_000);
    assert_eq!((&stream[257..262], stream.last()), (b"ustar".as_slice(), Some(&0)));
    let run = folder.tress(["decrypt", "-i", "me.key", "--range", "0:10", "photos.tress"]);
    run.wrong_use("photos.tress: ");

    // An existing folder is not changed.
    folder.tress(["decrypt", "-i", "me.key", "-o", "again", "photos.tress"]).failed("again");
    assert_eq!(fs::read(again.join("a")).unwrap(), plaintext(40_000));
}

/// README's promises, for a folder: a machine with public keys only encrypts it, one file is verified and read although another is
/// damaged, and `rewrap` leaves the data alone. Transfers of its container resume like those of every file.
#[test]
fn the_promises_of_the_readme_hold_for_folders() {
    let folder = Folder::new();
    let other = folder.public("other.key", 0);
    fs::create_dir_all(folder.path("shop/logs")).unwrap();
    for (name, bytes) in [("a.conf", 5000), ("logs/damaged", 100_000), ("z.conf", 70_000)] {
        fs::write(folder.path("shop").join(name), plaintext(bytes)).unwrap();
    }
    folder.write("backup.txt", format!("{}\n", folder.recipient));
    folder.tress(["encrypt", "-R", "backup.txt", "-o", "shop.tress", "shop"]).ok();
    folder.tress(["list", "-i", "other.key", "shop.tress"]).failed("no identity matches");

    let sealed = fs::read(folder.path("shop.tress")).unwrap();
    let payload_at = |bytes: &[u8]| Header::length(bytes).unwrap();
    let mut damaged = sealed.clone();
    damaged[payload_at(&sealed) + 3 * SEALED_CHUNK_BYTES] ^= 1;
    folder.write("damaged.tress", damaged);
    let read = |container: &str, more: &[&str], path: &str| {
        folder.tress([&["decrypt", "-i", "me.key"], more, &[container, path]].concat())
    };
    for name in ["a.conf", "z.conf"] {
        let whole = fs::read(folder.path("shop").join(name)).unwrap();
        assert_eq!(read("damaged.tress", &[], name).ok().stdout, whole);
        assert_eq!(read("damaged.tress", &["--range", "100:200"], name).ok().stdout, whole[100..200]);
    }
    read("damaged.tress", &[], "logs/damaged").failed("damaged");
    read("damaged.tress", &[], "a.conf/").failed("a.conf");
    // The stream before the damage comes out.
    let stream = read("shop.tress", &[], "./").ok().stdout;
    let run = folder.tress(["decrypt", "-i", "me.key", "damaged.tress"]);
    assert!(run.stdout.len() >= SEALED_CHUNK_BYTES && stream.starts_with(&run.stdout));
    run.failed("damaged");

    folder.tress(["rewrap", "-i", "me.key", "-r", &other, "shop.tress"]).ok();
    let now = fs::read(folder.path("shop.tress")).unwrap();
    assert!(now[payload_at(&now)..] == sealed[payload_at(&sealed)..]);
    read("shop.tress", &[], "a.conf").failed("no identity matches");
    let names = folder.tress(["list", "-i", "other.key", "shop.tress"]).ok().stdout;
    assert_eq!(String::from_utf8(names).unwrap(), ".\na.conf\nlogs\nlogs/damaged\nz.conf\n");
}

/// The system refuses descriptors while a deep tree is unpacked: its part that is there is removed.
#[test]
fn without_descriptors_nothing_is_left() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("deep").join("d/".repeat(60))).unwrap();
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "deep.tress", "deep"]).ok();
    let before = folder.names();
    let mut refused = 0;
    for limit in [12, 16, 24, 40, 64] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n $0 && exec \"$@\"", &limit.to_string(), crate::PROGRAM]);
        command.args(["decrypt", "-i", "me.key", "-o", "again", "deep.tress"]).current_dir(folder.root());
        if command.output().unwrap().status.success() {
            fs::remove_dir_all(folder.path("again")).unwrap();
        } else {
            refused += 1;
        }
        assert_eq!(folder.names(), before, "{limit}");
    }
    assert!(refused >= 1);
}

/// What the statuses and the lines say, for each way to treat entries that are not in the tree.
#[test]
fn entries_that_are_left_out_are_counted() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("in/socket")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("in/fifo")).status().unwrap().success());
    fs::write(folder.path("in/a"), "x").unwrap();
    fs::write(folder.path("in/b.tmp"), "x").unwrap();
    symlink("/etc/passwd", folder.path("in/out")).unwrap();
    let before = folder.names();
    let encrypt = |options: &[&str]| {
        let arguments = ["encrypt", "-r", &folder.recipient, "-f", "-o", "box"];
        folder.tress(arguments.iter().chain(options).chain(&["in"]))
    };
    encrypt(&["--strict"]).failed("in/fifo");
    assert_eq!(folder.names(), before);
    for (options, status, lines, said) in [
        (&[][..], 3, 4, "done, but 2 of 6 files are not in it or changed while they were read"),
        (&["--quiet"], 3, 2, "done, but 2 of 6 files are not in it or changed while they were read"),
        (&["--skip-special", "--exclude=*.tmp"], 0, 3, "skipped in all: 2"),
        (&["--special"], 3, 3, "done, but 1 of 6 files are not in it or changed while they were read"),
        (&["--exclude=/socket", "--exclude=f[ij]fo"], 0, 0, ""),
        (&["--exclude=**"], 0, 0, ""),
    ] {
        let run = encrypt(options);
        assert_eq!(run.status.code(), Some(status), "{options:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), lines, "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{options:?}: {}", run.stderr);
    }
    encrypt(&["--special"]);
    let run = folder.tress(["decrypt", "-i", "me.key", "-o", "out", "box"]);
    assert_eq!(run.status.code(), Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("folder (1, the first is out)") && run.stderr.contains("(1, the first is fifo)"));
    assert_eq!(names(&folder.path("out")), ["a", "b.tmp"]);
    folder.tress(["decrypt", "-i", "me.key", "--preserve", "-o", "all", "box"]).ok();
    assert_eq!(names(&folder.path("all")), ["a", "b.tmp", "fifo", "out"]);
}

/// Only root can set owners. What `--preserve` cannot make is left out, named, and the status.
#[test]
fn owners_that_a_user_cannot_set() {
    let folder = Folder::new();
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "box", "/etc/passwd", "/etc/group"]).ok();
    for (options, status) in [(&["-o", "plain"][..], 0), (&["--preserve", "-o", "kept"], 3)] {
        let mut command = folder.command(["decrypt", "-i", "me.key"].iter().chain(options).chain(&["box"]));
        if rustix::process::geteuid().is_root() {
            for name in ["", "me.key", "box"] {
                chown(folder.path(name), Some(65534), Some(65534)).unwrap();
            }
            command.uid(65534).gid(65534);
        }
        let run = run(&mut command, &[]);
        assert_eq!(run.status.code(), Some(status), "{}", run.stderr);
        assert!(run.stderr.contains("left out: owners (2, the first is group)"), "{}", run.stderr);
        assert_eq!(run.stderr.contains("done, but left out: 2"), status == 3, "{}", run.stderr);
    }
}
