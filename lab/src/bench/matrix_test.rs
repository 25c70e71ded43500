//! Names are those that the command documents. Existing combinations are measured, and others are rejected with a reason.

use std::time::Duration;

use regex::Regex;

use super::*;
use crate::bench::sample::{SampleEffort, visit};
use crate::bench::visits::VisitedRow as _;
use crate::bench::work::{Contender, TimedWork};
use crate::bench::{Against, BenchRow, Document, Options, Stopped, list, plan, rows};

fn options(filter: &str) -> Options {
    Options { filter: Some(Regex::new(filter).unwrap()), ..Options::default() }
}

/// Name, direction, lanes, threads and bytes of the rows.
fn shown(choice: &Choice, filter: &str) -> Vec<(String, &'static str, usize, usize, u64)> {
    let row =
        |(_, case): (Backend, BenchCase)| (case.name, case.direction, case.lanes, case.threads, case.message_bytes);
    made(choice, filter).unwrap().into_iter().map(row).collect()
}

fn made(choice: &Choice, filter: &str) -> Result<Vec<(Backend, BenchCase)>, Error> {
    cases(choice, |name| options(filter).wants(name))
}

fn error_without_rows(choice: &Choice, filter: &str) -> Error {
    let error = plan::plans(&Options { matrix: Some(choice.clone()), ..options(filter) }).err().expect("no rows");
    assert!(error.is_usage());
    error
}

/// The output of one run by a contender.
fn output(work: &mut dyn TimedWork, contender: Contender) -> Vec<u8> {
    work.prepare(contender).unwrap();
    work.run(contender).unwrap();
    work.output(contender).to_vec()
}

/// The documented names: aes-128/192/256, rijndael-BLOCK-KEY, rc6-128/192/256, lea-128/192/256, pipo-128/256 with ecb, cbc,
/// ctr, and ccm for 128-bit blocks.
#[test]
fn names_are_those_of_the_documentation() {
    let listed = list::list();
    let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    let ciphers = names.iter().filter(|name| Regex::new("-(ecb|cbc|ctr|ccm)$").unwrap().is_match(name));
    // 3 + 25 + 3 + 3 + 2 ciphers in three modes, and CCM of 3 + 5 + 3 + 3.
    assert_eq!(ciphers.count(), 36 * 3 + 14);
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
    assert!(ccm.lanes && ccm.backends.contains(&"portable") && ccm.peers.contains(&"openssl") && ccm.rows.len() == 15);
    let cbc = listed.iter().find(|one| one.name == "rijndael-192-256-cbc").unwrap();
    assert_eq!((cbc.multiple_of_bytes, cbc.directions.as_slice()), (Some(24), &["encrypt", "decrypt"][..]));
}

/// Old records can be compared with new ones: their rows still exist, under the same names and with these peers.
#[test]
fn rows_of_records_keep_their_names() {
    type Known = (String, String, String, u64, usize, Vec<String>);
    let record = include_str!("../../../bench/record/2026-11-24-amd-epyc.json");
    let record: Document = serde_json::from_str(record).unwrap();
    let of_row = |row: BenchRow| -> Known {
        let peers = row.against.into_keys().collect();
        (row.name, row.direction, row.workload, row.message_bytes, row.lanes, peers)
    };
    let of_case = |case: BenchCase| -> Known {
        let mut peers: Vec<_> = case.peers.iter().map(|contender| contender.name().to_string()).collect();
        peers.sort();
        (case.name, case.direction.into(), case.workload, case.message_bytes, case.lanes, peers)
    };
    // Whole commands have no lanes, and AES without instructions is measured by a separate build.
    let then = record.rows.into_iter().filter(|row| row.lanes > 0 && !row.workload.starts_with("without AES"));
    let (then, now): (Vec<_>, Vec<_>) = (then.map(of_row).collect(), rows::all().into_iter().map(of_case).collect());
    let is_kept = |(name, direction, workload, bytes, lanes, peers): &Known| {
        let same = |row: &&Known| (&row.0, &row.1, &row.2, &row.3, &row.4) == (name, direction, workload, bytes, lanes);
        now.iter().find(same).is_some_and(|row| peers.iter().all(|peer| row.5.contains(peer)))
    };
    let gone: Vec<_> = then.iter().filter(|row| !is_kept(row)).collect();
    assert!(gone.is_empty() && then.len() == 43, "{gone:?}");
}

#[test]
fn default_rows_without_options() {
    let two = Choice { threads: vec![1, 2], ..Choice::default() };
    let row = |direction, lanes, threads| ("aes-128-cbc".to_string(), direction, lanes, threads, 16_384);
    assert_eq!(
        shown(&two, "^aes-128-cbc$"),
        [
            row("encrypt", 1, 1),
            row("encrypt", 1, 2),
            row("encrypt", 32, 1),
            row("encrypt", 32, 2),
            row("decrypt", 1, 1),
            row("decrypt", 1, 2)
        ]
    );
    // Whole blocks: 819 blocks of 20 bytes are 16,380 bytes.
    assert_eq!(shown(&Choice { lanes: vec![1], ..Choice::default() }, "^rijndael-160-128-ecb$")[0].4, 16_380);
    // CTR does the same in both directions.
    let sizes = Choice { message_bytes: vec![1, 65], ..Choice::default() };
    assert_eq!(
        shown(&sizes, "^rc6-192-ctr$"),
        [("rc6-192-ctr".into(), "encrypt", 1, 1, 1), ("rc6-192-ctr".into(), "encrypt", 1, 1, 65)]
    );
}

