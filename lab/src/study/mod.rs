//! `tress study`: the results of a paper, beside its model, a simulation, and this machine.
//!
//! A [`Study`] is a list of [`StudyPart`]s. A part makes a [`Section`]: rows with up to four figures each, pictures, and
//! verdicts. [`run`] runs the parts one after the other and writes the page. With an output folder, every section is
//! stored when it is done, and an interrupted run continues where it stopped.
//!
//! A new study is a file or folder here and a line in [`all`].

mod aes_strategies;
mod block_parallelism;
mod busy;
mod ccm_overlap;
mod error;
mod found;
pub(crate) mod keep;
mod machine;
mod modular;
mod numbers;
mod page;
mod pipo_riscv;
mod runs;
mod verdict;

use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde::{Deserialize, Serialize};

use crate::picture::{Axis, Chart, Drawing, Line, Scale};
use crate::timing::statistics::{self, Median};
pub use error::Error;
pub use found::Findings;
pub use machine::OwnMachine;
use machine::{StudyMachine, YOURS};
pub(crate) use page::{exact, figure};
use verdict::Claim;
pub use verdict::Verdict;

pub struct Study {
    /// The name on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// Its `texts.txt`: what the page says about the paper, and in each part before the figures ([`text`]).
    texts: &'static str,
    pub parts: &'static [StudyPart],
    /// The machine in place of which users can simulate another one. `None` if they cannot.
    pub(crate) machine: Option<StudyMachine>,
    /// The inputs of the parts, other than this version of Tress. A stored section of other inputs is made again.
    pub(crate) inputs: fn(&Effort) -> Result<String, Error>,
    /// Writes the conclusion: which claims hold, which do not and why, and the misprints. `None` if a part is missing
    /// that the text needs.
    pub conclude: fn(Findings<'_>) -> Option<String>,
}

impl Study {
    /// The paper, its machine, and notes on the comparison.
    pub(crate) fn source(&self) -> String {
        text(self, "source", &[])
    }
}

/// One question of a study.
pub struct StudyPart {
    /// Name of the part's files.
    pub name: &'static str,
    pub title: &'static str,
    pub run: fn(&Effort) -> Result<Section, Error>,
    /// Whether it also simulates the user's machine.
    is_on_own_machine: bool,
}

const fn part(name: &'static str, title: &'static str, run: fn(&Effort) -> Result<Section, Error>) -> StudyPart {
    StudyPart { name, title, run, is_on_own_machine: false }
}

impl StudyPart {
    const fn on_own_machine(self) -> StudyPart {
        StudyPart { is_on_own_machine: true, ..self }
    }
}

/// A part of this name for a test, which does not run it.
#[cfg(test)]
fn test_part(name: &'static str) -> &'static StudyPart {
    Box::leak(Box::new(part(name, "", |_| Ok(Section::default()))))
}

/// Number and size of measurements, and the programs and files that they use.
#[derive(Clone, Debug, Default, Args)]
pub struct Effort {
    /// Take fewer samples and smaller messages
    #[arg(long = "quick")]
    pub is_quick: bool,
    /// Times of other systems, a file that lab/systems/run wrote (modular only) [default: built in]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub systems: Option<PathBuf>,
    /// Also simulate this machine: fe310, e31, raptor or a TOML file (studies that simulate)
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub machine: Option<PathBuf>,
    /// Set a field of that machine, or of the study's; repeatable
    ///
    /// Rows and curves of the changed machine are beside those of the paper. A key is the path of a field in a machine file, e.g.
    /// issue=4, harts=2 or l1d.size=32768. With --out, the machine is written to machine.toml.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// The machine of these two options, which [`run`] sets.
    #[arg(skip)]
    pub own: Option<OwnMachine>,
    /// The command that makes real transfers. Without it, transfers are left out.
    #[arg(skip)]
    pub tress: Option<PathBuf>,
    /// The lab's program, which is the sender of transfers. Without it, transfers are left out.
    #[arg(skip)]
    pub lab: Option<PathBuf>,
}

impl Effort {
    /// Number of samples of each figure.
    fn samples(&self) -> usize {
        if self.is_quick { 5 } else { 21 }
    }

    /// Size of the largest message in bytes.
    fn message_bytes(&self) -> usize {
        if self.is_quick { 1 << 20 } else { 16 << 20 }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Section {
    /// The measurement and its method, for the reader.
    pub text: String,
    pub rows: Vec<StudyRow>,
    /// Tables with other columns than the figures', for example of many systems.
    #[serde(default)]
    pub tables: Vec<StudyTable>,
    pub pictures: Vec<Picture>,
    /// A verdict for each claim.
    pub verdicts: Vec<Verdict>,
}

impl Section {
    fn begin(study: &Study, part: &str, values: &[(&str, &dyn Display)]) -> Section {
        Section { text: text(study, part, values), ..Section::default() }
    }
}

/// The part `misprints` of a study: its `misprints.txt`.
fn misprints(study: &Study, lines: &str) -> Result<Section, Error> {
    let verdicts = verdict::misprints(lines).collect();
    Ok(Section { verdicts, ..Section::begin(study, "misprints", &[]) })
}

/// A paragraph of a study's `texts.txt`: the lines after `# part`. Values replace the names in braces.
fn text(study: &Study, part: &str, values: &[(&str, &dyn Display)]) -> String {
    let paragraph = study.texts.split("\n\n").find_map(|text| text.strip_prefix(&format!("# {part}\n")));
    let text = paragraph.expect("a paragraph of this part").trim_end().replace('\n', " ");
    values.iter().fold(text, |text, (name, value)| text.replace(&format!("{{{name}}}"), &value.to_string()))
}

/// One figure, from up to four sources.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StudyRow {
    pub what: String,
    /// Its unit; empty for ratios.
    pub unit: String,
    /// The paper's figure, as printed.
    pub paper: Option<String>,
    pub model: Option<f64>,
    pub simulated: Option<f64>,
    pub measured: Option<Measured>,
}

impl StudyRow {
    fn measured(what: impl Into<String>, unit: impl Into<String>, measured: Measured) -> StudyRow {
        StudyRow { what: what.into(), unit: unit.into(), measured: Some(measured), ..StudyRow::default() }
    }

    fn simulated(what: impl Into<String>, unit: impl Into<String>, simulated: f64) -> StudyRow {
        StudyRow { what: what.into(), unit: unit.into(), simulated: Some(simulated), ..StudyRow::default() }
    }
}

/// A median and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl From<Median> for Measured {
    fn from(median: Median) -> Measured {
        Measured { median: median.median, low: median.low, high: median.high }
    }
}

impl Measured {
    fn of(samples: &[f64]) -> Measured {
        statistics::median(samples).into()
    }

    /// The ratios of samples that were taken alternately.
    fn ratio(over: &[f64], under: &[f64]) -> Measured {
        Measured::of(&over.iter().zip(under).map(|(over, under)| over / under).collect::<Vec<_>>())
    }
}

/// A table with its own columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StudyTable {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl StudyTable {
    fn new(title: impl Into<String>, header: &[&str]) -> StudyTable {
        StudyTable { title: title.into(), header: header.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    fn with(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> StudyTable {
        self.rows.extend(rows);
        self
    }
}

/// A picture of a section.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Picture {
    /// Name of the picture's file, without extension.
    pub name: String,
    pub drawing: Drawing,
}

impl Picture {
    fn new(name: &str, drawing: impl Into<Drawing>) -> Picture {
        Picture { name: name.into(), drawing: drawing.into() }
    }
}

/// A chart that has only curves. An axis is its name, its two ends and its scale.
fn chart(title: impl Into<String>, x: (&str, f64, f64, Scale), y: (&str, f64, f64, Scale), lines: Vec<Line>) -> Chart {
    let [x, y] = [x, y].map(|(name, from, to, scale)| Axis { name: name.into(), from, to, scale });
    Chart { title: title.into(), x, y, lines, levels: Vec::new(), walls: Vec::new(), marks: Vec::new() }
}

/// The smallest and the largest of some figures.
fn range(figures: impl IntoIterator<Item = f64>) -> (f64, f64) {
    figures
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), figure| (low.min(figure), high.max(figure)))
}

/// Compare a paper's results with this machine's
///
/// Prints a page with the figures of the paper, of its model and of this machine, and a verdict for each claim. With --out,
/// each part is kept when it is done; run the same command again to continue after an interruption.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Studies:
  ccm-overlap        encryption that overlaps with transfer
  modular            modular arithmetic for signatures, on several systems
  block-parallelism  RC6 and Rijndael on wide processors and on many (simulated)
  pipo-riscv         PIPO, AES and RC6 on a 32-bit RISC-V (simulated)
  aes-strategies     AES by rows, blocks and segments over threads, and in lanes

Examples:
  tress study ccm-overlap --out studies
  tress study modular --quick --part table-5
  tress study block-parallelism --set issue=4 --set l1d.size=32768 --out studies")]
pub struct Options {
    /// Name of the study, or 'all'
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Write pages and pictures to this folder [default: a page to standard output]
    #[arg(long = "out", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    /// How much to measure, and with what.
    #[command(flatten)]
    pub effort: Effort,
    /// Run only this part of the study; repeatable
    #[arg(long = "part", value_name = "PART")]
    pub parts: Vec<String>,
}

impl Options {
    /// The parts to run.
    fn wanted_parts(&self, study: &Study) -> impl Iterator<Item = &'static StudyPart> {
        study.parts.iter().filter(|part| self.wants(part))
    }

