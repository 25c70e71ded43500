//! Questions that the paper leaves open: wider processors, more processors, and a processor without limits.

use super::super::{Claim, Effort, Error, Picture, StudyRow};
use super::{
    Chart, Level, Line, ProgramParameters, RaptorVariant, Scale, Section, SimulatedCipher, SimulatedMode, SimulatedRun,
    SimulationFigures, chart, count, simulate,
};

const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
const HARTS: [u32; 5] = [1, 2, 4, 8, 16];
/// Efficiency from which a number of processors is considered worth its cost: a speed-up of three quarters of the number.
const WORTH: f64 = 0.75;

/// The results for one cipher.
struct Answers {
    by_width: Vec<SimulationFigures>,
    /// Cycles and instructions per block without limits.
    unlimited: [f64; 2],
    speed_ups: Vec<(f64, f64)>,
}

impl Answers {
    fn unlimited_ipc(&self) -> f64 {
        let [cycles, instructions] = self.unlimited;
        instructions / cycles
    }
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let blocks = if effort.is_quick { 32 } else { 256 };
    let mut section = Section::begin(&super::STUDY, "beyond", &[("blocks", &blocks)]);
    let (mut lines, mut levels, mut speed_ups) = (Vec::new(), Vec::new(), Vec::new());
    for cipher in SimulatedCipher::PAPER {
        let name = cipher.name();
        let answers = answers(cipher, blocks)?;
        rows(&mut section, name, &answers);
        let limit = answers.unlimited_ipc();
        let widest = &answers.by_width[WIDTHS.len() - 1];
        section.verdicts.push(Claim::Ours.judge(
            format!(
                "{name}: width reaches most of the parallelism in one chain: {:.1} instructions per cycle at issue 32, {limit:.1} \
                 without limits. {}",
                widest.encrypt_ipc(),
                widest.slots()
            ),
            widest.encrypt_ipc() >= 0.8 * limit,
        ));
        let last = answers.speed_ups[HARTS.len() - 1].1;
        section.verdicts.push(Claim::Ours.judge(
            format!("{name}: 16 processors are nearly 16 times as fast as one: {last:.1} times"),
            last >= WORTH * f64::from(HARTS[HARTS.len() - 1]),
        ));
        lines.push(Line {
            name: name.into(),
            points: WIDTHS.iter().zip(&answers.by_width).map(|(x, y)| (f64::from(*x), y.encrypt_ipc())).collect(),
        });
        levels.push(Level { name: format!("{name}, without limits: {limit:.1}"), at: limit });
        speed_ups.push(Line { name: name.into(), points: answers.speed_ups });
    }
    let highest = levels.iter().map(|level| level.at).fold(1.0, f64::max);
    let by_width = chart(
        format!("One chain of {blocks} blocks by issue width"),
        ("issue width", 1.0, 32.0, Scale::Logarithmic),
        ("instructions per cycle", 0.0, highest * 1.2, Scale::Linear),
        lines,
    );
    let by_harts = chart(
        format!("16 messages of {blocks} blocks, issue 2"),
        ("processors", 1.0, 16.0, Scale::Linear),
        ("speed relative to one", 0.0, 18.0, Scale::Linear),
        speed_ups,
    );
    section.pictures.push(Picture::new("beyond-width", Chart { levels, ..by_width }));
    section.pictures.push(Picture::new("beyond-harts", by_harts));
    Ok(section)
}

fn answers(cipher: SimulatedCipher, blocks: u32) -> Result<Answers, Error> {
    let work = ProgramParameters { blocks, ..ProgramParameters::new(cipher, SimulatedMode::Cbc) };
    let mut runs: Vec<SimulatedRun> = Vec::new();
    runs.extend(
        WIDTHS.map(|issue| SimulatedRun {
            core: RaptorVariant::wide(issue),
            work: ProgramParameters { warm: 1, ..work },
        }),
    );
    runs.extend(HARTS.map(|harts| SimulatedRun {
        core: RaptorVariant::paper(2),
        work: ProgramParameters { messages: 16, harts, mode: SimulatedMode::Ecb, ..work },
    }));
    // Without limits everything overlaps, so the cost of a block is that of additional blocks.
    runs.extend(
        [blocks, 2 * blocks].map(|blocks| SimulatedRun {
            core: RaptorVariant::unlimited(),
            work: ProgramParameters { blocks, ..work },
        }),
    );
    let figures = simulate::all(&runs)?;
    let (by_width, rest) = figures.split_at(WIDTHS.len());
    let (by_harts, unlimited) = rest.split_at(HARTS.len());
    let added = |of: fn(&SimulationFigures) -> u64| {
        of(&unlimited[1]).saturating_sub(of(&unlimited[0])) as f64 / f64::from(blocks)
    };
    let speed_up = |figures: &SimulationFigures| by_harts[0].cycles as f64 / figures.cycles.max(1) as f64;
    Ok(Answers {
        by_width: by_width.to_vec(),
        unlimited: [added(|figures| figures.all_cycles), added(|figures| figures.encrypt_instructions)],
        speed_ups: HARTS.iter().zip(by_harts).map(|(harts, figures)| (f64::from(*harts), speed_up(figures))).collect(),
    })
}

fn rows(section: &mut Section, name: &str, answers: &Answers) {
    for (issue, figures) in WIDTHS.iter().zip(&answers.by_width) {
        section.rows.push(StudyRow::simulated(format!("{name}, issue {issue}"), "IPC", figures.encrypt_ipc()));
    }
    section.rows.push(StudyRow::simulated(format!("{name}, without limits"), "IPC", answers.unlimited_ipc()));
    section.rows.push(StudyRow::simulated(format!("{name}, without limits"), "cycles per block", answers.unlimited[0]));
    for (harts, speed_up) in &answers.speed_ups {
        section.rows.push(StudyRow::simulated(
            format!("{name}, {} of issue 2", count(*harts as u32, "processor")),
            "speed relative to one",
            *speed_up,
        ));
    }
}
