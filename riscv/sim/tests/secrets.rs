//! Tests of the secret tracker: planted leaks, each of which must be the only finding and of the right kind; code
//! without leaks; and for every instruction, that result bits that depend on a secret are marked as secret.

use crate::common::encode::{Format, INTEGER, Instruction, branch, named};
use crate::common::{BASE, BOTH, Code, Numbers, elf_with_data, words};
use crate::host::for_linux;
use crate::machine::{ECALL, NOP};
use tress_sim::machine::Region;
use tress_sim::{
    ErrorKind, Finding, Image, Leak, Machine, Model, Reg, Secret, SecretName, SecretsReport, Simulation, System,
    Variable, Xlen,
};

const KEY: u64 = BASE + 0x400;
const DATA: u64 = BASE + 0x420;
/// Public bytes between the key and the data.
const PUBLIC: u64 = BASE + 0x410;
const ROOM: u64 = BASE + 0x500;
const TOHOST: u64 = BASE + 0x800;

/// Registers that hold addresses: of the key, the public bytes, the data, writable memory, `tohost`.
const TO_KEY: u32 = 5;
const TO_PUBLIC: u32 = 6;
const TO_DATA: u32 = 7;
const TO_ROOM: u32 = 8;
const TO_HOST: u32 = 9;

/// Begins a program that loads these addresses.
fn begin(xlen: Xlen) -> Code {
    let registers = [(TO_KEY, KEY), (TO_PUBLIC, PUBLIC), (TO_DATA, DATA), (TO_ROOM, ROOM), (TO_HOST, TOHOST)];
    registers.into_iter().fold(Code::new(xlen), |code, (register, address)| {
        // auipc, and the rest of the offset.
        let offset = (address - BASE) as i32 - 4 * code.words.len() as i32;
        code.word(0x17 | register << 7).i("addi", register, register, offset)
    })
}

impl Code {
    /// A branch over the next instruction, which has no effect.
    fn over(self, funct3: u32, rs1: u32, rs2: u32) -> Code {
        self.word(branch(funct3, rs1, rs2, 8)).i("addi", 0, 0, 0)
    }

    /// Marks bytes as secret or public from here on. Changes x30 and x31.
    fn mark(self, is_secret: bool, register: u32, offset: i32, bytes: i32) -> Code {
        self.i("addi", 30, register, offset).i("addi", 31, 0, bytes).r(
            if is_secret { "slt" } else { "sltu" },
            0,
            30,
            31,
        )
    }

    /// Adds an instruction of leaks.txt.
    fn instruction(self, text: &str) -> Code {
        let mut words = text.split(' ');
        let name = words.next().unwrap();
        let [a, b, c, d] = std::array::from_fn(|_| match words.next() {
            Some("key") => TO_KEY,
            Some("public") => TO_PUBLIC,
            Some("data") => TO_DATA,
            Some("room") => TO_ROOM,
            Some(word) if word.starts_with("0x") => u32::from_str_radix(&word[2..], 16).unwrap(),
            word => word.map_or(0, |word| word.parse().unwrap()),
        });
        match name {
            "word" => self.word(a),
            "over" => self.over(a, b, c),
            "csr" => self.csr(a, b, c, d),
            "semihosting" => self.semihosting(a as i32),
            "secret" | "reveal" => self.mark(name == "secret", a, b as i32, c as i32),
            // Four bytes of the key, to an odd address.
            "spill" => (0..4).fold(self, |code, at| code.i("lbu", 10, TO_KEY, at).store("sb", TO_ROOM, 10, at + 1)),
            _ => match named(name, self.xlen).format {
                Format::Immediate | Format::Shift(_) | Format::Load => self.i(name, a, b, c as i32),
                Format::Store => self.store(name, a, b, c as i32),
                _ => self.r(name, a, b, c),
            },
        }
    }

