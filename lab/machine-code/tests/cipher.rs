//! No branch, address or time depends on a secret in the machine code of the backends that use VAES, GFNI and
//! AVX-512, which Valgrind does not support (for the others, see `secrets.rs`).
//!
//! Needs the feature `secrets` (`make secrets`). The interpreter runs the code of this executable with keys and data
//! marked as secret, and stops where a secret is observable. The processor of the machine need not support the
//! instructions. All instructions of every function must be examined, except those that only lead to a panic. Planted
//! leaks (`planted.rs`) must be found. docs/explanation/side-channels.md says what this test shows and what it does
//! not.
#![cfg(target_arch = "x86_64")]

use std::collections::{HashMap, HashSet};

use tress_cipher::Backend;
use tress_machine_code::{
    DeadBranches, Image, Interpreter, check_planted, is_avx512_vaes_or_gfni, is_padding, returning_instructions,
};

#[path = "cipher/planted.rs"]
mod planted;
#[path = "cipher/workload.rs"]
mod workload;

/// The backends to examine, with the names of their engines.
const BACKENDS: [(Backend, &str); 4] = [
    (Backend::Vaes256, "::Vaes256"),
    (Backend::Vaes512, "::Vaes512"),
    (Backend::Avx512, "::Avx512"),
    (Backend::Gfni512, "::Gfni512"),
];

/// Backends that Valgrind supports and that share functions with those above. They run with keys of one length, so
/// that the shared code is reached in the normal way. As a side of a branch it would be run with keys of another
/// backend.
const SHARED_CODE_BACKENDS: [Backend; 2] = [Backend::Portable, Backend::AesNi];

/// Functions that leave other backends to crate `chacha20poly1305`. It reports whether a tag is right by a branch that
/// is not marked, so these sides of branches are not run.
const OTHER_CRATE: &str = "tress_cipher::ciphers::chacha20poly1305::ChaCha20Poly1305::";

/// One cipher on one backend.
struct CipherRun {
    backend: Backend,
    name: String,
    entry: u64,
    /// Addresses of instructions that were examined, and whether an input reaches them.
    examined: HashMap<u64, bool>,
    /// Start addresses of both sides of all branches that were run.
    branches: HashSet<u64>,
}

impl CipherRun {
    /// Interprets the code. With `dead_branches`, it stops when these have been examined.
    fn interpret<'i>(&mut self, image: &'i Image, dead_branches: Option<DeadBranches<'i>>) -> Interpreter<'i> {
        let number = Backend::ALL.iter().position(|other| *other == self.backend).expect("a backend") as u64;
        let mut machine = Interpreter::new(image);
        machine.dead_branches = dead_branches;
        machine.thread_pointer = workload::prepared_thread();
        if let Err(stop) = machine.call(self.entry, &[number, u64::from(SHARED_CODE_BACKENDS.contains(&self.backend))])
        {
            panic!("{}: {:?} at {}", self.name, stop.reason, stop.location);
        }
        for (address, is_reached) in machine.examined() {
            *self.examined.entry(address).or_default() |= is_reached;
        }
        machine
    }
}

/// Runs everything: first with the workload's inputs, then the sides of branches that were never taken.
fn interpret(image: &Image) -> Vec<CipherRun> {
    let mut runs = Vec::new();
    for backend in BACKENDS.iter().map(|(backend, _)| *backend).chain(SHARED_CODE_BACKENDS) {
        for (name, _, entry) in workload::all().into_iter().filter(|(_, backends, _)| backends.contains(&backend)) {
            let name = format!("{name} on {}", backend.name());
            let mut run = CipherRun { backend, name, entry, examined: HashMap::new(), branches: HashSet::new() };
            let machine = run.interpret(image, None);
            println!("{}: {} instructions run, {} bits revealed", run.name, machine.steps, machine.revealed);
            run.branches = machine.branches().collect();
            runs.push(run);
        }
    }
    let reached: HashSet<u64> = runs.iter().flat_map(|run| run.examined.keys()).copied().collect();
    let mut done = reached.clone();
    for run in runs.iter_mut().filter(|run| !SHARED_CODE_BACKENDS.contains(&run.backend)) {
        let leaves = |at: &u64| image.function(*at).is_some_and(|function| function.name.starts_with(OTHER_CRATE));
        let untaken: HashSet<u64> = run.branches.difference(&done).copied().filter(|at| !leaves(at)).collect();
        if !untaken.is_empty() {
            done.extend(&untaken);
            let machine = run.interpret(image, Some(DeadBranches { reached: &reached, untaken }));
            println!("{}: {} untaken sides of branches examined", run.name, machine.explored);
        }
    }
    runs
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    let image = Image::of_this_process();
    let mut of_backend = BACKENDS.map(|_| HashMap::<u64, bool>::new());
    for run in interpret(&image) {
        let Some(index) = BACKENDS.iter().position(|(backend, _)| *backend == run.backend) else { continue };
        for (address, is_reached) in run.examined {
            *of_backend[index].entry(address).or_default() |= is_reached;
        }
    }

    // Functions with the new instructions, and functions of the engines, must be examined.
    let mut missed = Vec::new();
    let mut found = [[0; 5]; BACKENDS.len()];
    for function in &image.functions {
        let mut instructions = image.instructions(function);
        instructions.retain(|instruction| !is_padding(instruction));
        let engine = BACKENDS.iter().find(|(_, engine)| function.name.contains(engine));
        let is_planted = function.name.starts_with("cipher::planted");
        if is_planted || engine.is_none() && !instructions.iter().any(is_avx512_vaes_or_gfni) {
            continue;
        }
        let returning = returning_instructions(&image, function);
        for instruction in &instructions {
            let at = instruction.ip();
            if returning.contains(&at) && !of_backend.iter().any(|reached| reached.contains_key(&at)) {
                missed.push(format!("{}: {instruction}", image.location(at)));
            }
        }
        for (reached, counts) in of_backend.iter().zip(&mut found) {
            let seen: Vec<bool> =
                instructions.iter().filter_map(|instruction| reached.get(&instruction.ip())).copied().collect();
            if !seen.is_empty() {
                counts[0] += 1;
                counts[1] += seen.len();
                counts[2] += seen.iter().filter(|is_reached| !**is_reached).count();
                counts[3] += instructions.len();
                counts[4] += instructions.iter().filter(|instruction| !returning.contains(&instruction.ip())).count();
            }
        }
    }
    for ((backend, _), [functions, seen, dead, all, ends]) in BACKENDS.into_iter().zip(found) {
        println!(
            "{}: {functions} functions, {seen} of {all} instructions examined, {dead} of them on sides of branches that \
             are never taken; {ends} only lead to a panic",
            backend.name(),
        );
        assert!(functions > 0 && seen > 1000, "nothing of {} was examined", backend.name());
    }
    for line in &missed {
        println!("not examined: {line}");
    }
    assert!(missed.is_empty(), "{} instructions were not examined", missed.len());
}

#[test]
fn planted_leaks_are_found() {
    check_planted(&planted::all());
}
