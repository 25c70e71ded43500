//! Programs and the machine: exits, prints, traps, loops, stack overflows.

use std::io::{self, Write};

use crate::common::encode::{branch, jal, named};
use crate::common::{BASE, BOTH, Code, elf, words};
use tress_sim::machine::Region;
use tress_sim::{Error, ErrorKind, Event, Image, Machine, Reason, Reg, Retired, System, Xlen, cause};

pub(crate) const NOP: u32 = 0x13;
pub(crate) const LOOP: u32 = 0x6f;
pub(crate) const WFI: u32 = 0x1050_0073;
pub(crate) const ECALL: u32 = 0x73;
pub(crate) const EBREAK: u32 = 0x0010_0073;
const MRET: u32 = 0x3020_0073;
const FENCE_I: u32 = 0x100f;

const MSTATUS: u32 = 0x300;
const MIE: u32 = 0x304;
const MTVEC: u32 = 0x305;
const MCOUNTEREN: u32 = 0x306;
const MENVCFG: u32 = 0x30a;
const MEPC: u32 = 0x341;
const MCAUSE: u32 = 0x342;
const MTVAL: u32 = 0x343;
const MHARTID: u32 = 0xf14;
/// Bits of `mstatus`.
const MPRV: u32 = 1 << 17;
const TW: u32 = 1 << 21;

impl Code {
    /// Loads a 32-bit constant, zero-extended as for addresses.
    pub(crate) fn constant(self, register: u32, value: u32) -> Code {
        let xlen = self.xlen;
        let upper = value.wrapping_add(0x800) & !0xfff;
        let low = value.wrapping_sub(upper) as i32;
        let code = self.word(named("lui", xlen).bits | upper | register << 7).addi(register, register, low);
        match xlen {
            Xlen::Rv32 => code,
            Xlen::Rv64 => code.i("slli", register, register, 32).i("srli", register, register, 32),
        }
    }

    pub(crate) fn addi(self, rd: u32, rs1: u32, immediate: i32) -> Code {
        self.i("addi", rd, rs1, immediate)
    }

    /// Pads with NOPs up to this offset from the start.
    fn pad_to(mut self, offset: usize) -> Code {
        assert!(4 * self.words.len() <= offset);
        self.words.resize(offset / 4, NOP);
        self
    }

    pub(crate) fn system(&self, harts: usize) -> System {
        self.on(&Machine { harts, ..Machine::generic() })
    }

    pub(crate) fn on(&self, machine: &Machine) -> System {
        System::new(machine, self.image()).unwrap()
    }

    pub(crate) fn image(&self) -> Image {
        let symbols = [("start", BASE), ("tohost", TOHOST), ("fromhost", TOHOST + 8)];
        let mut bytes = words(&self.words);
        bytes.resize((TOHOST - BASE) as usize + 64, 0);
        Image::parse(&elf(self.xlen, BASE, &bytes, &symbols)).unwrap()
    }

    pub(crate) fn fails(&self) -> Error {
        self.system(1).run(100_000).expect_err("fails")
    }
}

pub(crate) const TOHOST: u64 = BASE + 0x800;

fn place(error: &Error) -> (u64, u64) {
    let place = error.place.as_ref().expect("has a place");
    (place.pc, place.instructions)
}

pub(crate) fn trap_of(error: &Error) -> (u64, u64) {
    match &error.kind {
        ErrorKind::Unhandled(trap) | ErrorKind::TrapLoop(trap) => (trap.cause, trap.value),
        other => panic!("{other}"),
    }
}

