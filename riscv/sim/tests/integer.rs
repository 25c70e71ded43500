//! Integer instructions where `qemu.rs`, which compares every one of them with QEMU, does not look: division by zero, x0, and
//! instructions that QEMU 7.2 lacks or executes differently.

use crate::common::encode::{Format, INTEGER, named};
use crate::common::{BASE, BOTH, words};
use tress_sim::machine::Region;
use tress_sim::{Bus, Event, Hart, Isa, Machine, Reg, Retired, Xlen};

fn machine() -> Machine {
    Machine { region: vec![Region::ram(BASE, 0x1000)], device: Vec::new(), ..Machine::generic() }
}

/// Executes an instruction with operands in x5 and x6, and reads a register afterwards.
fn run(xlen: Xlen, word: u32, a: u64, b: u64, rd: u8) -> u64 {
    let machine = machine();
    let mut bus = Bus::new(&machine);
    assert!(bus.memory.load(BASE, &words(&[word])));
    let mut hart = Hart::new(&machine, Isa::full(xlen), 0, BASE);
    hart.set_register(Reg::integer(5), a);
    hart.set_register(Reg::integer(6), b);
    assert_eq!(hart.step(&mut bus, &mut Retired::default()).unwrap(), Event::Retired);
    assert_eq!((hart.pc(), hart.completed()), (BASE + 4, 1));
    hart.register(Reg::integer(rd))
}

#[test]
fn x0_stays_zero() {
    for xlen in BOTH {
        for instruction in INTEGER.iter().filter(|instruction| instruction.is_of(xlen)) {
            let word = match instruction.format {
                Format::Registers => instruction.registers(0, 5, 6),
                _ => instruction.registers(0, 5, 0),
            };
            assert_eq!(run(xlen, word, u64::MAX, 0x1234, 0), 0, "{}", instruction.name);
        }
    }
}

/// The manual's table "Semantics for division by zero and division overflow", and its chapters "B" and "Zicond".
#[test]
fn results_by_hand() {
    let minimum = i32::MIN as u64;
    for (xlen, name, a, b, result) in [
        (Xlen::Rv32, "divu", 7, 0, u64::MAX),
        (Xlen::Rv32, "remu", 7, 0, 7),
        (Xlen::Rv32, "div", 7, 0, u64::MAX),
        (Xlen::Rv32, "rem", 7, 0, 7),
        (Xlen::Rv32, "div", minimum, u64::MAX, minimum),
        (Xlen::Rv32, "rem", minimum, u64::MAX, 0),
        (Xlen::Rv64, "ctzw", 1 << 39, 0, 32),
        (Xlen::Rv64, "ctzw", 0x50, 0, 4),
        (Xlen::Rv64, "czero.eqz", 9, 0, 0),
        (Xlen::Rv64, "czero.eqz", 9, 1 << 63, 9),
        (Xlen::Rv32, "czero.nez", 9, 0, 9),
        (Xlen::Rv32, "czero.nez", 9, 1, 0),
    ] {
        let second = if name == "ctzw" { 0 } else { 6 };
        assert_eq!(
            run(xlen, named(name, xlen).registers(7, 5, second), a, b, 7),
            result,
            "{name} of {a:#x} and {b:#x}"
        );
    }
}

/// Each line of zcb.txt.
#[test]
fn compressed_instructions_of_zcb() {
    const DATA: u64 = BASE + 0x100;
    for xlen in BOTH {
        for line in include_str!("common/zcb.txt").lines().skip(1) {
            let [code, word, widths, ..] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            if widths == (if xlen == Xlen::Rv32 { "rv64" } else { "rv32" }) {
                continue;
            }
            let [code, word] = [code, word].map(|bits| u32::from_str_radix(bits, 16).unwrap());
            let run = |code: u32, size: u64| {
                let machine = machine();
                let mut bus = Bus::new(&machine);
                assert!(bus.memory.load(BASE, &code.to_le_bytes()) && bus.memory.load(DATA, &[0x81, 0x92, 0xa3, 0xb4]));
                let mut hart = Hart::new(&machine, Isa::full(xlen), 0, BASE);
                for (register, value) in [(8, DATA), (9, 0x8765_4321_89ab_cdef_u64), (10, 0xfedc_ba98_7654_3210)] {
                    let value = if xlen == Xlen::Rv32 { value as i32 as u64 } else { value };
                    hart.set_register(Reg::integer(register), value);
                }
                assert_eq!(hart.step(&mut bus, &mut Retired::default()).unwrap(), Event::Retired, "{code:#x}");
                assert_eq!(hart.pc(), BASE + size);
                (hart.register(Reg::integer(9)), bus.memory.read::<4>(DATA))
            };
            assert_eq!(run(code, 2), run(word, 4), "{code:#x} on {xlen:?}");
        }
    }
}
