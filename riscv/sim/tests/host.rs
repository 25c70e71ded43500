//! Requests of a program to the host: to print, to read, to exit.

use crate::common::encode::{branch, jal};
use crate::common::{BASE, BOTH, Code};
use crate::machine::{EBREAK, ECALL, LOOP, NOP, TOHOST, WFI, trap_of};
use tress_sim::machine::{Kind, Region};
use tress_sim::{ErrorKind, Machine, Model, Reg, Simulation, Xlen, cause};

#[test]
fn ends_by_htif() {
    for xlen in BOTH {
        // In two halves, as riscv-tests do.
        let code = Code::new(xlen).constant(5, TOHOST as u32).addi(6, 0, 7 << 1 | 1).store("sw", 5, 6, 0);
        let mut system = code.store("sw", 5, 0, 4).word(LOOP).system(1);
        let instructions = if xlen == Xlen::Rv32 { 5 } else { 7 };
        assert_eq!(system.run(100).unwrap(), Some(7));
        assert_eq!(system.instructions(), instructions);
        let report = system.report();
        assert_eq!((report.exit_code, report.instructions, report.cycles), (Some(7), instructions, instructions));
        // Only the lower half.
        let code = Code::new(xlen).constant(5, TOHOST as u32).addi(6, 0, 1).store("sw", 5, 6, 0);
        assert_eq!(code.word(LOOP).system(1).run(100).unwrap(), Some(0));
        // The system call `exit` with a code whose low byte is 0.
        let code = Code::new(xlen).constant(5, BLOCK).addi(6, 0, 93).store("sw", 5, 6, 0).addi(6, 0, 256);
        let code = code.store("sw", 5, 6, 8).constant(6, TOHOST as u32).store("sw", 6, 5, 0).store("sw", 6, 0, 4);
        assert_eq!(code.word(LOOP).system(1).run(100).unwrap(), Some(256));
    }
}

#[test]
fn prints_by_htif() {
    // The direct command: device 1, command 1. Start code has cleared the low half, the high one, or both. Then either half comes first.
    let begin = || {
        let code = Code::new(Xlen::Rv32).constant(5, TOHOST as u32).constant(6, 0x0101_0000);
        code.addi(7, 0, i32::from(b'A'))
    };
    for cleared in [&[][..], &[0], &[4], &[0, 4], &[4, 0]] {
        for order in [[0, 4], [4, 0]] {
            let code = cleared.iter().fold(begin(), |code, half| code.store("sw", 5, 0, *half));
            let code = order.iter().fold(code, |code, half| code.store("sw", 5, if *half == 0 { 7 } else { 6 }, *half));
            let code = code.addi(7, 0, 1).store("sw", 5, 0, 4).store("sw", 5, 7, 0);
            let mut system = code.word(LOOP).system(1);
            assert_eq!(system.run(1000).unwrap(), Some(0), "{cleared:?} {order:?}");
            assert_eq!(system.bus.console(), b"A");
        }
    }

    // The system call `write`, whose number and arguments are in memory.
    for (xlen, descriptor) in BOTH.into_iter().flat_map(|xlen| [(xlen, 1), (xlen, 2)]) {
        let block = 0x8001_0000;
        let code = Code::new(xlen).constant(5, block).addi(6, 0, 64).store("sw", 5, 6, 0).addi(6, 0, descriptor);
        let code = code.store("sw", 5, 6, 8).constant(7, block + 64).store("sw", 5, 7, 16).addi(6, 0, 2);
        let code = code.store("sw", 5, 6, 24).constant(6, 0x0000_6b6f).store("sw", 7, 6, 0);
        let code = code.constant(8, TOHOST as u32).store("sw", 8, 5, 0).store("sw", 8, 0, 4);
        let mut system = code.word(LOOP).system(1);
        system.bus.set_errors(Box::new(std::io::sink()));
        assert_eq!(system.run(100).unwrap(), None);
        assert_eq!(system.bus.console(), if descriptor == 1 { &b"ok"[..] } else { b"" });
        assert_eq!(system.bus.memory.read(u64::from(block)), Some(2_u64.to_le_bytes()));
        assert_eq!(system.bus.memory.read(TOHOST), Some([0; 8]));
        assert_eq!(system.bus.memory.read(TOHOST + 8), Some(1_u64.to_le_bytes()));
    }
}

