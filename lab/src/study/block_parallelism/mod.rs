//! Block ciphers on wide and on many processors: Y. Chung, K. Chung and S. Sohn, "Exploiting Parallelism in the Block
//! Encryption Algorithms RC6 and Rijndael", 2000, simulated again.
//!
//! The paper's figures are pictures, and its text gives values only for the ends of curves. The study compares these
//! values with ours.

mod beyond;
mod conclude;
mod harts;
mod key_setup;
mod lanes;
mod open;
mod paper;
mod program;
mod simulate;
mod sizes;
mod sweeps;

use tress_sim::Machine;

use super::{
    Claim, Effort, Error, Picture, Section, Study, StudyMachine, StudyRow, Verdict, YOURS, chart, misprints, part,
    range,
};
use crate::picture::{Chart, Level, Line, Scale};
use paper::{PAPER_BLOCKS, PAPER_HARTS, PAPER_MESSAGES, PAPER_ONE_BLOCK, PaperValues};
use program::{ProgramParameters, SimulatedCipher, SimulatedMode};
use simulate::{RaptorVariant, SimulatedRun, SimulationFigures};

pub(super) const STUDY: Study = Study {
    name: "block-parallelism",
    title: "RC6 and Rijndael: parallel instructions and threads",
    texts: include_str!("texts.txt"),
    parts: &[
        part("width", "One block by issue width (Fig. 6)", sweeps::width).on_own_machine(),
        part("blocks", "One message by number of blocks (Fig. 7)", sweeps::blocks).on_own_machine(),
        part("messages", "Messages of one block by number of messages (Fig. 8)", sweeps::messages).on_own_machine(),
        part("harts", "Threads on several processors (Fig. 10)", harts::run).on_own_machine(),
        part("open", "What the paper leaves open", open::run),
        part("key-setup", "One block of RC6: key schedules that divide", key_setup::run),
        part("sizes", "All sizes of keys and blocks", sizes::run),
        part("beyond", "Wider machines, more processors, no limits", beyond::run),
        part("lanes", "Lanes in software compared with width in hardware", lanes::run).on_own_machine(),
        part("misprints", "Misprints", |_| misprints(&STUDY, include_str!("misprints.txt"))),
    ],
    machine: Some(StudyMachine { file: || simulate::MACHINE, program: program::IMAGE }),
    inputs: |_| Ok(String::new()),
    conclude: conclude::conclude,
};

/// Largest relative difference between a point and the paper's.
const TOLERANCE: f64 = 0.2;

/// Largest relative distance of the curves of two modes that are drawn as one.
const ALIKE: f64 = 0.05;

/// Each cipher of the paper in each mode.
fn cipher_modes() -> impl Iterator<Item = (SimulatedCipher, SimulatedMode)> {
    SimulatedMode::BOTH
        .into_iter()
        .flat_map(|mode| SimulatedCipher::PAPER.into_iter().map(move |cipher| (cipher, mode)))
}

fn kind_name(work: &ProgramParameters) -> String {
    format!("{}, {}", work.cipher.name(), work.mode.name())
}

/// A row with an IPC.
fn row(what: String, paper: Option<f64>, figures: &SimulationFigures) -> StudyRow {
    StudyRow { paper: paper.map(|ipc| format!("{ipc:.1}")), ..StudyRow::simulated(what, "IPC", figures.ipc()) }
}

/// Compares a point with the paper's. If they differ, the verdict lists where the issue slots went.
fn compare_with_paper(what: &str, paper: f64, figures: &SimulationFigures) -> Verdict {
    let claim = format!("{what}: near the paper's {paper:.1} instructions per cycle: {:.2}", figures.ipc());
    let is_near = is_near(paper, figures);
    Claim::Paper.judge(if is_near { claim } else { format!("{claim}. {}", figures.slots()) }, is_near)
}

fn is_near(paper: f64, figures: &SimulationFigures) -> bool {
    (figures.ipc() / paper - 1.0).abs() <= TOLERANCE
}

/// The largest distance between two curves, relative to the first.
fn largest_distance(first: &[(f64, f64)], second: &[(f64, f64)]) -> f64 {
    first.iter().zip(second).map(|(first, second)| (second.1 / first.1 - 1.0).abs()).fold(0.0, f64::max)
}

/// The paper's claim that ECB and CBC differ little, for both ciphers.
fn modes_differ_little(curves: &[Curve]) -> Verdict {
    let most = curves[..2]
        .iter()
        .zip(&curves[2..])
        .map(|(ecb, cbc)| largest_distance(&ecb.points, &cbc.points))
        .fold(0.0, f64::max);
    Claim::Paper.judge(
        format!("ECB and CBC differ little in instructions per cycle: by {:.0} % at most", 100.0 * most),
        most <= 0.1,
    )
}

/// A curve of a picture, for one cipher and mode.
struct Curve {
    cipher: SimulatedCipher,
    points: Vec<(f64, f64)>,
}

