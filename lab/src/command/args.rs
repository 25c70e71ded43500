//! The command line: `bench` and `study`, which measure, and `report`, which shows their results.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use regex::Regex;
use tress_lab::bench::modular;
use tress_lab::study;
use tress_terminal::units::{self, size};

/// Benchmarks, studies of papers, and pages of both
#[derive(Parser)]
#[command(name = "tress-lab", version, max_term_width = 100, subcommand_required = true)]
#[command(disable_help_subcommand = true, disable_help_flag = true, disable_version_flag = true)]
struct Arguments {
    /// As in the command tress. Nothing here uses a key.
    #[arg(short, long, global = true, hide = true)]
    verbose: bool,
    #[command(subcommand)]
    command_line: LabCommand,
}

#[derive(Subcommand)]
pub(crate) enum LabCommand {
    Bench(Box<Bench>),
    Study(Box<study::Options>),
    Report(Report),
    #[command(hide = true)]
    Sender(Box<Sender>),
    /// Print the completion script for a shell
    #[command(hide = true)]
    Completions {
        #[arg(value_enum, value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the man page of tress-lab, or write all man pages to a folder
    #[command(hide = true)]
    Man {
        /// Write the man pages to this folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        directory: Option<PathBuf>,
    },
}

/// The definition of the command line, under the name of the command that the user typed.
pub(crate) fn command() -> clap::Command {
    let general =
        |name: &'static str, short, action| Arg::new(name).long(name).short(short).action(action).display_order(101);
    let help = general("help", 'h', ArgAction::Help).global(true).help("Print help (-h: summary, --help: everything)");
    Arguments::command()
        .bin_name(tress_terminal::program())
        .arg(help)
        .arg(general("version", 'V', ArgAction::Version).help("Print the version"))
}

pub(crate) fn parse() -> Result<LabCommand, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok(arguments.command_line)
}

/// Heading of the options that make `bench` measure every cipher and mode that FILTER matches, in place of the default rows.
const MATRIX: &str = "Options that measure every cipher and mode that FILTER matches";

/// Measure the ciphers on this machine
///
/// The table has a row for each measurement: rate, noise, the share of the machine's roofline, and the ratio to other
/// libraries. Options for 'tress bench modular' and 'tress bench roofs' come after their names.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  tress bench aes-128-ccm --against openssl
  tress bench --quick --json
  tress bench '^aes-256-(ccm|ctr)$' --threads 1,2 --size 64,1KiB
  tress bench --compare before.json after.json --fail-on-regression")]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: Option<Measure>,
    /// Measure only rows that match this regular expression
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Option<Regex>,
    /// Also measure these libraries, e.g. openssl, or 'all'
    ///
    /// Their samples alternate with those of tress. Peers are openssl, ipsec-mb, libgcrypt, crypto++, gmp, rustcrypto, rsa, pipo,
    /// crypto-bigint, aws-lc-rs and ring (in builds with these features), and the programs age and cp; 'all' takes those that
    /// this machine has.
    #[arg(long, value_name = "PEER,...", value_delimiter = ',')]
    pub(crate) against: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep a record in PATH [default: bench/record]
    ///
    /// The record holds machine, versions and raw samples. If PATH is a file, it is replaced only if it is a record. In a folder,
    /// each record gets a new name. On a machine that other programs use, nothing is measured or recorded without --force.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "bench/record/")]
    #[arg(group = "forcible")]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) record: Option<PathBuf>,
    /// Continue an unfinished record (with --record)
    ///
    /// Rows that the record already has are not measured again.
    #[arg(long, requires = "record")]
    pub(crate) resume: bool,
    /// Take fewer, shorter samples (about a minute)
    #[arg(long)]
    pub(crate) quick: bool,
    /// Backends ('tress ciphers' lists them), or 'all' [default: the fastest]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) backend: Vec<String>,
    /// Messages per call [default: 1,32]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) lanes: Vec<usize>,
    /// Threads that run at the same time [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) threads: Vec<usize>,
    /// Sizes of messages, e.g. 1KiB [default: 16KiB]
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size, help_heading = MATRIX)]
    pub(crate) size: Vec<u64>,
    /// Registers that each row of CCM's lanes fills with vaes512: 2, 4, 8 [default: by processor]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = MATRIX)]
    pub(crate) registers: Vec<u8>,
    /// List rows and their options; measure nothing
    #[arg(long, conflicts_with_all = ["filter", "against", "record", "quick", "backend", "lanes", "threads", "size", "registers"])]
    pub(crate) list: bool,
    /// Report what changed from record A to record B
    ///
    /// Measures nothing. Changes within the noise of the records are not reported.
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["filter", "against", "record", "quick", "backend", "lanes", "threads", "size", "registers", "list"])]
    #[arg(groups = ["comparison", "forcible"])]
    pub(crate) compare: Option<Vec<PathBuf>>,
    /// Report what changed since another build of tress
    ///
    /// Runs PROGRAM and this program alternately, which shows smaller changes than --compare.
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath, hide_short_help = true)]
    #[arg(conflicts_with_all = ["against", "record", "list", "compare"])]
    #[arg(groups = ["comparison", "forcible"])]
    pub(crate) against_build: Option<PathBuf>,
    /// In a comparison, exit with 1 if a row became slower
    ///
    /// Also if no row could be compared. Needs --compare or --against-build.
    #[arg(long, requires = "comparison")]
    pub(crate) fail_on_regression: bool,
    /// Compare even if machines, targets or --quick differ; record on a busy machine
    ///
    /// Needs --compare, --against-build or --record.
    #[arg(long, requires = "forcible", hide_short_help = true)]
    pub(crate) force: bool,
    /// Take the samples that --against-build of another program requests on standard input
    #[arg(long, hide = true, conflicts_with_all = ["against", "record", "list", "compare", "against_build"])]
    pub(crate) visit: bool,
    /// Sign with OpenSSL for another bench, which starts this process
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) worker: bool,
}

