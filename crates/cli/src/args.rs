//! The definition of the command line, from which help, man pages and completions are made.
//!
//! Scripts rely on commands and options (docs/reference/command.md): new ones may be added, existing ones must not change. `-h`
//! prints the first paragraph of a doc comment here, `--help` and the man page print all of it.

mod files;
mod signatures;
mod tools;
mod transfers;

use clap::{Arg, ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

pub(crate) use files::{
    Decrypt, Encrypt, FileFormat, Folders, Identities, Inspect, Keygen, List, Output, Passphrase, Recipients, Rewrap,
};
pub(crate) use signatures::{Sign, Verify};
pub(crate) use tools::{Ciphers, Completions, External, Man, Plan, Raw, RawDirection, RawOptions, Strategy};
pub(crate) use transfers::{Receive, Send};

/// The groups of commands, in the order of `tress --help`. Each visible command is in one group.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Files", &["encrypt", "decrypt", "list", "inspect", "rewrap", "keygen"]),
    ("Transfers", &["send", "receive"]),
    ("Signatures", &["sign", "verify"]),
    ("Tools for engineers", &["raw", "ciphers", "plan", "bench", "simulate", "study", "report"]),
];

/// Commands that are separate programs.
pub(crate) const OTHERS: [&str; 4] = ["bench", "simulate", "study", "report"];

const GENERAL: &str = "General options";

const LONG_ABOUT: &str = "\
Encrypt, send and sign large files with parallel AES-CCM

Commands read standard input and write standard output unless a file is given; - means standard input or output. Results \
go to standard output, messages and progress to standard error.

Run 'tress COMMAND -h' for a summary of a command, 'tress COMMAND --help' for everything.";

const AFTER_LONG_HELP: &str = "\
Examples:
  tress keygen -o me.key
  tress encrypt -r age1... -o big.tress big.img
  tress decrypt -i me.key -o big.img big.tress

Exit status: 0 if all went well; 1 if the operation failed (wrong key, damaged input, I/O error); 2 if the command line is \
wrong; 3 if all is done but for something that was left out and named.

Environment: TRESS_CPU names features of the processor that are not used, as in TRESS_CPU=-avx512,-vaes. Known are -aes, -avx2, \
-vaes, -avx512, -gfni, -neon, -adx and -ifma.";

/// Encrypt, send and sign large files with parallel AES-CCM
#[derive(Parser)]
#[command(name = "tress", version, max_term_width = 100, long_about = LONG_ABOUT, after_long_help = AFTER_LONG_HELP)]
#[command(subcommand_required = true, disable_help_subcommand = true)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Cli {
    /// Report if keys cannot be kept out of swap and core dumps
    #[arg(short, long, global = true, help_heading = GENERAL, display_order = 100)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    Keygen(Keygen),
    // Boxed, since the parser has a place for each command on its stack.
    Encrypt(Box<Encrypt>),
    Decrypt(Box<Decrypt>),
    List(List),
    Rewrap(Rewrap),
    Inspect(Inspect),
    Send(Box<Send>),
    Receive(Box<Receive>),
    Sign(Sign),
    Verify(Verify),
    Raw(Raw),
    Ciphers(Ciphers),
    Plan(Plan),
    /// Measure the ciphers on this machine
    Bench(External),
    /// Run a RISC-V program on a simulated machine
    Simulate(External),
    /// Compare a paper's results with this machine's
    Study(External),
    /// Make an HTML page of studies and records
    Report(External),
    #[command(hide = true)]
    Completions(Completions),
    #[command(hide = true)]
    Man(Man),
}

/// How workers wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sync {
    /// All wait for each other after every stage
    Barrier,
    /// Each waits only for the result that it needs
    Counter,
}

#[derive(Args)]
pub(crate) struct Threads {
    /// Number of worker threads [default: one per core]
    ///
    /// From 1 to 1024.
    #[arg(long = "threads", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    count: Option<u16>,
}

impl Threads {
    pub(crate) fn wanted(&self) -> tress_container::Threads {
        self.count.map_or(0, usize::from).into()
    }
}

/// Builds the definition, in a thread: a debug build needs more stack for it than some users have.
pub(crate) fn command() -> clap::Command {
    match std::thread::Builder::new().stack_size(1 << 20).spawn(make_command) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => make_command(),
    }
}

