//! Random access to the plaintext of a container.

use std::ffi::{c_char, c_int, c_void};
use std::io::{self, Read, Seek, SeekFrom};

use tress_container::Error;
use tress_container::streaming::{OffsetFile, Reader};
use zeroize::Zeroize as _;

use crate::container::ContentInfo;
use crate::failure::Failure;
use crate::files;
use crate::keys::tress_identities;
use crate::options;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// A container with random access through a callback.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_source {
    /// Callback that reads up to `capacity` bytes at `offset` into `buffer`, writes their number to `length` (0 only at the
    /// end), and returns 0; any other value ends the operation with `TRESS_CALLBACK`. It runs in the calling thread, and
    /// must not call functions on the same handle, throw, or leave by `longjmp`.
    pub read_at: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            offset: u64,
            buffer: *mut u8,
            capacity: usize,
            length: *mut usize,
        ) -> c_int,
    >,
    /// Passed to `read_at`.
    pub context: *mut c_void,
    /// Length of the container in bytes.
    pub length: u64,
    /// Reserved; must be zero.
    pub reserved: u64,
}

/// Reads the plaintext of a container at any offset. It caches the chunks that it decrypted last. One thread at a time, not
/// always the same one.
pub struct tress_reader {
    reader: Reader<ContainerSource>,
    content: ContentInfo,
    from_caller: bool,
}

/// The container that a reader reads.
enum ContainerSource {
    File(OffsetFile),
    Source { source: tress_source, position: u64 },
}

impl Read for ContainerSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ContainerSource::File(file) => file.read(buffer),
            ContainerSource::Source { source, position } => {
                if *position >= source.length || buffer.is_empty() {
                    return Ok(0);
                }
                let read_at = source.read_at.ok_or(io::ErrorKind::InvalidInput)?;
                let mut length = 0;
                // SAFETY: the caller of `tress_reader_open` promises that the callback and its context are valid until the
                // reader is freed; `buffer` has the length that is passed.
                let status =
                    unsafe { read_at(source.context, *position, buffer.as_mut_ptr(), buffer.len(), &raw mut length) };
                if status != 0 || length > buffer.len() {
                    return Err(io::ErrorKind::Other.into());
                }
                *position += length as u64;
                Ok(length)
            }
        }
    }
}

impl Seek for ContainerSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            ContainerSource::File(file) => file.seek(to),
            ContainerSource::Source { source, position } => {
                let target = match to {
                    SeekFrom::Start(offset) => Some(offset),
                    SeekFrom::End(distance) => source.length.checked_add_signed(distance),
                    SeekFrom::Current(distance) => position.checked_add_signed(distance),
                };
                *position = target.ok_or(io::ErrorKind::InvalidInput)?;
                Ok(*position)
            }
        }
    }
}

fn open(container: ContainerSource, identities: &tress_identities, threads: usize) -> Result<tress_reader, Failure> {
    let from_caller = matches!(container, ContainerSource::Source { .. });
    let threads = options::threads(threads)?;
    let reader =
        Reader::open(container, &identities.0, threads.into()).map_err(|error| report_failure(error, from_caller))?;
    let content = ContentInfo::of(reader.content());
    Ok(tress_reader { reader, content, from_caller })
}

/// Converts an error of the reader. With a callback as the source, an I/O error is a failure of the callback.
fn report_failure(error: Error, from_caller: bool) -> Failure {
    let failure = Failure::from(error);
    if from_caller && failure.status == TRESS_IO {
        return Failure::with_detail(TRESS_CALLBACK, "the read callback failed");
    }
    failure
}

/// Opens the container of `source` with the first of `identities` that matches. Verifies the last chunk, and so the length of
/// the plaintext. `threads` is the number of threads, up to 1024; 0 means one for each core, 1 means the calling thread
/// alone. Any thread.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_TRUNCATED`, `TRESS_CHUNK_DAMAGED` and the other codes for a damaged container;
/// `TRESS_CALLBACK`; `TRESS_ARGUMENT` if `reserved` is not zero.
///
/// # Safety
/// `source` is readable; its callback and context are valid until the reader is freed; `identities` is a valid handle;
/// `reader` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_open(
    source: *const tress_source,
    identities: *const tress_identities,
    threads: usize,
    reader: *mut *mut tress_reader,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(reader, || {
            let source = *raw::handle(source)?;
            if source.read_at.is_none() {
                return Err(TRESS_NULL.into());
            }
            if source.reserved != 0 {
                return Err(TRESS_ARGUMENT.into());
            }
            open(ContainerSource::Source { source, position: 0 }, raw::handle(identities)?, threads)
        })
    })
}

