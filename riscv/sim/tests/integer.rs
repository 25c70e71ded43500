//! Every integer instruction except branches, on operands at the limits of their range. The expected results follow the
//! ISA manual with integers (`i128`) and strings of bits (text), independently of the implementation.

use crate::common::encode::{Format, INTEGER, Instruction, named};
use crate::common::{BASE, BOTH, Numbers, words};
use tress_sim::machine::Region;
use tress_sim::{Bus, Event, Hart, Isa, Machine, Reg, Retired, Xlen};

fn machine() -> Machine {
    Machine { region: vec![Region::ram(BASE, 0x1000)], device: Vec::new(), ..Machine::generic() }
}

/// A register's value as an unsigned number.
fn unsigned(xlen: Xlen, register: u64) -> u128 {
    u128::from(register & xlen.address_mask())
}

/// The number with its sign, from this number of bits.
fn signed(value: u128, bits: u32) -> i128 {
    let value = value % (1 << bits);
    if value >> (bits - 1) == 1 { value as i128 - (1 << bits) } else { value as i128 }
}

fn wrap(value: i128, bits: u32) -> u128 {
    value.rem_euclid(1 << bits) as u128
}

/// The most significant bit first.
fn text(value: u128, bits: u32) -> String {
    format!("{value:0width$b}", width = bits as usize)
}

