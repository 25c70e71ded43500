//! Files in the formats of others: what their programs and test vectors say, in every interface.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use base16ct::lower::decode_vec;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;
use sha2::{Digest, Sha256, Sha512};

use crate::pipeline_support::plain;
use crate::ways::{self, Opened, opens, sealed};
use tress_container::commands::{
    DecryptOptions, EncryptOptions, Sink, Source, decrypt, encrypt, inspect, inspect_with, rewrap,
};
use tress_container::format::{Aead, CobblestoneKey, Format};
use tress_container::keys::{Identities, KeyPair, PostQuantumIdentity, Recipients};
use tress_container::streaming::{encrypt_bytes, rewrap_head};
use tress_container::{Control, ErrorKind};

const KEY: [u8; 32] = *b"YELLOW SUBMARINE YELLOW SUBMARIN";

/// Both chunk sizes and the batches of both, and a byte to each side.
const LENGTHS: [usize; 13] =
    [0, 1, 16383, 16384, 16385, 65535, 65536, 65537, 131_072, 524_288, 524_289, 1_048_576, 2_500_000];

fn vectors(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(path)
}

/// Opens a file in every way that there is. All must agree. Returns what the first found.
fn open(sealed: &[u8], identities: &Identities) -> Opened {
    let mut ways = ways::open(sealed, identities).into_iter();
    let (_, _, first) = ways.next().unwrap();
    for (way, _, (plain, result)) in ways {
        assert_eq!(result.is_ok(), first.1.is_ok(), "{way}: {result:?}, but {:?}", first.1);
        let is_part = plain.starts_with(&first.0) || first.0.starts_with(&plain);
        assert!(if result.is_ok() { plain == first.0 } else { is_part }, "{way}");
    }
    first
}

fn age_identity() -> age::x25519::Identity {
    "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33".parse().unwrap()
}

fn ours(identity: &age::x25519::Identity) -> Identities {
    use age::secrecy::ExposeSecret as _;
    Identities::from_file(identity.to_string().expose_secret().as_bytes()).unwrap()
}

/// Removes or adds an armor with crate `age`.
fn armored(file: &[u8]) -> Vec<u8> {
    let mut writer = age::armor::ArmoredWriter::wrap_output(Vec::new(), age::armor::Format::AsciiArmor).unwrap();
    writer.write_all(file).unwrap();
    writer.finish().unwrap()
}

#[test]
fn age_opens_ours_and_we_open_theirs() {
    let identity = age_identity();
    let recipients: Recipients = identity.to_public().to_string().parse().unwrap();
    let options = EncryptOptions::default().format(Format::Age).threads(2);
    for bytes in LENGTHS {
        let plain = plain(bytes);
        for file in sealed(&plain, &recipients, &options) {
            assert!(age::decrypt(&identity, &file).unwrap() == plain, "{bytes} bytes");
        }
        let theirs = age::encrypt(&identity.to_public(), &plain).unwrap();
        opens(&theirs, &ours(&identity), &plain);
        opens(&armored(&theirs), &ours(&identity), &plain);
    }
}

#[test]
fn an_armored_file_is_text_that_age_reads() {
    let identity = age_identity();
    let recipients: Recipients = identity.to_public().to_string().parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("plain"), folder.path().join("sealed"));
    let sink = Sink::Path { path: target.clone(), force: true };
    let options = EncryptOptions::default().format(Format::Age).armor(true);
    for bytes in [0, 1, 65536, 600_000] {
        std::fs::write(&source, plain(bytes)).unwrap();
        let report = encrypt(&Source::Path(source.clone()), &sink, &recipients, &options, &Control::new()).unwrap();
        let text = std::fs::read(&target).unwrap();
        assert!(text.is_ascii());
        assert_eq!((report.bytes_in, report.bytes_out), (bytes as u64, text.len() as u64));
        assert!(age::decrypt(&identity, &text).unwrap() == plain(bytes));
    }
    for wrong in [EncryptOptions::default().armor(true), options] {
        let result = encrypt_bytes(b"", &recipients, &wrong);
        assert_eq!(result.unwrap_err().kind, ErrorKind::Usage, "in memory there is no armor");
    }
}

