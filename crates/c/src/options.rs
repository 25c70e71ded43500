//! Options and reports of calls on containers, and the control of a running call: progress and cancellation.

use std::ffi::{c_char, c_int};

use tress_container::Control;
use tress_container::commands::{DecryptOptions, EncryptOptions, Report};
use tress_container::format::{Aead, Format};

use crate::failure::Failure;
pub(crate) use crate::lanes::threads;
use crate::raw;
use crate::status::guard_value;
use crate::status::tress_status::*;

/// Options for encryption and decryption. Zero fields and a NULL pointer select the defaults. The options may be changed or
/// freed after the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tress_options {
    /// Number of computing threads, up to 1024. 0 means one for each core, 1 means the calling thread alone where possible.
    pub threads: usize,
    /// For encryption: "aes-128-ccm" or "aes-256-ccm". NULL selects the first. Formats other than "tress" require NULL.
    pub aead: *const c_char,
    /// For encryption: name to store in the container, encrypted. UTF-8, 1 to 255 bytes, without a path. NULL selects the name
    /// of the input file, or no name if there is no file. Formats other than "tress" require NULL.
    pub name: *const c_char,
    /// Not 0: replace an existing output file.
    pub replace: c_int,
    /// For `tress_decrypt_file`: not 0 to decrypt only the plaintext bytes from `range_start` up to, not including, `range_end`.
    pub range: c_int,
    /// Offset of the first byte of the range.
    pub range_start: u64,
    /// Offset after the last byte of the range; `UINT64_MAX` is the end of the plaintext.
    pub range_end: u64,
    /// "tress", "age", "cobblestone-128" or "cobblestone-256". For encryption: the format of the output; NULL selects "tress",
    /// which is a container, or the format that the key of a Cobblestone file is for. For `tress_decrypt_file`: the format that
    /// the input must have; NULL accepts any that the identities open.
    pub format: *const c_char,
    /// For `tress_encrypt_file` with format "age": not 0 to write the file as text.
    pub armor: c_int,
    /// Reserved; must be zero.
    pub reserved: [u64; 2],
}

/// Statistics of a call on files.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tress_report {
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Chunks encrypted or verified.
    pub chunks: u64,
    /// Duration of the call in nanoseconds.
    pub elapsed_ns: u64,
    /// Reserved; always zero.
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

/// Checks the reserved fields and the number of threads.
///
/// # Safety
/// `options` is NULL, or its texts end with NUL.
unsafe fn check_options<'a>(options: *const tress_options) -> Result<Option<&'a tress_options>, Failure> {
    // SAFETY: `options` is NULL or readable, as the caller promises.
    let options = unsafe { options.as_ref() };
    if options.is_some_and(|options| options.reserved != [0; 2]) {
        return Err(Failure::with_detail(TRESS_ARGUMENT, "reserved options must be zero"));
    }
    if let Some(options) = options {
        threads(options.threads)?;
    }
    Ok(options)
}

/// Returns the format, if the options have one.
///
/// # Safety
/// The texts of `options` end with NUL.
unsafe fn format(options: &tress_options) -> Result<Option<Format>, Failure> {
    // SAFETY: the caller promises texts that end with NUL.
    unsafe { raw::optional_text(options.format)? }.map(format_named).transpose()
}

/// Returns the format with this name.
pub(crate) fn format_named(name: &str) -> Result<Format, Failure> {
    Format::from_name(name).ok_or_else(|| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown format"))
}

/// Converts the options for encryption, and returns whether to replace an output.
///
/// # Safety
/// `options` is NULL, or its texts end with NUL.
pub(crate) unsafe fn encrypt_options(options: *const tress_options) -> Result<(EncryptOptions, bool), Failure> {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    let Some(options) = (unsafe { check_options(options)? }) else {
        return Ok((EncryptOptions::default(), false));
    };
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    let (format, aead, name) =
        unsafe { (format(options)?, raw::optional_text(options.aead)?, raw::optional_text(options.name)?) };
    let aead_named =
        |name| Aead::from_name(name).ok_or_else(|| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown AEAD name"));
    let made = EncryptOptions::default().format(format.unwrap_or_default()).armor(options.armor != 0);
    let mut made = made.threads(options.threads);
    made.aead = aead.map(aead_named).transpose()?;
    made.name = name.map(str::to_owned);
    Ok((made, options.replace != 0))
}

/// Converts the options for decryption, and returns whether to replace an output.
///
/// # Safety
/// `options` is NULL, or its texts end with NUL.
pub(crate) unsafe fn decrypt_options(options: *const tress_options) -> Result<(DecryptOptions, bool), Failure> {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    let Some(options) = (unsafe { check_options(options)? }) else {
        return Ok((DecryptOptions::default(), false));
    };
    let end = (options.range_end != u64::MAX).then_some(options.range_end);
    let mut made = DecryptOptions::default().threads(options.threads);
    // SAFETY: the caller promises texts that end with NUL.
    made.format = unsafe { format(options)? };
    made.range = (options.range != 0).then_some((options.range_start, end));
    Ok((made, options.replace != 0))
}

/// Progress and cancellation of one call on files. Any thread may call the functions of a control at any time until it is
/// freed; a signal handler may call `tress_control_cancel`.
pub struct tress_control {
    pub(crate) control: Control,
}

/// Creates a control for one call. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_control_new() -> *mut tress_control {
    guard_value(std::ptr::null_mut(), || Box::into_raw(Box::new(tress_control { control: Control::new() })))
}

/// Asks the call to stop; NULL does nothing. The call removes the output that it has written and returns
/// `TRESS_INTERRUPTED`. While a FIFO is opened for writing, or a key is derived from a passphrase, it cannot stop. Any thread,
/// and signal handlers.
///
/// # Safety
/// `control` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_cancel(control: *const tress_control) {
    // SAFETY: `control` is NULL or a valid handle, as the caller promises.
    if let Some(control) = unsafe { control.as_ref() } {
        control.control.cancel();
    }
}

/// Returns the number of input bytes processed so far; 0 for NULL. Any thread.
///
/// # Safety
/// `control` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_done_bytes(control: *const tress_control) -> u64 {
    // SAFETY: `control` is NULL or a valid handle, as the caller promises.
    unsafe { control.as_ref() }.map_or(0, |control| control.control.done_bytes())
}

/// Returns the total number of input bytes; 0 if it is unknown, as for a pipe. Any thread.
///
/// # Safety
/// `control` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_total_bytes(control: *const tress_control) -> u64 {
    // SAFETY: `control` is NULL or a valid handle, as the caller promises.
    unsafe { control.as_ref() }.and_then(|control| control.control.total_bytes()).unwrap_or(0)
}

/// Frees the handle; NULL does nothing. The controlled call must have returned, and no thread may use the handle afterwards.
///
/// # Safety
/// `control` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_control_free(control: *mut tress_control) {
    // SAFETY: `control` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(control) }
}
