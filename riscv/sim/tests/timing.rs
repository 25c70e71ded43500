//! Whole programs on machines with timing models. Cycles are counted by hand.

use crate::common::encode::branch;
use crate::common::{Code, elf, words};
use tress_sim::machine::Path;
use tress_sim::{Image, Machine, Model, Report, Simulation, Xlen};

const XLEN: Xlen = Xlen::Rv32;
const RAM: u64 = 0x8000_0000;
const FLASH: u64 = 0x2040_0000;
/// Address of the host interface.
const TOHOST: u64 = 0x8000_3000;

impl Code {
    /// The upper 20 bits of a value.
    fn lui(self, rd: u32, value: u32) -> Code {
        self.word(value & 0xffff_f000 | rd << 7 | 0x37)
    }

    fn wfi(self) -> Code {
        self.word(0x1050_0073)
    }

    fn region(self, number: i32) -> Code {
        self.i("slti", 0, 0, number)
    }

    fn here(&self) -> usize {
        self.words.len()
    }

    /// A branch to the instruction with this index: `beq` or `bne`.
    fn branch(self, if_equal: bool, rs1: u32, rs2: u32, to: usize) -> Code {
        let offset = 4 * (to as i32 - self.words.len() as i32);
        self.word(branch(u32::from(!if_equal), rs1, rs2, offset))
    }

    /// Ends the program with the code in a register, using x30 and x31.
    fn exit(self, code: u32) -> Code {
        let at = self
            .lui(30, TOHOST as u32)
            .i("slli", 31, code, 1)
            .i("ori", 31, 31, 1)
            .store("sw", 30, 31, 0)
            .store("sw", 30, 0, 4);
        let here = at.here();
        at.branch(true, 0, 0, here)
    }

    fn image_at(&self, at: u64) -> Image {
        let file = elf(XLEN, at, &words(&self.words), &[("tohost", TOHOST), ("__region_7_seven", 0)]);
        Image::parse(&file).expect("a program")
    }
}

fn simulation(machine: &Machine, model: Model, image: Image) -> Simulation {
    Simulation::new(machine, model, image).expect("it fits")
}

fn run(machine: &Machine, model: Model, image: Image) -> Report {
    let mut simulation = simulation(machine, model, image);
    simulation.run(10_000_000).expect("it runs").expect("it ends");
    simulation.report()
}

fn raptor(issue: u32, harts: usize) -> Machine {
    let mut machine = Machine::preset("raptor").expect("a preset");
    machine.harts = harts;
    machine.set_issue(issue).expect("a width");
    machine
}

/// A machine that executes one instruction a cycle, without misses.
fn simple() -> Machine {
    let mut machine = raptor(1, 1);
    machine.region[1].path = Path::Tight;
    machine
}

#[test]
fn a_program_sees_the_cycles_of_its_machine() {
    // Two reads of mcycle with ten additions in between: eleven cycles, once their line is cached.
    let mut program = Code::new(XLEN).i("addi", 6, 0, 1).csrr(5, 0xb00);
    for _ in 0..10 {
        program = program.i("addi", 6, 0, 1);
    }
    let program = program.csrr(7, 0xb00).r("sub", 10, 7, 5).exit(10);
    let report = run(&Machine::preset("e31").expect("a preset"), Model::Pipeline, program.image_at(FLASH));
    assert_eq!(report.exit_code, Some(11));
    assert_eq!(report.instructions, 19);
    let timing = report.timing.expect("a model");
    assert_eq!(timing.slots.total(), report.cycles);
    assert_eq!(timing.slots.retired, 19);
    assert_eq!((timing.mix["csr"], timing.mix["store"], timing.mix["alu"]), (2, 2, 15));
}

