//! Files and outputs of an earlier build (fixtures/README.md). This build must read the files and write the same shapes.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::kept::{OUTPUTS, RECORD, files, fixtures, folder_of_fixtures, kept, lost, outputs, same_shapes};
use crate::common::{CHUNK_BYTES, Folder, Run, listening};

/// A kind of recipient, the recipients that `inspect` lists for its two containers, and the options that open them. No key
/// opens the last kind, which has no tree.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("x25519", &["X25519"], &["-i", "keys/me.key"]),
    ("ssh-ed25519", &["ssh-ed25519"], &["-i", "keys/ssh_ed25519"]),
    ("ssh-rsa", &["ssh-rsa"], &["-i", "keys/ssh_rsa"]),
    ("scrypt", &["scrypt"], &["--passphrase-file", "keys/passphrase"]),
    ("raw-16", &["tress-raw-key"], &["--key-file", "keys/raw-16"]),
    ("raw-32", &["tress-raw-key"], &["--key-file", "keys/raw-32"]),
    ("plugin", &["fixture"], &["-i", "keys/plugin.key"]),
    ("tag", &["X25519", "p256tag"], &["-i", "keys/me.key"]),
    ("tagpq", &["mlkem768p256tag"], &[]),
];

/// Content of every tree: path, mode, content or link target. All entries have the time [`TREE_TIME_S`].
const TREE: &[(&str, u32, &str)] = &[
    ("", 0o40755, ""),
    ("a.txt", 0o100_640, "four lanes make a street\n"),
    ("empty", 0o40755, ""),
    ("in", 0o40755, ""),
    ("in/naïve name", 0o100_644, ""),
    ("in/run.sh", 0o100_755, "#!/bin/sh\n"),
    ("link", 0o120_777, "in/run.sh"),
];
const TREE_TIME_S: i64 = 1_000_000_000;

/// A container of more than one chunk.
const CHUNKS: &str = "containers/chunks.tress";
const CHUNKS_PLAIN_BYTES: usize = 40_000;

/// A scheme, its private keys and its public keys. The first key of each list has the form that `keygen` writes.
const SCHEMES: &[(&str, &[&str], &[&str])] = &[
    ("rsa-pss-sha256", &["rsa.pem", "rsa-encrypted.pem", "rsa-pkcs1.pem", "rsa.der"], RSA_PUBLIC),
    ("rsa-pkcs1-sha256", &["rsa.pem"], RSA_PUBLIC),
    ("dsa-sha256", &["dsa.pem"], &["dsa.pub"]),
    ("schnorr-sha256", &["schnorr.pem"], &["schnorr.pub"]),
];
const RSA_PUBLIC: &[&str] = &["rsa.pub", "rsa-pkcs1.pub", "rsa-der.pub"];

const RECIPIENTS: &[&str] = &["keys/recipients.txt", "keys/tag.txt", "keys/tagpq.txt"];
const PLUGIN: &str = "keys/age-plugin-fixture";
const ALLOW: &str = "keys/allow.txt";
const RECEIVER: &str = "keys/other.key";
/// Files of an interrupted transfer.
const JOURNAL: &str = "transfer/0b6a6ef6e5aadff4c1f9277fd87e5c38/.tress/72775a5aca93647290b2baa103ec1cdf.journal";
const PART: &str = "transfer/0b6a6ef6e5aadff4c1f9277fd87e5c38/.tress/72775a5aca93647290b2baa103ec1cdf.part";
const TRANSFER_BYTES: usize = 98_309;
const KEPT_CHUNKS: usize = 2;
/// Fixtures that `python/dataset/tests/test_formats.py` tests.
const DATASET: [&str; 2] = ["dataset.json", "dataset/"];
const ABOUT: [&str; 2] = ["README.md", "make.py"];

fn plain() -> Vec<u8> {
    b"four lanes make a street\n".repeat(16)
}

/// Numbered lines of 16 bytes.
fn numbers(bytes: usize) -> Vec<u8> {
    let lines: String = (0..=bytes / 16).map(|line| format!("{line:015}\n")).collect();
    lines.into_bytes()[..bytes].to_vec()
}

/// Runs the command on a fixture. The message of a failure names the fixture.
fn tress(folder: &Folder, fixture: &str, arguments: &[&[&str]], stdin: &[u8]) -> Run {
    let mut command = folder.command(arguments.concat());
    command.env("PATH", format!("{}:{}", folder.path("keys").display(), std::env::var("PATH").unwrap()));
    let run = crate::common::run(command.stdin(std::process::Stdio::piped()), stdin);
    assert!(run.status.success(), "{fixture}: {}", run.stderr);
    run
}

