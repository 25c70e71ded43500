//! Programs: ELF executables for RISC-V, little-endian, linked to fixed addresses. System V gABI, and the RISC-V ELF psABI.
//!
//! The bytes of a segment are loaded at its physical address, as a flash programmer would; its virtual address, where the
//! program expects it once its start code ran, has to be memory too.

use std::collections::BTreeMap;

use object::{
    LittleEndian,
    elf::{self, FileHeader32, FileHeader64},
    read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _, Sym as _},
};

use crate::{
    error::{Error, ErrorKind},
    isa::Xlen,
};

/// A program.
#[derive(Clone, Debug)]
pub struct Image {
    /// The registers that it needs.
    pub xlen: Xlen,
    /// Where every hart starts.
    pub entry: u64,
    /// What is loaded.
    pub segments: Vec<Segment>,
    /// Where the host listens (symbol `tohost`).
    pub tohost: Option<u64>,
    /// Where the host answers (symbol `fromhost`).
    pub fromhost: Option<u64>,
    symbols: Vec<Symbol>,
    /// Names of all that is not marked as a function.
    data: Vec<Symbol>,
    region_names: BTreeMap<u16, String>,
}

/// A loadable segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Where its bytes are loaded.
    pub load_address: u64,
    /// Where the program expects it.
    pub address: u64,
    /// Bytes that it takes there; those beyond `bytes` are zero.
    pub memory_bytes: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it may be executed.
    pub executable: bool,
    /// Bytes at its beginning that no section claims: the headers of the file, which `ld` puts into the first segment. Where
    /// there is no memory for the whole segment, these are left out.
    pub header_bytes: u64,
}

impl Segment {
    /// The same without the headers of the file.
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

/// A name of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The address.
    pub address: u64,
    /// Bytes, 0 where the program does not say.
    pub size: u64,
    /// The name, as it is in the file, at most 512 bytes of it.
    pub name: String,
    /// Whether it is marked as a function.
    pub is_function: bool,
}

/// Strings of a file may overlap, so that all names together could be much longer than the file.
const NAME_BYTES: usize = 512;

impl Symbol {
    /// The name as the program's author wrote it.
    #[must_use]
    pub fn demangled(&self) -> String {
        let mut name = format!("{:#}", rustc_demangle::demangle(&self.name));
        while name.len() > NAME_BYTES {
            name.pop();
        }
        name
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

    /// The function, or else the label, that an address is in, and how far. Names of Rust are demangled.
    #[must_use]
    pub fn function_of(&self, address: u64) -> Option<(String, u64)> {
        let end = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols[..end].last()?;
        let offset = address - symbol.address;
        // Beyond what has an end, there is no name; a label without one reaches to the next.
        (symbol.size == 0 || offset < symbol.size).then(|| (symbol.demangled(), offset))
    }

    /// What the program calls a region: its name, or its number in words.
    #[must_use]
    pub fn region_name(&self, number: u16) -> String {
        self.region_names.get(&number).cloned().unwrap_or_else(|| format!("region {number}"))
    }

    /// The data of that name: as it is in the file, as its author wrote it, or as the last part of that (`KEY` for
    /// `program::KEY`). None where several have it.
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

    /// The data that an address is in, if they say how long they are.
    #[must_use]
    pub fn data_at(&self, address: u64) -> Option<&Symbol> {
        let inside = |symbol: &&Symbol| address.checked_sub(symbol.address).is_some_and(|offset| offset < symbol.size);
        self.data.iter().find(inside)
    }

    /// All symbols of code, in the order of their addresses, one for each address.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }
}

/// Names that the program gives to its regions: a symbol `__region_<number>_<name>`, whatever its value.
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
    for header in headers.iter().filter(|header| header.p_type(endian) == elf::PT_LOAD) {
        let segment = Segment {
            load_address: header.p_paddr(endian).into(),
            address: header.p_vaddr(endian).into(),
            memory_bytes: header.p_memsz(endian).into(),
            bytes: header
                .data(endian, file)
                .map_err(|()| Error::new(ErrorKind::DamagedElf("a segment extends beyond the end of the file")))?
                .to_vec(),
            // Linker scripts with segments of their own often leave out the flags, which then say nothing.
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
    check_overlap(segments.iter().map(|segment| (segment.address, segment.memory_bytes)).collect())?;
    check_overlap(segments.iter().map(|segment| (segment.load_address, segment.bytes.len() as u64)).collect())?;
    let entry: u64 = header.e_entry(endian).into();
    let holds_entry = |segment: &Segment| {
        segment.executable && entry.checked_sub(segment.load_address).is_some_and(|at| at < segment.bytes.len() as u64)
    };
    if !segments.iter().any(holds_entry) {
        return Err(ErrorKind::EntryOutside(entry).into());
    }
    let named = symbols(header, file)?;
    let address_of = |name: &str| named.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address);
    let (tohost, fromhost) = (address_of("tohost"), address_of("fromhost"));
    let region_names = region_names(&named);
    let (symbols, data) = code_and_data(named, &segments);
    Ok(Image { xlen, entry, segments, tohost, fromhost, symbols, data, region_names })
}

/// Where in the file the first section is that is loaded. A file whose sections cannot be read has none.
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

/// Every symbol that has a name and an address. A program without a table of symbols is as good as any other.
fn symbols<Header: FileHeader<Endian = LittleEndian>>(header: &Header, file: &[u8]) -> Result<Vec<Symbol>, Error> {
    let endian = LittleEndian;
    let damaged = |_| Error::new(ErrorKind::DamagedElf("symbol table"));
    let sections = header.sections(endian, file).map_err(|_| Error::new(ErrorKind::DamagedElf("section headers")))?;
    let table = sections.symbols(endian, file, elf::SHT_SYMTAB).map_err(damaged)?;
    let mut symbols = Vec::new();
    for symbol in table.iter() {
        let kind = symbol.st_type();
        let is_place = kind == elf::STT_FUNC || kind == elf::STT_NOTYPE || kind == elf::STT_OBJECT;
        if !is_place || symbol.is_undefined(endian) {
            continue;
        }
        let name = symbol.name(endian, table.strings()).map_err(damaged)?;
        // $x, $d and .L mark code, data and places inside of functions.
        if name.is_empty() || name.starts_with(b"$") || name.starts_with(b".L") {
            continue;
        }
        symbols.push(Symbol {
            address: symbol.st_value(endian).into(),
            size: symbol.st_size(endian).into(),
            name: String::from_utf8_lossy(&name[..name.len().min(NAME_BYTES)]).into_owned(),
            is_function: kind == elf::STT_FUNC,
        });
    }
    Ok(symbols)
}

/// Those in executable segments, sorted, one an address: a function rather than a label; and all that are no functions.
fn code_and_data(mut symbols: Vec<Symbol>, segments: &[Segment]) -> (Vec<Symbol>, Vec<Symbol>) {
    let is_in = |symbol: &Symbol, segment: &Segment| {
        symbol.address.checked_sub(segment.address).is_some_and(|offset| offset < segment.memory_bytes)
    };
    symbols.retain(|symbol| segments.iter().any(|segment| is_in(symbol, segment)));
    let data = symbols.iter().filter(|symbol| !symbol.is_function).cloned().collect();
    symbols.retain(|symbol| segments.iter().any(|segment| segment.executable && is_in(symbol, segment)));
    symbols.sort_by(|a, b| (a.address, !a.is_function, &a.name).cmp(&(b.address, !b.is_function, &b.name)));
    symbols.dedup_by_key(|symbol| symbol.address);
    (symbols, data)
}
