//! Whole files: atomic, on all cores, with progress and a way to stop.

use std::ffi::c_char;
use std::path::PathBuf;

use tress_container::Control;
use tress_container::commands::{self, Sink, Source};

use crate::failure::Failure;
use crate::keys::{tress_identities, tress_recipients};
use crate::options::{self, tress_control, tress_options, tress_report};
use crate::raw;
use crate::status::{guard, tress_status};

/// A path as the system has it: any bytes on Unix, UTF-8 elsewhere.
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
        // SAFETY: not NULL, and the caller vouches for its end.
        let bytes = unsafe { std::ffi::CStr::from_ptr(path) }.to_bytes();
        Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    // SAFETY: as above.
    Ok(PathBuf::from(unsafe { raw::text(path)? }))
}

/// The caller's control, or one that nobody else sees.
///
/// # Safety
/// `control` is NULL or a handle.
unsafe fn with_control<T>(control: *const tress_control, run: impl FnOnce(&Control) -> T) -> T {
    // SAFETY: as above.
    match unsafe { control.as_ref() } {
        Some(control) => run(&control.control),
        None => run(&Control::new()),
    }
}

/// Encrypts the file or folder `input` to every one of `recipients`, into the container `output`, which appears under
/// its name only when it is complete. Runs on threads of its own, which end before it returns. Any thread.
///
/// `options`, `control` and `report` may be NULL.
///
/// Returns `TRESS_IO`, `TRESS_OUTPUT_EXISTS`, `TRESS_NO_RECIPIENTS`, `TRESS_MIXED_RECIPIENTS`, `TRESS_INTERRUPTED` and
/// others; nothing is left under the output's name then.
///
/// # Safety
/// `input`, `output` and the texts of `options` end with NUL; `recipients` is a handle, `control` NULL or a handle;
/// `report` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_encrypt_file(
    input: *const c_char,
    output: *const c_char,
    recipients: *const tress_recipients,
    options: *const tress_options,
    control: *const tress_control,
    report: *mut tress_report,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        let source = Source::Path(path(input)?);
        let recipients = &raw::handle(recipients)?.0;
        let (options, force) = options::encrypting(options)?;
        let sink = Sink::Path { path: path(output)?, force };
        let done = with_control(control, |control| commands::encrypt(&source, &sink, recipients, &options, control))?;
        raw::set(report, done.into());
        Ok(())
    })
}

/// Decrypts the container `input` with the first of `identities` that fits, into the file, or folder, `output`, which
/// appears under its name only when all is verified. A folder is unpacked with all that `tress decrypt` refuses
/// refused. Any thread.
///
/// `options`, `control` and `report` may be NULL.
///
/// Returns `TRESS_NO_MATCHING_KEY`, `TRESS_CHUNK_DAMAGED`, `TRESS_TRUNCATED`, `TRESS_RANGE`, `TRESS_OUTPUT_EXISTS`,
/// `TRESS_INTERRUPTED` and others; nothing is left under the output's name then.
///
/// # Safety
/// As `tress_encrypt_file`; `identities` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_decrypt_file(
    input: *const c_char,
    output: *const c_char,
    identities: *const tress_identities,
    options: *const tress_options,
    control: *const tress_control,
    report: *mut tress_report,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        let source = Source::Path(path(input)?);
        let identities = &raw::handle(identities)?.0;
        let (options, force) = options::decrypting(options)?;
        let sink = Sink::Path { path: path(output)?, force };
        let done = with_control(control, |control| commands::decrypt(&source, &sink, identities, &options, control))?;
        raw::set(report, done.into());
        Ok(())
    })
}

/// Makes the container `container` one for `recipients` instead; its payload is not touched. Who could open it before
/// may have kept its key: this is no revocation. Any thread.
///
/// Returns what `tress_decrypt_file` returns; the container is as it was then.
///
/// # Safety
/// As `tress_encrypt_file`; `identities` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_rewrap_file(
    container: *const c_char,
    identities: *const tress_identities,
    recipients: *const tress_recipients,
    control: *const tress_control,
    report: *mut tress_report,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        let container = path(container)?;
        let (identities, recipients) = (&raw::handle(identities)?.0, &raw::handle(recipients)?.0);
        let done = with_control(control, |control| commands::rewrap(&container, identities, recipients, control))?;
        raw::set(report, done.into());
        Ok(())
    })
}
