//! No branch, address or time depends on a secret in the machine code of the backends that use VAES, GFNI and
//! AVX-512, which Valgrind does not support (for the others, see `secrets.rs`).
//!
//! Needs the feature `secrets` (`make secrets`). The interpreter runs the code of this executable with keys and data
//! marked as secret, and stops where a secret is observable. The processor of the machine need not support the
//! instructions. All instructions of every function must be examined, except those that only lead to a panic. Planted
//! leaks (`planted.rs`) must be found. docs/explanation/side-channels.md says what this test shows and what it does
//! not.
#![cfg(target_arch = "x86_64")]

use std::collections::HashMap;

use tress_cipher::Backend;
use tress_machine_code::{Image, Run, check_examined, check_planted, is_avx512_vaes_or_gfni};

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

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    let image = Image::of_this_process();
    let mut runs = Vec::new();
    let number = |backend| Backend::ALL.iter().position(|other| *other == backend).expect("a backend") as u64;
    for backend in BACKENDS.iter().map(|(backend, _)| *backend).chain(SHARED_CODE_BACKENDS) {
        for (name, _, entry) in workload::all().into_iter().filter(|(_, backends, _)| backends.contains(&backend)) {
            let name = format!("{name} on {}", backend.name());
            let is_brief = SHARED_CODE_BACKENDS.contains(&backend);
            let arguments = vec![number(backend), u64::from(is_brief)];
            runs.push(Run::new(name, entry, arguments, workload::prepared_thread()));
        }
    }
    Run::make_all(&image, &mut runs, |run, side| {
        run.arguments[1] == 1 || image.function(side).is_some_and(|function| function.name.starts_with(OTHER_CRATE))
    });
    let mut of_backend = BACKENDS.map(|_| HashMap::<u64, bool>::new());
    for run in runs {
        let index = BACKENDS.iter().position(|(backend, _)| number(*backend) == run.arguments[0]);
        let Some(index) = index else { continue };
        for (address, is_reached) in run.examined {
            *of_backend[index].entry(address).or_default() |= is_reached;
        }
    }

    // Functions with the new instructions, and functions of the engines, must be examined.
    let is_examined = |at| of_backend.iter().any(|examined| examined.contains_key(&at));
    let functions = check_examined(&image, is_examined, |function, instructions| {
        let is_engine = BACKENDS.iter().any(|(_, engine)| function.name.contains(engine));
        let is_planted = function.name.starts_with("cipher::planted");
        !is_planted && (is_engine || instructions.iter().any(is_avx512_vaes_or_gfni))
    });
    for ((backend, _), examined) in BACKENDS.iter().zip(&of_backend) {
        let (mut count, mut all, mut seen) = (0, 0, Vec::<bool>::new());
        for instructions in &functions {
            let before = seen.len();
            seen.extend(instructions.iter().filter_map(|instruction| examined.get(&instruction.ip())).copied());
            if seen.len() > before {
                count += 1;
                all += instructions.len();
            }
        }
        println!(
            "{}: {count} functions, {} of {all} instructions examined, {} of them on sides of branches that are never taken",
            backend.name(),
            seen.len(),
            seen.iter().filter(|is_reached| !**is_reached).count(),
        );
        assert!(seen.len() > 1000, "nothing of {} was examined", backend.name());
    }
}

#[test]
fn planted_leaks_are_found() {
    check_planted(&planted::all());
}
