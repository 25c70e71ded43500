//! `TRESS_CPU` disables the named features and those that depend on them, and nothing else.

use std::env;
use std::process::Command;

use tress_modular::{Modulus, lanes};

/// Names with the backends that need them; an empty backend means that the name has no effect here.
const NEED: [(&str, &str); 5] = [("adx", "adx"), ("ifma", "ifma"), ("avx512", "ifma"), ("avx2", "ifma"), ("aes", "")];

/// Set by `each_name_alone`: the backends of the machine without `TRESS_CPU`.
const HAS: &str = "TRESS_CPU_TEST_HAS";

fn available() -> Vec<&'static str> {
    let one = Modulus::new(&[u64::MAX; 8]).unwrap().backend();
    [one].into_iter().chain(lanes::backend()).collect()
}

/// The variable may be set for all tests of a run (`make test-without`). Then this test proves that they ran without the named features.
#[test]
fn named_features_are_not_used() {
    let value = env::var("TRESS_CPU").unwrap_or_default();
    let has = env::var(HAS).unwrap_or_default();
    for backend in ["adx", "ifma"] {
        let mut needed = NEED.iter().filter(|(_, needing)| *needing == backend);
        let is_named = needed.any(|(name, _)| value.split(',').any(|item| item == format!("-{name}")));
        let is_available = available().contains(&backend);
        assert!(!(is_named && is_available), "TRESS_CPU={value} leaves {backend}");
        let was_there = has.split(',').any(|name| name == backend);
        assert!(is_named || is_available || !was_there, "TRESS_CPU={value} takes {backend} away");
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no programs")]
fn each_name_alone() {
    for (name, _) in NEED {
        let run = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "cpu::named_features_are_not_used"])
            .envs([("TRESS_CPU", format!("-{name}")), (HAS, available().join(","))])
            .output()
            .expect("this program starts");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "without {name}:\n{said}");
    }
}
