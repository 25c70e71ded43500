//! What the paper could not ask: wider, more, and without limits.

use super::super::{Effort, Error, Picture, Row};
use super::{Axis, Chart, Cipher, Core, Level, Line, Mode, Run, Scale, Section, Work, row, simulate, verdict};

const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
const HARTS: [u32; 5] = [1, 2, 4, 8, 16];

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let blocks = if effort.is_quick { 64 } else { 256 };
    let mut section = Section {
        text: format!(
            "Messages of {blocks} blocks in ECB, with warm caches. First one message by width, beside what the same \
             instructions take on a machine without limits: as wide as one likes, every prediction right, every access a \
             hit, only results have to wait for each other. Then 16 messages on up to 16 processors of issue 2."
        ),
        ..Section::default()
    };
    let work = |cipher| Work { blocks, warm: 1, ..Work::new(cipher, Mode::Ecb) };
    let mut runs: Vec<Run> = Vec::new();
    for cipher in Cipher::PAPER {
        runs.extend(WIDTHS.map(|issue| Run { core: Core::issue(issue), work: work(cipher) }));
        runs.push(Run { core: Core::unlimited(), work: work(cipher) });
        runs.extend(HARTS.map(|harts| Run { core: Core::issue(2), work: Work { messages: 16, harts, ..work(cipher) } }));
    }
    let figures = simulate::all(&runs, effort)?;
    let (mut lines, mut levels, mut speed_ups) = (Vec::new(), Vec::new(), Vec::new());
    let each = runs.len() / 2;
    for (cipher, (runs, figures)) in Cipher::PAPER.into_iter().zip(runs.chunks(each).zip(figures.chunks(each))) {
        let (by_width, rest) = figures.split_at(WIDTHS.len());
        let (unlimited, by_harts) = (&rest[0], &rest[1..]);
        for (run, figures) in runs.iter().zip(by_width) {
            section.rows.push(row(format!("{}, issue {}", cipher.name(), run.core.issue), None, figures));
        }
        section.rows.push(row(format!("{}, without limits", cipher.name()), None, unlimited));
        let block = unlimited.cycles as f64 / f64::from(blocks);
        section.rows.push(Row {
            what: format!("{}, without limits", cipher.name()),
            unit: "cycles a block".into(),
            simulated: Some(block),
            ..Row::default()
        });
        let mut points = Vec::new();
        for (harts, figures) in HARTS.into_iter().zip(by_harts) {
            let speed_up = by_harts[0].cycles as f64 / figures.cycles.max(1) as f64;
            points.push((f64::from(harts), speed_up));
            section.rows.push(row(format!("{}, {harts} processors of issue 2", cipher.name()), None, figures));
            section.rows.push(Row {
                what: format!("{}, {harts} processors of issue 2", cipher.name()),
                unit: "times as fast as one".into(),
                simulated: Some(speed_up),
                ..Row::default()
            });
        }
        let last = points[points.len() - 1].1;
        section.verdicts.push(verdict(
            format!("{}: 16 processors are {last:.1} times as fast as one (12 would be three quarters)", cipher.name()),
            last >= 12.0,
        ));
        let best = by_width[WIDTHS.len() - 1].ipc();
        section.verdicts.push(verdict(
            format!(
                "{}: width alone cannot get at what is there: issue 32 has {best:.1} instructions a cycle, the program holds \
                 {:.1}; {}",
                cipher.name(),
                unlimited.ipc(),
                by_width[WIDTHS.len() - 1].slots()
            ),
            best < 0.5 * unlimited.ipc(),
        ));
        lines.push(Line {
            name: cipher.name().into(),
            points: WIDTHS.iter().zip(by_width).map(|(x, y)| (f64::from(*x), y.ipc())).collect(),
        });
        levels.push(Level { name: format!("{}, without limits: {:.1}", cipher.name(), unlimited.ipc()), at: unlimited.ipc() });
        speed_ups.push(Line { name: cipher.name().into(), points });
    }
    let highest = levels.iter().map(|level| level.at).fold(1.0, f64::max);
    let axis = |name: &str, to, scale| Axis { name: name.into(), from: 1.0, to, scale };
    let chart = Chart {
        title: format!("One message of {blocks} blocks, by width"),
        x: axis("issue width", 32.0, Scale::Logarithmic),
        y: axis("instructions a cycle", highest * 1.5, Scale::Logarithmic),
        lines,
        levels,
        walls: Vec::new(),
        marks: Vec::new(),
    };
    section.pictures.push(Picture { name: "beyond-width".into(), svg: chart.svg() });
    let chart = Chart {
        title: format!("16 messages of {blocks} blocks, issue 2"),
        x: axis("processors", 16.0, Scale::Linear),
        y: axis("times as fast as one", 17.0, Scale::Linear),
        lines: speed_ups,
        levels: Vec::new(),
        walls: Vec::new(),
        marks: Vec::new(),
    };
    section.pictures.push(Picture { name: "beyond-harts".into(), svg: chart.svg() });
    Ok(section)
}
