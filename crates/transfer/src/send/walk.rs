//! The files and folders to send, under relative names.
//!
//! A folder is walked depth first in the order of its names. Each level holds one folder's handle and names. Everything is
//! opened relative to these handles, so that a link which replaces a folder during the walk is not followed. Special files are
//! errors, and the other files are sent. An input that is itself a link is followed.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::wire::names::components;
use tress_container::sys::System;
use tress_container::tree::Exclude;
use tress_container::tree::names::to_bytes;
use tress_container::{Error, ErrorKind};

/// An entry of the walk.
#[derive(Debug)]
pub(crate) enum WalkItem {
    Folder {
        path: PathBuf,
        name: Vec<u8>,
    },
    Link {
        folder: Arc<Dir>,
        entry: OsString,
        path: PathBuf,
        name: Vec<u8>,
    },
    /// To be opened as `entry` of `folder`: by then the path may name another file.
    File {
        folder: Arc<Dir>,
        entry: OsString,
        path: PathBuf,
        name: Vec<u8>,
        size_bytes: u64,
    },
}

/// The last component of a path. For `.` and `..` it is the real name of the folder.
pub(crate) fn base_name(system: &dyn System, path: &Path) -> Result<Vec<u8>, Error> {
    let name = match path.file_name() {
        Some(name) => name.to_owned(),
        None => {
            let real = system.canonical(path).map_err(|error| Error::from(error).at(path))?;
            real.file_name().ok_or_else(|| Error::new(ErrorKind::BadName).at(path))?.to_owned()
        }
    };
    checked(to_bytes(&name)).map_err(|reason| Error::new(ErrorKind::BadName).with_detail(reason).at(path))
}

/// A name that a receiver may take, or the reason why it cannot. `None`: it is not Unicode, on a system whose names are not bytes.
fn checked(name: Option<&[u8]>) -> Result<Vec<u8>, &'static str> {
    let name = name.ok_or("the name is not Unicode")?;
    components(name).map(|_| name.to_vec())
}

/// Walks a folder. An entry that cannot be sent yields an error, and the walk continues.
pub(crate) struct Walk<'a> {
    system: &'a dyn System,
    root: PathBuf,
    exclude: &'a Exclude,
    levels: Vec<WalkLevel>,
}

struct WalkLevel {
    folder: Arc<Dir>,
    path: PathBuf,
    name: Vec<u8>,
    /// Names not yet visited, the next one last.
    entries: Vec<OsString>,
}

impl<'a> Walk<'a> {
    /// Opens the folder. The returned item is the folder itself.
    pub(crate) fn new(
        system: &'a dyn System,
        root: &Path,
        name: Vec<u8>,
        exclude: &'a Exclude,
    ) -> Result<(Self, WalkItem), Error> {
        let folder = Dir::open_ambient_dir(root, cap_std::ambient_authority());
        let folder = folder.map_err(|error| Error::from(error).at(root))?;
        let level = WalkLevel::list(system, folder, root.to_path_buf(), name.clone())?;
        let walk = Self { system, root: root.into(), exclude, levels: vec![level] };
        Ok((walk, WalkItem::Folder { path: root.into(), name }))
    }
}

