//! The transfer planner. Results have the keys of the command's `--json` output.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tress_plan::{Compute, Problem, Strategy, SyncCost};

use crate::arguments;
use crate::errors::{self, ExceptionClass, kind_name};

/// Predicts the duration of a transfer of `size_bytes`, and the number of stages, when encryption overlaps sending.
///
/// `compute_rate` is the rate of encryption on one core, and `link_rate` that of the link, both in bytes per second. `sync_cost` is
/// in seconds. `strategy` is `serial`, `ctr-split`, `mac-apart` or `chunks`.
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
    let plan =
        problem.plan().map_err(|error| ExceptionClass::Usage.error(py, &error.to_string(), &kind_name(&error)))?;
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
