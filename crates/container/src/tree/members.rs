//! Members of a tree, found by its index: listed, read one by one, and written as a separate tar stream.
use super::attributes::mode_without_list;
use super::blocks::{BLOCK_BYTES, copy, damaged, shown};
use super::entry::{EntryKind, Owner, TreeEntry};
use super::index::{self, IndexBlock, IndexWriter, Member, TRAILER_BYTES, Trailer};
use super::read::ArchiveReader;
use super::write;
use super::{check_cancelled, names};
use crate::format::{ContentType, Version};
use crate::keys::Identities;
use crate::streaming::{RangeReader, ReadAt, Window};
use crate::sys::FileTime;
use crate::{Control, Error, ErrorKind, Threads};
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::slice;
use zeroize::Zeroizing;

/// Most hard links to hard links on the way to a file. A writer's links all lead to the file.
const MAX_LINKS: usize = 40;

/// A container that holds a tree, whose members can be read in any order, from several threads if `R` is `Sync`.
///
/// The index only says where a member should be: its path, kind and size are checked in the tar stream. An index that leaves members out
/// is found only by reading all of the tree.
///
/// ```no_run
/// use std::{fs::File, io::BufReader};
/// use tress_container::{Threads, keys::Identities, tree::Tree};
///
/// let identities = Identities::from_file(BufReader::new(File::open("me.key")?))?;
/// let tree = Tree::open(File::open("etc.tress")?, &identities, Threads::ONE)?;
/// if let Some(member) = tree.find(b"etc/hosts")? {
///     let data = tree.data(&member)?;
///     let mut start = vec![0; 100.min(data.size_bytes() as usize)];
///     tree.read_at(&data, &mut start, 0)?;
/// }
/// # Ok::<(), tress_container::Error>(())
/// ```
pub struct Tree<R> {
    chunks: RangeReader<R>,
    version: Version,
    list: Vec<IndexBlock>,
    /// The blocks of an index that was made by reading the stream.
    made: Option<Vec<u8>>,
    /// Length of the stream, with its end mark.
    tar_bytes: u64,
    /// The chunks that verify, if others may not.
    good: Option<Vec<Range<u64>>>,
    /// Places where headers could not be read.
    gaps: u64,
    threads: Threads,
}

/// Where the data of a file are.
#[derive(Clone, Debug)]
pub struct MemberData {
    /// Offset in the plaintext.
    start: u64,
    size_bytes: u64,
    segments: Option<Vec<Range<u64>>>,
    /// Permission bits of the file, without an access list.
    mode: u32,
}

impl MemberData {
    /// Length of the file in bytes, with its holes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) fn mode(&self) -> u32 {
        self.mode
    }
}

impl<R: ReadAt> Tree<R> {
    /// Opens a container. Without an index (a tree of 0.2) the stream is read through.
    ///
    /// # Errors
    /// The errors of [`RangeReader::open`]; `Usage` for a container of a file; `TreeDamaged` for a malformed index.
    pub fn open(source: R, identities: &Identities, threads: Threads) -> Result<Self, Error> {
        Self::open_with(source, identities, threads, &Control::new())
    }

    /// The same, until `control` ends it.
    pub(crate) fn open_with(
        source: R,
        identities: &Identities,
        threads: Threads,
        control: &Control,
    ) -> Result<Self, Error> {
        let mut tree = Self::of(RangeReader::open(source, identities)?, threads)?;
        match tree.version {
            Version::V1 => tree.read_through(control)?,
            Version::V2 => tree.read_list()?,
        }
        Ok(tree)
    }

    /// Opens a container that is damaged or cut. All of it is read. Members of which a part is missing are in the list, and cannot be read.
    ///
    /// # Errors
    /// Those of the header; `Usage` for a container of a file; `Interrupted`; `Io` of the source.
    pub fn salvage(source: R, identities: &Identities, threads: Threads, control: &Control) -> Result<Self, Error> {
        let (chunks, good) = RangeReader::salvage(source, identities, control)?;
        let mut tree = Self::of(chunks, threads)?;
        tree.good = Some(good);
        let has_index =
            tree.version == Version::V2 && tree.read_list().is_ok() && tree.members().all(|found| found.is_ok());
        if !has_index {
            tree.read_through(control)?;
        }
        Ok(tree)
    }

