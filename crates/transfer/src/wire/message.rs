//! Encoding and parsing of the messages inside Noise (docs/reference/formats/transfer.md, "Messages").
//!
//! A message is one byte for the type, then fields in a fixed order; integers are big-endian. Parsing depends on the bytes
//! alone, accepts exactly what encoding produces, and checks every count before it allocates memory.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::wire::ticket::{TICKET_BYTES, Ticket};
use tress_container::Refusal;
use tress_container::container::{Aead, PREFIX_BYTES};
use tress_container::sys::FileTime;

/// Longest message in bytes of plaintext: a [`Request::List`].
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 10;
/// Longest name below the sender's folder in bytes: the limit of one system call.
pub(crate) const MAX_PATH_BYTES: usize = 4095;
/// Most ranges of chunks that a receiver lists. Chunks in further ranges are sent again.
pub(crate) const MAX_RANGES: usize = 512;
/// Most data connections of one session at the same time.
pub(crate) const MAX_STREAMS: usize = 64;
/// Most data connections over the life of one session, lost ones included.
pub(crate) const MAX_STREAM_NUMBERS: u16 = 1024;

/// Most lists whose last statuses have not come.
pub(crate) const MAX_LISTS: usize = 32;
/// Most bytes of contents in all of these lists.
pub(crate) const MAX_LISTED_BYTES: u64 = 16 << 20;

/// Identifies a version of an input: a hash of 16 bytes over size, times and inode, whose first bit is [`IGNORES_CTIME`], and one without
/// the time of change. Version 0.2 had no such bit, and another second half. A stream has random bytes.
pub(crate) type VersionId = [u8; 32];

/// The bit of the first byte that says that the sender ignores the time of change.
pub(crate) const IGNORES_CTIME: u8 = 0x80;

/// Whether an offer is about the version that the receiver holds.
pub(crate) fn is_same_version(offered: &VersionId, held: &VersionId) -> bool {
    let is_same = offered[0] & !IGNORES_CTIME == held[0] & !IGNORES_CTIME && offered[1..16] == held[1..16];
    is_same || offered[0] & IGNORES_CTIME != 0 && offered[16..] == held[16..]
}

/// Mode and time of a file, folder or link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// Nine permission bits, if the sender's system has them.
    pub(crate) mode: Option<u16>,
    pub(crate) modified: Option<FileTime>,
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) metadata: Metadata,
    pub(crate) path: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File { size_bytes: u64, identity: VersionId },
    Folder,
    Link { target: Vec<u8> },
}

/// The receiver's answer about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryStatus {
    /// It is at the receiver, synced.
    Complete,
    /// It is not at the receiver, which wants the content.
    Wanted,
    /// The receiver holds a part of the file, which is offered alone therefore.
    Unfinished,
    Refused(Refusal),
}

/// A message from the sender.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// First message of a control connection.
    Begin { streams: u16 },
    /// First message of a data connection.
    Join { ticket: Ticket, stream: u16 },
    /// Small files, folders and links. The contents of the files that the receiver wants follow as a pack.
    List { list: u32, entries: Vec<Entry> },
    /// The pack of this list is read. The void entries changed or could not be read: their bytes in the pack are zeros.
    PackEnd { list: u32, void: Vec<u16> },
    /// The next file. `size_bytes` is `None` for a stream. `restart`: discard an incomplete version.
    Offer { file: u32, size_bytes: Option<u64>, restart: bool, identity: VersionId, metadata: Metadata, path: Vec<u8> },
    /// These chunks of the file that is coming are zeros, and are not sent.
    Holes { file: u32, chunks: Vec<Range<u64>> },
    /// The whole file was read, did not change, and has this size.
    Finish { file: u32, size_bytes: u64 },
    /// The sender gives up the file: discard it.
    Abandon { file: u32 },
    /// This data connection is lost. The answer says how many of its batches arrived.
    Lost { stream: u16 },
    /// Keeps the session alive; the answer is a progress report.
    Ping,
    /// No more files.
    Bye,
    /// The following chunks on this connection are sealed under this key.
    Key { file: u32, aead: Aead, input_key: Zeroizing<Vec<u8>>, prefix: [u8; PREFIX_BYTES] },
    /// `sealed_bytes` bytes of sealed chunks follow, outside Noise.
    Batch { file: u32, first_chunk: u64, sealed_bytes: u32 },
}

