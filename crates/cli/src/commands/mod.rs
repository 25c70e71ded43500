//! The commands. Each one turns its options into a call of the library, and the outcome into messages.

mod ciphers;
mod container;
mod external;
mod inspect;
mod keygen;
mod plan;
mod raw;
mod send;
mod sign;

use std::sync::Arc;

use tress_container::Control;
pub(crate) use tress_terminal::note;
use tress_terminal::{
    Failure, generated,
    progress::{Count, Progress},
    signals,
};

use crate::args::{self, Verb};

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Keygen(options) => keygen::run(&options),
        Verb::Encrypt(options) => container::encrypt(&options),
        Verb::Decrypt(options) => container::decrypt(&options),
        Verb::Rewrap(options) => container::rewrap(options),
        Verb::Send(options) => send::send(&options),
        Verb::Receive(options) => send::receive(&options),
        Verb::Sign(options) => sign::sign(&options),
        Verb::Verify(options) => sign::verify(&options),
        Verb::Inspect(options) => inspect::run(&options),
        Verb::Raw(options) => raw::run(&options),
        Verb::Ciphers(options) => ciphers::run(&options),
        Verb::Plan(options) => plan::run(&options),
        Verb::Bench(options) => external::run("tress-lab", Some("bench"), &options),
        Verb::Simulate(options) => external::run("tress-simulate", None, &options),
        Verb::Study(options) => external::run("tress-lab", Some("study"), &options),
        Verb::Report(options) => external::run("tress-lab", Some("report"), &options),
        Verb::Completions(options) => generated::completions(options.shell, args::command(), "tress"),
        Verb::Man(options) => generated::man(args::command(), "tress", &args::OTHERS, options.directory.as_deref()),
    }
}

/// Runs a long operation, which signals cancel, with a progress bar on a terminal.
fn cancellable<T>(verb: impl FnOnce(&Control) -> Result<T, Failure>) -> Result<T, Failure> {
    let control = Arc::new(Control::new());
    let cancelled = Arc::clone(&control);
    signals::cancel_by_signal(move || cancelled.cancel());
    let counted = Arc::clone(&control);
    let progress = Progress::start(move || Count {
        moved: counted.moved_bytes(),
        done: counted.done_bytes(),
        total: counted.total_bytes(),
    });
    let outcome = verb(&control);
    drop(progress);
    outcome
}
