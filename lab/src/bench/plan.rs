//! The cases that the options select, each with a backend and the installed peers.

use std::{path::PathBuf, time::Duration};

use tress_cipher::Backend;

use super::{
    Error,
    enough::Enough,
    matrix,
    options::Options,
    record::Row,
    rows,
    sample::{self, Effort},
    visits::{self, Item},
    work::{Case, Made, Who, Work},
};

/// Time for all comparisons of a quick run. Rooflines, key generation, and visits in progress take the rest of the minute.
const QUICK: Duration = Duration::from_secs(44);
/// The most time for one comparison of a quick run, over all visits.
const QUICK_COMPARISON: Duration = Duration::from_secs(2);
/// Time for one comparison of a full run, over all visits.
const COMPARISON: Duration = Duration::from_secs(4);

/// A row that is going to be measured.
pub(crate) struct Plan {
    case: Case,
    backend: Backend,
    /// Peers that are asked for and installed.
    peers: Vec<Who>,
    /// The program that runs peers that need another process.
    program: Option<PathBuf>,
    /// Time for each comparison, over all visits.
    time: Duration,
    /// Work that takes long to make, such as keys. It is kept from visit to visit.
    kept: Option<Box<dyn Work>>,
}

/// The plans for the rows that `options` select, in order.
pub(crate) fn plans(options: &Options) -> Result<Vec<Plan>, Error> {
    let mut usual = rows::all().into_iter().filter(|case| options.wants(&case.name));
    let cases: Vec<(Backend, Case)> = match &options.matrix {
        None => usual.map(|case| (Backend::best_of(case.backends), case)).collect(),
        Some(choice) => match matrix::cases(choice, |name| options.wants(name)) {
            Err(Error::NothingMatches) if usual.next().is_some() => {
                let text = "--backend, --lanes, --threads and --size need a cipher with a mode, such as aes-128-ccm";
                return Err(Error::NoSuchRow(text.into()));
            }
            found => found?,
        },
    };
    let plan = |(backend, case): (Backend, Case)| {
        let peers: Vec<Who> = case.peers.iter().copied().filter(|who| options.has_peer(*who)).collect();
        let program = options.command.clone().filter(|_| peers.contains(&Who::OpenSslWithoutIfma));
        Plan { case, backend, peers, program, time: COMPARISON, kept: None }
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
    pub(crate) fn work(&self, is_to_be_checked: bool) -> Made {
        let mut work = (self.case.make)(self.backend, &self.peers)?;
        if let Some(program) = &self.program {
            work.employ(program)?;
        }
        if is_to_be_checked {
            check(&self.case, &mut *work, &self.peers)?;
        }
        Ok(work)
    }

    /// The row before any measurement.
    pub(crate) fn row(&self, work: &dyn Work) -> Row {
        let row = self.row_without_work();
        Row { backend: work.backend().map_or(row.backend, Into::into), ..row }
    }

    /// The row before the work is made. Only the work knows the backend of a row that is not a cipher.
    pub(crate) fn row_without_work(&self) -> Row {
        let Plan { case, backend, .. } = self;
        Row {
            name: case.name.clone(),
            direction: case.direction.into(),
            workload: case.workload.clone(),
            backend: backend.name().into(),
            threads: case.threads,
            lanes: case.lanes,
            message_bytes: case.message_bytes,
            ..Row::default()
        }
    }
}

impl Item for Plan {
    fn title(&self) -> String {
        format!("{} {} {}", self.case.name, self.case.direction, self.case.workload)
    }

    fn comparisons(&self) -> usize {
        self.peers.len().max(1)
    }

    /// A row that is not sure yet must not have other peers, because they would not be measured further.
    fn made(&self, row: &Row) -> bool {
        let has = |who: &Who| row.against.get(who.name()).is_some_and(|against| against.version == who.version());
        let fits = row.against.len() == self.peers.len() || visits::is_sure(row);
        self.is_of(row) && fits && self.peers.iter().all(has)
    }

    fn is_of(&self, row: &Row) -> bool {
        let case = &self.case;
        // Rows that are not ciphers name their own backend.
        let is_cipher = case.backends != [Backend::Portable];
        (&*case.name, case.direction, &*case.workload) == (&*row.name, &*row.direction, &*row.workload)
            && (case.threads, case.lanes, case.message_bytes) == (row.threads, row.lanes, row.message_bytes)
            && (!is_cipher || row.backend == self.backend.name())
    }

    fn enough(&self, options: &Options) -> Enough {
        options.enough()
    }

    fn time(&self) -> Duration {
        self.time
    }

    fn is_due(&self, _: usize) -> bool {
        true
    }

    fn visit(&mut self, effort: Effort, is_first: bool, row: Option<Row>) -> Result<Row, Error> {
        let mut work = match self.kept.take() {
            Some(work) => work,
            None => self.work(is_first)?,
        };
        let mut row = row.unwrap_or_else(|| self.row(&*work));
        sample::visit(&mut *work, &self.peers, effort, &mut row)?;
        if work.counts_operations() {
            row.per_s = row.bytes_per_s.take();
            row.cycles_per_byte = None;
        }
        self.kept = work.is_costly().then_some(work);
        Ok(row)
    }
}

/// Runs every contender once and compares the outputs. Times can be compared only if the outputs are equal.
fn check(case: &Case, work: &mut dyn Work, peers: &[Who]) -> Result<(), Error> {
    work.prepare(Who::Ours)?;
    work.run(Who::Ours)?;
    let expected = work.output(Who::Ours).to_vec();
    for &who in peers {
        work.prepare(who)?;
        work.run(who)?;
        if !expected.starts_with(work.output(who)) {
            return Err(Error::Disagreement { row: case.name.clone(), peer: who.name() });
        }
    }
    Ok(())
}
