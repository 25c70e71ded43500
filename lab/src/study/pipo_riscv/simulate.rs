//! Runs of the program on a model of the core, one for each row.

use tress_sim::timing::Account;
use tress_sim::{Image, Machine, Model, Report};

use super::super::{Effort, Error, YOURS, runs};
use super::program;

/// The results of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct KernelFigures {
    pub(super) bytes: u32,
    /// Cycles and instructions of a call, less those of calling an empty function.
    pub(super) cycles: u32,
    pub(super) instructions: u32,
    /// Cycles of the first call, which fetches its code from flash.
    pub(super) first_cycles: u32,
    /// Bytes of stack that were written.
    pub(super) stack_bytes: u32,
    /// Bytes of the functions that ran, without those that prepare keys.
    pub(super) code_bytes: u64,
    /// Where the cycles went.
    pub(super) slots: Account,
}

impl KernelFigures {
    pub(super) fn per_byte(&self) -> f64 {
        f64::from(self.cycles) / f64::from(self.bytes)
    }
}

/// Functions that run before a kernel does.
const PREPARING: [&str; 4] = ["tress_bench", "tress_pipo_", "expand_key", "key_form"];
const PREPARING_AES: [&str; 2] = ["tress_aes_table_make", "tress_aes_sub_word"];

fn is_kernel(name: &str) -> bool {
    name.starts_with("tress_")
        && !PREPARING.iter().any(|part| name.contains(part))
        && !PREPARING_AES.contains(&name)
        && name != "tress_trap"
}

fn simulate_row(row: usize, name: &str, machine: &Machine) -> Result<KernelFigures, Error> {
    let mut simulation = runs::simulate(machine, Model::Pipeline, &program::program_for_row(row)?, name)?;
    let words = runs::result(&simulation, row as u64 * 20, 20)?;
    let result: Vec<u32> = words.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if result[3] != program::sum(name)? {
        return Err(Error::Disagreement(name.into()));
    }
    let report = simulation.report();
    let bytes = name.split_once(' ').and_then(|(_, bytes)| bytes.parse().ok());
    Ok(KernelFigures {
        bytes: bytes.ok_or_else(|| Error::Program(format!("{name}: does not report its number of bytes")))?,
        cycles: result[1],
        instructions: result[2],
        first_cycles: result[0],
        stack_bytes: result[4],
        code_bytes: code_bytes(&report, simulation.system().image()),
        slots: slots(&report),
    })
}

/// Bytes of all functions of kernels that ran.
fn code_bytes(report: &Report, image: &Image) -> u64 {
    let ran = report.timing.iter().flat_map(|timing| &timing.functions).map(|function| function.name.as_str());
    let size = |name: &str| image.symbols().iter().find(|symbol| symbol.name == name).map_or(0, |symbol| symbol.size);
    ran.filter(|name| is_kernel(name)).map(size).sum()
}

/// The slots of the call, less those of calling an empty function.
fn slots(report: &Report) -> Account {
    let of = |name: &str| {
        let region = report.regions.iter().find(|region| region.name == name);
        region.and_then(|region| region.harts.first()).map(|spent| spent.slots).unwrap_or_default()
    };
    of("call").combined(&of("nothing"), u64::saturating_sub)
}

/// The machine of this name.
pub(super) fn preset(name: &str) -> Result<Machine, Error> {
    Machine::preset(name).ok_or_else(|| Error::Program(format!("the machine {name} is missing")))
}

/// The results of these rows on this machine, in order.
pub(super) fn all(wanted: &[&str], machine: &Machine) -> Result<Vec<KernelFigures>, Error> {
    let names = program::names()?;
    let place = |name: &&str| {
        let place = names.iter().position(|known| known == name);
        place.map(|place| (place, names[place])).ok_or_else(|| Error::Program(format!("it has no row {name}")))
    };
    let jobs: Vec<(usize, &str)> = wanted.iter().map(place).collect::<Result<_, _>>()?;
    let bytes = |job: &(usize, &str)| job.1.split_once(' ').map_or(0, |(_, bytes)| bytes.parse().unwrap_or(0));
    runs::run_all(&jobs, bytes, |(row, name)| simulate_row(*row, name, machine))
}

/// The machines of a picture.
pub(super) fn machines(has_own: bool) -> String {
    if has_own { format!("an FE310 and {YOURS}") } else { "an FE310".into() }
}

/// The results of these rows on the user's machine, if there is one.
pub(super) fn on_own(effort: &Effort, wanted: &[&str]) -> Result<Option<Vec<KernelFigures>>, Error> {
    let failed = |error| Error::Machine(format!("{YOURS}: {error}"));
    effort.own.as_ref().map(|own| all(wanted, &own.machine).map_err(failed)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fe310() -> Machine {
        preset("fe310").expect("a preset")
    }

    /// Other programs on this machine have no effect. Every instruction has a slot, and the other slots are lost cycles.
    #[test]
    fn the_same_row_takes_the_same_cycles() {
        let rows = ["pipo128_encrypt4 32", "aes128_ctr 16", "pipo128_encrypt4 32"];
        let figures = all(&rows, &fe310()).expect("figures");
        assert_eq!(figures[0], figures[2]);
        for figures in figures {
            assert_eq!(figures.slots.retired, u64::from(figures.instructions));
            assert!(figures.slots.total().abs_diff(u64::from(figures.cycles)) <= 3, "{figures:?}");
            // Flash is slow.
            assert!(figures.first_cycles > 10 * figures.cycles, "{figures:?}");
        }
    }

    /// `size -A` of the C library's object says 4224; the linker has relaxed some instructions here.
    #[test]
    fn code_is_that_of_the_kernel_alone() {
        let figures = all(&["pipo128_encrypt4 32", "pipo128_paper_encrypt1 8"], &fe310()).expect("figures");
        assert!((4216..=4224).contains(&figures[0].code_bytes), "{}", figures[0].code_bytes);
        assert!(figures[1].code_bytes < 5000);
        assert_eq!([figures[0].stack_bytes, figures[1].stack_bytes], [96, 8]);
    }

    #[test]
    fn missing_rows_are_errors() {
        assert!(matches!(all(&["pipo128_encrypt4 33"], &fe310()), Err(Error::Program(_))));
    }
}