/// An armored file that is cut, or has a bad line: a pipe gets every chunk before it.
#[test]
fn the_part_of_an_armored_file_before_its_damage_comes_out() {
    const CHUNK_BYTES: usize = 65536;
    let identity = age_identity();
    // A batch has 8 chunks.
    for bytes in [CHUNK_BYTES, 8 * CHUNK_BYTES, 8 * CHUNK_BYTES + 1, 700_000] {
        let plain = plain(bytes);
        let file = age::encrypt(&identity.to_public(), &plain).unwrap();
        let chunks_offset = file.len() - bytes - 16 * bytes.div_ceil(CHUNK_BYTES);
        let text = armored(&file);
        let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        for good in [lines.len() - 2, lines.len() - 3, lines.len() / 2, 40] {
            let cut = lines[..=good].concat();
            let bad = [&cut, &b"!!!!\n"[..], &lines[good + 1..].concat()].concat();
            // Nothing shows that a chunk is not the last one before the first byte of the next.
            let behind = file.len().min(48 * good) - chunks_offset - 1;
            let whole = behind / (CHUNK_BYTES + 16) * CHUNK_BYTES;
            for (text, kind) in [(cut, ErrorKind::Truncated), (bad, ErrorKind::ArmorDamaged)] {
                for (way, _, (found, result)) in ways::open(&text, &ours(&identity)) {
                    assert_eq!(result.unwrap_err().kind, kind, "{way}, {bytes} bytes, {good} lines");
                    let is_right = if way == "stream" { found == plain[..whole] } else { plain.starts_with(&found) };
                    assert!(is_right, "{way}, {bytes} bytes, {good} lines: {}", found.len());
                }
            }
        }
    }
}

#[test]
fn a_new_header_leaves_the_payload_of_an_age_file() {
    let (old, new, hidden) = (age_identity(), KeyPair::generate().unwrap(), PostQuantumIdentity::generate().unwrap());
    let plain = plain(200_000);
    let file = age::encrypt(&old.to_public(), &plain).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.age");
    let first: Recipients = old.to_public().to_string().parse().unwrap();
    let container = encrypt_bytes(&plain, &first, &EncryptOptions::default()).unwrap();
    for (start, recipients) in [
        (&file, Recipients::from(&new)),
        (&armored(&file), Recipients::from(hidden.recipient())),
        (&armored(&container), Recipients::from(&new)),
    ] {
        std::fs::write(&path, start).unwrap();
        let report = rewrap(&path, &ours(&old), &recipients, &Control::new()).unwrap();
        let changed = std::fs::read(&path).unwrap();
        assert_eq!(report.bytes_out, changed.len() as u64);
        assert_eq!(changed.starts_with(b"age"), start.starts_with(b"age"), "the armor stays");
        let mut identities = Identities::from(&new);
        identities.extend([hidden.clone()]);
        opens(&changed, &identities, &plain);
        assert_eq!(open(&changed, &ours(&old)).1.unwrap_err().kind, ErrorKind::NoMatchingKey);
    }
    let head = rewrap_head(&mut &file[..], &ours(&old), &(&new).into()).unwrap();
    opens(&[&head.head[..], &file[head.old_bytes as usize..]].concat(), &(&new).into(), &plain);

    let mut mixed = Recipients::from(hidden.recipient());
    mixed.extend([Recipients::from(&new)]);
    for format in [Format::Age, Format::Tress] {
        let result = encrypt_bytes(b"", &mixed, &EncryptOptions::default().format(format));
        assert_eq!(result.unwrap_err().kind, ErrorKind::MixedRecipients);
        let options = EncryptOptions::default().format(format);
        let file = encrypt_bytes(&plain, &hidden.recipient().into(), &options).unwrap();
        opens(&file, &hidden.clone().into(), &plain);
    }
}

/// A case of age's test kit.
struct KitCase {
    name: String,
    fields: HashMap<String, Vec<String>>,
    file: Vec<u8>,
}

fn test_kit() -> Vec<KitCase> {
    let archive = std::fs::File::open(vectors("age/cctv.tar")).expect("vectors/age/cctv.tar");
    let mut cases = Vec::new();
    for entry in tar::Archive::new(archive).entries().unwrap() {
        let (mut entry, mut bytes) = (entry.unwrap(), Vec::new());
        entry.read_to_end(&mut bytes).unwrap();
        let Some(end) = bytes.windows(2).position(|two| two == b"\n\n") else { continue };
        let mut fields: HashMap<_, Vec<String>> = HashMap::new();
        for line in std::str::from_utf8(&bytes[..end]).unwrap().lines() {
            let (key, value) = line.split_once(": ").unwrap();
            fields.entry(key.to_owned()).or_default().push(value.to_owned());
        }
        let mut file = bytes.split_off(end + 2);
        if fields.contains_key("compressed") {
            file = decompress_to_vec_zlib(&file).unwrap();
        }
        cases.push(KitCase { name: entry.path().unwrap().display().to_string(), fields, file });
    }
    cases
}

