//! Every cipher in every mode and direction, with any backend, lanes, threads and length of messages: the rows that
//! `--backend`, `--lanes`, `--threads` and `--size` ask for.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    sync::Arc,
};

use comfy_table::{Table, presets};
use serde::Serialize;
use tress_cipher::{
    Backend, BlockCipher,
    catalogue::{CIPHERS, Cipher, Mode},
    pipo::Pipo,
};
use tress_peers::Direction;

use super::{
    Error, Options,
    case::{self, Case, Make, called},
    machine,
    messages::{self, Call, Messages},
    table::bytes,
    threads::{self, Threads},
};

/// Messages of a call where nothing is asked: one, and as many as fill the lanes of every backend.
const LANES: [usize; 2] = [1, 32];
const MOST_LANES: usize = 4096;
const MOST_THREADS: usize = 256;
/// A message where nothing is asked, or the whole blocks of it.
const MESSAGE_BYTES: usize = 16 << 10;
/// With nonces of 12 bytes a message has at most 2^24 - 1.
const MOST_CCM_BYTES: usize = (1 << 24) - 1;
const TOO_LARGE: &str = "more than a quarter of the memory";
/// PIPO's counter has 16 bits.
const MOST_PIPO_CTR_BYTES: usize = Pipo::BLOCK_BYTES << 16;

/// Which rows. Where a list is empty, the usual: the best backend; one message and many; one thread; 16 KiB.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Our backends; those that a cipher has not are left out of its rows.
    pub backends: Vec<Backend>,
    /// All backends of this machine.
    pub all_backends: bool,
    /// Messages that one call gets; more than one where they are done in lanes.
    pub lanes: Vec<usize>,
    /// Threads that do the same at once.
    pub threads: Vec<usize>,
    /// Bytes of a message.
    pub message_bytes: Vec<u64>,
}

/// CTR does the same in both.
fn directions(mode: Mode) -> &'static [Direction] {
    const BOTH: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];
    if mode == Mode::Ctr { &BOTH[..1] } else { &BOTH }
}

/// Whether one message is a chain, so that many are done in lanes.
fn has_lanes(mode: Mode, direction: Direction) -> bool {
    match mode {
        Mode::Ccm => true,
        Mode::Cbc => direction == Direction::Encrypt,
        Mode::Ecb | Mode::Ctr => false,
    }
}

fn name(cipher: &Cipher, mode: Mode) -> String {
    format!("{}-{}", cipher.name, mode.name())
}

impl Choice {
    /// What cannot be meant for any row.
    fn check(&self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::NoSuchRow(text));
        if let Some(lanes) = self.lanes.iter().find(|lanes| !(1..=MOST_LANES).contains(*lanes)) {
            return wrong(format!("{lanes} lanes: must be 1 to {MOST_LANES}"));
        }
        if let Some(threads) = self.threads.iter().find(|threads| !(1..=MOST_THREADS).contains(*threads)) {
            return wrong(format!("{threads} threads: must be 1 to {MOST_THREADS}"));
        }
        if self.message_bytes.contains(&0) {
            return wrong("--size must be at least 1 byte".into());
        }
        if let Some(size) = self.message_bytes.iter().find(|size| **size > memory_bytes()) {
            return wrong(format!("messages of {}: {TOO_LARGE}", bytes(*size)));
        }
        match self.backends.iter().find(|backend| !backend.is_available()) {
            Some(backend) => Err(tress_cipher::Error::BackendUnavailable(*backend).into()),
            None => Ok(()),
        }
    }

    fn backends(&self, cipher: &Cipher) -> Vec<Backend> {
        let usable =
            |backend: &Backend| backend.is_available() && (self.all_backends || self.backends.contains(backend));
        if self.all_backends || !self.backends.is_empty() {
            cipher.backends.iter().copied().filter(usable).collect()
        } else {
            vec![cipher.best_backend()]
        }
    }

    fn message_bytes(&self, cipher: &Cipher) -> Vec<usize> {
        if self.message_bytes.is_empty() {
            return vec![MESSAGE_BYTES - MESSAGE_BYTES % cipher.block_bytes];
        }
        self.message_bytes.iter().map(|bytes| usize::try_from(*bytes).unwrap_or(usize::MAX)).collect()
    }
}

