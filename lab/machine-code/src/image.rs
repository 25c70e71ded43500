//! The test's own executable: its functions, and the names of the external functions in its GOT.

use std::collections::HashMap;
use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Instruction};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};

use crate::memory::Memory;

/// A function of the executable.
pub struct Function {
    /// The name, demangled.
    pub name: String,
    /// The range of addresses.
    pub code: Range<u64>,
}

/// The running executable.
pub struct Image {
    /// In order of addresses.
    pub functions: Vec<Function>,
    /// Names of functions of the C library, by address.
    pub external: HashMap<u64, String>,
    /// All code of the executable.
    pub text: Range<u64>,
    bytes: Vec<u8>,
}

impl Image {
    /// Reads the running executable.
    pub fn of_this_process() -> Image {
        let path = std::env::current_exe().expect("a path");
        let data = std::fs::read(&path).expect("the executable");
        let file = object::File::parse(&*data).expect("an ELF file");
        // Addresses are relative to the mapping of the file's first byte.
        let maps = std::fs::read_to_string("/proc/self/maps").expect("/proc, as Linux has it");
        let name = path.to_str().expect("a path of text");
        let first = maps.lines().find(|line| line.ends_with(name)).expect("the executable's mapping");
        let base = u64::from_str_radix(first.split('-').next().expect("an address"), 16).expect("hexadecimal");

        let text = file.section_by_name(".text").expect("code");
        let bytes = text.data().expect("code").to_vec();
        let text = base + text.address()..base + text.address() + text.size();
        let mut functions: Vec<Function> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .map(|symbol| Function {
                name: format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or("?"))),
                code: base + symbol.address()..base + symbol.address() + symbol.size(),
            })
            .filter(|function| text.contains(&function.code.start))
            .collect();
        functions.sort_by_key(|function| function.code.start);
        functions.dedup_by_key(|function| function.code.start);

        let mut external = HashMap::new();
        let mut memory = Memory::new();
        let dynamic: HashMap<_, _> =
            file.dynamic_symbols().map(|symbol| (symbol.index(), symbol.name().unwrap_or("?"))).collect();
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            if let RelocationTarget::Symbol(index) = relocation.target()
                && let Ok((value, _)) = memory.read_number(base + address, 8)
            {
                external.insert(value, dynamic[&index].to_owned());
            }
        }
        Image { functions, external, text, bytes }
    }

    /// Code at an address of this process, without functions.
    pub fn of_code(address: u64, bytes: Vec<u8>) -> Image {
        let text = address..address + bytes.len() as u64;
        Image { functions: Vec::new(), external: HashMap::new(), text, bytes }
    }

    /// The function that an address is in.
    pub fn function(&self, address: u64) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.code.start <= address);
        self.functions[..after].last().filter(|function| function.code.contains(&address))
    }

    /// The function's name and the offset of an address in it.
    pub fn location(&self, address: u64) -> String {
        match self.function(address) {
            Some(function) => format!("{} + {:#x}", function.name, address - function.code.start),
            None => format!("{address:#x}"),
        }
    }

    /// The instruction at an address.
    pub fn decode(&self, address: u64) -> Option<Instruction> {
        self.text.contains(&address).then(|| self.decoder(address..self.text.end).decode())
    }

    /// All instructions of a function.
    pub fn instructions(&self, function: &Function) -> Vec<Instruction> {
        self.decoder(function.code.clone()).iter().collect()
    }

    fn decoder(&self, code: Range<u64>) -> Decoder<'_> {
        let (start, end) = ((code.start - self.text.start) as usize, (code.end - self.text.start) as usize);
        Decoder::with_ip(64, &self.bytes[start..end], code.start, DecoderOptions::NONE)
    }
}
