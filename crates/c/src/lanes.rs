//! Many messages at once: every message is a lane, a chain of its own in a slot of a vector register.
//!
//! The caller's jobs become the jobs of `tress_cipher::lanes`, in one allocation for a call, those of each type of
//! cipher together.

use std::mem::MaybeUninit;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::tress_cipher::lanes::{cbc, ccm};
use ::tress_cipher::{Aad, CcmCipher, Error, Tag, for_every_cipher};
use tress_lanes::{MAX_THREADS, NonceOfKey, Pool};
use zeroize::Zeroize;

use crate::ciphers::{Family, if_ccm, tress_cipher};
use crate::failure::{Failure, of_cipher};
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// One message for `tress_ccm_encrypt_jobs` or `tress_ccm_decrypt_jobs`. No output and no tag overlaps anything else of
/// any job but its own input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_ccm_job {
    /// A cipher with blocks of 128 bits. Jobs with the same handle are quicker than jobs with a handle each.
    pub cipher: *const tress_cipher,
    /// 7 to 13 bytes, never twice with a key.
    pub nonce: *const u8,
    /// Of the nonce.
    pub nonce_length: usize,
    /// Associated data: authenticated, not encrypted. NULL if there is none.
    pub aad: *const u8,
    /// Of the associated data.
    pub aad_length: usize,
    /// The message.
    pub input: *const u8,
    /// Where it goes. The same as `input` is quickest.
    pub output: *mut u8,
    /// Of input and output.
    pub length: usize,
    /// To decrypt: the tag.
    pub tag: *const u8,
    /// To encrypt: where the tag goes.
    pub tag_output: *mut u8,
    /// Of the tag: 4, 6, 8, 10, 12, 14 or 16. It is the receiver's to know, and never read from a message.
    pub tag_length: usize,
    /// Zero; for later.
    pub reserved: u64,
    /// Written: what became of the job.
    pub status: tress_status,
}

/// One message for `tress_cbc_encrypt_jobs`. No output overlaps anything else of any job but its own input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_cbc_job {
    /// Any cipher.
    pub cipher: *const tress_cipher,
    /// One block that nobody could predict.
    pub iv: *const u8,
    /// Of the initialisation vector.
    pub iv_length: usize,
    /// The message, whole blocks.
    pub input: *const u8,
    /// Where it goes. The same as `input` is quickest.
    pub output: *mut u8,
    /// Of input and output.
    pub length: usize,
    /// Zero; for later.
    pub reserved: u64,
    /// Written: what became of the job.
    pub status: tress_status,
}

/// Encrypts all messages, those of one type of cipher side by side, and writes each job's `status`. Lengths, keys and
/// ciphers may be mixed. Order and number are the caller's; thirty or more at a time fill the widest registers. Runs on
/// the calling thread; any number of threads may do so at the same time with jobs of their own.
///
/// Returns `TRESS_OK` if every job is `TRESS_OK`; `TRESS_JOBS` if not, and in `failed`, unless that is NULL, how many
/// are not (their statuses are what `tress_ccm_encrypt` returns, `TRESS_ARGUMENT` where `reserved` is not zero, or
/// `TRESS_MEMORY`). `TRESS_NONCE_REPEATED` if two jobs have one handle and one nonce; every job's status is that, too. After it, `TRESS_NULL`
/// or `TRESS_LENGTH` no job has run.
///
/// # Safety
/// `count` jobs are at `jobs`, each as `tress_ccm_encrypt` needs it, and no job writes where another reads or writes;
/// `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_encrypt_jobs(
    jobs: *mut tress_ccm_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { all_ccm(jobs, count, failed, true) })
}

/// Verifies and decrypts all messages. A forged one gets the status `TRESS_AUTHENTICATION` and its output is wiped; the
/// others are not touched by it. All else is as in `tress_ccm_encrypt_jobs`.
///
/// # Safety
/// As `tress_ccm_encrypt_jobs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_ccm_decrypt_jobs(
    jobs: *mut tress_ccm_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { all_ccm(jobs, count, failed, false) })
}