    /// Adds an exit with code 0, and the key, public bytes and data.
    fn with_secrets(self) -> Image {
        let xlen = self.xlen;
        let code = self.i("addi", 31, 0, 1).store("sw", TO_HOST, 31, 0).store("sw", TO_HOST, 0, 4).word(0x6f);
        let mut bytes = words(&code.words);
        assert!(bytes.len() <= (KEY - BASE) as usize);
        bytes.resize((TOHOST - BASE) as usize + 64, 0);
        let key = std::array::from_fn(|byte| byte as u8 + 4);
        for (at, what) in [(KEY, key), (PUBLIC, [1; 16]), (DATA, [0x5a; 16])] {
            bytes[(at - BASE) as usize..][..16].copy_from_slice(&what);
        }
        let names = [("key", KEY, 16), ("data", DATA, 16), ("open", PUBLIC, 16)];
        Image::parse(&elf_with_data(xlen, BASE, &bytes, &[("start", BASE), ("tohost", TOHOST)], &names)).unwrap()
    }

    fn follow(self, variable: Variable) -> SecretsReport {
        let image = self.with_secrets();
        let secrets = ["key", "data"].map(|name| name.parse::<SecretName>().unwrap().find(&image).unwrap());
        let mut system = System::new(&small(), image).unwrap();
        system.follow_secrets(&secrets, variable).unwrap();
        assert_eq!(system.run(10_000).unwrap(), Some(0));
        system.secrets().unwrap()
    }

    fn findings(self) -> Vec<Finding> {
        self.follow(Variable::default()).findings
    }

    /// Checks that there is exactly one finding, of this kind and with these secrets.
    #[track_caller]
    fn leaks(self, kind: Leak, secrets: &[&str]) {
        let findings = self.findings();
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert_eq!(findings[0].kind, kind);
        assert_eq!(findings[0].secrets, secrets);
    }

    /// Checks that a program whose exit code is secret has exactly one finding.
    #[track_caller]
    fn ends_with_a_leak(self) {
        let image = self.with_secrets();
        let secret = "key".parse::<SecretName>().unwrap().find(&image).unwrap();
        let mut system = System::new(&small(), image).unwrap();
        system.follow_secrets(&[secret], Variable::default()).unwrap();
        assert!(system.run(10_000).unwrap().is_some());
        let findings = system.secrets().unwrap().findings;
        assert_eq!(findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [Leak::Output]);
    }

    #[track_caller]
    fn has_no_leaks(self) {
        assert_eq!(self.findings(), []);
    }
}

fn small() -> Machine {
    Machine { region: vec![Region::ram(BASE, 0x1000)], ..Machine::generic() }
}

/// A program that has loaded the key's first word into x10.
fn with_key(xlen: Xlen) -> Code {
    begin(xlen).i("lw", 10, TO_KEY, 0)
}

#[test]
fn a_leak_is_reported_once_with_its_count() {
    // Three rounds over four bytes, counted in x12.
    let code = begin(Xlen::Rv32).i("addi", 12, 0, 3);
    let again = code.i("lbu", 10, TO_KEY, 1).over(1, 10, 0).i("addi", 12, 12, -1);
    // bne x12, x0, -16
    let findings = again.word(0xfe06_18e3).findings();
    assert_eq!(findings.len(), 1);
    let found = &findings[0];
    assert_eq!((found.count, found.address, found.hart), (3, BASE + 12 * 4, 0));
    assert_eq!((found.function.as_deref(), found.offset, found.instructions), (Some("start"), 48, 12));
}

#[test]
fn what_takes_its_time_by_its_operands_on_some_machines() {
    for xlen in BOTH {
        let kinds = |code: Code, variable| -> Vec<Leak> {
            code.follow(variable).findings.iter().map(|found| found.kind).collect()
        };
        let product = || with_key(xlen).r("mulhu", 11, 10, TO_ROOM);
        assert_eq!(kinds(product(), Variable::default()), []);
        assert_eq!(kinds(product(), Variable { multiply: true, shift: false }), [Leak::Multiplication]);
        // Shifts by a secret, and of a secret by a public amount.
        for name in ["sll", "srl", "sra", "rol", "ror"] {
            let shift = || with_key(xlen).r(name, 11, TO_ROOM, 10).r(name, 11, 10, TO_ROOM).i("srli", 12, 10, 3);
            assert_eq!(kinds(shift(), Variable::default()), []);
            assert_eq!(kinds(shift(), Variable { multiply: false, shift: true }), [Leak::Shift], "{name}");
        }
        // A shift of 32 bits takes five bits of the amount.
        let shift = with_key(Xlen::Rv32).i("andi", 11, 10, 32).r("sll", 11, TO_ROOM, 11);
        assert_eq!(kinds(shift, Variable { multiply: false, shift: true }), []);
    }
}

