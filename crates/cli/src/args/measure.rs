//! The verbs that measure, `bench` and `study`, and the one that shows what they found, `report`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use regex::Regex;

use crate::units::size;

/// Rows of every cipher in every mode that FILTER matches, rather than the usual ones.
const MATRIX: &str = "Any of these measures every cipher and mode that FILTER matches";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: Option<Measure>,
    /// A regular expression over the names of the rows, e.g. aes-128-ccm
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Option<Regex>,
    /// Measure these too, in turn with ours, e.g. openssl; `all` for every one that this machine has
    #[arg(long, value_name = "PEER,...", value_delimiter = ',')]
    pub(crate) against: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the run, with machine, versions and raw samples, in this file, where it replaces a record that is there and
    /// nothing else, or in a folder, where it replaces none [default: bench/record]
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "bench/record")]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) record: Option<PathBuf>,
    /// Go on with the unfinished record of an earlier run: what it has is not measured again
    #[arg(long, requires = "record")]
    pub(crate) resume: bool,
    /// Fewer and shorter samples: all rows in a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// With these backends (`tress ciphers` lists them), or `all` of this machine
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) backend: Vec<String>,
    /// Messages that one call gets [default: 1,32]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) lanes: Vec<usize>,
    /// Threads that do the same at once [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) threads: Vec<usize>,
    /// Bytes of a message, such as 64,1KiB,1MiB [default: 16KiB]
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size, help_heading = MATRIX)]
    pub(crate) size: Vec<u64>,
    /// Measure nothing: list the names of rows, and what can be asked of each
    #[arg(long, conflicts_with_all = ["filter", "against", "record", "quick", "backend", "lanes", "threads", "size"])]
    pub(crate) list: bool,
    /// Measure nothing: say what changed between two records beyond their noise
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["filter", "against", "record", "quick", "backend", "lanes", "threads", "size", "list"])]
    #[arg(group = "comparison")]
    pub(crate) compare: Option<Vec<PathBuf>>,
    /// Say what changed from another build of tress, which measures in turn with this one
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath)]
    #[arg(conflicts_with_all = ["against", "record", "list", "compare"])]
    #[arg(group = "comparison")]
    pub(crate) against_build: Option<PathBuf>,
    /// With --compare or --against-build: exit with 1 when a row became slower, or none could be compared
    #[arg(long, requires = "comparison")]
    pub(crate) fail_on_regression: bool,
    /// With --compare or --against-build: even of different machines, targets or efforts
    #[arg(long, requires = "comparison")]
    pub(crate) force: bool,
    /// Take samples as --against-build of another program asks for them on standard input
    #[arg(long, hide = true, conflicts_with_all = ["against", "record", "list", "compare", "against_build"])]
    pub(crate) visit: bool,
    /// Sign with OpenSSL as another bench asks; it starts this by itself
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) worker: bool,
}

#[derive(Subcommand)]
pub(crate) enum Measure {
    /// Measure arithmetic for signatures: every operation at every size of digits
    Modular(Modular),
    /// Measure what this machine does at most: instructions, caches, memory, waiting, loopback
    Roofs(Roofs),
}

#[derive(Args)]
#[command(after_help = "\
A table of ceilings, and some rows of `tress bench` with their share of the one that binds them; with -o a picture of both,
a roofline.

Examples:
  tress bench roofs --quick
  tress bench roofs -o roofline.svg")]
pub(crate) struct Roofs {
    /// Print one JSON object, the record of this run
    #[arg(long)]
    pub(crate) json: bool,
    /// Fewer and shorter samples
    #[arg(long)]
    pub(crate) quick: bool,
    /// Draw intensity against rate into this SVG file, or to standard output (-) instead of the tables
    #[arg(short, long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(after_help = "\
One table for each length of numbers, as the paper behind `tress study modular` has them: the median of one run in the
processor time of its thread. All of it takes some minutes, --quick less than one.

Examples:
  tress bench modular --quick
  tress bench modular --bits 2048,4096 --digits 64 --json ^montgomery")]
pub(crate) struct Modular {
    /// A regular expression over the names of the operations, e.g. ^power
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Option<Regex>,
    /// Bits of digits: 16, 32 or 64 [default: all]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',', value_parser = digit)]
    pub(crate) digits: Vec<u32>,
    /// Bits of numbers, multiples of 64 from 128 to 8192 [default: 256 to 8192, with --quick 256 to 1024]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',', value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Fewer samples
    #[arg(long)]
    pub(crate) quick: bool,
}

fn digit(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|bits| matches!(bits, 16 | 32 | 64)).ok_or_else(|| "a digit has 16, 32 or 64 bits".into())
}

fn bits(text: &str) -> Result<usize, String> {
    let is_measured = |bits: &usize| (128..=8192).contains(bits) && bits.is_multiple_of(64);
    text.parse().ok().filter(is_measured).ok_or_else(|| "numbers have a multiple of 64 bits, from 128 to 8192".into())
}

#[derive(Args)]
#[command(after_help = "\
Studies: ccm-overlap (computing overlapped with communicating), modular (arithmetic for signatures on several systems),
block-parallelism (RC6 and Rijndael on wide and on many processors, simulated), pipo-riscv (PIPO, AES and RC6 on a 32-bit
RISC-V, simulated), aes-strategies (AES by rows, blocks and segments over threads and in lanes). With --out every part is kept
when it is done, and the same command goes on where it stopped.

Examples:
  tress study ccm-overlap --out studies
  tress study modular --quick --part table-5")]
pub(crate) struct Study {
    /// Which study, or all
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Write pages and pictures into this folder rather than a page to standard output
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Fewer samples, smaller messages
    #[arg(long)]
    pub(crate) quick: bool,
    /// What other systems took, a file of systems/run, rather than the built-in one (modular)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) systems: Option<PathBuf>,
    /// Only this part of the study; may be given more than once
    #[arg(long, value_name = "PART")]
    pub(crate) part: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
The folder is one that `tress study --out` or `tress bench --record` filled, or one above it. The page needs nothing but
itself: send it, open it, print it.

Examples:
  tress study all --out studies && tress report studies
  tress report bench/record -o rates.html")]
pub(crate) struct Report {
    /// A folder with kept studies, records, or both
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Write the page to this file, - for standard output [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}
