//! Findings: where a run revealed secrets, one for each instruction and kind of leak.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::secret::Labels;
use crate::elf::Image;
use crate::hart::Hart;
use crate::lines::{Of, SourceLine};

/// How a secret leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Leak {
    /// A branch depends on it.
    Branch,
    /// The address of a load or store depends on it.
    Address,
    /// The target of a jump, call or return depends on it.
    Jump,
    /// It is the dividend or divisor of a division.
    Division,
    /// It is a factor, on a machine whose multiplication time depends on the operands.
    Multiplication,
    /// It is a shift amount, on a machine whose shift time depends on the amount.
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

/// An instruction that leaked secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of leak.
    pub kind: Leak,
    /// The address of the instruction.
    pub address: u64,
    /// The function that contains it, if the program has symbols.
    pub function: Option<String>,
    /// Offset in that function.
    pub offset: u64,
    /// The line of the source, if the program has debug information.
    #[serde(flatten)]
    pub source: Option<SourceLine>,
    /// Number of times that it leaked.
    pub count: u64,
    /// Names of the secrets.
    pub secrets: Vec<String>,
    /// The hart on which it first happened.
    pub hart: usize,
    /// Instructions that this hart had completed at that time.
    pub instructions: u64,
}

/// Secret bytes that were followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretReport {
    /// The name that findings use.
    pub name: String,
    /// Address of the first byte. For several marks of the same name, that of the last mark.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Number of loads of data that depend on them. If it is 0, the run did not test this secret.
    pub reads: u64,
}

/// The results about secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretsReport {
    /// The secrets that were followed.
    pub marked: Vec<SecretReport>,
    /// The findings, by address.
    pub findings: Vec<Finding>,
    /// Number of leaks in instructions beyond the first 65536 findings, which are only counted.
    pub left_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct LeakCount {
    count: u64,
    labels: u16,
    hart: usize,
    instructions: u64,
}

/// The most findings. A program that rewrites itself could otherwise have any number.
const MAX_FINDINGS: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Findings {
    places: BTreeMap<(u64, Leak), LeakCount>,
    left_out: u64,
}

impl Findings {
    /// Adds a leak in the instruction at `pc`, after its execution.
    pub(super) fn add(&mut self, pc: u64, leak: Leak, labels: u16, hart: &Hart) {
        self.add_at(pc, leak, labels, hart.id(), hart.completed().saturating_sub(1));
    }

    /// Adds a leak in the instruction at `pc`, before which the hart had completed this many.
    pub(super) fn add_at(&mut self, pc: u64, leak: Leak, labels: u16, hart: usize, instructions: u64) {
        if self.places.len() == MAX_FINDINGS && !self.places.contains_key(&(pc, leak)) {
            self.left_out += 1;
            return;
        }
        let found = self.places.entry((pc, leak)).or_insert(LeakCount { count: 0, labels: 0, hart, instructions });
        found.count += 1;
        found.labels |= labels;
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn report(&self, image: &Image, labels: &Labels) -> Vec<Finding> {
        let lines = image.lines.find(self.places.keys().map(|(address, _)| *address), Of::Instruction);
        let report = |(&(address, kind), found): (&(u64, Leak), &LeakCount)| {
            let (function, offset) = image.function_of(address).unzip();
            Finding {
                kind,
                address,
                function,
                offset: offset.unwrap_or(0),
                source: lines.get(&address).cloned(),
                count: found.count,
                secrets: labels.names(found.labels),
                hart: found.hart,
                instructions: found.instructions,
            }
        };
        self.places.iter().map(report).collect()
    }
}
