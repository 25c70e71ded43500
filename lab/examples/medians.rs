//! Removes the samples from a record of `tress bench`: medians and intervals stay, with the commit that has the
//! samples. `bench/medians` runs it.
//!
//! Usage: `medians RECORD COMMIT`.

use std::process::ExitCode;
use std::{env, io};

use tress_lab::bench::{Error, compare};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [record, commit] = arguments.as_slice() else {
        eprintln!("usage: medians RECORD COMMIT");
        return ExitCode::from(2);
    };
    let written = compare::read_full(record.as_ref()).and_then(|mut document| {
        document.keep_medians(commit.clone());
        document.write_lines(io::stdout().lock()).map_err(Error::Output)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("medians: error: {error}");
            ExitCode::FAILURE
        }
    }
}
