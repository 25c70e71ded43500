//! `tress plan`: computes time, stages and cores of a transfer from given or measured rates.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tress_container::Control;
use tress_container::commands::{self, Sink};
use tress_container::format::LAYOUT;
use tress_plan::cache::{self, Cached};
use tress_plan::measure::{self, Spread, SyncKind};
use tress_plan::{Compute, Invalid, Limit, Measurement, Plan, Problem, Recorded, Strategy, SyncCost, picture};
use tress_terminal::blocked::blocked;

use super::{cancellable, note};
use crate::failure::{self, Failure};
use crate::units::{self, count_text, rate_text, seconds_text};
use crate::{args, files, progress};

/// The paper's time for one synchronisation of two cores, in seconds.
const PAPER_SYNC_S: f64 = 10e-6;
/// Bytes to plan for without `--size`, if `--measure` or `--from` is given.
const DEFAULT_BYTES: u64 = 1 << 30;
/// Size of the largest record in bytes.
const MAX_RECORD_BYTES: usize = 64 << 20;

/// The JSON object. Scripts rely on its keys.
#[derive(Serialize)]
struct PlanReport<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    size_bytes: u64,
    measured: Option<&'a Measurement>,
    from: Option<RecordOrigin<'a>>,
}

/// The record that the rates come from.
#[derive(Serialize)]
struct RecordOrigin<'a> {
    machine: &'a str,
    cores: usize,
    date: &'a str,
    is_this_machine: bool,
    /// The row of the record that R_comp comes from.
    row: String,
}

/// Figures of a machine, used for options that are not given.
#[derive(Default)]
struct MachineFigures {
    compute: Option<Compute>,
    r_comm: Option<f64>,
    sync: Option<SyncCost>,
    cores: Option<usize>,
}

/// The source of these figures: a record, a measurement, or neither.
#[derive(Default)]
struct Origin {
    measured: Option<Measurement>,
    recorded: Option<Recorded>,
}

impl Origin {
    fn figures(&self, options: &args::Plan) -> MachineFigures {
        let kind = match options.sync {
            args::Sync::Barrier => SyncKind::Barrier,
            args::Sync::Counter => SyncKind::Counter,
        };
        match (&self.recorded, &self.measured) {
            (Some(recorded), _) => MachineFigures {
                compute: Some(recorded.compute.clone()),
                r_comm: recorded.r_comm,
                sync: recorded.sync_cost(kind),
                cores: Some(recorded.cores),
            },
            (None, Some(measured)) => MachineFigures {
                compute: Some(measured.compute()),
                r_comm: Some(measured.r_comm()),
                sync: Some(measured.sync_cost(kind)),
                cores: Some(measured.machine.cores),
            },
            (None, None) => MachineFigures::default(),
        }
    }

    /// The source as text, for the table.
    fn words(&self) -> String {
        match (&self.recorded, &self.measured) {
            (Some(recorded), _) => format!("recorded on {}", machine_text(recorded)),
            (None, Some(_)) => "measured here".into(),
            (None, None) => "as given".into(),
        }
    }
}

fn machine_text(recorded: &Recorded) -> String {
    let Recorded { model, cores, date, .. } = recorded;
    format!("{}, {cores} cores, {date}", crate::failure::escape(model))
}

/// Describes the row that R_comp comes from.
fn row_text(recorded: &Recorded) -> String {
    let row = &recorded.row;
    let text =
        format!("{} {}, {}, {} lanes of {} bytes", row.name, row.direction, row.backend, row.lanes, row.message_bytes);
    crate::failure::escape(&text).to_string()
}

