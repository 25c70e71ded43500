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

/// The first client that speaks the protocol. Nobody else can connect after it.
fn accept(port: u16, is_cancelled: &AtomicBool) -> io::Result<TcpStream> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    note(&format!("waiting for a debugger on {}", listener.local_addr()?));
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((stream, _)) if begins_well(&stream, is_cancelled).unwrap_or(false) => return Ok(stream),
            Ok(_) if is_cancelled.load(Ordering::Relaxed) => {}
            Ok(_) => note("refused a client that does not speak gdb's remote protocol"),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(error),
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
}

/// Whether the first byte is that of a debugger. A page in a browser can send requests here, and what it chooses inside of them; a scanner
/// of ports sends nothing.
fn begins_well(stream: &TcpStream, is_cancelled: &AtomicBool) -> io::Result<bool> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    let mut first = [0];
    while !is_cancelled.load(Ordering::Relaxed) {
        match stream.peek(&mut first) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            count => return Ok(count? == 1 && matches!(first[0], b'+' | b'$' | 3)),
        }
    }
    Ok(false)
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