    fn of(chunks: RangeReader<R>, threads: Threads) -> Result<Self, Error> {
        if chunks.content().content_type() != ContentType::Tree {
            return Err(Error::new(ErrorKind::Usage).with_detail("it holds a file, not a folder"));
        }
        let (version, tar_bytes) = (chunks.content().version(), chunks.plain_bytes());
        Ok(Self { chunks, version, list: Vec::new(), made: None, tar_bytes, good: None, gaps: 0, threads })
    }

    fn read_list(&mut self) -> Result<(), Error> {
        let plain_bytes = self.chunks.plain_bytes();
        let at = plain_bytes.checked_sub(TRAILER_BYTES as u64).ok_or_else(|| damaged("malformed index"))?;
        let mut trailer = [0; TRAILER_BYTES];
        self.chunks.read_at(&mut trailer, at)?;
        let trailer = Trailer::parse(&trailer, plain_bytes)?;
        let mut list = vec![0; trailer.list_bytes as usize];
        self.chunks.read_at(&mut list, trailer.list_at)?;
        self.list = trailer.parse_list(&list)?;
        self.tar_bytes = trailer.tar_bytes;
        Ok(())
    }

    /// Makes the index from the stream. Behind damage it continues with headers that lead to the end of the stream or to more damage: those
    /// in the content of a file, such as a tar archive, seldom do.
    fn read_through(&mut self, control: &Control) -> Result<(), Error> {
        let (mut writer, mut last) = (IndexWriter::default(), None);
        let mut keep = |member: Member| {
            last = Some(member.path.clone());
            writer.push(member);
        };
        let (mut end, mut place) = self.follow(0, None, control, &mut keep)?;
        let (mut refuted, mut tail) = (HashSet::new(), None);
        if end != HeadersEnd::Mark {
            self.gaps += 1;
            place = self.next_block(place);
            while place < self.chunks.plain_bytes() {
                let (mut members, next) = (Vec::new(), self.next_block(place));
                (end, place) =
                    self.follow(place, Some((&refuted, last.as_deref())), control, &mut |member| members.push(member))?;
                match end {
                    HeadersEnd::Mark if !members.is_empty() => tail = Some((members, place)),
                    HeadersEnd::Damage if !members.is_empty() => {
                        // An end mark before this was in a file.
                        tail = None;
                        self.gaps += 1;
                        for member in members {
                            last = Some(member.path.clone());
                            writer.push(member);
                        }
                    }
                    _ => {
                        refuted.extend(members.iter().map(|member| member.place));
                        place = next;
                        continue;
                    }
                }
                place = self.next_block(place);
            }
            // Without one, the last damage reaches to the end, and was counted.
            if let Some((members, mark)) = tail {
                members.into_iter().for_each(|member| writer.push(member));
                place = mark;
            }
        }
        self.tar_bytes = place.saturating_add(2 * BLOCK_BYTES as u64);
        let (made, list) = writer.into_parts();
        (self.made, self.list) = (Some(made), list);
        Ok(())
    }

    /// Calls `each` with the entries from a place on, and returns how and where they end. Behind damage, with places that lead nowhere and
    /// the last path before the damage, the first entry may be none.
    fn follow(
        &self,
        mut place: u64,
        behind: Option<(&HashSet<u64>, Option<&[u8]>)>,
        control: &Control,
        each: &mut dyn FnMut(Member),
    ) -> Result<(HeadersEnd, u64), Error> {
        let mut last = behind.and_then(|(_, last)| last).map(<[u8]>::to_vec);
        let start = place;
        while place < self.chunks.plain_bytes() {
            check_cancelled(control)?;
            if behind.is_some_and(|(refuted, _)| refuted.contains(&place)) {
                return Ok((HeadersEnd::Nowhere, place));
            }
            match self.entry_at(place) {
                Ok(None) => return Ok((HeadersEnd::Mark, place)),
                Ok(Some((entry, data))) if behind.is_none() || is_plausible(&entry, last.as_deref()) => {
                    let member = Member::of(&entry, place, false);
                    last = Some(member.path.clone());
                    if behind.is_none() || place > start || !may_lack_records(&entry) {
                        each(member);
                    }
                    place = data.end;
                }
                Ok(Some(_)) => return Ok((HeadersEnd::Nowhere, place)),
                Err(error) if self.good.is_none() => return Err(error),
                Err(error) if is_malformed(&error) => return Ok((HeadersEnd::Nowhere, place)),
                Err(_) => return Ok((HeadersEnd::Damage, place)),
            }
        }
        Ok((HeadersEnd::Damage, place))
    }

