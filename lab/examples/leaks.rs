//! The statistical test for constant time: every type of cipher of the catalogue on every backend of this machine.
//!
//! Usage: `leaks [SAMPLES]`. Exit status 1 if a cipher's time depends on a secret, or if the planted leak was not found.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

const SAMPLES: usize = 20_000;

fn main() -> ExitCode {
    let samples = match env::args().nth(1).map(|text| text.parse()) {
        None => SAMPLES,
        Some(Ok(samples)) if samples >= 100 => samples,
        Some(_) => {
            eprintln!("usage: leaks [SAMPLES], at least 100");
            return ExitCode::from(2);
        }
    };
    let mut out = io::stdout().lock();
    let done = tress_lab::leaks::run(samples, &mut out);
    match done.and_then(|(leaks, is_found)| {
        writeln!(out, "{leaks} leaks; the planted one was {}found", if is_found { "" } else { "NOT " })?;
        Ok(leaks == 0 && is_found)
    }) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("leaks: error: {error}");
            ExitCode::FAILURE
        }
    }
}
