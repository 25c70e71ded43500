//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum, ValueHint};
use clap_complete::Shell;
use tress_sim::SecretName;

/// Run a RISC-V program on a simulated machine
///
/// The program is an ELF executable for a bare machine, 32 or 64 bits. It prints through HTIF, semihosting or a UART, reads standard
/// input through the last two, and exits through HTIF (its symbol tohost), semihosting or the finisher. Its output goes to standard
/// output, or to standard error if --json prints there. If its exit code is not 0, the exit status of tress is 1.
///
/// Without --machine, the program runs one instruction per cycle. Machines are fe310 (a microcontroller, in order), e31 (its
/// core, with the parameters of its RTL), raptor (a chip multiprocessor, out of order), or a TOML file.
///
/// --limit and Ctrl-C stop a program and report where it was.
///
/// --secret follows bytes through registers and memory and reports each branch, address, jump, division, CSR or device that
/// depends on them; any finding makes the exit status 1. A program marks bytes as secret with slt x0, ADDRESS, BYTES and as
/// public with sltu x0, ADDRESS, BYTES.
#[derive(Parser)]
#[command(after_help = "\
Examples:
  tress simulate program.elf
  tress simulate --machine raptor --issue 8 --regions program.elf
  tress simulate --secret key,data program.elf
  tress simulate --print-machine fe310 > my-part.toml
  tress simulate --machine fe310 --gdb program.elf
  tress simulate --machine fe310 --trace t.json --cycles 0..200 program.elf")]
#[command(
    name = "tress-simulate",
    version,
    max_term_width = 100,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(crate) struct Arguments {
    /// `None` with an option that prints something and exits.
    #[command(flatten)]
    pub(crate) simulate: Option<Simulate>,
    /// Print the file of a built-in machine, to copy and change: fe310, e31 or raptor
    #[arg(long, value_name = "NAME", exclusive = true)]
    pub(crate) print_machine: Option<String>,
    /// Print the completion script for a shell
    #[arg(long, value_enum, value_name = "SHELL", hide = true, exclusive = true)]
    pub(crate) completions: Option<Shell>,
    /// Print the manual page
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) man: bool,
    /// The same option as in `tress`. It has no effect here.
    #[arg(short, long, hide = true)]
    pub(crate) verbose: bool,
}

/// The definition, as a separate command or, if `is_subcommand`, as part of `tress`.
pub(crate) fn command(is_subcommand: bool) -> clap::Command {
    let command = Arguments::command();
    let general =
        |name: &'static str, short, action| Arg::new(name).long(name).short(short).action(action).display_order(101);
    let command = command
        .arg(general("help", 'h', ArgAction::Help).help("Print help (-h: summary, --help: everything)"))
        .arg(general("version", 'V', ArgAction::Version).help("Print the version"));
    if is_subcommand { command.bin_name("tress simulate") } else { command }
}

pub(crate) fn parse(mut command: clap::Command) -> Result<Arguments, clap::Error> {
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    match arguments.simulate.as_ref().and_then(|simulate| simulate.arguments.first()) {
        Some(first) if std::env::args_os().all(|argument| argument != "--") => {
            let text = format!("unexpected argument {first:?} found: arguments of the program follow --");
            Err(command.error(ErrorKind::UnknownArgument, text))
        }
        _ => Ok(arguments),
    }
}

