//! The `tress` command: arguments, progress and messages on top of the libraries.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 success, 1 failure, 2 usage error.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;
mod files;
mod keys;
mod memory;
mod names;
mod passphrase;
mod prompt;
mod signing;
mod stdin;

use std::process::ExitCode;

use tress_terminal::{progress, signals, units, usage};

fn main() -> ExitCode {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error, args::command()),
    };
    signals::install(prompt::restore_terminal, prompt::resume);
    tress_container::sys::on_note(tress_terminal::note);
    memory::protect(&cli.command, |what| {
        if cli.verbose {
            commands::note(what);
        }
    });
    let outcome = run(cli.command);
    memory::finish();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            signals::die_if_received();
            ExitCode::from(failure.status)
        }
    }
}

/// Not inlined, so that its stack frame is below that of `main`, which overwrites it afterwards.
#[inline(never)]
fn run(command: args::CliCommand) -> Result<(), failure::Failure> {
    names::known_switches()?;
    commands::run(command)
}
