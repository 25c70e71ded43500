//! Every cipher in every mode and direction, with any backend, lanes, threads and length of messages: the rows that
//! `--backend`, `--lanes`, `--threads` and `--size` ask for.

use std::collections::BTreeSet;
use std::sync::Arc;

use tress_cipher::Backend;
use tress_cipher::catalogue::{CIPHERS, Cipher, Mode};
use tress_peers::Direction;

use super::call::{Call, Shape, has_lanes};
use super::messages::Messages;
use super::text::length;
use super::theirs::peers;
use super::threads::{self, Threads};
use super::work::{BenchCase, MakeWork, WorkResult, direction_name};
use super::{Error, machine};

/// Default numbers of messages in a call: one, and as many as fill the lanes of every backend.
const LANES: [usize; 2] = [1, 32];
const MOST_LANES: usize = 4096;
const MOST_THREADS: usize = 256;
/// Default length of a message in bytes, rounded down to whole blocks.
const MESSAGE_BYTES: usize = 16 << 10;
/// A message with a nonce of 12 bytes has at most 2^24 - 1 bytes.
const MOST_CCM_BYTES: usize = (1 << 24) - 1;
const TOO_LARGE: &str = "more than a quarter of the memory";

/// Choice of rows. An empty list means the default: the best backend; one message and many; one thread; 16 KiB.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Our backends. Rows of a cipher leave out the backends that it lacks.
    pub backends: Vec<Backend>,
    /// Use all backends of this machine.
    pub all_backends: bool,
    /// Messages in one call; more than one only where they are done in lanes.
    pub lanes: Vec<usize>,
    /// Threads that do the same work at the same time.
    pub threads: Vec<usize>,
    /// Length of a message in bytes.
    pub message_bytes: Vec<u64>,
    /// Registers of a row of CCM's lanes, where the backend has several numbers ([`tress_cipher::cpu::set_ccm_registers`]).
    pub registers: Vec<u8>,
}

/// The directions of a mode. CTR has one, because encryption and decryption are the same.
pub(crate) fn directions(mode: Mode) -> &'static [Direction] {
    const BOTH: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];
    if mode == Mode::Ctr { &BOTH[..1] } else { &BOTH }
}

pub(crate) fn all_modes() -> impl Iterator<Item = (&'static Cipher, Mode)> {
    CIPHERS.iter().flat_map(|cipher| cipher.modes.iter().map(move |mode| (cipher, *mode)))
}

fn name(cipher: &Cipher, mode: Mode) -> String {
    format!("{}-{}", cipher.name, mode.name())
}

