//! Keys of containers: sets of recipients, sets of identities, and key pairs.

use std::ffi::{CString, c_char};

use tress_container::keys::{CobblestoneKey, Identities, KeyPair, MAX_WORK_FACTOR, Recipients, key_file};
use zeroize::{Zeroize, Zeroizing};

use crate::failure::Failure;
use crate::options::format_named;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// A set of recipients to encrypt to. One thread at a time may add to it; after that any number of threads may use it in
/// calls that take `const tress_recipients *`.
pub struct tress_recipients(pub(crate) Recipients);

/// Creates an empty set. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_recipients_new() -> *mut tress_recipients {
    crate::status::guard_value(std::ptr::null_mut(), || {
        Box::into_raw(Box::new(tress_recipients(Recipients::default())))
    })
}

/// Adds recipients as text, one per line: "age1...", "age1pq1...", "tress1...", "ssh-ed25519 ..." or "ssh-rsa ...". Empty
/// lines and lines that begin with "#" are ignored. One thread at a time.
///
/// Returns `TRESS_BAD_RECIPIENT`, `TRESS_NO_RECIPIENTS`. A call that fails adds nothing.
///
/// # Safety
/// `recipients` is a valid handle; `text` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_recipients_add(recipients: *mut tress_recipients, text: *const c_char) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::handle_mut(recipients)?.0.extend([Recipients::from_file(raw::text(text)?.as_bytes())?]);
        Ok(())
    })
}

/// Adds a passphrase, which must be the only recipient of the set. Deriving a key from it takes about a second and 256 MiB
/// each time. One thread at a time.
///
/// Returns `TRESS_BAD_PASSPHRASE` for an empty passphrase.
///
/// # Safety
/// `recipients` is a valid handle; `passphrase` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_recipients_add_passphrase(
    recipients: *mut tress_recipients,
    passphrase: *const c_char,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::handle_mut(recipients)?.0.extend([Recipients::from_passphrase(raw::text(passphrase)?)?]);
        Ok(())
    })
}

/// Adds a raw key of 16 or 32 random bytes. One thread at a time.
///
/// Returns `TRESS_RAW_KEY_LENGTH`.
///
/// # Safety
/// `recipients` is a valid handle; `key_length` bytes are readable at `key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_recipients_add_key(
    recipients: *mut tress_recipients,
    key: *const u8,
    key_length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::handle_mut(recipients)?.0.extend([key_file(raw::bytes(key, key_length)?)?]);
        Ok(())
    })
}

/// Adds the key and the context of Cobblestone files, which must be all that the set has. `format` is "cobblestone-128", with
/// a key of 16 random bytes, or "cobblestone-256", with one of 32. The context is empty or any bytes, and not secret. One
/// thread at a time.
///
/// Returns `TRESS_RAW_KEY_LENGTH`, `TRESS_UNKNOWN_NAME`, `TRESS_ARGUMENT` for another format.
///
/// # Safety
/// `recipients` is a valid handle; `format` ends with NUL; `key_length` bytes are readable at `key`, `context_length` at `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_recipients_add_cobblestone_key(
    recipients: *mut tress_recipients,
    format: *const c_char,
    key: *const u8,
    key_length: usize,
    context: *const u8,
    context_length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let key = cobblestone_key(format, key, key_length, context, context_length)?;
        raw::handle_mut(recipients)?.0.extend([key]);
        Ok(())
    })
}

/// Converts the arguments of a Cobblestone key.
///
/// # Safety
/// `format` is NULL or ends with NUL; the buffers have the given lengths.
unsafe fn cobblestone_key(
    format: *const c_char,
    key: *const u8,
    key_length: usize,
    context: *const u8,
    context_length: usize,
) -> Result<CobblestoneKey, Failure> {
    // SAFETY: the caller promises valid pointers and lengths.
    let (format, key, context) =
        unsafe { (raw::text(format)?, raw::bytes(key, key_length)?, raw::bytes(context, context_length)?) };
    Ok(CobblestoneKey::new(format_named(format)?, key, context)?)
}

/// Frees the set; NULL does nothing. No thread may use the set afterwards.
///
/// # Safety
/// `recipients` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_recipients_free(recipients: *mut tress_recipients) {
    // SAFETY: `recipients` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(recipients) }
}

