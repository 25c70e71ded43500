//! Batches of messages: in the lanes of vector registers, and on several threads.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use tress_cipher::lanes::ccm::Forged;
use tress_cipher::lanes::{Aead, AeadJob};
use tress_cipher::{Aad, Error, Tag};
use tress_lanes::{NonceOfKey, Pool};

use crate::aead::{AeadKey, PyAead};
use crate::memory::{InputBuffer, NewBytes, OutputBuffer, ResultSpace, items_stay};
use crate::{arguments, errors, work};

/// Upper bound of the overhead of a `bytes` object.
const OBJECT_BYTES: usize = 64;
/// Batches with fewer bytes end so soon that they do not check for signals.
const WATCHED_BYTES: usize = 64 << 20;

/// One message of a batch: key, nonce, data and associated data.
pub(crate) struct BatchMessage<'py> {
    key: Bound<'py, PyAead>,
    nonce: InputBuffer<'py>,
    data: InputBuffer<'py>,
    aad: Option<InputBuffer<'py>>,
}

impl<'py> BatchMessage<'py> {
    /// Converts the messages of an iterable. They use `key`, or each has its key as first item.
    pub(crate) fn all(messages: &Bound<'py, PyAny>, key: Option<&Bound<'py, PyAead>>) -> PyResult<Vec<Self>> {
        let stay = items_stay(messages);
        messages.try_iter()?.map(|message| Self::of(&message?, key, stay)).collect()
    }

    fn of(message: &Bound<'py, PyAny>, key: Option<&Bound<'py, PyAead>>, stays: bool) -> PyResult<Self> {
        let py = message.py();
        let form = if key.is_some() { "(nonce, data, associated_data)" } else { "(key, nonce, data, associated_data)" };
        let wrong = || PyTypeError::new_err(format!("a message must be a tuple {form}"));
        let tuple = message.cast::<PyTuple>().map_err(|_| wrong())?;
        let first = usize::from(key.is_none());
        if tuple.len() != first + 3 {
            return Err(wrong());
        }
        let own = || {
            tuple
                .get_item(0)?
                .cast_into()
                .map_err(|_| PyTypeError::new_err("a key must be an AESCCM or a ChaCha20Poly1305"))
        };
        let aad = tuple.get_item(first + 2)?;
        Ok(Self {
            key: key.cloned().map_or_else(own, PyResult::Ok)?,
            nonce: InputBuffer::octets(&tuple.get_item(first)?, "a nonce")?.kept(py, stays)?,
            data: InputBuffer::of(&tuple.get_item(first + 1)?)?.kept(py, stays)?,
            aad: (!aad.is_none()).then(|| InputBuffer::of(&aad)?.kept(py, stays)).transpose()?,
        })
    }
}

