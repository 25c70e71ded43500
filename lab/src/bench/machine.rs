//! The machine and the build, as a record describes them.

use std::process::Command;
use std::{fs, thread};

use super::record::Machine;

/// Features of the processor that our backends use, or may use in the future.
#[rustfmt::skip]
const FLAGS: [&str; 16] = [
    "aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni", "avx2", "avx512f", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi", "bmi2",
    "adx", "sha_ni", "pmull", "sve",
];

/// Reads what the system reports. Fields that it does not report stay empty.
pub(crate) fn inspect() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = field(&cpuinfo, "flags").or_else(|| field(&cpuinfo, "Features")).unwrap_or_default();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    Machine {
        model: field(&cpuinfo, "model name").unwrap_or(std::env::consts::ARCH).into(),
        cores: thread::available_parallelism().map_or(1, |cores| cores.get()),
        flags: FLAGS.iter().filter(|flag| flags.contains(flag)).map(|&flag| flag.into()).collect(),
        memory_bytes: memory_bytes(),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load: line("/proc/loadavg").and_then(|line| line.split(' ').next()?.parse().ok()),
        kernel: line("/proc/sys/kernel/osrelease")
            .map_or_else(|| std::env::consts::OS.into(), |release| format!("{} {release}", std::env::consts::OS)),
        virtual_machine: flags.contains(&"hypervisor"),
        rustc: env!("TRESS_LAB_RUSTC").into(),
        target: concat!(env!("TRESS_LAB_TARGET"), " ", env!("TRESS_LAB_PROFILE")).into(),
        commit: commit(),
    }
}

fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| Some(line.strip_prefix(name)?.split_once(':')?.1.trim()))
}

fn memory_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = field(&meminfo, "MemTotal")?.split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_string())
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let clean = git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if clean { commit } else { commit + "+" })
}
