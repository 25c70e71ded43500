//! Commands that are separate programs, in this program's folder or in PATH, like those of git.

use std::env::consts::EXE_SUFFIX;
use std::env::{self};
use std::ffi::OsStr;
use std::io;
use std::process::Command;

#[cfg(not(unix))]
use tress_terminal::lifeline;
use tress_terminal::{COMMAND, Failure};

use crate::args::External;

/// Replaces this process by `program`, with the arguments that follow the command's name.
pub(crate) fn run(program: &str, subcommand: Option<&str>, options: &External) -> Result<(), Failure> {
    let this = env::current_exe().unwrap_or_default();
    let beside = this.with_file_name(format!("{program}{EXE_SUFFIX}"));
    let found = if beside.is_file() { beside.as_os_str() } else { OsStr::new(program) };
    let mut command = Command::new(found);
    command.args(subcommand).args(&options.arguments);
    let [path, version] = COMMAND;
    command.env(path, &this).env(version, env!("CARGO_PKG_VERSION"));
    let error = replace(command);
    if error.kind() != io::ErrorKind::NotFound {
        return Err(Failure::failed(format!("{program}: {error}")));
    }
    let name = subcommand.unwrap_or("simulate");
    Err(Failure::wrong_use(format!("'tress {name}' needs the program {program}, which is not installed"))
        .hint(format!("the package {program} has it; from source, 'make lab' builds it")))
}

/// Replaces this process. Returns only if that fails.
#[cfg(unix)]
fn replace(mut command: Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(&mut command)
}

/// Runs the program and exits with its status. Returns only if it cannot be started.
#[cfg(not(unix))]
fn replace(mut command: Command) -> io::Error {
    lifeline::tie(&mut command);
    let status = command.status();
    lifeline::release();
    match status {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