#[test]
fn age_test_kit() {
    let cases = test_kit();
    assert_eq!(cases.len(), 147);
    for KitCase { name, fields, file } in cases {
        let mut identities = Identities::default();
        for line in fields.get("identity").into_iter().flatten() {
            identities.extend([Identities::from_file(line.as_bytes()).unwrap()]);
        }
        for passphrase in fields.get("passphrase").into_iter().flatten() {
            identities.extend([Identities::from_passphrase(passphrase).unwrap()]);
        }
        let (plain, result) = open(&file, &identities);
        let kind = result.map_err(|error| error.kind);
        let is_payload = matches!(kind, Err(ErrorKind::ChunkDamaged { .. } | ErrorKind::Truncated));
        let is_as_expected = match &*fields["expect"][0] {
            "success" => kind.is_ok(),
            "payload failure" => is_payload,
            "HMAC failure" => kind == Err(ErrorKind::HeaderDamaged),
            "no match" => matches!(kind, Err(ErrorKind::NoMatchingKey | ErrorKind::WrongPassphrase)),
            "armor failure" => is_payload || matches!(kind, Err(ErrorKind::ArmorDamaged | ErrorKind::NotAContainer)),
            "header failure" => kind.is_err(),
            other => panic!("{other} is a new outcome"),
        };
        assert!(is_as_expected, "{name}: {kind:?} instead of {:?}", fields["expect"]);
        if let Some(hash) = fields.get("payload").filter(|_| kind.is_ok()) {
            assert_eq!(base16ct::lower::encode_string(&Sha256::digest(&plain)), hash[0], "{name}");
        }
    }
}

fn cobblestone(format: Format, context: &[u8]) -> CobblestoneKey {
    let bytes = if format == Format::Cobblestone128 { 16 } else { 32 };
    CobblestoneKey::new(format, &KEY[..bytes], context).unwrap()
}

#[test]
fn the_crate_cobblestone_opens_ours_and_we_open_theirs() {
    let small = cobblestone::Key::from_bytes(KEY.first_chunk().unwrap());
    let large = cobblestone::Key256::from_bytes(&KEY);
    for bytes in LENGTHS {
        let plain = plain(bytes);
        for format in [Format::Cobblestone128, Format::Cobblestone256] {
            let key = cobblestone(format, b"context");
            for file in sealed(&plain, &key.clone().into(), &EncryptOptions::default().threads(2)) {
                let found = match format {
                    Format::Cobblestone128 => cobblestone::decrypt(&small, b"context", &file),
                    _ => cobblestone::decrypt(&large, b"context", &file),
                };
                assert!(found.unwrap() == plain, "{bytes} bytes");
            }
            let theirs = match format {
                Format::Cobblestone128 => cobblestone::encrypt(&small, b"context", &plain),
                _ => cobblestone::encrypt(&large, b"context", &plain),
            };
            opens(&theirs.unwrap(), &key.into(), &plain);
        }
    }
}

#[test]
fn wycheproof_cobblestone() {
    for (format, name) in [(Format::Cobblestone128, "128"), (Format::Cobblestone256, "256")] {
        let text = std::fs::read(vectors(&format!("cobblestone/wycheproof-{name}.json"))).unwrap();
        let file: Value = serde_json::from_slice(&text).unwrap();
        let mut seen = 0;
        for test in file["testGroups"].as_array().unwrap().iter().flat_map(|group| group["tests"].as_array().unwrap()) {
            let bytes = |name: &str| decode_vec(test[name].as_str().unwrap_or_default()).unwrap();
            let sealed = decompress_to_vec_zlib(&bytes("ct")).unwrap();
            let found = CobblestoneKey::new(format, &bytes("key"), &bytes("ctx"));
            let (plain, result) = found.map_or_else(|error| (Vec::new(), Err(error)), |key| open(&sealed, &key.into()));
            assert_eq!(result.is_ok(), test["result"] == "valid", "{name}, test {}: {result:?}", test["tcId"]);
            if result.is_ok() {
                assert_eq!(Sha512::digest(&plain)[..], bytes("msgSha512")[..], "{name}, test {}", test["tcId"]);
            }
            seen += 1;
        }
        assert_eq!(seen, file["numberOfTests"]);
    }
}

