//! Batches of messages: every message is a lane, an independent chain in a slot of a vector register.
//!
//! Each call converts the caller's jobs to jobs of `tress_cipher::lanes`, grouped by the type of the cipher, in one
//! allocation for each type.

use std::mem::MaybeUninit;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::tress_cipher::lanes::{Aead, AeadJob, cbc};
use ::tress_cipher::{Aad, CcmCipher, Error, Tag, for_every_cipher};
use tress_lanes::{MAX_THREADS, NonceOfKey, Pool};

use crate::ciphers::{CipherType, cipher_of, if_ccm, tress_cipher};
use crate::failure::{Failure, cipher_status};
use crate::modes::check_cbc;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// One message for `tress_ccm_encrypt_jobs`, `tress_ccm_decrypt_jobs` or `tress_chacha20poly1305_jobs`. `output` and
/// `tag_output` must not overlap any other buffer of any job, except that `output` may overlap `input` of the same job.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_ccm_job {
    /// Cipher with blocks of 128 bits. Jobs that share a handle are faster than jobs with separate handles. Not used by
    /// `tress_chacha20poly1305_jobs`.
    pub cipher: *const tress_cipher,
    /// Nonce, which must never be used twice with a key.
    pub nonce: *const u8,
    /// Length of `nonce` in bytes, 7 to 13; for ChaCha20-Poly1305 12.
    pub nonce_length: usize,
    /// Associated data, which is authenticated and not encrypted. NULL if there is none.
    pub aad: *const u8,
    /// Length of `aad` in bytes.
    pub aad_length: usize,
    /// Message to encrypt or decrypt.
    pub input: *const u8,
    /// Buffer for the result. In place (the same as `input`) is fastest.
    pub output: *mut u8,
    /// Length of `input` and `output` in bytes.
    pub length: usize,
    /// Tag to verify, for decryption.
    pub tag: *const u8,
    /// Buffer for the tag, for encryption.
    pub tag_output: *mut u8,
    /// Length of the tag in bytes: 4, 6, 8, 10, 12, 14 or 16; for ChaCha20-Poly1305 16. The receiver must know it, and never take
    /// it from a message.
    pub tag_length: usize,
    /// Reserved; must be zero.
    pub reserved: u64,
    /// Output: status of this job.
    pub status: tress_status,
}

/// One message for `tress_cbc_encrypt_jobs`. `output` must not overlap any other buffer of any job, except `input` of the same
/// job.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_cbc_job {
    /// Any cipher.
    pub cipher: *const tress_cipher,
    /// Initialisation vector: one block that nobody can predict.
    pub iv: *const u8,
    /// Length of `iv` in bytes, one block.
    pub iv_length: usize,
    /// Message to encrypt.
    pub input: *const u8,
    /// Buffer for the result. In place (the same as `input`) is fastest.
    pub output: *mut u8,
    /// Length of `input` and `output` in bytes, a multiple of the block size.
    pub length: usize,
    /// Reserved; must be zero.
    pub reserved: u64,
    /// Output: status of this job.
    pub status: tress_status,
}

/// Encrypts all messages in lanes and writes the `status` of each job. Lengths, keys and ciphers may be mixed; messages under
/// one type of cipher run in parallel lanes. 16 messages fill the widest registers (32 with AVX-VNNI). Runs on the calling thread.
/// Any number of threads may call it at the same time, each with separate jobs.
///
/// Returns `TRESS_OK` if every job is `TRESS_OK`, otherwise `TRESS_JOBS`. Writes the number of failed jobs to `failed`, unless
/// that is NULL. The status of a failed job is one that `tress_ccm_encrypt` returns, `TRESS_ARGUMENT` if `reserved` is not
/// zero, or `TRESS_MEMORY`. If two jobs have the same handle and nonce, the call and every job get `TRESS_NONCE_REPEATED`.
/// If the call returns `TRESS_NONCE_REPEATED`, `TRESS_NULL` or `TRESS_LENGTH`, no job has run. A NULL inside a job is an error of
/// that job alone.
///
/// # Safety
/// `jobs` points to `count` jobs, each as `tress_ccm_encrypt` needs it; no job writes to memory that another job reads or
/// writes; `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_encrypt_jobs(
    jobs: *mut tress_ccm_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    guard(|| unsafe { run_ccm_jobs(jobs, count, failed, true) })
}

