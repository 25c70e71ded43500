//! `tress study`: a thin cover over the lab's studies.

use std::io;

use tress_lab::study::{self, Options};
use tress_terminal::Failure;

use crate::args;

pub(crate) fn run(options: &args::Study) -> Result<(), Failure> {
    let lab = Options {
        name: options.name.clone(),
        folder: options.out.clone(),
        quick: options.quick,
        parts: options.part.clone(),
        tress: crate::tress(),
        lab: std::env::current_exe().ok(),
        systems: options.systems.clone(),
    };
    let mut out = io::stdout().lock();
    study::run(&lab, &mut out).map_err(|error| {
        if error.is_usage() { Failure::wrong_use(error.to_string()) } else { Failure::failed(error.to_string()) }
    })
}
