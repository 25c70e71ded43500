//! Protection of keys in this process's memory: no core dumps, no swap if the system permits that, and no copies of keys after
//! a command is done.
//!
//! The libraries wipe their own buffers. Other copies on the heap (lines of an identity file, keys of a handshake, strings of
//! arguments) are wiped by an allocator that clears every freed block. [`finish`] overwrites the stack.
//! `docs/explanation/side-channels.md` describes how this is checked, and what remains.

use std::alloc::System;
use std::ffi::OsStr;
use std::{env, hint};

use zeroizing_alloc::ZeroAlloc;

use crate::args::CliCommand;

#[global_allocator]
static ALLOCATOR: ZeroAlloc<System> = ZeroAlloc(System);

/// Environment variable for debugging. `dump` permits core dumps and debuggers. `stop` does too, and the process stops itself just
/// before it ends, so that its memory can be inspected.
const DEBUG: &str = "TRESS_DEBUG_MEMORY";

/// Bytes of stack to overwrite: more than the deepest call of a command uses (100 kB), less than the usual stack of a main thread.
const STACK_BYTES: usize = 256 * 1024;

/// Whether a command reads or makes keys.
fn has_secrets(command: &CliCommand) -> bool {
    match command {
        CliCommand::Keygen(_)
        | CliCommand::Encrypt(_)
        | CliCommand::Decrypt(_)
        | CliCommand::Rewrap(_)
        | CliCommand::Send(_)
        | CliCommand::Receive(_)
        | CliCommand::Sign(_)
        | CliCommand::Inspect(_)
        | CliCommand::List(_)
        | CliCommand::Raw(_) => true,
        CliCommand::Verify(_)
        | CliCommand::Ciphers(_)
        | CliCommand::Plan(_)
        | CliCommand::Bench(_)
        | CliCommand::Simulate(_)
        | CliCommand::Study(_)
        | CliCommand::Report(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_) => false,
    }
}

/// Turns core dumps off and locks memory before a command that has keys. If the system refuses either, calls `refused` with the
/// reason, and the command still runs.
pub(crate) fn protect(command: &CliCommand, refused: impl Fn(&str)) {
    // The stack gets its memory now: at the end, [`finish`] could find none left (`ulimit -v`).
    wipe_stack();
    if !has_secrets(command) {
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

/// Overwrites the stack after a command.
pub(crate) fn finish() {
    wipe_stack();
    if debugs(&["stop"]) {
        system::stop();
    }
}

fn debugs(ways: &[&str]) -> bool {
    env::var_os(DEBUG).is_some_and(|value| ways.iter().any(|way| value == OsStr::new(way)))
}

/// Overwrites the stack below this frame, where the frames of earlier calls were; less of a stack that is small (`ulimit -s`).
fn wipe_stack() {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    #[cfg(not(unix))]
    let limit = None;
    match limit.map_or(u64::MAX, |limit: u64| limit >> 10) {
        0..128 => overwrite::<{ STACK_BYTES / 16 }>(),
        128..256 => overwrite::<{ STACK_BYTES / 4 }>(),
        256..1024 => overwrite::<{ STACK_BYTES / 2 }>(),
        1024.. => overwrite::<STACK_BYTES>(),
    }
}

#[inline(never)]
fn overwrite<const BYTES: usize>() {
    let mut below = [0_u8; BYTES];
    hint::black_box(&mut below);
}

#[cfg(target_os = "linux")]
mod system {
    use std::{fs, io};

    use rustix::mm::{MlockAllFlags, mlockall, munlockall};
    use rustix::param::page_size;
    use rustix::process::{
        DumpableBehavior, Resource, Rlimit, Signal, getpid, getrlimit, kill_process, set_dumpable_behavior, setrlimit,
    };

    /// Turns off core dumps to a file (by the limit) and to a program that collects them, which ignores the limit.
    pub(super) fn no_core_dumps() -> io::Result<()> {
        let limit = getrlimit(Resource::Core);
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: limit.maximum })?;
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }

    /// Locks all current and future memory, each page at its first use. It locks all memory or none: keys pass through buffers of
    /// libraries and stacks of threads, and under a limit later allocations would fail instead of being swapped.
    pub(super) fn lock() -> Result<(), String> {
        let limit = getrlimit(Resource::Memlock);
        // Raise the limit as far as an ordinary user may.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: limit.maximum, maximum: limit.maximum });
        let all = MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT;
        if let Some(limit) = getrlimit(Resource::Memlock).current {
            let refused = || format!("this user may lock {} KiB of memory (ulimit -l)", limit / 1024);
            mlockall(all).map_err(|_| refused())?;
            // If more than the limit was locked, the limit does not apply to this user.
            if used_bytes().is_none_or(|used| used <= limit) {
                let _ = munlockall();
                return Err(refused());
            }
        }
        mlockall(all | MlockAllFlags::FUTURE).map_err(|error| io::Error::from(error).to_string())
    }

    /// Size of this process's address space in bytes, all of which counts towards the limit.
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
