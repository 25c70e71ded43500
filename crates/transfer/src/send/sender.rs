//! `send`: sends files to a receiver, over a control connection and data connections.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Instant;

use crate::send::buffers::{BufferQueues, StageMode};
use crate::send::dial::{Admitted, open};
use crate::send::files::Run;
use crate::send::ledger::Ledger;
use crate::send::options::{SendEvent, SendOptions, SendReport, Synchronisation};
use crate::send::packs::Packs;
use crate::send::queue::SendQueue;
use crate::send::rate::RateLimit;
use crate::send::session::SendSession;
use crate::send::source::is_folder;
use crate::send::steering::{AdaptivePlanner, PlanBounds};
use crate::send::trace::{ChromeTrace, TraceRow};
use crate::send::walk::{Walk, WalkItem, base_name};
use crate::send::worker;
use crate::send::writer::Writer;
use crate::wire::batch::BATCH_PLAIN_BYTES;
use crate::wire::limits::{PING_INTERVAL, STREAM_BUFFERS};
use crate::wire::link::{Network, TICK, Tcp, Timeouts};
use crate::wire::message::{MAX_STREAMS, Reply, Request};
use crate::wire::names::components;
use crate::wire::noise::{self, Incoming};
use tress_container::commands::Source;
use tress_container::format::LAYOUT;
use tress_container::keys::KeyPair;
use tress_container::source::OpenSource;
use tress_container::sys::{Os, System};
use tress_container::threads::start;
use tress_container::workers::{OnDrop, lock};
use tress_container::{Control, Error, ErrorKind, Threads};

/// Largest file that `sequential` seals before sending, in bytes.
const SEQUENTIAL_MAX_BYTES: u64 = 1 << 30;
/// Chunks of the largest stage that a caller can choose: 16 MiB.
const MAX_STAGE_CHUNKS: u64 = 1024;

/// Sends files and folders. What the receiver already has is not sent again: small files, and chunks of large ones.
///
/// A file that is missing, cannot be read, changes while it is read, or is refused by the receiver does not stop the others. The first such
/// error is returned when they are done. Symbolic links that stay inside a folder are sent, with `keep_sealed` they are skipped.
///
/// # Errors
/// `WrongPeer`, `PeerVersion`, `Refused`, `Stalled`, `Disconnected` and `Protocol` of the connection; `InputChanged`, `BadName` and
/// `Io` of an input; `Interrupted`; `Usage` for invalid options; `BadIdentity` for a key pair without a Noise key.
pub fn send(inputs: &[Source], pair: &KeyPair, options: &SendOptions, control: &Control) -> Result<SendReport, Error> {
    send_with_events(inputs, pair, options, &|_| {}, control)
}

