//! Floating-point results and exceptions worked out by hand from IEEE 754 and the ISA manual's chapters "F" and "D",
//! for cases that random numbers rarely reach.

use crate::common::encode::named;
use crate::common::{BASE, words};
use tress_sim::machine::Region;
use tress_sim::{Bus, Event, Hart, Isa, Machine, Reg, Retired, Xlen};

const INEXACT: u8 = 1;
const UNDERFLOW: u8 = 2;
const OVERFLOW: u8 = 4;
const DIVIDE_BY_ZERO: u8 = 8;
const INVALID: u8 = 16;

const NEAREST: u32 = 0;
const ZERO: u32 = 1;
const DOWN: u32 = 2;
const UP: u32 = 3;
const AWAY: u32 = 4;

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

fn boxed(bits: u32) -> u64 {
    0xffff_ffff_0000_0000 | u64::from(bits)
}

#[test]
fn ties_in_every_mode() {
    // 1 + 2^-24 is halfway between 1 and the next single.
    let (one, half) = (single(1.0), boxed(0x3380_0000));
    let next = boxed(0x3f80_0001);
    for (rounding, sum) in [(NEAREST, one), (ZERO, one), (DOWN, one), (UP, next), (AWAY, next)] {
        assert_eq!(run("fadd.s", rounding, &[one, half]), (sum, INEXACT), "mode {rounding}");
    }
    // The negative values: up is toward zero.
    let (one, half, next) = (single(-1.0), boxed(0xb380_0000), boxed(0xbf80_0001));
    for (rounding, sum) in [(NEAREST, one), (ZERO, one), (DOWN, next), (UP, one), (AWAY, next)] {
        assert_eq!(run("fadd.s", rounding, &[one, half]), (sum, INEXACT), "mode {rounding}");
    }
}

#[test]
fn overflow_is_reported_in_every_mode() {
    let largest = f64::MAX.to_bits();
    let infinity = f64::INFINITY.to_bits();
    for (rounding, sum) in [(NEAREST, infinity), (ZERO, largest), (DOWN, largest), (UP, infinity), (AWAY, infinity)] {
        let flags = OVERFLOW | INEXACT;
        assert_eq!(run("fadd.d", rounding, &[largest, largest]), (sum, flags), "mode {rounding}");
    }
    // Truncated, but not beyond the largest number: no overflow.
    assert_eq!(run("fadd.d", ZERO, &[largest, 1.0_f64.to_bits()]), (largest, INEXACT));
    assert_eq!(run("fcvt.s.d", ZERO, &[1e300_f64.to_bits()]), (single(f32::MAX), OVERFLOW | INEXACT));
    assert_eq!(run("fcvt.s.d", DOWN, &[(f64::from(f32::MAX) * (1.0 + 1e-9)).to_bits()]), (single(f32::MAX), INEXACT));
}

/// Tiny after rounding: results that would stay below the smallest normal number if there were smaller exponents.
#[test]
fn underflow_is_detected_after_rounding() {
    let smallest = f32::MIN_POSITIVE;
    let normal = single(smallest);
    // Products x * 2^-126 with x just below 1, exact as f64, then converted.
    let near = |x: f64| (x * f64::from(smallest)).to_bits();
    let ulp = 2_f64.powi(-24);
    // At full precision 1 - ulp/4 rounds to 1, and 1 - ulp * 3/4 to 1 - ulp. At subnormal precision both round to 1.
    assert_eq!(run("fcvt.s.d", NEAREST, &[near(1.0 - ulp / 4.0)]), (normal, INEXACT));
    assert_eq!(run("fcvt.s.d", NEAREST, &[near(1.0 - ulp / 2.0)]), (normal, INEXACT));
    assert_eq!(run("fcvt.s.d", NEAREST, &[near(1.0 - ulp * 0.75)]), (normal, INEXACT | UNDERFLOW));
    assert_eq!(run("fcvt.s.d", UP, &[near(1.0 - ulp / 4.0)]), (normal, INEXACT));
    assert_eq!(run("fcvt.s.d", UP, &[near(1.0 - ulp)]), (normal, INEXACT | UNDERFLOW));
    // An exact subnormal result is not an underflow.
    assert_eq!(run("fcvt.s.d", NEAREST, &[near(0.5)]), (boxed(0x0040_0000), 0));
}

