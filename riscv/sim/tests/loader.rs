//! Invalid program files: the error for each, and no panics.

use crate::common::{BASE, BOTH, elf, elf_with_data, words};
use tress_sim::machine::Region;
use tress_sim::{Error, ErrorKind, Image, Machine, Model, Simulation, System, Xlen};

fn file(xlen: Xlen) -> Vec<u8> {
    elf(xlen, BASE, &words(&[0x13, 0x13, 0x13]), &[("start", BASE), ("after", BASE + 8)])
}

fn kind(result: Result<Image, Error>) -> ErrorKind {
    result.expect_err("is refused").kind
}

fn load(image: Image, machine: &Machine) -> Result<System, Error> {
    System::new(machine, image)
}

/// Offset and size of a field in the program header: (RV32, RV64).
fn header_field(xlen: Xlen, name: &str) -> (usize, usize) {
    let wide = xlen == Xlen::Rv64;
    let start = if wide { 64 } else { 52 };
    let at = match (name, wide) {
        ("offset", false) => 4,
        ("offset", true) => 8,
        ("address", false) => 8,
        ("address", true) => 16,
        ("load address", false) => 12,
        ("load address", true) => 24,
        ("file bytes", false) => 16,
        ("file bytes", true) => 32,
        ("memory bytes", false) => 20,
        ("memory bytes", true) => 40,
        (other, _) => panic!("{other}"),
    };
    (start + at, if wide { 8 } else { 4 })
}

fn with_field(xlen: Xlen, name: &str, value: u64) -> Vec<u8> {
    let mut file = file(xlen);
    set_field(&mut file, xlen, name, value);
    file
}

fn set_field(file: &mut [u8], xlen: Xlen, name: &str, value: u64) {
    let (at, bytes) = header_field(xlen, name);
    file[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
}

#[test]
fn parts_of_a_program() {
    for xlen in BOTH {
        let image = Image::parse(&file(xlen)).unwrap();
        assert_eq!((image.xlen, image.entry), (xlen, BASE));
        assert_eq!(image.segments[0].bytes.len(), 12);
        assert_eq!(image.function_of(BASE + 6), Some(("start".into(), 6)));
        assert_eq!(image.function_of(BASE + 8), Some(("after".into(), 0)));
        assert_eq!(image.function_of(BASE - 1), None);
        let system = load(image, &Machine::generic()).unwrap();
        assert_eq!(system.bus.memory.read(BASE), Some([0x13, 0, 0, 0]));
    }
}

/// A function with a size does not extend past its end.
#[test]
fn functions_end() {
    let mut file = file(Xlen::Rv64);
    // The size of the second symbol, in the table behind the three instructions.
    file[0x1000 + 12 + 24 + 16] = 6;
    let image = Image::parse(&file).unwrap();
    assert_eq!(image.function_of(BASE + 5), Some(("start".into(), 5)));
    assert_eq!(image.function_of(BASE + 6), None);
    // A label and a function inside a function: the label is part of it, and behind the inner function it continues.
    let labels = [("label", BASE + 2, 0), ("later", BASE + 8, 0)];
    let mut file =
        elf_with_data(Xlen::Rv64, BASE, &words(&[0x13; 3]), &[("outer", BASE), ("inner", BASE + 4)], &labels);
    (file[0x1000 + 12 + 24 + 16], file[0x1000 + 12 + 48 + 16]) = (10, 4);
    let image = Image::parse(&file).unwrap();
    for (offset, function) in [(3, Some(("outer", 3))), (6, Some(("inner", 2))), (8, Some(("outer", 8))), (10, None)] {
        assert_eq!(image.function_of(BASE + offset), function.map(|(name, at)| (name.into(), at)), "{offset}");
    }
}

#[test]
fn names_of_rust_are_readable() {
    let file = elf(Xlen::Rv64, BASE, &words(&[0x13]), &[("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", BASE)]);
    let image = Image::parse(&file).unwrap();
    assert_eq!(image.function_of(BASE), Some(("core::fmt::Formatter::pad".into(), 0)));
}

/// Types that repeat the type before them four times, 18 times: a name of four to the power of 18 parts.
#[test]
fn names_that_explode_are_cut_off() {
    let digit = |number: usize| char::from(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[number]);
    // Base 62, less 1.
    let back = |to: usize| match to - 1 {
        low @ 0..62 => format!("B{}_", digit(low)),
        high => format!("B{}{}_", digit(high / 62), digit(high % 62)),
    };
    let (mut body, mut last) = ("INvC1a1fTyyyyE".to_owned(), 8);
    for _ in 0..18 {
        let here = body.len();
        body += &format!("T{}E", back(last).repeat(4));
        last = here;
    }
    let names: Vec<String> = (0..1000).map(|number| format!("_R{body}EC5c{number:04}")).collect();
    let functions: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), BASE)).collect();
    let data: Vec<(&str, u64, u64)> = names.iter().map(|name| (name.as_str(), BASE, 4)).collect();
    let image = Image::parse(&elf_with_data(Xlen::Rv64, BASE, &words(&[0x13]), &functions, &data)).unwrap();
    let (name, _) = image.function_of(BASE).expect("a name");
    assert!(name.starts_with("a::f::<(u64, u64, u64, u64), ") && name.len() == 512, "{name}");
    assert_eq!(image.data("none"), None);
}

