//! `read`: reads a source with the rules for the input of every command.

use std::io::{self, Read};

use super::{Control, Source};
use crate::Error;
use crate::source::OpenSource;
use crate::sys::Os;

/// Calls `read` with a reader of `source`. Waiting for a pipe ends soon after a cancellation.
///
/// # Errors
/// Those of opening and of `read`; `InputChanged` if a file changes while it is read; `Interrupted`.
pub fn read<T>(
    source: &Source,
    control: &Control,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> Result<T, Error> {
    let input = OpenSource::open(&Os, source)?;
    let value = read(&mut input.reader(control)).map_err(|error| input.failure(error, control))?;
    input.check_unchanged()?;
    Ok(value)
}
