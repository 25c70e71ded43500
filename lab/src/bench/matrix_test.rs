//! Names are those of the command's contract, combinations that exist are measured, and others are refused with a reason.

use regex::Regex;

use super::super::{plan, visits::Item as _};
use super::*;

fn options(filter: &str) -> Options {
    Options { filter: Some(Regex::new(filter).unwrap()), ..Options::default() }
}

/// Name, direction, lanes, threads and bytes of the rows.
fn rows(choice: &Choice, filter: &str) -> Vec<(String, &'static str, usize, usize, u64)> {
    let row = |(case, _): (Case, Backend)| {
        (case.name.to_string(), case.direction, case.lanes, case.threads, case.message_bytes)
    };
    cases(choice, &options(filter)).unwrap().into_iter().map(row).collect()
}

fn why_none(choice: &Choice, filter: &str) -> String {
    let error = cases(choice, &options(filter)).err().expect("no rows");
    assert!(error.is_usage());
    error.to_string()
}

/// The contract: aes-128/192/256, rijndael-BLOCK-KEY, rc6-128/192/256, pipo-128/256 with ecb, cbc, ctr, and ccm for 128-bit
/// blocks.
#[test]
fn names_are_those_of_the_contract() {
    let listed = list();
    let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    let ciphers = names.iter().filter(|name| Regex::new("-(ecb|cbc|ctr|ccm)$").unwrap().is_match(name));
    // 3 + 25 + 3 + 2 ciphers in three modes, and CCM of 3 + 5 + 3.
    assert_eq!(ciphers.count(), 33 * 3 + 11);
    for name in ["aes-192-ccm", "rijndael-256-192-cbc", "rijndael-128-160-ccm", "rc6-256-ctr", "pipo-256-ecb"] {
        assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
    }
    for name in ["pipo-128-ccm", "rijndael-192-128-ccm", "aes-160-ecb", "pipo-192-ecb"] {
        assert!(!names.contains(&name), "{name}");
    }
    for name in ["multiply", "power", "rsa-2048-sign", "dsa-2048-verify"] {
        assert!(names.contains(&name), "{name}");
    }
    let ccm = listed.iter().find(|one| one.name == "aes-128-ccm").unwrap();
    assert!(ccm.lanes && ccm.backends.contains(&"portable") && ccm.peers.contains(&"openssl") && ccm.rows.len() == 8);
    let cbc = listed.iter().find(|one| one.name == "rijndael-192-256-cbc").unwrap();
    assert_eq!((cbc.multiple_of_bytes, cbc.directions.as_slice()), (Some(24), &["encrypt", "decrypt"][..]));
}

#[test]
fn the_usual_is_taken_where_nothing_is_asked() {
    let two = Choice { threads: vec![1, 2], ..Choice::default() };
    let row = |direction, lanes, threads| ("aes-128-cbc".to_string(), direction, lanes, threads, 16_384);
    assert_eq!(
        rows(&two, "^aes-128-cbc$"),
        [
            row("encrypt", 1, 1),
            row("encrypt", 1, 2),
            row("encrypt", 32, 1),
            row("encrypt", 32, 2),
            row("decrypt", 1, 1),
            row("decrypt", 1, 2)
        ]
    );
    // Whole blocks: 819 of 20 bytes are 16,380.
    assert_eq!(rows(&Choice { lanes: vec![1], ..Choice::default() }, "^rijndael-160-128-ecb$")[0].4, 16_380);
    // CTR does the same in both directions.
    let sizes = Choice { message_bytes: vec![1, 65], ..Choice::default() };
    assert_eq!(
        rows(&sizes, "^rc6-192-ctr$"),
        [("rc6-192-ctr".into(), "encrypt", 1, 1, 1), ("rc6-192-ctr".into(), "encrypt", 1, 1, 65)]
    );
}

#[test]
fn backends_are_those_that_cipher_and_machine_have() {
    let both = Choice { backends: vec![Backend::Portable, Backend::Reference], lanes: vec![1], ..Choice::default() };
    let made = cases(&both, &options("^pipo-128-ctr$")).unwrap();
    let workloads: Vec<_> = made.iter().map(|(case, backend)| (&*case.workload, *backend)).collect();
    assert_eq!(
        workloads,
        [("one message, reference", Backend::Reference), ("one message, portable", Backend::Portable)]
    );
    let all = Choice { all_backends: true, lanes: vec![1], ..Choice::default() };
    let here = tress_cipher::aes::Aes::BACKENDS.iter().filter(|backend| backend.is_available()).count();
    assert_eq!(cases(&all, &options("^aes-256-ctr$")).unwrap().len(), here);
    let missing = Choice { backends: vec![Backend::Riscv32], ..Choice::default() };
    let error = cases(&missing, &options("aes")).err().expect("no such machine");
    assert!(matches!(error, Error::Cipher(tress_cipher::Error::BackendUnavailable(Backend::Riscv32))));
}

