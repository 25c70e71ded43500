//! A data connection at the receiver. One thread reads batches, another opens and writes them, so that the next batch
//! arrives while this one is verified.

use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::receive::server::Server;
use crate::receive::session::{Arriving, ReceiveSession};
use crate::wire::batch::batch_chunks;
use crate::wire::limits::STREAM_BUFFERS;
use crate::wire::link::Timeouts;
use crate::wire::message::Request;
use crate::wire::noise::Incoming;
use tress_container::container::{Content, Payload};
use tress_container::format::LAYOUT;
use tress_container::pipeline::Batch;
use tress_container::pipeline::batch::BATCH_CHUNKS;
use tress_container::threads::start;
use tress_container::workers::OnDrop;
use tress_container::{Error, ErrorKind};

/// A batch that has arrived, still sealed.
struct ReceivedBatch {
    payload: Arc<Payload>,
    /// `None` if the sender has given up the file: the batch is skipped, but counted.
    part: Option<Arriving>,
    batch: Batch,
}

/// Serves a data connection of a session until it ends.
pub(crate) fn serve(
    session: &ReceiveSession,
    stream: u16,
    mut incoming: Incoming,
    server: &Server<'_>,
) -> Result<(), Error> {
    let (full, taken) = bounded(STREAM_BUFFERS);
    let (free, buffers) = bounded(STREAM_BUFFERS);
    for _ in 0..STREAM_BUFFERS {
        let _ = free.send(None);
    }
    let _end = OnDrop(|| session.detach(stream));
    thread::scope(|scope| {
        let link = incoming.link().clone();
        // It owns `taken` and `free`: when it ends, `full` and `buffers` are disconnected, and the reader ends, too.
        let opener = start(scope, move || {
            let result = open_all(session, stream, &taken, &free, server);
            if result.is_err() {
                link.close();
            }
            result
        })?;
        let read = read_all(session, &mut incoming, &buffers, &full);
        drop(full);
        let opened = opener.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the opener failed, the reader only saw a closed connection. If the session ended, the session has the reason.
        opened.and(read).or_else(|error| {
            let is_by_session = error.kind == ErrorKind::Disconnected && session.stopped().is_some();
            if is_by_session { Ok(()) } else { Err(error) }
        })
    })
}

fn read_all(
    session: &ReceiveSession,
    incoming: &mut Incoming,
    buffers: &Receiver<Option<Batch>>,
    full: &Sender<ReceivedBatch>,
) -> Result<(), Error> {
    let stop = || session.stopped();
    let protocol_error = |what: &str| Error::new(ErrorKind::Protocol).with_detail(what);
    // Between batches a connection may be idle for as long as the session lasts.
    let timeouts = Timeouts { first: None, ..Timeouts::idle(session.stall_time(), &stop) };
    let batch_timeouts = Timeouts::idle(session.stall_time(), &stop);
    let mut key: Option<(u32, Arc<Payload>)> = None;
    while let Some(message) = incoming.read(&timeouts)? {
        match Request::parse(&message) {
            Ok(Request::Key { file, aead, input_key, prefix }) => {
                let content = Content::with_input_key(aead, &input_key)
                    .ok_or_else(|| protocol_error("key has the wrong length"))?;
                key = Some((file, Arc::new(Payload::open(&content, &prefix)?)));
            }
            Ok(Request::Batch { file, first_chunk, sealed_bytes }) => {
                let payload = key.as_ref().filter(|(of, _)| *of == file).map(|(_, payload)| payload.clone());
                let payload = payload.ok_or_else(|| protocol_error("batch without a key"))?;
                let part = session.arriving(file);
                if part.is_none() && !session.is_abandoned(file) {
                    return Err(protocol_error("batch belongs to no open file"));
                }
                let sealed_bytes = sealed_bytes as usize;
                let (_, ends) = batch_chunks(sealed_bytes)
                    .filter(|_| part.as_ref().is_none_or(|part| part.admits(first_chunk, sealed_bytes)))
                    .ok_or_else(|| protocol_error("batch is outside the file"))?;
                let Ok(buffer) = buffers.recv() else { return Ok(()) };
                let mut batch = buffer.unwrap_or_else(|| Batch::new(LAYOUT, BATCH_CHUNKS));
                batch.hold(first_chunk, sealed_bytes, ends);
                incoming.read_raw(batch.sealed_mut(), &batch_timeouts)?;
                if full.send(ReceivedBatch { payload, part, batch }).is_err() {
                    return Ok(());
                }
            }
            _ => return Err(protocol_error("unexpected message")),
        }
    }
    Ok(())
}

fn open_all(
    session: &ReceiveSession,
    stream: u16,
    taken: &Receiver<ReceivedBatch>,
    free: &Sender<Option<Batch>>,
    server: &Server<'_>,
) -> Result<(), Error> {
    while let Ok(ReceivedBatch { payload, part, mut batch }) = taken.recv() {
        if let Some(part) = part {
            batch.unseal(&payload)?;
            if let Err(denied) = part.write(&batch) {
                session.end(denied.reason, denied.error);
                return Err(Error::new(ErrorKind::Declined(denied.reason)));
            }
            server.count_batch(batch.plain_bytes());
        }
        session.count_batch(stream);
        let _ = free.send(Some(batch));
    }
    Ok(())
}