fn inspect(folder: &Folder, file: &str, more: &[&str]) -> Value {
    let run = tress(folder, file, &[&["inspect", "--json", file], more], b"");
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_fixture_has_a_test() {
    let mut named: BTreeSet<String> = [PLUGIN, ALLOW, RECEIVER, RECORD, OUTPUTS, JOURNAL, PART, CHUNKS]
        .iter()
        .chain(RECIPIENTS)
        .chain(&ABOUT)
        .map(|name| name.to_string())
        .collect();
    for (kind, _, options) in KINDS {
        named.extend(options.iter().map(|name| name.to_string()));
        named.extend([format!("containers/{kind}.tress"), format!("containers/{kind}-tree.tress")]);
    }
    for (scheme, private, public) in SCHEMES {
        named.insert(format!("signatures/{scheme}.sig"));
        named.extend(private.iter().chain(*public).map(|key| format!("signatures/{key}")));
    }
    for line in outputs() {
        named.extend(line["arguments"].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_string()));
    }
    let forgotten: Vec<String> = files(&folder_of_fixtures())
        .into_iter()
        .filter(|file| !named.contains(file) && !DATASET.iter().any(|start| file.starts_with(start)))
        .collect();
    assert!(forgotten.is_empty(), "no test opens these fixtures: {forgotten:?}");
}

#[test]
fn containers_of_every_kind_of_recipient() {
    let folder = fixtures();
    for (kind, recipients, options) in KINDS {
        let (file, tree) = (format!("containers/{kind}.tress"), format!("containers/{kind}-tree.tress"));
        let found = inspect(&folder, &file, &[]);
        assert_eq!((&found["recipients"], &found["plaintext_bytes"]), (&json!(recipients), &json!(400)), "{file}");
        if options.is_empty() {
            continue;
        }
        let opened = tress(&folder, &file, &[&["decrypt", &file], options], b"").stdout;
        assert!(opened == plain(), "{file}: other plaintext");
        tress(&folder, &tree, &[&["decrypt", "-o", kind, &tree], options], b"");
        for (path, mode, content) in TREE {
            let at = folder.path(kind).join(path);
            let status = at.symlink_metadata().unwrap_or_else(|error| panic!("{tree}: {path}: {error}"));
            assert_eq!((status.mode(), status.mtime()), (*mode, TREE_TIME_S), "{tree}: {path}");
            match status.file_type() {
                found if found.is_symlink() => assert_eq!(fs::read_link(at).unwrap(), Path::new(content), "{tree}"),
                found if found.is_dir() => (),
                _ => assert!(fs::read_to_string(at).unwrap().starts_with(content), "{tree}: {path}"),
            }
        }
        assert_eq!(files(&folder.path(kind)).len(), 4, "{tree}");
    }
    let found = inspect(&folder, "containers/x25519-tree.tress", &["-i", "keys/me.key"]);
    assert_eq!((&found["content_type"], &found["name"]), (&json!("tree"), &json!("tree")));
    let found = inspect(&folder, "containers/x25519.tress", &["-i", "keys/me.key"]);
    assert_eq!((&found["content_type"], &found["name"]), (&json!("file"), &json!("message")));
}

#[test]
fn a_container_of_several_chunks() {
    let folder = fixtures();
    let (found, whole) = (inspect(&folder, CHUNKS, &[]), numbers(CHUNKS_PLAIN_BYTES));
    assert_eq!((&found["aead"], &found["chunks"]), (&json!("aes-256-ccm"), &json!(3)), "{CHUNKS}");
    let decrypt = |options: &[&str]| tress(&folder, CHUNKS, &[&["decrypt", CHUNKS], options], b"").stdout;
    assert!(decrypt(&["-i", "keys/me.key"]) == whole, "{CHUNKS}");
    assert!(decrypt(&["-i", "keys/me.key", "--range", "16000:33000"]) == whole[16_000..33_000], "{CHUNKS}");
    tress(&folder, CHUNKS, &[&["rewrap", "-i", "keys/me.key", "-R", RECIPIENTS[0], CHUNKS]], b"");
    assert!(decrypt(&["-i", "keys/ssh_rsa"]) == whole, "{CHUNKS}");
}

#[test]
fn identities_and_recipients() {
    let folder = fixtures();
    for file in RECIPIENTS {
        folder.write("sealed", tress(&folder, file, &[&["encrypt", "-R", file]], &plain()).stdout);
        if file == &RECIPIENTS[0] {
            for key in ["keys/me.key", "keys/ssh_ed25519", "keys/ssh_rsa"] {
                let opened = tress(&folder, key, &[&["decrypt", "-i", key, "sealed"]], b"").stdout;
                assert!(opened == plain(), "{file}: {key}");
            }
        }
    }
    // The file has the recipient and the address.
    let public = tress(&folder, "keys/me.key", &[&["keygen", "--public", "keys/me.key"]], b"").stdout;
    let public = String::from_utf8(public).unwrap();
    assert!(String::from_utf8(folder.read(RECIPIENTS[0])).unwrap().contains(&public), "keys/me.key: {public}");
}

