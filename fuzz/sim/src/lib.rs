//! What the fuzz targets of the simulator do with their input: whatever it is, there is no panic, an end, and no more
//! memory than the machine has.
#![forbid(unsafe_code)]

use tress_sim::{Bus, Device, DeviceKind, Hart, Image, PAGE_BYTES, Platform, Reg, Region, Retired, System, Xlen};

const BASE: u64 = 0x8000_0000;
const MEMORY_BYTES: u64 = 16 * PAGE_BYTES;
/// Instructions for one input.
const LIMIT: u64 = 2000;

fn platform(xlen: Xlen, misaligned: bool) -> Platform {
    let devices = vec![
        Device { base: 0x0200_0000, kind: DeviceKind::Clint },
        Device { base: 0x1000_0000, kind: DeviceKind::Uart16550 { shift: 2 } },
        Device { base: 0x1001_3000, kind: DeviceKind::UartSifive },
    ];
    let memory = vec![
        Region { base: BASE, size: MEMORY_BYTES, writable: true },
        Region { base: BASE + MEMORY_BYTES, size: PAGE_BYTES, writable: false },
    ];
    Platform { memory, devices, misaligned, ..Platform::generic(xlen, 2) }
}

/// A file: it is loaded and run, or refused.
pub fn loader(file: &[u8]) {
    let Ok(image) = Image::parse(file) else { return };
    for address in [0, image.entry, u64::MAX] {
        let _ = image.function_of(address);
    }
    let xlen = image.xlen;
    // What the file has, and not what it says that it has.
    let held: usize = image.segments.iter().map(|segment| segment.bytes.len()).sum();
    assert!(image.segments.iter().all(|segment| segment.bytes.len() <= file.len()), "{held} bytes of {}", file.len());
    let Ok(mut system) = System::new(&platform(xlen, true), image, Box::new(std::io::sink())) else { return };
    let _ = system.run(LIMIT);
    check(&system.bus);
}

/// The first byte says what kind of hart, the next ones are registers, the others are executed.
pub fn execute(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let (registers, code) = rest.split_at(rest.len().min(64));
    let xlen = if kind & 1 == 0 { Xlen::Rv32 } else { Xlen::Rv64 };
    let mut platform = platform(xlen, kind & 2 == 0);
    platform.isa.c = kind & 4 == 0;
    let mut bus = Bus::new(&platform, Box::new(std::io::sink()));
    let code = &code[..code.len().min(MEMORY_BYTES as usize)];
    assert!(bus.memory.load(BASE, code));
    let mut hart = Hart::new(&platform, usize::from(*kind >> 7), BASE);
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

fn check(bus: &Bus) {
    assert!(bus.memory.allocated_bytes() <= MEMORY_BYTES + PAGE_BYTES);
}

#[cfg(test)]
mod tests {
    /// Without a fuzzer: bytes of no meaning.
    #[test]
    fn nothing_panics() {
        let mut state = 1_u64;
        let mut bytes = vec![0; 400];
        for _ in 0..100_000 {
            for byte in &mut bytes {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *byte = (state >> 32) as u8;
            }
            super::execute(&bytes);
            super::loader(&bytes);
        }
    }
}
