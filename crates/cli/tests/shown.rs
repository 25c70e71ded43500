//! Secrets are never printed: not if they are given in the wrong place, and not in errors, notes and traces. The libraries' tests print
//! their types by `Debug`.
#![cfg(unix)]

use std::fs;

use crate::common::{Folder, Run, plaintext};

/// Checks that the text contains no eight consecutive letters of a secret, in upper or lower case.
#[track_caller]
fn hidden(shown: &str, secrets: &[&str]) {
    let shown = shown.to_lowercase();
    for secret in secrets.iter().map(|secret| secret.to_lowercase()) {
        let letters: Vec<char> = secret.chars().collect();
        for piece in letters.windows(8) {
            let piece: String = piece.iter().collect();
            assert!(!shown.contains(&piece), "{piece:?} is shown: {shown}");
        }
    }
}

/// The secret parts of an identity file.
fn identity_secrets(folder: &Folder, name: &str) -> Vec<String> {
    let text = String::from_utf8(folder.read(name)).unwrap();
    let after = |prefix| text.lines().find_map(|line: &str| line.split_once(prefix)).unwrap().1.to_string();
    vec![after("AGE-SECRET-KEY-1"), after("TRESS-NOISE-KEY-1")]
}

fn refused(run: Run, secrets: &[&str]) {
    assert!(!run.status.success());
    hidden(&run.stderr, secrets);
    hidden(&String::from_utf8_lossy(&run.stdout), secrets);
}

#[test]
fn identities_in_wrong_places() {
    let folder = Folder::new();
    folder.write("in", "x");
    fs::create_dir(folder.path("out")).unwrap();
    let text = String::from_utf8(folder.read("me.key")).unwrap();
    let identity = text.lines().last().unwrap();
    let owned = identity_secrets(&folder, "me.key");
    let secrets: Vec<&str> = owned.iter().map(String::as_str).collect();
    let noise = text.lines().find(|line| line.contains("TRESS-NOISE-KEY-1")).unwrap();
    // Damaged identities: cut, with a changed letter, with an invalid Noise key.
    folder.write("cut.key", &identity[..identity.len() - 3]);
    folder.write("changed.key", text.replace(identity, &format!("{}q", &identity[..identity.len() - 1])));
    folder.write("noise.key", text.replace(noise, &noise[..noise.len() - 2]));
    let address = &folder.public("other.key", 1);

    let commands: &[&[&str]] = &[
        &["encrypt", "-r", identity, "in"],
        &["encrypt", "-r", &identity.to_lowercase(), "in"],
        &["encrypt", "-R", "me.key", "in"],
        &["encrypt", "-R", identity, "in"],
        &["encrypt", "-r", &folder.recipient, identity],
        &["encrypt", "--key-file", "me.key", "in"],
        &["encrypt", "--passphrase-file", identity, "in"],
        &["decrypt", "-i", identity, "in"],
        &["decrypt", "-i", "cut.key", "in"],
        &["decrypt", "-i", "changed.key", "in"],
        &["inspect", identity],
        &["keygen", "--public", identity],
        &["keygen", "--public", "cut.key"],
        &["keygen", "--public", "noise.key"],
        &["keygen", identity],
        &["sign", "--key", "me.key", "in"],
        &["verify", "--key", "me.key", "in"],
        &["send", "--to", "127.0.0.1:1", "-r", identity, "-i", "me.key", "in"],
        &["send", "--to", identity, "-r", address, "-i", "me.key", "in"],
        &["send", "--to", "127.0.0.1:1", "-r", address, "-i", "changed.key", "in"],
        &["receive", "--listen", "127.0.0.1:0", "-i", "other.key", "-o", "out", "--allow", "me.key"],
        &["receive", "--listen", identity, "-i", "me.key", "-o", "out", "--allow-any"],
        &["raw", "encrypt", "--cipher", "aes-128-ecb", "--key", identity, "in"],
        &[identity],
    ];
    for arguments in commands {
        refused(folder.tress(*arguments), &secrets);
    }
}

#[test]
fn keys_and_passphrases_in_errors() {
    let folder = Folder::new();
    folder.write("in", plaintext(1000));
    let hex = "00d1e2c3b4a5968778695a4b3c2d1e0f";
    for key in [&hex[1..], &hex[2..], &format!("{hex}xy"), &format!("{hex}{hex}")] {
        refused(folder.tress(["raw", "encrypt", "--cipher", "aes-128-ecb", "--key", key, "in"]), &[&hex[2..30]]);
    }
    let passphrase = "a phrase that nobody should read again";
    folder.write("right", passphrase);
    folder.write("wrong", "another phrase which is wrong altogether");
    folder.write("latin", [passphrase.as_bytes(), b"\xff"].concat());
    folder.tress(["encrypt", "--passphrase-file", "right", "-o", "p", "in"]).ok();
    for file in ["wrong", "latin"] {
        let run = folder.tress(["decrypt", "--passphrase-file", file, "p"]);
        refused(run, &[passphrase, "another phrase which is wrong altogether"]);
    }
    // A cut signing key, a private key instead of a public key, a signing key as an identity.
    folder.tress(["keygen", "--rsa=2048", "-o", "k.pem"]).ok();
    let pem = String::from_utf8(folder.read("k.pem")).unwrap();
    let lines: Vec<&str> = pem.lines().filter(|line| !line.starts_with('-')).collect();
    folder.write("cut.pem", &pem[..pem.len() / 2]);
    folder.write("joined.pem", pem.replace("-----END", "----"));
    for arguments in [
        ["sign", "--key", "cut.pem", "in"],
        ["sign", "--key", "joined.pem", "in"],
        ["verify", "--key", "k.pem", "in"],
        ["decrypt", "-i", "k.pem", "in"],
        ["encrypt", "-R", "k.pem", "in"],
    ] {
        refused(folder.tress(arguments), &lines[1..]);
    }
}