#[test]
fn prints_by_uarts_and_ends_by_finisher() {
    for xlen in BOTH {
        let code = Code::new(xlen).constant(5, 0x1000_0000).addi(6, 0, i32::from(b'a')).store("sb", 5, 6, 0);
        let code = code.i("lbu", 7, 5, 5).constant(5, 0x1001_3000);
        let code = code.addi(6, 6, 1).store("sw", 5, 6, 0).i("lw", 28, 5, 0);
        let code = code.constant(5, 0x0010_0000).constant(6, 0x0005_3333).store("sw", 5, 6, 0);
        let mut system = code.system(1);
        assert_eq!(system.run(100).unwrap(), Some(5));
        assert_eq!(system.bus.console(), b"ab");
        // The transmitter is empty, and not full.
        assert_eq!(system.harts[0].register(Reg::integer(7)), 0x60);
        assert_eq!(system.harts[0].register(Reg::integer(28)), 0);
    }
}

#[test]
fn semihosting() {
    for xlen in BOTH {
        let text = 0x8001_0000;
        let code = Code::new(xlen).constant(11, text).constant(6, 0x0021_6968).store("sw", 11, 6, 0);
        let code = code.semihosting(4);
        // SYS_EXIT_EXTENDED with a block of two words.
        let store = if xlen == Xlen::Rv32 { "sw" } else { "sd" };
        let second = if xlen == Xlen::Rv32 { 4 } else { 8 };
        let code = code.constant(6, 0x20026).store(store, 11, 6, 0).addi(6, 0, 3).store(store, 11, 6, second);
        let mut system = code.semihosting(0x20).system(1);
        assert_eq!(system.run(100).unwrap(), Some(3));
        assert_eq!(system.bus.console(), b"hi!");
    }
    // SYS_WRITE0 of more than other calls transfer, up to a zero byte or to the end of memory.
    for (xlen, end) in BOTH.into_iter().flat_map(|xlen| [(xlen, &b"END\0no"[..]), (xlen, b"END")]) {
        let text = [&[b'a'; 200_000], end].concat();
        let bytes = (text.len() as u64).next_multiple_of(0x1000);
        let start = BASE + 0x10_0000 + bytes - text.len() as u64;
        let code = Code::new(xlen).constant(11, start as u32).semihosting(4).word(LOOP);
        let machine = Machine { region: vec![Region::ram(BASE, 0x10_0000 + bytes)], ..Machine::generic() };
        let mut system = code.on(&machine);
        assert!(system.bus.memory.load(start, &text));
        assert_eq!(system.run(20).unwrap(), None);
        assert!(system.bus.console() == text.strip_suffix(b"\0no").unwrap_or(&text));
    }
    // An ebreak without the shifts is a breakpoint.
    assert_eq!(trap_of(&Code::new(Xlen::Rv32).word(NOP).word(EBREAK).fails()), (cause::BREAKPOINT, BASE + 4));
}

/// A half-written request is served once its hart sleeps.
#[test]
fn half_a_request_is_served_when_all_harts_sleep() {
    for xlen in BOTH {
        let code = Code::new(xlen).constant(5, TOHOST as u32).addi(6, 0, 5 << 1 | 1).store("sw", 5, 6, 0).word(WFI);
        let code = code.word(LOOP);
        assert_eq!(code.system(1).run(100).expect("no deadlock"), Some(5));
        let machine = Machine::preset("raptor").expect("a preset");
        let mut simulation = Simulation::new(&machine, Model::Pipeline, code.image()).unwrap();
        assert_eq!(simulation.run(100).expect("no deadlock"), Some(5));
    }
}

/// A timer that no run reaches is not an overflow: no hart wakes up.
#[test]
fn a_timer_far_away_never_comes() {
    for preset in ["generic", "e31", "raptor"] {
        let code = Code::new(Xlen::Rv32).constant(5, 0x0200_4000).addi(6, 0, -1).store("sw", 5, 6, 0);
        let code = code.constant(6, 0x0fff_ffff).store("sw", 5, 6, 4).addi(7, 0, 1 << 7).csrw(0x304, 7).word(WFI);
        let error = match preset {
            "generic" => code.word(LOOP).system(1).run(100).expect_err("sleeps"),
            preset => {
                let machine = Machine::preset(preset).expect("a preset");
                let mut simulation = Simulation::new(&machine, Model::Pipeline, code.word(LOOP).image()).unwrap();
                simulation.run(100).expect_err("sleeps")
            }
        };
        assert!(matches!(error.kind, ErrorKind::Asleep), "{preset}: {error}");
    }
}

