//! `tress send` and `tress receive`.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io::{self, IsTerminal as _, Write as _},
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use tress_container::{
    Control, Error, ErrorKind, Refusal,
    commands::Source,
    keys::{Address, KeyPair},
    tree::{Exclude, names},
    workers::lock,
};
use tress_terminal::shown::in_full;
use tress_transfer::{Allow, Event, Receipt, ReceiveOptions, SendEvent, SendOptions, limit_key, unreported};

use super::{
    cancellable,
    printer::{Printer, has_no_reader},
};
use crate::{
    args,
    failure::{self, Failure, escape},
    files, progress,
    stdin::Stdin,
    units::count_text,
};

const MAX_BYTES: usize = 256 * 1024;
const MAX_ALLOW_BYTES: usize = 1 << 20;
const BEGINS_ANEW: &str =
    "run the same command again: standard input, pipes and files that --keep-sealed encrypts begin anew";
/// Descriptors that the receiver asks for: 256 connections need at most 24 each.
#[cfg(unix)]
const DESCRIPTORS: u64 = 8192;

pub(crate) fn send(options: &args::Send) -> Result<(), Failure> {
    let mut stdin = Stdin::default();
    for input in &options.inputs {
        stdin.claim(input, "the data")?;
    }
    let pair = key_pair(&options.identity, &mut stdin)?;
    files::warn_if_public(&options.identity);
    let receiver: Address =
        options.recipient.parse().map_err(|error: Error| error.at("-r")).map_err(failure::of_address)?;
    let mut send = SendOptions::new(&options.to, receiver);
    send.streams = options.streams;
    send.rate_bytes_per_s = options.rate;
    send.threads = options.threads.wanted();
    send.keep_sealed = options.keep_sealed;
    send.restart = options.restart;
    if let Some(name) = &options.name {
        if !options.inputs.iter().any(|input| input.as_os_str() == "-") {
            return Err(Failure::wrong_use("--name is for standard input").hint("files and folders keep their names"));
        }
        send.stdin_name.clone_from(name);
    }
    let exclude = options.exclude.iter().map(|given| names::text(given.as_encoded_bytes()).into_owned());
    send.exclude = Exclude::parse(&exclude.collect::<Vec<_>>()).map_err(failure::from_error)?;
    send.ignore_ctime = options.ignore_ctime;
    send.trace.clone_from(&options.trace);
    send.replace_trace = options.force;
    if let Some(trace) = &options.trace {
        let inputs = options.inputs.iter().chain([&options.identity]);
        files::refuse_input(trace, inputs.map(PathBuf::as_path))?;
    }
    let (mut seen, mut inputs) = (HashMap::new(), Vec::new());
    for input in &options.inputs {
        if input.as_os_str() != "-"
            && let Ok(path) = input.canonicalize()
        {
            // `.` has the name of its folder.
            let name = input.file_name().or(path.file_name()).map(OsStr::to_owned);
            match seen.insert(name, path.clone()) {
                None => {}
                // One file under one name is sent once.
                Some(before) if before == path => continue,
                Some(_) => {
                    let message = format!("{}: two inputs have one name", failure::name(input));
                    return Err(Failure::wrong_use(message).hint("send the folder above them"));
                }
            }
        }
        inputs.push(files::source(input));
    }
    if options.dry_run {
        return dry_run(&inputs, &send);
    }
    let (skipped, notes) = (AtomicU64::new(0), note_printer()?);
    let on_event = |event: &SendEvent<'_>| match event {
        SendEvent::Skipped { link } => {
            skipped.fetch_add(1, Ordering::Relaxed);
            notes.push(format!("{}: symbolic link, skipped", failure::name(link)));
        }
        SendEvent::Failed { error } => notes.push(error.to_string()),
        _ => {}
    };
    let sent = cancellable(|control| {
        tress_transfer::send_with_events(&inputs, &pair, &send, &on_event, control).map_err(failure::from_error)
    })
    .map_err(|failure| match failure.hint.as_deref() {
        Some(failure::RESUMES) if !resumes(options) => failure.hint(BEGINS_ANEW),
        _ => failure,
    });
    notes.finish(|| progress::is_stuck(io::stderr()));
    let skipped = match skipped.into_inner() {
        0 => None,
        1 => Some("1 symbolic link skipped".to_string()),
        count => Some(format!("{count} symbolic links skipped")),
    };
    let report = sent.inspect_err(|_| skipped.iter().for_each(|text| note(text)))?;
    if options.json {
        files::print(&format!(
            "{}\n",
            serde_json::json!({
                "files": report.files,
                "complete_before": report.complete_before,
                "skipped": report.skipped,
                "bytes_sent": report.bytes_sent,
                "elapsed_s": report.elapsed.as_secs_f64(),
            })
        ))?;
    }
    skipped.map_or(Ok(()), |text| Err(Failure::left_out(text)))
}

/// Whether each input continues where it stopped when the command is run again.
fn resumes(options: &args::Send) -> bool {
    !options.keep_sealed && options.inputs.iter().all(|input| input.is_file() || input.is_dir())
}