/// Verifies and decrypts all messages. A forged message gets the status `TRESS_AUTHENTICATION` and its output is wiped; other
/// jobs are not affected. Nonces are not compared. Otherwise as `tress_ccm_encrypt_jobs`.
///
/// # Safety
/// As `tress_ccm_encrypt_jobs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_decrypt_jobs(
    jobs: *mut tress_ccm_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    guard(|| unsafe { run_ccm_jobs(jobs, count, failed, false) })
}

/// `tress_ccm_encrypt_jobs` on up to `threads` threads, including the calling one; at most 1024, and 0 means one for each
/// core. A batch of less than about 256 KiB runs on the calling thread alone. The threads that a call starts wait for the next
/// call of any thread, and do not keep the process from ending. After a `fork`, the child starts new ones. If the system
/// refuses to start threads, fewer threads do the work.
///
/// Returns the errors of `tress_ccm_encrypt_jobs`, and `TRESS_ARGUMENT` for more than 1024 threads; then no job has run.
///
/// # Safety
/// As `tress_ccm_encrypt_jobs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_encrypt_jobs_threads(
    jobs: *mut tress_ccm_job,
    count: usize,
    threads: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    guard(|| unsafe {
        run_jobs_on_threads(jobs, count, threads, failed, true, None, |jobs, count| ccm_passes(jobs, count, true))
    })
}

/// `tress_ccm_decrypt_jobs` on several threads, as `tress_ccm_encrypt_jobs_threads`.
///
/// # Safety
/// As `tress_ccm_encrypt_jobs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_decrypt_jobs_threads(
    jobs: *mut tress_ccm_job,
    count: usize,
    threads: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    guard(|| unsafe {
        run_jobs_on_threads(jobs, count, threads, failed, false, None, |jobs, count| ccm_passes(jobs, count, false))
    })
}

/// Encrypts all messages in CBC. For decryption, `tress_cbc_decrypt` of one message already runs in parallel. The status of a
/// failed job is one that `tress_cbc_encrypt` returns, `TRESS_ARGUMENT` or `TRESS_MEMORY`. Otherwise as
/// `tress_ccm_encrypt_jobs`.
///
/// # Safety
/// `jobs` points to `count` jobs, each as `tress_cbc_encrypt` needs it; no job writes to memory that another job reads or
/// writes; `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cbc_encrypt_jobs(
    jobs: *mut tress_cbc_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    guard(|| unsafe { run_cbc_jobs(jobs, count, failed) })
}

/// Counts of one pass over the jobs, which runs those of one type of cipher.
pub(crate) struct PassCounts {
    pub(crate) failures: usize,
    /// Number of jobs of other types, which later passes run.
    others: usize,
}

type CcmPass = unsafe fn(*mut tress_ccm_job, usize, bool, bool) -> PassCounts;

