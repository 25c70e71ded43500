//! Encryption of whole files: atomic, on all cores, with progress and cancellation.

use std::ffi::c_char;
use std::path::PathBuf;

use tress_container::Control;
use tress_container::commands::{self, Sink, Source};

use crate::failure::Failure;
use crate::keys::{tress_identities, tress_recipients};
use crate::options::{self, tress_control, tress_options, tress_report};
use crate::raw;
use crate::status::{guard, tress_status};

/// Converts a C string to a path: any bytes on Unix, UTF-8 elsewhere.
///
/// # Safety
/// `path` is NULL or ends with NUL.
pub(crate) unsafe fn path(path: *const c_char) -> Result<PathBuf, Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        if path.is_null() {
            return Err(tress_status::TRESS_NULL.into());
        }
        // SAFETY: `path` is not NULL, and the caller promises that it ends with NUL.
        let bytes = unsafe { std::ffi::CStr::from_ptr(path) }.to_bytes();
        Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    // SAFETY: the caller promises that `path` is NULL or ends with NUL.
    Ok(PathBuf::from(unsafe { raw::text(path)? }))
}

/// Calls `run` with the caller's control, or with a new one if that is NULL.
///
/// # Safety
/// `control` is NULL or a handle.
unsafe fn with_control<T>(control: *const tress_control, run: impl FnOnce(&Control) -> T) -> T {
    // SAFETY: `control` is NULL or a valid handle, as the caller promises.
    match unsafe { control.as_ref() } {
        Some(control) => run(&control.control),
        None => run(&Control::new()),
    }
}

/// Encrypts the file or folder `input` to all of `recipients`, into the container `output`. The container appears under
/// its name only when it is complete. Threads that the call starts end before it returns. Any thread, but not in
/// its destructors.
///
/// `options`, `control` and `report` may be NULL.
///
/// Returns `TRESS_IO`, `TRESS_OUTPUT_EXISTS`, `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_INTERRUPTED` and
/// others. A call that fails creates no output.
///
/// # Safety
/// `input`, `output` and the texts of `options` end with NUL; `recipients` is a valid handle; `control` is NULL or a valid
/// handle; `report` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encrypt_file(
    input: *const c_char,
    output: *const c_char,
    recipients: *const tress_recipients,
    options: *const tress_options,
    control: *const tress_control,
    report: *mut tress_report,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let source = Source::Path(path(input)?);
        let recipients = &raw::handle(recipients)?.0;
        let (options, force) = options::encrypt_options(options)?;
        let sink = Sink::Path { path: path(output)?, force };
        let done = with_control(control, |control| commands::encrypt(&source, &sink, recipients, &options, control))?;
        raw::write_optional(report, done.into());
        Ok(())
    })
}

/// Decrypts the container `input` with the first of `identities` that matches, into the file or folder `output`. The
/// output appears under its name only when all chunks are verified. A folder is unpacked under the rules of
/// `tress decrypt`, which refuses unsafe entries. Any thread.
///
/// `options`, `control` and `report` may be NULL.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_RANGE`, `TRESS_OUTPUT_EXISTS`,
/// `TRESS_INTERRUPTED` and others. A call that fails creates no output.
///
/// # Safety
/// As `tress_encrypt_file`; `identities` is a valid handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decrypt_file(
    input: *const c_char,
    output: *const c_char,
    identities: *const tress_identities,
    options: *const tress_options,
    control: *const tress_control,
    report: *mut tress_report,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let source = Source::Path(path(input)?);
        let identities = &raw::handle(identities)?.0;
        let (options, force) = options::decrypt_options(options)?;
        let sink = Sink::Path { path: path(output)?, force };
        let done = with_control(control, |control| commands::decrypt(&source, &sink, identities, &options, control))?;
        raw::write_optional(report, done.into());
        Ok(())
    })
}

/// Replaces the recipients of the container `container`; its payload is not touched. This does not revoke access: a former
/// recipient may have kept the payload key. Any thread, but not in its destructors.
///
/// Returns the errors of `tress_decrypt_file`. A call that fails leaves the container unchanged.
///
/// # Safety
/// As `tress_encrypt_file`; `identities` is a valid handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_rewrap_file(
    container: *const c_char,
    identities: *const tress_identities,
    recipients: *const tress_recipients,
    control: *const tress_control,
    report: *mut tress_report,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let container = path(container)?;
        let (identities, recipients) = (&raw::handle(identities)?.0, &raw::handle(recipients)?.0);
        let done = with_control(control, |control| commands::rewrap(&container, identities, recipients, control))?;
        raw::write_optional(report, done.into());
        Ok(())
    })
}