/// A set of identities, the secret keys that open containers. One thread at a time may add to it; after that any number of
/// threads may use it in calls that take `const tress_identities *`. `tress_identities_free` wipes the secrets.
pub struct tress_identities(pub(crate) Identities);

/// Creates an empty set. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_identities_new() -> *mut tress_identities {
    crate::status::guard_value(std::ptr::null_mut(), || {
        Box::into_raw(Box::new(tress_identities(Identities::default())))
    })
}

/// Adds the identities of an identity file, given as bytes: "AGE-SECRET-KEY-1..." and "AGE-SECRET-KEY-PQ-1..." lines as
/// `tress keygen` and `age-keygen` write them, an identity file that `age -p` encrypted, or an SSH private key. `passphrase`
/// decrypts an encrypted file, and may be NULL. One thread at a time.
///
/// Returns `TRESS_BAD_IDENTITY`. A call that fails adds nothing. A wrong passphrase is reported only when the identities are
/// used.
///
/// # Safety
/// `identities` is a valid handle; `length` bytes are readable at `data`; `passphrase` is NULL or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_identities_add(
    identities: *mut tress_identities,
    data: *const u8,
    length: usize,
    passphrase: *const c_char,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
        let (identities, data, passphrase) =
            unsafe { (raw::handle_mut(identities)?, raw::bytes(data, length)?, raw::optional_text(passphrase)?) };
        let found = match passphrase {
            Some(passphrase) => {
                let passphrase = Zeroizing::new(passphrase.to_owned());
                Identities::from_file_asking(data, move |_: &str| Some(passphrase.clone()))?
            }
            None => Identities::from_file(data)?,
        };
        identities.0.extend([found]);
        Ok(())
    })
}

/// Adds a passphrase, with a limit of 20 for the work factor: up to five seconds and 1 GiB of memory for each container. One
/// thread at a time.
///
/// Returns `TRESS_BAD_PASSPHRASE` for an empty passphrase.
///
/// # Safety
/// `identities` is a valid handle; `passphrase` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_identities_add_passphrase(
    identities: *mut tress_identities,
    passphrase: *const c_char,
) -> tress_status {
    // SAFETY: the arguments are passed on unchanged.
    unsafe { tress_identities_add_passphrase_up_to(identities, passphrase, MAX_WORK_FACTOR) }
}

/// Adds a passphrase with another limit for the work factor. `max_work_factor` is the binary logarithm of scrypt's cost
/// parameter N, 1 to 22; each step down halves time and memory. A container with a larger work factor is refused with
/// `TRESS_WORK_FACTOR` before any work. Tress encrypts with a work factor of 18. One thread at a time.
///
/// Returns `TRESS_BAD_PASSPHRASE` for an empty passphrase, `TRESS_WORK_FACTOR` for a limit outside 1 to 22.
///
/// # Safety
/// `identities` is a valid handle; `passphrase` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_identities_add_passphrase_up_to(
    identities: *mut tress_identities,
    passphrase: *const c_char,
    max_work_factor: u8,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let identities = raw::handle_mut(identities)?;
        identities.0.extend([Identities::from_passphrase_up_to(raw::text(passphrase)?, max_work_factor)?]);
        Ok(())
    })
}

/// Adds a raw key of 16 or 32 bytes. One thread at a time.
///
/// Returns `TRESS_RAW_KEY_LENGTH`.
///
/// # Safety
/// `identities` is a valid handle; `key_length` bytes are readable at `key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_identities_add_key(
    identities: *mut tress_identities,
    key: *const u8,
    key_length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::handle_mut(identities)?.0.extend([key_file(raw::bytes(key, key_length)?)?]);
        Ok(())
    })
}