macro_rules! ccm_passes {
    ($($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        /// A pass for each type of cipher that supports CCM, AES first.
        const CCM_PASSES: &[Option<CcmPass>] = &[$(if_ccm!($kind, ccm_pass::<$type>),)*];
    };
}

for_every_cipher!([ccm_passes]);

/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn run_ccm_jobs(
    jobs: *mut tress_ccm_job,
    count: usize,
    failed: *mut usize,
    encrypt: bool,
) -> Result<(), Failure> {
    raw::check_array(jobs, count)?;
    if encrypt {
        // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
        unsafe { check_nonces(jobs, count, failed, None) }?;
    }
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    unsafe { jobs_outcome(ccm_passes(jobs, count, encrypt), failed) }
}

/// Refuses all jobs if two of them have one key and one nonce. The key is the handle of a job, or `shared_key`.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn check_nonces(
    jobs: *mut tress_ccm_job,
    count: usize,
    failed: *mut usize,
    shared_key: Option<*const tress_cipher>,
) -> Result<(), Failure> {
    // SAFETY: `index` is below `count`, and the caller promises `count` jobs.
    let nonce = |index: usize| unsafe { nonce_of(jobs.add(index), shared_key) };
    let refusal = match tress_lanes::repeated_nonce((0..count).map(nonce)) {
        Ok(None) => return Ok(()),
        Ok(Some(_)) => TRESS_NONCE_REPEATED,
        Err(_) => TRESS_MEMORY,
    };
    for index in 0..count {
        // SAFETY: `index` is below `count`, and the caller promises `count` jobs.
        unsafe { (&raw mut (*jobs.add(index)).status).write(refusal) };
    }
    // SAFETY: the caller promises that `failed` is NULL or writable.
    unsafe { jobs_outcome(count, failed) }.map_err(|_| refusal.into())
}

/// Returns the key and nonce of a job, for the search for repetitions.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
pub(crate) unsafe fn nonce_of(job: *const tress_ccm_job, shared_key: Option<*const tress_cipher>) -> NonceOfKey {
    // SAFETY: the caller promises a job.
    let (cipher, nonce, bytes) = unsafe { ((*job).cipher, (*job).nonce, (*job).nonce_length) };
    // ChaCha20-Poly1305 has shared keys and one length.
    let lengths = if shared_key.is_some() { 12..=12 } else { 7..=13 };
    let cipher = shared_key.unwrap_or(cipher);
    if nonce.is_null() || cipher.is_null() || !lengths.contains(&bytes) {
        // The job will be refused. Its address takes the place of the key, so that it equals no other job.
        return NonceOfKey::new(job, &[]);
    }
    // SAFETY: `nonce` is not NULL, and the caller promises `bytes` readable bytes there.
    NonceOfKey::new(cipher, unsafe { slice::from_raw_parts(nonce, bytes) })
}

/// A job whose status may be uninitialised.
#[repr(transparent)]
struct SharedJob(MaybeUninit<tress_ccm_job>);

// SAFETY: the functions require that no other job uses the memory that a job writes to. The rest, handles included, is only read.
unsafe impl Send for SharedJob {}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
pub(crate) unsafe fn run_jobs_on_threads(
    jobs: *mut tress_ccm_job,
    count: usize,
    threads: usize,
    failed: *mut usize,
    encrypt: bool,
    shared_key: Option<*const tress_cipher>,
    passes: impl Fn(*mut tress_ccm_job, usize) -> usize + Sync,
) -> Result<(), Failure> {
    let threads = self::threads(threads)?;
    raw::check_array(jobs, count)?;
    let slots: &mut [SharedJob] = match count {
        0 => &mut [],
        // SAFETY: the caller promises `count` jobs, and `SharedJob` is a transparent wrapper of a job that may be uninitialised.
        _ => unsafe { slice::from_raw_parts_mut(jobs.cast(), count) },
    };
    let bytes = |SharedJob(job): &SharedJob| {
        let job = job.as_ptr();
        // SAFETY: every field but the status is initialised.
        unsafe { (*job).length.saturating_add((*job).aad_length) }
    };
    if encrypt {
        // SAFETY: the slots are the caller's `count` jobs.
        unsafe { check_nonces(slots.as_mut_ptr().cast(), count, failed, shared_key) }?;
    }
    let failures = AtomicUsize::new(0);
    Pool::shared().for_each_group(slots, bytes, threads, |slots| {
        // The slots are a part of the caller's jobs, which no other thread uses.
        failures.fetch_add(passes(slots.as_mut_ptr().cast(), slots.len()), Ordering::Relaxed);
    });
    // SAFETY: the caller promises that `failed` is NULL or writable.
    unsafe { jobs_outcome(failures.into_inner(), failed) }
}

