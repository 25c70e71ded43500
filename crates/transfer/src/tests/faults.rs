//! One call of either end fails, on the network or on a disk, for each call of a transfer. Every file under a final name is complete
//! and correct, a missing file was reported, and the same command run again completes it. The receiver keeps running.
//!
//! By default some of the calls fail; with `TRESS_EVERY_FAULT` in the environment every one (`make soak`).

use std::sync::atomic::AtomicU64;

use super::*;
use crate::testing::link_fail_nth::{CallFault, FailNth};
use tress_container::testing::faulty::{self, broken_disk, wants_all};

/// Number of runs in parallel; they wait more than they compute.
const WORKERS: u64 = 16;

/// The end that has the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultySide {
    Sender,
    Receiver,
}

/// The files that are sent: three batches and a bit, an empty file, and one in a folder.
fn files() -> [(&'static str, Vec<u8>); 3] {
    [("tree/a", data(3 * BATCH + 77)), ("tree/empty", Vec::new()), ("tree/folder/b", data(16_384))]
}

/// Calls `run` with multiples of `stride` until it returns false: the call with that number was not reached. Returns how many were.
fn walk(stride: u64, run: impl Fn(u64) -> bool + Sync) -> u64 {
    let stride = if wants_all() { 1 } else { stride };
    let (next, reached) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while run(next.fetch_add(stride, Ordering::Relaxed)) {
                    reached.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    reached.into_inner()
}

/// Runs a transfer with these systems and networks at its ends, and checks the files. Returns its outcome.
fn transfer(
    systems: [&'static dyn System; 2],
    networks: [&'static dyn Network; 2],
    label: &str,
) -> Result<SendReport, Error> {
    let ends = Ends::new();
    let tree = ends.root.path().join("tree");
    fs::create_dir_all(tree.join("folder")).unwrap();
    for (name, bytes) in files() {
        fs::write(ends.root.path().join(name), bytes).unwrap();
    }
    let source = Source::Path(tree);
    let running = ends.receive_on(systems[1], networks[1]);
    let sources = std::slice::from_ref(&source);
    let outcome = ends.send_with(systems[0], &running, networks[0], sources, |options| options.streams = 2);
    for (name, bytes) in files() {
        match fs::read(ends.output(name)) {
            Ok(found) => assert!(found == bytes, "{label}: {name} is wrong"),
            Err(_) => assert!(outcome.is_err(), "{label}: {name} is missing without an error"),
        }
    }
    // The receiver still serves others, and the same transfer again.
    let log = running.log.clone();
    running.stop();
    for (name, _) in files().iter().filter(|(name, _)| ends.output(name).exists()) {
        let named = format!("name: {:?}", PathBuf::from_iter(name.split('/')));
        let is_about_it = |event: &String| event.starts_with("Received") && event.contains(&named);
        let is_reported = log.lock().unwrap().iter().any(|event| event == "Unreported" || is_about_it(event));
        assert!(is_reported, "{label}: no event is about {name}");
    }
    let running = ends.receive();
    let again = ends.send(&running, &Tcp, &source, 1);
    let again = again.unwrap_or_else(|error| panic!("{label}: again: {error}, first: {outcome:?}"));
    assert_eq!(again.files, 3, "{label}");
    for (name, bytes) in files() {
        assert!(fs::read(ends.output(name)).unwrap() == bytes, "{label}: {name} is wrong at the end");
    }
    running.stop();
    outcome
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[test]
fn any_call_on_a_connection_fails() {
    for end in [FaultySide::Sender, FaultySide::Receiver] {
        for fault in [CallFault::Reset, CallFault::End, CallFault::Again, CallFault::Signal, CallFault::Short] {
            let reached = walk(3, |n| {
                let network: &FailNth = leak(FailNth::new(n, fault));
                let networks: [&'static dyn Network; 2] = match end {
                    FaultySide::Sender => [network, &Tcp],
                    FaultySide::Receiver => [&Tcp, network],
                };
                let label = format!("{fault:?} in call {n} of the {end:?}");
                let outcome = transfer([&OS, &OS], networks, &label);
                if let Err(error) = &outcome {
                    assert!(!fault.is_harmless(), "{label}: {error}");
                }
                network.has_failed()
            });
            println!("{end:?}, {fault:?}: {reached} calls on connections had the fault");
            assert!(reached > 10, "{end:?} {fault:?}: {reached}");
        }
    }
}

#[test]
fn any_call_on_a_file_fails() {
    let full = faulty::Fault::Error(std::io::ErrorKind::StorageFull);
    let broken = faulty::Fault::Error(broken_disk());
    let faults = [full, broken, faulty::Fault::Signal, faulty::Fault::Short, faulty::Fault::Gone, faulty::Fault::Lost];
    for end in [FaultySide::Sender, FaultySide::Receiver] {
        for fault in faults {
            // A sender syncs nothing.
            if end == FaultySide::Sender && fault == faulty::Fault::Lost {
                continue;
            }
            let stride = if fault == faulty::Fault::Lost { 1 } else { 5 };
            let reached = walk(stride, |n| {
                let system = faulty::Faulty::leak(n, fault);
                let systems: [&'static dyn System; 2] = match end {
                    FaultySide::Sender => [system, &OS],
                    FaultySide::Receiver => [&OS, system],
                };
                let label = format!("{fault:?} in call {n} of the {end:?}");
                let outcome = transfer(systems, [&Tcp, &Tcp], &label);
                if let Err(error) = &outcome {
                    assert_ne!(fault, faulty::Fault::Short, "{label}: {error}");
                }
                system.has_failed()
            });
            println!("{end:?}, {fault:?}: {reached} calls on files had the fault");
            let least = if end == FaultySide::Receiver && fault != faulty::Fault::Short { 5 } else { 1 };
            assert!(reached >= least, "{end:?} {fault:?}: {reached}");
        }
    }
}

/// Checks the order of disk operations in a whole session; `store_power_test.rs` checks those of the store in detail.
#[cfg(unix)]
#[test]
fn the_receiver_loses_power() {
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    use tress_container::testing::disk::{Disk, Node};
    use tress_container::testing::recording::Recording;

    let ends = Ends::new();
    let system: &'static Recording = leak(Recording::new(true));
    let running = ends.receive_on(system, &Tcp);
    let files = [("tree/a", data(40_000)), ("tree/empty", Vec::new()), ("tree/folder/b", data(16_384))];
    fs::create_dir_all(ends.root.path().join("tree/folder")).unwrap();
    for (name, bytes) in &files {
        fs::write(ends.root.path().join(name), bytes).unwrap();
    }
    ends.send(&running, &Tcp, &Source::Path(ends.root.path().join("tree")), 2).unwrap();
    running.stop();
    let events = system.events();
    let base = ends.root.path().join("out");
    let number = fs::metadata(&base).unwrap().ino();
    let mut disks = 0;
    Disk::default().lose_power(&events, |moment, state| {
        disks += 1;
        let tree = state.below(number);
        for (name, bytes) in &files {
            let name = ends.output(name);
            match tree.get(name.strip_prefix(&base).unwrap_or(Path::new(""))) {
                Some(Node::File(found)) => assert!(found == bytes, "moment {moment}: {} is wrong", name.display()),
                Some(other) => panic!("{other:?}"),
                None => assert!(moment < events.len(), "{} was confirmed", name.display()),
            }
        }
    });
    println!("{} events, {disks} disks after a loss of power", events.len());
    assert!(events.len() > 30 && disks > 120, "{} {disks}", events.len());
}