#[test]
fn traps_without_a_handler_report_cause_and_place() {
    for xlen in BOTH {
        // pmpcfg1 belongs to RV32.
        let no_register: u32 = if xlen == Xlen::Rv32 { 0x7fe } else { 0x3a1 };
        for (word, expected) in [
            (0, (cause::ILLEGAL_INSTRUCTION, 0)),
            (0xffff_ffff, (cause::ILLEGAL_INSTRUCTION, 0xffff_ffff)),
            (ECALL, (cause::ECALL_MACHINE, 0)),
            (named("lw", xlen).immediate(5, 0, 16), (cause::LOAD_ACCESS, 16)),
            (named("sw", xlen).store(0, 5, 16), (cause::STORE_ACCESS, 16)),
            // jalr x0, 64(x0): there is no memory at the target.
            (64 << 20 | 0x67, (cause::INSTRUCTION_ACCESS, 64)),
            // A CSR that does not exist, and one that is read-only.
            (0x7ff << 20 | 2 << 12 | 0x73, (cause::ILLEGAL_INSTRUCTION, 0x7ff0_2073)),
            (no_register << 20 | 2 << 12 | 0x73, (cause::ILLEGAL_INSTRUCTION, u64::from(no_register) << 20 | 0x2073)),
            (MHARTID << 20 | 1 << 12 | 0x73, (cause::ILLEGAL_INSTRUCTION, 0xf140_1073)),
            // The floating-point unit is off.
            (0x0000_0053, (cause::ILLEGAL_INSTRUCTION, 0x53)),
            (named("lr.w", xlen).registers(5, 1, 0), (cause::LOAD_ACCESS, 0)),
        ] {
            let error = Code::new(xlen).word(NOP).word(word).fails();
            assert!(matches!(error.kind, ErrorKind::Unhandled(_)), "{error}");
            assert_eq!(trap_of(&error), expected, "{error}");
            let jumped = expected.0 == cause::INSTRUCTION_ACCESS;
            assert_eq!(place(&error), if jumped { (64, 2) } else { (BASE + 4, 1) });
            if !jumped {
                assert_eq!(error.place.as_ref().unwrap().function, Some(("start".into(), 4)));
            }
        }
    }
}

#[test]
fn interrupts_without_a_handler_are_errors() {
    for xlen in BOTH {
        // msip = 1 or mtimecmp = 0.
        for (number, register, value) in [(3, 0x0200_0000, 1), (7, 0x0200_4000, 0)] {
            let code = Code::new(xlen).constant(5, register).addi(6, 0, value).store("sw", 5, 6, 0);
            let code = code.store("sw", 5, 0, 4).addi(7, 0, 1 << number).csrw(MIE, 7).addi(7, 0, 8).csrw(MSTATUS, 7);
            let error = code.word(LOOP).fails();
            assert!(matches!(error.kind, ErrorKind::Unhandled(_)), "{error}");
            assert_eq!(trap_of(&error), (1 << (xlen.bits() - 1) | number, 0));
        }
    }
}

/// Each line of reasons.txt: a machine, an instruction, and why that is illegal.
#[test]
fn traps_say_why() {
    for line in include_str!("common/reasons.txt").lines().skip(1) {
        let [isa, word, reason] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let machine = Machine { isa: isa.into(), ..Machine::generic() };
        let code = Code::new(Xlen::Rv32).word(u32::from_str_radix(word, 16).expect("a number"));
        match code.on(&machine).run(10).expect_err("traps").kind {
            ErrorKind::Unhandled(trap) => assert_eq!(format!("{:?}", trap.reason), reason, "{line}"),
            other => panic!("{other}"),
        }
    }
}

/// `cbo.zero` clears the 64 bytes around its address, which must be memory that can be written; the others have no effect,
/// where there is anything.
#[test]
fn blocks_of_caches() {
    let block = |operation: u32| operation << 20 | 5 << 15 | 0x200f;
    for xlen in BOTH {
        for (operation, cleared) in [(0, 0), (1, 0), (2, 0), (4, 64)] {
            let mut system =
                Code::new(xlen).constant(5, BASE as u32 + 0x475).word(block(operation)).word(LOOP).system(1);
            assert!(system.bus.memory.load(BASE + 0x400, &[7; 256]));
            system.run(10).expect("works");
            let bytes = system.bus.memory.bytes(BASE + 0x400, 256);
            assert_eq!(bytes.iter().filter(|byte| **byte == 0).count(), cleared);
            assert!(bytes[64..64 + cleared].iter().all(|byte| *byte == 0));
            // Flash, a UART, and nothing.
            for (address, allowed) in [(0x2000_0041, operation != 4), (0x1000_0001, operation != 4), (0x41, false)] {
                let code = Code::new(xlen).constant(5, address).word(block(operation)).word(LOOP);
                match code.system(1).run(10) {
                    Ok(_) => assert!(allowed, "{operation} {address:#x}"),
                    Err(error) => {
                        assert_eq!(trap_of(&error), (cause::STORE_ACCESS, address.into()));
                        assert!(!allowed, "{operation} {address:#x}");
                    }
                }
            }
        }
    }
}