fn make_command() -> clap::Command {
    let general = |name: &'static str, short, action| {
        Arg::new(name).long(name).short(short).action(action).help_heading(GENERAL).display_order(101)
    };
    let help = general("help", 'h', ArgAction::Help).global(true).help("Print help (-h: summary, --help: everything)");
    Cli::command().arg(help).arg(general("version", 'V', ArgAction::Version).help("Print the version"))
}

/// Returns a command that is a separate program, with its arguments unparsed: that program parses them, `--help` included.
fn separate_program() -> Option<CliCommand> {
    let mut words = std::env::args_os().skip(1).skip_while(|word| word == "-v" || word == "--verbose");
    let name = words.next()?;
    let external = External { arguments: words.collect() };
    Some(match name.to_str()? {
        "bench" => CliCommand::Bench(external),
        "simulate" => CliCommand::Simulate(external),
        "study" => CliCommand::Study(external),
        "report" => CliCommand::Report(external),
        _ => return None,
    })
}

/// Parses the arguments of this process.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    if let Some(command) = separate_program() {
        return Ok(Cli { verbose: false, command });
    }
    let is_long = std::env::args_os().any(|argument| argument == "--help");
    let mut command = with_groups(command(), is_long);
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Sets a help template that lists the commands in their groups, which clap cannot: below headings, or on one screen for `-h`.
fn with_groups(command: clap::Command, is_long: bool) -> clap::Command {
    let header = *command.get_styles().get_header();
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        let mut label = heading.split(' ').next().unwrap_or(heading);
        if is_long {
            groups.push_str(&format!("{header}{heading}:{header:#}\n"));
        }
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
            let margin = if is_long {
                String::from("  ")
            } else {
                format!("{header}{label}{header:#}{:1$}", "", 12 - label.len())
            };
            groups.push_str(&format!("{margin}{name:<10}{}\n", about.unwrap_or_default()));
            label = "";
        }
        if is_long {
            groups.push('\n');
        }
    }
    // The short help fills a screen.
    let above = if is_long { "\n" } else { "" };
    command.help_template(format!(
        "{{about-with-newline}}{above}{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &mut clap::Command, lines: usize) {
        let name = command.get_name().to_string();
        let help = command.render_help().to_string();
        let height = help.trim_end().lines().count();
        assert!(height <= lines, "{name}: {height} lines\n{help}");
        let long = command.render_long_help().to_string();
        let wide = help.lines().chain(long.lines()).find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{name}");
        for command in command.get_subcommands_mut() {
            check(command, 40);
        }
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        let mut root = with_groups(command(), false).term_width(80);
        root.build();
        check(&mut root, 24);
    }

    #[test]
    fn each_visible_command_is_in_one_group() {
        let root = command();
        let mut visible: Vec<&str> =
            root.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn hints_name_the_intended_word() {
        for (line, meant) in [
            ("encrpyt in", "'encrypt'"),
            ("decrpyt in", "'decrypt'"),
            ("ecnrypt in", "'encrypt'"),
            ("enc in", "'encrypt'"),
            ("sned in", "'send'"),
            ("sing in", "'sign'"),
            ("recieve in", "'receive'"),
            ("sutdy modular", "'study'"),
            ("raw decrpyt", "'decrypt'"),
            ("-v encrpyt in", "'encrypt'"),
            ("nothing-like-it", "'tress --help'"),
            ("help", "'tress --help'"),
            ("encrypt --ouptut x", "'--output'"),
            ("encrypt --recipent x", "'--recipient'"),
            ("encrypt --pasphrase-file x", "'--passphrase-file'"),
            ("encrypt --recip x", "'--recipient'"),
            ("encrypt --verbsoe", "'--verbose'"),
            ("encrypt --nothing-like-it", "'tress encrypt --help'"),
            ("keygen one two", "'tress keygen --help'"),
            ("-v keygen one two", "'tress keygen --help'"),
            ("encrypt --aead aes-218-ccm", "'aes-128-ccm'"),
            ("encrypt --aead aes-265-ccm", "'aes-256-ccm'"),
            ("sign --key k --scheme rsa-pkcs1-sah256 x", "'rsa-pkcs1-sha256'"),
            ("plan --sync barier", "'barrier'"),
        ] {
            let words = || line.split(' ').map(String::from);
            let error = command().try_get_matches_from(["tress".into()].into_iter().chain(words())).unwrap_err();
            let hint = tress_terminal::usage::hint(&error, command(), words());
            assert!(hint.contains(meant), "tress {line}: {hint}");
        }
    }
}
