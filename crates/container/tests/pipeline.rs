//! The commands through files and FIFOs: ranges, outputs, cancellation. `streaming.rs` has all sizes, `damage.rs` damage.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "some tests are for Linux"))]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::{Arc, Mutex, Weak, mpsc};
use std::thread;
use std::time::Duration;

use crate::pipeline_support::{TestFolder, damaged, plain};
use proptest::prelude::*;
#[cfg(unix)]
use rustix::io::ioctl_fionread;
use tress_container::commands::{EncryptOptions, Report, Sink, Source, encrypt, inspect, rewrap};
use tress_container::format::Format;
use tress_container::keys::{KeyPair, Recipients};
use tress_container::{Control, Error, ErrorKind};

const BATCH_BYTES: usize = 32 * 16384;

/// Ends a hang.
const HANG: Duration = Duration::from_secs(1200);

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn ranges_are_slices(bytes in 0_usize..3_000_000, start in 0_usize..3_100_000, length in 0_usize..200_000, threads in 1_usize..4) {
        let dir = TestFolder::new();
        let data = plain(bytes);
        fs::write(dir.path("in"), &data).unwrap();
        dir.encrypt("in", "box", 2).unwrap();
        let result = dir.decrypt_range("box", "out", start as u64..(start + length) as u64, threads);
        match data.get(start..start + length) {
            Some(slice) => {
                result.unwrap();
                prop_assert!(fs::read(dir.path("out")).unwrap() == slice);
            }
            None => {
                prop_assert_eq!(result.unwrap_err().kind, ErrorKind::RangeOutOfBounds);
                prop_assert!(!dir.path("out").exists());
            }
        }
    }
}

#[test]
fn ranges_at_borders() {
    let dir = TestFolder::new();
    let data = plain(40000);
    fs::write(dir.path("in"), &data).unwrap();
    dir.encrypt("in", "box", 2).unwrap();
    let starts = [Unbounded, Included(0), Included(16384), Included(39999), Included(40000), Excluded(9)];
    let ends = [Unbounded, Included(39999), Excluded(0), Excluded(32768), Excluded(40000)];
    for range in starts.into_iter().flat_map(|start| ends.map(|end| (start, end))) {
        let result = dir.decrypt_range("box", "out", range, 2);
        let slice = data.get((range.0.map(|at| at as usize), range.1.map(|at| at as usize)));
        assert!(slice == result.is_ok().then(|| fs::read(dir.path("out")).unwrap()).as_deref(), "{range:?}");
    }
    fs::remove_file(dir.path("out")).unwrap();
    let ends_before_start = (Included(2), Excluded(1));
    let past_end = [(Included(40001), Unbounded), (Unbounded, Included(40000)), (Unbounded, Included(u64::MAX))];
    for range in past_end.into_iter().chain([ends_before_start]) {
        assert_eq!(dir.decrypt_range("box", "out", range, 2).unwrap_err().kind, ErrorKind::RangeOutOfBounds);
    }
    assert!(!dir.path("out").exists());
}

#[test]
fn a_range_reads_only_what_it_needs_and_the_last_chunk() {
    let dir = TestFolder::new();
    let data = plain(100 * 16384 + 5);
    fs::write(dir.path("in"), &data).unwrap();
    dir.encrypt("in", "box", 1).unwrap();
    let good = fs::read(dir.path("box")).unwrap();
    let chunk = |number: usize| dir.chunks_offset() + number * 16400;
    for (number, expected) in [(49, None), (50, Some(50)), (51, None), (100, Some(100))] {
        fs::write(dir.path("box"), damaged(&good, chunk(number))).unwrap();
        let result = dir.decrypt_range("box", "out", 50 * 16384..51 * 16384, 2);
        match expected {
            None => drop(result.unwrap()),
            Some(chunk) => assert_eq!(result.unwrap_err().kind, ErrorKind::ChunkDamaged { chunk }),
        }
    }
}

#[test]
fn outputs_are_refused() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(100)).unwrap();
    fs::write(dir.path("old"), b"old").unwrap();
    assert_eq!(dir.encrypt_new("in", "old").unwrap_err().kind, ErrorKind::OutputExists);
    assert_eq!(dir.encrypt("in", "in", 2).unwrap_err().kind, ErrorKind::OutputIsInput);
    let error = dir.encrypt("in", "missing/box", 2).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io(std::io::ErrorKind::NotFound));
    assert_eq!(error.path.as_deref(), Some(dir.path("missing").as_path()));
    assert_eq!(fs::read(dir.path("old")).unwrap(), b"old");
    let error = dir.encrypt("none", "box", 2).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io(std::io::ErrorKind::NotFound));
    assert_eq!(dir.names(), ["in", "old"]);
    // The container would include itself.
    fs::create_dir_all(dir.path("tree/deep")).unwrap();
    assert_eq!(dir.encrypt("tree", "tree/deep/box", 2).unwrap_err().kind, ErrorKind::OutputIsInput);
}

