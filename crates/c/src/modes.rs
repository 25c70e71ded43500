//! Modes of operation of one message.
//!
//! Every function reads `length` bytes at `input` and writes as many at `output`; the two may be one, or overlap in any
//! way. After a failure the output holds nothing of the message: it is as it was, or zeros.

use ::tress_cipher::modes::{cbc, ccm, ctr, ecb, pkcs7};
use ::tress_cipher::{Aad, BlockCipher, CcmCipher, Error, Tag};
use zeroize::Zeroize;

use crate::ciphers::{tress_cipher, with_ccm_cipher, with_cipher};
use crate::failure::Failure;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// A mode of any cipher, on data that is transformed in place.
trait Mode {
    fn apply<C: BlockCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error>;
}

/// CCM, which not every cipher has.
trait CcmMode {
    fn apply<C: CcmCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error>;
}

/// # Safety
/// `cipher` is NULL or a handle; `length` bytes are readable at `input` and writable at `output`.
unsafe fn run(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
    mut mode: impl Mode,
) -> Result<(), Failure> {
    // SAFETY: as above.
    let (cipher, data) = unsafe { (raw::handle(cipher)?, raw::in_place(input, output, length)?) };
    let outcome = with_cipher!(&cipher.keyed, keyed => mode.apply(keyed, data));
    wiped(outcome, data, std::ptr::eq(input, output))
}

/// # Safety
/// As [`run`].
unsafe fn run_ccm(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
    mut mode: impl CcmMode,
) -> Result<(), Failure> {
    // SAFETY: as above.
    let cipher = unsafe { raw::handle(cipher)? };
    if !cipher.has_ccm() {
        return Err(TRESS_NO_CCM.into());
    }
    // SAFETY: as above.
    let data = unsafe { raw::in_place(input, output, length)? };
    let outcome = with_ccm_cipher!(&cipher.keyed, keyed => mode.apply(keyed, data)).ok_or(TRESS_NO_CCM)?;
    wiped(outcome, data, std::ptr::eq(input, output))
}

/// What failed leaves no copy of its input in another buffer.
fn wiped(outcome: Result<(), Error>, data: &mut [u8], same: bool) -> Result<(), Failure> {
    if outcome.is_err() && !same {
        data.zeroize();
    }
    Ok(outcome?)
}

struct Ecb {
    encrypt: bool,
}

impl Mode for Ecb {
    fn apply<C: BlockCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        if self.encrypt { ecb::encrypt(cipher, data) } else { ecb::decrypt(cipher, data) }
    }
}

struct Cbc<'a> {
    encrypt: bool,
    iv: &'a [u8],
}

impl Mode for Cbc<'_> {
    fn apply<C: BlockCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        if self.encrypt { cbc::encrypt(cipher, self.iv, data) } else { cbc::decrypt(cipher, self.iv, data) }
    }
}

struct Ctr<'a> {
    counter: &'a [u8],
}

impl Mode for Ctr<'_> {
    fn apply<C: BlockCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        ctr::apply(cipher, self.counter, data)
    }
}

struct CcmEncrypt<'a> {
    nonce: &'a [u8],
    aad: &'a [u8],
    tag: &'a mut [u8],
}

impl CcmMode for CcmEncrypt<'_> {
    fn apply<C: CcmCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        ccm::seal(cipher, self.nonce, Aad(self.aad), data, &mut *self.tag)
    }
}

struct CcmDecrypt<'a> {
    nonce: &'a [u8],
    aad: &'a [u8],
    tag: &'a [u8],
}

impl CcmMode for CcmDecrypt<'_> {
    fn apply<C: CcmCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        ccm::open(cipher, self.nonce, Aad(self.aad), data, Tag::new(self.tag, self.tag.len())?)
    }
}

/// Encrypts whole blocks, each on its own (ECB, SP 800-38A). Equal blocks stay equal: for tests, or as a building
/// block. Any thread.
///
/// Returns `TRESS_DATA_LENGTH` unless the data is whole blocks.
///
/// # Safety
/// `cipher` is a handle; `length` bytes are readable at `input` and writable at `output`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ecb_encrypt(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { run(cipher, input, output, length, Ecb { encrypt: true }) })
}

/// The inverse of `tress_ecb_encrypt`.
///
/// # Safety
/// As `tress_ecb_encrypt`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ecb_decrypt(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { run(cipher, input, output, length, Ecb { encrypt: false }) })
}

/// Encrypts whole blocks in a chain (CBC, SP 800-38A). `iv` is one block that nobody could predict. One message is
/// serial: `tress_cbc_encrypt_jobs` takes many. Any thread.
///
/// Returns `TRESS_IV_LENGTH`, `TRESS_DATA_LENGTH`.
///
/// # Safety
/// `cipher` is a handle; the lengths are those of what the pointers point to; `iv` does not overlap `output`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cbc_encrypt(
    cipher: *const tress_cipher,
    iv: *const u8,
    iv_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { run(cipher, input, output, length, Cbc { encrypt: true, iv: raw::bytes(iv, iv_length)? }) })
}

