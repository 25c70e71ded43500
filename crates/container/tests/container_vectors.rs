//! Runs every container of `vectors/container/`: valid ones open to the expected plaintext, and all others fail with the expected kind of
//! error.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tress_container::format::Header;
use tress_container::keys::{Identities, key_file};
use tress_container::streaming::WholeDecryptor;
use tress_container::{Error, ErrorKind, Threads};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/container")
}

/// The containers, by name.
fn containers() -> HashMap<PathBuf, Vec<u8>> {
    let archive = std::fs::File::open(folder().join("containers.tar")).expect("vectors/container/containers.tar");
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let (mut entry, mut bytes) = (entry.expect("an entry"), Vec::new());
        entry.read_to_end(&mut bytes).expect("all of it");
        (entry.path().expect("a name").into_owned(), bytes)
    };
    tar::Archive::new(archive).entries().expect("a tar archive").map(read).collect()
}

struct Opened {
    header: Header,
    content_type: &'static str,
    name: Option<String>,
    plaintext: Vec<u8>,
}

/// Reads a whole container that is in memory.
fn open_all(container: &[u8], identities: &Identities) -> Result<Opened, Error> {
    let mut rest = container;
    let header = Header::read(&mut rest)?;
    assert_eq!(rest.len() as u64, container.len() as u64 - header.header_bytes(), "reads exactly the header");
    let opened = WholeDecryptor::new(container, identities)?;
    let mut plaintext = vec![0; opened.plain_bytes()];
    opened.decrypt(&mut plaintext, Threads::ONE)?;
    let content = opened.content();
    let (content_type, name) = (content.content_type().name(), content.name().map(str::to_owned));
    Ok(Opened { header, content_type, name, plaintext })
}

fn identity(entry: &Value) -> Identities {
    let value = entry["value"].as_str().expect("a text");
    match entry["type"].as_str().expect("a text") {
        "age" | "ssh" => Identities::from_file(value.as_bytes()).unwrap(),
        "passphrase" => Identities::from_passphrase(value).unwrap(),
        "raw-key" => key_file(&base16ct::mixed::decode_vec(value).unwrap()).unwrap().into(),
        other => panic!("identity of unknown type {other}"),
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn error_name(kind: &ErrorKind) -> String {
    format!("{kind:?}").split([' ', '(', '{']).next().expect("a name").to_owned()
}

#[test]
fn every_vector_says_what_the_index_says() {
    let index = std::fs::read(folder().join("index.json")).expect("vectors/container/index.json");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    let (containers, mut run) = (containers(), 0);
    for group in index["testGroups"].as_array().expect("groups") {
        assert_eq!(group["type"], "TressContainer");
        for test in group["tests"].as_array().expect("tests") {
            let name = test["name"].as_str().expect("a name");
            let entry = &index["identities"][test["identity"].as_str().expect("an identity")];
            run += 1;
            if entry["type"] == "ssh" && cfg!(not(feature = "ssh")) {
                eprintln!("{name}: SKIPPED, needs --features ssh");
                continue;
            }
            let container = &containers[Path::new(test["file"].as_str().expect("a file"))];
            check(name, test, open_all(container, &identity(entry)));
        }
    }
    assert_eq!(run, containers.len());
    assert_eq!(run, index["numberOfTests"]);
    assert!(run > 90, "vectors are missing");
}

fn check(name: &str, test: &Value, result: Result<Opened, Error>) {
    match result {
        Ok(opened) => {
            assert_eq!(test["result"], "valid", "{name} opened");
            assert_eq!(opened.plaintext.len(), test["plaintextBytes"], "{name}");
            assert_eq!(sha256_hex(&opened.plaintext), test["plaintextSha256"], "{name}");
            assert_eq!(opened.content_type, test["contentType"], "{name}");
            assert_eq!(opened.name.as_deref(), test["contentName"].as_str(), "{name}");
            let types: Vec<_> =
                test["recipients"].as_array().expect(name).iter().map(|t| t.as_str().unwrap()).collect();
            assert_eq!(opened.header.recipient_types(), types, "{name}");
        }
        Err(error) => {
            assert_eq!(test["result"], "invalid", "{name}: {error}");
            assert_eq!(error_name(&error.kind), test["error"].as_str().expect(name), "{name}: {error}");
            if let ErrorKind::ChunkDamaged { chunk } = error.kind {
                assert_eq!(test["chunk"], chunk, "{name}");
            }
            assert!(!error.to_string().contains('\n'), "{name}: one line");
        }
    }
}
