//! Containers in memory, and as streams: the caller pushes the input, and a callback receives the output.

use std::ffi::{CString, c_char, c_int, c_void};

use tress_container::format::{Content, ContentType};
use tress_container::streaming::{Decryptor, Encryptor, WholeDecryptor, WholeEncryptor};
use zeroize::{Zeroize, Zeroizing};

use crate::buffer::tress_buffer;
use crate::failure::Failure;
use crate::keys::{tress_identities, tress_recipients};
use crate::options::{self, tress_options};
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// Callback that receives the next `length` bytes of an output, at least one. It returns 0; any other value ends the
/// operation with `TRESS_CALLBACK`. `context` is the pointer that was passed along with the callback. It runs in the
/// calling thread, and must not call functions on the same handle, throw, or leave by `longjmp`.
pub type tress_write = Option<unsafe extern "C" fn(context: *mut c_void, data: *const u8, length: usize) -> c_int>;

/// Input bytes that are processed at a time, so that memory use does not depend on the length of a push.
const PIECE_BYTES: usize = 4 << 20;

/// The caller's output callback, with a buffer.
struct CallbackOutput {
    write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    context: *mut c_void,
    /// Output that was not handed over yet. The allocation is reused, and wiped on drop.
    bytes: Vec<u8>,
}

impl CallbackOutput {
    fn new(write: tress_write, context: *mut c_void) -> Result<Self, Failure> {
        Ok(Self { write: write.ok_or(TRESS_NULL)?, context, bytes: Vec::new() })
    }

    /// Hands the buffered bytes to the callback.
    fn flush(&mut self) -> Result<(), Failure> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller of `_new` promises that the callback and its context are valid until the handle is freed.
        let answer = unsafe { (self.write)(self.context, self.bytes.as_ptr(), self.bytes.len()) };
        self.bytes.clear();
        if answer == 0 {
            return Ok(());
        }
        Err(Failure::with_detail(TRESS_CALLBACK, format!("the callback returned {answer}")))
    }
}

impl Drop for CallbackOutput {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Encrypts pushed plaintext into a container. One thread at a time, not always the same one. Only the process that
/// created it may use it: after a `fork`, both processes would encrypt under one key and nonce.
pub struct tress_encryptor {
    /// `None` after `finish` or a failure.
    encryptor: Option<Encryptor>,
    output: CallbackOutput,
}

/// Begins a container for `recipients`. The bytes of the container go to `write`, in order. `options` may be NULL. Memory
/// use is one batch: some MiB for each thread. The container is complete only after `tress_encryptor_finish` has returned
/// `TRESS_OK`; before that, every reader reports it as truncated. Any thread, but not in its destructors
/// (`pthread_key_create`).
///
/// Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_BAD_NAME`, `TRESS_UNKNOWN_NAME`.
///
/// # Safety
/// `recipients` is a valid handle; the texts of `options` end with NUL; `write` and `context` are valid until the handle is
/// freed; `encryptor` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_new(
    recipients: *const tress_recipients,
    options: *const tress_options,
    write: tress_write,
    context: *mut c_void,
    encryptor: *mut *mut tress_encryptor,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(encryptor, || {
            let output = CallbackOutput::new(write, context)?;
            let recipients = &raw::handle(recipients)?.0;
            let (options, _) = options::encrypt_options(options)?;
            Ok(tress_encryptor { encryptor: Some(Encryptor::new(recipients, &options)?), output })
        })
    })
}

/// Encrypts the next bytes of the plaintext, any number, and writes the finished part of the container. After a failure
/// other than `TRESS_NULL` and `TRESS_LENGTH` every further call returns `TRESS_STATE`. One thread at a time.
///
/// Returns `TRESS_CALLBACK`, `TRESS_STATE`. In a process that did not call `tress_encryptor_new` itself, this function or
/// `tress_encryptor_finish` returns `TRESS_ARGUMENT`.
///
/// # Safety
/// `encryptor` is a valid handle; `length` bytes are readable at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_push(
    encryptor: *mut tress_encryptor,
    data: *const u8,
    length: usize,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle and a buffer of the given length.
        let (handle, data) = unsafe { (raw::handle_mut(encryptor)?, raw::bytes(data, length)?) };
        // Put back at the end: a failure on the way leaves `None`.
        let mut encryptor = handle.encryptor.take().ok_or(TRESS_STATE)?;
        for piece in data.chunks(PIECE_BYTES) {
            encryptor.push(piece, &mut handle.output.bytes)?;
            handle.output.flush()?;
        }
        handle.encryptor = Some(encryptor);
        Ok(())
    })
}