/// Runs the jobs, and returns the number of failed ones.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
pub(crate) unsafe fn ccm_passes(jobs: *mut tress_ccm_job, count: usize, encrypt: bool) -> usize {
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths.
    unsafe {
        // Most callers have one type of cipher.
        let mut failures = 0;
        for (number, pass) in CCM_PASSES.iter().flatten().enumerate() {
            let done = pass(jobs, count, number == 0, encrypt);
            failures += done.failures;
            if done.others == 0 {
                break;
            }
        }
        failures
    }
}

/// Number of jobs that are prepared at a time: many times the lanes of the widest register, few enough for the level-2
/// cache, and small enough that the allocator reuses memory. Memory that it fetched from the system in every call would cost
/// more than a short message.
const BATCH_JOBS: usize = 512;
/// Bytes that are copied from input to output before a batch runs, so that they are still in a cache when it does.
const BATCH_COPIED_BYTES: usize = 1 << 20;

/// The key of a job.
pub(crate) enum JobKey<'a, A> {
    /// It has the type of the pass.
    Own(&'a A),
    /// Another pass runs the job.
    Other,
    /// No pass can run the job.
    Refused(tress_status),
}

/// Runs the jobs whose cipher has the type `F`. The first pass also refuses jobs that no pass can run.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn ccm_pass<F: CipherType + CcmCipher>(
    jobs: *mut tress_ccm_job,
    count: usize,
    first: bool,
    encrypt: bool,
) -> PassCounts {
    // SAFETY: the caller promises jobs with valid handles.
    let key = |job: *const tress_ccm_job| match unsafe { cipher_of((*job).cipher) }.map(|c| (F::of(&c.keyed), c)) {
        Ok((Some(cipher), _)) => JobKey::Own(cipher),
        Ok((None, other)) if other.has_ccm() => JobKey::Other,
        Ok(_) => JobKey::Refused(TRESS_NO_CCM),
        Err(status) => JobKey::Refused(status),
    };
    // SAFETY: the contract is the same.
    unsafe { aead_pass::<F>(jobs, count, first, encrypt, key) }
}

/// Runs the jobs whose key has the type `A`. The first pass also refuses jobs that no pass can run.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for jobs with keys that `key` accepts.
pub(crate) unsafe fn aead_pass<'a, A: Aead + 'a>(
    jobs: *mut tress_ccm_job,
    count: usize,
    first: bool,
    encrypt: bool,
    key: impl Fn(*const tress_ccm_job) -> JobKey<'a, A>,
) -> PassCounts {
    // One of the two stays empty.
    let (mut seals, mut opens) = (Vec::<A::Seal<'a>>::new(), Vec::<A::Open<'a>>::new());
    let most = count.min(BATCH_JOBS);
    let memory = if encrypt { seals.try_reserve_exact(most) } else { opens.try_reserve_exact(most) };
    let mut pass = PassCounts { failures: 0, others: 0 };
    let mut next = 0;
    while next < count {
        let (start, mut copied) = (next, 0);
        seals.clear();
        opens.clear();
        while next < count && seals.len() + opens.len() < BATCH_JOBS && copied < BATCH_COPIED_BYTES {
            // SAFETY: `next` is below `count`, and the caller promises `count` jobs. Fields are accessed one by one,
            // because a status may be any number and no reference to the whole job may exist.
            unsafe {
                let job = jobs.add(next);
                next += 1;
                let status = match key(job) {
                    JobKey::Own(_) if memory.is_err() => TRESS_MEMORY,
                    JobKey::Own(aead) => {
                        let ready = if encrypt {
                            seal_job(job, aead).map(|ready| seals.push(ready))
                        } else {
                            open_job(job, aead).map(|ready| opens.push(ready))
                        };
                        match ready {
                            Ok(()) => {
                                copied += copied_bytes((*job).input, (*job).output, (*job).length);
                                TRESS_OK
                            }
                            Err(status) => status,
                        }
                    }
                    JobKey::Other => {
                        pass.others += 1;
                        continue;
                    }
                    JobKey::Refused(_) if !first => continue,
                    JobKey::Refused(status) => status,
                };
                (&raw mut (*job).status).write(status);
                pass.failures += usize::from(status != TRESS_OK);
            }
        }
        if encrypt {
            // `check_nonces`, or the filler, has compared all nonces.
            A::seal_without_nonce_check(&mut seals);
        } else if let Err(forged) = A::open(&mut opens) {
            pass.failures += forged.count;
            // `opens` has the order of the caller's jobs.
            let mut ran = opens.iter();
            for index in start..next {
                // SAFETY: `index` is below `count`; the loop above wrote the status of every job of this type.
                unsafe {
                    let job = jobs.add(index);
                    let mine = matches!(key(job), JobKey::Own(_));
                    if mine && (*job).status == TRESS_OK && ran.next().is_some_and(|ran| ran.result().is_err()) {
                        (&raw mut (*job).status).write(TRESS_AUTHENTICATION);
                    }
                }
            }
        }
    }
    pass
}

