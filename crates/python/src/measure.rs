//! The planner and the simulator. Results are what the command prints with `--json`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tress_plan::{Compute, Problem, Strategy, SyncCost};
use tress_sim::{Image, Machine, Model, Report, Simulation, System};

use crate::arguments;
use crate::errors::{self, Class, kind_name};

/// Instructions between two looks at signals, and the same where time is told.
const SLICE: u64 = 2_000_000;
const TIMED_SLICE: u64 = 200_000;
/// Programs for bare machines are smaller, and machine files have a few kilobytes.
const MAX_PROGRAM_BYTES: u64 = 1 << 30;
const MAX_MACHINE_BYTES: u64 = 1 << 20;

/// How long a transfer of `size_bytes` takes, and in how many stages, when encrypting (`compute_rate`, bytes a second of one core)
/// overlaps sending (`link_rate`). `sync_cost` is in seconds; `strategy` is `serial`, `ctr-split`, `mac-apart` or `chunks`.
#[pyfunction]
#[pyo3(signature = (size_bytes, compute_rate, link_rate, *, sync_cost = 10e-6, cores = 2, links = 1, min_batch = None, buffer = None,
    strategy = "chunks"))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arguments::whole::<u64>)] size_bytes: u64,
    compute_rate: f64,
    link_rate: f64,
    sync_cost: f64,
    #[pyo3(from_py_with = arguments::whole::<usize>)] cores: usize,
    #[pyo3(from_py_with = arguments::whole::<usize>)] links: usize,
    #[pyo3(from_py_with = arguments::optional_whole::<u64>)] min_batch: Option<u64>,
    #[pyo3(from_py_with = arguments::optional_whole::<u64>)] buffer: Option<u64>,
    strategy: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let strategy = match strategy {
        "serial" => Strategy::Serial,
        "ctr-split" => Strategy::CtrSplit,
        "mac-apart" => Strategy::MacApart,
        "chunks" => Strategy::Chunks,
        _ => return Err(errors::usage(py, "strategy must be 'serial', 'ctr-split', 'mac-apart' or 'chunks'")),
    };
    let problem = Problem {
        size_bytes,
        compute: Compute::Given { r_comp: compute_rate.recip(), strategy },
        r_comm: link_rate.recip(),
        links,
        sync: SyncCost::Given(sync_cost),
        cores,
        min_batch_bytes: min_batch,
        buffer_bytes: buffer,
    };
    let plan = problem.plan().map_err(|error| Class::Usage.error(py, &error.to_string(), &kind_name(&error)))?;
    let row = PyDict::new(py);
    row.set_item("stages", plan.stages)?;
    row.set_item("stage_bytes", plan.stage_bytes)?;
    row.set_item("time_s", plan.time_s)?;
    row.set_item("sequential_s", plan.sequential_s)?;
    row.set_item("speedup", plan.speedup)?;
    row.set_item("limit", plan.limit.name())?;
    row.set_item("optimal_stages", plan.optimal_stages.is_finite().then_some(plan.optimal_stages))?;
    row.set_item("lower_bound_s", plan.lower_bound_s)?;
    row.set_item("compute_cores", plan.compute_cores)?;
    row.set_item("link_cores", plan.link_cores)?;
    row.set_item("compute_s_per_byte", plan.r_comp)?;
    row.set_item("link_s_per_byte", plan.r_comm)?;
    row.set_item("sync_cost_s", plan.sync_s)?;
    row.set_item("size_bytes", size_bytes)?;
    row.set_item("measured", py.None())?;
    row.set_item("from", py.None())?;
    Ok(row)
}