#[test]
fn not_an_elf_file() {
    for file in [&b""[..], b"\x7fEL", b"#!/bin/sh\n", &[0; 4096]] {
        assert!(matches!(kind(Image::parse(file)), ErrorKind::NotElf));
    }
}

#[test]
fn another_machine() {
    for xlen in BOTH {
        let mut x86 = file(xlen);
        x86[18] = 62;
        assert!(matches!(kind(Image::parse(&x86)), ErrorKind::NotRiscv));
        let mut big_endian = file(xlen);
        big_endian[5] = 2;
        assert!(matches!(kind(Image::parse(&big_endian)), ErrorKind::NotRiscv));
        let mut object = file(xlen);
        object[16] = 1;
        assert!(matches!(kind(Image::parse(&object)), ErrorKind::NotExecutable));
        let mut unknown_class = file(xlen);
        unknown_class[4] = 3;
        assert!(matches!(kind(Image::parse(&unknown_class)), ErrorKind::DamagedElf(_)));
    }
    let image = Image::parse(&file(Xlen::Rv32)).unwrap();
    let error = load(image, &Machine { isa: "rv64i".into(), ..Machine::generic() }).expect_err("is refused");
    assert!(matches!(error.kind, ErrorKind::WrongXlen { program: 32, machine: 64 }));
}

#[test]
fn every_truncation_is_an_error() {
    for xlen in BOTH {
        let file = file(xlen);
        for length in 0..file.len() {
            if let Ok(image) = Image::parse(&file[..length]) {
                panic!("{length} bytes are a program: {image:?}");
            }
        }
    }
}

#[test]
fn every_damaged_byte_of_the_headers() {
    for xlen in BOTH {
        let file = file(xlen);
        let machine = Machine { region: vec![Region::ram(BASE, 0x10000)], ..Machine::generic() };
        for at in (0..128).chain(0x1000..file.len()) {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] = value;
                if let Ok(image) = Image::parse(&damaged) {
                    let _ = image.function_of(BASE);
                    let _ = load(image, &machine);
                }
            }
        }
    }
}

#[test]
fn invalid_sizes() {
    for xlen in BOTH {
        for (field, value) in [("file bytes", 0x7fff_ffff), ("offset", 0x7fff_ffff), ("offset", 0xffff_fff0)] {
            let error = kind(Image::parse(&with_field(xlen, field, value)));
            assert!(matches!(error, ErrorKind::DamagedElf(_)), "{field}: {error}");
        }
        let error = kind(Image::parse(&with_field(xlen, "memory bytes", 4)));
        assert!(matches!(error, ErrorKind::DamagedElf(_)), "{error}");
        // Zeros to the end of the address space and beyond.
        for bytes in [0xffff_ffff, u64::MAX] {
            let file = with_field(xlen, "memory bytes", bytes);
            let error = match Image::parse(&file) {
                Ok(image) => load(image, &Machine::generic()).expect_err("is refused").kind,
                Err(error) => error.kind,
            };
            assert!(matches!(error, ErrorKind::SegmentOutside { .. }), "{error}");
        }
    }
}

