//! How to encrypt and decrypt; and a run's control: progress, and ending it early.

use std::ffi::{c_char, c_int};

use tress_container::Control;
use tress_container::commands::{DecryptOptions, EncryptOptions, Report};
use tress_container::container::Aead;

use crate::failure::Failure;
pub(crate) use crate::lanes::threads;
use crate::raw;
use crate::status::guard_value;
use crate::status::tress_status::*;

/// How to encrypt or decrypt. All zero, and NULL in its place, are the defaults. A call copies what it needs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tress_options {
    /// Threads that compute, up to 1024; 0 is one for each core, 1 none but the caller's where it can be.
    pub threads: usize,
    /// "aes-128-ccm" or "aes-256-ccm"; NULL is the first. For encrypting.
    pub aead: *const c_char,
    /// The name that the container keeps, encrypted: UTF-8, 1 to 255 bytes, no path. NULL is the file's name where
    /// there is a file, and none otherwise. For encrypting.
    pub name: *const c_char,
    /// Not 0: replace an output file that exists.
    pub replace: c_int,
    /// Not 0: only the plaintext bytes from `range_start` up to, not including, `range_end`. For `tress_decrypt_file`.
    pub range: c_int,
    /// First byte of the range.
    pub range_start: u64,
    /// One past its last byte; `UINT64_MAX` is the end of the plaintext.
    pub range_end: u64,
    /// Zero; for later.
    pub reserved: [u64; 4],
}

/// What a call on files did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tress_report {
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Chunks sealed or verified.
    pub chunks: u64,
    /// Nanoseconds from the call to its return.
    pub elapsed_ns: u64,
    /// Zero; for later.
    pub reserved: [u64; 4],
}

impl From<Report> for tress_report {
    fn from(report: Report) -> Self {
        Self {
            bytes_in: report.bytes_in,
            bytes_out: report.bytes_out,
            chunks: report.chunks,
            elapsed_ns: u64::try_from(report.elapsed.as_nanos()).unwrap_or(u64::MAX),
            reserved: [0; 4],
        }
    }
}

/// # Safety
/// `options` is NULL, or its texts end with NUL.
unsafe fn checked<'a>(options: *const tress_options) -> Result<Option<&'a tress_options>, Failure> {
    // SAFETY: as above.
    let options = unsafe { options.as_ref() };
    if options.is_some_and(|options| options.reserved != [0; 4]) {
        return Err(Failure::with_detail(TRESS_ARGUMENT, "reserved options must be zero"));
    }
    if let Some(options) = options {
        threads(options.threads)?;
    }
    Ok(options)
}

/// Those for encrypting, and whether to replace an output.
///
/// # Safety
/// `options` is NULL, or its texts end with NUL.
pub(crate) unsafe fn encrypting(options: *const tress_options) -> Result<(EncryptOptions, bool), Failure> {
    // SAFETY: as above.
    let Some(options) = (unsafe { checked(options)? }) else {
        return Ok((EncryptOptions::default(), false));
    };
    // SAFETY: as above.
    let (aead, name) = unsafe { (raw::optional_text(options.aead)?, raw::optional_text(options.name)?) };
    let aead = match aead {
        Some(name) => {
            Aead::from_name(name).ok_or_else(|| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown AEAD name"))?
        }
        None => Aead::default(),
    };
    let mut made = EncryptOptions::default().aead(aead).threads(options.threads);
    made.name = name.map(str::to_owned);
    Ok((made, options.replace != 0))
}

/// Those for decrypting, and whether to replace an output.
///
/// # Safety
/// `options` is NULL, or its texts end with NUL.
pub(crate) unsafe fn decrypting(options: *const tress_options) -> Result<(DecryptOptions, bool), Failure> {
    // SAFETY: as above.
    let Some(options) = (unsafe { checked(options)? }) else {
        return Ok((DecryptOptions::default(), false));
    };
    let end = (options.range_end != u64::MAX).then_some(options.range_end);
    let mut made = DecryptOptions::default().threads(options.threads);
    made.range = (options.range != 0).then_some((options.range_start, end));
    Ok((made, options.replace != 0))
}

/// Progress of one call on files, and the flag that ends it. Every function here may be called by any thread at any
/// time until the handle is freed; `tress_control_cancel` also by a signal handler.
pub struct tress_control {
    pub(crate) control: Control,
}

/// A control for one call. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_control_new() -> *mut tress_control {
    guard_value(std::ptr::null_mut(), || Box::into_raw(Box::new(tress_control { control: Control::new() })))
}

/// Asks the call to stop. It removes what it has written and returns `TRESS_INTERRUPTED`. NULL does nothing. Any
/// thread, and signal handlers.
///
/// # Safety
/// `control` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_cancel(control: *const tress_control) {
    // SAFETY: as above.
    if let Some(control) = unsafe { control.as_ref() } {
        control.control.cancel();
    }
}

/// Input bytes done so far. Any thread.
///
/// # Safety
/// `control` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_done_bytes(control: *const tress_control) -> u64 {
    // SAFETY: as above.
    unsafe { control.as_ref() }.map_or(0, |control| control.control.done_bytes())
}

/// Input bytes in all; 0 while unknown, as for a pipe. Any thread.
///
/// # Safety
/// `control` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_total_bytes(control: *const tress_control) -> u64 {
    // SAFETY: as above.
    unsafe { control.as_ref() }.and_then(|control| control.control.total_bytes()).unwrap_or(0)
}

/// Ends the handle; NULL does nothing. The call that it controls has returned, and no other thread uses it any more.
///
/// # Safety
/// `control` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_free(control: *mut tress_control) {
    // SAFETY: as above.
    unsafe { raw::free(control) }
}
