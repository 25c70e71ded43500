//! What a call came to: a code, a text for it, and for the last failure of a thread what the code alone cannot say.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::Failure;

/// What a call came to. Codes keep their numbers; there may be more of them later.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum tress_status {
    /// Done.
    TRESS_OK = 0,

    /// A pointer that is needed is NULL.
    TRESS_NULL = 1,
    /// A length is larger than any object can be.
    TRESS_LENGTH = 2,
    /// A text is not UTF-8.
    TRESS_TEXT = 3,
    /// An argument is of no use: what is wrong with it is in `tress_last_error`.
    TRESS_ARGUMENT = 4,
    /// The handle was finished, or has failed, before.
    TRESS_STATE = 5,
    /// The output buffer is too small. The length that is needed was written.
    TRESS_BUFFER = 6,
    /// A function of the caller returned an error.
    TRESS_CALLBACK = 7,
    /// One job or several failed: each has a status of its own.
    TRESS_JOBS = 8,
    /// No memory.
    TRESS_MEMORY = 9,
    /// A defect of this library. What the call was about is in an unknown state; nothing else is.
    TRESS_INTERNAL = 10,
    /// The system refused: a file is missing, a disk is full. The system's words are in `tress_last_error`.
    TRESS_IO = 11,
    /// `tress_control_cancel` was called.
    TRESS_INTERRUPTED = 12,
    /// The name of a cipher, backend, AEAD, scheme or kind of key is none that this library has.
    TRESS_UNKNOWN_NAME = 13,
    /// The system gave no randomness.
    TRESS_RANDOM = 14,
    /// No more jobs may be inside the filler: take some.
    TRESS_FULL = 15,

    /// The key has a length that the cipher does not take.
    TRESS_KEY_LENGTH = 20,
    /// The nonce of CCM is not 7 to 13 bytes long.
    TRESS_NONCE_LENGTH = 21,
    /// The tag of CCM is not 4, 6, 8, 10, 12, 14 or 16 bytes long.
    TRESS_TAG_LENGTH = 22,
    /// The initialisation vector, or first counter block, is not one block long.
    TRESS_IV_LENGTH = 23,
    /// The data is not a whole number of blocks.
    TRESS_DATA_LENGTH = 24,
    /// The message is longer than a nonce of this length lets it be.
    TRESS_MESSAGE_TOO_LONG = 25,
    /// The data runs past the end of the counter.
    TRESS_COUNTER_EXHAUSTED = 26,
    /// The tag does not belong to this key, nonce, associated data and ciphertext. The output was wiped.
    TRESS_AUTHENTICATION = 27,
    /// The padding is not PKCS#7 padding.
    TRESS_PADDING = 28,
    /// This machine lacks the backend.
    TRESS_BACKEND_UNAVAILABLE = 29,
    /// CCM needs a cipher with blocks of 128 bits.
    TRESS_NO_CCM = 30,
    /// Two messages of a batch have one key and one nonce. None was encrypted.
    TRESS_NONCE_REPEATED = 31,

    /// The input does not begin like a container.
    TRESS_NOT_A_CONTAINER = 40,
    /// A container of a version that this library does not know.
    TRESS_UNKNOWN_VERSION = 41,
    /// A container with an AEAD that this library does not know.
    TRESS_UNKNOWN_AEAD = 42,
    /// The header is damaged.
    TRESS_HEADER_DAMAGED = 43,
    /// The header, or its number of recipients, is beyond the format's limit.
    TRESS_HEADER_TOO_LARGE = 44,
    /// A byte between header and payload is not zero.
    TRESS_HEADER_PADDING = 45,
    /// First line and header name different AEADs.
    TRESS_AEAD_MISMATCH = 46,
    /// No identity matches any of the recipients.
    TRESS_NO_MATCHING_KEY = 47,
    /// The passphrase is wrong, or what it opens is damaged: nobody can tell these apart.
    TRESS_WRONG_PASSPHRASE = 48,
    /// Opening it by passphrase would take more work than this library is willing to do.
    TRESS_WORK_FACTOR = 49,
    /// The payload does not belong to this header.
    TRESS_COMMITMENT = 50,
    /// A chunk is damaged; its number is in `tress_last_error`.
    TRESS_CHUNK_DAMAGED = 51,
    /// The container ends too early.
    TRESS_TRUNCATED = 52,
    /// More chunks than the format allows.
    TRESS_TOO_MANY_CHUNKS = 53,
    /// A range, or an offset, is out of bounds.
    TRESS_RANGE = 54,
    /// The output exists already, and replacing it was not asked for.
    TRESS_OUTPUT_EXISTS = 55,
    /// The output is the input, or lies inside it.
    TRESS_OUTPUT_IS_INPUT = 56,
    /// A container would be written to a terminal.
    TRESS_BINARY_TO_TERMINAL = 57,
    /// The input changed while it was read.
    TRESS_INPUT_CHANGED = 58,
    /// The archive of a folder is damaged.
    TRESS_TREE_DAMAGED = 59,
    /// The archive of a folder holds what is not unpacked: a forbidden name, a link that leads out, a special file, a
    /// duplicate.
    TRESS_TREE_REFUSED = 60,

    /// A recipient does not parse, or its kind is not supported.
    TRESS_BAD_RECIPIENT = 70,
    /// An identity does not parse, or its kind is not supported.
    TRESS_BAD_IDENTITY = 71,
    /// A raw key does not have 16 or 32 bytes.
    TRESS_RAW_KEY_LENGTH = 72,
    /// A passphrase is empty or too long.
    TRESS_BAD_PASSPHRASE = 73,
    /// No recipient was given.
    TRESS_NO_RECIPIENTS = 74,
    /// These recipients cannot stand in one container: a passphrase stands alone.
    TRESS_MIXED_RECIPIENTS = 75,
    /// An age plugin is missing or failed.
    TRESS_PLUGIN = 76,
    /// A name cannot be stored in a container.
    TRESS_BAD_NAME = 77,

    /// A key for signatures is malformed, or of an unknown algorithm.
    TRESS_MALFORMED_KEY = 90,
    /// A public key where a private one is needed.
    TRESS_NOT_PRIVATE = 91,
    /// A private key where a public one is needed.
    TRESS_NOT_PUBLIC = 92,
    /// The key is encrypted, and no passphrase was given; or in a way that is not supported.
    TRESS_KEY_ENCRYPTED = 93,
    /// The key has a size that is not supported, or values that do not belong together.
    TRESS_KEY_REFUSED = 94,
    /// The key is of another kind than the scheme needs, does not allow it, or has no room for its salt.
    TRESS_WRONG_SCHEME = 95,
    /// The digest does not have the length that the scheme's hash function gives.
    TRESS_DIGEST_LENGTH = 96,
    /// The signature has another length or form than key and scheme give.
    TRESS_MALFORMED_SIGNATURE = 97,
    /// The signature is not one of this message under this key.
    TRESS_MISMATCH = 98,
    /// A signature did not pass its own check and was destroyed.
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
    (TRESS_FULL, c"no more jobs may be inside the filler"),
    (TRESS_KEY_LENGTH, c"wrong key length"),
    (TRESS_NONCE_LENGTH, c"a CCM nonce must have 7 to 13 bytes"),
    (TRESS_TAG_LENGTH, c"a CCM tag must have 4, 6, 8, 10, 12, 14 or 16 bytes"),
    (TRESS_IV_LENGTH, c"an initialisation vector must be one block long"),
    (TRESS_DATA_LENGTH, c"data is not a whole number of blocks"),
    (TRESS_MESSAGE_TOO_LONG, c"message is too long for its nonce"),
    (TRESS_COUNTER_EXHAUSTED, c"data is too long for the counter"),
    (TRESS_AUTHENTICATION, c"authentication failed"),
    (TRESS_PADDING, c"wrong padding"),
    (TRESS_BACKEND_UNAVAILABLE, c"this machine does not support the backend"),
    (TRESS_NO_CCM, c"CCM needs a cipher with blocks of 128 bits"),
    (TRESS_NONCE_REPEATED, c"two messages of a batch have one key and one nonce"),
    (TRESS_NOT_A_CONTAINER, c"not a tress container"),
    (TRESS_UNKNOWN_VERSION, c"unknown container version"),
    (TRESS_UNKNOWN_AEAD, c"unknown AEAD of the container"),
    (TRESS_HEADER_DAMAGED, c"header is damaged"),
    (TRESS_HEADER_TOO_LARGE, c"header is larger than the format allows"),
    (TRESS_HEADER_PADDING, c"header padding is not zero"),
    (TRESS_AEAD_MISMATCH, c"first line and header name different AEADs"),
    (TRESS_NO_MATCHING_KEY, c"no identity matches any of the recipients"),
    (TRESS_WRONG_PASSPHRASE, c"wrong passphrase"),
    (TRESS_WORK_FACTOR, c"work factor of the passphrase is above the limit"),
    (TRESS_COMMITMENT, c"payload does not belong to this header"),
    (TRESS_CHUNK_DAMAGED, c"a chunk is damaged"),
    (TRESS_TRUNCATED, c"container is truncated"),
    (TRESS_TOO_MANY_CHUNKS, c"more chunks than the format allows"),
    (TRESS_RANGE, c"range is out of bounds"),
    (TRESS_OUTPUT_EXISTS, c"output exists already"),
    (TRESS_OUTPUT_IS_INPUT, c"output is the input, or is inside it"),
    (TRESS_BINARY_TO_TERMINAL, c"refusing to write binary data to a terminal"),
    (TRESS_INPUT_CHANGED, c"input changed while it was read"),
    (TRESS_TREE_DAMAGED, c"tree archive is damaged"),
    (TRESS_TREE_REFUSED, c"tree archive has an entry that is not extracted"),
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
    (TRESS_MALFORMED_SIGNATURE, c"malformed signature"),
    (TRESS_MISMATCH, c"signature does not match"),
    (TRESS_FAULT, c"computation failed its own check"),
];