/// A loop of 10 turns with a load and a branch, in a second line of the cache. Of class 1, bit 8 is not counted.
#[test]
fn event_counters_count_what_their_selectors_say() {
    let cases = [(0x4000_u32, 10), (0x200, 10), (0x4200, 20), (0x400, 0), (0x202, 10), (0x102, 1), (0x101, 0), (0, 0)];
    for (selector, expected) in cases {
        let code = Code::new(XLEN).i("addi", 5, 0, 10).lui(8, FLASH as u32).lui(9, selector.wrapping_add(0x800));
        let mut code = code.i("addi", 9, 9, (selector << 20) as i32 >> 20).csrw(0xb03, 0).csrw(0x323, 9);
        code.words.resize(16, 0x13);
        let code = code.i("lw", 7, 8, 0).i("addi", 5, 5, -1).branch(false, 5, 0, 16).csrw(0x323, 0).csrr(10, 0xb03);
        let report = run(&Machine::preset("e31").expect("a preset"), Model::Pipeline, code.exit(10).image_at(FLASH));
        assert_eq!(report.exit_code, Some(expected), "{selector:#x}");
    }
}

/// Rocket's decoder does not flush for `mscratch` to `mtval`, which trap handlers use frequently.
#[test]
fn a_csr_write_empties_the_pipeline_except_for_trap_registers() {
    for (csr, bubbles) in [(0x340, 0), (0x341, 0), (0x342, 0), (0x343, 0), (0x304, 4), (0x305, 4)] {
        let program = Code::new(XLEN).i("addi", 6, 0, 1).csrr(5, 0xb00).csrw(csr, 0);
        let image = program.i("addi", 6, 0, 1).csrr(7, 0xb00).r("sub", 10, 7, 5).exit(10).image_at(FLASH);
        let report = run(&Machine::preset("e31").expect("a preset"), Model::Pipeline, image);
        assert_eq!(report.exit_code, Some(3 + bubbles), "{csr:#x}");
    }
}

#[test]
fn what_runs_for_the_first_time_takes_longer() {
    // Times forty additions (several cache lines) twice. The result is how much longer the first pass took.
    let mut program = Code::new(XLEN).i("addi", 6, 0, 0);
    let turn = program.here();
    program = program.csrr(5, 0xb00);
    for _ in 0..40 {
        program = program.i("addi", 7, 7, 1);
    }
    program = program.csrr(8, 0xb00).i("addi", 12, 13, 0).r("sub", 13, 8, 5).i("addi", 6, 6, 1).i("addi", 9, 0, 2);
    let program = program.branch(false, 6, 9, turn).r("sub", 10, 12, 13).exit(10);
    let mut simulation =
        simulation(&Machine::preset("fe310").expect("a preset"), Model::Pipeline, program.image_at(FLASH));
    let code = simulation.run(1000).expect("it runs").expect("it ends");
    assert!((100..100_000).contains(&code), "{code}");
    // After the end, further calls run nothing.
    let cycle = simulation.cycle();
    assert_eq!(simulation.run(1000).expect("nothing"), Some(code));
    assert_eq!(simulation.cycle(), cycle);
}

