#![doc = include_str!("../README.md")]
// Except in `descriptor` and `streams`.
#![deny(unsafe_code)]

pub mod blocked;
pub mod descriptor;
pub mod place;
pub mod secret;
pub mod shown;

#[cfg(feature = "command")]
pub mod failure;
#[cfg(feature = "command")]
pub mod files;
#[cfg(feature = "command")]
pub mod generated;
#[cfg(feature = "command")]
pub mod lifeline;
#[cfg(feature = "command")]
pub mod progress;
#[cfg(feature = "command")]
pub mod signals;
#[cfg(all(feature = "command", unix))]
mod streams;
#[cfg(feature = "command")]
pub mod units;
#[cfg(feature = "command")]
pub mod usage;

#[cfg(feature = "command")]
pub use command::{COMMAND, caller, note, program, warn};
#[cfg(feature = "command")]
pub use failure::Failure;

#[cfg(feature = "command")]
mod command {
    use std::env;
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::sync::OnceLock;

    use crate::failure::escape;
    use crate::{Failure, progress};

    /// Environment variables that `tress` sets for the programs that it runs: its path and its version.
    pub const COMMAND: [&str; 2] = ["TRESS_COMMAND", "TRESS_COMMAND_VERSION"];

    static PROGRAM: OnceLock<&str> = OnceLock::new();

    /// The name of this program in messages.
    pub fn program() -> &'static str {
        PROGRAM.get().copied().unwrap_or("tress")
    }

    /// Returns the path of `tress` if `tress` ran this program, which is called `name`. Messages then start with `tress`.
    ///
    /// # Errors
    /// `tress` has another version than this program.
    pub fn caller(name: &'static str, version: &str) -> Result<Option<PathBuf>, Failure> {
        let [command, its_version] = COMMAND.map(env::var_os);
        let _ = PROGRAM.set(if command.is_some() { "tress" } else { name });
        match its_version {
            Some(other) if command.is_some() && other != version => Err(Failure::wrong_use(format!(
                "{name} is version {version}, and tress is version {}",
                other.display()
            ))
            .hint("install both from one version")),
            _ => Ok(command.map(PathBuf::from)),
        }
    }

    /// Prints a note to standard error. A closed standard error is ignored.
    pub fn note(text: &str) {
        print_line("note", text);
    }

    /// Prints a warning about something unsafe to standard error.
    pub fn warn(text: &str) {
        print_line("warning", text);
    }

    fn print_line(what: &str, text: &str) {
        let text = format!("{}: {what}: {}\n", program(), escape(text));
        let _ = progress::aside(|| std::io::stderr().lock().write_all(text.as_bytes()));
    }
}
