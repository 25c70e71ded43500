//! Runs the fuzz targets without a fuzzer: each on the inputs of `fuzz/corpus` and `fuzz/seeds`, then on mutations of them.
//! `docs/contributing/fuzzing.md` explains how to repeat an input that fails.
//!
//! | variable | |
//! |---|---|
//! | `TRESS_FUZZ_SEED` | the seed of the mutations (default: 1) |
//! | `TRESS_FUZZ_MUTATIONS` | the number of mutations for each target (default: that in `fuzz/targets.json`) |
//! | `TRESS_FUZZ_INPUT` | the absolute path of a file, which is then the only input |

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{env, fs, ptr, thread};

use serde_json::Value;
use tress_fuzz::mutate::mutations;

/// Ends a hang. `fuzz/run` has 30 seconds.
const LIMIT: Duration = Duration::from_secs(600);
const ALLOCATION_BYTES: usize = 512 << 20;
/// Number of bytes of an input that are printed. The whole input is in a file.
const PRINTED_BYTES: usize = 4096;

macro_rules! targets {
    ($($name:ident: $run:expr,)*) => {
        const TARGETS: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                replay(stringify!($name), $run);
            }
        )*
    };
}

targets! {
    calls: tress_fuzz::calls::run,
    container: tress_fuzz::container::run,
    debugger: tress_fuzz::simulator::debugger,
    execute: tress_fuzz::simulator::execute,
    header: tress_fuzz::header::run,
    keys: tress_fuzz::keys::key_file,
    loader: tress_fuzz::simulator::loader,
    machines: tress_fuzz::machines::run,
    messages: tress_fuzz::messages,
    qemu: tress_fuzz::qemu::run,
    recipients: tress_fuzz::recipients::run,
    records: tress_fuzz::records::run,
    sessions: tress_fuzz::sessions,
    signatures: tress_fuzz::keys::signature,
    tree: tress_fuzz::tree::run,
    commands: tress_fuzz::commands::run,
}

#[test]
fn every_target_is_replayed() {
    let replayed: BTreeSet<String> = TARGETS.iter().map(|name| (*name).to_string()).collect();
    let stems = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).expect("a folder");
        let stems = entries.map(|entry| entry.expect("an entry").path().file_stem().expect("a name").to_owned());
        stems.map(|stem| stem.into_string().expect("a name")).collect::<BTreeSet<_>>()
    };
    assert_eq!(replayed, stems("fuzz_targets"));
    assert_eq!(replayed, stems("corpus"));
    assert_eq!(replayed, settings().as_object().expect("an object").keys().cloned().collect());
}

/// Panics if an input of this target panics, or takes longer than the limit.
fn replay(name: &'static str, run: fn(&[u8])) {
    let setting = |field: &str| settings()[name][field].as_u64().expect("a number");
    let number = |variable: &str| env::var(variable).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seed = number("TRESS_FUZZ_SEED").unwrap_or(1);
    let only = env::var_os("TRESS_FUZZ_INPUT");
    let mut inputs = match &only {
        Some(path) => vec![fs::read(path).expect("TRESS_FUZZ_INPUT is the absolute path of a file")],
        None => kept(name),
    };
    let kept = inputs.len();
    if only.is_none() {
        let count = number("TRESS_FUZZ_MUTATIONS").unwrap_or_else(|| setting("mutations"));
        let mutations = mutations(&inputs, seed, setting("most_bytes") as usize);
        let mutations: Vec<_> = mutations.take(count as usize).collect();
        inputs.extend(mutations);
    }

    // If an input ends the whole process, it is in this file.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{name}"));
    let inputs = Arc::new(inputs);
    let start = Instant::now();
    let (sender, done) = channel();
    let worker = thread::spawn({
        let (inputs, path) = (inputs.clone(), path.clone());
        move || {
            for bytes in inputs.iter() {
                fs::write(&path, bytes).expect("a file");
                run(bytes);
                sender.send(()).expect("somebody waits");
            }
        }
    });
    for (at, bytes) in inputs.iter().enumerate() {
        let what = match done.recv_timeout(LIMIT) {
            Ok(()) => continue,
            Err(RecvTimeoutError::Timeout) => "takes more than ten minutes",
            Err(RecvTimeoutError::Disconnected) => "panics",
        };
        let origin = match at.checked_sub(kept) {
            Some(mutation) => format!("mutation {mutation} of seed {seed}"),
            None if only.is_some() => "the input".to_owned(),
            None => format!("input {at} of fuzz/corpus and fuzz/seeds"),
        };
        let hex: String = bytes.iter().take(PRINTED_BYTES).map(|byte| format!("{byte:02x}")).collect();
        let rest = if bytes.len() > PRINTED_BYTES { "... (the file has all of it)" } else { "" };
        panic!(
            "{name}: {origin} {what}\nagain: TRESS_FUZZ_INPUT={} cargo test -p tress-fuzz {name}\n\
             for fuzz/corpus/{name}.txt: {hex}{rest}",
            path.display()
        );
    }
    worker.join().expect("all inputs are done");
    fs::remove_file(&path).expect("the last input");
    let (mutations, seconds) = (inputs.len() - kept, start.elapsed().as_secs_f64());
    println!("{name:12} {kept:4} inputs and {mutations:5} mutations of seed {seed}: {seconds:5.1} s");
}

/// The inputs of `fuzz/corpus/TARGET.txt`, one a line in hexadecimal, and those from `fuzz/seeds`.
fn kept(name: &str) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(root().join(format!("corpus/{name}.txt"))).expect("a corpus");
    let mut inputs: Vec<Vec<u8>> = text
        .lines()
        .map(|line| base16ct::mixed::decode_vec(line).unwrap_or_else(|_| panic!("fuzz/corpus/{name}.txt: {line}")))
        .collect();
    if let Ok(seeds) = fs::read_dir(seeds().join(name)) {
        let mut paths: Vec<PathBuf> = seeds.map(|seed| seed.expect("an entry").path()).collect();
        paths.sort();
        inputs.extend(paths.iter().map(|path| fs::read(path).expect("a seed")));
    }
    inputs
}

fn seeds() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("seeds");
        let status = Command::new("python3").arg(root().join("seeds")).arg(&folder).status();
        let status = status.unwrap_or_else(|error| panic!("python3 for fuzz/seeds: {error}"));
        assert!(status.success(), "fuzz/seeds: {status}");
        folder
    })
}

fn settings() -> &'static Value {
    static SETTINGS: OnceLock<Value> = OnceLock::new();
    SETTINGS.get_or_init(|| serde_json::from_str(include_str!("../targets.json")).expect("JSON"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An allocator that refuses larger allocations than an input may request.
struct Limited;

#[global_allocator]
static LIMITED: Limited = Limited;

// SAFETY: all calls go to the system's allocator, or return null, which means failure.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the layout.
        if layout.size() > ALLOCATION_BYTES { ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the layout.
        if layout.size() > ALLOCATION_BYTES { ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `old` is from the system's allocator, with this layout.
        if size > ALLOCATION_BYTES { ptr::null_mut() } else { unsafe { System.realloc(old, layout, size) } }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: `old` is from the system's allocator, with this layout.
        unsafe { System.dealloc(old, layout) }
    }
}