pub(crate) fn run(options: &args::Plan) -> Result<(), Failure> {
    let sink = files::picture_sink(options.output.as_deref(), options.json, options.force)?;
    if let Some(Sink::Path { path, .. }) = &sink {
        files::refuse_input(path, options.from.iter().map(PathBuf::as_path))?;
    }
    let is_of_machine = options.measure || options.from.is_some();
    let Some(size_bytes) = options.size.or(is_of_machine.then_some(DEFAULT_BYTES)) else {
        return Err(Failure::wrong_use("no size given").hint("add --size BYTES, such as --size 10GiB"));
    };
    if options.strategy != args::Strategy::Chunks && options.compute_rate.is_none() {
        return Err(Failure::wrong_use("--strategy needs --compute-rate: measured rates are for chunks in lanes"));
    }
    // Report errors in the given figures before measuring.
    problem(options, size_bytes, MachineFigures::default()).plan().map_err(invalid)?;
    cancellable(|control| {
        let origin = match &options.from {
            Some(path) => Origin { recorded: Some(recorded(options, path)?), measured: None },
            None => Origin { measured: measurement(options, control)?, recorded: None },
        };
        let problem = problem(options, size_bytes, origin.figures(options));
        let plan = problem.plan().map_err(invalid)?;
        if let Some(sink) = &sink {
            let svg = picture::plan::chart(&problem, &plan, title(&problem)).svg();
            if *sink == Sink::Stdout {
                return files::print(&svg);
            }
            commands::store(svg.as_bytes(), sink, control)
                .map_err(|error| failure::from_error(error).with_force(options.force))?;
        }
        print(options, &problem, &plan, &origin)
    })
}

fn print(options: &args::Plan, problem: &Problem, plan: &Plan, origin: &Origin) -> Result<(), Failure> {
    if options.json {
        return files::print_json(&row(problem, plan, origin));
    }
    let mut text = String::new();
    if let Some(measurement) = origin.measured.as_ref().filter(|_| options.measure) {
        text.push_str(&measured_text(measurement));
    }
    text.push_str(&plan_text(problem, plan, options, origin));
    files::print(&text)
}

/// Reads a record. It may lack figures that are given as options.
fn recorded(options: &args::Plan, path: &Path) -> Result<Recorded, Failure> {
    let named = |text: String| Failure::failed(format!("{}: {text}", failure::name(path)));
    let text = blocked(|| files::read_small(path, MAX_RECORD_BYTES))?;
    let recorded = Recorded::parse(&text).map_err(|error| named(error.to_string()))?;
    let figures = Origin { recorded: Some(recorded.clone()), measured: None }.figures(options);
    let lacks = |what: &str, option: &str| Err(named(format!("the record has no {what}")).hint(option));
    if figures.r_comm.is_none() && options.link_rate.is_none() {
        return lacks("loopback rate to use for the link", "add --link-rate, such as --link-rate 1Gbit");
    }
    if figures.sync.is_none() && options.sync_cost.is_none() {
        return lacks("synchronisation time", "add --sync-cost, such as --sync-cost 10us");
    }
    if !recorded.is_here {
        note(&format!("recorded on another machine: {}", machine_text(&recorded)));
    }
    Ok(recorded)
}

/// Measures this machine, or reads the kept measurement, if the options need it.
fn measurement(options: &args::Plan, control: &Control) -> Result<Option<Measurement>, Failure> {
    let is_given = options.compute_rate.is_some() && options.link_rate.is_some();
    if is_given && !options.measure {
        return Ok(None);
    }
    let path = cache::path();
    if !options.measure {
        let missing = if options.compute_rate.is_none() { "compute" } else { "link" };
        match path.as_deref().map_or(Cached::Missing, cache::load) {
            Cached::Found(found) => return Ok(Some(*found)),
            Cached::Missing => {
                return Err(Failure::wrong_use(format!(
                    "no {missing} rate given, and this machine has not been measured"
                ))
                .hint(format!("add --{missing}-rate RATE, or --measure")));
            }
            Cached::Unusable => {
                note("the kept measurement is damaged, or from another machine or version: measuring again")
            }
        }
    }
    let measured = {
        let bar = progress::Steps::start();
        measure::measure(control, &mut |what, done, total| bar.show(what, done, total)).map_err(failure::from_error)?
    };
    // A failure to keep the measurement does not fail the plan.
    let kept = match &path {
        Some(path) => cache::store(path, &measured, control).map_err(|error| error.to_string()),
        None => Err("neither XDG_CACHE_HOME nor HOME is set to a folder".into()),
    };
    if let Err(cause) = kept {
        note(&format!("the measurement was not kept: {cause}"));
    }
    Ok(Some(measured))
}

