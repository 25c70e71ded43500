//! Tests constant time with Valgrind's memcheck: secrets are marked as undefined, and memcheck reports every jump and every address that is
//! computed from them. A test program has a test `inside`, which does the work when [`is_inside`], and a test that calls [`check`], which
//! runs the program again under Valgrind.

use std::process::Command;

/// Set in the environment of the run under Valgrind.
const INSIDE: &str = "TRESS_SECRETS_INSIDE";

/// A client request (valgrind.h).
fn request(code: u64, address: *const u8, length: usize) -> u64 {
    let request: [u64; 6] = [code, address.addr() as u64, length as u64, 0, 0, 0];
    let mut result = 0;
    // SAFETY: outside of Valgrind the rotations add up to two full turns and the exchange is of a register with itself. Inside, the
    // requests used here only change or read memcheck's state.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const request, inout("rdx") result,
        );
    }
    result
}

fn errors() -> u64 {
    request(0x1201, std::ptr::null(), 0)
}

/// Marks the digits as secret.
pub(crate) fn hide<L>(digits: &mut [L]) {
    request(0x4d43_0001, digits.as_ptr().cast(), size_of_val(digits));
}

/// Marks the digits as public.
pub(crate) fn show<L>(digits: &mut [L]) {
    request(0x4d43_0002, digits.as_ptr().cast(), size_of_val(digits));
}

/// Runs some work and prints the number of memcheck's findings. Work named `planted` must have findings.
pub(crate) fn watch(what: &str, work: impl FnOnce()) {
    let before = errors();
    work();
    println!("secrets: {what}: {}", errors() - before);
}

/// Whether this is the run under Valgrind.
pub(crate) fn is_inside() -> bool {
    let is_inside = std::env::var_os(INSIDE).is_some();
    assert!(!is_inside || request(0x1001, std::ptr::null(), 0) != 0, "not under Valgrind");
    is_inside
}

/// Runs the test `inside` again, under Valgrind. Requires at least `operations` operations without a finding, and `leaks` findings in
/// planted work. Returns its output; does nothing inside.
pub(crate) fn check(operations: usize, leaks: u64) -> String {
    if is_inside() {
        return String::new();
    }
    let output = Command::new("valgrind")
        .args(["--quiet", "--error-limit=no", "--num-callers=12"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "inside", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .expect("valgrind (Debian's package of that name)");
    let (found, report) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{found}\n{report}");
    let (mut watched, mut planted) = (0, 0);
    // The first line is preceded by the name of the test.
    for (_, line) in found.lines().filter_map(|line| line.split_once("secrets: ")) {
        let (what, count) = line.rsplit_once(": ").expect("a count");
        let count: u64 = count.parse().expect("a number");
        if what == "planted" {
            planted += count;
            continue;
        }
        watched += 1;
        assert_eq!(count, 0, "{what} depends on a secret\n{report}");
    }
    println!("{watched} operations watched; {planted} planted leaks found");
    assert!(planted >= leaks, "the planted leak was not found");
    assert!(watched >= operations, "only {watched} operations ran");
    found.into_owned()
}
