//! Batches of signatures.

use tress_sign::{Error, SignJob, Signature, VerifyJob, sign_batch, verify_batch};

use crate::errors::signature_status;
use crate::lanes::jobs_outcome;
use crate::raw;
use crate::sign::{signature_bytes, tress_signing_key, tress_verifying_key};
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// One digest to sign with `tress_sign_jobs`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_sign_job {
    /// Key, which also selects the scheme.
    pub key: *const tress_signing_key,
    /// Digest of the message by the scheme's hash function, as `tress_digest` computes it.
    pub digest: *const u8,
    /// Length of `digest` in bytes.
    pub digest_length: usize,
    /// Buffer for the signature.
    pub signature: *mut u8,
    /// Size of `signature` in bytes, at least `tress_signing_key_signature_bytes`.
    pub capacity: usize,
    /// Reserved; must be zero.
    pub reserved: u64,
    /// Output: length of the signature in bytes.
    pub signature_length: usize,
    /// Output: status of this job.
    pub status: tress_status,
}

/// One signature to check with `tress_verify_jobs`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_verify_job {
    /// Key, which also selects the scheme.
    pub key: *const tress_verifying_key,
    /// Digest of the message by the scheme's hash function.
    pub digest: *const u8,
    /// Length of `digest` in bytes.
    pub digest_length: usize,
    /// Signature to check.
    pub signature: *const u8,
    /// Length of `signature` in bytes.
    pub signature_length: usize,
    /// Reserved; must be zero.
    pub reserved: u64,
    /// Output: `TRESS_OK` if the signature is valid.
    pub status: tress_status,
}

/// Status of a job that has not run yet. It is an error, so that a caller that reads only the statuses never takes an
/// unchecked job for a valid one. `sign_job` and `verify_job` never return it.
const UNDECIDED: tress_status = TRESS_INTERNAL;

/// Signs all digests. On processors with AVX-512 IFMA, eight exponentiations run in parallel lanes. Keys and schemes may be
/// mixed; a multiple of eight jobs with keys of one size fills the lanes. Runs on the calling thread. Any number of
/// threads may call it at the same time, each with separate jobs.
///
/// Returns `TRESS_OK` if every job is `TRESS_OK`, otherwise `TRESS_JOBS`. Writes the number of failed jobs to `failed`,
/// unless that is NULL. The status of a failed job is one that `tress_sign` returns, `TRESS_DIGEST_LENGTH`, or
/// `TRESS_ARGUMENT` if `reserved` is not zero. After `TRESS_NULL`, `TRESS_LENGTH` or `TRESS_MEMORY` no job has run; after
/// `TRESS_MEMORY` every job that is otherwise correct has that status.
///
/// # Safety
/// `jobs` points to `count` jobs; each key is NULL or a valid handle; each buffer has the length given for it; no
/// signature buffer overlaps other memory of a job; `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_sign_jobs(jobs: *mut tress_sign_job, count: usize, failed: *mut usize) -> tress_status {
    let finish = |job: *mut tress_sign_job, outcome: Result<Signature, Error>| {
        let signature = outcome.map_err(signature_status)?;
        let signature = signature.as_bytes();
        // SAFETY: `sign_job` checked the job, and the caller promises that nothing else uses its buffer.
        unsafe {
            let room = raw::bytes_mut((*job).signature, (*job).capacity)?;
            room.get_mut(..signature.len()).ok_or(TRESS_BUFFER)?.copy_from_slice(signature);
            (&raw mut (*job).signature_length).write(signature.len());
        }
        Ok(())
    };
    // SAFETY: as the caller promises; `sign_job` reads and `status` points to fields of a job.
    unsafe {
        let status = |job: *mut tress_sign_job| &raw mut (*job).status;
        run(jobs, count, failed, status, |job| sign_job(job), |ready| sign_batch(ready, 1), finish)
    }
}

