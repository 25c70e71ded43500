//! Table 5 of the paper, its layout rewritten, and our kernels: cycles, cycles per byte, code, stack and keys.

use super::super::{Claim, Effort, Error, Picture, Section, StudyTable, Verdict, YOURS};
use super::paper::{NEAR, PAPER, PaperRow};
use super::simulate::{self, KernelFigures};
use crate::picture::Group;
use crate::picture::bars::Bars;

/// Results for a row of the table: the layout's call, our call, ours on 1024 bytes.
pub(super) type Simulated = [KernelFigures; 3];

/// The rows of the program for all rows of the table.
fn names() -> Vec<&'static str> {
    PAPER.table_5.iter().flat_map(|row| [row.layout, row.ours, row.ours_bulk]).collect()
}

/// The simulated results for all rows of the table.
pub(super) fn simulated() -> Result<Vec<Simulated>, Error> {
    Ok(simulate::all(&names(), &simulate::preset("fe310")?)?.as_chunks().0.to_vec())
}

/// Cycles of our calls with the key schedule, for the rows of Kwak, Kim and Seo.
fn with_schedule() -> Result<[u32; 2], Error> {
    let mut cycles = [0; 2];
    for (row, cycles) in PAPER.kwak.iter().zip(&mut cycles) {
        *cycles = simulate::all(&row.ours, &simulate::preset("fe310")?)?.iter().map(|figures| figures.cycles).sum();
    }
    Ok(cycles)
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let (simulated, scheduled) = (simulated()?, with_schedule()?);
    let own = simulate::on_own(effort, &names())?;
    let own: Option<&[Simulated]> = own.as_ref().map(|figures| figures.as_chunks().0);
    let mut verdicts = verdicts(&simulated);
    verdicts.extend(kwak(scheduled));
    Ok(Section {
        tables: [cycles(&simulated, scheduled), sizes(&simulated)].into_iter().chain(own.map(own_cycles)).collect(),
        pictures: vec![picture(&simulated, scheduled, own)],
        verdicts,
        ..Section::begin(&super::STUDY, "table-5", &[])
    })
}

fn cycles(simulated: &[Simulated], scheduled: [u32; 2]) -> StudyTable {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (printed, [layout, ours, bulk]) in PAPER.table_5.iter().zip(simulated) {
        rows.push(vec![
            printed.name.into(),
            printed.cycles.to_string(),
            layout.cycles.to_string(),
            ours.cycles.to_string(),
            printed.per_byte.into(),
            format!("{:.1}", layout.per_byte()),
            format!("{:.1}", ours.per_byte()),
            format!("{:.1}", bulk.per_byte()),
        ]);
    }
    for (row, cycles) in PAPER.kwak.iter().zip(scheduled) {
        let per_byte = f64::from(cycles) / f64::from(row.bytes);
        let cells = [row.name, row.cycles, "", &cycles.to_string(), row.per_byte, "", &format!("{per_byte:.1}"), ""];
        rows.push(cells.map(String::from).into());
    }
    StudyTable::new(
        "Cycles per call and per byte",
        &[
            "",
            "paper, cycles",
            "its layout, simulated",
            "ours, simulated",
            "paper, per byte",
            "its layout, per byte",
            "ours, per byte",
            "ours in bulk, per byte",
        ],
    )
    .with(rows)
}

/// The table of the user's machine.
fn own_cycles(simulated: &[Simulated]) -> StudyTable {
    let row = |(printed, figures): (&PaperRow, &Simulated)| {
        let [layout, ours, bulk] = figures.map(|figures| format!("{:.1}", figures.per_byte()));
        let [layout_cycles, our_cycles, _] = figures.map(|figures| figures.cycles.to_string());
        vec![printed.name.into(), layout_cycles, our_cycles, layout, ours, bulk]
    };
    let header = ["", "its layout", "ours", "its layout, cycles per byte", "ours", "ours in bulk"];
    StudyTable::new(format!("Cycles per call and per byte, {YOURS}"), &header)
        .with(PAPER.table_5.iter().zip(simulated).map(row))
}

