//! The folder into which a tree is unpacked: a temporary folder next to the target, which gets the target's name when it is complete.
use super::remove;
use crate::sys::{Readers, System};
use crate::{Error, ErrorKind};
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use tress_terminal::place::is_below;
use tress_terminal::shown;

/// A target and its temporary folder. If it is dropped before [`UnpackTarget::install`], it removes the unpacked files.
pub(crate) struct UnpackTarget<'a> {
    system: &'a dyn System,
    /// The target's path. Links are resolved if the target exists.
    path: PathBuf,
    parent: Dir,
    name: OsString,
    temporary: OsString,
    /// Whether an existing folder is to be replaced.
    replaces: bool,
    is_installed: bool,
    /// Descriptors for removing the unpacked files where unpacking ran out of them.
    reserve: Vec<Dir>,
}

/// Descriptors that [`remove::remove_folder`] needs at most, with those by which `cap-std` checks `/proc`.
const RESERVE: usize = 8;

impl<'a> UnpackTarget<'a> {
    /// Makes the temporary folder next to the target.
    ///
    /// Without `force` an existing target is an error. With `force`, only a folder can be replaced, and neither the current folder nor one
    /// above it, which nobody intends to replace.
    pub(crate) fn create(system: &'a dyn System, target: &Path, force: bool) -> Result<Self, Error> {
        let at_target = |error: io::Error| Error::from(error).at(target);
        let exists = || Error::new(ErrorKind::OutputExists).at(target);
        let replaces = match system.metadata_of(target) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(at_target(error)),
        };
        if replaces && !force {
            return Err(exists());
        }
        let path = match replaces {
            true => system.canonical(target).map_err(at_target)?,
            false => target.to_path_buf(),
        };
        if replaces {
            // Nothing is above a current folder that was removed, and its path may lead through folders of others.
            let current = std::env::current_dir().map(|path| system.canonical(&path).unwrap_or(path));
            if !path.is_dir() || current.is_ok_and(|current| is_below(&current, &path)) {
                return Err(
                    exists().with_detail("only a folder can be replaced, not the current folder or one above it")
                );
            }
            if let Some(mount) = mount_below(&path) {
                let detail = format!("{} is a mount", shown::given(&mount));
                return Err(at_target(io::ErrorKind::ResourceBusy.into()).with_detail(detail));
            }
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(at_target(io::ErrorKind::InvalidInput.into()));
        };
        let beside = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let name = name.to_owned();
        let parent = system.open_folder(beside).map_err(at_target)?;
        let reserve = (0..RESERVE).map(|_| parent.try_clone()).collect::<io::Result<_>>().map_err(at_target)?;
        let temporary = take_name(|name| system.create_folder_in(&parent, name, Readers::Owner)).map_err(at_target)?;
        Ok(UnpackTarget { system, path, parent, name, temporary, replaces, is_installed: false, reserve })
    }

    pub(crate) fn parent(&self) -> &Dir {
        &self.parent
    }

    /// The temporary folder's name in the parent.
    pub(crate) fn temporary(&self) -> &OsStr {
        &self.temporary
    }

    /// Gives the temporary folder the target's name. When it returns, the names are on the disk.
    pub(crate) fn install(mut self) -> Result<(), Error> {
        if self.replaces {
            self.exchange()?;
        } else {
            self.system
                .move_folder_in(&self.parent, &self.temporary, &self.name)
                .map_err(|error| self.failed(error))?;
        }
        if let Err(error) = self.system.sync_folder_in(&self.parent) {
            // The name is not durable, so it must be removed. If that fails too, the new tree stays, because it is complete.
            let undone = match self.replaces {
                true => self.exchange().is_ok(),
                false => self.system.move_folder_in(&self.parent, &self.name, &self.temporary).is_ok(),
            };
            self.is_installed = !undone;
            let error = Error::from(error).at(&self.path);
            return Err(match self.replaces && !undone {
                true => self.with_old_folder(error, &self.temporary),
                false => error,
            });
        }
        self.is_installed = true;
        match self.replaces {
            true => remove::remove_folder(self.system, &self.parent, &self.temporary)
                .map_err(|error| Error::from(error).at(self.path.with_file_name(&self.temporary))),
            false => Ok(()),
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        match error.kind() {
            // Another process made the target while this one unpacked.
            io::ErrorKind::AlreadyExists => Error::new(ErrorKind::OutputExists).at(&self.path),
            _ => Error::from(error).at(&self.path),
        }
    }

    /// Adds the present name of the old folder to an error.
    fn with_old_folder(&self, error: Error, name: &OsStr) -> Error {
        error.with_detail(format!("the old folder is now {}", shown::given(self.path.with_file_name(name))))
    }

    /// Exchanges the names of the target and the temporary folder, in one step if the system can.
    fn exchange(&mut self) -> Result<(), Error> {
        match self.system.exchange_in(&self.parent, &self.temporary, &self.name) {
            Ok(true) => Ok(()),
            Ok(false) => self.exchange_in_steps(),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Like [`UnpackTarget::exchange`], where a rename needs a free name. Afterwards the old folder has a new temporary name. After an
    /// error it has the target's name, or the name that the error states.
    fn exchange_in_steps(&mut self) -> Result<(), Error> {
        let aside = take_name(|aside| self.system.move_folder_in(&self.parent, &self.name, aside))
            .map_err(|error| self.failed(error))?;
        if let Err(error) = self.system.move_folder_in(&self.parent, &self.temporary, &self.name) {
            let back = self.system.move_folder_in(&self.parent, &aside, &self.name);
            return Err(match back {
                Ok(()) => self.failed(error),
                Err(_) => self.with_old_folder(self.failed(error), &aside),
            });
        }
        self.temporary = aside;
        Ok(())
    }
}

impl Drop for UnpackTarget<'_> {
    fn drop(&mut self) {
        if !self.is_installed {
            self.reserve.clear();
            // The earlier error is the one to report.
            drop(remove::remove_folder(self.system, &self.parent, &self.temporary));
        }
    }
}

/// A mount at this folder or below it, which can be neither renamed nor removed with the folder.
#[cfg(target_os = "linux")]
fn mount_below(folder: &Path) -> Option<PathBuf> {
    use rustix::fs::{AtFlags, StatxFlags};
    use std::os::unix::ffi::OsStringExt as _;
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mounts.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|&byte| byte == b' ');
        Some((std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok()?, fields.nth(3)?))
    });
    // Spaces, tabs, ends of lines and backslashes are escaped.
    let unescaped = |point: &[u8]| {
        let mut parts = point.split(|&byte| byte == b'\\');
        let mut path = parts.next().unwrap_or_default().to_vec();
        for part in parts {
            let octal = part.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
            path.extend(octal.into_iter().chain(part.iter().skip(3).copied()));
        }
        PathBuf::from(OsString::from_vec(path))
    };
    // A later mount may hide one that is listed.
    let is_seen = |&(number, ref point): &(u64, PathBuf)| {
        let found = rustix::fs::statx(rustix::fs::CWD, point, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID);
        found.is_ok_and(|found| found.stx_mask & StatxFlags::MNT_ID.bits() == 0 || found.stx_mnt_id == number)
    };
    let mut below =
        mounts.map(|(number, point)| (number, unescaped(point))).filter(|(_, point)| point.starts_with(folder));
    below.find(is_seen).map(|(_, point)| point)
}

