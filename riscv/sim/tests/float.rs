//! Floating-point results and exceptions worked out by hand from IEEE 754 and the ISA manual's chapters "F" and "D",
//! for cases that random numbers rarely reach.

use crate::common::encode::named;
use crate::common::{BASE, words};
use tress_sim::machine::Region;
use tress_sim::{Bus, Event, Hart, Isa, Machine, Reg, Retired, Xlen};

/// Runs an instruction on f1, f2 and f3 (or x1). Returns f4 (or x4) and the exceptions.
fn run(name: &str, rounding: u32, operands: &[u64]) -> (u64, u8) {
    let machine = Machine { region: vec![Region::ram(BASE, 0x1000)], device: Vec::new(), ..Machine::generic() };
    let mut bus = Bus::new(&machine);
    let instruction = named(name, Xlen::Rv64);
    let mut word = instruction.bits | 4 << 7 | 1 << 15 | rounding << 12;
    if operands.len() > 1 {
        word |= 2 << 20;
    }
    if operands.len() > 2 {
        word |= 3 << 27;
    }
    assert!(bus.memory.load(BASE, &words(&[word])));
    let mut hart = Hart::new(&machine, Isa::full(Xlen::Rv64), 0, BASE);
    hart.enable_float();
    for (number, operand) in (1..).zip(operands) {
        hart.set_register(Reg::integer(number), *operand);
        hart.set_register(Reg::float(number), *operand);
    }
    let mut retired = Retired::default();
    assert_eq!(hart.step(&mut bus, &mut retired).unwrap(), Event::Retired);
    (hart.register(retired.destination), hart.fcsr())
}

fn single(value: f32) -> u64 {
    0xffff_ffff_0000_0000 | u64::from(value.to_bits())
}

/// Each line of float.txt.
#[test]
fn results_and_exceptions() {
    const EXCEPTIONS: [&str; 5] = ["inexact", "underflow", "overflow", "divide-by-zero", "invalid"];
    let bits = |text: &str| match (text.strip_prefix("0x"), text.strip_suffix('f').filter(|_| !text.ends_with("inf"))) {
        (Some(bits), _) => u64::from_str_radix(bits, 16).unwrap(),
        (_, Some(value)) => single(value.parse().unwrap()),
        _ => text.parse::<f64>().unwrap().to_bits(),
    };
    for line in include_str!("common/float.txt").lines().skip(1).filter(|line| !line.starts_with('#')) {
        let (left, right) = line.split_once(" = ").expect(line);
        let [name, rounding, operands @ ..] = &left.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let operands: Vec<u64> = operands.iter().map(|text| bits(text)).collect();
        let mut right = right.split(' ');
        let result = bits(right.next().unwrap());
        let place = |name: &str| EXCEPTIONS.iter().position(|known| *known == name).expect(line);
        let exceptions = right.map(|name| 1 << place(name)).sum();
        assert_eq!(run(name, rounding.parse().unwrap(), &operands), (result, exceptions), "{line}");
    }
}
