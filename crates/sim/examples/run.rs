//! Runs programs without a timing model: `cargo run --release -p tress-sim --example run -- PROGRAM.elf...`
//!
//! Says of each how it ended, after how many instructions, and how many a second.

use std::{process::ExitCode, time::Instant};

use tress_sim::{Error, Image, Platform, System};

/// More than any test of an instruction set takes.
const LIMIT: u64 = 2_000_000_000;

fn main() -> ExitCode {
    let mut failed = 0;
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        match run(&path) {
            Ok((Some(0), instructions)) => {
                let mips = instructions as f64 / start.elapsed().as_secs_f64() / 1e6;
                println!("{path}: ended after {instructions} instructions, {mips:.1} million a second");
            }
            Ok((Some(code), instructions)) => {
                failed += 1;
                println!("{path}: exit code {code} after {instructions} instructions");
            }
            Ok((None, instructions)) => {
                failed += 1;
                println!("{path}: not done after {instructions} instructions");
            }
            Err(error) => {
                failed += 1;
                println!("{path}: {error}");
            }
        }
    }
    if failed > 0 {
        println!("{failed} failed");
    }
    ExitCode::from(u8::from(failed > 0))
}

fn run(path: &str) -> Result<(Option<u64>, u64), Error> {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let image = Image::parse(&file)?;
    let platform = Platform::generic(image.xlen, 1);
    let mut system = System::new(&platform, image, Box::new(std::io::stdout()))?;
    let exit_code = system.run(LIMIT)?;
    Ok((exit_code, system.instructions()))
}