fn sizes(simulated: &[Simulated]) -> StudyTable {
    let row = |(printed, [layout, ours, _]): (&PaperRow, &Simulated)| {
        vec![
            printed.name.into(),
            layout.code_bytes.to_string(),
            ours.code_bytes.to_string(),
            layout.stack_bytes.to_string(),
            ours.stack_bytes.to_string(),
            printed.key_bytes[0].to_string(),
            printed.key_bytes[1].to_string(),
        ]
    };
    StudyTable::new(
        "Bytes of code (from the symbols), stack (from a pattern written before the call) and prepared key. Of these, \
                the paper gives only the keys",
        &["", "its layout, code", "ours, code", "its layout, stack", "ours, stack", "its layout, key", "ours, key"],
    )
    .with(PAPER.table_5.iter().zip(simulated).map(row))
}

fn picture(simulated: &[Simulated], scheduled: [u32; 2], own: Option<&[Simulated]>) -> Picture {
    let group = |(printed, [layout, ours, bulk]): (&PaperRow, &Simulated)| Group {
        name: printed.name.into(),
        values: [printed.per_byte(), layout.per_byte(), ours.per_byte(), bulk.per_byte()].map(Some).into(),
    };
    let others = PAPER.kwak.iter().zip(scheduled).map(|(row, cycles)| Group {
        name: row.name.into(),
        values: vec![Some(row.per_byte()), None, Some(f64::from(cycles) / f64::from(row.bytes)), None],
    });
    let machines = simulate::machines(own.is_some());
    let mut bars = Bars {
        title: format!("PIPO-64/128 on {machines}, cycles per byte: paper measured, rest simulated"),
        series: ["paper", "its layout", "ours, one call", "ours in bulk"].map(String::from).into(),
        groups: PAPER.table_5.iter().zip(simulated).map(group).chain(others).collect(),
        logarithmic: None,
    };
    if let Some(own) = own {
        bars.series.push(format!("ours in bulk, {YOURS}"));
        bars.groups.iter_mut().zip(own).for_each(|(group, [.., bulk])| group.values.push(Some(bulk.per_byte())));
    }
    Picture::new("table-5", bars)
}

fn verdicts(simulated: &[Simulated]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let gains = PAPER.table_5.iter().zip(simulated).map(|(printed, [_, ours, bulk])| {
        (f64::from(printed.cycles) / f64::from(ours.cycles), printed.per_byte() / bulk.per_byte())
    });
    let (low, high, low_bulk, high_bulk) = gains.fold(
        (f64::INFINITY, 0.0, f64::INFINITY, 0.0),
        |(low, high, low_bulk, high_bulk): (f64, f64, f64, f64), (call, bulk)| {
            (low.min(call), high.max(call), low_bulk.min(bulk), high_bulk.max(bulk))
        },
    );
    verdicts.push(Claim::Ours.judge(
        format!(
            "every row takes fewer cycles than in the paper: {low:.2} to {high:.2} times as fast in one call, {low_bulk:.2} to \
             {high_bulk:.2} times in bulk"
        ),
        low > 1.0 && low_bulk > 1.0,
    ));
    for (printed, [layout, ours, _]) in PAPER.table_5.iter().zip(simulated) {
        let gain = f64::from(layout.cycles) / f64::from(ours.cycles);
        verdicts.push(Claim::Ours.judge(
            format!(
                "{}: faster than its layout on the same model: {} cycles, {gain:.2} times as fast",
                printed.name, ours.cycles
            ),
            gain > 1.0,
        ));
    }
    for (printed, [layout, ..]) in PAPER.table_5.iter().zip(simulated) {
        let off = f64::from(layout.cycles) / f64::from(printed.cycles) - 1.0;
        verdicts.push(Claim::Paper.judge(
            format!(
                "{}: the layout of the paper, rewritten, is near its {} cycles ({}, {:+.1} %)",
                printed.name,
                printed.cycles,
                layout.cycles,
                100.0 * off
            ),
            off.abs() <= NEAR,
        ));
    }
    let most = simulated.iter().flatten().map(|figures| figures.stack_bytes).max().unwrap_or(0);
    verdicts
        .push(Claim::Ours.judge(format!("no kernel uses more than 256 bytes of stack: {most} at most"), most <= 256));
    verdicts
}