/// `amo` instructions work on the registers of all devices; `lr` and `sc` do not.
#[test]
fn atomic_operations_on_devices() {
    for xlen in BOTH {
        for (register, value) in [(0x0200_4000, 7), (0x1000_0000, 0), (0x1001_3018, 5), (0x0010_0000, 0)] {
            let code = Code::new(xlen).constant(5, register).addi(6, 0, value).r("amoswap.w", 7, 5, 6);
            let mut system = code.r("amoadd.w", 8, 5, 0).word(LOOP).system(1);
            system.run(20).expect("works");
            assert_eq!(system.harts[0].register(Reg::integer(8)), value as u64, "{register:#x}");
            for (name, fault) in [("lr.w", cause::LOAD_ACCESS), ("sc.w", cause::STORE_ACCESS)] {
                let error = Code::new(xlen).constant(5, register).r(name, 7, 5, 0).fails();
                assert_eq!(trap_of(&error), (fault, register.into()));
                assert!(matches!(error.kind, ErrorKind::Unhandled(trap) if trap.reason == Some(Reason::NoReservation)));
            }
        }
    }
}

/// `mret` leads to user mode, where registers of machine mode are illegal as are those that it forbids, and interrupts
/// are on.
#[test]
fn user_mode() {
    for xlen in BOTH {
        let begin = Code::new(xlen).constant(5, BASE as u32 + 0x80).csrw(MTVEC, 5).constant(6, BASE as u32 + 0x70);
        let begin = begin.csrw(MEPC, 6).constant(6, 0x0200_4000).store("sw", 6, 0, 0).store("sw", 6, 0, 4);
        let begin = begin.csrw(MSTATUS, 0);
        // Writes a register, and then executes an instruction in user mode.
        let run_with = |(number, value): (u32, u32), enabled: i32, protection: i32, word: u32| {
            let code = Code { xlen, words: begin.words.clone() }.constant(7, value).csrw(number, 7);
            let code = code.addi(7, 0, enabled).csrw(MIE, 7).addi(7, 0, protection).csrw(0x3a0, 7).word(MRET);
            let code = code.pad_to(0x70).word(word).word(ECALL).pad_to(0x80);
            let mut system = code.csrr(20, MCAUSE).csrr(21, MSTATUS).word(LOOP).system(1);
            system.run(100)?;
            Ok([20, 21].map(|number| system.harts[0].register(Reg::integer(number)) & 0xff_1fff))
        };
        let run = |enabled, protection, word| run_with((MSTATUS, 0), enabled, protection, word);
        let cases = [(0, ECALL, cause::ECALL_USER), (0, MRET, 2), (0, 0x3000_22f3, 2), (0x80, LOOP, 7)];
        for (enabled, word, expected) in cases {
            let [cause, mstatus] = run(enabled, 0x1f, word).expect("has a handler");
            assert_eq!((cause, mstatus & 0x1800), (expected, 0), "{word:#x}");
        }
        // `mcounteren` and `mstatus.TW` take rights away. `menvcfg` gives none.
        let read = |number: u32| number << 20 | 2 << 12 | 5 << 7 | 0x73;
        let narrow = xlen == Xlen::Rv32;
        for (register, value, word, allowed) in [
            (MENVCFG, u32::MAX, read(0xc00), true),
            (MENVCFG, u32::MAX, 0x0010_200f, false),
            (MCOUNTEREN, 0, read(0xc00), false),
            (MCOUNTEREN, 1, read(0xc00), true),
            (MCOUNTEREN, 1, read(0xc02), false),
            (MCOUNTEREN, 1 << 31, read(0xc1f), true),
            (MCOUNTEREN, !(1 << 3), read(0xc03), false),
            (MCOUNTEREN, 1 << 3, read(0xc83), narrow),
            (MCOUNTEREN, !(1 << 3), read(0xc83), false),
            (MSTATUS, TW, WFI, false),
            (MSTATUS, MPRV, NOP, true),
        ] {
            let [cause, mstatus] = run_with((register, value), 0, 0x1f, word).expect("has a handler");
            let expected = if allowed { cause::ECALL_USER } else { cause::ILLEGAL_INSTRUCTION };
            assert_eq!(cause, expected, "{register:#x} {value:#x} {word:#x}");
            // `mret` to user mode clears MPRV.
            assert_eq!(mstatus & u64::from(TW | MPRV), u64::from(if register == MSTATUS { value & TW } else { 0 }));
        }
        let code = Code::new(xlen).csrr(20, MCOUNTEREN).addi(6, 0, 5).csrw(MCOUNTEREN, 6).csrr(21, MCOUNTEREN);
        let mut system = code.csrw(MENVCFG, 6).csrr(22, MENVCFG).word(LOOP).system(1);
        assert_eq!(system.run(20).unwrap(), None);
        let register = |number| system.harts[0].register(Reg::integer(number)) as u32;
        assert_eq!([20, 21, 22].map(register), [u32::MAX, 5, 0]);
        // An entry of protected memory that allows reading only.
        let error: Error = run(0, 0x19, NOP).expect_err("is refused");
        assert!(matches!(error.kind, ErrorKind::Protection), "{error}");
        // It applies to loads and stores of machine mode with MPRV.
        for (mode, refused) in [(MPRV, true), (MPRV | 3 << 11, false), (0, false)] {
            let code = Code::new(xlen).constant(6, mode).addi(7, 0, 0x19).csrw(0x3a0, 7).csrw(MSTATUS, 6).word(LOOP);
            let error = code.system(1).run(20).err();
            assert_eq!(error.is_some_and(|error| matches!(error.kind, ErrorKind::Protection)), refused);
        }
    }
}

