//! `tress study`: calls the studies of the lab.

use tress_lab::study::{self, Options};
use tress_terminal::{Failure, files};

pub(crate) fn run(mut options: Options) -> Result<(), Failure> {
    (options.effort.tress, options.effort.lab) = (crate::tress(), std::env::current_exe().ok());
    let mut out = files::stdout();
    study::run(&options, &mut out).map_err(|error| {
        if error.is_usage() { Failure::wrong_use(error.to_string()) } else { Failure::failed(error.to_string()) }
    })
}
