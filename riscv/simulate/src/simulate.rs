//! Runs a program on a simulated machine.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, LineWriter, Read, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tress_sim::machine::{PRESETS, Region, preset_file};
use tress_sim::{DebugEnd, Error, ErrorKind, Image, Machine, Model, Simulation, System, Variable, cause, exit_status};
use tress_terminal::blocked::blocked;
use tress_terminal::progress::Instructions;
use tress_terminal::{Failure, descriptor, failure, files, note, signals};

use crate::args::{self, SecretSelection};
use crate::debugger;
use crate::input::Input;
use crate::text;

/// Instructions between checks for cancellation, without a timing model.
const UNTIMED_SLICE: u64 = 5_000_000;
/// Instructions between checks for cancellation, with a timing model.
const TIMED_SLICE: u64 = 500_000;
/// The largest machine file. Real ones have a few kilobytes.
const MAX_MACHINE_BYTES: usize = 1 << 20;
/// The largest program. Programs for bare machines are smaller.
const MAX_PROGRAM_BYTES: u64 = 1 << 30;

/// Returns the exit status.
pub(crate) fn run(options: &args::Simulate) -> Result<u8, Failure> {
    let program = &options.program;
    if program == Path::new("-") && options.machine.as_ref() == Some(program) {
        return Err(Failure::wrong_use("standard input cannot provide both the machine and the program"));
    }
    check_outputs(options)?;
    let failed = |error: Error| simulation(&error, program, options.machine.is_some());
    let image = Image::parse(&read(program)?).map_err(failed)?;
    let progress = Instructions::start();
    let console = Console { to_stderr: prints_json(options), progress: progress.clone() };
    let model = if options.unlimited { Model::Limit } else { Model::Pipeline };
    let mut simulation = Simulation::new(&machine(options)?, model, image).map_err(failed)?;
    let bus = &mut simulation.system_mut().bus;
    bus.set_console(Box::new(LineWriter::new(console)));
    bus.set_errors(Box::new(Console { to_stderr: true, progress: progress.clone() }));
    // C libraries take it apart.
    bus.set_command_line(arguments(options).join(b" ".as_slice()));
    if let Some(folder) = &options.files {
        bus.set_files(folder).map_err(|error| Failure::io(folder, &error))?;
    }
    if options.ecall == Some(args::EcallSystem::Linux) {
        simulation.system_mut().serve_linux(&arguments(options)).map_err(failed)?;
    }
    if options.trace.is_some() {
        simulation.record(options.cycles.clone());
    }
    if options.profile.is_some() {
        simulation.profile();
    }
    if !options.secret.is_empty() {
        follow_secrets(options, simulation.system_mut()).map_err(failed)?;
    }
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let cancelled = Arc::clone(&is_cancelled);
    signals::cancel_by_signal(move || cancelled.store(true, Ordering::Relaxed));
    // If the program itself was read from standard input, its input is empty.
    if program != Path::new("-") {
        simulation.system_mut().bus.set_input(Box::new(Input::new(&is_cancelled)));
    }
    let slice = if options.machine.is_some() { TIMED_SLICE } else { UNTIMED_SLICE };
    // The number of instructions that may be executed before the next call.
    let next = |simulation: &mut Simulation| {
        simulation.system_mut().bus.flush_console()?;
        if is_cancelled.load(Ordering::Relaxed) {
            return Err(simulation.system().stopped(ErrorKind::Interrupted));
        }
        let done = simulation.instructions();
        progress.show(done);
        match options.limit {
            Some(limit) if done >= limit => Err(simulation.system().stopped(ErrorKind::Limit(limit))),
            limit => Ok(limit.map_or(u64::MAX, |limit| limit - done).min(slice)),
        }
    };
    let mut run = || {
        if let Some(port) = options.gdb
            && let DebugEnd::Exited(exit_code) = debugger::serve(port, &mut simulation, next, &is_cancelled)?
        {
            return Ok(exit_code);
        }
        loop {
            let steps = next(&mut simulation)?;
            if let Some(exit_code) = simulation.run(steps)? {
                return Ok(exit_code);
            }
        }
    };
    let outcome = run().map_err(failed);
    // The program's output comes before the report.
    let flushed = simulation.system_mut().bus.flush_console().map_err(failed);
    progress.end();
    // A trace is written even if the run fails, because it is needed most then. Its own failure does not hide that of the run.
    let mut unwritten = Vec::new();
    if let (Some(path), Some(trace)) = (&options.trace, simulation.trace()) {
        let mut text = Vec::new();
        let written = trace.write(&mut text).and_then(|()| write_whole(path, &text, options.force));
        unwritten.extend(written.err().map(|error| Failure::io(path, &error)));
        if trace.is_empty() {
            let (shown, window, last) = (path.display(), &options.cycles, simulation.cycle());
            note(&format!(
                "{shown} is empty: no instruction was in the pipeline in cycles {}..{}; the last one of the run retired in cycle {last}",
                window.start, window.end
            ));
        } else if trace.left_out() > 0 {
            let (shown, left_out) = (path.display(), text::instructions(trace.left_out()));
            note(&format!("{shown} is full and lacks the last {left_out}; a shorter range of --cycles fits"));
        }
    }
    let result = simulation.report();
    if let Some(Some(path)) = &options.profile
        && let Some(stacks) = simulation.folded_stacks()
        && let Err(error) = write_whole(path, stacks.as_bytes(), options.force)
    {
        unwritten.push(Failure::io(path, &error));
    }
    let exit_code = match outcome {
        Ok(exit_code) => exit_code,
        // A program for a device never ends. Findings and profile up to the stop are the result.
        Err(failure) => {
            let (mut found, mut text) = (serde_json::Map::new(), String::new());
            if let Some(secrets) = &result.secrets {
                found.insert("secrets".to_owned(), json!(secrets));
                text += &text::secrets(secrets);
            }
            if let Some(timing) = &result.timing
                && let Some(profile) = &timing.profile
            {
                found.extend([("profile".to_owned(), json!(profile)), ("lines".to_owned(), json!(timing.lines))]);
                text += &text::profile(&result, profile, &timing.lines);
            }
            if !found.is_empty() {
                unwritten.extend(files::json(&found).and_then(|json| report(options, &json, &text)).err());
            }
            unwritten.iter().for_each(Failure::print);
            return Err(failure);
        }
    };
    let reported = flushed.and_then(|()| files::json(&result));
    let reported = reported.and_then(|json| report(options, &json, &text::report(&result, options.regions)));
    unwritten.extend(reported.err());
    let mut failures = Vec::new();
    if exit_code != 0 && !options.exit_code {
        failures.push(format!("the program's exit code is {exit_code}"));
    }
    match result.secrets.map_or(0, |secrets| secrets.findings.len()) {
        0 => {}
        1 => failures.push("secrets leak in one place".to_owned()),
        places => failures.push(format!("secrets leak in {places} places")),
    }
    if failures.is_empty()
        && let Some(failure) = unwritten.pop()
    {
        unwritten.iter().for_each(Failure::print);
        return Err(failure);
    }
    unwritten.iter().for_each(Failure::print);
    if failures.is_empty() {
        return Ok(if options.exit_code { exit_status(exit_code) } else { 0 });
    }
    Err(Failure::failed(format!("{}: {}", failure::name(program), failures.join(", and "))))
}