/// Builds the planner's problem from the options and the figures of a machine. A rate that neither of them has is set to one, which is
/// enough to check the options.
fn problem(options: &args::Plan, size_bytes: u64, figures: MachineFigures) -> Problem {
    let strategy = match options.strategy {
        args::Strategy::Serial => Strategy::Serial,
        args::Strategy::CtrSplit => Strategy::CtrSplit,
        args::Strategy::MacApart => Strategy::MacApart,
        args::Strategy::Chunks => Strategy::Chunks,
    };
    let given = |r_comp| Compute::Given { r_comp, strategy };
    let compute = match (options.compute_rate, figures.compute) {
        (Some(rate), _) => given(rate.recip()),
        (None, figure) => figure.unwrap_or_else(|| given(1.0)),
    };
    let r_comm = options.link_rate.map_or(figures.r_comm.unwrap_or(1.0), f64::recip);
    let sync = options.sync_cost.map(SyncCost::Given).or(figures.sync).unwrap_or(SyncCost::Given(PAPER_SYNC_S));
    let is_of_machine = options.measure || options.from.is_some();
    let is_chunked = options.compute_rate.is_none() || options.link_rate.is_none() || is_of_machine;
    let smallest = is_chunked.then(|| (LAYOUT.chunk_bytes() as u64).min(options.buffer.unwrap_or(u64::MAX)));
    Problem {
        size_bytes,
        compute,
        r_comm,
        links: options.links.into(),
        sync,
        cores: options.cores.map(usize::from).or(figures.cores).unwrap_or(1 + usize::from(options.links)),
        min_batch_bytes: options.min_batch.or(smallest),
        buffer_bytes: options.buffer,
    }
}

fn invalid(error: Invalid) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        Invalid::NoOptimum => failure.hint("add --min-batch BYTES, or make --sync-cost greater than zero"),
        _ => failure,
    }
}

fn row<'a>(problem: &Problem, plan: &'a Plan, origin: &'a Origin) -> PlanReport<'a> {
    let from = origin.recorded.as_ref().map(|recorded| RecordOrigin {
        machine: &recorded.model,
        cores: recorded.cores,
        date: &recorded.date,
        is_this_machine: recorded.is_here,
        row: row_text(recorded),
    });
    PlanReport { plan, size_bytes: problem.size_bytes, measured: origin.measured.as_ref(), from }
}

fn title(problem: &Problem) -> String {
    let link = rate_text(problem.r_comm.recip());
    let links = if problem.links == 1 { String::new() } else { format!(" over each of {} links", problem.links) };
    format!(
        "{}, encrypted at {} per core, sent at {link}{links}",
        units::size_text(problem.size_bytes),
        rate_text(problem.compute.of_one_core().recip()),
    )
}