/// The host reads memory. Secrets in it are reported at the instruction that made the request.
#[test]
fn secrets_that_the_host_reads_from_a_buffer() {
    for xlen in BOTH {
        let (store, bytes) = if xlen == Xlen::Rv32 { ("sw", 4) } else { ("sd", 8) };
        // Stores a block of words: the registers' values, such as a handle, the buffer and its length.
        let block = |code: Code, words: &[u32]| {
            (0..).zip(words).fold(code, |code, (at, word)| code.store(store, TO_ROOM, *word, at * bytes))
        };
        for (buffer, offset, leaks) in
            [(TO_KEY, 0, true), (TO_KEY, 15, true), (TO_KEY, 16, false), (TO_PUBLIC, 0, false)]
        {
            let check = |code: Code| match leaks {
                true => code.leaks(Leak::Output, &["key"]),
                false => code.has_no_leaks(),
            };
            let start = || begin(xlen).i("addi", 11, buffer, offset).i("addi", 12, 0, 1).i("addi", 13, 0, 2);
            // SYS_WRITEC and SYS_WRITE.
            check(start().semihosting(3));
            check(block(start(), &[13, 11, 12]).i("addi", 11, TO_ROOM, 0).semihosting(5));
            // Names: of SYS_OPEN, SYS_REMOVE and SYS_RENAME.
            for (words, operation) in [([11, 13, 12, 0], 1), ([11, 12, 0, 0], 14), ([TO_PUBLIC, 12, 11, 12], 15)] {
                check(block(start(), &words).i("addi", 11, TO_ROOM, 0).semihosting(operation));
            }
            // HTIF's `write`.
            let code = start().i("addi", 14, 0, 64).store("sw", TO_ROOM, 14, 0).store("sw", TO_ROOM, 12, 8);
            let code = code.store("sw", TO_ROOM, 11, 16).store("sw", TO_ROOM, 12, 24).store("sw", TO_HOST, TO_ROOM, 0);
            check(code.store("sw", TO_HOST, 0, 4).word(NOP));
        }
        // SYS_WRITE0, up to a zero byte: from the key through the data.
        begin(xlen).i("addi", 11, TO_KEY, 0).semihosting(4).leaks(Leak::Output, &["key", "data"]);
        begin(xlen).i("addi", 11, TO_DATA, 16).semihosting(4).has_no_leaks();
        // An exit code or a character is in the request itself.
        with_key(xlen).i("ori", 11, 10, 1).store("sw", TO_HOST, 11, 0).store("sw", TO_HOST, 0, 4).ends_with_a_leak();
        // A block with a secret word: the number of bytes to print.
        let code = with_key(xlen).i("andi", 12, 10, 1).i("addi", 13, 0, 2);
        let code = block(code, &[13, TO_PUBLIC, 12]).i("addi", 11, TO_ROOM, 0);
        code.semihosting(5).leaks(Leak::Output, &["key"]);
        // Any call whose block begins with a secret word, most often a handle.
        for operation in [1, 2, 5, 6, 8, 9, 10, 12, 14, 15, 21] {
            let code = block(with_key(xlen), &[10, TO_PUBLIC, TO_PUBLIC, 0]).i("addi", 11, TO_ROOM, 0);
            code.semihosting(operation).leaks(Leak::Output, &["key"]);
        }
    }
}

