//! The paper's future work, small multi-core processors: its AES on simulated harts, divided by segments, blocks and
//! rows. The program is harts.c, whose threads are the Pthreads of riscv/firmware/c.

use tress_cipher::aes::Aes;
use tress_cipher::modes::ecb;
use tress_sim::{Machine, Model};

use super::super::{Claim, Effort, Error, Picture, Section, StudyRow, StudyTable, Verdict, figure, runs};
use super::{BLOCK, KEY, paper};
use crate::picture::Group;
use crate::picture::bars::Bars;

/// An image for RV64GC, built by `riscv/firmware/build`.
const IMAGE: &[u8] = include_bytes!("../../../images/aes-harts.elf");
/// The parameters begin with this; then follow the way and the number of harts.
const MAGIC: &[u8] = b"aeshart1";
const BLOCKS: usize = 16;

const ISSUES: [u32; 3] = [1, 2, 8];
const HARTS: [u32; 2] = [2, 4];
/// What a hart takes, in the order of harts.c. The way after these only waits at a barrier for each block.
pub(super) const WAYS: [&str; 4] = ["segments", "blocks", "rows, three teams a round", "rows, two barriers a round"];
pub(super) const SEGMENTS: usize = 0;
/// Rows with the fewest barriers.
pub(super) const FEWEST: usize = 3;
const ROWS: [usize; 2] = [2, FEWEST];

/// The column of a number of harts and an issue width.
pub(super) fn column(harts: u32, issue: u32) -> String {
    format!("{harts} harts, issue {issue}")
}

/// Cycles of the blocks, on harts like those of the preset `raptor`.
fn simulate(&[issue, harts, way]: &[u32; 3]) -> Result<f64, Error> {
    let missing = || Error::Program("the machine raptor is missing".into());
    let mut machine = Machine::preset("raptor").ok_or_else(missing)?;
    machine.harts = harts as usize;
    machine.set_issue(issue)?;
    let what = [issue, harts, way];
    let program = runs::with_parameters(IMAGE, MAGIC, &[way, harts])?;
    let mut simulation = runs::simulate(&machine, Model::Pipeline, &program, what)?;
    if way < WAYS.len() as u32 {
        let mut expected = [0; BLOCK * BLOCKS];
        expected.chunks_mut(BLOCK).zip(0..).for_each(|(block, number)| block[0] = number);
        let cipher = Aes::new(&KEY)?;
        // The program warms up with the same blocks.
        ecb::encrypt(&cipher, &mut expected)?;
        ecb::encrypt(&cipher, &mut expected)?;
        if runs::result(&simulation, 0, expected.len() as u64)? != expected {
            return Err(Error::Disagreement(format!("{what:?}")));
        }
    }
    let report = simulation.report();
    let first = report.regions.iter().find(|region| region.name == "encrypt").and_then(|region| region.harts.first());
    first.map(|spent| spent.cycles as f64).ok_or_else(|| Error::Program("it has no region".into()))
}

/// Times as fast as one hart, by way, number of harts and issue width.
type Gains = [[[f64; ISSUES.len()]; HARTS.len()]; WAYS.len()];

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "harts", &[("blocks", &BLOCKS)]);
    let several =
        |issue| HARTS.into_iter().flat_map(move |harts| (0..=WAYS.len() as u32).map(move |way| [issue, harts, way]));
    let jobs: Vec<[u32; 3]> =
        ISSUES.into_iter().flat_map(|issue| several(issue).chain([[issue, 1, SEGMENTS as u32]])).collect();
    let cycles = runs::run_all(&jobs, |_| 1, simulate)?;
    let mut gains = Gains::default();
    for (of_issue, (place, issue)) in cycles.chunks(jobs.len() / ISSUES.len()).zip(ISSUES.into_iter().enumerate()) {
        let [several @ .., one] = of_issue else { continue };
        let bytes = (BLOCK * BLOCKS) as f64;
        section.rows.push(StudyRow::simulated(format!("one hart, issue {issue}"), "cycles per byte", one / bytes));
        for (of_harts, (number, harts)) in several.chunks(WAYS.len() + 1).zip(HARTS.into_iter().enumerate()) {
            let barrier = of_harts[WAYS.len()] / BLOCKS as f64;
            section.rows.push(StudyRow::simulated(format!("a barrier, {}", column(harts, issue)), "cycles", barrier));
            for (gains, cycles) in gains.iter_mut().zip(of_harts) {
                gains[number][place] = one / cycles;
            }
        }
    }
    let columns: Vec<String> = HARTS.into_iter().flat_map(|harts| ISSUES.map(|issue| column(harts, issue))).collect();
    let header: Vec<&str> = ["what a hart takes"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    let cells = |(name, gains): (&&str, &[[f64; 3]; 2])| {
        [name.to_string()].into_iter().chain(gains.as_flattened().iter().map(|gain| figure(*gain))).collect()
    };
    let title = "Simulated, times as fast as one hart";
    section.tables.push(StudyTable::new(title, &header).with(WAYS.iter().zip(&gains).map(cells)));
    section.verdicts = judge(&gains);
    section.pictures.push(picture(&gains));
    Ok(section)
}