    /// The next place where a header may be: in a chunk that verifies.
    fn next_block(&self, place: u64) -> u64 {
        let next = place.saturating_add(BLOCK_BYTES as u64);
        if next >= self.chunks.plain_bytes() {
            return next;
        }
        let layout = self.chunks.layout();
        let chunk = layout.chunk_at(next);
        let good = self.good.iter().flatten().find(|range| chunk < range.end);
        let start = good.map_or(self.chunks.plain_bytes(), |range| layout.plain_offset(range.start));
        next.max(start)
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Whether the container has an index that can be read.
    pub fn has_index(&self) -> bool {
        self.made.is_none()
    }

    /// Number of places of a damaged stream at which entries may be missing from the list.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// All members in the order of the stream: depth first, sorted by the bytes of their names. Reads the index in parts.
    pub fn members(&self) -> impl Iterator<Item = Result<Member, Error>> {
        let mut next = 0;
        (0..self.list.len()).flat_map(move |number| match self.block(number) {
            Ok(members) if members[0].place < next => vec![Err(damaged("malformed index"))],
            Ok(members) => {
                next = members.last().map_or(next, |last| last.place + 1);
                members.into_iter().map(Ok).collect()
            }
            Err(error) => vec![Err(error)],
        })
    }

    /// The members of a part of the index, from 0, in the order of the stream; no members behind the last part. For callers that cannot
    /// keep the iterator of [`members`](Self::members).
    ///
    /// # Errors
    /// `TreeDamaged`, `ChunkDamaged` in the index; `Io` of the source.
    pub fn part(&self, number: usize) -> Result<Vec<Member>, Error> {
        if number >= self.list.len() {
            return Ok(Vec::new());
        }
        let members = self.block(number)?;
        let before = number.checked_sub(1).map(|before| self.block(before)).transpose()?;
        match before.and_then(|before| before.last().map(|last| last.place)) {
            Some(place) if members[0].place <= place => Err(damaged("malformed index")),
            _ => Ok(members),
        }
    }

    fn block(&self, number: usize) -> Result<Vec<Member>, Error> {
        let block = &self.list[number];
        let mut bytes = vec![0; block.bytes as usize];
        match &self.made {
            Some(made) => bytes.clone_from_slice(&made[block.offset as usize..(block.offset + block.bytes) as usize]),
            None => drop(self.chunks.read_at(&mut bytes, self.tar_bytes + block.offset)?),
        }
        let end = self.list.get(number + 1).map(|next| &next.first[..]);
        index::parse_block(&bytes, block, end, self.tar_bytes)
    }

    /// The member with this path, without `/` at its end; the root's is empty.
    ///
    /// # Errors
    /// `TreeDamaged`, `ChunkDamaged` in the index; `Io` of the source.
    pub fn find(&self, path: &[u8]) -> Result<Option<Member>, Error> {
        let behind = self.list.partition_point(|block| index::order(&block.first, path).is_le());
        let Some(number) = behind.checked_sub(1) else { return Ok(None) };
        Ok(self.block(number)?.into_iter().find(|member| member.path == path))
    }

    /// The members that a path names: the member itself and, for a folder, everything below it. If no member has it, those that match it
    /// as a pattern, in which `*` does not match `/` and `**` does.
    ///
    /// # Errors
    /// `Io` of kind `NotFound` if nothing matches; those of [`find`](Self::find).
    pub fn select(&self, given: &[u8]) -> Result<Vec<Member>, Error> {
        let path = given.strip_prefix(b"./").unwrap_or(given);
        let (path, wants_folder) = path.strip_suffix(b"/").map_or((path, false), |path| (path, true));
        let path = if path == b"." { b"" } else { path };
        let literal = self.find(path)?;
        let not_found = || Error::new(ErrorKind::Io(io::ErrorKind::NotFound)).at_entry(shown(given));
        if let Some(member) = literal.as_ref().filter(|member| member.flag != b'5') {
            return if wants_folder { Err(not_found()) } else { Ok(vec![member.clone()]) };
        }
        let text = names::text(path);
        let pattern = glob::Pattern::new(&text).ok().filter(|_| literal.is_none());
        let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
        // Several inputs have no entry for the root.
        let root = path.is_empty().then(Vec::new);
        let (mut found, mut folder): (Vec<Member>, _) = (Vec::new(), literal.map(|folder| folder.path).or(root));
        for member in self.members() {
            let member = member?;
            let is_below = folder.as_ref().is_some_and(|folder| index::is_below(&member.path, folder));
            let matches = |pattern: &glob::Pattern| pattern.matches_with(&names::text(&member.path), options);
            let is_match = (!wants_folder || member.flag == b'5') && pattern.as_ref().is_some_and(matches);
            if !is_below && !is_match {
                continue;
            }
            if !is_below && member.flag == b'5' {
                folder = Some(member.path.clone());
            }
            found.push(member);
        }
        if found.is_empty() { Err(not_found()) } else { Ok(found) }
    }

    /// Reads the entry at a place of the stream; `None` for the end mark. Also returns the range of its data in the plaintext, which ends
    /// where the next header begins.
    fn entry_at(&self, place: u64) -> Result<Option<(TreeEntry, Range<u64>)>, Error> {
        let mut input = self.reader(place);
        let mut reader = ArchiveReader::new(&mut input, self.version);
        let Some(entry) = reader.next_entry()? else { return Ok(None) };
        let (start, end) = (place + reader.position(), place.saturating_add(reader.next_position()));
        Ok(Some((entry, start..end)))
    }

    /// The entry of a member, if the stream agrees with the index.
    fn entry_of(&self, member: &Member) -> Result<(TreeEntry, Range<u64>), Error> {
        // A size that lies may lead anywhere.
        let end = self.tar_bytes.min(self.chunks.plain_bytes());
        match self.entry_at(member.place) {
            Ok(Some((entry, data))) if index::agrees(member, &entry) && data.end <= end => Ok((entry, data)),
            Err(error) if error.kind != ErrorKind::TreeDamaged => Err(error),
            _ => Err(damaged("index does not agree with the tree").at_entry(member.shown_path())),
        }
    }

    /// Whether all of a member verifies.
    pub(crate) fn is_whole(&self, member: &Member) -> bool {
        let Some(good) = &self.good else { return true };
        let Ok((entry, data)) = self.entry_of(member) else { return false };
        if let EntryKind::HardLink { target } = &entry.kind
            && !self.link_target(member, target).is_ok_and(|file| self.is_whole(&file))
        {
            return false;
        }
        let chunks = self.chunks.layout().covering(&(member.place..data.end.max(member.place + 1)));
        let range = good.partition_point(|range| range.end <= chunks.start);
        good.get(range).is_some_and(|range| range.start <= chunks.start && chunks.end <= range.end)
    }

    /// The data of a file, or of the file that a hard link is another name of.
    ///
    /// # Errors
    /// `TreeDamaged` if the stream does not agree with the index; `Usage` for anything else than a file; those of reading.
    pub fn data(&self, member: &Member) -> Result<MemberData, Error> {
        let (mut entry, mut data) = self.entry_of(member)?;
        if let EntryKind::HardLink { target } = &entry.kind {
            let target = self.link_target(member, target)?;
            (entry, data) = self.entry_of(&target)?;
        }
        match entry.kind {
            EntryKind::File { size_bytes, segments } => {
                let mode = mode_without_list(entry.mode & 0o777, &entry.attributes);
                Ok(MemberData { start: data.start, size_bytes, segments, mode })
            }
            _ => Err(Error::new(ErrorKind::Usage).with_detail("not a file").at_entry(member.shown_path())),
        }
    }

    /// The file that a hard link is another name of. Each target on the way is earlier in the stream.
    fn link_target(&self, link: &Member, target: &[u8]) -> Result<Member, Error> {
        let wrong = || Error::new(ErrorKind::TreeLink).at_entry(link.shown_path());
        let mut found = self.find(target)?.filter(|found| found.place < link.place).ok_or_else(wrong)?;
        for _ in 0..MAX_LINKS {
            match found.flag {
                b'0' => return Ok(found),
                b'1' => found = self.find(&found.target)?.filter(|next| next.place < found.place).ok_or_else(wrong)?,
                _ => break,
            }
        }
        Err(wrong())
    }

    /// Reads the data of a file at an offset until `buffer` is full or the file ends, and returns the number of bytes.
    ///
    /// # Errors
    /// Those of [`RangeReader::read_at`].
    pub fn read_at(&self, data: &MemberData, buffer: &mut [u8], at: u64) -> Result<usize, Error> {
        let left = data.size_bytes.saturating_sub(at);
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..wanted];
        let whole = 0..data.size_bytes;
        let mut place = data.start;
        // The parts of the buffer that are no holes, and where their bytes are, without a gap.
        let (mut parts, mut stored) = (Vec::new(), None::<Range<u64>>);
        for segment in data.segments.as_deref().unwrap_or(slice::from_ref(&whole)) {
            let (from, to) = (segment.start.max(at), segment.end.min(at + wanted as u64));
            if from < to {
                let start = place + from - segment.start;
                stored = Some(stored.map_or(start, |stored| stored.start)..start + (to - from));
                parts.push((from - at) as usize..(to - at) as usize);
            }
            place += segment.end - segment.start;
        }
        if let ([part], Some(stored)) = (&parts[..], &stored) {
            buffer[..part.start].fill(0);
            buffer[part.end..].fill(0);
            return match self.chunks.read_at(&mut buffer[part.clone()], stored.start)? {
                count if count == part.len() => Ok(wanted),
                _ => Err(ErrorKind::Truncated.into()),
            };
        }
        buffer.fill(0);
        let bytes = match stored {
            Some(stored) => Zeroizing::new(self.chunks.read_ranges(slice::from_ref(&stored))?.swap_remove(0)),
            None => Zeroizing::default(),
        };
        let mut bytes = &bytes[..];
        for part in parts {
            let (start, rest) = bytes.split_at(part.len());
            buffer[part].copy_from_slice(start);
            bytes = rest;
        }
        Ok(wanted)
    }

