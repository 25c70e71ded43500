//! Looks at the entries of a folder before the packer needs them, on several threads: small files wait for the disk at the same time.
use super::metadata::{self, FileIdentity};
use super::{BUFFER_BYTES, check_cancelled, sparse};
use crate::sys::{Attributed, Opening, System, is_in_user_space};
use crate::threads::start;
use crate::workers::lock;
use crate::{Control, Error, ErrorKind};
use cap_std::fs::{Dir, Metadata};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Scope;

/// Most bytes that the status of a file reports whose length is another, without having changed: a page, as files in /sys report.
const SMALL_BYTES: u64 = 64 << 10;

/// Most bytes of such a file, which memory holds. Those in /proc that have more, such as /proc/kcore, are no files to keep.
const MAX_WRONG_BYTES: u64 = 64 << 20;

/// Most bytes of entries that wait for the packer, with one more entry for each thread: entries wait at every level of depth. Behind them
/// the packer opens files itself.
const MAX_HELD_BYTES: usize = 16 << 20;

/// Bytes that memory holds for an attribute besides its name and value, about.
const ATTRIBUTE_BYTES: usize = 100;

/// Fewest and most names that one thread looks at, one after the other: a hand-over costs about as much as a look.
const BLOCK_NAMES: [usize; 2] = [8, 64];

/// Names and values of extended attributes.
pub(crate) type Found = Vec<(OsString, Vec<u8>)>;

/// Opens and reads entries.
#[derive(Clone, Copy)]
pub(crate) struct Looker<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) control: &'a Control,
    /// Whether changes are no reason to stop.
    pub(crate) goes_on: bool,
    pub(crate) has_attributes: bool,
    /// Bytes of the entries that wait for the packer.
    pub(crate) held: &'a AtomicUsize,
}

/// A name in a folder, and whether the folder says that it is a file.
pub(crate) struct Name {
    pub(crate) name: OsString,
    pub(crate) is_file: bool,
}

/// An entry of a folder.
pub(crate) struct Look {
    pub(crate) name: OsString,
    pub(crate) metadata: io::Result<Metadata>,
    /// A small file, if it was opened.
    pub(crate) file: Option<Result<OpenedFile, Error>>,
}

impl Look {
    fn held_bytes(&self) -> usize {
        let Some(Ok(file)) = &self.file else { return 0 };
        let attributes = file.attributes.iter().flatten();
        file.start.len() + attributes.map(|(name, value)| name.len() + value.len() + ATTRIBUTE_BYTES).sum::<usize>()
    }
}

/// A file to pack.
pub(crate) struct OpenedFile {
    pub(crate) metadata: Metadata,
    pub(crate) size_bytes: u64,
    pub(crate) segments: Option<Vec<Range<u64>>>,
    /// All of a small file, or of one whose status does not report its length.
    pub(crate) start: Vec<u8>,
    pub(crate) attributes: io::Result<Found>,
    pub(crate) rest: Rest,
}

/// The work that remains with an opened file.
pub(crate) enum Rest {
    /// To be read.
    File(File),
    /// Nothing. The error is about a change while it was read.
    Read(Option<Error>),
}