/// Sets a number to 0, 1 and its highest value, and checks whether the machine is rejected. A machine that is accepted
/// runs.
#[test]
fn a_machine_that_was_changed_is_checked() {
    type Change = fn(&mut Machine, u64);
    let changes: [(Change, [bool; 3]); 11] = [
        (|machine, value| machine.harts = value as usize, [true, false, true]),
        (|machine, value| machine.cycles_per_tick = value, [true, false, true]),
        (|machine, value| machine.isa = "m".repeat(value.min(1 << 20) as usize), [false, true, true]),
        (|machine, value| machine.region.truncate(value as usize), [true, true, false]),
        (|machine, value| machine.region[1].base = value, [true, true, true]),
        (|machine, value| machine.region[1].size = value, [true, true, true]),
        (|machine, value| machine.device[1].shift = value as u8, [false, false, true]),
        (|machine, value| machine.l1d.as_mut().expect("a cache").size = value, [true, true, true]),
        (|machine, value| machine.l1i.as_mut().expect("a cache").line = value as u32, [true, true, true]),
        (|machine, value| machine.predictor.btb_entries = value as u32, [false, true, true]),
        (|machine, value| machine.out_of_order.as_mut().expect("a pipeline").issue = value as u32, [true, false, true]),
    ];
    let image = Code::new(XLEN).exit(0).image_at(RAM);
    for (number, (change, refused)) in changes.iter().enumerate() {
        for (value, refused) in [0, 1, u64::MAX].into_iter().zip(refused) {
            let mut machine = raptor(4, 1);
            change(&mut machine, value);
            let outcome = Simulation::new(&machine, Model::Pipeline, image.clone()).map(|mut simulation| {
                simulation.record(value..u64::MAX);
                assert_eq!(simulation.run(0).expect("nothing runs"), None);
                assert_eq!(simulation.run(1000).expect("it runs"), Some(0));
            });
            assert_eq!(outcome.is_err(), *refused, "{number}, {value}: {outcome:?}");
        }
    }
}

#[test]
fn the_longest_path_of_a_round_of_aes_is_seven_cycles() {
    // Four tables in one: new = (T[b1] ^ T[b2]) ^ ((T[b0] ^ T[b3]) ^ key). The critical path is shift, mask, scale,
    // add, load of b1 or b2, then two exclusive-ors.
    let mut program = Code::new(XLEN).lui(5, 0x8001_0000).lui(6, 0x8001_1000);
    let (mut state, mut next) = ([10, 11, 12, 13], [20, 21, 22, 23]);
    for _ in 0..2 {
        for column in 0..4 {
            let byte = |number: usize| state[(column + number) % 4];
            program = program.i("srli", 14, byte(0), 24).i("slli", 14, 14, 2).r("add", 14, 14, 5).i("lw", 14, 14, 0);
            for (number, register, shift) in [(1, 15, 16), (2, 16, 8)] {
                program = program.i("srli", register, byte(number), shift).i("andi", register, register, 255);
                program = program.i("slli", register, register, 2).r("add", register, register, 5);
                program = program.i("lw", register, register, 0);
            }
            program = program.i("andi", 17, byte(3), 255).i("slli", 17, 17, 2).r("add", 17, 17, 5).i("lw", 17, 17, 0);
            program = program.i("lw", 18, 6, 4 * column as i32);
            program = program.r("xor", 15, 15, 16).r("xor", 14, 14, 17).r("xor", 14, 14, 18);
            program = program.r("xor", next[column], 14, 15);
        }
        (state, next) = (next, state);
    }
    let report = run(&raptor(4, 1), Model::Limit, program.exit(0).image_at(RAM));
    assert_eq!(report.cycles, 2 * 7);
}

#[test]
fn the_longest_path_of_a_round_of_rc6_is_ten_cycles() {
    // t = (b * (2b + 1)) <<< 5: shift, add, multiply (4), rotate; then exclusive-or, rotate, addition of the key.
    let mut program = Code::new(XLEN).lui(5, 0x8001_0000);
    let [mut a, mut b, mut c, mut d] = [10, 11, 12, 13];
    for round in 0..4 {
        for (product, word) in [(14, b), (15, d)] {
            program = program.i("slli", product, word, 1).i("addi", product, product, 1);
            program = program.r("mul", product, product, word).i("rori", product, product, 27);
        }
        for (word, by, turn, key) in [(a, 14, 15, 16), (c, 15, 14, 17)] {
            program = program.r("xor", word, word, by).r("rol", word, word, turn);
            program = program.i("lw", key, 5, 8 * round).r("add", word, word, key);
        }
        (a, b, c, d) = (b, c, d, a);
    }
    let image = program.exit(0).image_at(RAM);
    assert_eq!(run(&raptor(4, 1), Model::Limit, image.clone()).cycles, 4 * 10);
    // No pipeline is faster.
    assert!(run(&raptor(64, 1), Model::Pipeline, image).cycles >= 40);
}

