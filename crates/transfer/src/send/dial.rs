//! Opens a sender's control connection.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::send::options::SendOptions;
use crate::wire::limits::{ANSWER_STALLS, HANDSHAKE_TIME};
use crate::wire::link::{Link, Network, StopCheck, TICK, Timeouts};
use crate::wire::message::{Reply, Request};
use crate::wire::noise::{self, Incoming, Outgoing};
use crate::wire::ticket::Ticket;
use tress_container::{Control, Error, ErrorKind};

/// Pauses between attempts, if the receiver cuts the control connection immediately.
const OPENING_PAUSES: [Duration; 3] = [Duration::from_millis(50), Duration::from_millis(300), Duration::from_secs(1)];

fn connect(network: &dyn Network, to: &str, stop: StopCheck<'_>) -> Result<Box<dyn Link>, Error> {
    network.connect(to, stop).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => {
            Error::new(ErrorKind::Usage).with_detail("the receiver must be HOST:PORT").at(to)
        }
        _ => Error::from(error).at(to),
    })
}

/// An accepted control connection on which no file was offered yet.
pub(crate) struct Admitted {
    pub(crate) incoming: Incoming,
    pub(crate) out: Outgoing,
    pub(crate) ticket: Ticket,
    pub(crate) streams: usize,
    /// Where data connections go: a name may have several addresses, of which some do not answer or belong to other machines.
    pub(crate) to: String,
}

/// Opens the control connection. If it is cut before the receiver accepts the session, tries again up to three times: a receiver with too
/// many unauthenticated connections closes the oldest of them.
pub(crate) fn open(
    network: &dyn Network,
    options: &SendOptions,
    secret: &[u8; 32],
    streams: usize,
    control: &Control,
) -> Result<Admitted, Error> {
    let cancelled = || control.is_cancelled().then(|| Error::new(ErrorKind::Interrupted));
    for pause in OPENING_PAUSES {
        match try_open(network, options, secret, streams, &cancelled) {
            Err(error) if error.kind == ErrorKind::Disconnected => {
                pause_until(Instant::now() + pause, &cancelled);
            }
            outcome => return outcome,
        }
    }
    try_open(network, options, secret, streams, &cancelled)
}

/// Sleeps until this time, or until `stop` returns an error.
pub(crate) fn pause_until(until: Instant, stop: StopCheck<'_>) {
    while let Some(left) = until.checked_duration_since(Instant::now())
        && stop().is_none()
    {
        thread::sleep(left.min(TICK));
    }
}

fn try_open(
    network: &dyn Network,
    options: &SendOptions,
    secret: &[u8; 32],
    streams: usize,
    stop: StopCheck<'_>,
) -> Result<Admitted, Error> {
    let at_host = |error: Error| error.at(&options.to);
    let link: Arc<dyn Link> = connect(network, &options.to, stop)?.into();
    let to = link.peer().map_or_else(|| options.to.clone(), |peer| peer.to_string());
    let receiver = options.receiver.noise_public_key();
    let handshake = noise::initiate(link, secret, receiver, HANDSHAKE_TIME.min(options.stall_time), stop);
    let (mut incoming, mut out) = handshake.map_err(at_host)?;
    let timeouts = Timeouts::idle(options.stall_time, stop);
    out.write(&Request::Begin { streams: streams as u16 }.encode(), &timeouts).map_err(at_host)?;
    // The receiver may first have to count a quota or to copy its journal, and is silent until then.
    let first = Some(options.stall_time.saturating_mul(ANSWER_STALLS));
    let (ticket, granted) = admitted(&mut incoming, &Timeouts { first, ..timeouts }).map_err(at_host)?;
    // A receiver may grant fewer data connections than were asked for, and no more.
    Ok(Admitted { incoming, out, ticket, streams: streams.min(granted), to })
}

fn admitted(incoming: &mut Incoming, timeouts: &Timeouts<'_>) -> Result<(Ticket, usize), Error> {
    let message = incoming.read(timeouts)?.ok_or_else(|| Error::new(ErrorKind::Disconnected))?;
    match Reply::parse(&message) {
        Ok(Reply::Admitted { ticket, streams }) if streams >= 1 => Ok((ticket, streams.into())),
        Ok(Reply::Refused { reason }) => Err(Error::new(ErrorKind::Refused(reason))),
        _ => Err(Error::new(ErrorKind::Protocol)),
    }
}
