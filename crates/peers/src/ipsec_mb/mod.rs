//! Intel's multi-buffer library, version 1.3 (Debian's libipsec-mb1), opened at run time.
//!
//! It is the one other library that we know to run CCM and CBC encryption in lanes. Jobs are submitted one by one; a
//! submission may hand back an older job that is complete, and what is left is flushed at the end. One manager serves
//! one thread.

mod layout;

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::OnceLock,
};

use libloading::Library;

use crate::{Direction, Error, Missing};
use layout::{ExpandKey, Job, JobFunction};

/// The name that `tress bench --against` takes.
pub const NAME: &str = "ipsec-mb";

/// The longest message that CCM and CBC jobs may have: the library keeps lengths in 16 bits.
pub const MAX_MESSAGE_BYTES: usize = 65_535;

const LIBRARY: &str = "libIPSec_MB.so.1";
const PACKAGE: &str = "libipsec-mb1";
/// The release whose structures `layout` holds; the library promises no more than that.
const RELEASE: &str = "1.3.";

struct Functions {
    alloc: unsafe extern "C" fn(u64) -> *mut layout::Manager,
    free: unsafe extern "C" fn(*mut layout::Manager),
    init: unsafe extern "C" fn(*mut layout::Manager, *mut c_int),
    version: String,
    _library: Library,
}

fn functions() -> Result<&'static Functions, Missing> {
    static FUNCTIONS: OnceLock<Result<Functions, Missing>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Functions, Missing> {
    let missing = |reason: String| Missing { peer: NAME, reason, package: PACKAGE };
    if !cfg!(target_arch = "x86_64") {
        return Err(missing("it needs an x86-64 processor".into()));
    }
    // SAFETY: the library's initialisers have no precondition. The types are those of the prototypes in
    // intel-ipsec-mb.h, and the library stays loaded as long as the pointers: both live in one static.
    let functions = unsafe {
        let open = || -> Result<Functions, libloading::Error> {
            let library = Library::new(LIBRARY)?;
            let version: unsafe extern "C" fn() -> *const c_char = *library.get(b"imb_get_version_str")?;
            Ok(Functions {
                alloc: *library.get(b"alloc_mb_mgr")?,
                free: *library.get(b"free_mb_mgr")?,
                init: *library.get(b"init_mb_mgr_auto")?,
                version: CStr::from_ptr(version()).to_string_lossy().into_owned(),
                _library: library,
            })
        };
        open().map_err(|error| missing(error.to_string()))?
    };
    if !functions.version.starts_with(RELEASE) {
        return Err(missing(format!("found version {}, know only {RELEASE}x", functions.version)));
    }
    Ok(functions)
}

/// Whether the library is on this machine in the version that we know, and how to install it when not.
pub fn available() -> Result<(), Missing> {
    functions().map(|_| ())
}

/// The version of the loaded library, such as `1.3.0`; empty when there is none.
pub fn version() -> String {
    functions().map(|functions| functions.version.clone()).unwrap_or_default()
}

/// Expanded keys, aligned as the library wants them.
#[derive(Clone)]
#[repr(align(64))]
struct Schedule(#[expect(dead_code, reason = "written and read by the library only")] [u8; 16 * 15]);

/// An AES key, expanded for both directions.
#[derive(Clone)]
pub struct Key {
    encrypt: Box<Schedule>,
    decrypt: Box<Schedule>,
    key_bytes: usize,
}

/// A mode without authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Electronic codebook.
    Ecb,
    /// Cipher block chaining.
    Cbc,
    /// Counter mode over a 128-bit big-endian counter.
    Ctr,
}

/// One message of AES-CCM.
pub struct CcmMessage<'a> {
    /// The key, 16 or 32 bytes long.
    pub key: &'a Key,
    /// 7 to 13 bytes.
    pub nonce: &'a [u8],
    /// At most 46 bytes.
    pub aad: &'a [u8],
    /// The message, in place.
    pub data: &'a mut [u8],
    /// The tag: written when encrypting, compared when decrypting.
    pub tag: &'a mut [u8],
}