impl BatchMessage<'_> {
    /// Length of the result in bytes; `None` if a message to decrypt is shorter than its tag.
    fn result_bytes(&self, direction: CipherDirection) -> Option<usize> {
        let (data, tag) = (self.data.as_slice().len(), self.key.get().tag_bytes);
        match direction {
            CipherDirection::Encrypt => Some(data + tag),
            CipherDirection::Decrypt => data.checked_sub(tag),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        [Some(&self.nonce), Some(&self.data), self.aad.as_ref()].into_iter().flatten().map(InputBuffer::as_slice)
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum CipherDirection {
    Encrypt,
    Decrypt,
}

/// A message with the memory for its result, and its outcome.
struct AeadTask<'a> {
    key: &'a PyAead,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a [u8],
    /// `None` for a message that is shorter than its tag, and after the message was processed.
    space: Option<ResultSpace<'a>>,
    outcome: Result<(), Error>,
}

impl<'a> AeadTask<'a> {
    fn new(message: &'a BatchMessage<'_>, space: Option<ResultSpace<'a>>) -> Self {
        let BatchMessage { key, nonce, data, aad } = message;
        AeadTask {
            key: key.get(),
            nonce: nonce.as_slice(),
            aad: aad.as_ref().map_or(&[], InputBuffer::as_slice),
            data: data.as_slice(),
            outcome: if space.is_some() { Ok(()) } else { Err(Error::Authentication) },
            space,
        }
    }

    /// Number of bytes to process.
    fn bytes(&self) -> usize {
        self.nonce.len() + self.aad.len() + self.data.len()
    }
}

pub(crate) fn encrypt<'py>(
    py: Python<'py>,
    messages: &[BatchMessage<'py>],
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let (results, outcomes) = run(py, messages, threads, CipherDirection::Encrypt)?;
    forged(py, &outcomes)?;
    PyList::new(py, results.into_iter().map(|result| result.map(NewBytes::finish)))
}

/// Decrypts messages. `errors` is "raise" or "none".
pub(crate) fn decrypt<'py>(
    py: Python<'py>,
    messages: &[BatchMessage<'py>],
    threads: usize,
    errors: &str,
) -> PyResult<Bound<'py, PyList>> {
    let is_strict = match errors {
        "raise" => true,
        "none" => false,
        _ => return Err(errors::usage(py, "errors must be 'raise' or 'none'")),
    };
    let (results, outcomes) = run(py, messages, threads, CipherDirection::Decrypt)?;
    let forged = forged(py, &outcomes)?;
    if is_strict && !forged.is_empty() {
        return Err(errors::invalid_tag(py, forged));
    }
    let results = results.into_iter().zip(&outcomes);
    PyList::new(py, results.map(|(result, outcome)| result.filter(|_| outcome.is_ok()).map(NewBytes::finish)))
}

/// Encrypts a batch of messages, each `(key, nonce, data, associated_data)` with an `AESCCM` or `ChaCha20Poly1305` as key, in lanes and on
/// `threads` threads (0: one on each core). Returns a list with the result of the key's `encrypt` for each message.
///
/// A nonce must never be used twice with a key. A repeated nonce in the batch raises `ValueError`, and nothing is encrypted.
#[pyfunction]
#[pyo3(signature = (messages, *, threads = 0))]
pub(crate) fn encrypt_many<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    encrypt(py, &BatchMessage::all(messages, None)?, threads)
}

/// Verifies and decrypts a batch of messages, each `(key, nonce, data, associated_data)`, in lanes and on threads. If any message is
/// forged, raises `InvalidTag` with the indices of all forged messages in `indices`. With `errors="none"` returns the other
/// messages, and `None` for each forged one.
#[pyfunction]
#[pyo3(signature = (messages, *, threads = 0, errors = "raise"))]
pub(crate) fn decrypt_many<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    errors: &str,
) -> PyResult<Bound<'py, PyList>> {
    decrypt(py, &BatchMessage::all(messages, None)?, threads, errors)
}

/// Creates an exception for a message with wrong parameters.
fn message_error(py: Python<'_>, index: usize, error: Error) -> PyErr {
    errors::usage(py, &format!("message {index}: {error}"))
}

/// The indices of the messages that were forged. Returns the error of the first with wrong parameters.
fn forged(py: Python<'_>, outcomes: &[Result<(), Error>]) -> PyResult<Vec<usize>> {
    let mut forged = Vec::new();
    for (index, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(()) => {}
            Err(Error::Authentication) => forged.push(index),
            Err(error) => return Err(message_error(py, index, *error)),
        }
    }
    Ok(forged)
}

