//! The index behind the tar stream of a tree: its entries in the stream's order, in blocks that are read one by one
//! (`docs/reference/formats/container.md`, "Index"). The stream is the truth: what the index says about a member is checked there.
use super::blocks::{BLOCK_BYTES, damaged, shown};
use super::entry::TreeEntry;
use super::names;
use crate::sys::FileTime;
use crate::{Error, ErrorKind};
use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const TRAILER_BYTES: usize = 32;
const MAGIC: &[u8; 8] = b"tressidx";
/// A writer ends a block that has this many bytes.
const FULL_BYTES: usize = 16 << 10;
/// Longest block and longest list that are read, in bytes.
pub(crate) const MAX_BLOCK_BYTES: u64 = 64 << 10;
pub(crate) const MAX_LIST_BYTES: u64 = 256 << 20;
/// Length of the stream's end mark.
const END_BYTES: u64 = 2 * BLOCK_BYTES as u64;
const CHANGED: u8 = 1;
const HAS_OWNER: u8 = 2;

/// A member of a tree, as the index says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Names with `/` between them, as bytes; the root's path is empty.
    pub path: Vec<u8>,
    /// Tar's type flag: `0` a file, `1` a hard link, `2` a symbolic link, `3` and `4` devices, `5` a folder, `6` a FIFO.
    pub flag: u8,
    /// Permission bits, at most 0o7777.
    pub mode: u32,
    /// Length of a file in bytes.
    pub size_bytes: u64,
    /// Modification time in seconds since 1970, and the nanoseconds after that second.
    pub modified: (i64, u32),
    /// Numbers of owner and group.
    pub owner_ids: [u32; 2],
    /// Names of owner and group; empty if unknown.
    pub owner_names: Arc<[Vec<u8>; 2]>,
    /// Target of a link.
    pub target: Vec<u8>,
    /// Whether the file changed, or could not be read to its end, while it was stored.
    pub is_changed: bool,
    /// Offset of the member's first block in the tar stream.
    pub(crate) place: u64,
}

impl Member {
    pub(crate) fn of(entry: &TreeEntry, place: u64, is_changed: bool) -> Self {
        let path = entry.path.strip_prefix(b"./").unwrap_or(&entry.path);
        let path = if entry.kind.flag() == b'5' { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        Self {
            path: path.to_vec(),
            flag: entry.kind.flag(),
            mode: entry.mode,
            size_bytes: entry.kind.size_bytes(),
            modified: (entry.modified.seconds, entry.modified.nanoseconds),
            owner_ids: entry.owner.ids,
            owner_names: Arc::new(entry.owner.names.clone()),
            target: entry.kind.target().to_vec(),
            is_changed,
            place,
        }
    }

    /// The path for messages and for opening files, with replacement characters for what this system cannot express.
    pub fn shown_path(&self) -> PathBuf {
        shown(if self.path.is_empty() { b"." } else { &self.path })
    }

    fn owner(&self) -> ([u32; 2], &[Vec<u8>; 2]) {
        (self.owner_ids, &self.owner_names)
    }
}

/// The order of the stream: depth first, so that `/` comes before every other byte.
pub(crate) fn order(one: &[u8], other: &[u8]) -> Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
    match one.iter().zip(other).find(|(one, other)| one != other) {
        Some((one, other)) => rank(*one).cmp(&rank(*other)),
        None => one.len().cmp(&other.len()),
    }
}

/// Whether a member is the folder of this path or below it.
pub(crate) fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// A block of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexBlock {
    /// Offset in the blocks, and length.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
    pub(crate) first: Vec<u8>,
}

/// Collects the index of a stream, in memory: about 25 bytes an entry, and its name.
#[derive(Default)]
pub(crate) struct IndexWriter {
    /// Complete blocks, and the one that is not full yet.
    blocks: Vec<u8>,
    list: Vec<IndexBlock>,
    entries: u64,
    last: Member,
}