/// One message without authentication.
pub struct Message<'a> {
    /// The key.
    pub key: &'a Key,
    /// A block, or empty for ECB.
    pub iv: &'a [u8],
    /// The message, in place.
    pub data: &'a mut [u8],
}

/// A queue of jobs and the lanes behind it.
pub struct Manager {
    functions: &'static Functions,
    raw: *mut layout::Manager,
}

// SAFETY: a manager belongs to one value, is used through `&mut` only, and the library ties none to a thread.
unsafe impl Send for Manager {}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: `raw` came from alloc_mb_mgr and is freed once.
        unsafe { (self.functions.free)(self.raw) }
    }
}

impl Manager {
    /// A manager with the kernels that the library chooses for this processor.
    pub fn new() -> Result<Manager, Error> {
        let functions = functions()?;
        // SAFETY: no flag is set; a null result is handled, everything else is a manager.
        let raw = unsafe { (functions.alloc)(0) };
        if raw.is_null() {
            return Err(Error::Refused("alloc_mb_mgr"));
        }
        let manager = Manager { functions, raw };
        let mut arch = 0;
        // SAFETY: `raw` is a manager of this library; it fills the table of functions and tells its choice in `arch`.
        let status = unsafe {
            (functions.init)(raw, &mut arch);
            (*raw).imb_errno
        };
        if status == 0 { Ok(manager) } else { Err(Error::Refused("init_mb_mgr_auto")) }
    }

    /// Expands a key of 16, 24 or 32 bytes.
    pub fn key(&self, key: &[u8]) -> Result<Key, Error> {
        // SAFETY: `raw` is an initialised manager.
        let table = unsafe { &*self.raw };
        let expand: ExpandKey = match key.len() {
            16 => table.keyexp_128,
            24 => table.keyexp_192,
            32 => table.keyexp_256,
            _ => return Err(Error::Length),
        };
        let expand = expand.ok_or(Error::Refused("keyexp"))?;
        let mut expanded =
            Key { encrypt: Box::new(Schedule([0; 240])), decrypt: Box::new(Schedule([0; 240])), key_bytes: key.len() };
        let (encrypt, decrypt): (*mut Schedule, *mut Schedule) = (&mut *expanded.encrypt, &mut *expanded.decrypt);
        // SAFETY: the function was chosen by the key's length; both schedules hold the 15 round keys of the longest key
        // and are aligned to 64 bytes (16 are asked for).
        unsafe { expand(key.as_ptr().cast(), encrypt.cast(), decrypt.cast()) };
        Ok(expanded)
    }

