//! Where secrets showed: one finding for each place and reason.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use super::secret::Labels;
use crate::{elf::Image, hart::Hart};

/// How a secret shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Leak {
    /// It decides on a branch.
    Branch,
    /// It is part of the address of a load or store.
    Address,
    /// It is part of where a jump, call or return goes.
    Jump,
    /// It is divided, or divides.
    Division,
    /// It is multiplied, on a machine whose multiplier takes its time by the operands.
    Multiplication,
    /// It is how far something is shifted, on a machine that takes its time by that.
    Shift,
    /// It is an operand of floating-point arithmetic.
    Float,
    /// It is written to a control and status register.
    Csr,
    /// It leaves the machine: it is stored to a device, given to the host, or read by the host from memory.
    Output,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leak::Branch => "branch on a secret",
            Leak::Address => "address that depends on a secret",
            Leak::Jump => "jump to a secret address",
            Leak::Division => "division with a secret operand",
            Leak::Multiplication => "multiplication with a secret operand",
            Leak::Shift => "shift by a secret amount",
            Leak::Float => "floating-point arithmetic on a secret",
            Leak::Csr => "secret written to a CSR",
            Leak::Output => "secret passed to a device or the host",
        })
    }
}

/// A place where secrets showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How.
    pub kind: Leak,
    /// The address of the instruction.
    pub address: u64,
    /// The function that it is in, where the program has symbols.
    pub function: Option<String>,
    /// How far it is in that function.
    pub offset: u64,
    /// How often.
    pub count: u64,
    /// Which secrets.
    pub secrets: Vec<String>,
    /// The hart that it happened on first.
    pub hart: usize,
    /// Instructions that this hart had completed then.
    pub instructions: u64,
}

/// Bytes that were followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretReport {
    /// What findings call them.
    pub name: String,
    /// The first byte; of marks of one name, of the last one.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// Loads of what is secret by them. Of what is never read nothing was learnt.
    pub reads: u64,
}

/// What following secrets came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretsReport {
    /// What was secret.
    pub marked: Vec<SecretReport>,
    /// Where it showed, by address.
    pub findings: Vec<Finding>,
    /// How often it showed in places beyond the first 65536, which are not told one by one.
    pub left_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    count: u64,
    labels: u16,
    hart: usize,
    instructions: u64,
}

/// A program that writes itself anew could have places without end.
const MAX_PLACES: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Findings {
    places: BTreeMap<(u64, Leak), Found>,
    left_out: u64,
}

impl Findings {
    /// After the instruction at `pc`.
    pub(super) fn add(&mut self, pc: u64, leak: Leak, labels: u16, hart: &Hart) {
        let (hart, instructions) = (hart.id(), hart.completed().saturating_sub(1));
        if self.places.len() == MAX_PLACES && !self.places.contains_key(&(pc, leak)) {
            self.left_out += 1;
            return;
        }
        let found = self.places.entry((pc, leak)).or_insert(Found { count: 0, labels: 0, hart, instructions });
        found.count += 1;
        found.labels |= labels;
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn report(&self, image: &Image, labels: &Labels) -> Vec<Finding> {
        let report = |(&(address, kind), found): (&(u64, Leak), &Found)| {
            let (function, offset) = image.function_of(address).unzip();
            Finding {
                kind,
                address,
                function,
                offset: offset.unwrap_or(0),
                count: found.count,
                secrets: labels.names(found.labels),
                hart: found.hart,
                instructions: found.instructions,
            }
        };
        self.places.iter().map(report).collect()
    }
}