#[test]
fn entry_and_segments_that_are_not_where_they_should_be() {
    for xlen in BOTH {
        let outside = Image::parse(&elf(xlen, 0x1000, &words(&[0x13]), &[])).unwrap();
        let error = load(outside, &Machine::generic()).expect_err("is refused").kind;
        assert!(matches!(error, ErrorKind::SegmentOutside { start: 0x1000, end: 0x1004, .. }), "{error}");
        let ErrorKind::SegmentOutside { memory, .. } = error else { unreachable!() };
        assert_eq!(memory, "at 0x20000000 to 0x40000000 and at 0x80000000 to 0xc0000000");
        let mut entry = file(xlen);
        entry[24..28].copy_from_slice(&0x8000_000c_u32.to_le_bytes());
        assert!(matches!(kind(Image::parse(&entry)), ErrorKind::EntryOutside(0x8000_000c)));
        let mut nothing = file(xlen);
        nothing[if xlen == Xlen::Rv64 { 64 } else { 52 }] = 4;
        assert!(matches!(kind(Image::parse(&nothing)), ErrorKind::NoSegments));
    }
}

/// Copies the program header over the first bytes of the segment, so that both segments claim the same memory.
#[test]
fn segments_that_overlap() {
    let mut file = file(Xlen::Rv64);
    let header = file[64..120].to_vec();
    file[120..176].copy_from_slice(&header);
    file[56] = 2;
    assert!(matches!(kind(Image::parse(&file)), ErrorKind::SegmentsOverlap(BASE)));
    // Adjacent segments are valid; segments that overlap by one byte are not.
    for (address, overlaps) in [(BASE + 12, false), (BASE + 11, true)] {
        for field in [136, 144] {
            file[field..field + 8].copy_from_slice(&address.to_le_bytes());
        }
        assert_eq!(Image::parse(&file).is_err(), overlaps);
    }
    // Segments that are loaded elsewhere may be expected at the same address: overlays.
    file[136..144].copy_from_slice(&BASE.to_le_bytes());
    file[144..152].copy_from_slice(&(BASE + 0x100).to_le_bytes());
    let image = Image::parse(&file).expect("overlays");
    assert_eq!(image.function_of(BASE + 8), Some(("after".into(), 0)));
    load(image, &Machine::generic()).expect("overlays");
    // A segment without bytes of the file may be memory of another, or registers of a device.
    for (address, fits) in [(BASE, true), (0x1001_3000, true), (0x1001_3ff8, false), (0x3000, false)] {
        for (field, value) in [(136, address), (152, 0)] {
            file[field..field + 8].copy_from_slice(&u64::to_le_bytes(value));
        }
        let image = Image::parse(&file).expect("not loaded");
        assert_eq!(load(image, &Machine::generic()).is_ok(), fits, "{address:#x}");
    }
}

/// A file whose attributes name this architecture.
fn with_attributes(xlen: Xlen, attributes: &[u8]) -> Vec<u8> {
    let mut file = file(xlen);
    let at = file.len() as u64;
    file.extend(attributes);
    set_section(&mut file, xlen, 0, [0, 0x7000_0003], [0, 0, at, attributes.len() as u64]);
    file
}

fn attributes(arch: &str) -> Vec<u8> {
    // Stack alignment 16, the architecture, unaligned accesses.
    let list = [&[4, 16, 5], arch.as_bytes(), &[0, 6, 1]].concat();
    let size = |before: usize| (before as u32 + list.len() as u32).to_le_bytes();
    [&b"A"[..], &size(15), b"riscv\0\x01", &size(5), &list].concat()
}

#[test]
fn programs_for_other_extensions_are_refused() {
    let missing = |file: &[u8], isa: &str| {
        let machine = Machine { isa: isa.into(), ..Machine::generic() };
        match Image::parse(file).and_then(|image| load(image, &machine)).map_err(|error| error.kind) {
            Ok(_) => "-".to_owned(),
            Err(ErrorKind::MissingExtension(extension, _)) => extension,
            Err(ErrorKind::DamagedElf(".riscv.attributes")) => "damaged".to_owned(),
            Err(other) => panic!("{other}"),
        }
    };
    for line in include_str!("common/architectures.txt").lines().skip(1) {
        let [isa, arch, expected] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!(missing(&with_attributes(Xlen::Rv32, &attributes(arch)), isa), expected, "{line}");
    }
    // The flags of the file: C, and arguments in registers for single, double and quadruple precision.
    for (flags, isa, expected) in [(1, "rv64i", "C"), (2, "rv64i", "F"), (5, "rv64ifc", "D"), (6, "rv64g", "Q")] {
        let mut file = file(Xlen::Rv64);
        file[48] = flags;
        assert_eq!(missing(&file, isa), expected);
    }
    let good = attributes("rv32i2p1_m2p0");
    for (at, value) in (0..good.len()).flat_map(|at| [0, 1, 0x7f, 0x80, 0xff].map(|value| (at, value))) {
        let _ = Image::parse(&with_attributes(Xlen::Rv32, &[&good[..at], &[value], &good[at + 1..]].concat()));
    }
    assert_eq!(missing(&with_attributes(Xlen::Rv32, &[b'A'; 70_000]), "rv32gc"), "damaged");
}