    /// Encrypts or decrypts all messages. When decrypting, the result counts the tags that were wrong; unlike ours, the
    /// library hands out the plaintext then.
    pub fn ccm(&mut self, direction: Direction, messages: &mut [CcmMessage<'_>]) -> Result<usize, Error> {
        for message in &*messages {
            let lengths_fit = matches!(message.key.key_bytes, 16 | 32)
                && (7..=13).contains(&message.nonce.len())
                && (4..=16).contains(&message.tag.len())
                && message.tag.len() % 2 == 0
                && message.aad.len() <= 46;
            if !lengths_fit {
                return Err(Error::Length);
            }
            if message.data.len() > MAX_MESSAGE_BYTES {
                return Err(Error::MessageTooLong);
            }
        }
        let encrypt = direction == Direction::Encrypt;
        let mut wrong_tags = 0;
        // The library writes the computed tag; when decrypting it must not overwrite the expected one.
        let mut computed = if encrypt { Vec::new() } else { vec![[0u8; 16]; messages.len()] };
        self.run(messages.len(), |index, job| {
            let message = &mut messages[index];
            job.cipher_mode = layout::CIPHER_CCM;
            job.hash_alg = layout::AUTH_AES_CCM;
            job.chain_order = if encrypt { layout::ORDER_HASH_CIPHER } else { layout::ORDER_CIPHER_HASH };
            set_common(job, direction, message.key, message.nonce, message.data);
            job.hash_start_src_offset_in_bytes = 0;
            job.msg_len_to_hash_in_bytes = message.data.len() as u64;
            job.auth_tag_output = if encrypt { message.tag.as_mut_ptr() } else { computed[index].as_mut_ptr() };
            job.auth_tag_output_len_in_bytes = message.tag.len() as u64;
            job.ccm_aad = message.aad.as_ptr().cast();
            job.ccm_aad_len_in_bytes = message.aad.len() as u64;
        })?;
        for (message, computed) in messages.iter().zip(&computed) {
            wrong_tags += usize::from(computed[..message.tag.len()] != *message.tag);
        }
        Ok(wrong_tags)
    }

    /// Encrypts or decrypts all messages in ECB, CBC or CTR.
    pub fn apply(&mut self, mode: Mode, direction: Direction, messages: &mut [Message<'_>]) -> Result<(), Error> {
        for message in &*messages {
            let iv_bytes = if mode == Mode::Ecb { 0 } else { 16 };
            if message.iv.len() != iv_bytes || (mode != Mode::Ctr && !message.data.len().is_multiple_of(16)) {
                return Err(Error::Length);
            }
            if mode == Mode::Cbc && message.data.len() > MAX_MESSAGE_BYTES {
                return Err(Error::MessageTooLong);
            }
        }
        self.run(messages.len(), |index, job| {
            let message = &mut messages[index];
            job.cipher_mode = match mode {
                Mode::Ecb => layout::CIPHER_ECB,
                Mode::Cbc => layout::CIPHER_CBC,
                Mode::Ctr => layout::CIPHER_CNTR,
            };
            job.hash_alg = layout::AUTH_NULL;
            job.chain_order = layout::ORDER_CIPHER_HASH;
            set_common(job, direction, message.key, message.iv, message.data);
        })
    }

    /// Submits `count` jobs that `fill` fills in, and waits for all of them.
    fn run(&mut self, count: usize, mut fill: impl FnMut(usize, &mut Job)) -> Result<(), Error> {
        // SAFETY: `raw` is an initialised manager; the functions are copied out, so no reference outlives this line.
        let (next, submit, flush): (JobFunction, JobFunction, JobFunction) =
            unsafe { ((*self.raw).get_next_job, (*self.raw).submit_job, (*self.raw).flush_job) };
        let (Some(next), Some(submit), Some(flush)) = (next, submit, flush) else {
            return Err(Error::Refused("init_mb_mgr_auto"));
        };
        let mut completed = 0;
        let mut count_job = |job: *mut Job| {
            // SAFETY: a returned job stays readable until the ring comes round to its slot, 256 submissions later.
            if !job.is_null() && unsafe { (*job).status } == layout::STATUS_COMPLETED {
                completed += 1;
            }
        };
        for index in 0..count {
            // SAFETY: get_next_job returns a slot of the manager's ring, which is ours alone until it is submitted.
            // `fill` points it at slices that the caller borrows beyond the loop below, with lengths it has checked.
            let job = unsafe {
                fill(index, &mut *next(self.raw));
                submit(self.raw)
            };
            count_job(job);
        }
        // No job may stay behind, whatever became of the others: it would point at buffers that are gone.
        loop {
            // SAFETY: completes the oldest job, or returns null when there is none.
            let job = unsafe { flush(self.raw) };
            if job.is_null() {
                break;
            }
            count_job(job);
        }
        if completed == count { Ok(()) } else { Err(Error::Refused("submit_job")) }
    }
}

fn set_common(job: &mut Job, direction: Direction, key: &Key, iv: &[u8], data: &mut [u8]) {
    job.cipher_direction = if direction == Direction::Encrypt { layout::DIR_ENCRYPT } else { layout::DIR_DECRYPT };
    job.enc_keys = (&raw const *key.encrypt).cast::<c_void>();
    job.dec_keys = (&raw const *key.decrypt).cast::<c_void>();
    job.key_len_in_bytes = key.key_bytes as u64;
    job.dst = data.as_mut_ptr();
    job.src = job.dst;
    job.cipher_start_src_offset_in_bytes = 0;
    job.msg_len_to_cipher_in_bytes = data.len() as u64;
    job.iv = iv.as_ptr();
    job.iv_len_in_bytes = iv.len() as u64;
}
