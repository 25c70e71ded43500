#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod attributes;
mod bus;
mod device;
mod elf;
mod error;
mod gdb;
mod hart;
mod isa;
mod lines;
pub mod machine;
mod memory;
mod profile;
mod report;
mod retired;
mod simulation;
mod system;
mod taint;
pub mod timing;

pub use bus::Bus;
pub use elf::{Image, Segment, Symbol};
pub use error::{Error, ErrorKind, Place, Reason, Trap, cause};
pub use gdb::{Client, DebugEnd, exit_status};
pub use hart::{Event, Hart};
pub use isa::{Isa, Xlen};
pub use lines::SourceLine;
pub use machine::Machine;
pub use memory::{Memory, PAGE_BYTES};
pub use report::{
    FunctionReport, HartReport, HartTiming, ProfiledFunction, ProfiledLine, RegionReport, Report, Spent, TimingReport,
    ipc,
};
pub use retired::{Class, Reg, Retired};
pub use simulation::{Model, Simulation};
pub use system::System;
pub use taint::{Finding, Leak, Secret, SecretName, SecretReport, SecretsReport, Variable};
