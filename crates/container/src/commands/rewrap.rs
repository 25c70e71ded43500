//! `rewrap`: changes the recipients of a container without touching its payload.
//!
//! The header's padding would let a new header replace the old one in place. But a power failure during that write would leave a header
//! that nobody can open, and destroy the only copy of the key. So a complete new file is written next to the old one and renamed over it.
//! Where the file system can share blocks, it copies the payload without moving it; the padding keeps the payload aligned for that.

use std::io::{IoSlice, Seek, SeekFrom};
use std::path::Path;
use std::time::Instant;

use super::open::OpenContainer;
use super::{Control, Report, Sink, Source};
use crate::format::Header;
use crate::keys::{Identities, Recipients};
use crate::sink::CheckedSink;
use crate::source::OpenSource;
use crate::sys::{Kind, Os, System};
use crate::{Error, ErrorKind};

/// Bytes copied between two checks of the cancel flag.
const COPY_BYTES: u64 = 64 << 20;

/// Opens the container at `path` with `identities` and encrypts its header to `recipients` instead. Permissions stay the same. This is
/// not a revocation: anyone who could open the container before may have kept its key.
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
    let input = OpenSource::open(system, &Source::Path(path.to_path_buf()))?;
    if input.status().kind != Kind::Regular {
        return Err(Error::new(ErrorKind::Usage).with_detail("only a regular file can be rewrapped").at(path));
    }
    let container = OpenContainer::read(&input, control)?;
    let (content, _payload) = container.open(identities)?;
    let chunks = container.plain_bytes()?.map_or(0, |bytes| container.layout.chunks(bytes));
    let old_head_bytes = container.header.header_bytes();
    let head = Header::seal(&content, recipients)?;

    // Not checked against the input: here the output is the input, which stays complete at every moment.
    let sink = Sink::Path { path: path.to_path_buf(), force: true };
    let CheckedSink::Name(mut name) = CheckedSink::check(system, &sink, None)? else {
        return Err(Error::new(ErrorKind::InputChanged).at(path));
    };
    // Whoever owns the container has its payload already, so it may keep its owner in any folder.
    name.adopts = Some(*input.status());
    let file = name.create()?;
    let failed = |error: std::io::Error| Error::from(error).at(path);
    file.write_all_at(&mut [IoSlice::new(&head)], 0)?;
    let payload_bytes = input.status().size_bytes - old_head_bytes;
    control.set_total(payload_bytes);
    let (mut from, mut to) = (input.file(), file.file());
    from.seek(SeekFrom::Start(old_head_bytes)).map_err(failed)?;
    to.seek(SeekFrom::Start(head.len() as u64)).map_err(failed)?;
    let mut done = 0;
    while done < payload_bytes {
        if control.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted));
        }
        let copied = system.copy(from, to, COPY_BYTES.min(payload_bytes - done)).map_err(failed)?;
        if copied == 0 {
            return Err(Error::new(ErrorKind::InputChanged).at(path));
        }
        done += copied;
        control.add_done(copied);
    }
    input.check_unchanged()?;
    let bytes_in = input.status().size_bytes;
    // Not every version of Windows replaces a file that is open.
    drop(input);
    file.commit()?;
    Ok(Report { bytes_in, bytes_out: head.len() as u64 + payload_bytes, chunks, elapsed: started.elapsed() })
}
