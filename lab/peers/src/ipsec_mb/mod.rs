//! Intel's multi-buffer library, version 1.3 (Debian's libipsec-mb1), 2.0 or 3.0, opened at run time.
//!
//! It is the only other library, as far as we know, that runs CCM and CBC encryption in lanes. A [`Batch`] is made
//! before the clock starts: it checks the lengths, expands the keys and fills in the jobs. A run submits them by the
//! fastest calls of this release, which do not check them again: `submit_cipher_burst_nocheck` for CBC and CTR,
//! `submit_burst_nocheck` for the others. A batch is used by one thread.

mod layout;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

use crate::{Direction, Error, Missing, Mode, PeerCipher, TAG_BYTES};
use layout::{
    BurstFunction, CipherBurst, ExpandKey, GcmContext, GcmExpandKey, GcmFunction, GcmKey, ImbJob, RELEASES, Release,
};

pub const NAME: &str = "ipsec-mb";

/// Largest length in bytes of CCM and CBC messages: the library stores lengths in 16 bits.
pub const MAX_MESSAGE_BYTES: usize = 65_535;

const PACKAGE: &str = "libipsec-mb1";

struct Functions {
    alloc: unsafe extern "C" fn(u64) -> *mut layout::ImbManager,
    free: unsafe extern "C" fn(*mut layout::ImbManager),
    init: unsafe extern "C" fn(*mut layout::ImbManager, *mut c_int),
    version: String,
    release: &'static Release,
    /// `imb_set_session` and the offset of the field that it sets, where a release has them.
    session: Option<(SetSession, usize)>,
    _library: Library,
}

type SetSession = unsafe extern "C" fn(*mut layout::ImbManager, *mut ImbJob) -> u32;

fn functions() -> Result<&'static Functions, Missing> {
    static FUNCTIONS: OnceLock<Result<Functions, Missing>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Functions, Missing> {
    let missing = |reason: String| Missing { peer: NAME, reason, package: PACKAGE };
    if !cfg!(target_arch = "x86_64") {
        return Err(missing("it needs an x86-64 processor".into()));
    }
    let mut found = Err(missing("no release is known".into()));
    for release in &RELEASES {
        found = open(release).map_err(|error| missing(error.to_string())).and_then(|functions| {
            let (version, known) = (&functions.version, release.version);
            let is_known = version.starts_with(known);
            let unknown = missing(format!("found version {version}, know only {known}x"));
            if is_known { Ok(functions) } else { Err(unknown) }
        });
        if found.is_ok() {
            break;
        }
    }
    found
}

fn open(release: &'static Release) -> Result<Functions, libloading::Error> {
    // SAFETY: the library's initialisers have no precondition. The types are those of the prototypes in
    // intel-ipsec-mb.h. The pointers stay valid because the library is in the same static.
    unsafe {
        let library = Library::new(release.library)?;
        let session = match release.suite {
            Some(offset) => Some((*library.get::<SetSession>(b"imb_set_session")?, offset)),
            None => None,
        };
        let version: unsafe extern "C" fn() -> *const c_char = *library.get(b"imb_get_version_str")?;
        Ok(Functions {
            alloc: *library.get(b"alloc_mb_mgr")?,
            free: *library.get(b"free_mb_mgr")?,
            init: *library.get(b"init_mb_mgr_auto")?,
            version: CStr::from_ptr(version()).to_string_lossy().into_owned(),
            release,
            session,
            _library: library,
        })
    }
}

/// The version of the library on this machine, such as `1.3.0`, or how to install the supported one.
pub fn version() -> Result<String, Missing> {
    functions().map(|functions| functions.version.clone())
}

/// AES-GCM under one key, with nonces of 12 bytes, by the library's calls for one message.
pub struct Gcm {
    encrypt: GcmFunction,
    key: Box<GcmKey>,
    context: Box<GcmContext>,
}

