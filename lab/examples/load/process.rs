//! What this process takes, from proc(5); nothing where there is none.

use std::fs;

/// At one moment.
#[derive(Clone, Copy, Default)]
pub struct Process {
    pub resident_kb: u64,
    /// The most so far.
    pub peak_kb: u64,
    pub threads: u64,
    pub handles: u64,
}

impl Process {
    pub fn now() -> Option<Process> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some(Process {
            resident_kb: field("VmRSS:")?,
            peak_kb: field("VmHWM:")?,
            threads: field("Threads:")?,
            // One of them reads the folder.
            handles: fs::read_dir("/proc/self/fd").ok()?.count() as u64 - 1,
        })
    }
}
