//! The verb `simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use tress_sim::SecretName;

#[derive(Args)]
#[command(after_help = "\
A program is an ELF executable for a bare machine, 32 or 64 bits. It prints by HTIF, semihosting or a UART, and ends by
HTIF (its symbol tohost) or semihosting. What it prints goes to standard output, with --json to standard error. An exit code
other than 0 is a failure (status 1).

Machines: fe310 (a microcontroller that executes in order), raptor (a chip multiprocessor that executes out of order), or
a TOML file; without --machine the program just runs, an instruction a cycle.

A program runs until it ends: --limit, or Ctrl-C, stops it and says where it was.

--secret follows bytes through registers and memory, and tells every branch, address, jump, division, CSR and device that
they reach; finding any is a failure. A program marks bytes itself by slt x0, ADDRESS, BYTES, and declares them public by
sltu x0, ADDRESS, BYTES.

Examples:
  tress simulate program.elf
  tress simulate --harts 4 --limit 1000000000 --json program.elf
  tress simulate --machine raptor --issue 8 --regions program.elf
  tress simulate --machine raptor --unlimited program.elf
  tress simulate --secret key,data program.elf
  tress simulate --secret 0x80001000+16 --secret marked --variable multiply --json program.elf
  tress simulate --machine fe310 --trace trace.json --cycles 1000..1200 program.elf")]
pub(crate) struct Simulate {
    /// The machine whose time is told: fe310, raptor, or a TOML file
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) machine: Option<PathBuf>,
    /// Instructions that a hart can begin in a cycle, 1 to 64, rather than what the machine says
    #[arg(long, value_name = "N", requires = "machine", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) issue: Option<u32>,
    /// How many harts (hardware threads), 1 to 64 [default: what the machine says, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) harts: Option<u8>,
    /// No limits but the flow of data: what the machine would need if it were infinitely wide and never wrong
    #[arg(long, requires = "machine", conflicts_with = "issue")]
    pub(crate) unlimited: bool,
    /// Print each region that the program marks, for each hart and with its slots
    #[arg(long)]
    pub(crate) regions: bool,
    /// Write what happens in a window of cycles to this file, in Chrome's trace format (Perfetto shows it)
    #[arg(long, value_name = "OUT", requires = "machine", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
    /// The window of --trace
    #[arg(long, value_name = "FROM..TO", requires = "trace", default_value = "0..1000", value_parser = cycles)]
    pub(crate) cycles: std::ops::Range<u64>,
    /// Tell where these secrets show: data by their symbols, SYMBOL+BYTES, ADDRESS+BYTES, or the word marked for nothing but
    /// what the program marks itself
    #[arg(long, value_name = "SECRET,...", value_delimiter = ',', value_parser = followed)]
    pub(crate) secret: Vec<Followed>,
    /// With --secret: what takes a time that depends on its operands, besides division and floating point
    #[arg(long, value_name = "WHAT,...", value_delimiter = ',', requires = "secret")]
    pub(crate) variable: Vec<Variable>,
    /// Give up after so many instructions of all harts together [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The program, or - for standard input
    #[arg(value_name = "PROGRAM.elf", value_hint = ValueHint::FilePath)]
    pub(crate) program: PathBuf,
}

/// What --secret names.
#[derive(Clone, Debug)]
pub(crate) enum Followed {
    /// What the program marks; that is followed with any other, too.
    Marked,
    Named(SecretName),
}

/// Instructions that take their time by their operands on some cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variable {
    /// Multipliers that end early for small numbers
    Multiply,
    /// Shifts and rotations by a register, without a barrel shifter
    Shift,
}

fn followed(text: &str) -> Result<Followed, String> {
    if text == "marked" { Ok(Followed::Marked) } else { text.parse().map(Followed::Named) }
}

/// A window of cycles.
fn cycles(text: &str) -> Result<std::ops::Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("FROM..TO, as in 1000..1200")?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text:?}: {error}"));
    match (number(from)?, number(to)?) {
        (from, to) if from < to => Ok(from..to),
        _ => Err("ends before it begins".into()),
    }
}
