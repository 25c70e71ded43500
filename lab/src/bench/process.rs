//! Processes that are timed, and their memory.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tress_terminal::lifeline;

use super::Error;

pub(crate) const NULL: &str = "/dev/null";

/// A command and its output file, if it writes one.
pub(crate) struct TimedCommand {
    pub(crate) command: Command,
    pub(crate) output: Option<PathBuf>,
}

impl TimedCommand {
    /// The null device does not count as an output file.
    pub(crate) fn new(command: Command, output: &Path) -> TimedCommand {
        TimedCommand { command, output: (output != Path::new(NULL)).then(|| output.to_path_buf()) }
    }
}

/// The time from before the process starts until it has been waited for. Its output file is removed before and after.
pub(crate) fn timed(run: &mut TimedCommand) -> Result<Duration, Error> {
    let start = Instant::now();
    let child = spawn(&mut run.command)?;
    tell_guard(child.id());
    let finished = finish_child(&run.command, child);
    let time = start.elapsed();
    tell_guard("");
    finished?;
    if let Some(output) = &run.output {
        fs::remove_file(output).map_err(Error::Files)?;
    }
    Ok(time)
}

pub(crate) fn spawn(command: &mut Command) -> Result<Child, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    lifeline::tie(command);
    command.spawn().map_err(|error| failed(command, error.to_string()))
}

/// Tells the guard which process runs; nothing if none does. The guard is a process that ends that one when this process ends. Programs of
/// others need it: they do not know the lifeline, and a signal at the end of their parent has to be set between fork and exec, where a
/// fork of this process may take longer than what is measured.
fn tell_guard(id: impl Display) {
    const SCRIPT: &str = "while read -r id; do last=$id; done; test -z \"$last\" || kill \"$last\"";
    static GUARD: OnceLock<Option<ChildStdin>> = OnceLock::new();
    let start = || {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().ok()?.stdin
    };
    if let Some(mut guard) = GUARD.get_or_init(start).as_ref() {
        // Without a guard they only run on.
        let _ = guard.write_all(format!("{id}\n").as_bytes());
    }
}

pub(crate) fn finish_child(command: &Command, child: Child) -> Result<(), Error> {
    let output = child.wait_with_output().map_err(|error| failed(command, error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed(command, format!("{}: {}", output.status, text.trim())))
}

/// A process of ours that answers each line of its input with a line.
pub(crate) struct LineProcess {
    name: String,
    child: Child,
    /// `None` after the end of its input.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl LineProcess {
    pub(crate) fn start(name: String, command: &mut Command) -> Result<LineProcess, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lifeline::tie(command);
        let mut child =
            command.spawn().map_err(|error| Error::Command { program: name.clone(), message: error.to_string() })?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
        Ok(LineProcess { name, child, questions, answers: BufReader::new(answers) })
    }

    pub(crate) fn ask(&mut self, question: impl Display) {
        // If the process has ended there is no answer, and `answer` reports that.
        if let Some(questions) = &mut self.questions {
            let _ = writeln!(questions, "{question}").and_then(|()| questions.flush());
        }
    }

    /// The next line of output.
    pub(crate) fn answer(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        if self.answers.read_line(&mut line).map_err(|error| self.failed(error))? == 0 {
            self.finish()?;
            return Err(self.failed("ended without an answer"));
        }
        Ok(line)
    }

    /// Waits for the end of the process. If it failed, the error has its standard error.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.questions = None;
        let mut said = Vec::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_end(&mut said).map_err(|error| self.failed(error))?;
        }
        let status = self.child.wait().map_err(|error| self.failed(error))?;
        let said = String::from_utf8_lossy(&said);
        if status.success() { Ok(()) } else { Err(self.failed(format!("{status}: {}", said.trim()))) }
    }

    pub(crate) fn failed(&self, message: impl Display) -> Error {
        Error::Command { program: self.name.clone(), message: message.to_string() }
    }

    /// Pins the process to one of the processors that this process may use, another one for each `turn`. Does nothing
    /// where the system does not allow it.
    #[cfg(target_os = "linux")]
    pub(crate) fn pin(&self, turn: usize) {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(all) = sched_getaffinity(None) else { return };
        let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect();
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let (Some(pid), false) = (pid, usable.is_empty()) {
            let mut one = CpuSet::new();
            one.set(usable[turn % usable.len()]);
            // Without pinning, the figures are noisier.
            let _ = sched_setaffinity(Some(pid), &one);
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn pin(&self, _: usize) {}
}

impl Drop for LineProcess {
    /// Ends the process, so that it does not measure without a reader.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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
