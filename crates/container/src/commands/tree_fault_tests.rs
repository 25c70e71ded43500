//! Faults while packing and unpacking trees: in calls on the container, and in calls on the folders.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use cap_std::fs::{Dir, FileType};

use super::decrypt::decrypt_on;
use super::fault_tests::{decrypt_in, encrypt_from, identities, plain};
use super::fault_walk::{snapshot, walk};
use super::{Control, DecryptOptions, Sink, Source};
use crate::ErrorKind;
use crate::sys::{Attributed, Call, Os, System};
use crate::testing::faulty::{Faulty, broken_disk};
use crate::tree::{Inputs, PackOptions, UnpackOptions, pack_on, unpack};

/// Trees make many calls.
const STRIDE: u64 = 2;

/// Makes nested folders, an empty file, a file of several buffers, a link, and on unix a file with two names, an attribute and a hole.
pub(super) fn make_tree(folder: &Path) {
    let root = folder.join("tree");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::write(root.join("a/b/large"), &plain()[..600_001]).unwrap();
    fs::write(root.join("a/none"), b"").unwrap();
    fs::write(root.join("z"), b"last").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("b/large", root.join("a/link")).unwrap();
        let file = fs::File::create(root.join("holes")).unwrap();
        file.set_len(200_000).unwrap();
        fs::hard_link(root.join("holes"), root.join("second name")).unwrap();
        // Not every file system has attributes.
        let _ = Os.set_attribute(Attributed::File(&file), "user.name".as_ref(), b"value");
    }
}

fn is_the_tree(path: &Path) -> bool {
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path());
    snapshot(path) == snapshot(&folder.path().join("tree"))
}

fn encrypt_in(folder: &Path, system: &Faulty, force: bool) -> Result<(), crate::Error> {
    encrypt_from("tree", folder, system, force)
}

/// A tree's container, made once.
pub(super) fn container() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path());
    encrypt_in(folder.path(), &Faulty::none(), false).unwrap();
    fs::read(folder.path().join("out")).unwrap()
}

fn opens_to_the_tree(path: &Path) -> bool {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(path, folder.path().join("in")).unwrap();
    decrypt_in(folder.path(), &Faulty::none(), false).is_ok() && is_the_tree(&folder.path().join("out"))
}

#[test]
fn no_failure_of_a_folders_encryption_leaves_anything() {
    let encrypt = |folder: &Path, system: &Faulty| encrypt_in(folder, system, false);
    for has_anonymous in [true, false] {
        walk(STRIDE, "out", has_anonymous, make_tree, encrypt, opens_to_the_tree);
    }
    let prepare = |folder: &Path| {
        make_tree(folder);
        fs::write(folder.join("out"), b"old").unwrap();
    };
    let replace = |folder: &Path, system: &Faulty| encrypt_in(folder, system, true);
    walk(STRIDE, "out", true, prepare, replace, opens_to_the_tree);
}

#[test]
fn no_failure_of_a_decryption_into_a_folder_leaves_anything() {
    let container = container();
    let prepare = |folder: &Path| fs::write(folder.join("in"), &container).unwrap();
    let command = |folder: &Path, system: &Faulty| decrypt_in(folder, system, false);
    walk(STRIDE, "out", true, prepare, command, is_the_tree);
    let prepare = |folder: &Path| {
        prepare(folder);
        fs::create_dir_all(folder.join("out/old/older")).unwrap();
        fs::write(folder.join("out/old/file"), b"old").unwrap();
    };
    let command = |folder: &Path, system: &Faulty| decrypt_in(folder, system, true);
    walk(STRIDE, "out", true, prepare, command, is_the_tree);
}

/// A file that another process changes whenever a file is read or written.
struct Changing(PathBuf);

impl System for Changing {
    fn before(&self, call: Call<'_>) -> io::Result<usize> {
        if matches!(call, Call::Move) {
            fs::File::options().write(true).open(&self.0)?.set_modified(SystemTime::UNIX_EPOCH)?;
        }
        Ok(usize::MAX)
    }
}

#[test]
fn members_of_a_container_that_changes_leave_nothing() {
    for members in [&["a"][..], &["a/b/large"], &["a", "z"]] {
        let folder = tempfile::tempdir().unwrap();
        let (input, path) = (folder.path().join("in"), folder.path().join("out"));
        fs::write(&input, container()).unwrap();
        let members = members.iter().map(PathBuf::from).collect();
        let options = DecryptOptions { members, ..DecryptOptions::default() };
        let (source, sink) = (Source::Path(input.clone()), Sink::Path { path, force: false });
        let found = decrypt_on(&Changing(input), &source, &sink, &identities(), &options, &Control::new());
        assert_eq!(found.unwrap_err().kind, ErrorKind::InputChanged, "{options:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{options:?}");
    }
}

/// An empty file that another process gives this length, as a hole, when it is first read.
struct Growing(PathBuf, u64);

impl System for Growing {
    fn before(&self, call: Call<'_>) -> io::Result<usize> {
        let file = fs::File::options().write(true).open(&self.0)?;
        if matches!(call, Call::Move) && file.metadata()?.len() == 0 {
            file.set_len(self.1)?;
        }
        Ok(usize::MAX)
    }
}

