//! Searches the memory of another process for secrets.
//!
//! It searches for pieces of eight bytes, because a copy is rarely complete. Each piece is searched for unchanged and in the forms
//! that implementations store: limbs (all bytes reversed), 32-bit words reversed (SHA-256), and both pads of HMAC.

use std::collections::HashMap;
use std::os::unix::fs::FileExt as _;
use std::{fmt, fs};

const PIECE_BYTES: usize = 8;
const READ_BYTES: usize = 1 << 20;
/// Address bits of a filter that rejects most of the memory quickly.
const FILTER_BITS: u32 = 18;

/// The secrets to search for.
#[derive(Default)]
pub(super) struct Secrets {
    /// The name of the secret that each piece belongs to.
    pieces: HashMap<u64, String>,
}

/// A found piece of a secret, and its address.
pub(super) struct SecretMatch {
    name: String,
    address: u64,
    mapping: String,
}

impl fmt::Debug for SecretMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x} in {}", self.name, self.address, self.mapping)
    }
}

impl Secrets {
    /// One secret.
    pub(super) fn of(name: &str, secret: &[u8]) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add(name, secret);
        secrets
    }

    /// Adds a secret.
    pub(super) fn add(&mut self, name: &str, secret: &[u8]) -> &mut Secrets {
        assert!(secret.len() >= PIECE_BYTES, "{name} is too short to be distinguished from other data");
        let reversed: Vec<u8> = secret.iter().rev().copied().collect();
        self.add_form(name, secret);
        self.add_form(&format!("{name} as limbs"), &reversed);
        let words: Vec<u8> = secret.chunks_exact(4).flat_map(|word| word.iter().rev().copied()).collect();
        self.add_form(&format!("{name} as words"), &words);
        for pad in [0x36, 0x5c] {
            let padded: Vec<u8> = secret.iter().map(|byte| byte ^ pad).collect();
            self.add_form(&format!("{name} with pad {pad:#x}"), &padded);
            let padded: Vec<u8> = words.iter().map(|byte| byte ^ pad).collect();
            self.add_form(&format!("{name} as words with pad {pad:#x}"), &padded);
        }
        self
    }

    fn add_form(&mut self, name: &str, bytes: &[u8]) {
        let starts = (0..bytes.len() + 1 - PIECE_BYTES).step_by(PIECE_BYTES).chain([bytes.len() - PIECE_BYTES]);
        for start in starts {
            let piece = &bytes[start..start + PIECE_BYTES];
            // Pieces with few different bytes occur everywhere.
            let different = piece.iter().collect::<std::collections::HashSet<_>>().len();
            if different >= 5 {
                let number = u64::from_le_bytes(piece.try_into().unwrap());
                self.pieces.entry(number).or_insert_with(|| format!("{name}, byte {start}"));
            }
        }
    }

    /// Returns all matches in the writable memory of a stopped process.
    pub(super) fn find(&self, process: u32) -> Vec<SecretMatch> {
        assert!(!self.pieces.is_empty());
        let mut filter = vec![false; 1 << FILTER_BITS];
        for piece in self.pieces.keys() {
            filter[slot(*piece)] = true;
        }
        let mut found = Vec::new();
        let mut scanned = 0;
        let memory = fs::File::open(format!("/proc/{process}/mem")).expect("the memory of a child can be read");
        let mut buffer = vec![0; READ_BYTES + PIECE_BYTES - 1];
        for (start, end, mapping) in mappings(process) {
            let mut at = start;
            while at < end {
                let wanted = buffer.len().min((end - at) as usize);
                // A page may be unmapped or unreadable.
                let Ok(read) = memory.read_at(&mut buffer[..wanted], at) else { break };
                for (offset, piece) in buffer[..read].windows(PIECE_BYTES).enumerate() {
                    let number = u64::from_le_bytes(piece.try_into().unwrap());
                    if filter[slot(number)]
                        && let Some(name) = self.pieces.get(&number)
                    {
                        found.push(SecretMatch {
                            name: name.clone(),
                            address: at + offset as u64,
                            mapping: mapping.clone(),
                        });
                    }
                }
                scanned += read;
                if read < PIECE_BYTES || at + read as u64 >= end {
                    break;
                }
                at += (read + 1 - PIECE_BYTES) as u64;
            }
        }
        assert!(scanned > 100_000, "only {scanned} bytes of memory were seen");
        found
    }
}

/// The letter of a process's state, from proc(5).
pub(super) fn state(process: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().chars().next().unwrap()
}

fn slot(piece: u64) -> usize {
    (piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FILTER_BITS)) as usize
}

/// Writable mappings of a process: start, end, name.
fn mappings(process: u32) -> Vec<(u64, u64, String)> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let parse = |line: &str| {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let rights = fields.next()?;
        let name = fields.nth(3).unwrap_or("anonymous memory").to_string();
        let address = |text| u64::from_str_radix(text, 16).ok();
        rights.starts_with("rw").then_some((address(start)?, address(end)?, name))
    };
    maps.lines().filter_map(parse).collect()
}
