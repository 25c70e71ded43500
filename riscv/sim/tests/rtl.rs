//! The in-order model against RTL: programs of `riscv/firmware/` on the E31 that `tools/rtl/check` measured.
//!
//! The machine is the preset `e31`, which has that core's parameters and that test bench's memory.

use std::path::PathBuf;

use object::{Object, ObjectSymbol};
use serde_json::Value;
use tress_sim::{Image, Machine, Model, Simulation};

/// Kernels with a model error of more than 3 %, and the largest error allowed (docs/reference/machines.md).
const LARGE_ERRORS: [(&str, f64); 2] = [("pipo", 0.04), ("aes-bitsliced", 0.05)];

fn read(path: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Cycles of the kernels' first and second runs, instructions, and results, from the program's memory.
fn simulated(program: &[u8], kernels: usize) -> Vec<[u32; 4]> {
    let machine = Machine::preset("e31").unwrap();
    let file = object::File::parse(program).unwrap();
    let results =
        file.symbols().find(|symbol| symbol.name() == Ok("tress_result")).expect("what it measured").address();
    let image = Image::parse(program).unwrap();
    let mut simulation = Simulation::new(&machine, Model::Pipeline, image).unwrap();
    let code = loop {
        if let Some(code) = simulation.run(1 << 20).unwrap() {
            break code;
        }
    };
    assert_eq!(code, 0);
    let bytes = simulation.system().bus.memory.bytes(results, 16 * kernels as u64);
    let word = |place: usize| u32::from_le_bytes(bytes[4 * place..4 * place + 4].try_into().unwrap());
    (0..kernels).map(|kernel| std::array::from_fn(|figure| word(4 * kernel + figure))).collect()
}

#[test]
fn the_model_of_an_e31_is_near_its_rtl() {
    let vectors: Value = serde_json::from_slice(&read("vectors/rtl/e31-kernels.json")).unwrap();
    let kernels = vectors["kernels"].as_array().unwrap();
    let program = read(vectors["program"].as_str().unwrap());
    let mut sum = 0.0;
    for (kernel, ours) in kernels.iter().zip(simulated(&program, kernels.len())) {
        let (name, number) = (kernel["name"].as_str().unwrap(), |key: &str| kernel[key].as_u64().unwrap() as u32);
        assert_eq!(
            [ours[2], ours[3]],
            [number("instructions"), number("result")],
            "{name}: not the image that was measured"
        );
        let off = f64::from(ours[1]) / f64::from(number("cycles")) - 1.0;
        println!("{name}: {} cycles, {:+.2} %", ours[1], 100.0 * off);
        let most = LARGE_ERRORS.iter().find(|(far, _)| *far == name).map_or(0.03, |(_, most)| *most);
        assert!(off.abs() <= most, "{name}: {} cycles, of RTL {}", ours[1], number("cycles"));
        sum += off.abs();
    }
    let mean = sum / kernels.len() as f64;
    println!("mean {:.2} %", 100.0 * mean);
    assert!(mean <= 0.008, "{mean}");
}
