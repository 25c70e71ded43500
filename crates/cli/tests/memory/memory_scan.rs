//! Searches the memory of a process that has stopped itself for keys that it should have wiped: programs in C and
//! Python that use the libraries (`crates/c/tests/run`, `python/tests/test_memory.py`).
//!
//! ```text
//! memory_scan PROCESS [raw=FILE] [identity=FILE] [pem=FILE] [text=FILE] [container=FILE]
//! ```
//!
//! It waits until the process has stopped itself, and prints the matches. The raw key or else the identity opens the
//! container.

#[cfg(target_os = "linux")]
mod keys;
#[cfg(target_os = "linux")]
mod scan;

#[cfg(target_os = "linux")]
fn main() {
    use std::collections::HashMap;
    use std::time::Duration;
    use std::{env, fs, thread};

    use scan::{Secrets, state};
    use tress_container::keys::{Identities, key_file};

    let mut arguments = env::args().skip(1);
    let process = arguments.next().and_then(|number| number.parse().ok()).expect("the number of a process");
    // Then its files are complete.
    while state(process) != 'T' {
        assert!(!"ZX".contains(state(process)), "it ended before it stopped itself");
        thread::sleep(Duration::from_millis(5));
    }
    let read = |argument: String| {
        let (name, path) = argument.split_once('=').expect("NAME=FILE");
        (name.to_owned(), fs::read(path).expect(path))
    };
    let files: HashMap<String, Vec<u8>> = arguments.map(read).collect();
    let text = |name| files.get(name).map(|bytes| str::from_utf8(bytes).expect("a text"));
    let container = files.get("container").map(|container| {
        let identities = match (files.get("raw"), files.get("identity")) {
            (Some(key), _) => key_file(key).expect("a raw key").into(),
            (None, file) => Identities::from_file(&file.expect("a key")[..]).expect("an identity"),
        };
        keys::of_container(container, &identities)
    });
    let searched = [
        files.get("raw").map(|key| Secrets::of("raw key", key)),
        files.get("raw").map(|key| keys::of_schedule(key)),
        text("identity").map(keys::of_identity),
        text("pem").map(keys::of_signing_key),
        text("text").map(|text| Secrets::of("text", text.as_bytes())),
        container,
    ];
    for found in searched.into_iter().flatten().flat_map(|secrets| secrets.find(process)) {
        println!("{found:?}");
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
