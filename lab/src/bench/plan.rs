//! The cases that the options select, each with a backend and the installed peers.

use std::path::PathBuf;
use std::time::Duration;

use tress_cipher::Backend;

use super::enough::StoppingRule;
use super::options::Options;
use super::record::BenchRow;
use super::sample::{self, SampleEffort};
use super::visits::{self, VisitedRow};
use super::work::{BenchCase, Contender, TimedWork, WorkResult};
use super::{Error, matrix, rows};

/// Time for all comparisons of a quick run. Rooflines, key generation, and visits in progress take the rest of the minute.
const QUICK: Duration = Duration::from_secs(44);
/// The most time for one comparison of a quick run, over all visits.
const QUICK_COMPARISON: Duration = Duration::from_secs(2);
/// Time for one comparison of a full run, over all visits.
const COMPARISON: Duration = Duration::from_secs(4);

/// A row that is going to be measured.
pub(crate) struct Plan {
    case: BenchCase,
    backend: Backend,
    /// Peers that are asked for and installed.
    peers: Vec<Contender>,
    /// The program that runs peers that need another process.
    program: Option<PathBuf>,
    /// Time for each comparison, over all visits.
    time: Duration,
    /// Work that takes long to make, such as keys. It is kept from visit to visit.
    cached_work: Option<Box<dyn TimedWork>>,
}

/// The plans for the rows that `options` select, in order.
pub(crate) fn plans(options: &Options) -> Result<Vec<Plan>, Error> {
    let mut usual = rows::all().into_iter().filter(|case| options.wants(&case.name));
    let cases: Vec<(Backend, BenchCase)> = match &options.matrix {
        None => usual.map(|case| (Backend::best_of(case.backends), case)).collect(),
        Some(choice) => match matrix::cases(choice, |name| options.wants(name)) {
            Err(Error::NothingMatches) if usual.next().is_some() => {
                let text = "--backend, --lanes, --threads and --size need a cipher with a mode, such as aes-128-ccm";
                return Err(Error::NoSuchRow(text.into()));
            }
            found => found?,
        },
    };
    let plan = |(backend, case): (Backend, BenchCase)| {
        let peers: Vec<Contender> =
            case.peers.iter().copied().filter(|contender| options.has_peer(*contender)).collect();
        let program = options.command.clone().filter(|_| peers.contains(&Contender::OpenSslWithoutIfma));
        Plan { case, backend, peers, program, time: COMPARISON, cached_work: None }
    };
    let mut plans: Vec<Plan> = cases.into_iter().map(plan).collect();
    if options.quick {
        let comparisons = plans.iter().map(Plan::comparisons).sum::<usize>().max(1);
        let time = (QUICK / u32::try_from(comparisons).unwrap_or(u32::MAX)).min(QUICK_COMPARISON);
        plans.iter_mut().for_each(|plan| plan.time = time);
    }
    Ok(plans)
}

impl Plan {
    /// Makes the work. With `is_to_be_checked`, every contender does it once, and all outputs must be equal.
    pub(crate) fn work(&self, is_to_be_checked: bool) -> WorkResult {
        let mut work = (self.case.make)(self.backend, &self.peers)?;
        if let Some(program) = &self.program {
            work.attach_worker(program)?;
        }
        if is_to_be_checked {
            check(&self.case, &mut *work, &self.peers)?;
        }
        Ok(work)
    }

    /// The row before any measurement.
    pub(crate) fn row(&self, work: &dyn TimedWork) -> BenchRow {
        let row = self.row_without_work();
        BenchRow { backend: work.backend().map_or(row.backend, Into::into), ..row }
    }

    /// The row before the work is made. Only the work knows the backend of a row that is not a cipher.
    pub(crate) fn row_without_work(&self) -> BenchRow {
        let Plan { case, backend, .. } = self;
        BenchRow {
            name: case.name.clone(),
            direction: case.direction.into(),
            workload: case.workload.clone(),
            backend: backend.name().into(),
            threads: case.threads,
            lanes: case.lanes,
            message_bytes: case.message_bytes,
            ..BenchRow::default()
        }
    }
}

impl VisitedRow for Plan {
    fn title(&self) -> String {
        format!("{} {} {}", self.case.name, self.case.direction, self.case.workload)
    }

    fn comparisons(&self) -> usize {
        self.peers.len().max(1)
    }

    /// A row that is not sure yet must not have other peers, because they would not be measured further.
    fn has_same_peers(&self, row: &BenchRow) -> bool {
        let has = |contender: &Contender| {
            row.against.get(contender.name()).is_some_and(|against| against.version == contender.version())
        };
        let fits = row.against.len() == self.peers.len() || visits::is_sure(row);
        self.is_same_row(row) && fits && self.peers.iter().all(has)
    }

    fn is_same_row(&self, row: &BenchRow) -> bool {
        let case = &self.case;
        // Rows that are not ciphers name their own backend.
        let is_cipher = case.backends != [Backend::Portable];
        (&*case.name, case.direction, &*case.workload) == (&*row.name, &*row.direction, &*row.workload)
            && (case.threads, case.lanes, case.message_bytes) == (row.threads, row.lanes, row.message_bytes)
            && (!is_cipher || row.backend == self.backend.name())
    }

    fn stopping_rule(&self, options: &Options) -> StoppingRule {
        options.stopping_rule()
    }

    fn time(&self) -> Duration {
        self.time
    }

    fn is_due(&self, _: usize) -> bool {
        true
    }

    fn visit(&mut self, effort: SampleEffort, is_first: bool, row: Option<BenchRow>) -> Result<BenchRow, Error> {
        let mut work = match self.cached_work.take() {
            Some(work) => work,
            None => self.work(is_first)?,
        };
        let mut row = row.unwrap_or_else(|| self.row(&*work));
        sample::visit(&mut *work, &self.peers, effort, &mut row)?;
        if work.counts_operations() {
            row.per_s = row.bytes_per_s.take();
            row.cycles_per_byte = None;
        }
        self.cached_work = work.cache_setup().then_some(work);
        Ok(row)
    }
}

/// Runs every contender once and compares the outputs. Times can be compared only if the outputs are equal.
fn check(case: &BenchCase, work: &mut dyn TimedWork, peers: &[Contender]) -> Result<(), Error> {
    work.prepare(Contender::Tress)?;
    work.run(Contender::Tress)?;
    let expected = work.output(Contender::Tress).to_vec();
    for &contender in peers {
        work.prepare(contender)?;
        work.run(contender)?;
        if !expected.starts_with(work.output(contender)) {
            return Err(Error::Disagreement { row: case.name.clone(), peer: contender.name() });
        }
    }
    Ok(())
}
