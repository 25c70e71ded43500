//! Parses entries from tar blocks, strictly: POSIX pax and ustar, and GNU tar's long names and binary numbers.
//!
//! Uses crate `tar` only to split a header into fields. Its own reader reads extended headers of any size into memory, and stops at the
//! first end mark without checking what follows.
use super::blocks::{BLOCK_BYTES, copy, damaged, padding_bytes, shown};
use super::entry::{EntryKind, Owner, SET_IDS, TreeEntry};
use super::write::NANOSECONDS_AT;
use super::{attributes, pax, sparse};
use crate::format::Version;
use crate::sys::FileTime;
use crate::{Control, Error, ErrorKind};
use std::io::{self, Read, Write};
use tar::Header;

/// Largest extended header that is read into memory, in bytes. Two paths need 10 kB, extended attributes of other programs 64 KiB each.
const MAX_EXTENSION_BYTES: u64 = 1 << 20;

/// Longest name of an owner.
pub(crate) const MAX_OWNER_BYTES: usize = 255;

/// Reads one archive: call [`ArchiveReader::next_entry`], then [`ArchiveReader::read_data`] until it returns 0, and repeat.
pub(crate) struct ArchiveReader<'a> {
    input: &'a mut dyn Read,
    version: Version,
    /// Bytes of the input that were read.
    position: u64,
    /// Bytes of the current entry's data that were not read yet.
    left_bytes: u64,
    padding_bytes: usize,
    has_input_failed: bool,
}

/// Largest size that a header's octal field holds. Larger sizes are in a pax record.
const MAX_OCTAL_BYTES: u64 = (1 << 33) - 1;

/// Copies the tar stream of version 2 without what follows it, and reads the input to its end.
pub(crate) fn copy_stream(input: &mut dyn Read, out: &mut dyn Write) -> Result<(), Error> {
    let mut zeros = 0;
    while zeros < 2 {
        let mut block = [0; BLOCK_BYTES];
        input.read_exact(&mut block)?;
        out.write_all(&block)?;
        zeros = if block == [0; BLOCK_BYTES] { zeros + 1 } else { 0 };
        let size_bytes = number(&Header::from_byte_slice(&block).as_old().size).filter(|_| zeros == 0);
        if let Some(bytes) = size_bytes.and_then(|bytes| u64::try_from(bytes).ok()) {
            copy(input, out, bytes.saturating_add(padding_bytes(bytes) as u64), &Control::new())?;
        }
    }
    io::copy(input, &mut io::sink())?;
    Ok(())
}

/// The values that extended headers gave for the next entry.
#[derive(Default)]
struct Extensions {
    has_pax: bool,
    has_gnu: bool,
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size_bytes: Option<u64>,
    modified: Option<FileTime>,
    ids: [Option<u32>; 2],
    names: [Option<Vec<u8>>; 2],
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    sparse: SparseRecords,
}

/// The records of a sparse file: major and minor version, name and real size.
#[derive(Default)]
struct SparseRecords {
    version: [Option<u64>; 2],
    name: Option<Vec<u8>>,
    real_bytes: Option<u64>,
}