    fn wants(&self, part: &StudyPart) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|name| part.name == name)
    }
}

pub fn all() -> Vec<Study> {
    vec![ccm_overlap::STUDY, modular::STUDY, block_parallelism::STUDY, pipo_riscv::STUDY, aes_strategies::STUDY]
}

/// Number of cores that threads can use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// The conclusion of a study with these sections.
pub(crate) fn conclusion(study: &Study, sections: &[(&'static StudyPart, Section)]) -> Option<String> {
    (study.conclude)(Findings::new(sections))
}

/// Runs the studies that `options` name. Progress goes to a terminal on standard error.
///
/// # Errors
/// `UnknownStudy`, errors of writing, and errors of ciphers.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let mut wanted: Vec<Study> =
        all().into_iter().filter(|study| options.name == "all" || study.name == options.name).collect();
    if wanted.is_empty() {
        return Err(Error::UnknownStudy(options.name.clone()));
    }
    let parts = || wanted.iter().flat_map(|study| study.parts);
    if let Some(unknown) = options.parts.iter().find(|name| !parts().any(|part| part.name == *name)) {
        return Err(Error::UnknownPart(unknown.clone(), parts().map(|part| part.name).collect()));
    }
    // A page without a part would replace the one that has it.
    wanted.retain(|study| options.wanted_parts(study).next().is_some());
    let machines = wanted.iter().map(|study| machine::own(study, options)).collect::<Result<Vec<_>, _>>()?;
    let mut options = options.clone();
    for (study, own) in wanted.iter().zip(machines) {
        options.effort.own = own;
        let sections = sections(study, &options)?;
        let page = page::write(study, &sections, options.effort.is_quick);
        match &options.folder {
            None => out.write_all(page.as_bytes()).map_err(Error::Output)?,
            Some(folder) => {
                let folder = folder.join(study.name);
                for picture in sections.iter().flat_map(|(_, section)| &section.pictures) {
                    keep::write(&folder.join(format!("{}.svg", picture.name)), picture.drawing.svg().as_bytes())?;
                }
                let path = folder.join("README.md");
                keep::write(&path, page.as_bytes())?;
                writeln!(out, "{}", path.display()).map_err(Error::Output)?;
            }
        }
    }
    Ok(())
}

/// The sections of a study: stored ones, and the others by running them.
fn sections(study: &Study, options: &Options) -> Result<Vec<(&'static StudyPart, Section)>, Error> {
    let (effort, quick) = (&options.effort, options.effort.is_quick);
    let folder = options.folder.as_ref().map(|folder| folder.join(study.name));
    if let Some(folder) = &folder {
        // Fail now rather than after the first part, which may take minutes.
        let is_writable = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
        is_writable.map_err(|error| Error::files(folder, error))?;
        keep::refuse_foreign(&folder.join("README.md"), format!("# {}\n", study.title).as_bytes())?;
        for part in options.wanted_parts(study) {
            keep::refuse_foreign(&folder.join(format!("{}.json", part.name)), &[])?;
        }
        if let Some(own) = &effort.own {
            keep::write(&folder.join("machine.toml"), own.file.as_bytes())?;
        }
    }
    let of_study = (study.inputs)(effort)?;
    let progress = crate::timing::progress(study.parts.len() as u64);
    let mut sections = Vec::with_capacity(study.parts.len());
    for part in study.parts {
        progress.set_message(part.title);
        let own = effort.own.as_ref().filter(|_| part.is_on_own_machine);
        let inputs = of_study.clone() + own.map_or("", |own| &own.file);
        let path = folder.as_deref().map(|folder| folder.join(format!("{}.json", part.name)));
        let kept = path.as_deref().and_then(|path| keep::load(path, quick, &inputs));
        let left_out =
            |section: &Section| section.verdicts.iter().filter(|found| matches!(found, Verdict::LeftOut(_))).count();
        // A part that is asked for by name and left something out is made again: there may be a compiler now, or the rights of root.
        let is_named = !options.parts.is_empty() && options.wants(part);
        let section = match kept {
            Some(section) if !is_named || left_out(&section) == 0 => section,
            // Its stored section is part of the page all the same.
            None if !options.wants(part) => continue,
            kept => {
                let mut section = (part.run)(effort)?;
                section.text.extend(own.map(|own| format!("\n\n{}", own.about)));
                match kept {
                    Some(kept) if left_out(&kept) <= left_out(&section) && kept.rows.len() >= section.rows.len() => {
                        section = kept;
                    }
                    _ => path.iter().try_for_each(|path| keep::store(path, quick, &inputs, &section))?,
                }
                section
            }
        };
        sections.push((part, section));
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(sections)
}
