//! RISC-V machines that can be looked into: how much parallelism does a program hold, and how much of it would a core of
//! this width, with these caches, and N of them, find?
//!
//! Function and time are apart. A [`Hart`] executes one instruction and says in a [`Retired`] what it was; a timing model
//! decides when. So all models run the same programs with the same results, and a machine without a model just runs.
//!
//! ```rust
//! use tress_sim::{Image, Machine, Model, Simulation};
//!
//! # fn report(elf: &[u8]) -> Result<(), tress_sim::Error> {
//! let (machine, program) = (Machine::preset("raptor").expect("one of PRESETS"), Image::parse(elf)?);
//! let mut simulation = Simulation::new(&machine, Model::Pipeline, program)?;
//! let report = simulation.run_to_end()?;
//! println!("{} cycles, {}", report.cycles, String::from_utf8_lossy(simulation.console()));
//! # Ok(())
//! # }
//! # let elf = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/images/secrets.elf");
//! # report(&std::fs::read(elf).expect("an image"))?;
//! # Ok::<(), tress_sim::Error>(())
//! ```
//!
//! ```text
//! machine/  what a machine is, as TOML files describe it; everything below is built from it
//! isa       instruction sets
//! elf       a program: segments, symbols
//! memory    regions in pages, allocated when they are touched; device/ what else has addresses
//! bus       memory and devices as harts see them
//! hart/     state, decoding into a cache, execution, traps
//! retired   what an executed instruction tells a model
//! system    harts and bus, loaded with a program; runs it without a model
//! taint/    where secrets show: follows them beside the harts
//! timing/   models of pipelines, caches, bus
//! simulation  harts stepped by their models
//! report    what a run comes to
//! error     what went wrong, where, after how many instructions
//! ```
#![forbid(unsafe_code)]

mod bus;
mod device;
mod elf;
mod error;
mod hart;
mod isa;
pub mod machine;
mod memory;
mod report;
mod retired;
mod simulation;
mod system;
mod taint;
pub mod timing;

pub use bus::Bus;
pub use elf::{Image, Segment, Symbol};
pub use error::{Error, ErrorKind, Place, Trap, cause};
pub use hart::{Event, Hart};
pub use isa::{Isa, Xlen};
pub use machine::Machine;
pub use memory::{Memory, PAGE_BYTES};
pub use report::{FunctionReport, HartReport, HartTiming, RegionReport, Report, Spent, TimingReport, ipc};
pub use retired::{Class, Reg, Retired};
pub use simulation::{Model, Simulation};
pub use system::System;
pub use taint::{Finding, Leak, Secret, SecretName, SecretReport, SecretsReport, Variable};
