//! Programs: ELF executables for RISC-V, little-endian, linked to fixed addresses. System V gABI, and the RISC-V ELF psABI.
//!
//! The bytes of a segment are loaded at its physical address, as a flash programmer does. The range at its virtual
//! address, where the program expects the segment after its start code has run, must be memory too.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

use object::LittleEndian;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _, Sym as _};

use crate::attributes;
use crate::error::{Error, ErrorKind};
use crate::isa::Xlen;
use crate::lines::LineTables;

/// A program.
#[derive(Clone, Debug)]
pub struct Image {
    /// Width of the registers that the program is built for.
    pub xlen: Xlen,
    /// The address at which every hart starts.
    pub entry: u64,
    /// The segments to load.
    pub segments: Vec<Segment>,
    /// Address of the symbol `tohost`, where the host listens.
    pub tohost: Option<u64>,
    /// Address of the symbol `fromhost`, where the host answers.
    pub fromhost: Option<u64>,
    /// The extensions that the program is compiled for, and which part of the file says so.
    pub(crate) extensions: BTreeMap<String, &'static str>,
    symbols: Vec<Symbol>,
    /// Symbols that are not functions.
    data: Vec<Symbol>,
    region_names: BTreeMap<u16, String>,
    /// Lines of the source, as far as the program has debug information.
    pub(crate) lines: LineTables,
}

/// A loadable segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The address at which its bytes are loaded.
    pub load_address: u64,
    /// The address at which the program expects it.
    pub address: u64,
    /// Bytes that it takes at `address`. Those beyond `bytes` are zero.
    pub memory_bytes: u64,
    /// Its contents in the file.
    pub bytes: Vec<u8>,
    /// Whether it may be executed.
    pub executable: bool,
    /// Bytes at its beginning that belong to no section: the headers of the file, which `ld` puts into the first
    /// segment. They are left out if there is no memory for the whole segment.
    pub header_bytes: u64,
}

impl Segment {
    /// The segment without the headers of the file.
    pub(crate) fn without_headers(&self) -> Segment {
        let bytes = self.header_bytes;
        Segment {
            load_address: self.load_address.wrapping_add(bytes),
            address: self.address.wrapping_add(bytes),
            memory_bytes: self.memory_bytes - bytes,
            bytes: self.bytes[bytes as usize..].to_vec(),
            header_bytes: 0,
            executable: self.executable,
        }
    }
}

/// A name for an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The address.
    pub address: u64,
    /// Size in bytes, or 0 if the program gives none.
    pub size: u64,
    /// The name as in the file, cut off after 512 bytes.
    pub name: String,
    /// Whether it is marked as a function.
    pub is_function: bool,
}

/// Limits names to this many bytes.
const NAME_BYTES: usize = 512;
/// Limits a section of debug information, which a report reads, to this many bytes.
const DEBUG_BYTES: usize = 64 << 20;
/// All names together may be this many times as long as the file.
const NAMES_OVERLAP: usize = 2;

impl Symbol {
    /// The name as in the program's source.
    #[must_use]
    pub fn demangled(&self) -> String {
        let mut name = Beginning(String::new());
        // The rest of a long name, which may be a million times as long as in the file, is not made.
        let _ = write!(name, "{:#}", rustc_demangle::demangle(&self.name));
        name.0
    }
}

/// The first bytes of a text. An error ends what is written beyond them.
struct Beginning(String);

impl fmt::Write for Beginning {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = NAME_BYTES - self.0.len();
        if part.len() <= room {
            self.0.push_str(part);
            return Ok(());
        }
        let end = (0..=room).rev().find(|at| part.is_char_boundary(*at)).unwrap_or(0);
        self.0.push_str(&part[..end]);
        Err(fmt::Error)
    }
}

impl Image {
    /// Reads an ELF file.
    pub fn parse(file: &[u8]) -> Result<Image, Error> {
        const CLASS: usize = 4;
        const DATA: usize = 5;
        if !file.starts_with(&elf::ELFMAG) {
            return Err(ErrorKind::NotElf.into());
        }
        if file.get(DATA) == Some(&elf::ELFDATA2MSB.0) {
            return Err(ErrorKind::NotRiscv.into());
        }
        let damaged = |_| Error::new(ErrorKind::DamagedElf("file header"));
        match file.get(CLASS).copied().map(elf::FileClass) {
            Some(elf::ELFCLASS32) => read(FileHeader32::parse(file).map_err(damaged)?, file, Xlen::Rv32),
            Some(elf::ELFCLASS64) => read(FileHeader64::parse(file).map_err(damaged)?, file, Xlen::Rv64),
            _ => Err(ErrorKind::DamagedElf("file header").into()),
        }
    }

