//! Seals and unseals runs of chunks from one buffer into another, on as many threads as the work justifies.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tress_lanes::wipe_stack;
use zeroize::{Zeroize, Zeroizing};

use super::{BATCH_BYTES, BATCH_CHUNKS, SEALED_BATCH_BYTES};
use crate::container::{CHUNK_BYTES, Payload, SEALED_CHUNK_BYTES, TAG_BYTES};
use crate::threads::start;
use crate::{Error, ErrorKind};

/// Batches per thread below which another thread costs more than it gains: starting it takes about as long as one batch.
const BATCHES_PER_THREAD: usize = 2;

/// Seals `plain`, the chunks from number `first` on, into `sealed`, which has room for the chunks and their tags. Includes the last chunk
/// if `sealed` has room for it.
pub(super) fn seal(
    payload: &Payload,
    first: u64,
    plain: &[u8],
    sealed: &mut [u8],
    threads: usize,
) -> Result<(), Error> {
    assert_eq!(sealed.len(), plain.len() + sealed.len().div_ceil(SEALED_CHUNK_BYTES) * TAG_BYTES);
    let batches_per_thread = batches_per_thread(sealed.len(), threads);
    let parts = sealed.chunks_mut(batches_per_thread * SEALED_BATCH_BYTES).zip(0..).map(|(sealed, part)| {
        let start = part * batches_per_thread * BATCH_BYTES;
        let end = plain.len().min(start + batches_per_thread * BATCH_BYTES);
        (first + (part * batches_per_thread * BATCH_CHUNKS) as u64, &plain[start..end], sealed)
    });
    on_threads(parts, |(chunk, plain, sealed)| seal_batches(payload, chunk, plain, sealed))
}

fn seal_batches(payload: &Payload, mut chunk: u64, mut plain: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
    for sealed in sealed.chunks_mut(SEALED_BATCH_BYTES) {
        let (now, later) = plain.split_at(plain.len().min(BATCH_BYTES));
        for (plain, sealed) in now.chunks(CHUNK_BYTES).zip(sealed.chunks_mut(SEALED_CHUNK_BYTES)) {
            sealed[..plain.len()].copy_from_slice(plain);
        }
        payload.seal(chunk, sealed)?;
        plain = later;
        chunk += BATCH_CHUNKS as u64;
    }
    Ok(())
}

/// Verifies `sealed`, the chunks from number `first` on, and decrypts them into `plain`, which has exactly their length. If a chunk
/// fails, `plain` holds plaintext before it, and zeros from it on.
pub(super) fn unseal(
    payload: &Payload,
    first: u64,
    sealed: &[u8],
    plain: &mut [u8],
    threads: usize,
) -> Result<(), Error> {
    assert_eq!(sealed.len(), plain.len() + sealed.len().div_ceil(SEALED_CHUNK_BYTES) * TAG_BYTES);
    let batches_per_thread = batches_per_thread(sealed.len(), threads);
    let mut rest = &mut *plain;
    let parts = sealed.chunks(batches_per_thread * SEALED_BATCH_BYTES).zip(0..).map(|(sealed, part)| {
        let now = rest.len().min(batches_per_thread * BATCH_BYTES);
        let plain = rest.split_off_mut(..now).expect("is cut where it ends at most");
        (first + (part * batches_per_thread * BATCH_CHUNKS) as u64, sealed, plain)
    });
    on_threads(parts, |(chunk, sealed, plain)| unseal_batches(payload, chunk, sealed, plain)).inspect_err(|error| {
        plain[verified_bytes(first, error)..].zeroize();
    })
}

fn unseal_batches(payload: &Payload, mut chunk: u64, sealed: &[u8], mut plain: &mut [u8]) -> Result<(), Error> {
    let mut batch = Zeroizing::new(Vec::with_capacity(sealed.len().min(SEALED_BATCH_BYTES)));
    for sealed in sealed.chunks(SEALED_BATCH_BYTES) {
        batch.clear();
        batch.extend_from_slice(sealed);
        let unsealed = payload.unseal(chunk, &mut batch);
        let mut verified = unsealed.as_ref().err().map_or(usize::MAX, |error| verified_bytes(chunk, error));
        for chunk in batch.chunks(SEALED_CHUNK_BYTES) {
            let bytes = (chunk.len() - TAG_BYTES).min(verified);
            plain.split_off_mut(..bytes).expect("has the bytes of all chunks").copy_from_slice(&chunk[..bytes]);
            verified -= bytes;
        }
        unsealed?;
        chunk += BATCH_CHUNKS as u64;
    }
    Ok(())
}

/// Verifies `sealed`, the chunks from number `first` on, and decrypts them in place, each before its tag.
pub(super) fn unseal_in_place(payload: &Payload, first: u64, sealed: &mut [u8], threads: usize) -> Result<(), Error> {
    let batches_per_thread = batches_per_thread(sealed.len(), threads);
    let parts = sealed.chunks_mut(batches_per_thread * SEALED_BATCH_BYTES).zip(0..).map(|(sealed, part)| {
        let chunk = first + (part * batches_per_thread * BATCH_CHUNKS) as u64;
        (chunk, sealed)
    });
    on_threads(parts, |(chunk, sealed)| {
        let batches = sealed.chunks_mut(SEALED_BATCH_BYTES).zip(0..);
        batches.into_iter().try_for_each(|(batch, number)| payload.unseal(chunk + number * BATCH_CHUNKS as u64, batch))
    })
}

/// Number of plaintext bytes from chunk `first` on that were verified before this error.
pub(super) fn verified_bytes(first: u64, error: &Error) -> usize {
    match error.kind {
        ErrorKind::ChunkDamaged { chunk } => (chunk - first) as usize * CHUNK_BYTES,
        _ => 0,
    }
}

/// Appends to a buffer that never holds more than `most` bytes. If the buffer moves, the old memory is wiped. Fails if there is no
/// memory.
pub(super) fn extend(buffer: &mut Zeroizing<Vec<u8>>, bytes: &[u8], most: usize) -> io::Result<()> {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let mut larger = Zeroizing::new(Vec::new());
        larger.try_reserve_exact((2 * buffer.capacity()).min(most).max(needed))?;
        larger.extend_from_slice(buffer);
        *buffer = larger;
    }
    buffer.extend_from_slice(bytes);
    Ok(())
}

/// Number of batches for each thread. The last thread may have fewer.
fn batches_per_thread(sealed_bytes: usize, threads: usize) -> usize {
    let batches = sealed_bytes.div_ceil(SEALED_BATCH_BYTES);
    batches.div_ceil(threads.min(batches / BATCHES_PER_THREAD).max(1)).max(1)
}

/// Processes every part, each on its own thread; the calling thread is one of them. If the system refuses threads, the others process
/// the remaining parts. Returns the error of the first part that has one.
fn on_threads<P: Send>(
    parts: impl Iterator<Item = P>,
    work: impl Fn(P) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let parts: Vec<P> = parts.collect();
    let threads = parts.len();
    let parts = Mutex::new(parts.into_iter().enumerate());
    let failures = Mutex::new(Vec::new());
    let run = || {
        loop {
            let next = lock(&parts).next();
            let Some((number, part)) = next else { break };
            if let Err(error) = work(part) {
                lock(&failures).push((number, error));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if start(scope, run).is_err() {
                break;
            }
        }
        run();
        wipe_stack();
    });
    let failures = std::mem::take(&mut *lock(&failures));
    failures.into_iter().min_by_key(|(number, _)| *number).map_or(Ok(()), |(_, error)| Err(error))
}

/// Ignores poisoning: no thread panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