impl<'a> ArchiveReader<'a> {
    pub(crate) fn new(input: &'a mut dyn Read, version: Version) -> ArchiveReader<'a> {
        ArchiveReader { input, version, position: 0, left_bytes: 0, padding_bytes: 0, has_input_failed: false }
    }

    /// Bytes of the input that were read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Number of bytes between the beginning and the header that is read next.
    pub(crate) fn next_position(&self) -> u64 {
        self.position.saturating_add(self.left_bytes).saturating_add(self.padding_bytes as u64)
    }

    /// The input, which is behind what was read.
    pub(crate) fn input(&mut self) -> &mut dyn Read {
        self.input
    }

    /// Whether the last error came from the input and not from the entry.
    pub(crate) fn has_input_failed(&self) -> bool {
        self.has_input_failed
    }

    /// Reads the next entry; `None` after the end mark, in version 1 when the input was read to its end.
    pub(crate) fn next_entry(&mut self) -> Result<Option<TreeEntry>, Error> {
        debug_assert_eq!(self.left_bytes, 0);
        self.skip_padding()?;
        let mut extensions = Extensions::default();
        loop {
            let block = self.read_block()?;
            if block == [0; BLOCK_BYTES] {
                if !extensions.is_empty() {
                    return Err(damaged("extended header without an entry"));
                }
                if self.read_block()? != [0; BLOCK_BYTES] {
                    return Err(damaged("entry after the end mark"));
                }
                if self.version == Version::V1 {
                    self.read_zeros()?;
                }
                return Ok(None);
            }
            let header = Header::from_byte_slice(&block);
            check_sum(header)?;
            // Other readers may treat an extended header of another format as a file, and its name as that file's name.
            if header.as_ustar().is_none() && header.as_gnu().is_none() {
                return Err(damaged("neither a ustar nor a GNU header"));
            }
            let size_bytes = number(&header.as_old().size).and_then(|size| size.try_into().ok());
            let size_bytes = size_bytes.ok_or_else(|| damaged("malformed size"))?;
            match header.entry_type().as_byte() {
                b'x' => extensions.read_pax(&self.read_extension(size_bytes)?, self.version)?,
                kind @ (b'L' | b'K') => extensions.take_gnu(kind, self.read_extension(size_bytes)?)?,
                _ => return self.entry(header, size_bytes, extensions).map(Some),
            }
        }
    }

    fn entry(&mut self, header: &Header, size_bytes: u64, extensions: Extensions) -> Result<TreeEntry, Error> {
        let owner = self.owner(header, &extensions)?;
        let real_bytes = extensions.sparse.real_bytes()?;
        if real_bytes.is_some() && extensions.path.is_some() {
            return Err(damaged("two values for one field of an entry"));
        }
        let path = extensions.sparse.name.or(extensions.path).unwrap_or_else(|| header.path_bytes().into_owned());
        let size_bytes = match extensions.size_bytes {
            Some(pax_bytes) if pax_bytes != size_bytes && pax_bytes <= MAX_OCTAL_BYTES => {
                return Err(damaged("two sizes for one entry").at_entry(shown(&path)));
            }
            pax_bytes => pax_bytes.unwrap_or(size_bytes),
        };
        let target = || {
            let short = || header.link_name_bytes().unwrap_or_default().into_owned();
            extensions.target.clone().unwrap_or_else(short)
        };
        let is_v2 = self.version == Version::V2;
        let mut kind = match header.entry_type().as_byte() {
            b'0' | b'\0' => EntryKind::File { size_bytes, segments: None },
            b'5' => EntryKind::Folder,
            b'2' => EntryKind::Link { target: target() },
            b'1' if is_v2 => EntryKind::HardLink { target: target() },
            b'6' if is_v2 => EntryKind::Fifo,
            flag @ (b'3' | b'4') if is_v2 => {
                let fields = header.as_ustar().ok_or_else(|| damaged("device without a ustar header"))?;
                let number = |field: &[u8]| octal(field).and_then(|number| u32::try_from(number).ok());
                match (number(&fields.dev_major), number(&fields.dev_minor)) {
                    (Some(major), Some(minor)) => EntryKind::Device { is_block: flag == b'4', numbers: [major, minor] },
                    _ => return Err(damaged("malformed device number").at_entry(shown(&path))),
                }
            }
            other => return Err(unsupported(other).at_entry(shown(&path))),
        };
        // Others have no data, so there is nothing to skip or misread.
        if !matches!(kind, EntryKind::File { .. }) && (size_bytes != 0 || real_bytes.is_some()) {
            return Err(damaged("data after something that is not a file").at_entry(shown(&path)));
        }
        let mode = octal(&header.as_old().mode).ok_or_else(|| damaged("malformed mode"))? as u32 & 0o7777;
        let mode = if is_v2 { mode } else { mode & !SET_IDS & 0o777 };
        let mut nanoseconds = 0;
        if is_v2 && header.as_ustar().is_some() {
            let field = &header.as_bytes()[NANOSECONDS_AT..];
            nanoseconds = u32::from_be_bytes(field[..4].try_into().expect("4 bytes"));
        }
        let field = || Some(FileTime { seconds: number(&header.as_old().mtime)?.try_into().ok()?, nanoseconds });
        let modified = extensions.modified.or_else(field).filter(|time| time.nanoseconds < 1_000_000_000);
        let modified = modified.ok_or_else(|| damaged("malformed time"))?;
        self.left_bytes = size_bytes;
        self.padding_bytes = padding_bytes(size_bytes);
        if let (EntryKind::File { size_bytes: shown_bytes, segments }, Some(real_bytes)) = (&mut kind, real_bytes) {
            let (parts, map_bytes) = sparse::read_map(real_bytes, || self.read_block())?;
            let data_bytes = size_bytes.checked_sub(map_bytes);
            if data_bytes != Some(sparse::data_bytes(&parts)) {
                return Err(damaged("map of a sparse file does not match its size").at_entry(shown(&path)));
            }
            self.left_bytes = size_bytes - map_bytes;
            (*shown_bytes, *segments) = (real_bytes, Some(parts));
        }
        let mut records = extensions.attributes;
        records.sort_unstable();
        if records.iter().any(|(key, value)| attributes::from_record(key, value).is_none()) {
            return Err(damaged("malformed attribute or access list").at_entry(shown(&path)));
        }
        if records.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(damaged("two values for one field of an entry").at_entry(shown(&path)));
        }
        Ok(TreeEntry { path, kind, mode, modified, owner, attributes: records })
    }

