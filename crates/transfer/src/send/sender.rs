//! `send`: sends files to a receiver, over a control connection and data connections.

use crate::wire::batch::plain_bytes;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::send::dial::{Admitted, connect, open, pause_until};
use crate::send::ledger::Ledger;
use crate::send::opened::OpenInput;
use crate::send::options::{SendEvent, SendOptions, SendReport, Synchronisation};
use crate::send::outgoing::{SendQueue, Writer};
use crate::send::rate::RateLimit;
use crate::send::source::{FileSource, is_folder};
use crate::send::stages::{BufferQueues, StageMode};
use crate::send::steering::{AdaptivePlanner, PlanBounds};
use crate::send::trace::{ChromeTrace, TraceRow};
use crate::send::walk::{Walk, WalkItem, base_name};
use crate::wire::batch::BATCH_PLAIN_BYTES;
use crate::wire::limits::END_TIME;
use crate::wire::limits::{HANDSHAKE_TIME, PING_INTERVAL, STREAM_BUFFERS};
use crate::wire::link::{Link, Network, TICK, Tcp, Timeouts};
use crate::wire::message::{MAX_STREAMS, Reply, Request};
use crate::wire::names::{components, sealed_name};
use crate::wire::noise::{self, Incoming, NoisePublicKey, Outgoing};
use crate::wire::ticket::Ticket;
use tress_container::commands::Source;
use tress_container::format::LAYOUT;
use tress_container::keys::KeyPair;
use tress_container::sys::{Os, System};
use tress_container::threads::start;
use tress_container::tree::shown_path;
use tress_container::workers::{OnDrop, lock};
use tress_container::{Control, Error, ErrorKind, Refusal, Threads};

/// Largest file that `sequential` seals before sending, in bytes.
const SEQUENTIAL_MAX_BYTES: u64 = 1 << 30;
/// A sender waits this many stall times for progress towards an answer: the receiver may first have to sync much data.
const ANSWER_STALLS: u32 = 10;
/// Chunks of the largest stage that a caller can choose: 16 MiB.
const MAX_STAGE_CHUNKS: u64 = 1024;

/// Sends files and folders. Each file is a separate transfer: chunks that the receiver already has are not sent again.
///
/// A file that cannot be read, changes while it is read, or is refused by the receiver does not stop the others. The first such
/// error is returned when they are done. Symbolic links inside a folder are skipped.
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
    let mut total_bytes = 0;
    for source in inputs {
        total_bytes += check(system, source, options)?;
    }
    // The length of standard input is unknown.
    if !inputs.iter().any(|source| matches!(source, Source::Stdin)) {
        control.set_total(total_bytes);
    }
    let trace = match &options.trace {
        Some(path) => ChromeTrace::create(system, path, options.replace_trace)?,
        None => ChromeTrace::none(),
    };
    let streams = usize::from(options.streams).clamp(1, MAX_STREAMS);
    let Admitted { incoming, out, ticket, streams } = open(network, options, &secret, streams, control)?;
    let session = SendSession {
        system,
        network,
        options,
        on_event,
        control,
        secret,
        receiver: *options.receiver.noise_public_key(),
        ticket,
        stall_time: options.stall_time,
        out: Mutex::new(out),
        ledger: Ledger::default(),
        queue: SendQueue::new(streams),
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

/// Checks before the transfer that an input exists and has a valid name. Returns its size in bytes.
fn check(system: &dyn System, source: &Source, options: &SendOptions) -> Result<u64, Error> {
    let Source::Path(path) = source else {
        let name = options.stdin_name.as_bytes();
        let bad = |reason| Error::new(ErrorKind::BadName).with_detail(reason).at(&options.stdin_name);
        return components(name).map(|_| 0).map_err(bad);
    };
    if options.sequential && is_folder(system, source)? {
        return Err(Error::new(ErrorKind::Usage).with_detail("sequential sending accepts files, not folders").at(path));
    }
    let name = base_name(system, path)?;
    if is_folder(system, source)? {
        // Only lists names: errors are reported when the entry is sent.
        let (walk, _) = Walk::new(system, path, name)?;
        let sizes =
            walk.flatten().map(|item| if let WalkItem::File { size_bytes, .. } = item { size_bytes } else { 0 });
        return Ok(sizes.fold(0, u64::saturating_add));
    }
    let size_bytes = system.status_of(path).map_err(|error| Error::from(error).at(path))?.size_bytes;
    if options.sequential && size_bytes > SEQUENTIAL_MAX_BYTES {
        return Err(Error::new(ErrorKind::MessageTooLong)
            .with_detail("sequential sending accepts at most 1 GiB")
            .at(path));
    }
    Ok(size_bytes)
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
    let stage_chunks = full.or(options.stage_bytes);
    PlanBounds {
        max_workers,
        is_worker_count_fixed: options.threads != Threads::All || mode == StageMode::Sequential,
        stage_chunks: stage_chunks.map(|bytes| bytes.div_ceil(LAYOUT.chunk_bytes() as u64)),
        links,
        is_throttled: options.compute_bytes_per_s.is_some(),
    }
}

/// A session at the sender, shared by its threads.
pub(crate) struct SendSession<'a> {
    system: &'static dyn System,
    network: &'a dyn Network,
    pub(crate) options: &'a SendOptions,
    on_event: &'a (dyn Fn(&SendEvent<'_>) + Sync),
    pub(crate) control: &'a Control,
    secret: Zeroizing<[u8; 32]>,
    receiver: NoisePublicKey,
    ticket: Ticket,
    pub(crate) stall_time: Duration,
    out: Mutex<Outgoing>,
    pub(crate) ledger: Ledger,
    pub(crate) queue: SendQueue,
    pub(crate) rate: Option<RateLimit>,
    pub(crate) trace: ChromeTrace,
    pub(crate) planner: AdaptivePlanner,
    /// Cancelled when the session ends, to end a wait for a stream.
    reading: Arc<Control>,
    /// Whether a request awaits its answer. A refusal at any other time ends the session.
    takes_refusals: AtomicBool,
    is_over: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    /// Held until every connection has a thread or is marked as dead. Workers wait for it, so that they do not seal for a dead one.
    starting: Mutex<()>,
}