/// A system call of Linux reads as many registers as it has arguments, and what `write` prints. Its result is public.
#[test]
fn secrets_in_linux_calls() {
    // A branch on the result, which shows if it is secret.
    let call = |code: Code, number| code.addi(17, 0, number).word(ECALL).over(0, 10, 0);
    for xlen in BOTH {
        let print = |address, bytes| begin(xlen).addi(10, 0, 1).addi(11, address, 0).addi(12, 0, bytes);
        let key = || with_key(xlen).addi(11, TO_ROOM, 0).addi(12, 0, 0);
        let not_there = || key().i("andi", 10, 10, 0).addi(10, 10, 1);
        for (code, leaks) in [
            (call(print(TO_KEY, 1), 64), true),
            (call(print(TO_PUBLIC, 16), 64), false),
            (call(print(TO_PUBLIC, 17), 64), true),
            (call(key(), 64), true),
            (call(key(), 63), true),
            (call(key(), 214), true),
            (call(key(), 93), true),
            (call(key(), 999), false),
            (call(not_there().i("lbu", 11, TO_KEY, 0), 57), false),
            (call(not_there().i("lbu", 11, TO_KEY, 0), 80), true),
            (call(not_there().i("lbu", 12, TO_KEY, 0).i("andi", 12, 12, 3), 64), true),
            (with_key(xlen).i("ori", 17, 10, 1024).word(ECALL), true),
        ] {
            let image = code.with_secrets();
            let secrets = ["key", "data"].map(|name| name.parse::<SecretName>().unwrap().find(&image).unwrap());
            let mut system = System::new(&for_linux(), image).unwrap();
            system.serve_linux(&[]).unwrap();
            system.follow_secrets(&secrets, Variable::default()).unwrap();
            assert!(system.run(10_000).unwrap().is_some());
            let kinds: Vec<Leak> = system.secrets().unwrap().findings.iter().map(|finding| finding.kind).collect();
            assert_eq!(kinds, vec![Leak::Output; leaks.into()]);
        }
    }
}

/// Each line of leaks.txt.
#[test]
fn planted_leaks_and_clean_programs() {
    let lines = || include_str!("common/leaks.txt").lines().skip(1).filter(|line| !line.starts_with('#'));
    for (xlen, line) in BOTH.into_iter().flat_map(|xlen| lines().map(move |line| (xlen, line))) {
        let [kinds, secrets, program] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let findings = program.split("; ").fold(begin(xlen), Code::instruction).findings();
        let found: Vec<String> = findings.iter().map(|finding| format!("{:?}", finding.kind)).collect();
        assert_eq!(found.join("+"), kinds.trim_start_matches('-'), "{line}: {findings:#?}");
        assert!(findings.iter().all(|finding| finding.secrets.join(",") == secrets), "{line}: {findings:#?}");
    }
}

/// Without compressed instructions a jump or branch to an odd multiple of 2 traps. `mtval` has its target: the key's third
/// byte, 6, or the branch and 6.
#[test]
fn jumps_to_misaligned_addresses() {
    for xlen in BOTH {
        for (jump, expected) in [("word 0x50067", "Jump+Branch"), ("word 0x51363", "Branch")] {
            let program =
                "lbu 10 key 2; word 0x597; addi 11 11 16; csr 1 0x305 0 11; JUMP; csr 2 0x343 12 0; over 0 12 0";
            let program = program.replace("JUMP", jump);
            let image = program.split("; ").fold(begin(xlen), Code::instruction).with_secrets();
            let secret = "key".parse::<SecretName>().unwrap().find(&image).unwrap();
            let machine = Machine { isa: format!("rv{}ima_zicsr", xlen.bits()), ..small() };
            let mut system = System::new(&machine, image).unwrap();
            system.follow_secrets(&[secret], Variable::default()).unwrap();
            assert_eq!(system.run(10_000).unwrap(), Some(0));
            let findings = system.secrets().unwrap().findings;
            let kinds: Vec<String> = findings.iter().map(|found| format!("{:?}", found.kind)).collect();
            assert_eq!(kinds.join("+"), expected, "{findings:#?}");
            assert_eq!(findings[0].instructions, (findings[0].address - BASE) / 4);
        }
    }
}

#[test]
fn arithmetic_on_a_secret_is_clean() {
    for xlen in BOTH {
        let is_clean = |name: &str| !name.starts_with("div") && !name.starts_with("rem");
        let instructions = INTEGER.iter().filter(|instruction| instruction.is_of(xlen) && is_clean(instruction.name));
        instructions.fold(with_key(xlen), |code, one| code.word(operands(one, 12, 10, 10, 3))).has_no_leaks();
    }
}

