//! Messages that arrive one at a time: they wait for others, for a bounded time, and run in lanes together.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::time::Duration;

use tress_lanes::{Filler, FillerJob, FillerOptions, NonceOfKey, Refused};

use crate::failure::Failure;
use crate::lanes::{ccm_passes, nonce_of, tress_ccm_job};
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// Collects CCM jobs of any threads into batches for the lanes, and gives them back in the order in which they were
/// submitted. It has no thread and no clock: a batch runs in the call of `tress_filler_submit` that fills it, or of
/// `tress_filler_flush` when it is due. Batches of several threads run at the same time.
pub struct tress_filler(Filler<Lent>);

/// How long and for how many jobs to wait. All zero, and NULL in its place, are the defaults.
#[repr(C)]
pub struct tress_filler_options {
    /// The longest that a job waits for others, in nanoseconds; 0 is 50000.
    pub max_wait_ns: u64,
    /// This many waiting jobs run at once; 0 is 32, which are the lanes of the widest registers.
    pub max_batch: usize,
    /// The most jobs that are inside: waiting, running or not taken; 0 is 1024. Less than a batch counts as a batch.
    pub capacity: usize,
    /// Zero; for later.
    pub reserved: [u64; 4],
}

/// A caller's job.
struct Lent {
    job: *mut tress_ccm_job,
    encrypt: bool,
}

// SAFETY: by the terms of the functions nobody else uses a job, and what it points to, until it is taken.
unsafe impl Send for Lent {}

impl FillerJob for Lent {
    fn nonce(&self) -> Option<NonceOfKey> {
        // SAFETY: the caller lent a job.
        self.encrypt.then(|| unsafe { nonce_of(self.job) })
    }

    fn run(batch: &mut [Self]) {
        for encrypt in [true, false] {
            let lent = batch.iter().filter(|lent| lent.encrypt == encrypt);
            // SAFETY: as above; the status was written when the job came. The filler has looked at the nonces.
            unsafe {
                let mut jobs: Vec<tress_ccm_job> = lent.clone().map(|lent| *lent.job).collect();
                ccm_passes(jobs.as_mut_ptr(), jobs.len(), encrypt);
                lent.zip(jobs).for_each(|(lent, ran)| (*lent.job).status = ran.status);
            }
        }
    }
}

/// Makes an empty filler; end it with `tress_filler_free`. `TRESS_ARGUMENT` where `reserved` is not zero. Any thread.
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
        // SAFETY: the caller vouches for it.
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
    // SAFETY: as above.
    guard(|| unsafe { raw::give(filler, make) })
}

/// Submits a message to encrypt, or with 0 as `encrypt` one to decrypt. The job, what it points to and its cipher stay
/// as they are until `tress_filler_take` returns the job. Its status is `TRESS_STATE` until it has run, then what
/// `tress_ccm_encrypt` or `tress_ccm_decrypt` returns. `now_ns` is the time in nanoseconds, by a clock of the caller
/// that is the same for all calls. If the batch is full with the job, or due, it runs before the call returns. Any
/// thread.
///
/// Returns `TRESS_FULL` if the filler holds as many jobs as it may, and `TRESS_NONCE_REPEATED` if a waiting job to
/// encrypt has the same handle and nonce; then the job was not taken in. A nonce of jobs that have run is not noticed.
///
/// # Safety
/// `filler` is a handle; `job` is as `tress_ccm_encrypt_jobs` needs it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_submit(
    filler: *const tress_filler,
    job: *mut tress_ccm_job,
    encrypt: c_int,
    now_ns: u64,
) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let (filler, lent) = unsafe { (raw::handle(filler)?, Lent { job, encrypt: encrypt != 0 }) };
        if job.is_null() {
            return Err(TRESS_NULL.into());
        }
        // SAFETY: not NULL, and the caller vouches for it.
        unsafe { (&raw mut (*job).status).write(TRESS_STATE) };
        filler.0.submit(Duration::from_nanos(now_ns), lent).map_err(|refused| match refused {
            Refused::Full(_) => TRESS_FULL.into(),
            Refused::NonceRepeated(_) => TRESS_NONCE_REPEATED.into(),
        })
    })
}

/// Runs the jobs that wait if the first of them has waited long enough by `now_ns`; `UINT64_MAX` runs them in any case.
/// When to call again goes to `deadline_ns`, unless that is NULL: `UINT64_MAX` if no job waits. Any thread.
///
/// # Safety
/// `filler` is a handle; `deadline_ns` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_flush(
    filler: *const tress_filler,
    now_ns: u64,
    deadline_ns: *mut u64,
) -> tress_status {
    guard(|| {
        // SAFETY: as above.
        let tress_filler(filler) = unsafe { raw::handle(filler) }?;
        match now_ns {
            u64::MAX => filler.flush(),
            _ => filler.poll(Duration::from_nanos(now_ns)),
        }
        let next = filler.deadline().and_then(|next| u64::try_from(next.as_nanos()).ok());
        // SAFETY: as above.
        unsafe { raw::set(deadline_ns, next.unwrap_or(u64::MAX)) };
        Ok(())
    })
}

/// The next job that has run, which is the caller's again: look at its status. NULL if there is none, and for NULL. Any
/// thread.
///
/// # Safety
/// `filler` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_take(filler: *const tress_filler) -> *mut tress_ccm_job {
    // SAFETY: as above.
    let filler = unsafe { filler.as_ref() };
    guard_value(null_mut(), || filler.and_then(|filler| filler.0.take()).map_or(null_mut(), |lent| lent.job))
}

/// Ends a filler; NULL does nothing. Jobs that wait do not run, and all jobs inside are the caller's again. No other
/// thread may use it any more.
///
/// # Safety
/// `filler` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_filler_free(filler: *mut tress_filler) {
    // SAFETY: as above.
    unsafe { raw::free(filler) }
}