#[test]
fn what_does_not_exist_is_refused() {
    let lanes = |lanes: usize| Choice { lanes: vec![lanes], ..Choice::default() };
    let size = |bytes: u64| Choice { message_bytes: vec![bytes], ..Choice::default() };
    assert!(why_none(&lanes(8), "-ecb$").contains("lanes"));
    assert!(why_none(&lanes(0), "ccm").contains("0 lanes"));
    assert!(why_none(&lanes(5000), "ccm").contains("5000 lanes"));
    assert!(why_none(&Choice { threads: vec![0], ..Choice::default() }, "ccm").contains("0 threads"));
    assert!(why_none(&size(0), "ctr").contains("--size"));
    assert!(why_none(&size(17), "^aes-128-cbc$").contains("whole blocks"));
    assert!(why_none(&size(1 << 24), "^aes-128-ccm$").contains("CCM"));
    assert!(why_none(&size((1 << 19) + 8), "^pipo-128-ctr$").contains("counter"));
    assert!(why_none(&size(u64::MAX), "ctr").contains("memory"));
    // One message fits, all of them do not.
    let fits = memory_bytes() / 2 / 16 * 16;
    let many = Choice { lanes: vec![4096], ..size(fits) };
    assert!(why_none(&many, "^aes-128-cbc$").contains("memory"));
    assert!(why_none(&lanes(1), "^rsa-2048-sign$").contains("cipher"));
    assert!(matches!(cases(&lanes(1), &options("nothing")), Err(Error::NothingMatches)));
    // One that exists is enough.
    assert_eq!(rows(&lanes(8), "^aes-128-(ecb|ccm)$").len(), 2);
    assert_eq!(rows(&size(1 << 19), "^pipo-256-ctr$").len(), 1);
}

/// Every kind of cipher, mode and direction does the same on one thread and on several as those who have it; where nobody has
/// it, as the reference.
#[test]
fn everybody_makes_the_same() {
    use crate::bench::case::Who;
    let everybody = Options { against: vec!["all".into()], ..options("^(aes|rc6|pipo|rijndael-(128|192))-") };
    let choice = Choice { lanes: vec![1, 3], message_bytes: vec![48], threads: vec![1, 2], ..Choice::default() };
    let made = cases(&choice, &everybody).unwrap();
    assert!(made.len() > 200);
    for (case, backend) in made {
        let mut work = (case.make)(backend).unwrap();
        let mut run = |who: Who| {
            work.prepare(who).unwrap();
            work.run(who).unwrap();
            work.output(who).to_vec()
        };
        let ours = run(Who::Ours);
        assert!(!ours.is_empty());
        for &who in &case.peers {
            assert_eq!(run(who), ours, "{} {} {}", case.name, case.direction, who.name());
        }
    }
}

#[test]
fn a_call_by_every_backend_is_the_reference() {
    use crate::bench::case::{Who, Work};
    for cipher in CIPHERS {
        for &mode in cipher.modes {
            for &direction in directions(mode) {
                let call = Call { cipher, mode, direction, lanes: 1, message_bytes: 2 * cipher.block_bytes };
                let output = |backend| {
                    let mut work = Messages::new(call, backend, &[]).unwrap();
                    work.prepare(Who::Ours).unwrap();
                    work.run(Who::Ours).unwrap();
                    work.output(Who::Ours).to_vec()
                };
                let best = cipher.best_backend();
                assert_eq!(output(best), output(Backend::Reference), "{} {direction:?}", name(cipher, mode));
            }
        }
    }
}

/// Rates of threads are of all of them together, by the wall clock.
#[test]
fn threads_work_at_the_same_time() {
    use crate::bench::case::{Who, Work};
    let call = Call {
        cipher: tress_cipher::catalogue::find("aes-128").unwrap(),
        mode: Mode::Ccm,
        direction: Direction::Decrypt,
        lanes: 4,
        message_bytes: 1024,
    };
    let make: threads::Make = Arc::new(move || Messages::new(call, Backend::Portable, &[]));
    let mut work = Threads::new(3, &make).unwrap();
    assert_eq!(work.bytes(Who::Ours), 3 * make().unwrap().bytes(Who::Ours));
    let time = |work: &mut Threads, runs| work.timed_elsewhere(Who::Ours, runs).unwrap().unwrap();
    let (one, many) = (time(&mut work, 1), time(&mut work, 50));
    assert!(many > one && one > std::time::Duration::ZERO);

    // One that fails tells why, and the others are not left waiting.
    let wrong: threads::Make = Arc::new(move || Messages::new(call, Backend::Riscv32, &[]));
    assert!(Threads::new(2, &wrong).is_err());
}

#[test]
fn rows_of_an_earlier_run_are_known_again() {
    use crate::bench::{Against, Stopped};
    let matrix = Some(Choice { lanes: vec![1], ..Choice::default() });
    let asked = Options { matrix, against: vec!["rustcrypto".into()], ..options("^rc6-128-ctr$") };
    let plan = plan::plans(&asked).unwrap().pop().expect("one row");
    let mut row = plan.row(&*plan.work(true).unwrap());
    assert!(plan.is_of(&row) && !plan.made(&row));
    let stopped = Some(Stopped::Narrow);
    let by = |version: &str, stopped| Against { version: version.into(), stopped, ..Against::default() };
    row.against.insert("rustcrypto".into(), by("another", stopped));
    assert!(!plan.made(&row));
    row.against.insert("rustcrypto".into(), by(&tress_peers::rustcrypto::version(), None));
    assert!(plan.made(&row));
    // One that was measured against more is the same only when nothing is left to do for the others.
    row.against.insert("crypto++".into(), by("8", stopped));
    assert!(!plan.made(&row));
    row.against.insert("rustcrypto".into(), by(&tress_peers::rustcrypto::version(), stopped));
    assert!(plan.made(&row));
    row.threads = 2;
    assert!(!plan.is_of(&row) && !plan.made(&row));
}