/// An instruction cannot begin at an odd address, nor without compressed instructions in the middle of a word.
#[test]
fn entry_points_that_are_not_aligned() {
    for (entry, isa, expected) in [(BASE + 1, "", 2), (BASE + 2, "rv64i", 4)] {
        let mut file = file(Xlen::Rv64);
        file[24..32].copy_from_slice(&entry.to_le_bytes());
        let machine = Machine { isa: isa.into(), ..Machine::generic() };
        let error = Image::parse(&file).and_then(|image| load(image, &machine)).expect_err("is refused").kind;
        assert!(matches!(error, ErrorKind::EntryMisaligned(_, multiple) if multiple == expected), "{error}");
    }
}

/// Ranges of a file may overlap, so that a small file could fill the memory: segments, and names of symbols.
#[test]
fn ranges_that_multiply_the_file() {
    let mut file = file(Xlen::Rv64);
    let (whole, header) = (file.len() as u64, file[64..120].to_vec());
    for count in 1..4 {
        // Each segment is the whole file: offset, two addresses, and two sizes.
        let at = 64 + 56 * (count - 1);
        let address = BASE + 0x10_0000 * count as u64 - 0x10_0000;
        file[at..at + 56].copy_from_slice(&header);
        for (i, value) in [0, address, address, whole, whole].into_iter().enumerate() {
            file[at + 8 * (i + 1)..][..8].copy_from_slice(&value.to_le_bytes());
        }
        file[56] = count as u8;
        let refused = Image::parse(&file).err().map(|error| matches!(error.kind, ErrorKind::DamagedElf(_)));
        assert_eq!(refused, (count > 1).then_some(true));
    }
    let long = "n".repeat(500);
    let names = [[(&*long, BASE)].as_slice(), &[("n", BASE); 299]].concat();
    let mut file = elf(Xlen::Rv64, BASE, &words(&[0x13, 0x13, 0x13]), &names);
    assert!(Image::parse(&file).is_ok());
    // The table of symbols is behind the segment; its first entry is empty. Now every name is the long one.
    for symbol in file[0x1000 + 12 + 24..][..300 * 24].chunks_exact_mut(24) {
        symbol[..4].copy_from_slice(&1_u32.to_le_bytes());
    }
    assert!(matches!(kind(Image::parse(&file)), ErrorKind::DamagedElf(_)));
}

#[test]
fn invalid_machines() {
    let good = Machine { isa: "rv32i".into(), ..Machine::generic() };
    let region = Region::ram;
    let bad = [
        Machine { harts: 0, ..good.clone() },
        Machine { harts: 65, ..good.clone() },
        Machine { cycles_per_tick: 0, ..good.clone() },
        Machine { region: vec![region(0x8000_0000, 100)], ..good.clone() },
        Machine { region: vec![region(0x8000_0001, 4096)], ..good.clone() },
        Machine { region: vec![region(0xffff_f000, 8192)], ..good.clone() },
        Machine { region: vec![region(0x8000_0000, 8192), region(0x8000_1000, 4096)], ..good.clone() },
        Machine { region: vec![region(0x0200_0000, 4096)], ..good.clone() },
    ];
    assert!(good.check().is_ok());
    for machine in bad {
        assert!(matches!(machine.check().expect_err("is refused").kind, ErrorKind::Machine(_)), "{machine:?}");
    }
    let much = Machine { region: vec![region(0, 1 << 40)], device: Vec::new(), ..Machine::generic() };
    assert!(much.check().is_err());
}

