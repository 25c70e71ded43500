//! The paper compares compilers too: the same algorithms by Rust's LLVM and Cranelift, and in C by gcc and clang.

use tress_modular_times::{BITS, Operation};

use super::super::{Claim, Effort, Error, Picture, Section, StudyTable, Verdict};
use super::paper::OPERATIONS;
use super::record::{self, RecordedSystem};
use super::span;
use crate::bench::modular::duration;
use crate::picture::Group;
use crate::picture::bars::Bars;

const DIGITS: [u32; 3] = [16, 32, 64];
const POWER: usize = 7;

/// Systems of the record and their names here. The first is what the others are compared with, the last the one that does not
/// optimise much.
const SYSTEMS: [(&str, &str); 4] = [
    ("linux-shared", "Rust, LLVM"),
    ("linux-gcc", "C, gcc"),
    ("linux-clang", "C, clang"),
    ("linux-cranelift", "Rust, Cranelift"),
];

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let systems = record::compilers(effort)?;
    // A system that lacks a figure is left out.
    let cells = OPERATIONS.len() * DIGITS.len() * BITS.len();
    let of = |name: &str| systems.iter().find(|system| system.name == name && system.times.len() >= cells);
    let found = SYSTEMS.iter().map(|(name, _)| of(name));
    let Some(all) = found.collect::<Option<Vec<_>>>().and_then(|found| <[_; 4]>::try_from(found).ok()) else {
        let why = format!("the record lacks one of {}", SYSTEMS.map(|(name, _)| name).join(", "));
        return Ok(Section { verdicts: vec![Verdict::LeftOut(why)], ..Section::default() });
    };
    let compilers = all.iter().zip(SYSTEMS).map(|(system, (_, name))| format!("{name} ({})", system.compiler));
    let compilers = compilers.collect::<Vec<_>>().join(", ");
    let begin = Section::begin(&super::STUDY, "compilers", &[("machine", &all[0].machine), ("compilers", &compilers)]);
    let pictures = vec![Picture::new("compilers", picture(&all))];
    Ok(Section { tables: vec![table(&all)], pictures, verdicts: verdicts(&all), ..begin })
}

fn per_run(system: &RecordedSystem, digit_bits: u32, bits: usize, row: usize) -> f64 {
    system.per_run(digit_bits, bits, Operation::PAPER[row]).unwrap_or(f64::NAN)
}

fn table(all: &[&RecordedSystem; 4]) -> StudyTable {
    let header: Vec<&str> =
        ["operation", "digit, bits"].into_iter().chain(SYSTEMS.iter().map(|(_, name)| *name)).collect();
    let mut table = StudyTable::new("Time of one run on numbers of 1024 bits, recorded", &header);
    for (row, operation) in OPERATIONS.iter().enumerate() {
        for digit_bits in DIGITS {
            let cells = all.iter().map(|system| duration(per_run(system, digit_bits, 1024, row)));
            table.rows.push([operation.to_string(), digit_bits.to_string()].into_iter().chain(cells).collect());
        }
    }
    table
}

fn picture(all: &[&RecordedSystem; 4]) -> Bars {
    let time = |system: &RecordedSystem, digit_bits| per_run(system, digit_bits, 1024, POWER);
    let group = |digit_bits: u32| Group {
        name: format!("digits of {digit_bits} bits"),
        values: all.iter().map(|system| Some(time(system, digit_bits) / time(all[0], digit_bits))).collect(),
    };
    Bars {
        title: "Montgomery power of 1024 bits: time relative to Rust, LLVM".into(),
        series: SYSTEMS.map(|(_, name)| name.to_string()).into(),
        groups: DIGITS.map(group).into(),
        logarithmic: None,
    }
}

/// Times relative to another system at all sizes and digits, without sums and differences.
fn relative(system: &RecordedSystem, to: &RecordedSystem) -> Vec<f64> {
    let is_short = |name: &str| [Operation::Add, Operation::Subtract].iter().any(|short| short.name() == name);
    let long = system.times.iter().filter(|((.., name), _)| !is_short(name));
    long.filter_map(|(cell, time)| Some(time / to.times.get(cell)?)).collect()
}

fn verdicts(all: &[&RecordedSystem; 4]) -> Vec<Verdict> {
    let [llvm, gcc, clang, cranelift] = all.map(|system| relative(system, all[0]));
    let near = |ratios: &[f64]| ratios.iter().filter(|ratio| (0.8..=1.25).contains(*ratio)).count();
    let mut verdicts = Vec::new();
    for (name, ratios) in [("gcc", gcc), ("clang", clang)] {
        let (near, all) = (near(&ratios), llvm.len());
        let claim = format!(
            "C by {name} takes the time of Rust by LLVM: {near} of {all} products, squares, reductions and powers are within a \
             quarter; all are {} times",
            span(ratios)
        );
        verdicts.push(Claim::Ours.judge(claim, 4 * near >= 3 * all));
    }
    let claim = format!(
        "the choice of the compiler matters (section 5): Cranelift takes {} times as long as LLVM for the same Rust",
        span(cranelift.clone())
    );
    verdicts.push(Claim::Paper.judge(claim, cranelift.iter().all(|ratio| *ratio > 1.25)));
    verdicts.push(Verdict::LeftOut(
        "memory models: no compiler here (rustc with LLVM or Cranelift, gcc, clang) can express one. They have one kind of \
         pointer, and no far pointers into segments of 64 KiB as Turbo C and Visual C++ 1.52 had"
            .into(),
    ));
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made-up figures on both sides of each claim.
    #[test]
    fn verdicts_follow_the_figures() {
        let recorded = record::compilers(&Effort::default()).expect("the built-in record");
        let one = recorded.iter().find(|system| system.name == "linux-shared").expect("a system");
        let times = |factor: f64| {
            let mut system = one.clone();
            system.times.values_mut().for_each(|time| *time *= factor);
            system
        };
        let holds = |gcc: f64, clang: f64, cranelift: f64| {
            let [gcc, clang, cranelift] = [gcc, clang, cranelift].map(times);
            verdicts(&[one, &gcc, &clang, &cranelift])[..3].iter().map(|one| !one.is_refuted()).collect::<Vec<_>>()
        };
        assert_eq!(holds(1.2, 0.85, 4.0), [true, true, true]);
        assert_eq!(holds(1.3, 0.75, 1.2), [false, false, false]);
    }

    /// From the record by hand: 932,138 over 807,994 ns; the table has every operation at every digit.
    #[test]
    fn the_built_in_record_has_every_figure() {
        let table = &run(&Effort::default()).expect("a section").tables[0];
        assert_eq!(table.rows.len(), 24);
        assert!(!table.rows.iter().flatten().any(|cell| cell.contains("NaN") || cell.is_empty()), "{:?}", table.rows);
        let recorded = record::compilers(&Effort::default()).expect("the built-in record");
        let [gcc, llvm] = ["linux-gcc", "linux-shared"].map(|name| recorded.iter().find(|one| one.name == name));
        let ratios = relative(gcc.expect("gcc"), llvm.expect("LLVM"));
        let is_power = |ratio: &&f64| (**ratio - 932_138.0 / 807_994.0).abs() < 1e-5;
        assert_eq!((ratios.len(), ratios.iter().filter(is_power).count()), (72, 1), "{ratios:?}");
    }
}