/// `tress_ccm_encrypt_jobs` on up to `threads` threads, of which the calling one is one; 0 is one for each core, 1024 the
/// most. Too few bytes for two threads, some 256 KiB, stay on the calling thread. Threads that were started wait for the next
/// call, of any thread, and do not keep the process from ending; after a `fork` new ones are started. Where the system
/// refuses threads, fewer do the work.
///
/// Returns what `tress_ccm_encrypt_jobs` does, and `TRESS_ARGUMENT` for more threads; then no job has run.
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
    // SAFETY: as above.
    guard(|| unsafe { all_ccm_threads(jobs, count, threads, failed, true) })
}

/// `tress_ccm_decrypt_jobs` on threads as in `tress_ccm_encrypt_jobs_threads`.
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
    // SAFETY: as above.
    guard(|| unsafe { all_ccm_threads(jobs, count, threads, failed, false) })
}

/// Encrypts all messages in CBC. Decryption of one message is parallel by itself: `tress_cbc_decrypt`. All else is as
/// in `tress_ccm_encrypt_jobs`; statuses are what `tress_cbc_encrypt` returns, or `TRESS_ARGUMENT`.
///
/// # Safety
/// `count` jobs are at `jobs`, each as `tress_cbc_encrypt` needs it, and no job writes where another reads or writes;
/// `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cbc_encrypt_jobs(
    jobs: *mut tress_cbc_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: as above.
    guard(|| unsafe { all_cbc(jobs, count, failed) })
}

/// What a pass over the jobs for one type of cipher came to.
struct Pass {
    failures: usize,
    /// Jobs of other types, for the passes to come.
    others: usize,
}

type CcmPass = unsafe fn(*mut tress_ccm_job, usize, bool, bool) -> Pass;

macro_rules! ccm_passes {
    ($($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        /// A pass for each type of cipher that has CCM, that of AES first.
        const CCM_PASSES: &[Option<CcmPass>] = &[$(if_ccm!($kind, ccm_pass::<$type>),)*];
    };
}

for_every_cipher!([ccm_passes]);

/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn all_ccm(jobs: *mut tress_ccm_job, count: usize, failed: *mut usize, encrypt: bool) -> Result<(), Failure> {
    raw::check_array(jobs, count)?;
    if encrypt {
        // SAFETY: as above.
        unsafe { check_nonces(jobs, count, failed) }?;
    }
    // SAFETY: as above.
    unsafe { outcome(ccm_passes(jobs, count, encrypt), failed) }
}

/// Refuses all jobs if two of them have one key and one nonce.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn check_nonces(jobs: *mut tress_ccm_job, count: usize, failed: *mut usize) -> Result<(), Failure> {
    // SAFETY: the caller vouches for `count` jobs.
    let nonce = |index: usize| unsafe { nonce_of(jobs.add(index)) };
    let refusal = match tress_lanes::repeated_nonce((0..count).map(nonce)) {
        Ok(None) => return Ok(()),
        Ok(Some(_)) => TRESS_NONCE_REPEATED,
        Err(_) => TRESS_MEMORY,
    };
    for index in 0..count {
        // SAFETY: as above.
        unsafe { (&raw mut (*jobs.add(index)).status).write(refusal) };
    }
    // SAFETY: as above.
    unsafe { outcome(count, failed) }.map_err(|_| refusal.into())
}

/// Key and nonce of a job.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
pub(crate) unsafe fn nonce_of(job: *const tress_ccm_job) -> NonceOfKey {
    // SAFETY: as above.
    let (cipher, nonce, bytes) = unsafe { ((*job).cipher, (*job).nonce, (*job).nonce_length) };
    if nonce.is_null() || cipher.is_null() || !(7..=13).contains(&bytes) {
        // A length that is refused: no other job has this place for its key.
        return NonceOfKey::new(job, &[]);
    }
    // SAFETY: as above.
    NonceOfKey::new(cipher, unsafe { slice::from_raw_parts(nonce, bytes) })
}

