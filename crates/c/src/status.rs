//! Status codes, their texts, and the message of the last failure of each thread.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::Failure;

/// Result of a call. Codes keep their numbers; later versions may add codes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum tress_status {
    /// Success.
    TRESS_OK = 0,

    /// A required pointer is NULL.
    TRESS_NULL = 1,
    /// A length is above `PTRDIFF_MAX`.
    TRESS_LENGTH = 2,
    /// A text is not UTF-8.
    TRESS_TEXT = 3,
    /// An argument is invalid; `tress_last_error` says why.
    TRESS_ARGUMENT = 4,
    /// The handle was finished or wiped, was not made by the library, or failed in an earlier call.
    TRESS_STATE = 5,
    /// The output buffer is too small. The required length was written.
    TRESS_BUFFER = 6,
    /// A callback returned an error.
    TRESS_CALLBACK = 7,
    /// At least one job failed; each job has its status.
    TRESS_JOBS = 8,
    /// Out of memory.
    TRESS_MEMORY = 9,
    /// A defect of this library. The objects of this call are in an unknown state; other objects are not affected.
    TRESS_INTERNAL = 10,
    /// The operating system reported an error, such as a missing file or a full disk; its message is in `tress_last_error`.
    TRESS_IO = 11,
    /// `tress_control_cancel` was called.
    TRESS_INTERRUPTED = 12,
    /// The library has no cipher, backend, AEAD, scheme or type of key with this name.
    TRESS_UNKNOWN_NAME = 13,
    /// The operating system provided no random bytes.
    TRESS_RANDOM = 14,
    /// The filler is at its capacity: take finished jobs first.
    TRESS_FULL = 15,

    /// The cipher does not accept keys of this length.
    TRESS_KEY_LENGTH = 20,
    /// The nonce is not 7 to 13 bytes long (CCM), or not 12 (ChaCha20-Poly1305).
    TRESS_NONCE_LENGTH = 21,
    /// The tag is not 4, 6, 8, 10, 12, 14 or 16 bytes long (CCM), or not 16 (ChaCha20-Poly1305).
    TRESS_TAG_LENGTH = 22,
    /// The initialisation vector, or first counter block, is not one block long.
    TRESS_IV_LENGTH = 23,
    /// The data is not a whole number of blocks.
    TRESS_DATA_LENGTH = 24,
    /// The message is too long for a nonce of this length.
    TRESS_MESSAGE_TOO_LONG = 25,
    /// The data is too long: the counter would overflow.
    TRESS_COUNTER_EXHAUSTED = 26,
    /// The tag does not belong to this key, nonce, associated data and ciphertext. The output was wiped.
    TRESS_AUTHENTICATION = 27,
    /// The padding is not PKCS#7 padding.
    TRESS_PADDING = 28,
    /// This machine does not support the backend.
    TRESS_BACKEND_UNAVAILABLE = 29,
    /// CCM needs a cipher with blocks of 128 bits.
    TRESS_NO_CCM = 30,
    /// Two messages of a batch have the same key and nonce. No message was encrypted.
    TRESS_NONCE_REPEATED = 31,

    /// The input begins neither like a container nor like an age file.
    TRESS_NOT_A_CONTAINER = 40,
    /// A container of a version that this library does not know.
    TRESS_UNKNOWN_VERSION = 41,
    /// A container with an AEAD that this library does not know.
    TRESS_UNKNOWN_AEAD = 42,
    /// The header is damaged.
    TRESS_HEADER_DAMAGED = 43,
    /// The header is longer, or has more recipients, than the format allows.
    TRESS_HEADER_TOO_LARGE = 44,
    /// A byte between header and payload is not zero.
    TRESS_HEADER_PADDING = 45,
    /// The first line and the header name different AEADs.
    TRESS_AEAD_MISMATCH = 46,
    /// No identity matches any of the recipients.
    TRESS_NO_MATCHING_KEY = 47,
    /// The passphrase is wrong, or the encrypted data is damaged; the two cannot be distinguished.
    TRESS_WRONG_PASSPHRASE = 48,
    /// The work factor of the passphrase is above the limit.
    TRESS_WORK_FACTOR = 49,
    /// The payload does not belong to this header.
    TRESS_COMMITMENT = 50,
    /// A chunk is damaged; its number is in `tress_last_error`.
    TRESS_CHUNK_DAMAGED = 51,
    /// The file ends too early.
    TRESS_TRUNCATED = 52,
    /// More chunks than the format allows.
    TRESS_TOO_MANY_CHUNKS = 53,
    /// A range or an offset is out of bounds.
    TRESS_RANGE = 54,
    /// The output exists, and the options do not allow replacing it.
    TRESS_OUTPUT_EXISTS = 55,
    /// The output is the input, or is inside it.
    TRESS_OUTPUT_IS_INPUT = 56,
    /// A container would be written to a terminal.
    TRESS_BINARY_TO_TERMINAL = 57,
    /// The input changed while it was read.
    TRESS_INPUT_CHANGED = 58,
    /// The archive of a folder is damaged.
    TRESS_TREE_DAMAGED = 59,
    /// The archive of a folder has an entry that is never unpacked: a forbidden name, a link that leads out of the folder, a
    /// special file, or a duplicate.
    TRESS_TREE_REFUSED = 60,
    /// The input is in another format than the one that was asked for, or in one that cannot do this.
    TRESS_OTHER_FORMAT = 61,
    /// The text around an age file is damaged.
    TRESS_ARMOR_DAMAGED = 62,

    /// A recipient is malformed, or its type is not supported.
    TRESS_BAD_RECIPIENT = 70,
    /// An identity is malformed, or its type is not supported.
    TRESS_BAD_IDENTITY = 71,
    /// A raw key does not have 16 or 32 bytes, or the key of a Cobblestone file does not have the length of its format.
    TRESS_RAW_KEY_LENGTH = 72,
    /// A passphrase is empty or too long.
    TRESS_BAD_PASSPHRASE = 73,
    /// No recipient was given.
    TRESS_NO_RECIPIENTS = 74,
    /// These recipients cannot be combined, or not in this format: a passphrase, and the key of a Cobblestone file, must be the only
    /// one, and post-quantum recipients need others of their kind.
    TRESS_MIXED_RECIPIENTS = 75,
    /// An age plugin is missing or failed.
    TRESS_PLUGIN = 76,
    /// A name cannot be stored in a container.
    TRESS_BAD_NAME = 77,

    /// A signature key is malformed, or its algorithm is unknown.
    TRESS_MALFORMED_KEY = 90,
    /// The key is public, and a private key is required.
    TRESS_NOT_PRIVATE = 91,
    /// The key is private, and a public key is required.
    TRESS_NOT_PUBLIC = 92,
    /// The key is encrypted, and no passphrase was given or its encryption is not supported.
    TRESS_KEY_ENCRYPTED = 93,
    /// The size of the key is not supported, or its values do not belong together.
    TRESS_KEY_REFUSED = 94,
    /// The scheme needs another type of key, the key does not allow the scheme, or the salt is too long for the key.
    TRESS_WRONG_SCHEME = 95,
    /// The length of the digest is not that of the scheme's hash function.
    TRESS_DIGEST_LENGTH = 96,
    /// The length or the form of the signature does not fit the key and the scheme.
    TRESS_MALFORMED_SIGNATURE = 97,
    /// The signature is not valid for this message under this key.
    TRESS_MISMATCH = 98,
    /// A new signature failed the check against faults and was destroyed.
    TRESS_FAULT = 99,
}

