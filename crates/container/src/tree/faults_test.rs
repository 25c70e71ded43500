//! Makes every call on the file system fail once: nothing new may stay behind, and nothing old may be lost.
use super::{Inputs, PackOptions, UnpackOptions, pack, pack_on, unpack_on};
use crate::testing::faulty::{Fault, Faulty};
use crate::{Control, ErrorKind};
use std::fs;
use std::io::ErrorKind::StorageFull;
use std::path::Path;
use tempfile::TempDir;

fn small_tree(root: &Path) -> Vec<u8> {
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), b"content").unwrap();
    fs::write(root.join("z"), b"").unwrap();
    #[cfg(unix)]
    {
        use crate::sys::{Attributed, Os, System};
        std::os::unix::fs::symlink("b", root.join("a/link")).unwrap();
        let file = fs::File::open(root.join("a/b/file")).unwrap();
        let _ = Os.set_attribute(Attributed::File(&file), "user.name".as_ref(), b"value");
        fs::hard_link(root.join("a/b/file"), root.join("a/hard")).unwrap();
    }
    let mut archive = Vec::new();
    pack(root, &mut archive, &Control::new()).unwrap();
    archive
}

/// A disk that is full at this call.
fn full_after(calls: u64) -> Faulty {
    Faulty::new(calls, Fault::Error(StorageFull), true)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn packing_reports_every_failure() {
    let folder = TempDir::new().unwrap();
    let expected = small_tree(folder.path());
    for calls in 0.. {
        let mut archive = Vec::new();
        let system = full_after(calls);
        let result = {
            let (inputs, options) = (Inputs::Folder(folder.path()), PackOptions::default());
            pack_on(&system, inputs, &mut archive, &options, 0, &Control::new(), &mut |_| {})
        };
        if !system.has_failed() {
            result.unwrap();
            assert_eq!(archive, expected);
            assert!(calls > 20);
            return;
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Io(StorageFull), "{calls}");
        assert!(error.path.unwrap().starts_with(folder.path()));
    }
}

#[test]
fn unpacking_leaves_nothing_after_any_failure() {
    let folder = TempDir::new().unwrap();
    let archive = small_tree(&folder.path().join("source"));
    let target = folder.path().join("target");
    for calls in 0.. {
        let system = full_after(calls);
        let result = unpack_on(&system, &mut &archive[..], &target, UnpackOptions::default(), &Control::new());
        if !system.has_failed() {
            result.unwrap();
            assert_eq!(names(folder.path()), ["source", "target"]);
            assert_eq!(names(&target), ["a", "z"]);
            assert!(calls > 20);
            return;
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Io(StorageFull), "{calls}");
        assert!(error.path.is_some());
        assert_eq!(names(folder.path()), ["source"], "{calls}");
    }
}

#[test]
fn replacing_loses_nothing_by_any_failure() {
    let mut has_replaced = false;
    for calls in 0.. {
        let folder = TempDir::new().unwrap();
        let archive = small_tree(&folder.path().join("source"));
        let target = folder.path().join("target");
        fs::create_dir_all(target.join("old/older")).unwrap();
        let system = full_after(calls);
        let result = {
            let options = UnpackOptions { force: true, ..UnpackOptions::default() };
            unpack_on(&system, &mut &archive[..], &target, options, &Control::new())
        };
        if !system.has_failed() {
            result.unwrap();
            assert_eq!(names(&target), ["a", "z"]);
            assert_eq!(names(folder.path()), ["source", "target"]);
            assert!(has_replaced);
            return;
        }
        assert_eq!(result.unwrap_err().kind, ErrorKind::Io(StorageFull), "{calls}");
        // Either the old folder unchanged and nothing else, or the complete new one and possibly files that could not be removed.
        match names(&target).as_slice() {
            [old] if old == "old" => assert_eq!(names(folder.path()), ["source", "target"], "{calls}"),
            new => {
                assert_eq!(new, ["a", "z"]);
                has_replaced = true;
            }
        }
    }
}