impl Looker<'_> {
    pub(crate) fn attributes(&self, of: Attributed<'_>) -> io::Result<Found> {
        if self.has_attributes { self.system.attributes(of) } else { Ok(Vec::new()) }
    }

    /// Whether both are the same file, and unchanged unless changes are no reason to stop.
    pub(crate) fn is_unchanged(&self, now: &FileIdentity, before: &FileIdentity) -> bool {
        if self.goes_on { now.is_same_file(before) } else { now == before }
    }

    /// Counts an entry no longer that has waited for the packer.
    pub(crate) fn let_go(&self, look: &Look) {
        self.held.fetch_sub(look.held_bytes(), Ordering::Relaxed);
    }

    fn look(&self, folder: &Dir, Name { name, is_file }: Name, buffer: &mut [u8]) -> Look {
        let mut opened = None;
        if is_file && self.held.load(Ordering::Relaxed) < MAX_HELD_BYTES {
            let file = self.system.open_in(folder, &name, Opening::Read);
            match file.and_then(|file| Ok((self.system.file_metadata(&file)?, file))) {
                // Large files are opened when they are packed: few are open at the same time.
                Ok((metadata, _)) if metadata.len() > SMALL_BYTES || metadata::shared_inode(&metadata).is_some() => {}
                Ok((metadata, file)) if metadata.is_file() => {
                    let file = Some(self.read(file, metadata.clone(), buffer));
                    let look = Look { name, metadata: Ok(metadata), file };
                    self.held.fetch_add(look.held_bytes(), Ordering::Relaxed);
                    return look;
                }
                Ok(_) => {}
                Err(error) => opened = Some(Err(error.into())),
            }
        }
        let metadata = self.system.metadata_in(folder, &name);
        let is_file = metadata.as_ref().is_ok_and(Metadata::is_file);
        Look { name, metadata, file: opened.filter(|_| is_file) }
    }

    /// Opens a file that was seen before, and reads it if it is small.
    pub(crate) fn open(
        &self,
        folder: &Dir,
        name: &OsStr,
        seen: &Metadata,
        buffer: &mut [u8],
    ) -> Result<OpenedFile, Error> {
        let file = self.system.open_in(folder, name, Opening::Read)?;
        let metadata = self.system.file_metadata(&file)?;
        if !metadata.is_file() || !self.is_unchanged(&FileIdentity::of(&metadata), &FileIdentity::of(seen)) {
            return Err(ErrorKind::InputChanged.into());
        }
        self.read(file, metadata, buffer)
    }

    /// Reads an open file if it is small.
    fn read(&self, file: File, mut metadata: Metadata, buffer: &mut [u8]) -> Result<OpenedFile, Error> {
        let system = self.system;
        let attributes = self.attributes(Attributed::File(&file));
        // The status of a file in /proc or /sys does not report its length: a small file is read before the header states the length, and
        // so is one that ends elsewhere than its status says.
        let reported_bytes = metadata.len();
        let (mut start, mut is_read) = (Vec::new(), false);
        let is_early = reported_bytes <= SMALL_BYTES || self.ends_elsewhere(&file, reported_bytes)?;
        while is_early && !is_read && start.len() as u64 <= MAX_WRONG_BYTES {
            check_cancelled(self.control)?;
            let count = read_at(system, &file, buffer, start.len() as u64)?;
            start.extend_from_slice(&buffer[..count]);
            is_read = count == 0 || count < buffer.len() && start.len() as u64 == reported_bytes;
        }
        let size_bytes = if is_read { start.len() as u64 } else { reported_bytes };
        let mut change = None;
        if size_bytes != reported_bytes {
            // Files in /sys get their times when somebody asks for their attributes. The length that they report stays.
            metadata = system.file_metadata(&file)?;
            change = (metadata.len() != reported_bytes).then(|| ErrorKind::InputChanged.into());
        }
        let mut segments = None;
        // All of a file that was read is stored, also if it has grown holes since it was opened.
        if !is_read && size_bytes > SMALL_BYTES && metadata::may_be_sparse(&metadata) {
            segments = system.segments(&file, size_bytes)?.and_then(|found| sparse::stored(found, size_bytes));
        }
        let rest = match is_read {
            true => Rest::Read(change.or_else(|| change_of(system, &file, &metadata))),
            false => Rest::File(file),
        };
        Ok(OpenedFile { metadata, size_bytes, segments, start, attributes, rest })
    }

    /// Whether a file has another length than its status says, which stays the same. File systems in user space may report anything.
    fn ends_elsewhere(&self, file: &File, reported_bytes: u64) -> io::Result<bool> {
        if !is_in_user_space(file) {
            return Ok(false);
        }
        let ends = read_at(self.system, file, &mut [0; 2], reported_bytes - 1);
        Ok(matches!(ends, Ok(0 | 2)) && self.system.file_metadata(file)?.len() == reported_bytes)
    }
}

/// The error for a file that has changed since it was opened.
pub(crate) fn change_of(system: &dyn System, file: &File, metadata: &Metadata) -> Option<Error> {
    match system.file_metadata(file) {
        Ok(now) => (FileIdentity::of(&now) != FileIdentity::of(metadata)).then(|| ErrorKind::InputChanged.into()),
        Err(error) => Some(error.into()),
    }
}

