//! The paper's own construct: a program in C with OpenMP (openmp.c), compiled when the study runs, by the compiler that this
//! machine has. It times itself; what it prints is read as something from outside.
//!
//! Where the paper's listings are no C, ours differ. A `for` directive is followed by the loop and not by a block (Tables 1
//! and 3); `shared` is no clause of it, and `reduction()` names nothing (Table 3: what it declares inside the region belongs
//! to each thread, as it has to); `temp` of Table 2 would be one variable for both sections, so ours has one for each.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tempfile::TempDir;

use super::{
    plain::{BLOCK, Direction},
    strategy::Run,
    threads::Laps,
};
use crate::study::Error;

const SOURCE: &str = include_str!("openmp.c");
/// What a run may take; it is given work for a second or so.
const PATIENCE: Duration = Duration::from_secs(300);
/// Of what it prints.
const MOST_BYTES: u64 = 1 << 16;
const MOST_THREADS: usize = 256;

/// What the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One thread.
    Plain,
    /// The paper's: a team of threads for each of the three functions of a round.
    Rows,
    /// One team for all blocks, contiguous parts for each thread.
    Blocks,
}

impl Way {
    pub(super) const ALL: [Way; 3] = [Way::Plain, Way::Rows, Way::Blocks];

    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Plain => "C: plain, one thread",
            Way::Rows => "C: rows over threads, OpenMP",
            Way::Blocks => "C: segments over threads, OpenMP",
        }
    }

    fn argument(self) -> &'static str {
        match self {
            Way::Plain => "plain",
            Way::Rows => "rows",
            Way::Blocks => "blocks",
        }
    }
}

/// The program, in a folder that goes with it.
pub(super) struct OpenMp {
    folder: TempDir,
    /// What compiled it, for the reader.
    pub(super) compiler: String,
}

#[derive(Deserialize)]
struct Printed {
    seconds: f64,
    busy: Vec<f64>,
    laps: [f64; 4],
    readings: u64,
    reading: f64,
}

#[derive(Deserialize)]
struct Wrong {
    wrong: u64,
}

impl OpenMp {
    /// Compiles the program.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub(super) fn new() -> Result<OpenMp, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        fs::write(folder.path().join("openmp.c"), SOURCE).map_err(|error| error.to_string())?;
        compile(folder.path(), "openmp.c", Some("openmp"))?;
        let version = Command::new(compiler()).arg("--version").output().map_err(|error| error.to_string())?;
        let version = String::from_utf8_lossy(&version.stdout);
        let compiler = version.lines().next().unwrap_or("a C compiler").chars().take(100).collect();
        Ok(OpenMp { folder, compiler })
    }

    /// Encrypts or decrypts in the program, and puts what it made into `data`.
    ///
    /// # Errors
    /// `Worker`, when it fails or prints what cannot be.
    pub(super) fn run(
        &self,
        way: Way,
        direction: Direction,
        key: &[u8; BLOCK],
        threads: usize,
        is_watched: bool,
        data: &mut [u8],
    ) -> Result<Run, Error> {
        let (input, output) = (self.folder.path().join("input"), self.folder.path().join("output"));
        fs::write(&input, &*data).map_err(|error| Error::files(&input, error))?;
        let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut command = Command::new(self.program());
        command.args([way.argument(), if direction == Direction::Encrypt { "encrypt" } else { "decrypt" }, &key]);
        command.args([threads.to_string(), u8::from(is_watched).to_string()]).args([&input, &output]);
        let printed: Printed = read(&line(&mut command)?)?;
        let made = fs::read(&output).map_err(|error| Error::files(&output, error))?;
        if made.len() != data.len() {
            return Err(Error::Worker(format!("{} bytes of input gave {} bytes of output", data.len(), made.len())));
        }
        data.copy_from_slice(&made);
        run(printed)
    }

    /// How many of so many states the paper's Table 2 makes wrong as it stands.
    pub(super) fn race(&self, states: u64) -> Result<u64, Error> {
        let Wrong { wrong } = read(&line(Command::new(self.program()).args(["race", &states.to_string()]))?)?;
        if wrong <= states { Ok(wrong) } else { Err(Error::Worker(format!("{wrong} of {states} states are wrong"))) }
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("openmp")
    }
}