use tress_status::*;

/// Every code and its text.
const TEXTS: &[(tress_status, &CStr)] = &[
    (TRESS_OK, c"done"),
    (TRESS_NULL, c"a required pointer is NULL"),
    (TRESS_LENGTH, c"length is larger than any object"),
    (TRESS_TEXT, c"text is not UTF-8"),
    (TRESS_ARGUMENT, c"wrong argument"),
    (TRESS_STATE, c"handle was finished or has failed before"),
    (TRESS_BUFFER, c"output buffer is too small"),
    (TRESS_CALLBACK, c"the callback failed"),
    (TRESS_JOBS, c"some jobs failed"),
    (TRESS_MEMORY, c"out of memory"),
    (TRESS_INTERNAL, c"internal error of the library"),
    (TRESS_IO, c"the operating system reported an error"),
    (TRESS_INTERRUPTED, c"interrupted"),
    (TRESS_UNKNOWN_NAME, c"unknown name"),
    (TRESS_RANDOM, c"the operating system provided no random bytes"),
    (TRESS_FULL, c"filler is full"),
    (TRESS_KEY_LENGTH, c"wrong key length"),
    (TRESS_NONCE_LENGTH, c"a nonce must have 12 bytes, for CCM 7 to 13"),
    (TRESS_TAG_LENGTH, c"a tag must have 16 bytes, for CCM 4, 6, 8, 10, 12, 14 or 16"),
    (TRESS_IV_LENGTH, c"an initialisation vector must be one block long"),
    (TRESS_DATA_LENGTH, c"data is not a whole number of blocks"),
    (TRESS_MESSAGE_TOO_LONG, c"message is too long for its nonce"),
    (TRESS_COUNTER_EXHAUSTED, c"data is too long for the counter"),
    (TRESS_AUTHENTICATION, c"authentication failed"),
    (TRESS_PADDING, c"wrong padding"),
    (TRESS_BACKEND_UNAVAILABLE, c"this machine does not support the backend"),
    (TRESS_NO_CCM, c"CCM needs a cipher with blocks of 128 bits"),
    (TRESS_NONCE_REPEATED, c"two messages of a batch have one key and one nonce"),
    (TRESS_NOT_A_CONTAINER, c"neither a tress container nor an age file"),
    (TRESS_UNKNOWN_VERSION, c"unknown container version"),
    (TRESS_UNKNOWN_AEAD, c"unknown AEAD of the container"),
    (TRESS_HEADER_DAMAGED, c"header is damaged"),
    (TRESS_HEADER_TOO_LARGE, c"header is larger than the format allows"),
    (TRESS_HEADER_PADDING, c"header padding is not zero"),
    (TRESS_AEAD_MISMATCH, c"first line and header name different AEADs"),
    (TRESS_NO_MATCHING_KEY, c"no identity matches a recipient of this file"),
    (TRESS_WRONG_PASSPHRASE, c"wrong passphrase"),
    (TRESS_WORK_FACTOR, c"work factor of the passphrase is above the limit"),
    (TRESS_COMMITMENT, c"payload does not belong to this header"),
    (TRESS_CHUNK_DAMAGED, c"a chunk is damaged"),
    (TRESS_TRUNCATED, c"file is truncated"),
    (TRESS_TOO_MANY_CHUNKS, c"more chunks than the format allows"),
    (TRESS_RANGE, c"range is out of bounds"),
    (TRESS_OUTPUT_EXISTS, c"output exists already"),
    (TRESS_OUTPUT_IS_INPUT, c"output is the input, or is inside it"),
    (TRESS_BINARY_TO_TERMINAL, c"refusing to write binary data to a terminal"),
    (TRESS_INPUT_CHANGED, c"input changed while it was read"),
    (TRESS_TREE_DAMAGED, c"tree archive is damaged"),
    (TRESS_TREE_REFUSED, c"tree archive has an entry that is not extracted"),
    (TRESS_OTHER_FORMAT, c"wrong format"),
    (TRESS_ARMOR_DAMAGED, c"armor is damaged"),
    (TRESS_BAD_RECIPIENT, c"malformed or unsupported recipient"),
    (TRESS_BAD_IDENTITY, c"malformed or unsupported identity"),
    (TRESS_RAW_KEY_LENGTH, c"a raw key must have 16 or 32 bytes"),
    (TRESS_BAD_PASSPHRASE, c"unusable passphrase"),
    (TRESS_NO_RECIPIENTS, c"no recipient given"),
    (TRESS_MIXED_RECIPIENTS, c"these recipients cannot be combined"),
    (TRESS_PLUGIN, c"age plugin failed"),
    (TRESS_BAD_NAME, c"a container cannot store this name"),
    (TRESS_MALFORMED_KEY, c"malformed key, or unknown algorithm"),
    (TRESS_NOT_PRIVATE, c"this is a public key, a private key is required"),
    (TRESS_NOT_PUBLIC, c"this is a private key, a public key is required"),
    (TRESS_KEY_ENCRYPTED, c"key is encrypted"),
    (TRESS_KEY_REFUSED, c"key's size or values are refused"),
    (TRESS_WRONG_SCHEME, c"key is not for this scheme"),
    (TRESS_DIGEST_LENGTH, c"digest has the wrong length"),
    (TRESS_MALFORMED_SIGNATURE, c"malformed signature for this key"),
    (TRESS_MISMATCH, c"signature does not match"),
    (TRESS_FAULT, c"computation failed its own check"),
];