fn dry_run(inputs: &[Source], send: &SendOptions) -> Result<(), Failure> {
    let (mut out, mut printed) = (io::BufWriter::new(files::stdout()), Ok(()));
    let (mut count, mut all_bytes) = (0, 0_u64);
    let mut last = None;
    let mut each = |file: Result<(&Path, u64), Error>| match file {
        Ok((path, bytes)) => {
            (count, all_bytes) = (count + 1, all_bytes.saturating_add(bytes));
            if printed.is_ok() {
                printed = writeln!(out, "{}", in_full(path));
            }
        }
        Err(error) => {
            if let Some(error) = last.replace(error) {
                note(&error.to_string());
            }
        }
    };
    let listed = tress_transfer::list(inputs, send, &mut each);
    printed.and_then(|()| out.flush()).map_err(|error| Failure::stdout(&error))?;
    if count > 0 || last.is_none() {
        note(&format!("would send files: {}, bytes: {}", count_text(count), count_text(all_bytes)));
    }
    listed.and(last.map_or(Ok(()), Err)).map_err(failure::from_error)
}

pub(crate) fn receive(options: &args::Receive) -> Result<(), Failure> {
    let mut stdin = Stdin::default();
    let pair = key_pair(&options.identity, &mut stdin)?;
    let allow = match &options.allow {
        Some(path) => {
            stdin.claim(path, "the allow file")?;
            let allow = match path.is_file() && path != Path::new("-") {
                true => Allow::file(path),
                // A stream is read once.
                false => Allow::read(files::read_small(path, MAX_ALLOW_BYTES)?.as_slice())
                    .map_err(|error| error.at(files::shown(path))),
            };
            allow.map_err(failure::of_address)?
        }
        None => Allow::Any,
    };
    let mut receive = ReceiveOptions::new(&options.listen, &options.output, allow);
    receive.once = options.once;
    receive.limits.quota_bytes = options.quota;
    raise_descriptor_limit();
    let unprintable = Arc::new(Mutex::new(None));
    let received = cancellable(|control| {
        let form = match (options.json, options.null) {
            (true, _) => Form::Json,
            (_, true) => Form::Null,
            _ => Form::Line,
        };
        let print_path = path_printer(form, options.output.clone(), Arc::clone(control), Arc::clone(&unprintable));
        let (paths, notes) = (Printer::start(print_path)?, note_printer()?);
        let log = Log { output: &options.output, paths, notes, limits: Mutex::default() };
        let received = tress_transfer::receive(&pair, &receive, &|event| log.show(event), control);
        log.finish(control);
        received.map_err(failure_here)
    });
    lock(&unprintable).take().map_or(received, Err)
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

/// Prints notes without waiting for somebody who reads them.
fn note_printer() -> Result<Printer<String>, Failure> {
    Printer::start(|line: Option<String>, left_out| match line {
        Some(text) => note(&text),
        None if left_out > 0 => note(&format!("{left_out} more lines not shown")),
        None => {}
    })
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

/// The text of an error for the user of the receiver. The library's text addresses the sender.
fn text_here(error: &Error) -> String {
    let here = match error.kind {
        ErrorKind::WrongPeer => "sender does not have the address of this receiver",
        ErrorKind::PeerVersion => "sender uses another protocol version or is not tress",
        ErrorKind::Declined(reason) => match reason {
            Refusal::NotAdmitted => "refused: sender is not in the allow file",
            Refusal::Name => "refused: name is not allowed here",
            Refusal::Exists => "refused: name exists here already",
            Refusal::OtherVersion => "refused: part of another version of this file is here",
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
        ErrorKind::Declined(_) => Failure { message: text_here(&error), ..failure::from_error(error) },
        _ => failure::from_error(error),
    }
}

/// How received files are printed.
#[derive(Clone, Copy)]
enum Form {
    /// Escaped, with a newline.
    Line,
    /// As bytes, with NUL.
    Null,
    /// A JSON object in each line.
    Json,
}

/// A received file.
struct Received {
    /// Name of the sender's folder.
    sender: String,
    /// Below the receiver's folder.
    path: PathBuf,
    bytes: u64,
    receipt: Receipt,
}

impl Received {
    fn of(folder: &str, name: &Path, bytes: u64, receipt: &Receipt) -> Self {
        Self { sender: folder.into(), path: Path::new(folder).join(name), bytes, receipt: receipt.clone() }
    }

    fn shown(&self, output: &Path, form: Form) -> Vec<u8> {
        let path = output.join(&self.path);
        match form {
            Form::Line => format!("{}\n", in_full(&path)).into_bytes(),
            Form::Null => [path.as_os_str().as_encoded_bytes(), b"\0"].concat(),
            Form::Json => {
                let mut row = serde_json::json!({
                    "path": path.to_string_lossy(), "sender": self.sender, "size": self.bytes,
                });
                if path.to_str().is_none() {
                    let bytes = path.as_os_str().as_encoded_bytes().iter();
                    row["path_hex"] = bytes.map(|byte| format!("{byte:02x}")).collect::<String>().into();
                }
                (files::in_ascii(&row.to_string()) + "\n").into_bytes()
            }
        }
    }
}

/// The lines of a receiver: received files on standard output, all other events on standard error.
struct Log<'a> {
    output: &'a Path,
    /// `None`: the files that earlier receivers, or sessions whose disk failed, have left unprinted.
    paths: Printer<Option<Received>>,
    notes: Printer<String>,
    limits: Mutex<LogLimits>,
}

impl Log<'_> {
    fn show(&self, event: &Event<'_>) {
        let (party, text) = match event {
            Event::Listening(address) => {
                self.paths.push(None);
                return self.notes.push(format!("listening on {address}"));
            }
            Event::Unreported => return self.paths.push(None),
            Event::Received { folder, name, bytes, receipt } => {
                return self.paths.push(Some(Received::of(folder, name, *bytes, receipt)));
            }
            Event::AllowFile { error } => {
                return self.notes.push(format!("{error}; the senders that it named before are accepted"));
            }
            Event::Admitted { folder, from } => {
                let path = self.output.join(folder);
                (
                    sender(folder),
                    format!("sender {folder} connected from {from}; its files go to {}", failure::name(&path)),
                )
            }
            Event::Refused { folder, error } => (sender(folder), format!("sender {folder}: {}", text_here(error))),
            Event::Failed { from, error } => (network(*from), format!("{from}: {}", text_here(error))),
            _ => return,
        };
        let mut limits = lock(&self.limits);
        if let (counted, Some(hidden)) = limits.take(&party, Instant::now()) {
            self.push_hidden(counted, hidden);
            self.notes.push(text);
        }
    }

    fn push_hidden(&self, party: &str, hidden: u64) {
        if hidden > 0 {
            self.notes.push(format!("{party}: {hidden} more lines not shown"));
        }
    }

    /// Prints the remaining lines, after a cancellation only as long as somebody reads them.
    fn finish(&self, control: &Control) {
        if self.paths.finish(|| control.is_cancelled() && progress::is_stuck(io::stdout())) > 0 {
            self.notes.push("some received files are not printed; the next receiver of this folder prints them".into());
        }
        lock(&self.limits).parties.iter().for_each(|(party, lines)| self.push_hidden(party, lines.hidden));
        self.notes.finish(|| progress::is_stuck(io::stderr()));
    }
}

fn sender(folder: &str) -> String {
    format!("sender {folder}")
}

/// The party that the lines of a stranger count for: its address, or the network that its connections count for.
fn network(address: IpAddr) -> String {
    match limit_key(address) {
        IpAddr::V6(network) => format!("{network}/64"),
        address => address.to_string(),
    }
}

/// Returns a function that prints the paths of received files, from their records those that did not fit into the queue. The first failure
/// cancels the receiver.
fn path_printer(
    form: Form,
    output: PathBuf,
    control: Arc<Control>,
    unprintable: Arc<Mutex<Option<Failure>>>,
) -> impl FnMut(Option<Option<Received>>, u64) + Send {
    move |line, left_out| {
        let fail = |failure| {
            lock(&unprintable).get_or_insert(failure);
            control.cancel();
        };
        let print = |received: &Received| {
            if lock(&unprintable).is_none() {
                let shown = received.shown(&output, form);
                let _ = received.receipt.report(|| print_aside(&shown)).map_err(fail);
            }
        };
        match line {
            Some(Some(received)) => print(&received),
            None if left_out == 0 => {
                if has_no_reader() {
                    fail(Failure::io(Path::new("standard output"), &io::ErrorKind::BrokenPipe.into()));
                }
            }
            _ => {
                let each = &mut |event: &Event<'_>| {
                    if let Event::Received { folder, name, bytes, receipt } = event {
                        print(&Received::of(folder, name, *bytes, receipt));
                    }
                };
                let _ = unreported(&output, each).map_err(|error| fail(failure::from_error(error)));
            }
        }
    }
}

/// Prints to standard output. Only on a terminal it waits for the progress line, which is on standard error and may be blocked.
fn print_aside(text: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() { progress::aside(|| files::print_bytes(text)) } else { files::print_bytes(text) }
}

/// Reads the user's identity, which must have a Noise key.
fn key_pair(path: &Path, stdin: &mut Stdin) -> Result<KeyPair, Failure> {
    stdin.claim(path, "an identity")?;
    let bytes = files::read_small(path, MAX_BYTES)?;
    let pair = KeyPair::from_file(&bytes[..]).map_err(|error| failure::from_error(error.at(files::shown(path))))?;
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
        for (one, other, is_same) in [
            ("2001:db8::1", "2001:db8::2:0:0:1", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
        ] {
            let [one, other] = [one, other].map(|address| network(address.parse().unwrap()));
            assert_eq!(one == other, is_same, "{one} {other}");
        }
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
