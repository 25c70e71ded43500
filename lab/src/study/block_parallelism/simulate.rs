//! Runs of the program on machines like `raptor.toml` beside this file.

use tress_sim::machine::{OutOfOrder, UnitClass};
use tress_sim::timing::Account;
use tress_sim::{Machine, Model, Report, Spent};

use super::super::{Error, runs};
use super::program::ProgramParameters;

/// The paper's chip, as a file for `tress simulate --machine`.
pub(super) const MACHINE: &str = include_str!("raptor.toml");

/// A processor: `raptor.toml` with changes, or the user's.
#[derive(Clone, Copy, Debug)]
pub(super) struct RaptorVariant<'a> {
    own: Option<&'a Machine>,
    pub(super) issue: u32,
    model: Model,
    change: CoreChange,
}

type CoreChange = fn(&mut OutOfOrder);

impl<'a> RaptorVariant<'a> {
    /// The machine file with this issue width.
    pub(super) fn paper(issue: u32) -> RaptorVariant<'a> {
        RaptorVariant { own: None, issue, model: Model::Pipeline, change: |_| () }
    }

    pub(super) fn of(machine: &'a Machine) -> RaptorVariant<'a> {
        let issue = machine.out_of_order.as_ref().map_or(1, |core| core.issue);
        RaptorVariant { own: Some(machine), ..RaptorVariant::paper(issue) }
    }

    /// A processor whose other resources match its issue width: as many integer units, half as many ports, a quarter
    /// as many multipliers, and a reorder buffer for 32 cycles.
    pub(super) fn wide(issue: u32) -> RaptorVariant<'a> {
        let change: CoreChange = |core| {
            let issue = core.issue;
            count(core, UnitClass::Alu, issue);
            count(core, UnitClass::Load, (issue / 2).max(1));
            count(core, UnitClass::Multiply, (issue / 4).max(1));
            core.reorder_buffer = core.reorder_buffer.max(32 * issue);
            core.load_queue = core.load_queue.max(16 * issue);
            core.store_queue = core.store_queue.max(8 * issue);
            core.fetch_queue = core.fetch_queue.max(4 * issue);
        };
        RaptorVariant { change, ..RaptorVariant::paper(issue) }
    }

    /// The latencies of the machine file, without any limit but data flow.
    pub(super) fn unlimited() -> RaptorVariant<'a> {
        RaptorVariant { model: Model::Limit, ..RaptorVariant::paper(1) }
    }

    pub(super) fn with(self, change: CoreChange) -> RaptorVariant<'a> {
        RaptorVariant { change, ..self }
    }

    fn machine(&self, harts: u32) -> Result<Machine, Error> {
        let mut machine = self.own.map_or_else(|| Machine::parse(MACHINE), |own| Ok(own.clone()))?;
        machine.harts = harts as usize;
        machine.set_issue(self.issue)?;
        machine.out_of_order.iter_mut().for_each(self.change);
        machine.check()?;
        Ok(machine)
    }
}

/// Sets the number of units of this class.
pub(super) fn count(core: &mut OutOfOrder, class: UnitClass, count: u32) {
    core.unit.iter_mut().filter(|unit| unit.does.contains(&class)).for_each(|unit| {
        unit.count = count;
        unit.count_from_issue.clear();
    });
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedRun<'a> {
    pub(super) core: RaptorVariant<'a>,
    pub(super) work: ProgramParameters,
}

/// The results of a run, from the first key setup to the last block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SimulationFigures {
    /// Instructions of all harts, without harts that only wait.
    pub(super) instructions: u64,
    /// Cycles of the first hart, until all are done.
    pub(super) cycles: u64,
    /// Cycles of the first hart in encryption.
    pub(super) encrypt_cycles: u64,
    /// Instructions of all harts in encryption.
    pub(super) encrypt_instructions: u64,
    /// Cycles of the whole program, from start to end.
    pub(super) all_cycles: u64,
    /// Issue slots of all harts while they work.
    slots: Account,
}

impl SimulationFigures {
    pub(super) fn ipc(&self) -> f64 {
        tress_sim::ipc(self.instructions, self.cycles)
    }

    /// Instructions per cycle of the encryption alone.
    pub(super) fn encrypt_ipc(&self) -> f64 {
        tress_sim::ipc(self.encrypt_instructions, self.encrypt_cycles)
    }