impl PeerCipher for Gcm {
    fn new(_: Mode, _: Direction, key: &[u8]) -> Result<Gcm, Error> {
        /// The functions for this processor, for each length of keys. They need no manager.
        static FUNCTIONS: OnceLock<Result<[(GcmFunction, GcmExpandKey); 3], Error>> = OnceLock::new();
        let functions = FUNCTIONS.get_or_init(|| {
            let manager = Manager::new()?;
            let Release { gcm_encrypt, gcm_expand, .. } = manager.functions.release;
            // SAFETY: these are the offsets of three pointers each to functions of these types.
            Ok([0, 8, 16].map(|i| unsafe { (manager.function(gcm_encrypt + i), manager.function(gcm_expand + i)) }))
        });
        let functions = functions.as_ref().map_err(Clone::clone)?;
        let (encrypt, expand) = *match key.len() {
            16 => &functions[0],
            24 => &functions[1],
            32 => &functions[2],
            _ => return Err(Error::Length),
        };
        let expand = expand.ok_or(Error::Refused("gcm_pre"))?;
        let mut expanded = Box::new(GcmKey([0; 1280]));
        // SAFETY: the function matches the key's length, and the expanded key has room for the library's structure.
        unsafe { expand(key.as_ptr().cast(), &mut *expanded) };
        Ok(Gcm { encrypt, key: expanded, context: Box::new(GcmContext([0; 88])) })
    }

    fn apply(&mut self, nonce: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        Mode::Gcm.check(nonce, data.len(), tag.len())?;
        let encrypt = self.encrypt.ok_or(Error::Refused("gcm_enc"))?;
        let (text, bytes) = (data.as_mut_ptr(), data.len() as u64);
        let (nonce, tag, aad) = (nonce.as_ptr(), tag.as_mut_ptr(), b"".as_ptr());
        // SAFETY: all pointers are valid for the lengths beside them, the nonce for 12 bytes; key and context are of this library.
        unsafe { encrypt(&*self.key, &mut *self.context, text, text, bytes, nonce, aad, 0, tag, TAG_BYTES as u64) };
        Ok(())
    }
}

/// A round key, aligned to 16 bytes, as the library requires.
#[derive(Clone)]
#[repr(align(16))]
struct RoundKey(#[expect(dead_code, reason = "written and read by the library only")] [u8; 16]);

/// One message of a batch, in place.
pub struct BatchMessage<'a> {
    /// Index of the batch's key.
    pub key: usize,
    /// CCM: a nonce. CBC and CTR: a block. ECB: empty.
    pub iv: &'a [u8],
    /// Offset of the message in the buffer of a run. In CCM the tag follows the message: encryption writes it, decryption
    /// compares it.
    pub start: usize,
    pub bytes: usize,
}

/// The library's queue of jobs, and its lanes.
struct Manager {
    functions: &'static Functions,
    raw: *mut layout::ImbManager,
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: `raw` came from alloc_mb_mgr and is freed once.
        unsafe { (self.functions.free)(self.raw) }
    }
}

impl Manager {
    /// A manager with the kernels that the library chooses for this processor.
    fn new() -> Result<Manager, Error> {
        let functions = functions()?;
        // SAFETY: no flag is set; the result is a manager or null, which is handled.
        let raw = unsafe { (functions.alloc)(0) };
        if raw.is_null() {
            return Err(Error::Refused("alloc_mb_mgr"));
        }
        let manager = Manager { functions, raw };
        let mut arch = 0;
        // SAFETY: `raw` is a manager of this library. The call fills the table of functions and writes the chosen
        // architecture to `arch`.
        let status = unsafe {
            (functions.init)(raw, &mut arch);
            (*raw).imb_errno
        };
        if status == 0 { Ok(manager) } else { Err(Error::Refused("init_mb_mgr_auto")) }
    }

    /// A function pointer of the manager.
    ///
    /// # Safety
    /// `T` must be the type of the pointer at `offset`.
    unsafe fn function<T>(&self, offset: usize) -> T {
        // SAFETY: `raw` is an initialised manager, larger than any offset of a field, and the caller knows the type.
        unsafe { self.raw.byte_add(offset).cast::<T>().read() }
    }

