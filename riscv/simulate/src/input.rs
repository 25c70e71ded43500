//! Standard input of the simulated program. A separate thread reads it, so that a signal ends the run even while the
//! program waits for input. Nothing is read before the program reads.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tress_terminal::files::Stdin;

/// Size of a piece of input in bytes, and the number of pieces that may wait for the program.
const PIECE_BYTES: usize = 1 << 16;
const PIECES: usize = 2;
/// Interval between checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct Input {
    is_cancelled: Arc<AtomicBool>,
    /// `None` before the first read. An error is the last piece.
    pieces: Option<Receiver<io::Result<Vec<u8>>>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Input {
    pub(crate) fn new(is_cancelled: &Arc<AtomicBool>) -> Input {
        Input { is_cancelled: Arc::clone(is_cancelled), pieces: None, piece: io::Cursor::default() }
    }
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(bytes)?;
            if read > 0 || bytes.is_empty() {
                return Ok(read);
            }
            let pieces = match &self.pieces {
                Some(pieces) => pieces,
                None => self.pieces.insert(start()?),
            };
            match pieces.recv_timeout(POLL_INTERVAL) {
                Ok(piece) => self.piece = io::Cursor::new(piece?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.is_cancelled.load(Ordering::Relaxed) => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn start() -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (sender, pieces) = sync_channel(PIECES);
    thread::Builder::new().name("input".into()).spawn(move || forward(&sender))?;
    Ok(pieces)
}

/// Sends standard input in pieces until its end.
fn forward(sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut bytes = vec![0; PIECE_BYTES];
    loop {
        let piece = match Stdin.read(&mut bytes) {
            Ok(0) => return,
            Ok(read) => Ok(bytes[..read].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = piece.is_err();
        if sender.send(piece).is_err() || last {
            return;
        }
    }
}