fn judge(gains: &Gains) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (way, (place, issue)) in
        ROWS.into_iter().flat_map(|way| ISSUES.into_iter().enumerate().map(move |issue| (way, issue)))
    {
        let [two, four] = gains[way].map(|gains| gains[place]);
        let claim = format!(
            "{}, issue {issue}: several harts are faster than one: two {} times, four {} times",
            WAYS[way],
            figure(two),
            figure(four)
        );
        verdicts.push(Claim::Paper.judge(claim, two > 1.0 && four > 1.0));
    }
    let best = ROWS.into_iter().flat_map(|way| gains[way][0]).fold(0.0, f64::max);
    let printed = paper::SERIAL_S / paper::PARALLEL_S;
    let claim = format!("rows on two harts reach the paper's {printed:.2} times: they reach {}", figure(best));
    verdicts.push(Claim::Paper.judge(claim, best >= printed));
    let rows = ROWS.into_iter().flat_map(|way| gains[way].as_flattened().iter().zip(gains[SEGMENTS].as_flattened()));
    let least = rows.map(|(rows, segments)| segments / rows).fold(f64::INFINITY, f64::min);
    let claim =
        format!("segments are faster than rows at every width and number of harts: at least {} times", figure(least));
    verdicts.push(Claim::Ours.judge(claim, least > 1.0));
    verdicts
}

fn picture(gains: &Gains) -> Picture {
    let group = |(way, name): (usize, &str), issue: usize| Group {
        name: format!("issue {}: {name}", ISSUES[issue]),
        values: gains[way].iter().map(|gains| Some(gains[issue])).collect(),
    };
    let groups = (0..ISSUES.len()).flat_map(|issue| WAYS.into_iter().enumerate().map(move |way| group(way, issue)));
    let bars = Bars {
        title: "Simulated harts: times as fast as one".into(),
        series: HARTS.map(|harts| format!("{harts} harts")).into(),
        groups: groups.collect(),
        logarithmic: None,
    };
    Picture::new("harts", bars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_figures() {
        let gains = |rows: f64| {
            let mut gains = [[[1.9; 3]; 2]; 4];
            gains[3] = [[rows; 3]; 2];
            gains[2] = [[rows, rows, 0.9]; 2];
            judge(&gains)
        };
        let holding = |verdicts: Vec<Verdict>| verdicts.iter().map(Verdict::holds).collect::<Vec<_>>();
        assert_eq!(holding(gains(1.3)), [true, true, false, true, true, true, false, true]);
        assert_eq!(holding(gains(0.8)), [false, false, false, false, false, false, false, true]);
        assert_eq!(holding(gains(2.0)), [true, true, false, true, true, true, true, false]);
    }

    /// Blocks that are right, and the same cycles every time, in this run and on every computer.
    #[test]
    fn segments_on_two_harts_are_nearly_twice_as_fast() {
        let [one, two, again] = [1, 2, 2].map(|harts| simulate(&[1, harts, 0]).expect("a run"));
        assert!(two == again && (1.9..=2.0).contains(&(one / two)), "{one} {two} {again}");
        // The program refuses ways that it lacks.
        assert!(matches!(simulate(&[1, 2, 5]), Err(Error::Program(_))));
    }
}
