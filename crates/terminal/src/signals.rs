//! Signals. The first one during a run cancels the run, which cleans up; then the process dies by that same signal. A second one kills
//! immediately, as does one that arrives before a run starts. On Windows these are Ctrl-C and Ctrl-Break; closing the console leaves no
//! time to clean up.

use std::thread;
use std::time::Duration;

use crate::lifeline;
#[cfg(any(unix, windows))]
use crate::{Failure, blocked::is_blocked};

/// A function that cancels the run.
type Cancel = Box<dyn Fn() + Send + Sync>;

/// Interval between looks at a run that is being cancelled.
#[cfg(any(unix, windows))]
const TICK: Duration = Duration::from_millis(100);
/// Ticks that other threads have for cleaning up before a run ends that is blocked.
#[cfg(any(unix, windows))]
const BLOCKED_TICKS: u32 = 5;
/// Ticks that cleaning up may take before the user sees how to end it sooner.
#[cfg(any(unix, windows))]
const NOTICE_TICKS: u32 = 30;

/// Cancels the run. If it is blocked in a call that holds nothing to clean up, ends the process by `die`. If cleaning up takes long, prints
/// how to end it sooner.
#[cfg(any(unix, windows))]
fn cancel(run: &Cancel, how: &'static str, die: impl Fn() + Send + 'static) {
    run();
    let watch = move || {
        for tick in 1_u32.. {
            thread::sleep(TICK);
            if tick >= BLOCKED_TICKS && is_blocked() {
                Failure::failed("interrupted").print();
                die();
            }
            if tick == NOTICE_TICKS {
                crate::progress::aside(|| {
                    eprintln!("{}: still cleaning up; another {how} ends it immediately", crate::program())
                });
            }
        }
    };
    // Without the thread only a second signal ends a blocked run.
    let _ = thread::Builder::new().spawn(watch);
}

/// Follows the process that started this one, and installs the handler. From now on a signal restores the terminal before it kills. If a
/// question is open, `abandon` restores the terminal and returns true, and `resume` prepares it again after a stop (Ctrl-Z and `fg`),
/// because the shell has changed it.
pub fn install(abandon: fn() -> bool, resume: fn()) {
    lifeline::follow();
    crate::descriptor::only_inherited();
    #[cfg(unix)]
    system::install(abandon, resume);
    #[cfg(windows)]
    system::install();
    #[cfg(not(unix))]
    let _ = (abandon, resume);
}

/// From now on the first signal cancels this run instead of killing the process.
pub fn cancel_by_signal(cancel: impl Fn() + Send + Sync + 'static) {
    // A process has one run.
    #[cfg(any(unix, windows))]
    let _ = system::RUN.set(Box::new(cancel));
    #[cfg(not(any(unix, windows)))]
    let _ = cancel;
}

/// Dies by the signal that cancelled the run, if one did. Call it after cleaning up.
pub fn die_if_received() {
    #[cfg(any(unix, windows))]
    system::die_if_received();
}

#[cfg(unix)]
mod system {
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::sync::{Arc, OnceLock, mpsc};
    use std::thread;

    use signal_hook::consts::{
        SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::streams;
    pub(super) static RUN: OnceLock<super::Cancel> = OnceLock::new();

    /// The first signal during the run, 0 before it.
    static RECEIVED: AtomicI32 = AtomicI32::new(0);

    pub(super) fn install(abandon: fn() -> bool, resume: fn()) {
        // With a handler, a write beyond the limit for files fails, and the command cleans up. Without one the signal kills.
        let _ = flag::register(SIGXFSZ, Arc::default());
        // What the parent process had ignored (`nohup`, a background job of a script) stays ignored.
        let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2];
        let wanted = ends.into_iter().chain([SIGCONT]).filter(|signal| !streams::is_ignored(*signal));
        // The thread starts first: signals that are caught but not handled would end nothing. Without the thread, signals kill as usual.
        let (sender, receiver) = mpsc::channel::<Signals>();
        let handle_signals = move || {
            let Ok(mut signals) = receiver.recv() else { return };
            for signal in signals.forever() {
                if signal == SIGCONT {
                    resume();
                    continue;
                }
                // While a question is open there is nothing to clean up.
                let asking = abandon();
                let first = match RUN.get() {
                    Some(run) if !asking => {
                        RECEIVED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).map(|_| run)
                    }
                    _ => Err(0),
                };
                match first {
                    Ok(run) => super::cancel(run, "signal", move || {
                        let _ = emulate_default_handler(signal);
                    }),
                    // Limits and timers send theirs again.
                    Err(first) if first == signal && [SIGXCPU, SIGALRM, SIGVTALRM].contains(&signal) => {}
                    Err(_) => {
                        let _ = emulate_default_handler(signal);
                    }
                }
            }
        };
        if thread::Builder::new().spawn(handle_signals).is_ok()
            && let Ok(signals) = Signals::new(wanted)
        {
            let _ = sender.send(signals);
        }
    }

    pub(super) fn die_if_received() {
        let signal = RECEIVED.load(Ordering::SeqCst);
        if signal != 0 {
            let _ = emulate_default_handler(signal);
        }
    }
}

#[cfg(windows)]
mod system {
    use std::process;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// STATUS_CONTROL_C_EXIT, the status with which Windows itself ends a program.
    const STATUS: i32 = 0xC000_013A_u32 as i32;

    pub(super) static RUN: OnceLock<super::Cancel> = OnceLock::new();

    static RECEIVED: AtomicBool = AtomicBool::new(false);

    pub(super) fn install() {
        // Without a handler the first signal kills, which is then the default.
        let _ = ctrlc::set_handler(|| match RUN.get() {
            Some(run) if !RECEIVED.swap(true, Ordering::SeqCst) => {
                super::cancel(run, "Ctrl-C", || process::exit(STATUS))
            }
            _ => process::exit(STATUS),
        });
    }

    pub(super) fn die_if_received() {
        if RECEIVED.load(Ordering::SeqCst) {
            process::exit(STATUS);
        }
    }
}
