//! A pipe inside the process with a bounded number of recycled blocks, between a tar stream and the workers.
//!
//! The writer has to declare the end: if it is dropped without [`PipeWriter::finish`], the reader gets all that was written and then an
//! error instead of an end, so that a failed stream cannot look like a short one.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Bytes of one block, and number of blocks in transit.
const BLOCK_BYTES: usize = 256 * 1024;
const BLOCKS: usize = 4;

enum PipeMessage {
    Block(Vec<u8>),
    End,
}

/// The writing end of a pipe.
pub struct PipeWriter {
    blocks: SyncSender<PipeMessage>,
    empty: Receiver<Vec<u8>>,
    current: Vec<u8>,
}

/// The reading end of a pipe.
pub struct PipeReader {
    blocks: Receiver<PipeMessage>,
    empty: Sender<Vec<u8>>,
    current: Vec<u8>,
    position: usize,
    ended: bool,
}

/// Makes a pipe.
pub fn pipe() -> (PipeWriter, PipeReader) {
    let (blocks_in, blocks_out) = sync_channel(BLOCKS);
    let (empty_in, empty_out) = channel();
    let writer = PipeWriter { blocks: blocks_in, empty: empty_out, current: Vec::with_capacity(BLOCK_BYTES) };
    let reader = PipeReader { blocks: blocks_out, empty: empty_in, current: Vec::new(), position: 0, ended: false };
    (writer, reader)
}

impl PipeWriter {
    /// Declares the end of the stream.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.blocks.send(PipeMessage::End).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.current.len() == BLOCK_BYTES {
            self.flush()?;
        }
        let count = bytes.len().min(BLOCK_BYTES - self.current.len());
        self.current.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.current.is_empty() {
            return Ok(());
        }
        let mut next = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BLOCK_BYTES));
        next.clear();
        let full = std::mem::replace(&mut self.current, next);
        self.blocks.send(PipeMessage::Block(full)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.current.len() && !self.ended {
            match self.blocks.recv() {
                Ok(PipeMessage::Block(block)) => {
                    // The writer may be gone and need no more blocks.
                    let _ = self.empty.send(std::mem::replace(&mut self.current, block));
                    self.position = 0;
                }
                Ok(PipeMessage::End) => self.ended = true,
                Err(_) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        let rest = &self.current[self.position..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_data_arrives_and_only_a_declared_end_is_an_end() {
        let data: Vec<u8> = (0..3_000_000_u32).map(|i| ((i * 7) >> 3) as u8).collect();
        for declared in [true, false] {
            let (mut writer, mut reader) = pipe();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    writer.write_all(&data).unwrap();
                    if declared {
                        writer.finish().unwrap();
                    } else {
                        drop(writer);
                    }
                });
                let mut read = Vec::new();
                let result = reader.read_to_end(&mut read);
                assert_eq!(result.is_ok(), declared);
                assert_eq!(read, data);
            });
        }
    }

    #[test]
    fn a_dropped_reader_ends_the_writer() {
        let (mut writer, reader) = pipe();
        drop(reader);
        assert!(writer.write_all(&vec![0; 8 * BLOCK_BYTES]).is_err());
    }
}