    /// Writes a range of a file's data.
    pub(crate) fn copy_data(
        &self,
        data: &MemberData,
        range: Range<u64>,
        out: &mut dyn SparseWrite,
        control: &Control,
    ) -> Result<(), Error> {
        let hole = |out: &mut dyn SparseWrite, bytes| -> Result<(), Error> {
            if !out.skip(bytes)? {
                return copy(&mut io::repeat(0), out, bytes, control);
            }
            control.add_done(bytes);
            Ok(())
        };
        let (mut reader, mut at, whole) = (self.reader(data.start), range.start, 0..data.size_bytes);
        let mut place = data.start;
        for segment in data.segments.as_deref().unwrap_or(slice::from_ref(&whole)) {
            let (from, to) = (segment.start.max(range.start), segment.end.min(range.end));
            if from < to {
                hole(out, from - at)?;
                reader.window.position = place + (from - segment.start);
                copy(&mut reader, out, to - from, control)?;
                at = to;
            }
            place += segment.end - segment.start;
        }
        hole(out, range.end - at)
    }

    /// Verifies the chunks of the whole index.
    pub(crate) fn check_index(&self, control: &Control) -> Result<(), Error> {
        let mut reader = self.reader(self.tar_bytes);
        self.list.iter().filter(|_| self.made.is_none()).try_for_each(|block| {
            check_cancelled(control)?;
            // It is no part of the work that is counted.
            copy(&mut reader, &mut io::sink(), block.bytes, &Control::new())
        })
    }