/// A job, whose status may hold anything.
#[repr(transparent)]
struct Slot(MaybeUninit<tress_ccm_job>);

// SAFETY: by the terms of the functions nobody but one job uses what that job writes to; the rest, handles too, is only read.
unsafe impl Send for Slot {}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn all_ccm_threads(
    jobs: *mut tress_ccm_job,
    count: usize,
    threads: usize,
    failed: *mut usize,
    encrypt: bool,
) -> Result<(), Failure> {
    let threads = self::threads(threads)?;
    raw::check_array(jobs, count)?;
    let slots: &mut [Slot] = match count {
        0 => &mut [],
        // SAFETY: the caller vouches for `count` jobs, and a slot is a job and nothing else.
        _ => unsafe { slice::from_raw_parts_mut(jobs.cast(), count) },
    };
    let bytes = |Slot(job): &Slot| {
        let job = job.as_ptr();
        // SAFETY: of a job only the status may not be readable.
        unsafe { (*job).length.saturating_add((*job).aad_length) }
    };
    if encrypt {
        // SAFETY: as above.
        unsafe { check_nonces(slots.as_mut_ptr().cast(), count, failed) }?;
    }
    let failures = AtomicUsize::new(0);
    Pool::shared().for_each_group(slots, bytes, threads, |slots| {
        // SAFETY: these are some of the caller's jobs.
        let failed = unsafe { ccm_passes(slots.as_mut_ptr().cast(), slots.len(), encrypt) };
        failures.fetch_add(failed, Ordering::Relaxed);
    });
    // SAFETY: as above.
    unsafe { outcome(failures.into_inner(), failed) }
}

