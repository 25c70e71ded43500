//! Lines of the source, from a program's line tables: DWARF 2 to 5, section "Line Number Information". The tables have the
//! names of files relative to the folder of the compiler, so nothing else of the DWARF is needed.
//!
//! A report reads the tables once, from front to back. So time and memory are limited by their size, whatever they contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

use gimli::{AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineProgramHeader, LittleEndian};
use serde::Serialize;

use crate::isa::Xlen;

/// Limits names of files and folders to this many bytes.
const NAME_BYTES: usize = 512;
/// Limits the names of files and folders in one table. Each entry takes up to 100 bytes of memory for one of the table.
const HEADER_BYTES: usize = 1 << 20;

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct SourceLine {
    /// The file as the compiler was given it, or below the folder in which it ran.
    pub file: String,
    /// The line, from 1 on.
    pub line: u64,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Which of the lines at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// That where a function begins at the address.
    Function,
    /// That of the instruction, in the innermost of inlined functions.
    Instruction,
}

/// The line tables of a program.
#[derive(Clone, Debug)]
pub(crate) struct LineTables {
    pub(crate) xlen: Xlen,
    /// Section `.debug_line`, and `.debug_line_str` with names of files.
    pub(crate) tables: Arc<[u8]>,
    pub(crate) strings: Arc<[u8]>,
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

impl LineTables {
    /// The lines of these addresses. Damaged tables have none.
    pub(crate) fn find(&self, addresses: impl Iterator<Item = u64>, of: Of) -> BTreeMap<u64, SourceLine> {
        let (mut wanted, mut found) = (addresses.collect::<BTreeSet<u64>>(), BTreeMap::new());
        let mut rest = &self.tables[..];
        while !wanted.is_empty()
            && let Some(length) = number(rest, 0)
            && let Some((table, after)) = rest.split_at_checked(length.saturating_add(4))
        {
            let version = u16::from_le_bytes([table.get(4), table.get(5)].map(|byte| byte.copied().unwrap_or(0)));
            if number(table, if version < 5 { 6 } else { 8 }).is_some_and(|bytes| bytes <= HEADER_BYTES) {
                // Lines before a defect count.
                let _ = self.read(table, of, &mut wanted, &mut found);
            }
            rest = after;
        }
        found
    }

    /// Moves addresses from `wanted` to `found`.
    fn read(
        &self,
        table: &[u8],
        of: Of,
        wanted: &mut BTreeSet<u64>,
        found: &mut BTreeMap<u64, SourceLine>,
    ) -> Result<(), gimli::Error> {
        let address_bytes = (self.xlen.bits() / 8) as u8;
        let table = DebugLine::new(table, LittleEndian).program(DebugLineOffset(0), address_bytes, None, None)?;
        let mut rows = table.rows();
        // A line extends to the next row, or to the end of its sequence.
        let mut before: Option<(u64, u64, Option<NonZeroU64>)> = None;
        while let Some((header, row)) = rows.next_row()? {
            let this = (row.address(), row.file_index(), row.line());
            let (range, (_, file, line)) = match (of, before) {
                (Of::Function, _) => (this.0..this.0.saturating_add(1), this),
                (Of::Instruction, Some(before)) => (before.0..this.0.max(before.0), before),
                (Of::Instruction, None) => (0..0, this),
            };
            before = (!row.end_sequence()).then_some(this);
            let here: Vec<u64> = wanted.range(range).copied().collect();
            if !here.is_empty()
                && let Some(line) = line.filter(|_| of == Of::Instruction || before.is_some())
                && let Some(file) = self.file(header, file)
            {
                for address in here {
                    wanted.remove(&address);
                    found.insert(address, SourceLine { file: file.clone(), line: line.get() });
                }
            }
        }
        Ok(())
    }