impl WalkLevel {
    fn list(system: &dyn System, folder: Dir, path: PathBuf, name: Vec<u8>) -> Result<Self, Error> {
        let listed = || -> io::Result<_> {
            let entries = system.names_in(&path)?;
            let opened = system.status(&folder.try_clone()?.into_std_file())?;
            Ok((entries, opened.identity, system.status_of(&path)?.identity))
        };
        let (mut entries, opened, found) = listed().map_err(|error| Error::from(error).at(&path))?;
        // The listed names belong to another folder.
        if cfg!(unix) && opened != found {
            return Err(Error::new(ErrorKind::InputChanged).at(path));
        }
        entries.sort_unstable_by(|one, other| other.as_encoded_bytes().cmp(one.as_encoded_bytes()));
        Ok(Self { folder: Arc::new(folder), path, name, entries })
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<WalkItem, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(entry) = level.entries.pop() else {
                self.levels.pop();
                continue;
            };
            if self.exclude.matches(level.path.strip_prefix(&self.root).unwrap_or(&level.path), &entry) {
                continue;
            }
            let path = level.path.join(&entry);
            let name = to_bytes(&entry).map(|entry| [&level.name[..], b"/", entry].concat());
            let name = match checked(name.as_deref()) {
                Ok(name) => name,
                // Not `BadName`, which is an error of the command line.
                Err(reason) => return Some(Err(Error::new(ErrorKind::TreePath).with_detail(reason).at(path))),
            };
            let metadata = match self.system.metadata_of(&path) {
                Ok(metadata) => metadata,
                Err(error) => return Some(Err(Error::from(error).at(path))),
            };
            if metadata.is_dir() {
                let folder = self.system.open_folder_in(&level.folder, &entry);
                let folder = folder.map_err(|error| Error::from(error).at(&path));
                let level = folder.and_then(|folder| WalkLevel::list(self.system, folder, path.clone(), name.clone()));
                return Some(level.map(|level| {
                    self.levels.push(level);
                    WalkItem::Folder { path, name }
                }));
            }
            if metadata.is_symlink() {
                return Some(Ok(WalkItem::Link { folder: level.folder.clone(), entry, path, name }));
            }
            if !metadata.is_file() {
                let error = Error::new(ErrorKind::TreeSpecialFile);
                return Some(Err(error.with_detail("special files inside a folder are not sent").at(path)));
            }
            let (folder, size_bytes) = (level.folder.clone(), metadata.len());
            return Some(Ok(WalkItem::File { folder, entry, path, name, size_bytes }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use tress_container::sys::Os;

    #[test]
    fn folders_before_files_links_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("top");
        fs::create_dir_all(root.join("b/empty")).unwrap();
        fs::write(root.join("a"), b"1").unwrap();
        fs::write(root.join("b/c"), b"22").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("a", root.join("l")).unwrap();
        let none = Exclude::default();
        let (walk, first) = Walk::new(&Os, &root, b"top".to_vec(), &none).unwrap();
        assert!(matches!(first, WalkItem::Folder { name, .. } if name == b"top"));
        let items: Vec<_> = walk.collect();
        let names: Vec<String> = items
            .iter()
            .map(|item| match item {
                Ok(WalkItem::Folder { name, .. }) => format!("{}/", String::from_utf8_lossy(name)),
                Ok(WalkItem::Link { path, .. }) => format!("link {}", path.file_name().unwrap().display()),
                Ok(WalkItem::File { name, size_bytes, .. }) => {
                    format!("{} {size_bytes}", String::from_utf8_lossy(name))
                }
                Err(error) => {
                    format!("{:?} {}", error.kind, error.path.as_ref().unwrap().file_name().unwrap().display())
                }
            })
            .collect();
        let link = cfg!(unix).then_some("link l");
        assert_eq!(names, [&["top/a 1", "top/b/", "top/b/c 2", "top/b/empty/"], link.as_slice()].concat());
        let exclude = Exclude::parse(&["b/c".into(), "l".into()]).unwrap();
        let left = Walk::new(&Os, &root, b"top".to_vec(), &exclude).unwrap().0.map(|item| item.unwrap());
        let left: Vec<_> = left.filter(|item| !matches!(item, WalkItem::Folder { .. })).collect();
        assert!(matches!(&left[..], [WalkItem::File { name, .. }] if name == b"top/a"));
        assert_eq!(base_name(&Os, &root.join(".")).unwrap(), b"top");
        assert_eq!(base_name(&Os, Path::new("/")).unwrap_err().kind, ErrorKind::BadName);
    }
    /// A folder is replaced by a link after its names were listed: the files that were in it are sent.
    #[cfg(unix)]
    #[test]
    fn a_folder_that_becomes_a_link_leads_nowhere() {
        use crate::send::opened::OpenInput;
        static OS: Os = Os;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("top/sub/deeper")).unwrap();
        fs::create_dir_all(path("outside/deeper")).unwrap();
        for name in ["a", "deeper/b"] {
            fs::write(path("top/sub").join(name), b"inside").unwrap();
            fs::write(path("outside").join(name), b"outside").unwrap();
        }
        let none = Exclude::default();
        let (mut walk, _) = Walk::new(&OS, &path("top"), b"top".to_vec(), &none).unwrap();
        assert!(matches!(walk.next(), Some(Ok(WalkItem::Folder { name, .. })) if name == b"top/sub"));
        fs::rename(path("top/sub"), path("moved")).unwrap();
        std::os::unix::fs::symlink(path("outside"), path("top/sub")).unwrap();
        let mut read = 0;
        for item in walk {
            match item {
                Ok(WalkItem::File { folder, entry, path, .. }) => {
                    let mut bytes = [0; 6];
                    let opened = OpenInput::in_folder(&OS, &folder, &entry, path).unwrap();
                    opened.read_exact_at(&mut [io::IoSliceMut::new(&mut bytes)], 0).unwrap();
                    assert_eq!(&bytes, b"inside");
                    read += 1;
                }
                Ok(other) => panic!("{other:?} is not there any more"),
                Err(error) => assert_eq!(error.kind, ErrorKind::InputChanged),
            }
        }
        assert_eq!(read, 1);
        // A FIFO that replaces a file is not waited for.
        let (mut walk, _) = Walk::new(&OS, &path("moved"), b"moved".to_vec(), &none).unwrap();
        let Some(Ok(WalkItem::File { folder, entry, .. })) = walk.next() else { panic!("a file") };
        fs::remove_file(path("moved/a")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("moved/a"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(OpenInput::in_folder(&OS, &folder, &entry, path("a")).err().unwrap().kind, ErrorKind::InputChanged);
    }
}
