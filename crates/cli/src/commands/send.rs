//! `tress send` and `tress receive`.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Mutex,
};

use tress_stream::{
    Error, ErrorKind,
    keys::{Address, KeyPair},
    net::{self, Allow, Event, Limits, ReceiveOptions, SendOptions, Synchronisation},
};

use super::cancellable;
use crate::{
    args,
    failure::{self, Failure, escape},
    files, progress,
    stdin::Stdin,
};

const MOST_BYTES: usize = 256 * 1024;
const ALLOW_MOST_BYTES: usize = 1 << 20;

pub(crate) fn send(options: &args::Send) -> Result<(), Failure> {
    let mut stdin = Stdin::default();
    for input in &options.inputs {
        stdin.claim(input, "the data")?;
    }
    let pair = key_pair(&options.identity, &mut stdin)?;
    let receiver: Address = options.recipient.parse().map_err(|error: Error| error.at("-r"))?;
    let send = SendOptions {
        streams: options.streams,
        rate_bytes_per_s: options.rate,
        compute_bytes_per_s: options.compute_rate.map(|rate| rate.round() as u64),
        stage_bytes: options.stage,
        threads: options.threads.count.map_or(0, usize::from),
        synchronisation: match options.sync {
            args::Sync::Barrier => Synchronisation::Barrier,
            args::Sync::Counter => Synchronisation::Counter,
        },
        sequential: options.sequential,
        keep_sealed: options.keep_sealed,
        restart: options.restart,
        stdin_name: options.name.clone(),
        trace: options.trace.clone(),
        ..SendOptions::new(&options.to, receiver)
    };
    let inputs: Vec<_> = options.inputs.iter().map(|input| files::source(input)).collect();
    let report = cancellable(|control| Ok(net::send(&inputs, &pair, &send, control)?))?;
    if !options.json {
        return Ok(());
    }
    files::print(&format!(
        "{}\n",
        serde_json::json!({
            "files": report.files,
            "complete_before": report.complete_before,
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
            let bytes = files::read_small(path, ALLOW_MOST_BYTES)?;
            Allow::read(bytes.as_slice()).map_err(|error| error.at(failure::name(path)))?
        }
        None => Allow::Any,
    };
    let receive = ReceiveOptions {
        listen: options.listen.clone(),
        folder: options.output.clone(),
        allow,
        once: options.once,
        limits: Limits { quota_bytes: options.quota, ..Limits::default() },
    };
    let unprinted = Mutex::new(None);
    let tell = |event: &Event<'_>| show(event, &options.output, &unprinted);
    cancellable(|control| Ok(net::receive(&pair, &receive, &tell, control)?))?;
    unprinted.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Files to standard output, everything else to standard error.
fn show(event: &Event<'_>, output: &Path, unprinted: &Mutex<Option<Failure>>) {
    let note = |text: String| {
        // A standard error that is gone is no reason to stop.
        let text = format!("tress: {}\n", escape(&text));
        let _ = progress::aside(|| io::stderr().lock().write_all(text.as_bytes()));
    };
    match event {
        Event::Listening(address) => note(format!("listening on {address}")),
        Event::Admitted { folder, from } => {
            note(format!("sender {folder} connected from {from}; its files go to {}", output.join(folder).display()));
        }
        Event::Received { folder, name, .. } => {
            let path: PathBuf = output.join(folder).join(name);
            let text = format!("{}\n", escape(&path.display().to_string()));
            if let Err(failure) = progress::aside(|| files::print(&text)) {
                unprinted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(failure);
            }
        }
        Event::Refused { folder, error } => note(format!("sender {folder}: {error}")),
        Event::Failed { from, error } => note(format!("{from}: {error}")),
        _ => {}
    }
}

/// The identity of this end, which needs a Noise key.
fn key_pair(path: &Path, stdin: &mut Stdin) -> Result<KeyPair, Failure> {
    stdin.claim(path, "an identity")?;
    let bytes = files::read_small(path, MOST_BYTES)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| Error::new(ErrorKind::BadIdentity));
    let pair = text.and_then(KeyPair::parse).map_err(|error| error.at(failure::name(path)))?;
    if pair.address().is_none() {
        return Err(Failure::wrong_use(format!("{}: identity has no Noise key", failure::name(path)))
            .hint("tress keygen makes identities that can send and receive"));
    }
    Ok(pair)
}
