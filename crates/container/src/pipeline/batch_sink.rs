//! The sink of a pipeline, to which the workers write batches.

use std::io::{self, IoSlice, Write};
use std::ops::Range;

use super::Direction;
use super::batch::Batch;
use super::pipe::PipeWriter;
use crate::control::Control;
use crate::sink::{NewFile, OpenSink, StreamOutput};
use crate::workers::{RunState, Turn};
use crate::{Error, ErrorKind};

/// The range of the plaintext to write, in bytes.
pub type PlainWindow = Range<u64>;

/// A sink for batches.
pub enum BatchSink<'a> {
    /// Workers write different batches at the same time, into the file from `offset` on.
    Positioned { file: &'a NewFile<'a>, offset: u64, window: PlainWindow },
    /// Workers write one after the other, in the order of the batches.
    Ordered { turn: Turn<OrderedSink<'a>>, window: PlainWindow },
}

/// A stream that is written in order.
pub enum OrderedSink<'a> {
    Stream(&'a StreamOutput<'a>),
    /// `None` after the end was declared.
    Pipe(Option<PipeWriter>),
}

impl OrderedSink<'_> {
    fn write_all(&mut self, buffers: &mut [IoSlice<'_>], control: &Control) -> Result<(), Error> {
        match self {
            OrderedSink::Stream(stream) => stream.write_all(buffers, control),
            OrderedSink::Pipe(writer) => {
                let Some(writer) = writer else {
                    return Err(Error::new(ErrorKind::Io(io::ErrorKind::BrokenPipe)));
                };
                for buffer in buffers {
                    writer.write_all(buffer)?;
                }
                Ok(())
            }
        }
    }
}

impl<'a> BatchSink<'a> {
    /// Writes to a file from `offset` on, or to a stream.
    pub fn new(sink: &'a OpenSink<'a>, offset: u64, window: PlainWindow) -> Self {
        match sink {
            OpenSink::Stream(stream) => Self::ordered(OrderedSink::Stream(stream), window),
            OpenSink::File(file) => Self::Positioned { file, offset, window },
        }
    }

    /// Writes into a pipe, without a window.
    pub fn pipe(writer: PipeWriter) -> Self {
        Self::ordered(OrderedSink::Pipe(Some(writer)), 0..u64::MAX)
    }

    fn ordered(stream: OrderedSink<'a>, window: PlainWindow) -> Self {
        Self::Ordered { turn: Turn::new(stream), window }
    }

    /// Writes the good part of a batch. Of an incomplete batch, a stream gets the verified chunks, and a file, which is going to be
    /// deleted, gets nothing. Data that was not sealed is never written.
    pub(super) fn put(
        &self,
        direction: Direction,
        batch: &Batch,
        good_chunks: u64,
        is_complete: bool,
        control: &Control,
        (number, run): (u64, &RunState),
    ) -> Result<(), Error> {
        match self {
            BatchSink::Positioned { .. } if !is_complete => Ok(()),
            BatchSink::Ordered { .. } if !is_complete && direction == Direction::Seal => Ok(()),
            BatchSink::Positioned { file, offset, window } => match direction {
                Direction::Seal => {
                    // Every chunk is followed by its tag, so the offset counts sealed chunks.
                    let place = offset + batch.sealed_offset();
                    file.write_all_at(&mut [IoSlice::new(batch.sealed())], place)
                }
                Direction::Unseal => {
                    let (begin, mut slices) = batch.plain_within(good_chunks, window);
                    file.write_all_at(&mut slices, offset + (begin - window.start))
                }
            },
            BatchSink::Ordered { turn, window } => turn.take(number, run, is_complete, |stream| match direction {
                Direction::Seal => stream.write_all(&mut [IoSlice::new(batch.sealed())], control),
                Direction::Unseal => {
                    let (_, mut slices) = batch.plain_within(good_chunks, window);
                    stream.write_all(&mut slices, control)
                }
            }),
        }
    }

    /// Wakes the waiting workers, so that they see whether the run has failed.
    pub(super) fn wake(&self) {
        if let BatchSink::Ordered { turn, .. } = self {
            turn.wake();
        }
    }

    /// Declares the end of a pipe inside the process.
    pub(super) fn finish(&self) -> Result<(), Error> {
        match self {
            BatchSink::Ordered { turn, .. } => turn.with(|stream| match stream {
                OrderedSink::Pipe(writer) => writer.take().map_or(Ok(()), |writer| Ok(writer.finish()?)),
                OrderedSink::Stream(_) => Ok(()),
            }),
            BatchSink::Positioned { .. } => Ok(()),
        }
    }
}