impl IndexWriter {
    pub(crate) fn push(&mut self, member: Member) {
        let is_first = self.list.last().is_none_or(|block| block.bytes >= FULL_BYTES as u64);
        if is_first {
            let offset = self.blocks.len() as u64;
            self.list.push(IndexBlock { offset, bytes: 0, entries: 0, first: member.path.clone() });
            self.last = Member::default();
        }
        let (out, last) = (&mut self.blocks, &self.last);
        let shared = member.path.iter().zip(&last.path).take_while(|(one, other)| one == other).count();
        push_number(out, shared as u64);
        push_bytes(out, &member.path[shared..]);
        let has_owner = is_first || member.owner() != last.owner();
        let flags = if member.is_changed { CHANGED } else { 0 } | if has_owner { HAS_OWNER } else { 0 };
        out.extend([member.flag, flags]);
        push_number(out, member.mode.into());
        push_number(out, (member.place - last.place) / BLOCK_BYTES as u64);
        push_number(out, member.size_bytes);
        let later = member.modified.0.wrapping_sub(last.modified.0);
        push_number(out, (later << 1 ^ later >> 63) as u64);
        push_number(out, member.modified.1.into());
        if has_owner {
            member.owner_ids.iter().for_each(|&id| push_number(out, id.into()));
            member.owner_names.iter().for_each(|name| push_bytes(out, name));
        }
        if matches!(member.flag, b'1' | b'2') {
            push_bytes(out, &member.target);
        }
        let end = self.blocks.len() as u64;
        let block = self.list.last_mut().expect("a block was begun");
        block.bytes = end - block.offset;
        block.entries += 1;
        self.entries += 1;
        self.last = member;
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// The blocks and their list, for an index that is not written.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<IndexBlock>) {
        (self.blocks, self.list)
    }

    /// The complete index of a stream of this length.
    pub(crate) fn finish(self, tar_bytes: u64) -> Vec<u8> {
        let mut out = self.blocks;
        let start = out.len();
        for block in &self.list {
            push_number(&mut out, block.bytes);
            push_number(&mut out, block.entries);
            push_bytes(&mut out, &block.first);
        }
        let list_bytes = (out.len() - start) as u64;
        for number in [tar_bytes, list_bytes, self.entries] {
            out.extend(number.to_be_bytes());
        }
        out.extend(MAGIC);
        out
    }
}

/// The end of a plaintext with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) tar_bytes: u64,
    pub(crate) list_bytes: u64,
    entries: u64,
    /// Offset of the list in the plaintext.
    pub(crate) list_at: u64,
}

impl Trailer {
    pub(crate) fn parse(bytes: &[u8; TRAILER_BYTES], plain_bytes: u64) -> Result<Self, Error> {
        let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let [tar_bytes, list_bytes, entries] = [number(0), number(8), number(16)];
        let list_at = plain_bytes.checked_sub(TRAILER_BYTES as u64).and_then(|at| at.checked_sub(list_bytes));
        let is_possible = bytes[24..] == *MAGIC && list_bytes <= MAX_LIST_BYTES && tar_bytes % BLOCK_BYTES as u64 == 0;
        match list_at.filter(|&at| is_possible && tar_bytes <= at) {
            Some(list_at) => Ok(Self { tar_bytes, list_bytes, entries, list_at }),
            None => Err(damaged("malformed index")),
        }
    }

    /// Parses the list of blocks, which fill the space between stream and list.
    pub(crate) fn parse_list(&self, bytes: &[u8]) -> Result<Vec<IndexBlock>, Error> {
        let mut input = Input(bytes);
        let (mut list, mut offset): (Vec<IndexBlock>, u64) = (Vec::new(), 0);
        while !input.0.is_empty() {
            let (bytes, entries) = (input.number()?, input.number()?);
            let first = input.bytes()?.to_vec();
            let is_sorted = list.last().is_none_or(|last| order(&last.first, &first).is_lt());
            if bytes > MAX_BLOCK_BYTES || entries == 0 || !is_sorted {
                return Err(damaged("malformed index"));
            }
            list.push(IndexBlock { offset, bytes, entries, first });
            offset = offset.saturating_add(bytes);
        }
        let entries: u128 = list.iter().map(|block| u128::from(block.entries)).sum();
        match offset == self.list_at - self.tar_bytes && entries == self.entries.into() {
            true => Ok(list),
            false => Err(damaged("malformed index")),
        }
    }
}

