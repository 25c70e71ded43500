//! Runs a program on a machine: `cargo run --release -p tress-sim --example model -- MACHINE[:ISSUE[:HARTS]] PROGRAM.elf`
//!
//! MACHINE is a preset or a TOML file, `+limit` behind it asks for the limit of data flow. Prints the report as JSON, and
//! how many instructions a second were simulated.

use std::{process::ExitCode, time::Instant};

use tress_sim::{Error, Image, Machine, Model, Report, Simulation};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, program] = arguments.as_slice() else {
        eprintln!("model MACHINE[:ISSUE[:HARTS]][+limit] PROGRAM.elf");
        return ExitCode::from(2);
    };
    let start = Instant::now();
    match run(machine, program) {
        Ok(report) => {
            let mips = report.instructions as f64 / start.elapsed().as_secs_f64() / 1e6;
            println!("{}", serde_json::to_string_pretty(&report).expect("a report is plain data"));
            eprintln!("{mips:.1} million instructions a second");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(machine: &str, program: &str) -> Result<Report, Error> {
    let (machine, model) = match machine.strip_suffix("+limit") {
        Some(machine) => (machine, Model::Limit),
        None => (machine, Model::Pipeline),
    };
    let mut parts = machine.split(':');
    let name = parts.next().unwrap_or_default();
    let mut machine = match Machine::preset(name) {
        Some(machine) => machine,
        None => Machine::parse(&std::fs::read_to_string(name).unwrap_or_else(|error| panic!("{name}: {error}")))?,
    };
    if let Some(issue) = parts.next() {
        machine.set_issue(issue.parse().expect("a number"))?;
    }
    if let Some(harts) = parts.next() {
        machine.harts = harts.parse().expect("a number");
    }
    let file = std::fs::read(program).unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut simulation = Simulation::new(&machine, model, Image::parse(&file)?, Box::new(std::io::stderr()))?;
    loop {
        if let Some(code) = simulation.run(1 << 20)? {
            return Ok(simulation.report(code));
        }
    }
}
