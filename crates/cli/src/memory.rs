//! Keys in this process's memory: not in core dumps, not in swap where the system lets us, and nothing of them left when a
//! verb is done.
//!
//! The library wipes what it holds itself. What others hold on the way (lines of an identity file, a handshake's keys, strings
//! of arguments) is wiped by an allocator that clears every block it gets back; what calls have left on the stack, by
//! [`finish`]. `docs/explanation/side-channels.md` says how that is checked, and what stays.

use std::{alloc::System, env, ffi::OsStr, hint};

use zeroizing_alloc::ZeroAlloc;

use crate::args::Verb;

#[global_allocator]
static ALLOCATOR: ZeroAlloc<System> = ZeroAlloc(System);

/// For those who debug: `dump` keeps core dumps and debuggers possible, `stop` does too, and has the process stop itself just
/// before it ends, so that its memory can be looked at.
const DEBUG: &str = "TRESS_DEBUG_MEMORY";

/// More than the deepest call of a verb has used (a hundred kilobytes), less than any main thread has.
const STACK_BYTES: usize = 256 * 1024;

/// Whether a verb reads or makes keys.
fn has_secrets(verb: &Verb) -> bool {
    match verb {
        Verb::Keygen(_)
        | Verb::Encrypt(_)
        | Verb::Decrypt(_)
        | Verb::Rewrap(_)
        | Verb::Send(_)
        | Verb::Receive(_)
        | Verb::Sign(_)
        | Verb::Inspect(_)
        | Verb::Raw(_) => true,
        Verb::Verify(_)
        | Verb::Ciphers(_)
        | Verb::Plan(_)
        | Verb::Bench(_)
        | Verb::Simulate(_)
        | Verb::Study(_)
        | Verb::Report(_)
        | Verb::Completions(_)
        | Verb::Man(_) => false,
    }
}

/// Before a verb: no core dumps, and memory that is not swapped out. If the system refuses either, `refused` gets the reason,
/// and the verb runs all the same.
pub(crate) fn protect(verb: &Verb, refused: impl Fn(&str)) {
    if !has_secrets(verb) {
        return;
    }
    if !debugs(&["dump", "stop"])
        && let Err(error) = system::no_core_dumps()
    {
        refused(&format!("keys could be written to a core dump: {error}"));
    }
    if let Err(why) = system::lock() {
        refused(&format!("keys could be written to swap: {why}"));
    }
}

/// After a verb: overwrites what its calls have left on the stack.
pub(crate) fn finish() {
    wipe_stack();
    if debugs(&["stop"]) {
        system::stop();
    }
}

fn debugs(ways: &[&str]) -> bool {
    env::var_os(DEBUG).is_some_and(|value| ways.iter().any(|way| value == OsStr::new(way)))
}

/// The frames of calls that have returned lie below this one.
#[inline(never)]
fn wipe_stack() {
    let mut below = [0_u8; STACK_BYTES];
    hint::black_box(&mut below);
}

#[cfg(target_os = "linux")]
mod system {
    use std::{fs, io};

    use rustix::{
        mm::{MlockAllFlags, mlockall, munlockall},
        param::page_size,
        process::{
            DumpableBehavior, Resource, Rlimit, Signal, getpid, getrlimit, kill_process, set_dumpable_behavior,
            setrlimit,
        },
    };

    /// Neither a file, nor to the program that many systems give core dumps to, which minds no limit.
    pub(super) fn no_core_dumps() -> io::Result<()> {
        let limit = getrlimit(Resource::Core);
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: limit.maximum })?;
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }

    /// Locks all memory that is and will be used, page by page as it is used. All or nothing: keys pass through buffers of
    /// libraries and stacks of threads, and below a limit the memory that is asked for later would be refused, not swapped.
    pub(super) fn lock() -> Result<(), String> {
        let limit = getrlimit(Resource::Memlock);
        // As far as it goes without rights.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: limit.maximum, maximum: limit.maximum });
        let all = MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT;
        if let Some(limit) = getrlimit(Resource::Memlock).current {
            let refused = || format!("this user may lock {} KiB of memory (ulimit -l)", limit / 1024);
            mlockall(all).map_err(|_| refused())?;
            // More than the limit was locked: it does not hold for this user.
            if used_bytes().is_none_or(|used| used <= limit) {
                let _ = munlockall();
                return Err(refused());
            }
        }
        mlockall(all | MlockAllFlags::FUTURE).map_err(|error| io::Error::from(error).to_string())
    }

    /// All memory of this process, of which the limit counts all.
    fn used_bytes() -> Option<u64> {
        let pages: u64 = fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
        Some(pages * page_size() as u64)
    }

    pub(super) fn stop() {
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod system {
    use std::io;

    use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};

    pub(super) fn no_core_dumps() -> io::Result<()> {
        let limit = getrlimit(Resource::Core);
        Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: limit.maximum })?)
    }

    pub(super) fn lock() -> Result<(), String> {
        Err("tress locks memory only on Linux".into())
    }

    pub(super) fn stop() {
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    pub(super) fn no_core_dumps() -> io::Result<()> {
        Err(io::Error::other("tress turns core dumps off only on Unix"))
    }

    pub(super) fn lock() -> Result<(), String> {
        Err("tress locks memory only on Linux".into())
    }

    pub(super) fn stop() {}
}