/// Number of bytes that [`raw::in_place`] copies.
fn copied_bytes(input: *const u8, output: *const u8, length: usize) -> usize {
    if std::ptr::eq(input, output) { 0 } else { length }
}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn seal_job<A: Aead>(job: *const tress_ccm_job, aead: &A) -> Result<A::Seal<'_>, tress_status> {
    // SAFETY: the caller promises a job with valid pointers and lengths.
    unsafe {
        let tag = raw::bytes_mut((*job).tag_output, (*job).tag_length)?;
        prepare_job::<A, _>(job, |nonce, aad, data| aead.to_seal(nonce.into(), aad, data, tag.into()))
    }
}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn open_job<A: Aead>(job: *const tress_ccm_job, aead: &A) -> Result<A::Open<'_>, tress_status> {
    // SAFETY: the caller promises a job with valid pointers and lengths.
    unsafe {
        let bytes = (*job).tag_length;
        let tag = Tag::new(raw::bytes((*job).tag, bytes)?, bytes).map_err(cipher_status)?;
        prepare_job::<A, _>(job, |nonce, aad, data| aead.to_open(nonce.into(), aad, data, tag))
    }
}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn prepare_job<'a, A: Aead, T>(
    job: *const tress_ccm_job,
    new: impl FnOnce(&'a [u8], Aad<'a>, &'a mut [u8]) -> Result<T, Error>,
) -> Result<T, tress_status> {
    // SAFETY: the caller promises a job with valid pointers and lengths.
    unsafe {
        if (*job).reserved != 0 {
            return Err(TRESS_ARGUMENT);
        }
        let nonce = raw::bytes((*job).nonce, (*job).nonce_length)?;
        let aad = raw::bytes((*job).aad, (*job).aad_length)?;
        raw::check_pointer((*job).input, (*job).length)?;
        raw::check_pointer((*job).output, (*job).length)?;
        A::check_lengths(nonce.into(), (*job).length, (*job).tag_length).map_err(cipher_status)?;
        let data = raw::in_place((*job).input, (*job).output, (*job).length)?;
        new(nonce, Aad(aad), data).map_err(cipher_status)
    }
}

