//! Paths that name an open descriptor of this process, such as `/dev/stdin` and `/dev/fd/3`. Opening such a path makes a new handle: it
//! fails for a socket and after a change of user, begins at the start of a file and ends at the name of the file. So the descriptor itself
//! is used.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process is a command, whose user can name only what it has inherited.
static IS_COMMAND: AtomicBool = AtomicBool::new(false);

/// From now on only inherited descriptors count as open: to the user of a command, one that the command opened itself is closed.
pub fn only_inherited() {
    IS_COMMAND.store(true, Ordering::Relaxed);
}

/// The number of the descriptor that this path names, if it names one.
pub fn number(path: &Path) -> Option<u32> {
    let standard = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    let of_process = format!("/proc/{}/fd", std::process::id());
    let folders = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd", &of_process];
    let below = || folders.iter().find_map(|folder| path.strip_prefix(folder).ok())?.to_str();
    let numbered = || below().filter(|name| !name.starts_with('+'))?.parse().ok();
    let named = standard.iter().position(|name| path == Path::new(name)).map(|number| number as u32);
    named.or_else(numbered).filter(|_| cfg!(unix))
}

/// Whether this path names a descriptor of some process: a link whose text need not be a path.
pub fn is_of_process(path: &Path) -> bool {
    let names: Vec<_> = path.iter().filter_map(|name| name.to_str()).collect();
    let is_number = |name: &str| name.parse::<u32>().is_ok();
    matches!(names[..], ["/", "proc", process, .., "fd", number] if is_number(process) && is_number(number))
}

/// Opens a file for reading. A path that names a descriptor refers to that descriptor.
pub fn open(path: &Path) -> io::Result<File> {
    number(path).map_or_else(|| File::open(path), |number| take(number, false))
}

/// Another handle to an open descriptor, with the same position. An error if it is closed, or not open for reading or writing.
#[cfg(unix)]
pub fn take(number: u32, for_writing: bool) -> io::Result<File> {
    use std::os::fd::{AsFd as _, BorrowedFd};

    use rustix::fs::{OFlags, fcntl_getfl};
    use rustix::io::{FdFlags, fcntl_getfd};
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let error = |what| io::Error::new(io::ErrorKind::InvalidInput, format!("descriptor {number} is not open{what}"));
    let descriptor = match (number, i32::try_from(number)) {
        (0, _) => stdin.as_fd(),
        (1, _) => stdout.as_fd(),
        (2, _) => stderr.as_fd(),
        // SAFETY: `raw` is above 2, so not -1. The borrow ends with this function, which only asks for flags and duplicates: for a closed
        // number the system returns an error, and changes nothing.
        (_, Ok(raw)) => unsafe { BorrowedFd::borrow_raw(raw) },
        _ => return Err(error("")),
    };
    let flags = fcntl_getfd(descriptor).map_err(|_| error(""))?;
    // What the parent process left open has no such flag. What this program has opened since does.
    if number > 2 && flags.contains(FdFlags::CLOEXEC) && IS_COMMAND.load(Ordering::Relaxed) {
        return Err(error(""));
    }
    let access = fcntl_getfl(descriptor)? & OFlags::RWMODE;
    if access != OFlags::RDWR && (access == OFlags::WRONLY) != for_writing {
        return Err(error(if for_writing { " for writing" } else { " for reading" }));
    }
    Ok(descriptor.try_clone_to_owned()?.into())
}

/// Standard input or output. Other handles have no numbers here.
#[cfg(windows)]
pub fn take(number: u32, _for_writing: bool) -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    let (stdin, stdout) = (io::stdin(), io::stdout());
    Ok(if number == 0 { stdin.as_handle() } else { stdout.as_handle() }.try_clone_to_owned()?.into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// By fd(4), proc(5) and the manual of bash, which names `/dev/fd/63` for `>(command)`.
    #[test]
    fn paths_of_descriptors() {
        let of_process = format!("/proc/{}/fd/5", std::process::id());
        let named =
            [("/dev/stdin", 0), ("/dev/stdout", 1), ("/dev/stderr", 2), ("/dev/fd/63", 63), ("/dev//fd/./3", 3)];
        let others = [("/proc/self/fd/4", 4), ("/proc/thread-self/fd/4", 4), (&*of_process, 5)];
        for (path, expected) in named.into_iter().chain(others) {
            assert_eq!(number(Path::new(path)), Some(expected), "{path}");
        }
        let wrong = ["/dev/fd/x", "/dev/fd/+1", "/dev/fd/3/x", "/dev/fd/99999999999", "/dev/fd", "/dev/fd/"];
        for path in wrong.into_iter().chain(["/dev/fd/3/4", "/proc/1/fd/1", "/dev/null", "dev/stdin", "-"]) {
            assert_eq!(number(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn the_descriptor_itself_is_used() {
        let path = std::env::temp_dir().join(format!("tress-descriptor-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        // A name that is gone, and a position that is not the start. No path can open a socket.
        std::fs::remove_file(&path).unwrap();
        file.write_all(b"not secret").unwrap();
        file.seek(io::SeekFrom::Start(4)).unwrap();
        let (socket, mut other) = UnixStream::pair().unwrap();
        other.write_all(b"secret").unwrap();
        drop(other);
        for raw in [file.as_raw_fd(), socket.as_raw_fd()] {
            let mut text = String::new();
            open(Path::new(&format!("/dev/fd/{raw}"))).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "secret");
        }
        assert_eq!(file.stream_position().unwrap(), 10);
    }

    #[test]
    fn closed_descriptors_and_wrong_directions_are_errors() {
        let (reader, writer) = io::pipe().unwrap();
        let [reading, writing] = [reader.as_raw_fd(), writer.as_raw_fd()].map(|raw| raw as u32);
        let open = [(reading, false, None), (writing, true, None)];
        let wrong = [(reading, true, Some(" for writing")), (writing, false, Some(" for reading"))];
        let closed = [(999_999_999, false, Some("")), (u32::MAX, true, Some(""))];
        for (number, for_writing, expected) in open.into_iter().chain(wrong).chain(closed) {
            let error = take(number, for_writing).err().map(|error| error.to_string());
            assert_eq!(error, expected.map(|what| format!("descriptor {number} is not open{what}")));
        }
    }
}