/// Adds the key and the context of Cobblestone files. The set then opens only files of this format. `format` is
/// "cobblestone-128", with a key of 16 random bytes, or "cobblestone-256", with one of 32. The context is empty or any bytes,
/// and not secret. One thread at a time.
///
/// Returns `TRESS_RAW_KEY_LENGTH`, `TRESS_UNKNOWN_NAME`, `TRESS_ARGUMENT` for another format.
///
/// # Safety
/// `identities` is a valid handle; `format` ends with NUL; `key_length` bytes are readable at `key`, `context_length` at `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_identities_add_cobblestone_key(
    identities: *mut tress_identities,
    format: *const c_char,
    key: *const u8,
    key_length: usize,
    context: *const u8,
    context_length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let key = cobblestone_key(format, key, key_length, context, context_length)?;
        raw::handle_mut(identities)?.0.extend([key]);
        Ok(())
    })
}

/// Wipes the secrets and frees the set; NULL does nothing. No thread may use the set afterwards.
///
/// # Safety
/// `identities` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_identities_free(identities: *mut tress_identities) {
    // SAFETY: `identities` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(identities) }
}

/// A key pair as `tress keygen` makes it. It never changes, so any number of threads may use it at the same time.
pub struct tress_keypair {
    recipient: CString,
    address: Option<CString>,
    /// Text of the identity file, which ends with NUL.
    identity: Zeroizing<Vec<u8>>,
}

impl tress_keypair {
    fn new(pair: &KeyPair) -> Result<Self, Failure> {
        let text = |text: String| CString::new(text).map_err(|_| Failure::from(TRESS_INTERNAL));
        let file = pair.to_identity_file_text();
        // One allocation: growing the vector would leave a copy of the secret in freed memory.
        let mut identity = Zeroizing::new(Vec::with_capacity(file.len() + 1));
        identity.extend_from_slice(file.as_bytes());
        identity.push(0);
        Ok(Self {
            recipient: text(pair.recipient().to_string())?,
            address: pair.address().map(|address| text(address.to_string())).transpose()?,
            identity,
        })
    }
}

impl Drop for tress_keypair {
    fn drop(&mut self) {
        self.identity.zeroize();
    }
}

/// Generates a key pair. Any thread.
///
/// Returns `TRESS_IO` if the system provides no random bytes.
///
/// # Safety
/// `pair` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_keypair_generate(pair: *mut *mut tress_keypair) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe { raw::write_handle(pair, || tress_keypair::new(&KeyPair::generate()?)) })
}

/// Reads a key pair from an identity file that has one X25519 identity. Any thread.
///
/// Returns `TRESS_BAD_IDENTITY`.
///
/// # Safety
/// `text` ends with NUL; `pair` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_keypair_parse(text: *const c_char, pair: *mut *mut tress_keypair) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe { raw::write_handle(pair, || tress_keypair::new(&KeyPair::parse(raw::text(text)?)?)) })
}

/// Returns the recipient, "age1...", which is public and valid until the pair is freed; NULL for NULL. Any thread.
///
/// # Safety
/// `pair` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_keypair_recipient(pair: *const tress_keypair) -> *const c_char {
    // SAFETY: `pair` is NULL or a valid handle, as the caller promises.
    unsafe { pair.as_ref() }.map_or(std::ptr::null(), |pair| pair.recipient.as_ptr())
}

/// Returns the public key for transfers, "tress1...", valid until the pair is freed; NULL if the identity file has no key for
/// transfers. Any thread.
///
/// # Safety
/// `pair` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_keypair_address(pair: *const tress_keypair) -> *const c_char {
    // SAFETY: `pair` is NULL or a valid handle, as the caller promises.
    let address = unsafe { pair.as_ref() }.and_then(|pair| pair.address.as_ref());
    address.map_or(std::ptr::null(), |address| address.as_ptr())
}

/// Returns the text of the identity file, which is secret: store it where only its owner can read it. Valid until the pair is
/// freed, which wipes it; NULL for NULL. Any thread.
///
/// # Safety
/// `pair` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_keypair_identity(pair: *const tress_keypair) -> *const c_char {
    // SAFETY: `pair` is NULL or a valid handle, as the caller promises.
    unsafe { pair.as_ref() }.map_or(std::ptr::null(), |pair| pair.identity.as_ptr().cast())
}

/// Wipes the secret and frees the pair; NULL does nothing. No thread may use the pair afterwards.
///
/// # Safety
/// `pair` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_keypair_free(pair: *mut tress_keypair) {
    // SAFETY: `pair` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(pair) }
}
