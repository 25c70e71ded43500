//! The verbs: each turns its options into one call of the library and the outcome into words.

mod bench;
mod ciphers;
mod container;
mod generated;
mod inspect;
mod keygen;
mod plan;
mod raw;
mod report;
mod send;
mod sign;
mod simulate;
mod study;

use std::{io::Write as _, sync::Arc};

use tress_container::Control;

use crate::{
    args::Verb,
    failure::Failure,
    progress::{self, Progress},
    signals,
};

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
        Verb::Bench(options) => bench::run(&options),
        Verb::Simulate(options) => simulate::run(&options),
        Verb::Study(options) => study::run(&options),
        Verb::Report(options) => report::run(&options),
        Verb::Completions(options) => generated::completions(&options),
        Verb::Man(options) => generated::man(&options),
    }
}

/// Runs a verb that takes its time: signals cancel it, and a terminal shows how far it is.
fn cancellable<T>(verb: impl FnOnce(&Control) -> Result<T, Failure>) -> Result<T, Failure> {
    let control = Arc::new(Control::new());
    signals::cancel_by_signal(&control);
    let progress = Progress::start(&control);
    let outcome = verb(&control);
    drop(progress);
    outcome
}

/// Not the result: a standard error that is gone does not matter.
pub(crate) fn note(text: &str) {
    say("note", text);
}

/// The same about something that is not safe.
pub(crate) fn warn(text: &str) {
    say("warning", text);
}

fn say(what: &str, text: &str) {
    let text = format!("tress: {what}: {}\n", crate::failure::escape(text));
    let _ = progress::aside(|| std::io::stderr().lock().write_all(text.as_bytes()));
}
