//! The user's machine, which a study simulates beside the paper's: that of `--machine` and `--set`.

use tress_sim::machine::preset_file;
use tress_sim::{Image, Machine, Model, Simulation};
use tress_terminal::files;

use super::{Error, Options, Study};

/// The name of the user's machine in rows, tables and pictures.
pub(super) const YOURS: &str = "your machine";

/// Size of the largest machine file in bytes. Real ones have a few kilobytes.
const MOST_BYTES: usize = 1 << 20;

/// The machine that a study simulates.
pub(crate) struct StudyMachine {
    /// Its file, which `--set` changes if there is no `--machine`.
    pub(super) file: fn() -> &'static str,
    /// A program of the study. Machines that cannot load it are refused.
    pub(super) program: &'static [u8],
}

#[derive(Clone, Debug)]
pub struct OwnMachine {
    pub machine: Machine,
    /// Its complete file.
    pub(super) file: String,
    /// Its name and the settings, as a sentence.
    pub(super) about: String,
}

/// The user's machine for a study, if there is one.
pub(super) fn own(study: &Study, options: &Options) -> Result<Option<OwnMachine>, Error> {
    let (path, settings) = (&options.effort.machine, &options.effort.settings);
    if path.is_none() && settings.is_empty() {
        return Ok(None);
    }
    let is_used = options.wanted_parts(study).any(|part| part.is_on_own_machine);
    let base = study.machine.as_ref().filter(|_| is_used).ok_or(Error::NoMachine(study.name))?;
    let (shown, text) = match path {
        None => (study.name.to_string(), (base.file)().to_string()),
        Some(path) => {
            let read = || files::read_small(path, MOST_BYTES).map_err(|failure| Error::Machine(failure.message));
            let preset = path.to_str().and_then(preset_file).map(|file| Ok(file.as_bytes().to_vec()));
            let bytes = preset.unwrap_or_else(|| read().map(|bytes| bytes.to_vec()))?;
            let shown = path.display().to_string();
            let text = String::from_utf8(bytes).map_err(|_| Error::Machine(format!("{shown}: not a text file")))?;
            (shown, text)
        }
    };
    let failed = |error: tress_sim::Error| Error::Machine(format!("{shown}: {error}"));
    Machine::parse(&text).map_err(failed)?;
    let (machine, file) =
        Machine::parse_with(&text, settings).map_err(|error| Error::Setting(format!("--set: {error}")))?;
    Simulation::new(&machine, Model::Pipeline, Image::parse(base.program)?).map_err(failed)?;
    let changed = if settings.is_empty() { String::new() } else { format!(" with {}", settings.join(", ")) };
    let about = format!("Your machine is {}{changed}. No verdict is about it.", machine.name).replace('\n', " ");
    Ok(Some(OwnMachine { machine, file, about }))
}
