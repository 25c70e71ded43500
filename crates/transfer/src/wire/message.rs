//! Encoding and parsing of the messages inside Noise (docs/reference/formats/transfer.md, "Messages").
//!
//! A message is one byte for the type, then fields in a fixed order; integers are big-endian. Parsing depends on the bytes
//! alone, accepts exactly what encoding produces, and checks every count before it allocates memory.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::wire::ticket::{TICKET_BYTES, Ticket};
use tress_container::Refusal;
use tress_container::container::{Aead, PREFIX_BYTES};

/// Longest message in bytes of plaintext: [`Reply::Resume`] with the most ranges.
pub(crate) const MAX_MESSAGE_BYTES: usize = 3 + 4 + MAX_RANGES * 16;
/// Longest name below the sender's folder in bytes: the limit of one system call.
pub(crate) const MAX_PATH_BYTES: usize = 4095;
/// Most ranges of chunks that a receiver lists. Chunks in further ranges are sent again.
pub(crate) const MAX_RANGES: usize = 512;
/// Most data connections of one session at the same time.
pub(crate) const MAX_STREAMS: usize = 64;
/// Most data connections over the life of one session, lost ones included.
pub(crate) const MAX_STREAM_NUMBERS: u16 = 1024;

/// Identifies a version of an input: a hash over size, times and inode, or random bytes for a stream.
pub(crate) type VersionId = [u8; 32];

/// A message from the sender.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// First message of a control connection.
    Begin { streams: u16 },
    /// First message of a data connection.
    Join { ticket: Ticket, stream: u16 },
    /// Make this folder, unless it exists.
    Folder { path: Vec<u8> },
    /// The next file. `size_bytes` is `None` for a stream. `restart`: discard an incomplete version.
    Offer { file: u32, size_bytes: Option<u64>, restart: bool, identity: VersionId, path: Vec<u8> },
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
    /// The folder exists.
    FolderReady,
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

const REFUSALS: [(u8, Refusal); 12] = [
    (1, Refusal::NotAdmitted),
    (2, Refusal::Ticket),
    (3, Refusal::TooMany),
    (4, Refusal::Name),
    (5, Refusal::Exists),
    (6, Refusal::OtherVersion),
    (7, Refusal::TakenOver),
    (8, Refusal::NoSpace),
    (9, Refusal::Quota),
    (10, Refusal::Io),
    (11, Refusal::Protocol),
    (12, Refusal::Stopping),
];

impl Request {
    /// Encodes the message. The bytes may hold a key, and are wiped when dropped.
    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        // One allocation that never grows: growing would leave a copy of the key in freed memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(64 + MAX_PATH_BYTES));
        let put = &mut *bytes;
        match self {
            Self::Begin { streams } => fields(put, 0x01, &[&streams.to_be_bytes()]),
            Self::Join { ticket, stream } => fields(put, 0x02, &[ticket.as_bytes(), &stream.to_be_bytes()]),
            Self::Folder { path } => fields(put, 0x03, &[path]),
            Self::Offer { file, size_bytes, restart, identity, path } => {
                let flags = u8::from(size_bytes.is_some()) | u8::from(*restart) << 1;
                let size_bytes = size_bytes.unwrap_or(0).to_be_bytes();
                fields(put, 0x04, &[&file.to_be_bytes(), &[flags], &size_bytes, identity, path]);
            }
            Self::Finish { file, size_bytes } => {
                fields(put, 0x05, &[&file.to_be_bytes(), &size_bytes.to_be_bytes()]);
            }
            Self::Abandon { file } => fields(put, 0x06, &[&file.to_be_bytes()]),
            Self::Lost { stream } => fields(put, 0x07, &[&stream.to_be_bytes()]),
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
            0x03 => Self::Folder { path: rest.path()? },
            0x04 => {
                let (file, flags, size_bytes) = (rest.u32()?, rest.u8()?, rest.u64()?);
                if flags > 3 || (flags & 1 == 0 && size_bytes != 0) {
                    return Err(Malformed);
                }
                let size_bytes = (flags & 1 == 1).then_some(size_bytes);
                let identity = rest.array()?;
                Self::Offer { file, size_bytes, restart: flags & 2 == 2, identity, path: rest.path()? }
            }
            0x05 => Self::Finish { file: rest.u32()?, size_bytes: rest.u64()? },
            0x06 => Self::Abandon { file: rest.u32()? },
            0x07 => Self::Lost { stream: rest.u16()? },
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
            Self::FolderReady => fields(put, 0x43, &[]),
            Self::Resume { file, held } => {
                let count = held.len().min(MAX_RANGES);
                fields(put, 0x44, &[&file.to_be_bytes(), &(count as u16).to_be_bytes()]);
                for range in &held[..count] {
                    put.extend_from_slice(&range.start.to_be_bytes());
                    put.extend_from_slice(&range.end.to_be_bytes());
                }
            }
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
            Self::Refused { reason } => fields(put, 0x49, &[&[code(&REFUSALS, reason)]]),
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut rest = MessageFields(bytes);
        let reply = match rest.u8()? {
            0x41 => Self::Admitted { ticket: rest.ticket()?, streams: rest.u16()? },
            0x42 => Self::Joined,
            0x43 => Self::FolderReady,
            0x44 => {
                let (file, count) = (rest.u32()?, rest.count(MAX_RANGES)?);
                let mut held = Vec::with_capacity(count);
                let mut end = 0;
                for index in 0..count {
                    let range = rest.u64()?..rest.u64()?;
                    // Ranges ascend, are not empty, and do not touch.
                    if range.is_empty() || (index > 0 && range.start <= end) {
                        return Err(Malformed);
                    }
                    end = range.end;
                    held.push(range);
                }
                Self::Resume { file, held }
            }
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
            0x49 => Self::Refused { reason: of_code(&REFUSALS, rest.u8()?)? },
            _ => return Err(Malformed),
        };
        rest.end()?;
        Ok(reply)
    }
}

fn fields(bytes: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    bytes.push(kind);
    for part in parts {
        bytes.extend_from_slice(part);
    }
}

fn code<T: PartialEq>(table: &[(u8, T)], value: &T) -> u8 {
    table.iter().find_map(|(code, listed)| (listed == value).then_some(*code)).unwrap_or(0)
}

fn of_code<T: Copy>(table: &[(u8, T)], code: u8) -> Result<T, Malformed> {
    table.iter().find_map(|(listed, value)| (*listed == code).then_some(*value)).ok_or(Malformed)
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

    fn count(&mut self, most: usize) -> Result<usize, Malformed> {
        let count = usize::from(self.u16()?);
        if count <= most { Ok(count) } else { Err(Malformed) }
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
