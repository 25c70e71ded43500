//! The kernels for 32-bit RISC-V with secret keys and data: except in AES with tables, no branch and no address depends
//! on them. The program is `riscv/firmware/library/test/secrets.c`; `make -C riscv/firmware/library image` builds it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use object::{Object, ObjectSymbol};
use tress_sim::{Image, Leak, Machine, Report, SecretName, System, Variable};

fn program() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../firmware/images/secrets.elf");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs the program, follows these secrets, and returns the report.
fn run(secrets: &[&str], variable: Variable) -> Report {
    let image = Image::parse(&program()).unwrap();
    let secrets: Vec<_> =
        secrets.iter().map(|name| name.parse::<SecretName>().unwrap().find(&image).unwrap()).collect();
    let mut system = System::new(&Machine::generic(), image).unwrap();
    system.follow_secrets(&secrets, variable).unwrap();
    let code = system.run(100_000_000).unwrap().expect("it ends");
    assert_eq!(code, 0, "a function has failed");
    system.report()
}

/// The functions with findings, and the kinds of leak.
fn places(report: Report) -> BTreeSet<(String, Leak)> {
    let findings = report.secrets.unwrap().findings;
    findings.into_iter().map(|finding| (finding.function.expect("a name"), finding.kind)).collect()
}

#[test]
fn only_tables_show_secrets() {
    let report = run(&["key", "data"], Variable::default());
    println!("{} instructions", report.instructions);
    for secret in &report.secrets.as_ref().unwrap().marked {
        assert!(secret.reads > 10_000, "{secret:?}");
    }
    let tables = |name: &str| (name.to_string(), Leak::Address);
    assert_eq!(places(report), BTreeSet::from([tables("tress_aes_table_encrypt"), tables("tress_aes_table_stream")]));
}

/// Every function of the library is executed, so none is clean only because it was not called.
#[test]
fn every_kernel_was_run() {
    let file = program();
    let object = object::File::parse(&*file).unwrap();
    let image = Image::parse(&file).unwrap();
    let mut left: BTreeSet<u64> = object
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| name.starts_with("tress_")))
        .map(|symbol| symbol.address())
        .filter(|address| image.function_of(*address).is_some())
        .collect();
    assert!(left.len() > 100, "{} functions", left.len());
    let mut system = System::new(&Machine::generic(), image).unwrap();
    while system.run(1).unwrap().is_none() {
        left.remove(&system.harts[0].pc());
    }
    let names: Vec<_> = left.iter().map(|address| system.image().function_of(*address)).collect();
    assert!(names.is_empty(), "{names:?}");
}

/// Only RC6 multiplies and rotates by secrets. This matters on cores on which these operations take variable time.
#[test]
fn rc6_alone_needs_a_constant_multiplier_and_shifter() {
    let found = places(run(&["key", "data"], Variable { multiply: true, shift: true }));
    let kinds = |kind: Leak| -> BTreeSet<&str> {
        found.iter().filter(|(_, found)| *found == kind).map(|(name, _)| &name[..]).collect()
    };
    let words = [
        "tress_rc6_decrypt_words",
        "tress_rc6_encrypt_words",
        "tress_rc6_zbb_decrypt_words",
        "tress_rc6_zbb_encrypt_words",
    ];
    assert_eq!(kinds(Leak::Multiplication), BTreeSet::from(words));
    let mut shifts = BTreeSet::from(words);
    shifts.extend(["tress_rc6_expand_key", "tress_rc6_zbb_expand_key"]);
    assert_eq!(kinds(Leak::Shift), shifts);
}
