//! Gives unpacked entries their owners, attributes, modes and times, and counts what it leaves out.
use super::attributes;
use super::blocks::{damaged, shown};
use super::entry::{EntryKind, SET_IDS, TreeEntry};
use crate::Error;
use crate::format::Version;
use crate::sys::{Attributed, System, is_unsupported};
use cap_std::fs::Dir;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Most owners whose numbers are kept: each entry of a hostile tree may have another.
const MAX_OWNERS: usize = 10_000;

/// How a tree is unpacked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct UnpackOptions {
    /// The stream's rules.
    pub version: Version,
    /// Replaces an existing folder as a whole, after the new one is complete.
    pub force: bool,
    /// Makes everything that the tree holds. Otherwise what could harm is left out: links that lead out of the folder, devices and FIFOs,
    /// setuid and setgid bits, owners, access lists, and attributes other than `user.*`.
    pub preserve: bool,
    /// Owners are set by their numbers. Otherwise by their names, where this system knows them.
    pub numeric_owner: bool,
}

impl Default for UnpackOptions {
    fn default() -> Self {
        Self { version: Version::V2, force: false, preserve: false, numeric_owner: false }
    }
}

/// What unpacking can leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOutKind {
    /// Links that lead out of the folder.
    Links,
    /// Devices and FIFOs.
    SpecialFiles,
    /// Hard links to files that have as many as the file system can hold.
    HardLinks,
    /// Setuid and setgid bits.
    SetIds,
    /// Owners other than the user.
    Owners,
    /// Access lists.
    AccessLists,
    /// Extended attributes.
    Attributes,
}

impl LeftOutKind {
    /// Whether entries are missing, and not only properties of entries.
    pub fn is_entry(self) -> bool {
        matches!(self, Self::Links | Self::SpecialFiles | Self::HardLinks)
    }

    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Links => "links that lead out of the folder",
            Self::SpecialFiles => "devices and FIFOs",
            Self::HardLinks => "hard links beyond the limit of the file system",
            Self::SetIds => "setuid and setgid bits",
            Self::Owners => "owners",
            Self::AccessLists => "access lists",
            Self::Attributes => "extended attributes",
        }
    }
}

/// What unpacking left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// What it is.
    pub kind: LeftOutKind,
    /// Number of entries.
    pub count: u64,
    /// Path of the first entry, as the tree has it: untrusted.
    pub first: PathBuf,
}

pub(crate) struct Properties<'a> {
    system: &'a dyn System,
    pub(crate) options: UnpackOptions,
    left_out: Vec<LeftOut>,
    /// Numbers of users and groups by name and whether it is a group's.
    ids: HashMap<(Vec<u8>, bool), Option<u32>>,
    /// Owner and group of the files that this process makes, if the system has them.
    user_ids: Option<[u32; 2]>,
}

impl<'a> Properties<'a> {
    pub(crate) fn new(system: &'a dyn System, options: UnpackOptions) -> Self {
        Self { system, options, left_out: Vec::new(), ids: HashMap::new(), user_ids: system.user_ids() }
    }

    pub(crate) fn into_left_out(self) -> Vec<LeftOut> {
        self.left_out
    }

    pub(crate) fn leave_out(&mut self, kind: LeftOutKind, entry: &TreeEntry) {
        match self.left_out.iter_mut().find(|left| left.kind == kind) {
            Some(left) => left.count += 1,
            None => self.left_out.push(LeftOut { kind, count: 1, first: shown(&entry.path) }),
        }
    }

    /// Sets owner, attributes, mode, access lists and time, in this order: a new owner clears setuid bits and capabilities, attributes need
    /// the right to write, a mode changes the access list, and all but the time change nothing else.
    pub(crate) fn apply(
        &mut self,
        folder: &Dir,
        name: &OsStr,
        file: Option<&File>,
        entry: &TreeEntry,
    ) -> Result<(), Error> {
        let system = self.system;
        let has_owner = self.set_owner(folder, name, entry)?;
        let of = file.map_or(Attributed::In(folder, name), Attributed::File);
        for is_list in [false, true] {
            if is_list {
                let mut mode = entry.mode;
                if mode & SET_IDS != 0 && !(self.options.preserve && has_owner) {
                    self.leave_out(LeftOutKind::SetIds, entry);
                    mode &= !SET_IDS;
                }
                if !self.options.preserve {
                    mode = attributes::mode_without_list(mode, &entry.attributes);
                }
                match (&entry.kind, file) {
                    (EntryKind::Link { .. }, _) => {}
                    (EntryKind::Folder, _) => system.set_folder_mode(folder, name, mode)?,
                    (_, Some(file)) => system.set_mode(file, mode)?,
                    _ => system.set_mode_in(folder, name, mode)?,
                }
            }
            for (key, value) in &entry.attributes {
                if attributes::is_access_list(key) == is_list {
                    self.set_attribute(of, key, value, entry)?;
                }
            }
        }
        Ok(system.set_modified(folder, name, entry.modified)?)
    }

    /// Removes the access lists that a new folder has from the folder that it is made in, so that nothing in it gets them.
    pub(crate) fn clear_lists(&self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        for list in attributes::LIST_NAMES.iter().filter(|_| self.options.preserve) {
            match self.system.set_attribute(Attributed::In(folder, name), list.as_ref(), &attributes::NO_LIST) {
                Err(error) if !is_unsupported(&error) && error.kind() != io::ErrorKind::Unsupported => {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn set_attribute(&mut self, of: Attributed<'_>, key: &[u8], value: &[u8], entry: &TreeEntry) -> Result<(), Error> {
        if self.options.preserve || attributes::is_harmless(key) {
            let (name, value) = attributes::from_record(key, value).ok_or_else(|| damaged("malformed attribute"))?;
            match self.system.set_attribute(of, &name, &value) {
                Ok(()) => return Ok(()),
                Err(error) if is_unsupported(&error) || error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) => return Err(error.into()),
            }
        }
        let is_list = attributes::is_access_list(key);
        self.leave_out(if is_list { LeftOutKind::AccessLists } else { LeftOutKind::Attributes }, entry);
        Ok(())
    }

    /// Returns whether the entry has its owner.
    fn set_owner(&mut self, folder: &Dir, name: &OsStr, entry: &TreeEntry) -> Result<bool, Error> {
        let Some(user_ids) = self.user_ids.filter(|_| self.options.version == Version::V2) else { return Ok(false) };
        let mut ids = entry.owner.ids;
        if self.options.preserve && !self.options.numeric_owner {
            for (id, is_group) in ids.iter_mut().zip([false, true]) {
                *id = self.id_of(&entry.owner.names[usize::from(is_group)], is_group).unwrap_or(*id);
            }
        }
        if self.options.preserve {
            // Also if it is the user: in a folder with setgid, a new file has the folder's group.
            match self.system.set_owner_in(folder, name, ids) {
                Ok(()) => return Ok(true),
                Err(error) if is_unsupported(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if ids != user_ids {
            self.leave_out(LeftOutKind::Owners, entry);
        }
        Ok(ids == user_ids)
    }

    fn id_of(&mut self, name: &[u8], is_group: bool) -> Option<u32> {
        let system = self.system;
        if self.ids.len() >= MAX_OWNERS {
            self.ids.clear();
        }
        let find = || system.owner_id(std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?, is_group);
        *self.ids.entry((name.to_vec(), is_group)).or_insert_with(find)
    }
}
