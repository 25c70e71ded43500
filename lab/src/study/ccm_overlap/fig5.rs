//! Fig. 5: how four cores divide between computing and communicating, by equation 1, by transfers whose threads and
//! connections have fixed rates, and by transfers at full speed on the cores of this machine.

use tress_plan::{Compute, Problem, Strategy, SyncCost, model};

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, Verdict, chart};
use super::links::transfer::Transfers;
use super::links::wire::Wire;
use super::{cores, paper};
use crate::picture::{Line, Scale};

const CORES: usize = 4;
/// Cores that compute, and cores that communicate.
const DIVISIONS: [(usize, usize); 3] = [(1, 3), (2, 2), (3, 1)];
/// Name, and MB/s at which one core computes and at which one communicates. The best of `DIVISIONS` has the same place.
const CASES: [(&str, u32, u32); 3] =
    [("R_comm = 3 R_comp", 30, 10), ("R_comm = R_comp", 20, 20), ("R_comp = 3 R_comm", 10, 30)];
/// Size of a file at fixed rates and of its batches, and of a file at full speed.
const BYTES: usize = 2 << 20;
const BATCH: usize = 64 << 10;
const FREE_BYTES: usize = 64 << 20;
/// Size of the file of the model, the smaller one of Table 1.
const MODEL_BYTES: u64 = 10_000_000;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "fig-5", &[("mib", &(BYTES >> 20)), ("cores", &cores())]);
    model(&mut section)?;
    if let Err(why) = transfers(effort, &mut section) {
        section.verdicts.push(Verdict::LeftOut(format!("four threads and connections: {why}")));
    }
    Ok(section)
}

/// The paper's problem on four cores, with R_comm as a multiple of R_comp.
fn problem(ratio: f64, strategy: Strategy) -> Problem {
    Problem {
        compute: Compute::Given { r_comp: paper::R_COMP, strategy },
        links: CORES - 1,
        cores: CORES,
        sync: SyncCost::Measured(paper::BARRIERS_US.map(|(threads, us)| (threads, us * 1e-6)).into()),
        ..Problem::new(MODEL_BYTES, paper::R_COMP, ratio * paper::R_COMP, 1.0)
    }
}

/// The speed-up over sequential of this division, with its best number of stages.
fn speedup(problem: &Problem, (compute, links): (usize, usize)) -> f64 {
    let (bytes, r_comp) = (problem.size_bytes as f64, paper::R_COMP);
    let r_max = f64::max(r_comp / compute as f64, problem.r_comm / links as f64);
    let stages = model::optimal_stages(bytes, r_max, problem.sync.of(compute + links)).round().max(1.0);
    model::sequential_s(bytes, r_comp, problem.r_comm) / problem.time_s(stages, compute, links)
}

fn model(section: &mut Section) -> Result<(), Error> {
    let ratios: Vec<f64> = (-12..=12).map(|sixth| 3f64.powf(f64::from(sixth) / 6.0)).collect();
    let lines = [DIVISIONS[0], DIVISIONS[1], DIVISIONS[2], (1, 1)].map(|(compute, send)| {
        let at = |&ratio: &f64| (ratio, speedup(&problem(ratio, Strategy::Chunks), (compute, send)));
        Line { name: format!("{compute} compute, {send} send"), points: ratios.iter().map(at).collect() }
    });
    let x = ("R_comm / R_comp", ratios[0], ratios[ratios.len() - 1], Scale::Logarithmic);
    let y = ("speed-up over sequential", 0.0, 4.0, Scale::Linear);
    let title = "10 MB on four cores and on two, by equation 1 (Fig. 5)";
    section.pictures.push(Picture::new("fig-5", chart(title, x, y, lines.into())));

    let plan = |ratio, strategy| {
        let plan = problem(ratio, strategy).plan();
        plan.map_err(|_| Error::Disagreement("the plan for the figures of the paper".into()))
    };
    for ((name, compute, link), division) in CASES.into_iter().zip(DIVISIONS) {
        let plan = plan(f64::from(compute) / f64::from(link), Strategy::Chunks)?;
        let (compute, send, gain) = (plan.compute_cores, plan.link_cores, plan.speedup);
        let claim = format!(
            "{name}, equation 1 divides four cores as the paper: {compute} compute, {send} send, {gain:.2} times as fast"
        );
        section.verdicts.push(Claim::Paper.judge(claim, (compute, send) == division));
    }
    let plan = plan(1.0 / 3.0, Strategy::MacApart)?;
    let claim = "R_comp = 3 R_comm with stages of one message each: a third computing core gains nothing, and two do";
    section.verdicts.push(Claim::Ours.judge(claim.into(), (plan.compute_cores, plan.link_cores) == (2, 1)));
    Ok(())
}

