//! Simulations of a study, several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tress_container::threads::start;

use super::Error;

/// The results of `one` for all jobs, in their order. As many run at a time as this machine has cores, those with the
/// largest `work` first, so that no long job runs alone at the end. If the system cannot start threads, fewer run at
/// a time.
pub(super) fn run_all<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> u64,
    one: impl Fn(&J) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(work(&jobs[place])));
    let next = AtomicUsize::new(0);
    let mut done: Vec<Option<R>> = Vec::new();
    done.resize_with(jobs.len(), || None);
    let done = Mutex::new(done);
    let failed = Mutex::new(None);
    let progress = crate::timing::progress(jobs.len() as u64);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let take_jobs = || {
        while let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            match one(&jobs[place]) {
                Ok(result) => lock(&done)[place] = Some(result),
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                    next.store(order.len(), Ordering::Relaxed);
                }
            }
            progress.inc(1);
        }
    };
    std::thread::scope(|scope| {
        let helpers = 1..cores.min(jobs.len());
        // The threads that did start take the jobs of one that did not.
        let _ = helpers.map(|_| start(scope, take_jobs)).take_while(Result::is_ok).count();
        take_jobs();
    });
    progress.finish_and_clear();
    if let Some(error) = lock(&failed).take() {
        return Err(error);
    }
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.into_iter().map(|result| result.ok_or_else(|| Error::Program("a run has no result".into()))).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_jobs() {
        let jobs: Vec<u64> = (0..40).map(|job| job * 7 % 40).collect();
        let squares = run_all(&jobs, |job| *job, |job| Ok(job * job)).expect("squares");
        assert!(jobs.iter().zip(squares).all(|(job, square)| job * job == square));
    }

    #[test]
    fn without_helpers_the_caller_takes_all_jobs() {
        let jobs: Vec<u64> = (0..40).collect();
        for left in [0, 1] {
            tress_container::threads::LEFT.set(left);
            assert_eq!(run_all(&jobs, |job| *job, |job| Ok(*job)).expect("all jobs"), jobs);
        }
        tress_container::threads::LEFT.set(usize::MAX);
    }

    #[test]
    fn one_failure_ends_all() {
        let fails = |job: &u64| if *job == 3 { Err(Error::Program("three".into())) } else { Ok(()) };
        assert!(matches!(run_all(&[1, 2, 3, 4], |_| 0, fails), Err(Error::Program(why)) if why == "three"));
        assert!(run_all(&[] as &[u64], |_| 0, fails).expect("nothing").is_empty());
    }
}