#[test]
fn rom_cannot_be_written() {
    let code = Code::new(Xlen::Rv32).constant(5, 0x2000_0000).store("sw", 5, 5, 0);
    assert_eq!(trap_of(&code.fails()), (cause::STORE_ACCESS, 0x2000_0000));
}

/// A function that calls itself until its stack overflows.
#[test]
fn a_program_that_overflows_its_stack() {
    for xlen in BOTH {
        let code = Code::new(xlen).constant(2, BASE as u32 + 0x1000_0000).addi(2, 2, -2048);
        let back = -4_i32;
        let code = code.store("sw", 2, 1, 0).word(jal(1, -8)).word(jal(0, back));
        let error = code.on(&small()).run(10_000_000).expect_err("fails");
        match &error.kind {
            ErrorKind::Unhandled(trap) => {
                assert_eq!(trap.cause, cause::STORE_ACCESS);
                assert_eq!(trap.lost_stack, Some(trap.value));
            }
            other => panic!("{other}"),
        }
        assert!(error.to_string().contains("stack pointer"), "{error}");
    }
}

/// A machine with little RAM.
fn small() -> Machine {
    let mut machine = Machine::generic();
    machine.region[1].size = 0x10000;
    machine.region.push(Region::ram(BASE + 0x0fff_0000, 0x10000));
    machine
}

#[test]
fn handlers_that_trap_themselves() {
    for xlen in BOTH {
        // There is no memory at the handler's address.
        let error = Code::new(xlen).csrw(MTVEC, 0).word(ECALL).fails();
        assert!(matches!(error.kind, ErrorKind::TrapLoop(_)), "{error}");
        assert_eq!(trap_of(&error), (cause::INSTRUCTION_ACCESS, 0));
        // The handler executes an instruction, then the instruction that it should handle.
        let code = Code::new(xlen).constant(5, BASE as u32 + 0x40).csrw(MTVEC, 5).word(ECALL).pad_to(0x40);
        let error = code.word(NOP).word(0).fails();
        assert!(matches!(error.kind, ErrorKind::TrapLoop(_)), "{error}");
        assert_eq!(place(&error).0, BASE + 0x44);
    }
}

/// The handler stores cause, value and address, and continues after the instruction.
#[test]
fn traps_are_handled() {
    for xlen in BOTH {
        let code = Code::new(xlen).constant(5, BASE as u32 + 0x40).csrw(MTVEC, 5);
        let load = BASE + 4 * code.words.len() as u64;
        let code = code
            .i("lw", 9, 0, 4)
            .addi(12, 0, 1)
            .word(WFI)
            .pad_to(0x40)
            .csrr(20, MCAUSE)
            .csrr(21, MTVAL)
            .csrr(22, MEPC)
            .csrr(23, MSTATUS)
            .addi(6, 22, 4)
            .csrw(MEPC, 6)
            .word(MRET);
        let mut system = code.system(1);
        // At the end it waits for an interrupt that never occurs.
        assert!(matches!(system.run(1000).expect_err("sleeps").kind, ErrorKind::Asleep));
        let register = |number| system.harts[0].register(Reg::integer(number)) & xlen.address_mask();
        assert_eq!((register(20), register(21), register(22)), (cause::LOAD_ACCESS, 4, load));
        assert_eq!((register(9), register(12)), (0, 1));
        // The previous mode is machine mode, and interrupts are off.
        assert_eq!(register(23) & 0x1888, 0x1800);
    }
}

