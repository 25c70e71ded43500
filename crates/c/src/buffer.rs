//! Bytes that the library allocates for the caller.

use zeroize::Zeroize;

use crate::raw;

/// Bytes that a call made: a container, a plaintext, a key as text. It never changes: any number of threads may read
/// it, until it is freed. The bytes are wiped then.
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

/// The bytes, valid until the buffer is freed; NULL for NULL. No NUL stands behind them. Any thread.
///
/// # Safety
/// `buffer` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_buffer_data(buffer: *const tress_buffer) -> *const u8 {
    // SAFETY: as above.
    unsafe { buffer.as_ref() }.map_or(std::ptr::null(), |buffer| buffer.bytes.as_ptr())
}

/// How many bytes; 0 for NULL. Any thread.
///
/// # Safety
/// `buffer` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_buffer_length(buffer: *const tress_buffer) -> usize {
    // SAFETY: as above.
    unsafe { buffer.as_ref() }.map_or(0, |buffer| buffer.bytes.len())
}

/// Wipes and frees the bytes; NULL does nothing. No other thread may use them any more.
///
/// # Safety
/// `buffer` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_buffer_free(buffer: *mut tress_buffer) {
    // SAFETY: as above.
    unsafe { raw::free(buffer) }
}