/// Processes messages into one buffer, with concatenated results; returns their total length in bytes. Forged messages give zeros.
pub(crate) fn process_into(
    py: Python<'_>,
    messages: &[BatchMessage<'_>],
    output: &mut OutputBuffer,
    threads: usize,
    direction: CipherDirection,
) -> PyResult<usize> {
    let outcomes = run_into(py, messages, output, threads, direction)?;
    // Before this error the buffer may hold copies of plaintext.
    let forged = forged(py, &outcomes).inspect_err(|_| output.wipe())?;
    if forged.is_empty() { Ok(output.bytes()) } else { Err(errors::invalid_tag(py, forged)) }
}

fn run_into(
    py: Python<'_>,
    messages: &[BatchMessage<'_>],
    output: &mut OutputBuffer,
    threads: usize,
    direction: CipherDirection,
) -> PyResult<Vec<Result<(), Error>>> {
    let result_lengths: Vec<_> = messages.iter().map(|message| message.result_bytes(direction)).collect();
    let bytes = result_lengths.iter().flatten().try_fold(0, |sum: usize, bytes| sum.checked_add(*bytes));
    if bytes != Some(output.bytes()) {
        let bytes = bytes.unwrap_or(usize::MAX);
        return Err(errors::usage(py, &format!("buffer must be {bytes} bytes long, and has {}", output.bytes())));
    }
    // Before anything wipes the buffer: a part of a message in it is the caller's.
    if let Some(index) = messages.iter().position(|message| message.parts().any(|part| output.overlaps(part))) {
        return Err(errors::usage(py, &format!("buf and message {index} overlap")));
    }
    if let Err(error) = check_messages(py, messages, direction) {
        output.wipe();
        return Err(error);
    }
    let done = {
        let mut spaces = output.spaces(result_lengths.iter().flatten().copied());
        let spaces = result_lengths.iter().map(|length| length.and_then(|_| spaces.next()));
        let mut tasks: Vec<AeadTask<'_>> =
            messages.iter().zip(spaces).map(|(message, space)| AeadTask::new(message, space)).collect();
        let done = run_tasks(py, &mut tasks, threads, direction);
        done.map(|()| tasks.into_iter().map(|task| task.outcome).collect())
    };
    if done.is_err() {
        // A signal interrupted the work.
        output.wipe();
    }
    done
}

/// Checks that every nonce has a valid length and fits the length of its message, and that no nonce repeats under one key.
fn check_messages(py: Python<'_>, messages: &[BatchMessage<'_>], direction: CipherDirection) -> PyResult<()> {
    for (index, message) in messages.iter().enumerate() {
        // A message that is shorter than its tag counts as forged, whatever its nonce is.
        if let Some(length) = message.result_bytes(direction) {
            let bytes = length.min(message.data.as_slice().len());
            let checked = message.key.get().check_lengths(message.nonce.as_slice(), bytes);
            checked.map_err(|error| message_error(py, index, error))?;
        }
    }
    if direction == CipherDirection::Encrypt {
        // Compares keys, not the addresses of objects: programs may create an object for each message.
        let key = |message: &BatchMessage<'_>| ptr::without_provenance::<PyAead>(message.key.get().key_id);
        let nonces = messages.iter().map(|message| NonceOfKey::new(key(message), message.nonce.as_slice()));
        let repeated = tress_lanes::repeated_nonce(nonces).map_err(|_| PyMemoryError::new_err(()))?;
        if let Some(index) = repeated {
            return Err(errors::usage(py, &format!("message {index} has the nonce of another message with its key")));
        }
    }
    Ok(())
}

/// The result of each message that has one, and each outcome.
type Results<'py> = (Vec<Option<NewBytes<'py>>>, Vec<Result<(), Error>>);

fn run<'py>(
    py: Python<'py>,
    messages: &[BatchMessage<'py>],
    threads: usize,
    direction: CipherDirection,
) -> PyResult<Results<'py>> {
    check_messages(py, messages, direction)?;
    let mut results = Vec::with_capacity(messages.len());
    NewBytes::prepare_heap(
        py,
        messages.iter().filter_map(|message| message.result_bytes(direction)).map(|bytes| bytes + OBJECT_BYTES).sum(),
    );
    for message in messages {
        results.push(message.result_bytes(direction).map(|bytes| NewBytes::new(py, bytes)).transpose()?);
    }
    let spaces = results.iter_mut().map(|result| result.as_mut().map(NewBytes::space));
    let mut tasks: Vec<AeadTask<'_>> =
        messages.iter().zip(spaces).map(|(message, space)| AeadTask::new(message, space)).collect();
    run_tasks(py, &mut tasks, threads, direction)?;
    let outcomes = tasks.into_iter().map(|task| task.outcome).collect();
    Ok((results, outcomes))
}

