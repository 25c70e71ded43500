//! Calls that are specific to unix, by `rustix` and the library's unix extensions.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::path::PathBuf;
use std::time::Duration;

use cap_std::fs::Dir;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::types::{Attributed, Kind, Readers, Readiness, Status};

/// Number of bytes that a ready pipe takes without blocking, by POSIX.
#[cfg(target_os = "linux")]
const PIPE_BUFFER_BYTES: usize = 4096;
#[cfg(not(target_os = "linux"))]
const PIPE_BUFFER_BYTES: usize = 512;

/// Largest number of buffers in one vectored call (`IOV_MAX`).
const MAX_BUFFERS: usize = 1024;

/// An open descriptor as a separate handle. A pipe gets a buffer of a mebibyte, the most that Linux allows by default, instead of 64 KiB:
/// the system then changes less often between the two processes. Other systems, and a refusal, leave it as it is.
pub(super) fn descriptor(number: u32, readiness: Readiness) -> io::Result<File> {
    let file = tress_terminal::descriptor::take(number, readiness == Readiness::Writable)?;
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&file, 1 << 20);
    Ok(file)
}

/// A FIFO is opened without waiting for a writer: readers wait for its data, and check the cancel flag while they wait.
#[cfg(target_os = "linux")]
pub(super) fn open(path: &Path) -> io::Result<File> {
    // A lease of another process, or a file system that does not answer, may hold up both.
    tress_terminal::blocked::blocked(|| {
        let is_fifo = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
        let flags = if is_fifo { OFlags::NONBLOCK } else { OFlags::empty() };
        OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
    })
}

/// Whether a file is on a file system in user space (FUSE): there the status of a file may report anything, and `syncfs` does nothing.
pub(crate) fn is_in_user_space(_file: &File) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::fstatfs(_file).is_ok_and(|found| found.f_type as u32 == 0x6573_5546);
    #[cfg(not(target_os = "linux"))]
    false
}

/// Closes a file, and returns the error that dropping it would ignore.
pub(super) fn close(file: File) -> io::Result<()> {
    match nix::unistd::close(file) {
        // It is closed.
        Err(nix::Error::EINTR) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Elsewhere a FIFO without a writer would look like an empty one.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(path: &Path) -> io::Result<File> {
    tress_terminal::blocked::blocked(|| File::open(path))
}

/// The mode before the umask applies.
fn mode(readers: Readers) -> u32 {
    match readers {
        Readers::Umask => 0o666,
        Readers::Owner => 0o600,
    }
}

pub(super) fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode(readers)).open(path)
}

/// The file can be read too, in case it has to be copied because the system refuses to name it.
#[cfg(target_os = "linux")]
pub(super) fn create_anonymous(folder: &Path, readers: Readers) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // Kernels and file systems without this flag have many errors for it. Creating a file with a name meets any other cause again.
    let unsupported = |_| io::Error::from(io::ErrorKind::Unsupported);
    let file: File = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode(readers))).map_err(unsupported)?.into();
    // `link` goes through /proc: find out now whether /proc exists, not when all the work is done.
    fs::metadata(handle_path(&file)).map_err(|_| io::ErrorKind::Unsupported)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn create_anonymous(_folder: &Path, _readers: Readers) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn handle_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

#[cfg(target_os = "linux")]
pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
    Ok(rustix::fs::linkat(CWD, handle_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A name in a folder.
pub(crate) type Name<'a> = (BorrowedFd<'a>, &'a Path);

/// Ways to move a file to a free name, the best one first. Kernels and file systems lack the first two: exFAT and Android have neither.
const WAYS_TO_MOVE: [fn(Name<'_>, Name<'_>) -> io::Result<()>; 3] = [move_by_flag, move_by_link, move_onto_placeholder];

pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    move_new((CWD, from), (CWD, to))
}

/// Moves a file to a free name; `AlreadyExists` if the name is taken. A file system without links may have any error for one: rclone has
/// EIO. An error of the disk meets the last way, too.
pub(crate) fn move_new(from: Name<'_>, to: Name<'_>) -> io::Result<()> {
    let is_result = |moved: &io::Result<()>| match moved {
        Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
        Ok(()) => true,
    };
    let [better @ .., last] = WAYS_TO_MOVE;
    better.iter().map(|way| way(from, to)).find(is_result).unwrap_or_else(|| last(from, to))
}

fn move_by_flag(from: Name<'_>, to: Name<'_>) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    return Ok(rustix::fs::renameat_with(from.0, from.1, to.0, to.1, rustix::fs::RenameFlags::NOREPLACE)?);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    Err(Errno::NOSYS.into())
}