macro_rules! cbc_passes {
    ($($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        /// A pass for each type of cipher, AES first.
        const CBC_PASSES: &[unsafe fn(*mut tress_cbc_job, usize, bool) -> PassCounts] = &[$(cbc_pass::<$type>,)*];
    };
}

for_every_cipher!([cbc_passes]);

/// # Safety
/// As [`tress_cbc_encrypt_jobs`].
unsafe fn run_cbc_jobs(jobs: *mut tress_cbc_job, count: usize, failed: *mut usize) -> Result<(), Failure> {
    raw::check_array(jobs, count)?;
    // SAFETY: the caller promises `count` jobs with valid pointers and lengths.
    unsafe {
        let PassCounts { mut failures, others: left } = CBC_PASSES[0](jobs, count, true);
        if left > 0 {
            failures += CBC_PASSES[1..].iter().map(|pass| pass(jobs, count, false).failures).sum::<usize>();
        }
        jobs_outcome(failures, failed)
    }
}

/// As [`ccm_pass`]; every cipher has CBC.
///
/// # Safety
/// As [`tress_cbc_encrypt_jobs`].
unsafe fn cbc_pass<F: CipherType>(jobs: *mut tress_cbc_job, count: usize, first: bool) -> PassCounts {
    let mut lanes: Vec<cbc::Job<'_, F>> = Vec::new();
    let memory = lanes.try_reserve_exact(count.min(BATCH_JOBS));
    let mut pass = PassCounts { failures: 0, others: 0 };
    let mut next = 0;
    while next < count {
        let mut copied = 0;
        lanes.clear();
        while next < count && lanes.len() < BATCH_JOBS && copied < BATCH_COPIED_BYTES {
            // SAFETY: `next` is below `count`, and the caller promises `count` jobs.
            unsafe {
                let job = jobs.add(next);
                next += 1;
                let status = match cipher_of((*job).cipher).map(|cipher| F::of(&cipher.keyed)) {
                    Ok(Some(cipher)) if memory.is_ok() => match cbc_job(job, cipher) {
                        Ok(ready) => {
                            lanes.push(ready);
                            copied += copied_bytes((*job).input, (*job).output, (*job).length);
                            TRESS_OK
                        }
                        Err(status) => status,
                    },
                    Ok(Some(_)) => TRESS_MEMORY,
                    Ok(None) => {
                        pass.others += 1;
                        continue;
                    }
                    Err(status) if first => status,
                    Err(_) => continue,
                };
                (&raw mut (*job).status).write(status);
                pass.failures += usize::from(status != TRESS_OK);
            }
        }
        cbc::encrypt(&mut lanes);
    }
    pass
}

/// # Safety
/// As [`tress_cbc_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn cbc_job<'a, F: CipherType>(
    job: *const tress_cbc_job,
    cipher: &'a F,
) -> Result<cbc::Job<'a, F>, tress_status> {
    // SAFETY: the caller promises a job with valid pointers and lengths.
    unsafe {
        if (*job).reserved != 0 {
            return Err(TRESS_ARGUMENT);
        }
        let iv = raw::bytes((*job).iv, (*job).iv_length)?;
        raw::check_pointer((*job).input, (*job).length)?;
        raw::check_pointer((*job).output, (*job).length)?;
        check_cbc::<F>(iv, (*job).length).map_err(cipher_status)?;
        let data = raw::in_place((*job).input, (*job).output, (*job).length)?;
        cbc::Job::new(cipher, iv, data).map_err(cipher_status)
    }
}

/// Checks a number of threads; 0 means one for each core.
pub(crate) fn threads(asked: usize) -> Result<usize, Failure> {
    if asked > MAX_THREADS {
        return Err(Failure::with_detail(TRESS_ARGUMENT, "more than 1024 threads"));
    }
    Ok(asked)
}

/// Converts the number of failed jobs to the result of a call, and writes it to `failed`.
///
/// # Safety
/// `failed` is NULL or writable.
pub(crate) unsafe fn jobs_outcome(failures: usize, failed: *mut usize) -> Result<(), Failure> {
    // SAFETY: the caller promises that `failed` is NULL or writable.
    unsafe { raw::write_optional(failed, failures) };
    if failures == 0 {
        return Ok(());
    }
    Err(Failure::with_detail(TRESS_JOBS, format!("{failures} jobs failed; see the status of each job")))
}