/// The rows that are asked for, each with its backend. Combinations that do not exist are left out.
pub(crate) fn cases(choice: &Choice, options: &Options) -> Result<Vec<(Case, Backend)>, Error> {
    choice.check()?;
    let memory_bytes = memory_bytes();
    let (mut cases, mut has_name, mut reasons) = (Vec::new(), false, BTreeSet::new());
    for cipher in CIPHERS {
        for &mode in cipher.modes.iter().filter(|mode| options.wants(&name(cipher, **mode))) {
            has_name = true;
            if choice.backends(cipher).is_empty() {
                reasons.insert("the cipher does not have this backend");
            }
            for (call, backend, threads) in combinations(choice, cipher, mode) {
                let is_too_large = (call.buffer_bytes() * threads) as u64 > memory_bytes;
                match why_not(&call).or(is_too_large.then_some(TOO_LARGE)) {
                    Some(why) => drop(reasons.insert(why)),
                    None => cases.push((case(call, threads, backend, choice, options), backend)),
                }
            }
        }
    }
    if !cases.is_empty() {
        Ok(cases)
    } else if has_name {
        Err(Error::NoSuchRow(reasons.into_iter().collect::<Vec<_>>().join("; ")))
    } else if case::all().iter().any(|case| options.wants(&case.name)) {
        let text = "--backend, --lanes, --threads and --size need a cipher with a mode, such as aes-128-ccm";
        Err(Error::NoSuchRow(text.into()))
    } else {
        Err(Error::NothingMatches)
    }
}

/// All combinations of what is asked for, whether they exist or not, with the backend and the threads.
fn combinations(choice: &Choice, cipher: &'static Cipher, mode: Mode) -> Vec<(Call, Backend, usize)> {
    let or = |list: &[usize], usual: &[usize]| if list.is_empty() { usual.to_vec() } else { list.to_vec() };
    let (all_lanes, all_threads) = (or(&choice.lanes, &LANES), or(&choice.threads, &[1]));
    let mut all = Vec::new();
    for &direction in directions(mode) {
        for backend in choice.backends(cipher) {
            for message_bytes in choice.message_bytes(cipher) {
                for &lanes in &all_lanes {
                    let call = Call { cipher, mode, direction, lanes, message_bytes };
                    all.extend(all_threads.iter().map(|threads| (call, backend, *threads)));
                }
            }
        }
    }
    all
}

/// What the messages of all threads may take: a quarter of what there is, because others want some, too.
fn memory_bytes() -> u64 {
    machine::inspect().memory_bytes.unwrap_or(1 << 30) / 4
}

/// Why there is no such row.
fn why_not(call: &Call) -> Option<&'static str> {
    let whole_blocks = call.message_bytes.is_multiple_of(call.cipher.block_bytes);
    match call.mode {
        _ if call.lanes > 1 && !has_lanes(call.mode, call.direction) => Some("only CCM and CBC encryption have lanes"),
        Mode::Ecb | Mode::Cbc if !whole_blocks => Some("ECB and CBC messages must be whole blocks"),
        Mode::Ccm if call.message_bytes > MOST_CCM_BYTES => Some("CCM messages must be shorter than 16 MiB here"),
        Mode::Ctr if call.cipher.family() == "pipo" && call.message_bytes > MOST_PIPO_CTR_BYTES => {
            Some("the counter of PIPO is exhausted after 512 KiB")
        }
        _ => None,
    }
}