/// How many fail.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
pub(crate) unsafe fn ccm_passes(jobs: *mut tress_ccm_job, count: usize, encrypt: bool) -> usize {
    // SAFETY: as above.
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

/// Jobs that are prepared at a time: many times the lanes of the widest register, and few enough for the second cache
/// and for what an allocator keeps at hand. Memory that it takes from the system at every call would cost more than a
/// short message.
const BATCH_JOBS: usize = 512;
/// Bytes that are copied to other buffers at a time, so that they are still in a cache when they are encrypted.
const BATCH_COPIED_BYTES: usize = 1 << 20;

/// Runs the jobs whose cipher is an `F`. The first pass also refuses those that no pass will run.
///
/// # Safety
/// As [`tress_ccm_encrypt_jobs`].
unsafe fn ccm_pass<F: Family + CcmCipher>(jobs: *mut tress_ccm_job, count: usize, first: bool, encrypt: bool) -> Pass {
    // One of them stays empty.
    let (mut seals, mut opens) = (Vec::<ccm::Seal<'_, F>>::new(), Vec::<ccm::Open<'_, F>>::new());
    let most = count.min(BATCH_JOBS);
    let memory = if encrypt { seals.try_reserve_exact(most) } else { opens.try_reserve_exact(most) };
    let mut pass = Pass { failures: 0, others: 0 };
    let mut next = 0;
    while next < count {
        let (start, mut copied) = (next, 0);
        seals.clear();
        opens.clear();
        while next < count && seals.len() + opens.len() < BATCH_JOBS && copied < BATCH_COPIED_BYTES {
            // SAFETY: the caller vouches for `count` jobs. A job's fields are read one by one, because its status may
            // hold anything.
            unsafe {
                let job = jobs.add(next);
                next += 1;
                let status = match (*job).cipher.as_ref().map(|cipher| (F::of(&cipher.keyed), cipher)) {
                    Some((Some(cipher), _)) if memory.is_ok() => {
                        let ready = if encrypt {
                            seal_job(job, cipher).map(|ready| seals.push(ready))
                        } else {
                            open_job(job, cipher).map(|ready| opens.push(ready))
                        };
                        match ready {
                            Ok(()) => {
                                copied += copied_bytes((*job).input, (*job).output, (*job).length);
                                TRESS_OK
                            }
                            Err(status) => status,
                        }
                    }
                    Some((Some(_), _)) => TRESS_MEMORY,
                    Some((None, other)) if other.has_ccm() => {
                        pass.others += 1;
                        continue;
                    }
                    _ if !first => continue,
                    Some(_) => TRESS_NO_CCM,
                    None => TRESS_NULL,
                };
                (&raw mut (*job).status).write(status);
                pass.failures += usize::from(status != TRESS_OK);
            }
        }
        if encrypt {
            // All nonces were looked at before.
            ccm::seal_without_nonce_check(&mut seals);
        } else if let Err(forged) = ccm::open(&mut opens) {
            pass.failures += forged.count;
            // In the order in which they were pushed.
            let mut ran = opens.iter();
            for index in start..next {
                // SAFETY: as above; the status of a job of this type was written above.
                unsafe {
                    let job = jobs.add(index);
                    let mine = (*job).cipher.as_ref().is_some_and(|cipher| F::of(&cipher.keyed).is_some());
                    if mine && (*job).status == TRESS_OK && ran.next().is_some_and(|ran| ran.result().is_err()) {
                        (&raw mut (*job).status).write(TRESS_AUTHENTICATION);
                    }
                }
            }
        }
    }
    pass
}

/// Bytes that [`raw::in_place`] copies.
fn copied_bytes(input: *const u8, output: *const u8, length: usize) -> usize {
    if std::ptr::eq(input, output) { 0 } else { length }
}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn seal_job<'a, F: CcmCipher>(
    job: *const tress_ccm_job,
    cipher: &'a F,
) -> Result<ccm::Seal<'a, F>, tress_status> {
    // SAFETY: as above.
    unsafe {
        let tag = raw::bytes_mut((*job).tag_output, (*job).tag_length)?;
        ready(job, |nonce, aad, data| ccm::Seal::new(cipher, nonce, aad, data, tag))
    }
}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn open_job<'a, F: CcmCipher>(
    job: *const tress_ccm_job,
    cipher: &'a F,
) -> Result<ccm::Open<'a, F>, tress_status> {
    // SAFETY: as above.
    unsafe {
        let bytes = (*job).tag_length;
        let tag = Tag::new(raw::bytes((*job).tag, bytes)?, bytes).map_err(of_cipher)?;
        ready(job, |nonce, aad, data| ccm::Open::new(cipher, nonce, aad, data, tag))
    }
}

/// # Safety
/// As [`tress_ccm_encrypt_jobs`], for one job.
#[inline(always)]
unsafe fn ready<'a, T>(
    job: *const tress_ccm_job,
    new: impl FnOnce(&'a [u8], Aad<'a>, &'a mut [u8]) -> Result<T, Error>,
) -> Result<T, tress_status> {
    // SAFETY: as above.
    unsafe {
        if (*job).reserved != 0 {
            return Err(TRESS_ARGUMENT);
        }
        let nonce = raw::bytes((*job).nonce, (*job).nonce_length)?;
        let aad = raw::bytes((*job).aad, (*job).aad_length)?;
        let data = raw::in_place((*job).input, (*job).output, (*job).length)?;
        new(nonce, Aad(aad), data).map_err(|error| {
            wipe((*job).input, (*job).output, (*job).length);
            of_cipher(error)
        })
    }
}

/// What was refused leaves no copy of its input in another buffer.
///
/// # Safety
/// `length` bytes are writable at `output`.
#[cold]
unsafe fn wipe(input: *const u8, output: *mut u8, length: usize) {
    if !std::ptr::eq(input, output) {
        // SAFETY: as above.
        if let Ok(output) = unsafe { raw::bytes_mut(output, length) } {
            output.zeroize();
        }
    }
}