impl Choice {
    /// Returns an error for values that fit no row.
    fn check(&self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::NoSuchRow(text));
        if let Some(lanes) = self.lanes.iter().find(|lanes| !(1..=MOST_LANES).contains(*lanes)) {
            return wrong(format!("{lanes} lanes: must be 1 to {MOST_LANES}"));
        }
        if let Some(threads) = self.threads.iter().find(|threads| !(1..=MOST_THREADS).contains(*threads)) {
            return wrong(format!("{threads} threads: must be 1 to {MOST_THREADS}"));
        }
        if let Some(registers) = self.registers.iter().find(|registers| ![2, 4, 8].contains(*registers)) {
            return wrong(format!("{registers} registers: must be 2, 4 or 8"));
        }
        if self.message_bytes.contains(&0) {
            return wrong("--size must be at least 1 byte".into());
        }
        if let Some(size) = self.message_bytes.iter().find(|size| **size > memory_bytes()) {
            return wrong(format!("messages of {}: {TOO_LARGE}", length(*size)));
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

    /// The row's workload. It names the backend if one was chosen; otherwise the row would share its name with that
    /// of the best backend.
    fn workload(&self, call: &Call, backend: Backend) -> String {
        let messages = match call.lanes {
            1 => "one message".to_string(),
            lanes => format!("{lanes} messages, one key"),
        };
        let is_named = self.all_backends || !self.backends.is_empty();
        let backend = if is_named { format!(", {}", backend.name()) } else { String::new() };
        let registers = if call.registers > 0 { format!(", {} registers", call.registers) } else { String::new() };
        messages + &backend + &registers
    }

    fn message_bytes(&self, cipher: &Cipher) -> Vec<usize> {
        if self.message_bytes.is_empty() {
            return vec![MESSAGE_BYTES - MESSAGE_BYTES % cipher.block_bytes];
        }
        self.message_bytes.iter().map(|bytes| usize::try_from(*bytes).unwrap_or(usize::MAX)).collect()
    }
}

/// The rows that the choice selects, each with its backend. Combinations that do not exist are left out.
pub(crate) fn cases(choice: &Choice, wants: impl Fn(&str) -> bool) -> Result<Vec<(Backend, BenchCase)>, Error> {
    choice.check()?;
    let memory_bytes = memory_bytes();
    let (mut cases, mut has_name, mut reasons) = (Vec::new(), false, BTreeSet::new());
    for (cipher, mode) in all_modes().filter(|(cipher, mode)| wants(&name(cipher, *mode))) {
        has_name = true;
        if choice.backends(cipher).is_empty() {
            reasons.insert("the cipher does not have this backend");
        }
        for (call, backend, threads) in combinations(choice, cipher, mode) {
            let is_too_large = (call.buffer_bytes() * threads) as u64 > memory_bytes;
            match exclusion_reason(&call, backend).or(is_too_large.then_some(TOO_LARGE)) {
                Some(why) => drop(reasons.insert(why)),
                None => cases.push((backend, case(call, threads, choice.workload(&call, backend)))),
            }
        }
    }
    if !cases.is_empty() {
        Ok(cases)
    } else if has_name {
        Err(Error::NoSuchRow(reasons.into_iter().collect::<Vec<_>>().join("; ")))
    } else {
        Err(Error::NothingMatches)
    }
}

/// All combinations that the choice asks for, whether they exist or not, with backend and number of threads.
fn combinations(choice: &Choice, cipher: &'static Cipher, mode: Mode) -> Vec<(Call, Backend, usize)> {
    let or = |list: &[usize], usual: &[usize]| if list.is_empty() { usual.to_vec() } else { list.to_vec() };
    let (all_lanes, all_threads) = (or(&choice.lanes, &LANES), or(&choice.threads, &[1]));
    let all_registers = if choice.registers.is_empty() { &[0][..] } else { &choice.registers };
    let mut all = Vec::new();
    for &direction in directions(mode) {
        for backend in choice.backends(cipher) {
            for message_bytes in choice.message_bytes(cipher) {
                for (&lanes, &registers) in
                    all_lanes.iter().flat_map(|lanes| all_registers.iter().map(move |r| (lanes, r)))
                {
                    let call = Call { cipher, mode, direction, lanes, message_bytes, shape: Shape::Usual, registers };
                    all.extend(all_threads.iter().map(|threads| (call, backend, *threads)));
                }
            }
        }
    }
    all
}

/// Limit of the memory of all threads' messages: a quarter of the machine's, because other programs need memory too.
fn memory_bytes() -> u64 {
    machine::inspect().memory_bytes.unwrap_or(1 << 30) / 4
}

fn exclusion_reason(call: &Call, backend: Backend) -> Option<&'static str> {
    let whole_blocks = call.message_bytes.is_multiple_of(call.cipher.block_bytes);
    match call.mode {
        _ if call.lanes > 1 && !has_lanes(call.mode, call.direction) => Some("only CCM and CBC encryption have lanes"),
        mode if call.registers > 0 && (mode != Mode::Ccm || call.lanes == 1 || backend != Backend::Vaes512) => {
            Some("only CCM of several messages with vaes512 has a choice of registers")
        }
        Mode::Ecb | Mode::Cbc if !whole_blocks => Some("ECB and CBC messages must be whole blocks"),
        Mode::Ccm if call.message_bytes > MOST_CCM_BYTES => Some("CCM messages must be shorter than 16 MiB here"),
        Mode::Ctr if call.max_ctr_bytes().is_some_and(|most| call.message_bytes > most) => {
            Some("the counter of this cipher is exhausted before the end of the message")
        }
        _ => None,
    }
}

pub(crate) fn case(call: Call, threads: usize, workload: String) -> BenchCase {
    let make: MakeWork = Box::new(move |backend, peers| {
        let peers = peers.to_vec();
        let one = move || -> WorkResult { Ok(Box::new(Messages::new(call, backend, &peers)?)) };
        if threads == 1 {
            return one();
        }
        let each: threads::MakeThreadWork = Arc::new(one);
        Ok(Box::new(Threads::new(threads, &each)?))
    });
    BenchCase {
        name: call.name(),
        direction: direction_name(call.direction),
        workload,
        threads,
        lanes: call.lanes,
        message_bytes: call.message_bytes as u64,
        peers: peers(&call),
        backends: call.cipher.backends,
        make,
    }
}

#[cfg(test)]
#[path = "matrix_test.rs"]
mod tests;
