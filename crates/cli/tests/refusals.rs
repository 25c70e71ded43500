//! Command lines that are refused (`refusals.txt`): by exit status 1 if something failed, 2 if the line is wrong. They print one line of
//! error and perhaps a hint, write nothing to standard output, and leave the folder as it was.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use crate::common::{Folder, run};

/// A folder with the files that the lines name.
fn folder() -> Folder {
    let folder = Folder::new();
    let own = String::from_utf8(folder.read("me.key")).unwrap();
    for (name, text) in [
        ("in", "x"),
        ("empty", "\n"),
        ("pass", "a\n"),
        ("text", "not a key\n"),
        ("nobody", "# nobody\n"),
        ("bad", "age1nonsense\n"),
        ("strange", "age1xyz\n"),
        ("k16", &"k".repeat(16)),
        ("k32", &"k".repeat(32)),
        ("age.key", own.lines().last().unwrap()),
    ] {
        folder.write(name, text);
    }
    folder.write("bytes", [0xff; 100]);
    folder.write("sealed", folder.sealed(b"x"));
    std::fs::create_dir(folder.path("folder")).unwrap();
    std::fs::copy(folder.path("me.key"), folder.path("folder/k")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("dangling")).unwrap();
    std::os::unix::fs::symlink("dsa.pem", folder.path("text.sig")).unwrap();
    for (kind, option) in [("rsa", "--rsa=2048"), ("dsa", "--dsa=2048"), ("schnorr", "--schnorr=2048")] {
        let file = format!("{kind}.pem");
        folder.tress(["keygen", option, "-o", &file]).ok();
        folder.write(&format!("{kind}.pub"), folder.tress(["keygen", "--public", &file]).ok().stdout);
    }
    folder.tress(["sign", "--key", "dsa.pem", "in"]).ok();
    folder
}

#[test]
fn lines_of_every_command() {
    let folder = folder();
    let before = folder.names();
    let names = [
        ("$RECIPIENT", folder.recipient.clone()),
        ("$ADDRESS", folder.public("other.key", 1)),
        ("$KEY", "2b7e151628aed2a6abf7158809cf4f3c".into()),
        ("''", String::new()),
    ];
    for line in include_str!("refusals.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [status, texts, arguments] = line.splitn(3, '|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let arguments = arguments
            .split(' ')
            .map(|word| names.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value)));
        let mut command = folder.command(arguments);
        let found = run(command.env("XDG_CACHE_HOME", folder.path("cache")).stdin(Stdio::piped()), b"x");
        assert_eq!(found.status.code(), status.parse().ok(), "{line}: {}", found.stderr);
        let mut texts = texts.split(", ");
        found.one_line(texts.next().unwrap_or_default());
        assert!(texts.all(|text| found.stderr.contains(text)), "{line}: {}", found.stderr);
        assert!(found.stdout.is_empty() && folder.names() == before, "{line}: {:?}", folder.names());
    }
    // The signature still verifies under its key.
    folder.tress(["verify", "--key", "dsa.pub", "in"]).ok();
}

#[test]
fn arguments_that_are_not_utf_8() {
    let folder = Folder::empty();
    folder.tress([OsStr::from_bytes(b"\xff")]).wrong_use("unknown command");
    let line = [b"encrypt".as_slice(), b"caf\xe9.txt", b"--recipent", b"x"].map(OsStr::from_bytes);
    let run = folder.tress(line).wrong_use("--recipent");
    assert!(run.stderr.contains("'--recipient'"), "{}", run.stderr);
}