fn plan_text(problem: &Problem, plan: &Plan, options: &args::Plan, origin: &Origin) -> String {
    let side = |r: f64, cores: usize, what: &str| {
        let cores = if cores == 1 { format!("1 core {what}") } else { format!("{cores} cores {what}") };
        format!("{cores}, {}", rate_text(r.recip()))
    };
    let optimal = match plan.limit {
        Limit::OneCore => String::new(),
        _ if plan.optimal_stages.is_finite() => format!(" (equation 2: {:.1})", plan.optimal_stages),
        _ => " (equation 2: no limit)".into(),
    };
    let mut text = format!(
        "time        {} (the slower side alone: {})\n\
         stages      {}{optimal}\n\
         batch       {} ({})\n\
         cores       {}\n            {}\n",
        seconds_text(plan.time_s),
        seconds_text(plan.lower_bound_s),
        count_text(plan.stages),
        units::exact_bytes_text(plan.stage_bytes),
        units::bytes_text(plan.stage_bytes),
        side(plan.r_comp, plan.compute_cores, "computing"),
        side(plan.r_comm, plan.link_cores, "communicating"),
    );
    text.push_str(&format!(
        "speed-up    {:.3} over encrypting everything before sending ({})\nlimit       {}: {}\n",
        plan.speedup,
        seconds_text(plan.sequential_s),
        plan.limit.name(),
        reason(plan.limit),
    ));
    let link = match (options.link_rate, &origin.recorded, &origin.measured) {
        (Some(_), ..) => "; link rate as given",
        (None, Some(_), _) => "; link rate from that machine's loopback",
        (None, None, Some(measured)) if measured.loopback.is_none() => "; link rate that of its memory",
        (None, None, _) => "; link rate from this machine's loopback",
    };
    if let Some(recorded) = origin.recorded.as_ref().filter(|_| options.compute_rate.is_none()) {
        text.push_str(&format!("row         {}\n", row_text(recorded)));
    }
    let (origin, link) = match (options.compute_rate, options.link_rate) {
        (Some(_), Some(_)) => ("as given".into(), ""),
        (Some(_), None) => ("as given".into(), link),
        (None, _) => (origin.words(), link),
    };
    text.push_str(&format!(
        "based on    {} per synchronisation, {}; rates {origin}{link}\n",
        seconds_text(plan.sync_s),
        units::size_text(problem.size_bytes),
    ));
    text
}

fn reason(limit: Limit) -> &'static str {
    match limit {
        Limit::Compute => "computing is the slower side",
        Limit::Link => "the link is the slower side",
        Limit::Balanced => "both sides take the same time",
        Limit::MinBatch => "more stages would be faster, but smaller than the smallest batch",
        Limit::Buffer => "fewer stages would be faster, but larger than the buffer",
        Limit::Lanes => "more stages would leave lanes empty",
        Limit::SyncCost => "synchronising costs more time than overlapping saves",
        Limit::OneCore => "a single core cannot compute and communicate at the same time",
    }
}

fn measured_text(measured: &Measurement) -> String {
    let rate = |cost: &Spread| {
        // The lowest cost is the highest rate.
        let of = |r: f64| r.recip() / 1e9;
        format!("{:>7.2} GB/s  ({:.2} to {:.2})", of(cost.median), of(cost.high), of(cost.low))
    };
    let mut text = format!(
        "{}, {} cores, {}; median of up to {} samples (quartiles)\n\n",
        measured.machine.model,
        measured.machine.cores,
        measured.machine.backend,
        measure::SAMPLES
    );
    for figure in &measured.lanes {
        text.push_str(&format!("compute   1 thread,  {:>2} chunks in flight  {}\n", figure.count, rate(&figure.cost)));
    }
    for figure in measured.threads.iter().filter(|figure| figure.count > 1) {
        let flight = measured.lanes.last().map_or(0, |figure| figure.count);
        text.push_str(&format!(
            "compute   {} threads, {flight:>2} chunks in flight  {}\n",
            figure.count,
            rate(&figure.cost)
        ));
    }
    text.push_str(&format!("memory    copy, 1 thread                  {}\n", rate(&measured.memory)));
    match &measured.loopback {
        Some(cost) => text.push_str(&format!("loopback  TCP, this machine with itself   {}\n", rate(cost))),
        None => text.push_str("loopback  not measured: the link is assumed to be as fast as memory\n"),
    }
    for figures in &measured.sync {
        for figure in &figures.seconds {
            let cost = &figure.cost;
            let crowd = if figure.count > measured.machine.cores { ", more threads than cores" } else { "" };
            text.push_str(&format!(
                "sync      {:<16} {} threads      {:>10}  ({} to {}){crowd}\n",
                figures.kind.name(),
                figure.count,
                seconds_text(cost.median),
                seconds_text(cost.low),
                seconds_text(cost.high),
            ));
        }
    }
    text.push('\n');
    text
}
