//! The plaintext of a container that can be read at any place, itself read at any place.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use tress_container::Error;
use tress_container::streaming::Reader;
use zeroize::Zeroize as _;

use crate::container::Named;
use crate::failure::Failure;
use crate::files;
use crate::keys::tress_identities;
use crate::options;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// Bytes of a container that can be read at any place.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_source {
    /// Reads up to `capacity` bytes from `offset` on into `buffer`, writes their number to `length` (0 only at the
    /// end), and returns 0; anything else ends the work with `TRESS_CALLBACK`. It runs in the thread of the call, and
    /// must not call functions on the same handle, throw, or `longjmp` out.
    pub read_at: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            offset: u64,
            buffer: *mut u8,
            capacity: usize,
            length: *mut usize,
        ) -> c_int,
    >,
    /// Given to `read_at`.
    pub context: *mut c_void,
    /// Bytes of the container.
    pub length: u64,
    /// Zero; for later.
    pub reserved: u64,
}

/// Reads the plaintext of a container at any place. One thread at a time, not always the same: it remembers what it
/// decrypted last.
pub struct tress_reader {
    reader: Reader<Place>,
    named: Named,
    from_caller: bool,
}

/// Where a container is.
enum Place {
    File(File),
    Source { source: tress_source, position: u64 },
}

impl Read for Place {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Place::File(file) => file.read(buffer),
            Place::Source { source, position } => {
                if *position >= source.length || buffer.is_empty() {
                    return Ok(0);
                }
                let read_at = source.read_at.ok_or(io::ErrorKind::InvalidInput)?;
                let mut length = 0;
                // SAFETY: who opened the reader vouches for the function and its context; the buffer has the length
                // that is said.
                let told =
                    unsafe { read_at(source.context, *position, buffer.as_mut_ptr(), buffer.len(), &raw mut length) };
                if told != 0 || length > buffer.len() {
                    return Err(io::ErrorKind::Other.into());
                }
                *position += length as u64;
                Ok(length)
            }
        }
    }
}

impl Seek for Place {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Place::File(file) => file.seek(to),
            Place::Source { source, position } => {
                let place = match to {
                    SeekFrom::Start(place) => Some(place),
                    SeekFrom::End(distance) => source.length.checked_add_signed(distance),
                    SeekFrom::Current(distance) => position.checked_add_signed(distance),
                };
                *position = place.ok_or(io::ErrorKind::InvalidInput)?;
                Ok(*position)
            }
        }
    }
}

fn open(place: Place, identities: &tress_identities, threads: usize) -> Result<tress_reader, Failure> {
    let from_caller = matches!(place, Place::Source { .. });
    let threads = options::threads(threads)?;
    let reader = Reader::open(place, &identities.0, threads.into()).map_err(|error| told(error, from_caller))?;
    let named = Named::of(reader.content());
    Ok(tress_reader { reader, named, from_caller })
}

/// The error of a call; where the caller's function reads, a failure to read is its own.
fn told(error: Error, from_caller: bool) -> Failure {
    let failure = Failure::from(error);
    if from_caller && failure.status == TRESS_IO {
        return Failure::with_detail(TRESS_CALLBACK, "the read callback failed");
    }
    failure
}

/// Opens a container that `source` gives, with the first of `identities` that fits; its last chunk, and with it the
/// length, is verified. `threads` is 0 for one for each core, 1 for none but the caller's, at most 1024. Any thread.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_TRUNCATED`, `TRESS_CHUNK_DAMAGED` and all else that can be wrong with a
/// container; `TRESS_CALLBACK`; `TRESS_ARGUMENT` for a reserved field that is not zero.
///
/// # Safety
/// `source` is readable, and what it points to is good until the reader is freed; `identities` is a handle; `reader` is
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_open(
    source: *const tress_source,
    identities: *const tress_identities,
    threads: usize,
    reader: *mut *mut tress_reader,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        raw::give(reader, || {
            let source = *raw::handle(source)?;
            if source.read_at.is_none() {
                return Err(TRESS_NULL.into());
            }
            if source.reserved != 0 {
                return Err(TRESS_ARGUMENT.into());
            }
            open(Place::Source { source, position: 0 }, raw::handle(identities)?, threads)
        })
    })
}

/// The same for a file.
///
/// Returns `TRESS_IO`, and what `tress_reader_open` returns.
///
/// # Safety
/// `path` ends with NUL; `identities` is a handle; `reader` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_open_file(
    path: *const c_char,
    identities: *const tress_identities,
    threads: usize,
    reader: *mut *mut tress_reader,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        raw::give(reader, || {
            let path = files::path(path)?;
            let identities = raw::handle(identities)?;
            let file = File::open(&path).map_err(|error| Error::from(error).at(&path))?;
            open(Place::File(file), identities, threads)
        })
    })
}

/// Bytes of plaintext; 0 for NULL. One thread at a time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_length(reader: *const tress_reader) -> u64 {
    // SAFETY: as above.
    let reader = unsafe { reader.as_ref() };
    guard_value(0, || reader.map_or(0, |reader| reader.reader.plain_bytes()))
}

/// The name that the container keeps, valid until the handle is freed; NULL if it keeps none. It comes from whoever
/// wrote the container. One thread at a time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_name(reader: *const tress_reader) -> *const c_char {
    // SAFETY: as above.
    unsafe { reader.as_ref() }.map_or(std::ptr::null(), |reader| reader.named.name())
}

/// 1 if the plaintext is the tar stream of a folder, 0 if it is a file's bytes, -1 for NULL. One thread at a time.
///
/// # Safety
/// `reader` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_is_tree(reader: *const tress_reader) -> c_int {
    // SAFETY: as above.
    unsafe { reader.as_ref() }.map_or(-1, |reader| reader.named.is_tree())
}

/// Reads up to `capacity` bytes of plaintext from `offset` on into `buffer`, and writes their number to `length`: fewer
/// only at the end of the plaintext, 0 past it. Everything was verified. Reading in order reads ahead; elsewhere a read
/// costs a chunk of 16 KiB. After a failure the handle can still be used: another place may be whole. One thread at a
/// time.
///
/// Returns `TRESS_CHUNK_DAMAGED`, `TRESS_IO`, `TRESS_CALLBACK`; the buffer is wiped then, and `length` is 0.
///
/// # Safety
/// `reader` is a handle; `capacity` bytes are writable at `buffer`; `length` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_read_at(
    reader: *mut tress_reader,
    offset: u64,
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let (handle, buffer) = unsafe { (raw::handle_mut(reader)?, raw::bytes_mut(buffer, capacity)?) };
        if length.is_null() {
            return Err(TRESS_NULL.into());
        }
        // SAFETY: as above.
        unsafe { raw::set(length, 0) };
        let read = read_at(&mut handle.reader, offset, buffer).map_err(|error| {
            buffer.zeroize();
            told(error, handle.from_caller)
        })?;
        // SAFETY: as above.
        unsafe { raw::set(length, read) };
        Ok(())
    })
}

fn read_at(reader: &mut Reader<Place>, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
    reader.seek(SeekFrom::Start(offset))?;
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A reader's errors have ours inside.
            Err(error) => return Err(error.downcast::<Error>().unwrap_or_else(Error::from)),
        }
    }
    Ok(filled)
}

/// Wipes what it remembers and ends the handle; NULL does nothing.
///
/// # Safety
/// `reader` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_reader_free(reader: *mut tress_reader) {
    // SAFETY: as above.
    unsafe { raw::free(reader) }
}
