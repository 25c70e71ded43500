//! `store`: bytes that are in memory, to a sink.

use std::io::IoSlice;

use super::{Control, Sink};
use crate::Error;
use crate::output::{Destination, Output};
use crate::sys::Os;

/// Writes `bytes` with the rules that hold for the output of every verb: a name appears when all is written and synced,
/// an existing file is replaced by force only, a device is written into, and a terminal gets text only.
///
/// # Errors
/// Every failure of writing.
pub fn store(bytes: &[u8], sink: &Sink, control: &Control) -> Result<(), Error> {
    let output = Destination::check(&Os, sink, None)?.create()?;
    let mut slices = [IoSlice::new(bytes)];
    match &output {
        Output::Stream(stream) => stream.write_all(&mut slices, control)?,
        Output::File(file) => file.write_all_at(&mut slices, 0)?,
    }
    output.commit(control)
}
