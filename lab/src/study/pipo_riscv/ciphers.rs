//! Our kernels of all ciphers on short and long messages, and published results for processors of this kind.

use std::sync::LazyLock;

use super::super::{Claim, Effort, Error, Picture, Section, StudyTable, Verdict, YOURS};
use super::paper::PAPER;
use super::simulate::{self, KernelFigures};
use crate::picture::Group;
use crate::picture::bars::Bars;

/// A kernel of ours.
struct TressKernel {
    name: &'static str,
    /// Names of its rows in the program for 16, 64 and 1024 bytes.
    rows: [String; 3],
}

/// Name, row of the program, and minimum length: four blocks of PIPO are 32 bytes, four messages of AES 64; shorter messages take as much
/// work.
static KERNELS: LazyLock<Vec<TressKernel>> = LazyLock::new(|| {
    let kernels: Vec<(&str, &str, u32)> = serde_json::from_str(include_str!("kernels.json")).expect("kernels");
    let kernel =
        |(name, row, least)| TressKernel { name, rows: [least, 64, 1024].map(|bytes| format!("{row} {bytes}")) };
    kernels.into_iter().map(kernel).collect()
});

const PIPO_CTR: &str = "PIPO-64/128 CTR, four blocks";
const AES_CTR: &str = "AES-128 CTR, constant time";
const TABLE_CTR: &str = "AES-128 CTR, tables";
const RC6_CTR: &str = "RC6-32/20 CTR";
const LEA_CTR: &str = "LEA-128 CTR";

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let rows: Vec<&str> = KERNELS.iter().flat_map(|kernel| &kernel.rows).map(String::as_str).collect();
    let figures = simulate::all(&rows, &simulate::preset("fe310")?)?;
    let figures: &[[KernelFigures; 3]] = figures.as_chunks().0;
    let own = simulate::on_own(effort, &rows)?;
    let own: Option<&[[KernelFigures; 3]]> = own.as_ref().map(|figures| figures.as_chunks().0);
    let own_table = own.map(|own| table(&format!("Cycles per byte, {YOURS}; bytes of code and stack"), own));
    Ok(Section {
        tables: [table("Tress, simulated: cycles per byte; bytes of code and stack", figures), published()]
            .into_iter()
            .chain(own_table)
            .collect(),
        pictures: vec![picture(figures, own)],
        verdicts: verdicts(figures),
        ..Section::begin(&super::STUDY, "ciphers", &[])
    })
}

fn table(title: &str, figures: &[[KernelFigures; 3]]) -> StudyTable {
    let row = |(kernel, figures): (&TressKernel, &[KernelFigures; 3])| {
        let [short, middle, long] = per_byte(figures);
        let [.., last] = figures;
        vec![
            kernel.name.into(),
            format!("{short:.1}"),
            format!("{middle:.1}"),
            format!("{long:.1}"),
            last.code_bytes.to_string(),
            last.stack_bytes.to_string(),
        ]
    };
    StudyTable::new(title, &["", "16 bytes", "64 bytes", "1024 bytes", "code", "stack"])
        .with(KERNELS.iter().zip(figures).map(row))
}

/// Cycles per byte of messages of 16, 64 and 1024 bytes.
fn per_byte(figures: &[KernelFigures; 3]) -> [f64; 3] {
    let [short, middle, long] = figures;
    [f64::from(short.cycles) / 16.0, f64::from(middle.cycles) / 64.0, f64::from(long.cycles) / 1024.0]
}

fn published() -> StudyTable {
    let row =
        |(name, per_byte, source): &(&str, &str, &str)| vec![(*name).into(), (*per_byte).into(), (*source).into()];
    StudyTable::new(
        "Published by others, measured on FE310 boards: cycles per byte of long messages",
        &["", "cycles per byte", "source"],
    )
    .with(PAPER.published.iter().map(row))
}

fn picture(figures: &[[KernelFigures; 3]], own: Option<&[[KernelFigures; 3]]>) -> Picture {
    let group = |(kernel, figures): (&TressKernel, &[KernelFigures; 3])| {
        let [_, middle, long] = per_byte(figures);
        Group { name: kernel.name.replace(", constant time", ""), values: vec![Some(long), Some(middle)] }
    };
    let shown =
        |(kernel, _): &(&TressKernel, &[KernelFigures; 3])| kernel.name.contains("CTR") || kernel.name.contains("CCM");
    let machines = simulate::machines(own.is_some());
    let mut bars = Bars {
        title: format!("Key streams and CCM on {machines}, simulated: cycles per byte"),
        series: ["1024 bytes", "64 bytes"].map(String::from).into(),
        groups: KERNELS.iter().zip(figures).filter(shown).map(group).collect(),
        logarithmic: None,
    };
    if let Some(own) = own {
        bars.series.push(format!("1024 bytes, {YOURS}"));
        let own = KERNELS.iter().zip(own).filter(shown).map(|(_, figures)| per_byte(figures)[2]);
        bars.groups.iter_mut().zip(own).for_each(|(group, long)| group.values.push(Some(long)));
    }
    Picture::new("ciphers", bars)
}