/// Programs that wait for a time: by `wfi`, by reading `mtime`, and by reading `mcycle`. That makes no path longer.
#[test]
fn time_passes_without_limits() {
    let ticks = 50;
    let clint = || Code::new(XLEN).lui(5, 0x0200_4000).lui(6, 0x0200_c000).i("addi", 7, 0, ticks).lui(8, 5000);
    let waits = clint().store("sw", 5, 7, 0).store("sw", 5, 0, 4).i("addi", 9, 0, 0x80).csrw(0x304, 9).wfi();
    let (reads, counts) = (clint(), clint());
    let (time, cycles) = (reads.here(), counts.here());
    let reads = reads.i("lw", 9, 6, -8).r("sltu", 9, 9, 7).branch(false, 9, 0, time);
    let counts = counts.csrr(9, 0xb00).r("sltu", 9, 9, 8).branch(false, 9, 0, cycles);
    for program in [waits, reads, counts] {
        let program = program.i("lw", 10, 6, -8).exit(0);
        for (harts, model) in [(1, Model::Limit), (3, Model::Limit), (1, Model::Pipeline)] {
            let report = run(&raptor(4, harts), model, program.image_at(RAM));
            assert_eq!(report.cycles < 1000, matches!(model, Model::Limit), "{}", report.cycles);
        }
    }
}

/// A trap is no instruction, in each model and in each part of the report.
#[test]
fn traps_are_no_instructions() {
    let program = Code::new(XLEN).word(0x17 | 5 << 7).i("addi", 5, 5, 32).csrw(0x305, 5).i("addi", 6, 0, 100);
    let top = program.here();
    let program = program.word(0x73).i("addi", 6, 6, -1).branch(false, 6, 0, top).branch(true, 0, 0, top + 8);
    // The handler, then the end.
    let program = program.csrr(7, 0x341).i("addi", 7, 7, 4).csrw(0x341, 7).word(0x3020_0073).exit(0);
    let e31 = Machine::preset("e31").expect("a preset");
    for (machine, model, at) in
        [(raptor(4, 1), Model::Pipeline, RAM), (raptor(4, 1), Model::Limit, RAM), (e31, Model::Pipeline, FLASH)]
    {
        let report = run(&machine, model, program.image_at(at));
        assert_eq!(report.instructions, 4 + 100 * (2 + 4) + 1 + 5);
        let timing = report.timing.expect("a model");
        assert_eq!(
            (timing.mix.values().sum::<u64>(), timing.slots.retired),
            (report.instructions, report.instructions)
        );
        let functions = timing.functions.iter();
        assert_eq!(functions.map(|function| function.instructions).sum::<u64>(), report.instructions);
    }
}

#[test]
fn regions_are_counted_separately() {
    let mut program = Code::new(XLEN).region(7);
    for _ in 0..20 {
        program = program.i("addi", 5, 5, 1);
    }
    program = program.region(9);
    for _ in 0..5 {
        program = program.i("addi", 5, 5, 1);
    }
    let report = run(&simple(), Model::Pipeline, program.region(0).exit(0).image_at(RAM));
    let regions: Vec<_> =
        report.regions.iter().map(|region| (region.name.as_str(), region.number, region.instructions)).collect();
    assert_eq!(regions, [("seven", 7, 21), ("region 9", 9, 6)], "including the mark that ends each");
    assert_eq!(report.regions[1].cycles, 6);
    assert_eq!(report.regions[1].harts[0].slots.retired, 6);
    assert_eq!(report.instructions, 28 + 5);
}

