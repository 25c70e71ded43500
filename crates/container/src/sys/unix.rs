//! Calls that are specific to unix, by `rustix` and the library's unix extensions.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsFd;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::process::geteuid;

use crate::sys::{Kind, Readers, Readiness, Status};

/// Number of bytes that a ready pipe takes without blocking, by POSIX.
#[cfg(target_os = "linux")]
const PIPE_BUFFER_BYTES: usize = 4096;
#[cfg(not(target_os = "linux"))]
const PIPE_BUFFER_BYTES: usize = 512;

/// Largest number of buffers in one vectored call (`IOV_MAX`).
const MAX_BUFFERS: usize = 1024;

/// Returns the file. If it is a pipe, it gets a buffer of a mebibyte, the most that Linux allows by default, instead of 64 KiB: the
/// system then changes less often between the two processes. Other systems, and a refusal, leave it as it is.
fn with_large_pipe(file: File) -> File {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&file, 1 << 20);
    file
}

pub(super) fn stdin() -> io::Result<File> {
    Ok(with_large_pipe(io::stdin().as_fd().try_clone_to_owned()?.into()))
}

pub(super) fn stdout() -> io::Result<File> {
    Ok(with_large_pipe(io::stdout().as_fd().try_clone_to_owned()?.into()))
}

/// A FIFO is opened without waiting for a writer: readers wait for its data, and check the cancel flag while they wait.
#[cfg(target_os = "linux")]
pub(super) fn open(path: &Path) -> io::Result<File> {
    let is_fifo = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    let flags = if is_fifo { OFlags::NONBLOCK } else { OFlags::empty() };
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
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

#[cfg(target_os = "linux")]
pub(super) fn create_anonymous(folder: &Path, readers: Readers) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file: File = match rustix::fs::open(folder, flags, Mode::from_raw_mode(mode(readers))) {
        Ok(file) => file.into(),
        // Old kernels and some file systems return EISDIR or EINVAL for an unsupported flag.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR | rustix::io::Errno::INVAL) => {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Err(error) => return Err(error.into()),
    };
    // `link` goes through /proc: find out now whether /proc exists, not when all the work is done.
    match fs::metadata(handle_path(&file)) {
        Ok(_) => Ok(file),
        Err(_) => Err(io::ErrorKind::Unsupported.into()),
    }
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

pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every kernel and file system supports the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            result => return Ok(result?),
        }
    }
    // Creating a second link also fails for an existing name; then the first link is removed.
    fs::hard_link(from, to)?;
    fs::remove_file(from).inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
}

pub(super) fn status(metadata: &Metadata) -> Status {
    Status {
        kind: match metadata.file_type() {
            kind if kind.is_file() => Kind::Regular,
            kind if kind.is_dir() => Kind::Folder,
            _ => Kind::Stream,
        },
        size_bytes: metadata.size(),
        modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        identity: Some((metadata.dev(), metadata.ino())),
        owner: Some((metadata.mode() & 0o7777, metadata.uid(), metadata.gid())),
    }
}

pub(super) fn status_of(path: &Path) -> io::Result<Status> {
    Ok(status(&fs::metadata(path)?))
}

/// Rejects a link that another user may have planted: a link in a sticky folder that everybody may write to, owned neither by us nor by
/// the folder's owner. Linux refuses to follow such a link (`protected_symlinks`), but this program reads links itself.
pub(super) fn refuse_planted(path: &Path, link: &Metadata) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => fs::metadata(parent)?,
        _ => fs::metadata(".")?,
    };
    let is_shared = folder.mode() & 0o1002 == 0o1002;
    if is_shared && link.uid() != folder.uid() && link.uid() != geteuid().as_raw() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "symbolic link of another user in a folder that everybody shares",
        ));
    }
    Ok(())
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

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems cannot sync a folder. That is no reason to discard a complete file.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
