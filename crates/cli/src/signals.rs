//! Signals: during a run the first one cancels it, it cleans up, and then the process dies by that very signal. A
//! second one kills at once, as does the first while nothing runs yet.

use std::sync::Arc;

use tress_stream::Control;

/// From here on a signal gives the terminal back before it kills.
pub(crate) fn install() {
    #[cfg(unix)]
    unix::install();
}

/// From here on the first signal cancels this run rather than kill.
pub(crate) fn cancel_by_signal(control: &Arc<Control>) {
    #[cfg(unix)]
    unix::cancel_by_signal(control);
    #[cfg(not(unix))]
    let _ = control;
}

/// Dies by the signal that cancelled the run, if one did. To be called when everything is cleaned up.
pub(crate) fn die_if_received() {
    #[cfg(unix)]
    unix::die_if_received();
}

#[cfg(unix)]
mod unix {
    use std::{
        fs,
        sync::{
            Arc, OnceLock,
            atomic::{AtomicI32, Ordering},
        },
        thread,
        time::Duration,
    };

    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        iterator::Signals,
        low_level::emulate_default_handler,
    };
    use tress_stream::Control;

    use crate::prompt;

    /// Time to clean up before the user is told how to end it sooner.
    const PATIENCE: Duration = Duration::from_secs(3);

    static RUN: OnceLock<Arc<Control>> = OnceLock::new();

    /// The first signal that came during the run, 0 before it.
    static RECEIVED: AtomicI32 = AtomicI32::new(0);

    pub(super) fn install() {
        let ignored = ignored();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let Ok(mut signals) = Signals::new(wanted) else {
            return;
        };
        thread::spawn(move || {
            for signal in signals.forever() {
                // While a question is open there is nothing to clean up.
                let asking = prompt::abandon();
                match RUN.get() {
                    Some(run) if !asking && RECEIVED.swap(signal, Ordering::SeqCst) == 0 => {
                        run.cancel();
                        thread::spawn(|| {
                            thread::sleep(PATIENCE);
                            eprintln!("tress: still cleaning up; another signal ends it at once");
                        });
                    }
                    _ => {
                        let _ = emulate_default_handler(signal);
                    }
                }
            }
        });
    }

    pub(super) fn cancel_by_signal(control: &Arc<Control>) {
        // One process is one run.
        let _ = RUN.set(Arc::clone(control));
    }

    pub(super) fn die_if_received() {
        let signal = RECEIVED.load(Ordering::SeqCst);
        if signal != 0 {
            let _ = emulate_default_handler(signal);
        }
    }

    /// The signals that whoever started us had ignored (`nohup`, a job in the background of a script), as bits: they
    /// stay ignored. Asking the kernel directly takes unsafe code; where there is no /proc, none counts as ignored.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0)
    }
}
