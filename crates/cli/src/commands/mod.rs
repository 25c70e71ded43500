//! The commands. Each one turns its options into a call of the library, and the outcome into messages.

mod ciphers;
mod container;
mod external;
mod inspect;
mod keygen;
mod list;
mod plan;
mod printer;
mod raw;
mod send;
mod sign;

use std::sync::Arc;

use tress_container::Control;
pub(crate) use tress_terminal::note;
use tress_terminal::progress::{Count, Progress, is_stuck};
use tress_terminal::{Failure, generated, signals};

use crate::args::{self, CliCommand};

pub(crate) fn run(command: CliCommand) -> Result<(), Failure> {
    match command {
        CliCommand::Keygen(options) => keygen::run(&options),
        CliCommand::Encrypt(options) => container::encrypt(&options),
        CliCommand::Decrypt(options) => container::decrypt(&options),
        CliCommand::List(options) => list::run(&options),
        CliCommand::Rewrap(options) => container::rewrap(options),
        CliCommand::Send(options) => send::send(&options),
        CliCommand::Receive(options) => send::receive(&options),
        CliCommand::Sign(options) => sign::sign(&options),
        CliCommand::Verify(options) => sign::verify(&options),
        CliCommand::Inspect(options) => inspect::run(&options),
        CliCommand::Raw(options) => raw::run(&options),
        CliCommand::Ciphers(options) => ciphers::run(&options),
        CliCommand::Plan(options) => plan::run(&options),
        CliCommand::Bench(options) => external::run("tress-lab", Some("bench"), &options),
        CliCommand::Simulate(options) => external::run("tress-simulate", None, &options),
        CliCommand::Study(options) => external::run("tress-lab", Some("study"), &options),
        CliCommand::Report(options) => external::run("tress-lab", Some("report"), &options),
        CliCommand::Completions(options) => generated::completions(options.shell, args::command(), "tress"),
        CliCommand::Man(options) => {
            generated::man(args::command(), "tress", &args::OTHERS, options.directory.as_deref())
        }
    }
}

/// Runs a long operation, which signals cancel, with a progress bar on a terminal.
fn cancellable<T>(operation: impl FnOnce(&Arc<Control>) -> Result<T, Failure>) -> Result<T, Failure> {
    let control = Arc::new(Control::new());
    let cancelled = Arc::clone(&control);
    signals::cancel_by_signal(move || cancelled.cancel());
    let counted = Arc::clone(&control);
    let progress = Progress::start(move || Count {
        moved: counted.moved_bytes(),
        done: counted.done_bytes(),
        total: counted.total_bytes(),
        files: counted.files(),
    });
    let outcome = operation(&control);
    // The last lines have no reader, and would wait for one.
    if control.is_cancelled() && is_stuck(std::io::stderr()) {
        signals::die_if_received();
    }
    drop(progress);
    outcome
}