    fn owner(&self, header: &Header, extensions: &Extensions) -> Result<Owner, Error> {
        if self.version == Version::V1 {
            return Ok(Owner::default());
        }
        let fields = [&header.as_old().uid, &header.as_old().gid];
        let mut owner = Owner::default();
        for (which, field) in fields.into_iter().enumerate() {
            let id = extensions.ids[which].or_else(|| octal(field).and_then(|id| id.try_into().ok()));
            owner.ids[which] = id.ok_or_else(|| damaged("malformed owner"))?;
        }
        if let Some(fields) = header.as_ustar() {
            owner.names = [&fields.uname, &fields.gname]
                .map(|name| name.split(|&byte| byte == 0).next().unwrap_or_default().to_vec());
        }
        for (name, long) in owner.names.iter_mut().zip(&extensions.names) {
            if let Some(long) = long {
                name.clone_from(long);
            }
        }
        Ok(owner)
    }

    /// Reads the next bytes of the entry's data; returns 0 after the last.
    pub(crate) fn read_data(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let wanted = buffer.len().min(usize::try_from(self.left_bytes).unwrap_or(usize::MAX));
        self.read_exact(&mut buffer[..wanted])?;
        self.left_bytes -= wanted as u64;
        Ok(wanted)
    }

    fn skip_padding(&mut self) -> Result<(), Error> {
        let mut padding = [0; BLOCK_BYTES];
        let length = std::mem::take(&mut self.padding_bytes);
        self.read_exact(&mut padding[..length])?;
        if padding != [0; BLOCK_BYTES] {
            return Err(damaged("padding is not zero"));
        }
        Ok(())
    }

    /// Reads the whole data of an extended header.
    fn read_extension(&mut self, size_bytes: u64) -> Result<Vec<u8>, Error> {
        if size_bytes > MAX_EXTENSION_BYTES {
            return Err(damaged("extended header is too large"));
        }
        let mut data = vec![0; size_bytes as usize];
        self.read_exact(&mut data)?;
        self.padding_bytes = padding_bytes(size_bytes);
        self.skip_padding()?;
        Ok(data)
    }