/// A message from the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The session begins.
    Admitted { ticket: Ticket, streams: u16 },
    /// The data connection belongs to the session.
    Joined,
    /// A status for each entry of a list: the answer to the list, and again when the wanted files of its pack are synced under their names.
    Statuses { list: u32, statuses: Vec<EntryStatus> },
    /// These chunks are verified and synced; send the others.
    Resume { file: u32, held: Vec<Range<u64>> },
    /// The receiver already has this version of the file, complete.
    Complete { file: u32 },
    /// Synced chunks of the file, and verified batches of each data connection.
    Progress { file: u32, synced_chunks: u64, streams: Vec<(u16, u64)> },
    /// The data connection has ended after this number of verified batches.
    Drained { stream: u16, batches: u64 },
    /// The file is synced under its final name.
    Confirmed { file: u32 },
    /// The receiver refuses the request, or the session.
    Refused { reason: Refusal },
}

/// The bytes are not a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Bytes of [`Metadata`]: mode, seconds, nanoseconds.
const METADATA_BYTES: usize = 2 + 8 + 4;
/// The status of an entry whose content the receiver wants. 0 is a complete one, and the others are the reasons of refusals.
const WANTED: u8 = 0xff;
const UNFINISHED: u8 = 0xfe;

/// All reasons. Their numbers are those of the messages.
const REFUSALS: [Refusal; 12] = [
    Refusal::NotAdmitted,
    Refusal::Ticket,
    Refusal::TooMany,
    Refusal::Name,
    Refusal::Exists,
    Refusal::OtherVersion,
    Refusal::TakenOver,
    Refusal::NoSpace,
    Refusal::Quota,
    Refusal::Io,
    Refusal::Protocol,
    Refusal::Stopping,
];

impl Request {
    /// Encodes the message. The bytes may hold a key, and are wiped when dropped.
    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        // Room for every message with a key: growing would leave a copy of the key in freed memory. Only lists and ranges may grow.
        let mut bytes = Zeroizing::new(Vec::with_capacity(128 + MAX_PATH_BYTES));
        let put = &mut *bytes;
        match self {
            Self::Begin { streams } => fields(put, 0x01, &[&streams.to_be_bytes()]),
            Self::Join { ticket, stream } => fields(put, 0x02, &[ticket.as_bytes(), &stream.to_be_bytes()]),
            Self::List { list, entries } => {
                fields(put, 0x03, &[&list.to_be_bytes()]);
                entries.iter().for_each(|entry| entry.encode(put));
            }
            Self::PackEnd { list, void } => {
                fields(put, 0x08, &[&list.to_be_bytes()]);
                void.iter().for_each(|index| put.extend(index.to_be_bytes()));
            }
            Self::Offer { file, size_bytes, restart, identity, metadata, path } => {
                let flags = u8::from(size_bytes.is_some()) | u8::from(*restart) << 1;
                let size_bytes = size_bytes.unwrap_or(0).to_be_bytes();
                fields(put, 0x04, &[&file.to_be_bytes(), &[flags], &size_bytes, identity, &metadata.encode(), path]);
            }
            Self::Finish { file, size_bytes } => {
                fields(put, 0x05, &[&file.to_be_bytes(), &size_bytes.to_be_bytes()]);
            }
            Self::Abandon { file } => fields(put, 0x06, &[&file.to_be_bytes()]),
            Self::Lost { stream } => fields(put, 0x07, &[&stream.to_be_bytes()]),
            Self::Holes { file, chunks } => put_ranges(put, 0x0b, *file, chunks),
            Self::Ping => fields(put, 0x09, &[]),
            Self::Bye => fields(put, 0x0a, &[]),
            Self::Key { file, aead, input_key, prefix } => {
                fields(put, 0x10, &[&file.to_be_bytes(), &[aead.number()], input_key, prefix]);
            }
            Self::Batch { file, first_chunk, sealed_bytes } => {
                fields(put, 0x11, &[&file.to_be_bytes(), &first_chunk.to_be_bytes(), &sealed_bytes.to_be_bytes()]);
            }
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut rest = MessageFields(bytes);
        let request = match rest.u8()? {
            0x01 => Self::Begin { streams: rest.u16()? },
            0x02 => Self::Join { ticket: rest.ticket()?, stream: rest.u16()? },
            0x03 => {
                let (list, mut entries) = (rest.u32()?, Vec::new());
                while entries.is_empty() || !rest.0.is_empty() {
                    entries.push(rest.entry()?);
                }
                Self::List { list, entries }
            }
            0x08 => {
                let (list, mut void) = (rest.u32()?, Vec::<u16>::new());
                while !rest.0.is_empty() {
                    let index = rest.u16()?;
                    if void.last().is_some_and(|&last| last >= index) {
                        return Err(Malformed);
                    }
                    void.push(index);
                }
                Self::PackEnd { list, void }
            }
            0x04 => {
                let (file, flags, size_bytes) = (rest.u32()?, rest.u8()?, rest.u64()?);
                if flags > 3 || (flags & 1 == 0 && size_bytes != 0) {
                    return Err(Malformed);
                }
                let size_bytes = (flags & 1 == 1).then_some(size_bytes);
                let (identity, metadata) = (rest.array()?, rest.metadata()?);
                Self::Offer { file, size_bytes, restart: flags & 2 == 2, identity, metadata, path: rest.path()? }
            }
            0x05 => Self::Finish { file: rest.u32()?, size_bytes: rest.u64()? },
            0x06 => Self::Abandon { file: rest.u32()? },
            0x07 => Self::Lost { stream: rest.u16()? },
            0x0b => Self::Holes { file: rest.u32()?, chunks: rest.ranges()? },
            0x09 => Self::Ping,
            0x0a => Self::Bye,
            0x10 => {
                let (file, aead) = (rest.u32()?, Aead::from_number(rest.u8()?).ok_or(Malformed)?);
                let input_key = Zeroizing::new(rest.take(aead.key_bytes())?.to_vec());
                Self::Key { file, aead, input_key, prefix: rest.array()? }
            }
            0x11 => Self::Batch { file: rest.u32()?, first_chunk: rest.u64()?, sealed_bytes: rest.u32()? },
            _ => return Err(Malformed),
        };
        rest.end()?;
        Ok(request)
    }
}