#[cfg(not(target_os = "linux"))]
fn mount_below(_folder: &Path) -> Option<PathBuf> {
    None
}

/// Calls `take` with names until one is free: `.tress-` and sixteen hexadecimal digits. The names need not be secret, because `take`
/// fails if a name exists.
fn take_name(take: impl Fn(&OsStr) -> io::Result<()>) -> io::Result<OsString> {
    let random = RandomState::new();
    let mut attempt = 0;
    loop {
        let name = OsString::from(format!(".tress-{:016x}", random.hash_one(attempt)));
        match take(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            taken => return taken.map(|()| name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Os;
    use crate::testing::faulty::{Fault, Faulty};
    use std::fs;

    #[test]
    fn both_ways_of_exchanging_do_the_same() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("target");
        fs::create_dir_all(path.join("old")).unwrap();
        let mut target = UnpackTarget::create(&Os, &path, true).unwrap();
        for exchange in [UnpackTarget::exchange_in_steps, UnpackTarget::exchange] {
            exchange(&mut target).unwrap();
            assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
            exchange(&mut target).unwrap();
            assert!(path.join("old").is_dir());
        }
        drop(target);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// One call fails, or all calls from one on.
    #[test]
    fn a_failed_exchange_in_steps_keeps_the_old_folder_or_reports_its_name() {
        for fault in [Fault::Error(io::ErrorKind::StorageFull), Fault::Gone] {
            for calls in 0.. {
                let folder = tempfile::TempDir::new().unwrap();
                let path = folder.path().join("target");
                fs::create_dir_all(path.join("old")).unwrap();
                let system = Faulty::new(calls, fault, true);
                let mut target = UnpackTarget::create(&Os, &path, true).unwrap();
                target.system = &system;
                let result = target.exchange_in_steps();
                if !system.has_failed() {
                    result.unwrap();
                    assert!(calls >= 2);
                    break;
                }
                let error = result.unwrap_err();
                target.system = &Os;
                drop(target);
                let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
                assert_eq!(left.len(), 1, "{fault:?} in call {calls}: {left:?}");
                assert!(left[0].join("old").is_dir());
                let name = left[0].file_name().unwrap();
                let is_reported = error.to_string().ends_with(name.to_str().unwrap());
                assert!(name == "target" || is_reported, "{fault:?} in call {calls}: {error}");
            }
        }
    }
}
