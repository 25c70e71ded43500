//! Noise IK on a connection: the handshake, and messages of bounded length after it.
//!
//! Both ends begin with a greeting line that names the version. That line is the handshake's prologue, so an attacker on
//! the network cannot change it. The first Noise message has an empty payload. An attacker can replay it, so the receiver only
//! answers it. A sender proves that it holds its key with its first transport message.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use snow::{Builder, HandshakeState, StatelessTransportState};
use zeroize::Zeroizing;

use crate::wire::link::{Link, StopCheck, Timeouts, read_exact, write_all};
use crate::wire::message::MAX_MESSAGE_BYTES;
use crate::wire::resolver::Resolver;
use tress_container::{Error, ErrorKind};

pub(crate) const GREETING: &[u8; 18] = b"tress/v2 transfer\n";
const PATTERN: &str = "Noise_IK_25519_ChaChaPoly_SHA256";
/// `e, es, s, ss`: ephemeral key, encrypted static key, tag of the empty payload.
pub(crate) const FIRST_BYTES: usize = 32 + 48 + 16;
/// `e, ee, se`: ephemeral key, tag of the empty payload.
pub(crate) const SECOND_BYTES: usize = 32 + 16;
const TAG_BYTES: usize = 16;
const LENGTH_BYTES: usize = 2;

/// An X25519 public key.
pub(crate) type NoisePublicKey = [u8; 32];

/// The direction to the peer.
pub(crate) struct Outgoing {
    link: Arc<dyn Link>,
    state: Arc<StatelessTransportState>,
    nonce: u64,
    frame: Vec<u8>,
}

/// The direction from the peer.
pub(crate) struct Incoming {
    link: Arc<dyn Link>,
    state: Arc<StatelessTransportState>,
    nonce: u64,
    frame: Vec<u8>,
}

/// Performs the sender's part of the handshake, within `time`.
///
/// # Errors
/// `PeerVersion`; `WrongPeer` if the peer closes after its greeting, or if its answer does not verify; `Stalled`, `Disconnected`.
pub(crate) fn initiate(
    link: Arc<dyn Link>,
    secret: &[u8; 32],
    receiver: &NoisePublicKey,
    time: Duration,
    stop: StopCheck<'_>,
) -> Result<(Incoming, Outgoing), Error> {
    let timeouts = handshake_timeouts(time, stop);
    let mut state =
        builder(secret)?.remote_public_key(receiver).and_then(Builder::build_initiator).map_err(internal)?;
    let mut first = [0; FIRST_BYTES];
    state.write_message(&[], &mut first).map_err(internal)?;
    write_all(&*link, &mut [IoSlice::new(GREETING), IoSlice::new(&first)], &timeouts)?;
    read_greeting(&*link, &timeouts)?;
    let mut second = [0; SECOND_BYTES];
    // The peer sent the greeting and closed: it could not decrypt the first message.
    let answered = read_exact(&*link, &mut second, &timeouts).map_err(|error| match error.kind {
        ErrorKind::Disconnected => Error::new(ErrorKind::WrongPeer).with_source(error),
        _ => error,
    })?;
    if !answered || state.read_message(&second, &mut []).is_err() {
        return Err(Error::new(ErrorKind::WrongPeer));
    }
    split(link, state)
}

/// Performs the receiver's part of the handshake, within `time`. Also returns the sender's static key. The sender has proven
/// that it holds this key only after a first message was read from it.
///
/// # Errors
/// `PeerVersion`, `WrongPeer`, `Stalled`, `Disconnected`.
pub(crate) fn respond(
    link: Arc<dyn Link>,
    secret: &[u8; 32],
    time: Duration,
    stop: StopCheck<'_>,
) -> Result<(Incoming, Outgoing, NoisePublicKey), Error> {
    let timeouts = handshake_timeouts(time, stop);
    if let Err(error) = read_greeting(&*link, &timeouts) {
        if error.kind == ErrorKind::PeerVersion {
            // The answer shows the peer which version we support.
            let _ = write_all(&*link, &mut [IoSlice::new(GREETING)], &timeouts);
        }
        return Err(error);
    }
    let mut state = builder(secret)?.build_responder().map_err(internal)?;
    let mut first = [0; FIRST_BYTES];
    if !read_exact(&*link, &mut first, &timeouts)? {
        return Err(Error::new(ErrorKind::Disconnected));
    }
    if state.read_message(&first, &mut []).is_err() {
        let _ = write_all(&*link, &mut [IoSlice::new(GREETING)], &timeouts);
        return Err(Error::new(ErrorKind::WrongPeer));
    }
    let sender = state.get_remote_static().and_then(|key| key.try_into().ok());
    let sender = sender.ok_or_else(|| Error::new(ErrorKind::WrongPeer))?;
    let mut second = [0; SECOND_BYTES];
    state.write_message(&[], &mut second).map_err(internal)?;
    write_all(&*link, &mut [IoSlice::new(GREETING), IoSlice::new(&second)], &timeouts)?;
    let (incoming, outgoing) = split(link, state)?;
    Ok((incoming, outgoing, sender))
}

