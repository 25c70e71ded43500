//! The filler collects messages that arrive one at a time. They wait for each other, for a bounded time, and run in lanes
//! together.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::time::Duration;

use tress_lanes::{Filler, FillerJob, FillerOptions, NonceOfKey, Refused};

use crate::failure::Failure;
use crate::lanes::{ccm_passes, nonce_of, tress_ccm_job};
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// Collects CCM jobs of any threads into batches for the lanes, and returns them in the order of submission. It has no
/// thread and no clock: a batch runs in the call of `tress_filler_submit` that fills it, or in `tress_filler_flush` when it
/// is due. Batches of several threads may run at the same time.
pub struct tress_filler(Filler<LentJob>);

/// Limits of a filler. A zero field selects its default; a NULL pointer selects all defaults.
#[repr(C)]
pub struct tress_filler_options {
    /// Longest time that a job waits for others, in nanoseconds. Default: 50000.
    pub max_wait_ns: u64,
    /// Number of waiting jobs that start a batch. Default: 32, the lanes of the widest registers.
    pub max_batch: usize,
    /// Largest number of jobs inside the filler: waiting, running, or finished and not taken. Default: 1024. A value
    /// below `max_batch` counts as `max_batch`.
    pub capacity: usize,
    /// Reserved; must be zero.
    pub reserved: [u64; 4],
}

/// A job that the caller has lent to the filler, until `tress_filler_take` returns it.
struct LentJob {
    job: *mut tress_ccm_job,
    encrypt: bool,
}

// SAFETY: `tress_filler_submit` requires that nobody else uses a job, or the memory that it points to, until it is taken.
unsafe impl Send for LentJob {}

impl FillerJob for LentJob {
    fn nonce(&self) -> Option<NonceOfKey> {
        // SAFETY: the pointer is valid until the job is taken.
        self.encrypt.then(|| unsafe { nonce_of(self.job, None) })
    }

    fn run(batch: &mut [Self]) {
        for encrypt in [true, false] {
            let lent = batch.iter().filter(|lent| lent.encrypt == encrypt);
            // SAFETY: the jobs are valid until they are taken, and `tress_filler_submit` wrote their statuses. The filler
            // has checked the nonces.
            unsafe {
                let mut jobs: Vec<tress_ccm_job> = lent.clone().map(|lent| *lent.job).collect();
                ccm_passes(jobs.as_mut_ptr(), jobs.len(), encrypt);
                lent.zip(jobs).for_each(|(lent, ran)| (*lent.job).status = ran.status);
            }
        }
    }
}

/// Creates an empty filler; free it with `tress_filler_free`. Any thread.
///
/// Returns `TRESS_ARGUMENT` if `reserved` is not zero.
///
/// # Safety
/// `options` is NULL or readable; `filler` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_new(
    options: *const tress_filler_options,
    filler: *mut *mut tress_filler,
) -> tress_status {
    let make = || {
        let mut made = FillerOptions::default();
        // SAFETY: the caller promises that `options` is NULL or readable.
        if let Some(options) = unsafe { options.as_ref() } {
            if options.reserved != [0; 4] {
                return Err(Failure::with_detail(TRESS_ARGUMENT, "reserved options must be zero"));
            }
            let or = |given: usize, default| if given == 0 { default } else { given };
            made.max_batch = or(options.max_batch, made.max_batch);
            made.capacity = or(options.capacity, made.capacity);
            if options.max_wait_ns != 0 {
                made.max_wait = Duration::from_nanos(options.max_wait_ns);
            }
        }
        Ok(tress_filler(Filler::new(made)))
    };
    // SAFETY: the caller promises that `filler` is writable.
    guard(|| unsafe { raw::write_handle(filler, make) })
}

/// Submits a message to encrypt, or to decrypt if `encrypt` is 0. Do not change or free the job, its buffers or its cipher
/// until `tress_filler_take` returns the job. Its status is `TRESS_STATE` until it has run, then one that
/// `tress_ccm_encrypt` or `tress_ccm_decrypt` returns. `now_ns` is the current time in nanoseconds; all calls must use the
/// same clock. If this job fills the batch, or the batch is due, the batch runs before the call returns. Any thread.
///
/// Returns `TRESS_FULL` if the filler is at its capacity, and `TRESS_NONCE_REPEATED` if a waiting job to encrypt has the
/// same cipher handle and nonce. In both cases the filler does not keep the job. Nonces of jobs that have run are not
/// checked.
///
/// # Safety
/// `filler` is a valid handle; `job` is as `tress_ccm_encrypt_jobs` needs it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_submit(
    filler: *const tress_filler,
    job: *mut tress_ccm_job,
    encrypt: c_int,
    now_ns: u64,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle.
        let (filler, lent) = unsafe { (raw::handle(filler)?, LentJob { job, encrypt: encrypt != 0 }) };
        if job.is_null() {
            return Err(TRESS_NULL.into());
        }
        // SAFETY: `job` is not NULL, and the caller promises a job.
        unsafe { (&raw mut (*job).status).write(TRESS_STATE) };
        filler.0.submit(Duration::from_nanos(now_ns), lent).map_err(|refused| match refused {
            Refused::Full(_) => TRESS_FULL.into(),
            Refused::NonceRepeated(_) => TRESS_NONCE_REPEATED.into(),
        })
    })
}

/// Runs the waiting jobs if the first of them is due at the time `now_ns`, in nanoseconds; `UINT64_MAX` runs them in any
/// case. Writes the time of the next call to `deadline_ns`, unless that is NULL: `UINT64_MAX` if no job waits. Any thread.
///
/// # Safety
/// `filler` is a valid handle; `deadline_ns` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_flush(
    filler: *const tress_filler,
    now_ns: u64,
    deadline_ns: *mut u64,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises a valid handle.
        let tress_filler(filler) = unsafe { raw::handle(filler) }?;
        match now_ns {
            u64::MAX => filler.flush(),
            _ => filler.poll(Duration::from_nanos(now_ns)),
        }
        let next = filler.deadline().and_then(|next| u64::try_from(next.as_nanos()).ok());
        // SAFETY: the caller promises that `deadline_ns` is NULL or writable.
        unsafe { raw::write_optional(deadline_ns, next.unwrap_or(u64::MAX)) };
        Ok(())
    })
}

/// Returns the next job that has run, or NULL if there is none or `filler` is NULL. The job belongs to the caller again;
/// check its status. Any thread.
///
/// # Safety
/// `filler` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_take(filler: *const tress_filler) -> *mut tress_ccm_job {
    // SAFETY: `filler` is NULL or a valid handle, as the caller promises.
    let filler = unsafe { filler.as_ref() };
    guard_value(null_mut(), || filler.and_then(|filler| filler.0.take()).map_or(null_mut(), |lent| lent.job))
}

/// Frees a filler; NULL does nothing. Waiting jobs do not run, and all jobs inside belong to the caller again. No thread
/// may use the filler afterwards.
///
/// # Safety
/// `filler` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_free(filler: *mut tress_filler) {
    // SAFETY: `filler` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(filler) }
}