    /// Reads ahead from a place of the plaintext.
    fn reader(&self, place: u64) -> PlainReader<'_, R> {
        let mut window = Window::new(self.threads);
        window.position = place;
        PlainReader { chunks: &self.chunks, window }
    }

    /// Writes members as a tar stream, with the folders that they are in. A hard link whose file is not among them becomes the file.
    pub(crate) fn write(&self, members: &[Member], out: &mut dyn Write, control: &Control) -> Result<(), Error> {
        let mut folders: HashSet<Vec<u8>> = HashSet::from([Vec::new()]);
        // Path in the new stream of each file, by its place.
        let mut files: HashMap<u64, Vec<u8>> = HashMap::new();
        let mut input = self.reader(0);
        for member in members {
            check_cancelled(control)?;
            let parents =
                member.path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &member.path[..end]);
            for parent in parents {
                if folders.insert(parent.to_vec()) {
                    let known = self.find(parent)?.filter(|known| self.is_whole(known));
                    let entry = known.map(|known| self.entry_of(&known)).transpose()?.map(|(entry, _)| entry);
                    write::write_header(out, &entry.unwrap_or_else(|| folder(parent)))?;
                }
            }
            if member.flag == b'5' && !member.path.is_empty() && !folders.insert(member.path.clone()) {
                continue;
            }
            let (mut entry, mut data) = self.entry_of(member)?;
            let mut place = member.place;
            if let EntryKind::HardLink { target } = &entry.kind {
                let found = self.link_target(member, target)?;
                let path = std::mem::take(&mut entry.path);
                match files.get(&found.place) {
                    Some(first) => entry.kind = EntryKind::HardLink { target: first.clone() },
                    None => {
                        place = found.place;
                        (entry, data) = self.entry_of(&found)?;
                    }
                }
                entry.path = path;
            }
            if let EntryKind::Link { target } = &entry.kind
                && self.version == Version::V1
                && !names::link_stays_inside(depth(&member.path), target, names::Rules::HERE)
            {
                return Err(Error::new(ErrorKind::TreeLink).at_entry(member.shown_path()));
            }
            write::write_header(out, &entry)?;
            if let EntryKind::File { size_bytes, segments } = &entry.kind {
                // Targets have no `./` in front, which paths may have.
                files.insert(place, entry.path.strip_prefix(b"./").unwrap_or(&entry.path).to_vec());
                let whole = 0..*size_bytes;
                let data_bytes = super::sparse::data_bytes(segments.as_deref().unwrap_or(slice::from_ref(&whole)));
                input.window.position = data.start;
                copy(&mut input, out, data_bytes, control)?;
                write::write_padding(out, data_bytes)?;
            }
        }
        Ok(write::write_end(out)?)
    }
}

