//! `tress-lab`: benchmarks, studies of papers, and pages of both. `tress bench`, `study` and `report` run it.
//!
//! Results go to standard output, everything else to standard error. Exit status 0 is success, 1 failure, 2 a usage error.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod report;
mod sender;
mod study;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;

use tress_container::Control;
use tress_container::commands::{self, Sink};
use tress_lab::interrupted;
use tress_terminal::{Failure, generated, signals, usage};

use args::LabCommand;

/// The path of the command `tress`, if that started this program.
static TRESS: OnceLock<PathBuf> = OnceLock::new();

fn main() -> ExitCode {
    let outcome = tress_terminal::caller("tress-lab", env!("CARGO_PKG_VERSION")).and_then(|caller| {
        if let Some(tress) = caller {
            let _ = TRESS.set(tress);
        }
        match args::parse() {
            Ok(command_line) => run(command_line).map(|()| ExitCode::SUCCESS),
            Err(error) => Ok(usage::report(&error, args::command())),
        }
    });
    tress_terminal::lifeline::release();
    outcome.unwrap_or_else(|failure| {
        // A signal that ends this process has ended others, or removed files, before.
        while interrupted::has_begun() {
            thread::park();
        }
        failure.print();
        signals::die_if_received();
        ExitCode::from(failure.status)
    })
}

fn run(command_line: LabCommand) -> Result<(), Failure> {
    // The libraries ignore unknown features in TRESS_CPU, so a typing error would silently measure the wrong backend.
    let switches = std::env::var_os("TRESS_CPU").unwrap_or_default();
    if let Some(item) = tress_cipher::cpu::unknown_switch(&switches.to_string_lossy()) {
        let known = tress_cipher::cpu::SWITCHES.map(|name| format!("-{name}")).join(", ");
        return Err(
            Failure::wrong_use(format!("TRESS_CPU: unknown feature '{item}'")).hint(format!("known are {known}"))
        );
    }
    signals::install(|| false, || ());
    tress_container::sys::on_note(tress_terminal::note);
    if matches!(command_line, LabCommand::Bench(_) | LabCommand::Study(_)) {
        // On a thread, so that a second signal still ends the process immediately.
        signals::cancel_by_signal(|| {
            if thread::Builder::new().spawn(interrupt).is_err() {
                interrupt();
            }
        });
    }
    match command_line {
        LabCommand::Bench(options) => bench::run(&options),
        LabCommand::Study(options) => study::run(*options),
        LabCommand::Report(options) => report::run(&options),
        LabCommand::Sender(options) => sender::run(&options),
        LabCommand::Completions { shell } => generated::completions(shell, args::command(), "tress-lab"),
        LabCommand::Man { directory } => generated::man(args::command(), "tress", &[], directory.as_deref()),
    }
}

/// Ends the process by the signal that it has received.
fn interrupt() {
    interrupted::end();
    // The line of a progress bar has no end.
    if io::stderr().is_terminal() {
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
    Failure::failed("interrupted").print();
    signals::die_if_received();
}

/// The command to measure: the one that started this program, or the one in the same folder.
fn tress() -> Option<PathBuf> {
    TRESS.get().cloned().or_else(|| {
        let beside = std::env::current_exe().ok()?.with_file_name(format!("tress{}", std::env::consts::EXE_SUFFIX));
        beside.is_file().then_some(beside)
    })
}

/// Writes a file atomically: after a failure or a signal there is no partial file.
fn store(text: &str, path: PathBuf, force: bool) -> Result<(), Failure> {
    let control = Arc::new(Control::new());
    let cancelled = Arc::clone(&control);
    signals::cancel_by_signal(move || cancelled.cancel());
    commands::store(text.as_bytes(), &Sink::Path { path, force }, &control).map_err(|error| {
        if error.kind.is_usage() { Failure::wrong_use(error.to_string()) } else { Failure::failed(error.to_string()) }
    })
}