/// The latest timer that comes is before cycle 2^50: the slots in which all harts slept until then are no overflow.
#[test]
fn the_latest_timer_comes() {
    let mut machine = Machine::preset("raptor").expect("a preset");
    machine.harts = 64;
    machine.set_issue(64).expect("a width");
    for bits in [50, 51, 56, 63] {
        let ticks = ((1 << bits) - 1) / machine.cycles_per_tick;
        let code = Code::new(Xlen::Rv64).csrr(7, 0xf14).i("slli", 7, 7, 3).constant(5, 0x0200_4000).r("add", 5, 5, 7);
        let code = code.constant(6, ticks as u32).store("sw", 5, 6, 0).constant(6, (ticks >> 32) as u32);
        let code = code.store("sw", 5, 6, 4).addi(7, 0, 1 << 7).csrw(0x304, 7).word(WFI).constant(5, TOHOST as u32);
        let code = code.addi(6, 0, 1).store("sd", 5, 6, 0).word(LOOP);
        let mut simulation = Simulation::new(&machine, Model::Pipeline, code.image()).unwrap();
        match simulation.run(10_000) {
            Ok(exit_code) => assert_eq!((exit_code, bits), (Some(0), 50)),
            Err(error) => assert!(matches!(error.kind, ErrorKind::Asleep) && bits > 50, "{bits}: {error}"),
        }
        let slots = simulation.report().timing.expect("a model").slots;
        assert_eq!(
            slots.idle > 60 * 64 * (ticks.min(1 << 43) - 10_000) * machine.cycles_per_tick,
            bits == 50,
            "{slots:?}"
        );
    }
}

/// Stores these words from x11 on.
fn block(code: Code, words: &[u32]) -> Code {
    let (store, bytes) = if code.xlen == Xlen::Rv32 { ("sw", 4) } else { ("sd", 8) };
    let code = code.constant(11, BLOCK);
    (0..).zip(words).fold(code, |code, (at, word)| code.constant(6, *word).store(store, 11, 6, at * bytes))
}

const BLOCK: u32 = 0x8001_0000;
const BUFFER: u32 = 0x8001_0100;
const NAME: u32 = 0x8001_0200;

/// A file lists the features of the host, by the RISC-V Semihosting specification 1.0, chapter "Feature detection".
#[test]
fn semihosting_lists_its_features() {
    for xlen in BOTH {
        let name = b":semihosting-features\0\0\0";
        let code = name.chunks(4).enumerate().fold(Code::new(xlen).constant(7, NAME), |code, (at, four)| {
            let word = u32::from_le_bytes(four.try_into().unwrap_or([0; 4]));
            code.constant(6, word).store("sw", 7, 6, 4 * at as i32)
        });
        let code = block(code, &[NAME, 0, 21]).semihosting(1).addi(20, 10, 0);
        // Its length, then two reads, the second at the end.
        let kept = if xlen == Xlen::Rv32 { "sw" } else { "sd" };
        let handle = |code: Code| code.constant(11, BLOCK).store(kept, 11, 20, 0);
        let code = handle(code).semihosting(0x0c).addi(21, 10, 0);
        let code = handle(block(code, &[0, BUFFER, 8])).semihosting(6).addi(22, 10, 0);
        let code = handle(block(code, &[0, BUFFER, 8])).semihosting(6).addi(23, 10, 0);
        let code = handle(code).semihosting(2).addi(24, 10, 0);
        let mut system = code.addi(10, 0, 0).word(LOOP).system(1);
        assert_eq!(system.run(300).unwrap(), None);
        let register = |number| system.harts[0].register(Reg::integer(number));
        assert!(register(20) as i32 > 0, "a handle");
        assert_eq!([21, 22, 23, 24].map(register), [5, 3, 8, 0]);
        // SH_EXT_EXIT_EXTENDED, SH_EXT_STDOUT_STDERR.
        assert_eq!(system.bus.memory.read(BUFFER.into()), Some(*b"SHFB\x03"));
    }
}