    /// The function (or else the label) that contains an address, and the offset in it. Rust names are demangled.
    #[must_use]
    pub fn function_of(&self, address: u64) -> Option<(String, u64)> {
        let symbol = self.symbols.get(self.function_at(address).1)?;
        Some((symbol.demangled(), address - symbol.address))
    }

    /// Addresses of the same function around an address, and its index in [`Image::symbols`]: their number without one.
    #[cold]
    pub(crate) fn function_at(&self, address: u64) -> (Range<u64>, usize) {
        let behind = self.symbols.partition_point(|symbol| symbol.address <= address);
        let mut range = 0..self.symbols.get(behind).map_or(u64::MAX, |next| next.address);
        // Behind the end of an inner symbol, the outer one continues.
        for (number, symbol) in self.symbols[..behind].iter().enumerate().rev() {
            // A symbol with a size ends there. One without a size extends to the next symbol.
            let is_open = symbol.size == 0 && number + 1 == behind;
            let end = if is_open { range.end } else { symbol.address.saturating_add(symbol.size) };
            if address < end {
                return (range.start.max(symbol.address)..range.end.min(end), number);
            }
            range.start = range.start.max(end);
        }
        (range, self.symbols.len())
    }

    /// The name of the function with this index in [`Image::symbols`], as in the program's source.
    pub(crate) fn name(&self, function: usize) -> String {
        self.symbols.get(function).map_or_else(|| "no function".to_owned(), Symbol::demangled)
    }

    /// The name of a region, or `region N` if the program gives none.
    #[must_use]
    pub fn region_name(&self, number: u16) -> String {
        self.region_names.get(&number).cloned().unwrap_or_else(|| format!("region {number}"))
    }

    /// The data symbol with this name: the name in the file, the demangled name, or the last part of that (`KEY` for
    /// `program::KEY`). `None` if several symbols match.
    #[must_use]
    pub fn data(&self, name: &str) -> Option<&Symbol> {
        let only = |is_called: &dyn Fn(&Symbol) -> bool| {
            let mut found = self.data.iter().filter(|symbol| is_called(symbol));
            match (found.next(), found.next()) {
                (Some(symbol), None) => Some(symbol),
                _ => None,
            }
        };
        let ends = |symbol: &Symbol| {
            symbol.demangled().strip_suffix(name).is_some_and(|path| path.is_empty() || path.ends_with("::"))
        };
        only(&|symbol| symbol.name == name).or_else(|| only(&ends))
    }

    /// The data symbol that contains an address. Symbols without a size contain none.
    #[must_use]
    pub fn data_at(&self, address: u64) -> Option<&Symbol> {
        let inside = |symbol: &&Symbol| address.checked_sub(symbol.address).is_some_and(|offset| offset < symbol.size);
        self.data.iter().find(inside)
    }

    /// The symbols of code, sorted by address, one for each address, without labels inside functions.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }
}

/// Names of regions, from symbols `__region_<number>_<name>` of any value.
fn region_names(symbols: &[Symbol]) -> BTreeMap<u16, String> {
    let number_and_name = |symbol: &Symbol| {
        let (number, name) = symbol.name.strip_prefix("__region_")?.split_once('_')?;
        Some((number.parse().ok()?, name.to_owned()))
    };
    symbols.iter().filter_map(number_and_name).collect()
}