/// Each hart executes a loop over its own words `rounds << shift` times. Hart 0 waits for all.
fn work(rounds: i32, shift: i32, harts: i32) -> Code {
    let program = Code::new(XLEN)
        .csrr(6, 0xf14)
        .i("slli", 7, 6, 12)
        .lui(8, 0x8010_0000)
        .r("add", 7, 7, 8)
        .i("addi", 5, 0, rounds)
        .i("slli", 5, 5, shift);
    let top = program.here();
    let program = program
        .i("lw", 10, 7, 0)
        .i("addi", 10, 10, 3)
        .r("xor", 11, 11, 10)
        .r("mul", 12, 11, 11)
        .store("sw", 7, 10, 0)
        .i("addi", 5, 5, -1)
        .branch(false, 5, 0, top)
        .lui(8, 0x8020_0000)
        .i("addi", 9, 0, 1)
        .r("amoadd.w", 0, 8, 9)
        .i("addi", 9, 0, harts);
    let sleep = program.here();
    let program = program.branch(true, 6, 0, sleep + 3).wfi().branch(true, 0, 0, sleep);
    let wait = program.here();
    program.i("lw", 10, 8, 0).branch(false, 10, 9, wait).exit(0)
}

#[test]
fn four_harts_do_four_times_as_much() {
    let one = run(&raptor(2, 1), Model::Pipeline, work(1000, 2, 1).image_at(RAM));
    let four = run(&raptor(2, 4), Model::Pipeline, work(1000, 0, 4).image_at(RAM));
    let times = one.cycles as f64 / four.cycles as f64;
    assert!((3.8..=4.05).contains(&times), "{times} times as fast");
    assert_eq!(four.harts.len(), 4);
}

#[test]
fn a_run_is_the_same_every_time_and_however_it_is_cut() {
    for (machine, model) in
        [(raptor(4, 3), Model::Pipeline), (raptor(1, 64), Model::Pipeline), (raptor(4, 3), Model::Limit)]
    {
        let image = work(50, 0, machine.harts as i32).image_at(RAM);
        let whole = run(&machine, model, image.clone());
        assert_eq!(run(&machine, model, image.clone()), whole);
        let mut pieces = simulation(&machine, model, image);
        let mut length = 0;
        loop {
            length = length % 97 + 1;
            if pieces.run(length).expect("it runs").is_some() {
                break;
            }
            assert_eq!(pieces.report().exit_code, None);
        }
        assert_eq!(pieces.run_to_end().expect("it has ended"), whole);
    }
}

#[test]
fn a_hart_that_sleeps_wakes_when_another_one_calls() {
    let program = Code::new(XLEN).csrr(6, 0xf14).lui(8, 0x8020_0000).i("addi", 9, 0, 1).i("addi", 5, 0, 1000);
    let fork = program.here();
    // Hart 1 (x6 is not 0) continues at the end.
    let program = program.branch(true, 6, 0, fork + 5).csr(6, 0x304, 0, 8).wfi().r("amoadd.w", 0, 8, 9).wfi();
    let top = program.here();
    let program = program.i("addi", 5, 5, -1).branch(false, 5, 0, top).lui(7, 0x0200_0000).store("sw", 7, 9, 4);
    let wait = program.here();
    let program = program.i("lw", 10, 8, 0).branch(false, 10, 9, wait).exit(0);
    // Without limits nobody waits for longer than a turn.
    let report = run(&raptor(2, 2), Model::Limit, program.image_at(RAM));
    assert!(report.instructions < 5000, "{}", report.instructions);
    for mut machine in [raptor(2, 2), raptor(1, 2)] {
        machine.harts = 2;
        let mut simulation = simulation(&machine, Model::Pipeline, program.image_at(RAM));
        simulation.profile();
        let report = simulation.run_to_end().expect("it ends");
        let timing = report.timing.as_ref().expect("a model");
        let profiled = timing.profile.iter().flatten().map(|function| function.spent.cycles).sum::<u64>();
        assert_eq!(timing.functions.iter().map(|function| function.cycles).sum::<u64>(), profiled, "with sleep");
        let slots = report.harts[1].timing.as_ref().expect("a model").slots;
        let issue = u64::from(machine.out_of_order.as_ref().expect("a pipeline").issue);
        assert!(slots.idle > 900 * issue, "{slots:?}");
        assert_eq!(slots.total(), report.harts[1].cycles * issue);
    }
}