fn case(call: Call, threads: usize, backend: Backend, choice: &Choice, options: &Options) -> Case {
    let mut workload = match call.lanes {
        1 => "one message".to_string(),
        lanes => format!("{lanes} messages, one key"),
    };
    // Without it a row of the best backend would be the same as that of another.
    if choice.all_backends || !choice.backends.is_empty() {
        workload = format!("{workload}, {}", backend.name());
    }
    let peers: Vec<_> = messages::peers(&call).into_iter().filter(|who| options.has_peer(*who)).collect();
    let theirs = peers.clone();
    let one: threads::Make = Arc::new(move || Messages::new(call, backend, &theirs));
    let make: Make = Box::new(move |_| {
        if threads == 1 {
            return Ok(Box::new(one()?));
        }
        Ok(Box::new(Threads::new(threads, &one)?))
    });
    Case {
        name: name(call.cipher, call.mode).into(),
        direction: called(call.direction),
        workload: workload.into(),
        threads,
        lanes: call.lanes,
        message_bytes: call.message_bytes as u64,
        peers,
        backends: call.cipher.backends,
        make,
    }
}

/// A name, and what rows of it can be asked.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The name, as a filter matches it.
    pub name: String,
    /// What is done.
    pub directions: Vec<&'static str>,
    /// Backends of this machine; none where they cannot be chosen.
    pub backends: Vec<&'static str>,
    /// Whether calls of many messages can be asked.
    pub lanes: bool,
    /// Messages are a multiple of so many bytes; none where their length cannot be chosen.
    pub multiple_of_bytes: Option<usize>,
    /// Those who have it, too, installed or not.
    pub peers: Vec<&'static str>,
    /// The rows that are measured unless something is asked.
    pub rows: Vec<String>,
}

/// Every name: those of ciphers in modes, then the others.
pub fn list() -> Vec<Listed> {
    let usual = case::all();
    let rows = |name: &str| {
        let of_name = usual.iter().filter(|case| case.name == name);
        of_name.map(|case| format!("{}: {}, {}", case.direction, case.workload, bytes(case.message_bytes))).collect()
    };
    let mut listed = Vec::new();
    for cipher in CIPHERS {
        for &mode in cipher.modes {
            let directions = directions(mode);
            let call = |direction| Call { cipher, mode, direction, lanes: 1, message_bytes: cipher.block_bytes };
            let name = name(cipher, mode);
            listed.push(Listed {
                directions: directions.iter().map(|direction| called(*direction)).collect(),
                backends: cipher.backends.iter().filter(|one| one.is_available()).map(|one| one.name()).collect(),
                lanes: directions.iter().any(|direction| has_lanes(mode, *direction)),
                multiple_of_bytes: Some(if matches!(mode, Mode::Ecb | Mode::Cbc) { cipher.block_bytes } else { 1 }),
                peers: messages::peers(&call(directions[0])).into_iter().map(|who| who.name()).collect(),
                rows: rows(&name),
                name,
            });
        }
    }
    for case in &usual {
        if let Some(known) = listed.iter_mut().find(|listed| listed.name == case.name) {
            if known.backends.is_empty() && !known.directions.contains(&case.direction) {
                known.directions.push(case.direction);
            }
            continue;
        }
        listed.push(Listed {
            name: case.name.to_string(),
            directions: vec![case.direction],
            backends: Vec::new(),
            lanes: false,
            multiple_of_bytes: None,
            peers: case.peers.iter().map(|who| who.name()).collect(),
            rows: rows(&case.name),
        });
    }
    listed
}

/// Writes the names for people, or as JSON.
pub fn write_list(json: bool, out: &mut dyn Write) -> Result<(), Error> {
    let listed = list();
    if json {
        serde_json::to_writer_pretty(&mut *out, &listed).map_err(|error| Error::Output(error.into()))?;
        return writeln!(out).map_err(Error::Output);
    }
    let write = |out: &mut dyn Write| -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(["name", "direction", "--backend", "--lanes", "--size", "--against", "default rows"]);
        for one in &listed {
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
        writeln!(out, "{table}")?;
        writeln!(
            out,
            "every row with a --backend also takes --threads; encrypt-file, decrypt-file, encrypt-memory and"
        )?;
        writeln!(out, "encrypt-start run whole commands (compared with age, cp and openssl) if named, or with --record")
    };
    write(out).map_err(Error::Output)
}

#[cfg(test)]
#[path = "matrix_test.rs"]
mod tests;
