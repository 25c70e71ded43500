//! No branch, address or time depends on a secret in the machine code that uses IFMA, which Valgrind does not
//! support, nor in the code with MULX, ADCX and ADOX.
//!
//! Needs the feature `secrets` (`make secrets`). The interpreter runs the code of this executable with moduli, bases
//! and exponents marked as secret, and stops where a secret is observable. The processor of the machine need not
//! support IFMA. All instructions of functions with those instructions must be examined, except those that only lead
//! to a panic. Planted leaks must be found.
#![cfg(target_arch = "x86_64")]

use std::collections::{HashMap, HashSet};

use tress_machine_code::{
    DeadBranches, Image, Interpreter, check_planted, is_avx512_vaes_or_gfni, is_mulx_adcx_or_adox, is_padding,
    returning_instructions,
};

#[path = "modular/planted.rs"]
mod planted;
#[path = "modular/workload.rs"]
mod workload;

/// Addresses of instructions that were examined, and whether an input reaches them.
type Examined = HashMap<u64, bool>;

/// Interprets a workload. With `dead_branches`, it stops when these have been examined.
fn interpret<'i>(
    image: &'i Image,
    (name, entry, moduli): (&str, u64, &workload::Moduli),
    dead_branches: Option<DeadBranches<'i>>,
    all: &mut Examined,
) -> Interpreter<'i> {
    let mut machine = Interpreter::new(image);
    machine.dead_branches = dead_branches;
    if let Err(stop) = machine.call(entry, &[(&raw const *moduli).addr() as u64]) {
        panic!("{name}: {:?} at {}", stop.reason, stop.location);
    }
    for (address, is_reached) in machine.examined() {
        *all.entry(address).or_default() |= is_reached;
    }
    machine
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    let image = Image::of_this_process();
    // Without this call, a processor without IFMA would prepare moduli without the values for lanes. SAFETY:
    // preparing a modulus uses no IFMA instruction, and code that does runs only in the interpreter. The processor
    // must have MULX, ADCX and ADOX.
    unsafe { tress_modular::take_all_instructions_for_there() };
    let moduli = workload::Moduli::new();
    let mut examined = Examined::new();
    // First with the workload's inputs, then the sides of branches that were never taken.
    let mut branches = Vec::new();
    for (name, entry) in workload::all() {
        let machine = interpret(&image, (name, entry, &moduli), None, &mut examined);
        println!("{name}: {} instructions run, {} bits revealed", machine.steps, machine.revealed);
        branches.push((name, entry, machine.branches().collect::<HashSet<u64>>()));
    }
    let reached: HashSet<u64> = examined.keys().copied().collect();
    let mut done = reached.clone();
    for (name, entry, branches) in branches {
        let untaken: HashSet<u64> = branches.difference(&done).copied().collect();
        if !untaken.is_empty() {
            done.extend(&untaken);
            let dead_branches = DeadBranches { reached: &reached, untaken };
            let machine = interpret(&image, (name, entry, &moduli), Some(dead_branches), &mut examined);
            println!("{name}: {} untaken sides of branches examined", machine.explored);
        }
    }

    // Functions with those instructions must be examined.
    let (mut functions, mut instructions_seen, mut missed) = ([0; 2], 0, Vec::new());
    for function in &image.functions {
        let mut instructions = image.instructions(function);
        instructions.retain(|instruction| !is_padding(instruction));
        let kinds = [is_avx512_vaes_or_gfni, is_mulx_adcx_or_adox].map(|is_one| instructions.iter().any(is_one));
        if function.name.starts_with("modular::planted") || kinds == [false; 2] {
            continue;
        }
        functions[0] += usize::from(kinds[0]);
        functions[1] += usize::from(kinds[1]);
        let returning = returning_instructions(&image, function);
        for instruction in &instructions {
            let at = instruction.ip();
            instructions_seen += usize::from(examined.contains_key(&at));
            if returning.contains(&at) && !examined.contains_key(&at) {
                missed.push(format!("{}: {instruction}", image.location(at)));
            }
        }
    }
    println!(
        "{} functions with AVX-512, {} with MULX, ADCX or ADOX; {instructions_seen} instructions of them examined",
        functions[0], functions[1]
    );
    for line in &missed {
        println!("not examined: {line}");
    }
    assert!(missed.is_empty(), "{} instructions were not examined", missed.len());
    assert!(functions[0] >= 4 && functions[1] >= 3 && instructions_seen > 2000, "too little was examined");
}

#[test]
fn planted_leaks_are_found() {
    check_planted(&planted::all());
}
