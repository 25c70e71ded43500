//! Limits on connections.
//!
//! A connection that has not proven its key costs one handshake, one thread and no buffer. This module bounds how many of
//! these there are at the same time, and how often one address may connect.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::wire::link::Link;
use crate::wire::noise::NoisePublicKey;
use tress_container::workers::lock;

/// Most IP addresses that are tracked.
const MAX_ADDRESSES: usize = 4096;

/// Limits of a receiver.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Most connections that have not proven their key, over all IP addresses.
    pub half_open: usize,
    /// Most connections that have not proven their key, for one IPv4 address or one IPv6 /64 network.
    pub half_open_per_address: usize,
    /// Handshakes that one address may begin in a burst.
    pub handshake_burst: u32,
    /// Handshakes per second that one address may begin after a burst.
    pub handshakes_per_s: u32,
    /// Most connections in total; fewer where the process may have few descriptors open (`ulimit -n`).
    pub connections: usize,
    /// Most connections of one sender.
    pub connections_per_sender: usize,
    /// Most sessions of one sender at the same time.
    pub sessions_per_sender: usize,
    /// Most data connections of one session at the same time, 1 to 64.
    pub streams: u16,
    /// Most bytes that one sender may store, including 4 KiB for every file and folder; `None` for no limit.
    pub quota_bytes: Option<u64>,
    /// Time for a handshake and the first message after it.
    pub handshake_time: Duration,
    /// Silence after which the sender counts as lost.
    pub stall_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            half_open: 64,
            half_open_per_address: 16,
            handshake_burst: 128,
            handshakes_per_s: 16,
            connections: 256,
            connections_per_sender: 192,
            sessions_per_sender: 8,
            streams: crate::wire::message::MAX_STREAMS as u16,
            quota_bytes: None,
            handshake_time: crate::wire::limits::HANDSHAKE_TIME,
            stall_time: crate::wire::limits::STALL_TIME,
        }
    }
}

/// Descriptors that a control connection and its session hold at most: the socket, 6 for the sender's folders and journal, 4 for an
/// arriving file, 8 for files of packs that are being written, and 5 while other folders are opened.
pub(crate) const SESSION_DESCRIPTORS: usize = 24;
/// A connection that has sent nothing for so long makes room where a receiver is full. Handshakes take less.
const SILENCE: Duration = Duration::from_secs(1);
/// Descriptors of a process beside those of connections: streams, port, folder, signals, and reserve for cleaning up.
const OTHER_DESCRIPTORS: usize = 16;

/// Counts connections and enforces [`Limits`].
pub(crate) struct AdmissionGate {
    limits: Limits,
    /// Most descriptors of all connections.
    descriptors: usize,
    /// Most descriptors of one sender.
    descriptors_per_sender: usize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// Connections that have not proven their key, by ascending number.
    half_open: BTreeMap<u64, HalfOpen>,
    connections: usize,
    /// Descriptors of all connections.
    descriptors: usize,
    peers: HashMap<IpAddr, AddressState>,
    /// Connections of each sender, and their descriptors.
    senders: HashMap<NoisePublicKey, (usize, usize)>,
    next: u64,
}

struct HalfOpen {
    peer: IpAddr,
    link: Arc<dyn Link>,
    since: Instant,
    /// It has sent a valid first message, which takes the receiver's public key to make, or a replay.
    has_greeted: bool,
}

struct AddressState {
    half_open: usize,
    /// Handshakes that might begin at `since`: a token bucket.
    tokens: f64,
    since: Instant,
}

/// A connection that was let in. Dropping it frees its place.
pub(crate) struct ConnectionPass<'a> {
    gate: &'a AdmissionGate,
    number: u64,
    /// The sender, and the descriptors of its session.
    sender: OnceLock<(NoisePublicKey, usize)>,
}

/// The number of descriptors that this process may have open (`ulimit -n`).
pub(crate) fn descriptor_limit() -> usize {
    #[cfg(unix)]
    if let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        return usize::try_from(limit).unwrap_or(usize::MAX);
    }
    usize::MAX
}

