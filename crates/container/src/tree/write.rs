//! Writes entries as tar blocks: POSIX ustar headers (IEEE Std 1003.1-2017, pax, "ustar Interchange Format"), preceded by a pax extended
//! header if a ustar field is too small.
use super::entry::{EntryKind, TreeEntry};
use super::pax;
use std::io::{self, Write};
use tar::{EntryType, Header};

pub(crate) const BLOCK_BYTES: usize = 512;

/// Largest size and time that eleven octal digits hold.
const MAX_OCTAL: u64 = 0o777_7777_7777;

/// Longest name and longest link target in a header, in bytes. The prefix field is not used, because readers disagree about it.
const NAME_BYTES: usize = 100;

/// Writes the headers of an entry. A file's data and [`write_padding`] must follow.
pub(crate) fn write_header(out: &mut dyn Write, entry: &TreeEntry) -> io::Result<()> {
    let (entry_type, size_bytes, target) = match &entry.kind {
        EntryKind::Folder => (EntryType::Directory, 0, &[][..]),
        EntryKind::File { size_bytes } => (EntryType::Regular, *size_bytes, &[][..]),
        EntryKind::Link { target } => (EntryType::Symlink, 0, &target[..]),
    };
    let records = records(entry, size_bytes, target);
    if !records.is_empty() {
        let mut header = header(EntryType::XHeader, b"PaxHeaders/entry", records.len() as u64, 0o644);
        header.set_cksum();
        out.write_all(header.as_bytes())?;
        out.write_all(&records)?;
        write_padding(out, records.len() as u64)?;
    }
    let mut header = header(entry_type, &entry.path, size_bytes, entry.mode);
    header.set_mtime(entry.modified.seconds.try_into().unwrap_or(0).min(MAX_OCTAL));
    copy(&mut header.as_old_mut().linkname, target);
    header.set_cksum();
    out.write_all(header.as_bytes())
}

/// The records for values that the header's own fields cannot hold.
fn records(entry: &TreeEntry, size_bytes: u64, target: &[u8]) -> Vec<u8> {
    let long_path = (entry.path.len() > NAME_BYTES).then_some(&entry.path[..]);
    let long_target = (target.len() > NAME_BYTES).then_some(target);
    let mut records = Vec::new();
    // Without this record, POSIX takes path and linkpath as UTF-8.
    if [long_path, long_target].into_iter().flatten().any(|name| std::str::from_utf8(name).is_err()) {
        pax::push(&mut records, "hdrcharset", b"BINARY");
    }
    if let Some(path) = long_path {
        pax::push(&mut records, "path", path);
    }
    if let Some(target) = long_target {
        pax::push(&mut records, "linkpath", target);
    }
    if size_bytes > MAX_OCTAL {
        pax::push(&mut records, "size", size_bytes.to_string().as_bytes());
    }
    let fits = u64::try_from(entry.modified.seconds).is_ok_and(|seconds| seconds <= MAX_OCTAL);
    if entry.modified.nanoseconds != 0 || !fits {
        pax::push(&mut records, "mtime", entry.modified.format().as_bytes());
    }
    records
}

fn header(entry_type: EntryType, path: &[u8], size_bytes: u64, mode: u32) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(entry_type);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    // Larger sizes are stored in GNU tar's binary form, which a reader without pax understands.
    header.set_size(size_bytes);
    copy(&mut header.as_old_mut().name, path);
    header
}

/// Copies a name, and cuts one that is too long: the pax record holds it completely.
fn copy(field: &mut [u8; NAME_BYTES], bytes: &[u8]) {
    let length = bytes.len().min(NAME_BYTES);
    field[..length].copy_from_slice(&bytes[..length]);
}

/// Writes zeros up to the next block.
pub(crate) fn write_padding(out: &mut dyn Write, data_bytes: u64) -> io::Result<()> {
    out.write_all(&[0; BLOCK_BYTES][..padding_bytes(data_bytes)])
}

/// Number of bytes from the end of the data to the next block.
pub(crate) fn padding_bytes(data_bytes: u64) -> usize {
    (BLOCK_BYTES - (data_bytes % BLOCK_BYTES as u64) as usize) % BLOCK_BYTES
}

/// Writes the end mark, two blocks of zeros.
pub(crate) fn write_end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0; 2 * BLOCK_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_fills_blocks() {
        for (data_bytes, padding) in [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511), (u64::MAX, 1)] {
            assert_eq!(padding_bytes(data_bytes), padding);
        }
    }
}