#[test]
fn secrets_that_do_not_exist() {
    let image = begin(Xlen::Rv32).with_secrets();
    let find = |name: &str| name.parse::<SecretName>().unwrap().find(&image);
    assert_eq!(find("key+4").unwrap(), Secret { name: "key".into(), start: KEY, bytes: 4 });
    assert!(matches!(find("kez").unwrap_err().kind, ErrorKind::NoSymbol(name) if name == "kez"));
    // A function is no data symbol.
    assert!(matches!(find("start+4").unwrap_err().kind, ErrorKind::NoSymbol(_)));
    let follow = |start, bytes| {
        let mut system = System::new(&small(), image.clone()).unwrap();
        system
            .follow_secrets(&[Secret { name: "s".into(), start, bytes }], Variable::default())
            .map_err(|error| error.kind)
    };
    assert!(follow(BASE, 0x1000).is_ok());
    assert!(matches!(follow(BASE, 0x1001), Err(ErrorKind::SecretOutside { start: BASE, .. })));
    assert!(matches!(follow(0, 1), Err(ErrorKind::SecretOutside { start: 0, end: 1 })));
    assert!(matches!(follow(u64::MAX, u64::MAX), Err(ErrorKind::SecretOutside { .. })));
    // An error for a mark outside memory contains the place.
    let image = begin(Xlen::Rv32).mark(true, TO_ROOM, 0, 2047).with_secrets();
    let mut system = System::new(&small(), image.clone()).unwrap();
    assert_eq!(system.run(1000).unwrap(), Some(0), "nobody asked");
    let mut system = System::new(&small(), image).unwrap();
    system.follow_secrets(&[], Variable::default()).unwrap();
    assert_eq!(system.run(1000).unwrap(), Some(0));
    let image = begin(Xlen::Rv32).mark(true, TO_HOST, 0, 2047).i("slli", 31, 31, 1).r("slt", 0, 30, 31).with_secrets();
    let mut system = System::new(&small(), image).unwrap();
    system.follow_secrets(&[], Variable::default()).unwrap();
    let error = system.run(1000).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::SecretOutside { .. }));
    let place = error.place.unwrap();
    assert_eq!((place.pc, place.instructions), (BASE + 14 * 4, 14));
}

/// The number of reads shows whether a run used the secret at all.
#[test]
fn reads_are_counted() {
    let report = with_key(Xlen::Rv32).i("lw", 11, TO_KEY, 4).follow(Variable::default());
    assert_eq!(
        report.marked.iter().map(|secret| (&secret.name[..], secret.bytes, secret.reads)).collect::<Vec<_>>(),
        [("key", 16, 2), ("data", 16, 0)]
    );
}

/// Timing models give the same findings.
#[test]
fn models_find_the_same() {
    let code =
        || with_key(Xlen::Rv32).i("andi", 10, 10, 12).r("add", 11, TO_ROOM, 10).i("lw", 12, 11, 0).over(0, 12, 0);
    let expected = code().findings();
    assert_eq!(expected.len(), 2);
    for (preset, model) in [("fe310", Model::Pipeline), ("raptor", Model::Pipeline), ("raptor", Model::Limit)] {
        let image = code().with_secrets();
        let secret = "key".parse::<SecretName>().unwrap().find(&image).unwrap();
        let mut simulation = Simulation::new(&Machine::preset(preset).unwrap(), model, image).unwrap();
        simulation.system_mut().follow_secrets(&[secret], Variable::default()).unwrap();
        assert_eq!(simulation.run(10_000).unwrap(), Some(0));
        assert_eq!(simulation.report().secrets.unwrap().findings, expected, "{preset}");
    }
}

/// An instruction on two registers, or on a register and an immediate.
fn operands(instruction: &Instruction, rd: u32, rs1: u32, rs2: u32, number: u64) -> u32 {
    match instruction.format {
        Format::Registers => instruction.registers(rd, rs1, rs2),
        Format::Immediate => instruction.immediate(rd, rs1, number as i32),
        Format::Shift(bits) => instruction.immediate(rd, rs1, number as i32 & ((1 << bits) - 1)) | instruction.bits,
        Format::Upper => instruction.bits | rd << 7,
        _ => instruction.registers(rd, rs1, 0),
    }
}

