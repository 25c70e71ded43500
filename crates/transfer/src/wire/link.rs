//! Access to sockets. Every call on a connection goes through [`Link`], so that tests can cut, delay and shorten
//! it (`link_faulty.rs`).
//!
//! No call blocks for longer than a tick. Callers that read or write specify how long silence may last, and what else
//! ends the wait.

use std::io::{self, IoSlice, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tress_container::{Error, ErrorKind, lower_first};

/// The longest time that one call on a socket blocks.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Time for each address of a host to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Silence after which the system asks whether the other end is there, and the pauses between these questions.
#[cfg(all(unix, not(target_os = "openbsd")))]
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
#[cfg(all(unix, not(target_os = "openbsd")))]
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// An open connection. Several threads read and write at the same time.
pub(crate) trait Link: Send + Sync {
    /// Reads the available bytes: 0 at the end, `WouldBlock` or `TimedOut` if none arrive within a tick.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes as many bytes as there is room for: `WouldBlock` or `TimedOut` if there is no room within a tick.
    fn write(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Ends both directions. Reads and writes that are waiting end soon.
    fn close(&self);
    /// The address of the other end, if it is known.
    fn peer(&self) -> Option<SocketAddr> {
        None
    }
}

/// Makes connections.
pub(crate) trait Network: Send + Sync {
    /// Connects to `HOST:PORT`. Returns the error of `stop` as soon as it has one.
    fn connect(&self, to: &str, stop: StopCheck<'_>) -> io::Result<Box<dyn Link>>;

    /// Wraps a connection that a [`Listener`] has accepted.
    fn accepted(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        link
    }
}

/// Returns an error if a wait has to end early.
pub(crate) type StopCheck<'a> = &'a dyn Fn() -> Option<Error>;

/// How long to wait for the peer.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts<'a> {
    /// Longest silence before the first byte; `None` waits indefinitely.
    pub(crate) first: Option<Duration>,
    /// Longest silence between two bytes.
    pub(crate) between: Duration,
    /// When the whole call has to be over.
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: StopCheck<'a>,
}

impl<'a> Timeouts<'a> {
    /// The same silence before the first byte and between bytes, and no deadline.
    pub(crate) fn idle(time: Duration, stop: StopCheck<'a>) -> Self {
        Self { first: Some(time), between: time, deadline: None, stop }
    }

    fn check(&self, is_first: bool, since: Instant) -> Result<(), Error> {
        let silence = if is_first { self.first } else { Some(self.between) };
        let is_over = silence.is_some_and(|silence| since.elapsed() > silence)
            || self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if is_over { Err(Error::new(ErrorKind::Stalled)) } else { Ok(()) }
    }
}

/// Fills `buffer`. Returns `false` if the connection ends before the first byte, and `Disconnected` if it ends later.
pub(crate) fn read_exact(link: &dyn Link, buffer: &mut [u8], timeouts: &Timeouts<'_>) -> Result<bool, Error> {
    let mut filled = 0;
    let mut since = Instant::now();
    while filled < buffer.len() {
        if let Some(error) = (timeouts.stop)() {
            return Err(error);
        }
        match link.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(Error::new(ErrorKind::Disconnected)),
            Ok(bytes) => {
                filled += bytes;
                since = Instant::now();
            }
            Err(error) if is_tick(&error) => {}
            Err(error) => return Err(disconnected(error)),
        }
        // Also after a byte: a peer that sends single bytes must not get past the deadline.
        if filled < buffer.len() {
            timeouts.check(filled == 0, since)?;
        }
    }
    Ok(true)
}

/// Writes all of `buffers`.
pub(crate) fn write_all(
    link: &dyn Link,
    mut buffers: &mut [IoSlice<'_>],
    timeouts: &Timeouts<'_>,
) -> Result<(), Error> {
    let mut since = Instant::now();
    IoSlice::advance_slices(&mut buffers, 0);
    while !buffers.is_empty() {
        if let Some(error) = (timeouts.stop)() {
            return Err(error);
        }
        match link.write(buffers) {
            Ok(0) => return Err(Error::new(ErrorKind::Disconnected)),
            Ok(bytes) => {
                IoSlice::advance_slices(&mut buffers, bytes);
                since = Instant::now();
            }
            Err(error) if is_tick(&error) => timeouts.check(false, since)?,
            Err(error) => return Err(disconnected(error)),
        }
    }
    Ok(())
}

fn is_tick(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn disconnected(error: io::Error) -> Error {
    Error::new(ErrorKind::Disconnected).with_source(error)
}

/// The network of the system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tcp;

struct TcpLink(TcpStream);

impl TcpLink {
    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(TICK))?;
        // Connections that nothing passes for minutes are forgotten by routers that translate addresses, and then end silently.
        #[cfg(all(unix, not(target_os = "openbsd")))]
        {
            use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepidle, set_tcp_keepintvl};
            let _ = set_socket_keepalive(&stream, true);
            let _ = set_tcp_keepidle(&stream, KEEPALIVE_IDLE);
            let _ = set_tcp_keepintvl(&stream, KEEPALIVE_INTERVAL);
        }
        Ok(Self(stream))
    }
}

impl Link for TcpLink {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(buffer)
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        (&self.0).write_vectored(buffers)
    }

    fn close(&self) {
        // Fails if the connection is already closed.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.0.peer_addr().ok()
    }
}