/// The property of a machine or its work that differs along an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Varied {
    Issue,
    Harts,
    Work,
}

impl Varied {
    /// The axis on the user's machine, which has the paper's points and its own.
    fn own_axis(self, axis: &[u32], machine: &Machine) -> Vec<u32> {
        let own = match (self, &machine.out_of_order) {
            (Varied::Work, _) => return axis.to_vec(),
            // An in-order machine has no other width.
            (Varied::Issue, None) => return vec![1],
            (Varied::Issue, Some(core)) => core.issue,
            (Varied::Harts, _) => machine.harts as u32,
        };
        let mut axis = [axis, &[own]].concat();
        axis.sort_unstable();
        axis.dedup();
        axis
    }

    /// A run with this machine in place of the paper's, but for the varied property.
    fn on_own<'a>(self, machine: &'a Machine, run: SimulatedRun<'a>) -> SimulatedRun<'a> {
        let (mut core, mut work) = (RaptorVariant::of(machine), run.work);
        if self == Varied::Issue {
            core.issue = run.core.issue;
        }
        if self != Varied::Harts {
            work.harts = machine.harts as u32;
        }
        SimulatedRun { core, work }
    }
}

/// Each cipher of the paper in each mode along an axis, and the curves of their instructions per cycle.
struct Sweep<'a> {
    axis: Vec<u32>,
    runs: Vec<SimulatedRun<'a>>,
    /// In the order of `runs`: all points of a curve, then the next curve.
    figures: Vec<SimulationFigures>,
    curves: Vec<Curve>,
    /// The same on the user's machine.
    own: Option<Box<Sweep<'a>>>,
}