impl tress_status {
    pub(crate) fn text(self) -> &'static CStr {
        text(self as c_int)
    }
}

fn text(code: c_int) -> &'static CStr {
    TEXTS.iter().find(|(status, _)| *status as c_int == code).map_or(c"unknown code", |(_, text)| text)
}

/// Returns the text of a code, or "unknown code" for any other number. Any thread; never fails; the text is static.
#[unsafe(no_mangle)]
pub extern "C" fn tress_status_text(code: c_int) -> *const c_char {
    text(code).as_ptr()
}

/// Size of a thread's last error in bytes, including the NUL.
const LAST_ERROR_BYTES: usize = 512;

thread_local! {
    /// An array, because a value without a destructor stays accessible while the thread ends.
    static LAST_ERROR: RefCell<[u8; LAST_ERROR_BYTES]> = const { RefCell::new([0; LAST_ERROR_BYTES]) };
}

/// Returns the error message of the last call in this thread that failed. It may say more than the text of the code, such as
/// the name of a file or the number of a damaged chunk. It never contains a secret. Empty if no call has failed; a successful
/// call does not change it. The text is UTF-8 of at most 511 bytes, and valid until the next failure in this thread or the end
/// of the thread. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.as_ptr().cast_const().cast())
}

/// Stores a text for [`tress_last_error`], truncated at a character boundary.
fn set_last_error(text: &str) {
    LAST_ERROR.with(|last| {
        let mut last = last.borrow_mut();
        let mut end = text.len().min(LAST_ERROR_BYTES - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        last[..end].copy_from_slice(&text.as_bytes()[..end]);
        // A NUL inside the text only ends it early.
        last[end] = 0;
    });
}

/// Runs the body of an exported function. Converts a failure or a panic to its code, and stores its text.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Failure>) -> tress_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => TRESS_OK,
        Ok(Err(failure)) => {
            set_last_error(&failure.to_string());
            failure.status
        }
        Err(panic) => {
            // Dropping it could panic again.
            std::mem::forget(panic);
            set_last_error("internal error of the library: a panic was caught");
            TRESS_INTERNAL
        }
    }
}