#[test]
fn nans_and_infinities() {
    let quiet = 0x7ff8_0000_0000_0000;
    let other_quiet = 0xfff8_0000_0000_0123;
    let signaling = 0x7ff0_0000_0000_0001;
    let infinity = f64::INFINITY.to_bits();
    let (zero, one, minus_zero) = (0, 1.0_f64.to_bits(), 1 << 63);
    for (name, operands, result) in [
        ("fadd.d", vec![other_quiet, one], (quiet, 0)),
        ("fadd.d", vec![signaling, one], (quiet, INVALID)),
        ("fsub.d", vec![infinity, infinity], (quiet, INVALID)),
        ("fmul.d", vec![infinity, zero], (quiet, INVALID)),
        ("fdiv.d", vec![zero, zero], (quiet, INVALID)),
        ("fdiv.d", vec![one, minus_zero], (infinity | 1 << 63, DIVIDE_BY_ZERO)),
        ("fdiv.d", vec![infinity, zero], (infinity, 0)),
        ("fsqrt.d", vec![(-1.0_f64).to_bits()], (quiet, INVALID)),
        ("fsqrt.d", vec![minus_zero], (minus_zero, 0)),
        ("fsqrt.d", vec![2.0_f64.to_bits()], (std::f64::consts::SQRT_2.to_bits(), INEXACT)),
        ("fsqrt.d", vec![6.25_f64.to_bits()], (2.5_f64.to_bits(), 0)),
        // The smallest subnormal is 2^-1074, and its root is 2^-537.
        ("fsqrt.d", vec![1], (0x1e60_0000_0000_0000, 0)),
        // Infinity times zero is invalid even if a quiet NaN is added.
        ("fmadd.d", vec![infinity, zero, other_quiet], (quiet, INVALID)),
        ("fmadd.d", vec![one, one, other_quiet], (quiet, 0)),
        ("fmin.d", vec![minus_zero, zero], (minus_zero, 0)),
        ("fmax.d", vec![minus_zero, zero], (zero, 0)),
        ("fmin.d", vec![signaling, one], (one, INVALID)),
        ("fmax.d", vec![other_quiet, other_quiet], (quiet, 0)),
        ("feq.d", vec![other_quiet, one], (0, 0)),
        ("feq.d", vec![minus_zero, zero], (1, 0)),
        ("flt.d", vec![other_quiet, one], (0, INVALID)),
        ("fle.d", vec![one, one], (1, 0)),
        ("fsgnjn.d", vec![one, one], ((-1.0_f64).to_bits(), 0)),
        // A value that is not a boxed single counts as a NaN, but moves copy it unchanged.
        ("fadd.s", vec![0x3f80_0000, single(1.0)], (boxed(0x7fc0_0000), 0)),
        ("fmv.x.w", vec![0x1234_5678_9abc_def0], (0xffff_ffff_9abc_def0, 0)),
    ] {
        // Rounding mode to nearest, or fixed bits.
        assert_eq!(run(name, 0, &operands), result, "{name} {operands:x?}");
    }
}

#[test]
fn a_fused_product_is_not_rounded_first() {
    // (1 + 2^-52)^2 - (1 + 2^-51) is 2^-104.
    let a = (1.0 + f64::EPSILON).to_bits();
    let c = (1.0 + 2.0 * f64::EPSILON).to_bits();
    let tiny = 2_f64.powi(-104);
    assert_eq!(run("fmsub.d", NEAREST, &[a, a, c]), (tiny.to_bits(), 0));
    assert_eq!(run("fnmsub.d", NEAREST, &[a, a, c]), ((-tiny).to_bits(), 0));
    assert_eq!(run("fnmadd.d", NEAREST, &[a, a, (-1.0 - 2.0 * f64::EPSILON).to_bits()]), ((-tiny).to_bits(), 0));
}

/// The manual's table "Domains of float-to-integer conversions and behavior for invalid inputs".
#[test]
fn conversions_to_integers() {
    for (name, value, result) in [
        ("fcvt.w.d", 2_147_483_647.0, (0x7fff_ffff, 0)),
        ("fcvt.w.d", 2_147_483_648.0, (0x7fff_ffff, INVALID)),
        ("fcvt.w.d", -2_147_483_648.9, (0xffff_ffff_8000_0000, INEXACT)),
        ("fcvt.w.d", -2_147_483_649.0, (0xffff_ffff_8000_0000, INVALID)),
        ("fcvt.w.d", f64::NAN, (0x7fff_ffff, INVALID)),
        ("fcvt.wu.d", 4_294_967_295.0, (u64::MAX, 0)),
        ("fcvt.wu.d", 4_294_967_296.0, (u64::MAX, INVALID)),
        ("fcvt.wu.d", -0.9, (0, INEXACT)),
        ("fcvt.wu.d", -1.0, (0, INVALID)),
        ("fcvt.l.d", 9.3e18, (i64::MAX as u64, INVALID)),
        ("fcvt.l.d", f64::NEG_INFINITY, (i64::MIN as u64, INVALID)),
        ("fcvt.lu.d", 1.8e19, (18_000_000_000_000_000_000, 0)),
        ("fcvt.lu.d", f64::NAN, (u64::MAX, INVALID)),
        ("fcvt.lu.d", f64::INFINITY, (u64::MAX, INVALID)),
    ] {
        assert_eq!(run(name, ZERO, &[value.to_bits()]), result, "{name} of {value}");
    }
    for (rounding, result) in [(NEAREST, 2), (ZERO, 2), (DOWN, 2), (UP, 3), (AWAY, 3)] {
        assert_eq!(run("fcvt.w.d", rounding, &[2.5_f64.to_bits()]), (result, INEXACT), "mode {rounding}");
    }
    // 2^24 + 1 is the smallest positive integer that is not a single.
    assert_eq!(run("fcvt.s.w", NEAREST, &[16_777_217]), (single(16_777_216.0), INEXACT));
    assert_eq!(run("fcvt.s.w", UP, &[16_777_217]), (single(16_777_218.0), INEXACT));
    assert_eq!(run("fcvt.d.lu", NEAREST, &[u64::MAX]), (2_f64.powi(64).to_bits(), INEXACT));
}

#[test]
fn classes() {
    for (bits, class) in [
        (f64::NEG_INFINITY.to_bits(), 0),
        ((-1.0_f64).to_bits(), 1),
        (1 << 63 | 1, 2),
        (1 << 63, 3),
        (0, 4),
        (1, 5),
        (1.0_f64.to_bits(), 6),
        (f64::INFINITY.to_bits(), 7),
        (0x7ff0_0000_0000_0001, 8),
        (0x7ff8_0000_0000_0000, 9),
    ] {
        assert_eq!(run("fclass.d", 0, &[bits]), (1 << class, 0));
    }
}