/// What the compiler says of a few lines in a function with `int i, j` and arrays as the paper's listings have them.
///
/// # Errors
/// When there is no compiler.
pub(super) fn is_accepted(lines: &str) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let text = format!(
        "unsigned char state[4][4];\nunsigned char value(unsigned char);\nvoid f(void) {{\nint i, j;\n\
         (void)i; (void)j;\n{lines}\n}}\n"
    );
    fs::write(folder.path().join("probe.c"), text).map_err(|error| error.to_string())?;
    // That the compiler is there, and knows OpenMP, has to be another matter.
    fs::write(folder.path().join("empty.c"), "void f(void) {}\n").map_err(|error| error.to_string())?;
    compile(folder.path(), "empty.c", None)?;
    Ok(compile(folder.path(), "probe.c", None).is_ok())
}

fn compiler() -> String {
    env::var("CC").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "cc".into())
}

/// Compiles a file of a folder, to a program or for what the compiler says.
fn compile(folder: &Path, source: &str, program: Option<&str>) -> Result<(), String> {
    let mut command = Command::new(compiler());
    command.current_dir(folder).args(["-std=c11", "-O2", "-fopenmp", source]).stdin(Stdio::null());
    match program {
        Some(program) => command.args(["-o", program]),
        None => command.arg("-fsyntax-only"),
    };
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

/// What a program prints, when it ends well and in time.
fn line(command: &mut Command) -> Result<String, Error> {
    let failed = |why: String| Error::Worker(why);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(1)),
            Ok(None) => break Err(format!("did not end after {} s", PATIENCE.as_secs())),
            Err(error) => break Err(error.to_string()),
        }
    };
    if status.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let status = status.map_err(failed)?;
    let mut text = String::new();
    if let Some(output) = child.stdout.take() {
        output.take(MOST_BYTES).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    }
    if status.success() { Ok(text) } else { Err(failed(status.to_string())) }
}

fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text.trim()).map_err(|error| Error::Worker(error.to_string()))
}

fn run(printed: Printed) -> Result<Run, Error> {
    let Printed { seconds, busy, laps, readings, reading } = printed;
    let numbers = [seconds, reading].into_iter().chain(laps).chain(busy.iter().copied());
    let are_times = numbers.into_iter().all(|number| number.is_finite() && number >= 0.0);
    if !are_times || seconds == 0.0 || busy.is_empty() || busy.len() > MOST_THREADS {
        return Err(Error::Worker("impossible times".into()));
    }
    let mut all = Laps { readings, ..Laps::default() };
    all.seconds[..4].copy_from_slice(&laps);
    Ok(Run { seconds, busy_s: busy, laps: all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_may_lie() {
        let good =
            "{\"seconds\": 0.5, \"busy\": [0.5, 0.25], \"laps\": [0.1, 0, 0, 0], \"readings\": 1, \"reading\": 0}";
        let found = read(good).and_then(run).expect("a run");
        assert_eq!((found.seconds, found.busy_s, found.laps.seconds[0]), (0.5, vec![0.5, 0.25], 0.1));
        let bad = [
            "",
            "{}",
            "{\"seconds\": 0.5",
            &good.replace("0.5, 0.25", ""),
            &good.replace("0.25", "-0.25"),
            &good.replace("\"seconds\": 0.5", "\"seconds\": 0"),
            &good.replace("0.25", "1e999"),
            &good.replace("[0.1, 0, 0, 0]", "[0.1, 0, 0]"),
        ];
        for text in bad {
            assert!(matches!(read(text).and_then(run), Err(Error::Worker(_))), "{text}");
        }
    }

    #[test]
    fn a_program_that_fails_is_told() {
        assert!(matches!(line(&mut Command::new("/no/such/program")), Err(Error::Worker(_))));
        assert!(matches!(line(&mut Command::new("false")), Err(Error::Worker(_))));
    }
}
