//! `tress-lab sender`: the sender of the study ccm-overlap, with ways of sending that only this study needs.

use serde_json::json;
use tress_container::commands::Source;
use tress_container::keys::KeyPair;
use tress_container::{Control, Error};
use tress_terminal::{Failure, files};
use tress_transfer::{SendOptions, Synchronisation};

use crate::args;

const MOST_BYTES: usize = 256 * 1024;

pub(crate) fn run(options: &args::Sender) -> Result<(), Failure> {
    let failure = |error: Error| Failure::failed(error.to_string());
    let identity = files::read_small(&options.identity, MOST_BYTES)?;
    let pair = KeyPair::from_file(&identity[..]).map_err(failure)?;
    let mut send = SendOptions::new(&options.to, options.recipient.parse().map_err(failure)?);
    send.streams = options.streams;
    send.rate_bytes_per_s = options.rate;
    send.compute_bytes_per_s = options.compute_rate.map(|rate| rate.round() as u64);
    send.stage_bytes = options.stage;
    send.threads = options.threads.into();
    send.synchronisation = if options.barrier { Synchronisation::Barrier } else { Synchronisation::Counter };
    send.sequential = options.sequential;
    send.trace.clone_from(&options.trace);
    let report = tress_transfer::send(&[Source::Path(options.input.clone())], &pair, &send, &Control::new());
    files::print_json(&json!({ "elapsed_s": report.map_err(failure)?.elapsed.as_secs_f64() }))
}