    /// Reads the rest, zeros in whole blocks up to the end of the input. Other data there would be part of the encrypted content without
    /// being part of the tree.
    fn read_zeros(&mut self) -> Result<(), Error> {
        let mut buffer = [0; 16 * BLOCK_BYTES];
        let mut total_bytes = 0;
        loop {
            match self.input.read(&mut buffer) {
                Ok(0) if total_bytes % BLOCK_BYTES == 0 => return Ok(()),
                Ok(0) => return Err(damaged("ends within a block")),
                Ok(count) if buffer[..count].iter().any(|&byte| byte != 0) => {
                    return Err(damaged("data after the end mark"));
                }
                Ok(count) => total_bytes = (total_bytes + count) % BLOCK_BYTES,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read_block(&mut self) -> Result<[u8; BLOCK_BYTES], Error> {
        let mut block = [0; BLOCK_BYTES];
        self.read_exact(&mut block)?;
        Ok(block)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.input.read_exact(buffer).map_err(|error| match error.kind() {
            // An error without an inner error comes from `read_exact` itself, not from the reader below.
            io::ErrorKind::UnexpectedEof if error.get_ref().is_none_or(|inner| !inner.is::<Error>()) => {
                damaged("ends before its end mark")
            }
            _ => {
                self.has_input_failed = true;
                Error::from(error)
            }
        })?;
        self.position += buffer.len() as u64;
        Ok(())
    }
}

impl Extensions {
    fn is_empty(&self) -> bool {
        !self.has_pax && !self.has_gnu
    }

    /// Takes a long name or link target of GNU tar. No writer combines them with pax records, and readers disagree on whether a pax size
    /// applies to the long name or to the entry.
    fn take_gnu(&mut self, kind: u8, data: Vec<u8>) -> Result<(), Error> {
        self.has_gnu = true;
        self.reject_both_formats()?;
        let slot = if kind == b'L' { &mut self.path } else { &mut self.target };
        set_once(slot, without_nul(data))
    }

    fn reject_both_formats(&self) -> Result<(), Error> {
        match self.has_pax && self.has_gnu {
            true => Err(damaged("extended headers of both pax and GNU tar for one entry")),
            false => Ok(()),
        }
    }

    fn read_pax(&mut self, data: &[u8], version: Version) -> Result<(), Error> {
        if std::mem::replace(&mut self.has_pax, true) {
            return Err(damaged("two extended headers for one entry"));
        }
        self.reject_both_formats()?;
        for record in pax::records(data) {
            let (key, value) = record.ok_or_else(|| damaged("malformed extended header"))?;
            match key {
                b"path" => set_once(&mut self.path, value.to_vec())?,
                b"linkpath" => set_once(&mut self.target, value.to_vec())?,
                b"size" => set_once(&mut self.size_bytes, decimal(value)?)?,
                b"mtime" => {
                    let time = FileTime::parse(value).ok_or_else(|| damaged("malformed time"))?;
                    set_once(&mut self.modified, time)?;
                }
                key if version == Version::V2 => self.read_pax_v2(key, value)?,
                // Such a file's data is not the file's content.
                key if key.starts_with(b"GNU.sparse.") => return Err(unsupported(b'S')),
                // Owners, access times, comments and extended attributes are not stored.
                _ => {}
            }
        }
        Ok(())
    }
}

impl Extensions {
    fn read_pax_v2(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let id = || {
            let id = u32::try_from(decimal(value)?).ok().filter(|&id| id < u32::MAX);
            id.ok_or_else(|| damaged("owner is out of range"))
        };
        match key {
            b"uid" => set_once(&mut self.ids[0], id()?)?,
            b"gid" => set_once(&mut self.ids[1], id()?)?,
            b"uname" | b"gname" if value.is_empty() || value.len() > MAX_OWNER_BYTES || value.contains(&0) => {
                return Err(damaged("malformed owner"));
            }
            b"uname" => set_once(&mut self.names[0], value.to_vec())?,
            b"gname" => set_once(&mut self.names[1], value.to_vec())?,
            b"GNU.sparse.major" => set_once(&mut self.sparse.version[0], decimal(value)?)?,
            b"GNU.sparse.minor" => set_once(&mut self.sparse.version[1], decimal(value)?)?,
            b"GNU.sparse.name" => set_once(&mut self.sparse.name, value.to_vec())?,
            b"GNU.sparse.realsize" => set_once(&mut self.sparse.real_bytes, decimal(value)?)?,
            key if key.starts_with(b"GNU.sparse.") => return Err(unsupported(b'S')),
            key if attributes::is_attribute(key) => self.attributes.push((key.to_vec(), value.to_vec())),
            // Access times and comments are not stored.
            _ => {}
        }
        Ok(())
    }
}

impl SparseRecords {
    /// The length of a sparse file with its holes; `None` for another file.
    fn real_bytes(&self) -> Result<Option<u64>, Error> {
        match (self.version, &self.name, self.real_bytes) {
            ([None, None], None, None) => Ok(None),
            ([Some(1), Some(0)], Some(_), Some(bytes)) => Ok(Some(bytes)),
            ([Some(_), Some(_)], Some(_), Some(_)) => Err(unsupported(b'S')),
            _ => Err(damaged("records of a sparse file are missing")),
        }
    }
}

/// Readers disagree on which of two values wins, so two values are an error.
fn set_once<T>(slot: &mut Option<T>, value: T) -> Result<(), Error> {
    match slot.replace(value) {
        Some(_) => Err(damaged("two values for one field of an entry")),
        None => Ok(()),
    }
}

fn decimal(text: &[u8]) -> Result<u64, Error> {
    let digits = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| damaged("malformed size"))
}

/// GNU tar ends a long name with NUL. Any other NUL stays, and makes the name invalid.
fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    name.pop_if(|last| *last == 0);
    name
}

/// Checks the sum of all bytes of the header, with the checksum's own eight bytes taken as spaces.
fn check_sum(header: &Header) -> Result<(), Error> {
    let bytes = header.as_bytes();
    let field = 148..156;
    let outside: u64 = bytes[..field.start].iter().chain(&bytes[field.end..]).map(|&byte| u64::from(byte)).sum();
    match octal(&bytes[field]) {
        Some(stored) if stored == outside + 8 * u64::from(b' ') => Ok(()),
        _ => Err(damaged("header checksum does not match")),
    }
}

/// Parses digits between spaces, up to NUL or the end of the field. Crate `tar` also accepts signs and tabs.
fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field.split(|&byte| byte == 0).next()?).ok()?.trim_matches(' ');
    let is_octal = text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    is_octal.then(|| u64::from_str_radix(text, 8).ok()).flatten()
}

/// Parses octal, or GNU tar's binary form, where a first byte of 0xff begins a negative number.
fn number(field: &[u8; 12]) -> Option<i128> {
    let (head, tail) = field.split_at(4);
    let binary = u64::from_be_bytes(tail.try_into().ok()?);
    match head {
        [0x80, 0, 0, 0] => Some(binary.into()),
        [0xff, 0xff, 0xff, 0xff] => Some(i128::from(binary as i64)).filter(|&number| number < 0),
        _ => octal(field).map(i128::from),
    }
}

fn unsupported(entry_type: u8) -> Error {
    let what = match entry_type {
        b'1' => "hard link",
        b'3' => "character device",
        b'4' => "block device",
        b'6' => "FIFO",
        b'S' => "sparse file",
        _ => "unknown type of entry",
    };
    Error::new(ErrorKind::TreeSpecialFile).with_detail(what)
}