/// Executes an instruction on partly secret operands. Returns the result, and its bits that are marked as secret.
fn result(
    instruction: &Instruction,
    xlen: Xlen,
    secrets: [u64; 2],
    public: [u64; 2],
    masks: [u64; 2],
    number: u64,
) -> (u64, u64) {
    let load = if xlen == Xlen::Rv32 { "lw" } else { "ld" };
    let size = if xlen == Xlen::Rv32 { 4 } else { 8 };
    let mut code = begin(xlen);
    for (register, at) in [(10, 0), (11, size)] {
        // (secret & mask) | public, where the mask excludes the public bits.
        code = code.i(load, register, TO_KEY, at).i(load, 12, TO_ROOM, at).i(load, 13, TO_ROOM, 16 + at);
        code = code.r("and", register, register, 12).r("or", register, register, 13);
    }
    let image = code.word(operands(instruction, 14, 10, 11, number)).with_secrets();
    let mut system = System::new(&small(), image).unwrap();
    let secret = Secret { name: "key".into(), start: KEY, bytes: 16 };
    let mut fill = |address: u64, values: [u64; 2]| {
        for (place, value) in values.into_iter().enumerate() {
            let at = address + place as u64 * size as u64;
            assert!(system.bus.memory.load(at, &value.to_le_bytes()[..size as usize]));
        }
    };
    fill(KEY, secrets);
    fill(ROOM, masks);
    fill(ROOM + 16, [public[0] & !masks[0], public[1] & !masks[1]]);
    system.follow_secrets(&[secret], Variable::default()).unwrap();
    assert_eq!(system.run(10_000).unwrap(), Some(0));
    let register = Reg::integer(14);
    (system.harts[0].register(register), system.secret_bits(0, register))
}

#[test]
#[should_panic(expected = "no hart 1")]
fn the_bits_of_a_hart_that_is_not_there() {
    let _ = System::new(&small(), begin(Xlen::Rv32).with_secrets()).unwrap().secret_bits(1, Reg::integer(10));
}

/// For every integer instruction: a result bit that differs between two values of the secret is marked as secret, and
/// which bits are marked does not depend on the secret.
#[test]
fn every_bit_that_depends_on_a_secret_is_marked() {
    let mut numbers = Numbers(24);
    let mut marked = 0_u64;
    let mut differed = 0_u64;
    for xlen in BOTH {
        for instruction in INTEGER.iter().filter(|instruction| instruction.is_of(xlen)) {
            for _ in 0..24 {
                let public = [numbers.integer(), numbers.integer()];
                let mask = |numbers: &mut Numbers| match numbers.below(4) {
                    0 => 0,
                    1 => 1 << numbers.below(u64::from(xlen.bits())),
                    2 => numbers.integer(),
                    _ => numbers.next() & numbers.next() & numbers.next(),
                };
                let masks = [mask(&mut numbers), mask(&mut numbers)];
                let number = numbers.below(2048);
                let runs: Vec<(u64, u64)> = (0..6)
                    .map(|_| result(instruction, xlen, [numbers.next(), numbers.next()], public, masks, number))
                    .collect();
                let differs = runs.iter().fold(0, |differs, run| differs | run.0 ^ runs[0].0);
                let name = instruction.name;
                assert!(runs.iter().all(|run| run.1 == runs[0].1), "{name} {xlen:?} {public:x?} {masks:x?}: {runs:x?}");
                let unmarked = differs & !runs[0].1;
                assert_eq!(unmarked, 0, "{name} {xlen:?} {number} {public:x?} {masks:x?}: {runs:x?}");
                marked += u64::from(runs[0].1.count_ones());
                differed += u64::from(differs.count_ones());
            }
        }
    }
    // The marks are not too coarse: most of the marked bits do differ.
    println!("{marked} bits marked, {differed} differed");
    assert!(differed > marked / 2, "{marked} bits marked, {differed} differed");
}