#[test]
fn a_trace_shows_the_instructions_of_its_window() {
    let mut program = Code::new(XLEN);
    for _ in 0..100 {
        program = program.i("addi", 5, 5, 1);
    }
    let mut simulation = simulation(&simple(), Model::Pipeline, program.exit(0).image_at(RAM));
    simulation.record(50..60);
    simulation.run(1_000_000).expect("it runs").expect("it ends");
    let mut text = Vec::new();
    simulation.trace().expect("a trace").write(&mut text).expect("memory takes everything");
    let trace: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let whole: Vec<_> =
        events.iter().filter(|event| event["name"].as_str().expect("a name").starts_with("alu")).collect();
    // Ten cycles at one instruction each, and the instructions in the pipeline at both ends.
    assert!((10..=30).contains(&whole.len()), "{} instructions", whole.len());
    for event in &whole {
        let (begin, length) = (event["ts"].as_u64().expect("begin"), event["dur"].as_u64().expect("length"));
        assert!(begin < 60 && begin + length > 50, "{event}");
        assert_eq!(event["args"]["fetch"], event["ts"]);
    }
}

/// A quotient is ready long after its division has left the pipeline. What overlaps in a row is inside the other.
#[test]
fn instructions_in_a_row_of_a_trace_do_not_overlap() {
    let program = (0..40).fold(Code::new(XLEN).r("div", 6, 5, 0), |program, _| program.i("addi", 5, 5, 1));
    let machine = Machine::preset("e31").expect("a preset");
    let mut simulation = simulation(&machine, Model::Pipeline, program.r("add", 7, 6, 5).exit(0).image_at(FLASH));
    simulation.record(0..1000);
    simulation.run(1000).expect("it runs").expect("it ends");
    let mut text = Vec::new();
    simulation.trace().expect("a trace").write(&mut text).expect("memory takes everything");
    let trace: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let number = |event: &serde_json::Value, key: &str| event[key].as_u64().expect("a number");
    let slices = trace["traceEvents"].as_array().expect("events").iter().map(|event| {
        let begin = number(event, "ts");
        (number(event, "tid"), begin, begin + number(event, "dur"))
    });
    let slices: Vec<_> = slices.filter(|(_, begin, end)| begin < end).collect();
    for (row, begin, end) in &slices {
        for (_, from, until) in slices.iter().filter(|(other, ..)| other == row) {
            let (is_inside, is_around) = (begin <= from && until <= end, from <= begin && end <= until);
            assert!(is_inside || is_around || end <= from || until <= begin, "{begin}..{end} and {from}..{until}");
        }
    }
}

/// The RTL raises an access fault for each, because its tightly coupled memory supports no reservations.
#[test]
fn tightly_coupled_memory_of_the_e31_takes_no_reservation() {
    for (name, cause) in [("lr.w", tress_sim::cause::LOAD_ACCESS), ("sc.w", tress_sim::cause::STORE_ACCESS)] {
        let program = Code::new(XLEN).lui(8, 0x8000_0000).r(name, 5, 8, 0).exit(0);
        let machine = Machine::preset("e31").expect("a preset");
        let error = simulation(&machine, Model::Pipeline, program.image_at(FLASH)).run(100).expect_err("a trap");
        assert!(matches!(error.kind, tress_sim::ErrorKind::Unhandled(trap) if trap.cause == cause), "{name}: {error}");
    }
    let amo = Code::new(XLEN).lui(8, 0x8000_0000).r("amoadd.w", 5, 8, 0).exit(0);
    assert_eq!(
        run(&Machine::preset("e31").expect("a preset"), Model::Pipeline, amo.image_at(FLASH)).exit_code,
        Some(0)
    );
}
