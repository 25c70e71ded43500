//! Names the extension of an instruction that the machine does not have. Encodings: the RISC-V Instruction Set Manual,
//! volumes I and II.

use super::decode::decode;
use super::op::Opcode;
use crate::isa::{Isa, Xlen};

/// The name of the extension that an illegal instruction belongs to, if it is known.
pub(super) fn of(bits: u32, isa: &Isa) -> Option<&'static str> {
    let other = include_str!("extensions.txt").lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (mask, rest) = line.split_once(' ')?;
        let (value, name) = rest.split_once(' ')?;
        let [mask, value] = [mask, value].map(|number| u32::from_str_radix(number, 16).unwrap_or(0));
        (bits & mask == value).then_some(name)
    });
    let is_of = |isa: Isa| decode(bits, &isa).code != Opcode::Illegal;
    let supported = Isa::NAMES.iter().copied().find(|name| {
        let mut more = Isa { f: isa.f || *name == "D", c: isa.c || *name == "Zcb", ..*isa };
        more.add(&name.to_ascii_lowercase()) && is_of(more)
    });
    other.or(supported).or_else(|| is_of(Isa::full(Xlen::Rv64)).then_some("RV64"))
}
