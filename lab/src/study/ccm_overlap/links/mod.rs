//! Real transfers over links of known rates, compared with the time on the wire, equation 1, Table 1, and the best
//! number of stages.

pub(super) mod transfer;
pub(super) mod wire;

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use tress_container::format::LAYOUT;
use tress_plan::Problem;

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, Verdict, chart, text};
use super::cores;
use super::paper::{self, R_COMP, T_SYN};
use crate::picture::{Chart, Line, Mark, Scale};
use transfer::{Transfers, no_disturbance};
use wire::Wire;

/// More bits per second than a core sends.
const FAST: f64 = 40e9;
/// A link, and the file that is sent over it.
struct Link {
    /// Bits per second.
    rate: f64,
    name: &'static str,
    /// Size of the file in bytes.
    bytes: usize,
}

const LINKS: [Link; 3] = [
    Link { rate: 10e6, name: "10 Mbit/s", bytes: 10_000_000 },
    Link { rate: 100e6, name: "100 Mbit/s", bytes: 100_000_000 },
    Link { rate: 1000e6, name: "1000 Mbit/s", bytes: 100_000_000 },
];
/// The links of a quick run.
const QUICK_LINKS: [Link; 2] = [
    Link { rate: 100e6, name: "100 Mbit/s", bytes: 10_000_000 },
    Link { rate: 1000e6, name: "1000 Mbit/s", bytes: 50_000_000 },
];

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::default();
    if let Err(why) = measure(effort, &mut section) {
        section.verdicts.push(Verdict::LeftOut(format!("transfers over real links: {why}")));
    }
    Ok(section)
}

/// Measurements on one link.
struct LinkRun<'a> {
    link: &'a Link,
    wire: &'a mut Wire,
    transfers: Transfers<'a>,
    /// Number of transfers of each kind.
    count: usize,
    monitor: &'a mut BusyMonitor,
    section: &'a mut Section,
}

fn measure(effort: &Effort, section: &mut Section) -> Result<(), String> {
    let mut wire = Wire::new()?;
    let (links, count) = if effort.is_quick { (&QUICK_LINKS[..], 3) } else { (&LINKS[..], 5) };
    let mut monitor = BusyMonitor::default();
    section.text = text(&super::STUDY, "links", &[]);
    for link in links {
        let transfers = Transfers::new(effort, &wire, link.bytes)?;
        let mut run = LinkRun { link, wire: &mut wire, transfers, count, monitor: &mut monitor, section };
        run.wire_time()?;
        run.table_1()?;
        run.balanced()?;
        if link.rate == 1000e6 {
            run.sweep()?;
            run.halved()?;
            run.sending_cores()?;
            run.lossy()?;
        }
    }
    section.rows.extend(monitor.row());
    Ok(())
}