/// The inverse of `tress_cbc_encrypt`. Padding, if there is any, stays: see `tress_pkcs7_unpad`.
///
/// # Safety
/// As `tress_cbc_encrypt`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cbc_decrypt(
    cipher: *const tress_cipher,
    iv: *const u8,
    iv_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { run(cipher, input, output, length, Cbc { encrypt: false, iv: raw::bytes(iv, iv_length)? }) })
}

/// Encrypts or decrypts data of any length in counter mode (CTR, SP 800-38A). `counter` is the first counter block; it
/// counts big-endian over the whole block, in PIPO over its last two bytes. No counter block may ever be used twice
/// with a key. Any thread.
///
/// Returns `TRESS_IV_LENGTH`, `TRESS_COUNTER_EXHAUSTED`.
///
/// # Safety
/// `cipher` is a handle; the lengths are those of what the pointers point to; `counter` does not overlap `output`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ctr(
    cipher: *const tress_cipher,
    counter: *const u8,
    counter_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { run(cipher, input, output, length, Ctr { counter: raw::bytes(counter, counter_length)? }) })
}

/// Encrypts a message and writes its tag (CCM, SP 800-38C). The nonce has 7 to 13 bytes and is never used twice with a
/// key; the tag has 4, 6, 8, 10, 12, 14 or 16. Many messages at once are several times faster:
/// `tress_ccm_encrypt_jobs`. Any thread.
///
/// Returns `TRESS_NO_CCM`, `TRESS_NONCE_LENGTH`, `TRESS_TAG_LENGTH`, `TRESS_MESSAGE_TOO_LONG`.
///
/// # Safety
/// `cipher` is a handle; the lengths are those of what the pointers point to; nothing but `input` overlaps `output` or
/// `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_encrypt(
    cipher: *const tress_cipher,
    nonce: *const u8,
    nonce_length: usize,
    aad: *const u8,
    aad_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
    tag: *mut u8,
    tag_length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        let nonce = raw::bytes(nonce, nonce_length)?;
        let aad = raw::bytes(aad, aad_length)?;
        let tag = raw::bytes_mut(tag, tag_length)?;
        run_ccm(cipher, input, output, length, CcmEncrypt { nonce, aad, tag })
    })
}

/// Verifies and decrypts a message. If the tag is wrong the output is wiped, also where it is the input. The tag is
/// compared here, in constant time: a comparison of one's own, by `memcmp`, tells how much of a forged one was right. Any
/// thread.
///
/// Returns `TRESS_AUTHENTICATION`, and what `tress_ccm_encrypt` returns.
///
/// # Safety
/// As `tress_ccm_encrypt`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_decrypt(
    cipher: *const tress_cipher,
    nonce: *const u8,
    nonce_length: usize,
    aad: *const u8,
    aad_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
    tag: *const u8,
    tag_length: usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe {
        let nonce = raw::bytes(nonce, nonce_length)?;
        let aad = raw::bytes(aad, aad_length)?;
        let tag = raw::bytes(tag, tag_length)?;
        run_ccm(cipher, input, output, length, CcmDecrypt { nonce, aad, tag })
    })
}

/// How many bytes of PKCS#7 padding a message of `length` bytes gets, 1 to `block_bytes`; each byte has that number as
/// its value. 0 unless `block_bytes` is 1 to 255. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_pkcs7_padding(length: usize, block_bytes: usize) -> usize {
    if (1..=255).contains(&block_bytes) { pkcs7::padding(length, block_bytes) } else { 0 }
}

/// Writes to `message_length` how long the message is without its PKCS#7 padding. Takes the same time whatever the
/// padding is. Who tells a sender whether the padding was right tells the plaintext, byte by byte: prefer CCM. Any
/// thread.
///
/// Returns `TRESS_PADDING`; `TRESS_DATA_LENGTH` unless the data is whole blocks, one at least; `TRESS_ARGUMENT` unless
/// `block_bytes` is 1 to 255.
///
/// # Safety
/// `length` bytes are readable at `data`; `message_length` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_pkcs7_unpad(
    data: *const u8,
    length: usize,
    block_bytes: usize,
    message_length: *mut usize,
) -> tress_status {
    guard(|| {
        if !(1..=255).contains(&block_bytes) {
            return Err(Failure::with_detail(TRESS_ARGUMENT, "padding needs a block of 1 to 255 bytes"));
        }
        if message_length.is_null() {
            return Err(TRESS_NULL.into());
        }
        // SAFETY: as above.
        unsafe {
            let message = pkcs7::unpad(raw::bytes(data, length)?, block_bytes)?;
            raw::set(message_length, message);
        }
        Ok(())
    })
}