/// An output for files with holes.
pub(crate) trait SparseWrite: Write {
    /// Leaves a hole of this number of bytes. Returns `false` for an output that can have none.
    fn skip(&mut self, bytes: u64) -> io::Result<bool>;
}

/// The end of a run of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadersEnd {
    /// The end mark.
    Mark,
    /// A place that cannot be read.
    Damage,
    /// Something that is no header of this tree.
    Nowhere,
}

/// Whether what was read is no header of a tree, and not damaged.
fn is_malformed(error: &Error) -> bool {
    use ErrorKind::{TreeDamaged, TreeDuplicate, TreeLink, TreePath, TreeSpecialFile};
    matches!(error.kind, TreeDamaged | TreeDuplicate | TreeLink | TreePath | TreeSpecialFile)
}

/// Whether the first header behind damage may belong to an extended header that is lost: its name has the greatest length, or is that of a
/// sparse file.
fn may_lack_records(entry: &TreeEntry) -> bool {
    let is_sparse = matches!(&entry.kind, EntryKind::File { segments: None, .. })
        && entry.path.windows(14).any(|part| part == b"GNUSparseFile.");
    entry.path.len() == write::NAME_BYTES || is_sparse
}

/// Whether an entry that was found behind a damaged place may be one of the tree, and not data of a file.
fn is_plausible(entry: &TreeEntry, last: Option<&[u8]>) -> bool {
    let path = Member::of(entry, 0, false).path;
    let is_path = names::split(&entry.path, names::Rules::Unix).is_some_and(|names| !names.is_empty());
    is_path && last.is_none_or(|last| index::order(last, &path).is_lt())
}

/// Number of folders above an entry, below the root.
fn depth(path: &[u8]) -> usize {
    path.iter().filter(|byte| **byte == b'/').count()
}

/// A folder whose entry is lost.
fn folder(path: &[u8]) -> TreeEntry {
    let (path, owner) = ([path, b"/"].concat(), Owner::default());
    TreeEntry {
        path,
        kind: EntryKind::Folder,
        mode: 0o700,
        modified: FileTime::default(),
        owner,
        attributes: Vec::new(),
    }
}

struct PlainReader<'a, R> {
    chunks: &'a RangeReader<R>,
    window: Window,
}

impl<R: ReadAt> Read for PlainReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.window.read(self.chunks, buffer)?)
    }
}
