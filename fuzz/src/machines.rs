//! Machine files: a text, or a preset with some changed lines. A machine that is accepted runs a program to its end, with the
//! same registers and number of instructions as without a timing model, and within the time that its limits allow.

use tress_sim::machine::{Kind, PRESETS};
use tress_sim::{Error, ErrorKind, Image, Machine, Model, Simulation, System, Xlen};

use crate::common::elf;
use crate::input::Input;

/// Limit of instructions, more than the program has.
const STEPS: u64 = 2000;
/// Limit of cycles: the values that a machine file may have allow at most 100,000 for each instruction.
const MOST_CYCLES: u64 = STEPS * 100_000;

/// Panics if a model changes the results of the program, or if its time exceeds the limit.
pub fn run(bytes: &[u8]) {
    let text = match bytes {
        [b'#', ..] => String::from_utf8_lossy(bytes).into_owned(),
        _ => changed(&mut Input::new(bytes)),
    };
    let Ok(machine) = Machine::parse(&text) else { return };
    machine.check().expect("what was parsed was checked");
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        let ram = machine.region.iter().find(|region| region.kind == Kind::Ram);
        let base = ram.unwrap_or(&machine.region[0]).base;
        let Ok(image) = Image::parse(&elf(xlen, base, &program(xlen), &[])) else { continue };
        let Ok(mut plain) = System::new(&machine, image.clone()) else {
            assert!(Simulation::new(&machine, Model::Pipeline, image).is_err());
            continue;
        };
        let expected = plain.run(STEPS);
        for model in [Model::Pipeline, Model::Limit] {
            let simulation = Simulation::new(&machine, model, image.clone());
            let mut simulation = simulation.expect("it runs without a model");
            let outcome = simulation.run(STEPS);
            // Several harts share the words that the program writes.
            if machine.harts == 1 {
                assert_eq!(outcome_kind(&outcome), outcome_kind(&expected), "{model:?}");
                assert_eq!(simulation.instructions(), plain.instructions(), "{model:?}");
                let registers = |system: &System| (1..32).map(|n| integer(system, n)).collect::<Vec<_>>();
                assert_eq!(registers(simulation.system()), registers(&plain), "{model:?}");
            }
            let cycles = simulation.cycle();
            assert!(cycles <= MOST_CYCLES, "{cycles} cycles, {model:?}");
            let _ = simulation.report();
        }
    }
}

fn integer(system: &System, number: u8) -> u64 {
    system.harts[0].register(tress_sim::Reg::integer(number))
}

/// The exit code, or the kind of the error.
fn outcome_kind(outcome: &Result<Option<u64>, Error>) -> Result<Option<u64>, std::mem::Discriminant<ErrorKind>> {
    outcome.as_ref().copied().map_err(|error| std::mem::discriminant(&error.kind))
}

/// A program with twenty rounds of loads, a product and stores, then a quotient. It exits by semihosting.
fn program(xlen: Xlen) -> Vec<u8> {
    let mut words: Vec<u32> = vec![
        0x0000_0297, // auipc t0, 0
        0x0140_0313, // addi t1, zero, 20
        0x0802_a383, // lw t2, 128(t0)
        0x0263_8e33, // mul t3, t2, t1
        0x01c3_8e33, // add t3, t2, t3
        0x09c2_a023, // sw t3, 128(t0)
        0x0802_ae83, // lw t4, 128(t0)
        0xfff3_0313, // addi t1, t1, -1
        0xfe03_14e3, // bne t1, zero, -24
        0x03de_5f33, // divu t5, t3, t4
        0x0180_0513, // addi a0, zero, 0x18
        0x0902_8593, // addi a1, t0, 144
        0x01f0_1013, // slli zero, zero, 31
        0x0010_0073, // ebreak
        0x4070_5013, // srai zero, zero, 7
        0x0000_006f, // jal zero, 0
    ];
    words.resize(32, 0x13);
    // The data, and at 144 the block of EXIT: ADP_Stopped_ApplicationExit and a code.
    words.extend([7, 0, 0, 0]);
    words.extend(if xlen == Xlen::Rv64 { [0x20026, 0, 5, 0] } else { [0x20026, 5, 0, 0] });
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Values, one a line: within the limits, at them, outside, and of other types.
const VALUES: &str = include_str!("../data/machine-values.txt");

/// A preset with changed, removed and repeated lines.
fn changed(input: &mut Input<'_>) -> String {
    let (_, preset) = input.pick(PRESETS);
    let values: Vec<&str> = VALUES.lines().collect();
    let mut lines: Vec<String> = preset.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    for _ in 0..input.below(9) {
        let place = input.below(lines.len());
        match input.byte() % 8 {
            0 => drop(lines.remove(place)),
            1 => lines.insert(place, lines[place].clone()),
            _ => {
                let value = input.pick(&values);
                if let Some((field, _)) = lines[place].split_once('=') {
                    lines[place] = format!("{field}= {value}");
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}
