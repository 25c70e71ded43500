//! Processes that are timed, and what is known of them.

use std::{
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::Error;

/// A command and the file that it makes, if it makes one.
pub(crate) struct Run {
    pub(crate) command: Command,
    pub(crate) output: Option<PathBuf>,
}

pub(crate) fn copy_run(from: &Path, to: &Path) -> Run {
    let mut command = Command::new("cp");
    command.arg(from).arg(to);
    Run { command, output: Some(to.to_path_buf()) }
}

/// The time from before the process is made until it has been waited for. Its output is removed before and after.
pub(crate) fn timed(mut run: Run) -> Result<Duration, Error> {
    let start = Instant::now();
    let child = spawn(&mut run.command)?;
    finish_child(&run.command, child)?;
    let time = start.elapsed();
    if let Some(output) = &run.output {
        fs::remove_file(output).map_err(Error::Files)?;
    }
    Ok(time)
}

pub(crate) fn run_once(command: &mut Command) -> Result<(), Error> {
    let child = spawn(command)?;
    finish_child(command, child)
}

pub(crate) fn spawn(command: &mut Command) -> Result<Child, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().map_err(|error| failed(command, error.to_string()))
}

pub(crate) fn finish_child(command: &Command, child: Child) -> Result<(), Error> {
    let output = child.wait_with_output().map_err(|error| failed(command, error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed(command, format!("{}: {}", output.status, text.trim())))
}

/// Waits for a child that nobody asks anything any more; what it said, if it failed.
pub(crate) fn finish(child: &mut Child) -> Result<(), String> {
    let mut said = Vec::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_end(&mut said).map_err(|error| error.to_string())?;
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{status}: {}", String::from_utf8_lossy(&said).trim())) }
}

/// Keeps a child on one processor of those that this process may use, another one for each `turn`; where the system lets us.
#[cfg(target_os = "linux")]
pub(crate) fn pin(child: &Child, turn: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(all) = sched_getaffinity(None) else { return };
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect();
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let (Some(pid), false) = (pid, usable.is_empty()) {
        let mut one = CpuSet::new();
        one.set(usable[turn % usable.len()]);
        // Without it the figures are louder.
        let _ = sched_setaffinity(Some(pid), &one);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_: &Child, _: usize) {}

pub(crate) fn output_of(command: &mut Command) -> Result<String, Error> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(command, error.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(command, format!("{}: {}", output.status, text.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn failed(command: &Command, message: String) -> Error {
    let words = std::iter::once(command.get_program()).chain(command.get_args().take(1));
    let program = words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    Error::Command { program, message }
}

pub(crate) fn high_water_bytes(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}
