//! `tress-simulate` runs programs on simulated RISC-V machines. `tress simulate` calls it.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 success, 1 failure, 2 usage error,
//! or the program's own.
#![forbid(unsafe_code)]

mod args;
mod debugger;
mod input;
mod simulate;
mod text;

use std::process::ExitCode;

use tress_terminal::{Failure, generated, signals, usage};

fn main() -> ExitCode {
    let caller = tress_terminal::caller("tress-simulate", env!("CARGO_PKG_VERSION"));
    let outcome = caller.and_then(|caller| {
        let command = args::command(caller.is_some());
        match args::parse(command.clone()) {
            Ok(arguments) => run(arguments, command).map(ExitCode::from),
            Err(error) => Ok(usage::report(&error, command)),
        }
    });
    outcome.unwrap_or_else(|failure| {
        failure.print();
        signals::die_if_received();
        ExitCode::from(failure.status)
    })
}

fn run(arguments: args::Arguments, command: clap::Command) -> Result<u8, Failure> {
    signals::install(|| false, || ());
    match arguments {
        args::Arguments { print_machine: Some(name), .. } => simulate::print_machine(&name)?,
        args::Arguments { completions: Some(shell), .. } => generated::completions(shell, command, "tress-simulate")?,
        args::Arguments { man: true, .. } => generated::man(command, "", &[], None)?,
        args::Arguments { simulate: Some(simulate), .. } => return simulate::run(&simulate),
        args::Arguments { .. } => {}
    }
    Ok(0)
}