#[test]
fn the_timer_wakes_and_interrupts() {
    for xlen in BOTH {
        // mtimecmp = 3, in ticks of 100 cycles; enabled in mie and mstatus.
        let code =
            Code::new(xlen).constant(5, BASE as u32 + 0x80).csrw(MTVEC, 5).constant(6, 0x0200_4000).addi(7, 0, 3);
        let code = code.store("sw", 6, 7, 0).store("sw", 6, 0, 4).addi(7, 0, 0x80).csrw(MIE, 7).addi(7, 0, 8);
        let code = code.csrw(MSTATUS, 7).word(WFI).addi(13, 0, 1).word(LOOP).pad_to(0x80);
        let code = code.csrr(20, MCAUSE).csrr(21, 0xc01).constant(5, TOHOST as u32).addi(6, 0, 1).store("sw", 5, 6, 0);
        let mut system = code.store("sw", 5, 0, 4).word(LOOP).system(1);
        assert_eq!(system.run(1000).unwrap(), Some(0));
        let register = |number| system.harts[0].register(Reg::integer(number)) & xlen.address_mask();
        assert_eq!(register(20), 1 << (xlen.bits() - 1) | 7);
        assert!(register(21) >= 3 && system.harts[0].cycle >= 300);
        assert_eq!(register(13), 0);
    }
}

/// A program that sleeps, and echoes what UART0 receives: source 3 of the PLIC.
#[test]
fn a_uart_wakes_through_the_plic() {
    let fe310 = Machine::preset("fe310").expect("a preset");
    for (xlen, machine) in BOTH.map(|xlen| (xlen, Machine::generic())).into_iter().chain([(Xlen::Rv32, fe310)]) {
        // Priority, enable and threshold; div 9, so that a character takes 100 cycles; rxen and rxwm.
        let code = Code::new(xlen).constant(5, BASE as u32 + 0x100).csrw(MTVEC, 5).constant(8, 0x0c00_0000);
        let code = code.addi(7, 0, 1).store("sw", 8, 7, 12).constant(9, 0x0c00_2000).addi(7, 0, 8).store("sw", 9, 7, 0);
        let code = code.constant(9, 0x0c20_0000).store("sw", 9, 0, 0).constant(18, 0x1001_3000).addi(7, 0, 9);
        let code =
            code.store("sw", 18, 7, 24).addi(7, 0, 1).store("sw", 18, 7, 12).addi(7, 0, 2).store("sw", 18, 7, 16);
        // Without interrupts a program looks at `mip`: bit 11, as long as it is zero.
        let poll = code.clone().csrr(20, 0x344).i("andi", 21, 20, -2048).word(0xfe0a_8ce3).word(LOOP);
        let mut system = poll.on(&machine);
        system.bus.set_input(Box::new(&b"a"[..]));
        assert_eq!(system.run(1000).unwrap(), None);
        assert_eq!(system.harts[0].register(Reg::integer(20)), 0x800);
        let code = code.constant(7, 0x800).csrw(MIE, 7).addi(7, 0, 8).csrw(MSTATUS, 7).word(WFI).word(jal(0, -4));
        let code = code.pad_to(0x100).csrr(20, MCAUSE).i("lw", 21, 9, 4).i("lw", 22, 9, 4).i("lw", 7, 18, 4);
        let mut system = code.store("sw", 18, 7, 0).store("sw", 9, 21, 4).word(MRET).on(&machine);
        system.bus.set_input(Box::new(&b"abc"[..]));
        let error = system.run(1000).expect_err("sleeps at the end of the input");
        assert!(matches!(error.kind, ErrorKind::Asleep), "{error}");
        assert_eq!(system.bus.console(), b"abc");
        let register = |number| system.harts[0].register(Reg::integer(number)) & xlen.address_mask();
        assert_eq!((register(20), register(21), register(22)), (1 << (xlen.bits() - 1) | 11, 3, 0));
        assert!((400..2000).contains(&system.harts[0].cycle), "{}", system.harts[0].cycle);
    }
}