#[test]
fn signatures_and_their_keys() {
    let folder = fixtures();
    let in_folder = |name: &str| format!("signatures/{name}");
    for (scheme, private, public) in SCHEMES {
        let verify = |key: &str, signature: &str| {
            let arguments = ["verify", "--key", key, "--scheme", scheme, "--signature", signature, "-"];
            tress(&folder, &format!("{signature} by {key}"), &[&arguments], &plain());
        };
        public.iter().for_each(|key| verify(&in_folder(key), &in_folder(&format!("{scheme}.sig"))));
        for key in private.iter().map(|key| in_folder(key)) {
            let passphrase: &[&str] =
                if key.contains("encrypted") { &["--passphrase-file", "keys/passphrase"] } else { &[] };
            let sign = ["sign", "--key", &key, "--scheme", scheme, "-"];
            folder.write("new.sig", tress(&folder, &key, &[&sign, passphrase], &plain()).stdout);
            verify(&in_folder(public[0]), "new.sig");
        }
    }
}

#[test]
fn json_of_every_command() {
    same_shapes(&fixtures(), |word| !["bench", "simulate", "study"].contains(&word));
}

/// Sends the input of the interrupted transfer to a receiver that has its incomplete file.
fn send(folder: &Folder, more: &[&str]) -> Run {
    let listen = ["receive", "--listen", "127.0.0.1:0", "-i", RECEIVER, "--allow", ALLOW, "-o", "transfer"];
    let mut receiver = folder.command(listen).spawn().unwrap();
    let (to, _) = listening(&mut receiver);
    let to = ["send", "--to", &to, "-r", &folder.public(RECEIVER, 1)];
    let run = folder.tress([&to[..], &["-i", "keys/me.key"], more, &["numbers.txt"]].concat());
    receiver.kill().unwrap();
    receiver.wait().unwrap();
    run
}

#[test]
fn half_a_transfer_is_resumed() {
    let folder = fixtures();
    folder.write("numbers.txt", numbers(TRANSFER_BYTES));
    // The fixture is of a file with another inode and other times, so it is another version.
    let refused = send(&folder, &[]);
    assert!(refused.stderr.contains("--restart"), "{JOURNAL}: was not read: {}", refused.stderr);
    // Write the same records for the version in this folder. A sender that computes versions differently would not resume.
    let status = fs::metadata(folder.path("numbers.txt")).unwrap();
    let nanoseconds = |s: i64, ns: i64| (i128::from(s) * 1_000_000_000 + i128::from(ns)).to_be_bytes();
    let version = Sha256::new()
        .chain_update(b"tress/v1 input\n")
        .chain_update(status.size().to_be_bytes())
        .chain_update(nanoseconds(status.mtime(), status.mtime_nsec()))
        .chain_update(nanoseconds(status.ctime(), status.ctime_nsec()))
        .chain_update(status.ino().to_be_bytes())
        .finalize();
    let mut journal = folder.read(JOURNAL);
    assert!(journal.starts_with(b"tress journal 2\n") && journal.len() == 64 + 24, "{JOURNAL}");
    journal[16..48].copy_from_slice(&version);
    for (start, end) in [(0, 64), (64, 64 + 24)] {
        let check = Sha256::new().chain_update(version).chain_update(&journal[start..end - 8]).finalize();
        journal[end - 8..end].copy_from_slice(&check[..8]);
    }
    folder.write(JOURNAL, journal);
    let sent = send(&folder, &["--json", "--trace", "trace.json"]);
    let report = sent.json();
    assert_eq!(report["bytes_sent"], json!(TRANSFER_BYTES - KEPT_CHUNKS * CHUNK_BYTES), "{JOURNAL}: begun anew");
    let received = Path::new(JOURNAL).ancestors().nth(2).unwrap().join("numbers.txt");
    assert!(folder.read(received.to_str().unwrap()) == numbers(TRANSFER_BYTES), "{PART}: other bytes");
    assert!(!folder.exists(JOURNAL) && !folder.exists(PART), "{PART}: is still there");
    assert_eq!(lost(&kept("send"), &report, "send"), None, "{OUTPUTS}");
    let trace: Value = serde_json::from_slice(&folder.read("trace.json")).unwrap();
    assert_eq!(lost(&kept("send trace"), &trace, "send trace"), None, "{OUTPUTS}");
}