impl Reply {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let put = &mut bytes;
        match self {
            Self::Admitted { ticket, streams } => fields(put, 0x41, &[ticket.as_bytes(), &streams.to_be_bytes()]),
            Self::Joined => fields(put, 0x42, &[]),
            Self::Statuses { list, statuses } => {
                fields(put, 0x43, &[&list.to_be_bytes()]);
                put.extend(statuses.iter().map(|status| match status {
                    EntryStatus::Complete => 0,
                    EntryStatus::Wanted => WANTED,
                    EntryStatus::Unfinished => UNFINISHED,
                    EntryStatus::Refused(reason) => *reason as u8,
                }));
            }
            Self::Resume { file, held } => put_ranges(put, 0x44, *file, held),
            Self::Complete { file } => fields(put, 0x45, &[&file.to_be_bytes()]),
            Self::Progress { file, synced_chunks, streams } => {
                let count = streams.len().min(MAX_STREAMS);
                let head = [&file.to_be_bytes()[..], &synced_chunks.to_be_bytes(), &(count as u16).to_be_bytes()];
                fields(put, 0x46, &head);
                for (stream, batches) in &streams[..count] {
                    put.extend_from_slice(&stream.to_be_bytes());
                    put.extend_from_slice(&batches.to_be_bytes());
                }
            }
            Self::Drained { stream, batches } => {
                fields(put, 0x47, &[&stream.to_be_bytes(), &batches.to_be_bytes()]);
            }
            Self::Confirmed { file } => fields(put, 0x48, &[&file.to_be_bytes()]),
            Self::Refused { reason } => fields(put, 0x49, &[&[*reason as u8]]),
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut rest = MessageFields(bytes);
        let reply = match rest.u8()? {
            0x41 => Self::Admitted { ticket: rest.ticket()?, streams: rest.u16()? },
            0x42 => Self::Joined,
            0x43 => {
                let list = rest.u32()?;
                let status = |&byte: &u8| match byte {
                    0 => Ok(EntryStatus::Complete),
                    WANTED => Ok(EntryStatus::Wanted),
                    UNFINISHED => Ok(EntryStatus::Unfinished),
                    reason => refusal(reason).map(EntryStatus::Refused),
                };
                let statuses: Vec<_> = std::mem::take(&mut rest.0).iter().map(status).collect::<Result<_, _>>()?;
                if statuses.is_empty() {
                    return Err(Malformed);
                }
                Self::Statuses { list, statuses }
            }
            0x44 => Self::Resume { file: rest.u32()?, held: rest.ranges()? },
            0x45 => Self::Complete { file: rest.u32()? },
            0x46 => {
                let (file, synced_chunks, count) = (rest.u32()?, rest.u64()?, rest.count(MAX_STREAMS)?);
                let mut streams = Vec::with_capacity(count);
                for _ in 0..count {
                    streams.push((rest.u16()?, rest.u64()?));
                }
                Self::Progress { file, synced_chunks, streams }
            }
            0x47 => Self::Drained { stream: rest.u16()?, batches: rest.u64()? },
            0x48 => Self::Confirmed { file: rest.u32()? },
            0x49 => Self::Refused { reason: refusal(rest.u8()?)? },
            _ => return Err(Malformed),
        };
        rest.end()?;
        Ok(reply)
    }
}