/// Runs all tasks on up to `threads` threads. A signal ends the work early.
fn run_tasks(py: Python<'_>, tasks: &mut [AeadTask<'_>], threads: usize, direction: CipherDirection) -> PyResult<()> {
    let bytes = tasks.iter().map(AeadTask::bytes).sum();
    let is_cancelled = AtomicBool::new(false);
    let work = || {
        Pool::shared().for_each_group(tasks, AeadTask::bytes, threads, |tasks| {
            if !is_cancelled.load(Ordering::Relaxed) {
                match direction {
                    CipherDirection::Encrypt => {
                        encrypt_group(tasks, AeadKey::as_ccm);
                        encrypt_group(tasks, AeadKey::as_chacha20poly1305);
                    }
                    CipherDirection::Decrypt => {
                        decrypt_group(tasks, AeadKey::as_ccm);
                        decrypt_group(tasks, AeadKey::as_chacha20poly1305);
                    }
                }
            }
        });
    };
    if bytes < WATCHED_BYTES {
        work::run_detached(py, bytes, work);
        return Ok(());
    }
    work::run_watched(py, || Ok(()), || is_cancelled.store(true, Ordering::Relaxed), work)
}

/// Encrypts the messages whose key `of` returns.
fn encrypt_group<A: Aead>(tasks: &mut [AeadTask<'_>], of: fn(&AeadKey) -> Option<&A>) {
    let mut jobs = Vec::with_capacity(number_of_jobs(tasks, of));
    for task in tasks {
        let Some(aead) = of(&task.key.key) else { continue };
        let Some(space) = task.space.take() else { continue };
        let (data, tag) = space.copy_of(task.data).split_at_mut(task.data.len());
        match aead.to_seal(task.nonce.into(), Aad(task.aad), data, tag.into()) {
            Ok(job) => jobs.push(job),
            Err(error) => task.outcome = Err(error),
        }
    }
    // `check_messages` has compared all nonces.
    A::seal_without_nonce_check(&mut jobs);
}

/// Decrypts the messages whose key `of` returns.
fn decrypt_group<A: Aead>(tasks: &mut [AeadTask<'_>], of: fn(&AeadKey) -> Option<&A>) {
    let count = number_of_jobs(tasks, of);
    let (mut jobs, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (place, task) in tasks.iter_mut().enumerate() {
        let Some(aead) = of(&task.key.key) else { continue };
        // A message that is shorter than its tag has no space.
        let Some(space) = task.space.take() else { continue };
        let (cipher_text, tag) = task.data.split_at(task.data.len() - task.key.tag_bytes);
        let job = Tag::new(tag, task.key.tag_bytes)
            .and_then(|tag| aead.to_open(task.nonce.into(), Aad(task.aad), space.copy_of(cipher_text), tag));
        match job {
            Ok(job) => {
                jobs.push(job);
                places.push(place);
            }
            Err(error) => task.outcome = Err(error),
        }
    }
    let _: Result<(), Forged> = A::open(&mut jobs);
    let outcomes: Vec<_> = jobs.iter().map(AeadJob::result).collect();
    drop(jobs);
    for (place, outcome) in places.into_iter().zip(outcomes) {
        tasks[place].outcome = outcome;
    }
}

fn number_of_jobs<A>(tasks: &[AeadTask<'_>], of: fn(&AeadKey) -> Option<&A>) -> usize {
    tasks.iter().filter(|task| of(&task.key.key).is_some()).count()
}
