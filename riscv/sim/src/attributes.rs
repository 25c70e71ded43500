//! The extensions that a program is compiled for, by `e_flags` and `.riscv.attributes`. RISC-V ELF psABI, "File Header"
//! and "Attributes".

use std::collections::BTreeMap;

use object::read::elf::{AttributesSection, FileHeader, ProgramHeader as _, SectionHeader as _};
use object::{LittleEndian, elf};

use crate::isa::Xlen;

/// `Tag_RISCV_arch`. Attributes with odd numbers are strings, the others are numbers.
const ARCH: u64 = 5;
/// A compiler writes a few hundred bytes.
const MAX_BYTES: usize = 1 << 16;

/// The names, in lower case and without versions, each with the part of the file that says so. `None` if the attributes
/// are damaged.
pub(crate) fn extensions<Header: FileHeader<Endian = LittleEndian>>(
    header: &Header,
    file: &[u8],
    xlen: Xlen,
) -> Option<BTreeMap<String, &'static str>> {
    let endian = LittleEndian;
    let mut named = BTreeMap::new();
    // A stripped file may have no sections, and an old one no such segment.
    let segments = header.program_headers(endian, file).unwrap_or_default().iter();
    let segment = segments.filter(|segment| segment.p_type(endian) == elf::PT_RISCV_ATTRIBUTES).take(1);
    let sections = header.section_headers(endian, file).unwrap_or_default().iter();
    let section = sections.filter(|section| section.sh_type(endian) == elf::SHT_RISCV_ATTRIBUTES).take(1);
    let section = section.map(|section| section.data(endian, file).ok());
    for bytes in segment.map(|segment| segment.data(endian, file).ok()).chain(section) {
        let bytes = bytes.filter(|bytes| bytes.len() < MAX_BYTES)?;
        for vendor in AttributesSection::<Header>::new(endian, bytes).ok()?.subsections().ok()? {
            let vendor = vendor.ok()?;
            for part in vendor.subsubsections() {
                let part = part.ok()?;
                if vendor.vendor() != b"riscv" || part.tag() != elf::Tag_File {
                    continue;
                }
                let mut attributes = part.attributes();
                while let Some(tag) = attributes.read_tag().ok()? {
                    match tag {
                        ARCH => architecture(attributes.read_string().ok()?, xlen, &mut named)?,
                        _ if tag % 2 != 0 => drop(attributes.read_string().ok()?),
                        _ => drop(attributes.read_integer().ok()?),
                    }
                }
            }
        }
    }
    // EF_RISCV_RVC, and the registers that hold arguments: EF_RISCV_FLOAT_ABI.
    let flags = header.e_flags(endian).0;
    let float = [None, Some("f"), Some("d"), Some("q")][(flags & 6) as usize / 2];
    let asked = (flags & 1 != 0).then_some("c").into_iter().chain(float);
    named.extend(asked.map(|name| (name.to_owned(), "e_flags")));
    Some(named)
}

/// Adds the names of an architecture, such as `rv32i2p1_m2p0_zicsr2p0` or `rv64gc_zba`.
fn architecture(text: &[u8], xlen: Xlen, named: &mut BTreeMap<String, &'static str>) -> Option<()> {
    let text = std::str::from_utf8(text).ok()?.to_ascii_lowercase();
    let digits = |text: &str| text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    for part in text.strip_prefix(&format!("rv{}", xlen.bits()))?.split('_') {
        if !part.starts_with(|first: char| first.is_ascii_lowercase())
            || !part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            return None;
        }
        let mut add = |name: &str| named.insert(name.to_owned(), ".riscv.attributes");
        if part.starts_with(['s', 'x', 'z']) {
            // The version is two numbers with a p between. A name may end with a number, too.
            let major = part[..digits(part)].strip_suffix('p').filter(|major| digits(major) < major.len());
            add(major.map_or(part, |major| &major[..digits(major)]));
            continue;
        }
        // Letters may follow each other. A p behind a digit belongs to a version.
        let mut before = ' ';
        for letter in part.chars() {
            if !(letter.is_ascii_digit() || letter == 'p' && before.is_ascii_digit()) {
                add(letter.encode_utf8(&mut [0; 4]));
            }
            before = letter;
        }
    }
    Some(())
}