#[test]
fn backends_are_those_that_cipher_and_machine_have() {
    let both = Choice { backends: vec![Backend::Portable, Backend::Reference], lanes: vec![1], ..Choice::default() };
    let made_of_both = made(&both, "^pipo-128-ctr$").unwrap();
    let workloads: Vec<_> = made_of_both.iter().map(|(backend, case)| (&*case.workload, *backend)).collect();
    assert_eq!(
        workloads,
        [("one message, reference", Backend::Reference), ("one message, portable", Backend::Portable)]
    );
    let all = Choice { all_backends: true, lanes: vec![1], ..Choice::default() };
    let here = tress_cipher::catalogue::find("aes-256")
        .unwrap()
        .backends
        .iter()
        .filter(|backend| backend.is_available())
        .count();
    assert_eq!(made(&all, "^aes-256-ctr$").unwrap().len(), here);
    let missing = Choice { backends: vec![Backend::Riscv32], ..Choice::default() };
    let error = made(&missing, "aes").err().expect("no such machine");
    assert!(matches!(error, Error::Cipher(tress_cipher::Error::BackendUnavailable(Backend::Riscv32))));
}

#[test]
fn combinations_that_do_not_exist_are_rejected() {
    let lanes = |lanes: usize| Choice { lanes: vec![lanes], ..Choice::default() };
    let size = |bytes: u64| Choice { message_bytes: vec![bytes], ..Choice::default() };
    // One message fits; all of them together do not.
    let many = Choice { lanes: vec![4096], ..size(memory_bytes() / 2 / 16 * 16) };
    for (choice, filter, why) in [
        (lanes(8), "-ecb$", "lanes"),
        (lanes(0), "ccm", "0 lanes"),
        (lanes(5000), "ccm", "5000 lanes"),
        (Choice { threads: vec![0], ..Choice::default() }, "ccm", "0 threads"),
        (size(0), "ctr", "--size"),
        (size(17), "^aes-128-cbc$", "whole blocks"),
        (size(1 << 24), "^aes-128-ccm$", "CCM"),
        (size((1 << 19) + 8), "^pipo-128-ctr$", "counter"),
        (size(u64::MAX), "ctr", "memory"),
        (many, "^aes-128-cbc$", "memory"),
        (Choice { registers: vec![3], ..Choice::default() }, "^aes-128-ccm$", "3 registers"),
        (Choice { registers: vec![4], ..Choice::default() }, "^aes-128-(cbc|ctr)$", "registers"),
        (lanes(1), "^rsa-2048-sign$", "cipher"),
    ] {
        let message = error_without_rows(&choice, filter).to_string();
        assert!(message.contains(why), "{message}");
    }
    assert!(matches!(error_without_rows(&lanes(1), "nothing"), Error::NothingMatches));
    // One combination that exists is enough.
    assert_eq!(shown(&lanes(8), "^aes-128-(ecb|ccm)$").len(), 2);
    assert_eq!(shown(&size(1 << 19), "^pipo-256-ctr$").len(), 1);
}

/// Every kind of cipher, mode and direction gives the same output on one thread and on several as the peers that have
/// it. Where no peer has it, the output is compared with the reference.
#[test]
fn all_contenders_make_the_same_output() {
    let choice = Choice { lanes: vec![1, 3], message_bytes: vec![48], threads: vec![1, 2], ..Choice::default() };
    let made = made(&choice, "^(aes|rc6|pipo|rijndael-(128|192))-").unwrap();
    assert!(made.len() > 200);
    for (backend, case) in made {
        let peers: Vec<Contender> = case.peers.iter().copied().filter(|contender| contender.is_available()).collect();
        let mut work = (case.make)(backend, &peers).unwrap();
        let ours = output(&mut *work, Contender::Tress);
        assert!(!ours.is_empty());
        for contender in peers {
            assert_eq!(output(&mut *work, contender), ours, "{} {} {}", case.name, case.direction, contender.name());
        }
    }
}

