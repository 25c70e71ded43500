//! Simulations of a study, several at a time.

use std::fmt::Debug;
use std::sync::Mutex;

use tress_container::threads::start;
use tress_container::workers::lock;
use tress_sim::{Image, Machine, Model, Simulation};

use super::Error;

/// The image with these parameters behind `magic`, by which the program marks their place.
pub(super) fn with_parameters(image: &[u8], magic: &[u8], words: &[u32]) -> Result<Vec<u8>, Error> {
    let mut program = image.to_vec();
    let start = program.windows(magic.len()).position(|window| window == magic).map(|start| start + magic.len());
    let place = start.and_then(|start| program.get_mut(start..start + 4 * words.len()));
    let place = place.ok_or_else(|| Error::Program("its parameters are missing".into()))?;
    place.chunks_exact_mut(4).zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
    Ok(program)
}

/// Runs a program to its end. `what` is for errors.
pub(super) fn simulate(machine: &Machine, model: Model, program: &[u8], what: impl Debug) -> Result<Simulation, Error> {
    // A run of more instructions is a bug.
    const LIMIT: u64 = 1 << 32;
    let mut simulation = Simulation::new(machine, model, Image::parse(program)?)?;
    match simulation.run(LIMIT)? {
        Some(0) => Ok(simulation),
        Some(code) => Err(Error::Program(format!("{what:?}: exit code {code}"))),
        None => Err(Error::Program(format!("{what:?}: did not end"))),
    }
}

/// Bytes from `offset` on at the symbol `tress_result` of a program that ended.
pub(super) fn result(simulation: &Simulation, offset: u64, bytes: u64) -> Result<Vec<u8>, Error> {
    let symbol = simulation.system().image().data("tress_result");
    let address = symbol.ok_or_else(|| Error::Program("its result is missing".into()))?.address;
    Ok(simulation.system().bus.memory.bytes(address + offset, bytes))
}

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
    let next = Mutex::new(order.into_iter());
    let done = Mutex::new(Vec::from_iter(jobs.iter().map(|_| None)));
    let failed = Mutex::new(None);
    let progress = crate::timing::progress(jobs.len() as u64);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let take_jobs = || {
        loop {
            let Some(place) = lock(&next).next() else { return };
            match one(&jobs[place]) {
                Ok(result) => lock(&done)[place] = Some(result),
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                    lock(&next).by_ref().for_each(drop);
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
    let done = std::mem::take(&mut *lock(&done));
    done.into_iter().map(|result| result.ok_or_else(|| Error::Program("a run has no result".into()))).collect()
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
    fn parameters_have_a_place() {
        assert_eq!(with_parameters(b"-magic....-", b"magic", &[0x64636261]).expect("a program"), b"-magicabcd-");
        for image in [&b""[..], b"magi", b"magic...", b"another program"] {
            assert!(matches!(with_parameters(image, b"magic", &[1]), Err(Error::Program(_))));
        }
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