fn value(text: &str) -> u128 {
    u128::from_str_radix(text, 2).unwrap()
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Applies a change to each byte of a bit string.
fn by_bytes(text: &str, change: impl Fn(&str) -> String) -> String {
    (0..text.len()).step_by(8).map(|at| change(&text[at..at + 8])).collect()
}

fn by_bits(a: u128, b: u128, bits: u32, operation: impl Fn(bool, bool) -> bool) -> u128 {
    let pairs = text(a, bits).chars().zip(text(b, bits).chars().collect::<Vec<_>>()).collect::<Vec<_>>();
    value(&pairs.into_iter().map(|(a, b)| if operation(a == '1', b == '1') { '1' } else { '0' }).collect::<String>())
}

fn carryless(a: u128, b: u128) -> u128 {
    (0..64).fold(0, |sum, bit| if text(b, 64).as_bytes()[63 - bit] == b'1' { sum ^ a << bit } else { sum })
}

fn reversed_value(a: u128, bits: u32) -> u128 {
    value(&reversed(&text(a, bits)))
}

/// The sum without carries of shifts to the right, and of rotations where the amount is negative.
fn by_amounts(a: u128, bits: u32, amounts: &[i32]) -> u128 {
    amounts.iter().fold(0, |sum, amount| {
        let (digits, cut) = (text(a, bits), bits as usize - amount.unsigned_abs() as usize);
        let moved = if *amount < 0 { digits[cut..].to_string() + &digits[..cut] } else { digits[..cut].to_string() };
        sum ^ value(&moved)
    })
}

/// As `by_amounts` on 32 bits, sign-extended to any width.
fn sha256(a: u128, bits: u32, amounts: &[i32]) -> u128 {
    wrap(signed(by_amounts(a, 32, amounts), 32), bits)
}

/// The sum without carries of 32-bit shifts of two registers, to the left where the amount is negative.
fn halves(a: u128, b: u128, of_a: &[i32], of_b: &[i32]) -> u128 {
    let shifted = |value: u128, amount: i32| if amount < 0 { value << -amount } else { value >> amount } % (1 << 32);
    let terms = of_a.iter().map(|amount| shifted(a, *amount)).chain(of_b.iter().map(|amount| shifted(b, *amount)));
    terms.fold(0, |sum, term| sum ^ term)
}

/// The expected result of an instruction on registers of this many bits.
fn expected(name: &str, bits: u32, a: u128, b: u128) -> u128 {
    let (sa, sb) = (signed(a, bits), signed(b, bits));
    let amount = (b % u128::from(bits)) as u32;
    let power = 1_i128 << amount;
    let has_bit = a / (1 << amount) % 2 == 1;
    let low_word = a % (1 << 32);
    let digits = text(a, bits);
    let half = (bits / 2) as usize;
    match name {
        "add" => wrap(sa + sb, bits),
        "sub" => wrap(sa - sb, bits),
        "sll" => wrap((a as i128 % (1 << (bits - amount))) * power, bits),
        "srl" => a / power as u128,
        "sra" => wrap(sa.div_euclid(power), bits),
        "slt" => u128::from(sa < sb),
        "sltu" => u128::from(a < b),
        "xor" => by_bits(a, b, bits, |a, b| a != b),
        "or" => by_bits(a, b, bits, |a, b| a || b),
        "and" => by_bits(a, b, bits, |a, b| a && b),
        "andn" => by_bits(a, b, bits, |a, b| a && !b),
        "orn" => by_bits(a, b, bits, |a, b| a || !b),
        "xnor" => by_bits(a, b, bits, |a, b| a == b),
        "mul" => wrap(sa * sb, bits),
        "mulh" => wrap((sa * sb).div_euclid(1 << bits), bits),
        "mulhsu" => wrap((sa * b as i128).div_euclid(1 << bits), bits),
        "mulhu" => a * b / (1 << bits),
        "div" | "divu" if b == 0 => (1 << bits) - 1,
        "rem" | "remu" if b == 0 => a,
        "div" => wrap(sa / sb, bits),
        "rem" => wrap(sa % sb, bits),
        "divu" => a / b,
        "remu" => a % b,
        "sh1add" => (b + 2 * a) % (1 << bits),
        "sh2add" => (b + 4 * a) % (1 << bits),
        "sh3add" => (b + 8 * a) % (1 << bits),
        "add.uw" => (b + low_word) % (1 << bits),
        "sh1add.uw" => (b + 2 * low_word) % (1 << bits),
        "sh2add.uw" => (b + 4 * low_word) % (1 << bits),
        "sh3add.uw" => (b + 8 * low_word) % (1 << bits),
        "sll.uw" => (low_word * power as u128) % (1 << bits),
        "clz" => digits.find('1').unwrap_or(digits.len()) as u128,
        "ctz" => reversed(&digits).find('1').unwrap_or(digits.len()) as u128,
        "cpop" => digits.matches('1').count() as u128,
        "sext.b" => wrap(signed(a, 8), bits),
        "sext.h" => wrap(signed(a, 16), bits),
        "zext.h" => a % (1 << 16),
        "max" => wrap(sa.max(sb), bits),
        "min" => wrap(sa.min(sb), bits),
        "maxu" => a.max(b),
        "minu" => a.min(b),
        "rol" => value(&(digits[amount as usize..].to_string() + &digits[..amount as usize])),
        "ror" => {
            let cut = digits.len() - amount as usize;
            value(&(digits[cut..].to_string() + &digits[..cut]))
        }
        "orc.b" => value(&by_bytes(&digits, |byte| if byte.contains('1') { "11111111" } else { "00000000" }.into())),
        "brev8" => value(&by_bytes(&digits, reversed)),
        "rev8" => value(&by_bytes(&reversed(&digits), reversed)),
        "bclr" => a - if has_bit { power as u128 } else { 0 },
        "bset" => a + if has_bit { 0 } else { power as u128 },
        "binv" if has_bit => a - power as u128,
        "binv" => a + power as u128,
        "bext" => u128::from(has_bit),
        "pack" => value(&(text(b, bits)[half..].to_string() + &digits[half..])),
        "packh" => b % 256 * 256 + a % 256,
        "zip" => (0..16).map(|bit| ((a >> bit) % 2) << (2 * bit) | ((a >> (bit + 16)) % 2) << (2 * bit + 1)).sum(),
        "unzip" => (0..16).map(|bit| ((a >> (2 * bit)) % 2) << bit | ((a >> (2 * bit + 1)) % 2) << (bit + 16)).sum(),
        "czero.eqz" if b == 0 => 0,
        "czero.nez" if b != 0 => 0,
        "czero.eqz" | "czero.nez" => a,
        "clmul" => carryless(a, b) % (1 << bits),
        "clmulh" => carryless(a, b) >> bits,
        "clmulr" => reversed_value(carryless(reversed_value(a, bits), reversed_value(b, bits)) % (1 << bits), bits),
        "xperm4" | "xperm8" => {
            let field = if name == "xperm4" { 4 } else { 8 };
            let fields = |value: u128| (0..bits / field).map(move |at| value >> (field * at) & ((1 << field) - 1));
            let picked = fields(b).map(|index| fields(a).nth(index as usize).unwrap_or(0));
            picked.enumerate().map(|(at, picked)| picked << (field as usize * at)).sum()
        }
        "sha256sum0" => sha256(low_word, bits, &[-2, -13, -22]),
        "sha256sum1" => sha256(low_word, bits, &[-6, -11, -25]),
        "sha256sig0" => sha256(low_word, bits, &[-7, -18, 3]),
        "sha256sig1" => sha256(low_word, bits, &[-17, -19, 10]),
        "sha512sum0" => by_amounts(a, 64, &[-28, -34, -39]),
        "sha512sum1" => by_amounts(a, 64, &[-14, -18, -41]),
        "sha512sig0" => by_amounts(a, 64, &[-1, -8, 7]),
        "sha512sig1" => by_amounts(a, 64, &[-19, -61, 6]),
        // The terms of the manual: amounts of rs1 and of rs2, to the left if negative.
        "sha512sum0r" => halves(a, b, &[-25, -30, 28], &[7, 2, -4]),
        "sha512sum1r" => halves(a, b, &[-23, 14, 18], &[9, -18, -14]),
        "sha512sig0l" => halves(a, b, &[1, 7, 8], &[-31, -25, -24]),
        "sha512sig0h" => halves(a, b, &[1, 7, 8], &[-31, -24]),
        "sha512sig1l" => halves(a, b, &[-3, 6, 19], &[29, -26, -13]),
        "sha512sig1h" => halves(a, b, &[-3, 6, 19], &[29, -13]),
        // The word forms on 64-bit machines: on the lower halves, sign-extended.
        word if bits == 64 && word.ends_with('w') => {
            wrap(signed(expected(&word[..word.len() - 1], 32, low_word, b % (1 << 32)), 32), 64)
        }
        other => panic!("no expected result for {other}"),
    }
}

/// The name of the same instruction on two registers.
fn of_registers(name: &str) -> String {
    match name {
        "sltiu" => "sltu".into(),
        "slli.uw" => "sll.uw".into(),
        name => match name.strip_suffix("iw") {
            Some(stem) => format!("{stem}w"),
            None => name.strip_suffix('i').unwrap_or(name).into(),
        },
    }
}

/// Numbers at the limits of either width, and random ones.
fn operands(xlen: Xlen) -> Vec<u64> {
    let mut operands: Vec<u64> = [0_u64, 1, 2, 3, 7, 31, 32, 33, 63, 64, 0x80, 0xff, 0x7fff, 0x8000, 0xffff]
        .into_iter()
        .chain([0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff, 0x5555_5555, 0xaaaa_aaaa, 0x1234_5678])
        .chain([1 << 32, i64::MAX as u64, i64::MIN as u64, i64::MIN as u64 + 1, 0x0123_4567_89ab_cdef])
        .flat_map(|number| [number, number.wrapping_neg()])
        .collect();
    let mut numbers = Numbers(7);
    operands.extend((0..12).map(|_| numbers.next()));
    if xlen == Xlen::Rv32 {
        operands.iter_mut().for_each(|operand| *operand = *operand as i32 as u64);
    }
    operands
}

/// Executes one instruction with operands in x5 and x6, and reads a register afterwards.
struct Executor {
    xlen: Xlen,
    machine: Machine,
    bus: Bus,
}

impl Executor {
    fn new(xlen: Xlen, word: u32) -> Executor {
        let machine = machine();
        let mut bus = Bus::new(&machine);
        assert!(bus.memory.load(BASE, &words(&[word])));
        Executor { xlen, machine, bus }
    }

    fn run(&mut self, a: u64, b: u64, rd: u8) -> u64 {
        let mut hart = Hart::new(&self.machine, Isa::full(self.xlen), 0, BASE);
        hart.set_register(Reg::integer(5), a);
        hart.set_register(Reg::integer(6), b);
        assert_eq!(hart.step(&mut self.bus, &mut Retired::default()).unwrap(), Event::Retired);
        assert_eq!((hart.pc(), hart.completed()), (BASE + 4, 1));
        hart.register(Reg::integer(rd))
    }

    /// Compares the results for the operands with expected ones. 32-bit results must be sign-extended.
    fn check(&mut self, name: &str, a: u64, b: u64, rd: u8, expected: u128) {
        let xlen = self.xlen;
        let found = self.run(a, b, rd);
        assert_eq!(unsigned(xlen, found), expected, "{name} of {a:#x} and {b:#x} on {xlen:?}");
        if xlen == Xlen::Rv32 {
            assert_eq!(found, found as i32 as u64, "{name} of {a:#x} and {b:#x}");
        }
    }
}

fn check(instruction: &Instruction, xlen: Xlen) {
    let bits = xlen.bits();
    let operands = operands(xlen);
    let number = |register| unsigned(xlen, register);
    let name = instruction.name;
    match instruction.format {
        Format::Registers => {
            // To a third register, to either source, and with the same register as both sources.
            for (rd, rs2) in [(7, 6), (5, 6), (6, 6), (7, 5)] {
                let mut machine = Executor::new(xlen, instruction.registers(rd, 5, rs2));
                for a in &operands {
                    for b in &operands {
                        let second = if rs2 == 5 { a } else { b };
                        machine.check(name, *a, *b, rd as u8, expected(name, bits, number(*a), number(*second)));
                    }
                }
            }
        }
        Format::Unary => {
            let mut machine = Executor::new(xlen, instruction.registers(7, 5, 0));
            for a in &operands {
                machine.check(name, *a, 0, 7, expected(name, bits, number(*a), 0));
            }
        }
        Format::Immediate => {
            for immediate in [0, 1, -1, 31, 32, 1365, 2047, -2048] {
                let mut machine = Executor::new(xlen, instruction.immediate(7, 5, immediate));
                for a in &operands {
                    let second = wrap(immediate.into(), bits);
                    machine.check(name, *a, 0, 7, expected(&of_registers(name), bits, number(*a), second));
                }
            }
        }
        Format::Shift(width) => {
            for amount in 0..1 << width {
                let mut machine = Executor::new(xlen, instruction.immediate(7, 5, amount));
                for a in &operands {
                    machine.check(name, *a, 0, 7, expected(&of_registers(name), bits, number(*a), amount as u128));
                }
            }
        }
        Format::Upper => {
            for upper in [0_u32, 1, 0x7_ffff, 0x8_0000, 0xf_ffff] {
                let mut machine = Executor::new(xlen, instruction.bits | upper << 12 | 7 << 7);
                let pc = if name == "auipc" { i128::from(BASE) } else { 0 };
                let sum = wrap(signed(u128::from(upper) << 12, 32) + pc, bits);
                machine.check(name, 0, 0, 7, sum);
            }
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn rv32() {
    INTEGER.iter().filter(|instruction| instruction.rv32).for_each(|instruction| check(instruction, Xlen::Rv32));
}

#[test]
fn rv64() {
    INTEGER.iter().filter(|instruction| instruction.rv64).for_each(|instruction| check(instruction, Xlen::Rv64));
}

#[test]
fn x0_stays_zero() {
    for xlen in BOTH {
        for instruction in INTEGER.iter().filter(|instruction| instruction.is_of(xlen)) {
            let word = match instruction.format {
                Format::Registers => instruction.registers(0, 5, 6),
                _ => instruction.registers(0, 5, 0),
            };
            assert_eq!(Executor::new(xlen, word).run(u64::MAX, 0x1234, 0), 0, "{}", instruction.name);
        }
    }
}

/// The examples of the manual's table "Semantics for division by zero and division overflow".
#[test]
fn divisions_by_zero_and_overflow() {
    let minimum = i32::MIN as u64;
    for (name, a, b, result) in [
        ("divu", 7, 0, u64::MAX),
        ("remu", 7, 0, 7),
        ("div", 7, 0, u64::MAX),
        ("rem", 7, 0, 7),
        ("div", minimum, u64::MAX, minimum),
        ("rem", minimum, u64::MAX, 0),
    ] {
        let word = named(name, Xlen::Rv32).registers(7, 5, 6);
        assert_eq!(Executor::new(Xlen::Rv32, word).run(a, b, 7), result, "{name}");
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