fn read<Header: FileHeader<Endian = LittleEndian>>(header: &Header, file: &[u8], xlen: Xlen) -> Result<Image, Error> {
    let endian = LittleEndian;
    if header.e_machine(endian) != elf::EM_RISCV {
        return Err(ErrorKind::NotRiscv.into());
    }
    if header.e_type(endian) != elf::ET_EXEC {
        return Err(ErrorKind::NotExecutable.into());
    }
    let headers =
        header.program_headers(endian, file).map_err(|_| Error::new(ErrorKind::DamagedElf("program headers")))?;
    let first_section = first_section(header, file);
    let mut segments = Vec::new();
    let mut bytes_left = file.len();
    for header in headers.iter().filter(|header| header.p_type(endian) == elf::PT_LOAD) {
        let segment = Segment {
            load_address: header.p_paddr(endian).into(),
            address: header.p_vaddr(endian).into(),
            memory_bytes: header.p_memsz(endian).into(),
            bytes: header
                .data(endian, file)
                .map_err(|()| Error::new(ErrorKind::DamagedElf("a segment extends beyond the end of the file")))
                .and_then(|bytes| copied(bytes, &mut bytes_left, "segments share bytes of the file"))?,
            // Linker scripts that list their own segments often leave out the flags. All flags clear then means
            // nothing.
            executable: matches!(header.p_flags(endian).0, flags if flags == 0 || flags & elf::PF_X.0 != 0),
            header_bytes: match header.p_offset(endian).into() {
                0 => first_section.map_or(0, |first| first.min(header.p_filesz(endian).into())),
                _ => 0,
            },
        };
        if segment.memory_bytes < segment.bytes.len() as u64 {
            return Err(ErrorKind::DamagedElf("a segment is larger in the file than in memory").into());
        }
        if segment.memory_bytes > 0 {
            check_range(segment.address, segment.memory_bytes, xlen)?;
            check_range(segment.load_address, segment.bytes.len() as u64, xlen)?;
            segments.push(segment);
        }
    }
    if segments.is_empty() {
        return Err(ErrorKind::NoSegments.into());
    }
    // Addresses at which the program expects segments may overlap: overlays, and sections that are not loaded.
    check_overlap(segments.iter().map(|segment| (segment.load_address, segment.bytes.len() as u64)).collect())?;
    let entry: u64 = header.e_entry(endian).into();
    let holds_entry = |segment: &Segment| {
        segment.executable && entry.checked_sub(segment.load_address).is_some_and(|at| at < segment.bytes.len() as u64)
    };
    if !segments.iter().any(holds_entry) {
        return Err(ErrorKind::EntryOutside(entry).into());
    }
    if !entry.is_multiple_of(2) {
        return Err(ErrorKind::EntryMisaligned(entry, 2).into());
    }
    let named = symbols(header, file)?;
    let address_of = |name: &str| named.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address);
    let (tohost, fromhost) = (address_of("tohost"), address_of("fromhost"));
    let region_names = region_names(&named);
    let (symbols, data) = code_and_data(named, &segments);
    let extensions = attributes::extensions(header, file, xlen).ok_or(ErrorKind::DamagedElf(".riscv.attributes"))?;
    let lines = LineTables {
        xlen,
        tables: debug_section(header, file, b".debug_line").unwrap_or_default(),
        strings: debug_section(header, file, b".debug_line_str").unwrap_or_default(),
    };
    Ok(Image { xlen, entry, segments, tohost, fromhost, extensions, symbols, data, region_names, lines })
}

/// A copy of bytes of the file. Each takes from `left`: ranges of a file may overlap, so all copies together could be much larger than it.
fn copied(bytes: &[u8], left: &mut usize, otherwise: &'static str) -> Result<Vec<u8>, Error> {
    *left = left.checked_sub(bytes.len()).ok_or(ErrorKind::DamagedElf(otherwise))?;
    Ok(bytes.to_vec())
}

/// A copy of a section of debug information. `None` if it is absent, damaged, compressed or too large.
fn debug_section<Header: FileHeader<Endian = LittleEndian>>(
    header: &Header,
    file: &[u8],
    name: &[u8],
) -> Option<Arc<[u8]>> {
    let endian = LittleEndian;
    let (_, section) = header.sections(endian, file).ok()?.section_by_name(endian, name)?;
    let bytes = section.data(endian, file).ok()?;
    let is_compressed = section.sh_flags(endian).0 & elf::SHF_COMPRESSED.0 != 0;
    (!is_compressed && bytes.len() <= DEBUG_BYTES).then(|| bytes.into())
}

/// The file offset of the first loaded section, or `None` without such a section or if sections cannot be read.
fn first_section<Header: FileHeader<Endian = LittleEndian>>(header: &Header, file: &[u8]) -> Option<u64> {
    let endian = LittleEndian;
    let sections = header.section_headers(endian, file).ok()?;
    let loaded = |section: &&Header::SectionHeader| {
        let flags = section.sh_flags(endian).0;
        section.sh_type(endian) != elf::SHT_NOBITS && flags & elf::SHF_ALLOC.0 != 0
    };
    sections.iter().filter(loaded).map(|section| section.sh_offset(endian).into()).min()
}

