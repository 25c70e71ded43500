//! `tress bench`: calls the measurements of the lab.

use std::ffi::OsString;
use std::io::BufReader;
use std::path::Path;

use tress_cipher::Backend;
use tress_lab::bench::{self, Options, builds, compare, matrix, modular, roofline};
use tress_terminal::Failure;
use tress_terminal::files::{self, Picture};

use crate::{args, store};

pub(crate) fn run(options: &args::Bench) -> Result<(), Failure> {
    if let Some([before, after]) = options.compare.as_deref() {
        let (before, after) = (before.clone(), after.clone());
        return compare(&compare::Options { before, after, force: options.force, json: options.json }, options);
    }
    if options.worker {
        return bench::serve(BufReader::new(files::Stdin), files::stdout())
            .map_err(|error| Failure::failed(error.to_string()));
    }
    match &options.what {
        Some(args::Measure::Modular(options)) => {
            return modular::run(options, &mut files::stdout()).map(drop).map_err(failure);
        }
        Some(args::Measure::Roofs(options)) => return roofs(options),
        None => {}
    }
    if options.list {
        return bench::write_list(options.json, &mut files::stdout()).map_err(failure);
    }
    let lab = Options {
        filter: options.filter.clone(),
        against: options.against.clone(),
        json: options.json,
        record: options.record.clone(),
        force: options.force,
        resume: options.resume,
        with: None,
        quick: options.quick,
        matrix: matrix(options)?,
        // The program that the rows of whole commands time.
        command: crate::tress(),
    };
    let mut out = files::stdout();
    if options.visit {
        return builds::serve_samples(&Options { command: None, ..lab }, BufReader::new(files::Stdin), &mut out)
            .map_err(failure);
    }
    if let Some(other) = &options.against_build {
        return against_build(other, &lab, options);
    }
    bench::run(&lab, &mut out).map(drop).map_err(|error| match options.filter.as_ref().map(|filter| filter.as_str()) {
        Some("modular") => failure(error).hint("write options of 'tress bench modular' after its name"),
        _ => match error {
            bench::Error::NotResumable { .. } => {
                failure(error).hint("choose another file, or omit --resume, to start a new record")
            }
            bench::Error::Busy(_) => failure(error).hint("run it again when the machine is idle, or with --force"),
            bench::Error::NoRecord(_) => failure(error).hint("choose another file, or a folder"),
            bench::Error::NothingMatches | bench::Error::NoSuchRow(_) => {
                failure(error).hint("run 'tress bench --list' for the names of rows and their options")
            }
            error => failure(error),
        },
    })
}

/// The rows that options ask for, if they do.
fn matrix(options: &args::Bench) -> Result<Option<matrix::Choice>, Failure> {
    let args::Bench { backend, lanes, threads, size, registers, .. } = options;
    if backend.is_empty() && lanes.is_empty() && threads.is_empty() && size.is_empty() && registers.is_empty() {
        return Ok(None);
    }
    let all_backends = backend.iter().any(|name| name == "all");
    let named = backend.iter().filter(|name| *name != "all");
    Ok(Some(matrix::Choice {
        backends: named.map(|name| backend_of(name)).collect::<Result<_, _>>()?,
        all_backends,
        lanes: lanes.clone(),
        threads: threads.clone(),
        message_bytes: size.clone(),
        registers: registers.clone(),
    }))
}

fn roofs(options: &args::Roofs) -> Result<(), Failure> {
    let picture = files::picture(options.output.as_deref(), options.json, options.force)?;
    if let Some(Picture::Path(path)) = &picture
        && let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !path.exists()
    {
        tempfile::tempfile_in(folder).map_err(|error| Failure::io(path, &error))?;
    }
    let document = roofline::command::measure(options.quick).map_err(failure)?;
    if picture != Some(Picture::Stdout) {
        roofline::command::write(&document, options.json, &mut files::stdout()).map_err(failure)?;
    }
    match picture {
        Some(Picture::Stdout) => files::print(&roofline::command::svg(&document)),
        Some(Picture::Path(path)) => store(&roofline::command::svg(&document), path, options.force),
        None => Ok(()),
    }
}

fn backend_of(name: &str) -> Result<Backend, Failure> {
    Backend::from_name(name).ok_or_else(|| {
        Failure::wrong_use(format!("unknown backend '{name}'")).hint("run 'tress ciphers' for a list of backends")
    })
}

fn compare(records: &compare::Options, options: &args::Bench) -> Result<(), Failure> {
    judge(compare::run(records, &mut files::stdout()), options)
}

/// Compares this program with another build of it; the two measure alternately.
fn against_build(other: &Path, lab: &Options, options: &args::Bench) -> Result<(), Failure> {
    let args::Bench { filter, quick, backend, lanes, threads, size, registers, .. } = options;
    // Reports an error in the options before another program starts.
    builds::check(lab).map_err(failure)?;
    let mut arguments = Vec::<OsString>::new();
    let mut add = |option: String| arguments.push(option.into());
    backend.iter().for_each(|name| add(format!("--backend={name}")));
    lanes.iter().for_each(|lanes| add(format!("--lanes={lanes}")));
    threads.iter().for_each(|threads| add(format!("--threads={threads}")));
    size.iter().for_each(|size| add(format!("--size={size}")));
    registers.iter().for_each(|registers| add(format!("--registers={registers}")));
    if let Some(filter) = filter {
        arguments.extend(["--".into(), filter.as_str().into()]);
    }
    let program = std::env::current_exe().map_err(|error| Failure::failed(format!("this program: {error}")))?;
    let (quick, force, json) = (*quick, options.force, options.json);
    let (other, has_threads) = (other.to_path_buf(), threads.iter().any(|threads| *threads > 1));
    let builds = builds::Builds { program, other, arguments, quick, has_threads, force, json };
    judge(builds::run(&builds, &mut files::stdout()), options)
}

fn judge(found: Result<compare::Comparison, bench::Error>, options: &args::Bench) -> Result<(), Failure> {
    let found = found.map_err(|error| match error {
        bench::Error::NotComparable { .. } => failure(error).hint("--force compares them anyway"),
        bench::Error::NothingMatches => failure(error).hint("run 'tress bench --list' for the names of rows"),
        bench::Error::NoSamples { ref path, ref commit } => {
            let name = path.file_name().unwrap_or_default().display();
            let hint = format!("git show {commit}:bench/record/{name} prints the record with its samples");
            failure(error).hint(hint)
        }
        error => failure(error),
    })?;
    if options.fail_on_regression && found.has_regression() {
        return Err(Failure::failed("at least one row became slower"));
    }
    if options.fail_on_regression && !found.has_verdict() {
        return Err(Failure::failed("no row could be compared"));
    }
    Ok(())
}

fn failure(error: bench::Error) -> Failure {
    if error.is_usage() { Failure::wrong_use(error.to_string()) } else { Failure::failed(error.to_string()) }
}