/// Whether standard output is reserved for JSON.
fn prints_json(options: &args::Simulate) -> bool {
    options.json.as_deref() == Some(Path::new("-"))
}

/// Refuses outputs that exist, that are an input or that cannot be written, before the run, which may take hours.
fn check_outputs(options: &args::Simulate) -> Result<(), Failure> {
    let profile = options.profile.as_ref().and_then(Option::as_ref);
    let paths = [options.trace.as_ref(), options.json.as_ref(), profile];
    let outputs: Vec<&Path> =
        paths.into_iter().flatten().map(PathBuf::as_path).filter(|path| *path != Path::new("-")).collect();
    if [options.trace.as_ref(), profile].into_iter().flatten().any(|path| path == Path::new("-")) {
        return Err(Failure::wrong_use("--trace and --profile write to a file, not to standard output"));
    }
    let in_folder = |path: &Path| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    let place = |path: &Path| match descriptor::number(path) {
        Some(_) => None,
        None => path.canonicalize().ok().or_else(|| in_folder(path)),
    };
    let is_same =
        |one: &Path, other: &Path| one == other || place(one).is_some_and(|found| Some(found) == place(other));
    if (1..outputs.len()).any(|at| outputs[..at].iter().any(|before| is_same(before, outputs[at]))) {
        return Err(Failure::wrong_use("--trace, --profile and --json name the same file"));
    }
    for path in outputs {
        files::refuse_input(path, options.machine.iter().chain([&options.program]).map(|input| input.as_path()))?;
        files::refuse_existing(path, options.force)?;
        let writable = match path {
            _ if path.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            _ if path.exists() || descriptor::number(path).is_some() => Ok(()),
            _ => tempfile::tempfile_in(folder_of(path)).map(drop),
        };
        writable.map_err(|error| Failure::io(path, &error))?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Prints the result as text or as JSON, or writes the JSON to a file.
fn report(options: &args::Simulate, json: &str, text: &str) -> Result<(), Failure> {
    match &options.json {
        None => files::print(text),
        Some(_) if prints_json(options) => files::print(json),
        Some(path) => write_whole(path, json.as_bytes(), options.force).map_err(|error| Failure::io(path, &error)),
    }
}

/// The failure for an error of a simulated program or machine.
fn simulation(error: &Error, program: &Path, has_machine: bool) -> Failure {
    let hint = match &error.kind {
        ErrorKind::Unhandled(trap) if trap.cause == cause::ECALL_MACHINE => {
            Some("--ecall linux serves the system calls of newlib; a program that handles traps sets mtvec")
        }
        ErrorKind::Unhandled(_) => Some("a program that handles traps sets mtvec"),
        ErrorKind::SegmentOutside { .. } if has_machine => {
            Some("the linker script must fit the machine's memory; without --machine there is more memory")
        }
        ErrorKind::SegmentOutside { .. } => Some("the linker script must fit the machine's memory"),
        ErrorKind::MissingExtension(..) => Some("the compiler's option -march selects the extensions"),
        ErrorKind::WrongXlen { .. } => {
            Some("fe310 and e31 run RV32 only; --machine raptor, or no --machine, runs RV32 and RV64")
        }
        ErrorKind::NotExecutable => Some("link it without -shared and -pie, and with a linker script"),
        ErrorKind::Interrupted => Some("--limit N stops it after N instructions"),
        ErrorKind::NoSymbol(_) => Some("nm shows the program's symbols; ADDRESS+BYTES names bytes without one"),
        _ => None,
    };
    let mut text = error.to_string();
    if let ErrorKind::Console(error) = &error.kind {
        text = text.replacen(&error.to_string(), &failure::cause(error), 1);
    }
    let failure = Failure::failed(format!("{}: {text}", failure::name(program)));
    Failure { hint: hint.map(str::to_string), ..failure }
}

/// Follows the secrets that the options name.
fn follow_secrets(options: &args::Simulate, system: &mut System) -> Result<(), Error> {
    let named = options.secret.iter().filter_map(|secret| match secret {
        SecretSelection::Named(name) => Some(name.find(system.image())),
        SecretSelection::Marked => None,
    });
    let secrets = named.collect::<Result<Vec<_>, Error>>()?;
    let variable = Variable {
        multiply: options.variable.contains(&args::VariableTime::Multiply),
        shift: options.variable.contains(&args::VariableTime::Shift),
    };
    system.follow_secrets(&secrets, variable)
}

/// Prints the file of a built-in machine.
pub(crate) fn print_machine(name: &str) -> Result<(), Failure> {
    let text =
        preset_file(name).ok_or_else(|| with_presets(Failure::wrong_use(format!("no built-in machine {name:?}"))))?;
    files::print(text)
}

fn with_presets(failure: Failure) -> Failure {
    let presets: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
    failure.hint(format!("built-in machines: {}", presets.join(", ")))
}

/// The machine that the options select.
fn machine(options: &args::Simulate) -> Result<Machine, Failure> {
    let Some(name) = &options.machine else {
        let mut machine = Machine { harts: options.harts.unwrap_or(1).into(), ..Machine::generic() };
        if options.ecall.is_some() {
            machine.device.clear();
            machine.region.push(Region::ram(0x1_0000, 0x1fff_0000));
        }
        return Ok(machine);
    };
    let failed = |error: Error| simulation(&error, name, true);
    let text = match name.to_str().and_then(preset_file) {
        Some(text) => text.to_string(),
        None => {
            let bytes = files::read_small(name, MAX_MACHINE_BYTES).map_err(with_presets)?;
            String::from_utf8(bytes.to_vec())
                .map_err(|_| Failure::failed(format!("{}: not a text file", name.display())))?
        }
    };
    Machine::parse(&text).map_err(failed)?;
    let wrong = |error: Error| Failure::wrong_use(format!("--set: {error}"));
    let (mut machine, _) = Machine::parse_with(&text, &options.settings).map_err(wrong)?;
    if let Some(harts) = options.harts {
        machine.harts = harts.into();
    }
    // The machine was valid before --harts and --issue.
    match options.issue {
        Some(issue) => machine.set_issue(issue),
        None => machine.check(),
    }
    .map_err(|error| Failure::wrong_use(error.to_string()))?;
    Ok(machine)
}

/// Writes a file completely or not at all; an existing one is replaced only with `force`. A path that is not a regular file (a pipe, a
/// device) is written to directly.
fn write_whole(path: &Path, bytes: &[u8], force: bool) -> io::Result<()> {
    if let Some(number) = descriptor::number(path) {
        return descriptor::take(number, true)?.write_all(bytes);
    }
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        // Nothing has to be cleaned up if a FIFO has no reader, or one that does not read.
        return blocked(|| File::options().write(true).open(path)?.write_all(bytes));
    }
    // Not a link to the file, but the file itself is written.
    let target = path.canonicalize().or_else(|_| path.read_link().map(|target| folder_of(path).join(target)));
    let path = &target.unwrap_or_else(|_| path.to_path_buf());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(old.map_or_else(|| PermissionsExt::from_mode(0o666), |old| old.permissions()));
    let mut file = builder.prefix(".tress-").tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    match if force { file.persist(path) } else { file.persist_noclobber(path) } {
        // A file system may have neither links nor renaming that does not replace.
        Err(failed) if path.symlink_metadata().is_err() => failed.file.persist(path).map(drop)?,
        persisted => drop(persisted?),
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let io = |error: io::Error| Failure::io(path, &error);
    let mut bytes = Vec::new();
    files::open(path).map_err(io)?.take(MAX_PROGRAM_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_PROGRAM_BYTES {
        return Err(Failure::failed(format!("{}: larger than 1 GiB, the limit for a program", path.display())));
    }
    Ok(bytes)
}

/// The program's name and its arguments.
fn arguments(options: &args::Simulate) -> Vec<Vec<u8>> {
    let name = options.program.file_name().unwrap_or_default();
    let arguments = options.arguments.iter().map(OsString::as_os_str);
    std::iter::once(name).chain(arguments).map(|argument| argument.as_encoded_bytes().to_vec()).collect()
}

/// Where the program's output goes.
struct Console {
    to_stderr: bool,
    progress: Instructions,
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let write = || if self.to_stderr { io::stderr().write(bytes) } else { files::Stdout.write(bytes) };
        self.progress.aside(write)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.to_stderr { io::stderr().flush() } else { Ok(()) }
    }
}
