//! Many messages at once: in the lanes of vector registers, and on several threads.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use tress_cipher::aes::Aes;
use tress_cipher::lanes::ccm::{self, Job};
use tress_lanes::Pool;

use crate::aead;
use crate::errors;
use crate::memory::{Fresh, Input, Output, Space};
use crate::work;

/// What a `bytes` object takes besides its bytes, at most.
const OBJECT_BYTES: usize = 64;
/// Calls on fewer bytes take less time than signals wait for.
const WATCHED_BYTES: usize = 64 << 20;

/// A tag by itself.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tag {
    bytes: [u8; 16],
    length: usize,
}

impl Tag {
    /// A tag of 16 bytes at most.
    pub(crate) fn new(tag: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..tag.len()].copy_from_slice(tag);
        Self { bytes, length: tag.len() }
    }
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Nonce, data and associated data.
pub(crate) struct Message<'py> {
    nonce: Input<'py>,
    data: Input<'py>,
    aad: Option<Input<'py>>,
}

impl<'py> Message<'py> {
    /// All messages of any iterable.
    pub(crate) fn all(messages: &Bound<'py, PyAny>) -> PyResult<Vec<Self>> {
        messages.try_iter()?.map(|message| Self::of(&message?)).collect()
    }

    fn of(message: &Bound<'py, PyAny>) -> PyResult<Self> {
        let wrong = || PyTypeError::new_err("a message must be a tuple (nonce, data, associated_data)");
        let tuple = message.cast::<PyTuple>().map_err(|_| wrong())?;
        if tuple.len() != 3 {
            return Err(wrong());
        }
        let aad = tuple.get_item(2)?;
        Ok(Self {
            nonce: Input::octets(&tuple.get_item(0)?, "a nonce")?,
            data: Input::of(&tuple.get_item(1)?)?,
            aad: (!aad.is_none()).then(|| Input::of(&aad)).transpose()?,
        })
    }
}

impl Message<'_> {
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        [Some(&self.nonce), Some(&self.data), self.aad.as_ref()].into_iter().flatten().map(Input::as_slice)
    }
}

/// A message, where its result goes, and how it ended.
struct Task<'a> {
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a [u8],
    /// For a forged message that has not even a tag, none.
    space: Option<Space<'a>>,
    outcome: Result<(), tress_cipher::Error>,
}

impl<'a> Task<'a> {
    fn new(message: &'a Message<'_>, space: Option<Space<'a>>) -> Self {
        let Message { nonce, data, aad } = message;
        Task {
            nonce: nonce.as_slice(),
            aad: aad.as_ref().map_or(&[], Input::as_slice),
            data: data.as_slice(),
            outcome: if space.is_some() { Ok(()) } else { Err(tress_cipher::Error::Authentication) },
            space,
        }
    }

    /// How much work it is.
    fn bytes(&self) -> usize {
        self.nonce.len() + self.aad.len() + self.data.len()
    }
}

