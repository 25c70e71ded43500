//! Which backends the vectors run on, and a line about those that they do not run on.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

use tress_cipher::{Backend, BlockCipher};

/// The backends of a cipher that this machine has; Miri knows no instructions beyond the baseline.
pub(crate) fn available<C: BlockCipher>(cipher: &'static str) -> Vec<Backend> {
    let (ran, missing): (Vec<_>, Vec<_>) = C::BACKENDS.iter().copied().partition(|backend| {
        backend.is_available() && (!cfg!(miri) || matches!(backend, Backend::Reference | Backend::Portable))
    });
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    if SAID.lock().is_ok_and(|mut said| said.insert(cipher)) {
        // Straight to the descriptor: what goes through `eprintln!` is hidden while a test passes.
        let _ = writeln!(std::io::stderr(), "{cipher} vectors run on: {}", names(&ran));
        if !missing.is_empty() {
            let _ = writeln!(
                std::io::stderr(),
                "\n*** {cipher} vectors NOT RUN on backends that this machine or build lacks: {} ***\n",
                names(&missing)
            );
        }
    }
    for name in std::env::var("TRESS_REQUIRED_BACKENDS").unwrap_or_default().split_terminator(',') {
        let backend = Backend::from_name(name).expect("TRESS_REQUIRED_BACKENDS names a backend");
        assert!(!missing.contains(&backend), "backend {name} is required and missing");
    }
    ran
}

fn names(backends: &[Backend]) -> String {
    backends.iter().map(|backend| backend.name()).collect::<Vec<_>>().join(", ")
}