    /// Where the slots went, in words, the largest parts first.
    pub(super) fn slots(&self) -> String {
        let slots = &self.slots;
        let total = slots.total().max(1) as f64;
        let mut lost = [
            (slots.front_end, "to missing instructions (caches, jumps)"),
            (slots.prediction, "to mispredictions"),
            (slots.dependence, "to waiting for results"),
            (slots.unit, "to busy units and ports"),
            (slots.memory, "to level 1 data misses"),
            (slots.serial, "to serialising instructions"),
        ];
        lost.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let part = |count: u64| 100.0 * count as f64 / total;
        let mut text = format!("Of the issue slots {:.0} % were used", part(slots.retired));
        for (count, what) in lost.into_iter().filter(|(count, _)| part(*count) >= 5.0) {
            text += &format!(", {:.0} % lost {what}", part(count));
        }
        text
    }

    fn of(report: &Report, harts: u32) -> SimulationFigures {
        let mut figures = SimulationFigures { all_cycles: report.cycles, ..SimulationFigures::default() };
        let nothing = Spent::default();
        for region in &report.regions {
            let first = region.harts.first().unwrap_or(&nothing);
            match region.name.as_str() {
                "key_setup" | "encrypt" => {
                    figures.instructions += region.instructions;
                    figures.cycles += first.cycles;
                    region.harts.iter().for_each(|hart| figures.slots.add(&hart.slots));
                    if region.name == "encrypt" {
                        figures.encrypt_cycles = first.cycles;
                        figures.encrypt_instructions = region.instructions;
                    }
                }
                // A single hart does not wait. Its "wait" region only covers the way from the work to the sum.
                "wait" if harts > 1 => figures.cycles += first.cycles,
                _ => {}
            }
        }
        figures
    }
}

fn simulate(run: &SimulatedRun) -> Result<SimulationFigures, Error> {
    let machine = run.core.machine(run.work.harts)?;
    let mut simulation = runs::simulate(&machine, run.core.model, &run.work.program()?, run.work)?;
    Ok(SimulationFigures::of(&simulation.report(), run.work.harts))
}

/// Results of all runs, in their order. As many run at a time as this machine has cores.
pub(super) fn all(runs: &[SimulatedRun]) -> Result<Vec<SimulationFigures>, Error> {
    let work = |run: &SimulatedRun| {
        let work = &run.work;
        u64::from(work.messages) * u64::from(work.blocks + 4) * u64::from(1 + work.warm)
    };
    runs::run_all(runs, work, simulate)
}

#[cfg(test)]
mod tests {
    use super::super::program::{SimulatedCipher, SimulatedMode};
    use super::*;

    /// The machine file is the preset, but for its name and the number of integer units.
    #[test]
    fn the_machine_file_is_the_preset_with_another_number_of_integer_units() {
        let [mut ours, preset] =
            [Machine::parse(MACHINE).expect("a machine"), Machine::preset("raptor").expect("a preset")];
        let core = ours.out_of_order.as_mut().expect("out of order");
        let alu = core.unit.iter().find(|unit| unit.does.contains(&UnitClass::Alu)).expect("integer units");
        assert_eq!((alu.count, alu.count_from_issue.as_slice()), (0, [[1, 1], [8, 2]].as_slice()));
        count(core, UnitClass::Alu, 0);
        (ours.name, ours.about) = (preset.name.clone(), preset.about.clone());
        assert_eq!(ours, preset);
    }

    /// Other programs on this machine have no effect.
    #[test]
    fn the_same_run_takes_the_same_cycles() {
        let work = ProgramParameters {
            messages: 4,
            harts: 4,
            ..ProgramParameters::new(SimulatedCipher::Rijndael, SimulatedMode::Cbc)
        };
        let run = SimulatedRun { core: RaptorVariant::paper(2), work };
        let figures = all(&[run; 4]).expect("runs");
        assert!(figures.iter().all(|other| *other == figures[0]) && figures[0].cycles > 0);
        // Four processors do the same work as one, and the order of runs is kept.
        let one = SimulatedRun { core: RaptorVariant::paper(2), work: ProgramParameters { harts: 1, ..work } };
        let both = all(&[one, run]).expect("runs");
        assert_eq!(both[1], figures[0]);
        assert!(both[0].cycles > both[1].cycles);
        assert!(both[0].instructions.abs_diff(both[1].instructions) < both[0].instructions / 50);
    }

    #[test]
    fn a_mistake_found_by_the_program_is_reported() {
        // More messages than the program has room for.
        let work =
            ProgramParameters { messages: 1 << 13, ..ProgramParameters::new(SimulatedCipher::Rc6, SimulatedMode::Ecb) };
        let run = SimulatedRun { core: RaptorVariant::paper(2), work };
        assert!(matches!(all(&[run]), Err(Error::Program(_))));
    }
}
