//! `tress send` and `tress receive`.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use tress_container::{
    Error, ErrorKind, Refusal,
    keys::{Address, KeyPair},
};
use tress_terminal::shown::in_full;
use tress_transfer::{Allow, Event, ReceiveOptions, SendEvent, SendOptions};

use super::cancellable;
use crate::{
    args,
    failure::{self, Failure, escape},
    files, progress,
    stdin::Stdin,
};

const MAX_BYTES: usize = 256 * 1024;
const MAX_ALLOW_BYTES: usize = 1 << 20;
/// Descriptors that the receiver asks for: 256 connections need at most 12 each.
#[cfg(unix)]
const DESCRIPTORS: u64 = 4096;

pub(crate) fn send(options: &args::Send) -> Result<(), Failure> {
    let mut stdin = Stdin::default();
    for input in &options.inputs {
        stdin.claim(input, "the data")?;
    }
    let pair = key_pair(&options.identity, &mut stdin)?;
    let receiver: Address =
        options.recipient.parse().map_err(|error: Error| error.at("-r")).map_err(failure::from_error)?;
    let mut send = SendOptions::new(&options.to, receiver);
    send.streams = options.streams;
    send.rate_bytes_per_s = options.rate;
    send.threads = options.threads.wanted();
    send.keep_sealed = options.keep_sealed;
    send.restart = options.restart;
    send.stdin_name.clone_from(&options.name);
    send.trace.clone_from(&options.trace);
    let inputs: Vec<_> = options.inputs.iter().map(|input| files::source(input)).collect();
    let skipped = AtomicU64::new(0);
    let on_event = |event: &SendEvent<'_>| match event {
        SendEvent::Skipped { link } => {
            skipped.fetch_add(1, Ordering::Relaxed);
            note(&format!("{}: symbolic link, skipped", failure::name(link)));
        }
        SendEvent::Failed { error } => note(&error.to_string()),
        _ => {}
    };
    let sent = cancellable(|control| {
        tress_transfer::send_with_events(&inputs, &pair, &send, &on_event, control).map_err(failure::from_error)
    });
    match skipped.into_inner() {
        0 => {}
        1 => note("1 symbolic link skipped"),
        count => note(&format!("{count} symbolic links skipped")),
    }
    let report = sent?;
    if !options.json {
        return Ok(());
    }
    files::print(&format!(
        "{}\n",
        serde_json::json!({
            "files": report.files,
            "complete_before": report.complete_before,
            "skipped": report.skipped,
            "bytes_sent": report.bytes_sent,
            "elapsed_s": report.elapsed.as_secs_f64(),
        })
    ))
}

