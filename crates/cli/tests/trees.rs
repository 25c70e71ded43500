//! Folders: round trips, and what is said about entries that are left out. The library's tests have hostile archives.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::common::{Folder, names, plaintext, run, runs_as_nobody};
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

    folder.write("cut.tress", &sealed[..payload_at(&sealed) + 3 * SEALED_CHUNK_BYTES]);
    let run = folder.tress(["decrypt", "-i", "me.key", "--salvage", "-o", "left", "cut.tress"]);
    assert!(run.status.code() == Some(3) && run.stderr.contains("missing: 1"), "{}", run.stderr);

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
        (&[][..], 3, 4, "done, but 2 of 6 files are not in it, changed while they were read or lack attributes"),
        (&["--quiet"], 3, 2, "done, but 2 of 6 files are not in it, changed while they were read or lack attributes"),
        (&["--skip-special", "--exclude=*.tmp"], 0, 3, "skipped in all: 2"),
        (&["--special"], 3, 3, "done, but 1 of 6 files are not in it, changed while they were read or lack attributes"),
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
        let is_root = rustix::process::geteuid().is_root();
        if is_root && !runs_as_nobody(&mut command, &folder, &["", "me.key", "box"]) {
            return;
        }
        let run = run(&mut command, &[]);
        assert_eq!(run.status.code(), Some(status), "{}", run.stderr);
        assert!(run.stderr.contains("left out: owners (2, the first is group)"), "{}", run.stderr);
        assert_eq!(run.stderr.contains("done, but left out: 2"), status == 3, "{}", run.stderr);
    }
}

/// `link/` and `link/.` are the folder, which several inputs cannot store under this name. The link itself can be stored.
#[test]
fn a_link_to_a_folder_among_several_inputs() {
    let folder = Folder::new();
    fs::create_dir(folder.path("real")).unwrap();
    symlink("real", folder.path("link")).unwrap();
    let before = folder.names();
    for (input, is_stored) in [("link", true), ("real/", true), ("real/.", true), ("link/", false), ("link/.", false)] {
        let run = folder.tress(["encrypt", "-r", &folder.recipient, "-o", "box", input, "me.key"]);
        if is_stored {
            run.ok();
            fs::remove_file(folder.path("box")).unwrap();
        } else {
            run.wrong_use(&format!("{input}: "));
        }
        assert_eq!(folder.names(), before, "{input}");
    }
}

/// Paths to give out: with the status, and the text of the output or of the error.
#[test]
fn paths_that_name_one_entry_or_everything() {
    let folder = Folder::new();
    fs::create_dir(folder.path("top")).unwrap();
    fs::write(folder.path("top/file"), "text").unwrap();
    symlink("file", folder.path("top/link")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("top/fifo")).status().unwrap().success());
    folder.tress(["encrypt", "-r", &folder.recipient, "--special", "-o", "one", "top"]).ok();
    folder.tress(["encrypt", "-r", &folder.recipient, "--special", "-o", "two", "top", "me.key"]).ok();
    for (arguments, status, text) in [
        (&["one", "file"][..], 0, "text"),
        (&["one", "./file"], 0, "text"),
        (&["--preserve", "one", "file"], 0, "text"),
        (&["--preserve", "-o", "new", "one", "file"], 2, "file: "),
        (&["one", "link"], 2, "it is a link to file"),
        (&["two", "./top/link"], 2, "it is a link to file"),
        (&["one", "fifo"], 2, "it is a FIFO"),
        (&["two", "./gone"], 1, "./gone: no such file or directory\nhint: "),
        (&["one", "l*"], 0, "ustar"),
        (&["one", "."], 0, "ustar"),
        (&["two", "."], 0, "me.key"),
        (&["two", "./"], 0, "me.key"),
        (&["-o", "all", "--preserve", "two", "."], 0, ""),
        (&["-o", "links", "one", "link"], 0, ""),
    ] {
        let run = folder.tress([&["decrypt", "-i", "me.key"], arguments].concat());
        assert_eq!(run.status.code(), Some(status), "{arguments:?}: {}", run.stderr);
        let found = if status == 0 { String::from_utf8_lossy(&run.stdout).into_owned() } else { run.stderr };
        assert!(found.contains(text), "{arguments:?}: {found}");
    }
    assert_eq!(names(&folder.path("all")), ["me.key", "top"]);
    assert_eq!(names(&folder.path("all/top")), ["fifo", "file", "link"]);
    assert_eq!(names(&folder.path("links")), ["link"]);
    assert!(!folder.exists("new"));
}

/// Lines about entries identify them: all bytes of a name, and all of a path that is lost.
#[cfg(target_os = "linux")]
#[test]
fn entries_are_named_exactly() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    let long = "n".repeat(200);
    fs::create_dir_all(folder.path(&format!("top/{long}"))).unwrap();
    fs::write(folder.path(&format!("top/{long}/one")), plaintext(100_000)).unwrap();
    symlink("/etc", folder.path("top").join(std::ffi::OsStr::from_bytes(b"out\xff"))).unwrap();
    folder.tress(["encrypt", "-r", &folder.recipient, "-o", "box", "top"]).ok();
    let run = folder.tress(["decrypt", "-i", "me.key", "-o", "new", "box"]);
    assert!(run.stderr.contains("the first is out\\xff)"), "{}", run.stderr);
    let mut sealed = folder.read("box");
    let payload = Header::length(&sealed).unwrap();
    sealed[payload + 3 * SEALED_CHUNK_BYTES] ^= 1;
    folder.write("box", sealed);
    let run = folder.tress(["decrypt", "-i", "me.key", "--salvage", "-o", "whole", "box"]);
    assert!(run.stderr.contains(&format!("damaged, not given out: {long}/one\n")), "{}", run.stderr);
}

/// As in rescue systems and some services. Attributes of folders need another way there.
#[cfg(target_os = "linux")]
#[test]
fn folders_without_proc() {
    use crate::common::{SYS_ADMIN, skip_without_right};
    use tress_container::sys::{Attributed, Os, System as _};
    let folder = Folder::new();
    fs::create_dir_all(folder.path("top/inner")).unwrap();
    fs::write(folder.path("top/inner/file"), "text").unwrap();
    symlink("file", folder.path("top/inner/link")).unwrap();
    // Not every file system has attributes.
    let has_attributes = ["top/inner", "top/inner/file"].into_iter().all(|path| {
        let file = fs::File::open(folder.path(path)).unwrap();
        Os.set_attribute(Attributed::File(&file), "user.a".as_ref(), b"1").is_ok()
    });
    let without_proc = |command: &str| {
        let hidden = format!("mount -t tmpfs none /proc && exec {command}");
        let mut unshare = Command::new("unshare");
        unshare.args(["-m", "sh", "-c", &hidden]).current_dir(folder.root());
        unshare.env("TRESS", crate::PROGRAM).env("R", &folder.recipient).output().unwrap()
    };
    if !without_proc("test ! -e /proc/self").status.success() {
        return skip_without_right(SYS_ADMIN, "/proc cannot be hidden");
    }
    for command in
        ["encrypt -r $R -o box top", "decrypt -i me.key -o plain box", "decrypt -i me.key --preserve -o same box"]
    {
        let run = without_proc(&format!("$TRESS {command}"));
        assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    }
    for path in ["plain/inner", "plain/inner/file", "same/inner", "same/inner/file"] {
        let found = Os.attributes(Attributed::File(&fs::File::open(folder.path(path)).unwrap())).unwrap();
        assert!(!has_attributes || found.contains(&("user.a".into(), b"1".to_vec())), "{path}: {found:?}");
    }
}