/// As [`guard`], for functions that return a value; a panic gives `otherwise`.
pub(crate) fn guard_value<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => value,
        Err(panic) => {
            std::mem::forget(panic);
            otherwise
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: the text belongs to this thread and ends with NUL.
        unsafe { CStr::from_ptr(tress_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guard(|| panic!("planted")), TRESS_INTERNAL);
        assert!(!last().is_empty());
        assert_eq!(guard_value(7, || panic!("planted")), 7);
    }

    #[test]
    fn every_code_has_a_distinct_text() {
        let mut texts: Vec<&CStr> = TEXTS.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        texts.dedup();
        let variants = include_str!("status.rs").lines().filter(|line| line.starts_with("    TRESS_")).count();
        assert_eq!((texts.len(), TEXTS.len()), (variants, variants));
        // SAFETY: the texts of codes end with NUL.
        let text = |code| unsafe { CStr::from_ptr(tress_status_text(code)) };
        for none in [-1, 16, 1000, c_int::MIN, c_int::MAX] {
            assert_eq!(text(none), c"unknown code");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let letters = "ä".repeat(LAST_ERROR_BYTES);
        set_last_error(&letters);
        assert_eq!(last(), "ä".repeat(255));
        assert_eq!(guard(|| Ok(())), TRESS_OK);
        assert_eq!(last(), "ä".repeat(255), "success leaves it alone");
    }
}
