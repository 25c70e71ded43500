//! The paper's own construct: a program in C with OpenMP (openmp.c, aes.h), compiled when the study runs by the compiler
//! of this machine. It times itself. Its output is checked like any untrusted input.
//!
//! Where the paper's listings are not valid C, our program differs. A `for` directive is followed by the loop and not
//! by a block (Tables 1 and 3). `shared` is not a clause of that directive, and `reduction()` names nothing (Table
//! 3); variables declared inside the region are private to each thread, as they must be. In Table 2 both sections
//! would share the variable `temp`, so our program has one for each section.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::Deserialize;
use tempfile::TempDir;

use super::strategy::{RunTimes, Waiting};
use super::{Direction, KEY};
use crate::interrupted;
use crate::study::Error;

pub(super) const SOURCES: [(&str, &str); 2] =
    [("openmp.c", include_str!("openmp.c")), ("aes.h", include_str!("aes.h"))];
const MOST_THREADS: usize = 256;

/// The compiled program, in a temporary folder that is deleted with this value.
pub(super) struct OpenMp {
    folder: TempDir,
    /// The compiler's version, for the reader.
    pub(super) compiler: String,
}

#[derive(Deserialize)]
struct ProgramOutput {
    seconds: f64,
    busy: Vec<f64>,
    laps: [f64; 5],
    reading: f64,
    together: Vec<f64>,
}

/// Seconds of operations that are too short for a run.
#[derive(Deserialize)]
pub(super) struct MicroTimes {
    pub(super) functions: [f64; 4],
    pub(super) schedule: f64,
    pub(super) barrier: f64,
    pub(super) region: f64,
    /// `None` where the system has no barrier of Pthreads.
    pub(super) pthread: Option<f64>,
}

impl OpenMp {
    /// Compiles the program.
    ///
    /// # Errors
    /// The reason why there is no program, for people.
    pub(super) fn new() -> Result<OpenMp, String> {
        let folder = interrupted::folder(&env::temp_dir()).map_err(|error| error.to_string())?;
        for (name, source) in SOURCES {
            fs::write(folder.path().join(name), source).map_err(|error| error.to_string())?;
        }
        compile(folder.path(), "openmp.c", &["-o", "openmp"])?;
        compile(folder.path(), "openmp.c", &["-DCOUNT", "-o", "count"])?;
        let version = Command::new(compiler()).arg("--version").output().map_err(|error| error.to_string())?;
        let version = String::from_utf8_lossy(&version.stdout);
        let compiler = version.lines().next().unwrap_or("a C compiler").chars().take(100).collect();
        Ok(OpenMp { folder, compiler })
    }

    /// Encrypts or decrypts with the program, and writes the output into `data`.
    ///
    /// # Errors
    /// `Worker`, if the program fails or prints impossible values.
    pub(super) fn run(
        &self,
        way: &str,
        waiting: Waiting,
        direction: Direction,
        threads: usize,
        is_watched: bool,
        data: &mut [u8],
    ) -> Result<RunTimes, Error> {
        let [input, output] = ["input", "output"].map(|name| self.folder.path().join(name));
        fs::write(&input, &*data).map_err(|error| Error::files(&input, error))?;
        let key: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut command = self.command("openmp", waiting);
        command.args([way, if direction == Direction::Encrypt { "encrypt" } else { "decrypt" }, &key]);
        command.args([threads.to_string(), u8::from(is_watched).to_string()]).args([&input, &output]);
        let run = run(&line(&mut command)?)?;
        let made = fs::read(&output).map_err(|error| Error::files(&output, error))?;
        if made.len() != data.len() {
            return Err(Error::Worker(format!("{} bytes of input gave {} bytes of output", data.len(), made.len())));
        }
        data.copy_from_slice(&made);
        Ok(run)
    }

    /// Times operations that take nanoseconds.
    pub(super) fn micro(&self, waiting: Waiting, threads: usize) -> Result<MicroTimes, Error> {
        read(&line(self.command("openmp", waiting).args(["micro", &threads.to_string()]))?)
    }

    /// Counted operations of SubBytes, ShiftRows and MixColumns on the first of 1, 2 and 4 cores.
    pub(super) fn counts(&self) -> Result<[[u64; 3]; 3], Error> {
        read(&line(&mut self.command("count", Waiting::Unspecified))?)
    }

    /// Number of `states` that the paper's Table 2, exactly as printed, encrypts wrongly.
    pub(super) fn race(&self, states: u64) -> Result<u64, Error> {
        let mut command = self.command("openmp", Waiting::Unspecified);
        let wrong = read(&line(command.args(["race", &states.to_string()]))?)?;
        if wrong <= states { Ok(wrong) } else { Err(Error::Worker(format!("{wrong} of {states} states are wrong"))) }
    }

    fn command(&self, program: &str, waiting: Waiting) -> Command {
        let mut command = Command::new(self.folder.path().join(program));
        // With fewer threads than it expects, a barrier never ends.
        command.env_remove("OMP_THREAD_LIMIT").env_remove("OMP_DYNAMIC");
        match waiting {
            Waiting::Sleeping => command.env("OMP_WAIT_POLICY", "passive"),
            Waiting::Spinning => command.env("OMP_WAIT_POLICY", "active"),
            Waiting::Unspecified => command.env_remove("OMP_WAIT_POLICY"),
        };
        command
    }
}

