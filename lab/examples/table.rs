//! The measurements of `make bench`: all rows with all peers, a record, and whether the targets were reached.
//!
//! Usage: `table TRESS RECORD [OTHER] [force] [quick]`. TRESS is the path of the `tress` program (`-`: no rows of whole
//! commands), RECORD the record or its folder, OTHER a record that another build has just written. `force`
//! measures on a busy machine, as a quick run does.

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use tress_lab::bench::{Error, Options, run, targets};

fn main() -> ExitCode {
    let mut arguments: Vec<_> = env::args_os().skip(1).collect();
    let quick = arguments.pop_if(|word| word == "quick").is_some();
    let force = arguments.pop_if(|word| word == "force").is_some() || quick;
    let (tress, record, other) = match arguments.as_slice() {
        [tress, record] => (tress, record, None),
        [tress, record, other] => (tress, record, Some(other)),
        _ => {
            eprintln!("usage: table TRESS RECORD [OTHER] [force] [quick]");
            return ExitCode::from(2);
        }
    };
    let options = Options {
        against: vec!["all".into()],
        record: Some(PathBuf::from(record)),
        with: other.map(PathBuf::from),
        command: (tress != "-").then(|| PathBuf::from(tress)),
        force,
        quick,
        ..Options::default()
    };
    let mut out = io::stdout().lock();
    let result = run(&options, &mut out)
        .and_then(|document| writeln!(out).and_then(|()| targets::write(&document, &mut out)).map_err(Error::Output));
    let written = match result {
        // A missed target is a result, not an error.
        Ok(0) => writeln!(out, "all targets reached"),
        Ok(missed) => writeln!(out, "{missed} targets missed or not measured"),
        Err(error) => {
            eprintln!("bench: error: {error}");
            return ExitCode::FAILURE;
        }
    };
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