fn transfers(effort: &Effort, section: &mut Section) -> Result<(), String> {
    let mut wire = Wire::loopback();
    let mut monitor = BusyMonitor::default();
    let count = if effort.is_quick { 3 } else { 7 };
    let mut limited = Transfers::new(effort, &wire, BYTES)?;
    for (case, (name, compute, link)) in CASES.into_iter().enumerate() {
        let options = DIVISIONS.map(|(threads, streams)| {
            let rate = link as usize * streams;
            format!(
                "--threads {threads} --streams {streams} --compute-rate {compute}MB --rate {rate}MB --stage {BATCH}"
            )
        });
        let seconds = limited.alternate(&mut wire, &options, count, &mut monitor)?;
        for ((threads, streams), seconds) in DIVISIONS.into_iter().zip(&seconds) {
            let costs = [f64::from(compute) * threads as f64, f64::from(link) * streams as f64];
            let r_max = 1e-6 / costs[0].min(costs[1]);
            // A stage has a batch for each computing core.
            let stages = BYTES as f64 / (BATCH * threads) as f64;
            section.rows.push(StudyRow {
                model: Some(model::time_s(BYTES as f64, stages, r_max, 0.0)),
                ..StudyRow::measured(format!("{name}: {threads} compute, {streams} send"), "s", Measured::of(seconds))
            });
        }
        let others = (0..DIVISIONS.len()).filter(|place| *place != case);
        let gains = others.map(|place| Measured::ratio(&seconds[place], &seconds[case]));
        let Some(gain) = gains.min_by(|a, b| a.median.total_cmp(&b.median)) else { continue };
        let (threads, streams) = DIVISIONS[case];
        let claim = format!(
            "{name}, transfers: {threads} computing and {streams} sending are the fastest, by a factor of {:.2} (model 1.5 to 2)",
            gain.median
        );
        section.verdicts.push(Claim::Paper.of(claim, gain, 1.2..=f64::INFINITY, &monitor));
    }
    let mut free = Transfers::new(effort, &wire, FREE_BYTES)?;
    let options = DIVISIONS.map(|(threads, streams)| format!("--threads {threads} --streams {streams}"));
    let seconds = free.alternate(&mut wire, &options, count, &mut monitor)?;
    for ((threads, streams), seconds) in DIVISIONS.into_iter().zip(&seconds) {
        let what = format!("full speed, {} MiB: {threads} compute, {streams} send", FREE_BYTES >> 20);
        section.rows.push(StudyRow::measured(what, "s", Measured::of(seconds)));
    }
    section.rows.extend(monitor.row());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, with R_comm = R_comp = 37 ns per byte: 10 MB take 0.74 s one after the other. Two and two cores take 0.185 s, and
    /// 2·sqrt(0.185 · 49.2 µs) = 6.03 ms for the first stage and the barriers; one and three 0.37 s and 8.53 ms.
    #[test]
    fn divisions_of_four_cores() {
        let even = problem(1.0, Strategy::Chunks);
        for (division, expected_s) in [((2, 2), 0.185 + 6.034e-3), ((1, 3), 0.37 + 8.533e-3)] {
            let found = speedup(&even, division);
            assert!((found - 0.74 / expected_s).abs() < 1e-3, "{division:?}: {found}");
        }
        let mut section = Section::default();
        model(&mut section).expect("a model");
        assert!(section.verdicts.iter().all(Verdict::holds), "{:?}", section.verdicts);
    }
}
