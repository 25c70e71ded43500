//! `tress ciphers`: every cipher, its modes and its backends, and what this machine has.

use serde::Serialize;
use tress_cipher::{Backend, BlockCipher, aes::Aes};

use crate::{args, failure::Failure, files, names};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    modes: Vec<&'static str>,
    backends: Vec<BackendState>,
}

#[derive(Serialize)]
struct BackendState {
    name: &'static str,
    available: bool,
    /// Whether key setup takes this one.
    chosen: bool,
}

pub(crate) fn run(options: &args::Ciphers) -> Result<(), Failure> {
    let rows: Vec<Row> = names::CIPHERS
        .iter()
        .map(|cipher| Row {
            name: cipher.name,
            modes: names::Mode::ALL.map(names::Mode::name).to_vec(),
            backends: Aes::BACKENDS
                .iter()
                .copied()
                .into_iter()
                .map(|backend| BackendState {
                    name: backend.name(),
                    available: backend.is_available(),
                    chosen: backend == Backend::best_of(Aes::BACKENDS),
                })
                .collect(),
        })
        .collect();
    if options.json {
        return files::print_json(&rows);
    }
    let mut text = String::new();
    for row in &rows {
        let backends: Vec<String> = row
            .backends
            .iter()
            .map(|backend| match (backend.chosen, backend.available) {
                (true, _) => format!("*{}", backend.name),
                (false, true) => backend.name.to_string(),
                (false, false) => format!("-{}", backend.name),
            })
            .collect();
        text.push_str(&format!("{:<9} {:<20} {}\n", row.name, row.modes.join(" "), backends.join(" ")));
    }
    text.push_str("\n* chosen on this machine, - not on this machine or not in this build\n");
    files::print(&text)
}