/// What to do with a group of tasks.
type Run = fn(&Aes, usize, &mut [Task<'_>]);

pub(crate) fn encrypt<'py>(
    py: Python<'py>,
    cipher: &Aes,
    tag_bytes: usize,
    messages: &[Message<'py>],
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let room = |data: &[u8]| Some(data.len() + tag_bytes);
    let results = run(py, cipher, tag_bytes, messages, threads, room, encrypt_group)?;
    let results = results.into_iter().enumerate().map(|(index, (result, outcome))| match outcome {
        Ok(()) => Ok(result.map(Fresh::finish)),
        Err(error) => Err(wrong(py, index, error)),
    });
    PyList::new(py, results.collect::<PyResult<Vec<_>>>()?)
}

pub(crate) fn decrypt<'py>(
    py: Python<'py>,
    cipher: &Aes,
    tag_bytes: usize,
    messages: &[Message<'py>],
    threads: usize,
    is_strict: bool,
) -> PyResult<Bound<'py, PyList>> {
    let room = |data: &[u8]| data.len().checked_sub(tag_bytes);
    let results = run(py, cipher, tag_bytes, messages, threads, room, decrypt_group)?;
    let mut forged = Vec::new();
    let results = results.into_iter().enumerate().map(|(index, (result, outcome))| match outcome {
        Ok(()) => Ok(result.map(Fresh::finish)),
        Err(tress_cipher::Error::Authentication) => {
            forged.push(index);
            Ok(None)
        }
        Err(error) => Err(wrong(py, index, error)),
    });
    let results = results.collect::<PyResult<Vec<_>>>()?;
    if is_strict && !forged.is_empty() {
        return Err(errors::invalid_tag(py, forged));
    }
    PyList::new(py, results)
}

/// What is wrong with a message that no key could be right for.
fn wrong(py: Python<'_>, index: usize, error: tress_cipher::Error) -> PyErr {
    errors::usage(py, &format!("message {index}: {error}"))
}

/// Encrypts into one buffer, the results one behind the other; how many bytes they are.
pub(crate) fn encrypt_into(
    py: Python<'_>,
    cipher: &Aes,
    tag_bytes: usize,
    messages: &[Message<'_>],
    output: &mut Output,
    threads: usize,
) -> PyResult<usize> {
    let room = |data: &[u8]| Some(data.len() + tag_bytes);
    let outcomes = run_into(py, cipher, tag_bytes, messages, output, threads, room, encrypt_group)?;
    if let Some((index, error)) = outcomes.into_iter().enumerate().find_map(|(index, done)| Some((index, done.err()?)))
    {
        // It was not encrypted.
        output.wipe();
        return Err(wrong(py, index, error));
    }
    Ok(output.bytes())
}

/// Decrypts into one buffer. The places of forged messages are zeros.
pub(crate) fn decrypt_into(
    py: Python<'_>,
    cipher: &Aes,
    tag_bytes: usize,
    messages: &[Message<'_>],
    output: &mut Output,
    threads: usize,
) -> PyResult<usize> {
    let room = |data: &[u8]| data.len().checked_sub(tag_bytes);
    let outcomes = run_into(py, cipher, tag_bytes, messages, output, threads, room, decrypt_group)?;
    let mut forged = Vec::new();
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(()) => {}
            Err(tress_cipher::Error::Authentication) => forged.push(index),
            Err(error) => {
                output.wipe();
                return Err(wrong(py, index, error));
            }
        }
    }
    if forged.is_empty() { Ok(output.bytes()) } else { Err(errors::invalid_tag(py, forged)) }
}

#[allow(clippy::too_many_arguments)]
fn run_into(
    py: Python<'_>,
    cipher: &Aes,
    tag_bytes: usize,
    messages: &[Message<'_>],
    output: &mut Output,
    threads: usize,
    room: impl Fn(&[u8]) -> Option<usize>,
    group: Run,
) -> PyResult<Vec<Result<(), tress_cipher::Error>>> {
    let rooms: Vec<_> = messages.iter().map(|message| room(message.data.as_slice())).collect();
    let bytes = rooms.iter().flatten().try_fold(0, |sum: usize, bytes| sum.checked_add(*bytes));
    if bytes != Some(output.bytes()) {
        let bytes = bytes.unwrap_or(usize::MAX);
        return Err(errors::usage(py, &format!("buf has {} bytes, but the results have {bytes}", output.bytes())));
    }
    if let Err(error) = check(py, messages, &room) {
        output.wipe();
        return Err(error);
    }
    if let Some(index) = messages.iter().position(|message| message.parts().any(|part| output.overlaps(part))) {
        return Err(errors::usage(py, &format!("buf and message {index} overlap")));
    }
    let done = {
        let mut spaces = output.spaces(rooms.iter().flatten().copied());
        let spaces = rooms.iter().map(|room| room.and_then(|_| spaces.next()));
        let mut tasks: Vec<Task<'_>> =
            messages.iter().zip(spaces).map(|(message, space)| Task::new(message, space)).collect();
        let done = perform(py, cipher, tag_bytes, &mut tasks, threads, group);
        done.map(|()| tasks.into_iter().map(|task| task.outcome).collect())
    };
    if done.is_err() {
        // A signal ended it.
        output.wipe();
    }
    done
}

/// Whether all messages have nonces for their lengths, before any is copied. `room` is less than the data where that has a tag.
fn check(py: Python<'_>, messages: &[Message<'_>], room: impl Fn(&[u8]) -> Option<usize>) -> PyResult<()> {
    for (index, message) in messages.iter().enumerate() {
        let data = message.data.as_slice();
        // What is too short for a tag is forged, whatever its nonce is.
        if let Some(room) = room(data) {
            aead::check(message.nonce.as_slice(), room.min(data.len())).map_err(|error| wrong(py, index, error))?;
        }
    }
    Ok(())
}

type Outcome<'py> = (Option<Fresh<'py>>, Result<(), tress_cipher::Error>);

