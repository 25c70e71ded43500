//! AES-CCM, computing overlapped with communicating: E. Lee, S. Lee, Y. Chung, M. Lee and B. Min,
//! "Computation-Communication Overlapping in AES-CCM Using Thread-Level Parallelism on a Multi-Core Processor", Journal of
//! KIISE: Computing Practices and Letters 16(8), 2010.

mod by_size;
mod conclude;
mod fig5;
mod links;
mod message;
mod paper;
mod strategies;
mod sync;
mod table1;
mod timeline;

use std::time::Instant;

use super::busy::BusyMonitor;
use super::{Error, Study, cores, misprints, part};

pub(super) const STUDY: Study = Study {
    name: "ccm-overlap",
    title: "AES-CCM: computation overlapped with communication",
    texts: include_str!("texts.txt"),
    parts: &[
        part("by-size", "One message on one core by size (Fig. 4)", by_size::run),
        part("strategies", "One message on several cores (section 2.2), and lanes", strategies::run),
        part("table-1", "Stages and speed-up (Table 1)", table1::run),
        part("sync", "The cost of a synchronisation (section 4)", sync::run),
        part("fig-5", "Four cores, divided between computing and communicating (Fig. 5)", fig5::run),
        part("links", "Over real links", links::run),
        part("timeline", "Timeline of a transfer", timeline::run),
        part("misprints", "Misprints", |_| misprints(&STUDY, include_str!("misprints.txt"))),
    ],
    machine: None,
    inputs: |_| Ok(String::new()),
    conclude: conclude::conclude,
};

type Workload<'a> = &'a mut dyn FnMut() -> Result<(), Error>;

/// Runs several closures alternately, after one round for warm-up, so that disturbances of the machine affect all of
/// them. Returns the seconds of each. `monitor` checks whether the machine is busy.
fn alternate(
    samples: usize,
    monitor: &mut BusyMonitor,
    workloads: &mut [Workload<'_>],
) -> Result<Vec<Vec<f64>>, Error> {
    let mut seconds = vec![Vec::with_capacity(samples); workloads.len()];
    for sample in 0..=samples {
        monitor.check();
        for (work, seconds) in workloads.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            work()?;
            if sample > 0 {
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(seconds)
}
