//! Many signatures at once.

use tress_sign::{SignJob, VerifyJob, sign_batch, verify_batch};

use crate::errors::of_signature;
use crate::lanes::outcome;
use crate::raw;
use crate::sign::{signature_bytes, tress_signing_key, tress_verifying_key};
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// One digest for `tress_sign_jobs`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_sign_job {
    /// Under this key, by its scheme.
    pub key: *const tress_signing_key,
    /// A digest that the scheme's hash function made: `tress_digest`.
    pub digest: *const u8,
    /// Of the digest.
    pub digest_length: usize,
    /// Where the signature goes: room for `tress_signing_key_signature_bytes` at least.
    pub signature: *mut u8,
    /// Room at `signature`.
    pub capacity: usize,
    /// Zero; for later.
    pub reserved: u64,
    /// Written: its length.
    pub signature_length: usize,
    /// Written: what became of the job.
    pub status: tress_status,
}

/// One signature for `tress_verify_jobs`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tress_verify_job {
    /// Under this key, by its scheme.
    pub key: *const tress_verifying_key,
    /// A digest that the scheme's hash function made.
    pub digest: *const u8,
    /// Of the digest.
    pub digest_length: usize,
    /// What is said to be its signature.
    pub signature: *const u8,
    /// Of the signature.
    pub signature_length: usize,
    /// Zero; for later.
    pub reserved: u64,
    /// Written: `TRESS_OK` if the signature holds.
    pub status: tress_status,
}

/// Of a job until it has run: whoever looks at statuses alone takes nothing for good that was never checked. No job is
/// refused with it.
const UNDECIDED: tress_status = TRESS_INTERNAL;

/// Signs all digests, eight exponentiations side by side where the processor has AVX-512 IFMA. Keys and schemes may be
/// mixed; batches that are multiples of eight under keys of one size fill the lanes. Runs on the calling thread; any
/// number of threads may do so at the same time with jobs of their own.
///
/// Returns `TRESS_OK` if every job is `TRESS_OK`; `TRESS_JOBS` if not, and in `failed`, unless that is NULL, how many
/// are not (their statuses are what `tress_sign` returns, `TRESS_DIGEST_LENGTH`, or `TRESS_ARGUMENT` where `reserved` is not zero). After `TRESS_NULL`, `TRESS_LENGTH`
/// or `TRESS_MEMORY` no job has run; after `TRESS_MEMORY` each job's status says so.
///
/// # Safety
/// `count` jobs are at `jobs`; each key is NULL or a handle, and the lengths are those of what the pointers point to;
/// no signature overlaps anything else; `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_sign_jobs(jobs: *mut tress_sign_job, count: usize, failed: *mut usize) -> tress_status {
    guard(|| {
        raw::check_array(jobs, count)?;
        let mut ready = Vec::new();
        let memory = ready.try_reserve_exact(count);
        for index in 0..count {
            // SAFETY: the caller vouches for `count` jobs. Fields are accessed one by one: a status may hold anything.
            unsafe {
                let job = jobs.add(index);
                (&raw mut (*job).signature_length).write(0);
                let status = match sign_job(job) {
                    Ok(_) if memory.is_err() => TRESS_MEMORY,
                    Ok(job) => {
                        ready.push(job);
                        UNDECIDED
                    }
                    Err(status) => status,
                };
                (&raw mut (*job).status).write(status);
            }
        }
        memory?;
        let mut made = sign_batch(&ready, 1).into_iter();
        let mut failures = 0;
        for index in 0..count {
            // SAFETY: as above; statuses were written above, and every undecided job was checked by `sign_job`.
            unsafe {
                let job = jobs.add(index);
                if (*job).status == UNDECIDED {
                    let status = match made.next() {
                        Some(Ok(signature)) => {
                            let signature = signature.as_bytes();
                            let room = raw::bytes_mut((*job).signature, (*job).capacity)?;
                            match room.get_mut(..signature.len()) {
                                Some(room) => {
                                    room.copy_from_slice(signature);
                                    (&raw mut (*job).signature_length).write(signature.len());
                                    TRESS_OK
                                }
                                None => TRESS_BUFFER,
                            }
                        }
                        Some(Err(error)) => of_signature(error),
                        None => TRESS_INTERNAL,
                    };
                    (&raw mut (*job).status).write(status);
                }
                failures += usize::from((*job).status != TRESS_OK);
            }
        }
        // SAFETY: as above.
        unsafe { outcome(failures, failed) }
    })
}

/// # Safety
/// `job` is one as [`tress_sign_jobs`] takes.
unsafe fn sign_job<'a>(job: *const tress_sign_job) -> Result<SignJob<'a>, tress_status> {
    // SAFETY: as above.
    unsafe {
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

/// Checks all signatures; each job's status is what `tress_verify` returns. All else is as in `tress_sign_jobs`.
///
/// # Safety
/// `count` jobs are at `jobs`; each key is NULL or a handle, and the lengths are those of what the pointers point to;
/// `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_verify_jobs(
    jobs: *mut tress_verify_job,
    count: usize,
    failed: *mut usize,
) -> tress_status {
    guard(|| {
        raw::check_array(jobs, count)?;
        let mut ready = Vec::new();
        let memory = ready.try_reserve_exact(count);
        for index in 0..count {
            // SAFETY: the caller vouches for `count` jobs. Fields are accessed one by one: a status may hold anything.
            unsafe {
                let job = jobs.add(index);
                let status = match verify_job(job) {
                    Ok(_) if memory.is_err() => TRESS_MEMORY,
                    Ok(job) => {
                        ready.push(job);
                        UNDECIDED
                    }
                    Err(status) => status,
                };
                (&raw mut (*job).status).write(status);
            }
        }
        memory?;
        let mut checked = verify_batch(&ready, 1).into_iter();
        let mut failures = 0;
        for index in 0..count {
            // SAFETY: as above; statuses were written above.
            unsafe {
                let job = jobs.add(index);
                if (*job).status == UNDECIDED {
                    let status = match checked.next() {
                        Some(Ok(())) => TRESS_OK,
                        Some(Err(error)) => of_signature(error),
                        None => TRESS_INTERNAL,
                    };
                    (&raw mut (*job).status).write(status);
                }
                failures += usize::from((*job).status != TRESS_OK);
            }
        }
        // SAFETY: as above.
        unsafe { outcome(failures, failed) }
    })
}

/// # Safety
/// `job` is one as [`tress_verify_jobs`] takes.
unsafe fn verify_job<'a>(job: *const tress_verify_job) -> Result<VerifyJob<'a>, tress_status> {
    // SAFETY: as above.
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