impl Entry {
    /// Appends the entry, as in a message.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        let kind = match self.kind {
            EntryKind::File { .. } => 1,
            EntryKind::Folder => 2,
            EntryKind::Link { .. } => 3,
        };
        fields(bytes, kind, &[&self.metadata.encode(), &(self.path.len() as u16).to_be_bytes(), &self.path]);
        match &self.kind {
            EntryKind::File { size_bytes, identity } => {
                bytes.extend(size_bytes.to_be_bytes());
                bytes.extend(identity);
            }
            EntryKind::Folder => {}
            EntryKind::Link { target } => {
                bytes.extend((target.len() as u16).to_be_bytes());
                bytes.extend(target);
            }
        }
    }

    /// Bytes of content that the pack has for this entry.
    pub(crate) fn content_bytes(&self) -> u64 {
        match self.kind {
            EntryKind::File { size_bytes, .. } => size_bytes,
            EntryKind::Folder | EntryKind::Link { .. } => 0,
        }
    }
}

impl Metadata {
    fn encode(&self) -> [u8; METADATA_BYTES] {
        let mut bytes = [0; METADATA_BYTES];
        let modified = self.modified.unwrap_or(FileTime { seconds: 0, nanoseconds: u32::MAX });
        bytes[..2].copy_from_slice(&self.mode.unwrap_or(u16::MAX).to_be_bytes());
        bytes[2..10].copy_from_slice(&modified.seconds.to_be_bytes());
        bytes[10..].copy_from_slice(&modified.nanoseconds.to_be_bytes());
        bytes
    }
}

/// Encodes the first [`MAX_RANGES`] of these ranges.
fn put_ranges(bytes: &mut Vec<u8>, kind: u8, file: u32, ranges: &[Range<u64>]) {
    let ranges = &ranges[..ranges.len().min(MAX_RANGES)];
    fields(bytes, kind, &[&file.to_be_bytes(), &(ranges.len() as u16).to_be_bytes()]);
    for range in ranges {
        bytes.extend(range.start.to_be_bytes());
        bytes.extend(range.end.to_be_bytes());
    }
}

fn fields(bytes: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    bytes.push(kind);
    for part in parts {
        bytes.extend_from_slice(part);
    }
}

fn refusal(number: u8) -> Result<Refusal, Malformed> {
    REFUSALS.into_iter().find(|reason| *reason as u8 == number).ok_or(Malformed)
}

/// The unread rest of a message.
struct MessageFields<'a>(&'a [u8]);

impl<'a> MessageFields<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    fn metadata(&mut self) -> Result<Metadata, Malformed> {
        let (mode, seconds, nanoseconds) = (self.u16()?, self.u64()? as i64, self.u32()?);
        let mode = match mode {
            0..=0o777 => Some(mode),
            u16::MAX => None,
            _ => return Err(Malformed),
        };
        let modified = match (seconds, nanoseconds) {
            (_, 0..1_000_000_000) => Some(FileTime { seconds, nanoseconds }),
            (0, u32::MAX) => None,
            _ => return Err(Malformed),
        };
        Ok(Metadata { mode, modified })
    }

    /// Reads an entry of a list. Does not check whether the name is allowed.
    fn entry(&mut self) -> Result<Entry, Malformed> {
        let (kind, metadata, path) = (self.u8()?, self.metadata()?, self.name()?);
        let kind = match kind {
            1 => EntryKind::File { size_bytes: self.u64()?, identity: self.array()? },
            2 => EntryKind::Folder,
            3 => EntryKind::Link { target: self.name()? },
            _ => return Err(Malformed),
        };
        Ok(Entry { kind, metadata, path })
    }

    /// Reads a name or target after its length.
    fn name(&mut self) -> Result<Vec<u8>, Malformed> {
        let bytes = self.u16()?;
        MessageFields(self.take(bytes.into())?).path()
    }

    fn count(&mut self, most: usize) -> Result<usize, Malformed> {
        let count = usize::from(self.u16()?);
        if count <= most { Ok(count) } else { Err(Malformed) }
    }

    /// Reads ranges that ascend, are not empty, and do not touch.
    fn ranges(&mut self) -> Result<Vec<Range<u64>>, Malformed> {
        let count = self.count(MAX_RANGES)?;
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(count);
        for _ in 0..count {
            let range = self.u64()?..self.u64()?;
            if range.is_empty() || ranges.last().is_some_and(|last| range.start <= last.end) {
                return Err(Malformed);
            }
            ranges.push(range);
        }
        Ok(ranges)
    }

    fn ticket(&mut self) -> Result<Ticket, Malformed> {
        self.array::<TICKET_BYTES>().map(Ticket::from_bytes)
    }

    /// Reads the rest of the message as a path. Does not check whether the name is allowed.
    fn path(&mut self) -> Result<Vec<u8>, Malformed> {
        let path = std::mem::take(&mut self.0);
        if (1..=MAX_PATH_BYTES).contains(&path.len()) { Ok(path.to_vec()) } else { Err(Malformed) }
    }

    fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

#[cfg(test)]
#[path = "message_test.rs"]
mod tests;
