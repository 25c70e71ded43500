//! Copies of keys in memory after a command, and protection of keys from core dumps and swap. The command stops itself just before
//! it ends (`TRESS_DEBUG_MEMORY=stop`), and its memory is searched for every key that it has used.
#![cfg(target_os = "linux")]

mod keys;
mod library;
mod protection;
mod scan;

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::common::{Folder, listening, plaintext, signal, skip};
use scan::{Secrets, state};
use tress_container::keys::{Identities, key_file};

/// Enough for several batches per thread.
const PLAIN_BYTES: usize = 3_000_000;

/// Random letters, so that nothing else in memory matches.
const PASSPHRASE: &str = "vQ7hXkzu2WmRtYp9LcBnEa4d";

/// A stopped process. Dropping it lets the process continue and end.
struct StoppedProcess(Child);

impl StoppedProcess {
    /// Starts the process, and waits until it has stopped itself.
    fn start(command: &mut Command, stdin: &[u8]) -> StoppedProcess {
        command.env("TRESS_DEBUG_MEMORY", "stop").stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        let mut stopped = StoppedProcess(child);
        stopped.wait();
        stopped
    }

    fn wait(&mut self) {
        let start = Instant::now();
        while state(self.0.id()) != 'T' {
            let ended = self.0.try_wait().unwrap();
            assert!(ended.is_none(), "it ended before it stopped itself: {ended:?}");
            assert!(start.elapsed() < Duration::from_secs(1200), "it does not stop");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn holds_nothing_of(&self, secrets: &Secrets) {
        let found = secrets.find(self.0.id());
        assert!(found.is_empty(), "{} pieces of secrets are left: {found:#?}", found.len());
    }

    /// Lets the process end, and checks its success.
    #[track_caller]
    fn ok(mut self) {
        assert!(signal(self.0.id(), "CONT"));
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for StoppedProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the command to its end. Checks that no part of the secrets is in memory and that the command succeeds.
#[track_caller]
fn leaves_nothing(folder: &Folder, arguments: &[&str], stdin: &[u8], secrets: impl FnOnce() -> Vec<Secrets>) {
    let stopped = StoppedProcess::start(&mut folder.command(arguments), stdin);
    for secrets in secrets() {
        stopped.holds_nothing_of(&secrets);
    }
    stopped.ok();
}

fn identity(folder: &Folder, name: &str) -> Identities {
    Identities::from_file(folder.read(name).as_slice()).unwrap()
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

fn opened_by(folder: &Folder, container: &str, identities: &Identities) -> Secrets {
    keys::of_container(&folder.read(container), identities)
}

#[test]
fn containers_and_identities() {
    let folder = Folder::new();
    folder.write("in", plaintext(PLAIN_BYTES));
    let me = identity(&folder, "me.key");
    let secrets = || vec![opened_by(&folder, "c", &me)];
    for aead in ["aes-128-ccm", "aes-256-ccm"] {
        leaves_nothing(
            &folder,
            &["encrypt", "-r", &folder.recipient, "--aead", aead, "-o", "c", "--force", "in"],
            b"",
            secrets,
        );
        let secrets = || vec![opened_by(&folder, "c", &me), keys::of_identity(&text(&folder, "me.key"))];
        leaves_nothing(&folder, &["decrypt", "-i", "me.key", "-o", "out", "--force", "c"], b"", secrets);
        leaves_nothing(&folder, &["inspect", "-i", "me.key", "c"], b"", secrets);
        leaves_nothing(&folder, &["decrypt", "-i", "-", "-o", "out", "--force", "c"], &folder.read("me.key"), secrets);
    }
    assert_eq!(folder.read("out"), plaintext(PLAIN_BYTES));
    let secrets = || vec![opened_by(&folder, "c", &me), keys::of_identity(&text(&folder, "me.key"))];
    leaves_nothing(&folder, &["rewrap", "-i", "me.key", "-r", &folder.recipient, "c"], b"", secrets);
    // A failing command leaves no secrets either.
    let mut damaged = folder.read("c");
    *damaged.last_mut().unwrap() ^= 1;
    folder.write("damaged", damaged);
    let command = &mut folder.command(["decrypt", "-i", "me.key", "-o", "never", "damaged"]);
    let stopped = StoppedProcess::start(command.stderr(Stdio::null()), b"");
    secrets().iter().for_each(|secrets| stopped.holds_nothing_of(secrets));
}

#[test]
fn raw_keys_and_passphrases() {
    let folder = Folder::new();
    folder.write("in", plaintext(PLAIN_BYTES));
    // Random bytes, which occur nowhere else in memory.
    let key: Vec<u8> = keys::aes_schedule(b"just for a test.")[144..].to_vec();
    folder.write("raw", &key);
    folder.write("passphrase", format!("{PASSPHRASE}\n"));
    let of_key = || vec![Secrets::of("raw key", &key), opened_by(&folder, "c", &key_file(&key).unwrap().into())];
    leaves_nothing(&folder, &["encrypt", "--key-file", "raw", "-o", "c", "in"], b"", of_key);
    leaves_nothing(&folder, &["decrypt", "--key-file", "raw", "-o", "out", "c"], b"", of_key);
    leaves_nothing(&folder, &["decrypt", "--key-file", "-", "-o", "again", "c"], &key, of_key);

    let of_passphrase = || {
        let identities = Identities::from_passphrase(PASSPHRASE).unwrap();
        vec![Secrets::of("passphrase", PASSPHRASE.as_bytes()), opened_by(&folder, "p", &identities)]
    };
    leaves_nothing(&folder, &["encrypt", "--passphrase-file", "passphrase", "-o", "p", "in"], b"", of_passphrase);
    let typed = format!("{PASSPHRASE}\n");
    leaves_nothing(&folder, &["decrypt", "--passphrase-fd", "0", "-o", "o", "p"], typed.as_bytes(), of_passphrase);
}

#[test]
fn new_keys() {
    let folder = Folder::new();
    leaves_nothing(&folder, &["keygen", "-o", "new.key"], b"", || vec![keys::of_identity(&text(&folder, "new.key"))]);
    let secrets = || vec![keys::of_identity(&text(&folder, "new.key"))];
    leaves_nothing(&folder, &["keygen", "--public", "new.key"], b"", secrets);
    for kind in ["--rsa=2048", "--dsa=2048", "--schnorr=2048"] {
        let file = &format!("{kind}.pem");
        let secrets = || vec![keys::of_signing_key(&text(&folder, file))];
        leaves_nothing(&folder, &["keygen", kind, &format!("-o{file}")], b"", secrets);
        leaves_nothing(&folder, &["keygen", &format!("--public={file}")], b"", secrets);
    }
}

#[test]
fn signatures() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20).map(|number| format!("in{number}")).collect();
    names.iter().for_each(|name| folder.write(name, name));
    for kind in ["--rsa=2048", "--rsa=3072", "--dsa=2048", "--schnorr=3072"] {
        folder.tress(["keygen", kind, "-o", "k.pem"]).ok();
        let secrets = || vec![keys::of_signing_key(&text(&folder, "k.pem"))];
        let mut arguments = vec!["sign", "--key", "k.pem", "--force"];
        leaves_nothing(&folder, &[&arguments[..], &["in0"]].concat(), b"", secrets);
        // Many files, to sign in lanes and on several threads.
        arguments.extend(names.iter().map(String::as_str));
        leaves_nothing(&folder, &arguments, b"", secrets);
        fs::remove_file(folder.path("k.pem")).unwrap();
    }
}

#[test]
fn signing_keys_under_a_passphrase() {
    let folder = Folder::new();
    folder.write("in", "x");
    folder.write("passphrase", PASSPHRASE);
    folder.tress(["keygen", "--rsa=2048", "-o", "k.pem"]).ok();
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder.root()).args(["pkcs8", "-topk8", "-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"]);
    match openssl.args(["-in", "k.pem", "-out", "e.pem", "-passout", "file:passphrase"]).status() {
        Ok(status) => assert!(status.success()),
        Err(_) => return skip("there is no openssl"),
    }
    let secrets =
        || vec![Secrets::of("passphrase", PASSPHRASE.as_bytes()), keys::of_signing_key(&text(&folder, "k.pem"))];
    leaves_nothing(&folder, &["sign", "--key", "e.pem", "--passphrase-file", "passphrase", "in"], b"", secrets);
    let arguments = ["keygen", "--public", "e.pem", "--passphrase-file", "passphrase"];
    leaves_nothing(&folder, &arguments, b"", secrets);
}

#[test]
fn bare_ciphers() {
    let folder = Folder::new();
    folder.write("in", plaintext(600_000));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let key = keys::aes_schedule(b"and one for this")[128..160].to_vec();
    for mode in ["ecb", "cbc", "ctr", "ccm"] {
        let iv = hex(&plaintext(if mode == "ccm" { 12 } else { 16 }));
        let cipher = format!("aes-256-{mode}");
        let key_text = hex(&key);
        let mut arguments =
            vec!["raw", "encrypt", "--cipher", &cipher, "--key", &key_text, "-o", "out", "--force", "in"];
        if mode != "ecb" {
            arguments.extend(["--iv", &iv]);
        }
        // The system keeps the arguments themselves: see docs/reference/command.md.
        leaves_nothing(&folder, &arguments, b"", || vec![keys::of_schedule(&key)]);
    }
}

#[test]
fn transfers() {
    let folder = Folder::new();
    folder.write("in", plaintext(PLAIN_BYTES));
    fs::create_dir(folder.path("out")).unwrap();
    folder.write("allow", folder.public("me.key", 1));
    let arguments =
        ["receive", "--listen", "127.0.0.1:0", "-i", "other.key", "-o", "out", "--allow", "allow", "--once"];
    let mut command = folder.command(arguments);
    let mut receiver = command.env("TRESS_DEBUG_MEMORY", "stop").stdout(Stdio::null()).spawn().unwrap();
    let (to, _) = listening(&mut receiver);

    // While the receiver runs, its keys are in memory, which shows that the search finds them.
    let theirs = keys::of_identity(&text(&folder, "other.key"));
    assert!(signal(receiver.id(), "STOP"));
    let mut receiver = StoppedProcess(receiver);
    receiver.wait();
    assert!(!theirs.find(receiver.0.id()).is_empty(), "a receiver at work holds its key");
    assert!(signal(receiver.0.id(), "CONT"));

    let send = ["send", "--to", &to, "-r", &folder.public("other.key", 1), "-i", "me.key", "in"];
    leaves_nothing(&folder, &send, b"", || vec![keys::of_identity(&text(&folder, "me.key"))]);
    receiver.wait();
    receiver.holds_nothing_of(&theirs);
    receiver.ok();
}