fn check_range(start: u64, bytes: u64, xlen: Xlen) -> Result<(), Error> {
    match start.checked_add(bytes.saturating_sub(1)) {
        Some(last) if last <= xlen.address_mask() => Ok(()),
        _ => {
            let memory = format!("within 0x0 to {:#x}", xlen.address_mask());
            Err(ErrorKind::SegmentOutside { start, end: start.saturating_add(bytes), memory }.into())
        }
    }
}

fn check_overlap(mut ranges: Vec<(u64, u64)>) -> Result<(), Error> {
    ranges.retain(|(_, bytes)| *bytes > 0);
    ranges.sort_unstable();
    match ranges.windows(2).find(|pair| pair[1].0 - pair[0].0 < pair[0].1) {
        Some(pair) => Err(ErrorKind::SegmentsOverlap(pair[1].0).into()),
        None => Ok(()),
    }
}

/// All symbols that have a name and an address. Empty if the program has no symbol table.
fn symbols<Header: FileHeader<Endian = LittleEndian>>(header: &Header, file: &[u8]) -> Result<Vec<Symbol>, Error> {
    let endian = LittleEndian;
    let damaged = |_| Error::new(ErrorKind::DamagedElf("symbol table"));
    let sections = header.sections(endian, file).map_err(|_| Error::new(ErrorKind::DamagedElf("section headers")))?;
    let table = sections.symbols(endian, file, elf::SHT_SYMTAB).map_err(damaged)?;
    let mut symbols = Vec::new();
    // A name may be the end of another, as linkers store them.
    let mut bytes_left = NAMES_OVERLAP * file.len();
    for symbol in table.iter() {
        let kind = symbol.st_type();
        let is_place = kind == elf::STT_FUNC || kind == elf::STT_NOTYPE || kind == elf::STT_OBJECT;
        if !is_place || symbol.is_undefined(endian) {
            continue;
        }
        let name = symbol.name(endian, table.strings()).map_err(damaged)?;
        // Names that begin with $x, $d or .L mark code, data and labels inside functions.
        if name.is_empty() || name.starts_with(b"$") || name.starts_with(b".L") {
            continue;
        }
        let name = copied(&name[..name.len().min(NAME_BYTES)], &mut bytes_left, "symbols share their names")?;
        symbols.push(Symbol {
            address: symbol.st_value(endian).into(),
            size: symbol.st_size(endian).into(),
            name: String::from_utf8_lossy(&name).into_owned(),
            is_function: kind == elf::STT_FUNC,
        });
    }
    Ok(symbols)
}

/// The symbols in executable segments, sorted, one for each address (functions before labels) and without labels inside
/// functions, and all symbols that are not functions.
fn code_and_data(mut symbols: Vec<Symbol>, segments: &[Segment]) -> (Vec<Symbol>, Vec<Symbol>) {
    let (code, all) = (ranges(segments, |segment| segment.executable), ranges(segments, |_| true));
    let within = |ranges: &[Range<u64>], symbol: &Symbol| {
        let end = ranges.partition_point(|range| range.start <= symbol.address);
        ranges[..end].last().is_some_and(|range| range.contains(&symbol.address))
    };
    symbols.retain(|symbol| within(&all, symbol));
    let data = symbols.iter().filter(|symbol| !symbol.is_function).cloned().collect();
    symbols.retain(|symbol| within(&code, symbol));
    symbols.sort_by(|a, b| (a.address, !a.is_function, &a.name).cmp(&(b.address, !b.is_function, &b.name)));
    symbols.dedup_by_key(|symbol| symbol.address);
    let mut end = 0;
    symbols.retain(|symbol| {
        end = end.max(if symbol.is_function { symbol.address.saturating_add(symbol.size) } else { 0 });
        symbol.is_function || symbol.address >= end
    });
    (symbols, data)
}

/// The addresses at which the program expects these segments, sorted, with those that overlap as one range.
fn ranges(segments: &[Segment], is_wanted: fn(&Segment) -> bool) -> Vec<Range<u64>> {
    let range = |segment: &Segment| segment.address..segment.address.saturating_add(segment.memory_bytes);
    let mut sorted: Vec<_> = segments.iter().filter(|segment| is_wanted(segment)).map(range).collect();
    sorted.sort_unstable_by_key(|range| range.start);
    sorted.dedup_by(|next, range| {
        let joins = next.start <= range.end;
        range.end = if joins { range.end.max(next.end) } else { range.end };
        joins
    });
    sorted
}
