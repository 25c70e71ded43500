//! Copies of keys in programs that use the libraries and have no wiping allocator. This test program starts itself as one.

use std::path::Path;
use std::process::Command;
use std::{env, fs, hint};

use tress_container::commands::{self, Control, DecryptOptions, EncryptOptions, Sink, Source};
use tress_container::keys::{KeyPair, key_file};
use tress_sign::{KeyFile, Scheme, SigningKey};
use zeroize::Zeroizing;

use super::scan::Secrets;
use super::{StoppedProcess, keys};
use crate::common::{Folder, plaintext};

const ROLE: &str = "TRESS_TEST_ROLE";

/// Starts this program again in the folder, where it runs a role and stops.
fn itself(folder: &Folder, role: &str) -> StoppedProcess {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "memory::library::role", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .current_dir(folder.root());
    StoppedProcess::start(&mut command, b"")
}

#[test]
#[ignore = "started by the other tests"]
fn role() {
    let Ok(role) = env::var(ROLE) else { return };
    match role.as_str() {
        "keep" => keep(),
        "raw key" => raw_key(),
        "sign" => sign(),
        "pair" => pair(),
        _ => panic!("{role}"),
    }
    stop();
}

/// Overwrites the stack below this frame. Libraries cannot do that for their callers.
#[inline(never)]
fn stop() {
    let mut below = [0_u8; 512 * 1024];
    hint::black_box(&mut below);
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
}

/// Reads a file into a buffer that does not grow.
fn read(name: &str) -> Zeroizing<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Zeroizing::new(Vec::with_capacity(fs::metadata(name).unwrap().len() as usize + 1));
    fs::File::open(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Leaves a secret on the heap, like a program that does not wipe. The roles are not inlined, so that their stack frames are below
/// that of the caller.
#[inline(never)]
fn keep() {
    drop(hint::black_box(fs::read_to_string("text").unwrap()));
}

#[inline(never)]
fn raw_key() {
    let key = key_file(&read("raw")).unwrap();
    let sink = |path: &str| Sink::Path { path: path.into(), force: false };
    let source = |path: &str| Source::Path(path.into());
    let control = Control::new();
    commands::encrypt(&source("in"), &sink("c"), &key.clone().into(), &EncryptOptions::default(), &control).unwrap();
    commands::decrypt(&source("c"), &sink("out"), &key.into(), &DecryptOptions::default(), &control).unwrap();
}

#[inline(never)]
fn sign() {
    let key = KeyFile::read(&read("k.pem")).unwrap().into_private(None).unwrap();
    let scheme = Scheme::of(&key.public_key());
    let key = SigningKey::new(key, scheme).unwrap();
    assert!(key.sign_digests(&[[7; 32]; 20]).iter().all(Result::is_ok));
}

#[inline(never)]
fn pair() {
    let text = read("me.key");
    let pair = KeyPair::parse(std::str::from_utf8(&text).unwrap()).unwrap();
    assert!(pair.address().is_some() && pair.noise_secret_key().is_some());
}

#[test]
fn what_is_left_is_found() {
    let folder = Folder::new();
    // An allocator overwrites the beginning of a freed block.
    let text = "k6Hq0WvNsLx3YbTz8RcEpJ2fUd5GmAoK9iXwVtQ4rSnBhZyC7lEuDgMj1PaF";
    folder.write("text", text);
    assert!(!Secrets::of("text", text.as_bytes()).find(itself(&folder, "keep").0.id()).is_empty());
}

#[test]
fn containers_of_a_raw_key() {
    let folder = Folder::new();
    let key = keys::aes_schedule(b"the library does")[144..].to_vec();
    folder.write("raw", &key);
    folder.write("in", plaintext(super::PLAIN_BYTES));
    let stopped = itself(&folder, "raw key");
    stopped.holds_nothing_of(&Secrets::of("raw key", &key));
    stopped.holds_nothing_of(&super::opened_by(&folder, "c", &key_file(&key).unwrap().into()));
}

#[test]
fn signing_keys() {
    let folder = Folder::new();
    for kind in ["--rsa=2048", "--dsa=2048", "--schnorr=2048"] {
        folder.tress(["keygen", kind, "-o", "k.pem"]).ok();
        let stopped = itself(&folder, "sign");
        stopped.holds_nothing_of(&keys::of_signing_key(&super::text(&folder, "k.pem")));
        fs::remove_file(folder.path("k.pem")).unwrap();
    }
}

#[test]
fn key_pairs() {
    let folder = Folder::new();
    assert!(Path::new(&folder.path("me.key")).exists());
    itself(&folder, "pair").holds_nothing_of(&keys::of_identity(&super::text(&folder, "me.key")));
}