#[derive(Subcommand)]
pub(crate) enum Measure {
    Modular(modular::Options),
    Roofs(Roofs),
}

/// Measure the roofline of this machine
///
/// Measures the maximum rates of instructions, caches, memory and loopback, and the time that threads need to synchronise.
/// Prints them in a table, and some rows of 'tress bench' with their share of the limit that applies to them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress bench roofs --quick
  tress bench roofs -o roofline.svg")]
pub(crate) struct Roofs {
    /// Print the record of this run as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Take fewer and shorter samples
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also draw the roofline, rate against intensity, as SVG
    ///
    /// With -, the picture goes to standard output instead of the tables.
    #[arg(short, long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Make an HTML page of studies and records
///
/// The page shows all studies and records below DIR: verdicts, tables, interactive charts, and changes between records. It is
/// a single file that loads nothing else.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress study all --out studies && tress report studies
  tress report bench/record -o rates.html")]
pub(crate) struct Report {
    /// Folder that 'tress study --out' or 'tress bench --record' filled, or one above it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Write the page to this file, or - for standard output [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Send for a study: 'tress send' with options that only a comparison needs
#[derive(Args)]
pub(crate) struct Sender {
    /// Host and port of the receiver
    #[arg(long, value_parser = units::endpoint)]
    pub(crate) to: String,
    /// Address of the receiver
    #[arg(short, long)]
    pub(crate) recipient: String,
    /// Identity of the sender
    #[arg(short, long)]
    pub(crate) identity: PathBuf,
    /// Number of connections that carry data
    #[arg(long, default_value_t = 1)]
    pub(crate) streams: u16,
    /// Send at most this much per second
    #[arg(long, value_parser = units::link_rate)]
    pub(crate) rate: Option<u64>,
    /// Number of worker threads; 0 is one per core
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// All workers and connections wait for each other after every stage
    #[arg(long, conflicts_with = "sequential")]
    pub(crate) barrier: bool,
    /// Size of a stage, which is encrypted while the one before is sent: at most 16MiB
    #[arg(long, value_parser = units::size, conflicts_with = "sequential")]
    pub(crate) stage: Option<u64>,
    /// Limit each encrypting thread to this rate, to see what a slower machine would do
    #[arg(long, value_parser = units::rate)]
    pub(crate) compute_rate: Option<f64>,
    /// Encrypt all of the file before sending any of it
    #[arg(long)]
    pub(crate) sequential: bool,
    /// Write a timeline to this file
    #[arg(long)]
    pub(crate) trace: Option<PathBuf>,
    /// The file
    pub(crate) input: PathBuf,
}