impl LinkRun<'_> {
    /// Alternating transfers with each of these options. Returns the seconds of each.
    fn alternate(&mut self, options: &[impl AsRef<str>]) -> Result<Vec<Vec<f64>>, String> {
        self.transfers.alternate(self.wire, options, self.count, self.monitor)
    }

    fn row(&mut self, what: impl Into<String>, unit: &str, model: f64, measured: Measured) {
        self.section.rows.push(StudyRow { model: Some(model), ..StudyRow::measured(what, unit, measured) });
    }

    fn judge(&mut self, whose: Claim, claim: String, measured: Measured, range: RangeInclusive<f64>) {
        self.section.verdicts.push(whose.of(claim, measured, range, self.monitor));
    }

    /// Bytes per second of payload.
    fn payload(&self) -> f64 {
        self.link.rate / 8.0
    }

    /// The planner's problem for this R_comp.
    fn problem(&self, r_comp: f64) -> Problem {
        Problem::new(self.link.bytes as u64, r_comp, 1.0 / self.payload(), T_SYN)
    }

    /// A transfer at full speed, compared with the time that the wire takes for its bytes.
    fn wire_time(&mut self) -> Result<(), String> {
        self.wire.set_rate(self.link.rate)?;
        let mut ratios = Vec::new();
        for _ in 0..self.count {
            self.monitor.check();
            let before = self.wire.bytes()?;
            let report = self.transfers.send(self.wire, &[], no_disturbance)?;
            ratios.push(report.elapsed_s / self.wire.seconds(self.wire.bytes()? - before));
        }
        let (name, measured) = (self.link.name, Measured::of(&ratios));
        self.row(format!("{name}: time relative to the wire"), "", 1.0, measured);
        let more = (measured.median - 1.0) * 100.0;
        let claim = format!("{name}: within 2 % of the time on the wire; measured {more:.1} % more");
        self.judge(Claim::Ours, claim, measured, 0.98..=1.02);
        Ok(())
    }

    /// The paper's R_comp at the paper's rates.
    fn table_1(&mut self) -> Result<(), String> {
        self.wire.set_payload_rate(self.payload())?;
        let compute = format!("{}us/B", R_COMP * 1e6);
        let fixed = format!("--threads 1 --compute-rate {compute}");
        let seconds = self.alternate(&[format!("{fixed} --sequential"), fixed])?;
        let (name, measured) = (self.link.name, Measured::ratio(&seconds[0], &seconds[1]));
        let plan = self.problem(R_COMP).plan().map_err(|error| error.to_string())?;
        let printed = paper::speedup(name).unwrap_or(plan.speedup);
        self.section.rows.push(StudyRow {
            paper: Some(format!("{printed:.2}")),
            model: Some(plan.speedup),
            ..StudyRow::measured(format!("{name}, the paper's R_comp: speed-up over sequential"), "", measured)
        });
        let claim = format!("{name}: the speed-up of Table 1 within 3 %; measured {:.3}", measured.median);
        self.judge(Claim::Paper, claim, measured, printed * 0.97..=printed * 1.03);
        Ok(())
    }

    /// R_comp equal to R_comm, where overlapping gains most.
    fn balanced(&mut self) -> Result<(), String> {
        self.wire.set_payload_rate(self.payload())?;
        let compute = self.payload().to_string();
        let mut problem = self.problem(1.0 / self.payload());
        problem.min_batch_bytes = Some(LAYOUT.chunk_bytes() as u64);
        let plan = problem.plan().map_err(|error| error.to_string())?;
        let fixed = format!("--threads 1 --compute-rate {compute}");
        let barrier = format!("{fixed} --barrier --stage {}", plan.stage_bytes);
        let seconds = self.alternate(&[format!("{fixed} --sequential"), fixed, barrier])?;
        for (way, seconds_of) in [("counter", &seconds[1]), ("barrier", &seconds[2])] {
            let what = format!("{}, R_comp = R_comm, {way}", self.link.name);
            let measured = Measured::of(seconds_of);
            self.row(format!("{what}: time"), "s", plan.time_s, measured);
            let range = plan.time_s * 0.95..=plan.time_s * 1.05;
            self.judge(Claim::Paper, format!("{what}: equation 1 within 5 %"), measured, range);
            let speedup = Measured::ratio(&seconds[0], seconds_of);
            self.row(format!("{what}: speed-up over sequential"), "", plan.speedup, speedup);
            let claim = format!("{what}: at least 1.9 times the sequential rate; measured {:.3}", speedup.median);
            self.judge(Claim::Paper, claim, speedup, 1.9..=f64::INFINITY);
        }
        Ok(())
    }

    /// Numbers of stages from a sixteenth of equation 2's to eight times that.
    fn sweep(&mut self) -> Result<(), String> {
        self.wire.set_payload_rate(self.payload())?;
        let (bytes, compute) = (self.link.bytes, self.payload().to_string());
        let problem = self.problem(1.0 / self.payload());
        let best = problem.plan().map_err(|error| error.to_string())?.stages as f64;
        let stages: Vec<f64> =
            [1.0 / 16.0, 1.0 / 8.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0].iter().map(|part| best * part).collect();
        let options = |stages: &f64| {
            let stage = (bytes as f64 / stages).max(16384.0);
            format!("--threads 1 --compute-rate {compute} --barrier --stage {stage:.0}")
        };
        let seconds = self.alternate(&stages.iter().map(options).collect::<Vec<_>>())?;
        let medians: Vec<Measured> = seconds.iter().map(|seconds| Measured::of(seconds)).collect();
        for (stages, measured) in stages.iter().zip(&medians) {
            let what = format!("1000 Mbit/s, R_comp = R_comm, {stages:.0} stages");
            self.row(what, "s", problem.time_s(*stages, 1, 1), *measured);
        }
        let points = |value: &dyn Fn(usize) -> f64| (0..stages.len()).map(|i| (stages[i], value(i))).collect();
        let slowest = medians.iter().map(|measured| measured.median).fold(problem.time_s(stages[0], 1, 1), f64::max);
        let lines = vec![
            Line { name: "equation 1".into(), points: points(&|i| problem.time_s(stages[i], 1, 1)) },
            Line { name: "measured".into(), points: points(&|i| medians[i].median) },
        ];
        let chart = Chart {
            marks: vec![Mark { name: "m_opt".into(), at: (best, problem.time_s(best, 1, 1)) }],
            ..chart(
                format!("{} MB over 1000 Mbit/s, R_comp = R_comm, by number of stages", bytes / 1_000_000),
                ("stages", stages[0], stages[stages.len() - 1], Scale::Logarithmic),
                ("s", problem.time_s(best, 1, 1) * 0.9, slowest * 1.05, Scale::Linear),
                lines,
            )
        };
        self.section.pictures.push(Picture::new("links-sweep", chart));
        // Each number of stages, compared with m_opt in the same round.
        let at_best = &seconds[4];
        let gain = seconds
            .iter()
            .map(|seconds| Measured::ratio(at_best, seconds))
            .max_by(|a, b| a.median.total_cmp(&b.median));
        let gain = gain.ok_or("no stages")?;
        let more = (gain.median - 1.0) * 100.0;
        let claim = format!("no number of stages is more than 5 % faster than m_opt = {best}; measured {more:.1} %");
        self.judge(Claim::Paper, claim, gain, 0.95..=1.05);
        Ok(())
    }

    /// The link loses half of its rate during a transfer.
    fn halved(&mut self) -> Result<(), String> {
        let (mut ratios, mut plans) = (Vec::new(), Vec::new());
        let rate = self.link.rate;
        let after = self.link.bytes as f64 * 8.0 / rate / 2.0;
        let compute = self.payload().to_string();
        let trace = self.transfers.path("trace.json");
        let path = trace.display().to_string();
        for _ in 0..self.count {
            self.monitor.check();
            self.wire.set_rate(rate)?;
            let before = self.wire.bytes()?;
            let options = ["--threads", "1", "--compute-rate", &compute, "--trace", &path];
            let _ = std::fs::remove_file(&trace);
            let mut halfway = 0.0;
            let report = self.transfers.send(self.wire, &options, |wire| {
                thread::sleep(Duration::from_secs_f64(after));
                halfway = wire.bytes()?;
                wire.set_rate(rate / 2.0)
            })?;
            let (fast, slow) = (halfway - before, self.wire.bytes()? - halfway);
            ratios.push(report.elapsed_s / (fast * 8.0 / rate + self.wire.seconds(slow)));
            plans.push(plans_in(&trace, after)? as f64);
        }
        let measured = Measured::of(&ratios);
        let what = "1000 Mbit/s, halved during the transfer: time relative to a plan that knows";
        self.row(what, "", 1.0, measured);
        let claim = format!(
            "link rate halved during the transfer: within 5 % of a plan that knows in advance; measured {:.3}",
            measured.median
        );
        self.judge(Claim::Ours, claim, measured, 0.95..=1.05);
        let claim = "the trace of each of these runs shows a new plan after the change".into();
        let is_so = plans.iter().all(|&plans| plans >= 1.0);
        self.section.verdicts.push(Claim::Ours.measured(claim, Some(is_so), self.monitor));
        Ok(())
    }

    /// Several sending cores, each with a connection: on this link, and on one that is faster than a core sends.
    fn sending_cores(&mut self) -> Result<(), String> {
        for (rate, name) in [(self.link.rate, self.link.name), (FAST, "40 Gbit/s")] {
            self.wire.set_rate(rate)?;
            let seconds = self.alternate(&["--streams 1", "--streams 2"])?;
            let gain = Measured::ratio(&seconds[0], &seconds[1]);
            self.section.rows.push(StudyRow::measured(format!("{name}: two sending cores relative to one"), "", gain));
            let found = gain.median;
            if rate < FAST {
                let claim = format!("{name}: a second sending core gains nothing; measured {found:.3}");
                self.judge(Claim::Ours, claim, gain, 0.95..=1.05);
            } else if cores() >= 4 {
                let claim = format!("{name}: two sending cores are 1.2 times as fast as one; measured {found:.2}");
                self.judge(Claim::Paper, claim, gain, 1.2..=f64::INFINITY);
            } else {
                let text = format!("{name}: two sending cores are faster than one: both ends together need four cores");
                self.section.verdicts.push(Verdict::LeftOut(text));
            }
        }
        Ok(())
    }

    /// A long link that loses packets: several connections compared with one.
    fn lossy(&mut self) -> Result<(), String> {
        if let Err(why) = self.wire.set_delay_and_loss(self.link.rate, 50, "1%") {
            let text =
                format!("50 ms and 1 % loss, four connections compared with one: this kernel lacks netem ({why})");
            self.section.verdicts.push(Verdict::LeftOut(text));
            return Ok(());
        }
        let seconds = self.alternate(&["--streams 1", "--streams 4"])?;
        let measured = Measured::ratio(&seconds[0], &seconds[1]);
        self.section.rows.push(StudyRow::measured("50 ms, 1 % loss: four connections relative to one", "", measured));
        let claim = format!(
            "50 ms, 1 % loss: four connections are twice as fast as one; measured {:.2} times",
            measured.median
        );
        self.judge(Claim::Ours, claim, measured, 2.0..=f64::INFINITY);
        Ok(())
    }
}

/// Number of plans in a trace later than this.
fn plans_in(trace: &std::path::Path, after_s: f64) -> Result<usize, String> {
    let text = std::fs::read(trace).map_err(|error| format!("{}: {error}", trace.display()))?;
    let events: Vec<serde_json::Value> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let is_plan = |event: &&serde_json::Value| {
        event["name"] == "plan" && event["ts"].as_f64().is_some_and(|us| us > after_s * 1e6)
    };
    Ok(events.iter().filter(is_plan).count())
}
