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
    simulation.debug(&mut Connection { stream: BufReader::new(stream), is_cancelled, is_known: false }, next)
}

/// The first client. Nobody else can connect after it.
fn accept(port: u16, is_cancelled: &AtomicBool) -> io::Result<TcpStream> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    note(&format!("waiting for a debugger on {}", listener.local_addr()?));
    listener.set_nonblocking(true)?;
    let stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(error),
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    Ok(stream)
}

struct Connection<'a> {
    stream: BufReader<TcpStream>,
    is_cancelled: &'a AtomicBool,
    /// Whether the first byte was that of a debugger.
    is_known: bool,
}

impl Connection<'_> {
    fn take(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        if self.stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        // A page in a browser can send requests here, and what it chooses inside of them.
        if !self.is_known && !matches!(byte[0], b'+' | b'$' | 3) {
            return Err(io::Error::other("the client does not speak gdb's remote protocol"));
        }
        self.is_known = true;
        Ok(Some(byte[0]))
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