#[cfg(unix)]
#[test]
fn symlinks_are_followed_and_devices_stay() {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(100)).unwrap();
    symlink("in", dir.path("same")).unwrap();
    assert_eq!(dir.encrypt("in", "same", 2).unwrap_err().kind, ErrorKind::OutputIsInput);
    symlink("target", dir.path("link")).unwrap();
    dir.encrypt_new("in", "link").unwrap();
    assert!(fs::symlink_metadata(dir.path("link")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(dir.path("target")).unwrap().is_file());
    assert_eq!(dir.encrypt_new("in", "link").unwrap_err().kind, ErrorKind::OutputExists);
    symlink("round", dir.path("round")).unwrap();
    dir.encrypt_new("in", "round").unwrap_err();
    fs::write(dir.path("plain"), b"").unwrap();
    let umask_mode = fs::metadata(dir.path("plain")).unwrap().mode();
    assert_eq!(fs::metadata(dir.path("target")).unwrap().mode(), umask_mode);

    let to = |path: &str| {
        let sink = Sink::Path { path: path.into(), force: true };
        encrypt(&Source::Path(dir.path("in")), &sink, &dir.recipients(), &dir.options(2), &Control::new())
    };
    to("/dev/null").unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert_eq!(to("/dev/full").unwrap_err().kind, ErrorKind::Io(std::io::ErrorKind::StorageFull));

    fs::set_permissions(dir.path("target"), fs::Permissions::from_mode(0o640)).unwrap();
    rewrap(&dir.path("link"), &dir.identities(), &dir.other_recipients(), &Control::new()).unwrap();
    assert!(fs::symlink_metadata(dir.path("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(dir.path("target")).unwrap().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn what_force_replaces_keeps_its_mode() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let dir = TestFolder::new();
    let mode = |name| fs::metadata(dir.path(name)).unwrap().mode() & 0o7777;
    fs::write(dir.path("in"), plain(100)).unwrap();
    for (old, new) in [(0o600, 0o600), (0o640, 0o640), (0o666, 0o666), (0o400, 0o400), (0o4755, 0o755)] {
        for (from, to) in [("in", "box"), ("box", "out")] {
            fs::write(dir.path(to), b"old").unwrap();
            fs::set_permissions(dir.path(to), fs::Permissions::from_mode(old)).unwrap();
            let done = if to == "box" { dir.encrypt(from, to, 2) } else { dir.decrypt(from, to, 2) };
            done.unwrap();
            assert_eq!(mode(to), new, "{to} {old:o}");
            fs::set_permissions(dir.path(to), fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
    // Only root may change owners.
    if chown(dir.path("out"), Some(12345), Some(54321)).is_ok() {
        dir.decrypt("box", "out", 2).unwrap();
        let status = fs::metadata(dir.path("out")).unwrap();
        assert_eq!((status.uid(), status.gid()), (12345, 54321));
        // Where others can write, another user may have planted the file.
        fs::set_permissions(dir.path("out"), fs::Permissions::from_mode(0o666)).unwrap();
        fs::set_permissions(dir.path("."), fs::Permissions::from_mode(0o1777)).unwrap();
        dir.decrypt("box", "out", 2).unwrap();
        assert_eq!((fs::metadata(dir.path("out")).unwrap().uid(), mode("out")), (0, 0o600));
    }
}

/// sysfs reports 4,096 bytes for every file (sysfs(5)), proc reports 0.
#[cfg(target_os = "linux")]
#[test]
fn files_whose_status_does_not_report_their_length() {
    let dir = TestFolder::new();
    for path in ["/sys/devices/system/cpu/online", "/sys/kernel/mm/transparent_hugepage", "/proc/version"] {
        if !std::path::Path::new(path).exists() {
            eprintln!("\n*** SKIPPED: there is no {path} ***");
            continue;
        }
        let sink = Sink::Path { path: dir.path("box"), force: true };
        dir.encrypt_from(&Source::Path(path.into()), &sink, 2).unwrap();
        dir.decrypt("box", "out", 2).unwrap();
        let inner = if dir.path("out").is_dir() { "hpage_pmd_size" } else { "" };
        let file = |path: &std::path::Path| fs::read(path.join(inner).components().as_path()).unwrap();
        assert_eq!(file(&dir.path("out")), file(path.as_ref()), "{path}");
        let _ = fs::remove_file(dir.path("out")).or_else(|_| fs::remove_dir_all(dir.path("out")));
    }
}

#[cfg(unix)]
#[test]
fn planted_links_are_not_followed() {
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(100)).unwrap();
    fs::create_dir(dir.path("folder")).unwrap();
    fs::write(dir.path("folder/file"), plain(100)).unwrap();
    dir.encrypt("folder", "tree", 2).unwrap();
    fs::create_dir(dir.path("shared")).unwrap();
    fs::create_dir(dir.path("victims")).unwrap();
    let (link, target) = (dir.path("shared/out"), dir.path("victims/target"));
    symlink(&target, &link).unwrap();
    // A link of `owner` in a folder of `folder` with this mode; Linux refuses to follow the same ones.
    let cases = [
        (0o1777, 0, 12345, false),
        (0o1777, 23456, 12345, false),
        (0o1777, 0, 0, true),
        (0o1777, 12345, 12345, true),
        (0o1777, 23456, 0, true),
        (0o777, 0, 12345, true),
        (0o1755, 0, 12345, true),
    ];
    for (mode, folder, owner, is_followed) in cases {
        if lchown(&link, Some(owner), None).and_then(|()| chown(dir.path("shared"), Some(folder), None)).is_err() {
            eprintln!("\n*** SKIPPED: only root can plant a link of another user ***");
            return;
        }
        fs::set_permissions(dir.path("shared"), fs::Permissions::from_mode(mode)).unwrap();
        for from in ["in", "tree"] {
            for force in [false, true] {
                if force && is_followed {
                    if from == "tree" { fs::create_dir(&target) } else { fs::write(&target, b"old") }.unwrap();
                }
                let sink = Sink::Path { path: link.clone(), force };
                let done = match from {
                    "in" => dir.encrypt_from(&Source::Path(dir.path(from)), &sink, 2),
                    _ => dir.decrypt_from(&Source::Path(dir.path(from)), &sink, 2),
                };
                let what = format!("{from} {force} {mode:o} {folder} {owner}");
                let expected = ErrorKind::Io(std::io::ErrorKind::PermissionDenied);
                assert_eq!(
                    done.map(drop).map_err(|error| error.kind),
                    if is_followed { Ok(()) } else { Err(expected) },
                    "{what}"
                );
                assert_eq!(target.exists(), is_followed, "{what}");
                let _ = fs::remove_file(&target).or_else(|_| fs::remove_dir_all(&target));
            }
        }
        assert_eq!(fs::read_dir(dir.path("victims")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(dir.path("shared")).unwrap().count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn inspect_reports_the_same_for_files_and_streams() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(100_000)).unwrap();
    dir.encrypt("in", "box", 2).unwrap();
    let source = Source::Path(dir.path("box"));
    let found = inspect(&source, None).unwrap();
    assert_eq!((found.chunks, found.plaintext_bytes, found.verified), (7, 100_000, false));
    assert_eq!(found.name, None);
    let found = inspect(&source, Some(&dir.identities())).unwrap();
    assert!(found.verified);
    assert_eq!(found.name.as_deref(), Some("in"));
    let sealed = fs::read(dir.path("box")).unwrap();
    let streamed = dir.out_of_fifo(&sealed, |source| inspect(source, Some(&dir.identities())));
    assert_eq!(streamed.unwrap(), found);
    fs::write(dir.path("box"), damaged(&sealed, sealed.len() - 1)).unwrap();
    assert_eq!(inspect(&source, Some(&dir.identities())).unwrap_err().kind, ErrorKind::ChunkDamaged { chunk: 6 });
}

#[test]
fn a_cancelled_run_ends_soon_and_leaves_nothing() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(80 * BATCH_BYTES)).unwrap();
    let sink = Sink::Path { path: dir.path("box"), force: false };
    for threads in [1, 2] {
        // The first report cancels the run.
        let control = Arc::new_cyclic(|control: &Weak<Control>| {
            let control = control.clone();
            Control::new().on_progress(move |_, _| control.upgrade().unwrap().cancel())
        });
        let run = encrypt(&Source::Path(dir.path("in")), &sink, &dir.recipients(), &dir.options(threads), &control);
        assert_eq!(run.unwrap_err().kind, ErrorKind::Interrupted);
        assert!(threads > 1 || control.done_bytes() == BATCH_BYTES as u64, "{}", control.done_bytes());
        assert_eq!(dir.names(), ["in"]);
    }
}

type Calls = Arc<Mutex<Vec<(u64, Option<u64>)>>>;

#[test]
fn progress_is_reported_up_to_the_last_byte() {
    let dir = TestFolder::new();
    let sink = |name: &str| Sink::Path { path: dir.path(name), force: true };
    fs::create_dir(dir.path("folder")).unwrap();
    for (bytes, threads) in [(0, 1), (5 * BATCH_BYTES + 1, 1), (5 * BATCH_BYTES + 1, 4)] {
        fs::write(dir.path("in"), plain(bytes)).unwrap();
        fs::write(dir.path("folder/in"), plain(bytes)).unwrap();
        let calls = Calls::default();
        let noted = calls.clone();
        let control = || {
            let noted = noted.clone();
            Control::new().on_progress(move |done, total| noted.lock().unwrap().push((done, total)))
        };
        let take = || std::mem::take(&mut *calls.lock().unwrap());
        let options = dir.options(threads);
        let run = |from: &str| {
            encrypt(&Source::Path(dir.path(from)), &sink("box"), &dir.recipients(), &options, &control()).unwrap();
            take()
        };
        let found = run("in");
        assert!(found.is_sorted() && found.len() <= 7, "{found:?}");
        // A total of 0 is not reported, so that callers can divide by it.
        let total = Some(bytes as u64).filter(|&bytes| bytes > 0);
        assert_eq!(found.last(), Some(&(bytes as u64, total)));
        let found = run("folder");
        assert!(found.is_sorted() && found.iter().all(|(_, total)| total.is_none()), "{found:?}");
        assert!(found.last().is_some_and(|&(done, _)| done > bytes as u64), "{found:?}");
    }
}

#[test]
fn a_panic_in_a_report_ends_the_run() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(20 * BATCH_BYTES)).unwrap();
    let sink = Sink::Path { path: dir.path("box"), force: false };
    for threads in [1, 4] {
        let control = Control::new().on_progress(|_, _| panic!("as tested"));
        let (source, options) = (Source::Path(dir.path("in")), dir.options(threads));
        let run = || encrypt(&source, &sink, &dir.recipients(), &options, &control);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
        assert_eq!(dir.names(), ["in"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_waits_for_a_pipe_can_be_cancelled() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(16 * BATCH_BYTES)).unwrap();
    dir.fifo("pipe");
    // First nobody writes, then nobody reads; the other end stays open.
    for is_source in [true, false] {
        let control = Control::new();
        let (done, is_done) = mpsc::channel();
        let error = thread::scope(|scope| {
            let (dir, control) = (&dir, &control);
            let holder = scope.spawn(move || {
                let mut held = if is_source {
                    let mut pipe = File::options().write(true).open(dir.path("pipe")).unwrap();
                    pipe.write_all(&[1; 20000]).unwrap();
                    pipe
                } else {
                    File::open(dir.path("pipe")).unwrap()
                };
                // The run has read everything, or has begun to write.
                while (ioctl_fionread(&held).unwrap() == 0) != is_source {
                    thread::yield_now();
                }
                control.cancel();
                let in_time = is_done.recv_timeout(HANG);
                let _ = held.read(&mut [0]);
                in_time
            });
            let (source, sink) = if is_source {
                (Source::Path(dir.path("pipe")), Sink::Path { path: dir.path("box"), force: false })
            } else {
                (Source::Path(dir.path("in")), Sink::Path { path: dir.path("pipe"), force: false })
            };
            let error = encrypt(&source, &sink, &dir.recipients(), &dir.options(2), control).unwrap_err();
            done.send(()).unwrap();
            assert_eq!(holder.join().unwrap(), Ok(()));
            error
        });
        assert_eq!(error.kind, ErrorKind::Interrupted);
        assert_eq!(dir.names(), ["in", "pipe"]);
    }
}

#[cfg(unix)]
#[test]
fn a_closed_reader_is_a_broken_pipe() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(16 * BATCH_BYTES)).unwrap();
    dir.fifo("pipe");
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = File::open(dir.path("pipe")).unwrap();
            pipe.read_exact(&mut [0; 100_000]).unwrap();
        });
        dir.encrypt("in", "pipe", 3).unwrap_err()
    });
    assert_eq!(error.kind, ErrorKind::Io(std::io::ErrorKind::BrokenPipe));
    assert_eq!(dir.names(), ["in", "pipe"]);
}

