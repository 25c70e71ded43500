//! `tress ciphers`: lists every cipher with its modes and backends, and which of these this machine has.

use serde::Serialize;
use tress_cipher::Backend;
use tress_cipher::catalogue::CIPHERS;

use crate::failure::Failure;
use crate::names::RawAlgorithm;
use crate::{args, files};

#[derive(Serialize)]
struct CipherRow {
    name: &'static str,
    modes: Vec<&'static str>,
    backends: Vec<BackendState>,
}

#[derive(Serialize)]
struct BackendState {
    name: &'static str,
    available: bool,
    /// Whether key setup uses this backend.
    chosen: bool,
}

pub(crate) fn run(options: &args::Ciphers) -> Result<(), Failure> {
    let mut rows: Vec<CipherRow> = CIPHERS
        .iter()
        .map(|cipher| CipherRow {
            modes: cipher.modes.iter().map(|mode| mode.name()).collect(),
            backends: states(cipher.backends),
            name: cipher.name,
        })
        .collect();
    let facts = RawAlgorithm::ChaCha20Poly1305.facts();
    rows.push(CipherRow { name: facts.cipher, modes: vec![facts.mode], backends: states(facts.backends) });
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
        text.push_str(&format!("{:<16} {:<16} {}\n", row.name, row.modes.join(" "), backends.join(" ")));
    }
    text.push_str("\n* used on this machine, - not available on this machine, in this build or with this TRESS_CPU\n");
    files::print(&text)
}

fn states(backends: &[Backend]) -> Vec<BackendState> {
    let best = Backend::best_of(backends);
    let state = |backend: &Backend| BackendState {
        name: backend.name(),
        available: backend.is_available(),
        chosen: *backend == best,
    };
    backends.iter().map(state).collect()
}