impl<'a> Sweep<'a> {
    fn new(
        effort: &'a Effort,
        axis: &[u32],
        varied: Varied,
        run: impl Fn(ProgramParameters, u32) -> SimulatedRun<'a>,
    ) -> Result<Sweep<'a>, Error> {
        let own = effort.own.as_ref().map(|own| {
            let axis = varied.own_axis(axis, &own.machine);
            let on_own = |work, x| varied.on_own(&own.machine, run(work, x));
            Sweep::along(&axis, on_own).map(Box::new).map_err(|error| Error::Machine(format!("{YOURS}: {error}")))
        });
        Ok(Sweep { own: own.transpose()?, ..Sweep::along(axis, &run)? })
    }

    fn along(axis: &[u32], run: impl Fn(ProgramParameters, u32) -> SimulatedRun<'a>) -> Result<Sweep<'a>, Error> {
        let works = cipher_modes().map(|(cipher, mode)| ProgramParameters::new(cipher, mode));
        let runs: Vec<SimulatedRun> =
            works.flat_map(|work| axis.iter().map(move |&x| (work, x))).map(|(work, x)| run(work, x)).collect();
        let figures = simulate::all(&runs)?;
        let points =
            |figures: &[SimulationFigures]| axis.iter().zip(figures).map(|(x, y)| (f64::from(*x), y.ipc())).collect();
        let curves = runs.chunks(axis.len()).zip(figures.chunks(axis.len()));
        let curves =
            curves.map(|(runs, figures)| Curve { cipher: runs[0].work.cipher, points: points(figures) }).collect();
        Ok(Sweep { axis: axis.to_vec(), runs, figures, curves, own: None })
    }

    /// The runs and figures of each curve.
    fn by_curve(&self) -> impl Iterator<Item = (&[SimulatedRun<'a>], &[SimulationFigures])> {
        self.runs.chunks(self.axis.len()).zip(self.figures.chunks(self.axis.len()))
    }

    /// Adds a row for each point, and compares the ends of the curves with the paper. `name` is that of a point, `printed` the paper's
    /// values for it.
    fn add_to(
        &self,
        section: &mut Section,
        name: &dyn Fn(u32) -> String,
        printed: &dyn Fn(u32) -> Option<PaperValues>,
    ) {
        for (runs, figures) in self.by_curve() {
            for ((run, figures), &x) in runs.iter().zip(figures).zip(&self.axis) {
                let (what, cipher) = (format!("{}, {}", kind_name(&run.work), name(x)), run.work.cipher);
                let paper = printed(x).map(|values| values.of(cipher));
                if let (Some(paper), true) = (paper, Some(&x) == self.axis.last()) {
                    section.verdicts.push(compare_with_paper(&what, paper, figures));
                }
                section.rows.push(row(what, paper, figures));
            }
        }
        if let Some(own) = &self.own {
            own.add_to(section, &|x| format!("{}, {YOURS}", name(x)), &|_| None);
        }
    }

    /// Completes a section of curves by the comparison of the modes and a picture.
    fn end(&self, mut section: Section, name: &str, title: &str, x: &str, paper: PaperValues) -> Section {
        section.verdicts.push(modes_differ_little(&self.curves));
        section.pictures.push(self.picture(name, title, x, Scale::Logarithmic, Some(paper)));
        section
    }

    /// A picture of instructions per cycle, with the paper's figures for the ends of its curves.
    fn picture(&self, name: &str, title: &str, x: &str, scale: Scale, paper: Option<PaperValues>) -> Picture {
        let mut lines = lines("", &self.curves);
        let mut title = title.to_string();
        if let Some(own) = &self.own {
            lines.extend(self::lines(&format!("{YOURS}, "), &own.curves));
            // What does not differ along the axis.
            let fixed = |of: fn(&SimulatedRun) -> u32| {
                let first = of(&own.runs[0]);
                own.runs.iter().all(|run| of(run) == first).then_some(first)
            };
            let harts = fixed(|run| run.work.harts).filter(|harts| *harts != self.runs[0].work.harts);
            let issue = fixed(|run| run.core.issue).map(|issue| format!("issue {issue}"));
            let about: Vec<String> = issue.into_iter().chain(harts.map(|harts| count(harts, "processor"))).collect();
            if !about.is_empty() {
                title += &format!("; {YOURS}: {}", about.join(", "));
            }
        }
        let values = || lines.iter().flat_map(|line| &line.points);
        let highest =
            values().map(|point| point.1).chain(paper.iter().map(|printed| printed.rijndael)).fold(0.0, f64::max);
        let level = |cipher: SimulatedCipher| {
            let at = paper?.of(cipher);
            Some(Level { name: format!("paper, {}: {at:.1}", cipher.name()), at })
        };
        let (from, to) = range(values().map(|point| point.0));
        let y = ("instructions per cycle", 0.0, highest * 1.15, Scale::Linear);
        let levels = SimulatedCipher::PAPER.into_iter().filter_map(level).collect();
        Picture::new(name, Chart { levels, ..chart(title, (x, from, to, scale), y, lines) })
    }
}

/// The lines of each cipher. The names of two modes whose curves are close would cover each other, so they are one line.
fn lines(whose: &str, curves: &[Curve]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (ecb, cbc) in curves[..2].iter().zip(&curves[2..]) {
        let (cipher, apart) = (ecb.cipher.name(), largest_distance(&ecb.points, &cbc.points));
        let line = |name, curve: &Curve| Line { name: format!("{whose}{name}"), points: curve.points.clone() };
        if apart > ALIKE {
            lines.extend([line(format!("{cipher}, ECB"), ecb), line(format!("{cipher}, CBC"), cbc)]);
        } else if whose.is_empty() {
            lines.push(line(format!("{cipher}, ECB, CBC within {:.0} %", (100.0 * apart).ceil()), ecb));
        } else {
            lines.push(line(cipher.to_string(), ecb));
        }
    }
    lines
}

/// A number with a noun, in the plural unless it is 1.
fn count(number: u32, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// Powers of two.
fn doubling(to: u32) -> Vec<u32> {
    (0..=to.ilog2()).map(|power| 1 << power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_that_cover_each_other_are_one() {
        let two = ["Rijndael, ECB, CBC within 3 %", "RC6, ECB, CBC within 5 %"];
        let four = ["Rijndael, ECB", "Rijndael, CBC", "RC6, ECB", "RC6, CBC"];
        for (gap, expected) in [(0.045, two.as_slice()), (1.0, four.as_slice())] {
            let curve = |cipher, ipc| Curve { cipher, points: vec![(1.0, ipc), (2.0, ipc)] };
            let [a, b] = SimulatedCipher::PAPER;
            let curves = [curve(a, 2.0), curve(b, 1.0), curve(a, 2.0 + gap), curve(b, 1.0 + gap)];
            let lines = lines("", &curves);
            assert_eq!(lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn titles_name_what_is_fixed_on_the_users_machine() {
        let sweep = |issue: u32, all_harts: &[u32]| {
            let cipher = SimulatedCipher::PAPER[0];
            let core = RaptorVariant::paper(issue);
            let work = |harts| ProgramParameters { harts, ..ProgramParameters::new(cipher, SimulatedMode::Ecb) };
            let runs = all_harts.iter().map(|&harts| SimulatedRun { core, work: work(harts) }).collect();
            let curves = (0..4).map(|_| Curve { cipher, points: vec![(1.0, 1.0)] }).collect();
            Sweep { axis: vec![1], runs, figures: Vec::new(), curves, own: None }
        };
        for (harts, expected) in [
            (&[1, 1], "One; your machine: issue 2"),
            (&[4, 4], "One; your machine: issue 2, 4 processors"),
            (&[1, 2], "One; your machine: issue 2"),
        ] {
            let all = Sweep { own: Some(Box::new(sweep(2, harts))), ..sweep(8, &[1]) };
            assert_eq!(all.picture("one", "One", "x", Scale::Linear, None).drawing.title(), expected);
        }
    }
}