#[test]
fn a_format_that_does_not_match_is_named() {
    let pair = KeyPair::generate().unwrap();
    let key = cobblestone(Format::Cobblestone128, b"");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let age = EncryptOptions::default().format(Format::Age);
    std::fs::write(path("tress"), encrypt_bytes(b"x", &(&pair).into(), &EncryptOptions::default()).unwrap()).unwrap();
    std::fs::write(path("age"), encrypt_bytes(b"x", &(&pair).into(), &age).unwrap()).unwrap();
    std::fs::write(path("cobblestone"), encrypt_bytes(b"x", &key.clone().into(), &EncryptOptions::default()).unwrap())
        .unwrap();
    let kind = |name: &str, format, identities: &Identities| {
        let mut options = DecryptOptions::default();
        options.format = format;
        let sink = Sink::Path { path: path("out"), force: true };
        decrypt(&Source::Path(path(name)), &sink, identities, &options, &Control::new()).err().map(|error| error.kind)
    };
    let ours = Identities::from(&pair);
    for (name, format, identities, expected) in [
        ("tress", Some(Format::Tress), &ours, None),
        ("age", Some(Format::Age), &ours, None),
        ("age", None, &ours, None),
        ("cobblestone", None, &key.clone().into(), None),
        ("tress", Some(Format::Age), &ours, Some(ErrorKind::OtherFormat)),
        ("age", Some(Format::Tress), &ours, Some(ErrorKind::OtherFormat)),
        ("cobblestone", Some(Format::Age), &ours, Some(ErrorKind::OtherFormat)),
        ("cobblestone", None, &ours, Some(ErrorKind::NotAContainer)),
        ("cobblestone", Some(Format::Cobblestone128), &ours, Some(ErrorKind::NoMatchingKey)),
        ("cobblestone", None, &cobblestone(Format::Cobblestone128, b"other").into(), Some(ErrorKind::Commitment)),
        ("cobblestone", None, &cobblestone(Format::Cobblestone256, b"").into(), Some(ErrorKind::Commitment)),
        ("age", None, &key.clone().into(), Some(ErrorKind::Commitment)),
    ] {
        assert_eq!(kind(name, format, identities), expected, "{name} as {format:?}");
    }
    // A member of a folder, which only containers have.
    std::fs::create_dir(path("folder")).unwrap();
    std::fs::write(path("folder/a"), b"x").unwrap();
    let sink = Sink::Path { path: path("tree"), force: false };
    let source = Source::Path(path("folder"));
    encrypt(&source, &sink, &(&pair).into(), &EncryptOptions::default(), &Control::new()).unwrap();
    for (format, expected) in [
        (None, None),
        (Some(Format::Tress), None),
        (Some(Format::Age), Some(ErrorKind::OtherFormat)),
        (Some(Format::Cobblestone128), Some(ErrorKind::NoMatchingKey)),
    ] {
        for (members, salvage) in [(vec!["a".into()], false), (vec!["a".into()], true), (vec![], true)] {
            let mut options = DecryptOptions::default();
            (options.format, options.members, options.salvage) = (format, members, salvage);
            let sink = Sink::Path { path: path("member"), force: false };
            let found = decrypt(&Source::Path(path("tree")), &sink, &ours, &options, &Control::new());
            assert_eq!(found.err().map(|error| error.kind), expected, "{format:?} {options:?}");
            let _ = std::fs::remove_file(path("member"));
            let _ = std::fs::remove_dir_all(path("member"));
        }
    }
    for (name, format, aead) in [
        ("tress", Format::Tress, "aes-128-ccm"),
        ("age", Format::Age, "chacha20-poly1305"),
        ("cobblestone", Format::Cobblestone128, "aes-128-gcm"),
    ] {
        let found = inspect_with(&Source::Path(path(name)), Some(format), None, &Control::new()).unwrap();
        assert_eq!((found.format, found.aead.name(), found.plaintext_bytes, found.chunks), (format, aead, 1, 1));
    }
    assert_eq!(inspect(&Source::Path(path("age")), Some(&ours)).unwrap().recipients, ["X25519"]);
    assert!(inspect(&Source::Path(path("cobblestone")), Some(&key.clone().into())).unwrap().verified);
    let (to_pair, to_key, default) = (Recipients::from(&pair), key.into(), EncryptOptions::default());
    for (recipients, wrong) in [
        (&to_pair, age.clone().name("n")),
        (&to_pair, age.aead(Aead::default())),
        (&to_key, default.clone().name("n")),
        (&to_key, default.clone().aead(Aead::Aes128Gcm)),
        (&to_pair, default.aead(Aead::ChaCha20Poly1305)),
    ] {
        assert_eq!(encrypt_bytes(b"x", recipients, &wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong:?}");
    }
    assert_eq!(CobblestoneKey::new(Format::Age, &KEY, b"").unwrap_err().kind, ErrorKind::Usage);
    let hexadecimal = b"00112233445566778899aabbccddeeff";
    for (format, key) in [
        (Format::Cobblestone128, &KEY[..]),
        (Format::Cobblestone128, &hexadecimal[..16]),
        (Format::Cobblestone256, hexadecimal),
    ] {
        assert_eq!(CobblestoneKey::new(format, key, b"").unwrap_err().kind, ErrorKind::KeyFileLength);
    }
}
