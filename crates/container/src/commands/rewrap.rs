//! `rewrap`: changes the recipients of a container without touching its payload.
//!
//! The header's padding would let a new header replace the old one in place. But a power failure during that write would leave a header
//! that nobody can open, and destroy the only copy of the key. So a complete new file is written next to the old one and renamed over it.
//! Where the file system can share blocks, it copies the payload without moving it; the padding keeps the payload aligned for that. An age
//! file has no padding. If it is armored, all of its text is made anew.

use std::fs::File;
use std::io::{self, IoSlice, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Instant;

use super::encrypt::armor;
use super::filter::SequentialWriter;
use super::open::OpenContainer;
use super::{Control, Report, Sink, Source};
use crate::keys::{Identities, Recipients};
use crate::sink::{CheckedSink, OpenSink, anchored, without_list};
use crate::source::OpenSource;
use crate::sys::{Attributed, Kind, Os, System};
use crate::{Error, ErrorKind};

/// Bytes copied between two checks of the cancel flag.
const COPY_BYTES: u64 = 64 << 20;

/// Opens the container or age file at `path` with `identities` and encrypts its header to `recipients` instead. Permissions stay the
/// same. This is not a revocation: anyone who could open the container before may have kept its key.
///
/// # Errors
/// Every failure of reading, opening or writing, and [`ErrorKind::Interrupted`]. Then the container is unchanged.
pub fn rewrap(
    path: &Path,
    identities: &Identities,
    recipients: &Recipients,
    control: &Control,
) -> Result<Report, Error> {
    rewrap_on(&Os, path, identities, recipients, control)
}

pub(crate) fn rewrap_on(
    system: &dyn System,
    path: &Path,
    identities: &Identities,
    recipients: &Recipients,
    control: &Control,
) -> Result<Report, Error> {
    let started = Instant::now();
    let (source, place) = (Source::Path(path.to_path_buf()), anchored(path));
    let input = OpenSource::open(system, &source)?;
    if input.status().kind != Kind::Regular || source.descriptor().is_some() {
        return Err(Error::new(ErrorKind::Usage).with_detail("only a regular file can be rewrapped").at(path));
    }
    let mut container = OpenContainer::read(&input, identities.format(), control)?;
    let content = container.open(identities)?.content;
    let chunks = container.plain_bytes()?.map_or(0, |bytes| container.layout.chunks(bytes));
    let head = container.head.rewrapped(&content, recipients).map_err(|error| error.at(path))?;
    let old_head_bytes = container.head.header_bytes();

    // Not checked against the input: here the output is the input, which stays complete at every moment.
    let sink = Sink::Path { path: place, force: true };
    let CheckedSink::Name(mut name) = CheckedSink::check(system, &sink, None)? else {
        return Err(Error::new(ErrorKind::InputChanged).at(path));
    };
    // Its name may lead to another file by now, or by the end of the work.
    name.replaces = Some(Box::new(*input.status()));
    // Whoever owns the container has its payload already, so it may keep its owner in any folder.
    name.adopts = Some(without_list(*input.status(), system.attributes(Attributed::File(input.file()))));
    let length = "a file that does not tell its length cannot be rewrapped";
    let bytes_in = input.seekable_bytes().ok_or_else(|| Error::new(ErrorKind::Usage).with_detail(length).at(path))?;
    let output = OpenSink::File(name.create()?);
    let bytes_out = if container.reader.is_armored() {
        let payload = Counted { reader: &mut container.reader, control };
        let text = (&head[..]).chain(container.head.kept()).chain(payload);
        let mut writer = SequentialWriter::new(&output, control);
        let written = armor(text, &mut writer);
        if let Some(error) = writer.error {
            return Err(error);
        }
        written.map_err(|error| input.failure(error, control))?;
        writer.offset
    } else {
        output.write_all(&mut [IoSlice::new(&head)], 0, control)?;
        let payload_bytes = bytes_in - old_head_bytes;
        if let OpenSink::File(file) = &output {
            let mut ends = [(input.file(), old_head_bytes), (file.file(), head.len() as u64)];
            copy(system, &mut ends, payload_bytes, control).map_err(|error| error.at(path))?;
        }
        head.len() as u64 + payload_bytes
    };
    // Not every version of Windows replaces a file that is open.
    drop(input);
    output.commit(control).map_err(|error| match error.kind {
        ErrorKind::InputChanged => Error::new(error.kind).at(path),
        _ => error,
    })?;
    Ok(Report { bytes_in, bytes_out, chunks, elapsed: started.elapsed(), ..Report::default() })
}

/// A reader whose bytes are counted as done. How many follow is not known before the armor ends.
struct Counted<'a, R> {
    reader: R,
    control: &'a Control,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(buffer)?;
        self.control.add_done(bytes as u64);
        Ok(bytes)
    }
}

/// Copies bytes from the first file to the second, from an offset on in each.
fn copy(system: &dyn System, [from, to]: &mut [(&File, u64); 2], bytes: u64, control: &Control) -> Result<(), Error> {
    control.set_total(bytes);
    for (file, offset) in [&mut *from, to] {
        file.seek(SeekFrom::Start(*offset))?;
    }
    let mut done = 0;
    while done < bytes {
        if control.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted));
        }
        match system.copy(from.0, to.0, COPY_BYTES.min(bytes - done))? {
            0 => return Err(ErrorKind::InputChanged.into()),
            copied => {
                done += copied;
                control.add_done(copied);
            }
        }
    }
    Ok(())
}