/// Parses a block. Its paths are sorted, come before `end`, and their places are in the stream.
pub(crate) fn parse_block(
    bytes: &[u8],
    block: &IndexBlock,
    end: Option<&[u8]>,
    tar_bytes: u64,
) -> Result<Vec<Member>, Error> {
    let mut input = Input(bytes);
    // An entry has nine bytes or more.
    let mut members: Vec<Member> = Vec::with_capacity(block.entries.min(bytes.len() as u64 / 9) as usize);
    while !input.0.is_empty() {
        let last = input.member(members.last())?;
        let is_sorted =
            members.last().is_none_or(|before| order(&before.path, &last.path).is_lt() && before.place < last.place);
        let is_root = members.is_empty() && last.path.is_empty() && last.flag == b'5';
        // A reader of the stream drops these two.
        let has_more = last.path.starts_with(b"./") || last.path.ends_with(b"/");
        if !is_root && (has_more || !names::is_path(&last.path, names::Rules::Unix)) {
            return Err(Error::new(ErrorKind::TreePath).at_entry(last.shown_path()));
        }
        let has_size = last.flag == b'0' || last.size_bytes == 0;
        let has_target = !matches!(last.flag, b'1' | b'2') || !last.target.is_empty() && !last.target.contains(&0);
        if !is_sorted || !has_size || !has_target || last.place.saturating_add(END_BYTES) >= tar_bytes {
            return Err(damaged("malformed index").at_entry(last.shown_path()));
        }
        members.push(last);
    }
    let is_first = members.first().is_some_and(|member| member.path == block.first);
    let is_before = end.is_none_or(|end| members.last().is_some_and(|last| order(&last.path, end).is_lt()));
    match is_first && is_before && members.len() as u64 == block.entries {
        true => Ok(members),
        false => Err(damaged("malformed index")),
    }
}

