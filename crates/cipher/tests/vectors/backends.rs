//! The backends that the vectors run on, and a warning about the missing ones.

use std::io::Write;
use std::sync::Mutex;

use tress_cipher::Backend;

use crate::vectors::under_test::VectorCipher;

/// The available backends. Miri supports no instructions beyond the baseline.
pub(crate) fn available<C: VectorCipher>() -> Vec<Backend> {
    let (available, missing): (Vec<_>, Vec<_>) = C::BACKENDS.iter().copied().partition(|backend| {
        backend.is_available() && (!cfg!(miri) || matches!(backend, Backend::Reference | Backend::Portable))
    });
    static REPORTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut reported = REPORTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !reported.contains(&C::FOLDER) {
        reported.push(C::FOLDER);
        // Not `eprintln!`, whose output is hidden if the test passes.
        let _ = writeln!(std::io::stderr(), "vectors/{} run on: {}", C::FOLDER, names(&available));
        if !missing.is_empty() {
            let _ = writeln!(
                std::io::stderr(),
                "\n*** vectors/{} NOT RUN on backends that this machine or build lacks: {} ***\n",
                C::FOLDER,
                names(&missing)
            );
        }
        for name in std::env::var("TRESS_REQUIRED_BACKENDS").unwrap_or_default().split_terminator(',') {
            let backend = Backend::from_name(name).expect("TRESS_REQUIRED_BACKENDS names a backend");
            assert!(!missing.contains(&backend), "backend {name} is required and missing");
        }
    }
    available
}

fn names(backends: &[Backend]) -> String {
    backends.iter().map(|backend| backend.name()).collect::<Vec<_>>().join(", ")
}