impl AdmissionGate {
    /// Makes a gate with these limits, tighter ones where the process may have only this number of descriptors open.
    pub(crate) fn new(mut limits: Limits, descriptor_limit: usize) -> Self {
        let descriptors = descriptor_limit.saturating_sub(OTHER_DESCRIPTORS);
        limits.half_open = limits.half_open.min((descriptors / 8).max(1));
        // Also where the last quarter is less than a session takes.
        let for_one = (descriptors / 4 * 3).min(descriptors.saturating_sub(SESSION_DESCRIPTORS));
        // A session needs a connection for its data in any case.
        let for_one = for_one.max((SESSION_DESCRIPTORS + 1).min(descriptors));
        limits.connections_per_sender = limits.connections_per_sender.min(for_one);
        Self { limits, descriptors, descriptors_per_sender: for_one, counts: Mutex::default() }
    }

    /// Lets a new connection in, or returns `None`. If there are too many connections that have not proven their key, the oldest of
    /// them is closed, first those that have not sent a valid first message. Otherwise silent connections could keep all others out.
    /// If there are too many connections of any kind, one that has been silent for a while is closed, and the next attempt has its place.
    pub(crate) fn enter(&self, address: IpAddr, link: &Arc<dyn Link>, now: Instant) -> Option<ConnectionPass<'_>> {
        let peer = limit_key(address);
        let limits = &self.limits;
        let (burst, rate) = (f64::from(limits.handshake_burst), f64::from(limits.handshakes_per_s));
        let mut counts = lock(&self.counts);
        let is_full = counts.connections >= limits.connections || counts.descriptors >= self.descriptors;
        if counts.peers.len() >= MAX_ADDRESSES && !counts.peers.contains_key(&peer) {
            // An address that could begin a full burst again need not be tracked.
            counts.peers.retain(|_, peer| {
                peer.half_open > 0 || peer.tokens + now.duration_since(peer.since).as_secs_f64() * rate < burst
            });
            if counts.peers.len() >= MAX_ADDRESSES {
                return None;
            }
        }
        let entry = counts.peers.entry(peer).or_insert(AddressState { half_open: 0, tokens: burst, since: now });
        entry.tokens = (entry.tokens + now.duration_since(entry.since).as_secs_f64() * rate).min(burst);
        entry.since = now;
        if entry.tokens < 1.0 {
            return None;
        }
        entry.tokens -= 1.0;
        if entry.half_open >= limits.half_open_per_address {
            counts.make_room(|one| one.peer == peer);
        } else if is_full {
            counts.make_room(|one| !one.has_greeted && now.duration_since(one.since) >= SILENCE);
        } else if counts.half_open.len() >= limits.half_open {
            counts.make_room(|_| true);
        }
        if is_full {
            return None;
        }
        let number = counts.next;
        counts.next += 1;
        counts.half_open.insert(number, HalfOpen { peer, link: link.clone(), since: now, has_greeted: false });
        counts.peers.entry(peer).and_modify(|peer| peer.half_open += 1);
        counts.connections += 1;
        counts.descriptors += 1;
        Some(ConnectionPass { gate: self, number, sender: OnceLock::new() })
    }
}

impl Counts {
    /// Closes the oldest half-open connection of this kind. Those that have greeted come last.
    fn make_room(&mut self, is_of_kind: impl Fn(&HalfOpen) -> bool) {
        let all = self.half_open.iter().filter(|(_, one)| is_of_kind(one));
        let first = all.min_by_key(|(number, one)| (one.has_greeted, **number));
        if let Some(link) = first.map(|(number, _)| *number).and_then(|number| self.leave(number)) {
            link.close();
        }
    }

    /// Removes a connection from the half-open ones. `None` if it was not one of them.
    fn leave(&mut self, number: u64) -> Option<Arc<dyn Link>> {
        let HalfOpen { peer, link, .. } = self.half_open.remove(&number)?;
        self.peers.entry(peer).and_modify(|peer| peer.half_open -= 1);
        Some(link)
    }
}

/// The key for limits by address: an IPv4 address, or the /64 network of an IPv6 address, which one party usually has as a whole.
pub fn limit_key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