/// Both report the end: SYS_READ that it read nothing, SYS_READC by -1.
#[test]
fn semihosting_reads_the_input_to_its_end() {
    for xlen in BOTH {
        let code = Code::new(xlen).semihosting(7).addi(20, 10, 0).semihosting(7).addi(21, 10, 0);
        // The last two bytes of memory: the rest is read later.
        let code = block(code, &[1, 0x8001_fffe, 8]).semihosting(6).addi(24, 10, 0);
        let code = block(code, &[1, BUFFER, 8]).semihosting(6).addi(22, 10, 0);
        let code = block(code, &[0, BUFFER, 8]).semihosting(6).addi(23, 10, 0);
        let mut system = code.semihosting(7).word(LOOP).on(&for_linux());
        system.bus.set_input(Box::new(&b"\xffahibcd"[..]));
        assert_eq!(system.run(300).unwrap(), None);
        let register = |number| system.harts[0].register(Reg::integer(number));
        assert_eq!([20, 21, 24, 22, 23, 10].map(register), [0xff, u64::from(b'a'), 6, 5, 8, u64::MAX]);
        assert_eq!(system.bus.memory.read(0x8001_fffe), Some(*b"hi"));
        assert_eq!(system.bus.memory.read(BUFFER.into()), Some(*b"bcd"));
    }
}

/// Each line of semihosting.txt: calls that fail, and those that need nothing but the machine.
#[test]
fn results_of_semihosting() {
    let lines = || include_str!("common/semihosting.txt").lines().skip(1);
    for (xlen, line) in BOTH.into_iter().flat_map(|xlen| lines().map(move |line| (xlen, line))) {
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap_or(u64::MAX);
        let [operation, words @ .., result, errno] = &line.split(' ').map(number).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let words: Vec<u32> = words.iter().map(|word| *word as u32).collect();
        let code = block(Code::new(xlen), &words).semihosting(*operation as i32).addi(20, 10, 0);
        let mut system = code.semihosting(0x13).word(LOOP).on(&Machine { hertz: 16_000_000, ..Machine::generic() });
        system.bus.set_command_line(b"a b".to_vec());
        assert_eq!(system.run(300).unwrap(), None);
        let register = |number| system.harts[0].register(Reg::integer(number));
        assert_eq!((register(20), register(10)), (*result, *errno), "{line}");
        assert_eq!(system.bus.memory.read(BUFFER.into()) == Some(*b"a b\0"), *operation == 0x15 && *result == 0);
    }
    // A frequency that a register does not hold.
    for (xlen, result, errno) in [(Xlen::Rv32, u64::MAX, 0x16), (Xlen::Rv64, 5_000_000_000, 0)] {
        let code = Code::new(xlen).semihosting(0x31).addi(20, 10, 0).semihosting(0x13).word(LOOP);
        let mut system = code.on(&Machine { hertz: 5_000_000_000, ..Machine::generic() });
        assert_eq!(system.run(20).unwrap(), None);
        assert_eq!([20, 10].map(|number| system.harts[0].register(Reg::integer(number))), [result, errno]);
    }
}

/// Programs that poll a UART for input and print each byte.
#[test]
fn uarts_receive_the_input() {
    let upper = Code::new(Xlen::Rv32).constant(5, 0x1000_0000).i("lbu", 7, 5, 5).i("andi", 7, 7, 1);
    let upper = upper.word(branch(0, 7, 0, -8)).i("lbu", 7, 5, 0).store("sb", 5, 7, 0).word(jal(0, -20));
    let sifive = Code::new(Xlen::Rv32).constant(5, 0x1001_3000).addi(6, 0, 1).store("sw", 5, 6, 12).i("lw", 7, 5, 4);
    let sifive = sifive.word(branch(4, 7, 0, -4)).store("sw", 5, 7, 0).word(jal(0, -12));
    for code in [upper, sifive] {
        let mut system = code.system(1);
        system.bus.set_input(Box::new(&b"abc"[..]));
        assert_eq!(system.run(1000).expect("polls on"), None);
        assert_eq!(system.bus.console(), b"abc");
    }
}

/// Memory for programs that make system calls of Linux.
pub(crate) fn for_linux() -> Machine {
    Machine { region: vec![Region::ram(BASE, 0x2_0000)], hertz: 1000, ..Machine::generic() }
}

