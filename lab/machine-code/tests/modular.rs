//! No branch, address or time depends on a secret in the machine code that uses IFMA, which Valgrind does not
//! support, nor in the code with MULX, ADCX and ADOX.
//!
//! Needs the feature `secrets` (`make secrets`). The interpreter runs the code of this executable with moduli, bases
//! and exponents marked as secret, and stops where a secret is observable. The processor of the machine need not
//! support IFMA. All instructions of functions with those instructions must be examined, except those that only lead
//! to a panic. Planted leaks must be found.
#![cfg(target_arch = "x86_64")]

use iced_x86::Instruction;
use tress_machine_code::{Image, Run, check_examined, check_planted, is_avx512_vaes_or_gfni, is_mulx_adcx_or_adox};

#[path = "modular/planted.rs"]
mod planted;
#[path = "modular/workload.rs"]
mod workload;

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    let image = Image::of_this_process();
    // Without this call, a processor without IFMA would prepare moduli without the values for lanes. SAFETY:
    // preparing a modulus uses no IFMA instruction, and code that does runs only in the interpreter. The processor
    // must have MULX, ADCX and ADOX.
    unsafe { tress_modular::take_all_instructions_for_there() };
    let moduli = workload::Moduli::new();
    let arguments = vec![(&raw const moduli).addr() as u64];
    let all = workload::all().into_iter();
    let mut runs: Vec<Run> = all.map(|(name, entry)| Run::new(name.into(), entry, arguments.clone(), 0)).collect();
    Run::make_all(&image, &mut runs, |_, _| false);

    // Functions with those instructions must be examined.
    let is_examined = |at| runs.iter().any(|run| run.examined.contains_key(&at));
    let has = |instructions: &[Instruction]| {
        [is_avx512_vaes_or_gfni, is_mulx_adcx_or_adox].map(|is_one| instructions.iter().any(is_one))
    };
    let all = check_examined(&image, is_examined, |function, instructions| {
        !function.name.starts_with("modular::planted") && has(instructions) != [false; 2]
    });
    let functions = [0, 1].map(|kind| all.iter().filter(|instructions| has(instructions)[kind]).count());
    let instructions_seen = all.iter().flatten().filter(|instruction| is_examined(instruction.ip())).count();
    println!(
        "{} functions with AVX-512, {} with MULX, ADCX or ADOX; {instructions_seen} instructions of them examined",
        functions[0], functions[1]
    );
    assert!(functions[0] >= 4 && functions[1] >= 3 && instructions_seen > 2000, "too little was examined");
}

#[test]
fn planted_leaks_are_found() {
    check_planted(&planted::all());
}