    /// Expands keys of one length, 16, 24 or 32 bytes, for both directions. Returns all schedules of each direction
    /// in one vector.
    fn expand(&self, keys: &[&[u8]]) -> Result<[Vec<RoundKey>; 2], Error> {
        // SAFETY: `raw` is an initialised manager.
        let table = unsafe { &*self.raw };
        let key_bytes = keys.first().map_or(0, |key| key.len());
        let expand: ExpandKey = match key_bytes {
            16 => table.keyexp_128,
            24 => table.keyexp_192,
            32 => table.keyexp_256,
            _ => return Err(Error::Length),
        };
        let expand = expand.ok_or(Error::Refused("keyexp"))?;
        let all = vec![RoundKey([0; 16]); keys.len() * round_keys(key_bytes)];
        let [mut encrypt, mut decrypt] = [all.clone(), all];
        let schedules =
            encrypt.chunks_exact_mut(round_keys(key_bytes)).zip(decrypt.chunks_exact_mut(round_keys(key_bytes)));
        for (key, (encrypt, decrypt)) in keys.iter().zip(schedules) {
            if key.len() != key_bytes {
                return Err(Error::Length);
            }
            // SAFETY: the function matches the key's length. Both schedules have room for its round keys, aligned to 16 bytes.
            unsafe { expand(key.as_ptr().cast(), encrypt.as_mut_ptr().cast(), decrypt.as_mut_ptr().cast()) };
        }
        Ok([encrypt, decrypt])
    }
}

fn round_keys(key_bytes: usize) -> usize {
    key_bytes / 4 + 7
}

/// The data from which a job is filled in. It is small, because a run reads all of them.
struct PreparedJob {
    start: usize,
    bytes: usize,
    encryption_key: *const c_void,
    decryption_key: *const c_void,
    iv: [u8; 16],
    iv_bytes: usize,
    /// The tag that decryption computes. The library must not write it over the expected tag.
    computed: [u8; TAG_BYTES],
}

/// Messages of one mode and direction, ready to be encrypted or decrypted repeatedly in a buffer of the caller.
pub struct Batch {
    manager: Manager,
    mode: Mode,
    direction: Direction,
    key_bytes: usize,
    messages: Vec<PreparedJob>,
    /// Memory of jobs for `submit_cipher_burst_nocheck`, which does not use the library's ring.
    jobs: Vec<usize>,
    /// What `imb_set_session` sets in a job; it is the same in all.
    suite: Option<[u32; 2]>,
    /// Least length of a buffer in bytes.
    buffer_bytes: usize,
    /// Round keys to which the messages point.
    _keys: [Vec<RoundKey>; 2],
}

impl Batch {
    /// Checks all messages and expands the keys, which have one length.
    pub fn new(
        mode: Mode,
        direction: Direction,
        keys: &[&[u8]],
        messages: &[BatchMessage<'_>],
    ) -> Result<Batch, Error> {
        let manager = Manager::new()?;
        let expanded = manager.expand(keys)?;
        let key_bytes = keys[0].len();
        let (mut buffer_bytes, tag_bytes) = (0, if mode == Mode::Ccm { TAG_BYTES } else { 0 });
        for message in messages {
            check(mode, key_bytes, message)?;
            let end = message.start.checked_add(message.bytes + tag_bytes).ok_or(Error::Length)?;
            buffer_bytes = buffer_bytes.max(end);
            if message.key >= keys.len() {
                return Err(Error::Length);
            }
        }
        let prepare = |message: &BatchMessage<'_>| {
            let key = |keys: &[RoundKey]| (&raw const keys[message.key * round_keys(key_bytes)]).cast();
            let mut iv = [0; 16];
            iv[..message.iv.len()].copy_from_slice(message.iv);
            PreparedJob {
                start: message.start,
                bytes: message.bytes,
                encryption_key: key(&expanded[0]),
                decryption_key: key(&expanded[1]),
                iv,
                iv_bytes: message.iv.len(),
                computed: [0; TAG_BYTES],
            }
        };
        let messages: Vec<PreparedJob> = messages.iter().map(prepare).collect();
        let jobs = if matches!(mode, Mode::Cbc | Mode::Ctr) { messages.len() } else { 0 };
        let jobs = vec![0; jobs * manager.functions.release.job_bytes / size_of::<usize>()];
        Ok(Batch { manager, mode, direction, key_bytes, messages, jobs, suite: None, buffer_bytes, _keys: expanded })
    }