fn verdicts(figures: &[[KernelFigures; 3]]) -> Vec<Verdict> {
    let of = |name: &str| {
        let place = KERNELS.iter().position(|kernel| kernel.name == name);
        place.and_then(|place| figures.get(place)).map_or([f64::NAN; 3], per_byte)
    };
    let printed = |name: &str| {
        let row = PAPER.published.iter().find(|(known, ..)| *known == name);
        row.map_or(f64::NAN, |(_, per_byte, _)| per_byte.parse().unwrap_or(f64::NAN))
    };
    let (pipo, aes, table, rc6, lea) = (of(PIPO_CTR), of(AES_CTR), of(TABLE_CTR), of(RC6_CTR), of(LEA_CTR));
    let mut verdicts = Vec::new();
    for (place, bytes) in [16, 64, 1024].into_iter().enumerate() {
        verdicts.push(Claim::Ours.judge(
            format!(
                "{bytes} bytes of key stream in constant time: PIPO-64/128 takes fewer cycles per byte than AES-128: {:.1} and \
                 {:.1}, which is {:.1} times as many",
                pipo[place],
                aes[place],
                aes[place] / pipo[place]
            ),
            pipo[place] < aes[place],
        ));
    }
    for (what, ours, theirs) in [
        ("AES-128 CTR in constant time", aes[2], printed("AES-128, constant time, eight blocks")),
        ("AES-128 CTR with tables", table[2], printed(TABLE_CTR)),
    ] {
        verdicts.push(Claim::Ours.judge(
            format!("{what}: fewer cycles per byte of 1024 than published: {ours:.1}, published {theirs}"),
            ours < theirs,
        ));
    }
    verdicts.push(Claim::Ours.judge(
        format!(
            "RC6, with a multiplier of five cycles, is as fast as AES with tables: {:.1} and {:.1}",
            rc6[2], table[2]
        ),
        (rc6[2] / table[2] - 1.0).abs() < 0.1,
    ));
    verdicts.push(Claim::Ours.judge(
        format!(
            "LEA-128, with blocks of 128 bits, takes at most as many cycles per byte as PIPO-64/128 for 1024 bytes: {:.1} and {:.1}",
            lea[2], pipo[2]
        ),
        lea[2] <= pipo[2],
    ));
    let most = figures.iter().flatten().map(|figures| figures.stack_bytes).max().unwrap_or(0);
    verdicts
        .push(Claim::Ours.judge(format!("no kernel uses more than 256 bytes of stack: {most} at most"), most <= 256));
    verdicts.push(Verdict::LeftOut(
        "HIGHT, CHAM and Ascon: Tress has no kernels for them. We found no published cycles per byte of LEA on an FE310"
            .into(),
    ));
    verdicts
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;

    #[test]
    fn the_program_has_all_rows() {
        let names = program::names().expect("names");
        for row in KERNELS.iter().flat_map(|kernel| &kernel.rows) {
            assert!(names.contains(&row.as_str()), "{row}");
        }
    }

    #[test]
    fn verdicts_follow_the_figures() {
        let with = |cycles: u32| -> Vec<[KernelFigures; 3]> {
            let of = |bytes: u32, kernel: &TressKernel| {
                let slow = if kernel.name.starts_with("PIPO") || kernel.name.starts_with("LEA") { 1 } else { 2 };
                KernelFigures { bytes, cycles: cycles * slow * bytes, ..KernelFigures::default() }
            };
            KERNELS.iter().map(|kernel| [16, 64, 1024].map(|bytes| of(bytes, kernel))).collect()
        };
        let fails = |figures: &[[KernelFigures; 3]]| {
            verdicts(figures).iter().filter(|verdict| matches!(verdict, Verdict::Fails(_))).count()
        };
        assert_eq!(fails(&with(20)), 0);
        // AES at 60 is slower than 57, and at 80 slower than 78.9.
        assert_eq!(fails(&with(30)), 1);
        assert_eq!(fails(&with(40)), 2);
    }
}