/// Reads at an offset. Returns 0 at the end of the file.
pub(crate) fn read_at(system: &dyn System, file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match system.read_at(file, &mut [IoSliceMut::new(buffer)], at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Names to look at, and where the result goes.
type Task = (Arc<Dir>, Vec<Name>, Sender<Vec<Look>>);

/// The threads. Without any, the packer's thread looks when it needs a result.
pub(crate) struct Ahead<'a> {
    looker: Looker<'a>,
    tasks: Option<Sender<Task>>,
    threads: usize,
    buffer: Vec<u8>,
}

/// Blocks of names of a folder that are being looked at.
pub(crate) type Blocks = std::collections::VecDeque<Receiver<Vec<Look>>>;

impl<'a> Ahead<'a> {
    /// Starts threads, as far as the system allows. They end when the result is dropped.
    pub(crate) fn start<'scope>(looker: Looker<'a>, threads: usize, scope: &'scope Scope<'scope, '_>) -> Self
    where
        'a: 'scope,
    {
        let (tasks, waiting) = channel::<Task>();
        let waiting = Arc::new(Mutex::new(waiting));
        let run = || {
            let waiting = waiting.clone();
            start(scope, move || {
                let mut buffer = vec![0; BUFFER_BYTES];
                loop {
                    let Ok((folder, names, results)) = lock(&waiting).recv() else { return };
                    let look = |name| looker.look(&folder, name, &mut buffer);
                    // The packer may have stopped.
                    let _ = results.send(names.into_iter().map(look).collect());
                }
            })
        };
        let threads = (0..threads).map_while(|_| run().ok()).count();
        Self { looker, tasks: (threads > 0).then_some(tasks), threads, buffer: vec![0; BUFFER_BYTES] }
    }

    /// The next entries of a folder, whose names are taken from the end of `names`.
    /// The folder is open if there are names.
    pub(crate) fn next(&mut self, folder: Option<&Arc<Dir>>, names: &mut Vec<Name>, blocks: &mut Blocks) -> Vec<Look> {
        if let (Some(folder), None) = (folder, &self.tasks) {
            let name = names.pop();
            return name.map(|name| self.looker.look(folder, name, &mut self.buffer)).into_iter().collect();
        }
        while let (Some(folder), Some(tasks)) = (folder, &self.tasks)
            && blocks.len() <= self.threads
            && !names.is_empty()
        {
            let share = (names.len() / (2 * self.threads)).clamp(BLOCK_NAMES[0], BLOCK_NAMES[1]);
            let block = names.split_off(names.len().saturating_sub(share));
            let (results, receiver) = channel();
            let task = (folder.clone(), block.into_iter().rev().collect(), results);
            tasks.send(task).expect("threads end when the tasks do");
            blocks.push_back(receiver);
        }
        blocks.pop_front().map(|block| block.recv().expect("a thread looks at every name")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Os;

    /// 25 MiB wait for a packer that is elsewhere in the tree.
    #[test]
    fn entries_that_wait_have_a_bounded_size() {
        const FILES: usize = 400;
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FILES {
            File::create(folder.path().join(number.to_string())).unwrap().set_len(SMALL_BYTES).unwrap();
        }
        let handle = Arc::new(Os.open_folder(folder.path()).unwrap());
        for threads in [0, 2] {
            let (control, held) = (Control::new(), AtomicUsize::new(0));
            let looker = Looker { system: &Os, control: &control, goes_on: false, has_attributes: true, held: &held };
            std::thread::scope(|scope| {
                let mut ahead = Ahead::start(looker, threads, scope);
                // The second time, the entries of the first no longer wait.
                for _ in 0..2 {
                    let name = |number: usize| Name { name: number.to_string().into(), is_file: true };
                    let (mut names, mut blocks): (Vec<_>, _) = ((0..FILES).map(name).collect(), Blocks::new());
                    let next =
                        || Some(ahead.next(Some(&handle), &mut names, &mut blocks)).filter(|next| !next.is_empty());
                    let looks: Vec<Look> = std::iter::from_fn(next).flatten().collect();
                    assert!(looks.iter().all(|look| look.metadata.is_ok()) && looks.len() == FILES);
                    let most = MAX_HELD_BYTES + (threads + 1) * SMALL_BYTES as usize;
                    let bytes: usize = looks.iter().map(Look::held_bytes).sum();
                    assert!((MAX_HELD_BYTES..most).contains(&bytes), "{bytes} with {threads} threads");
                    looks.iter().for_each(|look| looker.let_go(look));
                    assert_eq!(held.load(Ordering::Relaxed), 0);
                }
            });
        }
    }
}