#[test]
fn endless_loops_end_at_the_limit() {
    let mut system = Code::new(Xlen::Rv64).word(LOOP).system(2);
    assert_eq!(system.run(12_345).unwrap(), None);
    assert_eq!(system.instructions(), 12_345);
}

/// After the end, further calls do not execute the following instructions.
#[test]
fn after_the_end_nothing_runs() {
    for xlen in BOTH {
        let code = Code::new(xlen).constant(5, TOHOST as u32).addi(6, 0, 7 << 1 | 1);
        let code = code.store("sw", 5, 6, 0).store("sw", 5, 0, 4).addi(7, 0, 1).word(LOOP);
        let mut system = code.system(2);
        assert_eq!(system.run(1000).unwrap(), Some(7));
        let report = system.report();
        assert_eq!(system.run(1000).unwrap(), Some(7));
        assert_eq!(system.report(), report);
        // Without a timing model every instruction takes one cycle.
        assert!(report.timing.is_none() && report.harts.iter().all(|hart| hart.cycles == hart.instructions));
    }
}

/// Each hart adds 1 to a word a thousand times, by `amoadd` or by `lr` and `sc`. The last one to finish ends the
/// program.
#[test]
fn harts_add_up() {
    for xlen in BOTH {
        for by_reservation in [false, true] {
            let code = Code::new(xlen).constant(5, 0x8010_0000).addi(6, 0, 1000).addi(7, 0, 1);
            let code = match by_reservation {
                false => code.r("amoadd.w", 8, 5, 7),
                true => code
                    .r("lr.w", 8, 5, 0)
                    .addi(8, 8, 1)
                    .r("sc.w", 9, 5, 8)
                    // bne x9, x0, -12
                    .word(0xfe04_9ae3),
            };
            let back = if by_reservation { -20 } else { -8 };
            let code = code.addi(6, 6, -1).word(branch(1, 6, 0, back));
            // The last of four harts to arrive ends the program.
            let code = code.addi(5, 5, 64).r("amoadd.w", 8, 5, 7).addi(9, 0, 3);
            let code =
                code.word(branch(1, 8, 9, 0)).constant(5, TOHOST as u32).store("sw", 5, 7, 0).store("sw", 5, 0, 4);
            let code = code.word(LOOP);
            let mut system = code.system(4);
            assert_eq!(system.run(1_000_000).unwrap(), Some(0));
            assert_eq!(system.bus.memory.read(0x8010_0000), Some(4000_u32.to_le_bytes()));
            let again = code_run(&code);
            assert_eq!(again, (system.instructions(), system.report().cycles));
        }
    }
}

/// Instructions and cycles of a second run, divided into calls differently.
fn code_run(code: &Code) -> (u64, u64) {
    let mut system = code.system(4);
    while system.run(777).unwrap().is_none() {}
    (system.instructions(), system.report().cycles)
}

#[test]
fn a_store_of_another_hart_ends_a_reservation() {
    let xlen = Xlen::Rv64;
    let code = Code::new(xlen).constant(5, 0x8010_0000).r("lr.d", 8, 5, 0);
    let code = code.r("sc.d", 9, 5, 8).r("sc.d", 10, 5, 8);
    let mut system = code.word(LOOP).system(2);
    let mut retired = Retired::default();
    let mut step = |system: &mut System, hart: usize, steps: usize| {
        for _ in 0..steps {
            assert_eq!(system.harts[hart].step(&mut system.bus, &mut retired).unwrap(), Event::Retired);
        }
        retired
    };
    // Both reserve. The first to store succeeds; the other fails, and fails a second time too.
    step(&mut system, 0, 5);
    step(&mut system, 1, 5);
    assert_eq!(step(&mut system, 1, 1).bytes, 8);
    assert_eq!(step(&mut system, 0, 1).bytes, 0);
    step(&mut system, 0, 1);
    step(&mut system, 1, 1);
    let register = |hart: usize, number| system.harts[hart].register(Reg::integer(number));
    assert_eq!((register(0, 9), register(1, 9), register(0, 10), register(1, 10)), (1, 0, 1, 1));
}

