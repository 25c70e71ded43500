//! Choices that the paper's table leaves open, and their effect: the ends of Fig. 7 with other choices.

use tress_sim::machine::UnitClass;

use super::super::{Effort, Error};
use super::simulate::count as units;
use super::{
    PAPER_BLOCKS, ProgramParameters, RaptorVariant, Section, SimulatedCipher, SimulatedMode, SimulatedRun, row,
    simulate,
};

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let blocks = if effort.is_quick { 64 } else { 1024 };
    let base = RaptorVariant::paper(8);
    let choices: [(&str, RaptorVariant); 11] = [
        ("as in the parts above", base),
        ("one integer unit", base.with(|core| units(core, UnitClass::Alu, 1))),
        ("four integer units", base.with(|core| units(core, UnitClass::Alu, 4))),
        ("eight integer units", base.with(|core| units(core, UnitClass::Alu, 8))),
        ("two ports", base.with(|core| units(core, UnitClass::Load, 2))),
        ("four ports", base.with(|core| units(core, UnitClass::Load, 4))),
        ("reorder buffer of 16", base.with(|core| core.reorder_buffer = 16)),
        ("reorder buffer of 32", base.with(|core| core.reorder_buffer = 32)),
        ("reorder buffer of 64", base.with(|core| core.reorder_buffer = 64)),
        ("reorder buffer of 128", base.with(|core| core.reorder_buffer = 128)),
        (
            "multiplications in 34 cycles",
            base.with(|core| {
                let multipliers = core.unit.iter_mut().filter(|unit| unit.does.contains(&UnitClass::Multiply));
                multipliers.for_each(|unit| (unit.latency, unit.double_latency) = (34, 34));
            }),
        ),
    ];
    let ciphers = [SimulatedCipher::Rijndael, SimulatedCipher::RijndaelInMemory, SimulatedCipher::Rc6];
    let runs: Vec<SimulatedRun> = choices
        .iter()
        .flat_map(|(_, core)| {
            ciphers.map(|cipher| SimulatedRun {
                core: *core,
                work: ProgramParameters { blocks, ..ProgramParameters::new(cipher, SimulatedMode::Ecb) },
            })
        })
        .collect();
    let figures = simulate::all(&runs)?;
    let mut section = Section::begin(&super::STUDY, "open", &[("blocks", &blocks)]);
    for (run, (place, figures)) in runs.iter().zip(figures.iter().enumerate()) {
        let what = format!("{}, {}", run.work.cipher.name(), choices[place / ciphers.len()].0);
        section.rows.push(row(what, Some(PAPER_BLOCKS.of(run.work.cipher)), figures));
    }
    Ok(section)
}