#[derive(Default)]
struct State {
    failure: Option<Error>,
    /// Error of the data connection that was lost last.
    loss: Option<Error>,
}

impl SendSession<'_> {
    /// Returns the error that ends every wait, once the session has ended or was cancelled.
    pub(crate) fn stopped(&self) -> Option<Error> {
        let is_over = self.is_over.load(Ordering::Acquire) || self.control.is_cancelled();
        is_over.then(|| Error::new(ErrorKind::Interrupted))
    }

    /// Ends the session. The first error is kept.
    pub(crate) fn fail(&self, error: Error) {
        lock(&self.state).failure.get_or_insert(error);
        self.stop();
    }

    fn stop(&self) {
        self.is_over.store(true, Ordering::Release);
        self.reading.cancel();
        self.ledger.wake();
        self.queue.wake();
        self.changed.notify_all();
    }

    /// Records why a data connection was lost, for [`fail_by_loss`](Self::fail_by_loss).
    pub(crate) fn record_loss(&self, error: Error) {
        lock(&self.state).loss = Some(error);
    }

    pub(crate) fn fail_by_loss(&self) {
        let loss = lock(&self.state).loss.take();
        self.fail(loss.unwrap_or_else(|| Error::new(ErrorKind::Disconnected)));
    }

    /// Sleeps until this time, or until the session ends.
    pub(crate) fn pause_until(&self, until: Instant) {
        pause_until(until, &|| self.stopped());
    }

    /// Waits up to two seconds until the receiver has read everything and closed. Closing a connection with unread bytes may lose the last
    /// bytes that were written to it.
    fn await_hangup(&self) {
        let until = Instant::now() + END_TIME;
        let mut state = lock(&self.state);
        while self.stopped().is_none()
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            state = self.changed.wait_timeout(state, left.min(TICK)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends a request on the control connection. A failure ends the session.
    pub(crate) fn request(&self, request: &Request) {
        let stop = || self.stopped();
        let written = lock(&self.out).write(&request.encode(), &Timeouts::idle(self.stall_time, &stop));
        if let Err(error) = written
            && self.stopped().is_none()
        {
            self.fail(error.at(&self.options.to));
        }
    }

    /// Opens the data connection with this number.
    pub(crate) fn join(&self, stream: u16) -> Result<Outgoing, Error> {
        let stop = || self.stopped();
        let link: Arc<dyn Link> = connect(self.network, &self.options.to, &stop)?.into();
        let (mut incoming, mut out) = noise::initiate(link, &self.secret, &self.receiver, HANDSHAKE_TIME, &stop)
            .map_err(|error| error.at(&self.options.to))?;
        let timeouts = Timeouts::idle(HANDSHAKE_TIME, &stop);
        out.write(&Request::Join { ticket: self.ticket.clone(), stream }.encode(), &timeouts)?;
        let message = incoming.read(&timeouts)?.ok_or_else(|| Error::new(ErrorKind::Disconnected))?;
        match Reply::parse(&message) {
            Ok(Reply::Joined) => Ok(out),
            Ok(Reply::Refused { reason }) => Err(Error::new(ErrorKind::Refused(reason))),
            _ => Err(Error::new(ErrorKind::Protocol)),
        }
        .map_err(|error| error.at(&self.options.to))
    }

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
            let result = started.and_then(|()| self.send_all(inputs));
            // The session may have ended for another reason than this thread saw. From here on an error means that the receiver has closed.
            let result = match (result, lock(&self.state).failure.take()) {
                (Err(_), Some(failure)) => Err(failure),
                (result, _) => result,
            };
            // Even if the receiver refused some files.
            if self.stopped().is_none() {
                self.request(&Request::Bye);
                self.await_hangup();
            }
            result
        });
        if self.control.is_cancelled() {
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
                queues.run_worker(self, index);
            })
        };
        let starting = lock(&self.starting);
        self.start(scope, || self.keep_alive())?;
        if queues.mode() == StageMode::Barrier {
            self.start(scope, move || {
                await_start();
                queues.run_leader(self);
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
    fn start<'scope>(
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
            }
        }
        self.stop();
    }

    fn send_all(&self, inputs: &[Source]) -> Result<SendReport, Error> {
        let mut report = SendReport::default();
        let mut first = None;
        let mut count = 0_u64;
        for source in inputs {
            match self.walk(source) {
                Ok(Some((walk, top))) => {
                    for item in std::iter::once(Ok(top)).chain(walk) {
                        let sent = item.and_then(|item| self.send_item(item, &mut report));
                        self.keep_first(sent, &mut first, &mut count)?;
                    }
                }
                Ok(None) => {
                    let name = match source {
                        Source::Path(path) => base_name(self.system, path),
                        Source::Stdin => Ok(self.options.stdin_name.as_bytes().to_vec()),
                    };
                    let opened = name.and_then(|name| Ok((OpenInput::open(self.system, source)?, name)));
                    let sent = opened.and_then(|(opened, name)| self.send_file(opened, &name, &mut report));
                    let status = || self.system.status_of(source.path()?).ok();
                    let sent = sent.inspect_err(|_| self.lower_total(status().map_or(0, |status| status.size_bytes)));
                    self.keep_first(sent, &mut first, &mut count)?;
                }
                Err(error) => self.keep_first(Err(error), &mut first, &mut count)?,
            }
        }
        match first {
            None => Ok(report),
            Some(error) if count == 1 => Err(error),
            Some(error) => Err(error.with_more(count - 1)),
        }
    }

    /// For a folder: the walk, and the item of the folder itself.
    fn walk(&self, source: &Source) -> Result<Option<(Walk<'_>, WalkItem)>, Error> {
        match source {
            Source::Path(path) if is_folder(self.system, source)? => {
                Walk::new(self.system, path, base_name(self.system, path)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Keeps the first error of a file for the end of the run. An error of the session is returned immediately.
    fn keep_first(&self, sent: Result<(), Error>, first: &mut Option<Error>, count: &mut u64) -> Result<(), Error> {
        let Err(error) = sent else { return Ok(()) };
        if self.stopped().is_some() {
            return Err(error);
        }
        *count += 1;
        if first.is_some() {
            (self.on_event)(&SendEvent::Failed { error: &error });
        }
        first.get_or_insert(error);
        Ok(())
    }

    fn send_item(&self, item: WalkItem, report: &mut SendReport) -> Result<(), Error> {
        match item {
            WalkItem::File { folder, entry, path, name, size_bytes } => {
                let opened = OpenInput::in_folder(self.system, &folder, &entry, path);
                opened
                    .and_then(|opened| self.send_file(opened, &name, report))
                    .inspect_err(|_| self.lower_total(size_bytes))
            }
            WalkItem::Link { path } => {
                report.skipped += 1;
                (self.on_event)(&SendEvent::Skipped { link: &path });
                Ok(())
            }
            WalkItem::Folder { name } => match self.ask(&Request::Folder { path: name.clone() }, &name)? {
                Reply::FolderReady => Ok(()),
                _ => Err(self.protocol_error()),
            },
        }
    }

    /// Sends a request and waits for the answer. A refusal is an error about `name`.
    fn ask(&self, request: &Request, name: &[u8]) -> Result<Reply, Error> {
        self.takes_refusals.store(true, Ordering::Release);
        self.request(request);
        let answer = self.wait_answer();
        self.takes_refusals.store(false, Ordering::Release);
        match answer? {
            Reply::Refused { reason } => {
                let error = Error::new(ErrorKind::Refused(reason)).at(shown_path(name));
                // The receiver may accept other files.
                let is_about_the_file = matches!(
                    reason,
                    Refusal::Name | Refusal::Exists | Refusal::OtherVersion | Refusal::TooMany | Refusal::Quota
                );
                if !is_about_the_file {
                    self.stop();
                }
                Err(error)
            }
            answer => Ok(answer),
        }
    }

    /// Waits for the answer to a request. The receiver may have much to sync, but it has to make progress; pings alone are not enough.
    fn wait_answer(&self) -> Result<Reply, Error> {
        let since = Instant::now();
        loop {
            if let Some(answer) = self.ledger.wait_answer(TICK) {
                return Ok(answer);
            }
            if let Some(error) = self.stopped() {
                return Err(error);
            }
            if self.ledger.idle_since(since) > self.stall_time.saturating_mul(ANSWER_STALLS) {
                self.stop();
                return Err(Error::new(ErrorKind::Stalled).at(&self.options.to));
            }
        }
    }

    fn protocol_error(&self) -> Error {
        let error = Error::new(ErrorKind::Protocol).at(&self.options.to);
        self.stop();
        error
    }

    fn send_file(&self, opened: OpenInput, name: &[u8], report: &mut SendReport) -> Result<(), Error> {
        let since = Instant::now();
        let sent = if self.options.keep_sealed {
            let recipient = self.options.receiver.recipient();
            let (source, is_new) = FileSource::sealed(opened, recipient, &self.reading)?;
            let name = if is_new { sealed_name(name) } else { name.to_vec() };
            self.send_source(&Arc::new(source), &name, report)
        } else {
            self.send_source(&Arc::new(FileSource::new(opened, &self.reading)), name, report)
        };
        self.trace.slice(TraceRow::Session, "file", since, None);
        sent
    }

    fn send_source(&self, source: &Arc<FileSource>, name: &[u8], report: &mut SendReport) -> Result<(), Error> {
        static FILES: AtomicU64 = AtomicU64::new(1);
        let file = FILES.fetch_add(1, Ordering::Relaxed) as u32;
        let size_bytes = source.size_bytes();
        if size_bytes.is_some_and(|bytes| LAYOUT.checked_chunks(bytes).is_err()) {
            return Err(Error::new(ErrorKind::TooManyChunks).at(source.name()));
        }
        let (identity, path, restart) = (source.identity()?, name.to_vec(), self.options.restart);
        let held = match self.ask(&Request::Offer { file, size_bytes, restart, identity, path }, name)? {
            Reply::Resume { file: answered, held } if answered == file => held,
            Reply::Complete { file: answered } if answered == file => {
                report.files += 1;
                report.complete_before += 1;
                self.control.add_held(size_bytes.unwrap_or(0));
                return Ok(());
            }
            _ => return Err(self.protocol_error()),
        };
        let all = size_bytes.map_or(0, |bytes| LAYOUT.chunks(bytes));
        if held.last().is_some_and(|range| range.end > all) {
            return Err(self.protocol_error());
        }
        let mut have = crate::wire::ranges::Ranges::new();
        held.into_iter().for_each(|range| have.insert(range));
        let todo = have.gaps(all);
        let held_bytes = plain_bytes(size_bytes.unwrap_or(0), have.count());
        self.control.add_held(held_bytes);
        self.queue.begin(file, source.clone(), todo);
        let sent = self.finish(file, source);
        let written_bytes = self.queue.end();
        if sent.is_err() && self.stopped().is_none() {
            // The receiver must not wait for the rest of this file. The other files are still sent.
            self.request(&Request::Abandon { file });
            self.control.take_back(held_bytes + written_bytes);
        }
        report.bytes_sent += sent? - held_bytes;
        report.files += 1;
        Ok(())
    }

    /// Waits until the whole file is written, sends `Finish`, and waits for the confirmation.
    fn finish(&self, file: u32, source: &FileSource) -> Result<u64, Error> {
        let size_bytes = loop {
            if let Some(size_bytes) = self.queue.wait_written(TICK)? {
                break size_bytes;
            }
            if let Some(error) = self.stopped() {
                return Err(lock(&self.state).failure.take().unwrap_or(error));
            }
        };
        source.check_unchanged()?;
        self.request(&Request::Finish { file, size_bytes });
        match self.wait_answer() {
            Ok(Reply::Confirmed { file: confirmed }) if confirmed == file => Ok(size_bytes),
            Ok(_) => Err(self.protocol_error()),
            Err(error) => Err(lock(&self.state).failure.take().unwrap_or(error)),
        }
    }

    /// Subtracts a file that is not sent from the total, unless the session has ended.
    fn lower_total(&self, bytes: u64) {
        if self.stopped().is_none() {
            self.control.lower_total(bytes);
        }
    }
}