impl Code {
    /// A system call of Linux: its number and three arguments.
    fn linux(self, number: i32, arguments: [u32; 3]) -> Code {
        let code = (10..).zip(arguments).fold(self, |code, (register, value)| code.constant(register, value));
        code.addi(17, 0, number).word(ECALL)
    }
}

/// Each line of linux.txt. Numbers of calls and of errors are those of Linux's include/uapi/asm-generic.
#[test]
fn results_of_linux_calls() {
    let lines = || include_str!("common/linux.txt").lines().skip(1);
    for (xlen, line) in BOTH.into_iter().flat_map(|xlen| lines().map(move |line| (xlen, line))) {
        let (number, rest) = line.split_once(' ').expect("a number");
        let number: i32 = number.parse().unwrap();
        let value = |text| i64::from_str_radix(text, 16).unwrap();
        let [first, second, third, result] = rest.split(' ').map(value).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let result = if xlen == Xlen::Rv32 { i64::from(result as i32) } else { result };
        let code = Code::new(xlen).constant(5, NAME).constant(6, 0x6968).store("sw", 5, 6, 0);
        let code = code.linux(number, [first, second, third].map(|argument| argument as u32));
        let mut system = code.word(LOOP).on(&for_linux());
        system.serve_linux(&[b"p".to_vec()]).unwrap();
        system.bus.set_input(Box::new(&b"input"[..]));
        assert_eq!(system.run(100).unwrap(), None);
        assert_eq!(system.harts[0].register(Reg::integer(10)) as i64, result, "{line}");
        let printed = if number == 64 { result.max(0) } else { 0 };
        assert_eq!(system.bus.console(), system.bus.memory.bytes(second as u64, printed as u64));
        let word = |offset: u64| system.bus.memory.read(u64::from(BUFFER) + offset).map_or(0, u64::from_le_bytes);
        match number {
            63 if result == 5 => assert_eq!(word(0).to_le_bytes(), *b"input\0\0\0"),
            // A character device.
            80 if result == 0 => assert_eq!(word(16) as u32, 0o20_620),
            // Each of some 20 instructions takes a millisecond.
            113 => assert!((10..30).contains(&(word(8) / 1_000_000))),
            169 if first != 0 && result == 0 => assert!((10..30).contains(&(word(8) / 1000))),
            _ => {}
        }
    }
}

/// The stack pointer is a multiple of 16, below the arguments: their number, addresses and zeros.
#[test]
fn programs_start_as_on_linux() {
    for (xlen, stack, pointer) in
        [(Xlen::Rv32, 0x8001_ffc0, 0xffff_ffff_8001_ffc0), (Xlen::Rv64, 0x8001_ffb0, 0x8001_ffb0)]
    {
        let code = Code::new(xlen).i("flw", 1, 2, 0).linux(94, [0x1_0007, 0, 0]).word(LOOP);
        let mut system = code.on(&Machine { harts: 2, ..for_linux() });
        system.serve_linux(&[b"p".to_vec(), b"ab".to_vec()]).unwrap();
        assert!(system.harts.iter().all(|hart| hart.register(Reg::integer(2)) == pointer));
        let words = [0, 1, 2, 3, 4, 5, 6].map(|at| at * u64::from(xlen.bits() / 8));
        let words = words.map(|at| system.bus.memory.read(stack + at).map_or(0, u32::from_le_bytes));
        assert_eq!(words, [2, 0x8001_ffeb, 0x8001_ffed, 0, 0, 0, 0]);
        assert_eq!(system.bus.memory.bytes(0x8001_ffeb, 5), b"p\0ab\0");
        assert_eq!(system.run(100).unwrap(), Some(0x1_0007));
        // Memory that is too small for a stack or the arguments, or that cannot be written.
        let rom = Region { kind: Kind::Rom, ..Region::ram(BASE, 0x2_0000) };
        for (region, argument) in [(Region::ram(BASE, 0x1000), 0), (Region::ram(BASE, 0x2_0000), 1 << 17), (rom, 0)] {
            let mut system = Code::new(xlen).word(LOOP).on(&Machine { region: vec![region], ..for_linux() });
            let error = system.serve_linux(&[vec![b'a'; argument]]).expect_err("no stack");
            assert!(matches!(error.kind, ErrorKind::NoStack));
        }
    }
}