/// `ld` puts the file's own headers before the first segment, so that it begins a page before the code.
#[test]
fn headers_of_the_file_in_front_of_the_memory_are_left_out() {
    for xlen in BOTH {
        let mut file = file(xlen);
        for (field, value) in [("offset", 0), ("address", BASE - 0x1000), ("load address", BASE - 0x1000)] {
            set_field(&mut file, xlen, field, value);
        }
        for (field, value) in [("file bytes", 0x1000 + 12), ("memory bytes", 0x1000 + 12)] {
            set_field(&mut file, xlen, field, value);
        }
        let whole = file.clone();
        // The loaded section: the code.
        set_section(&mut file, xlen, 0, [0, 1], [2, BASE, 0x1000, 12]);
        let mut system = load(Image::parse(&file).unwrap(), &Machine::generic()).expect("it fits");
        assert_eq!(system.bus.memory.read(BASE), Some([0x13, 0, 0, 0]));
        system.serve_linux(&[]).expect("a stack in the memory of the segment's end");
        // If no section says otherwise, all bytes may belong to the program.
        let error = load(Image::parse(&whole).unwrap(), &Machine::generic()).expect_err("outside");
        assert!(matches!(error.kind, ErrorKind::SegmentOutside { .. }), "{error}");
        // If there is memory for them, the headers are loaded.
        let mut machine = Machine::generic();
        machine.region[1].base -= 0x1000;
        let system = load(Image::parse(&file).unwrap(), &machine).unwrap();
        assert_eq!(system.bus.memory.read(BASE - 0x1000), Some(*b"\x7fELF"));
    }
}

/// An error and a profile name the line if `.debug_line` can be read: here a table of DWARF 2 with one row, encoded by hand.
#[test]
fn errors_and_profiles_name_the_line() {
    const COMPRESSED: u64 = 0x800;
    for (xlen, flags, longer, source) in [
        (Xlen::Rv32, 0, 0, Some("a.c:1")),
        (Xlen::Rv64, 0, 0, Some("a.c:1")),
        (Xlen::Rv64, COMPRESSED, 0, None),
        (Xlen::Rv32, 0, 1 << 20, None),
    ] {
        let address = &BASE.to_le_bytes()[..xlen.bits() as usize / 8];
        // set_address, copy, advance_pc 8, end_sequence.
        let rows = [&[0, address.len() as u8 + 1, 2], address, &[1, 2, 8, 0, 1, 1]].concat();
        let names = [&[1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1][..], b"\0a.c\0\0\0\0\0"].concat();
        let unit = [&[2, 0, names.len() as u8, 0, 0, 0], &names[..], &rows].concat();
        let table = [&[unit.len() as u8, 0, 0, 0], &unit[..]].concat();
        let mut file = elf(xlen, BASE, &words(&[0x13, 0]), &[(".debug_line", BASE)]);
        let at = file.len() as u64;
        file.extend(&table);
        // In place of the symbols, whose first name it has.
        set_section(&mut file, xlen, 1, [1, 1], [flags, 0, at, table.len() as u64 + longer]);
        let error = load(Image::parse(&file).unwrap(), &Machine::generic()).unwrap().run(2).expect_err("illegal");
        let named = error.place.unwrap().source.map(|line| line.to_string());
        assert_eq!(named.as_deref(), source);
        let machine = Machine::preset(if xlen == Xlen::Rv64 { "raptor" } else { "fe310" }).unwrap();
        let mut simulation = Simulation::new(&machine, Model::Pipeline, Image::parse(&file).unwrap()).unwrap();
        simulation.profile();
        simulation.run(2).expect_err("illegal");
        let lines = simulation.report().timing.unwrap().lines;
        let counted = lines.first().map(|line| (line.source.to_string(), line.instructions, line.cycles > 0));
        assert_eq!(counted, source.map(|source| (source.to_owned(), 1, true)));
    }
}

/// Gives a section this name and type, and flags, address, file offset and size.
fn set_section(file: &mut [u8], xlen: Xlen, number: usize, [name, kind]: [u32; 2], fields: [u64; 4]) {
    let wide = xlen == Xlen::Rv64;
    let word = |at: usize| if wide { file[at..at + 8].to_vec() } else { file[at..at + 4].to_vec() };
    let sections = word(if wide { 40 } else { 32 });
    let mut place = [0; 8];
    place[..sections.len()].copy_from_slice(&sections);
    let (sections, width) = (u64::from_le_bytes(place) as usize, if wide { 8 } else { 4 });
    let start = sections + number * if wide { 64 } else { 40 };
    file[start..start + 4].copy_from_slice(&name.to_le_bytes());
    file[start + 4..start + 8].copy_from_slice(&kind.to_le_bytes());
    for (number, value) in fields.into_iter().enumerate() {
        let at = start + 8 + number * width;
        file[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
}