impl ConnectionPass<'_> {
    /// Whether the connection was not closed to make room for others.
    pub(crate) fn has_room(&self) -> bool {
        lock(&self.gate.counts).half_open.contains_key(&self.number)
    }

    /// Records that the first message was valid.
    pub(crate) fn has_greeted(&self) {
        if let Some(one) = lock(&self.gate.counts).half_open.get_mut(&self.number) {
            one.has_greeted = true;
        }
    }

    /// Records that the connection has proven to be this sender's, and whether it begins a session. Returns whether there is room for it.
    pub(crate) fn authenticate(&self, sender: &NoisePublicKey, begins: bool) -> bool {
        let mut counts = lock(&self.gate.counts);
        counts.leave(self.number);
        let (connections, descriptors) = counts.senders.get(sender).copied().unwrap_or_default();
        // One descriptor counts since the connection came in.
        let more = if begins { SESSION_DESCRIPTORS - 1 } else { 0 };
        let has_room = connections < self.gate.limits.connections_per_sender
            && descriptors + 1 + more <= self.gate.descriptors_per_sender
            && counts.descriptors + more <= self.gate.descriptors;
        if has_room && self.sender.set((*sender, more)).is_ok() {
            counts.descriptors += more;
            counts.senders.insert(*sender, (connections + 1, descriptors + 1 + more));
        }
        has_room
    }
}

