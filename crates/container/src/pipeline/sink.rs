//! The sink of a pipeline, to which the workers write batches.

use std::io::{self, IoSlice, Write};
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};

use super::batch::Batch;
use super::pipe::PipeWriter;
use super::{Direction, RunState, lock};
use crate::control::Control;
use crate::sink::{NewFile, OpenSink, StreamOutput};
use crate::{Error, ErrorKind};

/// The range of the plaintext to write, in bytes.
pub type PlainWindow = Range<u64>;

/// A sink for batches.
pub enum BatchSink<'a> {
    /// Workers write different batches at the same time, into the file from `offset` on.
    Positioned { file: &'a NewFile<'a>, offset: u64, window: PlainWindow },
    /// Workers write one after the other, in the order of the batches.
    Ordered { turn: Mutex<Turn<'a>>, wakeup: Condvar, window: PlainWindow },
}

/// The stream, and the number of the batch that may be written next.
pub struct Turn<'a> {
    next: u64,
    stream: OrderedSink<'a>,
}

/// A stream that is written in order.
enum OrderedSink<'a> {
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
        Self::Ordered { turn: Mutex::new(Turn { next: 0, stream }), wakeup: Condvar::new(), window }
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
        progress: &RunState,
    ) -> Result<(), Error> {
        match self {
            BatchSink::Positioned { .. } if !is_complete => Ok(()),
            BatchSink::Ordered { .. } if !is_complete && direction == Direction::Seal => Ok(()),
            BatchSink::Positioned { file, offset, window } => match direction {
                Direction::Seal => {
                    // Every chunk is followed by its tag, so the offset counts sealed chunks.
                    let place = offset + batch.first_chunk * crate::container::SEALED_CHUNK_BYTES as u64;
                    file.write_all_at(&mut [IoSlice::new(batch.sealed())], place)
                }
                Direction::Unseal => {
                    let (begin, mut slices) = batch.plain_within(good_chunks, window);
                    file.write_all_at(&mut slices, offset + (begin - window.start))
                }
            },
            BatchSink::Ordered { turn, wakeup, window } => {
                let mut turn = lock(turn);
                while turn.next != batch.number {
                    if progress.is_void(batch.number) {
                        return Ok(());
                    }
                    turn = wakeup.wait(turn).unwrap_or_else(PoisonError::into_inner);
                }
                match direction {
                    Direction::Seal => turn.stream.write_all(&mut [IoSlice::new(batch.sealed())], control)?,
                    Direction::Unseal => {
                        let (_, mut slices) = batch.plain_within(good_chunks, window);
                        turn.stream.write_all(&mut slices, control)?;
                    }
                }
                if is_complete {
                    turn.next += 1;
                    wakeup.notify_all();
                }
                Ok(())
            }
        }
    }

    /// Wakes the waiting workers, so that they see whether the run has failed.
    pub(super) fn wake(&self) {
        if let BatchSink::Ordered { turn, wakeup, .. } = self {
            // The lock ensures that no worker is between its check and its wait.
            let _turn = lock(turn);
            wakeup.notify_all();
        }
    }

    /// Declares the end of a pipe inside the process.
    pub(super) fn finish(&self) -> Result<(), Error> {
        if let BatchSink::Ordered { turn, .. } = self
            && let OrderedSink::Pipe(writer) = &mut lock(turn).stream
            && let Some(writer) = writer.take()
        {
            writer.finish()?;
        }
        Ok(())
    }
}
