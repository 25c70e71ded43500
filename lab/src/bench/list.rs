//! `tress bench --list`: every name that a filter matches, and the options that apply to it.

use std::io::{self, Write};

use serde::Serialize;
use tress_cipher::catalogue::Mode;

use super::call::{Call, Shape, has_lanes};
use super::matrix::{all_modes, directions};
use super::text::{json, length, table};
use super::theirs::peers;
use super::work::{BenchCase, direction_name};
use super::{Error, rows};

/// A name, and the options that apply to its rows.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The name that a filter is matched against.
    pub name: String,
    pub directions: Vec<&'static str>,
    /// Backends of this machine. Empty where they cannot be chosen.
    pub backends: Vec<&'static str>,
    /// Whether there are calls of many messages.
    pub lanes: bool,
    /// Length in bytes that divides every message's length. `None` where the length cannot be chosen.
    pub multiple_of_bytes: Option<usize>,
    /// Peers that have the same operation, installed or not.
    pub peers: Vec<&'static str>,
    /// The rows that are measured by default.
    pub rows: Vec<String>,
}

/// Every name: first those of ciphers in modes, then the others.
pub fn list() -> Vec<Listed> {
    let usual = rows::all();
    let of_cipher = all_modes().map(|(cipher, mode)| {
        let (directions, message_bytes) = (directions(mode), cipher.block_bytes);
        let call =
            Call { cipher, mode, direction: directions[0], lanes: 1, message_bytes, shape: Shape::Usual, registers: 0 };
        Listed {
            name: call.name(),
            directions: directions.iter().map(|direction| direction_name(*direction)).collect(),
            backends: cipher.backends.iter().filter(|one| one.is_available()).map(|one| one.name()).collect(),
            lanes: directions.iter().any(|direction| has_lanes(mode, *direction)),
            multiple_of_bytes: Some(if matches!(mode, Mode::Ecb | Mode::Cbc) { message_bytes } else { 1 }),
            peers: peers(&call).into_iter().map(|contender| contender.name()).collect(),
            rows: Vec::new(),
        }
    });
    let mut listed: Vec<Listed> = of_cipher.collect();
    for case in &usual {
        let place = listed.iter().position(|listed| listed.name == case.name).unwrap_or_else(|| {
            listed.push(Listed::number(case));
            listed.len() - 1
        });
        let Listed { directions, rows, .. } = &mut listed[place];
        if !directions.contains(&case.direction) {
            directions.push(case.direction);
        }
        rows.push(format!("{}: {}, {}", case.direction, case.workload, length(case.message_bytes)));
    }
    listed
}

impl Listed {
    /// The entry of a case that is not a cipher.
    fn number(case: &BenchCase) -> Listed {
        Listed {
            name: case.name.clone(),
            directions: Vec::new(),
            backends: Vec::new(),
            lanes: false,
            multiple_of_bytes: None,
            peers: case.peers.iter().map(|contender| contender.name()).collect(),
            rows: Vec::new(),
        }
    }
}

pub fn write_list(as_json: bool, out: &mut dyn Write) -> Result<(), Error> {
    let listed = list();
    if as_json { json(&listed, out) } else { write(&listed, out).map_err(Error::Output) }
}

fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(["name", "direction", "--backend", "--lanes", "--size", "--against", "default rows"], []);
    for one in listed {
        let size = match one.multiple_of_bytes {
            None => String::new(),
            Some(1) => "any".into(),
            Some(bytes) => format!("n × {bytes} B"),
        };
        table.add_row([
            one.name.clone(),
            one.directions.join("\n"),
            one.backends.join(", "),
            if one.lanes { "any" } else { "" }.into(),
            size,
            one.peers.join(", "),
            one.rows.join("\n"),
        ]);
    }
    writeln!(
        out,
        "{table}\nevery row with a --backend also takes --threads; encrypt-file, decrypt-file, encrypt-memory and\n\
         encrypt-start run whole commands (compared with age, cp and openssl) if named, or with --record"
    )
}
