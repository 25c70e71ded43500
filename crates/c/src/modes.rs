//! Modes of operation on one message.
//!
//! Every function reads `length` bytes at `input` and writes `length` bytes at `output`. The two buffers may be the same, or
//! overlap in any way. Everything that can be wrong with arguments is found before the input is copied to the output, so after such a
//! failure the output is unchanged. A forged message leaves zeros.

use ::tress_cipher::modes::{cbc, ccm, ctr, ecb, pkcs7};
use ::tress_cipher::{Aad, BlockCipher, CcmCipher, Error, Tag};

use crate::ciphers::{cipher_of, tress_cipher, with_ccm_cipher, with_cipher};
use crate::failure::Failure;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// A call in a mode that every cipher supports.
enum BlockModeCall<'a> {
    Ecb { encrypt: bool },
    Cbc { encrypt: bool, iv: &'a [u8] },
    Ctr { counter: &'a [u8] },
}

impl BlockModeCall<'_> {
    /// Checks the arguments for data of `bytes` bytes.
    fn check<C: BlockCipher>(&self, cipher: &C, bytes: usize) -> Result<(), Error> {
        match *self {
            Self::Ecb { .. } => check_blocks::<C>(bytes),
            Self::Cbc { iv, .. } => check_cbc::<C>(iv, bytes),
            Self::Ctr { counter } => ctr::check_counter(cipher, counter, bytes),
        }
    }

    /// Transforms the data in place.
    fn apply<C: BlockCipher>(&self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        match *self {
            Self::Ecb { encrypt: true } => ecb::encrypt(cipher, data),
            Self::Ecb { encrypt: false } => ecb::decrypt(cipher, data),
            Self::Cbc { encrypt: true, iv } => cbc::encrypt(cipher, iv, data),
            Self::Cbc { encrypt: false, iv } => cbc::decrypt(cipher, iv, data),
            Self::Ctr { counter } => ctr::apply(cipher, counter, data),
        }
    }
}

/// A call in CCM, which only ciphers with blocks of 128 bits support.
struct CcmCall<'a> {
    nonce: &'a [u8],
    aad: &'a [u8],
    tag: CcmTag<'a>,
}

/// The direction of a call in CCM, with its tag.
enum CcmTag<'a> {
    Encrypt(&'a mut [u8]),
    Decrypt(&'a [u8]),
}

impl CcmCall<'_> {
    fn tag_bytes(&self) -> usize {
        match &self.tag {
            CcmTag::Encrypt(tag) => tag.len(),
            CcmTag::Decrypt(tag) => tag.len(),
        }
    }

    /// Transforms the data in place.
    fn apply<C: CcmCipher>(&mut self, cipher: &C, data: &mut [u8]) -> Result<(), Error> {
        match &mut self.tag {
            CcmTag::Encrypt(tag) => ccm::seal(cipher, self.nonce, Aad(self.aad), data, &mut **tag),
            CcmTag::Decrypt(tag) => ccm::open(cipher, self.nonce, Aad(self.aad), data, Tag::new(tag, tag.len())?),
        }
    }
}

/// Copies `input` to `output` and runs `mode` there.
///
/// # Safety
/// `cipher` is NULL or a valid handle; `length` bytes are readable at `input` and writable at `output`.
unsafe fn run_mode(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
    mode: BlockModeCall<'_>,
) -> Result<(), Failure> {
    // SAFETY: the caller promises a valid handle.
    let cipher = unsafe { cipher_of(cipher)? };
    raw::check_pointer(input, length)?;
    raw::check_pointer(output, length)?;
    with_cipher!(&cipher.keyed, keyed => mode.check(keyed, length))?;
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    let data = unsafe { raw::in_place(input, output, length)? };
    Ok(with_cipher!(&cipher.keyed, keyed => mode.apply(keyed, data))?)
}

/// As [`run_mode`], for CCM.
///
/// # Safety
/// As [`run_mode`].
unsafe fn run_ccm(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
    mut mode: CcmCall<'_>,
) -> Result<(), Failure> {
    // SAFETY: the caller promises a valid handle.
    let cipher = unsafe { cipher_of(cipher)? };
    if !cipher.has_ccm() {
        return Err(TRESS_NO_CCM.into());
    }
    raw::check_pointer(input, length)?;
    raw::check_pointer(output, length)?;
    ccm::check_lengths(mode.nonce, length, mode.tag_bytes())?;
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    let data = unsafe { raw::in_place(input, output, length)? };
    Ok(with_ccm_cipher!(&cipher.keyed, keyed => mode.apply(keyed, data)).ok_or(TRESS_NO_CCM)??)
}

/// Checks that data is whole blocks.
fn check_blocks<C: BlockCipher>(bytes: usize) -> Result<(), Error> {
    if bytes.is_multiple_of(C::BLOCK_BYTES) { Ok(()) } else { Err(Error::DataLength) }
}

/// Checks the arguments of CBC.
#[inline]
pub(crate) fn check_cbc<C: BlockCipher>(iv: &[u8], bytes: usize) -> Result<(), Error> {
    if iv.len() == C::BLOCK_BYTES { check_blocks::<C>(bytes) } else { Err(Error::IvLength) }
}

