//! Damaged containers as files: `decrypt`, with and without a range, `inspect` and `rewrap` agree with the reader in memory,
//! and leave no files except a correct output.

use std::fs;

use tress_container::commands::{DecryptOptions, Sink, Source, decrypt, inspect, rewrap};
use tress_container::container::ContentType;
use tress_container::keys::key_file;
use tress_container::streaming::{WholeDecryptor, decrypt_bytes};
use tress_container::{Control, Threads};

use crate::edits::edited;
use crate::input::Input;
use crate::temp_folder;
use crate::vectors::identities;

/// Panics if a command gives a wrong result or leaves other files.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (_, sealed) = edited(&mut input);
    let opened = WholeDecryptor::new(&sealed, &identities());
    let is_tree = opened.is_ok_and(|opened| opened.content().content_type() == ContentType::Tree);
    let plain = decrypt_bytes(&sealed, &identities(), Threads::ONE).ok();

    let folder = temp_folder::emptied();
    let (path, out) = (folder.join("container"), folder.join("out"));
    fs::write(&path, &sealed).expect("a file");
    let source = Source::Path(path.clone());
    let sink = Sink::Path { path: out.clone(), force: input.flag() };
    let threads = 1 + input.below(3);

    let inspection = inspect(&source, Some(&identities()));
    if let Some(plain) = &plain {
        let inspection = inspection.as_ref().expect("what opens can be inspected");
        assert!(inspection.verified && inspection.plaintext_bytes == plain.len() as u64);
    }
    let is_readable = inspect(&source, None).is_ok();
    assert!(is_readable || inspection.is_err(), "an identity makes it readable");

    let mut options = DecryptOptions::default().threads(threads);
    let whole = decrypt(&source, &sink, &identities(), &options, &Control::new());
    assert!(whole.is_err() || plain.is_some(), "opens as a file only");
    // A tree with a damaged archive does not open as a folder.
    assert!(whole.is_ok() || plain.is_none() || is_tree, "{whole:?}");
    if whole.is_ok() {
        assert_eq!(temp_folder::names(folder), ["container", "out"]);
        assert!(is_tree || fs::read(&out).ok() == plain, "wrong bytes");
        if is_tree { fs::remove_dir_all(&out) } else { fs::remove_file(&out) }.expect("our output");
    }
    assert_eq!(temp_folder::names(folder), ["container"]);

    let (start, end) = range(plain.as_ref().map_or(0x8000, Vec::len), &mut input);
    options.range = Some((start, end));
    let part = decrypt(&source, &sink, &identities(), &options, &Control::new());
    match part {
        Ok(_) => {
            let bytes = fs::read(&out).expect("an output");
            let end = end.map(|end| end as usize);
            // Chunks outside of the range may be damaged, except the last one.
            match &plain {
                Some(plain) => assert!(bytes == plain[start as usize..end.unwrap_or(plain.len())], "wrong bytes"),
                None => assert!(inspection.is_ok_and(|inspection| inspection.verified)),
            }
            fs::remove_file(&out).expect("our output");
        }
        Err(error) => {
            let length = plain.as_ref().map_or(0, Vec::len) as u64;
            let is_inside = start <= length && end.is_none_or(|end| (start..=length).contains(&end));
            assert!(plain.is_none() || is_tree || !is_inside, "{error}");
        }
    }
    assert_eq!(temp_folder::names(folder), ["container"]);

    let key = key_file(&[9; 32]).expect("a key of its length");
    let rewrapped = rewrap(&path, &identities(), &key.clone().into(), &Control::new());
    let now = fs::read(&path).expect("the container");
    match rewrapped {
        Ok(_) => assert!(decrypt_bytes(&now, &key.into(), Threads::ONE).ok() == plain, "another payload"),
        Err(error) => assert!(plain.is_none() && now == sealed, "{error}"),
    }
    assert_eq!(temp_folder::names(folder), ["container"]);
}

/// A range, inside or outside of the plaintext.
fn range(length: usize, input: &mut Input<'_>) -> (u64, Option<u64>) {
    let start = input.below(length + 3) as u64;
    let end = input.flag().then(|| input.below(length + 3) as u64);
    (start, end)
}
