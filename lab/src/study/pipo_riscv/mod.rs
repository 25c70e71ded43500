//! PIPO on a 32-bit RISC-V: S. Eum et al., "Optimized Implementation of PIPO Lightweight Block Cipher on 32-bit RISC-V
//! Processor", 2022, on the model of its board's processor.
//!
//! Figures of four kinds have separate columns: the papers' (measured on a board), those of the model `fe310`
//! (simulated), those of the same program on a core as RTL, and sizes.

mod account;
mod ciphers;
mod conclude;
mod paper;
mod program;
mod rtl;
mod simulate;
mod table_5;

use tress_sim::machine::preset_file;

use super::{Study, StudyMachine, misprints, part};

pub(super) const STUDY: Study = Study {
    name: "pipo-riscv",
    title: "PIPO on a 32-bit RISC-V",
    texts: include_str!("texts.txt"),
    parts: &[
        part("table-5", "Table 5", table_5::run).on_own_machine(),
        part("account", "Where the cycles go", account::run),
        part("ciphers", "PIPO, AES and RC6 by length", ciphers::run).on_own_machine(),
        part("rtl", "The model compared with a core as RTL", rtl::run),
        part("misprints", "Misprints", |_| misprints(&STUDY, include_str!("misprints.txt"))),
    ],
    machine: Some(StudyMachine { file: || preset_file("fe310").unwrap_or_default(), program: program::IMAGE }),
    inputs: |_| Ok(String::new()),
    conclude: conclude::conclude,
};