impl tress_status {
    /// The text of a code.
    pub(crate) fn text(self) -> &'static CStr {
        text(self as c_int)
    }
}

fn text(code: c_int) -> &'static CStr {
    TEXTS.iter().find(|(status, _)| *status as c_int == code).map_or(c"unknown code", |(_, text)| text)
}

/// Text of a code; for a number that is none, "unknown code". Any thread; never fails; the text is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn tress_status_text(code: c_int) -> *const c_char {
    text(code).as_ptr()
}

/// Bytes of a thread's last error, its NUL included.
const DETAIL_BYTES: usize = 512;

thread_local! {
    /// No heap, so that it needs no clean-up and is there while a thread ends.
    static LAST: RefCell<[u8; DETAIL_BYTES]> = const { RefCell::new([0; DETAIL_BYTES]) };
}

/// What went wrong in the last call of this thread that failed: its code's text and what is known beyond it, such as a
/// file's name or the number of a damaged chunk. Never a secret. Empty if none has failed; a call that succeeds does
/// not change it. The text is UTF-8 of at most 511 bytes, and valid until the next failure in this thread or the
/// thread's end. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_last_error() -> *const c_char {
    LAST.with(|last| last.as_ptr().cast_const().cast())
}

/// Keeps a text for [`tress_last_error`], cut to what fits.
fn remember(text: &str) {
    LAST.with(|last| {
        let mut last = last.borrow_mut();
        let mut end = text.len().min(DETAIL_BYTES - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        last[..end].copy_from_slice(&text.as_bytes()[..end]);
        // A NUL inside a file's name ends the text early, no more.
        last[end] = 0;
    });
}

/// Every entry runs in here: a failure is remembered and becomes its code, and so does a panic.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Failure>) -> tress_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => TRESS_OK,
        Ok(Err(failure)) => {
            remember(&failure.to_string());
            failure.status
        }
        Err(panic) => {
            // Dropping it could panic again.
            std::mem::forget(panic);
            remember("internal error of the library: a panic was caught");
            TRESS_INTERNAL
        }
    }
}

/// The same for entries that return a value of their own.
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
        // SAFETY: the function returns a text of this thread that ends with NUL.
        unsafe { CStr::from_ptr(tress_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guard(|| panic!("planted")), TRESS_INTERNAL);
        assert!(!last().is_empty());
        assert_eq!(guard_value(7, || panic!("planted")), 7);
    }

    #[test]
    fn every_code_has_a_text_of_its_own() {
        let mut texts: Vec<&CStr> = TEXTS.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        texts.dedup();
        let variants = include_str!("status.rs").lines().filter(|line| line.starts_with("    TRESS_")).count();
        assert_eq!((texts.len(), TEXTS.len()), (variants, variants));
        // SAFETY: texts of codes end with NUL.
        let text = |code| unsafe { CStr::from_ptr(tress_status_text(code)) };
        for none in [-1, 16, 1000, c_int::MIN, c_int::MAX] {
            assert_eq!(text(none), c"unknown code");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let letters = "ä".repeat(DETAIL_BYTES);
        remember(&letters);
        assert_eq!(last(), "ä".repeat(255));
        assert_eq!(guard(|| Ok(())), TRESS_OK);
        assert_eq!(last(), "ä".repeat(255), "success leaves it alone");
    }
}