/// One worker fails, and another waits for the rest of the input, which never comes.
#[cfg(target_os = "linux")]
#[test]
fn a_failure_ends_a_wait_for_the_input() {
    let dir = TestFolder::new();
    let (pair, data) = (KeyPair::generate().unwrap(), plain(BATCH_BYTES + 5000));
    fs::create_dir(dir.path("folder")).unwrap();
    fs::write(dir.path("folder/file"), &data).unwrap();
    fs::write(dir.path("file"), &data).unwrap();
    let sealed = |from: &str| {
        dir.encrypt(from, "box", 2).unwrap();
        fs::read(dir.path("box")).unwrap()
    };
    let (of_file, of_folder) = (sealed("file"), sealed("folder"));
    let of_damage = damaged(&of_file, dir.chunks_offset() + 7);
    let armored = EncryptOptions::default().format(Format::Age).armor(true).threads(2);
    let seal = |recipients: &Recipients, options: &EncryptOptions, source: &Source, sink: &Sink| {
        encrypt(source, sink, recipients, options, &Control::new())
    };
    type Command<'a> = &'a (dyn Fn(&Source, &Sink) -> Result<Report, Error> + Sync);
    let to_key: Command<'_> = &|source, sink| seal(&dir.recipients(), &dir.options(2), source, sink);
    let to_text: Command<'_> = &|source, sink| seal(&(&pair).into(), &armored, source, sink);
    let open: Command<'_> = &|source, sink| dir.decrypt_from(source, sink, 2);
    for (label, command, input, is_damaged) in [
        ("encrypt", to_key, &data, false),
        ("encrypt as text", to_text, &data, false),
        ("decrypt a file", open, &of_file, false),
        ("decrypt a folder", open, &of_folder, false),
        ("decrypt a damaged file", open, &of_damage, true),
    ] {
        // Of each case, because a child of another test, before its exec, holds the ends that were open.
        let (source_name, sink_name) = (&*format!("source {label}"), &*format!("sink {label}"));
        dir.fifo(source_name);
        dir.fifo(sink_name);
        let ((done, is_done), (was_read, is_read)) = (mpsc::channel(), mpsc::channel());
        let error = thread::scope(|scope| {
            let dir = &dir;
            let holder = scope.spawn(move || {
                let mut source = File::options().write(true).open(dir.path(source_name)).unwrap();
                let written = source.write_all(&input[..input.len() - 1000]);
                // After damage the run may end before it has read everything, and nobody waits for that.
                if !is_damaged {
                    written.unwrap();
                    while ioctl_fionread(&source).unwrap() > 0 {
                        thread::yield_now();
                    }
                    was_read.send(()).unwrap();
                }
                is_done.recv_timeout(HANG)
            });
            scope.spawn(move || {
                let mut sink = File::open(dir.path(sink_name)).unwrap();
                if is_damaged {
                    sink.read_to_end(&mut Vec::new()).unwrap();
                } else {
                    is_read.recv().unwrap();
                }
            });
            let sink = Sink::Path { path: dir.path(sink_name), force: false };
            let error = command(&Source::Path(dir.path(source_name)), &sink).unwrap_err();
            done.send(()).unwrap();
            assert_eq!(holder.join().unwrap(), Ok(()), "{label}");
            error
        });
        let closed = ErrorKind::Io(std::io::ErrorKind::BrokenPipe);
        assert_eq!(error.kind, if is_damaged { ErrorKind::ChunkDamaged { chunk: 0 } } else { closed }, "{label}");
    }
}

#[test]
fn an_input_that_changes_fails_the_run() {
    let dir = TestFolder::new();
    fs::write(dir.path("in"), plain(80 * BATCH_BYTES)).unwrap();
    // Each report is made by a thread of the run, which ends after it.
    let input = dir.path("in");
    let control = Control::new().on_progress(move |_, _| {
        File::options().append(true).open(&input).unwrap().write_all(b"more").unwrap();
    });
    let sink = Sink::Path { path: dir.path("box"), force: false };
    let run = encrypt(&Source::Path(dir.path("in")), &sink, &dir.recipients(), &dir.options(2), &control);
    assert_eq!(run.unwrap_err().kind, ErrorKind::InputChanged);
    assert_eq!(dir.names(), ["in"]);
}
