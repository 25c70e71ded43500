//! `TRESS_CPU` disables the features that it names and those that build on them, and no others.

use std::env;
use std::process::Command;

use tress_cipher::{Backend, cpu};

/// Every feature name with the backends that need the feature.
const BACKENDS_OF_FEATURES: [(&str, &[Backend]); 8] = [
    ("aes", &[Backend::AesNi, Backend::Vaes256, Backend::Vaes512, Backend::ArmAes]),
    ("avx2", &[Backend::Avx2, Backend::Vaes256, Backend::Avx512, Backend::Gfni512, Backend::Vaes512]),
    ("vaes", &[Backend::Vaes256, Backend::Vaes512]),
    ("avx512", &[Backend::Avx512, Backend::Gfni512, Backend::Vaes512]),
    ("gfni", &[Backend::Gfni512]),
    ("neon", &[Backend::Neon, Backend::ArmAes]),
    ("adx", &[]),
    ("ifma", &[]),
];

/// Variable that `each_feature_alone` sets to the backends that are available without `TRESS_CPU`.
const AVAILABLE_VARIABLE: &str = "TRESS_CPU_TEST_HAS";

/// `TRESS_CPU` may be set for all tests of a run (`make test-without`). This test then proves that they ran without these features.
#[test]
fn named_features_are_disabled() {
    let value = env::var("TRESS_CPU").unwrap_or_default();
    let has = env::var(AVAILABLE_VARIABLE).unwrap_or_default();
    assert_eq!(cpu::unknown_switch(&value), None, "unknown names in TRESS_CPU");
    for backend in Backend::ALL {
        let needed = BACKENDS_OF_FEATURES.iter().filter(|(_, backends)| backends.contains(backend));
        let is_named = needed.clone().any(|(name, _)| value.split(',').any(|item| item == format!("-{name}")));
        let is_available = backend.is_available();
        assert!(!(is_named && is_available), "TRESS_CPU={value} does not disable {}", backend.name());
        let was_there = has.split(',').any(|name| name == backend.name());
        assert!(is_named || is_available || !was_there, "TRESS_CPU={value} disables {}", backend.name());
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no programs")]
fn each_feature_alone() {
    assert_eq!(BACKENDS_OF_FEATURES.map(|(name, _)| name), cpu::SWITCHES);
    let available: Vec<&str> =
        Backend::ALL.iter().copied().filter(|backend| backend.is_available()).map(Backend::name).collect();
    for name in cpu::SWITCHES {
        let run = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "cpu::named_features_are_disabled"])
            .envs([("TRESS_CPU", format!("-{name}")), (AVAILABLE_VARIABLE, available.join(","))])
            .output()
            .expect("this program starts");
        let output = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && output.contains("1 passed"), "without {name}:\n{output}");
    }
}
