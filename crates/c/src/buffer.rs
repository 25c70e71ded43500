//! Bytes that the library allocates for the caller.

use zeroize::Zeroize;

use crate::raw;

/// Bytes that a call returned: a container, a plaintext, or a key as text. The buffer never changes, so any number of
/// threads may read it at the same time. `tress_buffer_free` wipes the bytes.
pub struct tress_buffer {
    bytes: Vec<u8>,
}

impl From<Vec<u8>> for tress_buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
}

impl Drop for tress_buffer {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Returns the bytes, which are valid until the buffer is freed, or NULL for NULL. They do not end with NUL. Any thread.
///
/// # Safety
/// `buffer` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_buffer_data(buffer: *const tress_buffer) -> *const u8 {
    // SAFETY: `buffer` is NULL or a valid handle, as the caller promises.
    unsafe { buffer.as_ref() }.map_or(std::ptr::null(), |buffer| buffer.bytes.as_ptr())
}

/// Returns the length of the buffer in bytes, or 0 for NULL. Any thread.
///
/// # Safety
/// `buffer` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_buffer_length(buffer: *const tress_buffer) -> usize {
    // SAFETY: `buffer` is NULL or a valid handle, as the caller promises.
    unsafe { buffer.as_ref() }.map_or(0, |buffer| buffer.bytes.len())
}

/// Wipes and frees the buffer; NULL does nothing. No thread may use the buffer afterwards.
///
/// # Safety
/// `buffer` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_buffer_free(buffer: *mut tress_buffer) {
    // SAFETY: `buffer` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(buffer) }
}