impl Drop for ConnectionPass<'_> {
    fn drop(&mut self) {
        let mut counts = lock(&self.gate.counts);
        counts.leave(self.number);
        counts.connections -= 1;
        counts.descriptors -= 1;
        if let Some((sender, more)) = self.sender.get() {
            counts.descriptors -= more;
            if let Entry::Occupied(mut entry) = counts.senders.entry(*sender) {
                let (connections, descriptors) = entry.get_mut();
                (*connections, *descriptors) = (*connections - 1, *descriptors - 1 - more);
                if *connections == 0 {
                    entry.remove();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, IoSlice};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// A link that records whether it was closed.
    #[derive(Default)]
    struct Closable(AtomicBool);

    impl Link for Closable {
        fn read(&self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }
        fn write(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
            Ok(0)
        }
        fn close(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Opens a connection. Returns its link, and its pass if it was let in.
    fn enter<'a>(gate: &'a AdmissionGate, address: &str, now: Instant) -> (Arc<Closable>, Option<ConnectionPass<'a>>) {
        let link = Arc::new(Closable::default());
        let same: Arc<dyn Link> = link.clone();
        (link, gate.enter(ip(address), &same, now))
    }

    #[test]
    fn the_oldest_half_open_connection_makes_room() {
        let gate = AdmissionGate::new(
            Limits { half_open: 3, half_open_per_address: 2, connections: 7, ..Limits::default() },
            999,
        );
        let now = Instant::now();
        let (one, other, third) = ("192.0.2.1", "192.0.2.2", "192.0.2.3");
        let a = enter(&gate, one, now);
        let b = enter(&gate, one, now);
        let closed = |link: &(Arc<Closable>, Option<ConnectionPass<'_>>)| link.0.0.load(Ordering::Relaxed);
        assert!(!closed(&a) && !closed(&b));
        // An address that has reached its limit loses its own oldest connection.
        let c = enter(&gate, one, now);
        assert!(closed(&a) && !closed(&b));
        let d = enter(&gate, other, now);
        assert!(!closed(&b) && !closed(&d));
        // At the total limit, the oldest of all is closed.
        let e = enter(&gate, third, now);
        assert!(closed(&b) && !closed(&c) && !closed(&d) && !closed(&e));
        // One that has greeted is closed after those that have not.
        d.1.as_ref().unwrap().has_greeted();
        // A connection that has proven its key is never closed, and no longer counts as half-open.
        assert!(c.1.as_ref().unwrap().authenticate(&[1; 32], false));
        let f = enter(&gate, other, now);
        let g = enter(&gate, one, now);
        assert!(f.1.is_some() && g.1.is_some() && !closed(&c) && !closed(&d) && closed(&e) && !closed(&f));
        assert_eq!(lock(&gate.counts).half_open.len(), 3);
        // Closed connections count until they are dropped. If all places are taken, one that has long been silent makes room for the next
        // attempt, also if few are half-open.
        assert!(d.1.as_ref().unwrap().authenticate(&[1; 32], false));
        assert!(enter(&gate, third, now).1.is_none() && !closed(&f));
        assert!(enter(&gate, third, now + SILENCE).1.is_none());
        assert!(closed(&f) && !closed(&g) && !closed(&c) && !closed(&d));
        drop(a);
        assert!(enter(&gate, third, now).1.is_some());
        drop((b, c, d, e, f, g));
        let counts = lock(&gate.counts);
        assert_eq!((counts.half_open.len(), counts.connections, counts.descriptors), (0, 0, 0));
        assert!(counts.peers.values().all(|peer| peer.half_open == 0) && counts.senders.is_empty());
    }

    #[test]
    fn a_sender_leaves_room_for_others() {
        let gate = AdmissionGate::new(Limits { connections: 5, connections_per_sender: 3, ..Limits::default() }, 999);
        let enter = |sender: u8| {
            let pass = enter(&gate, "192.0.2.1", Instant::now()).1.unwrap();
            (pass.authenticate(&[sender; 32], false), pass)
        };
        let mut first: Vec<_> = (0..3).map(|_| enter(1)).collect();
        assert!(first.iter().all(|(has_room, _)| *has_room));
        // A refused connection does not count after it is dropped.
        for _ in 0..3 {
            assert!(!enter(1).0);
        }
        let other = enter(2);
        assert!(other.0);
        first.pop();
        first.push(enter(1));
        assert!(first[2].0 && !enter(1).0);
        drop((first, other));
        assert!(lock(&gate.counts).senders.is_empty());
    }

    /// With few descriptors, the connections of one sender leave room for a session of another.
    #[test]
    fn few_descriptors_tighten_the_limits() {
        for limit in [80, 100, 256, 1024, 4096, usize::MAX] {
            let gate = AdmissionGate::new(Limits { handshake_burst: 9999, ..Limits::default() }, limit);
            let all_of = |sender: u8, begins| -> Vec<_> {
                let enter = |_| enter(&gate, "192.0.2.1", Instant::now()).1;
                (0..9999).map_while(|n| enter(n).filter(|pass| pass.authenticate(&[sender; 32], begins))).collect()
            };
            for begins in [false, true] {
                let mut sessions = if begins { all_of(1, true) } else { Vec::new() };
                let data = all_of(1, false);
                assert!(begins || !data.is_empty(), "{limit}");
                let of_one = sessions.len();
                sessions.extend(all_of(2, true));
                assert!(sessions.len() > of_one && data.len() + sessions.len() <= 256, "{limit}");
                assert!(data.len() + SESSION_DESCRIPTORS * sessions.len() <= limit - OTHER_DESCRIPTORS, "{limit}");
                drop((data, sessions));
                let counts = lock(&gate.counts);
                assert!(counts.descriptors == 0 && counts.senders.is_empty());
            }
        }
    }

    #[test]
    fn handshakes_per_address_are_limited() {
        let gate = AdmissionGate::new(Limits { handshake_burst: 3, handshakes_per_s: 2, ..Limits::default() }, 999);
        let start = Instant::now();
        let tries = |address, now| (0..10).filter(|_| enter(&gate, address, now).1.is_some()).count();
        assert_eq!(tries("192.0.2.1", start), 3);
        // The addresses of an IPv6 /64 share one limit. A mapped address counts as IPv4.
        assert_eq!(tries("2001:db8::1", start), 3);
        assert_eq!(tries("2001:db8::2:1", start), 0);
        assert_eq!(tries("::ffff:192.0.2.1", start), 0);
        assert_eq!(tries("2001:db8:0:1::1", start), 3);
        assert_eq!(tries("192.0.2.1", start + Duration::from_secs(1)), 2);
        assert_eq!(tries("192.0.2.1", start + Duration::from_secs(100)), 3);
    }

    #[test]
    fn tracked_addresses_are_bounded() {
        let gate = AdmissionGate::new(Limits { handshake_burst: 2, handshakes_per_s: 1, ..Limits::default() }, 999);
        let start = Instant::now();
        for number in 0..2 * MAX_ADDRESSES as u32 {
            enter(&gate, &IpAddr::V4(number.into()).to_string(), start);
        }
        assert_eq!(lock(&gate.counts).peers.len(), MAX_ADDRESSES);
        assert!(enter(&gate, "198.51.100.1", start + Duration::from_secs(10)).1.is_some());
        assert_eq!(lock(&gate.counts).peers.len(), 1);
    }
}