/// Also for the default rows of ciphers, whose messages have special shapes.
#[test]
fn all_contenders_make_the_same_output_for_every_shape() {
    let cases = rows::all().into_iter().filter(|case| ["encrypt", "decrypt"].contains(&case.direction));
    let mut comparable = 0;
    for case in cases {
        let peers: Vec<Contender> = case.peers.iter().copied().filter(|contender| contender.is_available()).collect();
        let mut work = (case.make)(Backend::best_of(case.backends), &peers).unwrap();
        let ours = output(&mut *work, Contender::Tress);
        let messages = work.bytes(Contender::Tress);
        for contender in peers {
            let theirs = output(&mut *work, contender);
            assert!(theirs.is_empty() || theirs == ours, "{} {} {}", case.name, case.workload, contender.name());
            comparable += usize::from(!theirs.is_empty());
            // Mixed lengths have nearly as many bytes.
            assert!(
                work.bytes(contender).abs_diff(messages) < messages / 1000,
                "{} {}",
                case.workload,
                contender.name()
            );
        }
    }
    // These rows have RustCrypto, the crate pipo or our own baseline, whatever else is installed.
    assert!(comparable >= 26, "{comparable}");
}

#[test]
fn a_call_by_every_backend_is_the_reference() {
    for (cipher, mode) in all_modes() {
        for &direction in directions(mode) {
            let message_bytes = 2 * cipher.block_bytes;
            let call = Call { cipher, mode, direction, lanes: 1, message_bytes, shape: Shape::Usual, registers: 0 };
            let of = |backend| output(&mut Messages::new(call, backend, &[]).unwrap(), Contender::Tress);
            assert_eq!(of(cipher.best_backend()), of(Backend::Reference), "{} {direction:?}", call.name());
        }
    }
}

/// Work that takes Tress a millisecond, and every other contender three.
struct KnownTimes;

impl TimedWork for KnownTimes {
    fn bytes(&self, _: Contender) -> u64 {
        1000
    }

    fn external_time(&mut self, contender: Contender, runs: u32) -> Option<Result<Duration, Error>> {
        Some(Ok(Duration::from_millis(if contender == Contender::Tress { 1 } else { 3 }) * runs))
    }

    fn run(&mut self, _: Contender) -> Result<(), Error> {
        Ok(())
    }

    fn output(&self, _: Contender) -> &[u8] {
        &[]
    }
}

#[test]
fn ratios_are_those_of_the_times() {
    let (effort, mut row) =
        (SampleEffort { sample: Duration::from_millis(30), ..SampleEffort::default() }, BenchRow::default());
    for _ in 0..4 {
        visit(&mut KnownTimes, &[Contender::OpenSsl], effort, &mut row).unwrap();
    }
    let against = &row.against["openssl"];
    assert_eq!((row.bytes_per_s, against.pairs.len(), against.per_visit), (Some(1e6), 4, 1));
    for ratio in [against.ratio, against.ratio_low, against.ratio_high] {
        assert!((ratio - 3.0).abs() < 1e-9, "{against:?}");
    }
}

/// Four messages of 1 KiB.
fn ccm(direction: Direction) -> Call {
    let cipher = tress_cipher::catalogue::find("aes-128").unwrap();
    Call { cipher, mode: Mode::Ccm, direction, lanes: 4, message_bytes: 1024, shape: Shape::Usual, registers: 0 }
}

/// Rates of threads are rates of all threads together, by the wall clock.
#[test]
fn threads_work_at_the_same_time() {
    let by = |backend| -> threads::MakeThreadWork {
        Arc::new(move || Ok(Box::new(Messages::new(ccm(Direction::Decrypt), backend, &[])?)))
    };
    let make = by(Backend::Portable);
    let mut work = Threads::new(3, &make).unwrap();
    assert_eq!(work.bytes(Contender::Tress), 3 * make().unwrap().bytes(Contender::Tress));
    let mut time = |runs| work.external_time(Contender::Tress, runs).unwrap().unwrap();
    assert!(time(1) > Duration::ZERO);
    // A thread that waits for a core makes one run long.
    assert!((0..20).any(|_| time(50) > time(1)));

    // A thread that fails reports the error, and the others do not wait for it.
    assert!(Threads::new(2, &by(Backend::Riscv32)).is_err());
}

#[test]
fn rows_of_an_earlier_run_are_recognised() {
    let matrix = Some(Choice { lanes: vec![1], ..Choice::default() });
    let asked = Options { matrix, against: vec!["rustcrypto".into()], ..options("^rc6-128-ctr$") };
    let plan = plan::plans(&asked).unwrap().pop().expect("one row");
    let mut row = plan.row(&*plan.work(true).unwrap());
    assert!(plan.is_same_row(&row) && !plan.has_same_peers(&row));
    let stopped = Some(Stopped::Narrow);
    let by = |version: &str, stopped| Against { version: version.into(), stopped, ..Against::default() };
    row.against.insert("rustcrypto".into(), by("another", stopped));
    assert!(!plan.has_same_peers(&row));
    row.against.insert("rustcrypto".into(), by(&tress_peers::rustcrypto::version(), None));
    assert!(plan.has_same_peers(&row));
    // A row that was measured against more peers is the same row only when nothing is left to measure for the others.
    row.against.insert("crypto++".into(), by("8", stopped));
    assert!(!plan.has_same_peers(&row));
    row.against.insert("rustcrypto".into(), by(&tress_peers::rustcrypto::version(), stopped));
    assert!(plan.has_same_peers(&row));
    row.threads = 2;
    assert!(!plan.is_same_row(&row) && !plan.has_same_peers(&row));
}