#[test]
fn a_small_file_that_grows_while_it_is_read() {
    for bytes in [100, 1 << 20] {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("tree"), folder.path().join("out"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), b"").unwrap();
        fs::write(root.join("z"), b"later").unwrap();
        let (options, control) = (PackOptions { go_on: true, ..PackOptions::default() }, Control::new());
        let (system, mut tar) = (Growing(root.join("a"), bytes), Vec::new());
        let found = pack_on(&system, Inputs::Folder(&root), &mut tar, &options, 0, &control, &mut |_| {}).unwrap();
        assert_eq!((found.changed, found.left_out), (1, 0), "{bytes}");
        unpack(&mut &tar[..], &out, UnpackOptions::default(), &control).unwrap();
        assert_eq!(fs::metadata(out.join("a")).unwrap().len(), bytes);
        assert_eq!(fs::read(out.join("z")).unwrap(), b"later", "{bytes}");
    }
}

struct Unlistable;

impl System for Unlistable {
    fn list(&self, _: &Dir) -> io::Result<Vec<(OsString, FileType)>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_no_container() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    let error = encrypt_from("tree", folder.path(), &Unlistable, false).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io(io::ErrorKind::PermissionDenied));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A disk that reads no attributes, and one folder of which it does not list.
struct WithoutAttributes {
    /// Number of folders before that one.
    lists: AtomicUsize,
}

impl System for WithoutAttributes {
    fn list(&self, folder: &Dir) -> io::Result<Vec<(OsString, FileType)>> {
        match self.lists.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(broken_disk().into()),
            _ => Os.list(folder),
        }
    }

    fn attributes(&self, _: Attributed<'_>) -> io::Result<Vec<(OsString, Vec<u8>)>> {
        Err(broken_disk().into())
    }
}

#[test]
fn entries_without_their_attributes_are_not_missing() {
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path());
    let (root, options) = (folder.path().join("tree"), PackOptions { go_on: true, ..PackOptions::default() });
    let pack = |system: &dyn System| {
        let (mut errors, mut out, control) = (0, Vec::new(), Control::new());
        let found = pack_on(system, Inputs::Folder(&root), &mut out, &options, 2, &control, &mut |_| errors += 1);
        (found.unwrap(), errors)
    };
    let (whole, _) = pack(&Faulty::none());
    let (found, errors) = pack(&WithoutAttributes { lists: usize::MAX.into() });
    assert_eq!((found.entries, found.left_out), (whole.entries, 0));
    assert!(found.changed >= 7 && found.changed == errors, "{found:?}");
    // The folder behind the root has two errors.
    let (found, errors) = pack(&WithoutAttributes { lists: 1.into() });
    assert_eq!((found.left_out, found.changed), (1, errors - 2), "{found:?}");
}

/// A system whose owners have names of this length.
struct LongNames(usize);

impl System for LongNames {
    fn owner_name(&self, _: u32, _: bool) -> Option<String> {
        Some("n".repeat(self.0))
    }
}

#[test]
fn names_of_owners_that_no_reader_admits_are_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (root, control) = (folder.path().join("tree"), Control::new());
    fs::create_dir(&root).unwrap();
    for (bytes, is_stored) in [(31, true), (255, true), (256, false), (300, false)] {
        let (system, mut tar) = (LongNames(bytes), Vec::new());
        let (options, out) = (PackOptions::default(), folder.path().join(bytes.to_string()));
        pack_on(&system, Inputs::Folder(&root), &mut tar, &options, 0, &control, &mut |_| {}).unwrap();
        assert_eq!(tar.windows(bytes).any(|part| part == "n".repeat(bytes).as_bytes()), is_stored, "{bytes}");
        unpack(&mut &tar[..], &out, UnpackOptions::default(), &control).unwrap();
    }
}

/// A system that makes files without names, and refuses to name them.
#[cfg(target_os = "linux")]
struct Unnameable;

#[cfg(target_os = "linux")]
impl System for Unnameable {
    fn link(&self, _: &fs::File, _: &Path) -> io::Result<()> {
        Err(crate::testing::faulty::unsupported())
    }

    fn create_new(&self, path: &Path, readers: crate::sys::Readers) -> io::Result<fs::File> {
        assert_eq!(readers, crate::sys::Readers::Owner, "others could read the copy");
        crate::sys::Os.create_new(path, readers)
    }
}

/// However the output gets its name.
#[cfg(target_os = "linux")]
#[test]
fn a_member_alone_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    fs::create_dir(&root).unwrap();
    for mode in [0o600, 0o640, 0o400] {
        fs::write(root.join(format!("{mode:o}")), b"secret").unwrap();
        fs::set_permissions(root.join(format!("{mode:o}")), fs::Permissions::from_mode(mode)).unwrap();
    }
    encrypt_in(folder.path(), &Faulty::none(), false).unwrap();
    let without_anonymous = Faulty::new(u64::MAX, crate::testing::faulty::Fault::Signal, false);
    let systems: [&dyn System; 3] = [&Faulty::none(), &without_anonymous, &Unnameable];
    for (number, system) in systems.into_iter().enumerate() {
        for mode in [0o600, 0o640, 0o400] {
            let path = folder.path().join(format!("{number}-{mode:o}"));
            let options = DecryptOptions { members: vec![format!("{mode:o}").into()], ..DecryptOptions::default() };
            let (source, sink) =
                (Source::Path(folder.path().join("out")), Sink::Path { path: path.clone(), force: false });
            decrypt_on(system, &source, &sink, &identities(), &options, &Control::new()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"secret");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode, "{number}");
        }
    }
}