/// Writes the rest of the container. Afterwards the handle can only be freed. One thread at a time.
///
/// Returns `TRESS_CALLBACK`, `TRESS_STATE`, `TRESS_ARGUMENT`.
///
/// # Safety
/// `encryptor` is a valid handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_finish(encryptor: *mut tress_encryptor) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle.
        let handle = unsafe { raw::handle_mut(encryptor)? };
        let encryptor = handle.encryptor.take().ok_or(TRESS_STATE)?;
        encryptor.finish(&mut handle.output.bytes)?;
        handle.output.flush()
    })
}

/// Frees the handle, finished or not, without writing anything; NULL does nothing.
///
/// # Safety
/// `encryptor` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_free(encryptor: *mut tress_encryptor) {
    // SAFETY: `encryptor` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(encryptor) }
}

/// Decrypts a pushed container. One thread at a time, not always the same one.
pub struct tress_decryptor {
    /// `None` after `finish` or a failure.
    decryptor: Option<Decryptor>,
    output: CallbackOutput,
    content: Option<ContentInfo>,
}

impl tress_decryptor {
    /// Keeps what the header says, once it was opened.
    fn note_content(&mut self, decryptor: &Decryptor) {
        if self.content.is_none() {
            self.content = decryptor.content().map(ContentInfo::of);
        }
    }
}

/// Format of the file, and name and type of the plaintext, from the container's header.
pub(crate) struct ContentInfo {
    format: CString,
    name: Option<CString>,
    is_tree: bool,
}

impl ContentInfo {
    pub(crate) fn of(content: &Content) -> Self {
        Self {
            format: CString::new(content.format().name()).expect("the name of a format has no NUL"),
            // The name has no control characters, so no NUL.
            name: content.name().and_then(|name| CString::new(name).ok()),
            is_tree: content.content_type() == ContentType::Tree,
        }
    }

    pub(crate) fn format(&self) -> *const c_char {
        self.format.as_ptr()
    }

    pub(crate) fn name(&self) -> *const c_char {
        self.name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr())
    }

    pub(crate) fn is_tree(&self) -> c_int {
        c_int::from(self.is_tree)
    }
}

/// Prepares to decrypt a container with the first of `identities` that matches. Verified plaintext goes to `write`, in order.
/// `threads` is the number of threads, up to 1024; 0 means one for each core, 1 means the calling thread alone. Any thread.
///
/// # Safety
/// `identities` is a valid handle; `write` and `context` are valid until the handle is freed; `decryptor` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_new(
    identities: *const tress_identities,
    threads: usize,
    write: tress_write,
    context: *mut c_void,
    decryptor: *mut *mut tress_decryptor,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(decryptor, || {
            let output = CallbackOutput::new(write, context)?;
            let decryptor = Decryptor::new(&raw::handle(identities)?.0, options::threads(threads)?.into());
            Ok(tress_decryptor { decryptor: Some(decryptor), output, content: None })
        })
    })
}

/// Decrypts the next bytes of the container, any number, and writes the verified plaintext. Only `tress_decryptor_finish`
/// tells whether the container is complete. The plaintext of a folder is a tar stream, and an index behind its end; names
/// and links come from whoever made the container. `tress_decrypt_file` unpacks a folder without links that lead out of
/// it; a general tar program may not. After a failure other than `TRESS_NULL` and `TRESS_LENGTH` every further call returns
/// `TRESS_STATE`. One thread at a time.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_WRONG_PASSPHRASE`, `TRESS_CHUNK_DAMAGED` and the other codes for a damaged
/// container; `TRESS_CALLBACK`, `TRESS_STATE`.
///
/// # Safety
/// `decryptor` is a valid handle; `length` bytes are readable at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_push(
    decryptor: *mut tress_decryptor,
    data: *const u8,
    length: usize,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle and a buffer of the given length.
        let (handle, data) = unsafe { (raw::handle_mut(decryptor)?, raw::bytes(data, length)?) };
        let mut decryptor = handle.decryptor.take().ok_or(TRESS_STATE)?;
        for piece in data.chunks(PIECE_BYTES) {
            let pushed = decryptor.push(piece, &mut handle.output.bytes);
            // After a failure too: chunks before a damaged one are verified.
            let written = handle.output.flush();
            handle.note_content(&decryptor);
            pushed?;
            written?;
        }
        handle.decryptor = Some(decryptor);
        Ok(())
    })
}

