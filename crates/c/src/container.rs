//! Containers that are pushed: bytes go in by calls, and come out through a function of the caller. And whole
//! containers in memory.

use std::ffi::{CString, c_char, c_int, c_void};

use tress_container::container::{Content, ContentType};
use tress_container::streaming::{Decryptor, Encryptor, Opening, Sealing};
use zeroize::{Zeroize, Zeroizing};

use crate::buffer::tress_buffer;
use crate::failure::Failure;
use crate::keys::{tress_identities, tress_recipients};
use crate::options::{self, tress_options};
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// Takes the next `length` bytes of an output, at least one, and returns 0; anything else ends the work with
/// `TRESS_CALLBACK`. `context` is what was given with the function. It runs in the thread of the call, and must not
/// call functions on the same handle, throw, or `longjmp` out.
pub type tress_write = Option<unsafe extern "C" fn(context: *mut c_void, data: *const u8, length: usize) -> c_int>;

/// How much is pushed through at a time, so that memory does not grow with what a caller pushes at once.
const PIECE_BYTES: usize = 4 << 20;

/// Where an output goes.
struct Output {
    write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    context: *mut c_void,
    /// Reused; of a decryptor, wiped.
    bytes: Vec<u8>,
}

impl Output {
    fn new(write: tress_write, context: *mut c_void) -> Result<Self, Failure> {
        Ok(Self { write: write.ok_or(TRESS_NULL)?, context, bytes: Vec::new() })
    }

    /// Hands over what there is.
    fn flush(&mut self) -> Result<(), Failure> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller of `_new` vouches for the function and its context until the handle is freed.
        let answer = unsafe { (self.write)(self.context, self.bytes.as_ptr(), self.bytes.len()) };
        self.bytes.clear();
        if answer == 0 {
            return Ok(());
        }
        Err(Failure::with_detail(TRESS_CALLBACK, format!("the callback returned {answer}")))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Makes a container of what is pushed. One thread at a time, not always the same; one process: after a fork both would
/// encrypt under one key and nonce.
pub struct tress_encryptor {
    /// `None` once it was finished, or has failed.
    encryptor: Option<Encryptor>,
    output: Output,
}

/// Begins a container for `recipients`; its bytes go to `write`, in order. `options` may be NULL. Memory is one batch,
/// some MiB for each thread. What was written is a container only once `tress_encryptor_finish` has returned
/// `TRESS_OK`: until then every reader says that it is truncated. Any thread.
///
/// Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_BAD_NAME`, `TRESS_UNKNOWN_NAME`.
///
/// # Safety
/// `recipients` is a handle; the texts of `options` end with NUL; `write` and `context` are good until the handle is
/// freed; `encryptor` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_new(
    recipients: *const tress_recipients,
    options: *const tress_options,
    write: tress_write,
    context: *mut c_void,
    encryptor: *mut *mut tress_encryptor,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        raw::give(encryptor, || {
            let output = Output::new(write, context)?;
            let recipients = &raw::handle(recipients)?.0;
            let (options, _) = options::encrypting(options)?;
            Ok(tress_encryptor { encryptor: Some(Encryptor::new(recipients, &options)?), output })
        })
    })
}

/// Takes the next bytes of plaintext, any number, and writes what is ready of the container. After a failure other than
/// `TRESS_NULL` and `TRESS_LENGTH` every further call returns `TRESS_STATE`. One thread at a time.
///
/// Returns `TRESS_CALLBACK`, `TRESS_STATE`; `TRESS_ARGUMENT` in another process than that of `tress_encryptor_new`, here
/// or at the end.
///
/// # Safety
/// `encryptor` is a handle; `length` bytes are readable at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_push(
    encryptor: *mut tress_encryptor,
    data: *const u8,
    length: usize,
) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let (handle, data) = unsafe { (raw::handle_mut(encryptor)?, raw::bytes(data, length)?) };
        // Gone if anything below fails.
        let mut encryptor = handle.encryptor.take().ok_or(TRESS_STATE)?;
        for piece in data.chunks(PIECE_BYTES) {
            encryptor.push(piece, &mut handle.output.bytes)?;
            handle.output.flush()?;
        }
        handle.encryptor = Some(encryptor);
        Ok(())
    })
}