pub(crate) fn receive(options: &args::Receive) -> Result<(), Failure> {
    let mut stdin = Stdin::default();
    let pair = key_pair(&options.identity, &mut stdin)?;
    let allow = match &options.allow {
        Some(path) => {
            stdin.claim(path, "the allow file")?;
            let bytes = files::read_small(path, MAX_ALLOW_BYTES)?;
            Allow::read(bytes.as_slice()).map_err(|error| error.at(failure::name(path))).map_err(failure::from_error)?
        }
        None => Allow::Any,
    };
    let mut receive = ReceiveOptions::new(&options.listen, &options.output, allow);
    receive.once = options.once;
    receive.limits.quota_bytes = options.quota;
    raise_descriptor_limit();
    let unprinted = Mutex::new(None);
    let log = Mutex::new(LogLimits::default());
    let on_event = |event: &Event<'_>| show(event, &options.output, &unprinted, &log);
    let received =
        cancellable(|control| tress_transfer::receive(&pair, &receive, &on_event, control).map_err(failure_here));
    for (party, lines) in log.into_inner().unwrap_or_else(PoisonError::into_inner).parties {
        note_hidden(&party, lines.hidden);
    }
    received?;
    unprinted.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Raises the number of descriptors that this process may have open to what the most connections need, as far as the user may.
fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let wanted = maximum.unwrap_or(u64::MAX).min(DESCRIPTORS);
        if current.is_some_and(|current| current < wanted) {
            // If the system refuses, the receiver accepts fewer connections.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}

/// Prints a line on standard error. An error of standard error is ignored.
fn note(text: &str) {
    let text = format!("tress: {}\n", escape(text));
    let _ = progress::aside(|| io::stderr().lock().write_all(text.as_bytes()));
}

/// Limits the log lines that each party causes: a sender, or the address of a stranger.
#[derive(Default)]
struct LogLimits {
    parties: HashMap<String, LineLimit>,
}

impl LogLimits {
    const MAX_PARTIES: usize = 256;
    /// The common name of all parties beyond the limit.
    const OTHERS: &str = "others";

    /// Counts a line. Returns the party that it counts for, and the result of [`LineLimit::take`].
    fn take<'a>(&mut self, party: &'a str, now: Instant) -> (&'a str, Option<u64>) {
        if self.parties.len() >= LogLimits::MAX_PARTIES && !self.parties.contains_key(party) {
            let mut hidden = 0;
            for (_, lines) in self.parties.extract_if(|_, lines| lines.left(now) >= LineLimit::BURST) {
                hidden += lines.hidden;
            }
            self.parties.entry(LogLimits::OTHERS.into()).or_insert_with(|| LineLimit::new(now)).hidden += hidden;
        }
        let is_full = self.parties.len() >= LogLimits::MAX_PARTIES && !self.parties.contains_key(party);
        let party = if is_full { LogLimits::OTHERS } else { party };
        (party, self.parties.entry(party.into()).or_insert_with(|| LineLimit::new(now)).take(now))
    }
}

/// The limit for one party: a burst of lines, then one per second. Further lines are hidden and counted.
struct LineLimit {
    left: f64,
    since: Instant,
    hidden: u64,
}

impl LineLimit {
    const BURST: f64 = 20.0;

    fn new(now: Instant) -> LineLimit {
        LineLimit { left: LineLimit::BURST, since: now, hidden: 0 }
    }

    fn left(&self, now: Instant) -> f64 {
        (self.left + now.saturating_duration_since(self.since).as_secs_f64()).min(LineLimit::BURST)
    }

    /// Whether a line may be shown now: `None` if not, else the number of lines hidden since the last one.
    fn take(&mut self, now: Instant) -> Option<u64> {
        (self.left, self.since) = (self.left(now), now);
        if self.left < 1.0 {
            self.hidden += 1;
            return None;
        }
        self.left -= 1.0;
        Some(std::mem::take(&mut self.hidden))
    }
}

fn note_hidden(party: &str, hidden: u64) {
    if hidden > 0 {
        note(&format!("{party}: {hidden} more lines not shown"));
    }
}

/// The text of an error for the user of the receiver. The library's text addresses the sender.
fn text_here(error: &Error) -> String {
    let here = match error.kind {
        ErrorKind::WrongPeer => "sender does not have the address of this receiver",
        ErrorKind::PeerVersion => "sender uses another protocol version or is not tress",
        ErrorKind::Declined(reason) => match reason {
            Refusal::NotAdmitted => "refused: sender is not in the allow file",
            Refusal::Name => "refused: name is not allowed here",
            Refusal::Exists => "refused: name exists here already",
            Refusal::OtherVersion => "refused: part of an earlier version of this file is here",
            Refusal::NoSpace => "refused: no space left here",
            Refusal::Quota => "refused: quota of this sender is exceeded",
            Refusal::Io => "refused: cannot write here",
            Refusal::Stopping => "refused: shutting down",
            _ => return error.to_string(),
        },
        _ => return error.to_string(),
    };
    error.to_string().replacen(&error.kind.to_string(), here, 1)
}

fn failure_here(error: Error) -> Failure {
    match error.kind {
        ErrorKind::Declined(Refusal::Quota) => Failure::failed(text_here(&error)).hint("--quota SIZE sets the limit"),
        ErrorKind::Declined(_) => Failure::failed(text_here(&error)),
        _ => failure::from_error(error),
    }
}

/// Prints received files to standard output and all other events to standard error.
fn show(event: &Event<'_>, output: &Path, unprinted: &Mutex<Option<Failure>>, log: &Mutex<LogLimits>) {
    let (party, text) = match event {
        Event::Listening(address) => return note(&format!("listening on {address}")),
        Event::Admitted { folder, from } => {
            let path = output.join(folder);
            (format!("sender {folder}"), format!(" connected from {from}; its files go to {}", failure::name(&path)))
        }
        Event::Received { folder, name, .. } => {
            let path: PathBuf = output.join(folder).join(name);
            let text = format!("{}\n", in_full(&path));
            if let Err(failure) = progress::aside(|| files::print(&text)) {
                unprinted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            }
            return;
        }
        Event::Refused { folder, error } => (format!("sender {folder}"), format!(": {}", text_here(error))),
        Event::Failed { from, error } => (from.to_string(), format!(": {}", text_here(error))),
        _ => return,
    };
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    if let (counted, Some(hidden)) = log.take(&party, Instant::now()) {
        note_hidden(counted, hidden);
        note(&format!("{party}{text}"));
    }
}

/// Reads the user's identity, which must have a Noise key.
fn key_pair(path: &Path, stdin: &mut Stdin) -> Result<KeyPair, Failure> {
    stdin.claim(path, "an identity")?;
    let bytes = files::read_small(path, MAX_BYTES)?;
    let pair = KeyPair::from_file(&bytes[..]).map_err(|error| failure::from_error(error.at(failure::name(path))))?;
    if pair.address().is_none() {
        return Err(Failure::wrong_use(format!("{}: identity has no Noise key", failure::name(path)))
            .hint("tress keygen makes identities that can send and receive"));
    }
    Ok(pair)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines_of_strangers_are_few_and_counted() {
        let begin = Instant::now();
        let mut lines = LineLimit::new(begin);
        let shown = (0..1000).filter(|_| lines.take(begin).is_some()).count();
        assert_eq!((shown, lines.hidden), (20, 980));
        assert_eq!(lines.take(begin + Duration::from_millis(500)), None);
        assert_eq!(lines.take(begin + Duration::from_millis(1100)), Some(981));
        assert_eq!(lines.take(begin + Duration::from_millis(1200)), None);
        let later = begin + Duration::from_secs(3600);
        assert_eq!((0..1000).filter(|_| lines.take(later).is_some()).count(), 20);
    }

    #[test]
    fn a_party_that_floods_the_log_hides_nobody_else() {
        let begin = Instant::now();
        let mut log = LogLimits::default();
        let shown =
            |log: &mut LogLimits, party: &str, now| (0..1000).filter(|_| log.take(party, now).1.is_some()).count();
        assert_eq!(shown(&mut log, "192.0.2.1", begin), 20);
        assert_eq!(shown(&mut log, "sender 00", begin), 20);
        for number in 0..1000 {
            log.take(&format!("sender {number}"), begin);
        }
        // Parties beyond the limit share one count.
        assert_eq!(log.parties.len(), LogLimits::MAX_PARTIES + 1);
        assert_eq!(log.take("192.0.2.2", begin), (LogLimits::OTHERS, None));
        // Quiet parties are removed, and their hidden lines are reported with those of the others.
        let later = begin + Duration::from_secs(60);
        assert_eq!(log.take("192.0.2.2", later), ("192.0.2.2", Some(0)));
        assert_eq!(log.parties.len(), 2);
        assert_eq!(log.take(LogLimits::OTHERS, later), (LogLimits::OTHERS, Some(980 + 980 + 1000 - 254 + 1 - 20)));
    }

    #[test]
    fn refusals_are_worded_for_the_receiver() {
        for reason in
            [Refusal::NotAdmitted, Refusal::Name, Refusal::Exists, Refusal::NoSpace, Refusal::Quota, Refusal::Io]
        {
            let error = Error::new(ErrorKind::Declined(reason)).at("file").with_detail("more");
            let text = text_here(&error);
            assert!(
                !text.contains("receiver") && text.starts_with("file: refused: ") && text.ends_with(": more"),
                "{text}"
            );
        }
        let other = Error::new(ErrorKind::Stalled);
        assert_eq!(text_here(&other), other.to_string());
    }
}
