//! The ledger of a sender: the batches sent on each data connection, how many of them the receiver has verified, and the
//! receiver's answers.
//!
//! A connection carries batches in order and the receiver counts them in that order, so one number says which of them are
//! verified. If a connection is lost, the batches after that number are sent again: at most those that were in transit.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::wire::message::Reply;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind};

/// Most answers waiting to be read: a receiver that answers more often than it was asked breaks the protocol.
const MAX_ANSWERS: usize = 4;

#[derive(Default)]
pub(crate) struct Ledger {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    streams: HashMap<u16, StreamRecord>,
    answers: VecDeque<Reply>,
    /// Chunks of the current file that are synced.
    synced_chunks: u64,
    /// When `synced_chunks` last changed or a batch was verified.
    moved: Option<Instant>,
}

#[derive(Default)]
struct StreamRecord {
    /// File and chunks of each batch that was sent and is not reported as verified.
    sent: VecDeque<(u32, Range<u64>)>,
    verified: u64,
    is_drained: bool,
}

fn protocol_error(what: &str) -> Error {
    Error::new(ErrorKind::Protocol).with_detail(what)
}

impl Ledger {
    /// Records a batch that is about to be sent. `false` if the connection has already ended.
    pub(crate) fn send(&self, stream: u16, file: u32, chunks: Range<u64>) -> bool {
        let mut state = lock(&self.state);
        let stream = state.streams.entry(stream).or_default();
        if !stream.is_drained {
            stream.sent.push_back((file, chunks));
        }
        !stream.is_drained
    }

    pub(crate) fn is_drained(&self, stream: u16) -> bool {
        lock(&self.state).streams.get(&stream).is_some_and(|stream| stream.is_drained)
    }

    /// Number of batches of this connection that are verified.
    pub(crate) fn verified(&self, stream: u16) -> u64 {
        lock(&self.state).streams.get(&stream).map_or(0, |stream| stream.verified)
    }

    /// Records the receiver's report: the number of synced chunks, and the number of verified batches of each connection.
    pub(crate) fn progress(&self, synced_chunks: u64, streams: &[(u16, u64)]) -> Result<(), Error> {
        let mut state = lock(&self.state);
        let mut has_moved = synced_chunks != state.synced_chunks;
        state.synced_chunks = synced_chunks;
        for (stream, batches) in streams {
            // A connection that has sent no batch yet is not in the ledger.
            match state.streams.get_mut(stream) {
                Some(stream) => has_moved |= stream.advance(*batches)?,
                None if *batches == 0 => {}
                None => return Err(protocol_error("receiver confirmed batches that were not sent")),
            }
        }
        if has_moved {
            state.moved = Some(Instant::now());
        }
        Ok(())
    }

    /// Records progress of another kind.
    pub(crate) fn has_moved(&self) {
        lock(&self.state).moved = Some(Instant::now());
    }

    /// How long, since this instant, there was no progress.
    pub(crate) fn idle_since(&self, since: Instant) -> Duration {
        lock(&self.state).moved.map_or(since, |moved| moved.max(since)).elapsed()
    }

    /// Records that a connection has ended. Returns the batches that have to be sent again.
    pub(crate) fn drained(&self, stream: u16, batches: u64) -> Result<Vec<(u32, Range<u64>)>, Error> {
        let mut state = lock(&self.state);
        let stream = state.streams.entry(stream).or_default();
        if stream.is_drained {
            return Ok(Vec::new());
        }
        stream.advance(batches)?;
        stream.is_drained = true;
        Ok(stream.sent.drain(..).collect())
    }

    pub(crate) fn answer(&self, reply: Reply) -> Result<(), Error> {
        let mut state = lock(&self.state);
        if state.answers.len() >= MAX_ANSWERS {
            return Err(protocol_error("unexpected answer"));
        }
        state.answers.push_back(reply);
        self.changed.notify_all();
        Ok(())
    }

    /// The next answer, if one arrives within `time`.
    pub(crate) fn wait_answer(&self, time: Duration) -> Option<Reply> {
        let mut state = lock(&self.state);
        if state.answers.is_empty() {
            state = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.answers.pop_front()
    }

    pub(crate) fn wake(&self) {
        // Nobody is between a check and a wait.
        let _state = lock(&self.state);
        self.changed.notify_all();
    }
}

impl StreamRecord {
    /// Records the number of verified batches. Returns whether it has grown.
    fn advance(&mut self, batches: u64) -> Result<bool, Error> {
        let news = batches.checked_sub(self.verified).and_then(|news| usize::try_from(news).ok());
        let Some(news) = news.filter(|&news| news <= self.sent.len()) else {
            return Err(protocol_error("receiver confirmed batches that were not sent"));
        };
        self.sent.drain(..news);
        self.verified = batches;
        Ok(news > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unverified_batches_are_sent_again() {
        let ledger = Ledger::default();
        for chunks in [3..4, 4..9, 9..11] {
            assert!(ledger.send(0, 1, chunks));
        }
        ledger.progress(0, &[(0, 1)]).unwrap();
        assert_eq!(ledger.drained(0, 2).unwrap(), [(1, 9..11)]);
        // Only once; and the connection takes no further batch.
        assert_eq!(ledger.drained(0, 2).unwrap(), []);
        assert!(!ledger.send(0, 1, 5..6) && ledger.is_drained(0));
    }

    #[test]
    fn a_receiver_that_lies_about_what_it_verified() {
        let ledger = Ledger::default();
        ledger.send(0, 1, 0..1);
        ledger.send(0, 1, 1..2);
        ledger.progress(0, &[(0, 1)]).unwrap();
        // More batches than were sent, fewer than before, an unknown connection.
        for (stream, batches) in [(0, 3), (0, 0), (0, u64::MAX), (7, 1)] {
            assert_eq!(ledger.progress(0, &[(stream, batches)]).unwrap_err().kind, ErrorKind::Protocol);
        }
        assert_eq!(ledger.drained(0, 3).unwrap_err().kind, ErrorKind::Protocol);
        for _ in 0..MAX_ANSWERS {
            ledger.answer(Reply::Joined).unwrap();
        }
        assert_eq!(ledger.answer(Reply::Joined).unwrap_err().kind, ErrorKind::Protocol);
    }
}