/// Whether the compiler accepts a few lines in a function with `int i, j` and with arrays as in the paper's listings.
///
/// # Errors
/// If there is no compiler.
pub(super) fn is_accepted(lines: &str) -> Result<bool, String> {
    let folder = interrupted::folder(&env::temp_dir()).map_err(|error| error.to_string())?;
    let text = format!(
        "unsigned char state[4][4];\nunsigned char value(unsigned char);\nvoid f(void) {{\nint i, j;\n\
         (void)i; (void)j;\n{lines}\n}}\n"
    );
    fs::write(folder.path().join("probe.c"), text).map_err(|error| error.to_string())?;
    // Checks first that there is a compiler that supports OpenMP, so that its absence does not count as a rejection.
    fs::write(folder.path().join("empty.c"), "void f(void) {}\n").map_err(|error| error.to_string())?;
    compile(folder.path(), "empty.c", &["-fsyntax-only"])?;
    Ok(compile(folder.path(), "probe.c", &["-fsyntax-only"]).is_ok())
}

fn compiler() -> String {
    env::var("CC").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "cc".into())
}

fn compile(folder: &Path, source: &str, options: &[&str]) -> Result<(), String> {
    let mut command = Command::new(compiler());
    command.current_dir(folder).args(["-std=c11", "-O2", "-fopenmp", source]).args(options).stdin(Stdio::null());
    let hint = "install a C compiler with OpenMP (Debian's gcc)";
    let output = command.output().map_err(|error| format!("{}: {error}; {hint}", compiler()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let first: String =
        text.lines().find(|line| line.contains("error")).unwrap_or("it failed").chars().take(200).collect();
    Err(format!("{}: {first}; {hint}", compiler()))
}

/// Standard output of a program that succeeds.
fn line(command: &mut Command) -> Result<String, Error> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| Error::Worker(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(Error::Worker(output.status.to_string())) }
}

fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text.trim()).map_err(|error| Error::Worker(error.to_string()))
}

fn run(text: &str) -> Result<RunTimes, Error> {
    let ProgramOutput { seconds, busy, laps, reading, together } = read(text)?;
    let numbers = [seconds, reading].into_iter().chain(laps).chain(busy.iter().chain(&together).copied());
    let are_times = numbers.into_iter().all(|number| number.is_finite() && number >= 0.0);
    let is_length = together.is_empty() || together.len() == busy.len() + 1;
    if !are_times || !is_length || seconds == 0.0 || busy.is_empty() || busy.len() > MOST_THREADS {
        return Err(Error::Worker("impossible times".into()));
    }
    Ok(RunTimes { seconds, busy_s: busy, laps, reading_s: reading, together_s: together })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_output_of_the_program_is_rejected() {
        let good = "{\"seconds\": 0.5, \"busy\": [0.5, 0.25], \"laps\": [0.1, 0, 0, 0, 0], \"reading\": 0, \
                    \"together\": [0.1, 0.2, 0.2]}";
        let found = run(good).expect("a run");
        assert_eq!((found.seconds, found.busy_s, found.laps[0]), (0.5, vec![0.5, 0.25], 0.1));
        let bad = [
            "",
            "{}",
            "{\"seconds\": 0.5",
            &good.replace("0.5, 0.25", ""),
            &good.replace("0.25", "-0.25"),
            &good.replace("\"seconds\": 0.5", "\"seconds\": 0"),
            &good.replace("0.25", "1e999"),
            &good.replace("[0.1, 0, 0, 0, 0]", "[0.1, 0, 0]"),
            &good.replace("[0.1, 0.2, 0.2]", "[0.1, 0.2]"),
            &good.replace("[0.1, 0.2, 0.2]", "[0.1, 0.2, -0.2]"),
        ];
        for text in bad {
            assert!(matches!(run(text), Err(Error::Worker(_))), "{text}");
        }
    }

    /// The times with 0, 1 and 2 threads in a function are all of a run that is short enough to be kept. Seconds in functions are
    /// those times by the number of threads.
    #[test]
    fn times_together_are_the_times_of_the_run() {
        let Ok(openmp) = OpenMp::new() else {
            assert!(env::var_os("CI").is_none(), "a C compiler with OpenMP is missing");
            return eprintln!("not tested: a C compiler with OpenMP is missing");
        };
        for (way, threads) in [("segments", 1), ("segments", 2), ("rows", 2), ("blocks", 2)] {
            let found = openmp.run(way, Waiting::Unspecified, Direction::Encrypt, threads, true, &mut [0; 8192]);
            let found = found.expect("a run");
            let (all, functions): (f64, f64) = (found.together_s.iter().sum(), found.laps.iter().sum());
            let inside: f64 = found.together_s.iter().zip(0..).map(|(seconds, cores)| seconds * f64::from(cores)).sum();
            assert!((all / found.seconds - 1.0).abs() < 1e-3, "{way}: {found:?}");
            // A lap below one reading of the clock counts as nothing here, and as less than nothing there.
            assert!(inside >= 0.99 * functions - 1e-6 && inside <= functions + found.reading_s, "{way}: {found:?}");
            assert_eq!(found.together_s.len(), threads + 1);
        }
    }

    #[test]
    fn a_program_that_fails_is_reported() {
        assert!(matches!(line(&mut Command::new("/no/such/program")), Err(Error::Worker(_))));
        assert!(matches!(line(&mut Command::new("false")), Err(Error::Worker(_))));
    }
}
