//! Writes entries as tar blocks: POSIX ustar headers (IEEE Std 1003.1-2017, pax, "ustar Interchange Format"), preceded by a pax extended
//! header if a ustar field is too small.
use super::blocks::{BLOCK_BYTES, padding_bytes};
use super::entry::{EntryKind, TreeEntry};
use super::{pax, sparse};
use std::io::{self, Write};
use tar::{EntryType, Header};

/// Offset of the nanoseconds in a header: the first of twelve bytes that ustar leaves free.
pub(crate) const NANOSECONDS_AT: usize = 500;

/// Largest size and time that eleven octal digits hold, and the largest owner that seven hold.
const MAX_OCTAL: u64 = 0o777_7777_7777;
const MAX_OWNER: u32 = 0o777_7777;

/// Longest name and longest link target in a header, in bytes. The prefix field is not used, because readers disagree about it.
pub(crate) const NAME_BYTES: usize = 100;
/// Longest name of an owner in a header.
const OWNER_BYTES: usize = 31;

/// Writes the headers of an entry, and the map of a sparse file. A file's data and [`write_padding`] must follow.
pub(crate) fn write_header(out: &mut dyn Write, entry: &TreeEntry) -> io::Result<()> {
    let mut map = Vec::new();
    let size_bytes = match &entry.kind {
        EntryKind::File { segments: Some(segments), .. } => {
            map = sparse::map(segments);
            map.len() as u64 + sparse::data_bytes(segments)
        }
        kind => kind.size_bytes(),
    };
    let (records, sparse_name) = records(entry, size_bytes);
    if !records.is_empty() {
        let mut header = header(EntryType::XHeader, b"PaxHeaders/entry", records.len() as u64, 0o644);
        header.set_cksum();
        out.write_all(header.as_bytes())?;
        out.write_all(&records)?;
        write_padding(out, records.len() as u64)?;
    }
    let path = sparse_name.as_ref().unwrap_or(&entry.path);
    let mut header = header(EntryType::new(entry.kind.flag()), path, size_bytes, entry.mode);
    header.set_mtime(entry.modified.seconds.try_into().unwrap_or(0).min(MAX_OCTAL));
    let [user, group] = entry.owner.ids.map(|id| if id > MAX_OWNER { 0 } else { id });
    header.set_uid(user.into());
    header.set_gid(group.into());
    if let EntryKind::Device { numbers, .. } = entry.kind {
        let fields = header.as_ustar_mut().expect("was made as one");
        fields.set_device_major(numbers[0]);
        fields.set_device_minor(numbers[1]);
    }
    let [user, group] = &entry.owner.names;
    let fields = header.as_ustar_mut().expect("was made as one");
    for (field, name) in [(&mut fields.uname, user), (&mut fields.gname, group)] {
        if name.len() <= OWNER_BYTES {
            field[..name.len()].copy_from_slice(name);
        }
    }
    copy(&mut header.as_old_mut().linkname, entry.kind.target());
    if has_seconds(entry) {
        header.as_mut_bytes()[NANOSECONDS_AT..][..4].copy_from_slice(&entry.modified.nanoseconds.to_be_bytes());
    }
    header.set_cksum();
    out.write_all(header.as_bytes())?;
    out.write_all(&map)
}

/// Whether the header's field holds the time's seconds.
fn has_seconds(entry: &TreeEntry) -> bool {
    u64::try_from(entry.modified.seconds).is_ok_and(|seconds| seconds <= MAX_OCTAL)
}

/// The records for values that the header's own fields cannot hold, and the name in the header of a sparse file.
fn records(entry: &TreeEntry, size_bytes: u64) -> (Vec<u8>, Option<Vec<u8>>) {
    let is_sparse = matches!(entry.kind, EntryKind::File { segments: Some(_), .. });
    let long = |value: &[u8], most| (value.len() > most).then(|| value.to_vec());
    let owner = |which: usize| {
        let (id, name) = (entry.owner.ids[which], &entry.owner.names[which]);
        ((id > MAX_OWNER).then(|| id.to_string().into_bytes()), long(name, OWNER_BYTES))
    };
    let ((user_id, user), (group_id, group)) = (owner(0), owner(1));
    let path = (!is_sparse).then(|| long(&entry.path, NAME_BYTES)).flatten();
    let target = long(entry.kind.target(), NAME_BYTES);
    let sparse_path = is_sparse.then(|| entry.path.clone());
    let names = [&path, &target, &user, &group, &sparse_path];
    let mut records = Vec::new();
    // Without this record, POSIX takes names as UTF-8.
    if names.into_iter().flatten().any(|name| std::str::from_utf8(name).is_err()) {
        pax::push(&mut records, b"hdrcharset", b"BINARY");
    }
    let size = (size_bytes > MAX_OCTAL).then(|| size_bytes.to_string().into_bytes());
    let modified = (!has_seconds(entry)).then(|| entry.modified.format().into_bytes());
    let values = [
        ("path", path),
        ("linkpath", target),
        ("size", size),
        ("mtime", modified),
        ("uid", user_id),
        ("gid", group_id),
        ("uname", user),
        ("gname", group),
    ];
    for (key, value) in values {
        if let Some(value) = value {
            pax::push(&mut records, key.as_bytes(), &value);
        }
    }
    for (key, value) in &entry.attributes {
        pax::push(&mut records, key, value);
    }
    let Some(path) = sparse_path else { return (records, None) };
    let real = entry.kind.size_bytes().to_string();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let stand_in = [b"GNUSparseFile.0/", name].concat();
    for (key, value) in [("major", &b"1"[..]), ("minor", b"0"), ("name", &path), ("realsize", real.as_bytes())] {
        pax::push(&mut records, format!("GNU.sparse.{key}").as_bytes(), value);
    }
    (records, Some(stand_in))
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

/// Writes the end mark, two blocks of zeros.
pub(crate) fn write_end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0; 2 * BLOCK_BYTES])
}
