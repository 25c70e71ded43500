//! The fuzz targets of the simulator: for any input, there is no panic, the program ends, and it uses no more memory than
//! the machine has.

use std::io;

use crate::common as programs;
use tress_sim::machine::{Device, DeviceKind, Kind, Region};
use tress_sim::{
    Bus, Client, Error, ErrorKind, Hart, Image, Isa, Machine, Model, PAGE_BYTES, Reg, Retired, Secret, Simulation,
    System, Variable, Xlen,
};

const BASE: u64 = 0x8000_0000;
const MEMORY_BYTES: u64 = 16 * PAGE_BYTES;
/// Limit of instructions for one input.
const LIMIT: u64 = 2000;

fn machine(misaligned: bool) -> Machine {
    let device = vec![
        Device::new(DeviceKind::Clint, 0x0200_0000),
        Device { sources: 3, ..Device::new(DeviceKind::Plic, 0x0c00_0000) },
        Device { shift: 2, ..Device::new(DeviceKind::Uart16550, 0x1000_0000) },
        Device { interrupt: 3, ..Device::new(DeviceKind::UartSifive, 0x1001_3000) },
        Device { size: 0x1000, ..Device::new(DeviceKind::Registers, 0x1001_4000) },
    ];
    let region = vec![
        Region::ram(BASE, MEMORY_BYTES),
        Region { kind: Kind::Rom, ..Region::ram(BASE + MEMORY_BYTES, PAGE_BYTES) },
    ];
    Machine { region, device, misaligned, harts: 2, ..Machine::generic() }
}

/// Loads and runs an ELF file. If the input does not begin as one, [`program`] makes one from it.
pub fn loader(input: &[u8]) {
    let _ = match input.first() {
        Some(0x7f) => load_and_run(input, false),
        _ => load_and_run(&program(input), input.first().is_some_and(|kind| kind & 0x80 != 0)),
    };
}

/// Symbol names, most of them with a special meaning.
const NAMES: [&str; 8] = [
    "tohost",
    "fromhost",
    "__region_3_x",
    "__region__",
    "main",
    "_ZN4core3fmt3pad17h0123456789abcdefE",
    "key",
    "k\u{1b}",
];

/// Makes an ELF file that is valid except for changed bytes, so that the fuzzer gets past the checks of its headers. The
/// first byte selects the number of symbols and changes, the width and the number of segments; the second the address.
/// Symbols of three bytes follow, then changes of three (two select an offset in the headers or before the end, the third
/// is the new value), and the code.
fn program(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.iter().copied();
    let mut next = || bytes.next().unwrap_or(0);
    let (kind, place) = (next(), next());
    let xlen = if kind & 1 == 0 { Xlen::Rv32 } else { Xlen::Rv64 };
    let address = BASE + 4 * u64::from(place);
    let mut functions = Vec::new();
    let mut data = Vec::new();
    for _ in 0..kind >> 2 & 3 {
        let (name, at) = (next(), BASE + u64::from(next()) * 16);
        match next() {
            0 => functions.push((NAMES[usize::from(name % 8)], at)),
            size => data.push((NAMES[usize::from(name % 8)], at, size.into())),
        }
    }
    let changes: Vec<[u8; 3]> = (0..kind >> 4 & 7).map(|_| [next(), next(), next()]).collect();
    let code: Vec<u8> = bytes.collect();
    let code = &code[..code.len().min(PAGE_BYTES as usize)];
    let mut file = programs::elf_with_data(xlen, address, code, &functions, &data);
    if kind & 2 != 0 {
        // A second segment of the same bytes: a copy of the first header, with other addresses.
        let (start, length, count, fields) = match xlen {
            Xlen::Rv32 => (52, 32, 44, [60, 64]),
            Xlen::Rv64 => (64, 56, 56, [80, 88]),
        };
        let header = file[start..start + length].to_vec();
        file[start + length..start + 2 * length].copy_from_slice(&header);
        file[count] = 2;
        for field in fields {
            file[field + length + 1] ^= 0x20;
        }
    }
    for [high, low, value] in changes {
        let at = usize::from(high & 1) << 8 | usize::from(low);
        // The headers of file and segments are at the front, sections and symbols at the end.
        let at = if high & 0x80 == 0 { at % 192 } else { file.len() - 1 - at % file.len() };
        file[at] = value;
    }
    file
}

fn load_and_run(file: &[u8], follow: bool) -> Result<(), Error> {
    let image = Image::parse(file)?;
    for address in [0, image.entry, u64::MAX] {
        let _ = image.function_of(address);
    }
    // Segments have at most the bytes of the file, whatever its headers say.
    let held: usize = image.segments.iter().map(|segment| segment.bytes.len()).sum();
    assert!(image.segments.iter().all(|segment| segment.bytes.len() <= file.len()), "{held} bytes of {}", file.len());
    let mut system = System::new(&machine(true), image)?;
    if follow {
        let _ = system.serve_linux(&[b"program".to_vec()]);
        let secrets = ["key", "main"].into_iter().filter_map(|name| system.image().data(name));
        let secrets =
            secrets.map(|symbol| Secret { name: symbol.demangled(), start: symbol.address, bytes: symbol.size });
        let code = Secret { name: "code".into(), start: BASE, bytes: PAGE_BYTES };
        let secrets: Vec<Secret> = secrets.chain([code]).collect();
        system.follow_secrets(&secrets, Variable { multiply: true, shift: true })?;
    }
    let ran = system.run(LIMIT);
    if let Some(secrets) = system.secrets() {
        assert!(secrets.findings.iter().all(|finding| finding.count > 0 && !finding.secrets.is_empty()), "{secrets:?}");
    }
    check(&system.bus);
    ran.map(drop)
}