/// Creating a second link fails for an existing name; then the first link is removed.
fn move_by_link(from: Name<'_>, to: Name<'_>) -> io::Result<()> {
    linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?;
    remove(from).inspect_err(|_| drop(remove(to)))
}

/// An empty file reserves the name, and the rename replaces it. Between the two calls the empty file can be seen.
fn move_onto_placeholder(from: Name<'_>, to: Name<'_>) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    drop(openat(to.0, to.1, flags, Mode::RUSR | Mode::WUSR)?);
    let renamed = renameat(from.0, from.1, to.0, to.1).map_err(io::Error::from);
    renamed.inspect_err(|_| drop(remove(to)))
}

fn remove(name: Name<'_>) -> io::Result<()> {
    Ok(unlinkat(name.0, name.1, AtFlags::empty())?)
}

/// Whether the error says that this system or file system does not support the call, or that this process may not make it. Errors of a
/// disk are others.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    use Errno as E;
    let unsupported = [E::INVAL, E::NOSYS, E::NOTSUP, E::OPNOTSUPP, E::NOTTY, E::BADF, E::ISDIR];
    let refused = [E::PERM, E::ACCESS, E::XDEV, E::MLINK];
    E::from_io_error(error).is_some_and(|error| unsupported.contains(&error) || refused.contains(&error))
}

/// The status in metadata of `std` or `cap-std`, whose traits have the same methods.
macro_rules! status {
    ($metadata:expr) => {
        Status {
            kind: match $metadata.file_type() {
                kind if kind.is_file() => Kind::Regular,
                kind if kind.is_dir() => Kind::Folder,
                _ => Kind::Stream,
            },
            size_bytes: $metadata.size(),
            modified_ns: nanoseconds($metadata.mtime(), $metadata.mtime_nsec()),
            changed_ns: nanoseconds($metadata.ctime(), $metadata.ctime_nsec()),
            identity: Some(($metadata.dev(), $metadata.ino())),
            owner: Some(($metadata.mode() & 0o7777, $metadata.uid(), $metadata.gid())),
        }
    };
}

pub(super) fn status(metadata: &Metadata) -> Status {
    status!(metadata)
}

pub(super) fn entry_status(metadata: &cap_std::fs::Metadata) -> Status {
    use cap_std::fs::MetadataExt as _;
    status!(metadata)
}

pub(super) fn status_of(path: &Path) -> io::Result<Status> {
    Ok(status(&fs::metadata(path)?))
}

/// Whether another user may have planted a file or link: in a sticky folder that everybody may write to, owned neither by us nor by the
/// folder's owner. Linux refuses to follow such a link or to open such a FIFO (`protected_symlinks`, `protected_fifos`), but this program
/// reads links itself.
pub(super) fn is_planted(file: &Status, folder: &Status) -> bool {
    let (Some((_, user, _)), Some((mode, owner, _))) = (file.owner, folder.owner) else { return false };
    mode & 0o1002 == 0o1002 && user != owner && user != geteuid().as_raw()
}

/// Whether a new file may get the mode and the owner of the file that it replaces. If another user made the old file, that user could
/// read and change the new one. Root takes over other owners, but only in a folder that nobody else can write to.
pub(crate) fn may_adopt(old: &Status, folder: &Status) -> bool {
    let (Some((_, user, _)), Some((mode, owner, _))) = (old.owner, folder.owner) else { return false };
    let this = geteuid().as_raw();
    user == this || this == 0 && owner == 0 && mode & 0o022 == 0
}

