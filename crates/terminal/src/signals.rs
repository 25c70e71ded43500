//! Signals: during a run the first one cancels it, it cleans up, and then the process dies by that very signal. A
//! second one kills at once, as does the first while nothing runs yet. On Windows these are Ctrl-C and Ctrl-Break; whoever
//! closes the console leaves no time.

use std::{thread, time::Duration};

/// What cancels the run.
type Cancel = Box<dyn Fn() + Send + Sync>;

/// Time to clean up before the user is told how to end it sooner.
#[cfg(any(unix, windows))]
const PATIENCE: Duration = Duration::from_secs(3);

/// Cancels the run, and says how to end it sooner where that takes long.
#[cfg(any(unix, windows))]
fn cancel(run: &Cancel, how: &'static str) {
    run();
    // A system that refuses the thread gets no line.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(PATIENCE);
        crate::progress::aside(|| {
            eprintln!("{}: still cleaning up; another {how} ends it immediately", crate::program())
        });
    });
}

/// From here on a signal gives the terminal back before it kills: `abandon` does so where a question is open, and says whether one
/// was.
pub fn install(abandon: fn() -> bool) {
    #[cfg(unix)]
    system::install(abandon);
    #[cfg(windows)]
    system::install();
    #[cfg(not(unix))]
    let _ = abandon;
}

/// From here on the first signal cancels this run rather than kill.
pub fn cancel_by_signal(cancel: impl Fn() + Send + Sync + 'static) {
    // One process is one run.
    #[cfg(any(unix, windows))]
    let _ = system::RUN.set(Box::new(cancel));
    #[cfg(not(any(unix, windows)))]
    let _ = cancel;
}

/// Dies by the signal that cancelled the run, if one did. To be called when everything is cleaned up.
pub fn die_if_received() {
    #[cfg(any(unix, windows))]
    system::die_if_received();
}

#[cfg(unix)]
mod system {
    use std::{
        fs,
        sync::{
            OnceLock,
            atomic::{AtomicI32, Ordering},
            mpsc,
        },
        thread,
    };

    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        iterator::Signals,
        low_level::emulate_default_handler,
    };
    pub(super) static RUN: OnceLock<super::Cancel> = OnceLock::new();

    /// The first signal that came during the run, 0 before it.
    static RECEIVED: AtomicI32 = AtomicI32::new(0);

    pub(super) fn install(abandon: fn() -> bool) {
        let ignored = ignored();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        // The thread comes first: signals that are caught and that nobody hears would end nothing. Without it they kill at once.
        let (sender, receiver) = mpsc::channel::<Signals>();
        let hear = move || {
            let Ok(mut signals) = receiver.recv() else { return };
            for signal in signals.forever() {
                // While a question is open there is nothing to clean up.
                let asking = abandon();
                match RUN.get() {
                    Some(run) if !asking && RECEIVED.swap(signal, Ordering::SeqCst) == 0 => {
                        super::cancel(run, "signal");
                    }
                    _ => {
                        let _ = emulate_default_handler(signal);
                    }
                }
            }
        };
        if thread::Builder::new().spawn(hear).is_ok()
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

#[cfg(windows)]
mod system {
    use std::{
        process,
        sync::{
            OnceLock,
            atomic::{AtomicBool, Ordering},
        },
    };

    /// STATUS_CONTROL_C_EXIT, with which Windows itself ends a program.
    const STATUS: i32 = 0xC000_013A_u32 as i32;

    pub(super) static RUN: OnceLock<super::Cancel> = OnceLock::new();

    static RECEIVED: AtomicBool = AtomicBool::new(false);

    pub(super) fn install() {
        // Without a handler the first one kills, which is what there is then.
        let _ = ctrlc::set_handler(|| match RUN.get() {
            Some(run) if !RECEIVED.swap(true, Ordering::SeqCst) => super::cancel(run, "Ctrl-C"),
            _ => process::exit(STATUS),
        });
    }

    pub(super) fn die_if_received() {
        if RECEIVED.load(Ordering::SeqCst) {
            process::exit(STATUS);
        }
    }
}