/// Our calls with the key schedule beside those of Kwak, Kim and Seo.
fn kwak(scheduled: [u32; 2]) -> impl Iterator<Item = Verdict> {
    PAPER.kwak.iter().zip(scheduled).map(|(row, cycles)| {
        let ours = f64::from(cycles) / f64::from(row.bytes);
        let gain = row.per_byte() / ours;
        let claim = format!(
            "{}: with the key schedule, ours is faster than {} per byte: {cycles} cycles, {ours:.1} per byte, {gain:.2} times as fast",
            row.name, row.per_byte
        );
        Claim::Ours.judge(claim, gain > 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(bytes: u32, cycles: u32) -> KernelFigures {
        KernelFigures { bytes, cycles, ..KernelFigures::default() }
    }

    /// Verdicts say what the figures say.
    #[test]
    fn verdicts_follow_the_figures() {
        let with = |layout: f64, ours: f64| -> Vec<Simulated> {
            let of = |printed: &PaperRow, times: f64| (f64::from(printed.cycles) * times) as u32;
            let row = |printed: &PaperRow| {
                let bulk = (printed.per_byte() * 1024.0 * ours) as u32;
                [
                    figures(printed.bytes, of(printed, layout)),
                    figures(printed.bytes, of(printed, ours)),
                    figures(1024, bulk),
                ]
            };
            PAPER.table_5.iter().map(row).collect()
        };
        let fails = |simulated: &[Simulated]| verdicts(simulated).iter().filter(|verdict| verdict.is_refuted()).count();
        assert_eq!(fails(&with(1.0, 0.5)), 0);
        // One verdict for all, and one for each row.
        assert_eq!(fails(&with(1.0, 1.1)), 1 + PAPER.table_5.len());
        assert_eq!(fails(&with(1.1, 0.5)), PAPER.table_5.len());
        let mut deep = with(1.0, 0.5);
        deep[3][1].stack_bytes = 257;
        assert_eq!(fails(&deep), 1);
    }

    /// The cells of the paper's Table 5 (section 4), row by row: cycles and cycles per byte.
    #[test]
    fn the_papers_cells_are_those_of_its_table() {
        let simulated = vec![[figures(8, 1000); 3]; PAPER.table_5.len()];
        let printed =
            "1217 152.21, 1240 155, 1242 155.25, 2715 84.85, 1918 59.93, 1907 59.59, 1942 60.68, 2078 259.75,  113.7";
        let table = cycles(&simulated, [1184, 1382]);
        let own = picture(&simulated, [0; 2], Some(&simulated)).drawing;
        assert!(own.title().contains("on an FE310 and your machine,"));
        let found: Vec<String> = table.rows.iter().map(|row| format!("{} {}", row[1], row[4])).collect();
        assert_eq!(found.join(", "), printed);
        // By hand: 1184 / 8 and 1382 / 32.
        assert_eq!([7, 8].map(|row: usize| table.rows[row][6].as_str()), ["148.0", "43.2"]);
    }

    /// By hand: 2078 cycles of one block and 3638.4 of four are the limits.
    #[test]
    fn kernels_with_their_key_schedule() {
        let holds = |scheduled| kwak(scheduled).map(|verdict| !verdict.is_refuted()).collect::<Vec<_>>();
        assert_eq!([holds([2077, 3639]), holds([2078, 3638])], [[true, false], [false, true]]);
        let found = with_schedule().expect("figures");
        assert!(found[0] <= 1190 && found[1] <= 1390, "{found:?}");
    }

    /// The figures that the library's documentation states (cycles per byte of a call, and in bulk).
    #[test]
    fn kernels_stay_as_fast_as_they_are() {
        let most =
            [(106.0, 100.0), (110.5, 102.0), (104.5, 98.0), (43.2, 36.0), (37.0, 35.5), (36.5, 31.5), (38.0, 36.0)];
        for ((printed, [_, ours, bulk]), (most, most_bulk)) in
            PAPER.table_5.iter().zip(simulated().expect("figures")).zip(most)
        {
            assert!(ours.per_byte() <= most, "{}: {}", printed.name, ours.per_byte());
            assert!(bulk.per_byte() <= most_bulk, "{}: {}", printed.name, bulk.per_byte());
        }
    }
}