    /// The name of a file, with its folder if that is not the compiler's.
    fn file(&self, header: &LineProgramHeader<Bytes<'_>>, index: u64) -> Option<String> {
        let file = header.file(index)?;
        let name = self.text(file.path_name())?;
        let folder = file.directory(header).and_then(|folder| self.text(folder)).unwrap_or_default();
        let compiler = header.directory(0).and_then(|folder| self.text(folder)).unwrap_or_default();
        let below = match folder.strip_prefix(&compiler) {
            Some("") => "",
            Some(below) if !compiler.is_empty() && below.starts_with('/') => &below[1..],
            _ => &folder,
        };
        let is_whole = below.is_empty() || name.starts_with('/');
        Some(if is_whole { name } else { format!("{below}/{name}") })
    }

    fn text(&self, value: AttributeValue<Bytes<'_>>) -> Option<String> {
        let bytes = match value {
            AttributeValue::String(text) => text.slice(),
            AttributeValue::DebugLineStrRef(offset) => self.strings.get(offset.0..)?,
            _ => return None,
        };
        let text = bytes[..bytes.len().min(NAME_BYTES)].split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// The 32-bit number at an offset.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0x8000_1000;

    /// A function in line 10 of a.c, whose instructions are from lines 2 and 3 of src/b.h, inlined there. A table of DWARF 5,
    /// encoded by hand from the standard, behind an empty one.
    fn tables() -> LineTables {
        // Instructions have at least 1 byte, lines are is_stmt, line_base is -5, line_range 14, opcode_base 13.
        let opcodes = [1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
        // Paths are offsets of strings (form 0x1f): those of the compiler's folder and its src, then files with folders.
        let strings = b"/w\0/w/src\0a.c\0b.h\0";
        let folders = [1, 1, 0x1f, 2, 0, 0, 0, 0, 3, 0, 0, 0];
        let files = [2, 1, 0x1f, 2, 0x0b, 3, 10, 0, 0, 0, 0, 10, 0, 0, 0, 0, 14, 0, 0, 0, 1];
        let names = [&opcodes[..], &folders, &files].concat();
        // set_address; advance_line 9, copy; set_file 2, advance_line -8, copy; line + 1 and address + 4; advance_pc 4,
        // end_sequence.
        let rows = [0, 5, 2, 0, 0x10, 0, 0x80, 3, 9, 1, 4, 2, 3, 0x78, 1, 75, 2, 4, 0, 1, 1];
        let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
        let unit = [&[5, 0, 4, 0], &length(&names)[..], &names, &rows].concat();
        let tables = [&[0; 4], &length(&unit)[..], &unit].concat();
        LineTables { xlen: Xlen::Rv32, tables: tables.into(), strings: strings[..].into() }
    }

    #[test]
    fn lines_of_functions_and_of_instructions() {
        for (address, of, expected) in [
            (START, Of::Function, Some("a.c:10")),
            (START, Of::Instruction, Some("src/b.h:2")),
            (START + 3, Of::Instruction, Some("src/b.h:2")),
            (START + 7, Of::Instruction, Some("src/b.h:3")),
            (START + 8, Of::Instruction, None),
            (START + 8, Of::Function, None),
            (START - 1, Of::Instruction, None),
        ] {
            let line = tables().find([address].into_iter(), of).remove(&address);
            assert_eq!(line.map(|line| line.to_string()).as_deref(), expected);
        }
    }

    #[test]
    fn damaged_tables_do_not_panic() {
        let good = tables();
        let wanted = || (START - 16..START + 16).chain([0, u64::MAX]);
        let check = |tables: &[u8], strings: &[u8]| {
            for (xlen, of) in [(Xlen::Rv32, Of::Function), (Xlen::Rv64, Of::Instruction)] {
                let damaged = LineTables { xlen, tables: tables.into(), strings: strings.into() };
                assert!(damaged.find(wanted(), of).len() <= wanted().count());
            }
        };
        for at in 0..good.tables.len() {
            check(&good.tables[..at], &good.strings);
            let mut tables = good.tables.to_vec();
            for value in 0..=255 {
                tables[at] = value;
                check(&tables, &good.strings);
            }
        }
        check(&good.tables, b"");
    }
}