/// Modified code has no effect until `fence.i`.
#[test]
fn changed_code_needs_fence_i() {
    for (fence, expected) in [(NOP, 1), (FENCE_I, 2)] {
        let xlen = Xlen::Rv32;
        let new = named("addi", xlen).immediate(9, 9, 2);
        // Executed with 1, then changed to 2 and executed again.
        let code = Code::new(xlen).constant(5, BASE as u32 + 24).constant(6, new).addi(9, 0, 0).word(NOP);
        let code = code.addi(9, 9, 1).word(branch(1, 7, 0, 20)).addi(7, 0, 1).store("sw", 5, 6, 0).word(fence);
        let mut system = code.word(jal(0, -20)).word(WFI).system(1);
        assert!(matches!(system.run(1000).expect_err("sleeps").kind, ErrorKind::Asleep));
        assert_eq!(system.harts[0].register(Reg::integer(9)), 1 + expected);
    }
}

#[test]
fn misaligned_access_as_the_machine_says() {
    for xlen in BOTH {
        let code = Code::new(xlen).constant(5, 0x8010_0001).store("sw", 5, 5, 0).i("lw", 6, 5, 0);
        let code = code.word(WFI);
        let mut system = code.system(1);
        assert!(matches!(system.run(100).expect_err("sleeps").kind, ErrorKind::Asleep));
        assert_eq!(system.harts[0].register(Reg::integer(6)) as u32, 0x8010_0001);
        let machine = Machine { misaligned: false, ..Machine::generic() };
        let error = code.on(&machine).run(100).expect_err("traps");
        assert_eq!(trap_of(&error), (cause::STORE_MISALIGNED, 0x8010_0001));
        // `mtval` has the first byte that is not there, as the privileged specification wants it.
        let machine = Machine { region: vec![Region::ram(BASE, 0x1000)], ..Machine::generic() };
        for (code, cause) in [
            (Code::new(xlen).constant(5, BASE as u32 + 0xffe).i("lw", 6, 5, 0), cause::LOAD_ACCESS),
            (Code::new(xlen).constant(5, BASE as u32 + 0xffe).store("sw", 5, 6, 0), cause::STORE_ACCESS),
        ] {
            assert_eq!(trap_of(&code.on(&machine).run(100).expect_err("traps")), (cause, BASE + 0x1000));
        }
    }
}

/// A write to a counter sets the value that the next instruction reads.
#[test]
fn counters() {
    for xlen in BOTH {
        let code = Code::new(xlen).csrr(5, 0xb02).csrr(6, 0xb00).addi(7, 0, 100).csrw(0xb02, 7).csrr(8, 0xc02);
        let mut system = code.csrw(0xb00, 7).csrr(9, 0xc00).csrr(10, 0x301).word(WFI).system(1);
        assert!(matches!(system.run(100).expect_err("sleeps").kind, ErrorKind::Asleep));
        let register = |number| system.harts[0].register(Reg::integer(number));
        assert_eq!([5, 6, 8, 9].map(register), [0, 1, 100, 100]);
        // ABCDFIMU and the width.
        let letters = 1 << 20 | 0b1_0001_0010_1111;
        let width = if xlen == Xlen::Rv32 { 0x4000_0000 } else { 2 << 62 };
        assert_eq!(register(10), letters | width);
    }
}

#[test]
fn marks_divide_a_program_into_regions() {
    let mark = |number: u32| number << 20 | 2 << 12 | 0x13;
    let code = Code::new(Xlen::Rv32).word(NOP).word(mark(1)).word(NOP).word(NOP).word(mark(2)).word(NOP).word(mark(0));
    let mut system = code.constant(5, TOHOST as u32).addi(6, 0, 1).store("sw", 5, 6, 0).store("sw", 5, 0, 4).system(1);
    assert_eq!(system.run(100).unwrap(), Some(0));
    let regions = system.report().regions;
    assert_eq!(regions.iter().map(|region| region.instructions).collect::<Vec<_>>(), [3, 2]);
}

/// A console that cannot be written to ends the run.
#[test]
fn a_closed_console() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let code = Code::new(Xlen::Rv64).constant(5, 0x1000_0000).store("sb", 5, 5, 0).word(LOOP);
    let image = Image::parse(&elf(Xlen::Rv64, BASE, &words(&code.words), &[])).unwrap();
    let mut system = System::new(&Machine::generic(), image).unwrap();
    system.bus.set_console(Box::new(Closed));
    assert!(matches!(system.run(100).expect_err("fails").kind, ErrorKind::Console(_)));
}