/// Encrypts whole blocks independently of each other (ECB, SP 800-38A). Equal blocks give equal ciphertext, so use it only
/// for tests or as a building block. Any thread.
///
/// Returns `TRESS_DATA_LENGTH` if `length` is not a multiple of the block size.
///
/// # Safety
/// `cipher` is a valid handle; `length` bytes are readable at `input` and writable at `output`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ecb_encrypt(
    cipher: *const tress_cipher,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe { run_mode(cipher, input, output, length, BlockModeCall::Ecb { encrypt: true }) })
}

/// Decrypts what `tress_ecb_encrypt` encrypted. Any thread.
///
/// Returns `TRESS_DATA_LENGTH`.
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
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe { run_mode(cipher, input, output, length, BlockModeCall::Ecb { encrypt: false }) })
}

/// Encrypts whole blocks in a chain (CBC, SP 800-38A). `iv` is one block that nobody can predict. The blocks of one message
/// cannot be encrypted in parallel; `tress_cbc_encrypt_jobs` encrypts many messages in parallel. Any thread.
///
/// Returns `TRESS_IV_LENGTH`, `TRESS_DATA_LENGTH`.
///
/// # Safety
/// `cipher` is a valid handle; each buffer has the length given for it; `iv` does not overlap `output`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cbc_encrypt(
    cipher: *const tress_cipher,
    iv: *const u8,
    iv_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        run_mode(cipher, input, output, length, BlockModeCall::Cbc { encrypt: true, iv: raw::bytes(iv, iv_length)? })
    })
}

/// Decrypts what `tress_cbc_encrypt` encrypted. Padding is not removed: see `tress_pkcs7_unpad`. Any thread.
///
/// Returns `TRESS_IV_LENGTH`, `TRESS_DATA_LENGTH`.
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
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        run_mode(cipher, input, output, length, BlockModeCall::Cbc { encrypt: false, iv: raw::bytes(iv, iv_length)? })
    })
}

/// Encrypts or decrypts data of any length in counter mode (CTR, SP 800-38A). `counter` is the first counter block. The
/// counter is big-endian and takes the whole block, for PIPO the last two bytes. A counter block must never be used twice
/// with a key. Any thread.
///
/// Returns `TRESS_IV_LENGTH`, `TRESS_COUNTER_EXHAUSTED`.
///
/// # Safety
/// `cipher` is a valid handle; each buffer has the length given for it; `counter` does not overlap `output`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ctr(
    cipher: *const tress_cipher,
    counter: *const u8,
    counter_length: usize,
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        run_mode(cipher, input, output, length, BlockModeCall::Ctr { counter: raw::bytes(counter, counter_length)? })
    })
}

/// Encrypts a message and writes its tag (CCM, SP 800-38C). The nonce has 7 to 13 bytes and must never be used twice with a
/// key; the tag has 4, 6, 8, 10, 12, 14 or 16 bytes. A batch of messages is several times faster:
/// `tress_ccm_encrypt_jobs`. Any thread.
///
/// Returns `TRESS_NO_CCM`, `TRESS_NONCE_LENGTH`, `TRESS_TAG_LENGTH`, `TRESS_MESSAGE_TOO_LONG`.
///
/// # Safety
/// `cipher` is a valid handle; each buffer has the length given for it; `output` and `tag` overlap no other buffer, except
/// that `output` may overlap `input`.
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
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let nonce = raw::bytes(nonce, nonce_length)?;
        let aad = raw::bytes(aad, aad_length)?;
        let tag = CcmTag::Encrypt(raw::bytes_mut(tag, tag_length)?);
        run_ccm(cipher, input, output, length, CcmCall { nonce, aad, tag })
    })
}

/// Verifies and decrypts a message. If the tag is wrong, the output is wiped, also if it is the input. The comparison of tags
/// takes constant time. Do not compare tags with `memcmp` instead: its run time reveals how many bytes of a forged tag are
/// right. Any thread.
///
/// Returns `TRESS_AUTHENTICATION`, and the errors of `tress_ccm_encrypt`.
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
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let nonce = raw::bytes(nonce, nonce_length)?;
        let aad = raw::bytes(aad, aad_length)?;
        let tag = CcmTag::Decrypt(raw::bytes(tag, tag_length)?);
        run_ccm(cipher, input, output, length, CcmCall { nonce, aad, tag })
    })
}

/// Returns the number of bytes of PKCS#7 padding for a message of `length` bytes, 1 to `block_bytes`. Each byte of the padding
/// has that number as its value. Returns 0 if `block_bytes` is not 1 to 255. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tress_pkcs7_padding(length: usize, block_bytes: usize) -> usize {
    if (1..=255).contains(&block_bytes) { pkcs7::padding(length, block_bytes) } else { 0 }
}

/// Checks PKCS#7 padding and writes the length of the message without it to `message_length`. The run time does not depend on
/// the padding. A receiver that reveals whether the padding was right reveals the plaintext, byte by byte (a padding oracle):
/// prefer CCM. Any thread.
///
/// Returns `TRESS_PADDING`; `TRESS_DATA_LENGTH` if `length` is 0 or not a multiple of `block_bytes`; `TRESS_ARGUMENT` if
/// `block_bytes` is not 1 to 255.
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
        // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
        unsafe {
            let message = pkcs7::unpad(raw::bytes(data, length)?, block_bytes)?;
            raw::write_optional(message_length, message);
        }
        Ok(())
    })
}
