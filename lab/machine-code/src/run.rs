//! Runs of a workload: first with its inputs, then of the sides of branches that no input takes.

use std::collections::{HashMap, HashSet};

use iced_x86::Instruction;

use crate::coverage::{is_padding, returning_instructions};
use crate::dead_branches::DeadBranches;
use crate::{Function, Image, Interpreter};

/// A function of a workload, and what the interpreter examines in it and in the functions that it calls.
pub struct Run {
    /// For messages.
    name: String,
    /// Address of the function.
    entry: u64,
    /// Its arguments, which are public.
    pub arguments: Vec<u64>,
    /// [`Interpreter::thread_pointer`].
    thread_pointer: u64,
    /// Addresses of instructions that were examined, and whether an input reaches them.
    pub examined: HashMap<u64, bool>,
    /// Start addresses of both sides of all branches that were run.
    branches: HashSet<u64>,
}

impl Run {
    /// A run that is still to be made.
    pub fn new(name: String, entry: u64, arguments: Vec<u64>, thread_pointer: u64) -> Run {
        Run { name, entry, arguments, thread_pointer, examined: HashMap::new(), branches: HashSet::new() }
    }

    /// Interprets the code. With `dead_branches`, it stops when these have been examined.
    fn interpret<'i>(&mut self, image: &'i Image, dead_branches: Option<DeadBranches<'i>>) -> Interpreter<'i> {
        let mut machine = Interpreter::new(image);
        machine.dead_branches = dead_branches;
        machine.thread_pointer = self.thread_pointer;
        if let Err(stop) = machine.call(self.entry, &self.arguments) {
            panic!("{}: {:?} at {}", self.name, stop.reason, stop.location);
        }
        for (address, is_reached) in machine.examined() {
            *self.examined.entry(address).or_default() |= is_reached;
        }
        machine
    }

    /// Interprets all runs: first with the workload's inputs, then the sides of branches that were never taken, except
    /// those that `is_left_out` names.
    pub fn make_all(image: &Image, runs: &mut [Run], is_left_out: impl Fn(&Run, u64) -> bool) {
        for run in &mut *runs {
            let machine = run.interpret(image, None);
            println!("{}: {} instructions run, {} bits revealed", run.name, machine.steps, machine.revealed);
            run.branches = machine.branches().collect();
        }
        let reached: HashSet<u64> = runs.iter().flat_map(|run| run.examined.keys()).copied().collect();
        let mut done = reached.clone();
        for run in runs {
            let untaken = run.branches.difference(&done).copied();
            let untaken: HashSet<u64> = untaken.filter(|&at| !is_left_out(run, at)).collect();
            if !untaken.is_empty() {
                done.extend(&untaken);
                let machine = run.interpret(image, Some(DeadBranches { reached: &reached, untaken }));
                println!("{}: {} untaken sides of branches examined", run.name, machine.explored);
            }
        }
    }
}

/// Checks that of the functions that `matters` selects all instructions were examined, except those that only lead to
/// a panic. Returns the instructions of these functions.
pub fn check_examined(
    image: &Image,
    is_examined: impl Fn(u64) -> bool,
    matters: impl Fn(&Function, &[Instruction]) -> bool,
) -> Vec<Vec<Instruction>> {
    let (mut all, mut missed) = (Vec::new(), 0);
    for function in &image.functions {
        let mut instructions = image.instructions(function);
        instructions.retain(|instruction| !is_padding(instruction));
        if !matters(function, &instructions) {
            continue;
        }
        let returning = returning_instructions(image, function);
        for instruction in &instructions {
            let at = instruction.ip();
            if returning.contains(&at) && !is_examined(at) {
                println!("not examined: {}: {instruction}", image.location(at));
                missed += 1;
            }
        }
        all.push(instructions);
    }
    assert_eq!(missed, 0, "instructions were not examined");
    all
}