/// On unix every file has metadata.
pub(super) fn is_bare_device(_path: &Path) -> bool {
    false
}

pub(super) fn status_of_handle(file: &File) -> io::Result<Status> {
    Ok(status(&file.metadata()?))
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

pub(super) fn adopt(file: &File, old: &Status) -> io::Result<()> {
    let Some((mode, user, group)) = old.owner else { return Ok(()) };
    // As if the old file had been written to: new content drops the setuid and setgid bits.
    let mut mode = mode & 0o777;
    // Only root may change owners. For other users the new file is their own, as with any editor.
    let new = file.metadata()?;
    let has_group = (new.uid(), new.gid()) == (user, group)
        || fchown(file, Some(user), Some(group)).is_ok()
        || fchown(file, None, Some(group)).is_ok();
    if !has_group {
        // The new file's group is not the old one's, so it gets at most the rights of others.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    // The folder may have given it an access list, whose mask the rights of the group would be.
    #[cfg(target_os = "linux")]
    match rustix::fs::fremovexattr(file, "system.posix_acl_access") {
        Err(error) if error != Errno::NODATA && !is_unsupported(&error.into()) => return Err(error.into()),
        _ => {}
    }
    file.set_permissions(Permissions::from_mode(mode))
}

pub(super) fn wait(file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
    let flags = match readiness {
        Readiness::Readable => PollFlags::IN,
        Readiness::Writable => PollFlags::OUT,
    };
    let timeout = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
    match poll(&mut [PollFd::new(file, flags)], Some(&timeout)) {
        // A closed or broken end counts as ready: the call that follows returns its error.
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn read_at(file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
    let count = buffers.len().min(MAX_BUFFERS);
    Ok(rustix::io::preadv(file, &mut buffers[..count], offset)?)
}

pub(super) fn write_at(file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    let count = buffers.len().min(MAX_BUFFERS);
    Ok(rustix::io::pwritev(file, &buffers[..count], offset)?)
}

pub(super) fn write_ready(file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    {
        use rustix::io::{Errno, ReadWriteFlags, pwritev2};
        let count = buffers.len().min(MAX_BUFFERS);
        match pwritev2(file, &buffers[..count], u64::MAX, ReadWriteFlags::NOWAIT) {
            // Old kernels, FIFOs and terminals do not support the flag.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => {}
            result => return Ok(result?),
        }
    }
    let Some(first) = buffers.iter().find(|buffer| !buffer.is_empty()) else { return Ok(0) };
    Ok(rustix::io::write(file, &first[..first.len().min(PIPE_BUFFER_BYTES)])?)
}

/// The parts of a file that are no holes, as far as `SEEK_DATA` and `SEEK_HOLE` say.
pub(super) fn segments(file: &File, bytes: u64) -> io::Result<Option<Vec<Range<u64>>>> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{SeekFrom, seek};
        let (mut segments, mut at) = (Vec::new(), 0);
        while at < bytes {
            let start = match seek(file, SeekFrom::Data(at)) {
                Ok(start) if start < bytes => start,
                // No data behind this offset.
                Ok(_) | Err(Errno::NXIO) => break,
                Err(error) if is_unsupported(&error.into()) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            at = seek(file, SeekFrom::Hole(start))?.min(bytes);
            if at <= start {
                return Ok(None);
            }
            segments.push(start..at);
        }
        Ok(Some(segments))
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (file, bytes);
        Ok(None)
    }
}

/// The path of a name in a folder, for calls that take no handle: a handle of a folder may be one for opening only.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn path_in(folder: &Dir, name: &OsStr) -> PathBuf {
    use std::os::fd::AsRawFd;
    Path::new("/proc/self/fd").join(folder.as_fd().as_raw_fd().to_string()).join(name)
}

/// A folder in a folder, for the calls that failed with this error of [`path_in`] because there is no /proc, as in a rescue system. `None`
/// for a link or a special file, which only a path reaches.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn without_proc(error: io::Error, folder: &Dir, name: &OsStr) -> io::Result<Option<File>> {
    if error.kind() != io::ErrorKind::NotFound || Path::new("/proc/self/fd").exists() {
        return Err(error);
    }
    open_if_folder(folder, name)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_if_folder(folder: &Dir, name: &OsStr) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(folder, name, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => Ok(Some(opened?.into())),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn attributes(of: Attributed<'_>) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    use rustix::fs::{fgetxattr, flistxattr, lgetxattr, llistxattr};
    let (folder, name) = match of {
        Attributed::File(file) => {
            return read_attributes(|names| flistxattr(file, names), |name, value| fgetxattr(file, name, value));
        }
        Attributed::In(folder, name) => (folder, name),
    };
    let path = path_in(folder, name);
    let read = read_attributes(|names| llistxattr(&path, names), |name, value| lgetxattr(&path, name, value));
    read.or_else(|error| match without_proc(error, folder, name)? {
        Some(folder) => attributes(Attributed::File(&folder)),
        None => Ok(Vec::new()),
    })
}

/// Reads attributes with the calls for their names and for the value of one. Those that would fill the memory are an error.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn read_attributes(
    names: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
    value_of: impl Fn(&OsStr, &mut [u8]) -> rustix::io::Result<usize>,
) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    use std::os::unix::ffi::OsStrExt as _;
    /// Longest list of names, and longest value (`linux/limits.h`).
    const MAX_BYTES: usize = 64 << 10;
    /// Most bytes of all values: more than a tree stores.
    const MAX_ALL_BYTES: usize = 1 << 20;
    // Most files have none.
    let mut small = [0; 256];
    let mut large = Vec::new();
    let listed = match names(&mut small) {
        Ok(bytes) => &small[..bytes],
        Err(Errno::RANGE) => {
            large.resize(MAX_BYTES, 0);
            let bytes = names(&mut large)?;
            &large[..bytes]
        }
        Err(error) if is_unsupported(&error.into()) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let (mut attributes, mut value, mut all_bytes) = (Vec::new(), Vec::new(), 0);
    for name in listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let name = OsStr::from_bytes(name);
        value.resize(MAX_BYTES, 0);
        let bytes = match value_of(name, &mut value) {
            Ok(bytes) => bytes,
            // Removed since it was listed, or only readable to others.
            Err(Errno::NODATA | Errno::PERM | Errno::OPNOTSUPP) => continue,
            Err(error) => return Err(error.into()),
        };
        all_bytes += bytes;
        if all_bytes > MAX_ALL_BYTES {
            return Err(Errno::FBIG.into());
        }
        attributes.push((name.to_owned(), value[..bytes].to_vec()));
    }
    Ok(attributes)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn set_attribute(of: Attributed<'_>, name: &OsStr, value: &[u8]) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fsetxattr, lsetxattr};
    let set = match of {
        Attributed::File(file) => fsetxattr(file, name, value, XattrFlags::empty()),
        Attributed::In(folder, place) => lsetxattr(path_in(folder, place), name, value, XattrFlags::empty()),
    };
    match (set, of) {
        // More than this file system can hold.
        (Err(Errno::NOSPC | Errno::TOOBIG | Errno::RANGE), _) => Err(io::ErrorKind::Unsupported.into()),
        (Err(error), Attributed::In(folder, place)) => match without_proc(error.into(), folder, place) {
            Ok(Some(folder)) => set_attribute(Attributed::File(&folder), name, value),
            // A folder that its owner may not read has no handle.
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
            _ => Err(io::ErrorKind::Unsupported.into()),
        },
        (set, _) => Ok(set?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn attributes(_of: Attributed<'_>) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    Ok(Vec::new())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn set_attribute(_of: Attributed<'_>, _name: &OsStr, _value: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn user_ids() -> Option<[u32; 2]> {
    Some([geteuid().as_raw(), rustix::process::getegid().as_raw()])
}

pub(super) fn owner_name(id: u32, is_group: bool) -> Option<String> {
    use nix::unistd::{Gid, Group, Uid, User};
    match is_group {
        true => Some(Group::from_gid(Gid::from_raw(id)).ok()??.name),
        false => Some(User::from_uid(Uid::from_raw(id)).ok()??.name),
    }
}

pub(super) fn owner_id(name: &str, is_group: bool) -> Option<u32> {
    use nix::unistd::{Group, User};
    match is_group {
        true => Some(Group::from_name(name).ok()??.gid.as_raw()),
        false => Some(User::from_name(name).ok()??.uid.as_raw()),
    }
}

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}

#[cfg(test)]
mod tests {
    use super::super::tolerate::tolerate;
    use super::*;

    #[test]
    fn every_way_of_moving_takes_only_free_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for way in WAYS_TO_MOVE {
            fs::write(path("new"), b"new").unwrap();
            fs::write(path("taken"), b"old").unwrap();
            let [new, taken, free] = ["new", "taken", "free"].map(path);
            let error = way((CWD, &new), (CWD, &taken)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(fs::read(&new).unwrap() == b"new" && fs::read(&taken).unwrap() == b"old");
            assert!(way((CWD, &path("missing")), (CWD, &free)).is_err() && !free.exists());
            way((CWD, &new), (CWD, &free)).unwrap();
            assert!(!new.exists() && fs::read(&free).unwrap() == b"new");
            fs::remove_file(free).unwrap();
        }
    }

    /// By fsync(2): EIO, ENOSPC and EDQUOT report lost data.
    #[test]
    fn only_errors_of_the_disk_discard_a_file() {
        use Errno as E;
        let harmless = [E::INVAL, E::OPNOTSUPP, E::NOSYS, E::BADF, E::NOTTY, E::ISDIR, E::ACCESS, E::PERM];
        for error in [E::IO, E::NOSPC, E::DQUOT, E::NOENT, E::MFILE].into_iter().chain(harmless) {
            assert_eq!(tolerate(Err(error.into()), "sync a test").is_ok(), harmless.contains(&error), "{error}");
        }
        assert!(tolerate(Err(io::ErrorKind::Unsupported.into()), "sync a test").is_err());
    }

    /// 40 attributes: memory holds their bytes and no buffers, and no more of them than a tree does.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn attributes_take_as_much_memory_as_they_have_bytes() {
        let list: Vec<u8> = (0..40).flat_map(|number| format!("user.{number}\0").into_bytes()).collect();
        let names = |buffer: &mut [u8]| {
            buffer.get_mut(..list.len()).ok_or(Errno::RANGE)?.copy_from_slice(&list);
            Ok(list.len())
        };
        let found = read_attributes(names, |_, _| Ok(1)).unwrap();
        assert_eq!(found.len(), 40);
        assert!(found.iter().map(|(_, value)| value.capacity()).sum::<usize>() < 4096);
        let error = read_attributes(names, |_, value| Ok(value.len())).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::FBIG));
    }

    /// Without /proc, of links and special files no attributes can be reached.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn only_folders_are_opened_for_their_attributes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        fs::write(folder.path().join("file"), b"").unwrap();
        std::os::unix::fs::symlink("folder", folder.path().join("link")).unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        for (name, is_opened) in [(".", true), ("folder", true), ("file", false), ("link", false)] {
            assert_eq!(open_if_folder(&dir, name.as_ref()).unwrap().is_some(), is_opened, "{name}");
        }
        assert_eq!(open_if_folder(&dir, "gone".as_ref()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_what_this_user_decided_is_taken_over() {
        let (this, other) = (geteuid().as_raw(), 12345);
        let status = |mode, user| Status { owner: Some((mode, user, 0)), ..status(&fs::metadata(".").unwrap()) };
        let here = [(this, (0o1777, other), true), (this, (0o755, this), true)];
        let roots = [(other, (0o755, 0), this == 0), (other, (0o700, 0), this == 0)];
        let shared = [(0o755, other), (0o775, 0), (0o757, 0), (0o1777, 0)].map(|folder| (other, folder, false));
        for (user, (mode, owner), expected) in here.into_iter().chain(roots).chain(shared) {
            assert_eq!(
                may_adopt(&status(0o666, user), &status(mode, owner)),
                expected,
                "{user} in {mode:o} of {owner}"
            );
        }
    }
}