fn run<'py>(
    py: Python<'py>,
    cipher: &Aes,
    tag_bytes: usize,
    messages: &[Message<'py>],
    threads: usize,
    room: impl Fn(&[u8]) -> Option<usize>,
    group: Run,
) -> PyResult<Vec<Outcome<'py>>> {
    check(py, messages, &room)?;
    let mut results = Vec::with_capacity(messages.len());
    Fresh::expect(
        py,
        messages.iter().filter_map(|message| room(message.data.as_slice())).map(|bytes| bytes + OBJECT_BYTES).sum(),
    );
    for message in messages {
        results.push(room(message.data.as_slice()).map(|bytes| Fresh::new(py, bytes)).transpose()?);
    }
    let spaces = results.iter_mut().map(|result| result.as_mut().map(Fresh::space));
    let mut tasks: Vec<Task<'_>> =
        messages.iter().zip(spaces).map(|(message, space)| Task::new(message, space)).collect();
    perform(py, cipher, tag_bytes, &mut tasks, threads, group)?;
    let outcomes: Vec<_> = tasks.into_iter().map(|task| task.outcome).collect();
    Ok(results.into_iter().zip(outcomes).collect())
}

/// All tasks, on so many threads, or until a signal ends it.
fn perform(
    py: Python<'_>,
    cipher: &Aes,
    tag_bytes: usize,
    tasks: &mut [Task<'_>],
    threads: usize,
    group: Run,
) -> PyResult<()> {
    let bytes = tasks.iter().map(Task::bytes).sum();
    let is_cancelled = AtomicBool::new(false);
    let work = || {
        Pool::shared().for_each_group(tasks, Task::bytes, threads, |tasks| {
            if !is_cancelled.load(Ordering::Relaxed) {
                group(cipher, tag_bytes, tasks);
            }
        });
    };
    if bytes < WATCHED_BYTES {
        work::detached(py, bytes, work);
        return Ok(());
    }
    work::watched(py, || Ok(()), || is_cancelled.store(true, Ordering::Relaxed), work)
}

fn encrypt_group(cipher: &Aes, _: usize, tasks: &mut [Task<'_>]) {
    let mut jobs = Vec::with_capacity(tasks.len());
    for task in tasks {
        let Some(space) = task.space.take() else { continue };
        let (data, tag) = space.copy_of(task.data).split_at_mut(task.data.len());
        match Job::new(cipher, task.nonce, task.aad, data, tag) {
            Ok(job) => jobs.push(job),
            Err(error) => task.outcome = Err(error),
        }
    }
    ccm::encrypt(&mut jobs);
}

fn decrypt_group(cipher: &Aes, tag_bytes: usize, tasks: &mut [Task<'_>]) {
    // One that is too short for a tag has no space either.
    let tag = |task: &Task<'_>| task.data.len().checked_sub(tag_bytes).map(|start| Tag::new(&task.data[start..]));
    let mut tags: Vec<Tag> = tasks.iter().map(|task| tag(task).unwrap_or_default()).collect();
    let mut jobs = Vec::with_capacity(tasks.len());
    let mut places = Vec::with_capacity(tasks.len());
    for (place, (task, tag)) in tasks.iter_mut().zip(&mut tags).enumerate() {
        let Some(space) = task.space.take() else { continue };
        match Job::new(cipher, task.nonce, task.aad, space.copy_of(task.data), &mut tag.bytes[..tag.length]) {
            Ok(job) => {
                jobs.push(job);
                places.push(place);
            }
            Err(error) => task.outcome = Err(error),
        }
    }
    let _ = ccm::decrypt(&mut jobs);
    let outcomes: Vec<_> = jobs.iter().map(Job::result).collect();
    drop(jobs);
    for (place, outcome) in places.into_iter().zip(outcomes) {
        tasks[place].outcome = outcome;
    }
}