/// Like [`send`], and reports what is not sent as soon as that is known.
///
/// # Errors
/// Those of [`send`].
pub fn send_with_events(
    inputs: &[Source],
    pair: &KeyPair,
    options: &SendOptions,
    on_event: &(dyn Fn(&SendEvent<'_>) + Sync),
    control: &Control,
) -> Result<SendReport, Error> {
    static OS: Os = Os;
    send_reporting(&OS, &Tcp, inputs, pair, options, on_event, control)
}

/// A file that would be sent and its size in bytes, or why it would not.
pub type WouldSend<'a> = Result<(&'a Path, u64), Error>;

/// Calls `each` with the path and size of each file that [`send`] would offer, or with the error of one, and connects to nobody: the
/// receiver may have some of them. The size of a stream that is no file is 0. Does not see which links would be refused.
///
/// # Errors
/// Those of invalid options, and of a name that no receiver takes.
pub fn list(inputs: &[Source], options: &SendOptions, each: &mut dyn FnMut(WouldSend<'_>)) -> Result<(), Error> {
    for source in inputs {
        match check(&Os, source, options) {
            Err(error) if matches!(error.kind, ErrorKind::Io(_)) => each(Err(error)),
            Err(error) => return Err(error),
            Ok((bytes, _)) => match source {
                Source::Path(path) if is_folder(&Os, source)? => {
                    for item in Walk::new(&Os, path, base_name(&Os, path)?, &options.exclude)?.0 {
                        match item {
                            Ok(WalkItem::File { path, size_bytes, .. }) => each(Ok((&path, size_bytes))),
                            Ok(WalkItem::Folder { .. } | WalkItem::Link { .. }) => {}
                            Err(error) => each(Err(error)),
                        }
                    }
                }
                Source::Path(path) => each(Ok((path, bytes))),
                Source::Stdin => {
                    let bytes = OpenSource::open(&Os, source)?.seekable_bytes().unwrap_or_default();
                    each(Ok((Path::new(&options.stdin_name), bytes)));
                }
            },
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) fn send_on(
    system: &'static dyn System,
    network: &dyn Network,
    inputs: &[Source],
    pair: &KeyPair,
    options: &SendOptions,
    control: &Control,
) -> Result<SendReport, Error> {
    send_reporting(system, network, inputs, pair, options, &|_| {}, control)
}

fn send_reporting(
    system: &'static dyn System,
    network: &dyn Network,
    inputs: &[Source],
    pair: &KeyPair,
    options: &SendOptions,
    on_event: &(dyn Fn(&SendEvent<'_>) + Sync),
    control: &Control,
) -> Result<SendReport, Error> {
    let started = Instant::now();
    if options.stage_bytes.is_some_and(|bytes| !(1..=LAYOUT.plain_offset(MAX_STAGE_CHUNKS)).contains(&bytes)) {
        return Err(Error::new(ErrorKind::Usage).with_detail("the stage must have 1 byte to 16 MiB"));
    }
    if options.rate_bytes_per_s == Some(0) || options.compute_bytes_per_s == Some(0) {
        return Err(Error::new(ErrorKind::Usage).with_detail("a rate must be above 0"));
    }
    let secret = noise::noise_key(pair)?;
    let (mut total_bytes, mut total_files) = (0_u64, 0);
    let mut unreadable = Vec::new();
    for source in inputs {
        match check(system, source, options) {
            Ok((bytes, files)) => {
                (total_bytes, total_files) = (total_bytes.saturating_add(bytes), total_files + files);
            }
            // The others are sent, and the error comes again.
            Err(error) if matches!(error.kind, ErrorKind::Io(_)) && unreadable.len() + 1 < inputs.len() => {
                unreadable.push(error);
            }
            Err(error) => {
                unreadable.iter().for_each(|error| on_event(&SendEvent::Failed { error }));
                return Err(error);
            }
        }
    }
    control.set_total_files(total_files);
    // The length of standard input is unknown.
    if !inputs.iter().any(|source| matches!(source, Source::Stdin)) {
        control.set_total(total_bytes);
    }
    let trace = match &options.trace {
        Some(path) => ChromeTrace::create(system, path, options.replace_trace)?,
        None => ChromeTrace::none(),
    };
    let streams = usize::from(options.streams).clamp(1, MAX_STREAMS);
    let opened = open(network, options, &secret, streams, control);
    if opened.is_err() {
        unreadable.iter().for_each(|error| on_event(&SendEvent::Failed { error }));
    }
    let Admitted { incoming, out, ticket, streams, to } = opened?;
    let session = SendSession {
        system,
        network,
        options,
        on_event,
        control,
        secret,
        receiver: *options.receiver.noise_public_key(),
        to,
        ticket,
        stall_time: options.stall_time,
        out: Mutex::new(out),
        ledger: Ledger::default(),
        queue: SendQueue::new(streams),
        packs: Packs::default(),
        rate: options.rate_bytes_per_s.map(RateLimit::new),
        trace,
        planner: AdaptivePlanner::new(plan_bounds(options, streams)),
        reading: Arc::new(Control::new()),
        takes_refusals: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        state: Mutex::default(),
        starting: Mutex::default(),
        changed: Condvar::new(),
    };
    let outcome = session.run(incoming, inputs, streams);
    lock(&session.out).link().close();
    let traced = session.trace.finish();
    let mut report = outcome?;
    traced?;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Checks before the transfer that an input exists and has a valid name. Returns its size in bytes and its number of files.
fn check(system: &dyn System, source: &Source, options: &SendOptions) -> Result<(u64, u64), Error> {
    let Source::Path(path) = source else {
        let name = options.stdin_name.as_bytes();
        let bad = |reason| Error::new(ErrorKind::BadName).with_detail(reason).at(&options.stdin_name);
        return components(name).map(|_| (0, 1)).map_err(bad);
    };
    if options.sequential && is_folder(system, source)? {
        return Err(Error::new(ErrorKind::Usage).with_detail("sequential sending accepts files, not folders").at(path));
    }
    let name = base_name(system, path)?;
    if is_folder(system, source)? {
        // Only lists names: errors are reported when the entry is sent.
        let (walk, _) = Walk::new(system, path, name, &options.exclude)?;
        let sizes = walk.flatten().filter_map(|item| match item {
            WalkItem::File { size_bytes, .. } => Some(size_bytes),
            _ => None,
        });
        return Ok(sizes.fold((0, 0), |(bytes, files): (u64, _), size| (bytes.saturating_add(size), files + 1)));
    }
    let size_bytes = system.status_of(path).map_err(|error| Error::from(error).at(path))?.size_bytes;
    if options.sequential && size_bytes > SEQUENTIAL_MAX_BYTES {
        return Err(Error::new(ErrorKind::MessageTooLong)
            .with_detail("sequential sending accepts at most 1 GiB")
            .at(path));
    }
    Ok((size_bytes, 1))
}

fn mode(options: &SendOptions) -> StageMode {
    match (options.sequential, options.synchronisation) {
        (true, _) => StageMode::Sequential,
        (false, Synchronisation::Barrier) => StageMode::Barrier,
        (false, Synchronisation::Counter) => StageMode::Counter,
    }
}

/// The bounds that these options set for a plan.
fn plan_bounds(options: &SendOptions, links: usize) -> PlanBounds {
    let mode = mode(options);
    // No more than there are buffers for.
    let max_workers = options.threads.count().min(links * STREAM_BUFFERS);
    // In sequential mode nothing is planned, and there are buffers for full batches.
    let full = Some(BATCH_PLAIN_BYTES).filter(|_| mode == StageMode::Sequential);
    let stage_bytes = full.or(options.stage_bytes);
    PlanBounds {
        max_workers,
        is_worker_count_fixed: options.threads != Threads::All || mode == StageMode::Sequential,
        stage_chunks: stage_bytes.map(|bytes| bytes.div_ceil(LAYOUT.chunk_bytes() as u64)),
        links,
        is_throttled: options.compute_bytes_per_s.is_some(),
    }
}

impl SendSession<'_> {
    fn run(&self, mut incoming: Incoming, inputs: &[Source], streams: usize) -> Result<SendReport, Error> {
        let mode = mode(self.options);
        let buffers = match mode {
            StageMode::Sequential => {
                (SEQUENTIAL_MAX_BYTES / BATCH_PLAIN_BYTES + 1).div_ceil(streams as u64) as usize + 1
            }
            // For the stage that is being sealed and the one that is being written.
            StageMode::Barrier => STREAM_BUFFERS.max((2 * self.planner.stage_batches()).div_ceil(streams)),
            StageMode::Counter => STREAM_BUFFERS,
        };
        let workers = self.planner.workers();
        let queues = BufferQueues::new(mode, streams, buffers);
        let numbers = AtomicU16::new(0);
        let rows = (0..workers).map(TraceRow::Worker).chain((0..streams).map(TraceRow::Link));
        self.trace.rows(std::iter::once(TraceRow::Session).chain(rows));
        let result = thread::scope(|scope| {
            let _end = OnDrop(|| {
                self.stop();
                queues.end(workers);
            });
            let started = self
                .start(scope, || self.read_replies(&mut incoming))
                .and_then(|()| self.start_others(scope, &queues, &numbers, workers, streams));
            let mut run = Run::default();
            let result = started.and_then(|()| self.send_all(inputs, scope, &mut run));
            // The session may have ended for another reason than this thread saw. From here on an error means that the receiver has closed.
            let failure = lock(&self.state).failure.take();
            let result = match failure.or(result.err()) {
                Some(error) => {
                    run.first.iter().for_each(|first| (self.on_event)(&SendEvent::Failed { error: first }));
                    Err(error)
                }
                None => run.result(),
            };
            // Even if the receiver refused some files.
            if self.stopped().is_none() {
                self.request(&Request::Bye);
                self.await_hangup();
            }
            result
        });
        if self.control.is_cancelled() {
            // The error of a file is not lost.
            if let Err(error) = &result
                && error.kind != ErrorKind::Interrupted
            {
                (self.on_event)(&SendEvent::Failed { error });
            }
            return Err(Error::new(ErrorKind::Interrupted));
        }
        result
    }

    /// Starts a session's threads except the one that reads replies. If the system refuses some, the session runs with fewer.
    fn start_others<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        queues: &'scope BufferQueues,
        numbers: &'scope AtomicU16,
        workers: usize,
        streams: usize,
    ) -> Result<(), Error> {
        let write = |index| self.start(scope, move || Writer { session: self, queues, index, numbers }.run());
        let await_start = || drop(lock(&self.starting));
        let work = |index| {
            self.start(scope, move || {
                await_start();
                worker::run(queues, self, index);
            })
        };
        let starting = lock(&self.starting);
        self.start(scope, || self.keep_alive())?;
        if queues.mode() == StageMode::Barrier {
            self.start(scope, move || {
                await_start();
                worker::lead(queues, self);
            })?;
        }
        write(0)?;
        work(0)?;
        for index in 1..streams {
            if write(index).is_err() {
                self.queue.mark_dead(index);
            }
        }
        drop(starting);
        // If the system refuses one, it will refuse the rest.
        let _ = (1..workers).try_for_each(work);
        Ok(())
    }

    /// Starts a thread of this session. If it panics, the session ends, so that no other thread waits for it.
    pub(super) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() + Send + 'scope,
    ) -> Result<(), Error> {
        let guarded = move || {
            let stop_on_panic = OnDrop(|| self.stop());
            work();
            std::mem::forget(stop_on_panic);
        };
        start(scope, guarded).map(drop)
    }

    /// Reads replies until the session ends.
    fn read_replies(&self, incoming: &mut Incoming) {
        let stop = || self.stopped();
        loop {
            let reply = match incoming.read(&Timeouts::idle(self.stall_time, &stop)) {
                Ok(Some(message)) => Reply::parse(&message).map_err(|_| Error::new(ErrorKind::Protocol)),
                Ok(None) => Err(Error::new(ErrorKind::Disconnected)),
                Err(error) => Err(error),
            };
            if self.stopped().is_some() {
                return;
            }
            if let Err(error) = reply.and_then(|reply| self.handle_reply(reply)) {
                self.fail(error.at(&self.options.to));
                return;
            }
        }
    }

    fn handle_reply(&self, reply: Reply) -> Result<(), Error> {
        match reply {
            Reply::Progress { synced_chunks, streams, .. } => self.ledger.progress(synced_chunks, &streams),
            Reply::Drained { stream, batches } => {
                let again = self.ledger.drained(stream, batches)?;
                self.control.take_back(self.queue.send_again(again)?);
                Ok(())
            }
            Reply::Refused { reason } if !self.takes_refusals.load(Ordering::Acquire) => {
                Err(Error::new(ErrorKind::Refused(reason)))
            }
            Reply::Statuses { list, statuses } => {
                self.ledger.has_moved();
                self.handle_statuses(list, &statuses)
            }
            Reply::Admitted { .. } | Reply::Joined => Err(Error::new(ErrorKind::Protocol)),
            answer => self.ledger.answer(answer),
        }
    }

    /// Sends pings, updates the plan when rates drift, and ends the session when it is cancelled.
    fn keep_alive(&self) {
        let mut asked = Instant::now();
        while self.stopped().is_none() {
            let state = lock(&self.state);
            drop(self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner));
            if self.stopped().is_none() && asked.elapsed() >= PING_INTERVAL {
                asked = Instant::now();
                self.request(&Request::Ping);
            }
            // In sequential mode nothing overlaps, so there is nothing to plan.
            if !self.options.sequential
                && let Some(bytes_left) = self.queue.bytes_left()
                && let Some((costs, plan)) = self.planner.update(bytes_left, Instant::now())
            {
                self.trace.plan(bytes_left, &costs, &plan, &self.planner);
                self.queue.plan_changed();
            }
        }
        self.stop();
    }
}