/// Writes the rest of the container. The handle is of no further use, and still has to be freed. One thread at a time.
///
/// Returns `TRESS_CALLBACK`, `TRESS_STATE`, `TRESS_ARGUMENT`.
///
/// # Safety
/// `encryptor` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_finish(encryptor: *mut tress_encryptor) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let handle = unsafe { raw::handle_mut(encryptor)? };
        let encryptor = handle.encryptor.take().ok_or(TRESS_STATE)?;
        encryptor.finish(&mut handle.output.bytes)?;
        handle.output.flush()
    })
}

/// Ends the handle, finished or not; NULL does nothing. Nothing is written.
///
/// # Safety
/// `encryptor` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encryptor_free(encryptor: *mut tress_encryptor) {
    // SAFETY: as above.
    unsafe { raw::free(encryptor) }
}

/// Decrypts a container that is pushed. One thread at a time, not always the same.
pub struct tress_decryptor {
    /// `None` once it was finished, or has failed.
    decryptor: Option<Decryptor>,
    output: Output,
    named: Option<Named>,
}

/// What a header says about the plaintext.
pub(crate) struct Named {
    name: Option<CString>,
    is_tree: bool,
}

impl Named {
    pub(crate) fn of(content: &Content) -> Self {
        Self {
            // A container's name has no control characters.
            name: content.name.as_ref().and_then(|name| CString::new(name.as_str()).ok()),
            is_tree: content.content_type == ContentType::Tree,
        }
    }

    pub(crate) fn name(&self) -> *const c_char {
        self.name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr())
    }

    pub(crate) fn is_tree(&self) -> c_int {
        c_int::from(self.is_tree)
    }
}

/// Waits for a container, which the first of `identities` that fits will open; plaintext goes to `write`, in order, and
/// only what was verified. `threads` is 0 for one for each core, 1 for none but the caller's, at most 1024. Any thread.
///
/// # Safety
/// `identities` is a handle; `write` and `context` are good until the handle is freed; `decryptor` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_new(
    identities: *const tress_identities,
    threads: usize,
    write: tress_write,
    context: *mut c_void,
    decryptor: *mut *mut tress_decryptor,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        raw::give(decryptor, || {
            let output = Output::new(write, context)?;
            let decryptor = Decryptor::new(&raw::handle(identities)?.0, options::threads(threads)?.into());
            Ok(tress_decryptor { decryptor: Some(decryptor), output, named: None })
        })
    })
}

/// Takes the next bytes of the container, any number, and writes the plaintext of what was verified; that of a folder
/// is a tar stream, with names and links of whoever made it: `tress_decrypt_file` unpacks one and refuses what leads out
/// of the folder, other programs may not. Whether the container is complete is known only after `tress_decryptor_finish`. After a failure
/// other than `TRESS_NULL` and `TRESS_LENGTH` every further call returns `TRESS_STATE`. One thread at a time.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_WRONG_PASSPHRASE`, `TRESS_CHUNK_DAMAGED` and all else that can be wrong with
/// a container; `TRESS_CALLBACK`, `TRESS_STATE`.
///
/// # Safety
/// `decryptor` is a handle; `length` bytes are readable at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_push(
    decryptor: *mut tress_decryptor,
    data: *const u8,
    length: usize,
) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let (handle, data) = unsafe { (raw::handle_mut(decryptor)?, raw::bytes(data, length)?) };
        let mut decryptor = handle.decryptor.take().ok_or(TRESS_STATE)?;
        for piece in data.chunks(PIECE_BYTES) {
            let pushed = decryptor.push(piece, &mut handle.output.bytes);
            // Also what was verified before a damaged chunk.
            let written = handle.output.flush();
            pushed?;
            written?;
        }
        if handle.named.is_none() {
            handle.named = decryptor.content().map(Named::of);
        }
        handle.decryptor = Some(decryptor);
        Ok(())
    })
}