impl Network for Tcp {
    fn connect(&self, to: &str, stop: StopCheck<'_>) -> io::Result<Box<dyn Link>> {
        let connect = |to: &str| {
            let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
            for address in resolve(to)? {
                match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).and_then(TcpLink::new) {
                    Ok(link) => return Ok(link),
                    Err(error) => last = error,
                }
            }
            Err(last)
        };
        Ok(Box::new(interruptibly(to, stop, connect)?))
    }
}

/// Calls a function that may block for longer than a tick, on a separate thread. If `stop` returns an error first, returns that, and
/// leaves the thread behind. If the system refuses the thread, the call blocks.
fn interruptibly<T: Send + 'static>(
    endpoint: &str,
    stop: StopCheck<'_>,
    call: fn(&str) -> io::Result<T>,
) -> io::Result<T> {
    let (sender, result) = mpsc::sync_channel(1);
    let own_endpoint = endpoint.to_owned();
    if thread::Builder::new().spawn(move || sender.send(call(&own_endpoint))).is_err() {
        return call(endpoint);
    }
    loop {
        match result.recv_timeout(TICK) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the call panicked")),
            Err(RecvTimeoutError::Timeout) => stop().map_or(Ok(()), |error| Err(io::Error::other(error)))?,
        }
    }
}

/// The addresses of `HOST:PORT`. The host may be an IPv6 address in brackets, with a scope such as `%eth0`. `InvalidInput` if the text
/// does not have this form.
fn resolve(endpoint: &str) -> io::Result<Vec<SocketAddr>> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "invalid socket address");
    let (host, port) = endpoint.rsplit_once(':').ok_or_else(invalid)?;
    let port: u16 = port.parse().map_err(|_| invalid())?;
    // The system's names have no brackets.
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let addresses = (host, port).to_socket_addrs().map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => error,
        kind => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text);
            let cause = text.rsplit_once(": ").map_or(text, |(_, cause)| cause);
            io::Error::new(kind, format!("host name does not resolve: {}", lower_first(cause)))
        }
    })?;
    Ok(addresses.collect())
}

/// A port that accepts connections.
pub(crate) struct Listener {
    listener: TcpListener,
}

impl Listener {
    pub(crate) fn bind(address: &str, stop: StopCheck<'_>) -> io::Result<Self> {
        Self::new(TcpListener::bind(&interruptibly(address, stop, resolve)?[..])?)
    }

    pub(crate) fn new(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener })
    }

    /// The address that it listens on. Port 0 is replaced by the port that the system chose.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The next connection, or `None` if none arrives within a tick.
    pub(crate) fn accept(&self) -> io::Result<Option<(Box<dyn Link>, IpAddr)>> {
        self.wait();
        match self.listener.accept() {
            Ok((stream, address)) => Ok(TcpLink::new(stream).ok().map(|link| (Box::new(link) as _, address.ip()))),
            Err(error) if is_tick(&error) => Ok(None),
            // The client closed the connection before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[cfg(unix)]
    fn wait(&self) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let timeout = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos() as _ };
        // An error here shows up again in `accept`.
        let _ = poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&timeout));
    }

    #[cfg(not(unix))]
    fn wait(&self) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name lookup and connecting block in the system, which no test can make it do for certain.
    #[test]
    fn a_call_that_blocks_is_left() {
        let stop = || Some(Error::new(ErrorKind::Interrupted));
        let forever = |_: &str| -> io::Result<u8> {
            loop {
                thread::park();
            }
        };
        let error = interruptibly("host:1", &stop, forever).unwrap_err();
        assert_eq!(Error::from(error).kind, ErrorKind::Interrupted);
        let endpoint = interruptibly("host:1", &|| None, |endpoint| Ok(endpoint.to_owned()));
        assert_eq!(endpoint.unwrap(), "host:1");
    }

    #[test]
    fn endpoints() {
        for (endpoint, expected) in [
            ("127.0.0.1:1", Some("127.0.0.1:1")),
            ("[::1]:65535", Some("[::1]:65535")),
            ("::1:2", Some("[::1]:2")),
            ("[fe80::1%1]:3", Some("[fe80::1%1]:3")),
            ("127.0.0.1", None),
            ("127.0.0.1:", None),
            ("127.0.0.1:65536", None),
            ("", None),
        ] {
            match (resolve(endpoint), expected) {
                (Ok(addresses), Some(expected)) => assert_eq!(addresses, [expected.parse().unwrap()], "{endpoint}"),
                (resolved, _) => {
                    assert_eq!(
                        (resolved.unwrap_err().kind(), expected),
                        (io::ErrorKind::InvalidInput, None),
                        "{endpoint}"
                    );
                }
            }
        }
        // By its name, the interface that every Linux system has.
        #[cfg(target_os = "linux")]
        assert!(resolve("[fe80::1%lo]:3").unwrap()[0].to_string().starts_with("[fe80::1%"));
    }

    #[cfg(all(unix, not(target_os = "openbsd")))]
    #[test]
    fn both_ends_of_a_connection_keep_it_alive() {
        use rustix::net::sockopt::{socket_keepalive, tcp_keepidle, tcp_keepintvl};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        for stream in [connected, listener.accept().unwrap().0] {
            let TcpLink(stream) = TcpLink::new(stream).unwrap();
            assert_eq!(socket_keepalive(&stream), Ok(true));
            assert_eq!((tcp_keepidle(&stream), tcp_keepintvl(&stream)), (Ok(KEEPALIVE_IDLE), Ok(KEEPALIVE_INTERVAL)));
        }
    }
}