/// Runs a program on a simulated machine; returns the report as JSON. `console` is called with what the program prints.
#[pyfunction]
#[pyo3(signature = (program, *, machine = None, issue = None, harts = None, unlimited = false, limit = None, console = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn simulate(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::path)] program: PathBuf,
    #[pyo3(from_py_with = arguments::optional_path)] machine: Option<PathBuf>,
    #[pyo3(from_py_with = arguments::optional_whole::<u32>)] issue: Option<u32>,
    #[pyo3(from_py_with = arguments::optional_whole::<u32>)] harts: Option<u32>,
    unlimited: bool,
    #[pyo3(from_py_with = arguments::optional_whole::<u64>)] limit: Option<u64>,
    console: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let printed = Console::default();
    let mut runner = py
        .detach(|| Runner::new(&program, machine.as_deref(), issue, harts, unlimited, printed.clone()))
        .map_err(|failure| failure.raise(py))?;
    let failed = |error| Failure::Simulation(error).raise(py);
    loop {
        let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(runner.system().instructions()));
        let outcome = py.detach(|| runner.run(left));
        let text = printed.take();
        if let Some(console) = console.filter(|_| !text.is_empty()) {
            console.call1((PyBytes::new(py, &text),))?;
        }
        if let Some(exit_code) = outcome.map_err(failed)? {
            let report = py.detach(|| serde_json::to_string(&runner.report(exit_code)));
            return report.map_err(|error| Class::TressError.error(py, &error.to_string(), "report"));
        }
        py.check_signals()?;
        if let Some(limit) = limit
            && runner.system().instructions() >= limit
        {
            return Err(failed(runner.system().stopped(tress_sim::ErrorKind::Limit(limit))));
        }
    }
}

/// Why nothing was simulated, or not to the end.
enum Failure {
    File(tress_container::Error),
    Simulation(tress_sim::Error),
}

impl Failure {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::File(error) => errors::stream(py, error),
            Self::Simulation(error) => {
                let class = match error.kind {
                    tress_sim::ErrorKind::Machine(_) => Class::Usage,
                    _ => Class::TressError,
                };
                class.error(py, &error.to_string(), &kind_name(&error.kind))
            }
        }
    }
}

impl From<tress_sim::Error> for Failure {
    fn from(error: tress_sim::Error) -> Self {
        Self::Simulation(error)
    }
}

/// A program that just runs, or one whose time is told.
enum Runner {
    Plain(Box<System>),
    Timed(Box<Simulation>),
}

impl Runner {
    fn new(
        program: &Path,
        machine: Option<&Path>,
        issue: Option<u32>,
        harts: Option<u32>,
        unlimited: bool,
        console: Console,
    ) -> Result<Self, Failure> {
        let image = Image::parse(&read(program, MAX_PROGRAM_BYTES)?)?;
        let Some(name) = machine else {
            let harts = harts.unwrap_or(1).clamp(1, tress_sim::MAX_HARTS as u32);
            let machine = Machine { harts: harts as usize, ..Machine::generic() };
            return Ok(Self::Plain(Box::new(System::new(&machine, image, Box::new(console))?)));
        };
        let mut machine = match name.to_str().and_then(Machine::preset) {
            Some(machine) => machine,
            None => {
                let text = String::from_utf8_lossy(&read(name, MAX_MACHINE_BYTES)?).into_owned();
                Machine::parse(&text)?
            }
        };
        if let Some(harts) = harts {
            machine.harts = harts as usize;
        }
        match issue {
            Some(issue) => machine.set_issue(issue)?,
            None => machine.check()?,
        }
        let model = if unlimited { Model::Limit } else { Model::Pipeline };
        Ok(Self::Timed(Box::new(Simulation::new(&machine, model, image, Box::new(console))?)))
    }

    /// Runs for a while, and no longer than for so many instructions.
    fn run(&mut self, most: u64) -> Result<Option<u64>, tress_sim::Error> {
        match self {
            Self::Plain(system) => system.run(most.min(SLICE)),
            Self::Timed(simulation) => simulation.run(most.min(TIMED_SLICE)),
        }
    }

    fn system(&self) -> &System {
        match self {
            Self::Plain(system) => system,
            Self::Timed(simulation) => simulation.system(),
        }
    }

    fn report(&mut self, exit_code: u64) -> Report {
        match self {
            Self::Plain(system) => system.report(exit_code),
            Self::Timed(simulation) => simulation.report(exit_code),
        }
    }
}

/// A small file, whole.
fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Failure> {
    use std::io::Read as _;
    let failed = |error: io::Error| Failure::File(tress_container::Error::from(error).at(path));
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(most_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most_bytes {
        return Err(Failure::File(tress_container::Error::new(tress_container::ErrorKind::MessageTooLong).at(path)));
    }
    Ok(bytes)
}

/// What a program has printed since it was last taken.
#[derive(Clone, Default)]
struct Console(Arc<Mutex<Vec<u8>>>);

impl Console {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