    /// Encrypts or decrypts all messages, which are in `buffer` at the positions given to [`Batch::new`]. A wrong tag
    /// is an error. Unlike Tress, the library leaves the plaintext in the buffer then.
    pub fn run(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        if buffer.len() < self.buffer_bytes {
            return Err(Error::Length);
        }
        let base = buffer.as_mut_ptr();
        let completed = match self.mode {
            Mode::Cbc | Mode::Ctr => self.cipher_burst(base)?,
            _ => self.bursts(base)?,
        };
        if completed != self.messages.len() {
            return Err(Error::Refused("submit_burst"));
        }
        if self.mode == Mode::Ccm && self.direction == Direction::Decrypt {
            let is_wrong = |PreparedJob { start, bytes, computed, .. }: &PreparedJob| {
                buffer[start + bytes..].first_chunk() != Some(computed)
            };
            if self.messages.iter().any(is_wrong) {
                return Err(Error::Authentication);
            }
        }
        Ok(())
    }

    /// Submits jobs in memory of this batch, all in one call.
    fn cipher_burst(&mut self, base: *mut u8) -> Result<usize, Error> {
        let Release { submit_cipher_burst_nocheck, job_bytes, .. } = *self.manager.functions.release;
        // SAFETY: this is the pointer's type.
        let submit: CipherBurst = unsafe { self.manager.function(submit_cipher_burst_nocheck) };
        let submit = submit.ok_or(Error::Refused("init_mb_mgr_auto"))?;
        let jobs = self.jobs.as_mut_ptr().cast::<ImbJob>();
        if self.messages.is_empty() {
            return Ok(0);
        }
        for index in 0..self.messages.len() {
            // SAFETY: the job is in memory of this batch, which has room for each message and is zero at first, and zero is valid for a
            // job's numbers and pointers. It is not submitted, and `run` has checked the buffer's length.
            unsafe { self.fill(index, jobs.byte_add(index * job_bytes), base) };
        }
        let (count, key_bytes) = (self.messages.len() as u32, self.key_bytes as c_int);
        // SAFETY: `new` has checked the lengths. Keys and initialisation vectors are in vectors of this batch,
        // messages in the buffer.
        let completed = unsafe {
            let ImbJob { cipher_mode, cipher_direction, .. } = *jobs;
            submit(self.manager.raw, jobs, count, cipher_mode, cipher_direction, key_bytes)
        };
        Ok(completed as usize)
    }

    /// Submits jobs in the manager's ring.
    fn bursts(&mut self, base: *mut u8) -> Result<usize, Error> {
        let manager = self.manager.raw;
        let Release { get_next_burst, submit_burst_nocheck, .. } = *self.manager.functions.release;
        // SAFETY: these are the pointers' types.
        let bursts: [BurstFunction; 2] =
            unsafe { [get_next_burst, submit_burst_nocheck].map(|offset| self.manager.function(offset)) };
        // SAFETY: the manager is initialised.
        let ([Some(next), Some(submit)], Some(flush)) = (bursts, unsafe { (*manager).flush_job }) else {
            return Err(Error::Refused("init_mb_mgr_auto"));
        };
        let mut ring = [ptr::null_mut::<ImbJob>(); layout::MAX_BURST];
        let (mut completed, mut submitted) = (0, 0);
        while submitted < self.messages.len() {
            let wanted = (self.messages.len() - submitted).min(layout::MAX_BURST);
            // SAFETY: the array has room for `wanted` pointers.
            let count = unsafe { next(manager, wanted as u32, ring.as_mut_ptr()) } as usize;
            if count == 0 {
                // The ring is full. SAFETY: the call completes the oldest job, or returns null if there is no job.
                if unsafe { flush(manager) }.is_null() {
                    break;
                }
                completed += 1;
                continue;
            }
            for (place, &job) in ring[..count].iter().enumerate() {
                // SAFETY: the library does not use the job until it is submitted, and `run` has checked the buffer's
                // length. The buffer is borrowed until all jobs are complete.
                unsafe {
                    self.fill(submitted + place, job, base);
                    self.set_suite(job);
                }
            }
            // SAFETY: all of these jobs are filled in, and `new` has checked the lengths.
            completed += unsafe { submit(manager, count as u32, ring.as_mut_ptr()) } as usize;
            submitted += count;
        }
        // No job may stay in the ring, even after an error: it would point to buffers that no longer exist. The jobs
        // are flushed one by one, because flush_burst of this release miscounts the jobs of a ring that has wrapped
        // around.
        // SAFETY: the call completes the oldest job, or returns null if there is no job.
        while !unsafe { flush(manager) }.is_null() {
            completed += 1;
        }
        Ok(completed)
    }