/// Opens a container file, as `tress_reader_open`.
///
/// Returns `TRESS_IO`, `TRESS_ARGUMENT` for a pipe, and the errors of `tress_reader_open`.
///
/// # Safety
/// `path` ends with NUL; `identities` is a valid handle; `reader` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_open_file(
    path: *const c_char,
    identities: *const tress_identities,
    threads: usize,
    reader: *mut *mut tress_reader,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(reader, || {
            let path = files::path(path)?;
            let identities = raw::handle(identities)?;
            let file = OffsetFile::open(&path).map_err(|error| error.at(&path))?;
            open(ContainerSource::File(file), identities, threads)
        })
    })
}

/// Returns the length of the plaintext in bytes; 0 for NULL. One thread at a time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_length(reader: *const tress_reader) -> u64 {
    // SAFETY: `reader` is NULL or a valid handle, as the caller promises.
    let reader = unsafe { reader.as_ref() };
    guard_value(0, || reader.map_or(0, |reader| reader.reader.plain_bytes()))
}

/// Returns the file's format, as in `tress_options`; NULL for NULL. The text is static. One thread at a time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_format(reader: *const tress_reader) -> *const c_char {
    // SAFETY: `reader` is NULL or a valid handle, as the caller promises.
    unsafe { reader.as_ref() }.map_or(std::ptr::null(), |reader| reader.content.format())
}

/// Returns the name in the container, valid until the handle is freed; NULL if it has none. The name comes from whoever made
/// the container. One thread at a time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_name(reader: *const tress_reader) -> *const c_char {
    // SAFETY: `reader` is NULL or a valid handle, as the caller promises.
    unsafe { reader.as_ref() }.map_or(std::ptr::null(), |reader| reader.content.name())
}

/// Returns 1 if the plaintext is the tar stream of a folder, 0 if it is the content of a file, -1 for NULL. One thread at a
/// time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_is_tree(reader: *const tress_reader) -> c_int {
    // SAFETY: `reader` is NULL or a valid handle, as the caller promises.
    unsafe { reader.as_ref() }.map_or(-1, |reader| reader.content.is_tree())
}

/// Reads `capacity` bytes of verified plaintext at `offset` into `buffer`, and writes the number of bytes read to `length`:
/// fewer than `capacity` only at the end of the plaintext, 0 after it. Sequential reads read ahead; other reads decrypt at
/// least one chunk of 16 KiB. The handle stays usable after a failure, because other chunks may be undamaged. One thread at a
/// time.
///
/// Returns `TRESS_CHUNK_DAMAGED`, `TRESS_IO`, `TRESS_CALLBACK`. A call that fails wipes the buffer and sets `length` to 0.
///
/// # Safety
/// `reader` is a valid handle; `capacity` bytes are writable at `buffer`; `length` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_read_at(
    reader: *mut tress_reader,
    offset: u64,
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle and `capacity` writable bytes.
        let (handle, buffer) = unsafe { (raw::handle_mut(reader)?, raw::bytes_mut(buffer, capacity)?) };
        if length.is_null() {
            return Err(TRESS_NULL.into());
        }
        // SAFETY: `length` is not NULL, and the caller promises that it is writable.
        unsafe { raw::write_optional(length, 0) };
        let read = read_at(&mut handle.reader, offset, buffer).map_err(|error| {
            buffer.zeroize();
            report_failure(error, handle.from_caller)
        })?;
        // SAFETY: `length` is not NULL, and the caller promises that it is writable.
        unsafe { raw::write_optional(length, read) };
        Ok(())
    })
}

fn read_at(reader: &mut Reader<ContainerSource>, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
    reader.seek(SeekFrom::Start(offset))?;
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The reader wraps this library's errors in I/O errors.
            Err(error) => return Err(error.downcast::<Error>().unwrap_or_else(Error::from)),
        }
    }
    Ok(filled)
}

/// Wipes the cached plaintext and frees the handle; NULL does nothing.
///
/// # Safety
/// `reader` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_free(reader: *mut tress_reader) {
    // SAFETY: `reader` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(reader) }
}