/// Executes instructions. The first byte selects the kind of hart, the next ones are registers, the others the code.
pub fn execute(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let (registers, code) = rest.split_at(rest.len().min(64));
    let xlen = if kind & 1 == 0 { Xlen::Rv32 } else { Xlen::Rv64 };
    let machine = machine(kind & 2 == 0);
    let isa = Isa { c: kind & 4 == 0, ..Isa::full(xlen) };
    let mut bus = Bus::new(&machine);
    let code = &code[..code.len().min(MEMORY_BYTES as usize)];
    assert!(bus.memory.load(BASE, code));
    let mut hart = Hart::new(&machine, isa, usize::from(*kind >> 7), BASE);
    if kind & 8 == 0 {
        hart.enable_float();
    }
    for (number, chunk) in registers.chunks(2).enumerate() {
        // Small numbers, and addresses in memory.
        let value = chunk.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let value = if value & 1 == 0 { BASE + value } else { (value as i16 as u64).rotate_right(8) };
        let value = if xlen == Xlen::Rv32 { value as i32 as u64 } else { value };
        hart.set_register(Reg::integer(number as u8), value);
    }
    let mut retired = Retired::default();
    for _ in 0..LIMIT {
        if hart.step(&mut bus, &mut retired).is_err() || hart.is_waiting() {
            break;
        }
        hart.cycle += 1;
        assert_eq!(hart.register(Reg::NONE), 0);
        if xlen == Xlen::Rv32 {
            assert!(hart.pc() <= u64::from(u32::MAX));
            let value = hart.register(retired.destination);
            assert!(retired.destination.is_float() || value == value as i32 as u64, "{retired:x?}: {value:#x}");
        }
    }
    check(&bus);
}

struct Packets(std::vec::IntoIter<u8>);

impl Client for Packets {
    fn read(&mut self) -> io::Result<Option<u8>> {
        Ok(self.0.next())
    }

    /// While the program runs, the debugger waits or interrupts it.
    fn poll(&mut self) -> io::Result<Option<u8>> {
        Ok(if self.0.as_slice().first() == Some(&3) { self.0.next() } else { None })
    }

    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Serves a debugger. The first byte selects width and program. Each line is a packet, to which the sum is added; one
/// that begins with 0xff is sent as it is.
pub fn debugger(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let xlen = if kind & 1 == 0 { Xlen::Rv32 } else { Xlen::Rv64 };
    // lbu x5, 0(x6); addi x6, x6, 1; and a jump back, or sw x5, 16(x0), which fails.
    let last: u32 = if kind & 2 == 0 { 0xff9f_f06f } else { 0x0050_2823 };
    let code = [0x0003_4283, 0x0013_0313, last].map(u32::to_le_bytes).concat();
    let image = Image::parse(&programs::elf(xlen, BASE, &code, &[])).expect("an ELF file");
    let mut simulation = Simulation::new(&machine(true), Model::Pipeline, image).expect("it fits");
    simulation.system_mut().harts[0].set_register(Reg::integer(6), BASE);
    let packet = |line: &[u8]| match line.split_first() {
        Some((0xff, raw)) => raw.to_vec(),
        _ => [b"$", line, format!("#{:02x}", line.iter().copied().fold(0, u8::wrapping_add)).as_bytes()].concat(),
    };
    let packets: Vec<u8> = rest.split(|byte| *byte == b'\n').flat_map(packet).collect();
    let mut parts = 0;
    let _ = simulation.debug(&mut Packets(packets.into_iter()), |simulation| {
        parts += 1;
        if parts < 30 { Ok(100) } else { Err(simulation.system().stopped(ErrorKind::Interrupted)) }
    });
    check(&simulation.system().bus);
}

fn check(bus: &Bus) {
    assert!(bus.memory.allocated_bytes() <= MEMORY_BYTES + PAGE_BYTES);
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, mem::discriminant};

    use super::*;

    /// Runs random bytes, without a fuzzer.
    #[test]
    fn nothing_panics() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut bytes = vec![0; 400];
        for _ in 0..100_000 {
            random.fill(&mut bytes);
            execute(&bytes);
            loader(&bytes);
        }
    }

    /// Programs made from random bytes get past the loader, and into each of its errors.
    #[test]
    fn programs_reach_everything() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut bytes = vec![0; 60];
        let mut ran = 0;
        let mut refused = BTreeMap::new();
        for _ in 0..20_000 {
            random.fill(&mut bytes);
            let file = program(&bytes);
            match Image::parse(&file).and_then(|image| System::new(&machine(true), image)) {
                Ok(_) => ran += 1,
                Err(error) => *refused.entry(format!("{:?}", discriminant(&error.kind))).or_insert(0) += 1,
            }
        }
        println!("{ran} of 20000 loaded; refused for {} kinds of reasons: {refused:?}", refused.len());
        assert!(ran > 5_000, "{ran}");
        // Not ELF, another processor, not executable, damaged, no segment, outside, overlap, entry outside.
        assert!(refused.len() >= 8, "{refused:?}");
    }
}