/// Checks every job, runs those that are correct in one batch, and writes every status and the number of failed jobs.
///
/// # Safety
/// `jobs` points to `count` jobs whose status `status` finds and which `check` admits; `failed` is NULL or writable.
unsafe fn run<J, Ready, Outcome>(
    jobs: *mut J,
    count: usize,
    failed: *mut usize,
    status: impl Fn(*mut J) -> *mut tress_status,
    check: impl Fn(*mut J) -> Result<Ready, tress_status>,
    batch: impl FnOnce(&[Ready]) -> Vec<Outcome>,
    finish: impl Fn(*mut J, Outcome) -> Result<(), tress_status>,
) -> tress_status {
    guard(|| {
        raw::check_array(jobs, count)?;
        let mut ready = Vec::new();
        let memory = ready.try_reserve_exact(count);
        for index in 0..count {
            // SAFETY: `index` is below `count`, and the caller promises `count` jobs. Fields are accessed one by one,
            // because a status may be any number and no reference to the whole job may exist.
            unsafe {
                let job = jobs.add(index);
                status(job).write(match check(job) {
                    Ok(_) if memory.is_err() => TRESS_MEMORY,
                    Ok(job) => {
                        ready.push(job);
                        UNDECIDED
                    }
                    Err(status) => status,
                });
            }
        }
        memory?;
        let mut outcomes = batch(&ready).into_iter();
        let mut failures = 0;
        for index in 0..count {
            // SAFETY: `index` is below `count`, and the first loop wrote every status.
            unsafe {
                let job = jobs.add(index);
                if status(job).read() == UNDECIDED {
                    let outcome = outcomes.next().ok_or(TRESS_INTERNAL);
                    status(job).write(outcome.and_then(|outcome| finish(job, outcome)).err().unwrap_or(TRESS_OK));
                }
                failures += usize::from(status(job).read() != TRESS_OK);
            }
        }
        // SAFETY: the caller promises that `failed` is NULL or writable.
        unsafe { jobs_outcome(failures, failed) }
    })
}

/// Checks the fields of a job, whose signature has no bytes yet.
///
/// # Safety
/// `job` points to a job as [`tress_sign_jobs`] needs it.
unsafe fn sign_job<'a>(job: *mut tress_sign_job) -> Result<SignJob<'a>, tress_status> {
    // SAFETY: the caller promises a job with valid pointers and lengths.
    unsafe {
        (&raw mut (*job).signature_length).write(0);
        if (*job).reserved != 0 {
            return Err(TRESS_ARGUMENT);
        }
        let key = &raw::handle((*job).key)?.key;
        let digest = raw::bytes((*job).digest, (*job).digest_length)?;
        if raw::bytes_mut((*job).signature, (*job).capacity)?.len() < signature_bytes(key) {
            return Err(TRESS_BUFFER);
        }
        Ok(SignJob { key, digest })
    }
}

/// Checks all signatures. The status of each job is one that `tress_verify` returns. Keys, threads and return values are as
/// for `tress_sign_jobs`.
///
/// # Safety
/// `jobs` points to `count` jobs; each key is NULL or a valid handle; each buffer has the length given for it; `failed` is
/// NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_verify_jobs(
    jobs: *mut tress_verify_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    let finish = |_, outcome: Result<(), Error>| outcome.map_err(signature_status);
    // SAFETY: as the caller promises; `verify_job` reads and `status` points to fields of a job.
    unsafe {
        let status = |job: *mut tress_verify_job| &raw mut (*job).status;
        run(jobs, count, failed, status, |job| verify_job(job), |ready| verify_batch(ready, 1), finish)
    }
}

/// Checks the fields of a job.
///
/// # Safety
/// `job` points to a job as [`tress_verify_jobs`] needs it.
unsafe fn verify_job<'a>(job: *const tress_verify_job) -> Result<VerifyJob<'a>, tress_status> {
    // SAFETY: the caller promises a job with valid pointers and lengths.
    unsafe {
        if (*job).reserved != 0 {
            return Err(TRESS_ARGUMENT);
        }
        Ok(VerifyJob {
            key: &raw::handle((*job).key)?.key,
            digest: raw::bytes((*job).digest, (*job).digest_length)?,
            signature: raw::bytes((*job).signature, (*job).signature_length)?,
        })
    }
}
