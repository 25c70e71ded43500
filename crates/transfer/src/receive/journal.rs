//! The journal of an incomplete file: which version of the input it is, and which chunks are verified and synced.
//!
//! It is a header and records. A record is appended only after the chunks that it lists are synced. Each record carries a
//! check, so that a record torn by a power cut ends the journal and the records before it stay valid. It holds no key.

use std::fs::File;
use std::io::{self, IoSliceMut};

use std::ops::Range;
use tress_container::format::LAYOUT;
use tress_container::sys::System;

use sha2::{Digest, Sha256};

use crate::wire::message::VersionId;
use crate::wire::ranges::Ranges;

const MAGIC: &[u8; 16] = b"tress journal 2\n";
const CHECK_BYTES: usize = 8;
const HEADER_BYTES: usize = MAGIC.len() + 32 + 8 + CHECK_BYTES;
const RECORD_BYTES: usize = 8 + 8 + CHECK_BYTES;
/// Longest journal that is read, in bytes. One that has half of this length is shortened: at most 65,536 ranges of chunks are left.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// The content of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Journal {
    pub(crate) identity: VersionId,
    pub(crate) size_bytes: u64,
    pub(crate) held: Ranges,
    /// Bytes up to the end of the last valid record.
    pub(crate) good_bytes: u64,
}

pub(crate) fn header(identity: &VersionId, size_bytes: u64) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], identity, &size_bytes.to_be_bytes()].concat();
    let check = check(identity, &bytes);
    bytes.extend_from_slice(&check);
    bytes
}

pub(crate) fn record(identity: &VersionId, chunks: &Range<u64>) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&chunks.start.to_be_bytes());
    bytes[8..16].copy_from_slice(&chunks.end.to_be_bytes());
    let check = check(identity, &bytes[..16]);
    bytes[16..].copy_from_slice(&check);
    bytes
}

/// Parses the header and all records up to the first invalid one. `None` without a valid header. A record with chunks past the file's
/// end is invalid too.
pub(crate) fn parse(bytes: &[u8]) -> Option<Journal> {
    let (header, mut records) = bytes.split_at_checked(HEADER_BYTES)?;
    let (body, given) = header.split_at(HEADER_BYTES - CHECK_BYTES);
    let rest = body.strip_prefix(&MAGIC[..])?;
    let identity: VersionId = rest.get(..32)?.try_into().ok()?;
    let size_bytes = number(rest.get(32..)?)?;
    if given != check(&identity, body) {
        return None;
    }
    let chunks = LAYOUT.chunks(size_bytes);
    let mut journal = Journal { identity, size_bytes, held: Ranges::new(), good_bytes: HEADER_BYTES as u64 };
    while let Some((record, rest)) = records.split_at_checked(RECORD_BYTES) {
        let (start, end) = (number(&record[..8])?, number(&record[8..16])?);
        if record[16..] != check(&identity, &record[..16]) || start >= end || end > chunks {
            break;
        }
        journal.held.insert(start..end);
        journal.good_bytes += RECORD_BYTES as u64;
        records = rest;
    }
    Some(journal)
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

fn check(identity: &VersionId, bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = Sha256::new().chain_update(identity).chain_update(bytes).finalize();
    std::array::from_fn(|i| hash[i])
}

/// A name of fixed length for the files of a transfer: a hash of the sender's name for the file.
pub(crate) fn stem(path: &[u8]) -> String {
    let hash = Sha256::digest(path);
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a small file, or its first `most_bytes`.
pub(crate) fn read(system: &dyn System, file: &File, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while (bytes.len() as u64) < most_bytes {
        match system.read_at(file, &mut [IoSliceMut::new(&mut buffer)], bytes.len() as u64) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(usize::try_from(most_bytes).unwrap_or(usize::MAX));
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is meant")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDENTITY: VersionId = [3; 32];
    /// Ten chunks and a bit.
    const SIZE: u64 = 10 * 16_384 + 5;

    fn written() -> Vec<u8> {
        [header(&IDENTITY, SIZE), record(&IDENTITY, &(0..4)).to_vec(), record(&IDENTITY, &(7..11)).to_vec()].concat()
    }

    #[test]
    fn what_is_written_reads_back() {
        let journal = parse(&written()).unwrap();
        assert_eq!((journal.identity, journal.size_bytes), (IDENTITY, SIZE));
        assert_eq!(journal.held.iter().collect::<Vec<_>>(), [0..4, 7..11]);
        assert_eq!(journal.good_bytes, written().len() as u64);
    }

    #[test]
    fn a_torn_or_wrong_record_ends_the_journal() {
        let good = written();
        let whole = parse(&good[..good.len() - 1]).unwrap();
        assert_eq!(whole.held.iter().collect::<Vec<_>>(), [0..4]);
        for wrong in [record(&IDENTITY, &(8..12)), record(&IDENTITY, &(5..5)), record(&[4; 32], &(5..6)), [0; 24]] {
            let journal = parse(&[&good[..], &wrong].concat()).unwrap();
            assert_eq!((journal.held.count(), journal.good_bytes), (8, good.len() as u64));
        }
        assert_eq!(parse(&good[..10]), None);
    }

    proptest! {
        #[test]
        fn any_flipped_bit_loses_records_and_invents_none(bit in 0..written().len() * 8) {
            let mut bytes = written();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Some(journal) = parse(&bytes) {
                prop_assert!(journal.held.count() < 8);
                prop_assert!(journal.held.iter().flatten().all(|chunk| chunk < 4));
            }
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
            let _ = parse(&[&header(&IDENTITY, SIZE)[..], &bytes].concat());
        }
    }
}