/// Options of a simulation and of its report.
#[derive(Args)]
pub(crate) struct Simulate {
    /// Machine to simulate: fe310, e31, raptor or a TOML file [default: no timing]
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) machine: Option<PathBuf>,
    /// Set a field of the machine; repeatable
    ///
    /// A key is the path of a field in a machine file, e.g. l1d.size=32768 or 'out_of_order.unit[alu].count=4'.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "machine")]
    pub(crate) settings: Vec<String>,
    /// Issue width: instructions that a hart can start per cycle, 1 to 64 [default: as the machine says]
    #[arg(long, value_name = "N", requires = "machine", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) issue: Option<u32>,
    /// Number of harts (hardware threads), 1 to 64 [default: as the machine says, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) harts: Option<u8>,
    /// Simulate an infinitely wide machine that predicts perfectly
    ///
    /// Only the flow of data limits it.
    #[arg(long, requires = "machine", conflicts_with = "issue")]
    pub(crate) unlimited: bool,
    /// Print each region that the program marks, per hart, with its issue slots
    #[arg(long)]
    pub(crate) regions: bool,
    /// Write a trace of the cycles in --cycles to this file
    ///
    /// The format is Chrome's; Perfetto shows it.
    #[arg(long, value_name = "OUT", requires = "machine", conflicts_with = "unlimited", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
    /// Print where the cycles go, by function and line; write stacks of functions for flame graphs to OUT
    ///
    /// Each function has the cycles that it takes itself and with those that it calls, its calls, and its slots.
    #[arg(long, value_name = "OUT", num_args = 0..=1, require_equals = true, requires = "machine", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<Option<PathBuf>>,
    /// Cycles to trace
    #[arg(long, value_name = "FROM..TO", requires = "trace", default_value = "0..1000", value_parser = cycles)]
    pub(crate) cycles: std::ops::Range<u64>,
    /// Report what depends on these secrets, given by symbol or address
    ///
    /// A secret is SYMBOL, SYMBOL+BYTES or ADDRESS+BYTES. Bytes that the program marks are always followed; use
    /// 'marked' to follow only those.
    #[arg(long, value_name = "SECRET,...", value_delimiter = ',', value_parser = secret_selection)]
    pub(crate) secret: Vec<SecretSelection>,
    /// With --secret, also report these as dependent on their operands
    ///
    /// Division and floating point always count.
    #[arg(long, value_name = "WHAT,...", value_delimiter = ',', requires = "secret")]
    pub(crate) variable: Vec<VariableTime>,
    /// Stop after N instructions on all harts together [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Wait for a debugger on this port of 127.0.0.1, for one that speaks gdb's remote protocol [default port: 1234]
    ///
    /// The program starts when the debugger lets it. Everybody on this computer can connect. With port 0, the system
    /// chooses one.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "1234")]
    pub(crate) gdb: Option<u16>,
    /// Let the program open files in this folder, by semihosting
    ///
    /// It can create, change and remove files there, and none elsewhere.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) files: Option<PathBuf>,
    /// Serve ecall in machine mode as a system call [default: it is a trap]
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub(crate) ecall: Option<EcallSystem>,
    /// Print one JSON object, or write it to FILE
    ///
    /// With a FILE, standard output contains only what the program prints.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,
    /// Exit with the program's exit code, or with 1 if only its low byte is 0
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Replace an existing trace, profile or JSON file
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Program to run, or - for standard input
    #[arg(value_name = "PROGRAM.elf", value_hint = ValueHint::FilePath)]
    pub(crate) program: PathBuf,
    /// Arguments of the program, which it gets by semihosting or, with --ecall, on its stack
    #[arg(value_name = "-- ARGUMENT")]
    pub(crate) arguments: Vec<OsString>,
}

/// Systems whose calls can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EcallSystem {
    /// Linux's calls, as programs of newlib make them. The stack and the floating-point unit are ready at the start.
    /// Without --machine, memory begins at 0x10000, where newlib's programs are linked, and there are no devices
    Linux,
}

/// A value of --secret.
#[derive(Clone, Debug)]
pub(crate) enum SecretSelection {
    /// Only bytes that the program marks. They are followed with the other values too.
    Marked,
    Named(SecretName),
}

/// Instructions whose time depends on their operands on some cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariableTime {
    /// Multiplication, on cores that finish early for small numbers
    Multiply,
    /// Shifts and rotations by a register, on cores without a barrel shifter
    Shift,
}

fn secret_selection(text: &str) -> Result<SecretSelection, String> {
    if text == "marked" { Ok(SecretSelection::Marked) } else { text.parse().map(SecretSelection::Named) }
}

/// Parses a range of cycles.
fn cycles(text: &str) -> Result<std::ops::Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("must be FROM..TO, such as 1000..1200")?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text:?}: {error}"));
    match (number(from)?, number(to)?) {
        (from, to) if from < to => Ok(from..to),
        _ => Err("FROM must be less than TO".into()),
    }
}