fn handshake_timeouts<'a>(time: Duration, stop: StopCheck<'a>) -> Timeouts<'a> {
    // A time beyond the range of the clock means no deadline.
    Timeouts { deadline: Instant::now().checked_add(time), ..Timeouts::idle(time, stop) }
}

fn builder(secret: &[u8; 32]) -> Result<Builder<'_>, Error> {
    let params = PATTERN.parse().map_err(internal)?;
    let builder = Builder::with_resolver(params, Box::new(Resolver));
    builder.prologue(GREETING).and_then(|builder| builder.local_private_key(secret)).map_err(internal)
}

/// An error of the primitives that the peer cannot cause, such as missing randomness.
fn internal(error: snow::Error) -> Error {
    Error::new(ErrorKind::Io(std::io::ErrorKind::Other)).with_detail(format!("handshake: {error}"))
}

fn read_greeting(link: &dyn Link, timeouts: &Timeouts<'_>) -> Result<(), Error> {
    let mut greeting = [0; GREETING.len()];
    match read_exact(link, &mut greeting, timeouts) {
        Ok(true) if greeting == *GREETING => Ok(()),
        Ok(true) => Err(Error::new(ErrorKind::PeerVersion)),
        Ok(false) => Err(Error::new(ErrorKind::Disconnected)),
        Err(error) => Err(error),
    }
}

fn split(link: Arc<dyn Link>, state: HandshakeState) -> Result<(Incoming, Outgoing), Error> {
    let state = Arc::new(state.into_stateless_transport_mode().map_err(internal)?);
    let incoming = Incoming { link: link.clone(), state: state.clone(), nonce: 0, frame: Vec::new() };
    Ok((incoming, Outgoing { link, state, nonce: 0, frame: Vec::new() }))
}

impl Outgoing {
    /// Encrypts a message to its wire form: two bytes of length, then the ciphertext.
    pub(crate) fn seal(&mut self, message: &[u8]) -> Result<&[u8], Error> {
        debug_assert!(message.len() <= MAX_MESSAGE_BYTES);
        let sealed_bytes = message.len() + TAG_BYTES;
        self.frame.resize(LENGTH_BYTES + sealed_bytes, 0);
        self.frame[..LENGTH_BYTES].copy_from_slice(&(sealed_bytes as u16).to_be_bytes());
        self.state.write_message(self.nonce, message, &mut self.frame[LENGTH_BYTES..]).map_err(internal)?;
        self.nonce += 1;
        Ok(&self.frame)
    }

    /// Writes one message in one call.
    pub(crate) fn write(&mut self, message: &[u8], timeouts: &Timeouts<'_>) -> Result<(), Error> {
        let link = self.link.clone();
        write_all(&*link, &mut [IoSlice::new(self.seal(message)?)], timeouts)
    }

    pub(crate) fn link(&self) -> &Arc<dyn Link> {
        &self.link
    }
}

impl Incoming {
    /// Reads one message; `None` if the connection ends before it.
    ///
    /// # Errors
    /// `Protocol` for a message that is too long or does not verify; `Stalled`, `Disconnected`.
    pub(crate) fn read(&mut self, timeouts: &Timeouts<'_>) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let mut length = [0; LENGTH_BYTES];
        if !read_exact(&*self.link, &mut length, timeouts)? {
            return Ok(None);
        }
        let length = usize::from(u16::from_be_bytes(length));
        let plain_bytes = length.checked_sub(TAG_BYTES).filter(|&bytes| bytes <= MAX_MESSAGE_BYTES);
        let Some(plain_bytes) = plain_bytes else {
            return Err(Error::new(ErrorKind::Protocol).with_detail("message has an invalid length"));
        };
        self.frame.resize(length, 0);
        let rest = Timeouts { first: Some(timeouts.between), ..*timeouts };
        if !read_exact(&*self.link, &mut self.frame, &rest)? {
            return Err(Error::new(ErrorKind::Disconnected));
        }
        let mut plain = Zeroizing::new(vec![0; plain_bytes]);
        self.state
            .read_message(self.nonce, &self.frame, &mut plain)
            .map_err(|_| Error::new(ErrorKind::Protocol).with_detail("message authentication failed"))?;
        self.nonce += 1;
        Ok(Some(plain))
    }

    /// Reads bytes that are not encrypted by Noise.
    pub(crate) fn read_raw(&mut self, buffer: &mut [u8], timeouts: &Timeouts<'_>) -> Result<(), Error> {
        match read_exact(&*self.link, buffer, timeouts)? {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Disconnected)),
        }
    }

    pub(crate) fn link(&self) -> &Arc<dyn Link> {
        &self.link
    }
}

/// The secret Noise key of a key pair, or an error if the pair has none.
pub(crate) fn noise_key(pair: &tress_container::keys::KeyPair) -> Result<Zeroizing<[u8; 32]>, Error> {
    pair.noise_secret_key().ok_or_else(|| {
        Error::new(ErrorKind::BadIdentity)
            .with_detail("the identity has no Noise key; tress keygen makes identities with one")
    })
}

#[cfg(test)]
#[path = "noise_test.rs"]
mod tests;
