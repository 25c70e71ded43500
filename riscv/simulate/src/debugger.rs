//! The connection to a debugger: TCP on this computer only, one client.

use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tress_sim::{Client, DebugEnd, Error, ErrorKind, Simulation};
use tress_terminal::note;

/// Interval between checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The most clients that are kept while they say nothing. The oldest one goes first.
const MAX_SILENT: usize = 16;

/// Waits for a debugger and serves it.
pub(crate) fn serve(
    port: u16,
    simulation: &mut Simulation,
    next: impl FnMut(&mut Simulation) -> Result<u64, Error>,
    is_cancelled: &AtomicBool,
) -> Result<DebugEnd, Error> {
    let stream = accept(port, is_cancelled).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => simulation.system().stopped(ErrorKind::Interrupted),
        _ => ErrorKind::Debugger(format!("127.0.0.1:{port}: {error}")).into(),
    })?;
    simulation.debug(&mut Connection { stream: BufReader::new(stream), is_cancelled }, next)
}

/// The first client that speaks the protocol. Nobody else can connect after it. Clients that say nothing hold up no other.
fn accept(port: u16, is_cancelled: &AtomicBool) -> io::Result<TcpStream> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    note(&format!("waiting for a debugger on {}", listener.local_addr()?));
    listener.set_nonblocking(true)?;
    let mut silent: Vec<TcpStream> = Vec::new();
    loop {
        match listener.accept() {
            Ok((stream, _)) => silent.extend(stream.set_nonblocking(true).is_ok().then_some(stream)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(error),
        }
        let clients = silent.len();
        silent.drain(..clients.saturating_sub(MAX_SILENT));
        if let Some(at) = silent.iter().position(|stream| begins_well(stream) == Some(true)) {
            let stream = silent.swap_remove(at);
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(POLL_INTERVAL))?;
            return Ok(stream);
        }
        silent.retain(|stream| begins_well(stream) != Some(false));
        for _ in silent.len()..clients {
            note("refused a client that does not speak gdb's remote protocol");
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
}

/// Whether the first byte is that of a debugger, or `None` before there is one. A page in a browser can send requests here, and what it
/// chooses inside of them; a scanner of ports sends nothing.
fn begins_well(stream: &TcpStream) -> Option<bool> {
    let mut first = [0];
    match stream.peek(&mut first) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        count => Some(count.is_ok_and(|count| count == 1) && matches!(first[0], b'+' | b'$' | 3)),
    }
}

struct Connection<'a> {
    stream: BufReader<TcpStream>,
    is_cancelled: &'a AtomicBool,
}

impl Connection<'_> {
    fn take(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.stream.read(&mut byte)? == 1).then_some(byte[0]))
    }
}

impl Client for Connection<'_> {
    fn read(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.take() {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                read => return read,
            }
            if self.is_cancelled.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }

    fn poll(&mut self) -> io::Result<Option<u8>> {
        if !self.stream.buffer().is_empty() {
            return self.take();
        }
        self.stream.get_ref().set_nonblocking(true)?;
        let read = self.take();
        self.stream.get_ref().set_nonblocking(false)?;
        match read {
            Ok(None) => Err(io::Error::other("it has closed the connection")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            read => read,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }
}