macro_rules! cbc_passes {
    ($($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        /// A pass for each type of cipher, that of AES first.
        const CBC_PASSES: &[unsafe fn(*mut tress_cbc_job, usize, bool) -> Pass] = &[$(cbc_pass::<$type>,)*];
    };
}

for_every_cipher!([cbc_passes]);

/// # Safety
/// As [`tress_cbc_encrypt_jobs`].
unsafe fn all_cbc(jobs: *mut tress_cbc_job, count: usize, failed: *mut usize) -> Result<(), Failure> {
    raw::check_array(jobs, count)?;
    // SAFETY: as above.
    unsafe {
        let Pass { mut failures, others: left } = CBC_PASSES[0](jobs, count, true);
        if left > 0 {
            failures += CBC_PASSES[1..].iter().map(|pass| pass(jobs, count, false).failures).sum::<usize>();
        }
        outcome(failures, failed)
    }
}

/// As [`ccm_pass`]; every cipher has CBC.
///
/// # Safety
/// As [`tress_cbc_encrypt_jobs`].
unsafe fn cbc_pass<F: Family>(jobs: *mut tress_cbc_job, count: usize, first: bool) -> Pass {
    let mut lanes: Vec<cbc::Job<'_, F>> = Vec::new();
    let memory = lanes.try_reserve_exact(count.min(BATCH_JOBS));
    let mut pass = Pass { failures: 0, others: 0 };
    let mut next = 0;
    while next < count {
        let mut copied = 0;
        lanes.clear();
        while next < count && lanes.len() < BATCH_JOBS && copied < BATCH_COPIED_BYTES {
            // SAFETY: the caller vouches for `count` jobs.
            unsafe {
                let job = jobs.add(next);
                next += 1;
                let status = match (*job).cipher.as_ref().map(|cipher| F::of(&cipher.keyed)) {
                    Some(Some(cipher)) if memory.is_ok() => match cbc_job(job, cipher) {
                        Ok(ready) => {
                            lanes.push(ready);
                            copied += copied_bytes((*job).input, (*job).output, (*job).length);
                            TRESS_OK
                        }
                        Err(status) => status,
                    },
                    Some(Some(_)) => TRESS_MEMORY,
                    Some(None) => {
                        pass.others += 1;
                        continue;
                    }
                    None if first => TRESS_NULL,
                    None => continue,
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
unsafe fn cbc_job<'a, F: Family>(job: *const tress_cbc_job, cipher: &'a F) -> Result<cbc::Job<'a, F>, tress_status> {
    // SAFETY: as above.
    unsafe {
        if (*job).reserved != 0 {
            return Err(TRESS_ARGUMENT);
        }
        let iv = raw::bytes((*job).iv, (*job).iv_length)?;
        let data = raw::in_place((*job).input, (*job).output, (*job).length)?;
        match cbc::Job::new(cipher, iv, data) {
            Ok(ready) => Ok(ready),
            Err(error) => {
                wipe((*job).input, (*job).output, (*job).length);
                Err(of_cipher(error))
            }
        }
    }
}

/// A number of threads that a call may have; 0 is one for each core.
pub(crate) fn threads(asked: usize) -> Result<usize, Failure> {
    if asked > MAX_THREADS {
        return Err(Failure::with_detail(TRESS_ARGUMENT, "more than 1024 threads"));
    }
    Ok(asked)
}

/// Says how it went.
///
/// # Safety
/// `failed` is NULL or writable.
pub(crate) unsafe fn outcome(failures: usize, failed: *mut usize) -> Result<(), Failure> {
    // SAFETY: as above.
    unsafe { raw::set(failed, failures) };
    if failures == 0 {
        return Ok(());
    }
    Err(Failure::with_detail(TRESS_JOBS, format!("{failures} jobs failed; see the status of each job")))
}