/// The bytes that are not parsed yet.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<u8, Error> {
        self.0.split_off_first().copied().ok_or_else(|| damaged("malformed index"))
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged("malformed index"))
    }

    fn small(&mut self, most: u32) -> Result<u32, Error> {
        let number = u32::try_from(self.number()?).ok().filter(|&number| number <= most);
        number.ok_or_else(|| damaged("malformed index"))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let bytes = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        self.0.split_off(..bytes).ok_or_else(|| damaged("malformed index"))
    }

    /// The next member of a block, after the last one.
    fn member(&mut self, last: Option<&Member>) -> Result<Member, Error> {
        let (before, is_first) = (Member::default(), last.is_none());
        let last = last.unwrap_or(&before);
        let shared = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let shared = last.path.get(..shared).ok_or_else(|| damaged("malformed index"))?;
        let path = [shared, self.bytes()?].concat();
        let (flag, flags) = (self.byte()?, self.byte()?);
        if !matches!(flag, b'0'..=b'6') || flags & !(CHANGED | HAS_OWNER) != 0 || is_first && flags & HAS_OWNER == 0 {
            return Err(damaged("malformed index"));
        }
        let mode = self.small(0o7777)?;
        let place = self.number()?.checked_mul(BLOCK_BYTES as u64).and_then(|blocks| last.place.checked_add(blocks));
        let place = place.ok_or_else(|| damaged("malformed index"))?;
        let size_bytes = self.number()?;
        let later = self.number()?;
        let seconds = last.modified.0.wrapping_add((later >> 1) as i64 ^ -((later & 1) as i64));
        let modified = (seconds, self.small(999_999_999)?);
        let (owner_ids, owner_names) = match flags & HAS_OWNER {
            0 => (last.owner_ids, last.owner_names.clone()),
            _ => {
                let ids = [self.small(u32::MAX - 1)?, self.small(u32::MAX - 1)?];
                (ids, Arc::new([self.bytes()?.to_vec(), self.bytes()?.to_vec()]))
            }
        };
        let target = if matches!(flag, b'1' | b'2') { self.bytes()?.to_vec() } else { Vec::new() };
        let is_changed = flags & CHANGED != 0;
        Ok(Member { path, flag, mode, size_bytes, modified, owner_ids, owner_names, target, is_changed, place })
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Whether the time of a header and that of the index agree.
pub(crate) fn agrees(member: &Member, entry: &TreeEntry) -> bool {
    let of_entry = Member::of(entry, member.place, member.is_changed);
    let FileTime { seconds, .. } = entry.modified;
    (&member.path, member.flag, member.size_bytes, member.modified.0)
        == (&of_entry.path, of_entry.flag, of_entry.size_bytes, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(number: u64) -> Member {
        Member {
            path: format!("folder/{:05}", number).into_bytes(),
            flag: if number.is_multiple_of(3) { b'2' } else { b'0' },
            mode: 0o4755,
            size_bytes: if number.is_multiple_of(3) { 0 } else { number << 40 },
            modified: (if number.is_multiple_of(2) { -5 } else { i64::MAX }, number as u32),
            owner_ids: [number as u32 / 100, 5],
            owner_names: Arc::new([b"name".to_vec(), Vec::new()]),
            target: if number.is_multiple_of(3) { b"/target".to_vec() } else { Vec::new() },
            is_changed: number == 7,
            place: 512 * number,
        }
    }

    fn index(members: impl IntoIterator<Item = Member>, tar_bytes: u64) -> Vec<u8> {
        let mut writer = IndexWriter::default();
        members.into_iter().for_each(|member| writer.push(member));
        writer.finish(tar_bytes)
    }

    fn read(index: &[u8], tar_bytes: u64) -> Result<Vec<Member>, Error> {
        let plain_bytes = tar_bytes + index.len() as u64;
        let trailer = Trailer::parse(index.last_chunk().ok_or_else(|| damaged("short"))?, plain_bytes)?;
        let at = |offset: u64| (offset - tar_bytes) as usize;
        let list = trailer.parse_list(&index[at(trailer.list_at)..][..trailer.list_bytes as usize])?;
        let mut members = Vec::new();
        for (number, block) in list.iter().enumerate() {
            let bytes = &index[block.offset as usize..][..block.bytes as usize];
            let end = list.get(number + 1).map(|next| &next.first[..]);
            members.extend(parse_block(bytes, block, end, trailer.tar_bytes)?);
        }
        Ok(members)
    }

    #[test]
    fn an_index_is_read_as_written() {
        for count in [0, 1, 5000] {
            let tar_bytes = 512 * (count + 2);
            let members: Vec<Member> = (0..count).map(member).collect();
            let index = index(members.clone(), tar_bytes);
            assert!(index.len() as u64 <= 64 + 60 * count);
            assert_eq!(read(&index, tar_bytes).unwrap(), members);
        }
    }

    #[test]
    fn every_change_of_an_index_is_refused_or_read() {
        let members: Vec<Member> = (0..30).map(member).collect();
        let good = index(members, 512 * 40);
        for place in 0..good.len() {
            for bit in 0..8 {
                let mut changed = good.clone();
                changed[place] ^= 1 << bit;
                let _ = read(&changed, 512 * 40);
            }
            let _ = read(&good[..place], 512 * 40);
        }
    }

    #[test]
    fn an_index_that_lies_is_refused() {
        let path = |path: &str| Member { path: path.into(), ..member(1) };
        let placed = |path: &str, place| Member { path: path.into(), place, ..member(1) };
        for members in [
            vec![placed("a", 0), placed("a", 512)],
            vec![placed("b", 0), placed("a", 512)],
            vec![placed("a-b", 0), placed("a/b", 512)],
            vec![placed("a", 512), placed("b", 512)],
            vec![placed("a", 1 << 40)],
            vec![path(&"x".repeat(5000))],
        ] {
            assert!(read(&index(members, 4096), 4096).is_err());
        }
        assert!(read(&index([placed("a", 0), placed("a/b", 512), placed("a-b", 1024)], 4096), 4096).is_ok());
        // A block of many entries that are nothing but a shared path.
        let mut writer = IndexWriter::default();
        writer.push(path("a"));
        let (mut blocks, mut list) = writer.into_parts();
        blocks.extend([1, 0, b'0', 0, 0, 0, 0, 0, 0].repeat(5000));
        list[0].bytes = blocks.len() as u64;
        list[0].entries = 5001;
        assert!(parse_block(&blocks, &list[0], None, 4096).is_err());
    }
}