/// Says that the container ends here, and writes the rest of the plaintext. Only if this returns `TRESS_OK` was it all
/// there. The handle is of no further use, and still has to be freed. One thread at a time.
///
/// Returns `TRESS_TRUNCATED`, and what `tress_decryptor_push` returns.
///
/// # Safety
/// `decryptor` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_finish(decryptor: *mut tress_decryptor) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let handle = unsafe { raw::handle_mut(decryptor)? };
        let decryptor = handle.decryptor.take().ok_or(TRESS_STATE)?;
        let finished = decryptor.finish(&mut handle.output.bytes);
        let written = handle.output.flush();
        finished?;
        written
    })
}

/// The name that the container keeps, valid until the handle is freed; NULL if it keeps none, or its header was not all
/// pushed yet. It comes from whoever wrote the container, has no path in it, and may be that of a file that you have.
/// One thread at a time.
///
/// # Safety
/// `decryptor` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_name(decryptor: *const tress_decryptor) -> *const c_char {
    // SAFETY: as above.
    let named = unsafe { decryptor.as_ref() }.and_then(|decryptor| decryptor.named.as_ref());
    named.map_or(std::ptr::null(), Named::name)
}

/// 1 if the plaintext is the tar stream of a folder, 0 if it is a file's bytes, -1 while the header was not all pushed.
/// One thread at a time.
///
/// # Safety
/// `decryptor` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_is_tree(decryptor: *const tress_decryptor) -> c_int {
    // SAFETY: as above.
    let named = unsafe { decryptor.as_ref() }.and_then(|decryptor| decryptor.named.as_ref());
    named.map_or(-1, Named::is_tree)
}

/// Ends the handle, finished or not; NULL does nothing. Nothing is written.
///
/// # Safety
/// `decryptor` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decryptor_free(decryptor: *mut tress_decryptor) {
    // SAFETY: as above.
    unsafe { raw::free(decryptor) }
}

/// Encrypts `length` bytes at `plain` into a container in memory. `options` may be NULL. Any thread.
///
/// Returns `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_MEMORY` and others.
///
/// # Safety
/// `length` bytes are readable at `plain`; `recipients` is a handle; the texts of `options` end with NUL; `container`
/// is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encrypt(
    plain: *const u8,
    length: usize,
    recipients: *const tress_recipients,
    options: *const tress_options,
    container: *mut *mut tress_buffer,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        raw::give(container, || {
            let plain = raw::bytes(plain, length)?;
            let recipients = &raw::handle(recipients)?.0;
            let (options, _) = options::encrypting(options)?;
            let sealing = Sealing::new(plain.len(), recipients, &options)?;
            let mut sealed = Zeroizing::new(zeros(sealing.sealed_bytes())?);
            sealing.seal(plain, &mut sealed)?;
            Ok(std::mem::take(&mut *sealed).into())
        })
    })
}

/// Verifies all of the container of `length` bytes at `container` and decrypts it into memory; that of a folder is a
/// tar stream, as in `tress_decryptor_push`. `threads` is 0 for one for each core, 1 for none but the caller's, at most
/// 1024. Any thread.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_MEMORY` and others.
///
/// # Safety
/// `length` bytes are readable at `container`; `identities` is a handle; `plain` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decrypt(
    container: *const u8,
    length: usize,
    identities: *const tress_identities,
    threads: usize,
    plain: *mut *mut tress_buffer,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        raw::give(plain, || {
            let (container, threads) = (raw::bytes(container, length)?, options::threads(threads)?);
            let opening = Opening::new(container, &raw::handle(identities)?.0)?;
            let mut plain = Zeroizing::new(zeros(opening.plain_bytes())?);
            opening.unseal(&mut plain, threads.into())?;
            Ok(std::mem::take(&mut *plain).into())
        })
    })
}

/// So many zeros, if there is memory.
fn zeros(bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(bytes)?;
    zeros.resize(bytes, 0);
    Ok(zeros)
}