/// Declares the end of the container, and writes the rest of the plaintext. The plaintext is complete only if this returns
/// `TRESS_OK`. Afterwards the handle can only be freed. One thread at a time.
///
/// Returns `TRESS_TRUNCATED`, and the errors of `tress_decryptor_push`.
///
/// # Safety
/// `decryptor` is a valid handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_finish(decryptor: *mut tress_decryptor) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle.
        let handle = unsafe { raw::handle_mut(decryptor)? };
        let mut decryptor = handle.decryptor.take().ok_or(TRESS_STATE)?;
        let finished = decryptor.try_finish(&mut handle.output.bytes);
        handle.note_content(&decryptor);
        let written = handle.output.flush();
        finished?;
        written
    })
}

/// Returns the name in the container, valid until the handle is freed; NULL if it has no name, or its header was not pushed
/// completely. The name comes from whoever made the container. It contains no path, and may equal the name of an existing
/// file. One thread at a time.
///
/// # Safety
/// `decryptor` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_name(decryptor: *const tress_decryptor) -> *const c_char {
    // SAFETY: `decryptor` is NULL or a valid handle, as the caller promises.
    let content = unsafe { decryptor.as_ref() }.and_then(|decryptor| decryptor.content.as_ref());
    content.map_or(std::ptr::null(), ContentInfo::name)
}

/// Returns 1 if the plaintext is the tar stream of a folder, 0 if it is the content of a file, and -1 until the header was
/// read, at the latest by `tress_decryptor_finish`. One thread at a time.
///
/// # Safety
/// `decryptor` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_is_tree(decryptor: *const tress_decryptor) -> c_int {
    // SAFETY: `decryptor` is NULL or a valid handle, as the caller promises.
    let content = unsafe { decryptor.as_ref() }.and_then(|decryptor| decryptor.content.as_ref());
    content.map_or(-1, ContentInfo::is_tree)
}

/// Frees the handle, finished or not, without writing anything; NULL does nothing.
///
/// # Safety
/// `decryptor` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_free(decryptor: *mut tress_decryptor) {
    // SAFETY: `decryptor` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(decryptor) }
}

/// Encrypts `length` bytes at `plain` into a container in memory. `options` may be NULL. Any thread, but not
/// in its destructors.
///
/// Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_MEMORY` and others.
///
/// # Safety
/// `length` bytes are readable at `plain`; `recipients` is a valid handle; the texts of `options` end with NUL; `container`
/// is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encrypt(
    plain: *const u8,
    length: usize,
    recipients: *const tress_recipients,
    options: *const tress_options,
    container: *mut *mut tress_buffer,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(container, || {
            let plain = raw::bytes(plain, length)?;
            let recipients = &raw::handle(recipients)?.0;
            let (options, _) = options::encrypt_options(options)?;
            let encryptor = WholeEncryptor::new(plain.len(), recipients, &options)?;
            let mut sealed = Zeroizing::new(try_zeros(encryptor.sealed_bytes())?);
            encryptor.encrypt(plain, &mut sealed)?;
            Ok(std::mem::take(&mut *sealed).into())
        })
    })
}

/// Verifies the whole container of `length` bytes at `container` and decrypts it into memory. The plaintext of a folder is a
/// tar stream, as for `tress_decryptor_push`. `threads` is the number of threads, up to 1024; 0 means one for each core, 1
/// means the calling thread alone. Any thread.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_MEMORY` and others.
///
/// # Safety
/// `length` bytes are readable at `container`; `identities` is a valid handle; `plain` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decrypt(
    container: *const u8,
    length: usize,
    identities: *const tress_identities,
    threads: usize,
    plain: *mut *mut tress_buffer,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(plain, || {
            let (container, threads) = (raw::bytes(container, length)?, options::threads(threads)?);
            let decryptor = WholeDecryptor::new(container, &raw::handle(identities)?.0)?;
            let mut plain = Zeroizing::new(try_zeros(decryptor.plain_bytes())?);
            decryptor.decrypt(&mut plain, threads.into())?;
            Ok(std::mem::take(&mut *plain).into())
        })
    })
}

/// Allocates `bytes` zeros; running out of memory is an error, not an abort.
fn try_zeros(bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(bytes)?;
    zeros.resize(bytes, 0);
    Ok(zeros)
}
