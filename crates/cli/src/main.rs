//! The `tress` command: arguments, progress and messages over the library.
//!
//! Results go to standard output, everything else to standard error. Exit status 0 is done, 1 failed, 2 wrong use.
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
    signals::install(prompt::abandon);
    memory::protect(&cli.verb, |what| {
        if cli.verbose {
            commands::note(what);
        }
    });
    let outcome = run(cli.verb);
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

/// In a frame of its own: what it leaves on the stack is overwritten from the frame that calls it.
#[inline(never)]
fn run(verb: args::Verb) -> Result<(), failure::Failure> {
    names::known_switches()?;
    commands::run(verb)
}