    /// Writes what bursts of later releases need in a job that is filled in.
    ///
    /// # Safety
    /// As for [`Self::fill`].
    #[inline(always)]
    unsafe fn set_suite(&mut self, job: *mut ImbJob) {
        let Some((set_session, offset)) = self.manager.functions.session else { return };
        // SAFETY: the caller guarantees a job of this library, which has eight bytes at the offset.
        unsafe {
            let place = job.byte_add(offset).cast::<[u32; 2]>();
            match self.suite {
                Some(suite) => place.write(suite),
                None => {
                    set_session(self.manager.raw, job);
                    self.suite = Some(place.read());
                }
            }
        }
    }

    /// Writes every field that the mode reads.
    ///
    /// # Safety
    /// The library must not be using `job`, and `base` must point to a buffer of at least `buffer_bytes` bytes.
    #[inline(always)]
    unsafe fn fill(&mut self, index: usize, job: *mut ImbJob, base: *mut u8) {
        let message = &mut self.messages[index];
        let encrypts = self.direction == Direction::Encrypt;
        // SAFETY: the caller guarantees that `job` is free and that message and tag are inside the buffer at `base`.
        unsafe {
            let (job, data) = (&mut *job, base.add(message.start));
            (job.cipher_mode, job.hash_alg) = match self.mode {
                Mode::Ecb => (layout::CIPHER_ECB, layout::AUTH_NULL),
                Mode::Cbc => (layout::CIPHER_CBC, layout::AUTH_NULL),
                Mode::Ctr => (layout::CIPHER_CNTR, layout::AUTH_NULL),
                Mode::Ccm | Mode::Gcm => (layout::CIPHER_CCM, layout::AUTH_AES_CCM),
            };
            job.cipher_direction = if encrypts { layout::DIR_ENCRYPT } else { layout::DIR_DECRYPT };
            let hash_first = self.mode == Mode::Ccm && encrypts;
            job.chain_order = if hash_first { layout::ORDER_HASH_CIPHER } else { layout::ORDER_CIPHER_HASH };
            (job.enc_keys, job.dec_keys) = (message.encryption_key, message.decryption_key);
            job.key_len_in_bytes = self.key_bytes as u64;
            (job.src, job.dst) = (data, data);
            job.cipher_start_src_offset_in_bytes = 0;
            job.msg_len_to_cipher_in_bytes = message.bytes as u64;
            (job.iv, job.iv_len_in_bytes) = (message.iv.as_ptr(), message.iv_bytes as u64);
            if self.mode == Mode::Ccm {
                job.hash_start_src_offset_in_bytes = 0;
                job.msg_len_to_hash_in_bytes = message.bytes as u64;
                let computed = message.computed.as_mut_ptr();
                job.auth_tag_output = if encrypts { data.add(message.bytes) } else { computed };
                job.auth_tag_output_len_in_bytes = TAG_BYTES as u64;
                (job.ccm_aad, job.ccm_aad_len_in_bytes) = (b"".as_ptr().cast(), 0);
            }
        }
    }
}

fn check(mode: Mode, key_bytes: usize, message: &BatchMessage<'_>) -> Result<(), Error> {
    mode.check(message.iv, message.bytes, TAG_BYTES)?;
    match mode {
        Mode::Gcm => Err(Error::Refused("a batch")),
        Mode::Ccm if key_bytes == 24 => Err(Error::Length),
        Mode::Cbc | Mode::Ccm if message.bytes > MAX_MESSAGE_BYTES => Err(Error::MessageTooLong),
        _ => Ok(()),
    }
}
