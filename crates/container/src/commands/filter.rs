//! `filter`: passes bytes through a function, with the usual rules for inputs and outputs. For formats other than the container.

use std::io::{self, IoSlice, Read, Write};

use super::{Control, Sink, Source};
use crate::sink::{CheckedSink, OpenSink};
use crate::source::OpenSource;
use crate::sys::System;
use crate::tree::SparseWrite;
use crate::{Error, ErrorKind};

/// Error of a transformation.
#[derive(Debug)]
pub(super) enum FilterError {
    /// Reading or writing failed.
    Io(io::Error),
    /// The data is not valid for this transformation.
    Data(Error),
}

impl From<io::Error> for FilterError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for FilterError {
    fn from(error: Error) -> Self {
        Self::Data(error)
    }
}

impl From<tress_cipher::Error> for FilterError {
    fn from(error: tress_cipher::Error) -> Self {
        Self::Data(error.into())
    }
}

/// Passes the data of `source` through `transform` to `sink`. The sink gets its name only after `transform` has succeeded and all data
/// is written and synced.
///
/// # Errors
/// Every failure of reading or writing; the errors of `transform`, as errors of the input.
pub(super) fn filter(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    control: &Control,
    transform: impl FnOnce(&mut dyn Read, &mut dyn Write) -> Result<(), FilterError>,
) -> Result<(), Error> {
    let input = OpenSource::open(system, source)?;
    if let Some(bytes) = input.seekable_bytes() {
        control.set_total(bytes);
    }
    let output = CheckedSink::check(system, sink, Some(&input))?.create()?;
    let mut writer = SequentialWriter::new(&output, control);
    let done = transform(&mut CountingReader { reader: input.reader(control), control }, &mut writer);
    if let Some(error) = writer.error {
        return Err(error);
    }
    done.map_err(|failed| match failed {
        FilterError::Io(error) => input.failure(error, control),
        FilterError::Data(error) => input.failure(error, control),
    })?;
    input.check_unchanged()?;
    if control.is_cancelled() {
        return Err(Error::new(ErrorKind::Interrupted));
    }
    output.commit(control)
}

struct CountingReader<'a, R> {
    reader: R,
    control: &'a Control,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(buffer)?;
        self.control.add_done(bytes as u64);
        Ok(bytes)
    }
}

/// Writes an output in order, and keeps the first error, because an `io::Error` cannot hold it.
pub(super) struct SequentialWriter<'a> {
    output: &'a OpenSink<'a>,
    /// Number of bytes that were written.
    pub(super) offset: u64,
    control: &'a Control,
    pub(super) error: Option<Error>,
}

impl<'a> SequentialWriter<'a> {
    pub(super) fn new(output: &'a OpenSink<'a>, control: &'a Control) -> Self {
        Self { output, offset: 0, control, error: None }
    }

    fn keep(&mut self, error: Error) -> io::Error {
        self.error = Some(error);
        io::Error::other("the output failed")
    }
}

impl Write for SequentialWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.write_all(&mut [IoSlice::new(bytes)], self.offset, self.control) {
            Ok(()) => {
                self.offset += bytes.len() as u64;
                Ok(bytes.len())
            }
            Err(error) => Err(self.keep(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SparseWrite for SequentialWriter<'_> {
    fn skip(&mut self, bytes: u64) -> io::Result<bool> {
        let OpenSink::File(file) = self.output else { return Ok(false) };
        if bytes > 0 {
            self.offset += bytes;
            file.set_length(self.offset).map_err(|error| self.keep(error))?;
        }
        Ok(true)
    }
}
